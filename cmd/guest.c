/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam guest: this program as the init of a virtual machine, and verbs run there. For scripts; it
 * is not in the list of verbs.
 */
#include <errno.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "verify/guest.h"

struct options {
	struct guest guest;
	uint64_t memory_mb, patience_s;
};

static int add_file(void *to, char *text)
{
	struct guest *guest = &((struct options *)to)->guest;

	if (!*text)
		return -EINVAL;
	if (guest->nr_files == MAX_GUEST_FILES)
		return -E2BIG;
	guest->files[guest->nr_files++] = text;
	return 0;
}

static const struct cmd_option known_options[] = {
	{ .name = "image", OPTION_FILE(struct options, guest.image), .help = "the kernel" },
	{ .name = "append",
	  OPTION_TEXT(struct options, guest.append),
	  .value = "WORDS",
	  .expected = "words of a command line",
	  .help = "more words for its command line" },
	{ .name = "file",
	  OPTION_PARSED(add_file),
	  .value = "FILE",
	  .expected = "the name of a file",
	  .help = "copied to the machine's root; may be given several times" },
	{ .name = "memory",
	  OPTION_NUMBER(struct options, memory_mb, 1, 1 << 20, "megabytes"),
	  .value = "MB",
	  .help = "of the machine (1024)" },
	{ .name = "cpu",
	  OPTION_TEXT(struct options, guest.cpu),
	  .value = "MODEL",
	  .expected = "a processor as QEMU names it",
	  .help = "the emulated processor (qemu64; max has protection keys)" },
	{ .name = "patience",
	  OPTION_NUMBER(struct options, patience_s, 1, 86400, "seconds"),
	  .value = "S",
	  .help = "so long may it be silent before it is given up (300)" },
	{ .name = "kvm",
	  OPTION_FLAG(struct options, guest.kvm),
	  .help = "with the processor's help (default: all is emulated)" },
	{ 0 },
};

static int parse_options(struct guest *guest, int argc, char **argv)
{
	struct options options = { 0 };
	char **command;
	int status = options_parse(&cmd_guest, argc, argv, &options, &command);

	if (status)
		return status;
	if (!options.guest.image || !*command)
		return cmd_usage(&cmd_guest, "--image and a verb are expected");
	*guest = options.guest;
	guest->command = command;
	guest->memory_mb = (unsigned int)options.memory_mb;
	guest->patience_s = (unsigned int)options.patience_s;
	return 0;
}

static int run_guest(int argc, char **argv)
{
	struct guest guest = { 0 };
	char why[GUEST_ERROR_SIZE];
	int status;

	if (getpid() == 1)
		guest_init(argv + 1);
	status = parse_options(&guest, argc, argv);
	if (status)
		return status;
	if (guest_run(&guest, stdout, &status, why))
		return cmd_fail(EXIT_SEAM_FAILED, "%s: %s", guest.image, why);
	return status;
}

const struct cmd cmd_guest = {
	.name = "guest",
	.synopsis = "--image BZIMAGE [options] [--] VERB ARGS [++ VERB ARGS]...",
	.about = "runs verbs under another kernel, in a virtual machine (QEMU) with "
		 "seam as its init",
	.options = known_options,
	.options_first = true,
	.run = run_guest,
};
