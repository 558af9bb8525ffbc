/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each rule that calls without privileges can tell has a scenario: a few calls in a child of its
 * own, at a place where nothing else is, and a look at the areas that came of them.
 */
#include "probe/rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seam/ops.h>

#define PAGE UINT64_C(4096)
#define ARENA UINT64_C(0x10000000000)
#define NOT_TOLD (-1)
#define EXIT_NOT_TOLD 255
#define RW (PROT_READ | PROT_WRITE)

/* A scenario that cannot go on tells nothing. */
static void give_up(void)
{
	_exit(EXIT_NOT_TOLD);
}

static void *at(unsigned int page)
{
	return (void *)(ARENA + page * PAGE);
}

static void map(unsigned int page, unsigned int nr, int prot)
{
	if (mmap(at(page), nr * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		give_up();
}

static void protect(unsigned int page, unsigned int nr, int prot)
{
	if (mprotect(at(page), nr * PAGE, prot))
		give_up();
}

static void touch(unsigned int page)
{
	*(volatile char *)at(page) = 1;
}

static void move(unsigned int from, unsigned int nr, unsigned int to, int flags)
{
	if (mremap(at(from), nr * PAGE, nr * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED | flags, at(to)) ==
	    MAP_FAILED)
		give_up();
}

/* The number of areas that have memory in pages [page, page + nr). */
static int areas(unsigned int page, unsigned int nr)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start, end, from = (uint64_t)at(page), to = (uint64_t)at(page + nr);
	char line[4200];
	int count = 0;

	if (!maps)
		give_up();
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && start < to &&
		    end > from)
			count++;
	fclose(maps);
	return count;
}

/* Whether smaps shows the two letters of a flag for the area of a page. */
static bool has_flag(unsigned int page, const char *letters)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	uint64_t start, end, addr = (uint64_t)at(page);
	char line[4200];
	bool inside = false, has = false;

	if (!smaps)
		give_up();
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
			inside = start <= addr && addr < end;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			has = strstr(line, letters) != NULL;
	}
	fclose(smaps);
	return has;
}

/* Two touched pages with a page between them: their anon_vmas differ. */
static void two_touched(void)
{
	map(0, 1, RW);
	map(2, 1, RW);
	touch(0);
	touch(2);
}

/* An area that its process wrote to, given back the flags of one that nobody wrote to. */
static bool faulted_joins_unfaulted(void)
{
	map(0, 1, RW);
	map(1, 1, PROT_NONE);
	protect(1, 1, PROT_READ);
	protect(1, 1, RW);
	munmap(at(0), 2 * PAGE);
	map(0, 1, RW);
	map(1, 1, RW | PROT_EXEC);
	touch(1);
	protect(1, 1, RW);
	return areas(0, 2) == 1;
}

/* The same with one that was inherited through fork: in a child of the child. */
static bool inherited_joins_unfaulted(void)
{
	int status;
	pid_t pid;

	map(1, 1, RW | PROT_EXEC);
	touch(1);
	pid = fork();
	if (!pid) {
		map(0, 1, RW);
		protect(1, 1, RW);
		_exit(areas(0, 2) == 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		give_up();
	return WEXITSTATUS(status) == 1;
}

static int probe_anon_vma(void)
{
	two_touched();
	map(1, 1, RW);
	if (areas(0, 3) == 1)
		return 0;
	munmap(at(0), 3 * PAGE);
	if (!faulted_joins_unfaulted())
		return 2;
	munmap(at(0), 3 * PAGE);
	return inherited_joins_unfaulted() ? 1 : 3;
}

static int probe_account(void)
{
	map(0, 1, PROT_READ);
	map(1, 1, RW);
	touch(1);
	protect(1, 1, PROT_READ);
	return areas(0, 2) == 2;
}

/* A touched page keeps its numbering when it moves. */
static int probe_offset(void)
{
	map(8, 1, RW);
	touch(8);
	map(0, 1, RW);
	move(8, 1, 1, 0);
	return areas(0, 2) == 2 ? 2 : 1;
}

static int probe_sticky(void)
{
	map(0, 2, RW);
	if (madvise(at(0), PAGE, SEAM_MADV_GUARD_INSTALL))
		return 0; /* without guard markers there is no such flag */
	return has_flag(0, " gu");
}

static const struct {
	enum seam_rule rule;
	int (*probe)(void);
} scenarios[] = {
	{ SEAM_RULE_anon_vma, probe_anon_vma },
	{ SEAM_RULE_account, probe_account },
	{ SEAM_RULE_offset, probe_offset },
	{ SEAM_RULE_sticky, probe_sticky },
};
#define NR_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static int run_scenario(int (*scenario)(void))
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(scenario());
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == EXIT_NOT_TOLD)
		return NOT_TOLD;
	return WEXITSTATUS(status);
}

