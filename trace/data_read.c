/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading seam.data (docs/file-format.md).
 *
 * Blocks are found and checked in the caller's buffer and decompressed one at a time into one
 * buffer with zeros behind its end: a varint that runs over the end stops there, and each record is
 * held against the end once it has been read. Nothing in a file is trusted: numbers, counts and
 * sizes are tested before use.
 */
#include "trace/data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/compress.h"
#include "trace/crc32c.h"
#include "trace/data_format.h"

/* More than the longest run of varints that is read before the next test. */
#define PADDING 512
/* Strings and frames of all dictionaries together: no real recording comes near. */
#define MAX_DICTIONARY_BYTES (UINT64_C(512) << 20)

struct shape {
	struct event event; /* constants filled in */
	uint8_t nr_fields;  /* that have a varint, and CLASS_FIRST */
	uint8_t class[DATA_MAX_FIELDS];
	uint8_t to[DATA_MAX_FIELDS]; /* enum field */
	bool known;		     /* else its varints are skipped */
};

/* Where a field of a call goes: argument 0 to 5, or */
enum field { FIELD_RESULT = 6, FIELD_FILE, FIELD_STACK };

/* A call stack: the number of its innermost frame, and of the stack that called it. */
struct stack {
	uint32_t frame, outer; /* outer is less than its own number */
};

struct thread {
	uint32_t space, pid, tid;
	uint64_t last_addr, last_break;
	uint64_t block; /* for which they hold */
};

struct file_entry {
	struct trace_file file;
	bool shares_path; /* with an earlier one */
};

struct data_reader {
	const uint8_t *data;
	size_t size, at; /* the next block */
	struct trace_facts *facts;
	uint32_t tick_ns, unit_shift;
	uint32_t block_number, nr_dictionaries;
	bool finished; /* the closing record was met */
	bool newer;    /* something unknown was skipped */

	struct decompressor *decompressor;
	uint8_t *raw;
	size_t raw_room;
	const uint8_t *cursor, *end; /* of the events block being read; NULL: none */
	uint64_t last_tick;
	uint32_t last_thread, last_file;

	struct shape *shapes; /* [number], from 1, as with all that follow */
	struct thread *threads;
	struct file_entry *files;
	uint64_t last_description;
	struct trace_module *modules;
	struct trace_frame *frames;
	struct stack *stacks;
	uint32_t nr_shapes, nr_threads, nr_files, nr_modules, nr_frames, nr_stacks;
	uint64_t dictionary_bytes;

	struct seam_area *areas;
	size_t areas_room;
	char *text;
	size_t text_room;
	struct trace_stack stack; /* the last that was asked for */
	struct trace_frame stack_frames[DATA_MAX_FRAMES];
};

__attribute__((format(printf, 3, 4))) static int refuse(struct trace_error *error, size_t byte,
							const char *format, ...)
{
	va_list args;

	error->line = 0;
	error->byte = byte;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

static int refuse_record(const struct data_reader *reader, struct trace_error *error,
			 const char *what)
{
	return refuse(error, reader->at, "block %" PRIu32 ": %s", reader->block_number - 1, what);
}

static void add_reason(struct trace_facts *facts, const char *reason)
{
	facts->complete = false;
	if (facts->nr_reasons < TRACE_MAX_REASONS)
		facts->incomplete_because[facts->nr_reasons++] = reason;
}

/* ---- blocks ---- */

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
		return refuse_record(reader, error, "larger than any block may be");
	raw = reserve_raw(reader, size);
	if (!raw)
		return -ENOMEM;
	if (header->codec == CODEC_ZSTD && !reader->decompressor)
		return refuse_record(reader, error,
				     "compressed, and this seam was built without zstd");
	if (header->codec == CODEC_ZSTD) {
		if (block_decompress(reader->decompressor, raw, size, header->payload,
				     header->stored))
			return refuse_record(reader, error, "cannot be decompressed");
	} else if (header->codec == CODEC_STORED && header->stored == size) {
		memcpy(raw, header->payload, size);
	} else {
		return refuse_record(reader, error, "an unknown compression");
	}
	memset(raw + size, 0, PADDING);
	*ret_raw = raw;
	return 0;
}

