/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/guards.h"
#include "probe/iter.h"
#include "probe/mm_text.h"
#include "probe/policies.h"
#include "probe/procfs.h"
#include "probe/refusal.h"
#include "trace/clock.h"
#include "trace/trace.h"

/* Reading the smaps of so many areas takes some 10 ms, in which the process cannot map. */
#define FEW_AREAS 4096
#define NOTE_SIZE 256

/* A process with its files open: what is open stays readable when rights have been given up. */
struct live {
	pid_t pid, tid; /* tid: a thread that has the memory */
	const struct live_options *options;
	int maps, smaps, numa_maps, pagemap; /* -errno where it cannot be opened */
	char closed[REFUSAL_SIZE];	     /* why maps cannot */
};

/*
 * A way to read a process. -EOPNOTSUPP: it does not work here, try the next; @note (NOTE_SIZE) may
 * then say what is lost.
 */
struct reader {
	const char *source; /* as in struct snapshot */
	int (*read)(const struct live *live, struct snapshot *ret_snapshot,
		    struct live_error *ret_error, char *note);
};

/* @text is copied. */
static void keep_note(struct snapshot *snapshot, const char *text)
{
	const char *kept;

	if (snapshot_text(snapshot, text, strlen(text), &kept))
		snapshot_note(snapshot, kept);
}

static void open_files(struct live *live)
{
	live->maps = mm_text_open(live->pid, live->tid, "maps");
	live->smaps = mm_text_open(live->pid, live->tid, "smaps");
	live->numa_maps = mm_text_open(live->pid, live->tid, "numa_maps");
	live->pagemap = mm_text_open(live->pid, live->tid, "pagemap");
	if (live->maps < 0)
		refusal_text(live->pid, live->maps, live->closed);
}

static void close_files(struct live *live)
{
	int files[] = { live->maps, live->smaps, live->numa_maps, live->pagemap };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] >= 0)
			close(files[i]);
}

static bool is_ours(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !stat(path, &st) && st.st_uid == geteuid() && geteuid();
}

/* The kernel's own truth, with probe/bpf. */
static int read_bpf(const struct live *live, struct snapshot *ret_snapshot,
		    struct live_error *ret_error, char *note)
{
	char why[ITER_WHY_SIZE] = "";
	int r = iter_snapshot(live->tid, ret_snapshot, why);

	if (!r || r == -ENOMEM)
		return r;
	snprintf(note, NOTE_SIZE, "the kernel's own truth could not be read (%s)", why);
	return -EOPNOTSUPP;
}

static int read_text(const struct live *live, int fd, const char *file,
		     struct snapshot *ret_snapshot, struct live_error *ret_error)
{
	struct trace_error error = { 0 };
	uint64_t start = clock_ns(), read_ns;
	struct source source;
	struct mm_text text;
	int r = fd < 0 ? fd : mm_text_read(fd, &text);

	read_ns = clock_ns() - start;
	if (r) {
		if (fd >= 0 && r == -ESRCH)
			refusal_text_ended(live->pid, ret_error->text);
		else if (fd < 0 && r == live->maps)
			memcpy(ret_error->text, live->closed, sizeof(live->closed));
		else
			refusal_text(live->pid, r, ret_error->text);
		return r;
	}
	source_from_buffer(file, text.data, text.size, &source);
	r = snapshot_from_text(&source, false, ret_snapshot, &error);
	mm_text_free(&text);
	ret_snapshot->read_ns = read_ns;
	if (r)
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "its %s cannot be read: line %llu: %.180s", file,
			 (unsigned long long)error.line, error.text);
	return r;
}

static int read_maps(const struct live *live, struct snapshot *ret_snapshot,
		     struct live_error *ret_error, char *note)
{
	return read_text(live, live->maps, "maps", ret_snapshot, ret_error);
}

static void read_policies(const struct live *live, struct snapshot *snapshot)
{
	struct mm_text text;

	if (live->numa_maps < 0 || mm_text_read(live->numa_maps, &text))
		return;
	policies_from_text(text.data, snapshot);
	mm_text_free(&text);
}

