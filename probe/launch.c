/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sigset_t awaited_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

static void block_signals(struct launch *launch)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old;
	sigset_t set = awaited_signals();

	sigprocmask(SIG_BLOCK, &set, &launch->mask);
	/* ignored, it would reap the program without telling its status */
	sigaction(SIGCHLD, &dfl, &old);
	launch->no_sigchld = old.sa_handler == SIG_IGN;
}

static void restore_signals(const struct launch *launch)
{
	if (launch->no_sigchld)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
}

/*
 * execvp tries each directory of PATH by an exec, which a recorder stops at; what is there can be asked
 * without one. Comes back when that is not all that there is to it.
 */
static void exec_found(char **argv)
{
	const char *at = strchr(argv[0], '/') ? NULL : getenv("PATH");
	char path[PATH_MAX];

	for (size_t len; at; at = at[len] ? at + len + 1 : NULL) {
		len = strcspn(at, ":");
		if ((size_t)snprintf(path, sizeof(path), "%.*s%s%s", (int)len, at, len ? "/" : "",
				     argv[0]) < sizeof(path) &&
		    !access(path, X_OK)) {
			execv(path, argv);
			return;
		}
	}
}

static void __attribute__((noreturn))
run_program(const struct launch *launch, int gate, int report, char **argv, int (*prepare)(void))
{
	int err = prepare ? prepare() : 0;
	char open;

	while (read(gate, &open, 1) < 0 && errno == EINTR)
		;
	restore_signals(launch);
	if (!err) {
		exec_found(argv);
		execvp(argv[0], argv);
		err = errno;
	}
	if (write(report, &err, sizeof(err)) < 0 || err < 0)
		_exit(125);
	_exit(err == ENOENT ? 127 : 126);
}

int launch_start(struct launch *ret_launch, char **argv)
{
	return launch_start_prepared(ret_launch, argv, NULL);
}

int launch_start_prepared(struct launch *ret_launch, char **argv, int (*prepare)(void))
{
	int gate[2], report[2], err;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		err = -errno;
		goto close_gate;
	}
	block_signals(ret_launch);
	ret_launch->pid = fork();
	if (ret_launch->pid < 0) {
		err = -errno;
		restore_signals(ret_launch);
		goto close_report;
	}
	if (!ret_launch->pid) {
		close(gate[1]);
		run_program(ret_launch, gate[0], report[1], argv, prepare);
	}
	close(gate[0]);
	close(report[1]);
	ret_launch->gate = gate[1];
	ret_launch->report = report[0];
	return 0;

close_report:
	close(report[0]);
	close(report[1]);
close_gate:
	close(gate[0]);
	close(gate[1]);
	return err;
}

void launch_open_gate(struct launch *launch)
{
	close(launch->gate);
	launch->gate = -1;
}

bool launch_is_running(const struct launch *launch)
{
	struct pollfd report = { .fd = launch->report, .events = POLLIN };

	return poll(&report, 1, 0) > 0;
}

void launch_cancel(struct launch *launch)
{
	kill(launch->pid, SIGKILL);
	while (waitpid(launch->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	close(launch->gate);
	launch_end(launch);
}

void launch_sleep(const struct launch *launch, uint64_t until_ns)
{
	uint64_t now = clock_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left / NS_PER_S),
				    .tv_nsec = (long)(left % NS_PER_S) };
	sigset_t set = awaited_signals();
	siginfo_t info;
	int sig;

	while ((sig = sigtimedwait(&set, &info, &timeout)) > 0 && sig != SIGCHLD) {
		if (info.si_code <= 0)
			kill(launch->pid, sig);
		timeout = (struct timespec) { 0 };
	}
}

int launch_end(struct launch *launch)
{
	int err = 0;

	/* an interrupt that has just ended the program shall not end seam before its report */
	launch_sleep(launch, 0);
	if (read(launch->report, &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(launch->report);
	restore_signals(launch);
	return err;
}

int launch_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
