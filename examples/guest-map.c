/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest-map - how a user-space emulator keeps its guest's memory.
 *
 *	cc guest-map.c $(pkg-config --cflags --libs seam) -o guest-map && ./guest-map
 *
 * The guest has 64 MiB of its own, which lie somewhere in the host process. Each guest call is asked
 * of libseam first, then made on the host, then committed; so the map never says what the host has
 * not done. What the map changes is told to a hook, which keeps the emulator's page table: one entry
 * a guest page, which translated code would look at. Files behind guest memory are payloads: one is
 * closed when the last area that maps it goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seam/seam.h>

#define PAGE_SHIFT 12
#define PAGE (UINT64_C(1) << PAGE_SHIFT)
#define GUEST_BYTES (UINT64_C(64) << 20)
#define GUEST_PAGES (GUEST_BYTES >> PAGE_SHIFT)
#define LOWEST (UINT64_C(16) * PAGE) /* the guest's mmap_min_addr */
#define PRESENT 0x80

/* What stands behind guest memory that is not anonymous: the tag of its areas. */
struct backing {
	int fd;
	unsigned long areas;
};

struct guest {
	struct seam_space *space;
	pthread_mutex_t lock;	    /* held from ask to commit */
	unsigned char *host;	    /* where guest address 0 is */
	uint8_t table[GUEST_PAGES]; /* PRESENT and SEAM_PROT_* */
	unsigned int open_files;
};

/* Payloads: the areas count them. */

static void retain(void *ctx, uint64_t tag)
{
	struct backing *backing = (struct backing *)(uintptr_t)tag;

	(void)ctx;
	backing->areas++;
}

static void release(void *ctx, uint64_t tag)
{
	struct backing *backing = (struct backing *)(uintptr_t)tag;
	struct guest *guest = ctx;

	if (--backing->areas)
		return;
	close(backing->fd);
	free(backing);
	guest->open_files--;
}

/* The page table: what the map says of this range now. */
static void refresh(struct guest *guest, const struct seam_space *space, uint64_t start,
		    uint64_t end)
{
	struct seam_area area;
	uint64_t at = start;

	memset(guest->table + (start >> PAGE_SHIFT), 0, (end - start) >> PAGE_SHIFT);
	while (seam_area_next(space, &at, &area) && area.start < end) {
		uint64_t from = area.start > start ? area.start : start;
		uint64_t to = area.end < end ? area.end : end;

		memset(guest->table + (from >> PAGE_SHIFT),
		       PRESENT | (int)(area.flags & SEAM_VM_RWX), (to - from) >> PAGE_SHIFT);
	}
}

/* Called for each change of a call that is carried out, with the space as it is after the call. */
static void on_change(void *ctx, const struct seam_space *space, const struct seam_change *change)
{
	static const char *const kinds[] = {
		[SEAM_CHANGE_REMOVED] = "removed", [SEAM_CHANGE_MOVED] = "moved",
		[SEAM_CHANGE_SPLIT] = "split",	   [SEAM_CHANGE_JOINED] = "joined",
		[SEAM_CHANGE_CHANGED] = "changed", [SEAM_CHANGE_CREATED] = "created",
	};
	struct guest *guest = ctx;

	printf("\t%s", kinds[change->kind]);
	if (change->kind != SEAM_CHANGE_CREATED) {
		printf(" %llx-%llx", (unsigned long long)change->before.start,
		       (unsigned long long)change->before.end);
		refresh(guest, space, change->before.start, change->before.end);
	}
	if (change->kind != SEAM_CHANGE_REMOVED) {
		printf(" -> %llx-%llx", (unsigned long long)change->after.start,
		       (unsigned long long)change->after.end);
		refresh(guest, space, change->after.start, change->after.end);
	}
	putchar('\n');
}

/* The host's side of a guest call. The place is the guest's, or the library's choice for it. */

/* Guest memory that is not mapped is no access, so that nothing else of the host comes there. */
static bool host_munmap(unsigned char *at, uint64_t len)
{
	return mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		    0) != MAP_FAILED;
}

