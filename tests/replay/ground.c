/* SPDX-License-Identifier: BSD-2-Clause */
/* Where recorded memory lies: the pieces of ranges that are here, moved, gone and taken. */
#include "replay/ground.h"

#include <string.h>

#include "tests/tap.h"

#define PAGE 0x1000u

/* The pieces of [start, end) as "kind:start-end@at", in pages. */
static const char *pieces(struct ground *ground, uint64_t start, uint64_t end, bool recorded)
{
	static const char kinds[] = {
		[GROUND_HERE] = 'h', [GROUND_MOVED] = 'm', [GROUND_FREED] = 'f',
		[GROUND_GONE] = 'g', [GROUND_TAKEN] = 't',
	};
	static char text[512];
	struct piece piece;
	size_t at = 0;

	text[0] = 0;
	while (recorded ? ground_next_recorded(ground, start, end, &piece)
			: ground_next(ground, start, end, &piece)) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%c%llu-%llu", at ? " " : "",
				       kinds[piece.kind], (unsigned long long)piece.start / PAGE,
				       (unsigned long long)piece.end / PAGE);
		if (piece.kind == GROUND_MOVED)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "@%llu",
					       (unsigned long long)piece.at / PAGE);
		start = piece.end;
	}
	return text;
}

static void holds(struct ground *ground, uint64_t start, uint64_t end, bool recorded,
		  const char *expected)
{
	const char *found = pieces(ground, start * PAGE, end * PAGE, recorded);

	if (!ok(!strcmp(found, expected), "[%llu, %llu) is %s", (unsigned long long)start,
		(unsigned long long)end, expected))
		printf("# found %s\n", found);
}

int main(void)
{
	struct ground ground = { 0 }, copy = { 0 };

	holds(&ground, 0, 10, false, "h0-10");
	ok(ground_is_plain(&ground), "nothing has moved");
	ok(!ground_settle(&ground, 4 * PAGE, 2 * PAGE, 4 * PAGE) && ground_is_plain(&ground),
	   "memory that lies where it was recorded leaves no trace");

	/* 20-24 lies at 5-9; its neighbour 24-26 at 9-11, which is the same distance */
	ok(!ground_settle(&ground, 20 * PAGE, 4 * PAGE, 5 * PAGE), "settle");
	holds(&ground, 18, 26, false, "h18-20 m20-24@5 h24-26");
	ok(!ground_settle(&ground, 24 * PAGE, 2 * PAGE, 9 * PAGE), "settle its neighbour");
	holds(&ground, 18, 26, false, "h18-20 m20-26@5");
	holds(&ground, 21, 23, false, "m21-23@6");
	holds(&ground, 0, 12, false, "h0-5 t5-11 h11-12");
	holds(&ground, 0, 12, true, "h0-12");
	ok(ground_is_taken(&ground, 0, 6 * PAGE) && !ground_is_taken(&ground, 0, 5 * PAGE),
	   "taken in part");
	ok(ground_translate(&ground, 22 * PAGE + 17) == 7 * PAGE + 17, "an address inside");
	ok(ground_translate(&ground, 26 * PAGE) == 26 * PAGE, "an address behind the end");

	ok(!ground_lose(&ground, 26 * PAGE, PAGE), "lose");
	holds(&ground, 24, 28, false, "m24-26@9 g26-27 h27-28");
	ok(ground_translate(&ground, 26 * PAGE) == 26 * PAGE, "lost memory has no place");

	ok(!ground_freed(&ground, 21 * PAGE, 22 * PAGE), "freed");
	holds(&ground, 20, 23, false, "m20-21@5 f21-22 m22-23@7");
	ok(ground_translate(&ground, 21 * PAGE) == 6 * PAGE, "where it was is remembered");
	ok(!ground_settle(&ground, 21 * PAGE, PAGE, 6 * PAGE), "filled again");
	holds(&ground, 20, 23, false, "m20-23@5");
	ok(!ground_lose(&ground, 30 * PAGE, PAGE) && !ground_freed(&ground, 30 * PAGE, 31 * PAGE),
	   "what was lost and is freed");
	holds(&ground, 30, 31, false, "h30-31");

	ok(!ground_copy(&ground, &copy), "copy");
	ok(!ground_forget(&ground, 20 * PAGE, 27 * PAGE), "forget");
	holds(&ground, 18, 28, false, "h18-28");
	holds(&ground, 0, 12, false, "h0-5 t5-11 h11-12");
	ok(!ground_release(&ground, 5 * PAGE, 6 * PAGE), "release");
	ok(ground_is_plain(&ground), "all is here again");
	holds(&copy, 18, 28, false, "h18-20 m20-26@5 g26-27 h27-28");
	ground_free(&copy);
	ground_free(&ground);
	return tap_done();
}
