/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/script.h - a list of operations with their results, in memory that processes share. */
#ifndef VERIFY_SCRIPT_H
#define VERIFY_SCRIPT_H

#include <stdio.h>

#include "verify/op.h"

#define SCRIPT_MAX 8192

struct script {
	uint32_t nr;
	struct op op[SCRIPT_MAX];
	int64_t result[SCRIPT_MAX]; /* the kernel's; -ECANCELED: not made */
};

/* Copies @from without the operations [start, start + nr), and without those that refer to them. */
void script_without(const struct script *from, uint32_t start, uint32_t nr, struct script *ret);
/* As docs/ops.md has it, an operation a line, each behind @mark. */
void script_print(const struct script *script, const char *mark, FILE *out);

#endif
