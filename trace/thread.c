/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/thread.h"

#include <signal.h>

int thread_start(pthread_t *ret_thread, size_t stack_size, void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	pthread_attr_init(&attr);
	if (stack_size)
		pthread_attr_setstacksize(&attr, stack_size);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(ret_thread, &attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}
