/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each rule that calls without privileges can tell has a scenario: a few calls in a child, at a
 * place where nothing else is, and a look at the areas that came of them.
 */
#include "probe/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seam/ops.h>

#include "probe/uapi.h"

#define PAGE UINT64_C(4096)
#define HUGE_PAGE (UINT64_C(1) << 21)
#define ARENA UINT64_C(0x10000000000)
#define TOO_MUCH (UINT64_C(1) << 46)
#define NOT_TOLD (-1)
#define RW (PROT_READ | PROT_WRITE)

/* A scenario that cannot go on tells nothing. */
static void give_up(void)
{
	_exit(0);
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

/* Where AddressSanitizer keeps no shadow: its check would fault. */
__attribute__((no_sanitize("address"))) static void touch(unsigned int page)
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

static bool advice_known(unsigned int page, int advice)
{
	return !madvise(at(page), PAGE, advice);
}

/* A file in memory, open for reading and writing. */
static int memory_file(void)
{
	int fd = memfd_create("seam-probe", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 64 * PAGE))
		give_up();
	return fd;
}

static void map_private(unsigned int page, int fd, unsigned int offset_pages, int prot)
{
	if (mmap(at(page), PAGE, prot, MAP_PRIVATE | MAP_FIXED, fd, (off_t)(offset_pages * PAGE)) ==
	    MAP_FAILED)
		give_up();
}

static void map_file(unsigned int page, int fd, unsigned int offset_pages)
{
	map_private(page, fd, offset_pages, PROT_READ);
}

/* Two touched pages with a page between them: their anon_vmas differ. */
static void two_touched(void)
{
	map(0, 1, RW);
	map(2, 1, RW);
	touch(0);
	touch(2);
}

static void clear(void)
{
	munmap(at(0), 64 * PAGE);
}

/* An area that its process wrote to, given the flags of a neighbour that nobody wrote to. */
static bool faulted_joins_unfaulted(void)
{
	map(0, 1, RW);
	map(1, 1, RW | PROT_EXEC);
	touch(1);
	protect(1, 1, RW);
	return areas(0, 2) == 1;
}

/* The same with one that was inherited through fork. */
static bool inherited_joins_unfaulted(void)
{
	int status = 0;
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
	clear();
	if (!faulted_joins_unfaulted())
		return 2;
	clear();
	return inherited_joins_unfaulted() ? 1 : 3;
}

static int probe_account(void)
{
	map(0, 1, PROT_READ);
	map(1, 1, RW);
	touch(1);
	protect(1, 1, PROT_READ);
	if (areas(0, 2) == 1)
		return 0;
	clear();
	map(0, 1, PROT_READ);
	map(1, 1, RW);
	protect(1, 1, PROT_READ);
	return areas(0, 2) == 1 ? 2 : 1;
}

/* A touched page keeps its numbering when it moves. */
static int probe_offset(void)
{
	int fd = memory_file();

	map_file(16, fd, 0);
	map_file(17, fd, 2);
	if (areas(16, 2) == 1)
		return 0;
	map(8, 1, RW);
	touch(8);
	map(0, 1, RW);
	move(8, 1, 1, 0);
	return areas(0, 2) == 2 ? 2 : 1;
}

/*
 * The page below one that was moved gets that one's anon_vma when it is touched, if the numbers allow
 * it, and then joins it.
 */
static int probe_moved_files(void)
{
	int fd = memory_file();

	map_private(0, fd, 1, RW);
	touch(0);
	move(0, 1, 9, 0);
	map_private(8, fd, 0, PROT_WRITE);
	touch(8);
	protect(8, 1, RW);
	return areas(8, 2) == 2;
}

/* One file opened twice. */
static int probe_file(void)
{
	char path[40];
	int first = memory_file(), second;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", first);
	second = open(path, O_RDWR | O_CLOEXEC);
	if (second < 0)
		give_up();
	map_file(0, first, 0);
	map_file(1, second, 1);
	return areas(0, 2) == 2;
}

static int probe_numa(void)
{
	const int preferred = 1;
	unsigned long node = 1;

	map(0, 1, RW);
	if (syscall(SYS_mbind, at(0), PAGE, preferred, &node, 8 * sizeof(node), 0))
		give_up();
	map(1, 1, RW);
	return areas(0, 2) == 2;
}

static int new_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		give_up();
	return fd;
}

