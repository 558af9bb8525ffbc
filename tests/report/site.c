/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks by name. */
#include "findings/site.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void is(const char *stack, const char *expected)
{
	char *name = site_name(stack);

	if (!ok(name && !strcmp(name, expected), "%s", expected))
		printf("# %s\n", name ? name : "no memory");
	free(name);
}

int main(void)
{
	is(NULL, "[no stack]");
	is("", "[no stack]");
	is("/usr/lib/libc.so.6(mprotect+0xb) [0x1]\n/opt/jit(emit+0x1e) [0x2]\n"
	   "/opt/jit(compile_function+0x6) [0x3]\n/opt/jit(main+0x6) [0x4]\n",
	   "emit < compile_function (jit)");
	is("/opt/jit(emit+0x1e) [0x2]\n/usr/lib/libc.so.6(__libc_start_call_main+0x1) [0x3]\n",
	   "emit (jit)");
	is("/lib64/ld-linux-x86-64.so.2(_dl_catch_error+0x88) [0x20]\n"
	   "/lib64/ld-linux-x86-64.so.2(_dl_catch_error+0x8) [0x30]\n",
	   "ld-linux-x86-64.so.2");
	is("/usr/bin/app+0x1234\n/usr/bin/app+0x88", "+0x1234 < +0x88 (app)");
	is("/usr/bin/app() [0x1234]\n/usr/bin/app(main+0x3) [0x99]\n", "0x1234 < main (app)");
	is("0x7f00\n", "0x7f00 ()");
	is("a dir/with (brackets) and+plus", "brackets (with )");
	is("(\n)\n((((\n", "( < ) ()");
	return tap_done();
}
