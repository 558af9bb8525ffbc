/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/tap.h - tests in C that print TAP: ok(condition, "what", ...), then return tap_done().
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_count, tap_failures;

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool condition, const char *format,
							     ...)
{
	va_list args;

	tap_count++;
	tap_failures += !condition;
	printf("%sok %u - ", condition ? "" : "not ", tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return condition;
}

__attribute__((unused)) static int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failures != 0;
}

#endif
