/* SPDX-License-Identifier: BSD-2-Clause */
/* What all sources of snapshots share. */
#include <stdlib.h>

#include "trace/core.h"
#include "trace/snapshot.h"

uint32_t snapshot_text(struct snapshot *snapshot, const void *data, size_t len,
		       const char **ret_text)
{
	uint32_t id;
	bool new;

	if (!snapshot->texts)
		snapshot->texts = calloc(1, sizeof(*snapshot->texts));
	if (!snapshot->texts)
		return 0;
	id = intern_number(snapshot->texts, data, len, UINT32_MAX, &new);
	if (id && ret_text)
		*ret_text = intern_text(snapshot->texts, id);
	return id;
}

void snapshot_note(struct snapshot *snapshot, const char *text)
{
	if (snapshot->nr_notes < sizeof(snapshot->notes) / sizeof(snapshot->notes[0]))
		snapshot->notes[snapshot->nr_notes++] = text;
}

int snapshot_from_source(const struct source *source, bool skip_bad, struct snapshot *ret_snapshot,
			 struct trace_error *ret_error)
{
	if (source->kind == SOURCE_CORE)
		return core_read(source, skip_bad, ret_snapshot, ret_error);
	return snapshot_from_text(source, skip_bad, ret_snapshot, ret_error);
}

void snapshot_free(struct snapshot *snapshot)
{
	if (snapshot->texts)
		intern_free(snapshot->texts);
	free(snapshot->texts);
	free(snapshot->areas);
	*snapshot = (struct snapshot) { 0 };
}
