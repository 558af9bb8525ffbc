/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seam why: pair by pair, what keeps two neighbours apart and which call would join them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/number.h"
#include "cmd/policy.h"
#include "cmd/sentences.h"
#include "cmd/target.h"
#include "face/why.h"
#include "face/why_c.h"
#include "ui/plain.h"
#include "ui/table.h"

struct options {
	struct target target;
	const char *kernel, *output;
	bool json, emit_c, no_header, by_address;
	uint64_t address;
};

static int parse_address(struct options *options, const char *text)
{
	if (!number_parse(text, 16, 0, UINT64_MAX, &options->address))
		return cmd_usage(&cmd_why, "'%s': an address in hex expected", text);
	options->by_address = true;
	return EXIT_DONE;
}

static const struct cmd_option known_options[] = {
	OPTION_KERNEL(struct options, kernel,
		      "by the rules of that kernel (linux-host; for a file the newest)"),
	{ .name = "emit",
	  OPTION_ONLY(struct options, emit_c, "c"),
	  .help = "a small C program that makes the pair at ADDR" },
	OPTION_SKIP_BAD(struct options, target.skip_bad),
	OPTION_JSON(struct options, json),
	OPTION_NO_HEADER(struct options, no_header),
	OPTION_REPORT_OUTPUT(struct options, output),
	{ 0 },
};

static int parse_options(struct options *options, int argc, char **argv)
{
	char **operands;
	int status;

	*options = (struct options) { 0 };
	status = options_parse(&cmd_why, argc, argv, options, &operands);
	if (!status)
		status = target_parse(&cmd_why, operands[0], &options->target);
	if (!status && operands[1])
		status = parse_address(options, operands[1]);
	if (status)
		return status;
	if (operands[1] && operands[2])
		return cmd_usage(&cmd_why, "'%s': one address at a time", operands[2]);
	if (options->emit_c && !options->by_address)
		return cmd_usage(&cmd_why, "--emit c: of which pair? give its address");
	options->target.live.drop_rights = true;
	options->target.live.all = true;
	return EXIT_DONE;
}

/* As maps has it, "rw-p"; "rw-?" or "????" where the source does not tell that. */
static const char *perms_text(char buf[5], const struct snapshot *snapshot, uint64_t flags)
{
	buf[0] = flags & SEAM_VM_READ ? 'r' : '-';
	buf[1] = flags & SEAM_VM_WRITE ? 'w' : '-';
	buf[2] = flags & SEAM_VM_EXEC ? 'x' : '-';
	buf[3] = flags & SEAM_VM_MAYSHARE ? 's' : snapshot->sees & HIDES_SHARED ? '?' : 'p';
	buf[4] = '\0';
	return snapshot->sees & HIDES_PROT ? "????" : buf;
}

static void print_area(const struct snapshot *snapshot, size_t index, FILE *out)
{
	const struct snapshot_area *area = &snapshot->areas[index];
	char size[SHORT_TEXT], perms[5];

	fprintf(out, "  %" PRIx64 "-%" PRIx64 " %6s %s ", area->area.start, area->area.end,
		size_text(size, area->area.end - area->area.start),
		perms_text(perms, snapshot, area->area.flags));
	print_plain(area->name, out);
	fputc('\n', out);
}

/* One pair at length. */
static void print_pair(const struct show *show, const char *label, size_t left, FILE *out)
{
	const struct snapshot_area *area = &show->snapshot.areas[left];
	char text[SENTENCE_SIZE];
	struct why why;

	why_pair(&show->findings, left, &why);
	fprintf(out, "%s: apart at %" PRIx64 ": %s.\n\n", label, area->area.end,
		cause_sentence(
			text, &show->findings, why.causes,
			seam_explain_flags(&show->findings.policy, &area[0].area, &area[1].area)));
	print_area(&show->snapshot, left, out);
	print_area(&show->snapshot, left + 1, out);
	fprintf(out, "\nDifference:  %s\n", why.detail);
	if (why.happened[0])
		fprintf(out, "Happened:    %s\n", why.happened);
	if (why.join_by[0])
		fprintf(out, "Joined by:   %s%s\n", why.join_by,
			why.certain ? "" : ", unless something hidden differs");
	else
		fprintf(out, "No call:     %s\n", why.no_join);
	fprintf(out, "\nBy the rules of %s.\n", show->findings.policy.name);
	target_print_bad(&show->snapshot, out);
}

