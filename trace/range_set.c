/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of addresses as a skip list of ranges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/range_set.h"

struct range_node {
	struct range range;
	unsigned int levels;
	struct range_node *next[];
};

/* The links that lead to the first range that ends at or behind @addr, one a level. */
static struct range_node *seek(const struct range_set *set, uint64_t addr,
			       struct range_node ***ret_links)
{
	struct range_node *const *links = set->head;

	for (int level = RANGE_SET_LEVELS - 1; level >= 0; level--) {
		while (links[level] && links[level]->range.end < addr)
			links = links[level]->next;
		if (ret_links)
			ret_links[level] = (struct range_node **)&links[level];
	}
	return links[0];
}

/* One more level with a chance of one in four (xorshift). */
static unsigned int random_levels(struct range_set *set)
{
	unsigned int levels = 1;
	uint32_t x = set->random ? set->random : 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	set->random = x;
	for (; levels < RANGE_SET_LEVELS && !(x & 3); x >>= 2)
		levels++;
	return levels;
}

static struct range_node *new_node(struct range_set *set, uint64_t start, uint64_t end)
{
	unsigned int levels = random_levels(set);
	struct range_node *node = malloc(sizeof(*node) + levels * sizeof(struct range_node *));

	if (!node)
		return NULL;
	node->range = (struct range) { start, end };
	node->levels = levels;
	return node;
}

static void link_node(struct range_set *set, struct range_node *node, struct range_node ***links)
{
	set->nr++;
	for (unsigned int level = 0; level < node->levels; level++) {
		node->next[level] = *links[level];
		*links[level] = node;
	}
}

static void unlink_node(struct range_set *set, struct range_node *node, struct range_node ***links)
{
	set->nr--;
	for (unsigned int level = 0; level < node->levels; level++)
		*links[level] = node->next[level];
	free(node);
}

int range_set_add(struct range_set *set, uint64_t start, uint64_t end)
{
	struct range_node **links[RANGE_SET_LEVELS];
	struct range_node *node, *first;

	if (start >= end)
		return 0;
	first = seek(set, start, links);
	if (first && first->range.start <= start && first->range.end >= end)
		return 0;
	while ((node = *links[0]) && node->range.start <= end) {
		if (node->range.start < start)
			start = node->range.start;
		if (node->range.end > end)
			end = node->range.end;
		unlink_node(set, node, links);
	}
	node = new_node(set, start, end);
	if (!node)
		return -ENOMEM;
	link_node(set, node, links);
	return 0;
}

int range_set_remove(struct range_set *set, uint64_t start, uint64_t end)
{
	struct range_node **links[RANGE_SET_LEVELS];
	struct range_node *node;
	struct range above = { 0, 0 };

	if (start >= end)
		return 0;
	seek(set, start + 1, links);
	node = *links[0];
	if (node && node->range.start < start) {
		if (node->range.end > end)
			above = (struct range) { end, node->range.end };
		node->range.end = start;
		seek(set, start + 1, links);
	}
	while ((node = *links[0]) && node->range.end <= end)
		unlink_node(set, node, links);
	if (node && node->range.start < end)
		node->range.start = end;
	if (above.end) {
		node = new_node(set, above.start, above.end);
		if (!node)
			return -ENOMEM;
		link_node(set, node, links);
	}
	return 0;
}

bool range_set_find(const struct range_set *set, uint64_t start, uint64_t end,
		    struct range *ret_range)
{
	const struct range_node *node = start < end ? seek(set, start + 1, NULL) : NULL;

	if (!node || node->range.start >= end)
		return false;
	*ret_range = node->range;
	return true;
}

bool range_set_overlaps(const struct range_set *set, uint64_t start, uint64_t end)
{
	struct range range;

	return range_set_find(set, start, end, &range);
}

bool range_set_covers(const struct range_set *set, uint64_t start, uint64_t end)
{
	struct range range;

	return range_set_find(set, start, end, &range) && range.start <= start && range.end >= end;
}

int range_set_copy(const struct range_set *set, struct range_set *ret_set)
{
	struct range_node **links[RANGE_SET_LEVELS];

	*ret_set = (struct range_set) { .random = set->random };
	for (int level = 0; level < RANGE_SET_LEVELS; level++)
		links[level] = &ret_set->head[level];
	for (const struct range_node *from = set->head[0]; from; from = from->next[0]) {
		struct range_node *node = new_node(ret_set, from->range.start, from->range.end);

		if (!node) {
			range_set_free(ret_set);
			return -ENOMEM;
		}
		link_node(ret_set, node, links);
		for (unsigned int level = 0; level < node->levels; level++)
			links[level] = &node->next[level];
	}
	return 0;
}

void range_set_free(struct range_set *set)
{
	struct range_node *node = set->head[0], *next;

	for (; node; node = next) {
		next = node->next[0];
		free(node);
	}
	*set = (struct range_set) { 0 };
}
