/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/fail_on.h - conditions that make a verb exit 1, for CI and watch scripts.
 *
 *	areas>50000   headroom<20%   cause.fork>0   group.fiber-stack>=100
 *
 * A percentage is one of the area limit.
 */
#ifndef CMD_FAIL_ON_H
#define CMD_FAIL_ON_H

#include <stdbool.h>

#include "findings/show.h"

struct fail_on {
	const char *text;
	char field[64];
	char compare[3];
	double value;
	bool percent;
};

/* 0, or -EINVAL: not "FIELD<|<=|>|>=|= NUMBER[%]" with a known field. */
int fail_on_parse(const char *text, struct fail_on *ret_condition);
/*
 * 1: it holds, 0: it does not, -EINVAL: it asks for a limit where none is known. *ret_value: the
 * value found, as a percentage where the condition asks for one.
 */
int fail_on_check(const struct fail_on *condition, const struct show *show, double *ret_value);

#endif
