/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/joining.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <seam/ops.h>
#include <seam/space.h>

#include "findings/causes.h"

/* An attempt: a space that holds the two areas, and the words for what was done to it. */
struct attempt {
	struct seam_space *space;
	const struct seam_area *changed, *other; /* the first is to become like the second */
	char *buf;
	size_t size, len;
	bool failed;
};

static const struct {
	uint64_t bit;
	int set, clear; /* -1: nothing does */
	const char *set_name, *clear_name;
} advices[] = {
	{ SEAM_VM_DONTDUMP, SEAM_MADV_DONTDUMP, SEAM_MADV_DODUMP, "MADV_DONTDUMP", "MADV_DODUMP" },
	{ SEAM_VM_DONTCOPY, SEAM_MADV_DONTFORK, SEAM_MADV_DOFORK, "MADV_DONTFORK", "MADV_DOFORK" },
	{ SEAM_VM_WIPEONFORK, SEAM_MADV_WIPEONFORK, SEAM_MADV_KEEPONFORK, "MADV_WIPEONFORK",
	  "MADV_KEEPONFORK" },
	{ SEAM_VM_MERGEABLE, SEAM_MADV_MERGEABLE, SEAM_MADV_UNMERGEABLE, "MADV_MERGEABLE",
	  "MADV_UNMERGEABLE" },
	{ SEAM_VM_HUGEPAGE, SEAM_MADV_HUGEPAGE, -1, "MADV_HUGEPAGE", NULL },
	{ SEAM_VM_NOHUGEPAGE, SEAM_MADV_NOHUGEPAGE, -1, "MADV_NOHUGEPAGE", NULL },
	{ SEAM_VM_SEQ_READ, SEAM_MADV_SEQUENTIAL, SEAM_MADV_NORMAL, "MADV_SEQUENTIAL",
	  "MADV_NORMAL" },
	{ SEAM_VM_RAND_READ, SEAM_MADV_RANDOM, SEAM_MADV_NORMAL, "MADV_RANDOM", "MADV_NORMAL" },
};

static uint64_t bytes_of(const struct seam_area *area)
{
	return area->end - area->start;
}

static void say(struct attempt *attempt, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct attempt *attempt, int result, const char *format, ...)
{
	va_list args;

	if (result) {
		attempt->failed = true;
		return;
	}
	if (attempt->len < attempt->size)
		attempt->len += (size_t)snprintf(attempt->buf + attempt->len,
						 attempt->size - attempt->len, "%s",
						 attempt->len ? ", then " : "");
	va_start(args, format);
	if (attempt->len < attempt->size)
		attempt->len += (size_t)vsnprintf(attempt->buf + attempt->len,
						  attempt->size - attempt->len, format, args);
	va_end(args);
}

static const char *prot_text(uint64_t flags)
{
	static const char *const texts[] = {
		"PROT_NONE",
		"PROT_READ",
		"PROT_WRITE",
		"PROT_READ|PROT_WRITE",
		"PROT_EXEC",
		"PROT_READ|PROT_EXEC",
		"PROT_WRITE|PROT_EXEC",
		"PROT_READ|PROT_WRITE|PROT_EXEC",
	};

	return texts[flags & SEAM_VM_RWX];
}

static void protect(struct attempt *attempt, uint32_t prot)
{
	const struct seam_area *area = attempt->changed;

	say(attempt, seam_space_mprotect(attempt->space, area->start, bytes_of(area), prot, -1),
	    "mprotect(0x%" PRIx64 ", %" PRIu64 ", %s)", area->start, bytes_of(area),
	    prot_text(prot));
}

static void even_protection(struct attempt *attempt)
{
	const struct seam_area *area = attempt->changed;
	uint64_t differ = area->flags ^ attempt->other->flags;
	uint32_t prot = (uint32_t)(attempt->other->flags & SEAM_VM_RWX);
	int pkey = (int)((attempt->other->flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT);

	if (differ & SEAM_VM_PKEY)
		say(attempt,
		    seam_space_mprotect(attempt->space, area->start, bytes_of(area), prot, pkey),
		    "pkey_mprotect(0x%" PRIx64 ", %" PRIu64 ", %s, %d)", area->start,
		    bytes_of(area), prot_text(prot), pkey);
	else if (differ & SEAM_VM_RWX)
		protect(attempt, prot);
}

static void advise(struct attempt *attempt, int advice, const char *name)
{
	const struct seam_area *area = attempt->changed;

	say(attempt, seam_space_madvise(attempt->space, area->start, bytes_of(area), advice),
	    "madvise(0x%" PRIx64 ", %" PRIu64 ", %s)", area->start, bytes_of(area), name);
}

static void even_advice(struct attempt *attempt)
{
	uint64_t differ = attempt->changed->flags ^ attempt->other->flags;

	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		bool wanted = attempt->other->flags & advices[i].bit;

		if (!(differ & advices[i].bit))
			continue;
		/* MADV_HUGEPAGE clears the opposite bit, and so does MADV_RANDOM. */
		if (wanted)
			advise(attempt, advices[i].set, advices[i].set_name);
		else if (advices[i].clear >= 0 &&
			 !(differ & (SEAM_VM_SEQ_READ | SEAM_VM_RAND_READ) & attempt->other->flags))
			advise(attempt, advices[i].clear, advices[i].clear_name);
	}
}

