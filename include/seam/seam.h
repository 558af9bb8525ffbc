/* SPDX-License-Identifier: BSD-2-Clause */
/* seam/seam.h - all of libseam. Start with seam/space.h. */
#ifndef SEAM_SEAM_H
#define SEAM_SEAM_H

#include <seam/area.h>
#include <seam/ask.h>
#include <seam/explain.h>
#include <seam/granule.h>
#include <seam/ops.h>
#include <seam/payload.h>
#include <seam/policy.h>
#include <seam/read.h>
#include <seam/space.h>
#include <seam/steps.h>

#endif
