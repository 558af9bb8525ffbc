/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum source_kind kinds[] = { SOURCE_MAPS, SOURCE_SMAPS, SOURCE_NUMA_MAPS,
						  SOURCE_ASAN, SOURCE_VALGRIND };
	struct source source;

	source_from_buffer("fuzz", data, size, &source);
	fuzz_areas(&source);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		source.kind = kinds[i];
		fuzz_areas(&source);
	}
	return 0;
}
