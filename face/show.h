/* SPDX-License-Identifier: BSD-2-Clause */
/* face/show.h - the faces of "seam show" and "seam why" for machines. */
#ifndef FACE_SHOW_H
#define FACE_SHOW_H

#include <stdio.h>

#include "findings/show.h"

/* The JSON of kind "show". */
void show_json(const struct show *show, FILE *out);

#endif
