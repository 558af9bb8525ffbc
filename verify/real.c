/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/real.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#include "probe/procfs.h"
#include "probe/uapi.h"

#define PAGE_SIZE 4096

static sigjmp_buf fault_exit;
static volatile sig_atomic_t touching;
static uint32_t keys; /* protection keys that give access */

/* A fault that no touch asked for is a fault of ours: it ends the process as it should. */
static void on_fault(int signal_number)
{
	if (touching)
		siglongjmp(fault_exit, signal_number);
	signal(signal_number, SIG_DFL);
}

void real_begin(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

void real_forked(struct real_files *files)
{
	memset(files->uffd, 0, sizeof(files->uffd));
}

/* The descriptor behind a script's file number; -1 when there is none. */
static int fd_of(const struct real_files *files, uint64_t number)
{
	if (number < FIRST_FD || number >= FIRST_FD + NR_FDS)
		return -1;
	return files->fd[number - FIRST_FD];
}

/* A signal handler begins without access by keys, and jumping out of it does not bring that back. */
static void allow_keys(void)
{
	for (int key = 1; key < 16; key++)
		if (keys >> key & 1)
			pkey_set(key, 0);
}

uint32_t real_alloc_keys(int nr)
{
	keys = 0;
	while (nr--) {
		int key = pkey_alloc(0, 0);

		if (key >= 0)
			keys |= 1u | 1u << key;
	}
	return keys;
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
	int fault = sigsetjmp(fault_exit, 0);

	if (fault) {
		touching = 0;
		allow_keys();
		*ret_outcome = (struct outcome) {
			.result = -EFAULT,
			.reached = at,
			.beyond = fault == SIGBUS,
		};
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

/* The fields of /proc/self/stat from @first on, the one behind the name being 3. False: unreadable. */
static bool read_stat(int first, int nr, uint64_t *ret_fields)
{
	char text[2048], *at;

	if (procfs_read(text, sizeof(text), "/proc/self/stat") <= 0)
		return false;
	at = strrchr(text, ')');
	for (int field = 2; at && field < first; field++)
		at = strchr(at + 1, ' ');
	for (int i = 0; at && i < nr; i++, at = strchr(at + 1, ' '))
		ret_fields[i] = strtoull(at + 1, NULL, 10);
	return at;
}

/* All bounds as they are, but for one: that needs no rights. */
static int64_t set_all_bounds(uint64_t bound, uint64_t addr)
{
	struct prctl_mm_map map = { .exe_fd = (uint32_t)-1 };
	uint64_t code[3], rest[7];

	if (!read_stat(26, 3, code) || !read_stat(45, 7, rest))
		return -EPERM;
	map.start_code = code[0];
	map.end_code = code[1];
	map.start_stack = code[2];
	map.start_data = bound == PR_SET_MM_START_DATA ? addr : rest[0];
	map.end_data = bound == PR_SET_MM_END_DATA ? addr : rest[1];
	map.start_brk = bound == PR_SET_MM_START_BRK ? addr : rest[2];
	map.brk = bound == PR_SET_MM_BRK ? addr : (uint64_t)syscall(SYS_brk, 0);
	map.arg_start = rest[3];
	map.arg_end = rest[4];
	map.env_start = rest[5];
	map.env_end = rest[6];
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) ? -errno : 0;
}

static int64_t set_bound(const uint64_t *a)
{
	if (!prctl(PR_SET_MM, a[1], a[2], a[3], a[4]))
		return 0;
	return errno == EPERM ? set_all_bounds(a[1], a[2]) : -errno;
}

/* What a script's processes may have. */
static int64_t set_process(const uint64_t *a)
{
	char name[24];

	if (a[0] == PR_SET_VMA && a[1] == PR_SET_VMA_ANON_NAME) {
		snprintf(name, sizeof(name), "seam-%x", (unsigned int)a[4]);
		return prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, a[2], a[3], a[4] ? name : NULL)
			       ? -errno
			       : 0;
	}
	if (a[0] == PR_SET_MM)
		return set_bound(a);
	return prctl((int)a[0], a[1], a[2], a[3], a[4]) ? -errno : 0;
}

/* The node mask stands in the argument itself; a mask of no bits is none. */
static int64_t bind(const uint64_t *a)
{
	unsigned long nodes = a[3];

	return syscall(SYS_mbind, a[0], a[1], a[2], a[4] ? &nodes : NULL, a[4], a[5]) ? -errno : 0;
}

static int64_t set_task_policy(const uint64_t *a)
{
	unsigned long nodes = a[1];

	return syscall(SYS_set_mempolicy, a[0], a[2] ? &nodes : NULL, a[2]) ? -errno : 0;
}

static int new_uffd(void)
{
	/* a fault that nobody answers is a signal, not a wait */
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_SIGBUS };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return -errno;
	return fd;
}

static int64_t uffd_call(struct real_files *files, const uint64_t *a)
{
	struct uffdio_register range = { .range = { a[2], a[3] }, .mode = a[4] };
	int *fd;

	if (!a[0] || a[0] > NR_UFFDS)
		return -EBADF;
	fd = &files->uffd[a[0] - 1];
	if (!*fd)
		*fd = new_uffd();
	if (*fd < 0)
		return *fd;
	return ioctl(*fd, a[1], &range) ? -errno : 0;
}

/* A new segment for each attachment; it goes with the last of its areas. */
static int64_t attach(const uint64_t *a)
{
	int id = shmget(IPC_PRIVATE, a[3], 0700);
	int64_t result;
	void *p;

	if (id < 0)
		return -errno;
	p = shmat(id, (void *)a[1], (int)a[2]);
	result = p == (void *)-1 ? -errno : (int64_t)p;
	shmctl(id, IPC_RMID, NULL);
	return result;
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
	a[4] = (uint64_t)(int64_t)fd_of(files, args[4]);
	return call(SYS_mmap, a);
}

bool real_call(struct real_files *files, const struct op *op, const uint64_t *args,
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
		[TRACE_CALL_remap_file_pages] = SYS_remap_file_pages,
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
	case TRACE_CALL_mbind:
		ret_outcome->result = bind(args);
		return true;
	case TRACE_CALL_set_mempolicy:
		ret_outcome->result = set_task_policy(args);
		return true;
	case TRACE_CALL_prctl:
		ret_outcome->result = set_process(args);
		return true;
	case TRACE_CALL_uffd_ioctl:
		ret_outcome->result = uffd_call(files, args);
		return true;
	case TRACE_CALL_shmat:
		ret_outcome->result = attach(args);
		return true;
	case TRACE_CALL_shmdt:
		ret_outcome->result = shmdt((void *)args[0]) ? -errno : 0;
		return true;
	default:
		if (op->call >= TRACE_NR_CALLS || !numbers[op->call])
			return false;
		ret_outcome->result = call(numbers[op->call], args);
		return true;
	}
}