/* By what is open: rights may be gone by now. */
static bool has_many_areas(const struct live *live)
{
	struct mm_text text;
	size_t lines = 0;

	if (live->maps < 0 || mm_text_read(live->maps, &text))
		return false;
	for (const char *at = text.data; lines <= FEW_AREAS && (at = strchr(at, '\n')); at++)
		lines++;
	mm_text_free(&text);
	lseek(live->maps, 0, SEEK_SET);
	return lines > FEW_AREAS;
}

static int read_smaps(const struct live *live, struct snapshot *ret_snapshot,
		      struct live_error *ret_error, char *note)
{
	int r;

	if (!live->options->all && !is_ours(live->pid) && has_many_areas(live)) {
		snprintf(note, NOTE_SIZE,
			 "flags were not read, since that holds the process up for a while; "
			 "--causes reads them");
		return -EOPNOTSUPP;
	}
	/* A kernel without CONFIG_PROC_PAGE_MONITOR has maps but not smaps. */
	if (live->smaps == -ENOENT && live->maps >= 0)
		return -EOPNOTSUPP;
	r = read_text(live, live->smaps, "smaps", ret_snapshot, ret_error);
	if (!r)
		read_policies(live, ret_snapshot);
	return r;
}

/* Best first. */
static const struct reader readers[] = {
	{ "bpf", read_bpf },
	{ "smaps", read_smaps },
	{ "maps", read_maps },
};
#define NR_READERS (sizeof(readers) / sizeof(readers[0]))

static void append_error(struct live_error *error, const char *text)
{
	size_t len = strlen(error->text);

	snprintf(error->text + len, sizeof(error->text) - len, "; %s", text);
}

static int read_best(const struct live *live, struct snapshot *ret_snapshot,
		     struct live_error *ret_error)
{
	const char *first = live->options->source;
	char notes[NR_READERS][NOTE_SIZE] = { "" };
	int r = -EOPNOTSUPP;

	for (size_t i = 0; i < NR_READERS && r == -EOPNOTSUPP; i++) {
		if (first && strcmp(readers[i].source, first))
			continue;
		first = NULL;
		r = readers[i].read(live, ret_snapshot, ret_error, notes[i]);
	}
	/* root is not used to being refused: all that was tried */
	if ((r == -EACCES || r == -EPERM) && notes[0][0] && !geteuid())
		append_error(ret_error, notes[0]);
	for (size_t i = 0; !r && i < NR_READERS; i++)
		if (notes[i][0])
			keep_note(ret_snapshot, notes[i]);
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

	if (procfs_read_comm(snapshot->comm, sizeof(snapshot->comm), pid) < 0)
		snapshot->comm[0] = '\0';
	if (procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) > 0 &&
	    procfs_field(status, "Threads", &threads))
		snapshot->threads = (uint32_t)threads;
}

static int read_open(const struct live *live, struct snapshot *ret_snapshot,
		     struct live_error *ret_error)
{
	struct snapshot snapshot;
	int r;

	memset(&snapshot, 0, sizeof(snapshot));
	r = read_best(live, &snapshot, ret_error);
	if (r)
		return r;
	snapshot.pid = live->pid;
	read_process(live->pid, &snapshot);
	if (!live->options->no_guards && live->pagemap >= 0 &&
	    guards_read(live->pagemap, live->tid, &snapshot))
		snapshot_note(&snapshot, "guard markers were not looked for: too much is resident");
	if (in_gvisor())
		snapshot_note(&snapshot, "this is gVisor: its count of mappings is not the host's");
	*ret_snapshot = snapshot;
	return 0;
}

int snapshot_live(pid_t pid, const struct live_options *options, struct snapshot *ret_snapshot,
		  struct live_error *ret_error)
{
	struct live live = { .pid = pid, .tid = mm_thread(pid), .options = options };
	int r;

	if (live.tid < 0) {
		refusal_text(pid, live.tid, ret_error->text);
		return live.tid;
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "no source for it works here");
	open_files(&live);
	if (options->drop_rights && !options->source)
		iter_drop_privileges();
	r = read_open(&live, ret_snapshot, ret_error);
	close_files(&live);
	return r;
}
