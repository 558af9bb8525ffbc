/* SPDX-License-Identifier: BSD-2-Clause */
#include "ui/plain.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the control character at @s: one of C0, DEL, or of C1 in UTF-8; 0 for all else. */
static size_t control_length(const unsigned char *s)
{
	if (*s < 0x20 || *s == 0x7f)
		return 1;
	return *s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0 ? 2 : 0;
}

char *plain_text(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		size_t control = control_length((const unsigned char *)from);

		*to++ = control ? '?' : *from;
		from += control ? control : 1;
	}
	*to = '\0';
	return text;
}

void print_plain(const char *text, FILE *out)
{
	while (*text) {
		size_t control = control_length((const unsigned char *)text);

		fputc(control ? '?' : *text, out);
		text += control ? control : 1;
	}
}

/* By the environment: a static program has no locales to load. Unset, it says nothing. */
static const char *locale_name(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return value;
	}
	return "";
}

const char *beyond_ascii(const char *utf8, const char *ascii)
{
	const char *locale = locale_name();

	return strcmp(locale, "C") && strcmp(locale, "POSIX") ? utf8 : ascii;
}
