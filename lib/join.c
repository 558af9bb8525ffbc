/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/join.h"

#include "lib/area.h"
#include "lib/payload.h"

/*
 * Soft-dirty never counts (3.14-; before, the bit did not exist or was not compared). The guard
 * flag does not where it is sticky. A policy that does not compare accounting lets it pass.
 */
static uint64_t ignored_flags(const struct seam_policy *policy)
{
	uint64_t ignored = 0;

	if (!policy->old)
		ignored |= SEAM_VM_SOFTDIRTY;
	if (policy->rule[SEAM_RULE_sticky])
		ignored |= SEAM_VM_MAYBE_GUARD;
	if (!policy->rule[SEAM_RULE_account])
		ignored |= SEAM_VM_ACCOUNT;
	return ignored;
}

uint64_t join_flags(const struct seam_policy *policy, uint64_t left, uint64_t right)
{
	return (left ^ right) & ~ignored_flags(policy);
}

/*
 * value 1: today's set; 2 (2.6.0 - 2.6.12): IO, DONTCOPY, DONTEXPAND and RESERVED (LOCKONFAULT's bit
 * today); 3 (2.6.24): IO, DONTEXPAND, RESERVED and PFNMAP.
 */
static uint64_t special_flags(const struct seam_policy *policy)
{
	uint64_t old = SEAM_VM_IO | SEAM_VM_DONTEXPAND | SEAM_VM_LOCKONFAULT;

	switch (policy->rule[SEAM_RULE_special]) {
	case 0:
		return 0;
	case 1:
		return SEAM_VM_SPECIAL;
	case 2:
		return old | SEAM_VM_DONTCOPY;
	default:
		return old | SEAM_VM_PFNMAP;
	}
}

static uint32_t flag_causes(uint64_t differ)
{
	uint32_t causes = 0;

	if (differ & SEAM_VM_RWX)
		causes |= SEAM_CAUSE(prot);
	if (differ & SEAM_VM_SHARED) {
		causes |= SEAM_CAUSE(shared);
		differ &= ~SEAM_VM_MAYSHARE;
	}
	if (differ & ~(SEAM_VM_RWX | SEAM_VM_SHARED | SEAM_VM_PKEY))
		causes |= SEAM_CAUSE(flags);
	if (differ & SEAM_VM_PKEY)
		causes |= SEAM_CAUSE(pkey);
	return causes;
}

/*
 * Offsets are numbers of one file, or of anonymous memory: said only where both have the same.
 * Private memory of files has both from 7.3 on (7.3 mm/vma.c needs_adjacent_anon_pgoff).
 */
static uint32_t file_causes(const struct seam_policy *policy, unsigned int page_shift,
			    const struct seam_area *left, const struct seam_area *right)
{
	unsigned int wanted = left->file ? 1 : 2;

	if (left->file != right->file)
		return policy->rule[SEAM_RULE_file] ? SEAM_CAUSE(file) : 0;
	if (policy->rule[SEAM_RULE_offset] < wanted)
		return 0;
	if (left->pgoff + ((left->end - left->start) >> page_shift) != right->pgoff)
		return SEAM_CAUSE(offset);
	if (policy->rule[SEAM_RULE_moved_files] && left->moved_pages != right->moved_pages)
		return SEAM_CAUSE(offset);
	return 0;
}

/*
 * value 1 (2.6.7 - 2.6.39): none or equal.
 * value 2 (3.0 - 6.15): none, and then the neighbour's chain must have exactly one element; an
 *   unfaulted neighbour has none, so faulted memory does not join it.
 * value 3 (6.16 -): faulted and unfaulted join unless the faulted one is a fork child.
 */
struct anon_identity {
	uint32_t vma, chain;
};

static uint32_t anon_causes(unsigned int value, struct anon_identity neighbour,
			    struct anon_identity other)
{
	bool both = neighbour.vma && other.vma;
	bool inherited = (neighbour.vma && neighbour.chain > 1) || (other.vma && other.chain > 1);
	bool apart;

	if (!value || neighbour.vma == other.vma)
		return 0;
	switch (value) {
	case 1:
		apart = both;
		break;
	case 2:
		apart = both || neighbour.chain != 1;
		break;
	default:
		apart = both || inherited;
		break;
	}
	if (!apart)
		return 0;
	return inherited ? SEAM_CAUSE(fork) : SEAM_CAUSE(anon_vma);
}

static struct anon_identity anon_of_export(const struct seam_area *area)
{
	return (struct anon_identity) { .vma = area->anon_vma, .chain = area->anon_chain };
}

static struct anon_identity anon_of(const struct seam_space *space, const struct area *area)
{
	return (struct anon_identity) { .vma = anon_vma_of(space->family, area->anon),
					.chain = anon_length(space->family, area->anon) };
}

/*
 * value 1 (-6.3): a neighbour with a close operation joins nothing.
 * value 2 (6.4-): only the one that vanishes must have none; the caller of join_check knows which.
 *   Two areas that both have one are said to be apart for it: no change of either joins them whole.
 */
static uint32_t close_causes(unsigned int value, const struct seam_area *neighbour,
			     const struct seam_area *other)
{
	bool apart = neighbour->traits & SEAM_TRAIT_CLOSE;

	if (value > 1)
		apart = apart && other->traits & SEAM_TRAIT_CLOSE;
	return value && apart ? SEAM_CAUSE(close) : 0;
}

uint32_t join_causes(const struct seam_policy *policy, unsigned int page_shift,
		     const struct seam_area *left, const struct seam_area *right,
		     enum join_neighbour neighbour)
{
	bool at_left = neighbour == NEIGHBOUR_LEFT;
	uint32_t causes = flag_causes(join_flags(policy, left->flags, right->flags));

