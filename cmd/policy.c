/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "findings/findings.h"
#include "probe/spec.h"

int cmd_policy_of_option(const struct cmd *cmd, const char *option, const char *spec,
			 struct seam_policy *ret_policy)
{
	char why[POLICY_ERROR_SIZE];
	int err = policy_from_spec(spec, ret_policy, why);

	if (!err)
		return EXIT_DONE;
	return err == -EINVAL ? cmd_usage(cmd, "%s: %s", option, why)
			      : cmd_fail(EXIT_FAILED, "%s %s: %s", option, spec, why);
}

int cmd_policy(const struct cmd *cmd, const char *spec, bool of_file,
	       struct seam_policy *ret_policy)
{
	if (!spec && of_file) {
		*ret_policy = *findings_newest_policy();
		return EXIT_DONE;
	}
	return cmd_policy_of_option(cmd, "--kernel", spec ? spec : "linux-host", ret_policy);
}

/* "6.18.44-1-amd64" -> 0x06122c; 0 when it is no release. */
static uint32_t release_number(const char *text)
{
	unsigned int major, minor, patch = 0;

	if (sscanf(text, "%u.%u.%u", &major, &minor, &patch) < 2)
		return 0;
	return major << 16 | (minor & 0xff) << 8 | (patch & 0xff);
}

bool cmd_named_policy(const char *release, struct seam_policy *ret_policy)
{
	uint32_t wanted = release_number(release), best = 0;
	const struct seam_policy *policy;

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++) {
		uint32_t number =
			strncmp(policy->name, "linux-", 6) ? 0 : release_number(policy->name + 6);

		if (number <= best || number > wanted)
			continue;
		best = number;
		*ret_policy = *policy;
	}
	return best;
}

int cmd_policy_of_release(const struct cmd *cmd, const char *release,
			  struct seam_policy *ret_policy)
{
	struct utsname host;

	if (!release_number(release) || (!uname(&host) && !strcmp(host.release, release)))
		return cmd_policy(cmd, "linux-host", false, ret_policy);
	if (!cmd_named_policy(release, ret_policy))
		return cmd_fail(EXIT_FAILED, "recorded under Linux %s, of which no rules are known",
				release);
	return EXIT_DONE;
}
