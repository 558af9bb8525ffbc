/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks, taken while the task stands at the entry of its call. */
#include <string.h>

#include <seam/ops.h>

#include "probe/rec.h"
#include "sym/unwind.h"

static uint32_t module_number(struct rec *rec, const struct unwind_frame *frame)
{
	struct trace_module module = { .path = frame->path, .build_id_size = frame->build_id_size };

	if (!frame->path)
		return 0;
	memcpy(module.build_id, frame->build_id, frame->build_id_size);
	return data_write_module(rec->writer, &module);
}

uint32_t rec_stack(struct rec *rec, const struct rec_task *task)
{
	struct rec_space *space = task->space;
	struct unwind_frame frames[UNWIND_MAX_FRAMES];
	struct trace_frame written[UNWIND_MAX_FRAMES];
	struct trace_stack stack = { .frames = written };

	if (!rec->options->stacks || !rec->writer)
		return 0;
	if (!space->unwinder)
		space->unwinder = unwinder_new(task->process->pid);
	if (!space->unwinder)
		return 0;
	stack.nr_frames = unwinder_stack(space->unwinder, task->tid, frames, UNWIND_MAX_FRAMES);
	for (uint32_t i = 0; i < stack.nr_frames; i++)
		written[i] =
			(struct trace_frame) { module_number(rec, &frames[i]), frames[i].offset };
	return stack.nr_frames ? data_write_stack(rec->writer, &stack) : 0;
}

void rec_stack_after(const struct rec_space *space, const struct rec_call *call, int64_t result)
{
	bool maps = call->call == TRACE_CALL_mmap && call->has_file &&
		    call->arg[2] & SEAM_PROT_EXEC;

	if (result >= 0 && call->kind == REC_CALL && (maps || call->call == TRACE_CALL_munmap))
		unwinder_changed(space->unwinder);
}
