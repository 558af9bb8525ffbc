/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing seam.data (docs/file-format.md).
 *
 * Events are encoded into the current block under a lock. A block that is full is handed to the
 * writing thread, which compresses and writes it. What a block's events name (threads, shapes, files,
 * stacks) stands before them in the same block. So that a recorder that is killed leaves what it saw,
 * a block that is not full yet is written as well, from time to time, and then written over; where
 * that cannot be (a pipe), it is ended after a second.
 */
#include "trace/data.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/compress.h"
#include "trace/crc32c.h"
#include "trace/data_format.h"
#include "trace/intern.h"

#define DRAFT_MS 100 /* from one writing of a block that is not full to the next */
#define STREAM_MS 1000
#define MAX_CONSTANT_SHAPES 4096 /* from then on a call's flags are stored with each call */

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
	size_t drafted;	  /* bytes of the draft behind them */
	uint64_t last_ms; /* when a block was last written */
};

/* Room for @more bytes behind buf->size; NULL when there is no memory. */
static uint8_t *buf_reserve(struct buf *buf, size_t more)
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

static void buf_end(struct buf *buf, const uint8_t *end)
{
	buf->size = (size_t)(end - buf->data);
}

static uint8_t *put_bytes(uint8_t *to, const void *bytes, size_t size)
{
	memcpy(to, bytes, size);
	return to + size;
}

/* A record with its length: what scratch holds. */
static int append_record(struct buf *buf, unsigned int kind, const struct buf *body)
{
	uint8_t *at = buf_reserve(buf, 2 * VARINT_MAX + body->size);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, (uint64_t)kind << 1);
	at = varint_put(at, body->size);
	buf_end(buf, put_bytes(at, body->data, body->size));
	return 0;
}

/* ---- the writing thread ---- */

static int write_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		size -= (size_t)done;
	}
	return 0;
}

