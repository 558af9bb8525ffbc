/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost loop CALLS TOUCH: maps and unmaps a page, and prints the nanoseconds that a call took.
 * cost bare CALLS: the same under a tracer that does nothing but let it go on, at the entry and the
 * exit of each call: what ptrace itself costs.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define SYSCALL_STOP (SIGTRAP | 0x80)

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int loop(int nr_calls, bool touches)
{
	double begin = now_ns();

	for (int i = 0; i < nr_calls / 2; i++) {
		char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			return 1;
		if (touches)
			*p = 1;
		munmap(p, PAGE);
	}
	printf("%.0f\n", (now_ns() - begin) / nr_calls);
	return 0;
}

static void set_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(77);
}

static int trace(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		bool entry = status >> 16 == PTRACE_EVENT_SECCOMP;
		int sig = WSTOPSIG(status) == SYSCALL_STOP || status >> 16 ? 0 : WSTOPSIG(status);

		ptrace(entry ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, (unsigned long)sig);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int bare(int nr_calls)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		raise(SIGSTOP);
		set_filter();
		status = loop(nr_calls, false);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid)
		return 1;
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL)) {
		kill(pid, SIGKILL);
		return 77;
	}
	kill(pid, SIGCONT);
	return trace(pid);
}

int main(int argc, char **argv)
{
	int nr_calls = argc > 2 ? atoi(argv[2]) : 0;

	if (argc > 3 && nr_calls > 1 && !strcmp(argv[1], "loop"))
		return loop(nr_calls, atoi(argv[3]));
	if (argc > 2 && nr_calls > 1 && !strcmp(argv[1], "bare"))
		return bare(nr_calls);
	return 2;
}
