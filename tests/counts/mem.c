/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain mem* functions, a word at a time: the C library chooses its own by the processor, and counts
 * of instructions are to be the same on each. Compiled without the loop idioms that would call them.
 */
#include <stddef.h>
#include <stdint.h>

struct word {
	uint64_t value;
} __attribute__((packed, may_alias));

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *at, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
	char *target = to;
	const char *source = from;

	for (; size >= 8; size -= 8, target += 8, source += 8)
		*(struct word *)target = *(const struct word *)source;
	while (size--)
		*target++ = *source++;
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	char *target = to;
	const char *source = from;

	if (target <= source)
		return memcpy(to, from, size);
	for (; size >= 8; size -= 8)
		*(struct word *)(target + size - 8) = *(const struct word *)(source + size - 8);
	while (size--)
		target[size] = source[size];
	return to;
}

void *memset(void *at, int value, size_t size)
{
	struct word word = { (unsigned char)value * UINT64_C(0x0101010101010101) };
	char *target = at;

	for (; size >= 8; size -= 8, target += 8)
		*(struct word *)target = word;
	while (size--)
		*target++ = (char)value;
	return at;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a, *y = b;

	for (; size; size--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}