/* "6.18.44-x" as 6018044; 0 when it does not begin with two numbers. */
static uint64_t release_number(const char *release)
{
	unsigned int major, minor, patch = 0;

	if (sscanf(release, "%u.%u.%u", &major, &minor, &patch) < 2)
		return 0;
	return major * UINT64_C(1000000) + minor * UINT64_C(1000) + (patch < 1000 ? patch : 999);
}

static unsigned int differing(const struct rules_probe *probe, const struct seam_policy *policy)
{
	unsigned int nr = 0;

	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		nr += probe->found[rule] >= 0 && probe->found[rule] != policy->rule[rule];
	return nr;
}

/*
 * The newest named policy that is no newer than the running kernel; of those that share its
 * series, the one with the fewest rules found otherwise.
 */
static const struct seam_policy *find_nearest(const struct rules_probe *probe)
{
	uint64_t running = release_number(probe->release), best_release = 0, release;
	const struct seam_policy *policy, *best = NULL;

	for (unsigned int i = 0; (policy = seam_policy_at(i)); i++) {
		if (policy->old || strncmp(policy->name, "linux-", 6))
			continue;
		release = release_number(policy->name + 6);
		if (best && release / 1000 < best_release / 1000)
			continue;
		if (release / 1000 > running / 1000)
			continue;
		if (best && release / 1000 == best_release / 1000 &&
		    differing(probe, policy) >= differing(probe, best))
			continue;
		best = policy;
		best_release = release;
	}
	return best ? best : seam_policy_find("plain");
}

static void note(struct rules_probe *probe, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void note(struct rules_probe *probe, const char *format, ...)
{
	va_list args;

	if (probe->nr_notes == MAX_NOTES)
		return;
	va_start(args, format);
	vsnprintf(probe->notes[probe->nr_notes++], NOTE_SIZE, format, args);
	va_end(args);
}

static void note_nearest(struct rules_probe *probe)
{
	const struct seam_policy *nearest = probe->nearest;

	if (release_number(nearest->name + 6) / 1000 != release_number(probe->release) / 1000)
		note(probe, "no policy is named after %s: the nearest is %s", probe->release,
		     nearest->name);
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++) {
		if (probe->found[rule] < 0 || probe->found[rule] == nearest->rule[rule])
			continue;
		probe->nr_differ++;
		note(probe, "%s is %d here, %u in %s", seam_rule_name(rule), probe->found[rule],
		     nearest->rule[rule], nearest->name);
	}
}

int rules_probe(struct rules_probe *ret_probe)
{
	struct utsname name;

	*ret_probe = (struct rules_probe) { 0 };
	if (uname(&name))
		return -errno;
	snprintf(ret_probe->release, sizeof(ret_probe->release), "%s", name.release);
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		ret_probe->found[rule] = NOT_TOLD;
	fflush(NULL);
	for (unsigned int i = 0; i < NR_SCENARIOS; i++) {
		int value = run_scenario(scenarios[i].probe);

		if (value < NOT_TOLD)
			return value;
		ret_probe->found[scenarios[i].rule] = value;
	}
	ret_probe->nearest = find_nearest(ret_probe);
	note_nearest(ret_probe);
	return 0;
}

void rules_policy(const struct rules_probe *probe, struct seam_policy *ret_policy)
{
	*ret_policy = *probe->nearest;
	snprintf(ret_policy->name, sizeof(ret_policy->name), "linux-host");
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		if (probe->found[rule] >= 0)
			ret_policy->rule[rule] = (uint8_t)probe->found[rule];
}
