/* SPDX-License-Identifier: BSD-2-Clause */
/* Events as bytes: calls by their shape, all else by a mask of what they have. */
#include <errno.h>

#include "trace/data_writer.h"

#define MAX_CONSTANT_SHAPES 4096 /* from then on a call's flags are stored with each call */

/*
 * What the arguments of each call are: address, break, length, choice (flags: few values), any value.
 * A choice becomes part of the call's shape.
 */
static const char argument_kinds[TRACE_NR_CALLS][6] = {
	[TRACE_CALL_mmap] = "alccvl",
	[TRACE_CALL_munmap] = "al",
	[TRACE_CALL_mprotect] = "alc",
	[TRACE_CALL_pkey_mprotect] = "alcc",
	[TRACE_CALL_mremap] = "allca",
	[TRACE_CALL_madvise] = "alc",
	[TRACE_CALL_mlock] = "al",
	[TRACE_CALL_mlock2] = "alc",
	[TRACE_CALL_munlock] = "al",
	[TRACE_CALL_mlockall] = "c",
	[TRACE_CALL_brk] = "b",
	[TRACE_CALL_mseal] = "alc",
	[TRACE_CALL_mbind] = "alcacc",
	[TRACE_CALL_set_mempolicy] = "cac",
	[TRACE_CALL_remap_file_pages] = "alclc",
	[TRACE_CALL_shmat] = "vacl",
	[TRACE_CALL_shmdt] = "a",
	[TRACE_CALL_prctl] = "cvvvv",
	[TRACE_CALL_uffd_ioctl] = "vcalc",
	[TRACE_CALL_prlimit] = "cvv",
	[TRACE_CALL_personality] = "c",
	[TRACE_CALL_arch_prctl] = "cv",
	[TRACE_CALL_process_madvise] = "vavcc",
	[TRACE_CALL_map_shadow_stack] = "alc",
	[TRACE_CALL_io_setup] = "va",
	[TRACE_CALL_kmmap] = "alccvl",
	[TRACE_CALL_touch] = "al",
	[TRACE_CALL_rtouch] = "al",
	[TRACE_CALL_exec] = "aaa",
	[TRACE_CALL_stack] = "al",
	[TRACE_CALL_rlimit] = "cv",
};

static bool is_page_aligned(uint64_t value)
{
	return !(value & ((UINT64_C(1) << DATA_UNIT_SHIFT) - 1));
}

struct call_shape {
	uint8_t class[DATA_MAX_FIELDS];
	uint64_t value[DATA_MAX_FIELDS];
	unsigned int nr_fields;
};

static enum data_class argument_class(char kind, uint64_t value, bool constants)
{
	if (constants && (!value || value == UINT64_MAX || kind == 'c'))
		return CLASS_CONSTANT;
	if (kind == 'b')
		return CLASS_BREAK;
	if (kind == 'a')
		return is_page_aligned(value) ? CLASS_ADDR_PAGES : CLASS_ADDR_BYTES;
	if (kind == 'l' && is_page_aligned(value))
		return CLASS_PAGES;
	return (int64_t)value < 0 ? CLASS_SIGNED : CLASS_VALUE;
}

static enum data_class result_class(const struct event *event, bool constants)
{
	bool is_errno = event->result < 0 && event->result >= -4095;

	if (constants && (!event->result || is_errno))
		return CLASS_CONSTANT;
	if (is_errno || !trace_call_gives_address(event->call))
		return CLASS_SIGNED;
	if ((uint64_t)event->result == event->arg[0])
		return CLASS_FIRST;
	if (event->call == TRACE_CALL_brk)
		return CLASS_BREAK;
	return is_page_aligned((uint64_t)event->result) ? CLASS_ADDR_PAGES : CLASS_ADDR_BYTES;
}

