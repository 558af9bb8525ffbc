/* SPDX-License-Identifier: BSD-2-Clause */
#define SEAM_INDEX_LINEAR

#include "tests/model/linear_names.h"

#include "lib/index/linear.c"
