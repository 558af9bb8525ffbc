/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/model.h"

#include <linux/mempolicy.h>
#include <sys/ioctl.h>
#include <sys/shm.h>

#include "probe/uapi.h"
#include "replay/shm.h"

#define FIRST_SEGMENT 100000
#define LOW_START UINT64_C(0x40000000)
#define HIGHEST_START UINT64_C(0x42000000)
#define LOW_END UINT64_C(0x80000000)

static const struct seam_file *file_of(const struct model_files *files, uint64_t number)
{
	if (number < FIRST_FD || number >= FIRST_FD + NR_FDS || !files->file[number - FIRST_FD].id)
		return NULL;
	return &files->file[number - FIRST_FD];
}

static bool range_free(const struct seam_space *space, uint64_t start, uint64_t len)
{
	struct seam_area area;

	return !seam_area_find(space, start, &area) || area.start >= start + len;
}

static bool has_hole(const struct seam_space *space, uint64_t start, uint64_t end, uint64_t len)
{
	struct seam_area area;

	while (seam_area_find(space, start, &area) && area.start < end) {
		if (area.start >= start + len)
			return true;
		start = area.end;
	}
	return start + len <= end;
}

/*
 * MAP_32BIT searches upward from a start that is random at every call (arch/x86/kernel/sys_x86_64.c
 * find_start_end): any free range between 1 and 2 GiB is right, and finding none is when there is
 * none above the highest start.
 */
static bool chosen_at_random(const struct seam_space *space, const uint64_t *args,
			     const struct outcome *real)
{
	uint64_t at = (uint64_t)real->result, len = args[1];

	if (!(args[3] & SEAM_MAP_32BIT) || args[3] & (SEAM_MAP_FIXED | SEAM_MAP_FIXED_NOREPLACE))
		return false;
	if (real->result == -SEAM_ENOMEM)
		return !has_hole(space, HIGHEST_START, LOW_END, len);
	return real->result > 0 && at != args[0] && at >= LOW_START && at + len <= LOW_END &&
	       range_free(space, at, len);
}

/*
 * What the file's own map operation gives: how many huge pages there are, and whether a file has a
 * device for MAP_SYNC, the model does not know.
 */
static int refusal(const struct model_files *files, const uint64_t *args,
		   const struct outcome *real)
{
	bool anonymous = args[3] & SEAM_MAP_ANONYMOUS;

	if ((args[3] & (SEAM_MAP_HUGETLB | SEAM_MAP_NORESERVE)) == SEAM_MAP_HUGETLB && anonymous)
		return real->result == -SEAM_ENOMEM ? -SEAM_ENOMEM : 0;
	if (anonymous || !file_of(files, args[4]))
		return 0;
	if (args[3] & SEAM_MAP_SYNC && real->result == -SEAM_EOPNOTSUPP)
		return -SEAM_EOPNOTSUPP;
	return files->refuses[args[4] - FIRST_FD];
}

static int64_t map(struct seam_space *space, const struct model_files *files, const uint64_t *args,
		   const struct outcome *real)
{
	struct seam_mmap mmap = {
		.addr = args[0],
		.len = args[1],
		.prot = (uint32_t)args[2],
		.flags = (uint32_t)args[3],
		.pgoff = args[5] >> seam_space_page_shift(space),
		.file = args[3] & SEAM_MAP_ANONYMOUS ? NULL : file_of(files, args[4]),
	};
	uint64_t addr = 0;
	int err;

	if (args[5] & 4095)
		return -SEAM_EINVAL;
	mmap.refused = refusal(files, args, real);
	if (chosen_at_random(space, args, real)) {
		if (real->result < 0)
			return real->result;
		mmap.place = 1;
		mmap.at = (uint64_t)real->result;
	}
	err = seam_space_mmap(space, &mmap, &addr);
	return err ? err : (int64_t)addr;
}