static void find_shape(const struct event *event, bool constants, struct call_shape *shape)
{
	bool touch = event->kind == EVENT_TOUCH;
	const char *kinds = touch ? "aa" : argument_kinds[event->call];
	int nr_args = touch ? 2 : trace_call_args(event->call);
	unsigned int at = 0;

	for (int i = 0; i < nr_args; i++, at++) {
		shape->value[at] = event->arg[i];
		shape->class[at] = (uint8_t)argument_class(kinds[i], event->arg[i], constants);
	}
	shape->value[at] = (uint64_t)event->result;
	shape->class[at++] = (uint8_t)result_class(event, constants);
	shape->value[at] = event->file;
	shape->class[at++] = event->file ? CLASS_FILE : CLASS_CONSTANT;
	shape->value[at] = event->stack;
	shape->class[at++] = event->stack ? CLASS_VALUE : CLASS_CONSTANT;
	shape->nr_fields = at;
}

static uint32_t shape_number(struct data_writer *writer, const struct event *event,
			     const struct call_shape *shape)
{
	const char *name = event->kind == EVENT_TOUCH ? DATA_TOUCH_SHAPE
						      : trace_call_name(event->call);
	size_t len = strlen(name);
	uint8_t *at = writer_scratch(writer, len + (3 + 2 * DATA_MAX_FIELDS) * VARINT_MAX);

	if (!at)
		return 0;
	at = put_text(at, name, len);
	at = varint_put(at, event->flags);
	at = varint_put(at, shape->nr_fields);
	for (unsigned int i = 0; i < shape->nr_fields; i++) {
		at = varint_put(at, shape->class[i]);
		if (shape->class[i] == CLASS_CONSTANT)
			at = varint_put(at, zigzag((int64_t)shape->value[i]));
	}
	buf_end(&writer->scratch, at);
	return writer_intern(writer, &writer->shapes, RECORD_SHAPE);
}

static struct thread_state *state_in_block(struct data_writer *writer, uint32_t thread)
{
	struct thread_state *state = &writer->thread_states[thread];

	if (state->block != writer->nr_blocks_begun)
		*state = (struct thread_state) { .block = writer->nr_blocks_begun };
	return state;
}

/* The difference to *last, which then is @value. */
static uint8_t *put_from_last(uint8_t *to, uint64_t value, uint64_t *last, unsigned int shift)
{
	int64_t delta = (int64_t)((value >> shift) - (*last >> shift));

	*last = value;
	return varint_put(to, zigzag(delta));
}

static uint8_t *put_file_field(uint8_t *to, uint64_t file, struct block *block)
{
	int64_t delta = (int64_t)file - block->last_file;

	block->last_file = (uint32_t)file;
	return varint_put(to, zigzag(delta));
}

static uint8_t *put_field(uint8_t *to, enum data_class class, uint64_t value,
			  struct thread_state *state, struct block *block)
{
	switch (class) {
	case CLASS_VALUE:
		return varint_put(to, value);
	case CLASS_SIGNED:
		return varint_put(to, zigzag((int64_t)value));
	case CLASS_ADDR_PAGES:
		return put_from_last(to, value, &state->last_addr, DATA_UNIT_SHIFT);
	case CLASS_ADDR_BYTES:
		return put_from_last(to, value, &state->last_addr, 0);
	case CLASS_BREAK:
		return put_from_last(to, value, &state->last_break, 0);
	case CLASS_PAGES:
		return varint_put(to, value >> DATA_UNIT_SHIFT);
	case CLASS_FILE:
		return put_file_field(to, value, block);
	case CLASS_CONSTANT:
	case CLASS_FIRST:
	case NR_CLASSES:
		break;
	}
	return to;
}

/*
 * When the event was entered, from the end of the one before, and how long it took. What rounding
 * takes from one is given to the next: no error adds up.
 */
