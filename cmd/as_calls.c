/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/as_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/replay_screen.h"
#include "replay/replay.h"
#include "trace/source.h"
#include "trace/trace.h"

static const char *const kernels_of_2001[] = { "linux-2.2.13", "linux-2.4.2", "linux-2.4.3" };
#define NR_KERNELS (sizeof(kernels_of_2001) / sizeof(kernels_of_2001[0]))

/* The kernels of the report, and @policy when it is none of them. */
static unsigned int choose_kernels(const struct seam_policy *policy, struct replay_kernel *kernels)
{
	unsigned int nr = 0;
	bool listed = false;

	for (size_t i = 0; i < NR_KERNELS; i++) {
		const struct seam_policy *known = seam_policy_find(kernels_of_2001[i]);

		if (!known)
			continue;
		kernels[nr++] = (struct replay_kernel) { .policy = *known };
		listed |= !strcmp(known->name, policy->name);
	}
	if (!listed)
		kernels[nr++] = (struct replay_kernel) { .policy = *policy };
	return nr;
}

static char *say(const struct replay_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!report->facts.calls)
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	replay_say_calls(report, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *as_calls_text(const char *file, const struct seam_policy *policy)
{
	struct replay_kernel kernels[NR_KERNELS + 1];
	const struct replay_options options = {
		.kernels = kernels,
		.nr_kernels = choose_kernels(policy, kernels),
	};
	struct replay_report report;
	struct trace_error error;
	struct source source;
	char *text = NULL;
	struct stat st;

	/* a pipe is not read twice */
	if (stat(file, &st) || !S_ISREG(st.st_mode) || source_open(file, &source))
		return NULL;
	if (source.kind == SOURCE_MAIL) {
		if (!replay_run(&source, &options, &report, &error))
			text = say(&report);
		replay_report_free(&report);
	}
	source_close(&source);
	return text;
}
