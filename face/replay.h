/* SPDX-License-Identifier: BSD-2-Clause */
/* face/replay.h - the faces of "seam replay" for machines. */
#ifndef FACE_REPLAY_H
#define FACE_REPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "replay/replay.h"

/* The JSON of kind "replay". @maps: with the maps of each process. */
void replay_json(const struct replay_report *report, bool maps, FILE *out);

/* "rw-p" */
void area_perms(const struct seam_area *area, char perms[5]);
/* The offset that maps shows, in bytes: 0 for anonymous memory. */
uint64_t area_shown_offset(const struct seam_area *area);
/* What /proc/PID/maps would name area @i of the kept maps; "" for nothing. */
const char *area_name(const struct replay_report *report, const struct replay_mm *mm, size_t i);
/* Its line there. */
void print_maps_line(const struct replay_report *report, const struct replay_mm *mm, size_t i,
		     FILE *out);

#endif
