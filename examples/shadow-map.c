/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shadow-map - how a tracer follows the memory of the process that it traces.
 *
 *	cc shadow-map.c $(pkg-config --cflags --libs seam) -o shadow-map
 *	./shadow-map [PROGRAM [ARGUMENTS]]
 *
 * At each exec the map is taken over as the kernel shows it; from then on it follows by the calls
 * alone (seam_space_apply: the kernel did this and answered that). At the end of the program, or
 * when it has made its own few calls, the shadow is held against /proc/PID/maps. Threads and
 * children are not followed.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>
#include <seam/seam.h>

struct shadow {
	struct seam_space *space;
	pid_t pid;
	unsigned long calls;	 /* followed */
	unsigned long otherwise; /* of these, those that the policy answers otherwise */
	unsigned long lost;	 /* taken over from the kernel, since the maps had parted */
};

/* The shadow is of ranges, protections and files: that is what maps shows, so the plain policy. */
static struct seam_space *new_space(void)
{
	struct seam_space_options options = { .size = sizeof(options),
					      .max_areas = SEAM_NO_LIMIT,
					      .user_end = UINT64_C(1) << 56 };
	struct seam_space *space;

	return seam_space_create(&options, &space) ? NULL : space;
}

/* Files are told by what maps shows of them. */
static uint64_t file_id(unsigned int dev_major, unsigned int dev_minor, uint64_t inode)
{
	uint64_t dev = (uint64_t)dev_major << 20 | dev_minor;

	return (dev * 0x9e3779b97f4a7c15 ^ inode) & ~SEAM_FILE_OWN;
}

/* One line of maps. [vsyscall] is not the process's. */
static bool read_area(const char *line, struct seam_area *ret_area)
{
	unsigned int dev_major, dev_minor;
	uint64_t inode, offset;
	char perms[5];

	memset(ret_area, 0, sizeof(*ret_area));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &ret_area->start,
		   &ret_area->end, perms, &offset, &dev_major, &dev_minor, &inode) != 7 ||
	    strstr(line, "[vsyscall]"))
		return false;
	if (perms[0] == 'r')
		ret_area->flags |= SEAM_VM_READ;
	if (perms[1] == 'w')
		ret_area->flags |= SEAM_VM_WRITE;
	if (perms[2] == 'x')
		ret_area->flags |= SEAM_VM_EXEC;
	if (perms[3] == 's')
		ret_area->flags |= SEAM_VM_SHARED | SEAM_VM_MAYSHARE;
	ret_area->flags |= SEAM_VM_MAYREAD | SEAM_VM_MAYWRITE | SEAM_VM_MAYEXEC;
	if (inode) {
		ret_area->file = file_id(dev_major, dev_minor, inode);
		ret_area->pgoff = offset / (uint64_t)sysconf(_SC_PAGESIZE);
	}
	return true;
}

static FILE *open_maps(const struct shadow *shadow)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)shadow->pid);
	return fopen(path, "re");
}

/* The kernel's map, whole. */
static bool take_over(struct shadow *shadow)
{
	FILE *maps = open_maps(shadow);
	struct seam_area area;
	char line[4096];

	seam_space_destroy(shadow->space);
	shadow->space = new_space();
	while (maps && shadow->space && fgets(line, sizeof(line), maps))
		if (read_area(line, &area) && seam_space_adopt(shadow->space, &area))
			break;
	if (maps)
		fclose(maps);
	return maps && shadow->space;
}

/* Where the break is, which the kernel shows nowhere but in the heap's area and the brk calls. */
static void follow_brk(struct shadow *shadow, uint64_t asked, uint64_t brk)
{
	struct seam_call call = { .op = SEAM_OP_BRK, .addr = asked };
	int agrees;

	if (!seam_space_get_brk(shadow->space)) {
		seam_space_set_brk(shadow->space, brk, brk);
		return;
	}
	shadow->calls++;
	if (seam_space_apply(shadow->space, &call, 0, brk, &agrees))
		shadow->lost += take_over(shadow);
	else
		shadow->otherwise += !agrees;
}

/* A descriptor of the traced process. */
static bool read_file(const struct shadow *shadow, int fd, struct seam_file *ret_file)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)shadow->pid, fd);
	if (stat(path, &status))
		return false;
	*ret_file = (struct seam_file) {
		.id = file_id(major(status.st_dev), minor(status.st_dev), status.st_ino),
		.traits = SEAM_FILE_READ | SEAM_FILE_WRITE, /* the kernel has let it */
	};
	return true;
}

/* A system call as libseam has it. False: not one that changes the map. */
static bool describe(const struct shadow *shadow, const uint64_t *args, uint64_t nr,
		     struct seam_call *call, struct seam_mmap *mmap, struct seam_mremap *mremap,
		     struct seam_file *file)
{
	*call = (struct seam_call) {
		.pkey = -1, .addr = args[0], .len = args[1], .flags = args[2]
	};
	switch (nr) {
	case SYS_mmap:
		*mmap = (struct seam_mmap) { .addr = args[0],
					     .len = args[1],
					     .prot = (uint32_t)args[2],
					     .flags = (uint32_t)args[3],
					     .pgoff = args[5] / (uint64_t)sysconf(_SC_PAGESIZE) };
		if (!(args[3] & MAP_ANONYMOUS) && read_file(shadow, (int)args[4], file))
			mmap->file = file;
		call->op = SEAM_OP_MMAP;
		call->mmap = mmap;
		return true;
	case SYS_munmap:
		call->op = SEAM_OP_MUNMAP;
		return true;
	case SYS_mprotect:
		call->op = SEAM_OP_MPROTECT;
		return true;
	case SYS_mremap:
		*mremap = (struct seam_mremap) { .old_addr = args[0],
						 .old_len = args[1],
						 .new_len = args[2],
						 .flags = (uint32_t)args[3],
						 .new_addr = args[4] };
		call->op = SEAM_OP_MREMAP;
		call->mremap = mremap;
		return true;
	default:
		return false;
	}
}

