/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread beside the one that signals are for: it takes none, and its stack is as large as was asked. */
#include <signal.h>
#include <string.h>

#include "tests/tap.h"
#include "trace/thread.h"

struct seen {
	sigset_t blocked;
	size_t stack_size;
};

static void *look(void *arg)
{
	struct seen *seen = arg;
	pthread_attr_t attr;

	pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		pthread_attr_getstacksize(&attr, &seen->stack_size);
		pthread_attr_destroy(&attr);
	}
	return NULL;
}

static void started(size_t stack_size, struct seen *ret_seen)
{
	pthread_t thread;

	memset(ret_seen, 0, sizeof(*ret_seen));
	if (ok(!thread_start(&thread, stack_size, look, ret_seen), "a thread is started"))
		pthread_join(thread, NULL);
}

int main(void)
{
	const int of_interest[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGXFSZ };
	sigset_t mine, after;
	struct seen seen;
	bool blocked = true;

	sigemptyset(&mine);
	sigaddset(&mine, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mine, NULL);
	started(THREAD_STACK_SMALL, &seen);
	for (size_t i = 0; i < sizeof(of_interest) / sizeof(*of_interest); i++)
		blocked &= sigismember(&seen.blocked, of_interest[i]) == 1;
	ok(blocked, "no signal is for it");
	ok(seen.stack_size >= THREAD_STACK_SMALL && seen.stack_size < 2 * THREAD_STACK_SMALL,
	   "its stack is small: %zu", seen.stack_size);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ok(sigismember(&after, SIGUSR1) == 1 && !sigismember(&after, SIGPIPE),
	   "whoever starts it blocks what it did");
	started(THREAD_STACK_USUAL, &seen);
	ok(seen.stack_size >= 2 * THREAD_STACK_SMALL, "or as large as usual: %zu", seen.stack_size);
	return tap_done();
}
