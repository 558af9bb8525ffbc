/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/emit.h - a script as one C file without dependencies, for people who have no seam. */
#ifndef VERIFY_EMIT_H
#define VERIFY_EMIT_H

#include <stdio.h>

#include "verify/play.h"

/*
 * The program makes the calls of @script, says what each gave, and shows the areas that came of
 * them; @mismatch (may be NULL) is told in its comment.
 */
void emit_c(const struct script *script, const struct mismatch *mismatch, FILE *out);

#endif
