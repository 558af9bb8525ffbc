/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/world.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/procfs.h"

#define PAGE_SIZE UINT64_C(4096)
#define POOL_SIZE (UINT64_C(256) << 20)
#define TEXT_SIZE (UINT64_C(1) << 20)
#define FILE_SIZE (INT64_C(1) << 40)
#define FIRST_OWN_FILE 1000
#define STACK_DEPTH (UINT64_C(512) << 10) /* touched beforehand: the own stack does not grow */

/* How the files of scripts are opened (docs/ops.md); number 6 has a driver, which nobody has. */
static const uint32_t file_traits[NR_FDS] = {
	SEAM_FILE_READ | SEAM_FILE_WRITE,
	SEAM_FILE_READ | SEAM_FILE_WRITE,
	SEAM_FILE_READ,
	0,
	SEAM_FILE_WRITE,
	SEAM_FILE_READ,
	SEAM_FILE_READ,
};

static int open_as(int file, uint32_t traits)
{
	char path[32] = "/proc/self/fd/";
	int mode = traits == SEAM_FILE_READ    ? O_RDONLY
		   : traits == SEAM_FILE_WRITE ? O_WRONLY
					       : O_RDWR;
	size_t at = strlen(path);
	int fd;

	for (int div = 1000; div; div /= 10)
		if (file >= div)
			path[at++] = (char)('0' + file / div % 10);
	path[at] = 0;
	fd = open(path, mode | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int world_open_files(struct world *world)
{
	for (int i = 0; i < NR_FDS; i++) {
		uint32_t traits = file_traits[i];
		int file, fd;

		world->real_files.fd[i] = -1;
		world->model_files.file[i] = (struct seam_file) { 0 };
		if (!traits)
			continue;
		file = memfd_create("seam-verify", MFD_CLOEXEC);
		if (file < 0 || ftruncate(file, FILE_SIZE))
			return -errno;
		fd = open_as(file, traits);
		if (fd < 0)
			return fd;
		close(file);
		world->real_files.fd[i] = fd;
		world->model_files.file[i] = (struct seam_file) {
			.id = (uint64_t)i + 1,
			.traits = traits | SEAM_FILE_SHMEM,
		};
	}
	return 0;
}

static void touch_stack(void)
{
	volatile char deep[STACK_DEPTH];

	for (uint64_t i = 0; i < STACK_DEPTH; i += PAGE_SIZE)
		deep[i] = 0;
	(void)deep[0];
}

static bool is_stack(const struct seen *seen)
{
	return seen->flags & SEAM_VM_GROWSDOWN;
}

static int fence(uint64_t at)
{
	void *p = mmap((void *)at, PAGE_SIZE, PROT_NONE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return p == MAP_FAILED && errno != EEXIST ? -errno : 0;
}

/* The touching areas as ranges; the stack with the room that it may grow into. */
static int read_kept(struct world *world)
{
	struct seen seen;
	struct range *last = NULL;
	int r = look_all_begin(&world->look);

	world->nr_kept = 0;
	if (r)
		return r;
	while ((r = look_all_next(&world->look, &seen)) > 0) {
		if (is_stack(&seen))
			seen.start -= STACK_ROOM;
		if (last && last->end >= seen.start) {
			last->end = seen.end;
			continue;
		}
		if (world->nr_kept == MAX_KEPT)
			return -E2BIG;
		last = &world->kept[world->nr_kept++];
		*last = (struct range) { seen.start, seen.end };
	}
	return r;
}

/* A page below and a page above every run of areas. */
static int fence_in(struct world *world)
{
	int err = read_kept(world);

	for (unsigned int i = 0; !err && i < world->nr_kept; i++) {
		err = fence(world->kept[i].start - PAGE_SIZE);
		if (!err && world->kept[i].end < world->host->options.user_end)
			err = fence(world->kept[i].end);
	}
	return err ? err : read_kept(world);
}

/* Two pages more of heap, the upper one a fence: what brk adds later stands apart. */
static int fence_heap(struct world *world)
{
	uint64_t end = ((uint64_t)sbrk(0) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
	void *p;

	if (brk((void *)(end + 2 * PAGE_SIZE)))
		return -errno;
	p = mmap((void *)(end + PAGE_SIZE), PAGE_SIZE, PROT_NONE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	world->heap_floor = end + 2 * PAGE_SIZE;
	return 0;
}

/* What the kernel does not show gets numbers that nothing else has. */
static int adopt_one(struct world *world, const struct seen *seen, uint32_t number)
{
	struct seam_area area = {
		.start = seen->start,
		.end = seen->end,
		.flags = seen->flags,
		.pgoff = (seen->inode ? seen->offset : seen->start) / PAGE_SIZE,
		.file = seen->inode ? FIRST_OWN_FILE + number : 0,
		.traits = seen->flags & SEAM_VM_SPECIAL ? SEAM_TRAIT_NO_SPLIT : 0,
	};

	if (!(seen->flags & SEAM_VM_MAYSHARE)) {
		area.anon_vma = number;
		area.anon_chain = 2;
	}
	return seam_space_adopt(world->space, &area);
}

static int adopt_all(struct world *world)
{
	struct seen seen;
	uint32_t number = 0;
	int r = look_all_begin(&world->look);

	while (!r && (r = look_all_next(&world->look, &seen)) > 0)
		r = adopt_one(world, &seen, ++number);
	return r;
}

static int make_space(struct world *world, const struct seam_policy *policy)
{
	struct seam_space_options options = world->host->options;
	struct seam_alloc alloc = pool_alloc(&world->pool);

	options.policy = policy;
	options.alloc = &alloc;
	return seam_space_create(&options, &world->space);
}

/* Where brk counts from is in /proc/self/stat only, for those who may trace; 0 there otherwise. */
static uint64_t start_of_heap(void)
{
	char text[2048], *p;
	uint64_t value = 0;

	if (procfs_read(text, sizeof(text), "/proc/self/stat") <= 0)
		return 0;
	p = strrchr(text, ')');
	/* start_brk is field 47; the one behind the name is 3 */
	for (int field = 2; p && field < 47; field++)
		p = strchr(p + 1, ' ');
	for (p = p ? p + 1 : NULL; p && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

int world_begin(struct world *world, const struct host *host, const struct seam_policy *policy,
		const char **ret_what)
{
	int err;

	world->host = host;
	touch_stack();
	real_begin();
	*ret_what = "memory for the model";
	err = pool_create(&world->pool, POOL_SIZE);
	world->text = err ? NULL : pool_take(&world->pool, TEXT_SIZE);
	if (!world->text)
		return err ? err : -ENOMEM;
	*ret_what = "/proc/self/maps and smaps";
	err = look_open(&world->look, 0, world->text, TEXT_SIZE);
	if (err)
		return err;
	*ret_what = "fencing in the process's own memory";
	err = fence_heap(world);
	if (!err)
		err = fence_in(world);
	if (err)
		return err;
	*ret_what = "the model";
	err = make_space(world, policy);
	if (!err)
		err = adopt_all(world);
	if (err)
		return err;
	seam_space_set_brk(world->space, start_of_heap(), (uint64_t)sbrk(0));
	return 0;
}

int world_forked(struct world *world)
{
	look_close(&world->look);
	return look_open(&world->look, 0, world->text, TEXT_SIZE);
}

bool world_allows(const struct world *world, uint64_t start, uint64_t len)
{
	uint64_t end = start + len;

	if (end < start)
		return false;
	for (unsigned int i = 0; i < world->nr_kept; i++)
		if (start < world->kept[i].end && end > world->kept[i].start)
			return false;
	return true;
}
