/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which open file is it? Descriptors of the processes of an strace log. Where opens and closes are
 * logged, each open is a description of its own; where they are not, the number and the path that
 * -y prints are all there is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <seam/ops.h>

#include "trace/grow.h"
#include "trace/scan.h"
#include "trace/strace.h"

/* More are not followed: each mapping of another is then a file of its own. */
#define MAX_DESCRIPTORS 65536
#define O_ACCMODE 3
#define O_WRONLY 1
#define O_RDWR 2
#define O_CLOEXEC 02000000

struct strace_files *strace_files_new(void)
{
	struct strace_files *files = calloc(1, sizeof(*files));

	if (files)
		files->users = 1;
	return files;
}

struct strace_files *strace_files_copy(const struct strace_files *from)
{
	struct strace_files *files = strace_files_new();

	if (!files || !from->nr)
		return files;
	files->entries = calloc(from->nr, sizeof(*files->entries));
	if (!files->entries) {
		free(files);
		return NULL;
	}
	memcpy(files->entries, from->entries, from->nr * sizeof(*files->entries));
	files->nr = files->room = from->nr;
	return files;
}

void strace_files_put(struct strace_files *files)
{
	if (!files || --files->users)
		return;
	free(files->entries);
	free(files);
}

void strace_files_exec(struct strace_files *files)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < files->nr; i++)
		if (!files->entries[i].cloexec)
			files->entries[kept++] = files->entries[i];
	files->nr = kept;
}

/* Where @fd is, or would be: the entries ascend. */
static uint32_t position(const struct strace_files *files, int32_t fd)
{
	uint32_t low = 0, high = files->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (files->entries[mid].fd < fd)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct strace_descriptor *find_fd(const struct strace_files *files, int32_t fd)
{
	uint32_t i = position(files, fd);

	return i < files->nr && files->entries[i].fd == fd ? &files->entries[i] : NULL;
}

static int set_fd(struct strace_files *files, int32_t fd, uint32_t file, bool cloexec)
{
	uint32_t i = position(files, fd);

	if (i == files->nr || files->entries[i].fd != fd) {
		if (files->nr >= MAX_DESCRIPTORS)
			return 0;
		if (grow(&files->entries, files->nr, &files->room, sizeof(*files->entries)))
			return -ENOMEM;
		memmove(&files->entries[i + 1], &files->entries[i],
			(files->nr - i) * sizeof(*files->entries));
		files->nr++;
	}
	files->entries[i] = (struct strace_descriptor) { fd, file, cloexec };
	return 0;
}

static bool begins(struct slice path, const char *prefix)
{
	const char *at = path.at;

	return path.at && scan_text(&at, path.end, prefix);
}

static uint32_t traits_of(uint64_t flags, struct slice path)
{
	uint32_t traits = SEAM_FILE_READ | SEAM_FILE_WRITE;

	if ((flags & O_ACCMODE) == O_WRONLY)
		traits = SEAM_FILE_WRITE;
	else if ((flags & O_ACCMODE) != O_RDWR)
		traits = SEAM_FILE_READ;
	if (begins(path, "/memfd:") || begins(path, "/dev/shm/") || begins(path, "/SYSV"))
		traits |= SEAM_FILE_SHMEM;
	if (begins(path, "/anon_hugepage") || begins(path, "/dev/hugepages/"))
		traits |= SEAM_FILE_HUGETLB;
	return traits;
}

static uint32_t add_file(struct strace *s, bool known, uint32_t traits, struct slice path)
{
	struct trace_file file = { .traits = traits, .known = known };

	if (known)
		file.description = ++s->nr_descriptions;
	return trace_add_file(s->trace, &file, path.at ? path.at : "",
			      path.at ? (size_t)(path.end - path.at) : 0);
}

int strace_files_open(struct strace *s, struct strace_files *files, int32_t fd, uint64_t flags,
		      struct slice path)
{
	uint32_t file = add_file(s, true, traits_of(flags, path), path);

	return file ? set_fd(files, fd, file, flags & O_CLOEXEC) : -ENOMEM;
}

int strace_files_dup(struct strace *s, struct strace_files *files, int32_t from, int32_t to,
		     bool cloexec)
{
	uint32_t file;
	int r;

	if (from == to)
		return 0;
	r = strace_files_find(s, files, from, (struct slice) { 0 }, &file);
	return r ? r : set_fd(files, to, file, cloexec);
}

void strace_files_close(struct strace_files *files, int32_t fd)
{
	struct strace_descriptor *entry = find_fd(files, fd);
	size_t behind;

	if (!entry)
		return;
	behind = (size_t)(files->entries + files->nr - (entry + 1));
	memmove(entry, entry + 1, behind * sizeof(*entry));
	files->nr--;
}

/* The file by number and path, when opens are not logged. */
static int find_by_path(struct strace *s, int32_t fd, struct slice path, uint32_t *ret_file)
{
	size_t len = path.at ? (size_t)(path.end - path.at) : 0;
	char key[4096 + sizeof(fd)];
	uint32_t number;
	bool new;

	if (len > sizeof(key) - sizeof(fd))
		len = sizeof(key) - sizeof(fd);
	memcpy(key, &fd, sizeof(fd));
	if (len)
		memcpy(key + sizeof(fd), path.at, len);
	number = intern_number(&s->paths, key, sizeof(fd) + len, UINT32_MAX, &new);
	if (!number)
		return -ENOMEM;
	if (new) {
		if (grow(&s->path_files, s->nr_path_files, &s->room_path_files,
			 sizeof(*s->path_files)))
			return -ENOMEM;
		s->path_files[s->nr_path_files++] =
			add_file(s, false, traits_of(O_RDWR, path), path);
	}
	*ret_file = s->path_files[number - 1];
	return *ret_file ? 0 : -ENOMEM;
}

int strace_files_find(struct strace *s, struct strace_files *files, int32_t fd, struct slice path,
		      uint32_t *ret_file)
{
	const struct strace_descriptor *entry;
	uint32_t file;

	if (!s->survey.has_opens)
		return find_by_path(s, fd, path, ret_file);
	entry = find_fd(files, fd);
	if (entry) {
		*ret_file = entry->file;
		return 0;
	}
	/* open before the log began */
	file = add_file(s, true, traits_of(O_RDWR, path), path);
	if (!file)
		return -ENOMEM;
	*ret_file = file;
	return set_fd(files, fd, file, false);
}
