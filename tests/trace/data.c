/* SPDX-License-Identifier: BSD-2-Clause */
/* seam.data: what is written is read again; any cut and any damage is survived and told. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/random.h"
#include "tests/tap.h"
#include "trace/crc32c.h"
#include "trace/data.h"
#include "trace/data_format.h"

#define NR_EVENTS 20000
#define TICK_NS 100
#define MAX_GAP 1000000 /* ticks */
#define MAX_DURATION 5000
#define MAX_TEST_AREAS 40

/* Small, page-aligned, negative or any: what arguments look like. */
static uint64_t random_value(void)
{
	uint64_t value = random_bits();

	switch (random_bits() % 6) {
	case 0:
		return 0;
	case 1:
		return value & 0xff;
	case 2:
		return 0x7f0000000000 + ((value & 0xfffff) << 12);
	case 3:
		return UINT64_MAX - (value & 1);
	case 4:
		return (value & 0xffff) << 12;
	default:
		return value;
	}
}

struct recorded {
	struct event event;
	struct seam_area areas[MAX_TEST_AREAS];
	char text[16];
};

static void random_areas(struct recorded *recorded, uint32_t nr_files)
{
	uint64_t at = 0;

	recorded->event.nr_areas = random_bits() % MAX_TEST_AREAS;
	recorded->event.sees = 1 + (uint32_t)(random_bits() & 0xffff);
	for (size_t i = 0; i < recorded->event.nr_areas; i++) {
		struct seam_area *area = &recorded->areas[i];

		area->start = at + (random_bits() % 3 ? 0 : (random_bits() & 0xffff) << 12);
		area->end = at = area->start + (1 + (random_bits() & 0xff)) * 4096;
		area->flags = random_bits() & 0x7ff;
		area->file = random_bits() % (nr_files + 1);
		area->pgoff = random_value();
		area->anon_vma = (uint32_t)random_value();
		area->anon_chain = area->anon_vma & 3;
		area->name = random_bits() % 4 ? 0 : 7;
		area->tag = random_bits() % 4 ? 0 : random_bits();
	}
	recorded->event.areas = recorded->areas;
}

static void random_event(struct recorded *recorded, uint32_t nr_files, uint32_t nr_stacks)
{
	static uint64_t now_ns;
	struct event *event = &recorded->event;

	now_ns += (random_bits() % MAX_GAP) * TICK_NS;
	event->kind = random_bits() % 8 ? EVENT_CALL : (uint8_t)(random_bits() % (EVENT_NOTE + 1));
	event->space = (uint32_t)random_bits() % 5;
	event->pid = 100 + event->space;
	event->tid = event->pid + (uint32_t)random_bits() % 3;
	event->time_ns = now_ns;
	event->duration_ns = (random_bits() % MAX_DURATION) * TICK_NS;
	event->flags = random_bits() % 4 ? 0 : EVENT_COMPAT;
	event->result = (int64_t)random_value();
	event->stack = random_bits() % 3 ? 0 : (uint32_t)random_bits() % (nr_stacks + 1);
	if (event->kind == EVENT_CALL) {
		event->call = (uint8_t)(random_bits() % TRACE_NR_CALLS);
		event->file = random_bits() % 2 ? 0 : (uint32_t)random_bits() % (nr_files + 1);
		for (int i = 0; i < trace_call_args(event->call); i++)
			event->arg[i] = random_value();
		if (random_bits() % 8 == 0)
			event->result = (int64_t)event->arg[0];
		return;
	}
	event->born = event->kind == EVENT_SPACE ? random_bits() % 3 : 0;
	event->arg[0] = random_value();
	event->arg[1] = random_value();
	if (random_bits() % 2)
		random_areas(recorded, nr_files);
	if (random_bits() % 2) {
		snprintf(recorded->text, sizeof(recorded->text), "text %u", event->tid);
		event->text = recorded->text;
	}
}

static bool same_areas(const struct event *a, const struct event *b)
{
	if (a->nr_areas != b->nr_areas || a->sees != b->sees)
		return false;
	for (size_t i = 0; i < a->nr_areas; i++)
		if (memcmp(&a->areas[i], &b->areas[i], sizeof(*a->areas)) != 0)
			return false;
	return true;
}

