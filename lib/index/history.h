/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/index/history.h - what readers need of the past: nodes as they were before they were changed.
 *
 * Before the writer changes a node for the first time in a call, it copies what readers look at and
 * enters node and copy in a ring; nodes that it takes out of the tree are entered too. A state of
 * the tree has the number of entries that there were when its call was committed. A reader of state
 * S looks at the tree as it is, then at the entries from S on: a node among them is to be read from
 * its copy; of two copies of one node the older is right. Blocks are used again when their entry is
 * overwritten, and then the reader's state is gone: it sees that by the number of entries.
 *
 * So a reader never waits for the writer, stopped in mid-call or not, and a call that was cut
 * short by fork can be taken back. docs/locking.md has the proof.
 *
 * Entries are made before what they announce: entry; head; fence; the change.
 */
#ifndef LIB_INDEX_HISTORY_H
#define LIB_INDEX_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/index/index.h"
#include "lib/shared.h"

#define MOST_RINGS 32

enum past_kind {
	PAST_NONE,
	PAST_LEAF, /* changed; the image tells what it was */
	PAST_INNER,
	PAST_ROOT,     /* of the pointer to it: the image is the pointer's old value */
	PAST_MADE,     /* no part of the tree before this call */
	PAST_LEAF_OUT, /* taken out: may be used again when this entry is overwritten */
	PAST_INNER_OUT,
	PAST_COLD_OUT,
};

struct past {
	const void *node;
	void *image;
	enum past_kind kind;
};

struct ring {
	size_t size;  /* a power of two */
	size_t first; /* no entry before this one is in it; far behind the oldest, or exact */
	struct past entries[];
};

struct history {
	/* what never changes */
	unsigned int page_shift;
	int search; /* enum search_kind */
	char apart_1[LINE_SIZE];
	/* what readers look at */
	struct ring *ring;
	size_t head;	  /* entries ever made */
	size_t committed; /* of these, when the last call ended */
	struct index_node *root;
	char apart_2[LINE_SIZE];
	/* the writer's */
	bool blind; /* no memory for copies: readers wait until the call ends */
	struct free_block *images[NR_POOLS];
	struct ring *rings[MOST_RINGS]; /* by logarithm of the size; kept until the end */
};

/* The ring has all entries from state @at on; @head: how many there are. */
static inline bool ring_reaches(const struct ring *ring, size_t head, size_t at)
{
	return head - at < READ_ONCE(ring->size) && head - at <= head - READ_ONCE(ring->first);
}

/* -SEAM_EALLOC */
int history_create(struct index *index);
void history_destroy(struct index *index);

/* The node is about to be changed. */
void history_save(struct index *index, struct index_node *node);
/* A node for the tree; it is empty. */
void history_made(struct index *index, struct index_node *node);
/* A block that the tree no longer has. NULL is allowed. */
void history_retire(struct index *index, enum pool_kind kind, void *block);
void history_set_root(struct index *index, struct index_node *root);
/*
 * Gives up what readers need, for memory: they wait for the end of the call. False: there is
 * nothing (left) to give up.
 */
bool history_forget(struct index *index);
void history_commit(struct index *index);
/*
 * After a fork in mid-call: what readers look at becomes as it was at the last commit, unless the
 * call was @finished. -SEAM_EALLOC when that had been given up for memory.
 */
int history_roll_back(struct index *index, bool finished);

#endif
