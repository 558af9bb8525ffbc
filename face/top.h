/* SPDX-License-Identifier: BSD-2-Clause */
/* face/top.h - the face of "seam top" for machines. */
#ifndef FACE_TOP_H
#define FACE_TOP_H

#include <stdio.h>

#include "findings/top.h"

/* The JSON of kind "top": the first @nr rows. @compact: on one line. */
void top_json(const struct top *top, size_t nr, bool compact, FILE *out);

#endif
