/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/trace_kernel.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/policy.h"

#define RECORDED "recorded"

int cmd_trace_error(const struct source *source, int err, const struct trace_error *error)
{
	if (!error->text[0])
		return cmd_fail(EXIT_FAILED, "%s: %s", source->name, strerror(-err));
	if (error->line)
		return cmd_fail(EXIT_FAILED, "%s:%" PRIu64 ": %s", source->name, error->line,
				error->text);
	return cmd_fail(EXIT_FAILED, "%s: %s", source->name, error->text);
}

static bool is_recorded(const char *spec)
{
	size_t len = strlen(RECORDED);

	return !strncmp(spec, RECORDED, len) && (!spec[len] || spec[len] == ',');
}

/* This kernel, or the newest known one that is not newer than that of the trace. */
static int recorded_policy(const struct cmd *cmd, struct source *source,
			   const struct trace_options *trace_options,
			   struct seam_policy *ret_policy)
{
	struct trace_error error = { 0 };
	struct trace *trace;
	int err = trace_open(source, trace_options, &trace, &error), r;

	if (err)
		return cmd_trace_error(source, err, &error);
	r = cmd_policy_of_release(cmd, trace_facts(trace)->host.release, ret_policy);
	trace_close(trace);
	return r;
}

int cmd_trace_kernel(const struct cmd *cmd, const char *spec, struct source *source,
		     const struct trace_options *trace_options, struct replay_kernel *kernel)
{
	const char *rules = strchr(spec, ','), *bad;
	int r;

	kernel->recorded = is_recorded(spec);
	if (!kernel->recorded)
		return cmd_policy(cmd, spec, true, &kernel->policy);
	r = recorded_policy(cmd, source, trace_options, &kernel->policy);
	if (!r && rules && seam_policy_change(&kernel->policy, rules + 1, &bad))
		r = cmd_usage(cmd, "--kernel %s: no such rule or value: %s", spec, bad);
	return r;
}
