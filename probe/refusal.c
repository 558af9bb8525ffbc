/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/namespaces.h"
#include "probe/procfs.h"

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

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

static uint64_t capabilities(const char *status, const char *set)
{
	uint64_t held = 0;

	procfs_field_hex(status, set, &held);
	return held;
}

static bool has_more_capabilities(const char *status, const char *own)
{
	return capabilities(status, "CapPrm") & ~capabilities(own, "CapPrm");
}

/* Of the first user namespace; only a security module refuses then. */
static bool may_read_all(const char *own)
{
	return capabilities(own, "CapEff") >> CAP_SYS_PTRACE & 1 && namespaces_first_user();
}

static void refused_access(pid_t pid, char *text)
{
	const char *outside =
		namespaces_first_user() ? "" : " of the first user namespace, not of this one";
	char status[4096], own[4096] = "";
	uint64_t uid;

	procfs_read(own, sizeof(own), "/proc/self/status");
	if (may_read_all(own))
		snprintf(text, REFUSAL_SIZE,
			 "a security module keeps it closed, though CAP_SYS_PTRACE is held");
	else if (procfs_read(status, sizeof(status), "/proc/%d/status", (int)pid) <= 0 ||
		 !procfs_field(status, "Uid", &uid))
		snprintf(text, REFUSAL_SIZE,
			 "its files are closed to you%s: run as its user or with CAP_SYS_PTRACE%s",
			 namespaces_proc_hides() ? " (/proc is mounted with hidepid)" : "",
			 outside);
	else if (uid != geteuid() && !namespaces_know_user(uid))
		snprintf(text, REFUSAL_SIZE,
			 "it belongs to a user whom this user namespace does not know: run seam "
			 "outside of it");
	else if (uid != geteuid())
		snprintf(text, REFUSAL_SIZE,
			 "it belongs to user %" PRIu64
			 ": run as that user, as root, or with CAP_SYS_PTRACE%s",
			 uid, outside);
	else if (!is_dumpable(pid, uid))
		snprintf(text, REFUSAL_SIZE,
			 "it is not dumpable (it changed its ids, or forbade it by "
			 "PR_SET_DUMPABLE): needs root or CAP_SYS_PTRACE%s",
			 outside);
	else if (has_more_capabilities(status, own))
		snprintf(text, REFUSAL_SIZE,
			 "it holds capabilities that you have not, or is of another user "
			 "namespace: needs root or CAP_SYS_PTRACE%s",
			 outside);
	else
		snprintf(text, REFUSAL_SIZE,
			 "it is of another user namespace, or a security module keeps it closed: "
			 "CAP_SYS_PTRACE%s overrules the first",
			 outside);
}

/* Of "4711 (a name) S 1 ...": the state, the parent, and the flags of include/linux/sched.h. */
static bool read_stat(pid_t pid, char *ret_state, int *ret_parent, unsigned int *ret_flags)
{
	char stat[512], *behind;

	if (procfs_read(stat, sizeof(stat), "/proc/%d/stat", (int)pid) <= 0)
		return false;
	behind = strrchr(stat, ')');
	return behind && sscanf(behind + 1, " %c %d %*d %*d %*d %*d %u", ret_state, ret_parent,
				ret_flags) == 3;
}

bool refusal_without_memory(pid_t pid, char *text)
{
	unsigned int flags;
	int parent;
	char state;

	if (!read_stat(pid, &state, &parent, &flags))
		snprintf(text, REFUSAL_SIZE, "it has just ended");
	else if (flags & PF_KTHREAD)
		snprintf(text, REFUSAL_SIZE,
			 "it is a kernel thread, which has no memory map of its own");
	else if (state == 'Z')
		snprintf(text, REFUSAL_SIZE,
			 "it has exited and waits for its parent (%d): there is no memory map any "
			 "more",
			 parent);
	else
		return false;
	return true;
}

static void lost_memory(pid_t pid, char *text)
{
	if (!refusal_without_memory(pid, text))
		snprintf(text, REFUSAL_SIZE,
			 "its memory map went while it was read: it is ending, or runs another "
			 "program now");
}

/* kill knows of processes that hidepid hides. */
static bool process_exists(pid_t pid)
{
	char path[32];

	if (namespaces_proc_is_ours())
		return !kill(pid, 0) || errno == EPERM;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !access(path, F_OK);
}

void refusal_text(pid_t pid, int error, char *text)
{
	bool exists = process_exists(pid);

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
		lost_memory(pid, text);
	else
		snprintf(text, REFUSAL_SIZE, "%s", strerror(-error));
}

void refusal_text_ended(pid_t pid, char *text)
{
	if (!process_exists(pid))
		snprintf(text, REFUSAL_SIZE, "it ended while it was read");
	else
		lost_memory(pid, text);
}
