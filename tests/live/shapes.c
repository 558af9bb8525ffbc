/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes SHAPE [mended]: a map of many areas of one shape, or the same program as its remedy would
 * have it. Prints "READY PID" and waits for its input to end. Exit 77: this kernel has not got what
 * it takes.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define NR 64
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)
#define GUARD_INSTALL 102

static void ready(void)
{
	char line[32];
	int len = snprintf(line, sizeof(line), "READY %d\n", getpid());

	if (write(1, line, (size_t)len) != len || read(0, line, 1) < 0)
		_exit(1);
	_exit(0);
}

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
	{ "opened-anew", opened_anew },
	{ "file-per-map", file_per_map },
	{ "moved", moved },
	{ "numa", numa },
	{ "locks", locks },
	{ "uffd", uffd },
	{ "code", code },
	{ "code-dual", code_dual },
	{ "chunks", chunks },
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
