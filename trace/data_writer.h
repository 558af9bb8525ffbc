/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/data_writer.h - the parts of the writer of seam.data: data_write.c is its interface,
 * data_write_block.c the thread that writes blocks, data_write_dictionary.c gives numbers to what
 * events name, data_write_event.c encodes events.
 */
#ifndef TRACE_DATA_WRITER_H
#define TRACE_DATA_WRITER_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "trace/compress.h"
#include "trace/data.h"
#include "trace/data_format.h"
#include "trace/intern.h"

struct buf {
	uint8_t *data;
	size_t size, room;
};

struct block {
	struct buf dictionary, events;
	uint32_t nr_calls;
	bool is_last;
	uint64_t last_tick; /* as a reader has it */
	uint32_t last_file;
};

/* Where the addresses of a thread are counted from; begins anew in each block. */
struct thread_state {
	uint64_t last_addr, last_break;
	uint64_t block; /* for which they hold */
};

struct data_writer {
	int fd;
	uint32_t tick_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	bool closing;
	bool has_changed; /* the current block, since it was written */
	bool is_idle;	  /* the writing thread has nothing to do until that is so */
	int err;

	struct block blocks[2], *current, *pending; /* pending: NULL when there is none */
	uint64_t nr_blocks_begun;
	struct intern files, paths, modules, frames, stacks, threads, shapes;
	uint32_t *first_files; /* [number of path]: the first file that has it */
	uint32_t nr_first_files;
	uint64_t last_description;
	uint32_t last_pid, last_space; /* of the last thread that was told */
	struct thread_state *thread_states;
	uint32_t nr_thread_states;
	uint32_t last_thread; /* number; 0 at the begin of a block */
	struct {
		uint32_t pid, tid, space, number;
	} recent; /* the last thread looked up */
	struct buf scratch;
	uint64_t nr_calls, nr_events;

	/* the writing thread's */
	struct compressor *compressor;
	struct buf raw, out;
	uint32_t block_number, nr_dictionaries;
	bool is_stream;	  /* cannot be written over */
	uint64_t bytes;	  /* of whole blocks and what stands before them */
	off_t begin;	  /* where they begin in the file */
	size_t drafted;	  /* bytes of the draft, or of an earlier file, behind them */
	uint64_t last_ms; /* when a block was last written */
};

/* Room for @more bytes behind buf->size; NULL when there is no memory. */
static inline uint8_t *buf_reserve(struct buf *buf, size_t more)
{
	size_t room = buf->room ? buf->room : 4096;
	uint8_t *data;

	if (buf->room - buf->size >= more)
		return buf->data + buf->size;
	while (room - buf->size < more)
		room *= 2;
	data = realloc(buf->data, room);
	if (!data)
		return NULL;
	buf->data = data;
	buf->room = room;
	return data + buf->size;
}

static inline void buf_end(struct buf *buf, const uint8_t *end)
{
	buf->size = (size_t)(end - buf->data);
}

static inline uint8_t *put_bytes(uint8_t *to, const void *bytes, size_t size)
{
	memcpy(to, bytes, size);
	return to + size;
}

static inline uint8_t *put_text(uint8_t *to, const char *text, size_t len)
{
	return put_bytes(varint_put(to, len), text, len);
}

static inline bool block_is_empty(const struct block *block)
{
	return !block->events.size && !block->dictionary.size;
}

/* data_write_block.c */

/* The writing thread, until the writer closes. */
void *writer_run(void *writer);
/* Makes the current block the pending one. The lock is held and nothing is pending. */
void writer_hand_over(struct data_writer *writer);
/* 0 or -errno. */
int writer_write_all(int fd, const uint8_t *data, size_t size);
/* The same, into a file. */
int writer_write_at(const struct data_writer *writer, const uint8_t *data, size_t size, off_t at);

/* data_write_dictionary.c */

/* A record with its length: what @body holds. -ENOMEM. */
int buf_append_record(struct buf *buf, unsigned int kind, const struct buf *body);
/* An empty scratch with room for @more; NULL, and the error set, without memory. */
uint8_t *writer_scratch(struct data_writer *writer, size_t more);
/*
 * The number of the record body in scratch, which goes into the dictionary when it is new; 0 without
 * memory.
 */
uint32_t writer_intern(struct data_writer *writer, struct intern *intern, enum data_record kind);
/* The number of the event's thread; 0 without memory. */
uint32_t writer_thread_number(struct data_writer *writer, const struct event *event);

/* data_write_event.c: the event's record behind those of the current block. 0 or -ENOMEM. */
int writer_append(struct data_writer *writer, const struct event *event, uint32_t thread);

#endif
