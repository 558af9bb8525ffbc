/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes SHAPE [mended]: a map of many areas of one shape, or the same program as its remedy would
 * have it. Prints "READY PID" and waits for its input to end. Exit 77: this kernel has not got what
 * it takes.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/live/ready.h"

#define PAGE 4096UL
#define NR 64
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)
#define GUARD_INSTALL 102

static char *map(char *at, size_t size, int prot, int flags, int fd, size_t offset)
{
	char *p = mmap(at, size, prot, flags | (at ? MAP_FIXED : 0), fd, (off_t)offset);

	if (p == MAP_FAILED) {
		perror("mmap");
		_exit(1);
	}
	return p;
}

/* A region between two holes. */
static char *region(size_t size)
{
	char *p = map(NULL, size + 2 * PAGE, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);

	munmap(p, PAGE);
	munmap(p + PAGE + size, PAGE);
	return p + PAGE;
}

static int file(size_t size)
{
	int fd = memfd_create("shapes", 0);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		_exit(1);
	return fd;
}

static void fibers(bool mended)
{
	const size_t size = 16 * PAGE;
	char *stack, *all = region(NR * size);

	for (int i = NR; i--;) {
		stack = map(all + (size_t)i * size, size, RW, ANON | MAP_STACK, -1, 0);
		if (!mended)
			mprotect(stack, PAGE, PROT_NONE);
		else if (madvise(stack, PAGE, GUARD_INSTALL))
			_exit(77);
		stack[size - 1] = 1;
	}
}

static void barrier(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	memset(heap, 1, NR * PAGE);
	if (mended)
		return;
	mprotect(heap, NR * PAGE, PROT_READ);
	for (int i = 0; i < NR; i += 2)
		mprotect(heap + (size_t)i * PAGE, PAGE, RW);
}

/* Advice that can be taken back, before memory is touched: pieces get an anon_vma of their own. */
static void advice(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	for (int i = 1; i < NR; i += 2)
		madvise(heap + (size_t)i * PAGE, PAGE, MADV_DONTFORK);
	for (int i = 0; i < NR; i += 3)
		heap[(size_t)i * PAGE] = 1;
	if (mended)
		madvise(heap, NR * PAGE, MADV_DOFORK);
}

static void advice_touched(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	if (mended)
		memset(heap, 1, NR * PAGE);
	for (int i = 1; i < NR; i += 2)
		madvise(heap + (size_t)i * PAGE, PAGE, MADV_DONTDUMP);
	memset(heap, 1, NR * PAGE);
	if (mended)
		madvise(heap, NR * PAGE, MADV_DODUMP);
}

static void huge(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	memset(heap, 1, NR * PAGE);
	for (int i = 1; i < NR; i += 2)
		if (madvise(heap + (size_t)i * PAGE, PAGE, MADV_NOHUGEPAGE))
			_exit(77);
	if (mended)
		madvise(heap, NR * PAGE, MADV_NOHUGEPAGE);
}