/* ---- dictionaries ---- */

/* A new zeroed entry [++*nr] of *array; room doubles at each power of two. NULL: no memory. */
static void *add_number(void **array, uint32_t *nr, size_t entry_size)
{
	uint32_t number = *nr + 1;
	char *entries = *array;

	if (number > DATA_MAX_NUMBERS)
		return NULL;
	if (!(number & (number - 1))) {
		entries = reallocarray(entries, 2 * (size_t)number, entry_size);
		if (!entries)
			return NULL;
		*array = entries;
	}
	*nr = number;
	return memset(entries + number * entry_size, 0, entry_size);
}
#define ADD_NUMBER(reader, array)                                                                  \
	add_number((void **)&(reader)->array, &(reader)->nr_##array, sizeof(*(reader)->array))

/* A length and that many bytes inside [*at, end). NULL: they are not all there. */
static const uint8_t *get_bytes(const uint8_t **at, const uint8_t *end, uint64_t *ret_size)
{
	const uint8_t *bytes;

	*ret_size = varint_get(at);
	if (*at > end || *ret_size > (uint64_t)(end - *at))
		return NULL;
	bytes = *at;
	*at += *ret_size;
	return bytes;
}

static int copy_text(struct data_reader *reader, const uint8_t *bytes, uint64_t size,
		     const char **ret_text)
{
	char *text;

	reader->dictionary_bytes += size + 1;
	if (reader->dictionary_bytes > MAX_DICTIONARY_BYTES)
		return -ENOMEM;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, bytes, size);
	text[size] = 0;
	*ret_text = text;
	return 0;
}

static void set_text_fact(struct trace_host *host, const char *key, size_t key_size,
			  const uint8_t *text, uint64_t size)
{
	char *to = NULL;
	size_t room = 0;

	if (key_size == 7 && !memcmp(key, "release", 7)) {
		to = host->release;
		room = sizeof(host->release);
	} else if (key_size == 3 && !memcmp(key, "thp", 3)) {
		to = host->thp;
		room = sizeof(host->thp);
	}
	if (!to)
		return;
	if (size >= room)
		size = room - 1;
	memcpy(to, text, size);
	to[size] = 0;
}

static void set_fact(struct trace_host *host, const char *key, size_t key_size, uint64_t value)
{
	static const struct {
		char name[16];
		uint8_t offset, size;
	} facts[] = {
#define FACT(member) { #member, offsetof(struct trace_host, member), sizeof(host->member) }
		FACT(page_shift), FACT(address_bits), FACT(max_areas),	   FACT(min_addr),
		FACT(stack_gap),  FACT(overcommit),   FACT(tells_touches),
#undef FACT
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		void *to = (char *)host + facts[i].offset;

		if (key_size != strlen(facts[i].name) || memcmp(key, facts[i].name, key_size) != 0)
			continue;
		if (facts[i].size == sizeof(uint32_t))
			*(uint32_t *)to = (uint32_t)value;
		else
			*(uint64_t *)to = value;
	}
}

/* Pairs of a name and a number or text; names that are not known are left out. */
static int read_host(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		uint64_t key_size, size;
		const uint8_t *key = get_bytes(&at, end, &key_size), *text;

		if (!key)
			return -EINVAL;
		if (varint_get(&at)) {
			text = get_bytes(&at, end, &size);
			if (!text)
				return -EINVAL;
			set_text_fact(&reader->facts->host, (const char *)key, key_size, text,
				      size);
		} else {
			set_fact(&reader->facts->host, (const char *)key, key_size,
				 varint_get(&at));
		}
	}
	return 0;
}

static uint64_t get_description(struct data_reader *reader, const uint8_t **at)
{
	reader->last_description += (uint64_t)unzigzag(varint_get(at));
	return reader->last_description;
}

static int read_file(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	struct file_entry *entry = ADD_NUMBER(reader, files);
	struct trace_file *file = &entry->file;
	const uint8_t *path;
	uint64_t size;

	if (!entry)
		return -ENOMEM;
	file->known = (uint32_t)varint_get(&at);
	file->traits = (uint32_t)varint_get(&at);
	file->dev = varint_get(&at);
	file->ino = varint_get(&at);
	path = get_bytes(&at, end, &size);
	if (!path)
		return -EINVAL;
	file->description = get_description(reader, &at);
	return at > end ? -EINVAL : copy_text(reader, path, size, &file->path);
}

