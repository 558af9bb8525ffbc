/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seccomp filter of a launched tree: calls that can change a map stop for the tracer, all others
 * run at full speed. It is made from the decoder's table.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/rec.h"

#define MAX_FILTER 1024 /* of 4096 that the kernel allows */

struct program {
	struct sock_filter code[MAX_FILTER];
	unsigned short len;
};

static void add(struct program *program, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (program->len < MAX_FILTER)
		program->code[program->len++] = (struct sock_filter)BPF_JUMP(code, k, jt, jf);
}

static void load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void give(struct program *program, uint32_t action)
{
	add(program, BPF_RET | BPF_K, action, 0, 0);
}

static size_t low_word_of_arg(unsigned int arg)
{
	size_t offset = offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);

	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? offset + 4 : offset;
}

/* Both halves of the argument are asked. */
static void add_pointer(struct program *program, uint32_t nr, unsigned int arg)
{
	size_t either = offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);

	add(program, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 6);
	load(program, either);
	add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	load(program, either + sizeof(uint32_t));
	add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	give(program, SECCOMP_RET_ALLOW);
	give(program, SECCOMP_RET_TRACE | REC_FILTER_DATA);
}

/* The number stands in the accumulator. What does not match goes on behind. */
static void add_number(struct program *program, const struct rec_number *number)
{
	const struct rec_condition *condition = number->condition;
	uint8_t nr = condition ? condition->nr_values : 0;

	if (!condition) {
		add(program, BPF_JMP | BPF_JEQ | BPF_K, number->nr, 0, 1);
		give(program, SECCOMP_RET_TRACE | REC_FILTER_DATA);
		return;
	}
	if (!nr) {
		add_pointer(program, number->nr, condition->arg);
		return;
	}
	add(program, BPF_JMP | BPF_JEQ | BPF_K, number->nr, 0, (uint8_t)(nr + 4));
	load(program, low_word_of_arg(condition->arg));
	add(program, BPF_ALU | BPF_AND | BPF_K, condition->mask, 0, 0);
	for (uint8_t i = 0; i < nr; i++)
		add(program, BPF_JMP | BPF_JEQ | BPF_K, condition->values[i], (uint8_t)(nr - i), 0);
	give(program, SECCOMP_RET_ALLOW);
	give(program, SECCOMP_RET_TRACE | REC_FILTER_DATA);
}

static void add_abi(struct program *program, const struct rec_abi *abi)
{
	unsigned short other;

	load(program, offsetof(struct seccomp_data, arch));
	add(program, BPF_JMP | BPF_JEQ | BPF_K, abi->arch, 1, 0);
	other = program->len;
	add(program, BPF_JMP | BPF_JA, 0, 0, 0);
	load(program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < abi->nr_numbers; i++)
		add_number(program, &abi->numbers[i]);
	program->code[other].k = (uint32_t)(program->len - other - 1);
}

/*
 * A filter alone would make the kernel switch speculation off for the program (by default until 5.16),
 * which then ran slower than it does alone.
 */
static int set_filter(const struct sock_fprog *fprog)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, fprog)
		       ? -errno
		       : 0;
}

int rec_install_filter(void)
{
	struct program program = { .len = 0 };
	struct sock_fprog fprog;
	int err;

	for (size_t i = 0; i < rec_nr_abis; i++)
		add_abi(&program, &rec_abis[i]);
	give(&program, SECCOMP_RET_ALLOW);
	if (program.len == MAX_FILTER)
		return -E2BIG;
	fprog = (struct sock_fprog) { program.len, program.code };
	/* with CAP_SYS_ADMIN it goes without no_new_privs, and setuid programs keep their rights */
	err = set_filter(&fprog);
	if (err == -EACCES)
		err = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : set_filter(&fprog);
	return err;
}
