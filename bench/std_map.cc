/* SPDX-License-Identifier: BSD-2-Clause */
#include <map>

#include "bench/ordered.hpp"

static const impl std_map = ordered<std::map<uint64_t, range>>::make("std::map");
extern "C" const impl *const peer_std_map = &std_map;