/* Another description of an earlier file. */
static int read_file_again(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	struct file_entry *entry = ADD_NUMBER(reader, files);
	uint64_t back = varint_get(&at);

	if (!entry)
		return -ENOMEM;
	entry->shares_path = true;
	if (!back || back >= reader->nr_files)
		return -EINVAL;
	entry->file = reader->files[reader->nr_files - back].file;
	entry->file.description = get_description(reader, &at);
	return at > end ? -EINVAL : 0;
}

static int read_module(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	struct trace_module *module = ADD_NUMBER(reader, modules);
	const uint8_t *path, *id;
	uint64_t size, id_size;

	if (!module)
		return -ENOMEM;
	path = get_bytes(&at, end, &size);
	id = path ? get_bytes(&at, end, &id_size) : NULL;
	if (!id || id_size > sizeof(module->build_id))
		return -EINVAL;
	memcpy(module->build_id, id, id_size);
	module->build_id_size = (uint8_t)id_size;
	return copy_text(reader, path, size, &module->path);
}

static int read_frame(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	struct trace_frame *frame = ADD_NUMBER(reader, frames);
	uint64_t module = varint_get(&at);

	if (!frame)
		return -ENOMEM;
	frame->module = (uint32_t)module;
	frame->offset = varint_get(&at);
	return module > reader->nr_modules || at > end ? -EINVAL : 0;
}

/* Stacks one within the other, from that of a lower number inward. */
static int read_stacks(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	uint64_t down = varint_get(&at), outer = reader->nr_stacks + UINT64_C(1) - down;

	if (!down || down > reader->nr_stacks + UINT64_C(1))
		return -EINVAL;
	while (at < end) {
		struct stack *stack = ADD_NUMBER(reader, stacks);
		uint64_t frame = varint_get(&at);

		if (!stack)
			return -ENOMEM;
		if (!frame || frame > reader->nr_frames)
			return -EINVAL;
		stack->outer = (uint32_t)outer;
		stack->frame = (uint32_t)frame;
		outer = reader->nr_stacks;
	}
	return at > end ? -EINVAL : 0;
}

static int read_thread(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	struct thread *thread = ADD_NUMBER(reader, threads), *before;

	if (!thread)
		return -ENOMEM;
	before = thread - 1;
	if (reader->nr_threads == 1) /* it is told from 0 */
		*before = (struct thread) { 0 };
	thread->space = before->space + (uint32_t)unzigzag(varint_get(&at));
	thread->pid = before->pid + (uint32_t)unzigzag(varint_get(&at));
	thread->tid = thread->pid + (uint32_t)unzigzag(varint_get(&at));
	return at > end ? -EINVAL : 0;
}

static void set_field(struct event *event, unsigned int field, uint64_t value)
{
	if (field < FIELD_RESULT)
		event->arg[field] = value;
	else if (field == FIELD_RESULT)
		event->result = (int64_t)value;
	else if (field == FIELD_FILE)
		event->file = (uint32_t)value;
	else
		event->stack = (uint32_t)value;
}

/* A field that is no constant gets one varint in each call, CLASS_FIRST none. */
static void add_shape_field(struct shape *shape, unsigned int field, uint64_t class,
			    uint64_t constant)
{
	if (class == CLASS_CONSTANT) {
		set_field(&shape->event, field, constant);
		return;
	}
	if (class >= NR_CLASSES)
		shape->known = false;
	shape->class[shape->nr_fields] = (uint8_t)(class < NR_CLASSES ? class : CLASS_VALUE);
	shape->to[shape->nr_fields++] = (uint8_t)field;
}