/* 0 or errno. */
static int watch_for(unsigned int page, int uffd, uint64_t mode)
{
	struct uffdio_register reg = { .range = { (uint64_t)at(page), PAGE }, .mode = mode };

	return ioctl(uffd, UFFDIO_REGISTER, &reg) ? errno : 0;
}

static void watch(unsigned int page, int uffd)
{
	if (watch_for(page, uffd, UFFDIO_REGISTER_MODE_MISSING))
		give_up();
}

static int probe_uffd(void)
{
	map(0, 2, RW);
	watch(0, new_uffd());
	watch(1, new_uffd());
	return areas(0, 2) == 2;
}

static int probe_uffd_copy_apart(void)
{
	int uffd = new_uffd();

	map(0, 1, RW);
	map(8, 1, RW);
	watch(0, uffd);
	watch(8, uffd);
	move(8, 1, 1, 0);
	return areas(0, 2) == 2;
}

static int probe_uffd_wp_stays(void)
{
	int uffd = new_uffd();

	map(0, 1, RW);
	if (watch_for(0, uffd, UFFDIO_REGISTER_MODE_WP))
		give_up(); /* write protection is not built in */
	return watch_for(0, uffd, UFFDIO_REGISTER_MODE_MISSING) == EBUSY;
}

static int probe_uffd_cut_apart(void)
{
	int uffd = new_uffd();

	map(0, 3, RW);
	watch(2, uffd);
	watch(1, uffd);
	return areas(0, 3) == 3;
}

static int probe_uffd_own(void)
{
	struct uffdio_range range = { (uint64_t)at(0), PAGE };

	map(0, 1, RW);
	watch(0, new_uffd());
	return ioctl(new_uffd(), UFFDIO_UNREGISTER, &range) != 0;
}

/* Who waits there is woken, and there is nobody: only the range is looked at. */
static int probe_uffd_low(void)
{
	struct uffdio_range range = { 0, PAGE };

	return ioctl(new_uffd(), UFFDIO_WAKE, &range) != 0;
}

static int sealed_file(int seal)
{
	int fd = memfd_create("seam-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, 64 * PAGE) || fcntl(fd, F_ADD_SEALS, seal))
		give_up();
	return fd;
}

static bool map_shared(unsigned int page, int fd, int prot)
{
	return mmap(at(page), PAGE, prot, MAP_SHARED | MAP_FIXED, fd, (off_t)(page * PAGE)) !=
	       MAP_FAILED;
}

/* Where a writer is refused, is the page still there that it was to replace? */
static bool refused_at_first(int fd)
{
	map(0, 1, RW);
	return !map_shared(0, fd, RW) && areas(0, 1) == 1;
}

static int probe_memfd_seals(void)
{
	int write = sealed_file(F_SEAL_WRITE);

	if (!map_shared(0, write, PROT_READ))
		return 1;
	if (refused_at_first(sealed_file(F_SEAL_FUTURE_WRITE)))
		return 4;
	return refused_at_first(write) ? 2 : 3;
}

/* Whether what has lost DONTDUMP is joined before the new area gets it. */
static bool joins_dumped(int fd, bool locked)
{
	if (madvise(at(0), PAGE, MADV_DODUMP) || (locked && mlockall(MCL_FUTURE)) ||
	    !map_shared(1, fd, RW))
		give_up();
	if (locked)
		munlockall();
	return areas(0, 2) == 1;
}

static int probe_memfd_secret(void)
{
	int fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
	bool locked;

	if (fd < 0 || ftruncate(fd, 64 * PAGE) || !map_shared(0, fd, RW))
		give_up(); /* not built in, or not switched on */
	locked = has_flag(0, " lo");
	return (locked ? 1 : 2) + (joins_dumped(fd, locked) ? 0 : 2);
}

static int probe_name(void)
{
	map(0, 1, RW);
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at(0), PAGE, "seam"))
		give_up(); /* not built in */
	map(1, 1, RW);
	return areas(0, 2) == 2;
}

/* The head of an area with a close operation goes over to the area before it. */
static int probe_close(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE, 0600);
	bool attached = id >= 0 && shmat(id, at(0), 0) != (void *)-1;

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	if (!attached)
		give_up();
	protect(0, 1, PROT_READ);
	protect(1, 1, PROT_READ);
	if (areas(0, 3) == 3)
		return 1;
	protect(2, 1, PROT_READ);
	return areas(0, 3) == 1 ? 0 : 2;
}

