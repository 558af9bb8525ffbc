/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam VERB: the table of verbs, help, and what all verbs share.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LIBBPF
#include <bpf/libbpf.h>
#endif
#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

#include "cmd/cmd.h"
#include "ui/plain.h"

/* A verb stands here only once it works. */
static const struct cmd *const cmds[] = {
	&cmd_cost, &cmd_guest, &cmd_kernels, &cmd_record, &cmd_replay, &cmd_report,
	&cmd_show, &cmd_stat,  &cmd_top,     &cmd_verify, &cmd_why,    NULL, /* the end */
};

static const struct cmd *find_cmd(const char *name)
{
	for (unsigned int i = 0; cmds[i]; i++)
		if (!strcmp(cmds[i]->name, name))
			return cmds[i];
	return NULL;
}

/* Messages quote what they could not read. */
static void print_message(const char *format, va_list args)
{
	char text[8192];

	if (vsnprintf(text, sizeof(text), format, args) > 0)
		fputs(plain_text(text), stderr);
}

int cmd_fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("seam: ", stderr);
	print_message(format, args);
	fputc('\n', stderr);
	va_end(args);
	return status;
}

static void print_usage(const struct cmd *cmd, FILE *out)
{
	int column = fprintf(out, "usage: seam %s ", cmd->name);

	options_print_text(cmd->synopsis, column, out);
}

int cmd_usage(const struct cmd *cmd, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "seam: %s: ", cmd->name);
	print_message(format, args);
	fputc('\n', stderr);
	print_usage(cmd, stderr);
	fprintf(stderr, "(seam help %s)\n", cmd->name);
	va_end(args);
	return EXIT_USAGE;
}

FILE *cmd_open_output(const char *path, FILE *fallback)
{
	FILE *out;

	if (!path)
		return fallback;
	if (!strcmp(path, "-"))
		return stdout;
	out = fopen(path, "we");
	if (!out)
		cmd_fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
	return out;
}

int cmd_close_output(FILE *out, const char *path, int status)
{
	bool lost = ferror(out);

	errno = 0;
	if (fflush(out) || lost || (out != stdout && out != stderr && fclose(out))) {
		cmd_fail(EXIT_FAILED, "%s: not written whole: %s", path ? path : "standard output",
			 strerror(errno ? errno : EIO));
		return status == EXIT_DONE ? EXIT_FAILED : status;
	}
	return status;
}

/* The libraries that may be left out, and what is lost without them. */
static void print_version(void)
{
	printf("seam %s\n", SEAM_VERSION);
#ifdef HAVE_ZSTD
	printf("  zstd %s\n", ZSTD_versionString());
#else
	puts("  without zstd: no compressed seam.data");
#endif
#ifdef HAVE_LIBBPF
	printf("  libbpf %u.%u\n", libbpf_major_version(), libbpf_minor_version());
#else
	puts("  without libbpf: no kernel truth by BPF");
#endif
#ifdef HAVE_LIBDW
	printf("  libdw %s\n", dwfl_version(NULL));
#else
	puts("  without libdw: no symbols and call stacks");
#endif
}

static void print_verbs(FILE *out)
{
	fputs("seam: shows and proves why memory maps are fragmented, and what would mend them\n\n"
	      "usage: seam VERB [options] [--] [args]\n\n",
	      out);
	for (unsigned int i = 0; cmds[i]; i++)
		if (cmds[i]->summary)
			options_print_text(cmds[i]->summary, fprintf(out, "  %-8s ", cmds[i]->name),
					   out);
	fputs("\nseam help VERB tells its options; seam --version what is built in.\n", out);
}

static void print_summary(const struct cmd *cmd)
{
	options_print_text(cmd->summary, printf("seam %s: ", cmd->name), stdout);
	putchar('\n');
}

static int print_help(const char *verb)
{
	const struct cmd *cmd = find_cmd(verb);

	if (!cmd)
		return cmd_fail(EXIT_USAGE, "no verb '%s'; 'seam help' lists them", verb);
	if (cmd->summary)
		print_summary(cmd);
	print_usage(cmd, stdout);
	putchar('\n');
	if (cmd->about) {
		options_print_text(cmd->about, 0, stdout);
		putchar('\n');
	}
	options_print(cmd->options, stdout);
	if (cmd->notes) {
		putchar('\n');
		options_print_text(cmd->notes, 0, stdout);
	}
	return EXIT_DONE;
}

/* Among the options, in front of operands that are a program's own. */
static bool wants_help(const struct cmd *cmd, char **words)
{
	for (; *words && strcmp(*words, "--"); words++) {
		if (!strcmp(*words, "--help") || !strcmp(*words, "-h"))
			return true;
		if (cmd->options_first && **words != '-')
			return false;
	}
	return false;
}

static int run(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc < 2) {
		print_verbs(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		print_version();
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		if (argc > 2)
			return print_help(argv[2]);
		print_verbs(stdout);
		return EXIT_DONE;
	}
	cmd = find_cmd(argv[1]);
	if (!cmd)
		return cmd_fail(EXIT_USAGE, "no verb '%s'; 'seam help' lists them", argv[1]);
	if (wants_help(cmd, argv + 2))
		return print_help(argv[1]);
	return cmd->run(argc - 1, argv + 1);
}

/*
 * A standard stream that was closed must not become the next file opened: a recording would then
 * take the messages. What stands there fails as a closed one does, and a program that is run gets
 * it closed.
 */
static int fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int access = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", access | O_CLOEXEC) != fd)
			return -1;
	}
	return 0;
}

/*
 * What ulimit -f forbids shall be told as an error of the file. A program that is run gets the signal's
 * default back by its exec, which keeps no handlers.
 */
static void on_too_large(int signal)
{
	(void)signal;
}

static void handle_too_large(void)
{
	struct sigaction handle = { .sa_handler = on_too_large }, before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &handle, NULL);
}

int main(int argc, char **argv)
{
	static char line[BUFSIZ];
	int status;

	if (fill_standard_streams())
		return EXIT_SEAM_FAILED;
	/* a line is whole, whoever else writes there: other seams of a make -j, or the program */
	setvbuf(stderr, line, _IOLBF, sizeof(line));
	handle_too_large();
	status = run(argc, argv);
	if (fflush(stdout) && status == EXIT_DONE)
		return cmd_fail(EXIT_FAILED, "standard output: %s", strerror(errno));
	return status;
}
