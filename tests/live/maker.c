/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maker CAUSE: makes a pair of neighbours that this cause keeps apart, prints "READY PID BORDER",
 * then obeys lines on standard input: "mprotect A L PROT", "madvise A L ADVICE", "munlock A L",
 * "mmap A L PROT FLAGS". Exit 77: this kernel has not got what it takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static void *must(void *p)
{
	if (p == MAP_FAILED || (intptr_t)p == -1) {
		perror("maker");
		exit(1);
	}
	return p;
}

/* Room for two pages between two holes. */
static char *room(void)
{
	char *p = must(mmap(NULL, 4 * PAGE, PROT_NONE, ANON, -1, 0));

	munmap(p, 4 * PAGE);
	return p + PAGE;
}

static char *anon(char *at, size_t pages, int prot)
{
	return must(mmap(at, pages * PAGE, prot, ANON | MAP_FIXED, -1, 0));
}

static int file(void)
{
	int fd = memfd_create("maker", 0);

	if (fd < 0 || ftruncate(fd, 16 * PAGE))
		exit(1);
	return fd;
}

static char *make_prot(void)
{
	char *p = anon(room(), 2, RW);

	/* Touched memory stays accounted, so nothing but the protection differs. */
	p[0] = p[PAGE] = 1;
	mprotect(p + PAGE, PAGE, PROT_READ);
	return p + PAGE;
}