/* A call has returned. */
static void follow(struct shadow *shadow, const uint64_t *args, uint64_t nr, int64_t value)
{
	int result = value < 0 && value > -4096 ? (int)value : 0, agrees;
	struct seam_mremap mremap;
	struct seam_mmap mmap;
	struct seam_call call;
	struct seam_file file;

	if (nr == SYS_brk) {
		follow_brk(shadow, args[0], (uint64_t)value);
		return;
	}
	if (!describe(shadow, args, nr, &call, &mmap, &mremap, &file))
		return;
	shadow->calls++;
	if (seam_space_apply(shadow->space, &call, result, (uint64_t)value, &agrees))
		shadow->lost += take_over(shadow);
	else
		shadow->otherwise += !agrees;
}

/* Ranges of one protection and file, however many areas they are. */
static bool next_range(const struct seam_space *space, uint64_t *at, struct seam_area *ret_range)
{
	struct seam_area area;

	if (!seam_area_next(space, at, ret_range))
		return false;
	for (uint64_t next = *at; seam_area_next(space, &next, &area); *at = next) {
		if (area.start != ret_range->end ||
		    (area.flags ^ ret_range->flags) & (SEAM_VM_RWX | SEAM_VM_SHARED) ||
		    !area.file != !ret_range->file)
			break;
		ret_range->end = area.end;
	}
	return true;
}

/* The shadow against the kernel's own. The stack grows by faults, which no call tells. */
static bool compare(struct shadow *shadow)
{
	struct shadow kernel = { .pid = shadow->pid };
	struct seam_area ours, theirs;
	uint64_t at = 0, their_at = 0;
	bool more = true, same = take_over(&kernel);

	while (same && more) {
		more = next_range(kernel.space, &their_at, &theirs);
		same = more == next_range(shadow->space, &at, &ours) &&
		       (!more ||
			(ours.end == theirs.end && !((ours.flags ^ theirs.flags) & SEAM_VM_RWX)));
		if (!same && more)
			printf("here %" PRIx64 "-%" PRIx64 ", the kernel %" PRIx64 "-%" PRIx64 "\n",
			       ours.start, ours.end, theirs.start, theirs.end);
	}
	printf("%d: %" PRIu64 " areas; %lu calls followed, %lu answered otherwise than the policy "
	       "would, the map taken over again %lu times; %s the kernel's\n",
	       (int)shadow->pid, seam_space_areas(kernel.space), shadow->calls, shadow->otherwise,
	       shadow->lost, same ? "the shadow is" : "THE SHADOW IS NOT");
	seam_space_destroy(kernel.space);
	return same;
}

/* The traced process without a program of its own: a few calls, one of them refused. */
static void work(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at =
		mmap(NULL, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < 64 && at != MAP_FAILED; i += 4)
		mprotect(at + i * page, page, PROT_NONE);
	munmap(at + 16 * page, 3 * page);
	mmap(at + 20 * page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mremap(at + 24 * page, 4 * page, 9 * page, MREMAP_MAYMOVE);
	if (munmap(at + 1, page) != -1 || sbrk((intptr_t)page) == (void *)-1)
		_exit(1);
}

static void be_traced(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
	if (*argv) {
		execvp(*argv, argv);
		perror(*argv);
		_exit(127);
	}
	work();
	_exit(0);
}

/* From stop to stop until the process is about to end. */
static bool trace(struct shadow *shadow)
{
	struct ptrace_syscall_info info;
	uint64_t args[6] = { 0 }, nr = 0;
	int status, signal = 0;

	while (!ptrace(PTRACE_SYSCALL, shadow->pid, NULL, (void *)(intptr_t)signal) &&
	       waitpid(shadow->pid, &status, 0) == shadow->pid && WIFSTOPPED(status)) {
		signal = 0;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			take_over(shadow);
			shadow->calls = shadow->otherwise = shadow->lost = 0;
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
			return compare(shadow);
		} else if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			signal = WSTOPSIG(status);
		} else if (ptrace(PTRACE_GET_SYSCALL_INFO, shadow->pid, (void *)sizeof(info),
				  &info) < 0) {
			return false;
		} else if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			nr = info.entry.nr;
			for (unsigned int i = 0; i < 6; i++)
				args[i] = info.entry.args[i];
		} else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
			follow(shadow, args, nr, info.exit.rval);
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	struct shadow shadow = { .pid = fork() };
	bool same = false;
	int status;

	(void)argc;
	if (!shadow.pid)
		be_traced(argv + 1);
	if (shadow.pid < 0 || waitpid(shadow.pid, &status, 0) != shadow.pid ||
	    !WIFSTOPPED(status)) {
		fputs("shadow-map: cannot trace here\n", stderr);
		return 77;
	}
	if (!ptrace(PTRACE_SETOPTIONS, shadow.pid, NULL,
		    (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
			     PTRACE_O_EXITKILL)) &&
	    take_over(&shadow))
		same = trace(&shadow);
	kill(shadow.pid, SIGKILL);
	seam_space_destroy(shadow.space);
	return !same;
}