static void even_locks(struct attempt *attempt)
{
	const struct seam_area *area = attempt->changed;
	uint64_t locks = SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT;
	uint64_t wanted = attempt->other->flags & locks;

	if (!((area->flags ^ attempt->other->flags) & locks))
		return;
	if (!wanted)
		say(attempt, seam_space_munlock(attempt->space, area->start, bytes_of(area)),
		    "munlock(0x%" PRIx64 ", %" PRIu64 ")", area->start, bytes_of(area));
	else
		say(attempt,
		    seam_space_mlock(attempt->space, area->start, bytes_of(area),
				     wanted & SEAM_VM_LOCKONFAULT ? SEAM_MLOCK_ONFAULT : 0),
		    "%s(0x%" PRIx64 ", %" PRIu64 "%s)",
		    wanted & SEAM_VM_LOCKONFAULT ? "mlock2" : "mlock", area->start, bytes_of(area),
		    wanted & SEAM_VM_LOCKONFAULT ? ", MLOCK_ONFAULT" : "");
}

static void even_identities(struct attempt *attempt)
{
	const struct seam_area *area = attempt->changed, *other = attempt->other;

	if (area->numa != other->numa)
		say(attempt,
		    seam_space_mbind(attempt->space, area->start, bytes_of(area), other->numa),
		    "mbind(0x%" PRIx64 ", %" PRIu64 ", the other's policy)", area->start,
		    bytes_of(area));
	if (area->name != other->name)
		say(attempt,
		    seam_space_set_name(attempt->space, area->start, bytes_of(area), other->name),
		    "prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x%" PRIx64 ", %" PRIu64
		    ", the other's name)",
		    area->start, bytes_of(area));
	if (area->uffd && !other->uffd)
		say(attempt,
		    seam_space_uffd_unregister(attempt->space, area->start, bytes_of(area), 0),
		    "ioctl(UFFDIO_UNREGISTER, 0x%" PRIx64 ", %" PRIu64 ")", area->start,
		    bytes_of(area));
	if (!(area->flags & SEAM_VM_SEALED) && other->flags & SEAM_VM_SEALED)
		say(attempt, seam_space_mseal(attempt->space, area->start, bytes_of(area), 0),
		    "mseal(0x%" PRIx64 ", %" PRIu64 ", 0)", area->start, bytes_of(area));
}

static void even_out(struct attempt *attempt)
{
	even_identities(attempt);
	even_protection(attempt);
	even_advice(attempt);
	even_locks(attempt);
}

/* Equal already: any change and back makes the kernel look at the neighbours again. */
static void advise_and_back(struct attempt *attempt)
{
	attempt->failed = attempt->changed->flags & SEAM_VM_DONTDUMP;
	if (attempt->failed)
		return;
	advise(attempt, SEAM_MADV_DONTDUMP, "MADV_DONTDUMP");
	advise(attempt, SEAM_MADV_DODUMP, "MADV_DODUMP");
}

/* The same for kernels that had no such advice. */
static void protect_and_back(struct attempt *attempt)
{
	uint32_t prot = (uint32_t)(attempt->changed->flags & SEAM_VM_RWX);

	protect(attempt, prot ? SEAM_PROT_NONE : SEAM_PROT_READ);
	protect(attempt, prot);
}

/*
 * New memory in the place of the old; only private memory without a file can be had so. A page of
 * the kernel's own, [vvar], is not given up for it: the clock would be read from nothing.
 */
static void map_anew(struct attempt *attempt)
{
	const struct seam_area *area = attempt->changed, *other = attempt->other;
	uint64_t noreserve = other->flags & SEAM_VM_NORESERVE;
	struct seam_mmap args = {
		.addr = area->start,
		.len = bytes_of(area),
		.prot = (uint32_t)(other->flags & SEAM_VM_RWX),
		.flags = SEAM_MAP_PRIVATE | SEAM_MAP_ANONYMOUS | SEAM_MAP_FIXED,
	};
	uint64_t addr;

	if (area->file || other->file ||
	    (area->flags | other->flags) & (SEAM_VM_MAYSHARE | SEAM_VM_SPECIAL)) {
		attempt->failed = true;
		return;
	}
	if (noreserve)
		args.flags |= SEAM_MAP_NORESERVE;
	say(attempt, seam_space_mmap(attempt->space, &args, &addr),
	    "mmap(0x%" PRIx64 ", %" PRIu64 ", %s, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED%s, -1, 0)",
	    area->start, bytes_of(area), prot_text(other->flags),
	    noreserve ? "|MAP_NORESERVE" : "");
}

