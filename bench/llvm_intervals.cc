/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/bench.h"

#ifdef HAVE_LLVM
#include <llvm/ADT/IntervalMap.h>

/* Half open, joins equal neighbours by itself; an insert must not overlap anything. */
typedef llvm::IntervalMap<uint64_t, uint32_t, 8, llvm::IntervalMapHalfOpenInfo<uint64_t>> intervals;

struct holder {
	intervals::Allocator allocator;
	intervals map;
	size_t sets;

	holder() : map(allocator), sets(0)
	{
	}
};

static void *create()
{
	return new holder;
}

static void destroy(void *map)
{
	delete static_cast<holder *>(map);
}

static void clear(void *map, uint64_t start, uint64_t end)
{
	intervals &m = static_cast<holder *>(map)->map;
	auto it = m.find(start);

	if (it.valid() && it.start() < start) {
		uint64_t stop = it.stop();
		uint32_t value = it.value();

		it.setStop(start);
		if (stop > end) {
			m.insert(end, stop, value);
			return;
		}
		++it;
	}
	while (it.valid() && it.start() < end) {
		if (it.stop() > end) {
			it.setStart(end);
			return;
		}
		it.erase();
	}
}

static void set(void *map, uint64_t start, uint64_t end, uint32_t value)
{
	clear(map, start, end);
	static_cast<holder *>(map)->map.insert(start, end, value);
}

static uint64_t find(const void *map, uint64_t addr, uint64_t *ret_end)
{
	auto it = static_cast<const holder *>(map)->map.find(addr);

	if (!it.valid())
		return NO_RANGE;
	*ret_end = it.stop();
	return it.start();
}

static uint64_t gap(const void *map, uint64_t len, uint64_t hi)
{
	const intervals &m = static_cast<const holder *>(map)->map;
	auto it = m.find(hi);
	uint64_t top = hi;

	while (it != m.begin()) {
		--it;
		if (it.stop() < top && top - it.stop() >= len)
			return top - len;
		top = it.start();
	}
	return top >= len ? top - len : NO_RANGE;
}

static size_t count(const void *map)
{
	const intervals &m = static_cast<const holder *>(map)->map;
	size_t nr = 0;

	for (auto it = m.begin(); it.valid(); ++it)
		nr++;
	return nr;
}

static const impl llvm_intervals = {
	"LLVM IntervalMap", create, destroy, set, clear, set, find, gap, count, nullptr, nullptr
};
extern "C" const impl *const peer_llvm = &llvm_intervals;
#else
extern "C" const impl *const peer_llvm = nullptr;
#endif
