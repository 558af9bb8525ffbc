/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * subject ROLE [ARGUMENT]: programs that are hard to record. Each prints what it did and ends with a
 * status of its own; recorded or not, both must be the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define NR_THREADS 8

static const char *self;

static void die(const char *what)
{
	perror(what);
	exit(100);
}

static char *map(size_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- calls in many threads at once ---- */

static void *churn(void *arg)
{
	for (int i = 0; i < (int)(intptr_t)arg; i++) {
		size_t pages = 1 + (size_t)i % 7;
		char *p = map(pages);

		*p = 1;
		if (i % 3 == 0)
			mprotect(p, PAGE, PROT_READ);
		munmap(p, pages * PAGE);
	}
	return NULL;
}

static void run_threads(void *(*work)(void *), int rounds)
{
	pthread_t threads[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)rounds))
			die("pthread_create");
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int threads_role(int rounds)
{
	run_threads(churn, rounds);
	puts("threads done");
	return 3;
}

/* ---- children of all kinds ---- */

static void spawn_one(int how)
{
	char *argv[] = { (char *)self, (char *)"status", (char *)"5", NULL };
	pid_t pid;

	if (how == 0) {
		if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
			die("posix_spawn");
	} else {
		if (how == 1)
			pid = vfork();
		else
			pid = fork();
		if (!pid)
			execv(self, argv);
		if (!pid)
			_exit(101);
	}
	if (wait_for(pid) != 5)
		die("a child's status");
}

static void *spawn_some(void *arg)
{
	for (int i = 0; i < (int)(intptr_t)arg; i++)
		spawn_one(i % 3);
	return NULL;
}

static int spawns_role(int rounds)
{
	run_threads(spawn_some, rounds);
	puts("spawns done");
	return 4;
}

static int vm_child(void *arg)
{
	*(char **)arg = map(3);
	return 6;
}

/* A process that shares the memory of another one. */
static int clone_vm(int flags)
{
	char *stack = map(16), *made = NULL;
	pid_t pid = clone(vm_child, stack + 16 * PAGE, CLONE_VM | SIGCHLD | flags, &made);
	int status = pid < 0 ? -1 : wait_for(pid);

	*made = 1;
	munmap(made, 3 * PAGE);
	printf("clone-vm %d\n", status);
	return status;
}

static int clone_vm_role(int unused)
{
	return clone_vm(0);
}

/* struct clone_args of 5.5, which headers of today may not have */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

/* clone3, whose arguments both must find as they were. */
static void untraced_clone3(bool readonly)
{
	struct clone3_args *args = (void *)map(1);
	char *made;
	pid_t pid;

	*args = (struct clone3_args) { .flags = CLONE_UNTRACED, .exit_signal = SIGCHLD };
	if (readonly)
		mprotect(args, PAGE, PROT_READ);
	pid = (pid_t)syscall(SYS_clone3, args, sizeof(*args));
	if (!pid)
		_exit(args->flags == CLONE_UNTRACED ? vm_child(&made) : 9);
	printf("clone3 %d %d\n", pid < 0 ? -1 : wait_for(pid), args->flags == CLONE_UNTRACED);
	munmap(args, PAGE);
}

#ifdef __x86_64__
/*
 * By hand, with the memory shared: the child makes a call that is recorded, and ends. What the kernel
 * leaves in registers is what was there.
 */
static void untraced_by_hand(long nr, long first, long second)
{
	long result, left;

	__asm__ volatile("xor %%r10d, %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "mov %[nr], %%rax\n\t"
			 "xor %%edx, %%edx\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov %%rdi, %%r12\n\t"
			 "mov $12, %%eax\n\t" /* brk(0) */
			 "xor %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "mov $9, %%edi\n\t"
			 "js 2f\n\t" /* no tracer: ENOSYS */
			 "mov $8, %%edi\n\t"
			 "cmp %%r12, %[first]\n\t"
			 "jne 2f\n\t"
			 "mov $7, %%edi\n"
			 "2:\tmov $60, %%eax\n\t" /* exit */
			 "syscall\n"
			 "1:\tmov %%rdi, %[left]"
			 : "=&a"(result), [left] "=&r"(left)
			 : [nr] "r"(nr), [first] "m"(first), "D"(first), "S"(second)
			 : "rcx", "r8", "r10", "r11", "r12", "rdx", "memory");
	printf("by hand %d %d\n", result < 0 ? -1 : wait_for((pid_t)result), left == first);
}

