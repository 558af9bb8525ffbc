/* SPDX-License-Identifier: BSD-2-Clause */
/* rules_on POLICY: the rules that are on in its vector, one a line. */
#include <stdio.h>

#include <seam/policy.h>

int main(int argc, char **argv)
{
	const struct seam_policy *policy = argc == 2 ? seam_policy_find(argv[1]) : NULL;

	if (!policy)
		return 2;
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		if (policy->rule[rule])
			puts(seam_rule_name(rule));
	return 0;
}