static int probe_sticky(void)
{
	map(0, 2, RW);
	if (madvise(at(0), PAGE, SEAM_MADV_GUARD_INSTALL))
		return 0; /* without guard markers there is no such flag */
	return has_flag(0, " gu");
}

static int probe_fill_right(void)
{
	two_touched();
	map(1, 1, RW);
	return areas(0, 2) == 2;
}

static int probe_grow_join(void)
{
	map(0, 1, RW);
	map(2, 1, RW);
	if (mremap(at(0), PAGE, 2 * PAGE, 0) == MAP_FAILED)
		give_up();
	return areas(0, 3) == 1;
}

/* The copy lies between its source and another that it fits. */
static int probe_dontunmap_apart(void)
{
	int nr;

	map(0, 1, RW);
	map(2, 1, RW);
	move(0, 1, 1, MREMAP_DONTUNMAP);
	nr = areas(0, 3);
	if (nr == 1)
		return 0;
	return nr == 2 ? 2 : 1;
}

/* What was moved after it was touched has other numbers than its place; it is touched no more. */
static int probe_dontunmap_anew(void)
{
	map(0, 1, RW);
	touch(0);
	move(0, 1, 8, 0);
	move(8, 1, 16, MREMAP_DONTUNMAP);
	map(9, 1, RW);
	return areas(8, 2) == 1;
}

/* Copied once more, what keeps its anon_vma has the numbers of its old place, and fits no untouched memory. */
static int probe_dontunmap_keeps(void)
{
	map(0, 1, RW);
	touch(0);
	move(0, 1, 8, MREMAP_DONTUNMAP);
	map(11, 1, RW);
	/* 6.16 takes VM_ACCOUNT off both then */
	move(11, 1, 19, MREMAP_DONTUNMAP);
	move(0, 1, 10, MREMAP_DONTUNMAP);
	return areas(10, 2) == 2;
}

static int probe_dontunmap_account(void)
{
	map(0, 2, RW);
	move(1, 1, 2, MREMAP_DONTUNMAP);
	return areas(0, 3) == 1 && !has_flag(0, " ac");
}

static bool is_unlimited(__rlimit_resource_t resource)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

/*
 * A fixed mapping over a page, so large that it cannot be charged. The limits of the process are
 * looked at before that, and have never cleared anything.
 */
static int probe_clear_first(void)
{
	map(0, 1, RW);
	if (!is_unlimited(RLIMIT_AS) || !is_unlimited(RLIMIT_DATA) ||
	    mmap(at(0), TOO_MUCH, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		give_up();
	/* msync tells whether a page is mapped and takes no memory */
	return msync(at(0), PAGE, MS_ASYNC) != 0;
}

static int probe_stack_nh(void)
{
	if (mmap(at(0), PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_STACK, -1, 0) ==
	    MAP_FAILED)
		give_up();
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		give_up(); /* without huge pages there is no such flag */
	return has_flag(0, " nh");
}

/* Whether two mappings of this size, with a page between them, both begin at a multiple of 2 MiB. */
static bool placed_aligned(uint64_t len)
{
	bool aligned = true;

	for (int i = 0; i < 2; i++) {
		void *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED ||
		    mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			give_up();
		aligned &= !((uint64_t)p % HUGE_PAGE);
	}
	return aligned;
}

/* Memory of memfd_secret has no way of its own to find room. */
static bool secret_is_placed_aligned(void)
{
	int fd = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)(4 * HUGE_PAGE)))
		p = mmap(NULL, 2 * HUGE_PAGE, PROT_READ, MAP_SHARED, fd, (off_t)PAGE);
	return p != MAP_FAILED && (uintptr_t)p % HUGE_PAGE == PAGE;
}

/* Files need a file system of that kind: 0 and 1 are not told apart. */
static int probe_thp_align(void)
{
	if (!placed_aligned(2 * HUGE_PAGE))
		give_up();
	if (placed_aligned(2 * HUGE_PAGE + PAGE))
		return 2;
	return secret_is_placed_aligned() ? 4 : 3;
}

/* Whether there are any huge pages does not matter: nothing is reserved. */
static int probe_huge_hint(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE;
	void *p = mmap((void *)(ARENA + PAGE), HUGE_PAGE, RW, flags, -1, 0);

	if (p == MAP_FAILED)
		give_up();
	/* a part of it cannot be taken out */
	munmap(p, HUGE_PAGE);
	if (p != (void *)ARENA && p != (void *)(ARENA + HUGE_PAGE))
		give_up();
	return p != (void *)ARENA;
}