	if ((left->flags | right->flags) & special_flags(policy))
		causes |= SEAM_CAUSE(special);
	causes |= file_causes(policy, page_shift, left, right);
	causes |= anon_causes(policy->rule[SEAM_RULE_anon_vma],
			      anon_of_export(at_left ? left : right),
			      anon_of_export(at_left ? right : left));
	if (policy->rule[SEAM_RULE_numa] && left->numa != right->numa)
		causes |= SEAM_CAUSE(numa);
	if (policy->rule[SEAM_RULE_uffd] && left->uffd != right->uffd)
		causes |= SEAM_CAUSE(uffd);
	if (policy->rule[SEAM_RULE_name] && left->name != right->name)
		causes |= SEAM_CAUSE(name);
	causes |= close_causes(policy->rule[SEAM_RULE_close], at_left ? left : right,
			       at_left ? right : left);
	return causes;
}

bool join_takes(enum join_style style, uint64_t flags, uint64_t file)
{
	switch (style) {
	case JOIN_NONE:
		return false;
	case JOIN_BELOW:
	case JOIN_ANON:
		return !file && !(flags & SEAM_VM_SHARED);
	case JOIN_FILES:
		return !(file & SEAM_FILE_OWN);
	default:
		return true;
	}
}

bool join_never(const struct seam_policy *policy, const struct seam_area *left,
		const struct seam_area *right)
{
	enum join_style style = policy->rule[SEAM_RULE_mmap_join];

	return policy->old && !(join_takes(style, left->flags, left->file) &&
				join_takes(style, right->flags, right->file));
}

/*
 * The bits that were the same from 2.2 on; since 2.6.0 ACCOUNT and HUGETLB too. Of the others some
 * were not there, some meant another thing (0x400 SHM, 0x800 DENYWRITE, 0x1000 EXECUTABLE).
 */
uint64_t join_flags_then(const struct seam_policy *policy, uint64_t flags)
{
	uint64_t known = SEAM_VM_RWX | SEAM_VM_SHARED | SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE |
			 SEAM_VM_MAYEXEC | SEAM_VM_MAYSHARE | SEAM_VM_GROWSDOWN | SEAM_VM_LOCKED |
			 SEAM_VM_IO;

	if (!policy->old)
		return flags;
	if (policy->rule[SEAM_RULE_madvise_args])
		known |= SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ | SEAM_VM_DONTCOPY |
			 SEAM_VM_DONTEXPAND;
	if (policy->rule[SEAM_RULE_account])
		known |= SEAM_VM_ACCOUNT | SEAM_VM_HUGETLB;
	return flags & known;
}

static bool continues(const struct seam_space *space, const struct attr *attr,
		      const struct area *left, const struct area *right)
{
	return left->pgoff + pages_of(space, left->end - left->start) == right->pgoff ||
	       rule(space, SEAM_RULE_offset) < (attr->file ? 1 : 2);
}

static bool anon_joins(const struct seam_space *space, const struct area *left,
		       const struct area *right, enum join_neighbour neighbour)
{
	bool at_left = neighbour == NEIGHBOUR_LEFT;

	return left->anon == right->anon ||
	       !anon_causes(rule(space, SEAM_RULE_anon_vma), anon_of(space, at_left ? left : right),
			    anon_of(space, at_left ? right : left));
}

bool join_check(const struct seam_space *space, const struct area *left, const struct area *right,
		enum join_neighbour neighbour)
{
	const struct attr *attr = area_attr(space, left);
	bool asked = space->payload.may_join && (left->tag | right->tag);
	struct seam_area l, r;
	uint32_t causes;

	/* of equal sets of no special kind only offsets and anonymous memory can be apart */
	if (left->attr == right->attr && left->tag == right->tag && !asked && !attr->traits &&
	    !(attr->flags & (SEAM_VM_SPECIAL | special_flags(policy_of(space)))))
		return continues(space, attr, left, right) &&
		       anon_joins(space, left, right, neighbour);
	/* any flag in which they differ is a cause */
	if (join_flags(policy_of(space), attr->flags, area_flags(space, right)))
		return false;
	area_export(space, left, &l);
	area_export(space, right, &r);
	causes = join_causes(policy_of(space), space->page_shift, &l, &r, neighbour);
	if (rule(space, SEAM_RULE_close) > 1)
		causes &= ~SEAM_CAUSE(close);
	return !causes && payload_may_join(space, &l, &r);
}

bool join_removable(const struct seam_space *space, const struct area *area)
{
	return rule(space, SEAM_RULE_close) != 2 ||
	       !(area_attr(space, area)->traits & SEAM_TRAIT_CLOSE);
}

bool join_bridged(const struct seam_space *space, const struct area *left, const struct area *right)
{
	uint32_t l = anon_vma_of(space->family, left->anon);
	uint32_t r = anon_vma_of(space->family, right->anon);

	return !rule(space, SEAM_RULE_anon_vma) || !l || !r || l == r;
}

bool join_keep_sticky(struct seam_space *space, struct area *survivor, uint64_t flags)
{
	struct attr attr;

	flags &= rule(space, SEAM_RULE_sticky) ? SEAM_VM_MAYBE_GUARD : 0;
	if (!(flags & ~area_flags(space, survivor)))
		return true;
	attr = *area_attr(space, survivor);
	attr.flags |= flags;
	survivor->attr = area_intern(space, &attr);
	return survivor->attr;
}
