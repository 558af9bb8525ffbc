/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a block, record by record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/data_reader.h"

static inline int read_thread_of_call(struct data_reader *reader, const uint8_t **at, uint64_t head)
{
	if (head & 2) {
		uint64_t number = varint_get(at);

		reader->last_thread = number <= reader->nr_threads ? (uint32_t)number : 0;
	}
	return reader->last_thread ? 0 : -EINVAL;
}

/* Two varints: from the end of the event before to this one's begin, and its duration. */
static inline void get_times(struct data_reader *reader, const uint8_t **at, struct event *event)
{
	uint64_t gap = varint_get(at), ticks = span_value(gap >> 1);
	uint64_t duration = span_value(varint_get(at));

	reader->last_tick += gap & 1 ? -ticks : ticks;
	event->time_ns = reader->last_tick * reader->tick_ns;
	event->duration_ns = duration * reader->tick_ns;
	reader->last_tick += duration;
}

static inline void set_thread(const struct data_reader *reader, struct event *event,
			      const struct thread *thread)
{
	event->space = thread->space;
	event->pid = thread->pid;
	event->tid = thread->tid;
	event->line = reader->block_number - 1;
}

static inline uint64_t get_field(struct data_reader *reader, const struct event *event,
				 enum data_class class, const uint8_t **at, struct thread *thread)
{
	const unsigned int shift = reader->unit_shift;

	switch (class) {
	case CLASS_SIGNED:
		return (uint64_t)unzigzag(varint_get(at));
	case CLASS_ADDR_PAGES:
		thread->last_addr =
			((thread->last_addr >> shift) + (uint64_t)unzigzag(varint_get(at)))
			<< shift;
		return thread->last_addr;
	case CLASS_ADDR_BYTES:
		thread->last_addr += (uint64_t)unzigzag(varint_get(at));
		return thread->last_addr;
	case CLASS_BREAK:
		thread->last_break += (uint64_t)unzigzag(varint_get(at));
		return thread->last_break;
	case CLASS_PAGES:
		return varint_get(at) << shift;
	case CLASS_FIRST:
		return event->arg[0];
	case CLASS_FILE:
		reader->last_file += (uint32_t)unzigzag(varint_get(at));
		return reader->last_file;
	case CLASS_VALUE:
	case CLASS_CONSTANT:
	case NR_CLASSES:
		break;
	}
	return varint_get(at);
}

/* 1: *ret_event is filled; 0: a call of a newer seam, skipped. */
static int read_call(struct data_reader *reader, uint64_t head, struct event *ret_event,
		     struct trace_error *error)
{
	const uint8_t *at = reader->cursor;
	const struct shape *shape;
	struct thread *thread;
	uint64_t number = head >> 2;

	if (!number || number > reader->nr_shapes || read_thread_of_call(reader, &at, head))
		return reader_refuse(reader, error, "a call that names no shape or thread");
	shape = &reader->shapes[number];
	thread = &reader->threads[reader->last_thread];
	if (thread->block != reader->block_number) {
		thread->block = reader->block_number;
		thread->last_addr = thread->last_break = 0;
	}
	*ret_event = shape->event;
	set_thread(reader, ret_event, thread);
	get_times(reader, &at, ret_event);
	for (unsigned int i = 0; i < shape->nr_fields; i++)
		set_field(ret_event, shape->to[i],
			  get_field(reader, ret_event, shape->class[i], &at, thread));
	if (at > reader->end)
		return reader_refuse(reader, error, "a call beyond its end");
	reader->cursor = at;
	if (ret_event->file > reader->nr_files || ret_event->stack > reader->nr_stacks)
		return reader_refuse(reader, error, "a call that names no file or stack");
	if (!shape->known) {
		reader->newer = true;
		return 0;
	}
	reader->facts->calls += ret_event->kind == EVENT_CALL && trace_call_counts(ret_event->call);
	return 1;
}

/* *last_file: the last file before that is one. */
static void get_area(const struct data_reader *reader, const uint8_t **at,
		     const struct seam_area *before, uint32_t *last_file, struct seam_area *area)
{
	const unsigned int shift = reader->unit_shift;
	uint64_t mask = varint_get(at), pages = varint_get(at);
	uint64_t before_pages = (before->end - before->start) >> shift;

	*area = (struct seam_area) { .start = before->end,
				     .flags = before->flags,
				     .file = before->file };
	if (mask & AREA_GAP)
		area->start += (uint64_t)unzigzag(varint_get(at)) << shift;
	area->end = area->start + (pages << shift);
	if (mask & AREA_FLAGS)
		area->flags = varint_get(at);
	if (mask & AREA_FILE) {
		uint64_t file = varint_get(at);

		area->file = file ? (uint32_t)(*last_file + unzigzag(file - 1)) : 0;
	}
	if (area->file)
		*last_file = area->file;
	if (area->file && area->file == before->file)
		area->pgoff = before->pgoff + before_pages;
	if (mask & AREA_PGOFF)
		area->pgoff += (uint64_t)unzigzag(varint_get(at));
	if (mask & AREA_ANON) {
		area->anon_vma = (uint32_t)varint_get(at);
		area->anon_chain = (uint32_t)varint_get(at);
	}
	if (mask & AREA_IDS) {
		area->numa = (uint32_t)varint_get(at);
		area->uffd = (uint32_t)varint_get(at);
		area->name = (uint32_t)varint_get(at);
		area->traits = (uint32_t)varint_get(at);
	}
	if (mask & AREA_TAG)
		area->tag = varint_get(at);
}

