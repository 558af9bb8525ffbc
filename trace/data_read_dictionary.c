/* SPDX-License-Identifier: BSD-2-Clause */
/* What the events of a recording name: host, files, modules, call stacks, threads, shapes of calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/data_reader.h"

/* Strings and frames of all dictionaries together: no real recording comes near. */
#define MAX_DICTIONARY_BYTES (UINT64_C(512) << 20)

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

int reader_dictionary(struct data_reader *reader, const uint8_t *at, const uint8_t *end,
		      struct trace_error *error)
{
	const uint8_t *body;
	uint64_t size;
	int err;

	while (at < end) {
		uint64_t head = varint_get(&at);

		body = get_bytes(&at, end, &size);
		if (!body || head & 1)
			return reader_refuse(reader, error, "a dictionary record beyond its end");
		err = read_dictionary_record(reader, head >> 1, body, body + size);
		if (err == -EINVAL)
			return reader_refuse(reader, error, "a damaged dictionary record");
		if (err)
			return err;
	}
	reader->nr_dictionaries++;
	return 0;
}
