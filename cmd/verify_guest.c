/* SPDX-License-Identifier: BSD-2-Clause */
/* seam verify under another kernel: the request, put together anew for the seam in the guest. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "cmd/verify.h"
#include "trace/scan.h"
#include "verify/guest.h"

#define MAX_WORDS 32
#define WORD_SIZE 256

struct request {
	struct guest guest;
	char text[MAX_WORDS][WORD_SIZE];
	char *words[MAX_WORDS + 1];
	unsigned int nr;
};

static void add_word(struct request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void add_word(struct request *request, const char *format, ...)
{
	char *text = request->text[request->nr];
	va_list args;

	if (request->nr == MAX_WORDS)
		return;
	va_start(args, format);
	vsnprintf(text, WORD_SIZE, format, args);
	va_end(args);
	request->words[request->nr++] = text;
	request->words[request->nr] = NULL;
}

/* A file goes along, and has another name there. */
static void add_file(struct request *request, const char *path)
{
	request->guest.files[request->guest.nr_files++] = path;
	add_word(request, "/%s", last_name(path));
}

static void add_option(struct request *request, const char *option, const char *value)
{
	if (!value)
		return;
	add_word(request, "%s", option);
	add_word(request, "%s", value);
}

static void add_form(struct request *request, const struct verify_options *options)
{
	if (options->json)
		add_word(request, "--json");
	if (options->tap)
		add_word(request, "--tap");
	if (options->emit == EMIT_C)
		add_option(request, "--emit", "c");
	else if (options->stop)
		add_word(request, "--stop");
}

static void write_request(struct request *request, const struct verify_options *options)
{
	add_word(request, "verify");
	add_form(request, options);
	add_option(request, "--kernel", options->kernel);
	if (options->rules) {
		add_word(request, "--rules");
		add_file(request, options->rules);
	}
	add_option(request, "--as", options->kind_text);
	add_option(request, "--ops", options->only_text);
	if (options->limit) {
		add_word(request, "--limit");
		add_word(request, "%" PRIu64, options->limit);
	}
	if (options->random) {
		add_word(request, "--random");
		add_word(request, "%" PRIu64, options->calls);
		add_word(request, "--seed");
		add_word(request, "%" PRIu64, options->seed);
	} else {
		add_file(request, options->script);
	}
}

int verify_in_guest(const struct verify_options *options)
{
	static struct request request;
	char why[GUEST_ERROR_SIZE];
	int status, err;
	FILE *out;

	request.guest = (struct guest) {
		.image = options->image,
		.append = options->append,
		.command = request.words,
	};
	write_request(&request, options);
	out = cmd_open_output(options->output, stdout);
	if (!out)
		return EXIT_SEAM_FAILED;
	err = guest_run(&request.guest, out, &status, why);
	if (cmd_close_output(out, options->output, EXIT_DONE))
		return EXIT_SEAM_FAILED;
	return err ? cmd_fail(EXIT_SEAM_FAILED, "%s: %s", options->image, why) : status;
}
