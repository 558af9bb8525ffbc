/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/index/read.h - looking at an index while its writer works: see lib/index/history.h. */
#ifndef LIB_INDEX_READ_H
#define LIB_INDEX_READ_H

#include "lib/index/history.h"
#include "lib/shared.h"

/* The state as of the last call that has ended. */
static inline size_t index_read_begin(const struct history *history)
{
	return READ_ACQUIRE(history->committed);
}

/*
 * The first area that ends behind @addr, in state @at: 1, or 0 when there is none; -SEAM_EAGAIN
 * when the state is gone. Takes no more steps than the tree is high, times the entries since then.
 */
int index_read_seek(const struct history *history, size_t at, uint64_t addr, struct area *ret_area);

#endif
