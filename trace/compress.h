/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/compress.h - zstd, or the plain word that it was left out of this build.
 */
#ifndef TRACE_COMPRESS_H
#define TRACE_COMPRESS_H

#include <stddef.h>

struct compressor;
struct decompressor;

/* NULL: no memory, or built without zstd. Free with the function below; NULL is allowed. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *compressor);

/* Room that @size bytes may need. */
size_t compress_bound(size_t size);

/* The compressed size, or 0 when it would not be smaller than @size (also without a compressor). */
size_t block_compress(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size);

/* As above. */
struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *decompressor);

/* 0, or -1 when @from does not decompress to exactly @size bytes. */
int block_decompress(struct decompressor *decompressor, void *to, size_t size, const void *from,
		     size_t from_size);

#endif
