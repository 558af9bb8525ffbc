/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/real.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

#define PAGE_SIZE 4096

static sigjmp_buf fault_exit;
static volatile sig_atomic_t touching;

/* A fault that no touch asked for is a fault of ours: it ends the process as it should. */
static void on_fault(int signal_number)
{
	if (touching)
		siglongjmp(fault_exit, 1);
	signal(signal_number, SIG_DFL);
}

void real_begin(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

int real_fd(const struct real_files *files, uint64_t number)
{
	if (number < FIRST_FD || number >= FIRST_FD + NR_FDS)
		return -1;
	return files->fd[number - FIRST_FD];
}

static void touch_page(uint64_t addr, bool write)
{
	volatile char *p = (volatile char *)addr;

	if (write)
		*p = 1;
	else
		(void)*p;
}

static void touch(uint64_t addr, uint64_t len, bool write, struct outcome *ret_outcome)
{
	/* volatile: lives through the jump */
	volatile uint64_t at = addr & ~(uint64_t)(PAGE_SIZE - 1);

	if (sigsetjmp(fault_exit, 0)) {
		touching = 0;
		*ret_outcome = (struct outcome) { .result = -EFAULT, .reached = at };
		return;
	}
	touching = 1;
	for (; at < addr + len; at += PAGE_SIZE)
		touch_page(at, write);
	touching = 0;
}

static int64_t set_rlimit(uint64_t which, uint64_t value)
{
	static const int resources[] = {
		[TRACE_RLIMIT_AS] = RLIMIT_AS,
		[TRACE_RLIMIT_DATA] = RLIMIT_DATA,
		[TRACE_RLIMIT_STACK] = RLIMIT_STACK,
		[TRACE_RLIMIT_MEMLOCK] = RLIMIT_MEMLOCK,
	};
	struct rlimit limit;

	if (which >= sizeof(resources) / sizeof(resources[0]))
		return -EINVAL;
	if (getrlimit(resources[which], &limit))
		return -errno;
	limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
	return setrlimit(resources[which], &limit) ? -errno : 0;
}

static int64_t call(long number, const uint64_t *a)
{
	long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	return result == -1 ? -errno : result;
}

static int64_t map(const struct real_files *files, const uint64_t *args)
{
	uint64_t a[OP_ARGS];

	memcpy(a, args, sizeof(a));
	a[4] = (uint64_t)(int64_t)real_fd(files, args[4]);
	return call(SYS_mmap, a);
}

bool real_call(const struct real_files *files, const struct op *op, const uint64_t *args,
	       struct outcome *ret_outcome)
{
	static const long numbers[TRACE_NR_CALLS] = {
		[TRACE_CALL_munmap] = SYS_munmap,
		[TRACE_CALL_mprotect] = SYS_mprotect,
		[TRACE_CALL_pkey_mprotect] = SYS_pkey_mprotect,
		[TRACE_CALL_mremap] = SYS_mremap,
		[TRACE_CALL_madvise] = SYS_madvise,
		[TRACE_CALL_mlock] = SYS_mlock,
		[TRACE_CALL_mlock2] = SYS_mlock2,
		[TRACE_CALL_munlock] = SYS_munlock,
		[TRACE_CALL_mlockall] = SYS_mlockall,
		[TRACE_CALL_munlockall] = SYS_munlockall,
		[TRACE_CALL_brk] = SYS_brk,
		[TRACE_CALL_mseal] = SYS_mseal,
	};

	*ret_outcome = (struct outcome) { 0 };
	switch (op->call) {
	case TRACE_CALL_mmap:
		ret_outcome->result = map(files, args);
		return true;
	case TRACE_CALL_touch:
	case TRACE_CALL_rtouch:
		touch(args[0], args[1], op->call == TRACE_CALL_touch, ret_outcome);
		return true;
	case TRACE_CALL_rlimit:
		ret_outcome->result = set_rlimit(args[0], args[1]);
		return true;
	default:
		if (op->call >= TRACE_NR_CALLS || !numbers[op->call])
			return false;
		ret_outcome->result = call(numbers[op->call], args);
		return true;
	}
}
