/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/procmap.h"
#include "trace/maps_line.h"
#include "trace/vmflags.h"

#define GATE_START UINT64_C(0xffffffff00000000) /* [vsyscall]: shown, and no area of the process */
#define PAGE_SIZE 4096
#define SEEN_BY_MAPS (SEAM_VM_RWX | SEAM_VM_MAYSHARE)
/* What smaps has no letters for, and what the hardware or the pages set. */
#define NOT_IN_SMAPS (SEAM_VM_SOFTDIRTY | SEAM_VM_ALLOW_ANY_UNCACHED)

static int open_file(pid_t pid, const char *file)
{
	char path[40];
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): what looking writes to */
int look_open(struct look *look, pid_t pid, char *buf, size_t room)
{
	*look = (struct look) { .pid = pid, .buf = buf, .room = room, .smaps = -1 };
	look->maps = procmap_open(pid);
	if (look->maps < 0)
		return look->maps;
	look->smaps = open_file(pid, "smaps");
	if (look->smaps < 0) {
		close(look->maps);
		return look->smaps;
	}
	look->query = procmap_works(look->maps);
	return 0;
}

void look_close(struct look *look)
{
	close(look->maps);
	close(look->smaps);
}

void look_again(struct look *look)
{
	look->fresh = false;
}

/* Reads on behind what is in the buffer. -errno. */
static int fill(struct look *look, int fd)
{
	ssize_t n;

	if (look->at) {
		memmove(look->buf, look->buf + look->at, look->size - look->at);
		look->size -= look->at;
		look->at = 0;
	}
	while (!look->ended && look->size < look->room) {
		n = read(fd, look->buf + look->size, look->room - look->size);
		if (n < 0)
			return -errno;
		look->ended = !n;
		look->size += (size_t)n;
	}
	return 0;
}

static int rewind_text(struct look *look, int fd)
{
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	look->at = look->size = 0;
	look->ended = false;
	return fill(look, fd);
}

/* 1 and the next line, 0 at the end, -errno. */
static int next_line(struct look *look, int fd, const char **ret_at, const char **ret_end)
{
	char *end = memchr(look->buf + look->at, '\n', look->size - look->at);
	int err;

	if (!end) {
		if (look->ended)
			return 0;
		err = fill(look, fd);
		if (err < 0)
			return err;
		end = memchr(look->buf, '\n', look->size);
		if (!end)
			return look->ended ? 0 : -E2BIG;
	}
	*ret_at = look->buf + look->at;
	*ret_end = end;
	look->at = (size_t)(end - look->buf) + 1;
	return 1;
}

static bool seen_line(const char *at, const char *end, struct seen *ret_seen)
{
	struct maps_line line;
	const char *expected;
	size_t len;

	if (maps_line_parse(at, end, &line, &expected) != MAPS_LINE_AREA)
		return false;
	*ret_seen = (struct seen) {
		.start = line.start,
		.end = line.end,
		.flags = (line.perms[0] == 'r' ? SEAM_VM_READ : 0) |
			 (line.perms[1] == 'w' ? SEAM_VM_WRITE : 0) |
			 (line.perms[2] == 'x' ? SEAM_VM_EXEC : 0) |
			 (line.perms[3] == 's' ? SEAM_VM_MAYSHARE : 0),
		.known = SEEN_BY_MAPS,
		.offset = line.offset,
		.inode = line.inode,
		.dev_major = line.dev_major,
		.dev_minor = line.dev_minor,
	};
	len = line.name_len < sizeof(ret_seen->name) ? line.name_len : sizeof(ret_seen->name) - 1;
	memcpy(ret_seen->name, line.name, len);
	return ret_seen->start < GATE_START;
}

static int find_in_text(struct look *look, uint64_t addr, struct seen *ret_seen)
{
	const char *at, *end;
	int r;

	if (!look->fresh) {
		r = rewind_text(look, look->maps);
		if (r)
			return r;
		if (!look->ended)
			return -E2BIG;
		look->fresh = true;
		look->next = 0;
	}
	if (addr < look->next) {
		look->at = 0;
		look->next = 0;
	}
	while ((r = next_line(look, look->maps, &at, &end)) > 0) {
		if (!seen_line(at, end, ret_seen) || ret_seen->end <= addr)
			continue;
		/* the same line answers the next question if it is no further on */
		look->at = (size_t)(at - look->buf);
		look->next = addr;
		return 1;
	}
	look->next = UINT64_MAX;
	return r;
}

