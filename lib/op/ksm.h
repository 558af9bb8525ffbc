/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/op/ksm.h - same-page merging (KSM). */
#ifndef LIB_OP_KSM_H
#define LIB_OP_KSM_H

#include <stdbool.h>
#include <stdint.h>

/* Memory with these flags can be merged with equal pages (6.18 mm/ksm.c ksm_compatible). */
bool ksm_takes(uint64_t flags);

#endif
