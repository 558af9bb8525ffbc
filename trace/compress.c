/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/compress.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

#define LEVEL 3

struct compressor *compressor_new(void)
{
	return (struct compressor *)ZSTD_createCCtx();
}

void compressor_free(struct compressor *compressor)
{
	ZSTD_freeCCtx((ZSTD_CCtx *)compressor);
}

size_t compress_bound(size_t size)
{
	return ZSTD_compressBound(size);
}

size_t block_compress(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size)
{
	size_t packed;

	if (!compressor)
		return 0;
	packed = ZSTD_compressCCtx((ZSTD_CCtx *)compressor, to, room, from, size, LEVEL);
	return ZSTD_isError(packed) || packed >= size ? 0 : packed;
}

struct decompressor *decompressor_new(void)
{
	return (struct decompressor *)ZSTD_createDCtx();
}

void decompressor_free(struct decompressor *decompressor)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)decompressor);
}

int block_decompress(struct decompressor *decompressor, void *to, size_t size, const void *from,
		     size_t from_size)
{
	if (!decompressor)
		return -1;
	return ZSTD_decompressDCtx((ZSTD_DCtx *)decompressor, to, size, from, from_size) == size
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
		      size_t size)
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
