/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "probe/procfs.h"
#include "trace/event.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* How much of it is used; a limit of nothing is reached. */
static double nearness(const struct limit *limit)
{
	return limit->max ? (double)limit->used / (double)limit->max : 1;
}

static void look_at(struct limits *limits, const struct limit *found)
{
	for (unsigned int i = 0; i < limits->nr; i++) {
		struct limit *known = &limits->list[i];

		if (strcmp(known->name, found->name))
			continue;
		if (nearness(found) > nearness(known))
			*known = *found;
		return;
	}
	if (limits->nr < ARRAY_SIZE(limits->list))
		limits->list[limits->nr++] = *found;
}

static void look(struct limits *limits, const char *name, uint64_t used, uint64_t max)
{
	struct limit found = { .name = name, .used = used, .max = max };

	look_at(limits, &found);
}

static void look_bytes(struct limits *limits, const char *name, uint64_t used, uint64_t max)
{
	struct limit found = { .name = name, .used = used, .max = max, .bytes = true };

	look_at(limits, &found);
}

uint64_t limits_max_areas(void)
{
	uint64_t max = 0;

	return procfs_read_number(&max, "/proc/sys/vm/max_map_count") ? 0 : max;
}

/* A resource limit: how /proc/PID/limits names it, and what of /proc/PID/status counts in it. */
struct resource {
	const char *name, *title, *field;
};

static const struct resource resources[] = {
	{ "RLIMIT_AS", "Max address space", "VmSize" },
	{ "RLIMIT_DATA", "Max data size", "VmData" },
	{ "RLIMIT_MEMLOCK", "Max locked memory", "VmLck" },
	{ "RLIMIT_STACK", "Max stack size", "VmStk" },
};

void limits_look_process(struct limits *limits, pid_t pid, uint64_t areas)
{
	char status[4096], text[4096];
	uint64_t max = limits_max_areas();

	if (max)
		look(limits, "vm.max_map_count", areas, max);
	if (procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) < 0 ||
	    procfs_read(text, sizeof(text), "/proc/%d/limits", (int)pid) < 0)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(resources); i++) {
		const char *line = strstr(text, resources[i].title);
		uint64_t used_kib;
		char *end;

		if (!line || !procfs_field(status, resources[i].field, &used_kib))
			continue;
		line += strlen(resources[i].title);
		max = strtoull(line, &end, 10); /* the soft one; or "unlimited" */
		if (end != line)
			look_bytes(limits, resources[i].name, used_kib * 1024, max);
	}
}

/* A control group's limit: its file of use, its file of the limit, and in which hierarchy. */
struct group_limit {
	const char *name, *used, *max, *controller; /* controller "": the unified hierarchy */
	const char *root;
	const char *cache; /* memory: the row of memory.stat that does not count, see below */
};

static const struct group_limit group_limits[] = {
	{ "memory.max", "memory.current", "memory.max", "", "/sys/fs/cgroup", "inactive_file" },
	{ "pids.max", "pids.current", "pids.max", "", "/sys/fs/cgroup" },
	{ "memory.max", "memory.current", "memory.max", "", "/sys/fs/cgroup/unified",
	  "inactive_file" },
	{ "pids.max", "pids.current", "pids.max", "", "/sys/fs/cgroup/unified" },
	{ "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.limit_in_bytes", "memory",
	  "/sys/fs/cgroup/memory", "total_inactive_file" },
	{ "pids.max", "pids.current", "pids.max", "pids", "/sys/fs/cgroup/pids" },
};

/* The path of the process's group in the hierarchy of @controller; 1 when it is in one. */
static int group_path(const char *groups, const char *controller, char *ret_path, size_t size)
{
	for (const char *line = groups; *line; line = strchr(line, '\n') + 1) {
		const char *names = strchr(line, ':'), *end = strchr(line, '\n'), *path;
		size_t len;

		if (!names || !end)
			return 0;
		names++;
		path = memchr(names, ':', (size_t)(end - names));
		if (!path)
			return 0;
		len = (size_t)(path - names);
		if (len != strlen(controller) || memcmp(names, controller, len))
			continue;
		path++;
		len = (size_t)(end - path);
		if (len >= size)
			return 0;
		memcpy(ret_path, path, len);
		ret_path[len] = 0;
		return 1;
	}
	return 0;
}

/*
 * File cache that nobody used of late is counted as used memory, but the kernel drops it before it
 * refuses anything: a group filled by it is not near its limit.
 */
static uint64_t group_cache(const char *folder, const char *row)
{
	char text[8192], key[40];
	uint64_t bytes = 0;
	const char *at;

	if (procfs_read(text, sizeof(text), "%s/memory.stat", folder) < 0)
		return 0;
	snprintf(key, sizeof(key), "\n%s ", row);
	at = strstr(text, key);
	if (at)
		bytes = strtoull(at + strlen(key), NULL, 10);
	return bytes;
}

