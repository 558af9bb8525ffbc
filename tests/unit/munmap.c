/* SPDX-License-Identifier: BSD-2-Clause */
/* munmap: what is cut, what is refused, what a refusal leaves behind. */
#include "tests/unit/space.h"

static void cuts(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 10, RW, 0);
	touch(space, 0, 1);
	ok(!unmap(space, 20, 4), "a hole");
	ok(!unmap(space, 3, 2) && !unmap(space, 0, 1) && !unmap(space, 9, 5), "middle, head, tail");
	holds(space, 0, "1-3rw:1 5-9rw:1", "two are left, of one anon_vma");
	ok(!unmap(space, 2, 4), "over a hole");
	holds(space, 0, "1-2rw:1 6-9rw:1", "both are cut");
	seam_space_destroy(space);
}

static void errors(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 4, RW, 0);
	ok(seam_space_munmap(space, AT(0) + 1, PAGE) == -SEAM_EINVAL, "not aligned");
	ok(seam_space_munmap(space, AT(0), 0) == -SEAM_EINVAL, "length 0");
	ok(seam_space_munmap(space, AT(0), UINT64_MAX) == -SEAM_EINVAL, "a length that wraps");
	ok(seam_space_munmap(space, UINT64_C(1) << 47, PAGE) == -SEAM_EINVAL, "beyond user space");
	holds(space, 0, "0-4rw", "nothing was done");
	seam_space_destroy(space);
}

/* What was cut before the sealed area was met stays cut. */
static void sealed(void)
{
	struct seam_space *space = space_of("linux-6.18.44");

	map(space, 0, 6, RW, 0);
	ok(!seam_space_mseal(space, AT(4), PAGE, 0), "sealed");
	ok(unmap(space, 4, 1) == -SEAM_EPERM, "a sealed area stays");
	ok(unmap(space, 2, 3) == -SEAM_EPERM, "and what lies before it");
	holds(space, 0, "0-2rw 2-4rw 4-5rwS 5-6rw", "one cut is left behind");
	seam_space_destroy(space);
}

/* Memory that its driver will not have cut. */
static void whole(void)
{
	struct seam_area vdso = {
		.start = AT(0),
		.end = AT(2),
		.flags = SEAM_VM_READ | SEAM_VM_EXEC | SEAM_VM_DONTEXPAND,
		.file = 99,
		.traits = SEAM_TRAIT_NO_SPLIT,
	};
	struct seam_space *space = space_of("linux-6.18.44");

	seam_space_adopt(space, &vdso);
	ok(unmap(space, 1, 1) == -SEAM_EINVAL, "a part of the vdso");
	ok(!unmap(space, 0, 2), "all of it");
	seam_space_destroy(space);
}

int main(void)
{
	cuts();
	errors();
	sealed();
	whole();
	return tap_done();
}
