/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading seam.data (docs/file-format.md).
 *
 * Blocks are found and checked in the caller's buffer and decompressed one at a time into one
 * buffer with zeros behind its end: a varint that runs over the end stops there, and each record is
 * held against the end once it has been read. Nothing in a file is trusted: numbers, counts and
 * sizes are tested before use.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"
#include "trace/data_reader.h"

/* More than the longest run of varints that is read before the next test. */
#define PADDING 512

int reader_refuse(const struct data_reader *reader, struct trace_error *error, const char *what)
{
	return trace_fail(error, 0, "block %" PRIu32 ": %s", reader->block_number - 1, what);
}

static void add_reason(struct trace_facts *facts, const char *reason)
{
	facts->complete = false;
	if (facts->nr_reasons < TRACE_MAX_REASONS)
		facts->incomplete_because[facts->nr_reasons++] = reason;
}

struct block_header {
	uint32_t kind, codec, header_size, stored, raw, number, dictionaries;
	const uint8_t *payload;
};

/* Is there a whole block at reader->at? One with a wrong checksum is none. */
static bool find_block(const struct data_reader *reader, struct block_header *ret_header)
{
	const uint8_t *p = reader->data + reader->at;
	size_t left = reader->size - reader->at;

	if (left < BLOCK_SIZE || get_le32(p + BLOCK_MAGIC) != DATA_BLOCK_MAGIC)
		return false;
	*ret_header = (struct block_header) {
		.kind = p[BLOCK_KIND],
		.codec = p[BLOCK_CODEC],
		.header_size = get_le16(p + BLOCK_HEADER_SIZE),
		.stored = get_le32(p + BLOCK_STORED),
		.raw = get_le32(p + BLOCK_RAW),
		.number = get_le32(p + BLOCK_NUMBER),
		.dictionaries = get_le32(p + BLOCK_DICTIONARIES),
	};
	if (ret_header->header_size < BLOCK_SIZE || ret_header->header_size > left ||
	    ret_header->stored > left - ret_header->header_size)
		return false;
	ret_header->payload = p + ret_header->header_size;
	return crc32c(0, p + BLOCK_KIND,
		      ret_header->header_size - BLOCK_KIND + ret_header->stored) ==
	       get_le32(p + BLOCK_CRC);
}

/* Does the file end before the block at reader->at does? */
static bool is_cut(const struct data_reader *reader)
{
	const uint8_t *p = reader->data + reader->at;
	size_t left = reader->size - reader->at;

	return left < BLOCK_SIZE ||
	       (get_le32(p + BLOCK_MAGIC) == DATA_BLOCK_MAGIC &&
		left < (uint64_t)get_le16(p + BLOCK_HEADER_SIZE) + get_le32(p + BLOCK_STORED));
}

/* A buffer for @size bytes and what follows them; NULL without memory. */
static uint8_t *reserve_raw(struct data_reader *reader, size_t size)
{
	uint8_t *raw;

	if (reader->raw && reader->raw_room >= size + PADDING)
		return reader->raw;
	raw = realloc(reader->raw, size + PADDING);
	if (!raw)
		return NULL;
	reader->raw = raw;
	reader->raw_room = size + PADDING;
	return raw;
}

/* 0 and *ret_raw: header->raw bytes and PADDING zeros. */
static int unpack_block(struct data_reader *reader, const struct block_header *header,
			const uint8_t **ret_raw, struct trace_error *error)
{
	size_t size = header->raw;
	uint8_t *raw;

	if (size > DATA_BLOCK_MAX)
		return reader_refuse(reader, error, "larger than any block may be");
	raw = reserve_raw(reader, size);
	if (!raw)
		return -ENOMEM;
	if (header->codec == CODEC_ZSTD && !reader->decompressor)
		return reader_refuse(reader, error,
				     "compressed, and this seam was built without zstd");
	if (header->codec == CODEC_ZSTD) {
		if (block_decompress(reader->decompressor, raw, size, header->payload,
				     header->stored))
			return reader_refuse(reader, error, "cannot be decompressed");
	} else if (header->codec == CODEC_STORED && header->stored == size) {
		memcpy(raw, header->payload, size);
	} else {
		return reader_refuse(reader, error, "an unknown compression");
	}
	memset(raw + size, 0, PADDING);
	*ret_raw = raw;
	return 0;
}

static void note_end(struct data_reader *reader)
{
	struct trace_facts *facts = reader->facts;

	facts->bytes_missing = reader->size - reader->at;
	if (facts->bytes_missing)
		add_reason(
			facts,
			"the file was cut or damaged: what follows its last whole block is lost");
	else if (!reader->finished)
		add_reason(facts, "the recorder was ended before it could finish the file");
	if (reader->newer)
		add_reason(facts, "written by a later seam: records that this one does not know "
				  "were left out");
	reader->at = reader->size;
	reader->finished = true;
	reader->newer = false;
}

/* 1: a block of events, whose records follow; 0: another one. */
static int read_block(struct data_reader *reader, const struct block_header *header,
		      struct trace_error *error)
{
	const uint8_t *raw = NULL, *end;
	int err;

