/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/iter_areas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The records one after the other, each checked to lie whole within what was read. They follow one
 * another without padding, so each head is copied to where it is aligned.
 */
struct walk {
	const char *at, *end;
	struct mm_record mm;	 /* of the areas that follow; kind 0: none yet */
	struct area_record area; /* the present one */
	const char *texts;	 /* its name and path */
};

static bool next_area(struct walk *walk)
{
	while (walk->at < walk->end) {
		size_t left = (size_t)(walk->end - walk->at);
		unsigned int kind;

		if (left < sizeof(walk->area))
			return false;
		memcpy(&kind, walk->at, sizeof(kind));
		if (kind == RECORD_MM && left >= sizeof(walk->mm)) {
			memcpy(&walk->mm, walk->at, sizeof(walk->mm));
			walk->at += sizeof(walk->mm);
			continue;
		}
		memcpy(&walk->area, walk->at, sizeof(walk->area));
		if (kind != RECORD_AREA || walk->area.size < sizeof(walk->area) ||
		    walk->area.size > left)
			return false;
		walk->texts = walk->at + sizeof(walk->area);
		walk->at += walk->area.size;
		return true;
	}
	return false;
}

/* As show_map_vma and arch_vma_name print them (6.18 fs/proc/task_mmu.c). */
static const char *special_name(const struct area_record *area, const struct mm_record *mm)
{
	if (area->traits & AREA_MAY_SPLIT && !(area->flags & SEAM_VM_HUGETLB))
		return area->flags & SEAM_VM_EXEC ? "[vdso]" : "[vvar]";
	if (area->start < mm->brk && area->end > mm->start_brk)
		return "[heap]";
	if (area->start <= mm->start_stack && area->end >= mm->start_stack)
		return "[stack]";
	return "";
}

static uint32_t number_of(struct iter_identities *ids, struct intern *intern, uint64_t key)
{
	uint32_t number;
	bool fresh;

	if (!key)
		return 0;
	number = intern_number(intern, &key, sizeof(key), UINT32_MAX, &fresh);
	ids->no_memory |= !number;
	return number;
}

/* The path of a file stands once, before the first of its areas. */
static const char **path_of(struct iter_identities *ids, uint32_t file)
{
	size_t room = ids->paths_room ? ids->paths_room * 2 : 64;
	const char **paths;

	if (file >= ids->paths_room) {
		room = room > file ? room : file + 1;
		paths = realloc(ids->paths, room * sizeof(*paths));
		if (!paths) {
			ids->no_memory = true;
			return NULL;
		}
		memset(paths + ids->paths_room, 0, (room - ids->paths_room) * sizeof(*paths));
		ids->paths = paths;
		ids->paths_room = room;
	}
	return &ids->paths[file];
}

static void free_identities(struct iter_identities *ids)
{
	intern_free(&ids->anon);
	intern_free(&ids->file);
	intern_free(&ids->policy);
	intern_free(&ids->uffd);
	free(ids->paths);
}

static const char *keep_text(struct snapshot *snapshot, struct iter_identities *ids,
			     const char *text, uint32_t *ret_number)
{
	const char *kept = "";
	uint32_t number = snapshot_text(snapshot, text, strlen(text), &kept);

	ids->no_memory |= !number;
	if (ret_number)
		*ret_number = number;
	return number ? kept : "";
}

static const char *name_of(struct iter_areas *building, const struct walk *walk, uint32_t file,
			   uint32_t *ret_number)
{
	const struct area_record *record = &walk->area;
	struct iter_identities *ids = &building->ids;
	const char **path;

	if (!file && record->name_len)
		return keep_text(&building->snapshot, ids, walk->texts, ret_number);
	if (!file)
		return special_name(record, &building->mm);
	path = path_of(ids, file);
	if (path && record->path_len)
		*path = keep_text(&building->snapshot, ids, walk->texts + record->name_len, NULL);
	return path && *path ? *path : "";
}