static bool host_mmap(unsigned char *at, const struct seam_mmap *args)
{
	const struct backing *backing = (const struct backing *)(uintptr_t)args->tag;
	int flags = MAP_PRIVATE | MAP_FIXED | (backing ? 0 : MAP_ANONYMOUS);

	/* translated code runs, the guest's own does not */
	return mmap(at, args->len, (int)args->prot & ~PROT_EXEC, flags, backing ? backing->fd : -1,
		    (off_t)(args->pgoff << PAGE_SHIFT)) != MAP_FAILED;
}

static bool host_call(const struct guest *guest, const struct seam_call *call, uint64_t addr)
{
	unsigned char *at = guest->host + addr;

	switch (call->op) {
	case SEAM_OP_MMAP:
		return host_mmap(at, call->mmap);
	case SEAM_OP_MUNMAP:
		return host_munmap(at, call->len);
	case SEAM_OP_MPROTECT:
		return !mprotect(at, call->len, (int)call->flags & ~PROT_EXEC);
	default:
		errno = ENOSYS;
		return false;
	}
}

/* A guest call: ask, host, commit. 0 or -errno, which are Linux's in the library too. */
static int make(struct guest *guest, const struct seam_call *call, uint64_t *ret_value)
{
	struct seam_answer answer = { 0 };
	int err;

	pthread_mutex_lock(&guest->lock);
	err = seam_space_ask(guest->space, call, &answer);
	if (!err)
		err = answer.result;
	if (!err && !host_call(guest, call, call->op == SEAM_OP_MMAP ? answer.value : call->addr))
		err = -errno;
	if (err)
		seam_space_abort(guest->space);
	else
		seam_space_commit(guest->space);
	pthread_mutex_unlock(&guest->lock);
	*ret_value = answer.value;
	return err;
}

static int guest_mmap(struct guest *guest, const struct seam_mmap *args, uint64_t *ret_addr)
{
	struct seam_call call = { .op = SEAM_OP_MMAP, .mmap = args };

	return make(guest, &call, ret_addr);
}

static int guest_munmap(struct guest *guest, uint64_t addr, uint64_t len)
{
	struct seam_call call = { .op = SEAM_OP_MUNMAP, .addr = addr, .len = len };
	uint64_t unused;

	return make(guest, &call, &unused);
}

static int guest_mprotect(struct guest *guest, uint64_t addr, uint64_t len, uint32_t prot)
{
	struct seam_call call = {
		.op = SEAM_OP_MPROTECT, .pkey = -1, .addr = addr, .len = len, .flags = prot
	};
	uint64_t unused;

	return make(guest, &call, &unused);
}