static int read_shape(struct data_reader *reader, const uint8_t *at, const uint8_t *end)
{
	struct shape *shape = ADD_NUMBER(reader, shapes);
	const uint8_t *name;
	uint64_t size, nr_fields;
	bool touch;
	int call;

	if (!shape)
		return -ENOMEM;
	name = get_bytes(&at, end, &size);
	if (!name)
		return -EINVAL;
	touch = size == strlen(DATA_TOUCH_SHAPE) && !memcmp(name, DATA_TOUCH_SHAPE, size);
	call = touch ? -1 : trace_call_by_name((const char *)name, size);
	shape->event.kind = touch ? EVENT_TOUCH : EVENT_CALL;
	shape->event.flags = (uint32_t)varint_get(&at);
	nr_fields = varint_get(&at);
	if (nr_fields < 3 || nr_fields > DATA_MAX_FIELDS)
		return -EINVAL;
	shape->known = (touch	   ? 2
			: call < 0 ? -1
				   : trace_call_args((unsigned int)call)) == (int)nr_fields - 3;
	shape->event.call = (uint8_t)(call < 0 ? 0 : call);
	for (unsigned int i = 0; i < nr_fields; i++) {
		uint64_t class = varint_get(&at);
		uint64_t constant = class == CLASS_CONSTANT ? varint_get(&at) : 0;
		unsigned int field =
			i < nr_fields - 3 ? i : FIELD_RESULT + i - ((unsigned int)nr_fields - 3);

		add_shape_field(shape, field, class, (uint64_t)unzigzag(constant));
	}
	return at > end ? -EINVAL : 0;
}

static int read_dictionary_record(struct data_reader *reader, uint64_t kind, const uint8_t *at,
				  const uint8_t *end)
{
	switch (kind) {
	case RECORD_HOST:
		return read_host(reader, at, end);
	case RECORD_FILE:
		return read_file(reader, at, end);
	case RECORD_FILE_AGAIN:
		return read_file_again(reader, at, end);
	case RECORD_THREAD:
		return read_thread(reader, at, end);
	case RECORD_SHAPE:
		return read_shape(reader, at, end);
	case RECORD_MODULE:
		return read_module(reader, at, end);
	case RECORD_FRAME:
		return read_frame(reader, at, end);
	case RECORD_STACK:
		return read_stacks(reader, at, end);
	default:
		reader->newer = true;
		return 0;
	}
}

static int read_dictionary(struct data_reader *reader, const uint8_t *at, const uint8_t *end,
			   struct trace_error *error)
{
	const uint8_t *body;
	uint64_t size;
	int err;

	while (at < end) {
		uint64_t head = varint_get(&at);

		body = get_bytes(&at, end, &size);
		if (!body || head & 1)
			return refuse_record(reader, error, "a dictionary record beyond its end");
		err = read_dictionary_record(reader, head >> 1, body, body + size);
		if (err == -EINVAL)
			return refuse_record(reader, error, "a damaged dictionary record");
		if (err)
			return err;
	}
	reader->nr_dictionaries++;
	return 0;
}

/* ---- events ---- */

static inline int read_thread_of_call(struct data_reader *reader, const uint8_t **at, uint64_t head)
{
	if (head & 2) {
		uint64_t number = varint_get(at);

		reader->last_thread = number <= reader->nr_threads ? (uint32_t)number : 0;
	}
	return reader->last_thread ? 0 : -EINVAL;
}

/* Two varints: from the end of the event before to this one's begin, and its duration. */
static inline void get_times(struct data_reader *reader, const uint8_t **at, struct event *event)
{
	uint64_t gap = varint_get(at), ticks = span_value(gap >> 1);
	uint64_t duration = span_value(varint_get(at));

	reader->last_tick += gap & 1 ? -ticks : ticks;
	event->time_ns = reader->last_tick * reader->tick_ns;
	event->duration_ns = duration * reader->tick_ns;
	reader->last_tick += duration;
}

static inline void set_thread(const struct data_reader *reader, struct event *event,
			      const struct thread *thread)
{
	event->space = thread->space;
	event->pid = thread->pid;
	event->tid = thread->tid;
	event->line = reader->block_number - 1;
}

static inline uint64_t get_field(struct data_reader *reader, const struct event *event,
				 enum data_class class, const uint8_t **at, struct thread *thread)
{
	const unsigned int shift = reader->unit_shift;