static bool map_droppable(void)
{
	return mmap(at(0), PAGE, RW, SEAM_MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	       MAP_FAILED;
}

static int probe_droppable(void)
{
	if (!map_droppable())
		return 0;
	if (mlockall(MCL_FUTURE) || !map_droppable())
		give_up();
	munlockall();
	return has_flag(0, " lo") ? 1 : 2;
}

static int probe_uffd_droppable(void)
{
	int uffd = new_uffd();

	return map_droppable() && !watch_for(0, uffd, UFFDIO_REGISTER_MODE_MISSING);
}

static int probe_ksm(void)
{
	if (prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0)) {
		if (errno != EINVAL)
			give_up();
		return 0;
	}
	map(0, 1, RW);
	map(1, 1, RW);
	return areas(0, 2) == 2 ? 1 : 2;
}

static int probe_dontunmap(void)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;

	map(0, 1, RW);
	if (mremap(at(0), PAGE, PAGE, flags, at(2)) == MAP_FAILED)
		return 0;
	map_file(4, memory_file(), 0);
	return mremap(at(4), PAGE, PAGE, flags, at(6)) == MAP_FAILED ? 1 : 2;
}

/* Without a source, and with one that is shorter than what is to be moved. */
static int probe_mremap_checks(void)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;

	if (mremap(at(0), PAGE, PAGE, 0) != MAP_FAILED)
		return 0;
	if (mremap(at(0), PAGE, PAGE, flags, (char *)at(8) + 1) != MAP_FAILED)
		give_up();
	if (errno == EFAULT)
		return 1;
	map(0, 1, RW);
	map(8, 4, RW);
	if (mremap(at(0), 3 * PAGE, 4 * PAGE, flags, at(8)) != MAP_FAILED)
		give_up();
	return areas(8, 4) ? 3 : 2;
}

static int probe_mremap_many(void)
{
	map(0, 1, RW);
	map(1, 1, PROT_READ);
	return mremap(at(0), 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at(8)) !=
	       MAP_FAILED;
}

static int probe_advices(void)
{
	map(0, 1, RW);
	map_file(2, memory_file(), 0);
	if (!advice_known(0, SEAM_MADV_COLD))
		return 0;
	if (!advice_known(0, SEAM_MADV_POPULATE_READ))
		return 1;
	if (!advice_known(0, SEAM_MADV_DONTNEED_LOCKED))
		return 2;
	/* an advice that is not known is refused also where there is nothing to do */
	if (madvise(at(0), 0, SEAM_MADV_COLLAPSE))
		return 3;
	if (!advice_known(0, SEAM_MADV_GUARD_INSTALL))
		return 4;
	return advice_known(2, SEAM_MADV_GUARD_INSTALL) ? 6 : 5;
}

static int probe_remove_writable(void)
{
	if (mmap(at(0), PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, memory_file(), 0) == MAP_FAILED)
		give_up();
	return !advice_known(0, SEAM_MADV_REMOVE);
}

/* Areas of huge pages are of a special kind; a part of one cannot be taken out. */
static int probe_dofork_special(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE;
	void *p = mmap(NULL, HUGE_PAGE, RW, flags, -1, 0);
	bool refused;

	if (p == MAP_FAILED)
		give_up();
	refused = madvise(p, HUGE_PAGE, SEAM_MADV_DOFORK);
	munmap(p, HUGE_PAGE);
	return refused;
}

static int probe_mseal(void)
{
	return !syscall(SYS_mseal, at(0), 0, 0);
}

static void seal(unsigned int page, unsigned int nr)
{
	if (syscall(SYS_mseal, at(page), nr * PAGE, 0))
		give_up();
}

/* In a child: what is sealed cannot be cleared. */
static int probe_mseal_end(void)
{
	int status = 0;
	pid_t pid;

	if (!probe_mseal())
		return 0;
	pid = fork();
	if (!pid) {
		map(0, 4, RW);
		seal(1, 1);
		seal(0, 4);
		_exit(areas(0, 4));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    !WEXITSTATUS(status))
		give_up();
	return WEXITSTATUS(status) == 2;
}

