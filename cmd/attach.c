/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "probe/procfs.h"
#include "probe/refusal.h"
#include "ui/plain.h"

static bool is_own_process(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return !stat(path, &st) && st.st_uid == getuid();
}

int attach_ask(pid_t pid, bool yes, bool own_unasked, const char *doing)
{
	char comm[64] = "", answer[16], why[REFUSAL_SIZE];
	ssize_t len = procfs_read_comm(comm, sizeof(comm), pid);

	if (len < 0)
		return cmd_fail(EXIT_SEAM_FAILED, "process %d: %s", (int)pid,
				strerror(len == -ENOENT ? ESRCH : (int)-len));
	if (refusal_without_memory(pid, why))
		return cmd_fail(EXIT_SEAM_FAILED, "process %d: %s", (int)pid, why);
	if (yes || (own_unasked && is_own_process(pid)))
		return 0;
	fprintf(stderr,
		"seam: %s %s (%d) stops it twice at every system call, about 10 %s each time\nand "
		"more on a busy machine, until it ends or seam is interrupted.\n",
		doing, plain_text(comm), (int)pid, beyond_ascii("µs", "us"));
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return cmd_fail(EXIT_SEAM_FAILED, "--yes says that this is meant");
	fputs("seam: go on? [y/N] ", stderr);
	fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
		return cmd_fail(EXIT_SEAM_FAILED, "not done");
	return 0;
}

int attach_failed(int err, pid_t pid, const char *program)
{
	const char *why = strerror(-err);

	if (err == -ENOSYS)
		return cmd_fail(EXIT_SEAM_FAILED, "following calls needs PTRACE_GET_SYSCALL_INFO, "
						  "which came with Linux 5.3");
	if (pid && err == -EPERM)
		return cmd_fail(
			EXIT_SEAM_FAILED,
			"process %d: %s: it is traced already, belongs to another user, or "
			"kernel.yama.ptrace_scope forbids it (CAP_SYS_PTRACE would allow it)",
			(int)pid, why);
	if (pid)
		return cmd_fail(EXIT_SEAM_FAILED, "process %d: %s", (int)pid, why);
	return cmd_fail(EXIT_SEAM_FAILED, "%s: could not be started under ptrace: %s", program,
			why);
}