	switch (class) {
	case CLASS_SIGNED:
		return (uint64_t)unzigzag(varint_get(at));
	case CLASS_ADDR_PAGES:
		thread->last_addr =
			((thread->last_addr >> shift) + (uint64_t)unzigzag(varint_get(at)))
			<< shift;
		return thread->last_addr;
	case CLASS_ADDR_BYTES:
		thread->last_addr += (uint64_t)unzigzag(varint_get(at));
		return thread->last_addr;
	case CLASS_BREAK:
		thread->last_break += (uint64_t)unzigzag(varint_get(at));
		return thread->last_break;
	case CLASS_PAGES:
		return varint_get(at) << shift;
	case CLASS_FIRST:
		return event->arg[0];
	case CLASS_FILE:
		reader->last_file += (uint32_t)unzigzag(varint_get(at));
		return reader->last_file;
	case CLASS_VALUE:
	case CLASS_CONSTANT:
	case NR_CLASSES:
		break;
	}
	return varint_get(at);
}

/* 1: *ret_event is filled; 0: a call of a newer seam, skipped. */
static int read_call(struct data_reader *reader, uint64_t head, struct event *ret_event,
		     struct trace_error *error)
{
	const uint8_t *at = reader->cursor;
	const struct shape *shape;
	struct thread *thread;
	uint64_t number = head >> 2;

	if (!number || number > reader->nr_shapes || read_thread_of_call(reader, &at, head))
		return refuse_record(reader, error, "a call that names no shape or thread");
	shape = &reader->shapes[number];
	thread = &reader->threads[reader->last_thread];
	if (thread->block != reader->block_number) {
		thread->block = reader->block_number;
		thread->last_addr = thread->last_break = 0;
	}
	*ret_event = shape->event;
	set_thread(reader, ret_event, thread);
	get_times(reader, &at, ret_event);
	for (unsigned int i = 0; i < shape->nr_fields; i++)
		set_field(ret_event, shape->to[i],
			  get_field(reader, ret_event, shape->class[i], &at, thread));
	if (at > reader->end)
		return refuse_record(reader, error, "a call beyond its end");
	reader->cursor = at;
	if (ret_event->file > reader->nr_files || ret_event->stack > reader->nr_stacks)
		return refuse_record(reader, error, "a call that names no file or stack");
	if (!shape->known) {
		reader->newer = true;
		return 0;
	}
	reader->facts->calls += ret_event->kind == EVENT_CALL && trace_call_counts(ret_event->call);
	return 1;
}

/* *last_file: the last file before that is one. */
static void get_area(const struct data_reader *reader, const uint8_t **at,
		     const struct seam_area *before, uint32_t *last_file, struct seam_area *area)
{
	const unsigned int shift = reader->unit_shift;
	uint64_t mask = varint_get(at), pages = varint_get(at);
	uint64_t before_pages = (before->end - before->start) >> shift;

	*area = (struct seam_area) { .start = before->end,
				     .flags = before->flags,
				     .file = before->file };
	if (mask & AREA_GAP)
		area->start += (uint64_t)unzigzag(varint_get(at)) << shift;
	area->end = area->start + (pages << shift);
	if (mask & AREA_FLAGS)
		area->flags = varint_get(at);
	if (mask & AREA_FILE) {
		uint64_t file = varint_get(at);

		area->file = file ? (uint32_t)(*last_file + unzigzag(file - 1)) : 0;
	}
	if (area->file)
		*last_file = area->file;
	if (area->file && area->file == before->file)
		area->pgoff = before->pgoff + before_pages;
	if (mask & AREA_PGOFF)
		area->pgoff += (uint64_t)unzigzag(varint_get(at));
	if (mask & AREA_ANON) {
		area->anon_vma = (uint32_t)varint_get(at);
		area->anon_chain = (uint32_t)varint_get(at);
	}
	if (mask & AREA_IDS) {
		area->numa = (uint32_t)varint_get(at);
		area->uffd = (uint32_t)varint_get(at);
		area->name = (uint32_t)varint_get(at);
		area->traits = (uint32_t)varint_get(at);
	}
	if (mask & AREA_TAG)
		area->tag = varint_get(at);
}

