/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/data_reader.h - the parts of the reader of seam.data: data_read.c has blocks and the
 * interface, data_read_dictionary.c what events name, data_read_event.c the events.
 */
#ifndef TRACE_DATA_READER_H
#define TRACE_DATA_READER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/compress.h"
#include "trace/data.h"
#include "trace/data_format.h"

struct shape {
	struct event event; /* constants filled in */
	uint8_t nr_fields;  /* that have a varint, and CLASS_FIRST */
	uint8_t class[DATA_MAX_FIELDS];
	uint8_t to[DATA_MAX_FIELDS]; /* enum field */
	bool known;		     /* else its varints are skipped */
};

/* Where a field of a call goes: argument 0 to 5, or */
enum field { FIELD_RESULT = 6, FIELD_FILE, FIELD_STACK };

/* A call stack: the number of its innermost frame, and of the stack that called it. */
struct stack {
	uint32_t frame, outer; /* outer is less than its own number */
};

struct thread {
	uint32_t space, pid, tid;
	uint64_t last_addr, last_break;
	uint64_t block; /* for which they hold */
};

struct file_entry {
	struct trace_file file;
	bool shares_path; /* with an earlier one */
};

struct data_reader {
	const uint8_t *data;
	size_t size, at; /* the next block */
	struct trace_facts *facts;
	uint32_t tick_ns, unit_shift;
	uint32_t block_number, nr_dictionaries;
	bool finished; /* the closing record was met */
	bool newer;    /* something unknown was skipped */

	struct decompressor *decompressor;
	uint8_t *raw;
	size_t raw_room;
	const uint8_t *cursor, *end; /* of the events block being read; NULL: none */
	uint64_t last_tick;
	uint32_t last_thread, last_file;

	struct shape *shapes; /* [number], from 1, as with all that follow */
	struct thread *threads;
	struct file_entry *files;
	uint64_t last_description;
	struct trace_module *modules;
	struct trace_frame *frames;
	struct stack *stacks;
	uint32_t nr_shapes, nr_threads, nr_files, nr_modules, nr_frames, nr_stacks;
	uint64_t dictionary_bytes;

	struct seam_area *areas;
	size_t areas_room;
	char *text;
	size_t text_room;
	struct trace_stack stack; /* the last that was asked for */
	struct trace_frame stack_frames[DATA_MAX_FRAMES];
};

/* The present block is damaged: @what. -EINVAL. */
int reader_refuse(const struct data_reader *reader, struct trace_error *error, const char *what);
/* data_read_dictionary.c: the records [at, end) of a dictionary. 0, -EINVAL or -ENOMEM. */
int reader_dictionary(struct data_reader *reader, const uint8_t *at, const uint8_t *end,
		      struct trace_error *error);
/* Goes on to the next block of events. 1; 0 at the end; -EINVAL; -ENOMEM. */
int reader_next_block(struct data_reader *reader, struct trace_error *error);

/* A length and that many bytes inside [*at, end). NULL: they are not all there. */
static inline const uint8_t *get_bytes(const uint8_t **at, const uint8_t *end, uint64_t *ret_size)
{
	const uint8_t *bytes;

	*ret_size = varint_get(at);
	if (*at > end || *ret_size > (uint64_t)(end - *at))
		return NULL;
	bytes = *at;
	*at += *ret_size;
	return bytes;
}

static inline void set_field(struct event *event, unsigned int field, uint64_t value)
{
	if (field < FIELD_RESULT)
		event->arg[field] = value;
	else if (field == FIELD_RESULT)
		event->result = (int64_t)value;
	else if (field == FIELD_FILE)
		event->file = (uint32_t)value;
	else
		event->stack = (uint32_t)value;
}

#endif
