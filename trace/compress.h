/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/compress.h - zstd as seam.data uses it, behind a prefix of what recordings have in common; or
 * the plain word that zstd was left out of this build.
 */
#ifndef TRACE_COMPRESS_H
#define TRACE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* docs/seam-data-2.prefix */
extern const unsigned char data_prefix[];
extern const size_t data_prefix_size;

struct compressor;
struct decompressor;

/* NULL: no memory, or built without zstd. Free with the function below; NULL is allowed. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *compressor);

/* Room that @size bytes may need. */
size_t compress_bound(size_t size);

/*
 * The compressed size, or 0 when it would not be smaller than @size (also without a compressor).
 * @is_last: a short one may take its time.
 */
size_t block_compress(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size, bool is_last);

/* As above. */
struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *decompressor);

/* 0, or -1 when @from does not decompress to exactly @size bytes. */
int block_decompress(struct decompressor *decompressor, void *to, size_t size, const void *from,
		     size_t from_size);

#endif