static int guest_start(struct guest *guest)
{
	struct seam_payload payload = {
		.size = sizeof(payload), .retain = retain, .release = release, .ctx = guest
	};
	struct seam_space_options options = {
		.size = sizeof(options),
		/* what the guest takes itself to run on */
		.policy = seam_policy_find("linux-6.18.44"),
		.user_end = GUEST_BYTES,
		.mmap_base = GUEST_BYTES,
		.legacy_base = LOWEST,
		.min_addr = LOWEST,
		.payload = &payload,
	};

	pthread_mutex_init(&guest->lock, NULL);
	guest->host = mmap(NULL, GUEST_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (guest->host == MAP_FAILED || seam_space_create(&options, &guest->space))
		return -1;
	seam_space_set_hook(guest->space, on_change, guest);
	return 0;
}

/* A guest at work */

static bool expect(const char *what, bool good)
{
	printf("%s: %s\n", good ? "good" : "WRONG", what);
	return good;
}

/* The page table, page by page, against the map. */
static bool table_is_right(const struct guest *guest)
{
	for (uint64_t page = 0; page < GUEST_PAGES; page++) {
		uint64_t addr = page << PAGE_SHIFT;
		struct seam_area area;
		uint8_t entry = 0;

		if (seam_area_find(guest->space, addr, &area) && area.start <= addr)
			entry = PRESENT | (uint8_t)(area.flags & SEAM_VM_RWX);
		if (guest->table[page] != entry)
			return false;
	}
	return true;
}

static struct backing *open_backing(struct guest *guest, const char *path)
{
	struct backing *backing = calloc(1, sizeof(*backing));

	if (!backing)
		return NULL;
	backing->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (backing->fd < 0) {
		free(backing);
		return NULL;
	}
	guest->open_files++;
	return backing;
}

static bool anonymous_memory(struct guest *guest)
{
	struct seam_mmap args = { .len = 8 * PAGE,
				  .prot = SEAM_PROT_READ | SEAM_PROT_WRITE,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS };
	bool good = true;
	uint64_t addr = 0, next;

	puts("the guest maps eight pages, guards one, takes the guard away, unmaps:");
	good &= !guest_mmap(guest, &args, &addr);
	guest->host[addr + PAGE] = 42;
	good &= !guest_mprotect(guest, addr, PAGE, SEAM_PROT_NONE);
	good &= expect("a guard is another area", seam_space_areas(guest->space) == 2);
	good &= !guest_mprotect(guest, addr, PAGE, SEAM_PROT_READ | SEAM_PROT_WRITE);
	good &= !guest_mmap(guest, &args, &next);
	good &= expect("new memory comes to lie below, and is one with it",
		       next + args.len == addr && seam_space_areas(guest->space) == 1);
	good &= expect("its content is where it was", guest->host[addr + PAGE] == 42);
	good &= expect("the page table follows",
		       guest->table[addr >> PAGE_SHIFT] ==
				       (PRESENT | SEAM_PROT_READ | SEAM_PROT_WRITE) &&
			       table_is_right(guest));
	return good & !guest_munmap(guest, next, 16 * PAGE);
}

static bool mapped_file(struct guest *guest)
{
	struct backing *backing = open_backing(guest, "/proc/self/exe");
	struct seam_file file = { .id = 1, .traits = SEAM_FILE_READ };
	struct seam_mmap args = { .len = 4 * PAGE,
				  .prot = SEAM_PROT_READ,
				  .flags = SEAM_MAP_PRIVATE,
				  .file = &file,
				  .tag = (uintptr_t)backing };
	bool good = backing;
	uint64_t addr = 0;

	if (!good)
		return false;
	puts("the guest maps a file, unmaps a page in its middle, then the rest:");
	good &= !guest_mmap(guest, &args, &addr);
	good &= expect("the guest reads the file", !memcmp(guest->host + addr, "\177ELF", 4));
	good &= !guest_munmap(guest, addr + PAGE, PAGE);
	good &= expect("two areas hold it", backing->areas == 2 && guest->open_files == 1);
	good &= expect("the page table follows", table_is_right(guest));
	good &= !guest_munmap(guest, addr, 4 * PAGE);
	return good & expect("nobody maps it any more: closed", !guest->open_files);
}

/* The host refuses what the map allows: the guest's memory must stay as it was. */
static bool refused_by_host(struct guest *guest)
{
	struct seam_file file = { .id = 2, .traits = SEAM_FILE_READ };
	struct backing closed = { .fd = -1, .areas = 1 };
	struct seam_mmap args = { .addr = LOWEST,
				  .len = 2 * PAGE,
				  .prot = SEAM_PROT_READ | SEAM_PROT_WRITE,
				  .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED };
	bool good = true;
	uint64_t addr = 0;

	puts("the host refuses a file that is closed:");
	good &= !guest_mmap(guest, &args, &addr);
	guest->host[addr] = 42;
	args.flags = SEAM_MAP_PRIVATE | SEAM_MAP_FIXED;
	args.prot = SEAM_PROT_READ;
	args.file = &file;
	args.tag = (uintptr_t)&closed;
	good &= expect("the guest is told", guest_mmap(guest, &args, &addr) == -EBADF);
	good &= expect("its memory is there, in the map and on the host",
		       seam_space_areas(guest->space) == 1 && guest->host[LOWEST] == 42 &&
			       closed.areas == 1 && table_is_right(guest));
	return good;
}

int main(void)
{
	static struct guest guest;
	bool good;

	if (guest_start(&guest)) {
		perror("guest-map");
		return 1;
	}
	good = anonymous_memory(&guest) & mapped_file(&guest) & refused_by_host(&guest);
	seam_space_destroy(guest.space);
	munmap(guest.host, GUEST_BYTES);
	return !good;
}
