/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/model/step.h - code that is stopped after each of its instructions, by the processor's trap
 * flag: a SIGTRAP each.
 */
#ifndef TESTS_MODEL_STEP_H
#define TESTS_MODEL_STEP_H

#include <stdbool.h>
#include <stdio.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_STEP 1
#define TRAP_FLAG 0x100

static void step(bool on)
{
	if (on)
		__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
	else
		__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
}
#else
#define CAN_STEP 0

/* The whole of a test. */
static int cannot_step(void)
{
	puts("1..0 # skip only x86-64 stops after each instruction, and sanitizers' code not at "
	     "all");
	return 0;
}
#endif

#endif
