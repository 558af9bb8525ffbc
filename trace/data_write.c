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
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/data_writer.h"
#include "trace/thread.h"

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
	writer_hand_over(writer);
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
		thread = writer_thread_number(writer, event);
		if (!thread)
			err = -ENOMEM;
		else
			err = writer_append(writer, event, thread);
		writer->nr_events++;
	}
	if (err && !writer->err)
		writer->err = err;
	writer->has_changed = true;
	if (writer->is_idle)
		pthread_cond_signal(&writer->work);
	writer->is_idle = false;
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
	return writer_write_all(writer->fd, header, sizeof(header));
}

/* A pipe or device, or a file that is only added to, keeps what was written. */
static void find_begin(struct data_writer *writer)
{
	int flags = fcntl(writer->fd, F_GETFL);
	struct stat st;

	writer->begin = lseek(writer->fd, 0, SEEK_CUR);
	writer->is_stream = writer->begin < 0 || flags < 0 || flags & O_APPEND ||
			    fstat(writer->fd, &st) || !S_ISREG(st.st_mode);
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
	uint8_t *at = writer_scratch(writer, 1024 + sizeof(*host));

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
	return buf_append_record(&writer->current->dictionary, RECORD_HOST, &writer->scratch);
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
		err = thread_start(&writer->thread, THREAD_STACK_SMALL, writer_run, writer);
	if (err)
		goto fail;
	*ret_writer = writer;
	return 0;
fail:
	free_writer(writer);
	return err;
}

int data_writer_replaces(struct data_writer *writer, uint64_t size)
{
	uint64_t end = (uint64_t)writer->begin + writer->bytes;
	uint8_t cut[BLOCK_SIZE] = { 0 };

	if (writer->is_stream || size <= end)
		return 0;
	writer->drafted = size - end;
	/* who is killed before the first block has not recorded what stands there: one that never ends */
	put_le32(cut + BLOCK_MAGIC, DATA_BLOCK_MAGIC);
	put_le16(cut + BLOCK_HEADER_SIZE, BLOCK_SIZE);
	put_le32(cut + BLOCK_STORED, UINT32_MAX);
	return writer_write_at(writer, cut,
			       writer->drafted < BLOCK_SIZE ? writer->drafted : BLOCK_SIZE,
			       (off_t)end);
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
	at = writer_scratch(writer, 2 * VARINT_MAX);
	if (!at)
		return;
	at = varint_put(at, writer->nr_calls);
	buf_end(&writer->scratch, varint_put(at, writer->nr_events));
	if (buf_append_record(events, RECORD_FINISH, &writer->scratch) && !writer->err)
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
	if (!writer->is_stream) /* who writes to the same descriptor next goes on behind */
		lseek(writer->fd, writer->begin + (off_t)writer->bytes, SEEK_SET);
	if (ret_bytes)
		*ret_bytes = writer->bytes;
	pthread_cond_destroy(&writer->work);
	pthread_cond_destroy(&writer->done);
	pthread_mutex_destroy(&writer->lock);
	free_writer(writer);
	return err;
}