static void convert(const struct walk *walk, struct iter_areas *building, struct snapshot_area *ret)
{
	const struct area_record *record = &walk->area;
	struct iter_identities *ids = &building->ids;

	*ret = (struct snapshot_area){
		.area = {
			.start = record->start,
			.end = record->end,
			.flags = record->flags,
			.pgoff = record->pgoff,
			.file = number_of(ids, &ids->file, record->file),
			.anon_vma = number_of(ids, &ids->anon, record->anon_vma),
			.anon_chain = record->chain,
			.numa = number_of(ids, &ids->policy, record->policy),
			.uffd = number_of(ids, &ids->uffd, record->uffd),
		},
		.dev_major = record->dev >> 20,
		.dev_minor = record->dev & 0xfffff,
		.inode = record->inode,
	};
	if (record->traits & AREA_CLOSE)
		ret->area.traits |= SEAM_TRAIT_CLOSE;
	if (record->traits & AREA_MAY_SPLIT && !(record->flags & SEAM_VM_HUGETLB))
		ret->area.traits |= SEAM_TRAIT_NO_SPLIT;
	ret->name = name_of(building, walk, (uint32_t)ret->area.file, &ret->area.name);
}

/* Room for one more area: the kernel's count tells at once how many to expect. */
static bool has_room(struct iter_areas *building)
{
	struct snapshot *snapshot = &building->snapshot;
	struct snapshot_area *areas;
	size_t room;

	if (snapshot->nr_areas < building->room)
		return true;
	room = building->room ? building->room * 2 : building->mm.map_count + 16;
	areas = reallocarray(snapshot->areas, room, sizeof(*areas));
	if (!areas)
		return false;
	snapshot->areas = areas;
	building->room = room;
	return true;
}

/*
 * Filtered to one task, the iterator of 6.18 does not end: behind the last area it gives the last
 * buffer again, and again. Areas come in address order, so that shows.
 */
static bool goes_on(const struct snapshot *snapshot, const struct area_record *record)
{
	return !snapshot->nr_areas ||
	       record->start > snapshot->areas[snapshot->nr_areas - 1].area.start;
}

int iter_areas_take(const char *data, size_t size, void *ctx)
{
	struct iter_areas *building = ctx;
	struct snapshot *snapshot = &building->snapshot;
	struct walk walk = { .at = data, .end = data + size, .mm = building->mm };

	while (next_area(&walk)) {
		if (!goes_on(snapshot, &walk.area))
			return ITER_END;
		building->mm = walk.mm;
		if (!has_room(building))
			return -ENOMEM;
		convert(&walk, building, &snapshot->areas[snapshot->nr_areas++]);
		if (building->ids.no_memory)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t seen_fields(uint32_t lacks)
{
	uint32_t sees = SEES_RANGE | SEES_FLAGS | SEES_ALL_FLAGS | SEES_OFFSET | SEES_ANON_OFFSET |
			SEES_INODE | SEES_FILE | SEES_ANON_VMA | SEES_CLOSE | SEES_PKEY;

	/* a kernel that was built without a thing has none of it to see */
	return sees | SEES_UFFD | SEES_NAME | (lacks & LACKS_NUMA ? 0 : SEES_NUMA);
}

void iter_areas_finish(struct iter_areas *building, uint64_t ns, struct snapshot *ret)
{
	const struct mm_record *mm = &building->mm;

	*ret = building->snapshot;
	ret->source = "bpf";
	ret->sees = seen_fields(mm->lacks);
	ret->map_count = mm->lacks & LACKS_MAP_COUNT ? 0 : mm->map_count;
	ret->def_flags = mm->def_flags;
	ret->read_ns = ns;
	snprintf(ret->comm, sizeof(ret->comm), "%.16s", mm->comm);
	free_identities(&building->ids);
}

void iter_areas_drop(struct iter_areas *building)
{
	free_identities(&building->ids);
	snapshot_free(&building->snapshot);
}
