/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/namespaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/procfs.h"

/* PROC_USER_INIT_INO and PROC_PID_INIT_INO of include/linux/proc_ns.h */
#define FIRST_USER_INODE 0xeffffffdU
#define FIRST_PID_INODE 0xeffffffcU

static bool is_inode(const char *path, unsigned int inode)
{
	struct stat st;

	return !stat(path, &st) && st.st_ino == inode;
}

bool namespaces_first_pid(void)
{
	return is_inode("/proc/self/ns/pid", FIRST_PID_INODE);
}

bool namespaces_first_user(void)
{
	return is_inode("/proc/self/ns/user", FIRST_USER_INODE);
}

bool namespaces_know_user(uint64_t uid)
{
	uint64_t overflow;

	return namespaces_first_user() ||
	       procfs_read_number(&overflow, "/proc/sys/kernel/overflowuid") || uid != overflow;
}

bool namespaces_proc_is_ours(void)
{
	char link[32];
	ssize_t len = readlink("/proc/self", link, sizeof(link) - 1);

	link[len > 0 ? len : 0] = '\0';
	return strtol(link, NULL, 10) == getpid();
}

/* "81 54 0:41 / /proc rw,relatime - proc proc rw,hidepid=invisible": the last one counts */
bool namespaces_proc_hides(void)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	bool hides = false;
	char line[4096];

	while (mounts && fgets(line, sizeof(line), mounts)) {
		const char *options = strstr(line, " - proc ");

		/* names: 5.8-; "hidepid=off" is not shown */
		if (options && strstr(line, " /proc "))
			hides = strstr(options, "hidepid=") && !strstr(options, "hidepid=0");
	}
	if (mounts)
		fclose(mounts);
	return hides;
}