/* Times are kept in five bits of the time since the event before, and no error adds up. */
static bool near(uint64_t a, uint64_t b, uint64_t span)
{
	return (a > b ? a - b : b - a) <= span / 32;
}

static bool same_event(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->call == b->call && a->born == b->born &&
	       a->flags == b->flags && a->space == b->space && a->pid == b->pid &&
	       a->tid == b->tid && a->stack == b->stack && a->file == b->file &&
	       near(a->time_ns, b->time_ns, (MAX_GAP + MAX_DURATION) * TICK_NS) &&
	       near(a->duration_ns, b->duration_ns, b->duration_ns) &&
	       memcmp(a->arg, b->arg, sizeof(a->arg)) == 0 && a->result == b->result &&
	       same_areas(a, b) && !a->text == !b->text && (!a->text || !strcmp(a->text, b->text));
}

static struct recorded *events;
static uint8_t *file;
static size_t file_size;

static int memory_file(void)
{
	int fd = memfd_create("seam.data", MFD_CLOEXEC);

	if (fd < 0) {
		printf("1..0 # SKIP memfd_create: %s\n", strerror(errno));
		exit(77);
	}
	return fd;
}

static void read_back(int fd)
{
	struct stat st;

	fstat(fd, &st);
	file_size = (size_t)st.st_size;
	file = malloc(file_size);
	if (!file || pread(fd, file, file_size, 0) != (ssize_t)file_size)
		abort();
	close(fd);
}

static const struct trace_host host = { .release = "6.18.44",
					.thp = "madvise",
					.page_shift = 12,
					.address_bits = 47,
					.max_areas = 65530,
					.overcommit = 1,
					.min_addr = 65536,
					.stack_gap = 1 << 20 };

static void write_all_events(void)
{
	struct data_writer *writer;
	int fd = memory_file(), err = 0;
	char path[32];

	ok(!data_writer_open(fd, &host, TICK_NS, &writer), "writer opened");
	for (uint32_t i = 1; i <= 9; i++) {
		snprintf(path, sizeof(path), "/lib/file%u", i % 7);
		err |= data_write_file(writer, &(struct trace_file) { .dev = 5,
								      .ino = i,
								      .path = path,
								      .known = 1,
								      .description = i }) != i;
		err |= data_write_module(writer, &(struct trace_module) { .path = path,
									  .build_id = { 1 },
									  .build_id_size = 20 }) !=
		       (i > 7 ? i - 7 : i);
		err |= data_write_stack(
			       writer, &(struct trace_stack) {
					       (const struct trace_frame[]) { { 1, i }, { 0, 77 } },
					       2 }) != i + 1;
	}
	err |= data_write_file(writer, &(struct trace_file) { .dev = 5,
							      .ino = 8,
							      .path = "/lib/file1",
							      .known = 1,
							      .description = 77 }) != 10;
	ok(!err, "files, modules and stacks are numbered from 1");
	for (size_t i = 0; i < NR_EVENTS; i++) {
		random_event(&events[i], 9, 9);
		err |= data_write(writer, &events[i].event);
	}
	ok(!err, "%d events written", NR_EVENTS);
	ok(!data_writer_close(writer, NULL), "writer closed");
	read_back(fd);
}

static size_t first_block_end(void)
{
	return DATA_HEADER_SIZE + BLOCK_SIZE + get_le32(file + DATA_HEADER_SIZE + BLOCK_STORED);
}

/* How many events of the first @size bytes are as written; -1: one is not, or an error. */
static long read_prefix(size_t size, struct trace_facts *facts)
{
	struct trace_error error = { 0 };
	struct data_reader *reader;
	struct event event;
	long nr = 0;
	int ret;

	*facts = (struct trace_facts) { 0 };
	if (data_reader_open(file, size, facts, &reader, &error))
		return size < DATA_HEADER_SIZE ? 0 : -1;
	while ((ret = data_reader_next(reader, &event, &error)) > 0) {
		if (nr >= NR_EVENTS || !same_event(&event, &events[nr].event)) {
			printf("# event %ld of kind %u differs\n", nr, event.kind);
			ret = -1;
			break;
		}
		nr++;
	}
	if (ret < 0)
		printf("# %s\n", error.text);
	data_reader_close(reader);
	return ret < 0 ? -1 : nr;
}

