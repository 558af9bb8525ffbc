/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/bench.h"

#ifdef HAVE_ABSL
#include "absl/container/btree_map.h"

#include "bench/ordered.hpp"

static const impl absl_btree = ordered<absl::btree_map<uint64_t, range>>::make("absl::btree_map");
extern "C" const impl *const peer_absl = &absl_btree;
#else
extern "C" const impl *const peer_absl = nullptr;
#endif
