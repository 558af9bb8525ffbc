/* SPDX-License-Identifier: BSD-2-Clause */
/* verify/shrink.h - making a script short that shows something. */
#ifndef VERIFY_SHRINK_H
#define VERIFY_SHRINK_H

#include "verify/script.h"

/* Whether a script shows it. @all: the whole map is compared after every operation. */
typedef bool (*shows_fn)(void *ctx, struct script *script, bool all);

/*
 * Takes out of *@script what it can do without; *@room is for its use. True when the last thing
 * tried was *@script as it now is, and it showed it; false when it shows it no more, even whole.
 */
bool shrink(struct script *script, struct script *room, shows_fn shows, void *ctx);

#endif
