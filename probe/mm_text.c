/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/mm_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_CHUNK (256 << 10)
#define PATH_SIZE 128

static int read_all(int fd, struct mm_text *ret_text)
{
	struct mm_text text = { NULL, 0 };
	size_t room = 0;
	ssize_t got;

	do {
		if (room - text.size < READ_CHUNK) {
			size_t wanted = room * 2 + READ_CHUNK;
			char *data = realloc(text.data, wanted + 1);

			if (!data) {
				free(text.data);
				return -ENOMEM;
			}
			text.data = data;
			room = wanted;
		}
		got = read(fd, text.data + text.size, room - text.size);
		if (got > 0)
			text.size += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0) {
		int error = errno;

		free(text.data);
		return -error;
	}
	text.data[text.size] = '\0';
	*ret_text = text;
	return 0;
}

/* -ESRCH for an empty file too. */
static int read_path(const char *path, struct mm_text *ret_text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = read_all(fd, ret_text);
	close(fd);
	if (!r && !ret_text->size) {
		mm_text_free(ret_text);
		return -ESRCH;
	}
	return r;
}

static int read_by_thread(pid_t pid, const char *file, struct mm_text *ret_text)
{
	char path[PATH_SIZE];
	struct dirent *entry;
	int r = -ESRCH;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (r && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/%s", (int)pid, entry->d_name,
			 file);
		r = read_path(path, ret_text);
		/* A thread may end between readdir and open. */
		if (r == -ENOENT)
			r = -ESRCH;
		if (r && r != -ESRCH)
			break;
	}
	closedir(tasks);
	return r;
}

int mm_text_read(pid_t pid, const char *file, struct mm_text *ret_text)
{
	char path[PATH_SIZE];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	r = read_path(path, ret_text);
	return r == -ESRCH ? read_by_thread(pid, file, ret_text) : r;
}

void mm_text_free(struct mm_text *text)
{
	free(text->data);
	text->data = NULL;
	text->size = 0;
}
