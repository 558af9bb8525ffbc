/* SPDX-License-Identifier: BSD-2-Clause */
/* face/record.h - the face of "seam record" for machines. */
#ifndef FACE_RECORD_H
#define FACE_RECORD_H

#include <stdio.h>

#include "probe/record.h"

/* The JSON of kind "record": what a recording of @bytes in @file holds and has cost. */
void record_json(const struct record_result *result, const char *file, uint64_t bytes, FILE *out);

#endif
