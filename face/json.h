/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * face/json.h - a small streaming JSON writer. Keys are NULL inside arrays.
 * Text that is not UTF-8 is written with U+FFFD for each byte that does not fit.
 */
#ifndef FACE_JSON_H
#define FACE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <seam/policy.h>

struct json {
	FILE *out;
	unsigned int depth;
	uint64_t filled; /* a bit a level: something stands before */
	bool compact;	 /* one line */
};

void json_begin(struct json *json, FILE *out);
void json_end(struct json *json);					 /* the last newline */
void json_open(struct json *json, const char *key, char bracket);	 /* '{' or '[' */
void json_close(struct json *json, char bracket);			 /* '}' or ']' */
void json_string(struct json *json, const char *key, const char *value); /* NULL: null */
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
void json_vector(struct json *json, const char *key, uint32_t vector); /* "e8990c5e" */
void json_addr(struct json *json, const char *key, uint64_t addr);     /* "0x7f..." */
/* "kernel" and "vector": under which rules. */
void json_policy(struct json *json, const struct seam_policy *policy);
/* Opens the top level: {"schema":1,"kind":KIND,"seam":VERSION, ... */
void json_report(struct json *json, FILE *out, const char *kind);
/* The same on one line: one of many reports. */
void json_report_line(struct json *json, FILE *out, const char *kind);

#endif
