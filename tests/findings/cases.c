/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings on the cases: causes held against what their truth files say by another count, groups
 * and what is left after remedies against what their programs were seen to do.
 */
#include "findings/findings.h"
#include "findings/remedies/remedies.h"
#include "tests/findings/truth.h"
#include "tests/tap.h"

static struct seam_policy policy;

/* Both are to be freed when it is true. */
static bool load(const char *name, struct snapshot *ret_snapshot, struct findings *ret_findings)
{
	const char *folder = getenv("SEAM_TEST_DATA");
	char path[512];

	memset(ret_snapshot, 0, sizeof(*ret_snapshot));
	snprintf(path, sizeof(path), "%s/cases/%s.truth", folder ? folder : ".", name);
	if (read_truth(path, ret_snapshot) &&
	    !findings_make(ret_snapshot, &policy, 0, ret_findings))
		return true;
	snapshot_free(ret_snapshot);
	ok(false, "%s: findings", name);
	return false;
}

/* The count of the truth's own reader: what differs, with nothing said of why. */
static uint32_t plain_causes(const struct snapshot_area *l, const struct snapshot_area *r)
{
	const uint64_t ignored = SEAM_VM_SOFTDIRTY | SEAM_VM_MAYBE_GUARD;
	uint64_t differ = (l->area.flags ^ r->area.flags) & ~ignored;
	uint32_t causes = 0;

	if (differ & SEAM_VM_RWX)
		causes |= SEAM_CAUSE(prot);
	if (differ & SEAM_VM_SHARED) {
		causes |= SEAM_CAUSE(shared);
		differ &= ~SEAM_VM_MAYSHARE;
	}
	if (differ & ~(SEAM_VM_RWX | SEAM_VM_SHARED | SEAM_VM_PKEY))
		causes |= SEAM_CAUSE(flags);
	if ((l->area.flags | r->area.flags) & SEAM_VM_SPECIAL)
		causes |= SEAM_CAUSE(special);
	if (l->area.file != r->area.file)
		causes |= SEAM_CAUSE(file);
	else if (l->area.pgoff + ((l->area.end - l->area.start) >> 12) != r->area.pgoff)
		causes |= SEAM_CAUSE(offset);
	if (l->area.anon_vma && r->area.anon_vma && l->area.anon_vma != r->area.anon_vma)
		causes |= SEAM_CAUSE(anon_vma);
	return causes ? causes : SEAM_CAUSE(untried);
}

static void check_causes(const char *name)
{
	struct snapshot snapshot;
	struct findings findings;
	size_t wrong = 0, pairs = 0, sum = 0;

	if (!load(name, &snapshot, &findings))
		return;
	for (size_t i = 0; i + 1 < snapshot.nr_areas; i++) {
		if (snapshot.areas[i].area.end != snapshot.areas[i + 1].area.start)
			continue;
		pairs++;
		wrong += findings.pair[i] !=
			 plain_causes(&snapshot.areas[i], &snapshot.areas[i + 1]);
	}
	for (size_t i = 0; i < findings.nr_causes; i++)
		sum += findings.causes[i].pairs;
	ok(!wrong, "%s: causes of each pair", name);
	ok(pairs == findings.touching_pairs && sum == pairs, "%s: %zu pairs", name, pairs);
	ok(pairs + findings.holes + 1 == snapshot.nr_areas, "%s: holes", name);
	findings_free(&findings);
	snapshot_free(&snapshot);
}

static const struct remedy_row *find_remedy(const struct findings *findings, const char *name)
{
	for (size_t i = 0; i < findings->nr_remedies; i++)
		if (!strcmp(findings->remedies[i].remedy->name, name))
			return &findings->remedies[i];
	return NULL;
}

struct expected {
	const char *name;
	enum group group;
	uint64_t areas;
	const char *remedy;
	uint64_t left;
};

/*
 * What is left was seen in programs that do what the remedy says, but for 05, 06, 07 and 11, where
 * it is what such a program would have without the named cause. 04 by undo-advice: one
 * madvise(MADV_DODUMP) over the region at that stage.
 */
