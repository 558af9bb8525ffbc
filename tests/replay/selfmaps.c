/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes mappings that join and others that do not, some by a child, and prints its own map: nothing
 * changes between that and its end.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

static char *map_at(char *addr, size_t len, int prot, int flags)
{
	char *p = mmap(addr, len, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static void make_mappings(void)
{
	for (int i = 0; i < 60; i++) {
		char *p = map_at(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, 0);

		if (i % 4)
			p[0] = 1;
		if (i % 3 == 0)
			mprotect(p, PAGE, PROT_READ);
		if (i % 5 == 0)
			munmap(p + PAGE, PAGE);
	}
	mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Two pages written to, each by itself, and one between them: it joins one of the two alone. */
static void map_between(void)
{
	char *p = map_at(NULL, 3 * PAGE, PROT_NONE, 0);

	for (int i = 0; i < 3; i += 2)
		*map_at(p + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED) = 1;
	map_at(p + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED);
}

static int print_maps(void)
{
	static char text[1 << 16];
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return 1;
	while ((len = read(fd, text, sizeof(text))) > 0)
		if (write(STDOUT_FILENO, text, (size_t)len) != len)
			return 1;
	return len != 0;
}

int main(void)
{
	pid_t child;

	make_mappings();
	map_between();
	child = fork();
	if (child)
		waitpid(child, NULL, 0);
	else
		make_mappings();
	return child ? print_maps() : 0;
}