static int64_t remap(struct seam_space *space, const uint64_t *args)
{
	struct seam_mremap mremap = {
		.old_addr = args[0],
		.old_len = args[1],
		.new_len = args[2],
		.flags = (uint32_t)args[3],
		.new_addr = args[4],
	};
	uint64_t addr = 0;
	int err = seam_space_mremap(space, &mremap, &addr);

	return err ? err : (int64_t)addr;
}

static int64_t set_break(struct seam_space *space, uint64_t addr)
{
	uint64_t brk = 0;
	int err = seam_space_brk(space, addr, &brk);

	return err ? err : (int64_t)brk;
}

static int64_t set_limit(struct seam_space *space, uint64_t which, uint64_t value)
{
	static const enum seam_limit limits[] = {
		[TRACE_RLIMIT_AS] = SEAM_LIMIT_AS,
		[TRACE_RLIMIT_DATA] = SEAM_LIMIT_DATA,
		[TRACE_RLIMIT_STACK] = SEAM_LIMIT_STACK,
		[TRACE_RLIMIT_MEMLOCK] = SEAM_LIMIT_MEMLOCK,
	};

	if (which >= sizeof(limits) / sizeof(limits[0]))
		return -SEAM_EINVAL;
	seam_space_set_limit(space, limits[which], value);
	return 0;
}

/*
 * Memory that a fault stopped in is prepared for it, whether nobody answers for the page
 * (userfaultfd) or the file has none (mm/memory.c do_anonymous_page, do_cow_fault); huge pages of
 * hugetlb are asked for first.
 */
static bool is_prepared(const struct seam_space *space, uint64_t addr)
{
	struct seam_area area;

	return seam_area_find(space, addr, &area) && area.start <= addr &&
	       !(area.flags & SEAM_VM_HUGETLB);
}

/* The model does not know where files end: it goes as far as the kernel went. */
static void touch(struct seam_space *space, const struct op *op, const uint64_t *args,
		  const struct outcome *real, struct outcome *ret_outcome)
{
	bool write = op->call == TRACE_CALL_touch;
	uint64_t reached = 0, end = args[0] + args[1];

	if (real->beyond)
		end = real->reached + is_prepared(space, real->reached);
	if (end > args[0])
		ret_outcome->result =
			seam_space_touch(space, args[0], end - args[0], write, &reached);
	if (ret_outcome->result)
		ret_outcome->reached = reached;
	else if (real->beyond)
		*ret_outcome = *real;
}

/* A key that is not allocated is refused where one that cannot be is (6.18 do_mprotect_pkey). */
static int64_t protect_with_key(struct seam_space *space, const struct model_files *files,
				const uint64_t *a)
{
	int key = (int)a[3];

	if (key != -1 && (key < 0 || key > 15 || !(files->pkeys >> key & 1)))
		key = -2;
	return seam_space_mprotect(space, a[0], a[1], (uint32_t)a[2], key);
}

/* The value of a memory policy: mode and nodes. */
static uint32_t policy_value(uint64_t mode, uint64_t nodes)
{
	return mode ? (uint32_t)(mode << 16 | (nodes & 0xffff)) : 0;
}

/* Who may do it no space knows: a refusal for lack of rights is taken from the kernel. */
static int64_t set_bound(struct seam_space *space, const uint64_t *a, const struct outcome *real)
{
	if (a[3] || a[4])
		return -SEAM_EINVAL;
	if (real->result == -SEAM_EPERM)
		return -SEAM_EPERM;
	return seam_space_set_bound(space, (enum seam_bound)a[1], a[2]);
}

static int64_t set_process(struct seam_space *space, const uint64_t *a, const struct outcome *real)
{
	if (a[0] == PR_SET_VMA && a[1] == PR_SET_VMA_ANON_NAME)
		return seam_space_set_name(space, a[2], a[3], (uint32_t)a[4]);
	if (a[0] == PR_SET_MM)
		return set_bound(space, a, real);
	if (a[0] == PR_SET_MEMORY_MERGE && !a[2] && !a[3] && !a[4])
		return seam_space_set_memory_merge(space, a[1] != 0);
	return -SEAM_EINVAL;
}

