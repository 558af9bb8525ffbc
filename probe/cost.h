/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/cost.h - what an area costs on this machine, measured in about two seconds.
 *
 * Times are the CPU's, not the clock's, so that a busy machine shows the same; of several rounds
 * the median counts. What pages cost is taken off: the same pages in one area are measured too.
 */
#ifndef PROBE_COST_H
#define PROBE_COST_H

#include <stdint.h>

/* What is linear in areas: X(name, "for people"). The names stand in JSON keys too. */
#define COST_OPS(X)                                                                                \
	X(fork, "fork")                                                                            \
	X(exit, "exit")                                                                            \
	X(exec, "exec")                                                                            \
	X(munmap, "munmap of all")                                                                 \
	X(maps, "reading maps")                                                                    \
	X(smaps, "reading smaps")                                                                  \
	X(bpf, "reading by BPF")

enum cost_op {
#define COST_ENUM(name, text) COST_##name,
	COST_OPS(COST_ENUM)
#undef COST_ENUM
		COST_NR_OPS
};
extern const char *const cost_op_names[COST_NR_OPS], *const cost_op_texts[COST_NR_OPS];

/* Controls, which hang little on the number of areas: a call each. */
enum cost_control { COST_MMAP, COST_FAULT, COST_NR_CONTROLS };
extern const char *const cost_control_names[COST_NR_CONTROLS];

/* Areas that were never touched, and areas of one touched page with an anon_vma each. */
enum cost_kind { COST_UNTOUCHED, COST_TOUCHED, COST_NR_KINDS };
extern const char *const cost_kind_names[COST_NR_KINDS];

#define COST_UNKNOWN (-1)
#define COST_WHY_SIZE 160

struct cost {
	char host[65], release[65]; /* of uname */
	uint64_t time_s;	    /* when it was measured, since 1970 */
	uint64_t areas;		    /* how many "many" are */
	uint64_t rounds;
	/* an area's, or COST_UNKNOWN */
	int64_t op_ns[COST_NR_OPS][COST_NR_KINDS];
	int64_t kernel_bytes[COST_NR_KINDS];
	/* a call's, at few and at many areas */
	int64_t control_ns[COST_NR_CONTROLS][2];
	char bpf_why[COST_WHY_SIZE], bytes_why[COST_WHY_SIZE]; /* why not measured, or "" */
};

/*
 * Measures in the calling process, which must have one thread and room for some thousand areas; it
 * makes children, which end at once. @exec_argv: a program that does little and succeeds.
 * -ENOMEM (no room for areas either), -errno of fork.
 */
int cost_measure(char *const *exec_argv, struct cost *ret_cost);

/* What all areas of the host hold. */
struct cost_slabs {
	int64_t areas; /* objects of struct vm_area_struct */
	int64_t bytes; /* with all that an area hangs on */
};

/* Looks after a moment's rest; -EACCES without root, -errno. */
int cost_slabs_read(struct cost_slabs *ret_slabs);

#endif
