/* SPDX-License-Identifier: BSD-2-Clause */
/* The plain policy: equal neighbours join, and that is all. */
#include "tests/unit/space.h"

int main(void)
{
	static const struct seam_file file = { .id = 3, .traits = SEAM_FILE_READ };
	struct seam_space *space = space_of("plain");

	map(space, 0, 1, RW, 0);
	map(space, 2, 1, RW, 0);
	touch(space, 0, 1);
	touch(space, 2, 1);
	map(space, 1, 1, RW, SEAM_MAP_STACK);
	ok(seam_space_areas(space) == 1, "touching or the use as a stack keeps nothing apart");
	protect(space, 1, 1, R);
	ok(seam_space_areas(space) == 3, "protection does");
	protect(space, 1, 1, RW);
	ok(seam_space_areas(space) == 1, "and then does no longer");
	remap(space, 2, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 10);
	remap(space, 1, 1, 1, SEAM_MREMAP_MAYMOVE | SEAM_MREMAP_FIXED, 11);
	ok(seam_space_areas(space) == 2, "anonymous memory has no offset");
	map_file(space, &file, 20, 1, R, SEAM_MAP_PRIVATE, 0);
	map_file(space, &file, 21, 1, R, SEAM_MAP_PRIVATE, 1);
	ok(seam_space_areas(space) == 3, "a file's offsets continue");
	map_file(space, &file, 22, 1, R, SEAM_MAP_PRIVATE, 1);
	ok(seam_space_areas(space) == 4, "or do not");
	ok(!seam_space_check(space), "sound");
	seam_space_destroy(space);
	return tap_done();
}
