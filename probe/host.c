/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/limits.h"
#include "probe/procfs.h"
#include "probe/rights.h"
#include "trace/range.h"

#define PAGE_SIZE UINT64_C(4096)
#define USER_END_4_LEVEL ((UINT64_C(1) << 47) - PAGE_SIZE)

static uint64_t sysctl(const char *name, uint64_t otherwise)
{
	char path[64];
	uint64_t value;

	snprintf(path, sizeof(path), "/proc/sys/vm/%s", name);
	return procfs_read_number(&value, path) ? otherwise : value;
}

static void read_thp(char *ret_mode, size_t size)
{
	char text[64], *open, *close;

	ret_mode[0] = 0;
	if (procfs_read(text, sizeof(text), "/sys/kernel/mm/transparent_hugepage/enabled") <= 0)
		return;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return;
	*close = 0;
	snprintf(ret_mode, size, "%s", open + 1);
}

static uint64_t limit_of(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return SEAM_NO_LIMIT;
	return limit.rlim_cur;
}

/* What a single call may charge in mode 0 (6.18 mm/util.c __vm_enough_memory), or all in mode 2. */
static uint64_t commit_limit(uint64_t overcommit)
{
	char text[4096];
	struct sysinfo info;
	uint64_t kb;

	if (overcommit == 2 && procfs_read(text, sizeof(text), "/proc/meminfo") > 0 &&
	    procfs_field(text, "CommitLimit", &kb))
		return kb * 1024 / PAGE_SIZE;
	if (overcommit == 1 || sysinfo(&info))
		return SEAM_NO_LIMIT;
	return ((uint64_t)info.totalram + info.totalswap) * info.mem_unit / PAGE_SIZE;
}

/*
 * Hints below the effective minimum are raised to it (6.18 mm/mmap.c round_hint_to_min); it is the
 * larger one of the sysctl and the kernel's own configuration.
 */
static uint64_t look_min_addr(uint64_t sysctl_min)
{
	void *p = mmap((void *)PAGE_SIZE, PAGE_SIZE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t at = (uint64_t)p;

	if (p == MAP_FAILED)
		return sysctl_min;
	munmap(p, PAGE_SIZE);
	return at < (UINT64_C(1) << 24) ? at : sysctl_min;
}

/* The bare calls: libc may have lost a page of its own by now. */
static inline uint64_t bare_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
				 uint64_t e)
{
#ifdef __x86_64__
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = 0;
	uint64_t ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	return (uint64_t)syscall(number, a, b, c, d, e, 0);
#endif
}

static uint64_t ask_for_page(void)
{
	return bare_call(SYS_mmap, 0, PAGE_SIZE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1);
}

struct base_answer {
	uint64_t base, bottom_up;
};

#define MAX_RUN 256

/* The touching areas from @addr upward; their number. */
static int read_run(uint64_t addr, struct range *run)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4200];
	struct range r;
	int nr = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &r.start, &r.end) != 2 || r.end <= addr)
			continue;
		if (nr && run[nr - 1].end != r.start)
			break;
		if (nr == MAX_RUN)
			memmove(run, run + 1, --nr * sizeof(*run));
		run[nr++] = r;
	}
	return nr;
}

/*
 * In a child that does nothing else any more. The search takes the top of the highest hole below
 * the base; so what lies above the page it gives is full up to the base. Area by area from the top
 * of that: taken away, the page that comes to lie in its place ends at the base.
 */
static void find_base(struct base_answer *answer)
{
	static struct range run[MAX_RUN];
	uint64_t page = ask_for_page();
	int nr;

	if (ask_for_page() > page) {
		answer->bottom_up = 1;
		return;
	}
	for (nr = read_run(page, run); nr > 0; nr--) {
		struct range *top = &run[nr - 1];

		bare_call(SYS_munmap, top->start, top->end - top->start, 0, 0, 0);
		page = ask_for_page();
		if (page >= top->start && page < top->end) {
			answer->base = page + PAGE_SIZE;
			return;
		}
	}
}

/* Answered through a pipe: shared memory would be among what is taken away. */
static int look_base(struct seam_space_options *options)
{
	struct base_answer answer = { 0 };
	int ends[2], status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		find_base(&answer);
		bare_call(SYS_write, (uint64_t)ends[1], (uint64_t)&answer, sizeof(answer), 0, 0);
		bare_call(SYS_exit_group, 0, 0, 0, 0, 0);
		__builtin_unreachable();
	}
	close(ends[1]);
	if (pid > 0) {
		if (read(ends[0], &answer, sizeof(answer)) != sizeof(answer))
			answer = (struct base_answer) { 0 };
		waitpid(pid, &status, 0);
	}
	close(ends[0]);
	if (answer.bottom_up)
		options->flags |= SEAM_SPACE_BOTTOM_UP;
	options->mmap_base = answer.base;
	return pid < 0 ? -EAGAIN : 0;
}

/* The first key is the kernel's to give, while the process has allocated none. */
static uint32_t exec_only_pkey(void)
{
	int key = pkey_alloc(0, 0);

	if (key < 0)
		return 0;
	pkey_free(key);
	return (uint32_t)key;
}

int host_look(struct host *ret_host)
{
	struct seam_space_options *o = &ret_host->options;
	struct utsname name;
	int persona = personality(0xffffffff);

	*ret_host = (struct host) { .options.size = sizeof(*o) };
	if (uname(&name))
		return -errno;
	snprintf(ret_host->release, sizeof(ret_host->release), "%s", name.release);
	read_thp(ret_host->thp, sizeof(ret_host->thp));
	o->arch = SEAM_ARCH_X86_64;
	o->may = rights_to_memory(getpid());
	if (ret_host->thp[0])
		o->flags |= SEAM_SPACE_THP;
	if (!strcmp(ret_host->thp, "always"))
		o->flags |= SEAM_SPACE_THP_ALWAYS;
	if (!strcmp(ret_host->thp, "never"))
		o->flags |= SEAM_SPACE_THP_NEVER;
	if (persona != -1 && persona & READ_IMPLIES_EXEC)
		o->flags |= SEAM_SPACE_READ_IMPLIES_EXEC;
	o->overcommit = (uint32_t)sysctl("overcommit_memory", 0);
	o->commit_limit_pages = commit_limit(o->overcommit);
	o->exec_only_pkey = exec_only_pkey();
	o->user_end = USER_END_4_LEVEL;
	o->min_addr_sysctl = sysctl("mmap_min_addr", 65536);
	o->min_addr = look_min_addr(o->min_addr_sysctl);
	o->max_areas = limits_max_areas();
	o->limit_as = limit_of(RLIMIT_AS);
	o->limit_data = limit_of(RLIMIT_DATA);
	o->limit_stack = limit_of(RLIMIT_STACK);
	o->limit_memlock = limit_of(RLIMIT_MEMLOCK);
	return look_base(o);
}
