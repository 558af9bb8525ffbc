/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file as it is, or behind a 'B' the contents of blocks: kind, length (16 bits, little-endian) and
 * that many bytes, each of which is put into a block that is well formed around them.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trace/crc32c.h"
#include "trace/data.h"
#include "trace/data_format.h"

static uint8_t *put_header(uint8_t *to)
{
	memset(to, 0, DATA_HEADER_SIZE);
	memcpy(to, DATA_MAGIC, DATA_MAGIC_SIZE);
	put_le16(to + 8, DATA_VERSION_MAJOR);
	put_le32(to + 12, DATA_HEADER_SIZE);
	put_le32(to + 16, 1000);
	put_le32(to + 20, DATA_UNIT_SHIFT);
	return to + DATA_HEADER_SIZE;
}

static uint8_t *put_block(uint8_t *to, uint8_t kind, const uint8_t *payload, uint32_t size,
			  uint32_t number)
{
	memset(to, 0, BLOCK_SIZE);
	put_le32(to + BLOCK_MAGIC, DATA_BLOCK_MAGIC);
	to[BLOCK_KIND] = kind;
	put_le16(to + BLOCK_HEADER_SIZE, BLOCK_SIZE);
	put_le32(to + BLOCK_STORED, size);
	put_le32(to + BLOCK_RAW, size);
	put_le32(to + BLOCK_NUMBER, number);
	memcpy(to + BLOCK_SIZE, payload, size);
	put_le32(to + BLOCK_CRC, crc32c(0, to + BLOCK_KIND, BLOCK_SIZE - BLOCK_KIND + size));
	return to + BLOCK_SIZE + size;
}

/* Each block takes three bytes at least, and grows by a header. */
static size_t bound(size_t size)
{
	return DATA_HEADER_SIZE + size + (size / 3 + 1) * BLOCK_SIZE;
}

static void read_buffer(const uint8_t *data, size_t size)
{
	struct source source;

	source_from_buffer("fuzz", data, size, &source);
	source.kind = SOURCE_DATA;
	fuzz_trace(&source);
}

static void read_blocks(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	uint8_t *file = malloc(bound(size)), *at;
	uint32_t number = 0;

	if (!file)
		abort();
	at = put_header(file);
	while (end - data >= 3) {
		uint8_t kind = data[0];
		uint32_t len = get_le16(data + 1);

		data += 3;
		if (len > end - data)
			len = (uint32_t)(end - data);
		at = put_block(at, kind, data, len, number++);
		data += len;
	}
	read_buffer(file, (size_t)(at - file));
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 'B')
		read_blocks(data + 1, size - 1);
	else
		read_buffer(data, size);
	return 0;
}