static void decommit(bool mended)
{
	char *heap = region(NR * PAGE);

	if (mended)
		map(heap, NR * PAGE, RW, ANON, -1, 0);
	for (int i = 0; i < NR; i++) {
		if (!mended && i % 4 < 3)
			map(heap + (size_t)i * PAGE, PAGE, RW, ANON, -1, 0);
		if (i % 4 < 3)
			heap[(size_t)i * PAGE] = 1;
	}
	/* Every fifth page is given back; committed pages were touched in no order. */
	for (int i = 1; i < NR; i += 5) {
		if (mended)
			madvise(heap + (size_t)i * PAGE, PAGE, MADV_DONTNEED);
		else
			map(heap + (size_t)i * PAGE, PAGE, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
	}
}

static void touched_apart(bool mended)
{
	char *heap = region(NR * PAGE);

	if (mended) {
		map(heap, NR * PAGE, RW, ANON, -1, 0);
		memset(heap, 1, NR * PAGE);
		return;
	}
	for (int i = 0; i < NR; i += 2) {
		map(heap + (size_t)i * PAGE, PAGE, RW, ANON, -1, 0);
		heap[(size_t)i * PAGE] = 1;
	}
	for (int i = 1; i < NR; i += 2) {
		map(heap + (size_t)i * PAGE, PAGE, RW, ANON, -1, 0);
		heap[(size_t)i * PAGE] = 1;
	}
}

static void forked(bool mended)
{
	const size_t size = 8 * PAGE;
	char *heap = region(NR * size);

	munmap(heap, NR * size);
	if (mended) {
		map(heap, NR * size, RW, ANON, -1, 0);
		memset(heap, 1, NR * size);
	}
	for (int i = 0; i < NR; i++) {
		char *piece = heap + (size_t)i * size;

		if (!mended)
			map(piece, size, RW, ANON, -1, 0);
		memset(piece, 1, size);
		if (i + 1 < NR && fork())
			_exit(wait(NULL) < 0);
	}
}

static void shared_anon(bool mended)
{
	char *all = region(NR * PAGE);

	for (int i = 0; i < NR; i++)
		map(all + (size_t)i * PAGE, PAGE, RW,
		    MAP_ANONYMOUS | (mended ? MAP_PRIVATE : MAP_SHARED), -1, 0);
}

static void windows(bool mended)
{
	char *all = region(NR * PAGE);
	int fd = file(NR * PAGE);

	for (size_t i = 0; i < NR; i++)
		map(all + i * PAGE, PAGE, PROT_READ, MAP_SHARED, fd,
		    (mended ? i : NR - 1 - i) * PAGE);
}

/* The same four parts again and again. */
static void repeated(bool mended)
{
	char *all = region(NR * PAGE);
	int fd = file(NR * PAGE);

	munmap(all, NR * PAGE);
	for (size_t i = 0; i < (mended ? 4 : NR); i++)
		map(all + i * PAGE, PAGE, PROT_READ, MAP_SHARED, fd, i % 4 * 8 * PAGE);
}

static void opened_anew(bool mended)
{
	char *all = region(NR * PAGE), path[64];
	int fd = file(NR * PAGE);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < NR; i++) {
		int again = mended ? dup(fd) : open(path, O_RDONLY);

		map(all + i * PAGE, PAGE, PROT_READ, MAP_SHARED, again, i * PAGE);
		close(again);
	}
}

static void file_per_map(bool mended)
{
	char *all = region(NR * PAGE);

	for (size_t i = 0; i < NR; i++) {
		char name[] = "shapes-XXXXXX";
		int fd = mkstemp(name);

		if (fd < 0 || unlink(name) || ftruncate(fd, PAGE))
			_exit(1);
		map(all + i * PAGE, PAGE, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
}

static void moved(bool mended)
{
	char *all = region(NR * PAGE);

	for (size_t i = 0; i < NR; i++) {
		char *old;

		if (mended) {
			map(all + i * PAGE, PAGE, RW, ANON, -1, 0);
			all[i * PAGE] = 1;
			continue;
		}
		old = map(NULL, PAGE, RW, ANON, -1, 0);
		*old = 1;
		if (mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, all + i * PAGE) ==
		    MAP_FAILED)
			_exit(1);
	}
}

static void numa(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);
	unsigned long node = 1;

	if (mended && syscall(SYS_mbind, heap, NR * PAGE, 1, &node, 64, 0))
		_exit(77);
	for (size_t i = 0; i < NR; i += 2)
		if (!mended && syscall(SYS_mbind, heap + i * PAGE, PAGE, 1, &node, 64, 0))
			_exit(77);
	memset(heap, 1, NR * PAGE);
}

static void locks(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	memset(heap, 1, NR * PAGE);
	for (size_t i = 0; i < NR && !mended; i += 2)
		if (mlock(heap + i * PAGE, PAGE))
			_exit(77);
}

