/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How emulators have lost guest memory, with this process as the host: two threads' map and unmap
 * that cross, and a host call that fails when the guest's map has already changed. Each page of an
 * arena must in the end be to the host what the map says of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/space.h"

#define PAGES 64
#define CALLS 20000
#define THREADS 4

static unsigned char *arena;
static struct seam_space *space;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int read_only;

struct guest {
	pthread_t thread;
	uint64_t state;
	unsigned long committed, failed;
	bool wrong;
};

static uint64_t below(struct guest *guest, uint64_t limit)
{
	guest->state ^= guest->state << 13;
	guest->state ^= guest->state >> 7;
	guest->state ^= guest->state << 17;
	return guest->state % limit;
}

/* Guest memory that is unmapped stays reserved: PROT_NONE and no reserve. */
static bool reserve(uint64_t addr, uint64_t len)
{
	return mmap((void *)(uintptr_t)addr, len, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* What the guest asks for; every eighth map is one that the host refuses: a file opened for reading. */
static bool host_call(const struct seam_call *call, bool refused)
{
	void *at = (void *)(uintptr_t)(call->op == SEAM_OP_MMAP ? call->mmap->addr : call->addr);

	switch (call->op) {
	case SEAM_OP_MMAP:
		if (refused)
			return mmap(at, call->mmap->len, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_FIXED, read_only, 0) != MAP_FAILED;
		return mmap(at, call->mmap->len, (int)call->mmap->prot,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	case SEAM_OP_MUNMAP:
		return reserve(call->addr, call->len);
	default:
		return !mprotect(at, call->len, (int)call->flags);
	}
}

static void make_call(struct guest *guest, struct seam_call *call, struct seam_mmap *mmap)
{
	uint64_t first = below(guest, PAGES), most = PAGES - first;
	uint64_t len = (1 + below(guest, most < 5 ? most : 5)) * PAGE;
	static const uint32_t prots[] = { R, RW };

	*call = (struct seam_call) { .op = SEAM_OP_MUNMAP,
				     .pkey = -1,
				     .addr = (uintptr_t)arena + first * PAGE,
				     .len = len };
	switch (below(guest, 3)) {
	case 0:
		*mmap = (struct seam_mmap) { .addr = call->addr,
					     .len = len,
					     .prot = prots[below(guest, 2)],
					     .flags = ANON | FIXED };
		call->op = SEAM_OP_MMAP;
		call->mmap = mmap;
		break;
	case 1:
		call->op = SEAM_OP_MPROTECT;
		call->flags = prots[below(guest, 2)];
		break;
	}
}

/* One guest call, as seam/ask.h has it: the lock spans ask, host and commit or abort. */
static void *run_guest(void *arg)
{
	struct guest *guest = arg;

	for (unsigned int i = 0; i < CALLS && !guest->wrong; i++) {
		struct seam_answer answer;
		struct seam_call call;
		struct seam_mmap mmap;
		bool done;

		make_call(guest, &call, &mmap);
		pthread_mutex_lock(&lock);
		guest->wrong = seam_space_ask(space, &call, &answer);
		done = !guest->wrong && !answer.result &&
		       host_call(&call, call.op == SEAM_OP_MMAP && !below(guest, 8));
		if (done)
			seam_space_commit(space);
		else
			seam_space_abort(space);
		pthread_mutex_unlock(&lock);
		guest->committed += done;
		guest->failed += !done;
	}
	return NULL;
}

/* The protection of each page of the arena, as /proc/self/maps has it. */
static bool read_host(uint32_t prots[PAGES])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char perms[5], line[512];
	unsigned int pages = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3)
			continue;
		for (; start < end; start += PAGE) {
			uint64_t page = (start - (uintptr_t)arena) / PAGE;

			if (start < (uintptr_t)arena || page >= PAGES)
				continue;
			prots[page] = (perms[0] == 'r' ? R : 0) |
				      (perms[1] == 'w' ? SEAM_PROT_WRITE : 0);
			pages++;
		}
	}
	if (maps)
		fclose(maps);
	return pages == PAGES;
}

static bool host_agrees(void)
{
	uint32_t prots[PAGES];
	struct seam_area area;

	if (!read_host(prots))
		return false;
	for (uint64_t page = 0; page < PAGES; page++) {
		uint64_t at = (uintptr_t)arena + page * PAGE;
		uint32_t prot = 0;

		if (seam_area_find(space, at, &area) && area.start <= at)
			prot = area.flags & (SEAM_VM_READ | SEAM_VM_WRITE);
		if (prot != prots[page]) {
			printf("# page %u: %x in the map, %x on the host\n", (unsigned int)page,
			       prot, prots[page]);
			return false;
		}
	}
	return true;
}

