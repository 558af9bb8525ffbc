/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which calls can change a map, by architecture: one table for the filter, which stops them, and for
 * the decoder, which says what they are.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "probe/rec.h"

#define CALL(number, name)                                                                         \
	{                                                                                          \
		.nr = (number), .kind = REC_CALL, .call = TRACE_CALL_##name                        \
	}
#define KIND(number, what)                                                                         \
	{                                                                                          \
		.nr = (number), .kind = REC_##what                                                 \
	}
#define CALL_IF(number, name, rule)                                                                \
	{                                                                                          \
		(number), REC_CALL, TRACE_CALL_##name, &(rule)                                     \
	}
#define KIND_IF(number, what, rule)                                                                \
	{                                                                                          \
		(number), REC_##what, 0, &(rule)                                                   \
	}

/* prctl: SET_SECCOMP, SET_MM, SET_THP_DISABLE, SET_MDWE, SET_MEMORY_MERGE, SET_VMA */
static const struct rec_condition prctl_rule = {
	0, 6, UINT32_MAX, { PR_SET_SECCOMP, 35, 41, 65, 67, 0x53564d41 }
};
/* seccomp: SECCOMP_SET_MODE_STRICT, _FILTER */
static const struct rec_condition seccomp_rule = { 0, 2, UINT32_MAX, { 0, 1 } };
/* ptrace: TRACEME, ATTACH, SEIZE; the others need one of these before them */
static const struct rec_condition ptrace_rule = { 0, 3, UINT32_MAX, { 0, 16, 0x4206 } };
/* ioctl: UFFDIO_REGISTER, UFFDIO_UNREGISTER */
static const struct rec_condition uffd_rule = { 1, 2, UINT32_MAX, { 0xc020aa00, 0x8010aa01 } };
/* clone without CLONE_VM copies the map; with CLONE_UNTRACED the child would not be seen */
static const struct rec_condition clone_rule = {
	0, 3, CLONE_VM | CLONE_UNTRACED, { 0, CLONE_UNTRACED, CLONE_VM | CLONE_UNTRACED }
};

/* prlimit64: a new limit, not a question */
static const struct rec_condition prlimit_rule = { .arg = 2 };

/* Numbers that all architectures share since 424, which headers of today may not have. */
#define RECENT_NUMBERS                                                                             \
	KIND(435, CLONE3), CALL(440, process_madvise), KIND(450, OPAQUE), /* home node */          \
		CALL(453, map_shadow_stack), CALL(462, mseal)

#ifdef __x86_64__

/* arch_prctl: MAP_VDSO_X32, _32, _64; SHSTK_ENABLE, _DISABLE */
static const struct rec_condition arch_prctl_rule = {
	0, 5, UINT32_MAX, { 0x2001, 0x2002, 0x2003, 0x5001, 0x5002 }
};
/* ipc: SHMAT, SHMDT; the upper half is a version */
static const struct rec_condition ipc_rule = { 0, 2, 0xffff, { 21, 22 } };

/* What x86-64 and x32 number alike. */
#define NUMBERS_64(bit)                                                                            \
	CALL(9 | (bit), mmap), CALL(10 | (bit), mprotect), CALL(11 | (bit), munmap),               \
		CALL(12 | (bit), brk), CALL(25 | (bit), mremap), CALL(28 | (bit), madvise),        \
		CALL(30 | (bit), shmat), KIND_IF(56 | (bit), FORK, clone_rule),                    \
		KIND(57 | (bit), FORK), CALL(67 | (bit), shmdt), CALL(135 | (bit), personality),   \
		CALL(149 | (bit), mlock), CALL(150 | (bit), munlock), CALL(151 | (bit), mlockall), \
		CALL(152 | (bit), munlockall), CALL_IF(157 | (bit), prctl, prctl_rule),            \
		CALL_IF(158 | (bit), arch_prctl, arch_prctl_rule), KIND(160 | (bit), SETRLIMIT),   \
		KIND(207 | (bit), OPAQUE), /* io_destroy */                                        \
		CALL(216 | (bit), remap_file_pages), CALL(237 | (bit), mbind),                     \
		CALL(238 | (bit), set_mempolicy), KIND_IF(302 | (bit), PRLIMIT, prlimit_rule),     \
		KIND_IF(317 | (bit), STRICT, seccomp_rule), CALL(325 | (bit), mlock2),             \
		CALL(329 | (bit), pkey_mprotect), KIND(435 | (bit), CLONE3),                       \
		CALL(440 | (bit), process_madvise),                                                \
		KIND(450 | (bit), OPAQUE), /* set_mempolicy_home_node */                           \
		CALL(453 | (bit), map_shadow_stack), CALL(462 | (bit), mseal)

