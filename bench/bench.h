/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench/bench.h - one map of address ranges, kept by libseam and by each peer that is installed.
 *
 * A map gives each page of [0, 2^47) one number or none; equal numbers of touching ranges become
 * one range. All peers do the same work: a set takes out what lies in its way, cuts what sticks
 * out, and joins.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAGE UINT64_C(4096)
#define NO_RANGE UINT64_MAX

struct impl {
	const char *name;
	void *(*create)(void);
	void (*destroy)(void *map);
	/* [start, end) gets @value (1 to 4), or none of it any. */
	void (*set)(void *map, uint64_t start, uint64_t end, uint32_t value);
	void (*clear)(void *map, uint64_t start, uint64_t end);
	/* [start, end) lies in one range, which gets @value there. */
	void (*change)(void *map, uint64_t start, uint64_t end, uint32_t value);
	/* The first range that ends behind @addr: its start, or NO_RANGE; *ret_end its end. */
	uint64_t (*find)(const void *map, uint64_t addr, uint64_t *ret_end);
	/* The start of the highest @len free bytes below @hi; NULL: it has no search for gaps. */
	uint64_t (*gap)(const void *map, uint64_t len, uint64_t hi);
	size_t (*count)(const void *map);
	/* libseam only */
	void (*touch_all)(void *map);
	void *(*fork)(void *map);
	void *(*snapshot)(const void *map);
	/* As find, beside a writer; NULL: it cannot be read beside one. */
	uint64_t (*read)(const void *map, uint64_t addr, uint64_t *ret_end);
};

/* Three kinds of spaces: plain, with the rules of linux-6.18, plain with readers. */
extern const struct impl impl_seam, impl_seam_rules, impl_seam_readers;
/* NULL when it was not built in. */
extern const struct impl *const peer_std_map, *const peer_absl, *const peer_llvm, *const peer_icl;
/* What bench/kernel/build makes of the kernel's sources, under these names in its shared object. */
extern const struct impl kernel_maple, kernel_maple_rcu;
#define KERNEL_MAPLE_SYMBOL "kernel_maple"
#define KERNEL_MAPLE_RCU_SYMBOL "kernel_maple_rcu"

/* One change of a map. */
typedef void bench_call(const struct impl *impl, void *map, uint64_t areas);

/*
 * Nanoseconds a lookup, of all together, when two threads look up in the @pages from @first on while
 * a third makes one @call after the other.
 */
double readers_beside(const struct impl *impl, void *map, uint64_t first, uint64_t pages,
		      uint64_t areas, double seconds, bench_call *call);

#ifdef __cplusplus
}
#endif
#endif
