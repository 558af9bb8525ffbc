/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/policy.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static bool release_of(const char *text, unsigned int *number)
{
	number[0] = number[1] = number[2] = 0;
	return sscanf(text, "%u.%u.%u", &number[0], &number[1], &number[2]) >= 2;
}

static int compare_releases(const unsigned int *left, const unsigned int *right)
{
	for (int i = 0; i < 3; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* The newest named vector that is not newer than @release; NULL: of any age. */
static const struct seam_policy *newest_up_to(const unsigned int *release)
{
	const struct seam_policy *policy, *newest = NULL;
	unsigned int newest_number[3] = { 0 };

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++) {
		unsigned int number[3];

		if (policy->old || strncmp(policy->name, "linux-", 6) ||
		    !release_of(policy->name + 6, number))
			continue;
		if (release && compare_releases(number, release) > 0)
			continue;
		if (!newest || compare_releases(number, newest_number) > 0) {
			newest = policy;
			memcpy(newest_number, number, sizeof(number));
		}
	}
	return newest;
}

static const struct seam_policy *host_policy(void)
{
	struct utsname name;
	unsigned int release[3];

	if (uname(&name) || !release_of(name.release, release))
		return NULL;
	return newest_up_to(release);
}

int cmd_policy(const struct cmd *cmd, const char *spec, bool of_file,
	       struct seam_policy *ret_policy)
{
	const struct seam_policy *policy = NULL;
	const char *bad;

	if (!spec)
		policy = of_file ? newest_up_to(NULL) : host_policy();
	else if (!strcmp(spec, "linux-host"))
		policy = host_policy();
	else if (!seam_policy_parse(spec, ret_policy, &bad))
		return EXIT_DONE;
	else
		return cmd_usage(cmd, "--kernel %s: no such kernel or rule: '%s'", spec, bad);
	if (!policy)
		return cmd_usage(cmd, "no policy is known for %s; name one by --kernel",
				 of_file ? "living kernels" : "this kernel");
	*ret_policy = *policy;
	return EXIT_DONE;
}