static void test_round_trip(void)
{
	struct trace_facts facts;

	ok(read_prefix(file_size, &facts) == NR_EVENTS, "every event is read as it was written");
	ok(facts.complete && !facts.bytes_missing && !facts.nr_reasons, "and the file is complete");
	ok(!strcmp(facts.host.release, host.release) && !strcmp(facts.host.thp, host.thp) &&
		   facts.host.max_areas == host.max_areas && facts.host.min_addr == host.min_addr &&
		   facts.host.stack_gap == host.stack_gap &&
		   facts.host.page_shift == host.page_shift &&
		   facts.host.address_bits == host.address_bits &&
		   facts.host.overcommit == host.overcommit,
	   "the host is read as it was written");
}

static void test_dictionaries(void)
{
	struct trace_facts facts = { 0 };
	struct trace_error error;
	struct data_reader *reader;
	struct event event;

	if (data_reader_open(file, file_size, &facts, &reader, &error) ||
	    data_reader_next(reader, &event, &error) != 1)
		abort();
	ok(!strcmp(data_reader_file(reader, 8)->path, "/lib/file1") &&
		   data_reader_file(reader, 8)->ino == 8 && !data_reader_file(reader, 11) &&
		   !data_reader_file(reader, 0),
	   "files by number");
	ok(!strcmp(data_reader_file(reader, 10)->path, "/lib/file1") &&
		   data_reader_file(reader, 10)->description == 77 &&
		   data_reader_file(reader, 9)->description == 9,
	   "another description of a file");
	ok(data_reader_module(reader, 7)->build_id_size == 20 && !data_reader_module(reader, 8),
	   "modules by number");
	ok(data_reader_stack(reader, 10)->nr_frames == 2 &&
		   data_reader_stack(reader, 10)->frames[0].offset == 9 &&
		   data_reader_stack(reader, 10)->frames[1].offset == 77 &&
		   !data_reader_stack(reader, 11),
	   "stacks by number");
	data_reader_close(reader);
}

/* Where the last whole block of the first @size bytes ends. */
static size_t whole_blocks(size_t size)
{
	size_t at = DATA_HEADER_SIZE;

	while (at + BLOCK_SIZE <= size &&
	       at + BLOCK_SIZE + get_le32(file + at + BLOCK_STORED) <= size)
		at += BLOCK_SIZE + get_le32(file + at + BLOCK_STORED);
	return at;
}

static void test_cut(void)
{
	struct trace_facts facts;
	bool good = true, told = true;
	long before = 0;

	/* at every byte near the begin, then at strides that meet every offset of a block */
	for (size_t cut = 0; cut < file_size;
	     cut += cut < 2000 || cut + 100 > file_size ? 1 : 997) {
		long nr = read_prefix(cut, &facts);

		good &= nr >= before;
		before = nr;
		if (cut < DATA_HEADER_SIZE)
			continue;
		told &= !facts.complete && facts.nr_reasons == 1 &&
			facts.bytes_missing == cut - whole_blocks(cut);
	}
	ok(good, "a file cut anywhere gives its whole blocks");
	ok(told, "and says how much is missing");
}

static void test_damage(void)
{
	struct trace_facts facts;
	struct trace_error error = { 0 };
	struct data_reader *reader;
	size_t first = first_block_end();
	long good = 0, nr;

	for (int i = 0; i < 300; i++) {
		size_t at = first + random_bits() % (file_size - first);
		uint8_t bit = (uint8_t)(1 << random_bits() % 8);

		file[at] ^= bit;
		nr = read_prefix(file_size, &facts);
		good += nr >= 0 && nr < NR_EVENTS && !facts.complete;
		file[at] ^= bit;
	}
	ok(good == 300, "a flipped bit anywhere loses its block and what follows, and is told");
	file[first - 1] ^= 4;
	ok(data_reader_open(file, file_size, &facts, &reader, &error) == -EINVAL &&
		   strstr(error.text, "damaged in its first block"),
	   "in the first block it is an error (%s)", error.text);
	file[first - 1] ^= 4;
}

