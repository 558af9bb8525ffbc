/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/procfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_some(int fd, char *buf, size_t size)
{
	ssize_t len;

	do
		len = read(fd, buf, size);
	while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

ssize_t procfs_read(char *buf, size_t size, const char *format, ...)
{
	char path[512];
	size_t len = 0;
	ssize_t got;
	va_list args;
	int fd, path_len;

	va_start(args, format);
	path_len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (path_len < 0 || (size_t)path_len >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((got = read_some(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	buf[len] = 0;
	return got < 0 ? got : (ssize_t)len;
}

ssize_t procfs_read_comm(char *buf, size_t size, pid_t tid)
{
	ssize_t len = procfs_read(buf, size, "/proc/%d/comm", (int)tid);

	if (len > 0 && buf[len - 1] == '\n')
		buf[--len] = '\0';
	return len;
}

int procfs_read_number(uint64_t *ret_value, const char *path)
{
	char text[32], *end;
	ssize_t len = procfs_read(text, sizeof(text), "%s", path);
	unsigned long long value;

	if (len < 0)
		return (int)len;
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL; /* "max" of a cgroup */
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || (*end && *end != '\n'))
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static int field(const char *text, const char *key, int base, uint64_t *ret_value)
{
	size_t len = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, key, len) || text[len] != ':')
			continue;
		*ret_value = strtoull(text + len + 1, NULL, base);
		return 1;
	}
	return 0;
}

int procfs_field(const char *text, const char *key, uint64_t *ret_value)
{
	return field(text, key, 10, ret_value);
}

int procfs_field_hex(const char *text, const char *key, uint64_t *ret_value)
{
	return field(text, key, 16, ret_value);
}

int procfs_count_areas(pid_t tid, uint64_t *ret_areas)
{
	static const char gate[] = "[vsyscall]\n";
	enum { TAIL = sizeof(gate) - 1 };
	char buf[TAIL + 65536], path[32];
	uint64_t lines = 0;
	size_t tail = 0; /* bytes kept in front from the last read */
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((got = read_some(fd, buf + tail, sizeof(buf) - tail)) > 0) {
		const char *end = buf + tail + got;
		size_t all = tail + (size_t)got;

		for (const char *at = buf + tail; (at = memchr(at, '\n', (size_t)(end - at))); at++)
			lines++;
		tail = all < TAIL ? all : TAIL;
		memmove(buf, end - tail, tail);
	}
	close(fd);
	if (got < 0)
		return (int)got;
	/* the gate is the last line, if it is there */
	if (tail == TAIL && !memcmp(buf, gate, TAIL))
		lines--;
	*ret_areas = lines;
	return 0;
}
