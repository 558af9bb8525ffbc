/* SPDX-License-Identifier: BSD-2-Clause */
#include "findings/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "path(symbol+0x12) [0x34]", "path() [0x34]", "path+0x12", "0x12". */
struct frame {
	const char *module; /* without its folder */
	size_t module_len;
	const char *function; /* or an offset */
	size_t function_len;
};

/* Of a function without a name: the offset in brackets, if there is one in [at, end). */
static void take_offset(struct frame *frame, const char *at, const char *end)
{
	const char *open = memchr(at, '[', (size_t)(end - at));
	const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;

	if (!close)
		return;
	frame->function = open + 1;
	frame->function_len = (size_t)(close - open - 1);
}

static bool read_frame(const char **at, struct frame *ret)
{
	const char *line = *at, *end = strchrnul(line, '\n'), *slash, *open, *close, *plus;

	if (line == end)
		return false;
	*at = *end ? end + 1 : end;
	open = memchr(line, '(', (size_t)(end - line));
	close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
	plus = memrchr(line, '+', (size_t)(end - line));
	ret->module = line;
	if (open && close) {
		ret->module_len = (size_t)(open - line);
		ret->function = open + 1;
		plus = memchr(open, '+', (size_t)(close - open));
		ret->function_len = (size_t)((plus ? plus : close) - ret->function);
		if (!ret->function_len)
			take_offset(ret, close, end);
	} else {
		ret->module_len = plus ? (size_t)(plus - line) : 0;
		ret->function = plus ? plus : line;
		ret->function_len = (size_t)(end - ret->function);
	}
	slash = memrchr(line, '/', ret->module_len);
	if (slash) {
		ret->module_len -= (size_t)(slash + 1 - line);
		ret->module = slash + 1;
	}
	return true;
}

/* Modules whose functions only pass a call on. */
static bool passes_on(const struct frame *frame)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-linux",
					     "ld-2",	"ld.so", "ld-musl",    "[vdso]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (frame->module_len >= strlen(names[i]) &&
		    !strncmp(frame->module, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The innermost frame that is the program's own, else the innermost of all. */
static bool find_frame(const char **at, struct frame *ret)
{
	const char *start = *at;

	while (read_frame(at, ret))
		if (!passes_on(ret))
			return true;
	*at = start;
	return read_frame(at, ret);
}

char *site_name(const char *stack)
{
	struct frame site, caller;
	char *name;
	int len;

	if (!stack || !find_frame(&stack, &site))
		return strdup("[no stack]");
	if (passes_on(&site)) {
		/* its functions are not told apart: stripped libraries name them wrongly */
		len = asprintf(&name, "%.*s", (int)site.module_len, site.module);
	} else if (read_frame(&stack, &caller) && !passes_on(&caller)) {
		len = asprintf(&name, "%.*s < %.*s (%.*s)", (int)site.function_len, site.function,
			       (int)caller.function_len, caller.function, (int)site.module_len,
			       site.module);
	} else {
		len = asprintf(&name, "%.*s (%.*s)", (int)site.function_len, site.function,
			       (int)site.module_len, site.module);
	}
	return len < 0 ? NULL : name;
}