static void add_row(struct table *table, const struct show *show, size_t left)
{
	const struct snapshot_area *area = &show->snapshot.areas[left];
	char size[SHORT_TEXT], perms[5];
	struct why why;

	why_pair(&show->findings, left, &why);
	table_cell(table, "%" PRIx64, area->area.start);
	table_cell(table, "%" PRIx64, area->area.end);
	table_cell(table, "%s", size_text(size, area->area.end - area->area.start));
	table_cell(table, "%s", perms_text(perms, &show->snapshot, area->area.flags));
	table_cell(table, "%s%s%s", why.detail, why.join_by[0] ? "; joined by " : "", why.join_by);
}

static int print_all(const struct options *options, const struct show *show, const char *label,
		     FILE *out)
{
	static const struct column columns[] = {
		{ "START", ALIGN_LEFT },
		{ "END", ALIGN_LEFT },
		{ "SIZE", ALIGN_RIGHT },
		{ "PERM", ALIGN_LEFT },
		{ "WHY APART FROM THE NEXT", ALIGN_LEFT, NARROW_WRAPS },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char pairs[COUNTED_TEXT];

	fprintf(out, "%s: %s, by the rules of %s.\n\n", label,
		counted(pairs, show->findings.touching_pairs, "pair of neighbours touches",
			"pairs of neighbours touch"),
		show->findings.policy.name);
	for (size_t i = 0; i < show->snapshot.nr_areas; i++)
		if (show->findings.pair[i] != NO_PAIR)
			add_row(table, show, i);
	if (!table || table_print(table, out, !options->no_header))
		return cmd_fail(EXIT_FAILED, "out of memory");
	if (show->snapshot.bad_lines)
		fputc('\n', out);
	target_print_bad(&show->snapshot, out);
	return EXIT_DONE;
}

static int print_at(const struct options *options, const struct show *show, const char *label,
		    FILE *out)
{
	size_t left;

	if (why_find(&show->findings, options->address, &left))
		return cmd_fail(EXIT_FAILED, "%s: no two mappings touch at %" PRIx64, label,
				options->address);
	if (options->json)
		why_json(show, &left, 1, out);
	else if (options->emit_c)
		return why_c(&show->findings, left, out)
			       ? cmd_fail(EXIT_FAILED, "%s: no program can make this pair: %s",
					  label, why_c_reason(&show->findings, left))
			       : EXIT_DONE;
	else
		print_pair(show, label, left, out);
	return EXIT_DONE;
}

static int print(const struct options *options, const struct show *show, FILE *out)
{
	char label[256];

	target_label(&options->target, &show->snapshot, label, sizeof(label));
	if (options->by_address)
		return print_at(options, show, label, out);
	if (options->json) {
		why_json(show, NULL, 0, out);
		return EXIT_DONE;
	}
	return print_all(options, show, label, out);
}

static int read_show(const struct options *options, struct show *ret_show)
{
	struct snapshot snapshot;
	struct seam_policy policy;
	int status = cmd_policy(&cmd_why, options->kernel, options->target.file, &policy);

	if (!status)
		status = target_read(&options->target, &snapshot);
	if (!status && show_make(&snapshot, options->target.file, &policy, ret_show))
		status = cmd_fail(EXIT_FAILED, "out of memory");
	return status;
}

static int run(int argc, char **argv)
{
	struct options options;
	struct show show;
	int status = parse_options(&options, argc, argv);
	FILE *out;

	if (status)
		return status;
	out = cmd_open_output(options.output, stdout);
	if (!out)
		return EXIT_FAILED;
	status = read_show(&options, &show);
	if (!status) {
		status = print(&options, &show, out);
		show_free(&show);
	}
	return cmd_close_output(out, options.output, status);
}

const struct cmd cmd_why = {
	.name = "why",
	.synopsis = "[options] PID|FILE|- [ADDR]",
	.summary = "pair by pair: what keeps neighbours apart, which call would join them",
	.about = "ADDR (hex): the border there, or that of the mapping that holds it.",
	.options = known_options,
	.run = run,
};
