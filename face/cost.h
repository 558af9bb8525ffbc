/* SPDX-License-Identifier: BSD-2-Clause */
/* face/cost.h - "seam cost" for programs; the same text is what the cache file holds. */
#ifndef FACE_COST_H
#define FACE_COST_H

#include <stdio.h>

#include "findings/cost.h"

/* @file: where it is kept; NULL when it is not. */
void cost_json(const struct cost *cost, const char *file, FILE *out);

#endif
