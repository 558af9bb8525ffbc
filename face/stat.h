/* SPDX-License-Identifier: BSD-2-Clause */
/* face/stat.h - the face of "seam stat" for machines. */
#ifndef FACE_STAT_H
#define FACE_STAT_H

#include <stdio.h>

#include "findings/stat.h"

/* The JSON of kind "stat". */
void stat_json(const struct stat_report *report, FILE *out);

#endif