int look_find(struct look *look, uint64_t addr, struct seen *ret_seen)
{
	struct procmap_area area;
	int r;

	if (!look->query)
		return find_in_text(look, addr, ret_seen);
	r = procmap_find(look->maps, addr, &area);
	if (r <= 0)
		return r;
	*ret_seen = (struct seen) {
		.start = area.start,
		.end = area.end,
		.flags = area.flags,
		.known = SEEN_BY_MAPS,
		.offset = area.offset,
		.inode = area.inode,
		.dev_major = area.dev_major,
		.dev_minor = area.dev_minor,
	};
	return 1;
}

int look_all_begin(struct look *look)
{
	look->fresh = false;
	return rewind_text(look, look->smaps);
}

static bool key_is(const struct maps_key *key, const char *name)
{
	return key->name_len == strlen(name) && !memcmp(key->name, name, key->name_len);
}

static void take_flags(const struct maps_key *key, struct seen *seen)
{
	seen->known |= ~NOT_IN_SMAPS & ~SEAM_VM_PKEY;
	for (const char *p = key->value; p + 2 <= key->value_end; p++) {
		if (*p == ' ')
			continue;
		if (p[0] == '?') /* 5.10 to 6.1 have no letters for it */
			seen->known &= ~SEAM_VM_LOCKONFAULT;
		else
			seen->flags |= vmflags_bit(p);
		p++;
	}
}

static void take_pkey(const struct maps_key *key, struct seen *seen)
{
	uint64_t pkey = 0;

	for (const char *p = key->value; p < key->value_end && *p >= '0' && *p <= '9'; p++)
		pkey = pkey * 10 + (uint64_t)(*p - '0');
	seen->flags = pkey << SEAM_VM_PKEY_SHIFT & SEAM_VM_PKEY;
	seen->known = SEAM_VM_PKEY;
}

/* The key lines of an area, up to VmFlags, which is its last. */
static int take_keys(struct look *look, struct seen *seen)
{
	const char *at, *end;
	struct maps_key key;
	int r;

	seen->flags = seen->known = 0;
	while ((r = next_line(look, look->smaps, &at, &end)) > 0) {
		if (*at != 'V' && *at != 'P')
			continue;
		maps_key_split(at, end, &key);
		if (key_is(&key, "ProtectionKey")) {
			take_pkey(&key, seen);
		} else if (key_is(&key, "VmFlags")) {
			take_flags(&key, seen);
			return 1;
		}
	}
	return r ? r : -EIO;
}

int look_all_next(struct look *look, struct seen *ret_seen)
{
	const char *at, *end;
	int r;

	while ((r = next_line(look, look->smaps, &at, &end)) > 0)
		if (seen_line(at, end, ret_seen))
			return take_keys(look, ret_seen);
	return r;
}

bool look_for_guards(struct look *look, uint64_t start, uint64_t len)
{
	const uint64_t is_guard = UINT64_C(1) << 58; /* PM_GUARD_REGION */
	int fd = open_file(look->pid, "pagemap");
	uint64_t entries[64];
	off_t at = (off_t)(start / PAGE_SIZE * sizeof(*entries));
	off_t end = (off_t)((start + len + PAGE_SIZE - 1) / PAGE_SIZE * sizeof(*entries));
	bool found = false;
	ssize_t n = 1;

	for (; fd >= 0 && !found && n > 0 && at < end; at += n) {
		n = pread(fd, entries, sizeof(entries), at);
		for (ssize_t i = 0; i < n / (ssize_t)sizeof(*entries); i++)
			found |= entries[i] & is_guard && at + i * (ssize_t)sizeof(*entries) < end;
	}
	if (fd >= 0)
		close(fd);
	return found;
}
