/* SPDX-License-Identifier: BSD-2-Clause */
/* Source: 6.18 security/commoncap.c cap_bprm_creds_from_file. */
#include "probe/rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <seam/space.h>

#include "probe/procfs.h"

/*
 * The capabilities that the file grants (VFS_CAP_REVISION_2 and 3: permitted words at bytes 4 and 12,
 * little endian).
 */
static uint64_t granted_capabilities(const char *exe)
{
	uint8_t caps[24];

	if (getxattr(exe, "security.capability", caps, sizeof(caps)) < 20)
		return 0;
	return (uint64_t)caps[4] | (uint64_t)caps[5] << 8 | (uint64_t)caps[6] << 16 |
	       (uint64_t)caps[7] << 24 | (uint64_t)caps[12] << 32 | (uint64_t)caps[13] << 40;
}

static bool lost_capabilities(uint64_t granted, const char *status)
{
	uint64_t bound, held;

	return procfs_field_hex(status, "CapPrm", &held) &&
	       procfs_field_hex(status, "CapBnd", &bound) && granted & bound & ~held;
}

/* The effective id of a "Uid:" or "Gid:" line: the second number. */
static bool has_effective_id(const char *status, const char *line, uint64_t id)
{
	const char *at = strstr(status, line);
	char *end;

	if (!at)
		return true;
	strtoull(at + strlen(line), &end, 10);
	return strtoull(end, NULL, 10) == id;
}

bool rights_lost(pid_t pid, bool own_no_new_privs)
{
	char exe[32], status[4096];
	struct statvfs mount;
	struct stat file;
	uint64_t no_new_privs = 0, granted;
	bool sets_gid;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (stat(exe, &file))
		return false;
	sets_gid = (file.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
	granted = granted_capabilities(exe);
	if (!(file.st_mode & S_ISUID) && !sets_gid && !granted)
		return false;
	if (procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) < 0)
		return false;
	procfs_field(status, "NoNewPrivs", &no_new_privs);
	if ((no_new_privs && !own_no_new_privs) ||
	    (!statvfs(exe, &mount) && mount.f_flag & ST_NOSUID))
		return false;
	return (file.st_mode & S_ISUID && !has_effective_id(status, "\nUid:", file.st_uid)) ||
	       (sets_gid && !has_effective_id(status, "\nGid:", file.st_gid)) ||
	       lost_capabilities(granted, status);
}

void rights_program(pid_t pid, char *ret_path, size_t size)
{
	char exe[32];
	ssize_t len;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	len = readlink(exe, ret_path, size - 1);
	ret_path[len > 0 ? len : 0] = 0;
}

/* What the capabilities of 6.18 include/uapi/linux/capability.h allow. */
uint32_t rights_to_memory(pid_t tid)
{
	static const struct {
		int capability;
		uint32_t may;
	} rights[] = { { 14, SEAM_MAY_IPC_LOCK }, { 17, SEAM_MAY_RAWIO }, { 21, SEAM_MAY_ADMIN } };
	char text[4096];
	uint64_t effective = 0;
	uint32_t may = 0;

	if (procfs_read(text, sizeof(text), "/proc/%d/status", (int)tid) < 0)
		return 0;
	procfs_field_hex(text, "CapEff", &effective);
	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++)
		if (effective >> rights[i].capability & 1)
			may |= rights[i].may;
	return may;
}