static int64_t uffd_call(struct seam_space *space, const uint64_t *a)
{
	uint64_t flags = (a[4] & UFFDIO_REGISTER_MODE_MISSING ? SEAM_VM_UFFD_MISSING : 0) |
			 (a[4] & UFFDIO_REGISTER_MODE_WP ? SEAM_VM_UFFD_WP : 0);

	if (a[1] == UFFDIO_UNREGISTER)
		return seam_space_uffd_unregister(space, a[2], a[3], (uint32_t)a[0]);
	return seam_space_uffd_register(space, a[2], a[3], (uint32_t)a[0], flags);
}

/* May a segment go to this place, to which @a's was rounded (6.18 ipc/shm.c do_shmat)? */
static bool may_attach(const struct seam_space *space, const uint64_t *a, uint64_t addr)
{
	uint64_t flags = a[2];

	if (addr != a[1] && !(flags & SHM_RND))
		return false;
	if (flags & SHM_REMAP)
		return addr != 0;
	return !addr || (addr + a[3] >= addr && range_free(space, addr, a[3]));
}

static int64_t attach(struct seam_space *space, struct model_files *files, const uint64_t *a)
{
	uint32_t number = files->nr_segments % MAX_SEGMENTS;
	struct seam_file file;
	struct seam_mmap mmap;
	uint64_t addr = 0;
	int err;

	shm_mapping(space, a, &file, &mmap);
	if (!may_attach(space, a, mmap.addr))
		return -SEAM_EINVAL;
	file.id = FIRST_SEGMENT + number;
	mmap.flags |= a[1] ? SEAM_MAP_FIXED : 0;
	err = seam_space_mmap(space, &mmap, &addr);
	if (err)
		return err;
	files->segment_len[number] = a[3];
	files->nr_segments++;
	return (int64_t)addr;
}

static bool is_segment(const struct seam_area *area)
{
	return area->file >= FIRST_SEGMENT && area->file < FIRST_SEGMENT + MAX_SEGMENTS;
}

bool model_beyond_segment(const struct seam_space *space, const struct model_files *files,
			  uint64_t start, uint64_t len)
{
	struct seam_area area;
	uint64_t at = start;

	while (seam_area_next(space, &at, &area) && area.start < start + len) {
		if (is_segment(&area) && (area.pgoff << 12) + (area.end - area.start) >
						 files->segment_len[area.file - FIRST_SEGMENT])
			return true;
	}
	return false;
}

/*
 * Unmaps what is left of the segment that was attached at @addr: areas whose offsets tell that they
 * still lie where they were put (6.18 ipc/shm.c ksys_shmdt).
 */
static int64_t detach(struct seam_space *space, const struct model_files *files, uint64_t addr)
{
	struct seam_area area;
	uint64_t at = addr, file = 0, end = UINT64_MAX;

	if (addr & 4095)
		return -SEAM_EINVAL;
	while (seam_area_find(space, at, &area)) {
		at = area.end;
		if (at > end)
			break;
		if (!is_segment(&area) || area.start < addr ||
		    (area.start - addr) >> 12 != area.pgoff || (file && area.file != file))
			continue;
		if (!file)
			end = addr + files->segment_len[area.file - FIRST_SEGMENT];
		file = area.file;
		/* what is sealed stays, and the call goes on */
		if (seam_space_munmap(space, area.start, area.end - area.start) == -SEAM_EALLOC)
			return -SEAM_EALLOC;
	}
	return file ? 0 : -SEAM_EINVAL;
}

/* Whether [start, end) is a part of a segment, and nothing else of it is left here. */
static bool is_all_of_segment(const struct seam_space *space, uint64_t start, uint64_t end)
{
	struct seam_area area;
	uint64_t at = start, file;

	if (!seam_area_find(space, start, &area) || !is_segment(&area))
		return false;
	file = area.file;
	for (at = 0; seam_area_next(space, &at, &area);)
		if (area.file == file && (area.start < start || area.end > end))
			return false;
	return true;
}

