/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments and results of calls, apart from the importer. */
#include <string.h>

#include "tests/tap.h"
#include "trace/strace_args.h"
#include "trace/strace_names.c"

static struct slice slice(const char *text)
{
	return (struct slice) { text, text + strlen(text) };
}

static const char *parse(const char *text, struct strace_call *ret_call)
{
	return strace_call_parse(text, text + strlen(text), ret_call);
}

static void test_values(void)
{
	static const struct {
		const char *text;
		uint64_t value;
	} values[] = {
		{ "4096", 4096 },
		{ " 0x20000 ", 0x20000 },
		{ "NULL", 0 },
		{ "-1", UINT64_MAX },
		{ "PROT_READ|PROT_WRITE", 3 },
		{ "PROT_READ|0x40 /* PROT_??? */", 0x41 },
		{ "0x3 /* PROT_READ|PROT_WRITE */", 3 },
		{ "8192*1024", 8 << 20 },
		{ "21<<MAP_HUGE_SHIFT", 21u << 26 },
		{ "MAP_HUGETLB|21<<MAP_HUGE_SHIFT|MAP_PRIVATE", (21u << 26) | 0x40002 },
		{ "RLIM64_INFINITY", UINT64_MAX },
		{ "MADV_GUARD_INSTALL", 102 },
	};
	static const char *const none[] = {
		"",	      " ",	    "PROT_WHAT", "1 2",
		"PROT_READ|", "1<<64",	    "0x",	 "18446744073709551616",
		"PROT",	      "PROT_READ2", "/* */"
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		ok(strace_value(slice(values[i].text), &value) && value == values[i].value, "%s",
		   values[i].text);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(!strace_value(slice(none[i]), &value), "no value: '%s'", none[i]);
}

static void test_names(void)
{
	static const char *const names[] = { "ADDR_COMPAT_LAYOUT", "EXDEV",	  "MAP_ANON",
					     "MAP_ANONYMOUS",	   "__O_TMPFILE", "O_RDONLY",
					     "SHM_REMAP",	   "CLONE_VM" };
	uint64_t value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(strace_symbol(names[i], strlen(names[i]), &value), "%s is known", names[i]);
	for (size_t i = 1; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (strcmp(symbols[i - 1].name, symbols[i].name) >= 0)
			ok(false, "%s stands before %s", symbols[i - 1].name, symbols[i].name);
	ok(!strace_symbol("MAP_ANONYMOUSLY", 15, &value) && !strace_symbol("MAP_ANO", 7, &value),
	   "longer and shorter ones are not");
}

static bool fd_is(const char *text, int32_t fd, const char *path)
{
	struct slice found;
	int32_t value;

	if (!strace_fd(slice(text), &value, &found) || value != fd)
		return false;
	if (!path)
		return !found.at;
	return found.at && (size_t)(found.end - found.at) == strlen(path) &&
	       !memcmp(found.at, path, strlen(path));
}

static void test_descriptors(void)
{
	ok(fd_is("-1", -1, NULL) && fd_is("0xffffffff", -1, NULL) && fd_is("3", 3, NULL),
	   "plain and raw descriptors");
	ok(fd_is("3</a b, (c)>", 3, "/a b, (c)"), "a path with a comma");
	ok(fd_is("3</dev/zero<char 1:5>>", 3, "/dev/zero<char 1:5>"), "-yy");
	ok(fd_is("3</memfd:x>(deleted)", 3, "/memfd:x"), "deleted");
	ok(fd_is("5<TCP:[127.0.0.1:1->127.0.0.1:2]>", 5, "TCP:[127.0.0.1:1->127.0.0.1:2]"),
	   "a socket");
}

static void test_calls(void)
{
	struct strace_call call;

	ok(!parse("3</a, \"b)>, [1, 2], {a=1, b=\"x,)\"}, \"y\\\", z\") = 0", &call) &&
		   call.nr_args == 4 && call.result == STRACE_RESULT_VALUE,
	   "commas inside of everything");
	ok(!parse(") = 0", &call) && !call.nr_args, "no arguments");
	ok(!parse("1, 2)     = -1 ENOMEM (Cannot allocate memory) <0.000123>", &call) &&
		   call.result == STRACE_RESULT_ERROR && call.value == -12 &&
		   call.duration_ns == 123000,
	   "an error and a duration");
	ok(!parse("1) = -1 errno=22 (Invalid argument)", &call) && call.value == -22,
	   "qemu's errno");
	ok(!parse("1) = ?", &call) && call.result == STRACE_RESULT_UNKNOWN, "no result");
	ok(!parse("1) = ? ERESTARTSYS (To be restarted)", &call) &&
		   call.result == STRACE_RESULT_NOT_MADE,
	   "to be restarted");
	ok(!parse("\"a\") = 3</a b>", &call) && call.value == 3 &&
		   call.path.end - call.path.at == 4,
	   "a descriptor returned");
	ok(!parse("1) = 0x00007f0000001000", &call) && call.value == 0x7f0000001000, "padded");
	ok(!parse("1, 2, 3, 4, 5, 6, 7, 8, 9, 10) = 0", &call) && call.nr_args == 10,
	   "more arguments than are kept");
	ok(parse("1, 2", &call) && parse("1, 2)", &call) && parse("1) = ", &call) &&
		   parse("1) = x", &call) && parse("1) = -1 EWHAT (What)", &call),
	   "what is not a call");
}

static void test_members(void)
{
	struct slice value;

	ok(strace_member(slice("{range={start=0x7f, len=0x1000}, mode=A|B}"), "len", &value) &&
		   value.end - value.at == 6,
	   "a member");
	ok(strace_member(slice("{tlen=1, len=2}"), "len", &value) && *value.at == '2',
	   "not one whose name only ends like it");
	ok(!strace_member(slice("{start=1}"), "len", &value), "none");
}

int main(void)
{
	test_values();
	test_names();
	test_descriptors();
	test_calls();
	test_members();
	return tap_done();
}
