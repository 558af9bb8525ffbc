/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/magic.h>

#include "probe/procfs.h"
#include "probe/uapi.h"

#define PAGE_SIZE UINT64_C(4096)
#define POOL_SIZE (UINT64_C(64) << 20)
#define FILL UINT64_C(0x1000000000)
#define TEXT_SIZE (UINT64_C(8) << 20) /* 65,530 lines of maps */
#define FILE_SIZE (INT64_C(1) << 40)
#define FIRST_OWN_FILE 1000
#define POOL_NUMBER 999			  /* no area taken over has one as high */
#define STACK_DEPTH (UINT64_C(512) << 10) /* touched beforehand: the own stack does not grow */

#define READ SEAM_FILE_READ
#define WRITE SEAM_FILE_WRITE

/* How the files of scripts are opened (docs/ops.md); number 6 has a driver, which nobody has. */
static const struct {
	uint32_t traits;
	enum { IN_MEMORY, ON_DISK, SECRET, SOCKET, FOLDER } kind;
	int seals;
} files[NR_FDS] = {
	{ READ | WRITE, IN_MEMORY },
	{ READ | WRITE, ON_DISK },
	{ READ, IN_MEMORY },
	{ 0 },
	{ WRITE, IN_MEMORY },
	{ READ, ON_DISK },
	{ READ, IN_MEMORY },
	{ READ | WRITE, IN_MEMORY, F_SEAL_WRITE },
	{ READ | WRITE, IN_MEMORY, F_SEAL_FUTURE_WRITE },
	{ READ | WRITE, SECRET },
	{ READ | WRITE, SOCKET },
	{ READ | SEAM_FILE_NO_MMAP, FOLDER },
};

static int open_as(int file, uint32_t traits)
{
	char path[32];
	int mode = traits == SEAM_FILE_READ    ? O_RDONLY
		   : traits == SEAM_FILE_WRITE ? O_WRONLY
					       : O_RDWR;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	fd = open(path, mode | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Of the mount, or of the file system itself, which statfs does not tell of. */
static bool is_noexec(int file)
{
	void *p = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);

	if (p == MAP_FAILED)
		return errno == EPERM;
	munmap(p, PAGE_SIZE);
	return false;
}

/* What a file system does with maps of its files. */
static uint32_t traits_of(int file)
{
	struct statfs fs;
	uint32_t traits;

	if (fstatfs(file, &fs))
		return 0;
	traits = is_noexec(file) ? SEAM_FILE_NOEXEC : 0;
	switch ((uint64_t)fs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return traits | SEAM_FILE_SHMEM;
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		return traits | SEAM_FILE_THP_ALIGN | SEAM_FILE_SYNC;
	case BTRFS_SUPER_MAGIC:
		return traits | SEAM_FILE_THP_ALIGN;
	case SECRETMEM_MAGIC:
		return traits | SEAM_FILE_SECRET;
	default:
		return traits;
	}
}

/* A file without a name and with much room; where the disk has none of it, one in memory. */
static int new_file(int kind, int seals)
{
	const char *folder = getenv("TMPDIR");
	int file = -1;

	if (kind == ON_DISK)
		file = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file >= 0 && !ftruncate(file, FILE_SIZE))
		return file;
	if (file >= 0)
		close(file);
	file = memfd_create("seam-verify", MFD_CLOEXEC | (seals ? MFD_ALLOW_SEALING : 0));
	if (file < 0 || ftruncate(file, FILE_SIZE))
		return -errno;
	return seals && fcntl(file, F_ADD_SEALS, seals) ? -errno : file;
}