/* From the group up to the root: each level may have its own limit. */
static void look_group(struct limits *limits, const struct group_limit *group, char *path)
{
	for (;;) {
		char *parent = strrchr(path, '/'), folder[560], used_path[600], max_path[600];
		uint64_t used, max, cache;

		snprintf(folder, sizeof(folder), "%s%s", group->root, path);
		snprintf(used_path, sizeof(used_path), "%s/%s", folder, group->used);
		snprintf(max_path, sizeof(max_path), "%s/%s", folder, group->max);
		/* the old hierarchy says "no limit" by a huge number */
		if (!procfs_read_number(&used, used_path) && !procfs_read_number(&max, max_path) &&
		    max < UINT64_C(1) << 62) {
			if (group->cache) {
				cache = group_cache(folder, group->cache);
				used -= cache < used ? cache : used;
				look_bytes(limits, group->name, used, max);
			} else {
				look(limits, group->name, used, max);
			}
		}
		if (!parent)
			return;
		*parent = 0;
	}
}

/* All threads of the host stand in loadavg: "0.10 0.20 0.30 1/234 5678". */
static int host_threads(uint64_t *ret_threads)
{
	char text[128];
	const char *slash;

	if (procfs_read(text, sizeof(text), "/proc/loadavg") < 0)
		return 0;
	slash = strchr(text, '/');
	if (!slash)
		return 0;
	*ret_threads = strtoull(slash + 1, NULL, 10);
	return 1;
}

/* What the host has promised and may promise, where vm.overcommit_memory is 2. */
static bool read_commit(uint64_t *ret_used, uint64_t *ret_max)
{
	uint64_t mode, used_kib, max_kib;
	char text[4096];

	if (procfs_read_number(&mode, "/proc/sys/vm/overcommit_memory") || mode != 2 ||
	    procfs_read(text, sizeof(text), "/proc/meminfo") < 0 ||
	    !procfs_field(text, "Committed_AS", &used_kib) ||
	    !procfs_field(text, "CommitLimit", &max_kib))
		return false;
	*ret_used = used_kib * 1024;
	*ret_max = max_kib * 1024;
	return true;
}

static void look_commit(struct limits *limits)
{
	uint64_t used, max;

	if (read_commit(&used, &max))
		look_bytes(limits, "CommitLimit", used, max);
}

uint64_t limits_refused_bytes(unsigned int call, const uint64_t *arg, int64_t result)
{
	switch (call) {
	case TRACE_CALL_mmap:
	case TRACE_CALL_mprotect:
	case TRACE_CALL_pkey_mprotect:
		return result == -ENOMEM ? arg[1] : 0;
	case TRACE_CALL_mremap:
		return result == -ENOMEM ? arg[2] : 0;
	case TRACE_CALL_brk:
		return result > 0 && arg[0] > (uint64_t)result ? arg[0] - (uint64_t)result : 0;
	default:
		return 0;
	}
}

bool limits_beyond_memory(uint64_t bytes)
{
	struct sysinfo info;
	uint64_t mode;

	return !procfs_read_number(&mode, "/proc/sys/vm/overcommit_memory") && !mode &&
	       !sysinfo(&info) && bytes / info.mem_unit > (uint64_t)info.totalram + info.totalswap;
}

bool limits_commit_short(uint64_t bytes)
{
	uint64_t used, max, admin_kib = 0, user_kib = 0;

	if (!read_commit(&used, &max))
		return false;
	procfs_read_number(&admin_kib, "/proc/sys/vm/admin_reserve_kbytes");
	procfs_read_number(&user_kib, "/proc/sys/vm/user_reserve_kbytes");
	return used + bytes + (admin_kib + user_kib) * 1024 >= max;
}

void limits_look_host(struct limits *limits, pid_t pid)
{
	char groups[2048], path[512];
	uint64_t threads, max;

	if (procfs_read(groups, sizeof(groups), "/proc/%d/cgroup", (int)pid) > 0)
		for (unsigned int i = 0; i < ARRAY_SIZE(group_limits); i++)
			if (group_path(groups, group_limits[i].controller, path, sizeof(path)))
				look_group(limits, &group_limits[i], path);
	if (host_threads(&threads)) {
		if (!procfs_read_number(&max, "/proc/sys/kernel/threads-max"))
			look(limits, "kernel.threads-max", threads, max);
		if (!procfs_read_number(&max, "/proc/sys/kernel/pid_max"))
			look(limits, "kernel.pid_max", threads, max);
	}
	look_commit(limits);
}

static int by_nearness(const void *a, const void *b)
{
	double left = nearness(a), right = nearness(b);

	return left < right ? 1 : left > right ? -1 : 0;
}

void limits_sort(struct limits *limits)
{
	qsort(limits->list, limits->nr, sizeof(limits->list[0]), by_nearness);
}
