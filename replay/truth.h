/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/truth.h - as it happened: the model held against the areas that the kernel had.
 */
#ifndef REPLAY_TRUTH_H
#define REPLAY_TRUTH_H

#include "replay/lane.h"

/*
 * Holds the space against the areas of an EVENT_TRUTH (or of a new space) and takes these over
 * where they differ. 0 or -ENOMEM.
 */
int truth_check(struct lane *lane, const struct event *event, struct replay_report *report);

/* Notes a result that is not the recorded one. */
void truth_note_result(const struct event *event, const struct replay_outcome *outcome,
		       uint64_t number, struct replay_report *report);

#endif
