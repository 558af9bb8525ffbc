/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/number.h - numbers given as options and arguments.
 */
#ifndef CMD_NUMBER_H
#define CMD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The whole of @text as a number of @base (0: as in C) from @min to @max. Digits only: strtoull
 * would take "-1" and " -1" for 2^64 - 1.
 */
bool number_parse(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret_value);

#endif
