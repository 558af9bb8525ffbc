/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/data_format.h - the numbers of seam.data, for its writer and its reader.
 * docs/file-format.md explains each.
 */
#ifndef TRACE_DATA_FORMAT_H
#define TRACE_DATA_FORMAT_H

#include <stdint.h>

#define DATA_VERSION_MAJOR 2 /* another one: a reader of this one must refuse */
#define DATA_VERSION_MINOR 0 /* a later one only adds what may be skipped */
#define DATA_UNIT_SHIFT 12   /* "pages" of the file, whatever the host's are */

/* File header: magic[8] u16 major u16 minor u32 header_size u32 tick_ns u32 unit_shift */
#define DATA_HEADER_SIZE 24

/* Block header: offsets of its little-endian fields. */
enum {
	BLOCK_MAGIC = 0,
	BLOCK_CRC = 4, /* CRC-32C of all behind it to the block's end */
	BLOCK_KIND = 8,
	BLOCK_CODEC = 9,
	BLOCK_HEADER_SIZE = 10,
	BLOCK_STORED = 12,
	BLOCK_RAW = 16,
	BLOCK_NUMBER = 20,
	BLOCK_DICTIONARIES = 24, /* dictionary blocks that must have been read before */
	BLOCK_CALLS = 28,
	BLOCK_SIZE = 32,
};
#define DATA_BLOCK_MAGIC UINT32_C(0x314b4253) /* "SBK1" */

enum block_kind { BLOCK_DICTIONARY = 1, BLOCK_EVENTS = 2, BLOCK_BOTH = 3 };
enum block_codec { CODEC_STORED = 0, CODEC_ZSTD = 1 };

#define DATA_BLOCK_TARGET (64u << 10) /* raw bytes after which a block is closed */
#define DATA_BLOCK_MAX (32u << 20)    /* raw bytes that a block may have */
#define DATA_MAX_AREAS (1u << 22)     /* areas in one record */
#define DATA_MAX_NUMBERS (1u << 22)   /* entries of one dictionary */
#define DATA_MAX_FIELDS 9	      /* six arguments, result, file, stack */
#define DATA_MAX_FRAMES 1024

/* Records that carry their length; odd heads are calls. */
enum data_record {
	RECORD_HOST = 1,
	RECORD_FILE = 2,
	RECORD_THREAD = 3,
	RECORD_SHAPE = 4,
	RECORD_MODULE = 5,
	RECORD_STACK = 6,
	RECORD_FRAME = 7,
	RECORD_FILE_AGAIN = 8,
	RECORD_EVENT = 16, /* + enum event_kind, which is part of the format */
	RECORD_FINISH = 48,
};

/* The name of the shape of an EVENT_TOUCH, which has the form of a call with two arguments. */
#define DATA_TOUCH_SHAPE "(touch)"

/* How a field of a call is stored: the constant of its shape, or one varint. */
enum data_class {
	CLASS_CONSTANT = 0,
	CLASS_VALUE = 1,      /* as it is */
	CLASS_SIGNED = 2,     /* zigzag */
	CLASS_ADDR_PAGES = 3, /* zigzag: pages from the thread's last address */
	CLASS_ADDR_BYTES = 4, /* zigzag: bytes from the thread's last address */
	CLASS_PAGES = 5,      /* value >> unit_shift */
	CLASS_FIRST = 6,      /* equal to argument 0; no varint */
	CLASS_BREAK = 7,      /* zigzag: bytes from the thread's last break */
	CLASS_FILE = 8,	      /* zigzag: from the block's last file */
	NR_CLASSES
};

/* Which members follow in an event record, in this order. */
enum {
	HAS_FLAGS = 0x1,
	HAS_BORN = 0x4,
	HAS_ARGS = 0x8,
	HAS_RESULT = 0x10,
	HAS_FILE = 0x20,
	HAS_STACK = 0x40,
	HAS_AREAS = 0x80,
	HAS_TEXT = 0x100,
};

/* Which members of an area follow its length, in this order; else they are as said beside. */
enum {
	AREA_GAP = 0x1,	  /* else it touches the one before */
	AREA_FLAGS = 0x2, /* else those of the one before */
	AREA_FILE = 0x4,  /* else that of the one before */
	AREA_PGOFF = 0x8, /* else it continues the one before, or is 0 */
	AREA_ANON = 0x10, /* anon_vma, anon_chain; else 0 */
	AREA_IDS = 0x20,  /* numa, uffd, name, traits; else 0 */
	AREA_TAG = 0x40,  /* else 0 */
};

static inline uint16_t get_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void put_le16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static inline void put_le32(uint8_t *p, uint32_t value)
{
	put_le16(p, (uint16_t)value);
	put_le16(p + 2, (uint16_t)(value >> 16));
}

/* Seven bits a byte, lowest first; the top bit says that another byte follows. */
#define VARINT_MAX 10

static inline uint8_t *varint_put(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)value | 0x80;
	*to++ = (uint8_t)value;
	return to;
}

/* Reads at most VARINT_MAX bytes, which the caller has made sure are there. */
static inline uint64_t varint_get(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint64_t value = *p & 0x7f;
	unsigned int shift = 7;

	while (*p++ & 0x80 && shift < 7 * VARINT_MAX) {
		value |= (uint64_t)(*p & 0x7f) << shift;
		shift += 7;
	}
	*at = p;
	return value;
}

/*
 * A length of time in five significant bits: what is below 32 as it is, else four bits behind the
 * highest, rounded. The size of a recording is half times, and no clock of a stop is better.
 */
#define SPAN_BITS 4
#define SPAN_STEPS (1u << SPAN_BITS)

static inline uint64_t span_code(uint64_t value)
{
	unsigned int shift;
	uint64_t steps;

	if (value < 2 * SPAN_STEPS)
		return value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - SPAN_BITS;
	steps = (value >> shift) + (value >> (shift - 1) & 1); /* 2 * SPAN_STEPS carries over */
	return (uint64_t)shift * SPAN_STEPS + steps;
}

static inline uint64_t span_value(uint64_t code)
{
	uint64_t octave = code >> SPAN_BITS, is_long = octave != 0;

	/* without a branch: which way it goes would be anybody's guess */
	return (is_long << SPAN_BITS | (code & (SPAN_STEPS - 1))) << ((octave - is_long) & 63);
}

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