static void threads(void)
{
	struct guest guests[THREADS] = { 0 };
	unsigned long committed = 0, failed = 0;
	bool wrong = false;

	for (unsigned int i = 0; i < THREADS; i++) {
		guests[i].state = 88172645463325252 + i;
		if (pthread_create(&guests[i].thread, NULL, run_guest, &guests[i]))
			exit(1);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(guests[i].thread, NULL);
		committed += guests[i].committed;
		failed += guests[i].failed;
		wrong |= guests[i].wrong;
	}
	ok(!wrong && committed && failed, "%u threads' calls: %lu done, %lu refused by the host",
	   THREADS, committed, failed);
	ok(!seam_space_check(space) && host_agrees(),
	   "every page is to the host what the map says");
}

/*
 * Two threads cross: one has asked to unmap a range and not yet done it when the other, whose
 * embedder forgot the lock, maps there. It is turned away, and nothing of either is lost.
 */
static void crossing(void)
{
	struct seam_mmap mmap = { .addr = (uintptr_t)arena + 8 * PAGE,
				  .len = 4 * PAGE,
				  .prot = RW,
				  .flags = ANON | FIXED };
	struct seam_call map_it = { .op = SEAM_OP_MMAP, .pkey = -1, .mmap = &mmap };
	struct seam_call unmap_it = { .op = SEAM_OP_MUNMAP, .addr = mmap.addr, .len = mmap.len };
	struct seam_answer first, second;
	uint64_t at;
	int agrees;

	seam_space_munmap(space, (uintptr_t)arena, PAGES * PAGE);
	reserve((uintptr_t)arena, PAGES * PAGE);
	ok(!seam_space_ask(space, &map_it, &first) && host_call(&map_it, false),
	   "map: asked, done");
	ok(seam_space_ask(space, &unmap_it, &second) == -SEAM_EBUSY &&
		   seam_space_call(space, &unmap_it, &second) == -SEAM_EBUSY &&
		   seam_space_apply(space, &unmap_it, 0, 0, &agrees) == -SEAM_EBUSY &&
		   seam_space_munmap(space, mmap.addr, PAGE) == -SEAM_EBUSY &&
		   seam_space_mmap(space, &mmap, &at) == -SEAM_EBUSY &&
		   seam_space_set_tag(space, mmap.addr, PAGE, 1) == -SEAM_EBUSY &&
		   seam_space_forget(space, mmap.addr, mmap.addr + PAGE) == -SEAM_EBUSY,
	   "nobody else changes the map before it is committed");
	seam_space_commit(space);
	ok(host_agrees() && seam_space_areas(space) == 1, "committed: both have the memory");
	ok(!seam_space_call(space, &unmap_it, &second) && host_call(&unmap_it, false) &&
		   host_agrees() && !seam_space_areas(space),
	   "the other's unmap comes after");
}

/* The host refuses a map over memory that the guest has: that memory must still be there. */
static void refused_over_memory(void)
{
	struct seam_mmap mmap = {
		.addr = (uintptr_t)arena, .len = 4 * PAGE, .prot = RW, .flags = ANON | FIXED
	};
	struct seam_call call = { .op = SEAM_OP_MMAP, .pkey = -1, .mmap = &mmap };
	struct seam_answer answer;

	ok(!seam_space_ask(space, &call, &answer) && host_call(&call, false), "guest memory");
	seam_space_commit(space);
	arena[PAGE] = 42;
	mmap.prot = R;
	mmap.addr += PAGE;
	mmap.len = PAGE;
	ok(!seam_space_ask(space, &call, &answer) && answer.areas == 3 && !host_call(&call, true) &&
		   errno == EACCES,
	   "the host refuses to map over it");
	seam_space_abort(space);
	ok(host_agrees() && seam_space_areas(space) == 1 && arena[PAGE] == 42,
	   "it is there, in the map and on the host");
}

int main(void)
{
	struct seam_space_options options = space_options("plain");

	if (sysconf(_SC_PAGESIZE) != PAGE) {
		printf("1..0 # skip the host's pages are not of 4 KiB\n");
		return 0;
	}
	arena = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		     0);
	read_only = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (arena == MAP_FAILED || read_only < 0)
		return 1;
	options.user_end = UINT64_C(1) << 56;
	space = space_new(&options);
	threads();
	crossing();
	refused_over_memory();
	seam_space_destroy(space);
	return tap_done();
}