/*
 * What is mapped anew is unmapped first, and then the kernel may say for reasons of its own that there
 * is nothing to map: the last area of a segment took the segment with it, unless a child still has it
 * (6.18 ipc/shm.c shm_mmap), and huge pages that were not asked for beforehand may lack.
 */
static bool is_lost_on_the_way(const struct seam_space *space, uint64_t start, uint64_t end,
			       int64_t error)
{
	struct seam_area area;

	if (error == -SEAM_EINVAL)
		return is_all_of_segment(space, start, end);
	return error == -SEAM_ENOMEM && seam_area_find(space, start, &area) &&
	       area.flags & SEAM_VM_HUGETLB;
}

static int64_t map_anew(struct seam_space *space, const uint64_t *a, const struct outcome *real)
{
	uint64_t start = a[0] & ~UINT64_C(4095), end = start + (a[1] & ~UINT64_C(4095));
	int err = seam_space_remap_file_pages(space, a[0], a[1], (uint32_t)a[2], a[3],
					      (uint32_t)a[4]);

	if (err || !is_lost_on_the_way(space, start, end, real->result))
		return err;
	err = seam_space_munmap(space, start, end - start);
	return err ? err : real->result;
}

/* The result of a call; *ret_known is false when it is none of the model's. */
static int64_t result_of(struct seam_space *space, struct model_files *files, unsigned int call,
			 const uint64_t *a, const struct outcome *real, bool *ret_known)
{
	*ret_known = true;
	switch (call) {
	case TRACE_CALL_mmap:
		return map(space, files, a, real);
	case TRACE_CALL_munmap:
		return seam_space_munmap(space, a[0], a[1]);
	case TRACE_CALL_mprotect:
		return seam_space_mprotect(space, a[0], a[1], (uint32_t)a[2], -1);
	case TRACE_CALL_pkey_mprotect:
		return protect_with_key(space, files, a);
	case TRACE_CALL_mremap:
		return remap(space, a);
	case TRACE_CALL_madvise:
		return seam_space_madvise(space, a[0], a[1], (int)a[2]);
	case TRACE_CALL_mlock:
		return seam_space_mlock(space, a[0], a[1], 0);
	case TRACE_CALL_mlock2:
		return seam_space_mlock(space, a[0], a[1], (uint32_t)a[2]);
	case TRACE_CALL_munlock:
		return seam_space_munlock(space, a[0], a[1]);
	case TRACE_CALL_mlockall:
		return seam_space_mlockall(space, (uint32_t)a[0]);
	case TRACE_CALL_munlockall:
		return seam_space_munlockall(space);
	case TRACE_CALL_brk:
		return set_break(space, a[0]);
	case TRACE_CALL_mseal:
		return seam_space_mseal(space, a[0], a[1], a[2]);
	case TRACE_CALL_rlimit:
		return set_limit(space, a[0], a[1]);
	case TRACE_CALL_mbind:
		return seam_space_mbind(space, a[0], a[1], policy_value(a[2], a[3]));
	case TRACE_CALL_set_mempolicy:
		return a[0] <= MPOL_LOCAL ? 0 : -SEAM_EINVAL;
	case TRACE_CALL_remap_file_pages:
		return map_anew(space, a, real);
	case TRACE_CALL_prctl:
		return set_process(space, a, real);
	case TRACE_CALL_uffd_ioctl:
		return uffd_call(space, a);
	case TRACE_CALL_shmat:
		return attach(space, files, a);
	case TRACE_CALL_shmdt:
		return detach(space, files, a[0]);
	default:
		*ret_known = false;
		return 0;
	}
}

bool model_call(struct seam_space *space, struct model_files *files, const struct op *op,
		const uint64_t *a, const struct outcome *real, struct outcome *ret_outcome)
{
	bool known;

	*ret_outcome = (struct outcome) { 0 };
	if (op->call == TRACE_CALL_touch || op->call == TRACE_CALL_rtouch) {
		touch(space, op, a, real, ret_outcome);
		return true;
	}
	ret_outcome->result = result_of(space, files, op->call, a, real, &known);
	return known;
}
