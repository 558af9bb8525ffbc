/* SPDX-License-Identifier: BSD-2-Clause */
/* face/report.h - the face of "seam report" for machines. */
#ifndef FACE_REPORT_H
#define FACE_REPORT_H

#include <stdio.h>

#include "findings/activity.h"

/* The JSON of kind "report"; at most @top rows of each table. */
void report_json(const struct activity *activity, unsigned int top, FILE *out);

#endif
