/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/joining.h - calls that would make one area of two, found by making them in libseam.
 */
#ifndef FINDINGS_JOINING_H
#define FINDINGS_JOINING_H

#include <stdbool.h>
#include <stddef.h>

#include "findings/findings.h"

/*
 * Writes the calls that would join area @left of the snapshot with the next one ("mprotect(0x...,
 * 4096, PROT_READ|PROT_WRITE)", several joined by ", then "). False: none does. *ret_loses: the
 * calls lose what the memory holds.
 */
bool joining_calls(const struct findings *findings, size_t left, char *buf, size_t size,
		   bool *ret_loses);

#endif
