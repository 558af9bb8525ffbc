/* SPDX-License-Identifier: BSD-2-Clause */
/* What maps files: programs and libraries, one file an area, windows on one file. */
#include <errno.h>
#include <stdlib.h>

#include "findings/shapes/shapes.h"

/* A file as an area tells it; inode 0 is no file. */
struct file_key {
	uint64_t dev, inode;
	size_t index;
};

static int by_file(const void *left, const void *right)
{
	const struct file_key *l = left, *r = right;

	if (l->dev != r->dev)
		return l->dev < r->dev ? -1 : 1;
	return l->inode < r->inode ? -1 : l->inode > r->inode;
}

static void count_use(struct file_use *file, const struct snapshot_area *area)
{
	file->areas++;
	file->executable += !!(access_of(area) & SEAM_VM_EXEC);
	file->writable += !!(access_of(area) & SEAM_VM_WRITE);
	file->shared += is_shared(area);
}

int shapes_find_files(struct shapes *s)
{
	struct file_key *keys = malloc((s->nr + 1) * sizeof(*keys));
	size_t nr = 0;
	uint32_t nr_files = 0;

	s->files = calloc(s->nr + 1, sizeof(*s->files));
	s->file_of = malloc((s->nr + 1) * sizeof(*s->file_of));
	if (!keys || !s->files || !s->file_of) {
		free(keys);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->nr; i++) {
		const struct snapshot_area *area = &s->areas[i];

		s->file_of[i] = NO_FILE;
		if (area->inode)
			keys[nr++] = (struct file_key) {
				(uint64_t)area->dev_major << 32 | area->dev_minor, area->inode, i
			};
	}
	qsort(keys, nr, sizeof(*keys), by_file);
	for (size_t i = 0; i < nr; i++) {
		if (!i || by_file(&keys[i - 1], &keys[i]))
			nr_files++;
		s->file_of[keys[i].index] = nr_files - 1;
		count_use(&s->files[nr_files - 1], &s->areas[keys[i].index]);
	}
	free(keys);
	return 0;
}

/* A file that has executable private areas is a program or a library, and all it maps are segments. */
void shape_elf_segments(struct shapes *s)
{
	uint32_t last = NO_FILE;

	for (size_t i = 0; i < s->nr; i++) {
		if (!file_is_elf(s, i) || !shapes_mark(s, i))
			continue;
		s->row.units += s->file_of[i] != last;
		last = s->file_of[i];
	}
}

/* One file mapped shared both to be written and to be run. */
void shape_jit_dual(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct file_use *file;

		if (s->file_of[i] == NO_FILE)
			continue;
		file = &s->files[s->file_of[i]];
		if (!file->executable || !file->writable || file->shared != file->areas)
			continue;
		if (shapes_mark(s, i) && access_of(&s->areas[i]) & SEAM_VM_WRITE)
			s->row.units++;
	}
}

static bool is_shared_memory(const struct snapshot_area *area)
{
	static const char *const names[] = { "/dev/zero", "/SYSV", "/memfd:", "[anon_shmem" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins_with(area->name, names[i]))
			return true;
	return false;
}

/* MAP_SHARED without a file makes an object of its own each time; none joins another. */
void shape_shared_anon_per_map(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->file_of[i] != NO_FILE && is_shared(&s->areas[i]) &&
		    is_shared_memory(&s->areas[i]) && s->files[s->file_of[i]].areas <= 2)
			s->row.units += shapes_mark(s, i);
}

/* The segments of a single program are too few for a group, and yet no windows. */
static bool is_data_file(const struct shapes *s, size_t i)
{
	return s->file_of[i] != NO_FILE && !file_is_elf(s, i);
}

void shape_file_per_map(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (is_data_file(s, i) && s->files[s->file_of[i]].areas <= 2)
			s->row.units += shapes_mark(s, i);
}

void shape_file_windows(struct shapes *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (is_data_file(s, i) && s->files[s->file_of[i]].areas > 2)
			shapes_mark(s, i);
}
