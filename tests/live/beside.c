/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beside ROLE: a program that does what the model beside it must follow, and things that no call of
 * its own shows. Ends with 0, or 77 where the kernel does not have what the role is about.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define SKIPPED 77
#define RW (PROT_READ | PROT_WRITE)
#define GUARD_INSTALL 102
#define GUARD_REMOVE 103
#define POPULATE_WRITE 23
#define PR_SET_MDWE 65
#define PR_SET_THP_DISABLE 41
#define NR_MSEAL 462
#define NR_PROCESS_MADVISE 440
#define MAP_DROPPABLE 0x08

static char *anon(size_t pages)
{
	char *at = mmap(NULL, pages * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

static void map_at(char *at, size_t pages)
{
	mmap(at, pages * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* A page on each side of a hole, each faulted by itself; nothing else touches them. */
static char *faulted_apart(void)
{
	char *at = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at += PAGE;
	map_at(at, 1);
	at[0] = 1;
	map_at(at + 2 * PAGE, 1);
	at[2 * PAGE] = 1;
	munmap(at + PAGE, PAGE);
	return at;
}

/* Calls after something that no call shows. */
static void go_on(void)
{
	char *at = anon(5);

	mprotect(at + PAGE, PAGE, PROT_READ);
	mprotect(at + PAGE, PAGE, RW);
	munmap(at, 5 * PAGE);
}

/*
 * Two areas that were faulted apart, what is mapped between them joins one; a child breaks the pages
 * of its copy.
 */
static int fill(void)
{
	char *at = faulted_apart();

	map_at(at + PAGE, 1);
	if (!fork()) {
		at[PAGE] = 1;
		mprotect(at, PAGE, PROT_READ);
		mprotect(at, PAGE, RW);
		mremap(at + PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
		go_on();
		_exit(0);
	}
	wait(NULL);
	mprotect(at + PAGE, PAGE, PROT_READ);
	mprotect(at + PAGE, PAGE, RW);
	return 0;
}

/* Faulted once, with no page left to show for it. */
static int given_back(void)
{
	char *at = anon(16);

	at[0] = at[2 * PAGE] = 1;
	madvise(at, 16 * PAGE, MADV_DONTNEED);
	mprotect(at + 2 * PAGE, 2 * PAGE, PROT_READ);
	mprotect(at + 8 * PAGE, PAGE, PROT_NONE);
	mprotect(at + 2 * PAGE, 2 * PAGE, RW);
	return 0;
}

/* Advice by io_uring, which is no call of ours: the ring's descriptor, or -1. */
static int advise_by_ring(char *at, size_t pages, int advice)
{
	struct io_uring_params params = { 0 };
	struct io_uring_sqe *entry;
	size_t size;
	char *ring;
	int fd = (int)syscall(SYS_io_uring_setup, 8, &params);

	if (fd < 0)
		return -1;
	size = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
	ring = mmap(NULL, size, RW, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	entry = mmap(NULL, params.sq_entries * sizeof(*entry), RW, MAP_SHARED | MAP_POPULATE, fd,
		     IORING_OFF_SQES);
	*entry = (struct io_uring_sqe) {
		.opcode = IORING_OP_MADVISE,
		.addr = (uintptr_t)at,
		.len = (uint32_t)(pages * PAGE),
		.fadvise_advice = (uint32_t)advice,
	};
	*(uint32_t *)(ring + params.sq_off.array) = 0;
	*(uint32_t *)(ring + params.sq_off.tail) = 1;
	return syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 ? -1 : fd;
}

/* What was faulted stays so in each piece. */
static int uring(void)
{
	char *at = anon(8);
	int fd;

	at[0] = 1;
	fd = advise_by_ring(at + 2 * PAGE, 2, MADV_DONTDUMP);
	if (fd < 0)
		return SKIPPED;
	mprotect(at + 4 * PAGE, PAGE, PROT_READ);
	go_on();
	close(fd);
	go_on();
	return 0;
}

/*
 * Faulted, and its page given back before any call names it: what is no longer writable stays accounted
 * all the same, which the flags alone tell.
 */
static int emptied(void)
{
	char *at = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at += PAGE;
	map_at(at, 3);
	at[PAGE] = 1;
	if (advise_by_ring(at, 3, MADV_DONTNEED) < 0)
		return SKIPPED;
	mprotect(at, 3 * PAGE, PROT_READ);
	for (int i = 0; i < 15; i++)
		go_on();
	return 0;
}

/* Closing it takes the registration from memory. */
static int uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	char *at = anon(6);
	struct uffdio_register wanted = {
		.range = { (uintptr_t)at + PAGE, 2 * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &wanted))
		return SKIPPED;
	go_on();
	close(fd);
	mprotect(at + 4 * PAGE, PAGE, PROT_READ);
	go_on();
	return 0;
}

static char *awaited;

static void *touch_awaited(void *unused)
{
	madvise(awaited, 4 * PAGE, POPULATE_WRITE);
	mprotect(awaited, PAGE, PROT_READ);
	return NULL;
}

/* A call that waits for what another thread does after calls of its own. */
static int waits(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register wanted = { .range = { 0, 4 * PAGE },
					  .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t thread;

	awaited = anon(4);
	wanted.range.start = (uintptr_t)awaited;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &wanted))
		return SKIPPED;
	pthread_create(&thread, NULL, touch_awaited, NULL);
	usleep(50000);
	go_on();
	for (int i = 0; i < 4; i++) {
		struct uffdio_zeropage zero = {
			.range = { (uintptr_t)awaited + i * PAGE, PAGE },
		};

		ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	}
	pthread_join(thread, NULL);
	go_on();
	return 0;
}

static int grows(void)
{
	char *at = anon(64);

	munmap(at, 64 * PAGE);
	at = mmap(at + 60 * PAGE, 4 * PAGE, RW,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	at[-PAGE] = 1;
	go_on();
	at[-5 * PAGE] = 1;
	mprotect(at + PAGE, PAGE, PROT_READ);
	return 0;
}

static int locks(void)
{
	char *at = anon(10), *other;

	mlock(at + PAGE, 2 * PAGE);
	mlockall(MCL_FUTURE);
	other = anon(5);
	other[0] = 1;
	munlock(other + PAGE, PAGE);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	munmap(other + 2 * PAGE, PAGE);
	munlockall();
	anon(3);
	return 0;
}

/* What a process changes of itself. */
static int nature(void)
{
	char *at;

	personality(READ_IMPLIES_EXEC);
	at = anon(4);
	mprotect(at, PAGE, PROT_READ);
	personality(0);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	anon(2);
	if (prctl(PR_SET_MDWE, 1, 0, 0, 0))
		return SKIPPED;
	at = anon(4);
	mprotect(at, PAGE, PROT_READ | PROT_EXEC);
	mmap(NULL, PAGE, RW | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}

static int segments(void)
{
	int id = shmget(IPC_PRIVATE, (size_t)8 * PAGE, 0600 | IPC_CREAT);
	char *at = shmat(id, NULL, 0), *other = shmat(id, NULL, SHM_RDONLY), *over = anon(16);

	/* both are rounded down: one goes over memory, one where there is none */
	shmat(id, over + 2 * PAGE + 100, SHM_RND | SHM_REMAP);
	munmap(over, (size_t)16 * PAGE);
	shmat(id, over + PAGE - 1, SHM_RND);
	shmdt(over);
	shmctl(id, IPC_RMID, NULL);
	at[0] = 1;
	mprotect(at + PAGE, PAGE, PROT_READ);
	mprotect(at + PAGE, PAGE, RW);
	munmap(at + 3 * PAGE, PAGE);
	shmdt(other);
	shmdt(at);
	go_on();
	return 0;
}

/* Advice on one's own memory by process_madvise (6.13-). */
static int advised(void)
{
	char *at = anon(8);
	struct iovec range = { at + 2 * PAGE, 2 * PAGE };
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	at[0] = 1;
	syscall(NR_PROCESS_MADVISE, fd, &range, 1, MADV_DONTDUMP, 0);
	go_on();
	return 0;
}

static int guards(void)
{
	char *at = anon(8);

	madvise(at + PAGE, PAGE, GUARD_INSTALL);
	at[3 * PAGE] = 1;
	mprotect(at + 2 * PAGE, PAGE, PROT_READ);
	madvise(at + PAGE, PAGE, GUARD_REMOVE);
	mremap(at, 8 * PAGE, 4 * PAGE, 0);
	return 0;
}

static int sealed(void)
{
	char *at = anon(6);

	if (syscall(NR_MSEAL, at + PAGE, 2 * PAGE, 0))
		return SKIPPED;
	mprotect(at, 4 * PAGE, PROT_READ);
	munmap(at + PAGE, PAGE);
	go_on();
	return 0;
}

static int droppable(void)
{
	char *at = mmap(NULL, 4 * PAGE, RW, MAP_DROPPABLE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return SKIPPED;
	at[0] = 1;
	mprotect(at + PAGE, PAGE, PROT_READ);
	return 0;
}

static int files(void)
{
	int fd = memfd_create("beside", 0);
	char *at, *shared, *moved;

	if (ftruncate(fd, 64 * PAGE))
		return 1;
	at = mmap(NULL, 16 * PAGE, RW, MAP_PRIVATE, fd, 0);
	at[0] = at[5 * PAGE] = 1;
	mprotect(at + PAGE, PAGE, PROT_READ);
	mprotect(at + PAGE, PAGE, RW);
	shared = mmap(NULL, 16 * PAGE, RW, MAP_SHARED, fd, 0);
	mremap(shared, 8 * PAGE, 4 * PAGE, 0);
	syscall(SYS_remap_file_pages, shared, 2 * PAGE, 0, 4, 0);
	mmap(shared + 4 * PAGE, 4 * PAGE, RW, MAP_SHARED | MAP_FIXED, fd, 4 * PAGE);
	moved = mremap(at + 4 * PAGE, 4 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
	moved[9 * PAGE] = 1;
	mremap(moved, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | 4);
	return 0;
}

/* A file of one's own, that may be written or not. */
static int own_file(bool writable)
{
	int own = memfd_create("own", 0), again;
	char path[32];

	if (ftruncate(own, PAGE))
		_exit(1);
	if (writable)
		return own;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", own);
	again = open(path, O_RDONLY | O_CLOEXEC);
	close(own);
	return again;
}

static void race(const int *common, int nr_common, int child)
{
	for (int i = 0; i < 200; i++) {
		int own = own_file(child % 2);
		char *other = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, own, 0);
		char *at = mmap(NULL, 8 * PAGE, RW, MAP_SHARED, common[(i * 7 + child) % nr_common],
				i % 4 * PAGE);

		close(own);
		mprotect(other, PAGE, RW); /* which half of them may not */
		munmap(at + i % 3 * PAGE, 3 * PAGE);
		munmap(at, 8 * PAGE);
		munmap(other, PAGE);
	}
}

/* Many processes map what they have in common, and files of their own, at the same time. */
static int racing(void)
{
	enum { FILES = 8, CHILDREN = 6 };
	int common[FILES];

	for (int i = 0; i < FILES; i++) {
		common[i] = memfd_create("common", 0);
		if (ftruncate(common[i], 32 * PAGE))
			return 1;
	}
	for (int child = 0; child < CHILDREN; child++) {
		if (fork())
			continue;
		race(common, FILES, child);
		_exit(0);
	}
	while (wait(NULL) > 0)
		continue;
	return 0;
}

/* Goes on until it is killed, or alone: for a model that comes to it later. */
static int for_ever(void)
{
	char *at = faulted_apart();
	pid_t parent = getppid();

	printf("%d\n", getpid());
	fflush(stdout);
	while (getppid() == parent) {
		map_at(at + PAGE, 1);
		munmap(at + PAGE, PAGE);
		go_on();
		usleep(500);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*play)(void);
} roles[] = {
	{ "advised", advised },	      { "emptied", emptied },	{ "droppable", droppable },
	{ "files", files },	      { "fill", fill },		{ "for-ever", for_ever },
	{ "given-back", given_back }, { "grows", grows },	{ "guards", guards },
	{ "locks", locks },	      { "nature", nature },	{ "racing", racing },
	{ "sealed", sealed },	      { "segments", segments }, { "uffd", uffd },
	{ "uring", uring },	      { "waits", waits },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].name, argv[1]))
			return roles[i].play();
	return 2;
}