	if (header->number != reader->block_number)
		return trace_fail(error, 0, "block %" PRIu32 " where block %" PRIu32 " was due",
				  header->number, reader->block_number);
	reader->block_number++;
	if (header->kind < BLOCK_DICTIONARY || header->kind > BLOCK_BOTH) {
		reader->newer = true;
		return 0;
	}
	if (header->dictionaries > reader->nr_dictionaries)
		return reader_refuse(reader, error, "needs a dictionary that is not there");
	err = unpack_block(reader, header, &raw, error);
	if (!raw)
		return err;
	end = raw + header->raw;
	if (header->kind == BLOCK_DICTIONARY)
		return reader_dictionary(reader, raw, end, error);
	if (header->kind == BLOCK_BOTH) {
		uint64_t size;
		const uint8_t *dictionary = get_bytes(&raw, end, &size);

		if (!dictionary)
			return reader_refuse(reader, error, "a dictionary beyond its end");
		err = reader_dictionary(reader, dictionary, raw, error);
		if (err)
			return err;
	}
	reader->cursor = raw;
	reader->end = end;
	reader->last_tick = varint_get(&reader->cursor);
	reader->last_thread = reader->last_file = 0;
	return 1;
}

/* Reads blocks until one has events. 1; 0: there is none, -EINVAL, -ENOMEM. */
static int find_events(struct data_reader *reader, struct trace_error *error)
{
	struct block_header header;
	int ret = 0;

	while (!ret && reader->at < reader->size && find_block(reader, &header)) {
		ret = read_block(reader, &header, error);
		reader->at += header.header_size + header.stored;
	}
	return ret;
}

int reader_next_block(struct data_reader *reader, struct trace_error *error)
{
	int ret;

	reader->cursor = reader->end = NULL;
	ret = find_events(reader, error);
	if (!ret)
		note_end(reader);
	return ret;
}

static int read_file_header(struct data_reader *reader, struct trace_error *error)
{
	const uint8_t *p = reader->data;
	uint32_t header_size;

	if (reader->size < DATA_MAGIC_SIZE || memcmp(p, DATA_MAGIC, DATA_MAGIC_SIZE) != 0)
		return trace_fail(error, 0, "not a seam.data");
	if (reader->size < DATA_HEADER_SIZE)
		return trace_fail(error, 0, "cut within its header");
	if (get_le16(p + 8) != DATA_VERSION_MAJOR)
		return trace_fail(
			error, 0,
			"a recording of format %u.%u; this seam reads format %u: it must be "
			"recorded anew, or read by the seam that made it",
			get_le16(p + 8), get_le16(p + 10), DATA_VERSION_MAJOR);
	header_size = get_le32(p + 12);
	reader->tick_ns = get_le32(p + 16);
	reader->unit_shift = get_le32(p + 20);
	if (header_size < DATA_HEADER_SIZE || header_size > reader->size || !reader->tick_ns ||
	    reader->unit_shift > 30)
		return trace_fail(error, 0, "a damaged header");
	reader->at = header_size;
	return 0;
}

/* What the file says of its host is known before the first event: up to the first block of events. */
static int read_head(struct data_reader *reader, struct trace_error *error)
{
	size_t first = reader->at;
	int ret = find_events(reader, error);

	if (!ret && reader->at == first && !is_cut(reader))
		return trace_fail(
			error, 0,
			"damaged in its first block, whose checksum is wrong: nothing of it "
			"can be read");
	return ret < 0 ? ret : 0;
}

int data_reader_open(const void *data, size_t size, struct trace_facts *facts,
		     struct data_reader **ret_reader, struct trace_error *ret_error)
{
	struct data_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->data = data;
	reader->size = size;
	reader->facts = facts;
	facts->format = "seam.data";
	facts->complete = true;
	err = read_file_header(reader, ret_error);
	reader->decompressor = decompressor_new();
	if (!err)
		err = read_head(reader, ret_error);
	if (err) {
		data_reader_close(reader);
		return err;
	}
	*ret_reader = reader;
	return 0;
}

const struct trace_file *data_reader_file(const struct data_reader *reader, uint32_t number)
{
	return number && number <= reader->nr_files ? &reader->files[number].file : NULL;
}

const struct trace_module *data_reader_module(const struct data_reader *reader, uint32_t number)
{
	return number && number <= reader->nr_modules ? &reader->modules[number] : NULL;
}

const struct trace_stack *data_reader_stack(struct data_reader *reader, uint32_t number)
{
	struct trace_stack *stack = &reader->stack;

	if (!number || number > reader->nr_stacks)
		return NULL;
	stack->frames = reader->stack_frames;
	stack->nr_frames = 0;
	for (; number && stack->nr_frames < DATA_MAX_FRAMES; number = reader->stacks[number].outer)
		reader->stack_frames[stack->nr_frames++] =
			reader->frames[reader->stacks[number].frame];
	return stack;
}

void data_reader_close(struct data_reader *reader)
{
	for (uint32_t i = 1; i <= reader->nr_files; i++)
		if (!reader->files[i].shares_path)
			free((void *)reader->files[i].file.path);
	for (uint32_t i = 1; i <= reader->nr_modules; i++)
		free((void *)reader->modules[i].path);
	free(reader->shapes);
	free(reader->threads);
	free(reader->files);
	free(reader->modules);
	free(reader->frames);
	free(reader->stacks);
	free(reader->areas);
	free(reader->text);
	free(reader->raw);
	decompressor_free(reader->decompressor);
	free(reader);
}