static uint8_t *put_times(uint8_t *to, struct data_writer *writer, const struct event *event)
{
	struct block *block = writer->current;
	int64_t gap = (int64_t)(event->time_ns / writer->tick_ns - block->last_tick);
	uint64_t gap_code = span_code((uint64_t)(gap < 0 ? -gap : gap));
	uint64_t duration_code = span_code(event->duration_ns / writer->tick_ns);

	block->last_tick += (gap < 0 ? -span_value(gap_code) : span_value(gap_code)) +
			    span_value(duration_code);
	return varint_put(varint_put(to, gap_code << 1 | (gap < 0)), duration_code);
}

static int append_call(struct data_writer *writer, const struct event *event, uint32_t thread)
{
	struct block *block = writer->current;
	struct thread_state *state;
	struct call_shape shape;
	uint32_t number;
	uint8_t *at;

	find_shape(event, writer->shapes.nr_entries < MAX_CONSTANT_SHAPES, &shape);
	number = shape_number(writer, event, &shape);
	at = buf_reserve(&block->events, (4 + DATA_MAX_FIELDS) * VARINT_MAX);
	if (!number || !at)
		return -ENOMEM;
	at = varint_put(at,
			(uint64_t)number << 2 | (uint64_t)(thread != writer->last_thread) << 1 | 1);
	if (thread != writer->last_thread)
		at = varint_put(at, thread);
	writer->last_thread = thread;
	at = put_times(at, writer, event);
	state = state_in_block(writer, thread);
	for (unsigned int i = 0; i < shape.nr_fields; i++)
		at = put_field(at, shape.class[i], shape.value[i], state, block);
	buf_end(&block->events, at);
	if (event->kind == EVENT_CALL) {
		block->nr_calls++;
		writer->nr_calls++;
	}
	return 0;
}

/* @last_file: the last file before that is one. */
static uint8_t *put_area(uint8_t *to, const struct seam_area *area, const struct seam_area *before,
			 uint32_t *last_file)
{
	uint64_t start = area->start >> DATA_UNIT_SHIFT,
		 before_end = before->end >> DATA_UNIT_SHIFT;
	uint64_t before_pages = before_end - (before->start >> DATA_UNIT_SHIFT);
	uint64_t expected = area->file && area->file == before->file ? before->pgoff + before_pages
								     : 0;
	unsigned int mask = 0;

	mask |= start != before_end ? AREA_GAP : 0;
	mask |= area->flags != before->flags ? AREA_FLAGS : 0;
	mask |= area->file != before->file ? AREA_FILE : 0;
	mask |= area->pgoff != expected ? AREA_PGOFF : 0;
	mask |= area->anon_vma || area->anon_chain ? AREA_ANON : 0;
	mask |= area->numa || area->uffd || area->name || area->traits ? AREA_IDS : 0;
	mask |= area->tag ? AREA_TAG : 0;
	to = varint_put(to, mask);
	to = varint_put(to, (area->end >> DATA_UNIT_SHIFT) - start);
	if (mask & AREA_GAP)
		to = varint_put(to, zigzag((int64_t)(start - before_end)));
	if (mask & AREA_FLAGS)
		to = varint_put(to, area->flags);
	if (mask & AREA_FILE)
		to = varint_put(to, area->file ? 1 + zigzag((int64_t)area->file - *last_file) : 0);
	if (area->file)
		*last_file = area->file;
	if (mask & AREA_PGOFF)
		to = varint_put(to, zigzag((int64_t)(area->pgoff - expected)));
	if (mask & AREA_ANON)
		to = varint_put(varint_put(to, area->anon_vma), area->anon_chain);
	if (mask & AREA_IDS) {
		to = varint_put(varint_put(to, area->numa), area->uffd);
		to = varint_put(varint_put(to, area->name), area->traits);
	}
	if (mask & AREA_TAG)
		to = varint_put(to, area->tag);
	return to;
}
#define AREA_MAX_SIZE (13 * VARINT_MAX)

