/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that puts blocks together, compresses and writes them. */
#include <errno.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/crc32c.h"
#include "trace/data_writer.h"

#define DRAFT_MS 100 /* from one writing of a block that is not full to the next */
#define STREAM_MS 1000

int writer_write_all(int fd, const uint8_t *data, size_t size)
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

int writer_write_at(const struct data_writer *writer, const uint8_t *data, size_t size, off_t at)
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
	int err = writer_write_at(writer, data + over, size - over, at + (off_t)over);

	if (!err)
		err = writer_write_at(writer, data, over, at);
	if (!err && size < writer->drafted && ftruncate(writer->fd, at + (off_t)size))
		err = -errno;
	return err;
}

enum packing {
	PACK_DRAFT, /* as it is: written over soon */
	PACK_BLOCK,
	PACK_LAST,
};

/* Makes writer->out the whole block of what stands in writer->raw. */
static int pack_block(struct data_writer *writer, enum block_kind kind, uint32_t nr_calls,
		      enum packing how)
{
	const struct buf *raw = &writer->raw;
	size_t bound = compress_bound(raw->size), stored = 0;
	enum block_codec codec = CODEC_ZSTD;
	uint8_t *header, *payload;

	writer->out.size = 0;
	header = buf_reserve(&writer->out, BLOCK_SIZE + bound);
	if (!header)
		return -ENOMEM;
	payload = header + BLOCK_SIZE;
	if (how != PACK_DRAFT)
		stored = block_compress(writer->compressor, payload, bound, raw->data, raw->size,
					how == PACK_LAST);
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
	return clock_ns() / 1000000;
}

/* The pending block, for good. */
static int write_pending(struct data_writer *writer)
{
	const struct block *block = writer->pending;
	const struct buf *out = &writer->out;
	int err = join_parts(writer, block);

	if (!err)
		err = pack_block(writer, kind_of(block), block->nr_calls,
				 block->is_last ? PACK_LAST : PACK_BLOCK);
	if (err)
		return err;
	err = writer->is_stream ? writer_write_all(writer->fd, out->data, out->size)
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

void writer_hand_over(struct data_writer *writer)
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
		err = pack_block(writer, kind, nr_calls, PACK_DRAFT);
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

/*
 * Until there is a block to write, or it is time for what is new. After a draft the next one is waited
 * for without being told that there is something, so that who makes events need not wake this thread
 * each time. The lock is held.
 */
static void wait_for_work(struct data_writer *writer)
{
	struct timespec until = { .tv_sec = (time_t)(due_ms(writer) / 1000),
				  .tv_nsec = (long)(due_ms(writer) % 1000) * 1000000 };

	writer->is_idle = writer->err || (!writer->has_changed && now_ms() >= due_ms(writer));
	if (writer->is_idle)
		pthread_cond_wait(&writer->work, &writer->lock);
	else
		pthread_cond_timedwait(&writer->work, &writer->lock, &until);
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
		writer_hand_over(writer);
	else if (is_time(writer))
		return write_draft(writer);
	return 0;
}

void *writer_run(void *arg)
{
	struct data_writer *writer = arg;

	writer->compressor = compressor_new(); /* without one blocks are stored as they are */
	pthread_mutex_lock(&writer->lock);
	for (;;) {
		int err = look_for_work(writer);

		if (!writer->err)
			writer->err = err;
		err = writer->err;
		if (!writer->pending && writer->closing && (err || block_is_empty(writer->current)))
			break; /* else the closing came while a draft was written */
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