static char *make_shared(void)
{
	char *p = room();
	int fd = file();

	must(mmap(p, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
	must(mmap(p + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, PAGE));
	return p + PAGE;
}

static char *make_flags(void)
{
	char *p = anon(room(), 2, RW);

	madvise(p + PAGE, PAGE, MADV_DONTDUMP);
	return p + PAGE;
}

static char *make_lock(void)
{
	char *p = anon(room(), 2, RW);

	if (mlock(p + PAGE, PAGE))
		exit(77);
	return p + PAGE;
}

/* The kernel lays the vdso behind its data. */
static char *make_special(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0, end;
	char line[256];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			break;
	return (char *)start;
}

static char *make_file(void)
{
	char *p = room();

	must(mmap(p, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, file(), 0));
	must(mmap(p + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, file(), PAGE));
	return p + PAGE;
}

static char *make_file_twice(void)
{
	char *p = room(), path[64];
	int fd = file(), again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	must(mmap(p, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
	must(mmap(p + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, again, PAGE));
	return p + PAGE;
}

static char *make_offset(void)
{
	char *p = room();
	int fd = file();

	must(mmap(p, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, PAGE));
	must(mmap(p + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
	return p + PAGE;
}

static char *make_moved(void)
{
	char *p = anon(room(), 1, RW), *old = anon(room(), 1, RW);

	*old = 1;
	must(mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + PAGE));
	return p + PAGE;
}

static char *make_anon_vma(void)
{
	char *p = anon(room(), 2, RW);

	madvise(p + PAGE, PAGE, MADV_DONTDUMP);
	p[0] = p[PAGE] = 1;
	madvise(p + PAGE, PAGE, MADV_DODUMP);
	return p + PAGE;
}

/* What is mapped anew is locked and touched at once: that joins nothing here. */
static char *make_all_locked(void)
{
	char *border = make_anon_vma();

	if (mlockall(MCL_FUTURE))
		exit(77);
	return border;
}

static char *make_fork(void)
{
	char *p = anon(room(), 1, RW);

	*p = 1;
	if (fork())
		exit(wait(NULL) < 0);
	return anon(p + PAGE, 1, RW);
}

static char *make_numa(void)
{
	char *p = anon(room(), 2, RW);
	unsigned long node = 1;

	if (syscall(SYS_mbind, p + PAGE, PAGE, 1 /* preferred */, &node, 64, 0))
		exit(77);
	return p + PAGE;
}

static void watch(const char *p)
{
	int fd = (int)syscall(SYS_userfaultfd, 1 /* user mode only */);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (unsigned long)p, PAGE }, .mode = 1 };

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		exit(77);
}

static char *make_uffd(void)
{
	char *p = anon(room(), 2, RW);

	watch(p);
	watch(p + PAGE);
	return p + PAGE;
}

static char *make_name(void)
{
	char *p = anon(room(), 2, RW);

	if (prctl(0x53564d41 /* PR_SET_VMA */, 0, p + PAGE, PAGE, "named"))
		exit(77);
	return p + PAGE;
}

static char *make_pkey(void)
{
	char *p = anon(room(), 2, RW);
	int key = pkey_alloc(0, 0);

	if (key < 0 || pkey_mprotect(p + PAGE, PAGE, RW, key))
		exit(77);
	return p + PAGE;
}

/* SysV memory has a close operation: split once, it stays split. */
static char *make_close(void)
{
	int id = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600);
	char *p = id < 0 ? NULL : must(shmat(id, NULL, 0));

	if (!p)
		exit(77);
	shmctl(id, IPC_RMID, NULL);
	mprotect(p + PAGE, PAGE, PROT_READ);
	mprotect(p + PAGE, PAGE, RW);
	return p + PAGE;
}

/*
 * At the limit less one a page in the middle cannot be changed: its first split is done, its second
 * is refused, and what was split stays so.
 */
static char *make_untried(void)
{
	FILE *sysctl = fopen("/proc/sys/vm/max_map_count", "r");
	char *first, *at;
	unsigned long limit;

	if (!sysctl || fscanf(sysctl, "%lu", &limit) != 1 || limit > 200000)
		exit(77);
	fclose(sysctl);
	first = must(mmap(NULL, 2 * limit * PAGE, PROT_NONE, ANON | MAP_NORESERVE, -1, 0));
	for (at = first; !mprotect(at, PAGE, PROT_READ); at += 2 * PAGE)
		;
	munmap(first, PAGE);
	at += 2 * PAGE;
	if (!mprotect(at, PAGE, PROT_READ) || errno != ENOMEM)
		exit(1);
	/* Room for the call that will join them. */
	munmap(first + 2 * PAGE, PAGE);
	munmap(first + 4 * PAGE, PAGE);
	return at;
}

/* Several at once. */
static char *make_several(void)
{
	char *p = room();

	must(mmap(p, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, file(), 0));
	anon(p + PAGE, 1, RW);
	madvise(p + PAGE, PAGE, MADV_DONTDUMP);
	return p + PAGE;
}

/* All that private memory can differ in: the right one comes from elsewhere and was touched there. */
static char *make_many(void)
{
	char *p = anon(room(), 1, RW), *old = anon(room(), 1, RW);
	unsigned long node = 1;

	*p = *old = 1;
	must(mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + PAGE));
	mprotect(p + PAGE, PAGE, PROT_READ);
	madvise(p + PAGE, PAGE, MADV_DONTDUMP);
	if (syscall(SYS_mbind, p + PAGE, PAGE, 1, &node, 64, 0))
		exit(77);
	watch(p);
	return p + PAGE;
}

/* What a child adds beside what it inherited, by other advice. */
static char *make_forked_flags(void)
{
	char *p = make_fork();

	madvise(p, PAGE, MADV_DONTDUMP);
	return p;
}

static const struct {
	const char *name;
	char *(*make)(void);
} makers[] = {
	{ "prot", make_prot },
	{ "shared", make_shared },
	{ "flags", make_flags },
	{ "lock", make_lock },
	{ "special", make_special },
	{ "file", make_file },
	{ "file-twice", make_file_twice },
	{ "offset", make_offset },
	{ "moved", make_moved },
	{ "anon_vma", make_anon_vma },
	{ "all-locked", make_all_locked },
	{ "fork", make_fork },
	{ "numa", make_numa },
	{ "uffd", make_uffd },
	{ "name", make_name },
	{ "pkey", make_pkey },
	{ "close", make_close },
	{ "untried", make_untried },
	{ "several", make_several },
	{ "many", make_many },
	{ "forked-flags", make_forked_flags },
};

static void obey(const char *line)
{
	unsigned long addr, len, number, flags;
	int r = -1;

	if (sscanf(line, "mprotect %lx %lu %lu", &addr, &len, &number) == 3)
		r = mprotect((void *)addr, len, (int)number);
	else if (sscanf(line, "madvise %lx %lu %lu", &addr, &len, &number) == 3)
		r = madvise((void *)addr, len, (int)number);
	else if (sscanf(line, "mbind %lx %lu", &addr, &len) == 2)
		r = (int)syscall(SYS_mbind, addr, len, 0, NULL, 0, 0);
	else if (sscanf(line, "munlock %lx %lu", &addr, &len) == 2)
		r = munlock((void *)addr, len);
	else if (sscanf(line, "mlock %lx %lu", &addr, &len) == 2)
		r = mlock((void *)addr, len);
	else if (sscanf(line, "mmap %lx %lu %lu %lu", &addr, &len, &number, &flags) == 4)
		r = mmap((void *)addr, len, (int)number, (int)flags, -1, 0) == MAP_FAILED;
	printf("%s\n", r ? strerror(errno) : "DONE");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char in[BUFSIZ], out[BUFSIZ];
	char *border = NULL, line[256];

	/* At the limit stdio can get no buffers. */
	setvbuf(stdin, in, _IOFBF, sizeof(in));
	setvbuf(stdout, out, _IOFBF, sizeof(out));
	for (size_t i = 0; argc == 2 && i < sizeof(makers) / sizeof(makers[0]); i++)
		if (!strcmp(makers[i].name, argv[1]))
			border = makers[i].make();
	if (!border)
		return 2;
	printf("READY %d %p\n", getpid(), border);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
