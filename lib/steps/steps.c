/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/steps/steps.h"

int steps_init(struct seam_space *space)
{
	return 0;
}

void steps_free(struct seam_space *space)
{
}
