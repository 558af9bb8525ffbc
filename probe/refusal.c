/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/procfs.h"

/*
 * The files of a process that is not dumpable belong to root, its folder does not (6.18
 * fs/proc/base.c task_dump_owner).
 */
static bool is_dumpable(pid_t pid, uint64_t uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return stat(path, &st) || st.st_uid == uid;
}

static void refused_access(pid_t pid, char *text)
{
	char status[4096];
	uint64_t uid;

	if (procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) <= 0 ||
	    !procfs_field(status, "Uid", &uid))
		snprintf(text, REFUSAL_SIZE,
			 "its files are closed to you: run as its user or with CAP_SYS_PTRACE");
	else if (uid != geteuid())
		snprintf(text, REFUSAL_SIZE,
			 "it belongs to user %" PRIu64
			 ": run as that user, as root, or with CAP_SYS_PTRACE",
			 uid);
	else if (!is_dumpable(pid, uid))
		snprintf(text, REFUSAL_SIZE,
			 "it is not dumpable (it changed its ids, or forbade it by "
			 "PR_SET_DUMPABLE): needs root or CAP_SYS_PTRACE");
	else
		snprintf(text, REFUSAL_SIZE,
			 "it has rights that you have not (capabilities, another user namespace), "
			 "which CAP_SYS_PTRACE overrules, or a security module keeps it closed");
}

void refusal_text(pid_t pid, int error, char *text)
{
	/* kill knows of processes that hidepid hides. */
	bool exists = !kill(pid, 0) || errno == EPERM;

	if (error == -EACCES || error == -EPERM)
		refused_access(pid, text);
	else if ((error == -ENOENT || error == -ESRCH) && !exists)
		snprintf(text, REFUSAL_SIZE, "no such process in this PID namespace");
	else if (error == -ENOENT && access("/proc/self/maps", F_OK))
		snprintf(text, REFUSAL_SIZE, "/proc is not mounted");
	else if (error == -ENOENT)
		snprintf(
			text, REFUSAL_SIZE,
			"hidden from you (/proc is mounted with hidepid): run as its user or root");
	else if (error == -ESRCH)
		snprintf(text, REFUSAL_SIZE,
			 "it has no memory map: a kernel thread, or it has exited and waits for "
			 "its parent");
	else
		snprintf(text, REFUSAL_SIZE, "%s", strerror(-error));
}