static const struct rec_number x86_64_numbers[] = {
	NUMBERS_64(0),	     CALL_IF(16, uffd_ioctl, uffd_rule),
	KIND(59, EXEC),	     KIND_IF(101, TRACES, ptrace_rule),
	CALL(206, io_setup), KIND(322, EXEC),
};

#define X32 0x40000000u
static const struct rec_number x32_numbers[] = {
	NUMBERS_64(X32),	   CALL_IF(514 | X32, uffd_ioctl, uffd_rule),
	KIND(520 | X32, EXEC),	   KIND_IF(521 | X32, TRACES, ptrace_rule),
	CALL(543 | X32, io_setup), KIND(545 | X32, EXEC),
};

static const struct rec_number i386_numbers[] = {
	KIND(2, FORK),
	KIND(11, EXEC),
	KIND_IF(26, TRACES, ptrace_rule),
	CALL(45, brk),
	CALL_IF(54, uffd_ioctl, uffd_rule),
	KIND(75, SETRLIMIT),
	KIND(90, OLD_MMAP),
	CALL(91, munmap),
	KIND_IF(117, IPC, ipc_rule),
	KIND_IF(120, FORK, clone_rule),
	CALL(125, mprotect),
	CALL(136, personality),
	CALL(150, mlock),
	CALL(151, munlock),
	CALL(152, mlockall),
	CALL(153, munlockall),
	CALL(163, mremap),
	CALL_IF(172, prctl, prctl_rule),
	KIND(192, MMAP2),
	CALL(219, madvise),
	CALL(245, io_setup),
	KIND(246, OPAQUE), /* io_destroy */
	CALL(257, remap_file_pages),
	CALL(274, mbind),
	CALL(276, set_mempolicy),
	KIND_IF(340, PRLIMIT, prlimit_rule),
	KIND_IF(354, STRICT, seccomp_rule),
	KIND(358, EXEC),
	CALL(376, mlock2),
	CALL(380, pkey_mprotect),
	CALL_IF(384, arch_prctl, arch_prctl_rule),
	CALL(397, shmat),
	CALL(398, shmdt),
	RECENT_NUMBERS,
};

#define ABI(audit_arch, is_compat, table)                                                          \
	{                                                                                          \
		audit_arch, is_compat, table, sizeof(table) / sizeof(*(table))                     \
	}

const struct rec_abi rec_abis[] = {
	ABI(AUDIT_ARCH_X86_64, false, x86_64_numbers),
	ABI(AUDIT_ARCH_I386, true, i386_numbers),
	ABI(AUDIT_ARCH_X86_64, true, x32_numbers),
};
const size_t rec_nr_abis = sizeof(rec_abis) / sizeof(*rec_abis);

#else /* the generic table of 64-bit architectures: aarch64, riscv64 */

#if defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define NATIVE_ARCH AUDIT_ARCH_RISCV64
#else
#error "which AUDIT_ARCH_ is this?"
#endif

static const struct rec_number generic_numbers[] = {
	CALL(__NR_io_setup, io_setup),
	KIND(__NR_io_destroy, OPAQUE),
	CALL_IF(__NR_ioctl, uffd_ioctl, uffd_rule),
	CALL(__NR_personality, personality),
	KIND(__NR_setrlimit, SETRLIMIT),
	CALL_IF(__NR_prctl, prctl, prctl_rule),
	KIND_IF(__NR_ptrace, TRACES, ptrace_rule),
	KIND_IF(__NR_seccomp, STRICT, seccomp_rule),
	CALL(__NR_shmat, shmat),
	CALL(__NR_shmdt, shmdt),
	CALL(__NR_brk, brk),
	CALL(__NR_munmap, munmap),
	CALL(__NR_mremap, mremap),
	KIND_IF(__NR_clone, FORK, clone_rule),
	KIND(__NR_execve, EXEC),
	CALL(__NR_mmap, mmap),
	CALL(__NR_mprotect, mprotect),
	CALL(__NR_mlock, mlock),
	CALL(__NR_munlock, munlock),
	CALL(__NR_mlockall, mlockall),
	CALL(__NR_munlockall, munlockall),
	CALL(__NR_madvise, madvise),
	CALL(__NR_remap_file_pages, remap_file_pages),
	CALL(__NR_mbind, mbind),
	CALL(__NR_set_mempolicy, set_mempolicy),
	KIND_IF(__NR_prlimit64, PRLIMIT, prlimit_rule),
	KIND(__NR_execveat, EXEC),
	CALL(__NR_mlock2, mlock2),
	CALL(__NR_pkey_mprotect, pkey_mprotect),
	RECENT_NUMBERS,
};

