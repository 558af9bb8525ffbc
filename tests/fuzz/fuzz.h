/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/fuzz/fuzz.h - what every fuzzer holds the importers to. Each target is linked twice: with
 * libFuzzer (option fuzz), and with replay.c, which gives it the files of a corpus.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include "trace/snapshot.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all events, strictly and then leniently: each space begins, lives and ends once. */
void fuzz_trace(struct source *source);
/* Reads the areas, strictly and then leniently: they ascend and do not overlap. */
void fuzz_areas(const struct source *source);

#endif
