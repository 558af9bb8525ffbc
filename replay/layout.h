/* SPDX-License-Identifier: BSD-2-Clause */
/* replay/layout.h - how the address spaces of a trace lie: told, or found from its addresses. */
#ifndef REPLAY_LAYOUT_H
#define REPLAY_LAYOUT_H

#include "replay/lane.h"

/* What is known of all spaces together; all zero: nothing yet. */
struct layouts {
	bool looked;
	uint64_t highest; /* end of the highest memory that any call names */
};

/*
 * The layout of a new space. Looks ahead in the trace when the space does not tell its areas.
 *  -EINVAL or -ENOMEM as trace_next, with *ret_error
 */
int layout_of_space(struct layouts *layouts, struct source *source,
		    const struct replay_options *options, const struct event *event,
		    const struct trace_facts *facts, struct space_layout *ret_layout,
		    struct trace_error *ret_error);

/* The layout of a script's spaces under a kernel. */
void layout_of_script(enum replay_layout wanted, const struct seam_policy *policy,
		      struct space_layout *ret_layout);

#endif
