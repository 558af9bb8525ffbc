/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/rules.h - the rules of the running kernel, found by making calls in short-lived children,
 * never by its name alone.
 */
#ifndef PROBE_RULES_H
#define PROBE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include <seam/policy.h>

#define MAX_NOTES 16
#define NOTE_SIZE 160

/* What was found out about the running kernel. */
struct rules_probe {
	char release[80];
	const struct seam_policy
		*nearest;		  /* named policy: most rules alike, then nearest release */
	int found[SEAM_NR_RULES];	  /* value; -1: no scenario tells it, taken from nearest */
	unsigned int nr_differ;		  /* rules found unlike nearest */
	char notes[MAX_NOTES][NOTE_SIZE]; /* what a person should know */
	unsigned int nr_notes;
};

/* Runs every scenario: about 3 ms. -errno when no child can be made. */
int rules_probe(struct rules_probe *ret_probe);

/* linux-host: the nearest named vector with what was found in its place. */
void rules_policy(const struct rules_probe *probe, struct seam_policy *ret_policy);

#endif