static void untraced_by_hands(void)
{
	struct clone3_args args = { .flags = CLONE_UNTRACED | CLONE_VM | CLONE_VFORK,
				    .exit_signal = SIGCHLD };

	untraced_by_hand(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0);
	untraced_by_hand(SYS_clone, CLONE_UNTRACED | CLONE_VM | CLONE_VFORK | SIGCHLD, 0);
	untraced_by_hand(SYS_clone3, (long)&args, sizeof(args));
	printf("%d\n", args.flags == (CLONE_UNTRACED | CLONE_VM | CLONE_VFORK));
	/* CLONE_SIGHAND needs CLONE_VM: these fail */
	untraced_by_hand(SYS_clone, CLONE_UNTRACED | CLONE_SIGHAND | SIGCHLD, 0);
	args.flags = CLONE_UNTRACED | CLONE_SIGHAND;
	untraced_by_hand(SYS_clone3, (long)&args, sizeof(args));
	printf("%d\n", args.flags == (CLONE_UNTRACED | CLONE_SIGHAND));
}
#else
static void untraced_by_hands(void)
{
}
#endif

/* Children that would not be traced, with the same memory and with a copy. */
static int untraced_role(int unused)
{
	pid_t pid;
	char *made;

	clone_vm(CLONE_UNTRACED);
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid)
		_exit(vm_child(&made));
	printf("untraced %d\n", pid < 0 ? -1 : wait_for(pid));
	fflush(stdout);
	untraced_clone3(false);
	untraced_clone3(true);
	untraced_by_hands();
	return 7;
}

/* Forks while other threads change the map. */
static int fork_role(int rounds)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(intptr_t)(rounds * 10));
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (!pid) {
			char *p = map(5);

			*p = 1;
			munmap(p + PAGE, PAGE);
			_exit(7);
		}
		if (wait_for(pid) != 7)
			die("a child's status");
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	puts("fork done");
	return 0;
}

static void *exec_self(void *arg)
{
	usleep(20000);
	execl(self, self, "status", "9", NULL);
	die("exec");
	return NULL;
}

static void *churn_for_ever(void *arg)
{
	for (;;)
		churn((void *)100);
	return NULL;
}

static __attribute__((noreturn)) int exec_from_thread_role(int unused)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, churn_for_ever, NULL);
	pthread_create(&thread, NULL, exec_self, NULL);
	for (;;)
		pause();
}

static void *outlive(void *arg)
{
	usleep(50000);
	map(2);
	puts("the last thread");
	fflush(stdout);
	_exit(8);
}

static __attribute__((noreturn)) int leader_exits_role(int unused)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static int status_role(int status)
{
	printf("status %d\n", status);
	return status;
}

static __attribute__((noreturn)) int killed_role(int sig)
{
	puts("killed");
	fflush(stdout);
	kill(getpid(), sig);
	for (;;)
		pause();
}

/* ---- files ---- */

static int open_scratch(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 16 * PAGE))
		die(path);
	return fd;
}

static char *map_file(int fd, char *at, int page)
{
	char *p = mmap(at, PAGE, PROT_READ, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, page * PAGE);

	if (p == MAP_FAILED)
		die("mmap of a file");
	return p;
}

/* Is the lock on @path free? It is given back at once. */
static bool lock_is_free(const char *path)
{
	int fd = open(path, O_RDWR);
	bool is_free = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);

	close(fd);
	return is_free;
}

/* A mapping that alone keeps a locked description open. */
static char *map_locked(const char *path)
{
	int fd = open_scratch(path);
	char *p;

	if (flock(fd, LOCK_EX))
		die("flock");
	p = map_file(fd, NULL, 0);
	close(fd);
	if (lock_is_free(path))
		die("the lock is held by the mapping");
	return p;
}

