/* SPDX-License-Identifier: BSD-2-Clause */
/* mseal, mbind, anonymous names, tags and userfaultfd: a range gets one attribute. */
#include "lib/compiler.h"
#include "lib/op/modify.h"
#include "lib/op/op.h"

/*
 * With the rule mseal_end (6.17 mm/mseal.c mseal_apply) the next part was taken to begin where this one
 * ended before it joined what lay above: so it begins at no area's start, and is not compared. Were what
 * follows it sealed and like it, the kernel would break its own map; here the two stay apart.
 */
struct sealing {
	bool stale;
};

/* The rest of what was joined is passed over; @end: of the part that was sealed, 0 none. */
static void note_end(const struct seam_space *space, const struct cursor *cursor, uint64_t start,
		     uint64_t end, struct sealing *sealing)
{
	struct area area;

	index_load(&space->index, cursor, &area);
	sealing->stale = end ? area.end > end : sealing->stale && area.start < start;
}

static int seal_part(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		     void *ctx)
{
	bool loses_end = rule(space, SEAM_RULE_mseal_end);
	struct sealing *sealing = ctx;
	struct area area;
	uint64_t flags;
	int err = 0;

	index_load(&space->index, cursor, &area);
	flags = area_flags(space, &area);
	if (flags & SEAM_VM_SEALED)
		end = 0;
	else
		err = modify_flags_apart(space, cursor, start, end, flags | SEAM_VM_SEALED,
					 loses_end && sealing->stale);
	if (!err && loses_end)
		note_end(space, cursor, start, end, sealing);
	return err;
}

/* Source: 6.18 mm/mseal.c do_mseal. Nothing is sealed when there is a hole. */
int linux_mseal(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t flags)
{
	struct sealing sealing = { false };
	uint64_t end;

	if (!rule(space, SEAM_RULE_mseal))
		return -SEAM_ENOSYS;
	if (flags || range_end(space, addr, len, &end))
		return -SEAM_EINVAL;
	if (range_has_hole(space, addr, end))
		return -SEAM_ENOMEM;
	return walk_range(space, addr, end, HOLES_STOP, seal_part, &sealing);
}

static int bind_part(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		     void *ctx)
{
	struct area area;
	struct attr attr;

	index_load(&space->index, cursor, &area);
	attr = *area_attr(space, &area);
	if (attr.numa == *(const uint32_t *)ctx)
		return 0;
	attr.numa = *(const uint32_t *)ctx;
	return modify_range(space, cursor, start, end, &attr);
}

/* Source: 6.18 mm/mempolicy.c do_mbind, queue_pages_test_walk, mbind_range. */
int linux_mbind(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t numa)
{
	struct cursor cursor;
	struct area area;
	/* a length that rounds to 0 is none here */
	uint64_t end = addr + page_up(space, len);

	if (addr & (page_size(space) - 1) || end < addr)
		return -SEAM_EINVAL;
	if (end == addr)
		return 0;
	if (numa && range_has_hole(space, addr, end))
		return -SEAM_EFAULT;
	if (!area_seek(space, addr, &cursor, &area))
		return -SEAM_EFAULT;
	if (area.start >= end)
		return -SEAM_EFAULT;
	/* the default policy may be given to a range with holes */
	return walk_range(space, addr, end, HOLES_FORGIVE, bind_part, &numa);
}

static int name_part(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		     void *ctx)
{
	struct area area;
	struct attr attr;
	int err;

	index_load(&space->index, cursor, &area);
	attr = *area_attr(space, &area);
	if (attr.file && !(attr.file & SEAM_FILE_OWN))
		return -SEAM_EBADF;
	if (attr.name == *(const uint32_t *)ctx)
		return 0;
	attr.name = *(const uint32_t *)ctx;
	err = modify_range(space, cursor, start, end, &attr);
	return err == -SEAM_ENOMEM ? -SEAM_EAGAIN : err;
}

/* Source: 6.18 mm/madvise.c madvise_set_anon_name. */
int linux_set_name(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t name)
{
	uint64_t end;

	if (!rule(space, SEAM_RULE_name) || range_end(space, addr, len, &end))
		return -SEAM_EINVAL;
	return walk_range(space, addr, end, HOLES_PASS, name_part, &name);
}

static int tag_part(struct seam_space *space, struct cursor *cursor, uint64_t start, uint64_t end,
		    void *ctx)
{
	uint64_t tag = *(const uint64_t *)ctx;
	struct area area;

	index_load(&space->index, cursor, &area);
	return area.tag == tag ? 0 : modify_tag(space, cursor, start, end, tag);
}

/* The embedder's own; no kernel has it. */
int linux_set_tag(struct seam_space *space, uint64_t addr, uint64_t len, uint64_t tag)
{
	uint64_t end;

	if (range_end(space, addr, len, &end))
		return -SEAM_EINVAL;
	return walk_range(space, addr, end, HOLES_PASS, tag_part, &tag);
}

struct registration {
	uint32_t uffd;
	uint64_t flags;
};

