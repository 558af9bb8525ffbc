/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/compress.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

#include <stdlib.h>

#define LEVEL 3
/* Of a recording's last block, a short one's only one: some milliseconds of a long enough run. */
#define DENSE_LEVEL 15
#define DENSE_SIZE (128u << 10)
/*
 * Of very short ones, for which whoever started them waits: a tenth of a millisecond. The other level
 * would give three percent for half a millisecond more.
 */
#define SHORT_LEVEL 8
#define SHORT_SIZE (16u << 10)

struct compressor {
	ZSTD_CCtx *context;
	ZSTD_CDict *prefix;
};

struct decompressor {
	ZSTD_DCtx *context;
	ZSTD_DDict *prefix;
};

struct compressor *compressor_new(void)
{
	struct compressor *compressor = malloc(sizeof(*compressor));

	if (!compressor)
		return NULL;
	compressor->context = ZSTD_createCCtx();
	compressor->prefix = ZSTD_createCDict(data_prefix, data_prefix_size, LEVEL);
	if (compressor->context && compressor->prefix)
		return compressor;
	compressor_free(compressor);
	return NULL;
}

void compressor_free(struct compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCCtx(compressor->context);
	ZSTD_freeCDict(compressor->prefix);
	free(compressor);
}

size_t compress_bound(size_t size)
{
	return ZSTD_compressBound(size);
}

size_t block_compress(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size, bool is_last)
{
	size_t packed;

	if (!compressor)
		return 0;
	if (is_last && size <= DENSE_SIZE)
		packed = ZSTD_compress_usingDict(compressor->context, to, room, from, size,
						 data_prefix, data_prefix_size,
						 size <= SHORT_SIZE ? SHORT_LEVEL : DENSE_LEVEL);
	else
		packed = ZSTD_compress_usingCDict(compressor->context, to, room, from, size,
						  compressor->prefix);
	return ZSTD_isError(packed) || packed >= size ? 0 : packed;
}

struct decompressor *decompressor_new(void)
{
	struct decompressor *decompressor = malloc(sizeof(*decompressor));

	if (!decompressor)
		return NULL;
	decompressor->context = ZSTD_createDCtx();
	decompressor->prefix = ZSTD_createDDict(data_prefix, data_prefix_size);
	if (decompressor->context && decompressor->prefix)
		return decompressor;
	decompressor_free(decompressor);
	return NULL;
}

void decompressor_free(struct decompressor *decompressor)
{
	if (!decompressor)
		return;
	ZSTD_freeDCtx(decompressor->context);
	ZSTD_freeDDict(decompressor->prefix);
	free(decompressor);
}

int block_decompress(struct decompressor *decompressor, void *to, size_t size, const void *from,
		     size_t from_size)
{
	if (!decompressor)
		return -1;
	return ZSTD_decompress_usingDDict(decompressor->context, to, size, from, from_size,
					  decompressor->prefix) == size
		       ? 0
		       : -1;
}

#else

struct compressor *compressor_new(void)
{
	return NULL;
}

void compressor_free(struct compressor *compressor)
{
}

size_t compress_bound(size_t size)
{
	return size;
}

size_t block_compress(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size, bool is_last)
{
	return 0;
}

struct decompressor *decompressor_new(void)
{
	return NULL;
}

void decompressor_free(struct decompressor *decompressor)
{
}

int block_decompress(struct decompressor *decompressor, void *to, size_t size, const void *from,
		     size_t from_size)
{
	return -1;
}

#endif
