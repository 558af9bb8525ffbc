/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define JSON_MAX_DEPTH 63

void json_begin(struct json *json, FILE *out)
{
	*json = (struct json) { .out = out };
}

void json_end(struct json *json)
{
	fputc('\n', json->out);
}

static void indent(struct json *json)
{
	if (json->compact)
		return;
	fputc('\n', json->out);
	for (unsigned int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* Length of the UTF-8 character at @s, or 0 when it is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* over-long forms, surrogates and what lies beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void quoted(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len;

	fputc('"', out);
	for (; *s; s += len) {
		len = utf8_length(s);
		if (!len) {
			fputs("\\ufffd", out);
			len = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s);
		} else if (*s == '\n') {
			fputs("\\n", out);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, len, out);
		}
	}
	fputc('"', out);
}

static void begin_value(struct json *json, const char *key)
{
	uint64_t bit = UINT64_C(1) << json->depth;

	if (json->filled & bit)
		fputc(',', json->out);
	json->filled |= bit;
	if (json->depth)
		indent(json);
	if (key) {
		quoted(json->out, key);
		fputs(json->compact ? ":" : ": ", json->out);
	}
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	fputc(bracket, json->out);
	assert(json->depth < JSON_MAX_DEPTH);
	json->depth++;
	json->filled &= ~(UINT64_C(1) << json->depth);
}

void json_close(struct json *json, char bracket)
{
	bool filled = json->filled & (UINT64_C(1) << json->depth);

	json->depth--;
	if (filled)
		indent(json);
	fputc(bracket, json->out);
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (value)
		quoted(json->out, value);
	else
		fputs("null", json->out);
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_double(struct json *json, const char *key, double value)
{
	begin_value(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.6g", value);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
	json_string(json, key, NULL);
}

void json_vector(struct json *json, const char *key, uint32_t vector)
{
	begin_value(json, key);
	fprintf(json->out, "\"%08" PRIx32 "\"", vector);
}

void json_policy(struct json *json, const struct seam_policy *policy)
{
	json_string(json, "kernel", policy->name);
	json_vector(json, "vector", seam_policy_vector(policy));
}

void json_addr(struct json *json, const char *key, uint64_t addr)
{
	begin_value(json, key);
	fprintf(json->out, "\"0x%" PRIx64 "\"", addr);
}

static void write_report(struct json *json, FILE *out, const char *kind, bool compact)
{
	json_begin(json, out);
	json->compact = compact;
	json_open(json, NULL, '{');
	json_uint(json, "schema", 1);
	json_string(json, "kind", kind);
	json_string(json, "seam", SEAM_VERSION);
}

void json_report(struct json *json, FILE *out, const char *kind)
{
	write_report(json, out, kind, false);
}

void json_report_line(struct json *json, FILE *out, const char *kind)
{
	write_report(json, out, kind, true);
}
