/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault-lookup - a handler of SIGSEGV that asks the map what lies at the address that faulted.
 *
 *	cc fault-lookup.c $(pkg-config --cflags --libs seam) -pthread -o fault-lookup && ./fault-lookup
 *
 * Memory of a guest is given by the host only when it is touched: the first access to a page faults,
 * the handler looks the page up, and opens it on the host with the protection that the guest has
 * there. What the guest has not mapped is the guest's own fault. All the while another thread maps
 * and unmaps as fast as it can; the handler takes no lock, and may have interrupted that very thread.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seam/seam.h>

#define PAGE UINT64_C(4096)
#define KEPT_PAGES UINT64_C(512)  /* mapped from the beginning to the end, every other page */
#define BUSY_PAGES UINT64_C(1024) /* above them: what the writer maps and unmaps */
#define ROUNDS 200

static struct seam_space *space;
static unsigned char *host; /* where guest address 0 is */
static _Thread_local sigjmp_buf guest_fault;
static _Thread_local volatile sig_atomic_t expecting; /* a guest fault would be caught */
static atomic_ulong opened, faults, again;
static atomic_bool stop;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uint64_t addr = (uintptr_t)info->si_addr - (uintptr_t)host, page = addr & ~(PAGE - 1);
	struct seam_area area;
	int found, saved = errno;

	(void)sig;
	(void)context;
	if (addr >= (KEPT_PAGES + BUSY_PAGES) * PAGE)
		_exit(2);
	found = seam_read_try(space, addr, &area);
	if (found == -SEAM_EAGAIN) {
		/* the writer is too fast: the access is made again, and this handler comes again */
		atomic_fetch_add(&again, 1);
		return;
	}
	if (found == 1 && area.start <= addr && area.flags & SEAM_VM_WRITE) {
		atomic_fetch_add(&opened, 1);
		if (mprotect(host + page, PAGE, PROT_READ | PROT_WRITE))
			_exit(2);
		errno = saved;
		return;
	}
	if (!expecting)
		_exit(3);
	atomic_fetch_add(&faults, 1);
	siglongjmp(guest_fault, 1);
}

static struct seam_mmap pages_at(uint64_t page, uint64_t pages)
{
	return (struct seam_mmap) { .addr = page * PAGE,
				    .len = pages * PAGE,
				    .prot = SEAM_PROT_READ | SEAM_PROT_WRITE,
				    .flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS |
					     SEAM_MAP_FIXED };
}

/* The only thread that changes the map. It touches guest memory itself, so it faults as well. */
static void *write_map(void *arg)
{
	uint64_t state = 88172645463325252, at;

	(void)arg;
	while (!atomic_load(&stop)) {
		struct seam_mmap args;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		args = pages_at(KEPT_PAGES + (state >> 33) % (BUSY_PAGES - 8),
				1 + (state >> 60) % 8);
		if (state >> 59 & 1)
			seam_space_mmap(space, &args, &at);
		else
			seam_space_munmap(space, args.addr, args.len);
		host[(state >> 40) % (KEPT_PAGES / 2) * 2 * PAGE] = 1;
	}
	return NULL;
}

/* Touches a page. False: the guest has nothing there. */
static bool touch(uint64_t page)
{
	expecting = true;
	if (sigsetjmp(guest_fault, 1)) {
		expecting = false;
		return false;
	}
	host[page * PAGE]++;
	expecting = false;
	return true;
}

/* Every other page is there, whatever the writer does; and between them nothing is. */
static bool touch_all(void)
{
	bool good = true;

	for (unsigned int round = 0; round < ROUNDS && good; round++) {
		if (mprotect(host, KEPT_PAGES * PAGE, PROT_NONE))
			return false;
		for (uint64_t page = 0; page < KEPT_PAGES && good; page++)
			good = touch(page) == !(page & 1);
	}
	return good;
}

static bool start(void)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .flags = SEAM_SPACE_READERS };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	uint64_t at;

	host = mmap(NULL, (KEPT_PAGES + BUSY_PAGES) * PAGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (host == MAP_FAILED || seam_space_create(&options, &space) ||
	    sigaction(SIGSEGV, &action, NULL))
		return false;
	for (uint64_t page = 0; page < KEPT_PAGES; page += 2) {
		struct seam_mmap args = pages_at(page, 1);

		if (seam_space_mmap(space, &args, &at))
			return false;
	}
	return true;
}

int main(void)
{
	pthread_t writer;
	bool good;

	if (!start() || pthread_create(&writer, NULL, write_map, NULL)) {
		perror("fault-lookup");
		return 1;
	}
	good = touch_all();
	atomic_store(&stop, true);
	pthread_join(writer, NULL);
	printf("%lu pages opened, %lu faults of the guest's own, %lu looked up again; %s\n",
	       atomic_load(&opened), atomic_load(&faults), atomic_load(&again),
	       good && opened && faults ? "every page as the map has it" : "WRONG");
	seam_space_destroy(space);
	return !good || !opened || !faults;
}
