/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/unasked.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/scan.h"

#define UFFD_FLAGS (SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR)
/* What io_uring's IORING_OP_MADVISE and process_madvise may set or take away. */
#define ADVICE_FLAGS                                                                               \
	(SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ | SEAM_VM_DONTCOPY | SEAM_VM_WIPEONFORK |            \
	 SEAM_VM_DONTDUMP | SEAM_VM_HUGEPAGE | SEAM_VM_NOHUGEPAGE | SEAM_VM_MERGEABLE |            \
	 SEAM_VM_MAYBE_GUARD)

static bool has_file_like(pid_t tid, const char *name)
{
	char path[64], link[64];
	struct dirent *entry;
	bool found = false;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)tid);
	fds = opendir(path);
	while (fds && !found && (entry = readdir(fds))) {
		ssize_t len = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link) - 1);

		link[len > 0 ? len : 0] = 0;
		found = begins_with(link, name);
	}
	if (fds)
		closedir(fds);
	return found;
}

/* By what lies there now. */
static const char *name_by_file(const struct unasked *unasked)
{
	const char *path = unasked->file ? unasked->file->path : "";

	if (begins_with(path, "/[aio]"))
		return "asynchronous I/O (io_setup)";
	if (begins_with(path, "anon_inode:[io_uring]"))
		return "io_uring";
	if (begins_with(path, "anon_inode:") ||
	    (begins_with(path, "/dev/") && !begins_with(path, "/dev/shm/") &&
	     !begins_with(path, "/dev/zero")))
		return "a driver";
	return NULL;
}

const char *unasked_name(const struct unasked *unasked)
{
	const struct seam_area *before = unasked->before, *after = unasked->after;
	const char *by_file = name_by_file(unasked);
	/* which pages were written to is no business of an area */
	uint64_t changed = before && after ? (before->flags ^ after->flags) & ~SEAM_VM_SOFTDIRTY
					   : 0;

	if (by_file)
		return by_file;
	if (after && after->flags & SEAM_VM_GROWSDOWN)
		return "stack growth";
	if (after && after->flags & SEAM_VM_SHADOW_STACK)
		return "a thread's shadow stack";
	if (after && after->traits & SEAM_TRAIT_NO_SPLIT)
		return "the vdso";
	if (unasked->uffd_closed && !(changed & ~UFFD_FLAGS))
		return "a userfaultfd that was closed";
	if (before && after && !(changed & ~(uint64_t)ADVICE_FLAGS)) {
		if (has_file_like(unasked->tid, "anon_inode:[io_uring]"))
			return "io_uring (IORING_OP_MADVISE)";
		if (unasked->advised)
			return "another process' process_madvise";
	}
	return NULL;
}