static void test_versions(void)
{
	struct trace_error error = { 0 };
	struct trace_facts facts = { 0 };
	struct data_reader *reader;

	file[8]++;
	ok(data_reader_open(file, file_size, &facts, &reader, &error) == -EINVAL &&
		   strstr(error.text, "format 3.0"),
	   "a later format is refused by name");
	file[8] = 1;
	ok(data_reader_open(file, file_size, &facts, &reader, &error) == -EINVAL &&
		   strstr(error.text, "format 1.0") && strstr(error.text, "recorded anew"),
	   "so is an earlier one");
	file[8] = DATA_VERSION_MAJOR;
	file[10] = 9;
	ok(read_prefix(file_size, &facts) == NR_EVENTS, "a later minor version is read");
	file[10] = 0;
	ok(data_reader_open("ELF", 3, &facts, &reader, &error) == -EINVAL,
	   "another file is refused");
}

/* A file of stored blocks, put together by hand from the text of docs/file-format.md. */
static uint8_t hand[4096];
static size_t hand_size;

static void hand_bytes(const void *bytes, size_t size)
{
	memcpy(hand + hand_size, bytes, size);
	hand_size += size;
}

static void hand_block(unsigned int kind, uint32_t number, uint32_t dictionaries,
		       const void *payload, uint32_t size)
{
	uint8_t *block = hand + hand_size;

	memset(block, 0, BLOCK_SIZE);
	put_le32(block + BLOCK_MAGIC, DATA_BLOCK_MAGIC);
	block[BLOCK_KIND] = (uint8_t)kind;
	put_le16(block + BLOCK_HEADER_SIZE, BLOCK_SIZE);
	put_le32(block + BLOCK_STORED, size);
	put_le32(block + BLOCK_RAW, size);
	put_le32(block + BLOCK_NUMBER, number);
	put_le32(block + BLOCK_DICTIONARIES, dictionaries);
	memcpy(block + BLOCK_SIZE, payload, size);
	put_le32(block + BLOCK_CRC, crc32c(0, block + BLOCK_KIND, BLOCK_SIZE - BLOCK_KIND + size));
	hand_size += BLOCK_SIZE + size;
}

/* A shape whose arguments have @classes, one byte each; result, file and stack are constant 0. */
static size_t hand_shape(uint8_t *to, const char *name, const uint8_t *classes, size_t nr_args)
{
	uint8_t *at = varint_put(to + 2, strlen(name));

	while (*name)
		*at++ = (uint8_t)*name++;
	at = varint_put(at, 0);
	at = varint_put(at, nr_args + 3);
	for (size_t i = 0; i < nr_args; i++)
		at = varint_put(at, classes[i]);
	for (unsigned int i = 0; i < 3; i++)
		at = varint_put(varint_put(at, CLASS_CONSTANT), 0);
	to[0] = RECORD_SHAPE << 1;
	to[1] = (uint8_t)(at - to - 2);
	return (size_t)(at - to);
}

static void hand_file(void)
{
	static const uint8_t call_events[] = {
		0,			   /* time base */
		1 << 2 | 3, 1, 2, 0, 2, 7, /* shape 1, thread 1: munmap(1 page, 7 pages) */
		2 << 2 | 1, 2, 0, 9, 9, 9, /* shape 2: a call of a later seam */
		3 << 2 | 1, 2, 0, 1, 1,	   /* shape 3: a class of a later seam */
		50 << 1,    1, 5,	   /* a record of a later seam */
		1 << 2 | 1, 2, 0, 2, 1,	   /* munmap(2 pages, 1 page) */
		48 << 1,    2, 4, 4,	   /* finish */
	};
	static const uint8_t entries[] = {
		3 << 1,	 3, 0,	  84,	2, /* thread 1: space 0, pid 42, tid 43 */
		60 << 1, 2, 0xff, 0xff,	   /* a record of a later seam */
	};
	uint8_t dictionary[256];
	size_t size = sizeof(entries);

	memcpy(dictionary, entries, size);
	size += hand_shape(dictionary + size, "munmap",
			   (const uint8_t[]) { CLASS_ADDR_PAGES, CLASS_PAGES }, 2);
	size += hand_shape(dictionary + size, "teleport", (const uint8_t[]) { 1, 2, 1 }, 3);
	size += hand_shape(dictionary + size, "munmap", (const uint8_t[]) { 30, CLASS_PAGES }, 2);
	hand_size = 0;
	hand_bytes(file, DATA_HEADER_SIZE);
	hand_block(BLOCK_DICTIONARY, 0, 0, dictionary, (uint32_t)size);
	hand_block(9, 1, 0, "later", 5);
	hand_block(BLOCK_EVENTS, 2, 1, call_events, sizeof(call_events));
}

