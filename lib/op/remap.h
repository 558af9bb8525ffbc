/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/op/remap.h - an mremap on its way: its arguments as they are worked out. */
#ifndef LIB_OP_REMAP_H
#define LIB_OP_REMAP_H

#include "lib/area.h"

struct remap {
	uint64_t addr, old_len, new_len, new_addr;
	uint64_t given_up; /* what a shrinking move has cut off already */
	uint32_t flags;
	bool given; /* the answer to a search is known: at */
	uint64_t at;
	/* the source, once it is found */
	struct cursor cursor;
	struct area source;
};

#endif