static int reserve_areas(struct data_reader *reader, size_t nr)
{
	struct seam_area *areas;

	if (nr <= reader->areas_room)
		return 0;
	areas = reallocarray(reader->areas, nr, sizeof(*areas));
	if (!areas)
		return -ENOMEM;
	reader->areas = areas;
	reader->areas_room = nr;
	return 0;
}

static int get_areas(struct data_reader *reader, const uint8_t **at, const uint8_t *end,
		     struct event *event)
{
	const struct seam_area *before = &(const struct seam_area) { 0 };
	uint32_t last_file = 0;
	uint64_t nr;

	event->sees = (uint32_t)varint_get(at);
	nr = varint_get(at);
	if (*at > end || nr > DATA_MAX_AREAS || nr * 2 > (uint64_t)(end - *at))
		return -EINVAL;
	if (reserve_areas(reader, nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct seam_area *area = &reader->areas[i];

		get_area(reader, at, before, &last_file, area);
		if (*at > end || area->start < before->end || area->end < area->start ||
		    area->file > reader->nr_files)
			return -EINVAL;
		before = area;
	}
	event->areas = reader->areas;
	event->nr_areas = nr;
	return 0;
}

static int get_text(struct data_reader *reader, const uint8_t **at, const uint8_t *end,
		    struct event *event)
{
	uint64_t size;
	const uint8_t *bytes = get_bytes(at, end, &size);

	if (!bytes)
		return -EINVAL;
	if (size >= reader->text_room) {
		char *text = realloc(reader->text, size + 1);

		if (!text)
			return -ENOMEM;
		reader->text = text;
		reader->text_room = size + 1;
	}
	memcpy(reader->text, bytes, size);
	reader->text[size] = 0;
	event->text = reader->text;
	return 0;
}

static int get_args(const uint8_t **at, struct event *event)
{
	uint64_t nr = varint_get(at);

	if (nr > 6)
		return -EINVAL;
	for (unsigned int i = 0; i < nr; i++)
		event->arg[i] = varint_get(at);
	return 0;
}

/* The members that the mask names; what a later seam adds stands behind them. */
static int get_members(struct data_reader *reader, const uint8_t **at, const uint8_t *end,
		       uint64_t mask, struct event *event)
{
	int err = 0;

	if (mask & HAS_BORN)
		event->born = (uint8_t)varint_get(at);
	if (mask & HAS_ARGS && get_args(at, event))
		return -EINVAL;
	if (mask & HAS_RESULT)
		event->result = unzigzag(varint_get(at));
	if (mask & HAS_FILE)
		event->file = (uint32_t)varint_get(at);
	if (mask & HAS_STACK)
		event->stack = (uint32_t)varint_get(at);
	if (*at > end || event->file > reader->nr_files || event->stack > reader->nr_stacks)
		return -EINVAL;
	if (mask & HAS_AREAS)
		err = get_areas(reader, at, end, event);
	if (!err && mask & HAS_TEXT)
		err = get_text(reader, at, end, event);
	return err;
}

static int read_event(struct data_reader *reader, unsigned int kind, const uint8_t *at,
		      const uint8_t *end, struct event *ret_event)
{
	uint64_t mask = varint_get(&at), thread;

	*ret_event = (struct event) { .kind = (uint8_t)kind };
	get_times(reader, &at, ret_event);
	thread = varint_get(&at);
	if (!thread || thread > reader->nr_threads)
		return -EINVAL;
	set_thread(reader, ret_event, &reader->threads[thread]);
	if (mask & HAS_FLAGS)
		ret_event->flags = (uint32_t)varint_get(&at);
	return get_members(reader, &at, end, mask, ret_event);
}

/* A record with a length. 1: *ret_event is filled; 0: it was none for the caller. */
static int read_sized_record(struct data_reader *reader, uint64_t kind, struct event *ret_event,
			     struct trace_error *error)
{
	uint64_t size;
	const uint8_t *body = get_bytes(&reader->cursor, reader->end, &size);
	int err;

