/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/op.h - one operation of a script as it is made here: for real and in the model.
 *
 * The operations are those of docs/ops.md. Their arguments stand as in struct event: offsets in
 * bytes; arg[i] + result of operation ref[i] where ref[i] is not 0.
 */
#ifndef VERIFY_OP_H
#define VERIFY_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"

#define OP_ARGS 6
#define OP_EXIT TRACE_NR_CALLS /* the process of a space ends */
#define OP_TEXT_SIZE 160

struct op {
	uint8_t call;  /* enum trace_call, or OP_EXIT */
	uint8_t space; /* whose call: 0 the first process, then in order of their forks */
	uint32_t ref[OP_ARGS];
	uint64_t arg[OP_ARGS];
};

/* What a call gave: its value or -errno, and for a touch the first byte not reached. */
struct outcome {
	int64_t result;
	uint64_t reached;
	bool beyond; /* that byte is behind the end of its file (SIGBUS) */
};

/* The operation as a script has it, without the space in front. Returns @buf (OP_TEXT_SIZE). */
char *op_text(char *buf, const struct op *op);
/* The same with references resolved. */
char *op_text_resolved(char *buf, const struct op *op, const uint64_t *args);
/* "0", "0x7f12…", "ENOMEM", "EFAULT at 0x1000". */
char *outcome_text(char *buf, const struct op *op, const struct outcome *outcome);
/* Whether it faults in pages of memory that was there before. */
bool op_faults_in(const struct op *op, const uint64_t *args);

/*
 * The arguments with references resolved. False when one refers to an operation that failed: then
 * it is not made. @results: by number - 1.
 */
bool op_resolve(const struct op *op, const int64_t *results, uint64_t *ret_args);

#endif