static int register_part(struct seam_space *space, struct cursor *cursor, uint64_t start,
			 uint64_t end, void *ctx)
{
	const struct registration *wanted = ctx;
	struct area area;
	struct attr attr;

	index_load(&space->index, cursor, &area);
	attr = *area_attr(space, &area);
	if (attr.uffd == wanted->uffd && (attr.flags & wanted->flags) == wanted->flags)
		return 0;
	attr.uffd = wanted->uffd;
	attr.flags = (attr.flags & ~UFFD_BITS) | wanted->flags;
	return modify_watched(space, cursor, start, end, &attr);
}

/*
 * Anonymous, shmem and hugetlb memory (6.18 vma_can_userfault). SysV segments have operations of
 * their own and do not count as shmem.
 */
static bool can_be_watched(const struct seam_space *space, const struct attr *attr)
{
	uint32_t shmem = attr->traits & (SEAM_TRAIT_SHMEM | SEAM_TRAIT_CLOSE);

	if (attr->flags & SEAM_VM_DROPPABLE && !rule(space, SEAM_RULE_uffd_droppable))
		return false;
	return !attr->file || attr->flags & SEAM_VM_HUGETLB || shmem == SEAM_TRAIT_SHMEM;
}

/* Whether @at, where a range begins or ends in the area, is between two huge pages, if it has any. */
static bool between_huge(const struct seam_space *space, const struct attr *attr, uint64_t at)
{
	return !(attr->flags & SEAM_VM_HUGETLB) || is_huge_aligned(space, at);
}

/* Whole pages of user space, and not none (6.18 fs/userfaultfd.c validate_range). */
static bool is_user_range(const struct seam_space *space, uint64_t addr, uint64_t len)
{
	if (rule(space, SEAM_RULE_uffd_low) && addr < space->min_addr)
		return false;
	return len && !((addr | len) & (page_size(space) - 1)) && addr < space->user_end &&
	       len <= space->user_end - addr;
}

/* What any area of the range forbids, looked at before the first is changed. */
static noinline_for_stack int may_register(const struct seam_space *space, uint64_t start,
					   uint64_t end, const struct registration *wanted)
{
	struct cursor cursor;
	struct area area;
	bool some = false;

	for_each_area(space, start, &cursor, &area) {
		const struct attr *attr;

		if (area.start >= end)
			break;
		attr = area_attr(space, &area);
		if (!some && !between_huge(space, attr, start))
			return -SEAM_EINVAL;
		some = true;
		if (!can_be_watched(space, attr))
			return -SEAM_EINVAL;
		if (end <= area.end && !between_huge(space, attr, end))
			return -SEAM_EINVAL;
		if (!(attr->flags & SEAM_VM_MAYWRITE))
			return -SEAM_EPERM;
		if (attr->uffd && attr->uffd != wanted->uffd)
			return -SEAM_EBUSY;
		/* write protection that is there is not given up by registering anew */
		if (rule(space, SEAM_RULE_uffd_wp_stays) && attr->uffd &&
		    attr->flags & SEAM_VM_UFFD_WP & ~wanted->flags)
			return -SEAM_EBUSY;
	}
	return some ? 0 : -SEAM_EINVAL;
}

/* Source: 6.18 fs/userfaultfd.c userfaultfd_register, mm/userfaultfd.c userfaultfd_register_range. */
int linux_uffd_register(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t uffd,
			uint64_t flags)
{
	struct registration wanted = { uffd, flags };
	int err;

	if (!uffd || !flags || flags & ~UFFD_BITS || !is_user_range(space, addr, len))
		return -SEAM_EINVAL;
	err = may_register(space, addr, addr + len, &wanted);
	return err ? err
		   : walk_range(space, addr, addr + len, HOLES_FORGIVE, register_part, &wanted);
}

static int unregister_part(struct seam_space *space, struct cursor *cursor, uint64_t start,
			   uint64_t end, void *ctx)
{
	struct area area;
	struct attr attr;

	index_load(&space->index, cursor, &area);
	attr = *area_attr(space, &area);
	return attr_drop_uffd(&attr) ? modify_watched(space, cursor, start, end, &attr) : 0;
}

static bool is_anothers(const struct seam_space *space, const struct attr *attr, uint32_t uffd)
{
	return rule(space, SEAM_RULE_uffd_own) && attr->uffd && attr->uffd != uffd;
}

/* 6.18 fs/userfaultfd.c userfaultfd_unregister: there must be memory, all of a kind that can be. */
static noinline_for_stack int may_unregister(const struct seam_space *space, uint64_t start,
					     uint64_t end, uint32_t uffd)
{
	struct cursor cursor;
	struct area area;
	bool some = false;

	for_each_area(space, start, &cursor, &area) {
		if (area.start >= end)
			break;
		if (!some && !between_huge(space, area_attr(space, &area), start))
			return -SEAM_EINVAL;
		some = true;
		if (!can_be_watched(space, area_attr(space, &area)))
			return -SEAM_EINVAL;
		if (uffd && is_anothers(space, area_attr(space, &area), uffd))
			return -SEAM_EINVAL;
	}
	return some ? 0 : -SEAM_EINVAL;
}

int linux_uffd_unregister(struct seam_space *space, uint64_t addr, uint64_t len, uint32_t uffd)
{
	int err;

	if (!is_user_range(space, addr, len))
		return -SEAM_EINVAL;
	err = may_unregister(space, addr, addr + len, uffd);
	return err ? err
		   : walk_range(space, addr, addr + len, HOLES_FORGIVE, unregister_part, NULL);
}
