/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay/shm.h"

#include <stdbool.h>
#include <sys/shm.h>

void shm_mapping(const struct seam_space *space, const uint64_t *arg, struct seam_file *ret_file,
		 struct seam_mmap *ret_mmap)
{
	uint64_t page = UINT64_C(1) << seam_space_page_shift(space), flags = arg[2];
	bool read_only = flags & SHM_RDONLY;

	*ret_file = (struct seam_file) {
		.traits = SEAM_FILE_READ | (read_only ? 0 : SEAM_FILE_WRITE) | SEAM_FILE_CLOSE |
			  SEAM_FILE_SHMEM,
	};
	*ret_mmap = (struct seam_mmap) {
		.addr = arg[1] & -page,
		.len = arg[3],
		.prot = SEAM_PROT_READ | (read_only ? 0 : SEAM_PROT_WRITE) |
			(flags & SHM_EXEC ? SEAM_PROT_EXEC : 0),
		.flags = SEAM_MAP_SHARED,
		.file = ret_file,
	};
}