static const struct {
	enum seam_rule rule;
	int (*probe)(void);
} scenarios[] = {
	{ SEAM_RULE_anon_vma, probe_anon_vma },
	{ SEAM_RULE_account, probe_account },
	{ SEAM_RULE_offset, probe_offset },
	{ SEAM_RULE_moved_files, probe_moved_files },
	{ SEAM_RULE_file, probe_file },
	{ SEAM_RULE_numa, probe_numa },
	{ SEAM_RULE_uffd, probe_uffd },
	{ SEAM_RULE_uffd_copy_apart, probe_uffd_copy_apart },
	{ SEAM_RULE_uffd_wp_stays, probe_uffd_wp_stays },
	{ SEAM_RULE_uffd_own, probe_uffd_own },
	{ SEAM_RULE_uffd_low, probe_uffd_low },
	{ SEAM_RULE_uffd_cut_apart, probe_uffd_cut_apart },
	{ SEAM_RULE_memfd_seals, probe_memfd_seals },
	{ SEAM_RULE_memfd_secret, probe_memfd_secret },
	{ SEAM_RULE_name, probe_name },
	{ SEAM_RULE_close, probe_close },
	{ SEAM_RULE_sticky, probe_sticky },
	{ SEAM_RULE_fill_right, probe_fill_right },
	{ SEAM_RULE_grow_join, probe_grow_join },
	{ SEAM_RULE_dontunmap_apart, probe_dontunmap_apart },
	{ SEAM_RULE_dontunmap_anew, probe_dontunmap_anew },
	{ SEAM_RULE_dontunmap_keeps, probe_dontunmap_keeps },
	{ SEAM_RULE_dontunmap_account, probe_dontunmap_account },
	{ SEAM_RULE_clear_first, probe_clear_first },
	{ SEAM_RULE_stack_nh, probe_stack_nh },
	{ SEAM_RULE_thp_align, probe_thp_align },
	{ SEAM_RULE_huge_hint, probe_huge_hint },
	{ SEAM_RULE_droppable, probe_droppable },
	{ SEAM_RULE_uffd_droppable, probe_uffd_droppable },
	{ SEAM_RULE_dontunmap, probe_dontunmap },
	{ SEAM_RULE_mremap_checks, probe_mremap_checks },
	{ SEAM_RULE_mremap_many, probe_mremap_many },
	{ SEAM_RULE_advices, probe_advices },
	{ SEAM_RULE_remove_writable, probe_remove_writable },
	{ SEAM_RULE_dofork_special, probe_dofork_special },
	{ SEAM_RULE_mseal, probe_mseal },
	{ SEAM_RULE_mseal_end, probe_mseal_end },
	/* the last: it changes how its process maps */
	{ SEAM_RULE_ksm, probe_ksm },
};
#define NR_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

/* Children write here what they found. */
struct results {
	unsigned int next; /* the scenario that is being run */
	int found[NR_SCENARIOS];
};

/* Scenarios from the next one on, each where the one before has left nothing. */
static void run_scenarios(struct results *results)
{
	for (; results->next < NR_SCENARIOS; results->next++) {
		results->found[results->next] = scenarios[results->next].probe();
		clear();
	}
	_exit(0);
}

/* A scenario that cannot go on ends its child, and another goes on behind it. */
static int run_all(struct results *results)
{
	while (results->next < NR_SCENARIOS) {
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (!pid)
			run_scenarios(results);
		while (waitpid(pid, NULL, 0) < 0)
			if (errno != EINTR)
				return -errno;
		if (results->next < NR_SCENARIOS)
			results->found[results->next++] = NOT_TOLD;
	}
	return 0;
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

/* Of the same series: fewer rules found otherwise, or as many and a patch level that is reached. */
static bool is_nearer(const struct rules_probe *probe, const struct seam_policy *policy,
		      const struct seam_policy *best)
{
	unsigned int differ = differing(probe, policy), least = differing(probe, best);

	return differ < least || (differ == least && release_number(policy->name + 6) <=
							     release_number(probe->release));
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
		    !is_nearer(probe, policy, best))
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
	struct results *results;
	struct utsname name;
	int r;

	*ret_probe = (struct rules_probe) { 0 };
	if (uname(&name))
		return -errno;
	snprintf(ret_probe->release, sizeof(ret_probe->release), "%s", name.release);
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		ret_probe->found[rule] = NOT_TOLD;
	results = mmap(NULL, sizeof(*results), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED)
		return -errno;
	fflush(NULL);
	r = run_all(results);
	for (unsigned int i = 0; !r && i < NR_SCENARIOS; i++)
		ret_probe->found[scenarios[i].rule] = results->found[i];
	munmap(results, sizeof(*results));
	if (r)
		return r;
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
