/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LIB_EXPORT_H
#define LIB_EXPORT_H

/* In the version map (lib/libseam.map), and nothing else is. */
#define SEAM_EXPORT __attribute__((visibility("default")))

#endif
