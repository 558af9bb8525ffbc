/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/changes.h - what a call has done, told as changes of whole areas: the difference between the
 * areas that its journal touches as they were and as they are.
 */
#ifndef LIB_CHANGES_H
#define LIB_CHANGES_H

#include "lib/space.h"

struct changes {
	struct seam_change *list;
	size_t nr, room;
	/* for making the list: areas as they were, and as they are, by address */
	struct area *before, *after;
	size_t nr_before, before_room, nr_after, after_room;
};

/* The call was an mremap that gave @result and, when that is 0, @new_addr. */
void changes_note_move(struct seam_space *space, const struct seam_mremap *args, int result,
		       uint64_t new_addr);
/* Makes the list from the journal. -SEAM_EALLOC. */
int changes_make(struct seam_space *space);
void changes_tell(const struct seam_space *space);
void changes_free(struct seam_space *space);

#endif
