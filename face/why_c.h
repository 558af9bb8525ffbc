/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * face/why_c.h - a pair of neighbours as a small C program that makes such a pair, prints
 * "READY PID BORDER" and waits.
 */
#ifndef FACE_WHY_C_H
#define FACE_WHY_C_H

#include <stddef.h>
#include <stdio.h>

#include "findings/findings.h"

/* 0, or -EOPNOTSUPP with nothing written: why_c_reason tells why no program can. */
int why_c(const struct findings *findings, size_t left, FILE *out);
/* NULL when a program can make the pair. */
const char *why_c_reason(const struct findings *findings, size_t left);

#endif
