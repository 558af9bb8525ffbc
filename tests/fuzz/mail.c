/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz.h"
#include "trace/mail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mail_timing timings[4];
	struct source source;

	/* as whatever it is taken for, and as a mail */
	source_from_buffer("fuzz", data, size, &source);
	fuzz_trace(&source);
	source.kind = SOURCE_MAIL;
	fuzz_trace(&source);
	fuzz_areas(&source);
	mail_timings(&source, timings, 4);
	return 0;
}
