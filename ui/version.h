/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef UI_VERSION_H
#define UI_VERSION_H

#ifndef SEAM_VERSION
#define SEAM_VERSION "0.1.0"
#endif

#endif
