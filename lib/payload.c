/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/payload.h"

#include <string.h>

int payload_init(struct seam_space *space, const struct seam_payload *given)
{
	struct seam_payload *payload = &space->payload;

	if (!given)
		return 0;
	memcpy(payload, given, given->size < sizeof(*payload) ? given->size : sizeof(*payload));
	return !payload->retain == !payload->release ? 0 : -SEAM_EINVAL;
}

bool payload_may_join(const struct seam_space *space, const struct seam_area *left,
		      const struct seam_area *right)
{
	const struct seam_payload *payload = &space->payload;

	if (payload->may_join && (left->tag || right->tag))
		return payload->may_join(payload->ctx, left, right);
	return left->tag == right->tag;
}

static bool counts(const struct seam_space *space)
{
	return space->payload.retain;
}

void payload_retain(const struct seam_space *space)
{
	const struct journal *journal = &space->journal;

	for (size_t i = 0; counts(space) && i < journal->nr; i++) {
		const struct edit *edit = &journal->edits[i];
		uint64_t tag = edit->kind == EDIT_REMOVE ? 0 : edit->after.tag;

		if (tag && !(edit->kind == EDIT_STORE && edit->before.tag == tag))
			space->payload.retain(space->payload.ctx, tag);
	}
}

void payload_release(const struct seam_space *space)
{
	const struct journal *journal = &space->journal;

	for (size_t i = 0; counts(space) && i < journal->nr; i++) {
		const struct edit *edit = &journal->edits[i];
		uint64_t tag = edit->kind == EDIT_INSERT ? 0 : edit->before.tag;

		if (tag && !(edit->kind == EDIT_STORE && edit->after.tag == tag))
			space->payload.release(space->payload.ctx, tag);
	}
}

static void each_tag(const struct seam_space *space, void (*call)(void *ctx, uint64_t tag))
{
	struct cursor cursor;
	struct area area;

	for_each_area(space, 0, &cursor, &area) {
		if (area.tag)
			call(space->payload.ctx, area.tag);
	}
}

void payload_retain_all(const struct seam_space *space)
{
	if (counts(space))
		each_tag(space, space->payload.retain);
}

void payload_release_all(const struct seam_space *space)
{
	if (counts(space))
		each_tag(space, space->payload.release);
}
