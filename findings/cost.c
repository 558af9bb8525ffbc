/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/cost.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "probe/procfs.h"

bool cost_cache_path(char *buf, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len = -1;

	/* a relative one is to be ignored (XDG base directories) */
	if (cache && cache[0] == '/')
		len = snprintf(buf, size, "%s/seam/cost.json", cache);
	else if (home && home[0] == '/')
		len = snprintf(buf, size, "%s/.cache/seam/cost.json", home);
	return len > 0 && (size_t)len < size;
}

/* What follows "KEY": in our own JSON, or NULL. */
static const char *value_of(const char *text, const char *key)
{
	char quoted[64];
	const char *at;

	if ((size_t)snprintf(quoted, sizeof(quoted), "\"%s\":", key) >= sizeof(quoted))
		return NULL;
	at = strstr(text, quoted);
	return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " ") : NULL;
}

static bool text_is(const char *text, const char *key, const char *wanted)
{
	const char *at = value_of(text, key);
	size_t len = strlen(wanted);

	return at && at[0] == '"' && !strncmp(at + 1, wanted, len) && at[1 + len] == '"';
}

static int64_t number_of(const char *text, const char *key)
{
	const char *at = value_of(text, key);
	char *end;
	long long value;

	if (!at)
		return COST_UNKNOWN;
	errno = 0;
	value = strtoll(at, &end, 10);
	/* a second for one area would be no measurement */
	return errno || end == at || value < 0 || value > 1000000000 ? COST_UNKNOWN : value;
}

int cost_cache_load(struct cost *ret_cost)
{
	char path[PATH_MAX], text[8192], key[64];
	struct utsname name;

	memset(ret_cost, 0, sizeof(*ret_cost));
	if (!cost_cache_path(path, sizeof(path)) || uname(&name) ||
	    procfs_read(text, sizeof(text), "%s", path) <= 0 ||
	    !text_is(text, "kernel_release", name.release) || !text_is(text, "host", name.nodename))
		return -ENOENT;
	for (int kind = 0; kind < COST_NR_KINDS; kind++) {
		int64_t *ns = &ret_cost->op_ns[COST_fork][kind];

		snprintf(key, sizeof(key), "%s_%s_ns", cost_op_names[COST_fork],
			 cost_kind_names[kind]);
		*ns = number_of(text, key);
		if (*ns == COST_UNKNOWN)
			return -ENOENT;
	}
	return 0;
}

/* Fork copies the anon_vmas of private memory that was written; a text shows only that it may be. */
static bool is_touched(const struct snapshot *snapshot, const struct snapshot_area *area)
{
	if (snapshot->sees & SEES_ANON_VMA)
		return area->area.anon_vma;
	return area->area.flags & SEAM_VM_WRITE && !(area->area.flags & SEAM_VM_SHARED);
}

uint64_t cost_of_fork_ns(const struct cost *cost, const struct snapshot *snapshot)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < snapshot->nr_areas; i++) {
		enum cost_kind kind = is_touched(snapshot, &snapshot->areas[i]) ? COST_TOUCHED
										: COST_UNTOUCHED;

		ns += (uint64_t)cost->op_ns[COST_fork][kind];
	}
	return ns;
}
