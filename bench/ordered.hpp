/* SPDX-License-Identifier: BSD-2-Clause */
/* The map upon any ordered container start -> (end, value): std::map and absl::btree_map. */
#ifndef BENCH_ORDERED_HPP
#define BENCH_ORDERED_HPP

#include <cstdint>
#include <iterator>

#include "bench/bench.h"

struct range {
	uint64_t end;
	uint32_t value;
};

template <class Map> struct ordered {
	static Map &of(void *map)
	{
		return *static_cast<Map *>(map);
	}

	static void *create()
	{
		return new Map;
	}

	static void destroy(void *map)
	{
		delete &of(map);
	}

	/* Takes out [start, end); what sticks out stays. */
	static void clear(void *map, uint64_t start, uint64_t end)
	{
		Map &m = of(map);
		auto it = m.lower_bound(start);

		if (it != m.begin()) {
			auto below = std::prev(it);

			if (below->second.end > start) {
				range rest = below->second;

				below->second.end = start;
				if (rest.end > end) {
					m.emplace(end, rest);
					return;
				}
				it = m.lower_bound(start);
			}
		}
		while (it != m.end() && it->first < end) {
			if (it->second.end > end) {
				range rest = it->second;

				m.erase(it);
				m.emplace(end, rest);
				return;
			}
			it = m.erase(it);
		}
	}

	static void set(void *map, uint64_t start, uint64_t end, uint32_t value)
	{
		Map &m = of(map);

		clear(map, start, end);
		auto next = m.lower_bound(start);
		if (next != m.end() && next->first == end && next->second.value == value) {
			end = next->second.end;
			next = m.erase(next);
		}
		if (next != m.begin()) {
			auto prev = std::prev(next);

			if (prev->second.end == start && prev->second.value == value) {
				prev->second.end = end;
				return;
			}
		}
		m.emplace_hint(next, start, range { end, value });
	}

	static uint64_t find(const void *map, uint64_t addr, uint64_t *ret_end)
	{
		const Map &m = *static_cast<const Map *>(map);
		auto it = m.upper_bound(addr);

		if (it != m.begin()) {
			auto below = std::prev(it);

			if (below->second.end > addr)
				it = below;
		}
		if (it == m.end())
			return NO_RANGE;
		*ret_end = it->second.end;
		return it->first;
	}

	/* From the top down: there is nothing to tell where the gaps are. */
	static uint64_t gap(const void *map, uint64_t len, uint64_t hi)
	{
		const Map &m = *static_cast<const Map *>(map);
		auto it = m.lower_bound(hi);
		uint64_t top = hi;

		while (it != m.begin()) {
			--it;
			if (it->second.end < top && top - it->second.end >= len)
				return top - len;
			top = it->first;
		}
		return top >= len ? top - len : NO_RANGE;
	}

	static size_t count(const void *map)
	{
		return static_cast<const Map *>(map)->size();
	}

	static constexpr impl make(const char *name)
	{
		impl i {};

		i.name = name;
		i.create = create;
		i.destroy = destroy;
		i.set = set;
		i.clear = clear;
		i.change = set;
		i.find = find;
		i.gap = gap;
		i.count = count;
		return i;
	}
};

#endif