const struct rec_abi rec_abis[] = {
	{ NATIVE_ARCH, false, generic_numbers, sizeof(generic_numbers) / sizeof(*generic_numbers) },
};
const size_t rec_nr_abis = 1;

#endif

static bool condition_holds(const struct rec_condition *condition, const uint64_t *args)
{
	uint32_t value;

	if (!condition)
		return true;
	if (!condition->nr_values)
		return args[condition->arg];
	value = (uint32_t)args[condition->arg] & condition->mask;
	for (unsigned int i = 0; i < condition->nr_values; i++)
		if (value == condition->values[i])
			return true;
	return false;
}

static const struct rec_number *find_number(uint32_t arch, uint64_t nr, bool *ret_compat)
{
	for (size_t a = 0; a < rec_nr_abis; a++) {
		const struct rec_abi *abi = &rec_abis[a];

		for (size_t i = 0; abi->arch == arch && i < abi->nr_numbers; i++)
			if (abi->numbers[i].nr == nr) {
				*ret_compat = abi->compat;
				return &abi->numbers[i];
			}
	}
	return NULL;
}

static void decode_old_mmap(pid_t tid, struct rec_call *call)
{
	uint32_t words[6] = { 0 };

	if (rec_peek(tid, call->arg[0], words, sizeof(words))) {
		call->kind = REC_OPAQUE; /* it will fail with EFAULT */
		return;
	}
	for (int i = 0; i < 6; i++)
		call->arg[i] = words[i];
	call->kind = REC_CALL;
	call->call = TRACE_CALL_mmap;
}

/* ipc(SHMAT, shmid, flags, where the address goes, addr), ipc(SHMDT, .., addr) */
static void decode_ipc(struct rec_call *call)
{
	bool attach = (call->arg[0] & 0xffff) == 21;
	uint64_t to = call->arg[3], addr = call->arg[4], shmid = call->arg[1], flags = call->arg[2];

	memset(call->arg, 0, sizeof(call->arg));
	call->kind = REC_CALL;
	call->call = attach ? TRACE_CALL_shmat : TRACE_CALL_shmdt;
	call->arg[0] = attach ? shmid : addr;
	if (!attach)
		return;
	call->arg[1] = addr;
	call->arg[2] = flags;
	call->result_at = to;
}

static void decode_clone(struct rec_call *call)
{
	call->clone_flags = call->arg[0];
	if (call->arg[0] & CLONE_VM)
		call->kind = REC_NONE;
}

static void decode_clone3(pid_t tid, struct rec_call *call)
{
	uint64_t flags;

	call->kind = REC_NONE;
	if (rec_peek(tid, call->arg[0], &flags, sizeof(flags)))
		return; /* it will fail with EFAULT */
	call->clone_flags = flags;
	call->clone_args = call->arg[0];
	if (!(flags & CLONE_VM))
		call->kind = REC_FORK;
}

/* uffd_ioctl(fd, request, start, len, mode): struct uffdio_register or uffdio_range */
static void decode_uffd(pid_t tid, struct rec_call *call)
{
	uint64_t words[3] = { 0 };
	bool registers = (uint32_t)call->arg[1] == 0xc020aa00;

	if (rec_peek(tid, call->arg[2], words, registers ? 24 : 16))
		call->kind = REC_NONE;
	call->arg[2] = words[0];
	call->arg[3] = words[1];
	call->arg[4] = words[2];
}

