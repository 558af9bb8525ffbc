/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sym/symbols.h - names for places in modules, found when a recording is read (libdw): in the file
 * itself and in its separate debug file, if its build-id is the recorded one.
 */
#ifndef SYM_SYMBOLS_H
#define SYM_SYMBOLS_H

#include <stdint.h>

#include "trace/trace.h"

struct symbols;

/* NULL: no memory, or built without libdw. */
struct symbols *symbols_new(void);
void symbols_free(struct symbols *symbols);

/*
 * For struct trace_options, symbol: the function at @offset of a module's file, and *ret_into, how
 * far into it. NULL: not known. The text lives until the next call.
 */
const char *symbols_name(void *symbols, const struct trace_module *module, uint64_t offset,
			 uint64_t *ret_into);

#endif
