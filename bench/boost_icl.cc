/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/bench.h"

#ifdef HAVE_BOOST_ICL
#include <boost/icl/interval_map.hpp>

namespace icl = boost::icl;
typedef icl::interval_map<uint64_t, uint32_t> intervals;
typedef icl::interval<uint64_t> interval;

static intervals &of(void *map)
{
	return *static_cast<intervals *>(map);
}

static void *create()
{
	return new intervals;
}

static void destroy(void *map)
{
	delete &of(map);
}

static void set(void *map, uint64_t start, uint64_t end, uint32_t value)
{
	of(map).set(std::make_pair(interval::right_open(start, end), value));
}

static void clear(void *map, uint64_t start, uint64_t end)
{
	of(map).erase(interval::right_open(start, end));
}

static uint64_t find(const void *map, uint64_t addr, uint64_t *ret_end)
{
	const intervals &m = *static_cast<const intervals *>(map);
	auto it = m.lower_bound(interval::right_open(addr, addr + 1));

	if (it == m.end())
		return NO_RANGE;
	*ret_end = it->first.upper();
	return it->first.lower();
}

static uint64_t gap(const void *map, uint64_t len, uint64_t hi)
{
	const intervals &m = *static_cast<const intervals *>(map);
	auto it = m.lower_bound(interval::right_open(hi, hi + 1));
	uint64_t top = hi;

	while (it != m.begin()) {
		--it;
		if (it->first.upper() < top && top - it->first.upper() >= len)
			return top - len;
		top = it->first.lower();
	}
	return top >= len ? top - len : NO_RANGE;
}

static size_t count(const void *map)
{
	return icl::interval_count(*static_cast<const intervals *>(map));
}

static const impl boost_icl = { "Boost.ICL", create, destroy, set,     clear,  set,
				find,	     gap,    count,   nullptr, nullptr };
extern "C" const impl *const peer_icl = &boost_icl;
#else
extern "C" const impl *const peer_icl = nullptr;
#endif