/* A descriptor for scripts, opened as they have it; -ENOSYS: there is no such file here. */
static int open_file(int i)
{
	int file, fd;

	if (files[i].kind == SOCKET) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	if (files[i].kind == FOLDER) {
		fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (files[i].kind == SECRET) {
		fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
		if (fd < 0)
			return -ENOSYS; /* or switched off */
		return ftruncate(fd, FILE_SIZE) ? -errno : fd;
	}
	file = new_file(files[i].kind, files[i].seals);
	if (file < 0)
		return file;
	fd = open_as(file, files[i].traits);
	close(file);
	return fd;
}

int world_open_files(struct world *world)
{
	struct model_files *model = &world->model_files;

	for (int i = 0; i < NR_FDS; i++) {
		int fd = files[i].traits ? open_file(i) : -ENOSYS;

		world->real_files.fd[i] = -1;
		model->file[i] = (struct seam_file) { 0 };
		if (fd == -ENOSYS)
			continue;
		if (fd < 0)
			return fd;
		world->real_files.fd[i] = fd;
		model->file[i] = (struct seam_file) {
			.id = (uint64_t)i + 1,
			.traits = files[i].traits | (files[i].kind == FOLDER ? 0 : traits_of(fd)),
			.seals = (uint32_t)files[i].seals,
		};
		model->refuses[i] = files[i].kind == SOCKET ? -SEAM_ENODEV : 0;
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

/* A page below and a page above every run of areas, but where the heap is to grow: its fence is there. */
static int fence_in(struct world *world)
{
	uint64_t brk = (uint64_t)sbrk(0);
	int err = read_kept(world);

	for (unsigned int i = 0; !err && i < world->nr_kept; i++) {
		err = fence(world->kept[i].start - PAGE_SIZE);
		if (!err && world->kept[i].end != brk &&
		    world->kept[i].end < world->host->options.user_end)
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

static const char *const property_names[] = {
#define WORLD_NAME(name, text) text,
	WORLD_PROPERTIES(WORLD_NAME)
#undef WORLD_NAME
};

char *world_kind_text(char *buf, uint32_t kind)
{
	size_t len = 0;

	buf[0] = 0;
	for (int i = 0; i < NR_WORLD_PROPERTIES; i++)
		if (kind >> i & 1)
			len += (size_t)snprintf(buf + len, WORLD_TEXT_SIZE - len, "%s%s",
						len ? "," : "", property_names[i]);
	return buf;
}

bool world_kind_read(const char *list, uint32_t *ret_kind)
{
	size_t len;
	int i;

	*ret_kind = 0;
	for (const char *word = list;; word += len + 1) {
		len = strcspn(word, ",");
		for (i = 0; i < NR_WORLD_PROPERTIES; i++)
			if (strlen(property_names[i]) == len &&
			    !memcmp(property_names[i], word, len))
				break;
		if (i == NR_WORLD_PROPERTIES)
			return false;
		*ret_kind |= 1u << i;
		if (!word[len])
			return true;
	}
}

static int drop_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/* What this kernel does not have is left out of the kind. */
static void become_kind(struct world *world, uint32_t kind)
{
	int persona = personality(0xffffffff);

	world->kind = 0;
	if (kind & WORLD(no_rights) && !drop_rights())
		world->kind |= WORLD(no_rights);
	if (kind & WORLD(merge_any) && !prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0))
		world->kind |= WORLD(merge_any);
	if (kind & WORLD(mdwe) && !prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		world->kind |= WORLD(mdwe);
	if (kind & WORLD(read_exec) && persona != -1 &&
	    personality((unsigned int)persona | READ_IMPLIES_EXEC) != -1)
		world->kind |= WORLD(read_exec);
}

static int make_space(struct world *world, const struct seam_policy *policy)
{
	struct seam_space_options options = world->host->options;
	struct seam_alloc alloc = pool_alloc(world->pool);

	if (world->kind & WORLD(no_rights))
		options.may = 0;
	if (world->kind & WORLD(merge_any))
		options.flags |= SEAM_SPACE_MERGE_ANY;
	if (world->kind & WORLD(mdwe))
		options.flags |= SEAM_SPACE_MDWE;
	if (world->kind & WORLD(read_exec))
		options.flags |= SEAM_SPACE_READ_IMPLIES_EXEC;
	/* the next that is free is the kernel's own */
	if (world->model_files.pkeys)
		options.exec_only_pkey = (uint32_t)__builtin_ctz(~world->model_files.pkeys);
	options.policy = policy;
	options.alloc = &alloc;
	return seam_space_create(&options, &world->space);
}

/*
 * Where data and heap begin is in /proc/self/stat only, for those who may trace; 0 there otherwise.
 * @field: start_data is 45, end_data 46, start_brk 47; the one behind the name is 3.
 */
static uint64_t bound_from_stat(int field)
{
	char text[2048], *p;
	uint64_t value = 0;

	if (procfs_read(text, sizeof(text), "/proc/self/stat") <= 0)
		return 0;
	p = strrchr(text, ')');
	for (int at = 2; p && at < field; at++)
		p = strchr(p + 1, ' ');
	for (p = p ? p + 1 : NULL; p && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

static void take_bounds(struct world *world)
{
	uint64_t start_brk = bound_from_stat(47);

	seam_space_set_code(world->space, 0, bound_from_stat(45), bound_from_stat(46));
	seam_space_set_brk(world->space, start_brk, (uint64_t)sbrk(0));
	world->heap_known = start_brk;
}

/* Which of the calls that a kernel or a sandbox may not have are there. */
static void look_for_calls(struct world *world)
{
	void *page = world->pool->end - PAGE_SIZE;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	int id = shmget(IPC_PRIVATE, PAGE_SIZE, 0600);

	world->has_uffd = fd >= 0;
	if (fd >= 0)
		close(fd);
	world->has_shm = id >= 0 && !shmctl(id, IPC_RMID, NULL);
	world->has_mbind = !syscall(SYS_mbind, page, 0, 0, NULL, 0, 0);
	world->has_merge = prctl(PR_GET_MEMORY_MERGE, 0, 0, 0, 0) >= 0;
	world->has_names = !prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page, 0, NULL);
}

int world_begin(struct world *world, const struct host *host, const struct seam_policy *policy,
		uint32_t kind, const char **ret_what)
{
	int err;

	world->host = host;
	touch_stack();
	real_begin();
	*ret_what = "memory for the model";
	world->pool = pool_create(POOL_SIZE);
	if (!world->pool)
		return -errno;
	world->text = pool_take(world->pool, TEXT_SIZE);
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
	become_kind(world, kind);
	look_for_calls(world);
	/* keys 1 and 2, where the CPU has them; it gives 0 to all memory */
	world->model_files.pkeys = real_alloc_keys(2);
	*ret_what = "the model";
	err = make_space(world, policy);
	if (!err)
		err = adopt_all(world);
	if (err)
		return err;
	take_bounds(world);
	return 0;
}

int world_forked(struct world *world)
{
	real_forked(&world->real_files);
	look_close(&world->look);
	return look_open(&world->look, 0, world->text, TEXT_SIZE);
}

int world_share(struct world *world)
{
	struct seen seen;
	int persona = personality(0xffffffff), r;

	/* not readable memory that is executable too: PR_SET_MDWE would refuse it */
	personality((unsigned int)persona & ~(unsigned int)READ_IMPLIES_EXEC);
	r = pool_share(world->pool);
	personality((unsigned int)persona);
	look_again(&world->look);
	if (!r)
		r = look_all_begin(&world->look);
	if (r)
		return r;
	while ((r = look_all_next(&world->look, &seen)) > 0)
		if (seen.start <= (uint64_t)world->pool && seen.end > (uint64_t)world->pool)
			return adopt_one(world, &seen, POOL_NUMBER);
	return r ? r : -ENOENT;
}

/* Neighbours differ in protection, and what is adopted joins nothing. */
static int fill_one(struct world *world, uint64_t number)
{
	bool readable = number % 2;
	struct seam_area area = {
		.start = FILL + number * PAGE_SIZE,
		.end = FILL + (number + 1) * PAGE_SIZE,
		.flags = SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC |
			 (readable ? SEAM_VM_READ : 0) |
			 (readable && world->kind & WORLD(read_exec) ? SEAM_VM_EXEC : 0),
		.pgoff = FILL / PAGE_SIZE + number,
	};

	if (mmap((void *)area.start, PAGE_SIZE, readable ? PROT_READ : PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		return -errno;
	return seam_space_adopt(world->space, &area);
}

int world_limit(struct world *world, uint64_t nr)
{
	uint64_t limit = seam_space_limit(world->space, SEAM_LIMIT_AREAS);
	uint64_t areas = seam_space_areas(world->space);
	struct range *filled = &world->kept[world->nr_kept];
	int err = 0;

	if (nr < areas || nr > limit || world->filled || world->nr_kept == MAX_KEPT)
		return -E2BIG;
	for (uint64_t i = 0; !err && i < limit - nr; i++)
		err = fill_one(world, i);
	*filled = (struct range) { FILL, FILL + (limit - nr) * PAGE_SIZE };
	world->nr_kept++;
	world->filled_to = filled->end;
	world->filled = true;
	return err;
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
