/* SPDX-License-Identifier: BSD-2-Clause */
/* What events name, by numbers: files, modules, call stacks, threads. */
#include <errno.h>

#include "trace/data_writer.h"

int buf_append_record(struct buf *buf, unsigned int kind, const struct buf *body)
{
	uint8_t *at = buf_reserve(buf, 2 * VARINT_MAX + body->size);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, (uint64_t)kind << 1);
	at = varint_put(at, body->size);
	buf_end(buf, put_bytes(at, body->data, body->size));
	return 0;
}

uint32_t writer_intern(struct data_writer *writer, struct intern *intern, enum data_record kind)
{
	struct buf *dictionary = &writer->current->dictionary;
	uint32_t number;
	bool is_new;

	number = intern_number(intern, writer->scratch.data, writer->scratch.size, DATA_MAX_NUMBERS,
			       &is_new);
	if (!number || (is_new && buf_append_record(dictionary, kind, &writer->scratch))) {
		if (!writer->err)
			writer->err = -ENOMEM;
		return 0;
	}
	return number;
}

uint8_t *writer_scratch(struct data_writer *writer, size_t more)
{
	uint8_t *at;

	writer->scratch.size = 0;
	at = buf_reserve(&writer->scratch, more);
	if (!at && !writer->err)
		writer->err = -ENOMEM;
	return at;
}

/* What the descriptions of one file have in common, in scratch. */
static int put_file(struct data_writer *writer, const struct trace_file *file)
{
	size_t len = strlen(file->path);
	uint8_t *at = writer_scratch(writer, 5 * VARINT_MAX + len);

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
	return buf_append_record(&writer->current->dictionary,
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
	at = writer_scratch(writer, 2 * VARINT_MAX + len + sizeof(module->build_id));
	if (at) {
		at = put_text(at, module->path, len);
		at = put_text(at, (const char *)module->build_id, module->build_id_size);
		buf_end(&writer->scratch, at);
		number = writer_intern(writer, &writer->modules, RECORD_MODULE);
	}
	pthread_mutex_unlock(&writer->lock);
	return number;
}

static uint32_t frame_number(struct data_writer *writer, const struct trace_frame *frame)
{
	uint8_t *at = writer_scratch(writer, 2 * VARINT_MAX);

	if (!at)
		return 0;
	at = varint_put(at, frame->module);
	buf_end(&writer->scratch, varint_put(at, frame->offset));
	return writer_intern(writer, &writer->frames, RECORD_FRAME);
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
	uint8_t *at = writer_scratch(writer, (1 + (size_t)nr) * VARINT_MAX);

	if (!at)
		return -ENOMEM;
	at = varint_put(at, first - outer);
	for (uint32_t i = 0; i < nr; i++)
		at = varint_put(at, frames[i]);
	buf_end(&writer->scratch, at);
	return buf_append_record(&writer->current->dictionary, RECORD_STACK, &writer->scratch);
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
	uint8_t *at = writer_scratch(writer, 3 * VARINT_MAX);
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
	return buf_append_record(&writer->current->dictionary, RECORD_THREAD, &writer->scratch)
		       ? 0
		       : number;
}

uint32_t writer_thread_number(struct data_writer *writer, const struct event *event)
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