static void unmap_locked(char *p, int how)
{
	char *other;

	switch (how) {
	case 0:
		munmap(p, PAGE);
		break;
	case 1:
		if (mmap(p, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
			die("mmap over");
		break;
	case 2: /* moved over */
		other = map(1);
		mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p);
		break;
	default: /* itself moved, then unmapped */
		other = map(1);
		p = mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
		munmap(p, PAGE);
	}
}

static void check_free(const char *path, const char *how)
{
	if (!lock_is_free(path)) {
		printf("the lock is still held after %s\n", how);
		exit(102);
	}
}

static void unlock_by_child(const char *path, int how)
{
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe(pipes))
		die("pipe");
	pid = fork();
	if (!pid) {
		close(pipes[0]);
		map_locked(path);
		/* closed by exec or exit, after the memory is gone */
		if (how == 0) {
			fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
			execl(self, self, "status", "0", NULL);
		}
		if (how == 2)
			raise(SIGKILL);
		_exit(0);
	}
	close(pipes[1]);
	if (how == 0) /* exec closes after it has changed the memory */
		while (read(pipes[0], &byte, 1) > 0)
			;
	wait_for(pid);
	close(pipes[0]);
	check_free(path, how == 0 ? "exec" : how == 1 ? "exit" : "kill");
}

/* Killed while many threads make calls. */
static int killed_threads_role(int signal)
{
	pthread_t threads[20];

	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(intptr_t)1000);
	usleep(3000);
	kill(getpid(), signal);
	while (pause()) /* another thread may be the one that gets it */
		;
	return 1;
}

static int sharer(void *arg)
{
	churn((void *)(intptr_t)100000);
	return 0;
}

/* Children that share its memory, killed in their calls. */
static int killed_sharers_role(int rounds)
{
	char *stack = map(16);

	for (int i = 0; i < rounds; i++) {
		pid_t pid = clone(sharer, stack + 16 * PAGE, CLONE_VM | SIGCHLD, NULL);

		usleep(2000);
		kill(pid, SIGKILL);
		wait_for(pid);
		munmap(map(3), PAGE);
	}
	puts("sharers done");
	return 0;
}

static int flock_role(int rounds)
{
	char path[] = "/tmp/seam-flock-XXXXXX";
	static const char *const hows[] = { "munmap", "mmap", "mremap over", "mremap" };

	close(mkstemp(path));
	for (int i = 0; i < rounds; i++)
		for (int how = 0; how < 4; how++) {
			unmap_locked(map_locked(path), how);
			check_free(path, hows[how]);
		}
	for (int how = 0; how < 3; how++)
		unlock_by_child(path, how);
	unlink(path);
	puts("flock done");
	return 0;
}

/*
 * Pages side by side: of one description (also by another descriptor), of another one with the same
 * number, of another one at the same time.
 */
static int descriptions_role(int unused)
{
	char path[] = "/tmp/seam-files-XXXXXX";
	int fd = mkstemp(path), copy, other;
	char *base = map(16);

	if (fd < 0 || ftruncate(fd, 16 * PAGE))
		die("mkstemp");
	map_file(fd, base, 0);
	map_file(fd, base + PAGE, 1);
	copy = dup(fd);
	map_file(copy, base + 2 * PAGE, 2);
	other = open(path, O_RDWR);
	map_file(other, base + 3 * PAGE, 3);
	map_file(fd, base + 4 * PAGE, 4);
	close(other);
	if (open(path, O_RDWR) != other)
		die("the same number");
	map_file(other, base + 5 * PAGE, 5);
	map_file(other, base + 6 * PAGE, 6);
	unlink(path);
	puts("descriptions done");
	return 0;
}

/* ---- what no call tells ---- */

static int __attribute__((noinline)) recurse(int depth)
{
	volatile char frame[2000];

	frame[0] = frame[1999] = (char)depth;
	return depth ? recurse(depth - 1) + frame[0] - (char)depth : 0;
}

