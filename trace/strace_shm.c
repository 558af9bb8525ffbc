/* SPDX-License-Identifier: BSD-2-Clause */
/* System V shared memory in an strace log: segments by id, attachments by address. */
#include <errno.h>

#include <seam/ops.h>

#include "trace/grow.h"
#include "trace/strace_make.h"

/* The segment of an id; without the shmget that made it its size is not known. */
static int get_segment(struct strace *s, int64_t id, struct strace_segment **ret_segment)
{
	struct trace_file file = {
		.traits = SEAM_FILE_READ | SEAM_FILE_WRITE | SEAM_FILE_SHMEM,
		.known = 1,
	};
	struct strace_segment segment = { 0 };
	uint32_t number;
	bool new;

	if (grow(&s->segments, s->nr_segments, &s->room_segments, sizeof(*s->segments)))
		return -ENOMEM;
	number = intern_number(&s->segment_ids, &id, sizeof(id), UINT32_MAX, &new);
	if (!number)
		return -ENOMEM;
	if (new) {
		file.description = ++s->nr_descriptions;
		segment.file = trace_add_file(s->trace, &file, "/SYSV", 5);
		s->segments[s->nr_segments++] = segment;
	}
	*ret_segment = &s->segments[number - 1];
	return (*ret_segment)->file ? 0 : -ENOMEM;
}

/* Where the size of what is attached at @addr of a space is kept. */
static int attached_size(struct strace *s, uint32_t space, uint64_t addr, uint64_t **ret_size)
{
	uint64_t key[2] = { space, addr };
	uint32_t number;
	bool new;

	if (grow(&s->attached_sizes, s->nr_attached, &s->room_attached, sizeof(*s->attached_sizes)))
		return -ENOMEM;
	number = intern_number(&s->attachments, key, sizeof(key), UINT32_MAX, &new);
	if (!number)
		return -ENOMEM;
	if (new)
		s->attached_sizes[s->nr_attached++] = 0;
	*ret_size = &s->attached_sizes[number - 1];
	return 0;
}

int make_shmat(struct making *m)
{
	struct strace *s = m->s;
	struct event *event = m->event;
	struct strace_segment *segment;
	uint64_t *size;
	int r = making_numbers(m, 3);

	if (r)
		return r;
	r = get_segment(s, (int64_t)event->arg[0], &segment);
	if (r)
		return r;
	event->file = segment->file;
	event->arg[3] = segment->size;
	if (!succeeded(m->call))
		return 0;
	if (!segment->size)
		trace_incomplete(s->trace, "shmat of unknown size");
	m->effect.makes = making_pages((uint64_t)m->call->value, segment->size);
	m->effect.needs_free = true;
	r = attached_size(s, event->space, (uint64_t)m->call->value, &size);
	if (!r)
		*size = segment->size;
	return r;
}

int make_shmdt(struct making *m)
{
	uint64_t *size;
	int r = making_numbers(m, 1);

	if (r || !succeeded(m->call))
		return r;
	r = attached_size(m->s, m->event->space, m->event->arg[0], &size);
	if (r)
		return r;
	m->effect.frees = making_pages(m->event->arg[0], *size);
	*size = 0;
	return 0;
}

int strace_shmget(struct strace *s, const struct strace_call *call)
{
	struct strace_segment *segment;
	uint64_t size;
	int r;

	if (!succeeded(call) || call->nr_args < 2 || !strace_value(call->arg[1], &size))
		return 0;
	r = get_segment(s, call->value, &segment);
	if (!r && size)
		segment->size = size;
	return r;
}
