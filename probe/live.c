/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probe/guards.h"
#include "probe/mm_text.h"
#include "probe/policies.h"
#include "probe/procfs.h"
#include "probe/refusal.h"
#include "trace/trace.h"

/* Reading the smaps of so many areas takes some 10 ms, in which the process cannot map. */
#define FEW_AREAS 4096

void snapshot_note(struct snapshot *snapshot, const char *note)
{
	if (snapshot->nr_notes < sizeof(snapshot->notes) / sizeof(snapshot->notes[0]))
		snapshot->notes[snapshot->nr_notes++] = note;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_ours(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !stat(path, &st) && st.st_uid == geteuid() && geteuid();
}

static int read_text(pid_t pid, const char *file, struct snapshot *ret_snapshot,
		     struct live_error *ret_error)
{
	struct trace_error error = { 0 };
	struct source source;
	struct mm_text text;
	int r = mm_text_read(pid, file, &text);

	if (r) {
		refusal_text(pid, r, ret_error->text);
		return r;
	}
	source_from_buffer(file, text.data, text.size, &source);
	r = snapshot_from_text(&source, false, ret_snapshot, &error);
	mm_text_free(&text);
	if (r)
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "its %s cannot be read: line %llu: %.180s", file,
			 (unsigned long long)error.line, error.text);
	return r;
}

static int read_maps(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		     struct live_error *ret_error, const char **ret_note)
{
	return read_text(pid, "maps", ret_snapshot, ret_error);
}

static int read_smaps(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		      struct live_error *ret_error, const char **ret_note)
{
	uint64_t areas;
	int r;

	if (!options->all && !is_ours(pid) && !procfs_count_areas(pid, &areas) &&
	    areas > FEW_AREAS) {
		*ret_note = "flags were not read: that would hold this process up for a while; "
			    "--causes does it";
		return -EOPNOTSUPP;
	}
	r = read_text(pid, "smaps", ret_snapshot, ret_error);
	/* A kernel without CONFIG_PROC_PAGE_MONITOR has maps but not smaps. */
	if (r == -ENOENT && !access("/proc/self/maps", F_OK) && access("/proc/self/smaps", F_OK)) {
		*ret_note = "this kernel has no smaps, so flags are hidden";
		return -EOPNOTSUPP;
	}
	if (!r)
		policies_read(pid, ret_snapshot);
	return r;
}

/* Best first. */
static const struct live_reader readers[] = {
	{ "smaps", read_smaps },
	{ "maps", read_maps },
};

static int read_best(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		     struct live_error *ret_error)
{
	const char *notes[sizeof(readers) / sizeof(readers[0])];
	unsigned int nr_notes = 0;
	int r = -EOPNOTSUPP;
	bool below = !options->source;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]) && r == -EOPNOTSUPP; i++) {
		const char *note = NULL;

		below = below || !strcmp(readers[i].source, options->source);
		if (!below)
			continue;
		r = readers[i].read(pid, options, ret_snapshot, ret_error, &note);
		if (note)
			notes[nr_notes++] = note;
	}
	for (unsigned int i = 0; !r && i < nr_notes; i++)
		snapshot_note(ret_snapshot, notes[i]);
	return r;
}

/* gVisor answers for itself, not for the host, and its build date is always this one. */
static bool in_gvisor(void)
{
	char version[256];

	return procfs_read(version, sizeof(version), "/proc/version") > 0 &&
	       strstr(version, "Sun Jan 10 15:06:54 PST 2016");
}

static void read_process(pid_t pid, struct snapshot *snapshot)
{
	char status[4096];
	uint64_t threads;
	ssize_t len;

	len = procfs_read(snapshot->comm, sizeof(snapshot->comm), "/proc/%d/comm", (int)pid);
	if (len > 0 && snapshot->comm[len - 1] == '\n')
		snapshot->comm[len - 1] = '\0';
	if (len < 0)
		snapshot->comm[0] = '\0';
	if (procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) > 0 &&
	    procfs_field(status, "Threads", &threads))
		snapshot->threads = (uint32_t)threads;
}

int snapshot_live(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		  struct live_error *ret_error)
{
	struct snapshot snapshot;
	uint64_t start = now_ns();
	int r;

	memset(&snapshot, 0, sizeof(snapshot));
	snprintf(ret_error->text, sizeof(ret_error->text), "no source for it works here");
	r = read_best(pid, options, &snapshot, ret_error);
	if (r)
		return r;
	snapshot.read_ns = now_ns() - start;
	snapshot.pid = pid;
	read_process(pid, &snapshot);
	guards_read(pid, &snapshot);
	if (in_gvisor())
		snapshot_note(&snapshot, "this is gVisor: its count of mappings is not the host's");
	*ret_snapshot = snapshot;
	return 0;
}
