/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/payload.h - the embedder's tags: counted by areas, and asked before a join. */
#ifndef LIB_PAYLOAD_H
#define LIB_PAYLOAD_H

#include "lib/space.h"

/* Takes over the caller's functions. -SEAM_EINVAL: only one of retain and release. */
int payload_init(struct seam_space *space, const struct seam_payload *given);

/* What the embedder says of a join that the policy allows. */
bool payload_may_join(const struct seam_space *space, const struct seam_area *left,
		      const struct seam_area *right);

/* What the call in the journal has brought and taken away; in this order, the hook in between. */
void payload_retain(const struct seam_space *space);
void payload_release(const struct seam_space *space);

/* All areas of a space that a fork has made, or that ends. */
void payload_retain_all(const struct seam_space *space);
void payload_release_all(const struct seam_space *space);

#endif
