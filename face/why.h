/* SPDX-License-Identifier: BSD-2-Clause */
/* face/why.h - the face of "seam why" for machines. */
#ifndef FACE_WHY_H
#define FACE_WHY_H

#include <stdio.h>

#include "findings/show.h"
#include "findings/why.h"

/* The JSON of kind "why": @nr pairs, whose left areas are @lefts; NULL: all pairs. */
void why_json(const struct show *show, const size_t *lefts, size_t nr, FILE *out);

#endif