/* prctl(PR_SET_MM, PR_SET_MM_MAP, start_brk, brk): of struct prctl_mm_map */
static void decode_mm_map(pid_t tid, struct rec_call *call)
{
	struct prctl_mm_map map;

	if (rec_peek(tid, call->arg[2], &map, sizeof(map)))
		return; /* it will fail with EFAULT */
	call->arg[2] = map.start_brk;
	call->arg[3] = map.brk;
}

/* The node mask is told by its first word. */
static void decode_nodes(pid_t tid, struct rec_call *call, unsigned int arg)
{
	uint64_t nodes = 0;
	size_t size = call->flags & EVENT_COMPAT ? 4 : 8;

	if (call->arg[arg] && rec_peek(tid, call->arg[arg], &nodes, size))
		nodes = 0;
	call->arg[arg] = nodes;
}

/* Arguments that the kernel takes as int. */
static void narrow(uint64_t *arg)
{
	*arg = (uint64_t)(int64_t)(int32_t)*arg;
}

static void decode_call(pid_t tid, struct rec_call *call)
{
	switch (call->call) {
	case TRACE_CALL_mmap:
		narrow(&call->arg[4]);
		break;
	case TRACE_CALL_pkey_mprotect:
		narrow(&call->arg[3]);
		break;
	case TRACE_CALL_madvise:
	case TRACE_CALL_mlock2:
		narrow(&call->arg[2]);
		break;
	case TRACE_CALL_shmat:
		narrow(&call->arg[0]);
		call->arg[3] = 0;
		break;
	case TRACE_CALL_uffd_ioctl:
		decode_uffd(tid, call);
		break;
	case TRACE_CALL_prctl:
		if (call->arg[0] == PR_SET_SECCOMP)
			call->kind = call->arg[1] == SECCOMP_MODE_STRICT ? REC_STRICT : REC_NONE;
		else if (call->arg[0] == PR_SET_MM && call->arg[1] == PR_SET_MM_MAP)
			decode_mm_map(tid, call);
		break;
	case TRACE_CALL_mbind:
		decode_nodes(tid, call, 3);
		break;
	case TRACE_CALL_set_mempolicy:
		decode_nodes(tid, call, 1);
		break;
	default:
		break;
	}
}

static void decode_seccomp(struct rec_call *call)
{
	if (call->arg[0] == SECCOMP_SET_MODE_FILTER)
		call->kind = call->arg[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER ? REC_LISTENS
									     : REC_NONE;
}

static void clear_unused_args(struct rec_call *call)
{
	for (int i = trace_call_args(call->call); i < 6; i++)
		call->arg[i] = 0;
}

bool rec_decode(pid_t tid, const struct ptrace_syscall_info *info, struct rec_call *ret_call)
{
	bool compat = false;
	const struct rec_number *number = find_number(info->arch, info->entry.nr, &compat);

	/* the members of entry and seccomp lie alike */
	*ret_call = (struct rec_call) { .kind = REC_NONE };
	if (!number)
		return false;
	*ret_call = (struct rec_call) { .kind = number->kind,
					.call = number->call,
					.flags = compat ? EVENT_COMPAT : 0,
					.nr = info->entry.nr };
	for (int i = 0; i < 6; i++)
		ret_call->arg[i] = info->entry.args[i];
	if (!condition_holds(number->condition, ret_call->arg))
		return false;
	if (ret_call->kind == REC_MMAP2) {
		ret_call->kind = REC_CALL;
		ret_call->call = TRACE_CALL_mmap;
		ret_call->arg[5] = (ret_call->arg[5] & UINT32_MAX) << 12;
	} else if (ret_call->kind == REC_OLD_MMAP) {
		decode_old_mmap(tid, ret_call);
	} else if (ret_call->kind == REC_IPC) {
		decode_ipc(ret_call);
	} else if (ret_call->kind == REC_CLONE3) {
		decode_clone3(tid, ret_call);
	} else if (ret_call->kind == REC_FORK && number->condition) {
		decode_clone(ret_call);
	} else if (ret_call->kind == REC_STRICT) {
		decode_seccomp(ret_call);
	}
	if (ret_call->kind == REC_CALL) {
		decode_call(tid, ret_call);
		clear_unused_args(ret_call);
	}
	return ret_call->kind != REC_NONE;
}
