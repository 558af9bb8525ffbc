/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fibers-at-limit [MAPPINGS] - a server of today in small: one fiber a client, each on a stack of
 * its own with a guard page below, as most fiber libraries make them. It takes clients until it is
 * refused memory. Every stack costs two mappings, and vm.max_map_count is reached long before the
 * memory is used up.
 *
 * With MAPPINGS it stops by itself when it holds about so many (for hosts with a very high limit).
 * Then it says why and waits for a byte on standard input, so that one can look at it; where that is
 * /dev/null, as a shell gives it to what a script starts in the background, for a signal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_SIZE (64ul * 1024)
#define GUARD_SIZE 4096ul
#define MAPPINGS_PER_FIBER 2

static ucontext_t scheduler, fiber;
static unsigned long nr_served;

/* What a client gets: its fiber runs once and is then parked for ever. */
static void serve(void)
{
	nr_served++;
	swapcontext(&fiber, &scheduler);
}

/* NULL: errno tells why. */
static char *make_stack(void)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int err;

	if (stack == MAP_FAILED)
		return NULL;
	if (mprotect(stack, GUARD_SIZE, PROT_NONE)) {
		err = errno;
		munmap(stack, STACK_SIZE);
		errno = err;
		return NULL;
	}
	return stack;
}

static int accept_client(void)
{
	char *stack = make_stack();

	if (!stack)
		return -1;
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = STACK_SIZE;
	makecontext(&fiber, serve, 0);
	swapcontext(&scheduler, &fiber);
	return 0;
}

/* No stdio from here on: at the limit there is no memory for its buffers. */
static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		exit(2);
}

/* Until somebody has looked. */
static int wait_for_end(void)
{
	struct stat input;
	char byte;

	while (!fstat(STDIN_FILENO, &input) && S_ISCHR(input.st_mode) && !isatty(STDIN_FILENO))
		pause();
	return read(STDIN_FILENO, &byte, 1) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) / MAPPINGS_PER_FIBER : 0;
	char text[160];
	int status = 0;

	while (!most || nr_served < most) {
		if (accept_client()) {
			snprintf(text, sizeof(text), "client %lu refused: %s\n", nr_served + 1,
				 strerror(errno));
			status = 1;
			break;
		}
	}
	if (!status)
		snprintf(text, sizeof(text), "stopped as asked, with %lu clients\n", nr_served);
	say(text);
	return wait_for_end() ? 2 : status;
}
