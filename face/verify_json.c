/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/verify.h"

#include <inttypes.h>
#include <stdlib.h>

#include "face/call_text.h"
#include "face/json.h"

static void begin(struct json *json, const struct verify_context *context, FILE *out)
{
	json_report(json, out, "verify");
	json_policy(json, context->policy);
	json_string(json, "release", context->release);
}

/* ---- random calls and scripts ---- */

/* To be freed; NULL: no memory. */
static char *script_text(const struct script *script)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return NULL;
	script_print(script, "", memory);
	fclose(memory);
	return text;
}

static void write_finding(struct json *json, const struct finding *finding)
{
	char kind[WORLD_TEXT_SIZE], *script = script_text(&finding->script);

	json_open(json, NULL, '{');
	if (finding->name[0])
		json_string(json, "name", finding->name);
	json_string(json, "process", world_kind_text(kind, finding->kind));
	json_string(json, "call", finding->mismatch.call);
	json_string(json, "expected", finding->mismatch.expected);
	json_string(json, "found", finding->mismatch.found);
	json_string(json, "script", script);
	json_close(json, '}');
	free(script);
}

void verify_json(const struct verify_context *context, const struct run *run, FILE *out)
{
	struct json json;

	begin(&json, context, out);
	json_uint(&json, "calls", run->calls);
	json_uint(&json, "checked", run->checked);
	json_uint(&json, "undetermined", run->undetermined);
	json_uint(&json, "skipped", run->skipped);
	json_uint(&json, "whole_maps", run->whole);
	json_uint(&json, "kernel_truths", run->truths);
	json_uint(&json, "seed", context->seed);
	json_uint(&json, "time_ns", context->ns);
	json_int(&json, "status", context->status);
	json_string(&json, "failed", run->failed[0] ? run->failed : NULL);
	json_open(&json, "mismatches", '[');
	for (uint32_t i = 0; i < run->nr_findings; i++)
		write_finding(&json, &run->finding[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	json_end(&json);
}

/* ---- beside a program ---- */

static void print_call(const struct beside *beside, const struct beside_mismatch *mismatch,
		       FILE *out)
{
	const struct event *call = &mismatch->call;

	if (mismatch->when == BESIDE_FORK)
		fprintf(out, "the fork that made process %" PRIu32, call->pid);
	else if (call->kind == EVENT_SPACE)
		fprintf(out, "before the first call of process %" PRIu32, call->pid);
	else if (call->kind == EVENT_CALL)
		call_text(out, call, beside_file(beside, call));
	if (mismatch->when == BESIDE_BETWEEN)
		fputs(": changed before it, by no call", out);
	else if (mismatch->when == BESIDE_WHOLE)
		fputs(": seen after it, in the whole map", out);
}

char *beside_call_text(const struct beside *beside, const struct beside_mismatch *mismatch)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return NULL;
	print_call(beside, mismatch, memory);
	fclose(memory);
	return text;
}

static void write_mismatches(struct json *json, const struct beside *beside)
{
	const struct beside_result *result = beside_result(beside);

	json_open(json, "mismatches", '[');
	for (unsigned int i = 0; i < result->nr_kept; i++) {
		const struct beside_mismatch *mismatch = result->mismatch[i];
		char *call = beside_call_text(beside, mismatch);

		json_open(json, NULL, '{');
		json_string(json, "call", call);
		json_uint(json, "number", mismatch->number);
		json_uint(json, "pid", mismatch->call.pid);
		json_string(json, "expected", mismatch->expected);
		json_string(json, "found", mismatch->found);
		json_close(json, '}');
		free(call);
	}
	json_close(json, ']');
}

static void write_changes(struct json *json, const struct beside_result *result)
{
	json_open(json, "changes", '[');
	for (unsigned int i = 0; i < result->nr_changes; i++) {
		json_open(json, NULL, '{');
		json_string(json, "what", result->change[i].what);
		json_uint(json, "count", result->change[i].count);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void beside_json(const struct verify_context *context, const struct beside *beside,
		 const struct record_result *recorded, FILE *out)
{
	const struct beside_result *result = beside_result(beside);
	struct json json;

	begin(&json, context, out);
	json_uint(&json, "calls", result->calls);
	json_uint(&json, "checked", result->checked);
	json_uint(&json, "undetermined", result->undetermined);
	json_uint(&json, "told", result->told);
	json_uint(&json, "overlapped", result->overlapped);
	json_uint(&json, "not_modelled", result->not_modelled);
	json_uint(&json, "unseen", result->unseen);
	json_uint(&json, "whole_maps", result->whole);
	json_uint(&json, "processes", recorded->processes);
	json_uint(&json, "threads", recorded->threads);
	json_null(&json, "seed");
	json_uint(&json, "time_ns", recorded->elapsed_ns);
	json_uint(&json, "cost_ns", recorded->cpu_ns);
	if (context->has_status)
		json_int(&json, "status", context->status);
	else
		json_null(&json, "status");
	json_string(&json, "failed", result->failed);
	json_uint(&json, "nr_mismatches", result->nr_mismatches);
	write_mismatches(&json, beside);
	write_changes(&json, result);
	json_close(&json, '}');
	json_end(&json);
}