static int stack_role(int depth)
{
	pid_t pid;

	printf("stack %d\n", recurse(depth));
	fflush(stdout);
	map(2);
	recurse(depth * 2);
	pid = fork();
	if (!pid) {
		recurse(depth * 3);
		map(3);
		_exit(0);
	}
	wait_for(pid);
	return 0;
}

static void copy_maps(void)
{
	static char text[1 << 16];
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t len;

	while ((len = read(fd, text, sizeof(text))) > 0)
		if (write(STDOUT_FILENO, text, (size_t)len) != len)
			die("write");
	close(fd);
}

static int maps_role(int unused)
{
	char *p = map(64);
	int fd = open(self, O_RDONLY);

	memset(p, 1, 64 * PAGE);
	for (int i = 0; i < 64; i += 4)
		mprotect(p + i * PAGE, PAGE, PROT_READ);
	munmap(p + 33 * PAGE, 2 * PAGE);
	/* apart by their anon_vma alone, under Linux: with no neighbour to take one from */
	p = map(24);
	mprotect(p, 24 * PAGE, PROT_NONE);
	p += 8 * PAGE;
	mprotect(p, 8 * PAGE, PROT_READ | PROT_WRITE);
	mprotect(p + 3 * PAGE, PAGE, PROT_NONE);
	p[0] = 1;
	p[4 * PAGE] = 1;
	mprotect(p + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE);
	if (mmap(NULL, 3 * PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		die("mmap shared");
	madvise(map(9) + PAGE, 4 * PAGE, MADV_DONTDUMP);
	free(malloc(300000));
	copy_maps();
	return 0;
}

/* Named in call stacks; what follows each call keeps it from being a jump. */
static __attribute__((noinline)) char *inner_call(size_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	*p = 1;
	return p;
}

static __attribute__((noinline)) char *outer_call(size_t pages)
{
	char *p = inner_call(pages);

	*p = 2;
	return p;
}

static int stacks_role(int rounds)
{
	for (int i = 0; i < rounds; i++)
		printf("%d", *outer_call(3) - 2);
	puts(" stacks done");
	return 0;
}

static __attribute__((noinline)) char call_below(size_t room)
{
	volatile char *below = __builtin_alloca(room);

	below[0] = 1;
	*outer_call(3) = below[0];
	return below[0];
}

/* From wherever in a page the stack may stand. */
static int stacks_anywhere_role(int unused)
{
	for (size_t room = 16; room <= PAGE; room += 16)
		call_below(room);
	puts("stacks done");
	return 0;
}

/* At the limit: as many areas as there may be, failing calls, and then less again. */
static int limit_role(int unused)
{
	char *p;
	long made = 0;

	for (;; made++) {
		p = mmap(NULL, PAGE, made & 1 ? PROT_READ : PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || made > 1000000)
			break;
	}
	printf("limit %s, %s\n", strerror(errno), made > 1000 ? "many" : "few");
	return p == MAP_FAILED ? 5 : 6;
}

#ifdef __x86_64__
/* mmap2 and munmap of i386 from a 64-bit program. */
static int compat_role(int unused)
{
	long addr, gone;

	__asm__ volatile("int $0x80"
			 : "=a"(addr)
			 : "a"(192L), "b"(0L), "c"(3L * PAGE), "d"(3L), "S"(0x22L), "D"(-1L)
			 : "memory", "r8", "r9", "r10", "r11");
	__asm__ volatile("int $0x80"
			 : "=a"(gone)
			 : "a"(91L), "b"(addr), "c"((long)PAGE)
			 : "memory", "r8", "r9", "r10", "r11");
	printf("compat %s %ld\n", addr > 0 ? "mapped" : "failed", gone);
	return 0;
}
#endif

static void place(char *p, size_t len)
{
	if (mmap(p, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	    p)
		die("MAP_FIXED");
}

/* Mapped by the kernel for itself: rings of asynchronous input and output. */
static int aio_role(int unused)
{
	unsigned long contexts[3] = { 0 };
	char *p = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int failed = 0;

	place(p + PAGE, PAGE);
	place(p + 3 * PAGE, PAGE);
	p[PAGE] = p[3 * PAGE] = 1; /* each with an anon_vma of its own */
	madvise(p + PAGE, PAGE, MADV_NORMAL);
	madvise(p + 3 * PAGE, PAGE, MADV_NORMAL);
	for (int i = 0; i < 3; i++)
		failed += syscall(SYS_io_setup, 128, &contexts[i]) != 0;
	map(3);
	failed += syscall(SYS_io_destroy, contexts[1]) != 0;
	munmap(p + 2 * PAGE, PAGE);
	place(p + 2 * PAGE, PAGE);
	map(2);
	printf("aio %s\n", failed ? "failed" : "done");
	return 0;
}

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

#ifdef SYS_mmap2
#define MMAP_NR SYS_mmap2
#else
#define MMAP_NR SYS_mmap
#endif

static int say_munmap(char *p, size_t size)
{
	int ret = munmap(p, size);

	printf("munmap %d\n", ret ? -errno : 0);
	return ret;
}

/* munmap in all ways in which it succeeds or fails, in one thread: wholes, ends, holes, sealed. */
static int unmaps_role(int rounds)
{
	char *p = map(64);

	for (int i = 0; i < rounds; i++) {
		say_munmap(map(3), 3 * PAGE);
		say_munmap(p + i * PAGE, PAGE);	      /* one end */
		say_munmap(p + (63 - i) * PAGE, 100); /* the other */
	}
	say_munmap(p + 31 * PAGE, PAGE);
	say_munmap(p + 30 * PAGE, 3 * PAGE); /* part of it is gone already */
	say_munmap(p + 30 * PAGE, 3 * PAGE);
	say_munmap(p + 30 * PAGE, 0);
	say_munmap(p + 1, PAGE);
	say_munmap(p, (size_t)-2 * PAGE);
	syscall(SYS_mseal, p + 34 * PAGE, 2 * PAGE, 0);
	say_munmap(p + 34 * PAGE, PAGE);
	fflush(stdout);
	if (!fork()) {
		int ret = say_munmap(p + 34 * PAGE, 2 * PAGE);

		fflush(stdout);
		_exit(ret ? 1 : 0);
	}
	wait_for(-1);
	return 0;
}

/* ---- calls whose outcome is found at the next stop ---- */

static struct {
	const char *name;
	long result;
} outcomes[4096];
static int nr_outcomes;

static void note(const char *name, long result)
{
	if (nr_outcomes < (int)(sizeof(outcomes) / sizeof(*outcomes))) {
		outcomes[nr_outcomes].name = name;
		outcomes[nr_outcomes++].result = result == -1 ? -errno : result;
	}
}

static char *note_mmap(size_t len)
{
	long addr = syscall(MMAP_NR, NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	note("mmap", addr);
	return addr == -1 ? NULL : (char *)addr;
}

static long note_brk(long addr)
{
	long brk = syscall(SYS_brk, addr);

	note("brk", brk);
	return brk;
}

static void limit_to(__rlimit_resource_t resource, rlim_t soft)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		die("getrlimit");
	limit.rlim_cur = soft;
	if (setrlimit(resource, &limit))
		die("setrlimit");
}

/* Holes of all sizes, above and below each other, so that what fits is now here and now there. */
static void map_into_holes(int rounds)
{
	char *made[16];

	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < 16; k++)
			made[k] = note_mmap((size_t)(k % 5 + 1) * PAGE);
		for (int k = i % 3; k < 16; k += 3)
			munmap(made[k], (size_t)(k % 5 + 1) * PAGE);
		for (int k = 0; k < 6; k++)
			made[k] = note_mmap((size_t)(6 - k) * PAGE - (size_t)k);
		made[2][0] = made[4][0] = 1;
		munmap(made[3], 3 * PAGE - 3);
		note_mmap(3 * PAGE);
	}
}

/* Whole huge pages, and a page more. */
static void map_large(void)
{
	for (int i = 0; i < 8; i++) {
		char *p = note_mmap((size_t)2 << 20);

		note_mmap(((size_t)4 << 20) + PAGE);
		note_mmap((size_t)4 << 20);
		if (i % 3 == 2)
			munmap(p, (size_t)2 << 20);
	}
}

static void move_brk(void)
{
	long begin = note_brk(0), brk = begin;

	for (int i = 1; i < 40; i++)
		brk = note_brk(brk + i * 1000);
	note_brk(0);
	note_brk(brk - 20 * PAGE);
	note_brk(begin - 1); /* below the start of the heap */
	note_brk(1);
	note_brk(brk + 1);
	*(volatile char *)brk = 1;
	note_brk(begin);
	note_brk(begin - 10 * PAGE);
	note_brk(begin + PAGE);
	limit_to(RLIMIT_DATA, 0);
	note_brk(begin + 100 * PAGE);
	note_brk(begin + 1);
	note_brk(0);
	limit_to(RLIMIT_DATA, RLIM_INFINITY);
	note_brk(begin + 3 * PAGE);
}

/* Higher than anything that was mapped so far: the next mapping goes where none was looked for. */
static void make_high_hole(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[vvar") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			munmap((void *)start, end - start);
	if (maps)
		fclose(maps);
	usleep(150000); /* the kernel reports it, and not where it was looked for */
	for (int i = 0; i < 6; i++)
		note_mmap(2 * PAGE);
}

static void say_outcomes(void)
{
	for (int i = 0; i < nr_outcomes; i++)
		printf("%s %#lx\n", outcomes[i].name, (unsigned long)outcomes[i].result);
	fflush(stdout);
	nr_outcomes = 0;
}

/* mmap and brk in all ways in which they succeed or fail, in one thread, and what each gave. */
static int outcomes_role(int rounds)
{
	struct rlimit limit;

	note_brk(note_brk(0) - PAGE); /* below a heap that is empty yet */
	setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
	map_into_holes(rounds);
	map_large();
	make_high_hole();
	move_brk();
	getrlimit(RLIMIT_AS, &limit);
	limit_to(RLIMIT_AS, 1);
	for (int i = 0; i < 3; i++)
		note_mmap(PAGE);
	note_brk(note_brk(0) + 3 * PAGE);
	limit_to(RLIMIT_AS, limit.rlim_cur);
	map_into_holes(1);
	note_mmap(0);
	note_mmap(SIZE_MAX / 4);
	note_mmap(SIZE_MAX - 3 * PAGE);
	note_mmap((size_t)3 << 30);
	map_into_holes(1);
	say_outcomes();
	if (!fork()) {
		map_into_holes(1);
		note_brk(note_brk(0) + PAGE);
		mlockall(MCL_FUTURE);
		limit_to(RLIMIT_MEMLOCK, 0);
		note_mmap(PAGE);
		say_outcomes();
		_exit(0);
	}
	wait_for(-1);
	return 0;
}

/* Maps and grows its heap until it is killed. */
static __attribute__((noreturn)) int maps_for_ever_role(int unused)
{
	long brk = syscall(SYS_brk, 0);

	puts("begun");
	fflush(stdout);
	for (unsigned int i = 1;; i++) {
		char *p = map(i % 7 + 1);

		if (i % 3)
			*p = 1;
		if (i % 5 < 4)
			munmap(p, (i % 7 + 1) * PAGE);
		brk = syscall(SYS_brk, brk + (i % 64 < 32 ? 3000 : -3000));
		if (i % 2000 == 0)
			munmap(map(1), PAGE);
	}
}

/* After its last call comes nothing for a time. */
static int maps_and_waits_role(int nr_maps)
{
	for (int i = 0; i < nr_maps; i++)
		map(37);
	usleep(300000);
	return write(STDOUT_FILENO, "behind\n", 7) != 7;
}

/* Unmaps until it is killed, touched memory of all kinds. */
static __attribute__((noreturn)) int unmaps_for_ever_role(int unused)
{
	puts("begun");
	fflush(stdout);
	for (;;) {
		char *p = map(9);

		p[4 * PAGE] = 1;
		munmap(p + 8 * PAGE, PAGE);
		munmap(p, 8 * PAGE);
	}
}

/* Stacks of its own that grow, between calls. */
static int grows_role(int pages)
{
	char *base = map(1024), *p;

	munmap(base, 1024 * PAGE);
	p = mmap(base + 1000 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		die("MAP_GROWSDOWN");
	for (int i = 0; i < pages; i++)
		p[-i * PAGE] = 1;
	map(3);
	munmap(p + PAGE, PAGE);
	puts("grown");
	return 0;
}

static int limits_role(int unused)
{
	struct rlimit limit = { 64 << 20, 64 << 20 };
	void *p;

	setrlimit(RLIMIT_AS, &limit);
	p = mmap(NULL, 128 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("limits %s\n", p == MAP_FAILED ? "refused" : "allowed");
	return 0;
}

/* More memory than any host promises in one call (where addresses have 64 bits). */
static int promises_role(int unused)
{
	const size_t len = SIZE_MAX >> 19 & ~(size_t)(PAGE - 1);
	char *p = map(4);
	void *beside = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *grown = mremap(p, PAGE, len, MREMAP_MAYMOVE);
	void *heap = sbrk((intptr_t)(len >> 3));

	printf("promises %s %s %s\n", beside == MAP_FAILED ? "refused" : "kept",
	       grown == MAP_FAILED ? "refused" : "kept", heap == (void *)-1 ? "refused" : "kept");
	return 0;
}

/* A loop to be recorded in the middle. */
static int loop_role(int ms)
{
	pthread_t threads[3];
	int rounds = ms / 2;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(intptr_t)rounds);
	puts("begun");
	fflush(stdout);
	for (int i = 0; i < rounds; i++) {
		char *p = map(3);

		*p = 1;
		munmap(p + PAGE, PAGE);
		usleep(2000);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	puts("loop done");
	return 11;
}

/* A heap that grows, to be recorded in the middle. */
static int heap_role(int ms)
{
	puts("begun");
	fflush(stdout);
	for (int i = 0; i < ms / 5; i++) {
		char *p = sbrk(5 * PAGE + 100);

		if (i % 2)
			*p = 1;
		usleep(5000);
	}
	puts("loop done");
	return 11;
}

/*
 * Memory with a history that no map shows, made before it is recorded; what is done to it then comes
 * out one way or the other by whose anon_vma it has.
 */
static int history_role(int ms)
{
	const int rw = PROT_READ | PROT_WRITE, fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	char *base = map(200), *split = base, *two = base + 20 * PAGE, *dropped = base + 40 * PAGE;
	char *moved = base + 60 * PAGE;

	munmap(base, 200 * PAGE);
	/* one area that was cut in two */
	mmap(split, 9 * PAGE, rw, fixed, -1, 0);
	memset(split, 1, 9 * PAGE);
	munmap(split + 4 * PAGE, PAGE);
	/* two that were never one */
	mmap(two, 4 * PAGE, rw, fixed, -1, 0);
	memset(two, 1, 4 * PAGE);
	mmap(two + 5 * PAGE, 4 * PAGE, rw, fixed, -1, 0);
	memset(two + 5 * PAGE, 1, 4 * PAGE);
	/* one whose memory was given back, which keeps its anon_vma, beside another one */
	mmap(dropped, 4 * PAGE, rw, fixed, -1, 0);
	memset(dropped, 1, 4 * PAGE);
	mmap(dropped + 4 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, fixed, -1, 0);
	memset(dropped + 4 * PAGE, 1, 4 * PAGE);
	mprotect(dropped + 4 * PAGE, 4 * PAGE, PROT_READ);
	madvise(dropped, 4 * PAGE, MADV_DONTNEED);
	/* one that is numbered by where it was */
	mmap(moved + 20 * PAGE, 4 * PAGE, rw, fixed, -1, 0);
	memset(moved + 20 * PAGE, 1, 4 * PAGE);
	mremap(moved + 20 * PAGE, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, moved);
	puts("begun");
	fflush(stdout);
	usleep((useconds_t)ms * 1000);

	mmap(split + 4 * PAGE, PAGE, rw, fixed, -1, 0);
	mmap(two + 4 * PAGE, PAGE, rw, fixed, -1, 0);
	mprotect(dropped + 4 * PAGE, 4 * PAGE, rw);
	mmap(moved + 4 * PAGE, 4 * PAGE, rw, fixed, -1, 0);
	mprotect(split, 3 * PAGE, PROT_READ);
	munmap(two, 2 * PAGE);
	puts("loop done");
	return 11;
}

/* Traces a child of its own. */
static int traces_role(int unused)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		pause();
		_exit(0);
	}
	printf("traces %ld\n", ptrace(PTRACE_ATTACH, pid, NULL, NULL));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	munmap(map(3), PAGE);
	return 0;
}

/* A filter that asks for a tracer, of calls that seam follows and others, where none is to be had. */
static int own_filter_role(int data)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | (uint16_t)data),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	char *p = map(3);
	long parent, unmapped;

	munmap(map(2), 2 * PAGE);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return 77;
	parent = syscall(SYS_getppid) == -1 ? -errno : 0;
	unmapped = munmap(p, PAGE) ? -errno : 0;
	map(2);
	printf("own filter: getppid %ld, munmap %ld\n", parent, unmapped);
	return 0;
}

