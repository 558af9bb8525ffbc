/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay/shm.h - what shmat maps: each attachment of SysV shared memory is a shared file of its own,
 * with a close operation (6.18 ipc/shm.c do_shmat).
 */
#ifndef REPLAY_SHM_H
#define REPLAY_SHM_H

#include <seam/seam.h>

/*
 * The mapping of a TRACE_CALL_shmat with these arguments. The address is rounded down, as SHM_RND
 * asks; whether it may be, and is fixed, the caller knows, who also gives the file its id.
 */
void shm_mapping(const struct seam_space *space, const uint64_t *arg, struct seam_file *ret_file,
		 struct seam_mmap *ret_mmap);

#endif
