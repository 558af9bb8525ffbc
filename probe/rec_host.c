/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording tells of the host it was made on. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probe/procfs.h"
#include "probe/rec.h"

/* Pages below a growing stack; a boot parameter (stack_guard_gap=) that /proc does not show. */
#define STACK_GAP_PAGES 256

/* The word in brackets of "always [madvise] never". */
static void chosen_word(char *text, char *ret_word, size_t size)
{
	char *at = strchr(text, '['), *end = at ? strchr(at, ']') : NULL;

	ret_word[0] = 0;
	if (!end || (size_t)(end - at) > size)
		return;
	memcpy(ret_word, at + 1, (size_t)(end - at - 1));
	ret_word[end - at - 1] = 0;
}

static uint64_t number_or(const char *path, uint64_t otherwise)
{
	uint64_t value;

	return procfs_read_number(&value, path) ? otherwise : value;
}

void record_host(struct trace_host *ret_host)
{
	struct utsname name;
	char text[128];
	long page_size = sysconf(_SC_PAGESIZE);

	*ret_host = (struct trace_host) { .address_bits = 47 };
	if (!uname(&name))
		strncat(ret_host->release, name.release, sizeof(ret_host->release) - 1);
	while (1L << ret_host->page_shift < page_size)
		ret_host->page_shift++;
	ret_host->max_areas = number_or("/proc/sys/vm/max_map_count", 0);
	ret_host->min_addr = number_or("/proc/sys/vm/mmap_min_addr", 0);
	ret_host->overcommit = (uint32_t)number_or("/proc/sys/vm/overcommit_memory", 0);
	ret_host->tells_touches = rec_can_ask();
	ret_host->stack_gap = (uint64_t)STACK_GAP_PAGES << ret_host->page_shift;
	if (procfs_read(text, sizeof(text), "/sys/kernel/mm/transparent_hugepage/enabled") > 0)
		chosen_word(text, ret_host->thp, sizeof(ret_host->thp));
}