static void uffd(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, 1);
	struct uffdio_api api = { .api = UFFD_API };

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		_exit(77);
	for (size_t i = 0; i < NR; i += 2) {
		struct uffdio_register range = { .range = { (unsigned long)heap + i * PAGE, PAGE },
						 .mode = 1 };

		if (ioctl(fd, UFFDIO_REGISTER, &range))
			_exit(77);
	}
}

static void code(bool mended)
{
	char *all = region(NR * PAGE);

	if (mended) {
		map(all, NR * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file(NR * PAGE), 0);
		return;
	}
	map(all, NR * PAGE, RW, ANON, -1, 0);
	memset(all, 0xc3, NR * PAGE);
	for (size_t i = 0; i < NR; i += 2)
		mprotect(all + i * PAGE, PAGE, PROT_READ | PROT_EXEC);
}

static void code_dual(bool mended)
{
	int fd = file(NR * PAGE);
	char *run = map(region(NR * PAGE), NR * PAGE, mended ? PROT_READ | PROT_EXEC : PROT_NONE,
			MAP_SHARED, fd, 0);

	map(region(NR * PAGE), NR * PAGE, RW, MAP_SHARED, fd, 0);
	for (size_t i = 0; i < NR && !mended; i += 2)
		mprotect(run + i * PAGE, PAGE, PROT_READ | PROT_EXEC);
}

static void chunks(bool mended)
{
	const size_t size = 64 * 1024;
	char *all = region(2 * (NR + 1) * size);
	char *first = (char *)(((uintptr_t)all + size - 1) / size * size);

	munmap(all, 2 * (NR + 1) * size);
	for (size_t i = 0; i < NR; i++)
		map(first + 2 * i * size, size, RW, ANON, -1, 0);
}

/* Stacks hardly larger than their guards: MAP_STACK tells what they are. */
static void small_fibers(bool mended)
{
	char *all = region(3 * NR * PAGE);

	for (size_t i = 0; i < NR; i++) {
		char *stack = map(all + 3 * i * PAGE, 3 * PAGE, RW, ANON | MAP_STACK, -1, 0);

		if (!mended)
			mprotect(stack, PAGE, PROT_NONE);
		else if (madvise(stack, PAGE, GUARD_INSTALL))
			_exit(77);
		stack[2 * PAGE] = 1;
	}
}

static void *stay(void *unused)
{
	pause();
	return unused;
}

/* Threads whose stacks and guards have several sizes. */
static void threads(bool mended)
{
	char *all =
		mended ? map(region(16 * NR * PAGE), 16 * NR * PAGE, RW, ANON | MAP_STACK, -1, 0)
		       : NULL;

	for (size_t i = 0; i < NR; i++) {
		char *stack = all + 16 * i * PAGE;
		pthread_attr_t attr;
		pthread_t thread;

		pthread_attr_init(&attr);
		if (!mended) {
			pthread_attr_setstacksize(&attr, (16 + 16 * (i % 3)) * PAGE);
			pthread_attr_setguardsize(&attr, PAGE << i % 4);
		} else if (madvise(stack, PAGE, GUARD_INSTALL)) {
			_exit(77);
		} else {
			pthread_attr_setstack(&attr, stack, 16 * PAGE);
		}
		if (pthread_create(&thread, &attr, stay, NULL))
			_exit(77);
	}
}

/* Locked piece by piece in two ways, and touched then: each piece has an anon_vma of its own. */
static void locks_first(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	if (mended && mlock(heap, NR * PAGE))
		_exit(77);
	for (size_t i = 1; i < NR && !mended; i += 2)
		if (i % 4 == 1 ? mlock(heap + i * PAGE, PAGE)
			       : mlock2(heap + i * PAGE, PAGE, MLOCK_ONFAULT))
			_exit(77);
	memset(heap, 1, NR * PAGE);
}

static void attach(char *at, size_t size)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);

	if (id < 0 || shmat(id, at, 0) == (void *)-1)
		_exit(77);
	shmctl(id, IPC_RMID, NULL);
}