static struct seam_space *make_space(const struct findings *findings)
{
	const struct seam_space_options options = {
		.size = sizeof(options),
		.policy = &findings->policy,
		.flags = SEAM_SPACE_THP,
		.may = SEAM_MAY_IPC_LOCK | SEAM_MAY_RAWIO | SEAM_MAY_ADMIN,
		.commit_limit_pages = SEAM_NO_LIMIT,
		.limit_memlock = SEAM_NO_LIMIT,
	};
	uint64_t locks = findings->snapshot->def_flags & (SEAM_VM_LOCKED | SEAM_VM_LOCKONFAULT);
	struct seam_space *space;

	if (seam_space_create(&options, &space))
		return NULL;
	/* a process whose new memory is locked, and so touched at once (mlockall) */
	if (locks && seam_space_mlockall(
			     space, SEAM_MCL_FUTURE |
					    (locks & SEAM_VM_LOCKONFAULT ? SEAM_MCL_ONFAULT : 0))) {
		seam_space_destroy(space);
		return NULL;
	}
	return space;
}

/*
 * The two areas and nothing else, in the space of the last attempt, whose making takes longer than
 * what is done in it; in another one where that cannot be emptied (sealed areas). False: no memory.
 */
static bool set_scene(const struct findings *findings, const struct seam_area *left,
		      const struct seam_area *right, struct seam_space **space)
{
	if (*space) {
		seam_space_munmap(*space, left->start, right->end - left->start);
		if (seam_space_areas(*space)) {
			seam_space_destroy(*space);
			*space = NULL;
		}
	}
	if (!*space)
		*space = make_space(findings);
	return *space && !seam_space_adopt(*space, left) && !seam_space_adopt(*space, right);
}

/* Rather give rights than take them, and else change the smaller one. */
static bool left_is_changed(const struct seam_area *left, const struct seam_area *right)
{
	uint64_t l = left->flags & SEAM_VM_RWX, r = right->flags & SEAM_VM_RWX;

	if (l != r && (l & r) == l)
		return true;
	if (l != r && (l & r) == r)
		return false;
	return bytes_of(left) < bytes_of(right);
}

/* True when @how makes one area of the two by changing one of them. *space: see set_scene. */
static bool attempt_joins(const struct findings *findings, const struct seam_area *left,
			  const struct seam_area *right, void (*how)(struct attempt *attempt),
			  struct seam_space **space, char *buf, size_t size)
{
	bool left_first = left_is_changed(left, right);

	for (int side = 0; side < 2; side++) {
		bool change_left = left_first != side;
		struct attempt attempt = {
			.changed = change_left ? left : right,
			.other = change_left ? right : left,
			.buf = buf,
			.size = size,
		};

		if (!set_scene(findings, left, right, space))
			return false;
		attempt.space = *space;
		how(&attempt);
		if (!attempt.failed && attempt.len && attempt.len < size &&
		    seam_space_areas(*space) == 1)
			return true;
	}
	buf[0] = '\0';
	return false;
}

/* A text without flags: what the kernel gives to plain memory of such a protection. */
static struct seam_area completed(const struct findings *findings, size_t index)
{
	struct seam_area area = area_as_seen(findings->snapshot, index);

	if (findings->snapshot->sees & (SEES_FLAGS | SEES_ALL_FLAGS))
		return area;
	area.flags |= SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC;
	/* [vdso] and [vvar] of every kernel have it */
	if (area.traits & SEAM_TRAIT_NO_SPLIT)
		area.flags |= SEAM_VM_DONTEXPAND;
	if (findings->policy.rule[SEAM_RULE_account] && area.flags & SEAM_VM_WRITE &&
	    !(area.flags & SEAM_VM_SHARED))
		area.flags |= SEAM_VM_ACCOUNT;
	return area;
}

bool joining_calls(const struct findings *findings, size_t left, char *buf, size_t size,
		   bool *ret_loses)
{
	static void (*const gentle[])(struct attempt * attempt) = { even_out, advise_and_back,
								    protect_and_back };
	struct seam_area l = completed(findings, left), r = completed(findings, left + 1);

	struct seam_space *space = NULL;
	bool joined = false;

	*ret_loses = false;
	for (size_t i = 0; !joined && i < sizeof(gentle) / sizeof(gentle[0]); i++)
		joined = attempt_joins(findings, &l, &r, gentle[i], &space, buf, size);
	if (!joined) {
		*ret_loses = true;
		joined = attempt_joins(findings, &l, &r, map_anew, &space, buf, size);
	}
	if (space)
		seam_space_destroy(space);
	return joined;
}
