/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam guest: this program as the init of a virtual machine, and verbs run there. For scripts; it
 * is not in the list of verbs.
 */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "verify/guest.h"

static int parse_options(struct guest *guest, int argc, char **argv)
{
	static const struct option longs[] = { { "image", required_argument, NULL, 'i' },
					       { "append", required_argument, NULL, 'a' },
					       { "file", required_argument, NULL, 'f' },
					       { "memory", required_argument, NULL, 'm' },
					       { "kvm", no_argument, NULL, 'k' },
					       { 0 } };
	int option;

	opterr = 0;
	optind = 0; /* of glibc: starts anew */
	while ((option = getopt_long(argc, argv, "+:", longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			guest->image = optarg;
			break;
		case 'a':
			guest->append = optarg;
			break;
		case 'f':
			if (guest->nr_files == MAX_GUEST_FILES)
				return cmd_usage(&cmd_guest, "over %d files", MAX_GUEST_FILES);
			guest->files[guest->nr_files++] = optarg;
			break;
		case 'm':
			guest->memory_mb = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'k':
			guest->kvm = true;
			break;
		case ':':
			return cmd_usage(&cmd_guest, "%s wants a value", argv[optind - 1]);
		default:
			return cmd_usage(&cmd_guest, "no option %s", argv[optind - 1]);
		}
	}
	guest->command = argv + optind;
	if (!guest->image || !argv[optind])
		return cmd_usage(&cmd_guest, "--image and a verb are expected");
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
	.help = "runs verbs under another kernel, in a virtual machine (QEMU) with seam as its "
		"init\n"
		"\n"
		"--image FILE    the kernel\n"
		"--append WORDS  more words for its command line\n"
		"--file FILE     copied to the machine's root; may be given several times\n"
		"--memory MB     of the machine (512)\n"
		"--kvm           with the processor's help (default: all is emulated)\n",
	.run = run_guest,
};
