/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/thread.h - threads that work beside the one that signals are for. */
#ifndef TRACE_THREAD_H
#define TRACE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Enough for a thread that encodes, compresses or asks the kernel, and room for it where address space
 * is short (ulimit -v).
 */
#define THREAD_STACK_SMALL ((size_t)256 << 10)
#define THREAD_STACK_USUAL ((size_t)0)

/*
 * Runs run(ctx) in a thread in which all signals are blocked: they, SIGPIPE among them, are for the
 * caller's. To be joined. 0 or -errno.
 */
int thread_start(pthread_t *ret_thread, size_t stack_size, void *(*run)(void *), void *ctx);

#endif