static void segments(bool mended)
{
	char *all = region(NR * PAGE);

	munmap(all, NR * PAGE);
	if (mended)
		attach(all, NR * PAGE);
	for (size_t i = 0; i < NR && !mended; i++)
		attach(all + i * PAGE, PAGE);
}

/* A child fills the holes of what it inherited. */
static void forked_holes(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);

	memset(heap, 1, NR * PAGE);
	for (size_t i = 0; i < NR && !mended; i += 2)
		munmap(heap + i * PAGE, PAGE);
	if (fork())
		_exit(wait(NULL) < 0);
	for (size_t i = 0; i < NR && !mended; i += 2)
		*map(heap + i * PAGE, PAGE, RW, ANON, -1, 0) = 1;
}

/* Guard markers cost nothing: the stripes are what splits. */
static void marked_stripes(bool mended)
{
	const size_t size = 16 * PAGE;
	char *heap = map(region(NR * size), NR * size, RW, ANON, -1, 0);

	memset(heap, 1, NR * size);
	for (size_t i = 0; i < NR; i++) {
		if (madvise(heap + i * size, PAGE, GUARD_INSTALL))
			_exit(77);
		if (i & 1)
			madvise(heap + i * size, size, MADV_DONTFORK);
	}
	if (mended)
		madvise(heap, NR * size, MADV_DOFORK);
}

/* Ranges that two descriptors watch in turn. */
static void two_uffd(bool mended)
{
	char *heap = map(region(NR * PAGE), NR * PAGE, RW, ANON, -1, 0);
	int fd[2];

	for (int i = 0; i < 2; i++) {
		struct uffdio_api api = { .api = UFFD_API };

		fd[i] = (int)syscall(SYS_userfaultfd, 1);
		if (fd[i] < 0 || ioctl(fd[i], UFFDIO_API, &api))
			_exit(77);
	}
	for (size_t i = 0; i < NR; i++) {
		struct uffdio_register range = { .range = { (unsigned long)heap + i * PAGE, PAGE },
						 .mode = 1 };

		if (ioctl(fd[i & 1], UFFDIO_REGISTER, &range))
			_exit(77);
	}
}

static void stripes(size_t nr)
{
	char *heap = map(region(nr * PAGE), nr * PAGE, RW, ANON, -1, 0);

	memset(heap, 1, nr * PAGE);
	for (size_t i = 1; i < nr; i += 2)
		madvise(heap + i * PAGE, PAGE, MADV_DONTDUMP);
}

/* Half of the map is one thing, half another. */
static void mixed(bool mended)
{
	stripes(NR);
	barrier(mended);
}

/* So few that nothing is worth saying. */
static void few(bool mended)
{
	stripes(8);
}

static const struct {
	const char *name;
	void (*make)(bool mended);
} shapes[] = {
	{ "fibers", fibers },
	{ "barrier", barrier },
	{ "advice", advice },
	{ "advice-touched", advice_touched },
	{ "huge", huge },
	{ "decommit", decommit },
	{ "touched-apart", touched_apart },
	{ "forked", forked },
	{ "shared-anon", shared_anon },
	{ "windows", windows },
	{ "repeated", repeated },
	{ "opened-anew", opened_anew },
	{ "file-per-map", file_per_map },
	{ "moved", moved },
	{ "numa", numa },
	{ "locks", locks },
	{ "uffd", uffd },
	{ "code", code },
	{ "code-dual", code_dual },
	{ "chunks", chunks },
	{ "small-fibers", small_fibers },
	{ "threads", threads },
	{ "locks-first", locks_first },
	{ "segments", segments },
	{ "forked-holes", forked_holes },
	{ "marked-stripes", marked_stripes },
	{ "two-uffd", two_uffd },
	{ "mixed", mixed },
	{ "few", few },
};

int main(int argc, char **argv)
{
	bool mended = argc == 3 && !strcmp(argv[2], "mended");

	for (size_t i = 0; argc >= 2 && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (strcmp(shapes[i].name, argv[1]))
			continue;
		shapes[i].make(mended);
		ready();
	}
	return 2;
}
