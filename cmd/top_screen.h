/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/top_screen.h - what "seam top" shows to people: once, or again and again with keys. */
#ifndef CMD_TOP_SCREEN_H
#define CMD_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "findings/top.h"

/* Which processes, and how. */
struct top_view {
	enum top_order order;
	bool reverse, header;
	uint64_t rows; /* 0: as many as fit */
	size_t first;  /* of the order: what is above is scrolled away */
};

/* One look, as a report. 0 or an exit status after a message. */
int top_report(struct top *top, const struct top_view *view, const struct seam_policy *policy,
	       FILE *out);
/* The terminal behind @out until a key or a signal ends it; a look every @delay_ms. */
int top_watch(struct top *top, struct top_view *view, const struct seam_policy *policy,
	      unsigned int delay_ms, FILE *out);
/* Looks, sorts and finds out what the processes to be shown consist of: @nr from view->first on. */
int top_look_at(struct top *top, const struct top_view *view, const struct seam_policy *policy,
		size_t nr);

#endif
