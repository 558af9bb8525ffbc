/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/causes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *causes_text(char *buf, uint32_t causes)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++)
		if (causes & 1u << bit && len < CAUSES_TEXT_SIZE)
			len += (size_t)snprintf(buf + len, CAUSES_TEXT_SIZE - len, "%s%s",
						len ? "+" : "", seam_cause_name(bit));
	return buf;
}

uint64_t causes_flags(uint32_t causes, uint64_t differ)
{
	differ &= ~(SEAM_VM_RWX | SEAM_VM_PKEY | SEAM_VM_SHARED);
	if (causes & SEAM_CAUSE(shared))
		differ &= ~SEAM_VM_MAYSHARE;
	return differ;
}

int cause_by_name(const char *name, size_t len)
{
	for (unsigned int bit = 0; bit < SEAM_NR_CAUSES; bit++)
		if (strlen(seam_cause_name(bit)) == len && !memcmp(seam_cause_name(bit), name, len))
			return (int)bit;
	return -1;
}

unsigned int snapshot_page_shift(const struct snapshot *snapshot)
{
	return 12;
}

static bool has_file(const struct snapshot_area *area)
{
	return area->area.file || area->inode;
}

/*
 * Offsets count from the start of a file; where the numbering of anonymous memory is hidden, the
 * kernel's own way of giving it out is taken: the page number of the address.
 */
struct seam_area area_as_seen(const struct snapshot *snapshot, size_t index)
{
	const struct snapshot_area *seen = &snapshot->areas[index];
	struct seam_area area = seen->area;
	uint32_t wanted = has_file(seen) ? SEES_OFFSET : SEES_ANON_OFFSET;

	if (!(snapshot->sees & wanted))
		area.pgoff = area.start >> snapshot_page_shift(snapshot);
	return area;
}

/*
 * Old kernels had no flags that maps does not print but those of locks and stacks, so what their
 * maps shows as equal is equal.
 */
static bool hides_flags(const struct snapshot *snapshot, const struct seam_policy *policy)
{
	return !(snapshot->sees & (SEES_FLAGS | SEES_ALL_FLAGS)) && !policy->old;
}

uint32_t causes_not_visible(const struct snapshot *snapshot, const struct seam_policy *policy)
{
	const uint8_t *rule = policy->rule;
	uint32_t sees = snapshot->sees, hidden = 0;

	if (hides_flags(snapshot, policy))
		hidden |= SEAM_CAUSE(flags) | SEAM_CAUSE(special);
	if (sees & HIDES_PROT || !(sees & SEES_RANGE))
		hidden |= SEAM_CAUSE(prot);
	if (sees & HIDES_SHARED || !(sees & SEES_RANGE))
		hidden |= SEAM_CAUSE(shared);
	if (rule[SEAM_RULE_file] && !(sees & SEES_FILE))
		hidden |= SEAM_CAUSE(file);
	if (rule[SEAM_RULE_offset] >= 2 && !(sees & SEES_ANON_OFFSET))
		hidden |= SEAM_CAUSE(offset);
	if (rule[SEAM_RULE_anon_vma] && !(sees & SEES_ANON_VMA))
		hidden |= SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork);
	if (rule[SEAM_RULE_numa] && !(sees & SEES_NUMA))
		hidden |= SEAM_CAUSE(numa);
	if (rule[SEAM_RULE_uffd] && !(sees & SEES_UFFD))
		hidden |= SEAM_CAUSE(uffd);
	if (rule[SEAM_RULE_name] && !(sees & SEES_NAME))
		hidden |= SEAM_CAUSE(name);
	if (!policy->old && !(sees & SEES_PKEY))
		hidden |= SEAM_CAUSE(pkey);
	if (rule[SEAM_RULE_close] && !(sees & SEES_CLOSE))
		hidden |= SEAM_CAUSE(close);
	return hidden;
}

uint32_t causes_hidden(const struct snapshot *snapshot, const struct seam_policy *policy,
		       size_t left)
{
	const struct snapshot_area *l = &snapshot->areas[left], *r = l + 1;
	uint32_t hidden = causes_not_visible(snapshot, policy);

	/* Anonymous memory has no file and no driver; a file's offset is mostly seen. */
	if (has_file(l) && has_file(r) && snapshot->sees & SEES_OFFSET)
		hidden &= ~SEAM_CAUSE(offset);
	else if (!has_file(l) && !has_file(r))
		hidden &= ~(SEAM_CAUSE(file) | SEAM_CAUSE(close));
	/* Only private memory that may be written gets anonymous pages. */
	if (l->area.flags & SEAM_VM_MAYSHARE || r->area.flags & SEAM_VM_MAYSHARE)
		hidden &= ~(SEAM_CAUSE(anon_vma) | SEAM_CAUSE(fork));
	return hidden;
}

uint32_t causes_of_pair(const struct snapshot *snapshot, const struct seam_policy *policy,
			size_t left)
{
	struct seam_area l = area_as_seen(snapshot, left), r = area_as_seen(snapshot, left + 1);
	uint32_t causes = seam_explain_pair(policy, snapshot_page_shift(snapshot), &l, &r);

	if (causes)
		return causes;
	return causes_hidden(snapshot, policy, left) ? SEAM_CAUSE(unseen) : SEAM_CAUSE(untried);
}