	if (!body)
		return refuse_record(reader, error, "a record beyond its end");
	if (kind == RECORD_FINISH) {
		reader->finished = true;
		return 0;
	}
	if (kind < RECORD_EVENT || kind > RECORD_EVENT + EVENT_NOTE ||
	    kind == RECORD_EVENT + EVENT_CALL) {
		reader->newer = true;
		return 0;
	}
	err = read_event(reader, (unsigned int)kind - RECORD_EVENT, body, body + size, ret_event);
	if (err == -EINVAL)
		return refuse_record(reader, error, "a damaged record");
	return err ? err : 1;
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
		return refuse(error, reader->at,
			      "block %" PRIu32 " where block %" PRIu32 " was due", header->number,
			      reader->block_number);
	reader->block_number++;
	if (header->kind < BLOCK_DICTIONARY || header->kind > BLOCK_BOTH) {
		reader->newer = true;
		return 0;
	}
	if (header->dictionaries > reader->nr_dictionaries)
		return refuse_record(reader, error, "needs a dictionary that is not there");
	err = unpack_block(reader, header, &raw, error);
	if (!raw)
		return err;
	end = raw + header->raw;
	if (header->kind == BLOCK_DICTIONARY)
		return read_dictionary(reader, raw, end, error);
	if (header->kind == BLOCK_BOTH) {
		uint64_t size;
		const uint8_t *dictionary = get_bytes(&raw, end, &size);

		if (!dictionary)
			return refuse_record(reader, error, "a dictionary beyond its end");
		err = read_dictionary(reader, dictionary, raw, error);
		if (err)
			return err;
	}
	reader->cursor = raw;
	reader->end = end;
	reader->last_tick = varint_get(&reader->cursor);
	reader->last_thread = reader->last_file = 0;
	return 1;
}

/* Goes on to the next block of events. 1; 0 at the end. */
static int next_block(struct data_reader *reader, struct trace_error *error)
{
	struct block_header header;
	int ret = 0;

	reader->cursor = reader->end = NULL;
	while (!ret && reader->at < reader->size && find_block(reader, &header)) {
		ret = read_block(reader, &header, error);
		reader->at += header.header_size + header.stored;
	}
	if (!ret)
		note_end(reader);
	return ret;
}

int data_reader_next(struct data_reader *reader, struct event *ret_event, struct trace_error *error)
{
	int ret;

	do {
		uint64_t head;

		while (reader->cursor >= reader->end) {
			ret = next_block(reader, error);
			if (ret <= 0)
				return ret;
		}
		head = varint_get(&reader->cursor);
		if (head & 1)
			ret = read_call(reader, head, ret_event, error);
		else
			ret = read_sized_record(reader, head >> 1, ret_event, error);
	} while (!ret);
	return ret;
}

/* ---- the interface ---- */

static int read_file_header(struct data_reader *reader, struct trace_error *error)
{
	const uint8_t *p = reader->data;
	uint32_t header_size;

	if (reader->size < DATA_MAGIC_SIZE || memcmp(p, DATA_MAGIC, DATA_MAGIC_SIZE) != 0)
		return refuse(error, 0, "not a seam.data");
	if (reader->size < DATA_HEADER_SIZE)
		return refuse(error, reader->size, "cut within its header");
	if (get_le16(p + 8) != DATA_VERSION_MAJOR)
		return refuse(error, 8,
			      "a recording of format %u.%u; this seam reads format %u: it must be "
			      "recorded anew, or read by the seam that made it",
			      get_le16(p + 8), get_le16(p + 10), DATA_VERSION_MAJOR);
	header_size = get_le32(p + 12);
	reader->tick_ns = get_le32(p + 16);
	reader->unit_shift = get_le32(p + 20);
	if (header_size < DATA_HEADER_SIZE || header_size > reader->size || !reader->tick_ns ||
	    reader->unit_shift > 30)
		return refuse(error, 12, "a damaged header");
	reader->at = header_size;
	return 0;
}

/* What the file says of its host is known before the first event: up to the first block of events. */
static int read_head(struct data_reader *reader, struct trace_error *error)
{
	struct block_header header;
	int ret = 0;

	if (!find_block(reader, &header) && !is_cut(reader))
		return refuse(error, reader->at,
			      "damaged in its first block, whose checksum is wrong: nothing of it "
			      "can be read");

	while (!ret && reader->at < reader->size && find_block(reader, &header)) {
		ret = read_block(reader, &header, error);
		reader->at += header.header_size + header.stored;
	}
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
