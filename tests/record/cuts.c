/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuts FILE [STEP]: reads a recording cut at every byte, or every STEPth, of its last 64 KiB (TAP). Each cut must give a
 * beginning of its events, as many as its whole blocks hold, and say what is missing.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "trace/data.h"
#include "trace/data_format.h"

#define TAIL 65536
/* Each cut is read as a whole: under a sanitizer there is time for few only. */
#if defined(__SANITIZE_ADDRESS__)
#define TIMES 17
#else
#define TIMES 1
#endif

/* Number of events, and a sum over all that they say; -1: an error. */
static long read_events(const struct source *source, size_t size, struct trace_facts *facts,
			uint64_t *ret_sums, long room)
{
	struct trace_error error;
	struct data_reader *reader;
	struct event event;
	uint64_t sum = 0;
	long nr = 0;
	int ret;

	*facts = (struct trace_facts) { 0 };
	if (data_reader_open(source->data, size, facts, &reader, &error))
		return -1;
	while ((ret = data_reader_next(reader, &event, &error)) > 0) {
		sum = (sum ^ event.kind ^ event.time_ns ^ event.arg[0] ^ event.arg[1] ^
		       (uint64_t)event.result ^ event.nr_areas) *
		      UINT64_C(0x9e3779b97f4a7c15);
		if (nr < room)
			ret_sums[nr] = sum;
		nr++;
	}
	data_reader_close(reader);
	return ret ? -1 : nr;
}

static size_t whole_blocks(const struct source *source, size_t size)
{
	const uint8_t *data = (const uint8_t *)source->data;
	size_t at = DATA_HEADER_SIZE;

	while (at + BLOCK_SIZE <= size &&
	       at + BLOCK_SIZE + get_le32(data + at + BLOCK_STORED) <= size)
		at += BLOCK_SIZE + get_le32(data + at + BLOCK_STORED);
	return at;
}

int main(int argc, char **argv)
{
	struct trace_facts facts;
	struct source source;
	uint64_t *whole, *cut;
	size_t begin, step = TIMES * (argc > 2 ? strtoul(argv[2], NULL, 10) : 1), bad = 0,
		      untold = 0;
	long nr_whole;

	if (argc < 2 || !step || source_open(argv[1], &source))
		return 2;
	nr_whole = read_events(&source, source.size, &facts, NULL, 0);
	if (nr_whole < 0)
		nr_whole = 0;
	if (!ok(nr_whole && facts.complete, "%ld events in %zu bytes", nr_whole, source.size))
		return tap_done();
	whole = calloc(2 * (size_t)nr_whole + 1, sizeof(*whole));
	if (!whole)
		return 2;
	cut = whole + nr_whole;
	read_events(&source, source.size, &facts, whole, nr_whole);
	begin = source.size > TAIL ? source.size - TAIL : 0;
	for (size_t size = begin > DATA_HEADER_SIZE ? begin : DATA_HEADER_SIZE; size < source.size;
	     size += step) {
		long nr = read_events(&source, size, &facts, cut, nr_whole);

		bad += nr < 0 || nr > nr_whole || (nr && cut[nr - 1] != whole[nr - 1]);
		untold += facts.complete ||
			  facts.bytes_missing != size - whole_blocks(&source, size);
	}
	ok(!bad, "every cut gives a beginning of the events (%zu do not)", bad);
	ok(!untold, "every cut is told, and how much is missing (%zu are not)", untold);
	free(whole);
	source_close(&source);
	return tap_done();
}
