/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib/built.h - what a build leaves out, as constants for plain conditions (docs/embedding.md).
 */
#ifndef LIB_BUILT_H
#define LIB_BUILT_H

/*
 * Plain alone is a map and no kernel: it has the calls of calls_plain, keeps no anon_vmas, charges
 * nothing, and its memory is neither locked nor sealed nor huge, nor does it grow by itself.
 */
#define ALONE_plain 0,
#define SECOND_OF(first, second, ...) second
#define IS_NAMED(alone) SECOND_OF(alone 1, 0, 0)
#define ALONE_PASTE(name) IS_NAMED(ALONE_##name)
#define ALONE(name) ALONE_PASTE(name)
#ifdef SEAM_ONE_POLICY
#define WITH_KERNELS (!ALONE(SEAM_ONE_POLICY))
#else
#define WITH_KERNELS 1
#endif

/* Without: a space that is read beside its writer cannot be made (-SEAM_EINVAL). */
#ifdef SEAM_NO_READERS
#define WITH_READERS 0
#else
#define WITH_READERS 1
#endif

#endif
