/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/script.h"

#include <string.h>

/* The new number of operation @number; 0 when it is gone. */
static bool renumber(struct op *op, const uint32_t *numbers)
{
	for (int i = 0; i < OP_ARGS; i++) {
		if (!op->ref[i])
			continue;
		op->ref[i] = numbers[op->ref[i] - 1];
		if (!op->ref[i])
			return false;
	}
	return true;
}

void script_without(const struct script *from, uint32_t start, uint32_t nr, struct script *ret)
{
	static uint32_t numbers[SCRIPT_MAX];

	ret->nr = 0;
	for (uint32_t i = 0; i < from->nr; i++) {
		struct op op = from->op[i];

		numbers[i] = 0;
		if ((i >= start && i < start + nr) || !renumber(&op, numbers))
			continue;
		ret->op[ret->nr++] = op;
		numbers[i] = ret->nr;
	}
}

void script_print(const struct script *script, FILE *out)
{
	char text[OP_TEXT_SIZE];

	fputs("#map-every 0\n", out);
	for (uint32_t i = 0; i < script->nr; i++) {
		if (script->op[i].space)
			fprintf(out, "[%u] ", script->op[i].space);
		fprintf(out, "%s\n", op_text(text, &script->op[i]));
	}
}
