/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/record_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"

#define DEFAULT_OUTPUT "seam.data"
#define KEPT_OUTPUT "seam.data.old"
#define TICK_NS 1000 /* a stop is known to a few microseconds */
#define MODE 0644

/*
 * Not O_CREAT where there is something: that would be refused for files and FIFOs of others in
 * directories of all (fs.protected_regular, fs.protected_fifos), and behind a link to nothing it is
 * needed again.
 */
static int open_file(struct record_output *output)
{
	output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
	if (output->fd < 0 && errno == ENOENT) {
		output->fd = open(output->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
		output->was_made = output->fd >= 0;
	}
	if (output->fd < 0 && errno == EEXIST)
		output->fd = open(output->path, O_WRONLY | O_CREAT | O_CLOEXEC, MODE);
	return output->fd < 0 ? -errno : 0;
}

/* Opened when there is something to write; that it can be is seen to before the program runs. */
static int look_at_default(void)
{
	return access(".", W_OK | X_OK) ? -errno : 0;
}

static int open_default(struct record_output *output)
{
	if (rename(DEFAULT_OUTPUT, KEPT_OUTPUT) && errno != ENOENT)
		return -errno;
	output->fd = open(DEFAULT_OUTPUT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
	return output->fd < 0 ? -errno : 0;
}

int record_output_open(const char *path, const struct trace_host *host,
		       struct record_output *ret_output)
{
	int err;

	*ret_output = (struct record_output) {
		.path = path ? path : DEFAULT_OUTPUT, .host = host, .fd = -1, .is_default = !path
	};
	if (path && !strcmp(path, "-")) {
		ret_output->path = "standard output";
		ret_output->fd = STDOUT_FILENO;
		if (isatty(STDOUT_FILENO))
			return cmd_fail(EXIT_SEAM_FAILED, "a recording is not for a terminal");
		return EXIT_DONE;
	}
	err = path ? open_file(ret_output) : look_at_default();
	if (err)
		return cmd_fail(EXIT_SEAM_FAILED, "%s: %s", ret_output->path, strerror(-err));
	return EXIT_DONE;
}

/* Not standard output, nor a pipe or device. */
static bool is_file(const struct record_output *output, uint64_t *ret_size)
{
	struct stat st;

	if (output->fd == STDOUT_FILENO || fstat(output->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*ret_size = (uint64_t)st.st_size;
	return true;
}

int record_output_begin(void *ctx, struct data_writer **ret_writer)
{
	struct record_output *output = ctx;
	uint64_t size = 0;
	int err = 0;

	if (output->is_default)
		err = open_default(output);
	output->is_file = !err && is_file(output, &size);
	if (!err)
		err = data_writer_open(output->fd, output->host, TICK_NS, &output->writer);
	if (!err) /* while the program runs: freeing a file's blocks takes its time */
		err = data_writer_replaces(output->writer, size);
	*ret_writer = output->writer;
	return err;
}

static void close_file(struct record_output *output)
{
	if (output->fd >= 0 && output->fd != STDOUT_FILENO)
		close(output->fd);
	output->fd = -1;
}

int record_output_close(struct record_output *output, uint64_t *ret_bytes)
{
	int err = 0;

	*ret_bytes = 0;
	if (output->writer)
		err = data_writer_close(output->writer, ret_bytes);
	output->writer = NULL;
	close_file(output);
	return err;
}

void record_output_drop(struct record_output *output)
{
	close_file(output);
	if (output->was_made)
		unlink(output->path);
}