static int reserve_areas(struct data_reader *reader, size_t nr)
{
	struct seam_area *areas;

	if (nr <= reader->areas_room)
		return 0;
	areas = reallocarray(reader->areas, nr, sizeof(*areas));
	if (!areas)
		return -ENOMEM;
	reader->areas = areas;
	reader->areas_room = nr;
	return 0;
}

static int get_areas(struct data_reader *reader, const uint8_t **at, const uint8_t *end,
		     struct event *event)
{
	const struct seam_area *before = &(const struct seam_area) { 0 };
	uint32_t last_file = 0;
	uint64_t nr;

	event->sees = (uint32_t)varint_get(at);
	nr = varint_get(at);
	if (*at > end || nr > DATA_MAX_AREAS || nr * 2 > (uint64_t)(end - *at))
		return -EINVAL;
	if (reserve_areas(reader, nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct seam_area *area = &reader->areas[i];

		get_area(reader, at, before, &last_file, area);
		if (*at > end || area->start < before->end || area->end < area->start ||
		    area->file > reader->nr_files)
			return -EINVAL;
		before = area;
	}
	event->areas = reader->areas;
	event->nr_areas = nr;
	return 0;
}

static int get_text(struct data_reader *reader, const uint8_t **at, const uint8_t *end,
		    struct event *event)
{
	uint64_t size;
	const uint8_t *bytes = get_bytes(at, end, &size);

	if (!bytes)
		return -EINVAL;
	if (size >= reader->text_room) {
		char *text = realloc(reader->text, size + 1);

		if (!text)
			return -ENOMEM;
		reader->text = text;
		reader->text_room = size + 1;
	}
	memcpy(reader->text, bytes, size);
	reader->text[size] = 0;
	event->text = reader->text;
	return 0;
}

static int get_args(const uint8_t **at, struct event *event)
{
	uint64_t nr = varint_get(at);

	if (nr > 6)
		return -EINVAL;
	for (unsigned int i = 0; i < nr; i++)
		event->arg[i] = varint_get(at);
	return 0;
}

/* The members that the mask names; what a later seam adds stands behind them. */
static int get_members(struct data_reader *reader, const uint8_t **at, const uint8_t *end,
		       uint64_t mask, struct event *event)
{
	int err = 0;

	if (mask & HAS_BORN)
		event->born = (uint8_t)varint_get(at);
	if (mask & HAS_ARGS && get_args(at, event))
		return -EINVAL;
	if (mask & HAS_RESULT)
		event->result = unzigzag(varint_get(at));
	if (mask & HAS_FILE)
		event->file = (uint32_t)varint_get(at);
	if (mask & HAS_STACK)
		event->stack = (uint32_t)varint_get(at);
	if (*at > end || event->file > reader->nr_files || event->stack > reader->nr_stacks)
		return -EINVAL;
	if (mask & HAS_AREAS)
		err = get_areas(reader, at, end, event);
	if (!err && mask & HAS_TEXT)
		err = get_text(reader, at, end, event);
	return err;
}

static int read_event(struct data_reader *reader, unsigned int kind, const uint8_t *at,
		      const uint8_t *end, struct event *ret_event)
{
	uint64_t mask = varint_get(&at), thread;

	*ret_event = (struct event) { .kind = (uint8_t)kind };
	get_times(reader, &at, ret_event);
	thread = varint_get(&at);
	if (!thread || thread > reader->nr_threads)
		return -EINVAL;
	set_thread(reader, ret_event, &reader->threads[thread]);
	if (mask & HAS_FLAGS)
		ret_event->flags = (uint32_t)varint_get(&at);
	return get_members(reader, &at, end, mask, ret_event);
}

/* A record with a length. 1: *ret_event is filled; 0: it was none for the caller. */
static int read_sized_record(struct data_reader *reader, uint64_t kind, struct event *ret_event,
			     struct trace_error *error)
{
	uint64_t size;
	const uint8_t *body = get_bytes(&reader->cursor, reader->end, &size);
	int err;

	if (!body)
		return reader_refuse(reader, error, "a record beyond its end");
	if (kind == RECORD_FINISH) {
		reader->finished = true;
		return 0;
	}
	if (kind < RECORD_EVENT || kind > RECORD_EVENT + EVENT_NOTE ||
	    kind == RECORD_EVENT + EVENT_CALL) {
		reader->newer = true;
		return 0;
	}
	err = read_event(reader, (unsigned int)kind - RECORD_EVENT, body, body + size, ret_event);
	if (err == -EINVAL)
		return reader_refuse(reader, error, "a damaged record");
	return err ? err : 1;
}

int data_reader_next(struct data_reader *reader, struct event *ret_event, struct trace_error *error)
{
	int ret;

	do {
		uint64_t head;

		while (reader->cursor >= reader->end) {
			ret = reader_next_block(reader, error);
			if (ret <= 0)
				return ret;
		}
		head = varint_get(&reader->cursor);
		if (head & 1)
			ret = read_call(reader, head, ret_event, error);
		else
			ret = read_sized_record(reader, head >> 1, ret_event, error);
	} while (!ret);
	return ret;
}
