/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sym/unwind.h - call stacks of stopped threads, by the unwind tables of their modules (libdw).
 */
#ifndef SYM_UNWIND_H
#define SYM_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UNWIND_MAX_FRAMES 64

struct unwind_frame {
	const char *path;	 /* of the module; NULL: in none */
	const uint8_t *build_id; /* of the module */
	uint8_t build_id_size;	 /* at most 20; 0: it has none */
	uint64_t offset;	 /* in the module's file, or the address */
};

struct unwinder;

/* Whether call stacks can be had in this build, on this machine. */
bool unwind_is_possible(void);

/* For one address space, that of @pid. NULL: no memory, or not possible. */
struct unwinder *unwinder_new(pid_t pid);
void unwinder_free(struct unwinder *unwinder);

/* Code was mapped or unmapped: the modules are looked at again before the next stack. */
void unwinder_changed(struct unwinder *unwinder);

/*
 * The stack of @tid, which is stopped under ptrace by the calling thread; innermost first. The number
 * of frames; their texts live until the next call.
 */
unsigned int unwinder_stack(struct unwinder *unwinder, pid_t tid, struct unwind_frame *ret_frames,
			    unsigned int max);

#endif
