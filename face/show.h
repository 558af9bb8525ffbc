/* SPDX-License-Identifier: BSD-2-Clause */
/* face/show.h - the faces of "seam show" and "seam why" for machines. */
#ifndef FACE_SHOW_H
#define FACE_SHOW_H

#include <stdio.h>

#include "face/json.h"
#include "findings/show.h"

/* "limits": [...], the nearest first, as show and stat tell them. */
void json_limits(struct json *json, const struct limits *limits);
/* The JSON of kind "show". @compact: on one line. */
void show_json(const struct show *show, bool compact, FILE *out);

#endif
