/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/mm_text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/procfs.h"

#define READ_CHUNK (256 << 10)
#define PATH_SIZE 128

/* "4711 (a name) S ...": a zombie has given up its memory. */
static bool has_ended(pid_t pid, pid_t tid)
{
	char stat[512], *behind;

	if (procfs_read(stat, sizeof(stat), "/proc/%d/task/%d/stat", (int)pid, (int)tid) <= 0)
		return true;
	behind = strrchr(stat, ')');
	return !behind || !behind[1] || strchr("ZXx", behind[2]);
}

pid_t mm_thread(pid_t pid)
{
	char path[PATH_SIZE];
	struct dirent *entry;
	pid_t tid = -ESRCH;
	DIR *tasks;

	if (!has_ended(pid, pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == EACCES || errno == EPERM || errno == ENOENT ? -errno : -ESRCH;
	while (tid < 0 && (entry = readdir(tasks))) {
		pid_t found = (pid_t)strtol(entry->d_name, NULL, 10);

		if (found > 0 && !has_ended(pid, found))
			tid = found;
	}
	closedir(tasks);
	return tid;
}

int mm_text_open(pid_t pid, pid_t tid, const char *file)
{
	char path[PATH_SIZE];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

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

int mm_text_read(int fd, struct mm_text *ret_text)
{
	int r = read_all(fd, ret_text);

	if (!r && !ret_text->size) {
		mm_text_free(ret_text);
		return -ESRCH;
	}
	return r;
}

void mm_text_free(struct mm_text *text)
{
	free(text->data);
	text->data = NULL;
	text->size = 0;
}