static void test_newer(void)
{
	struct trace_facts facts = { 0 };
	struct trace_error error = { 0 };
	struct data_reader *reader;
	struct event first = { 0 }, second = { 0 }, none;

	hand_file();
	if (data_reader_open(hand, hand_size, &facts, &reader, &error))
		abort();
	ok(data_reader_next(reader, &first, &error) == 1 && first.call == TRACE_CALL_munmap &&
		   first.arg[0] == 0x1000 && first.arg[1] == 0x7000 && first.pid == 42 &&
		   first.tid == 43,
	   "a file made by hand is read (%s)", error.text);
	ok(data_reader_next(reader, &second, &error) == 1 && second.arg[0] == 0x2000 &&
		   second.arg[1] == 0x1000 && second.time_ns == 4 * TICK_NS,
	   "blocks, records, calls and classes of a later seam are skipped (%s)", error.text);
	ok(!data_reader_next(reader, &none, &error) && !facts.complete && facts.nr_reasons == 1 &&
		   strstr(facts.incomplete_because[0], "later seam"),
	   "and this is told");
	ok(facts.calls == 2, "two calls");
	data_reader_close(reader);
}

static void test_spans(void)
{
	bool exact = true, good = true, rising = true;
	uint64_t before = 0;

	for (uint64_t value = 0; value < 32; value++)
		exact &= span_code(value) == value && span_value(value) == value;
	ok(exact, "short times are exact");
	for (uint64_t value = 1; value < UINT64_MAX / 3; value += 1 + value / 77) {
		uint64_t back = span_value(span_code(value));

		good &= near(back, value, value);
		rising &= back >= before;
		before = back;
	}
	ok(good && rising, "others are to one part in 32, and in order");
}

/* Is a recording of @nr calls whole? */
static bool is_whole(unsigned int nr)
{
	struct event event = { .kind = EVENT_CALL, .call = TRACE_CALL_munmap, .pid = 1, .tid = 1 };
	struct trace_facts facts = { 0 };
	struct data_writer *writer;
	struct data_reader *reader;
	struct trace_error error;
	uint8_t *others = file;
	size_t others_size = file_size;
	int fd = memory_file();

	if (data_writer_open(fd, &host, TICK_NS, &writer))
		abort();
	for (unsigned int i = 0; i < nr; i++) {
		event.arg[0] = (uint64_t)i << 12;
		data_write(writer, &event);
	}
	data_writer_close(writer, NULL);
	read_back(fd);
	if (!data_reader_open(file, file_size, &facts, &reader, &error)) {
		while (data_reader_next(reader, &event, &error) > 0)
			;
		data_reader_close(reader);
	}
	free(file);
	file = others;
	file_size = others_size;
	return facts.calls == nr && facts.complete;
}

/* One that ends while a draft of its block is being written; this meets few of these moments. */
static void test_ends(void)
{
	unsigned int good = 0;

	for (unsigned int i = 0; i < 1000; i++)
		good += is_whole((unsigned int)random_bits() % 4000);
	ok(good == 1000, "recordings are whole whenever they end (%u of 1000)", good);
}

static size_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (size_t)st.st_size;
}

/* The bytes that the draft of a block with all events takes: when no other has come for a while. */
static size_t drafted_size(int fd)
{
	size_t size = 0;

	for (unsigned int quiet = 0; quiet < 40; quiet++) {
		if (size_of(fd) != size)
			quiet = 0;
		size = size_of(fd);
		usleep(10000);
	}
	return size;
}

