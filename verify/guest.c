/* SPDX-License-Identifier: BSD-2-Clause */
/* The side of the virtual machine: init. */
#include "verify/guest.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/launch.h"

#define MAX_ARGS 64
#define SIGN_OF_LIFE_MS 5000

/*
 * Lines of one stream, marked as they go out. A long one goes in several pieces, marked as to be
 * continued.
 */
struct stream {
	int fd;
	const char *mark, *continued;
	char line[1000];
	size_t len;
};

static void put_piece(struct stream *stream, const char *mark)
{
	printf("%s%.*s\n", mark, (int)stream->len, stream->line);
	fflush(stdout);
	stream->len = 0;
}

/* False at the stream's end. */
static bool pass_on(struct stream *stream)
{
	char buf[4096];
	ssize_t n = read(stream->fd, buf, sizeof(buf));

	for (ssize_t i = 0; i < n; i++) {
		if (buf[i] == '\n') {
			put_piece(stream, stream->mark);
			continue;
		}
		if (stream->len == sizeof(stream->line))
			put_piece(stream, stream->continued);
		stream->line[stream->len++] = buf[i];
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

static void end_line(struct stream *stream)
{
	if (stream->len)
		put_piece(stream, stream->mark);
}

/* Both streams of a run, until both have ended. */
static void pass_all(int out, int messages)
{
	struct stream streams[2] = {
		{ .fd = out, .mark = "@|", .continued = "@>" },
		{ .fd = messages, .mark = "@!", .continued = "@!" },
	};
	struct pollfd fds[2] = { { out, POLLIN, 0 }, { messages, POLLIN, 0 } };

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (!poll(fds, 2, SIGN_OF_LIFE_MS)) {
			puts("@.");
			fflush(stdout);
		}
		for (int i = 0; i < 2; i++)
			if (fds[i].fd >= 0 && fds[i].revents && !pass_on(&streams[i]))
				fds[i].fd = -1;
	}
	end_line(&streams[0]);
	end_line(&streams[1]);
}

static int exit_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 125;
	return launch_status(status);
}

static int run_command(char **args)
{
	int out[2], messages[2];
	pid_t pid;

	if (pipe(out) || pipe(messages))
		return 125;
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		dup2(messages[1], STDERR_FILENO);
		for (int fd = STDERR_FILENO + 1; fd < 16; fd++)
			close(fd);
		execv("/init", args);
		_exit(127);
	}
	close(out[1]);
	close(messages[1]);
	if (pid > 0)
		pass_all(out[0], messages[0]);
	close(out[0]);
	close(messages[0]);
	return pid < 0 ? 125 : exit_status(pid);
}

static void mount_all(void)
{
	static const struct {
		const char *type, *at;
	} mounts[] = {
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "devtmpfs", "/dev" },
		{ "tmpfs", "/tmp" },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].at, 0755);
		mount(mounts[i].type, mounts[i].at, mounts[i].type, 0, NULL);
	}
}

void guest_init(char *const *command)
{
	char name[] = "seam", *args[MAX_ARGS + 2] = { name };
	int nr = 1;

	mount_all();
	for (;; command++) {
		if (*command && strcmp(*command, GUEST_SEPARATOR)) {
			if (nr <= MAX_ARGS)
				args[nr++] = *command;
			continue;
		}
		args[nr] = NULL;
		printf("@= %d\n", run_command(args));
		fflush(stdout);
		nr = 1;
		if (!*command)
			break;
	}
	puts("@@");
	fflush(stdout);
	sync();
	/* not off: a machine without ACPI would stay (docs, other kernels) */
	reboot(RB_AUTOBOOT);
	_exit(0);
}
