/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What needs a stopped task's registers: the result of a call in which it dies, and CLONE_UNTRACED,
 * with which a program would make a child that nobody sees.
 *
 * Without its tracer the filtered calls of that child would fail. So the flag is taken away at the
 * entry of the call, from a register or from the program's memory, and put back in parent and child
 * before either goes on: neither can tell. (Leak sanitizers look at their process from such a child;
 * they say then that they do not work under ptrace.)
 */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "probe/rec.h"

/* Their layout is told by their size: 32-bit programs have other ones. */
struct registers {
	union {
		struct user_regs_struct wide;
		int32_t narrow[17]; /* i386: bx is the first, ax the 7th, orig_ax the 12th */
	};
	struct iovec size;
};

static bool get_registers(pid_t tid, struct registers *ret)
{
	ret->size = (struct iovec) { ret, offsetof(struct registers, size) };
	return !ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &ret->size);
}

#ifdef __x86_64__
static bool is_narrow(const struct registers *registers)
{
	return registers->size.iov_len == sizeof(registers->narrow);
}

static void set_first_argument(struct registers *registers, uint64_t value)
{
	if (is_narrow(registers))
		registers->narrow[0] = (int32_t)value;
	else
		registers->wide.rdi = value;
}

/* Its result is -ENOSYS already. */
static void unset_number(struct registers *registers)
{
	if (is_narrow(registers))
		registers->narrow[11] = -1;
	else
		registers->wide.orig_rax = UINT64_MAX;
}

void rec_refuse_call(pid_t tid)
{
	struct registers registers;

	if (!get_registers(tid, &registers))
		return;
	unset_number(&registers);
	ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &registers.size);
}
#elif defined(__aarch64__)
/* The result comes into the same register: nothing is to be put back. */
static void set_first_argument(struct registers *registers, uint64_t value)
{
	registers->wide.regs[0] = value;
}

void rec_refuse_call(pid_t tid)
{
	struct registers registers;
	int none = -1;
	struct iovec number = { &none, sizeof(none) };

	if (!get_registers(tid, &registers))
		return;
	set_first_argument(&registers, (uint64_t)-ENOSYS);
	ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &registers.size);
	ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &number);
}
#else
static void set_first_argument(struct registers *registers, uint64_t value)
{
	registers->wide.a0 = value;
}

void rec_refuse_call(pid_t tid)
{
	struct registers registers;

	if (!get_registers(tid, &registers))
		return;
	registers.wide.a7 = UINT64_MAX;
	set_first_argument(&registers, (uint64_t)-ENOSYS);
	ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &registers.size);
}
#endif

/* ---- CLONE_UNTRACED ---- */

static bool write_first_argument(pid_t tid, uint64_t value)
{
	struct registers registers;

	if (!get_registers(tid, &registers))
		return false;
	set_first_argument(&registers, value);
	return !ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &registers.size);
}

/* Also where the program itself may only read. All architectures here have words of 64 bits. */
static bool write_flags(pid_t tid, uint64_t addr, uint64_t flags)
{
	_Static_assert(sizeof(long) == sizeof(flags), "a word is what PTRACE_POKEDATA writes");

	return !ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)addr, flags);
}

static bool set_flags(pid_t tid, uint64_t args, uint64_t flags)
{
	return args ? write_flags(tid, args, flags) : write_first_argument(tid, flags);
}

void rec_hide_untraced(struct rec *rec, struct rec_task *task, const struct rec_call *call)
{
	if (!(call->clone_flags & CLONE_UNTRACED) || rec->detaching)
		return;
	if (!set_flags(task->tid, call->clone_args,
		       call->clone_flags & ~(uint64_t)CLONE_UNTRACED)) {
		rec->options->say("a child asks not to be traced (CLONE_UNTRACED), and that could "
				  "not be taken away: it is not recorded, and may fail");
		return;
	}
	task->hidden_flags = call->clone_flags;
	task->hidden_args = call->clone_args;
}

#if defined(__x86_64__)
#define FLAGS_STAY true /* the register that they were in keeps them */
#else
#define FLAGS_STAY false
#endif

void rec_show_untraced(struct rec_task *parent, pid_t tid)
{
	if (parent->hidden_flags && (parent->hidden_args || FLAGS_STAY))
		set_flags(tid, parent->hidden_args, parent->hidden_flags);
}

/* ---- a call that has no exit ---- */

#ifdef __x86_64__
/* An address may have the highest of 32 bits set, and is no error for that. */
static int64_t narrow_result(int32_t result)
{
	return result < 0 && result >= -4095 ? result : (int64_t)(uint32_t)result;
}
#endif

#ifdef __x86_64__
static bool is_of(const struct registers *registers, const struct rec_call *call)
{
	return (is_narrow(registers) ? (uint32_t)registers->narrow[11]
				     : registers->wide.orig_rax) == call->nr;
}
#endif

/* Source: 6.18 arch/x86/entry/syscall_64.c do_syscall_64: ax is -ENOSYS until the call has returned. */
bool rec_result_of_dying(pid_t tid, const struct rec_call *call, int64_t *ret_result)
{
#ifdef __x86_64__
	struct registers registers;

	if (!get_registers(tid, &registers) || !is_of(&registers, call))
		return false;
	*ret_result = is_narrow(&registers) ? narrow_result(registers.narrow[6])
					    : (int64_t)registers.wide.rax;
	return true;
#else
	return false;
#endif
}

bool rec_is_back(pid_t tid, const struct rec_call *call)
{
#ifdef __x86_64__
	struct registers registers;

	return get_registers(tid, &registers) && !is_of(&registers, call);
#else
	return false;
#endif
}
