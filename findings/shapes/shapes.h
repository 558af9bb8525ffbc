/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * findings/shapes/shapes.h - the recognisers of groups: each marks, among the areas that no earlier
 * one has taken, those of its shape.
 */
#ifndef FINDINGS_SHAPES_H
#define FINDINGS_SHAPES_H

#include <stdbool.h>

#include "findings/groups.h"
#include "trace/scan.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define RW (SEAM_VM_READ | SEAM_VM_WRITE)

/* All areas of one file, by device and inode. */
struct file_use {
	size_t areas;
	size_t executable, writable, shared;
};

struct shapes {
	struct findings *findings;
	const struct snapshot_area *areas;
	size_t nr;
	const uint32_t *pair;
	uint8_t *group_of;
	bool *marked;	   /* by the recogniser that is being asked */
	uint32_t *file_of; /* per area: index into files, or NO_FILE */
	struct file_use *files;
	struct group_row row; /* what the recogniser tells besides */
};
#define NO_FILE UINT32_MAX

/* Finds which areas map the same file, and how. -ENOMEM. O(areas log areas). */
int shapes_find_files(struct shapes *s);
/* Marks an area, unless an earlier recogniser has taken it: then false. */
bool shapes_mark(struct shapes *s, size_t i);
/* Takes in the neighbours that only their history keeps apart from marked ones. */
void shapes_grow(struct shapes *s);
/* Marks pairs that @cause keeps apart, and nothing but it and their history. */
void shapes_mark_pairs(struct shapes *s, uint32_t cause);
/* The same for pairs whose flags differ, all within @bits; and what belongs to them. */
void shapes_mark_flag_pairs(struct shapes *s, uint64_t bits);
/* Marks the largest set of equal size and access among those for which @fits says yes. */
void shapes_mark_commonest(struct shapes *s, bool (*fits)(const struct shapes *s, size_t i));

/* shape_fiber_stack and so on: a recogniser a group. */
#define SHAPE(name, json, text) void shape_##name(struct shapes *s);
GROUPS(SHAPE)
#undef SHAPE

/* What the history of touching leaves behind, seen or hidden. */
#define HISTORY (SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork) | SEAM_CAUSE(untried) | SEAM_CAUSE(unseen))

static inline uint64_t bytes_of(const struct snapshot_area *area)
{
	return area->area.end - area->area.start;
}

static inline uint64_t access_of(const struct snapshot_area *area)
{
	return area->area.flags & SEAM_VM_RWX;
}

static inline bool is_shared(const struct snapshot_area *area)
{
	return area->area.flags & (SEAM_VM_SHARED | SEAM_VM_MAYSHARE);
}

/* Private memory of no file: not the stack of exec, nor what the kernel maps by itself. */
static inline bool is_anonymous(const struct snapshot_area *area)
{
	if (is_shared(area) || area->inode || area->area.file ||
	    area->area.flags & (SEAM_VM_SPECIAL | SEAM_VM_GROWSDOWN))
		return false;
	return !area->name[0] || begins_with(area->name, "[heap]") ||
	       begins_with(area->name, "[anon:");
}

static inline bool touches_next(const struct shapes *s, size_t i)
{
	return s->pair[i] != NO_PAIR;
}

static inline bool is_free(const struct shapes *s, size_t i)
{
	return s->group_of[i] == GROUP_NONE;
}

static inline bool file_is_elf(const struct shapes *s, size_t i)
{
	const struct file_use *file;

	if (s->file_of[i] == NO_FILE)
		return false;
	file = &s->files[s->file_of[i]];
	return file->executable && file->shared < file->executable;
}

/* Both are memory that a program splits by itself: no segments of programs and libraries. */
static inline bool is_data_pair(const struct shapes *s, size_t left)
{
	return touches_next(s, left) && !file_is_elf(s, left) && !file_is_elf(s, left + 1) &&
	       !((s->areas[left].area.flags | s->areas[left + 1].area.flags) & SEAM_VM_SPECIAL);
}

static inline bool is_anonymous_pair(const struct shapes *s, size_t left)
{
	return touches_next(s, left) && is_anonymous(&s->areas[left]) &&
	       is_anonymous(&s->areas[left + 1]);
}

#endif