static int write_all_at(struct data_writer *writer, const uint8_t *data, size_t size, off_t at)
{
	while (size) {
		ssize_t done = pwrite(writer->fd, data, size, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

/*
 * Writes a block over the draft of it. First what the draft does not reach to: when there is no room
 * for that, the draft stays good.
 */
static int write_over(struct data_writer *writer, const uint8_t *data, size_t size)
{
	size_t over = size < writer->drafted ? size : writer->drafted;
	off_t at = writer->begin + (off_t)writer->bytes;
	int err = write_all_at(writer, data + over, size - over, at + (off_t)over);

	if (!err)
		err = write_all_at(writer, data, over, at);
	if (!err && size < writer->drafted && ftruncate(writer->fd, at + (off_t)size))
		err = -errno;
	return err;
}

/* Makes writer->out the whole block of what stands in writer->raw. */
static int pack_block(struct data_writer *writer, enum block_kind kind, uint32_t nr_calls,
		      bool is_last)
{
	const struct buf *raw = &writer->raw;
	size_t bound = compress_bound(raw->size), stored;
	enum block_codec codec = CODEC_ZSTD;
	uint8_t *header, *payload;

	writer->out.size = 0;
	header = buf_reserve(&writer->out, BLOCK_SIZE + bound);
	if (!header)
		return -ENOMEM;
	payload = header + BLOCK_SIZE;
	stored = block_compress(writer->compressor, payload, bound, raw->data, raw->size, is_last);
	if (!stored) {
		codec = CODEC_STORED;
		stored = raw->size;
		memcpy(payload, raw->data, raw->size);
	}
	put_le32(header + BLOCK_MAGIC, DATA_BLOCK_MAGIC);
	header[BLOCK_KIND] = (uint8_t)kind;
	header[BLOCK_CODEC] = (uint8_t)codec;
	put_le16(header + BLOCK_HEADER_SIZE, BLOCK_SIZE);
	put_le32(header + BLOCK_STORED, (uint32_t)stored);
	put_le32(header + BLOCK_RAW, (uint32_t)raw->size);
	put_le32(header + BLOCK_NUMBER, writer->block_number);
	put_le32(header + BLOCK_DICTIONARIES, writer->nr_dictionaries);
	put_le32(header + BLOCK_CALLS, nr_calls);
	put_le32(header + BLOCK_CRC,
		 crc32c(0, header + BLOCK_KIND, BLOCK_SIZE - BLOCK_KIND + stored));
	buf_end(&writer->out, payload + stored);
	return 0;
}

static enum block_kind kind_of(const struct block *block)
{
	return (block->dictionary.size ? BLOCK_DICTIONARY : 0) |
	       (block->events.size ? BLOCK_EVENTS : 0);
}

/* Puts the parts of @block together in writer->raw: names before the events that use them. */
static int join_parts(struct data_writer *writer, const struct block *block)
{
	const struct buf *dictionary = &block->dictionary, *events = &block->events;
	uint8_t *at;

	writer->raw.size = 0;
	at = buf_reserve(&writer->raw, VARINT_MAX + dictionary->size + events->size);
	if (!at)
		return -ENOMEM;
	if (kind_of(block) == BLOCK_BOTH)
		at = varint_put(at, dictionary->size);
	if (dictionary->size)
		at = put_bytes(at, dictionary->data, dictionary->size);
	if (events->size)
		at = put_bytes(at, events->data, events->size);
	buf_end(&writer->raw, at);
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The pending block, for good. */
static int write_pending(struct data_writer *writer)
{
	const struct block *block = writer->pending;
	const struct buf *out = &writer->out;
	int err = join_parts(writer, block);

	if (!err)
		err = pack_block(writer, kind_of(block), block->nr_calls, block->is_last);
	if (err)
		return err;
	err = writer->is_stream ? write_all(writer->fd, out->data, out->size)
				: write_over(writer, out->data, out->size);
	if (err)
		return err;
	writer->bytes += out->size;
	writer->drafted = 0;
	writer->block_number++;
	writer->nr_dictionaries += kind_of(block) & BLOCK_DICTIONARY ? 1 : 0;
	writer->last_ms = now_ms();
	return 0;
}

static bool block_is_empty(const struct block *block)
{
	return !block->events.size && !block->dictionary.size;
}

/* Makes the current block the pending one. The lock is held and nothing is pending. */
static void hand_over(struct data_writer *writer)
{
	struct block *next = writer->current == writer->blocks ? &writer->blocks[1]
							       : &writer->blocks[0];

	writer->pending = writer->current;
	writer->pending->is_last = writer->closing;
	next->dictionary.size = next->events.size = 0;
	next->nr_calls = 0;
	writer->current = next;
	writer->has_changed = false;
}

/*
 * Writes the current block as it is by now. The lock is held, but not while it is compressed and
 * written: another one may be handed over meanwhile, and waits.
 */
static int write_draft(struct data_writer *writer)
{
	enum block_kind kind = kind_of(writer->current);
	uint32_t nr_calls = writer->current->nr_calls;
	int err = join_parts(writer, writer->current);

	writer->has_changed = false;
	pthread_mutex_unlock(&writer->lock);
	if (!err)
		err = pack_block(writer, kind, nr_calls, false);
	if (!err)
		err = write_over(writer, writer->out.data, writer->out.size);
	if (!err)
		writer->drafted = writer->out.size;
	writer->last_ms = now_ms();
	pthread_mutex_lock(&writer->lock);
	return err;
}

static uint64_t due_ms(const struct data_writer *writer)
{
	return writer->last_ms + (writer->is_stream ? STREAM_MS : DRAFT_MS);
}

/* Until there is a block to write, or it is time for what is new. The lock is held. */
static void wait_for_work(struct data_writer *writer)
{
	struct timespec until = { .tv_sec = (time_t)(due_ms(writer) / 1000),
				  .tv_nsec = (long)(due_ms(writer) % 1000) * 1000000 };

	if (writer->has_changed && !writer->err)
		pthread_cond_timedwait(&writer->work, &writer->lock, &until);
	else
		pthread_cond_wait(&writer->work, &writer->lock);
}

/* The first event is written at once: last_ms is 0. */
static bool is_time(const struct data_writer *writer)
{
	return writer->has_changed && !writer->err && now_ms() >= due_ms(writer);
}

/* Gives the next block to write, if there is one, or writes a draft. The lock is held. */
static int look_for_work(struct data_writer *writer)
{
	if (!writer->pending && !writer->closing && !is_time(writer))
		wait_for_work(writer);
	if (writer->pending || block_is_empty(writer->current))
		return 0;
	if (writer->closing || (writer->is_stream && is_time(writer)))
		hand_over(writer);
	else if (is_time(writer))
		return write_draft(writer);
	return 0;
}

static void *writing_thread(void *arg)
{
	struct data_writer *writer = arg;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		int err = look_for_work(writer);

		if (!writer->err)
			writer->err = err;
		err = writer->err;
		if (!writer->pending && writer->closing)
			break;
		if (!writer->pending)
			continue;
		pthread_mutex_unlock(&writer->lock);
		if (!err)
			err = write_pending(writer);
		pthread_mutex_lock(&writer->lock);
		if (!writer->err)
			writer->err = err;
		writer->pending = NULL;
		pthread_cond_signal(&writer->done);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* ---- dictionaries ---- */

/* The number of the record body in scratch, which goes into the dictionary when it is new. */
static uint32_t intern_scratch(struct data_writer *writer, struct intern *intern,
			       enum data_record kind)
{
	struct buf *dictionary = &writer->current->dictionary;
	uint32_t number;
	bool is_new;

	number = intern_number(intern, writer->scratch.data, writer->scratch.size, DATA_MAX_NUMBERS,
			       &is_new);
	if (!number || (is_new && append_record(dictionary, kind, &writer->scratch))) {
		if (!writer->err)
			writer->err = -ENOMEM;
		return 0;
	}
	return number;
}

/* An empty scratch with room for @more; NULL, and the error set, without memory. */
static uint8_t *begin_scratch(struct data_writer *writer, size_t more)
{
	uint8_t *at;

	writer->scratch.size = 0;
	at = buf_reserve(&writer->scratch, more);
	if (!at && !writer->err)
		writer->err = -ENOMEM;
	return at;
}

static uint8_t *put_text(uint8_t *to, const char *text, size_t len)
{
	return put_bytes(varint_put(to, len), text, len);
}

/* What the descriptions of one file have in common, in scratch. */
static int put_file(struct data_writer *writer, const struct trace_file *file)
{
	size_t len = strlen(file->path);
	uint8_t *at = begin_scratch(writer, 5 * VARINT_MAX + len);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, file->known);
	at = varint_put(at, file->traits);
	at = varint_put(at, file->dev);
	at = varint_put(at, file->ino);
	buf_end(&writer->scratch, put_text(at, file->path, len));
	return 0;
}

/* The first file with the same device, inode, path and traits, which @number is from now on if new. */
static int first_file(struct data_writer *writer, uint32_t number, uint32_t *ret_first)
{
	bool is_new;
	uint32_t path = intern_number(&writer->paths, writer->scratch.data, writer->scratch.size,
				      DATA_MAX_NUMBERS, &is_new);

	if (!path)
		return -ENOMEM;
	if (path >= writer->nr_first_files) {
		uint32_t room = 2 * path + 64;
		uint32_t *firsts = reallocarray(writer->first_files, room, sizeof(*firsts));

		if (!firsts)
			return -ENOMEM;
		writer->first_files = firsts;
		writer->nr_first_files = room;
	}
	if (is_new)
		writer->first_files[path] = number;
	*ret_first = writer->first_files[path];
	return 0;
}

static uint8_t *put_description(struct data_writer *writer, uint8_t *to, uint64_t description)
{
	int64_t delta = (int64_t)(description - writer->last_description);

	writer->last_description = description;
	return varint_put(to, zigzag(delta));
}

/* Scratch has what it shares with others. */
static int append_file(struct data_writer *writer, const struct trace_file *file, uint32_t number)
{
	struct buf *scratch = &writer->scratch;
	uint32_t first;
	uint8_t *at;

	if (first_file(writer, number, &first))
		return -ENOMEM;
	if (first != number)
		scratch->size = 0;
	at = buf_reserve(scratch, 2 * VARINT_MAX);
	if (!at)
		return -ENOMEM;
	if (first != number)
		at = varint_put(at, number - first);
	buf_end(scratch, put_description(writer, at, file->description));
	return append_record(&writer->current->dictionary,
			     first == number ? RECORD_FILE : RECORD_FILE_AGAIN, scratch);
}

static uint32_t file_number(struct data_writer *writer, const struct trace_file *file)
{
	struct buf *scratch = &writer->scratch;
	size_t shared;
	uint32_t number;
	uint8_t *at;
	bool is_new;

	if (put_file(writer, file))
		return 0;
	shared = scratch->size;
	at = buf_reserve(scratch, VARINT_MAX);
	if (!at)
		return 0;
	buf_end(scratch, varint_put(at, file->description));
	number = intern_number(&writer->files, scratch->data, scratch->size, DATA_MAX_NUMBERS,
			       &is_new);
	scratch->size = shared;
	return number && is_new && append_file(writer, file, number) ? 0 : number;
}

uint32_t data_write_file(struct data_writer *writer, const struct trace_file *file)
{
	uint32_t number;

	pthread_mutex_lock(&writer->lock);
	number = file_number(writer, file);
	if (!number && !writer->err)
		writer->err = -ENOMEM;
	pthread_mutex_unlock(&writer->lock);
	return number;
}

uint32_t data_write_module(struct data_writer *writer, const struct trace_module *module)
{
	size_t len = strlen(module->path);
	uint32_t number = 0;
	uint8_t *at;

	pthread_mutex_lock(&writer->lock);
	at = begin_scratch(writer, 2 * VARINT_MAX + len + sizeof(module->build_id));
	if (at) {
		at = put_text(at, module->path, len);
		at = put_text(at, (const char *)module->build_id, module->build_id_size);
		buf_end(&writer->scratch, at);
		number = intern_scratch(writer, &writer->modules, RECORD_MODULE);
	}
	pthread_mutex_unlock(&writer->lock);
	return number;
}

static uint32_t frame_number(struct data_writer *writer, const struct trace_frame *frame)
{
	uint8_t *at = begin_scratch(writer, 2 * VARINT_MAX);

	if (!at)
		return 0;
	at = varint_put(at, frame->module);
	buf_end(&writer->scratch, varint_put(at, frame->offset));
	return intern_scratch(writer, &writer->frames, RECORD_FRAME);
}

/*
 * A stack is its innermost frame and the stack of the rest. What many stacks have in common is
 * written once; the new ones of one call of data_write_stack, each within the one before, make up
 * one record.
 */
static uint32_t stack_number(struct data_writer *writer, uint32_t outer, uint32_t frame,
			     bool *ret_new)
{
	const uint32_t key[2] = { outer, frame };

	return intern_number(&writer->stacks, key, sizeof(key), DATA_MAX_NUMBERS, ret_new);
}

static int write_new_stacks(struct data_writer *writer, uint32_t outer, const uint32_t *frames,
			    uint32_t nr)
{
	uint32_t first = writer->stacks.nr_entries - nr + 1;
	uint8_t *at = begin_scratch(writer, (1 + (size_t)nr) * VARINT_MAX);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, first - outer);
	for (uint32_t i = 0; i < nr; i++)
		at = varint_put(at, frames[i]);
	buf_end(&writer->scratch, at);
	return append_record(&writer->current->dictionary, RECORD_STACK, &writer->scratch);
}

static uint32_t add_stack(struct data_writer *writer, const struct trace_stack *stack)
{
	uint32_t nr = stack->nr_frames < DATA_MAX_FRAMES ? stack->nr_frames : DATA_MAX_FRAMES;
	uint32_t frames[DATA_MAX_FRAMES], number = 0, known = 0, nr_new = 0;

	for (uint32_t i = nr; i; i--) {
		uint32_t frame = frame_number(writer, &stack->frames[i - 1]);
		bool is_new = false;

		if (frame)
			number = stack_number(writer, number, frame, &is_new);
		if (!frame || !number)
			return 0;
		if (is_new)
			frames[nr_new++] = frame;
		else
			known = number;
	}
	return nr_new && write_new_stacks(writer, known, frames, nr_new) ? 0 : number;
}

uint32_t data_write_stack(struct data_writer *writer, const struct trace_stack *stack)
{
	uint32_t number;

	pthread_mutex_lock(&writer->lock);
	number = add_stack(writer, stack);
	if (!number && stack->nr_frames && !writer->err)
		writer->err = -ENOMEM;
	pthread_mutex_unlock(&writer->lock);
	return number;
}

static int grow_thread_states(struct data_writer *writer, uint32_t number)
{
	uint32_t room = writer->nr_thread_states ? writer->nr_thread_states : 64;
	struct thread_state *states;

	if (number < writer->nr_thread_states)
		return 0;
	while (room <= number)
		room *= 2;
	states = reallocarray(writer->thread_states, room, sizeof(*states));
	if (!states)
		return -ENOMEM;
	memset(states + writer->nr_thread_states, 0,
	       (room - writer->nr_thread_states) * sizeof(*states));
	writer->thread_states = states;
	writer->nr_thread_states = room;
	return 0;
}

/* Told from the thread before, since numbers are given in order. */
static uint32_t new_thread_number(struct data_writer *writer, const struct event *event)
{
	const uint32_t key[3] = { event->space, event->pid, event->tid };
	uint8_t *at = begin_scratch(writer, 3 * VARINT_MAX);
	uint32_t number;
	bool is_new;

	if (!at)
		return 0;
	number = intern_number(&writer->threads, key, sizeof(key), DATA_MAX_NUMBERS, &is_new);
	if (!number || !is_new)
		return number;
	at = varint_put(at, zigzag((int64_t)event->space - writer->last_space));
	at = varint_put(at, zigzag((int64_t)event->pid - writer->last_pid));
	buf_end(&writer->scratch, varint_put(at, zigzag((int64_t)event->tid - event->pid)));
	writer->last_space = event->space;
	writer->last_pid = event->pid;
	return append_record(&writer->current->dictionary, RECORD_THREAD, &writer->scratch)
		       ? 0
		       : number;
}

static uint32_t thread_number(struct data_writer *writer, const struct event *event)
{
	if (writer->recent.number && writer->recent.tid == event->tid &&
	    writer->recent.pid == event->pid && writer->recent.space == event->space)
		return writer->recent.number;
	writer->recent.pid = event->pid;
	writer->recent.tid = event->tid;
	writer->recent.space = event->space;
	writer->recent.number = new_thread_number(writer, event);
	if (writer->recent.number && grow_thread_states(writer, writer->recent.number))
		writer->recent.number = 0;
	if (!writer->recent.number && !writer->err)
		writer->err = -ENOMEM;
	return writer->recent.number;
}

/* ---- calls ---- */

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

static bool gives_address(unsigned int call)
{
	return call == TRACE_CALL_mmap || call == TRACE_CALL_mremap || call == TRACE_CALL_brk ||
	       call == TRACE_CALL_shmat || call == TRACE_CALL_map_shadow_stack ||
	       call == TRACE_CALL_kmmap;
}

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
	if (is_errno || !gives_address(event->call))
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
	uint8_t *at = begin_scratch(writer, len + (3 + 2 * DATA_MAX_FIELDS) * VARINT_MAX);

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
	return intern_scratch(writer, &writer->shapes, RECORD_SHAPE);
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

/* ---- other events ---- */

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
	uint8_t *at = begin_scratch(writer, 20 * VARINT_MAX);

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
		   : append_record(&writer->current->events,
				   RECORD_EVENT + (fits ? event->kind : EVENT_LOST),
				   &writer->scratch);
}

/* ---- the interface ---- */

static int begin_events(struct data_writer *writer, const struct event *event)
{
	struct block *block = writer->current;
	uint8_t *at = buf_reserve(&block->events, VARINT_MAX);

	if (!at)
		return -ENOMEM;
	block->last_file = 0;
	block->last_tick = event->time_ns / writer->tick_ns;
	buf_end(&block->events, varint_put(at, block->last_tick));
	writer->last_thread = 0;
	writer->nr_blocks_begun++;
	return 0;
}

/* Hands the current block over, after waiting for the one before. The lock is held. */
static void end_block(struct data_writer *writer)
{
	while (writer->pending && !writer->err)
		pthread_cond_wait(&writer->done, &writer->lock);
	if (writer->pending) {
		writer->current->events.size = writer->current->dictionary.size = 0;
		return;
	}
	hand_over(writer);
	pthread_cond_signal(&writer->work);
}

int data_write(struct data_writer *writer, const struct event *event)
{
	uint32_t thread;
	int err = 0;

	pthread_mutex_lock(&writer->lock);
	if (!writer->err && !writer->current->events.size)
		err = begin_events(writer, event);
	if (!writer->err && !err) {
		thread = thread_number(writer, event);
		if (!thread)
			err = -ENOMEM;
		else if (event->kind == EVENT_CALL || is_plain_touch(event))
			err = append_call(writer, event, thread);
		else
			err = append_event(writer, event, thread);
		writer->nr_events++;
	}
	if (err && !writer->err)
		writer->err = err;
	if (!writer->has_changed)
		pthread_cond_signal(&writer->work);
	writer->has_changed = true;
	if (writer->current->events.size + writer->current->dictionary.size >= DATA_BLOCK_TARGET)
		end_block(writer);
	err = writer->err;
	pthread_mutex_unlock(&writer->lock);
	return err;
}

static int write_file_header(struct data_writer *writer)
{
	uint8_t header[DATA_HEADER_SIZE] = DATA_MAGIC;

	put_le16(header + 8, DATA_VERSION_MAJOR);
	put_le16(header + 10, DATA_VERSION_MINOR);
	put_le32(header + 12, DATA_HEADER_SIZE);
	put_le32(header + 16, writer->tick_ns);
	put_le32(header + 20, DATA_UNIT_SHIFT);
	writer->bytes = sizeof(header);
	return write_all(writer->fd, header, sizeof(header));
}

/* A pipe, or a file that is only added to, keeps what was written. */
static void find_begin(struct data_writer *writer)
{
	int flags = fcntl(writer->fd, F_GETFL);

	writer->begin = lseek(writer->fd, 0, SEEK_CUR);
	writer->is_stream = writer->begin < 0 || flags < 0 || flags & O_APPEND;
}

static uint8_t *put_fact(uint8_t *to, const char *key, uint64_t value)
{
	return varint_put(varint_put(put_text(to, key, strlen(key)), 0), value);
}

static uint8_t *put_text_fact(uint8_t *to, const char *key, const char *text)
{
	return put_text(varint_put(put_text(to, key, strlen(key)), 1), text, strlen(text));
}

static int append_host(struct data_writer *writer, const struct trace_host *host)
{
	uint8_t *at = begin_scratch(writer, 1024 + sizeof(*host));

	if (!at)
		return -ENOMEM;
	at = put_text_fact(at, "release", host->release);
	at = put_text_fact(at, "thp", host->thp);
	at = put_fact(at, "page_shift", host->page_shift);
	at = put_fact(at, "address_bits", host->address_bits);
	at = put_fact(at, "max_areas", host->max_areas);
	at = put_fact(at, "min_addr", host->min_addr);
	at = put_fact(at, "stack_gap", host->stack_gap);
	at = put_fact(at, "overcommit", host->overcommit);
	at = put_fact(at, "tells_touches", host->tells_touches);
	buf_end(&writer->scratch, at);
	return append_record(&writer->current->dictionary, RECORD_HOST, &writer->scratch);
}

static void free_writer(struct data_writer *writer)
{
	for (int i = 0; i < 2; i++) {
		free(writer->blocks[i].dictionary.data);
		free(writer->blocks[i].events.data);
	}
	intern_free(&writer->files);
	intern_free(&writer->paths);
	intern_free(&writer->modules);
	intern_free(&writer->frames);
	intern_free(&writer->stacks);
	intern_free(&writer->threads);
	intern_free(&writer->shapes);
	free(writer->thread_states);
	free(writer->scratch.data);
	free(writer->raw.data);
	free(writer->out.data);
	free(writer->first_files);
	compressor_free(writer->compressor);
	free(writer);
}

/* The program's signals, SIGPIPE among them, are no business of the writing thread. */
static int start_thread(struct data_writer *writer)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&writer->thread, NULL, writing_thread, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

int data_writer_open(int fd, const struct trace_host *host, uint32_t tick_ns,
		     struct data_writer **ret_writer)
{
	struct data_writer *writer = calloc(1, sizeof(*writer));
	pthread_condattr_t monotonic;
	int err;

	if (!writer)
		return -ENOMEM;
	writer->fd = fd;
	writer->tick_ns = tick_ns;
	writer->current = &writer->blocks[0];
	writer->compressor = compressor_new(); /* without one blocks are stored as they are */
	pthread_mutex_init(&writer->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->work, &monotonic);
	pthread_cond_init(&writer->done, NULL);
	pthread_condattr_destroy(&monotonic);
	find_begin(writer);
	err = append_host(writer, host);
	if (!err)
		err = write_file_header(writer);
	if (!err)
		err = start_thread(writer);
	if (err)
		goto fail;
	*ret_writer = writer;
	return 0;
fail:
	free_writer(writer);
	return err;
}

int data_writer_error(struct data_writer *writer)
{
	int err;

	pthread_mutex_lock(&writer->lock);
	err = writer->err;
	pthread_mutex_unlock(&writer->lock);
	return err;
}

static void append_finish(struct data_writer *writer)
{
	struct buf *events = &writer->current->events;
	uint8_t *at;

	if (!events->size && begin_events(writer, &(struct event) { 0 }))
		return;
	at = begin_scratch(writer, 2 * VARINT_MAX);
	if (!at)
		return;
	at = varint_put(at, writer->nr_calls);
	buf_end(&writer->scratch, varint_put(at, writer->nr_events));
	if (append_record(events, RECORD_FINISH, &writer->scratch) && !writer->err)
		writer->err = -ENOMEM;
}

int data_writer_close(struct data_writer *writer, uint64_t *ret_bytes)
{
	int err;

	pthread_mutex_lock(&writer->lock);
	if (!writer->err)
		append_finish(writer);
	writer->closing = true;
	pthread_cond_signal(&writer->work);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	err = writer->err;
	if (ret_bytes)
		*ret_bytes = writer->bytes;
	pthread_cond_destroy(&writer->work);
	pthread_cond_destroy(&writer->done);
	pthread_mutex_destroy(&writer->lock);
	free_writer(writer);
	return err;
}
