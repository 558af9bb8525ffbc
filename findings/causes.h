/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/causes.h - what keeps two neighbours of a snapshot apart, no further than its source can
 * see.
 */
#ifndef FINDINGS_CAUSES_H
#define FINDINGS_CAUSES_H

#include <stdint.h>

#include <seam/explain.h>

#include "trace/snapshot.h"

/* Room for the names of a whole set. */
#define CAUSES_TEXT_SIZE 160
/* "prot+flags", in the fixed order. Returns @buf. */
char *causes_text(char *buf, uint32_t causes);
/*
 * Of the bits in which two areas that @causes keep apart differ: those that "flags" is about. The
 * others are told by causes of their own.
 */
uint64_t causes_flags(uint32_t causes, uint64_t differ);
/* Bit number of the cause of that name, or -1. */
int cause_by_name(const char *name, size_t len);

/*
 * The causes between area @left of the snapshot and the next one, which must touch it. Never 0:
 * "untried" when all that the policy compares is seen equal, "unseen" when some of it is hidden.
 */
uint32_t causes_of_pair(const struct snapshot *snapshot, const struct seam_policy *policy,
			size_t left);

/* An area as the predicate is to see it: what the source hides is equal to its neighbours'. */
struct seam_area area_as_seen(const struct snapshot *snapshot, size_t index);

/* The causes that the policy looks for and that the source can never show. */
uint32_t causes_not_visible(const struct snapshot *snapshot, const struct seam_policy *policy);

/* What of it could matter to this very pair. */
uint32_t causes_hidden(const struct snapshot *snapshot, const struct seam_policy *policy,
		       size_t left);

/* Pages of the snapshot's process: 12 for 4 KiB. */
unsigned int snapshot_page_shift(const struct snapshot *snapshot);

#endif
