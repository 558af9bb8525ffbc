/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hard ROLE: processes that are hard to look at. Each prints "READY PID" and waits for its input to
 * end.
 * hard sandbox COMMAND: runs it where bpf() is refused.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/live/ready.h"

#define PAGE 4096UL
#define STACK 65536UL
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static void guarded_stack(void)
{
	char *stack = mmap(NULL, STACK, RW, ANON | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE))
		ready();
	stack[STACK - 1] = 1;
}

/* No further mapping can be made. */
static void limit(void)
{
	for (;;)
		guarded_stack();
}

static void *stay(void *unused)
{
	ready();
	return unused;
}

/* The files of the main thread are empty in /proc then. */
static void leader_exits(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, stay, NULL))
		pthread_exit(NULL);
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

static void start_threads(int nr)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 0; i < nr && !pthread_create(&thread, &attr, sleep_on, NULL); i++)
		;
	ready();
}

static void threads(void)
{
	start_threads(1000);
}

static void many_threads(void)
{
	start_threads(10000);
}

/* Exit 77: filters are not built in. */
static void sandbox(char **command)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = 4, .filter = steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(77);
	execvp(command[0], command);
	_exit(127);
}

static void not_dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	ready();
}

static void *change(void *unused)
{
	char *at = mmap(NULL, 2048 * PAGE, RW, ANON, -1, 0);

	for (unsigned int i = 0;; i = (i * 5 + 1) % 2048)
		mprotect(at + i * PAGE, PAGE, i & 1 ? PROT_READ : RW);
	return unused;
}

static void changing(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, change, NULL))
		ready();
}

/* Guard markers, as Linux 6.13 has them. */
static void markers(void)
{
	char *at = mmap(NULL, 64 * STACK, RW, ANON, -1, 0);

	for (int i = 0; i < 64; i++)
		if (madvise(at + i * STACK, PAGE, 102 /* MADV_GUARD_INSTALL */))
			_exit(77);
	ready();
}

/* A child that has exited and was not waited for. */
static void zombie(void)
{
	pid_t pid = fork();
	char line[32];

	if (!pid)
		_exit(0);
	snprintf(line, sizeof(line), "READY %d\n", pid);
	usleep(50000);
	if (write(1, line, strlen(line)) < 0 || read(0, line, 1) < 0)
		_exit(1);
	_exit(0);
}

static void grow(void)
{
	char *at = mmap(NULL, 4096 * PAGE, PROT_NONE, ANON, -1, 0);
	char line[32];
	int len = snprintf(line, sizeof(line), "READY %d\n", getpid());

	if (write(1, line, (size_t)len) != len)
		_exit(1);
	for (int i = 1; i < 4096; i += 2) {
		mprotect(at + (size_t)i * PAGE, PAGE, PROT_READ);
		usleep(10000);
	}
	_exit(0);
}

static const struct {
	const char *name;
	void (*run)(void);
} roles[] = {
	{ "limit", limit },	  { "leader-exits", leader_exits },
	{ "threads", threads },	  { "many-threads", many_threads },
	{ "changing", changing }, { "not-dumpable", not_dumpable },
	{ "markers", markers },	  { "zombie", zombie },
	{ "grow", grow },
};

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "sandbox"))
		sandbox(argv + 2);
	for (size_t i = 0; argc == 2 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].name, argv[1]))
			roles[i].run();
	return 2;
}