/* The descriptor of a filter that asks for each munmap; -1: not here. */
static int listen_for_munmap(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* Another process answers a munmap as if it had been made, or (.flags) has it made. */
static int answer_munmap(uint32_t flags)
{
	struct seccomp_notif asked = { 0 };
	struct seccomp_notif_resp answer = { .flags = flags };
	char *p = map(3), *other = map(1);
	int listener = listen_for_munmap(), status;
	pid_t pid;

	if (listener < 0)
		return 77;
	pid = fork();
	if (!pid) {
		if (munmap(p, PAGE))
			_exit(1);
		mprotect(other, PAGE, PROT_READ);
		_exit(flags ? 0 : *p); /* else said to be gone, and still there */
	}
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
		die("notification");
	answer.id = asked.id;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int listener_role(int unused)
{
	return answer_munmap(0);
}

/* A call that changes the map and that no filter of a recorder's sees. */
static int unseen_role(int unused)
{
	return answer_munmap(SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

static int strict_role(int unused)
{
	syscall(SYS_exit, prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) ? 5 : 4);
	return 6;
}

static const struct {
	const char *name;
	int (*run)(int argument);
} roles[] = {
	{ "threads", threads_role },
	{ "spawns", spawns_role },
	{ "clone-vm", clone_vm_role },
	{ "untraced", untraced_role },
	{ "fork", fork_role },
	{ "exec-from-thread", exec_from_thread_role },
	{ "leader-exits", leader_exits_role },
	{ "status", status_role },
	{ "killed", killed_role },
	{ "killed-threads", killed_threads_role },
	{ "killed-sharers", killed_sharers_role },
	{ "flock", flock_role },
	{ "descriptions", descriptions_role },
	{ "stack", stack_role },
	{ "stacks", stacks_role },
	{ "stacks-anywhere", stacks_anywhere_role },
	{ "maps", maps_role },
	{ "limit", limit_role },
#ifdef __x86_64__
	{ "compat", compat_role },
#endif
	{ "aio", aio_role },
	{ "grows", grows_role },
	{ "traces", traces_role },
	{ "strict", strict_role },
	{ "own-filter", own_filter_role },
	{ "listener", listener_role },
	{ "unseen", unseen_role },
	{ "outcomes", outcomes_role },
	{ "maps-for-ever", maps_for_ever_role },
	{ "maps-and-waits", maps_and_waits_role },
	{ "unmaps", unmaps_role },
	{ "unmaps-for-ever", unmaps_for_ever_role },
	{ "limits", limits_role },
	{ "promises", promises_role },
	{ "loop", loop_role },
	{ "heap", heap_role },
	{ "history", history_role },
};

int main(int argc, char **argv)
{
	self = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcmp(argv[1], roles[i].name))
			return roles[i].run(argc > 2 ? atoi(argv[2]) : 0);
	return 99;
}
