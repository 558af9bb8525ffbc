/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source source;

	source_from_buffer("fuzz", data, size, &source);
	source.kind = SOURCE_CORE;
	fuzz_areas(&source);
	return 0;
}
