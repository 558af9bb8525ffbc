/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/script.h"

#include <string.h>

#define GONE UINT8_MAX

/* Old and new numbers of operations (0: gone) and spaces. */
struct renumbered {
	uint32_t op[SCRIPT_MAX];
	uint8_t space[UINT8_MAX];
	uint8_t nr_old, nr_new;
};

/* False when it names what is gone. */
static bool renumber(struct op *op, const struct renumbered *numbers)
{
	if (numbers->space[op->space] == GONE)
		return false;
	op->space = numbers->space[op->space];
	for (int i = 0; i < OP_ARGS; i++) {
		if (!op->ref[i])
			continue;
		op->ref[i] = numbers->op[op->ref[i] - 1];
		if (!op->ref[i])
			return false;
	}
	return true;
}

/* Forks number the spaces that they make. */
static void count_fork(struct renumbered *numbers, bool stays)
{
	if (numbers->nr_old < UINT8_MAX)
		numbers->space[numbers->nr_old++] = stays ? numbers->nr_new++ : GONE;
}

void script_without(const struct script *from, uint32_t start, uint32_t nr, struct script *ret)
{
	static struct renumbered numbers;

	numbers.space[0] = 0;
	numbers.nr_old = numbers.nr_new = 1;
	ret->nr = 0;
	for (uint32_t i = 0; i < from->nr; i++) {
		struct op op = from->op[i];
		bool stays = (i < start || i >= start + nr) && renumber(&op, &numbers);

		numbers.op[i] = 0;
		if (op.call == TRACE_CALL_fork)
			count_fork(&numbers, stays);
		if (!stays)
			continue;
		ret->op[ret->nr++] = op;
		numbers.op[i] = ret->nr;
	}
}

void script_print(const struct script *script, const char *mark, FILE *out)
{
	char text[OP_TEXT_SIZE];

	fprintf(out, "%s#map-every 0\n", mark);
	for (uint32_t i = 0; i < script->nr; i++) {
		fputs(mark, out);
		if (script->op[i].space)
			fprintf(out, "[%u] ", script->op[i].space);
		fprintf(out, "%s\n", op_text(text, &script->op[i]));
	}
}
