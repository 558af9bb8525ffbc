/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam/granule.h - guest pages within the host's larger ones.
 *
 * A guest with pages of 4 KiB on a host with pages of 16 or 64 KiB: the host can give one of its
 * pages (a granule) one protection only and map one file there. Where the guest wants more than one
 * the embedder must help itself (copy, trap, emulate), so it has to know where.
 *
 * The size of granules is the space's (struct seam_space_options, host_page_shift), or the guest's
 * page where none was given; then no granule is ever mixed.
 */
#ifndef SEAM_GRANULE_H
#define SEAM_GRANULE_H

#include <stdint.h>

#include <seam/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In what the guest pages of one granule differ. */
#define SEAM_GRANULE_HOLE 0x1u	/* some are mapped, some are not */
#define SEAM_GRANULE_PROT 0x2u	/* those that are mapped have more than one protection (rwx) */
#define SEAM_GRANULE_FILE 0x4u	/* they are of several files, or private and shared */
#define SEAM_GRANULE_PGOFF 0x8u /* they are of one file, at places that do not continue */
/* More than one guest protection: no access, where nothing is mapped, is one as well. */
#define SEAM_GRANULE_MIXED (SEAM_GRANULE_HOLE | SEAM_GRANULE_PROT)

struct seam_granule {
	uint64_t start, end; /* the host's page; an end at 2^64 is 0 */
	uint64_t mapped;     /* bytes of it that are mapped */
	uint32_t differ;     /* SEAM_GRANULE_* */
	uint32_t prot_any;   /* SEAM_PROT_* that some mapped page has */
	uint32_t prot_all;   /* SEAM_PROT_* that all mapped pages have; 0 when none is mapped */
	uint32_t areas;	     /* areas that reach into it */
};

/* The granule that holds @addr. O(log n) plus the areas in it. */
void seam_granule_at(const struct seam_space *space, uint64_t addr,
		     struct seam_granule *ret_granule);

/*
 * The next granule of those that [*@at, @end) touches in which something of @what differs. Returns
 * 1 and moves *at behind it, or 0 when there are no more:
 *	uint64_t at = start;
 *	while (seam_granule_next(space, &at, end, SEAM_GRANULE_MIXED, &granule)) ...
 * Looks only where areas begin and end: O(log n) plus the areas passed.
 */
int seam_granule_next(const struct seam_space *space, uint64_t *at, uint64_t end, uint32_t what,
		      struct seam_granule *ret_granule);

#ifdef __cplusplus
}
#endif
#endif
