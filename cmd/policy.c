/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/policy.h"

#include <errno.h>
#include <string.h>

#include "probe/spec.h"

/* The last of the table, which goes from old to new. */
static const struct seam_policy *newest_living(void)
{
	const struct seam_policy *policy, *newest = seam_policy_find("plain");

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++)
		if (!policy->old && !strncmp(policy->name, "linux-", 6))
			newest = policy;
	return newest;
}

int cmd_policy(const struct cmd *cmd, const char *spec, bool of_file,
	       struct seam_policy *ret_policy)
{
	char why[POLICY_ERROR_SIZE];
	int err;

	if (!spec && of_file) {
		*ret_policy = *newest_living();
		return EXIT_DONE;
	}
	err = policy_from_spec(spec ? spec : "linux-host", ret_policy, why);
	if (!err)
		return EXIT_DONE;
	return err == -EINVAL
		       ? cmd_usage(cmd, "--kernel: %s", why)
		       : cmd_fail(EXIT_FAILED, "--kernel %s: %s", spec ? spec : "linux-host", why);
}