static const struct expected expectations[] = {
	{ "01-fiber-guard", GROUP_fiber_stack, 480, "guard-markers", 38 },
	{ "03-gc-write-barrier", GROUP_write_barrier, 427, "uffd-write-protect", 23 },
	{ "04-dontdump-scavenger", GROUP_advice_stripes, 451, "undo-advice", 269 },
	{ "04-dontdump-scavenger", GROUP_advice_stripes, 451, "touch-first", 23 },
	{ "04-dontdump-scavenger-all-recommitted", GROUP_touched_apart, 248, "touch-first", 23 },
	{ "05-decommit-by-mmap", GROUP_decommit, 391, "reserve-first", 23 },
	{ "06-memfd-double-map", GROUP_jit_dual, 310, "reserve-first", 92 },
	{ "08-fork-anon-vma", GROUP_touched_apart, 24, "touch-first", 23 },
	{ "10-hugepage-advice", GROUP_advice_stripes, 515, "one-advice", 23 },
	{ "11-jit-wx", GROUP_jit_wx, 132, "dual-mapping", 24 },
};

static void check_expected(const struct expected *expected)
{
	const struct remedy_row *remedy;
	const struct group_row *group;
	struct snapshot snapshot;
	struct findings findings;

	if (!load(expected->name, &snapshot, &findings))
		return;
	group = findings_group(&findings, expected->group);
	remedy = find_remedy(&findings, expected->remedy);
	ok(group && group->areas == expected->areas, "%s: %" PRIu64 " areas are %s, found %" PRIu64,
	   expected->name, expected->areas, group_name(expected->group), group ? group->areas : 0);
	ok(remedy && remedy->areas_after == expected->left,
	   "%s: %s leaves %" PRIu64 ", found %" PRIu64, expected->name, expected->remedy,
	   expected->left, remedy ? remedy->areas_after : 0);
	ok(remedy && remedy->exact, "%s: and that is exact", expected->name);
	findings_free(&findings);
	snapshot_free(&snapshot);
}

/* Each area is in at most one group, and a group has what it says. */
static void check_groups(const char *name)
{
	struct snapshot snapshot;
	struct findings findings;
	uint64_t counted[NR_GROUPS] = { 0 };
	bool good = true;

	if (!load(name, &snapshot, &findings))
		return;
	for (size_t i = 0; i < snapshot.nr_areas; i++)
		counted[findings.group_of[i]]++;
	for (int group = GROUP_NONE + 1; group < NR_GROUPS; group++) {
		const struct group_row *row = findings_group(&findings, (enum group)group);

		good &= counted[group] == (row ? row->areas : 0);
		good &= !row || row->areas >= GROUP_AREAS;
	}
	ok(good, "%s: groups", name);
	findings_free(&findings);
	snapshot_free(&snapshot);
}

static void check_healthy(const char *name)
{
	struct snapshot snapshot;
	struct findings findings;

	if (!load(name, &snapshot, &findings))
		return;
	ok(!findings.nr_remedies, "%s: nothing is worth doing", name);
	findings_free(&findings);
	snapshot_free(&snapshot);
}

int main(void)
{
	static const char *const names[] = {
		"01-fiber-guard",      "02-compiler-page-gc",
		"03-gc-write-barrier", "04-dontdump-scavenger",
		"05-decommit-by-mmap", "04-dontdump-scavenger-all-recommitted",
		"06-memfd-double-map", "07-thread-stacks",
		"08-fork-anon-vma",    "09-file-windows",
		"10-hugepage-advice",  "11-jit-wx",
		"12-healthy-python",
	};

	if (seam_policy_parse("linux-6.18.44", &policy, NULL)) {
		ok(false, "the policy");
		return tap_done();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		check_causes(names[i]);
		check_groups(names[i]);
	}
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++)
		check_expected(&expectations[i]);
	check_healthy("12-healthy-python");
	return tap_done();
}