static int append_areas(struct data_writer *writer, const struct event *event)
{
	struct buf *body = &writer->scratch;
	const struct seam_area *before = &(const struct seam_area) { 0 };
	uint32_t last_file = 0;
	uint8_t *at = buf_reserve(body, 2 * VARINT_MAX);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, event->sees);
	buf_end(body, varint_put(at, event->nr_areas));
	for (size_t i = 0; i < event->nr_areas; i++) {
		at = buf_reserve(body, AREA_MAX_SIZE);
		if (!at)
			return -ENOMEM;
		buf_end(body, put_area(at, &event->areas[i], before, &last_file));
		before = &event->areas[i];
	}
	return 0;
}

static unsigned int nr_args_set(const struct event *event)
{
	unsigned int nr = 6;

	while (nr && !event->arg[nr - 1])
		nr--;
	return nr;
}

static unsigned int event_mask(const struct event *event)
{
	unsigned int mask = 0;

	mask |= event->flags ? HAS_FLAGS : 0;
	mask |= event->born ? HAS_BORN : 0;
	mask |= nr_args_set(event) ? HAS_ARGS : 0;
	mask |= event->result ? HAS_RESULT : 0;
	mask |= event->file ? HAS_FILE : 0;
	mask |= event->stack ? HAS_STACK : 0;
	mask |= event->nr_areas || event->sees ? HAS_AREAS : 0;
	mask |= event->text ? HAS_TEXT : 0;
	return mask;
}

static int encode_event(struct data_writer *writer, const struct event *event, uint32_t thread)
{
	unsigned int mask = event_mask(event), nr_args = nr_args_set(event);
	size_t len = event->text ? strlen(event->text) : 0;
	uint8_t *at = writer_scratch(writer, 20 * VARINT_MAX);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, mask);
	at = put_times(at, writer, event);
	at = varint_put(at, thread);
	if (mask & HAS_FLAGS)
		at = varint_put(at, event->flags);
	if (mask & HAS_BORN)
		at = varint_put(at, event->born);
	if (mask & HAS_ARGS) {
		at = varint_put(at, nr_args);
		for (unsigned int i = 0; i < nr_args; i++)
			at = varint_put(at, event->arg[i]);
	}
	if (mask & HAS_RESULT)
		at = varint_put(at, zigzag(event->result));
	if (mask & HAS_FILE)
		at = varint_put(at, event->file);
	if (mask & HAS_STACK)
		at = varint_put(at, event->stack);
	buf_end(&writer->scratch, at);
	if (mask & HAS_AREAS && append_areas(writer, event))
		return -ENOMEM;
	if (mask & HAS_TEXT) {
		at = buf_reserve(&writer->scratch, VARINT_MAX + len);
		if (!at)
			return -ENOMEM;
		buf_end(&writer->scratch, put_text(at, event->text, len));
	}
	return 0;
}

/* A touch that says no more than its range has the form of a call. */
static bool is_plain_touch(const struct event *event)
{
	return event->kind == EVENT_TOUCH && !event->nr_areas && !event->sees && !event->text &&
	       !event->born && !event->arg[2] && !event->arg[3] && !event->arg[4] && !event->arg[5];
}

static int append_event(struct data_writer *writer, const struct event *event, uint32_t thread)
{
	struct event lost = { .kind = EVENT_LOST,
			      .space = event->space,
			      .pid = event->pid,
			      .tid = event->tid,
			      .time_ns = event->time_ns,
			      .arg = { 1 },
			      .text = "a map of too many areas" };
	bool fits = event->nr_areas <= DATA_MAX_AREAS;
	int err;

	err = encode_event(writer, fits ? event : &lost, thread);
	if (!err && writer->scratch.size > DATA_BLOCK_MAX / 2) {
		fits = false;
		err = encode_event(writer, &lost, thread);
	}
	return err ? err
		   : buf_append_record(&writer->current->events,
				       RECORD_EVENT + (fits ? event->kind : EVENT_LOST),
				       &writer->scratch);
}

int writer_append(struct data_writer *writer, const struct event *event, uint32_t thread)
{
	if (event->kind == EVENT_CALL || is_plain_touch(event))
		return append_call(writer, event, thread);
	return append_event(writer, event, thread);
}
