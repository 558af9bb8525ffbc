/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/world.h - a process that makes calls, and the model of its map, side by side.
 *
 * The process holds its own model, so that a call, the same call in the model and the comparison
 * take about 10 µs in all. What it had before the first call (program, libraries, stack, the
 * model's memory) is taken over as the kernel shows it. What the kernel does not show of it, its
 * anon_vmas above all, cannot matter: every such area is fenced in by pages of shared memory, which
 * join nothing, and no call may name it.
 */
#ifndef VERIFY_WORLD_H
#define VERIFY_WORLD_H

#include "probe/host.h"
#include "trace/range.h"
#include "verify/compare.h"
#include "verify/model.h"
#include "verify/pool.h"
#include "verify/real.h"
#include "verify/truth.h"

#define MAX_KEPT 512
#define STACK_ROOM (UINT64_C(64) << 20)

/* What a process is beforehand, a bit each: X(name, "for people"). Random runs take turns. */
#define WORLD_PROPERTIES(X)                                                                        \
	X(no_rights, "no-rights") /* without the capabilities that move limits */                  \
	X(merge_any, "merge-any") /* PR_SET_MEMORY_MERGE */                                        \
	X(mdwe, "mdwe")		  /* PR_SET_MDWE */                                                \
	X(read_exec, "read-exec") /* personality READ_IMPLIES_EXEC */

enum world_property {
#define WORLD_ENUM(name, text) WORLD_BIT_##name,
	WORLD_PROPERTIES(WORLD_ENUM)
#undef WORLD_ENUM
		NR_WORLD_PROPERTIES
};
#define WORLD(name) (1u << WORLD_BIT_##name)
#define WORLD_KINDS (1u << NR_WORLD_PROPERTIES)
#define WORLD_TEXT_SIZE 64

/* "no-rights,mdwe"; "" for none. Returns @buf (WORLD_TEXT_SIZE). */
char *world_kind_text(char *buf, uint32_t kind);
/* False when a word of the list is no property. */
bool world_kind_read(const char *list, uint32_t *ret_kind);

struct world {
	const struct host *host;
	uint32_t kind; /* WORLD() */
	bool filled;   /* an area limit is modelled by areas that fill the rest */
	uint64_t filled_to;
	struct pool *pool; /* at its own beginning */
	struct seam_space *space;
	struct look look;
	struct truth *truth; /* NULL: it cannot be had */
	struct real_files real_files;
	struct model_files model_files;
	struct range kept[MAX_KEPT]; /* what no call may name, in address order */
	unsigned int nr_kept;
	bool heap_known; /* where it begins */
	bool has_names, has_merge, has_uffd, has_mbind,
		has_shm; /* calls that are there and allowed */
	char *text;	 /* for look */
};

/* Opens the files of scripts, before any process is made. -errno. */
int world_open_files(struct world *world);
/*
 * Makes the calling process a world. It must not use malloc any more. -errno, and *ret_what says
 * what could not be done.
 */
int world_begin(struct world *world, const struct host *host, const struct seam_policy *policy,
		uint32_t kind, const char **ret_what);
/* In a child by fork of a world: the same world, now of this process. -errno. */
int world_forked(struct world *world);
/*
 * Puts the model's memory where later children by fork share it: all spaces of a family are then of
 * one piece, whichever process works on them. -errno.
 */
int world_share(struct world *world);
/*
 * Makes @nr areas the most that others can be: the rest up to vm.max_map_count is filled, far away,
 * with areas that do not join. -errno; -E2BIG: there are more already.
 */
int world_limit(struct world *world, uint64_t nr);

/* Whether a call may name the range. */
bool world_allows(const struct world *world, uint64_t start, uint64_t len);

#endif
