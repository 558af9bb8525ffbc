/* SPDX-License-Identifier: BSD-2-Clause */
/* findings/site.h - a call stack as the name of the place in the program that a call came from. */
#ifndef FINDINGS_SITE_H
#define FINDINGS_SITE_H

/*
 * "emit < compile_function (jit)": the innermost function that is not the C library's, and who
 * called it. @stack: a frame a line, innermost first; NULL: "[no stack]". To be freed; NULL: no
 * memory.
 */
char *site_name(const char *stack);

#endif
