/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/scan.h - reading numbers and words of a text that is not terminated: [at, end).
 * Each function moves *@at behind what it took and leaves it alone when it takes nothing.
 */
#ifndef TRACE_SCAN_H
#define TRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/* The value of a hexadecimal digit, -1 for all else. */
static inline int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static inline void scan_blanks(const char **at, const char *end)
{
	while (*at < end && is_blank(**at))
		(*at)++;
}

static inline bool scan_char(const char **at, const char *end, char c)
{
	if (*at >= end || **at != c)
		return false;
	(*at)++;
	return true;
}

static inline bool scan_text(const char **at, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *at) < len || memcmp(*at, text, len))
		return false;
	*at += len;
	return true;
}

/* The number of digits taken; 0 when there are none or the number does not fit. */
static inline unsigned int scan_hex(const char **at, const char *end, uint64_t *ret_value)
{
	const char *p = *at;
	uint64_t value = 0;
	unsigned int digits = 0;
	int digit;

	for (; p < end && (digit = hex_value(*p)) >= 0; p++, digits++) {
		if (value >> 60)
			return 0;
		value = value << 4 | (unsigned int)digit;
	}
	if (digits) {
		*at = p;
		*ret_value = value;
	}
	return digits;
}

static inline unsigned int scan_decimal(const char **at, const char *end, uint64_t *ret_value)
{
	const char *p = *at;
	uint64_t value = 0;
	unsigned int digits = 0;

	for (; p < end && is_digit(*p); p++, digits++) {
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return 0;
	}
	if (digits) {
		*at = p;
		*ret_value = value;
	}
	return digits;
}

/* The length of the word of letters, digits and '_' that starts at @at. */
static inline size_t word_length(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && is_word(*p))
		p++;
	return (size_t)(p - at);
}

static inline bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Behind the last '/', if there is anything. */
static inline const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static inline bool word_is(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && !memcmp(word, text, len);
}

/* Where @text first stands in [at, end), or NULL. */
static inline const char *find_text(const char *at, const char *end, const char *text)
{
	return at && at < end ? memmem(at, (size_t)(end - at), text, strlen(text)) : NULL;
}

/* Where @c last stands in [at, end), or NULL. */
static inline const char *find_last(const char *at, const char *end, char c)
{
	return at < end ? memrchr(at, c, (size_t)(end - at)) : NULL;
}

/* The end of the line that starts at @at: its '\n', or @end. */
static inline const char *line_end(const char *at, const char *end)
{
	const char *p = memchr(at, '\n', (size_t)(end - at));

	return p ? p : end;
}

static inline void trim_right(const char *at, const char **end)
{
	while (*end > at && is_blank((*end)[-1]))
		(*end)--;
}

#endif
