/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool number_parse(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno || end == text || *end || value < min || value > max)
		return false;
	*ret_value = value;
	return true;
}
