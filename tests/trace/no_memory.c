/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every allocation of the importers fails once, one after the other: the reader says so, and nothing
 * is lost (the sanitizers look on). The linker gives the allocating calls to this file (--wrap).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "trace/snapshot.h"
#include "trace/trace.h"

static unsigned long countdown; /* the allocation that fails; 0: none */
static bool failed;

static bool fails(void)
{
	if (!countdown || --countdown)
		return false;
	failed = true;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t nr, size_t size);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);
char *__wrap_strndup(const char *s, size_t n);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, nr, size);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : __real_strndup(s, n);
}

static const char strace_log[] =
	"1 execve(\"/bin/a\", [\"a\"], 0x7f /* 1 var */) = 0\n"
	"1 brk(NULL) = 0x1000\n"
	"1 openat(AT_FDCWD, \"/a\", O_RDONLY|O_CLOEXEC) = 3\n"
	"1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</a>, 0) = 0x7f0000001000\n"
	" > /lib/libc.so.6(mmap+0x37) [0x10]\n"
	"1 dup(3) = 4\n"
	"1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 2\n"
	"1 munmap(0x7f0000001000, 4096 <unfinished ...>\n"
	"2 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 4</a>, 0) = 0x7f0000001000\n"
	"1 <... munmap resumed>) = 0\n"
	"1 fork() = 3\n"
	"3 memfd_create(\"x\", 0) = 5\n"
	"3 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 5, 0) = 0x7f0000003000\n"
	"3 shmget(IPC_PRIVATE, 8192, IPC_CREAT|0600) = 12\n"
	"3 shmat(12, NULL, 0) = 0x7f0000010000\n"
	"3 shmdt(0x7f0000010000) = 0\n"
	"3 prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x7f0000003000, 4096, \"n\") = 0\n"
	"4 munmap(0x7f0000003000, 4096) = 0\n"
	"3 +++ exited with 0 +++\n"
	"1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000001000\n"
	"1 vfork( <unfinished ...>\n"
	"5 execve(\"/bin/b\", [\"b\"], 0x7f /* 1 var */) = 0\n"
	"1 <... vfork resumed>) = 5\n";

static const char mail[] = "Subject: x\n\n> 1 mmap(NULL, 4096,\n> PROT_READ, "
			   "MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x40000000\n"
			   "1 &lt;b 1 munmap(0x40000000, 4096 &lt;unfinished ...&gt;\n"
			   "1 munmap(0x40000000, 4096) = 0\n";

static const char ops[] = "#map-every 3\nmmap 0 4000 3 22 -1 0\nfork\n[1] munmap $1 1000\n";

static const char smaps[] =
	"1000-2000 rw-p 00000000 00:00 0 [heap]\nAnonymous: 4 kB\nVmFlags: rd wr\n"
	"2000-3000 r--p 00000000 08:01 7 /lib/a&amp;b.so\nVmFlags: rd mr\n"
	"3000-4000 r--p 00000000 00:00 0 /lib/c.so\nVmFlags: rd mr\n";

static int read_trace(struct source *source)
{
	struct trace_error error;
	struct trace *trace;
	struct event event;
	int r = trace_open(source, NULL, &trace, &error);

	if (r)
		return r;
	while ((r = trace_next(trace, &event)) > 0)
		;
	trace_close(trace);
	return r;
}

static int read_areas(struct source *source)
{
	struct snapshot snapshot;
	struct trace_error error;
	int r = snapshot_from_text(source, false, &snapshot, &error);

	if (!r)
		snapshot_free(&snapshot);
	return r;
}

static void fail_each(const char *what, const char *text, size_t size,
		      int (*read_it)(struct source *source))
{
	unsigned long nr = 0, good = 0;
	struct source source;
	int r;

	source_from_buffer(what, text, size, &source);
	do {
		failed = false;
		countdown = ++nr;
		r = read_it(&source);
		countdown = 0;
		good += failed ? r == -ENOMEM : r == 0;
	} while (failed && nr < 100000);
	ok(good == nr && nr > 3, "%s: %lu allocations", what, nr - 1);
	source_close(&source);
}

int main(void)
{
	fail_each("strace", strace_log, sizeof(strace_log) - 1, read_trace);
	fail_each("mail", mail, sizeof(mail) - 1, read_trace);
	fail_each("operations", ops, sizeof(ops) - 1, read_trace);
	fail_each("smaps", smaps, sizeof(smaps) - 1, read_areas);
	return tap_done();
}
