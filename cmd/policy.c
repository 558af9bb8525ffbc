/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/policy.h"

#include <errno.h>

#include "findings/findings.h"
#include "probe/spec.h"

int cmd_policy(const struct cmd *cmd, const char *spec, bool of_file,
	       struct seam_policy *ret_policy)
{
	char why[POLICY_ERROR_SIZE];
	int err;

	if (!spec && of_file) {
		*ret_policy = *findings_newest_policy();
		return EXIT_DONE;
	}
	err = policy_from_spec(spec ? spec : "linux-host", ret_policy, why);
	if (!err)
		return EXIT_DONE;
	return err == -EINVAL
		       ? cmd_usage(cmd, "--kernel: %s", why)
		       : cmd_fail(EXIT_FAILED, "--kernel %s: %s", spec ? spec : "linux-host", why);
}
