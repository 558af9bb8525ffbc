/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/groups.h - hundreds of like areas are one thing to a person: told by their shape, not by
 * what they are called.
 */
#ifndef FINDINGS_GROUPS_H
#define FINDINGS_GROUPS_H

#include "findings/findings.h"

/* Fills group_of and groups from the pairs. -ENOMEM. O(areas log areas). */
int groups_find(struct findings *findings);

/*
 * True for areas as glibc's malloc makes them for threads: a heap of 64 MiB, aligned to its size,
 * used from its start (glibc malloc/arena.c HEAP_MAX_SIZE).
 */
bool group_is_glibc_arena(const struct snapshot *snapshot, size_t index);

#endif
