/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify/scene.h - a mismatch beside a program as a script of its own: operations that make areas
 * like those the call worked on, then the call, at addresses relative to a range that is free.
 */
#ifndef VERIFY_SCENE_H
#define VERIFY_SCENE_H

#include <seam/policy.h>

#include "verify/history.h"
#include "verify/script.h"

/*
 * The script is held against @policy's model: it is given only when it makes these areas there.
 *  -EOPNOTSUPP  no operations are known that make them, or the call is none of a script's
 *  -ENOMEM
 */
int scene_make(const struct history *before, const struct event *call,
	       const struct seam_policy *policy, struct script *ret_script);

#endif