/* The last block is packed with more care than its draft was, and is shorter. */
static void test_shorter_than_its_draft(void)
{
	struct event event = { .kind = EVENT_CALL, .call = TRACE_CALL_mmap, .pid = 1, .tid = 1 };
	struct data_writer *writer;
	uint64_t bytes = 0;
	size_t drafted;
	int fd = memory_file();

	if (data_writer_open(fd, &host, TICK_NS, &writer))
		abort();
	for (unsigned int i = 0; i < 4000; i++) {
		event.time_ns += TICK_NS * (1 + random_bits() % 50);
		event.arg[1] = (1 + random_bits() % 9) << 12;
		event.result = 0x7f0000000000 + (int64_t)(random_bits() % 4096 << 12);
		data_write(writer, &event);
	}
	drafted = drafted_size(fd);
	data_writer_close(writer, &bytes);
#ifdef HAVE_ZSTD
	ok(bytes < drafted, "a block of %" PRIu64 " bytes over a draft of %zu", bytes, drafted);
#endif
	ok(size_of(fd) == bytes, "nothing of the draft is left behind it (%zu)", size_of(fd));
	close(fd);
}

/* How many events the file has by now. */
static unsigned int nr_events_in(int fd)
{
	size_t size = size_of(fd);
	uint8_t *now = malloc(size + 1);
	struct trace_facts facts = { 0 };
	struct data_reader *reader;
	struct trace_error error;
	struct event event;
	unsigned int nr = 0;

	if (!now || pread(fd, now, size, 0) != (ssize_t)size ||
	    data_reader_open(now, size, &facts, &reader, &error))
		abort();
	while (data_reader_next(reader, &event, &error) > 0)
		nr++;
	data_reader_close(reader);
	free(now);
	return nr;
}

/* Over an earlier recording, of which nobody may read anything from the beginning on. */
static void test_replaces(void)
{
	struct event event = { .kind = EVENT_CALL, .call = TRACE_CALL_munmap, .pid = 1, .tid = 1 };
	struct data_writer *writer;
	uint64_t bytes = 0;
	int fd = memory_file();

	if (pwrite(fd, file, file_size, 0) != (ssize_t)file_size)
		abort();
	ok(nr_events_in(fd) == NR_EVENTS, "there is an earlier recording");
	if (data_writer_open(fd, &host, TICK_NS, &writer) ||
	    data_writer_replaces(writer, file_size))
		abort();
	ok(!nr_events_in(fd), "who begins another and is killed has recorded nothing");
	data_write(writer, &event);
	for (unsigned int i = 0; i < 1000 && size_of(fd) == file_size; i++)
		usleep(10000);
	ok(size_of(fd) < file_size && nr_events_in(fd) == 1,
	   "the earlier file gives way to the first draft (%zu)", size_of(fd));
	data_writer_close(writer, &bytes);
	ok(size_of(fd) == bytes, "nothing of it is left behind (%zu)", size_of(fd));
	close(fd);
}

static void test_full_disk(void)
{
	struct data_writer *writer;
	int fds[2], err = 0;

	if (pipe(fds))
		abort();
	close(fds[0]);
	ok(data_writer_open(fds[1], &host, TICK_NS, &writer) == -EPIPE,
	   "a closed pipe is told at once");
	if (pipe(fds) || data_writer_open(fds[1], &host, TICK_NS, &writer))
		abort();
	close(fds[0]);
	for (size_t i = 0; i < NR_EVENTS; i++)
		err = data_write(writer, &events[i].event);
	ok(err == -EPIPE && data_writer_error(writer) == -EPIPE, "or by the calls after it broke");
	ok(data_writer_close(writer, NULL) == -EPIPE, "and again when it is closed");
	close(fds[1]);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	events = calloc(NR_EVENTS, sizeof(*events));
	if (!events)
		return 1;
	ok(crc32c(0, "123456789", 9) == 0xe3069283, "CRC-32C of its check value");
	test_spans();
	write_all_events();
	test_round_trip();
	test_dictionaries();
	test_cut();
	test_damage();
	test_versions();
	test_newer();
	test_ends();
	test_shorter_than_its_draft();
	test_replaces();
	test_full_disk();
	free(events);
	free(file);
	return tap_done();
}
