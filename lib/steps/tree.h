/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/steps/tree.h - search trees kept in shape only: AVL (up to 2.4.9) and red-black (2.4.10 -
 * 6.0), with the largest gap below each node where the kernel keeps it (3.8 - 6.0).
 *
 * A node stands for an area. It is named by where it lies, in bytes from node 0, which is none: that
 * saves a multiplication at each step of a walk. Beside the tree nodes form the list of areas in
 * address order, a ring that 0 closes: near[RIGHT] of 0 is the lowest, near[LEFT] the highest.
 */
#ifndef LIB_STEPS_TREE_H
#define LIB_STEPS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/space.h>

enum side { LEFT, RIGHT };

struct node {
	uint64_t start, end;
	uint32_t child[2]; /* by enum side */
	uint32_t up;
	uint32_t depth;	  /* nodes from the root to here, both counted */
	uint32_t near[2]; /* neighbours in address order; near[LEFT] chains free nodes */
	union {
		uint32_t height; /* AVL; a leaf has 1 */
		uint32_t red;	 /* red-black */
	};
	uint64_t gap; /* largest free range that ends at the start of a node at or below */
};

struct tree {
	struct node *nodes; /* [0] is none: black, of height and depth 0, without gap */
	uint32_t nr, room;
	uint32_t free_nodes, nr_free;
	uint32_t root;
	bool keep_gaps;
};

/* Empty. -SEAM_EALLOC */
int tree_init(struct tree *tree, const struct seam_alloc *alloc, bool keep_gaps);
/* tree_reserve, where there is none. */
bool tree_grow(struct tree *tree, const struct seam_alloc *alloc, uint32_t nr);

/* Makes sure of room for @nr nodes more. False: no memory. */
static inline bool tree_reserve(struct tree *tree, const struct seam_alloc *alloc, uint32_t nr)
{
	return tree->room - tree->nr + tree->nr_free >= nr || tree_grow(tree, alloc, nr);
}

/* A node for a new area, for which there is room. */
uint32_t tree_node_new(struct tree *tree);
/* The nodes that stand for areas. */
uint32_t tree_count(const struct tree *tree);
/* @copy, bitwise the same, gets nodes of its own, or none and -SEAM_EALLOC. */
int tree_copy(struct tree *copy, const struct tree *tree, const struct seam_alloc *alloc);
void tree_destroy(struct tree *tree, const struct seam_alloc *alloc);

/* The node whose area holds @addr or is the next above it; 0 none. Counts nothing. */
uint32_t tree_seek(const struct tree *tree, uint64_t addr);

/* Puts the node (start and end set) into the list, right below @above. */
void tree_list(struct tree *tree, uint32_t id, uint32_t above);
/* The same, and hangs it into the tree as a leaf where it belongs. */
void tree_link(struct tree *tree, uint32_t id, uint32_t above);
/* Takes the node, which is in no tree, out of the list. */
void tree_unlist(struct tree *tree, uint32_t id);
/*
 * Takes the node out of list and tree. With two children the nearest node on @side takes its place.
 * *ret_from: the lowest node whose subtree changed; *ret_side: on which side it got shorter.
 */
void tree_unlink(struct tree *tree, uint32_t id, enum side side, uint32_t *ret_from,
		 enum side *ret_side);
/* The child of @id on the other side comes up, @id goes down to @side. */
void tree_rotate(struct tree *tree, uint32_t id, enum side side);

/* Start or end of the node changed: gaps anew, here and at the next node. */
void tree_refresh_gaps(struct tree *tree, uint32_t id);

/* Balancing, after tree_link and around tree_unlink. */
void avl_insert(struct tree *tree, uint32_t id);
void avl_remove(struct tree *tree, uint32_t id);
/* As built in one go from the list: each area put in from the lowest up. */
void avl_build(struct tree *tree);
void rb_insert(struct tree *tree, uint32_t id);
void rb_remove(struct tree *tree, uint32_t id);

/*
 * Nodes that the search for a free range of @len in [lo, hi) looks at (6.0 mm/mmap.c unmapped_area,
 * unmapped_area_topdown).
 */
uint64_t tree_gap_steps(const struct tree *tree, uint64_t len, uint64_t lo, uint64_t hi,
			bool top_down);

static inline struct node *node_at(const struct tree *tree, uint32_t id)
{
	return (struct node *)((char *)tree->nodes + id);
}

#endif
