/* SPDX-License-Identifier: BSD-2-Clause */
/* A second index with the same areas: node by node, so it costs little more than moving the memory. */
#include "lib/index/blocks.h"
#include "lib/memory.h"

/* NULL: no memory. NULL of NULL. */
static bool copy_cold(struct index *to, uint64_t **ret_array, const uint64_t *from)
{
	*ret_array = from ? block_cut(to, POOL_COLD) : NULL;
	if (*ret_array)
		memcpy(*ret_array, from, LEAF_SLOTS * sizeof(*from));
	return *ret_array || !from;
}

static struct index_node *copy_leaf(struct index *to, const struct leaf *from, bool with_anon)
{
	struct leaf *leaf = block_cut(to, POOL_LEAF);

	if (!leaf)
		return NULL;
	*leaf = *from;
	leaf->prev = to->last;
	leaf->next = NULL;
	if (to->last)
		to->last->next = leaf;
	to->last = leaf;
	if (!with_anon)
		for (unsigned int i = 0; i < LEAF_SLOTS; i++)
			leaf->ids[i].anon = 0;
	if (!copy_cold(to, &leaf->pgoff, from->pgoff) || !copy_cold(to, &leaf->tag, from->tag))
		return NULL;
	return &leaf->node;
}

/* Its children are still those of the original. */
static struct index_node *copy_inner(struct index *to, const struct inner *from)
{
	struct inner *inner = block_cut(to, POOL_INNER);

	if (!inner)
		return NULL;
	*inner = *from;
	return &inner->node;
}

/* What stands in the parent's slot, an original, gives way to a copy. NULL: no memory. */
static struct index_node *copy_into(struct index *to, struct inner *parent, unsigned int slot,
				    const struct index_node *from, bool with_anon)
{
	struct index_node *node = from->level ? copy_inner(to, (const struct inner *)from)
					      : copy_leaf(to, (const struct leaf *)from, with_anon);

	if (!node)
		return NULL;
	node->parent = parent;
	node->saved = 0;
	if (parent)
		parent->child[slot] = node;
	else
		to->root = node;
	return node;
}

int index_copy(struct index *to, const struct index *from, bool with_anon)
{
	struct index_node *node;

	if (!from->root)
		return 0;
	node = copy_into(to, NULL, 0, from->root, with_anon);
	while (node) {
		struct inner *parent = (struct inner *)node;
		unsigned int slot = 0;

		/* down to the lowest, or up to where there is one more to the right */
		if (!node->level) {
			do {
				parent = node->parent;
				slot = node->slot + 1u;
				node = (struct index_node *)parent;
			} while (parent && slot == node->nr);
			if (!parent) {
				to->nr = from->nr;
				to->height = from->height;
				return 0;
			}
		}
		node = copy_into(to, parent, slot, parent->child[slot], with_anon);
	}
	index_destroy(to);
	return -SEAM_EALLOC;
}

void index_set_identities(struct index *index, const struct cursor *cursor, uint32_t attr,
			  uint32_t anon)
{
	struct leaf *leaf = cursor->node;

	leaf->ids[cursor->slot].attr = attr;
	leaf->ids[cursor->slot].anon = anon;
}
