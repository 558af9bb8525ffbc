/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/guest.h - another kernel in a virtual machine, with this very program as its init: what it
 * runs there, and what comes back.
 *
 * The two ends talk over the serial line, a line at a time, so that what the kernel prints between
 * does no harm: "@|" output ("@>": the line goes on), "@!" messages, "@." a sign of life, "@= STATUS"
 * the end of one run, "@@" the end of all.
 */
#ifndef VERIFY_GUEST_H
#define VERIFY_GUEST_H

#include <stdbool.h>
#include <stdio.h>

#define GUEST_SEPARATOR "++" /* between the commands of several runs */
#define MAX_GUEST_FILES 8
#define GUEST_MEMORY_MB 1024 /* eight processes may have locked all that they have */

struct guest {
	const char *image;  /* bzImage */
	const char *append; /* more words for the kernel's command line; may be NULL */
	const char *files[MAX_GUEST_FILES]; /* copied to the guest's root, by their last names */
	unsigned int nr_files;
	const char *cpu;	 /* QEMU's name of the processor; NULL: qemu64 */
	bool kvm;		 /* else all is emulated */
	unsigned int memory_mb;	 /* 0: GUEST_MEMORY_MB */
	unsigned int patience_s; /* without a sign of life; 0: 300 */
	char *const *command;	 /* VERB ARGS [++ VERB ARGS]..., ended by NULL */
};

#define GUEST_ERROR_SIZE 512

/*
 * Boots, runs, and waits for the end. The output of the runs goes to @out as it comes, their
 * messages to stderr. *ret_status: the highest exit status of the runs.
 * -errno when there is no QEMU, the kernel does not come up or falls silent; ret_error
 * (GUEST_ERROR_SIZE) says what.
 */
int guest_run(const struct guest *guest, FILE *out, int *ret_status, char *ret_error);

/*
 * In the guest, as init: mounts what programs expect, runs the commands, and ends the machine. Does
 * not return.
 */
void guest_init(char *const *command) __attribute__((noreturn));

#endif
