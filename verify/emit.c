/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/emit.h"

#include <inttypes.h>
#include <string.h>

#include "verify/real.h"

static const char head[] =
	"#define _GNU_SOURCE\n"
	"#include <errno.h>\n"
	"#include <fcntl.h>\n"
	"#include <sched.h>\n"
	"#include <setjmp.h>\n"
	"#include <signal.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <sys/ioctl.h>\n"
	"#include <sys/mman.h>\n"
	"#include <sys/resource.h>\n"
	"#include <sys/shm.h>\n"
	"#include <sys/syscall.h>\n"
	"#include <sys/wait.h>\n"
	"#include <unistd.h>\n"
	"\n"
	"#ifndef SYS_mseal\n"
	"#define SYS_mseal 462\n"
	"#endif\n"
	"\n"
	"/* The result of each call, and how many have been made; all processes share them. */\n"
	"static struct { volatile int made; long result[%u]; } *all;\n"
	"static int file[15], uffd[4];\n"
	"static sigjmp_buf out;\n"
	"\n"
	"static void on_fault(int sig) { siglongjmp(out, 1); }\n"
	"\n"
	"static long sys(long nr, long a, long b, long c, long d, long e, long f)\n"
	"{\n"
	"\tlong r = syscall(nr, a, b, c, d, e, f);\n"
	"\treturn r == -1 ? -errno : r;\n"
	"}\n"
	"\n"
	"static long touch(long addr, long len, int write)\n"
	"{\n"
	"\tvolatile long at = addr & -4096;\n"
	"\tif (sigsetjmp(out, 0))\n"
	"\t\treturn -EFAULT;\n"
	"\tfor (; at < addr + len; at += 4096) {\n"
	"\t\tif (write)\n"
	"\t\t\t*(volatile char *)at = 1;\n"
	"\t\telse\n"
	"\t\t\t(void)*(volatile char *)at;\n"
	"\t}\n"
	"\treturn 0;\n"
	"}\n"
	"\n"
	"static long limit(int which, long value)\n"
	"{\n"
	"\tstruct rlimit l;\n"
	"\tgetrlimit(which, &l);\n"
	"\tl.rlim_cur = (rlim_t)value < l.rlim_max ? (rlim_t)value : l.rlim_max;\n"
	"\treturn setrlimit(which, &l) ? -errno : 0;\n"
	"}\n"
	"\n"
	"/* Takes all but nr of the areas that vm.max_map_count allows. */\n"
	"static long limit_areas(long nr)\n"
	"{\n"
	"\tFILE *f = fopen(\"/proc/sys/vm/max_map_count\", \"r\");\n"
	"\tlong max = 65530;\n"
	"\tif (f && fscanf(f, \"%%ld\", &max) != 1)\n"
	"\t\treturn -EIO;\n"
	"\tfor (long i = 0; i < max - nr; i++)\n"
	"\t\tmmap((void *)(0x1000000000 + i * 4096), 4096, i %% 2 ? PROT_READ : PROT_NONE,\n"
	"\t\t     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);\n"
	"\treturn 0;\n"
	"}\n"
	"\n"
	"static long bind(long addr, long len, long mode, unsigned long nodes, long max)\n"
	"{\n"
	"\treturn sys(SYS_mbind, addr, len, mode, max ? (long)&nodes : 0, max, 0);\n"
	"}\n"
	"\n"
	"static long watch(int nr, unsigned long request, long start, long len, long mode)\n"
	"{\n"
	"\tstruct { unsigned long api, features, ioctls; } api = { 0xaa, 1 << 7, 0 };\n"
	"\tstruct { unsigned long start, len, mode, ioctls; } range = { start, len, mode, 0 };\n"
	"\tif (!uffd[nr]) {\n"
	"\t\tuffd[nr] = syscall(SYS_userfaultfd, O_CLOEXEC | 1);\n"
	"\t\tioctl(uffd[nr], 0xc018aa3f, &api);\n"
	"\t}\n"
	"\treturn ioctl(uffd[nr], request, &range) ? -errno : 0;\n"
	"}\n"
	"\n"
	"static long name(long addr, long len, int nr)\n"
	"{\n"
	"\tchar text[24];\n"
	"\tsnprintf(text, sizeof(text), \"seam-%%x\", nr);\n"
	"\treturn sys(SYS_prctl, 0x53564d41, 0, addr, len, nr ? (long)text : 0, 0);\n"
	"}\n"
	"\n"
	"static long attach(long addr, long flags, long len)\n"
	"{\n"
	"\tint id = shmget(IPC_PRIVATE, len, 0600);\n"
	"\tvoid *p = shmat(id, (void *)addr, flags);\n"
	"\tlong r = p == (void *)-1 ? -errno : (long)p;\n"
	"\tshmctl(id, IPC_RMID, NULL);\n"
	"\treturn r;\n"
	"}\n"
	"\n"
	"static void show(void)\n"
	"{\n"
	"\tchar line[4096];\n"
	"\tFILE *f = fopen(\"/proc/self/maps\", \"r\");\n"
	"\twhile (f && fgets(line, sizeof(line), f))\n"
	"\t\tif (strstr(line, \"/memfd\") || strstr(line, \"/dev/zero\") || !strpbrk(line, "
	"\"/[\"))\n"
	"\t\t\tprintf(\"  %%s\", line);\n"
	"}\n"
	"\n"
	"/* Each process waits for its turn. */\n"
	"#define STEP(n, text, what) do { \\\n"
	"\twhile (all->made < n - 1) \\\n"
	"\t\tsched_yield(); \\\n"
	"\tall->result[n] = what; \\\n"
	"\tprintf(\"%%d: %%s = %%s%%lx\\n\", n, text, all->result[n] < 0 ? \"error -\" : \"0x\", "
	"\\\n"
	"\t       all->result[n] < 0 ? -all->result[n] : all->result[n]); \\\n"
	"\tif (n == LAST) \\\n"
	"\t\tshow(); \\\n"
	"\tfflush(stdout); \\\n"
	"\tall->made = n; \\\n"
	"} while (0)\n"
	"#define r all->result\n"
	"\n";

static const char main_head[] =
	"int main(void)\n"
	"{\n"
	"\tstruct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };\n"
	"\tstatic const int modes[12] = { [3] = O_RDWR, O_RDWR, O_RDONLY, O_RDWR, O_WRONLY, "
	"O_RDONLY, O_RDONLY, O_RDWR, O_RDWR };\n"
	"\tchar path[40];\n"
	"\n"
	"\tsigaction(SIGSEGV, &act, NULL);\n"
	"\tsigaction(SIGBUS, &act, NULL);\n"
	"\tall = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, "
	"0);\n"
	"\tfor (int i = 3; i < 12; i++) {\n"
	"\t\tint fd = memfd_create(\"script\", MFD_ALLOW_SEALING);\n"
	"\t\tif (ftruncate(fd, 1L << 40))\n"
	"\t\t\treturn 1;\n"
	"\t\tif (i >= 10)\n"
	"\t\t\tfcntl(fd, F_ADD_SEALS, i == 10 ? 0x8 : 0x10);\n"
	"\t\tsnprintf(path, sizeof(path), \"/proc/self/fd/%d\", fd);\n"
	"\t\tfile[i] = open(path, modes[i]);\n"
	"\t}\n"
	"\tfile[12] = syscall(447, 0); /* memfd_secret */\n"
	"\tif (file[12] >= 0 && ftruncate(file[12], 1L << 40))\n"
	"\t\treturn 1;\n"
	"\tfile[13] = syscall(SYS_socket, 1, 1, 0); /* cannot be mapped */\n"
	"\tfile[14] = syscall(SYS_open, \"/\", O_RDONLY);\n"
	"\tspace0();\n"
	"\twhile (wait(NULL) > 0)\n"
	"\t\t;\n"
	"\treturn 0;\n"
	"}\n";

/* An argument as C: "r[3] + 0x1000". */
static void put_arg(const struct op *op, int i, FILE *out)
{
	if (op->ref[i])
		fprintf(out, "r[%" PRIu32 "] + 0x%" PRIx64, op->ref[i], op->arg[i]);
	else
		fprintf(out, "0x%" PRIx64, op->arg[i]);
}

/* The call @name with @nr arguments from @first on. */
static void put_call(const char *name, const struct op *op, int first, int nr, FILE *out)
{
	fprintf(out, "%s(", name);
	for (int i = first; i < first + nr; i++) {
		if (i > first)
			fputs(", ", out);
		put_arg(op, i, out);
	}
	fputc(')', out);
}

static void put_mmap(const struct op *op, FILE *out)
{
	fputs("sys(SYS_mmap, ", out);
	for (int i = 0; i < 4; i++) {
		put_arg(op, i, out);
		fputs(", ", out);
	}
	if (op->arg[4] >= FIRST_FD && op->arg[4] < FIRST_FD + NR_FDS)
		fprintf(out, "file[%" PRIu64 "], ", op->arg[4]);
	else
		fputs("-1, ", out);
	fprintf(out, "0x%" PRIx64 ")", op->arg[5]);
}

static void put_rlimit(const struct op *op, FILE *out)
{
	static const char *const names[] = {
		[TRACE_RLIMIT_AS] = "RLIMIT_AS",
		[TRACE_RLIMIT_DATA] = "RLIMIT_DATA",
		[TRACE_RLIMIT_STACK] = "RLIMIT_STACK",
		[TRACE_RLIMIT_MEMLOCK] = "RLIMIT_MEMLOCK",
	};

	fprintf(out, "limit(%s, 0x%" PRIx64 ")", names[op->arg[0] % 4], op->arg[1]);
}

/* A plain system call, filled up with zeros. */
static void put_syscall(const struct op *op, FILE *out)
{
	int nr = trace_call_args(op->call);

	fprintf(out, "sys(SYS_%s", trace_call_name(op->call));
	for (int i = 0; i < OP_ARGS; i++) {
		fputs(", ", out);
		if (i < nr)
			put_arg(op, i, out);
		else
			fputc('0', out);
	}
	fputc(')', out);
}

static void put_op(const struct op *op, uint32_t *nr_spaces, FILE *out)
{
	switch (op->call) {
	case TRACE_CALL_mmap:
		put_mmap(op, out);
		break;
	case TRACE_CALL_touch:
	case TRACE_CALL_rtouch:
		fputs("touch(", out);
		put_arg(op, 0, out);
		fprintf(out, ", 0x%" PRIx64 ", %d)", op->arg[1], op->call == TRACE_CALL_touch);
		break;
	case TRACE_CALL_rlimit:
		put_rlimit(op, out);
		break;
	case TRACE_CALL_limit:
		put_call("limit_areas", op, 0, 1, out);
		break;
	case TRACE_CALL_mbind:
		put_call("bind", op, 0, 5, out);
		break;
	case TRACE_CALL_uffd_ioctl:
		put_call("watch", op, 0, 5, out);
		break;
	case TRACE_CALL_prctl:
		put_call("name", op, 2, 3, out);
		break;
	case TRACE_CALL_shmat:
		put_call("attach", op, 1, 3, out);
		break;
	case TRACE_CALL_shmdt:
		put_call("shmdt((void *)", op, 0, 1, out);
		fputc(')', out);
		break;
	case TRACE_CALL_fork:
		fprintf(out, "fork_to(space%" PRIu32 ")", (*nr_spaces)++);
		break;
	case OP_EXIT:
		fputs("0", out);
		break;
	default:
		put_syscall(op, out);
		break;
	}
}

static uint32_t count_spaces(const struct script *script)
{
	uint32_t nr = 1;

	for (uint32_t i = 0; i < script->nr; i++)
		nr += script->op[i].call == TRACE_CALL_fork;
	return nr;
}

/* The first space whose fork comes after operation @at of its parent. */
static uint32_t spaces_before(const struct script *script, uint32_t at)
{
	uint32_t nr = 1;

	for (uint32_t i = 0; i < at; i++)
		nr += script->op[i].call == TRACE_CALL_fork;
	return nr;
}

static void put_space(const struct script *script, uint32_t space, FILE *out)
{
	char text[OP_TEXT_SIZE];

	fprintf(out, "static void space%" PRIu32 "(void)\n{\n", space);
	for (uint32_t i = 0; i < script->nr; i++) {
		const struct op *op = &script->op[i];
		uint32_t next = spaces_before(script, i);

		if (op->space != space)
			continue;
		fprintf(out, "\tSTEP(%" PRIu32 ", \"%s\", ", i + 1, op_text(text, op));
		put_op(op, &next, out);
		fputs(");\n", out);
		if (op->call == OP_EXIT)
			fputs("\t_exit(0);\n", out);
	}
	fputs("}\n\n", out);
}

/* Text in a comment: no end of it inside. */
static void put_comment(const char *title, const char *text, FILE *out)
{
	fprintf(out, " * %s: ", title);
	for (; *text; text++) {
		if (*text == '\n' && text[1])
			fputs("\n *   ", out);
		else if (*text != '\n' && !(*text == '*' && text[1] == '/'))
			fputc(*text, out);
	}
	fputc('\n', out);
}

void emit_c(const struct script *script, const struct mismatch *mismatch, FILE *out)
{
	uint32_t nr_spaces = count_spaces(script);

	fputs("/*\n * Calls on which the kernel and a model of it part. Compile and run it:\n"
	      " *   cc -w -o calls calls.c && ./calls\n",
	      out);
	if (mismatch) {
		put_comment("The last call", mismatch->call, out);
		put_comment("expected", mismatch->expected, out);
		put_comment("found", mismatch->found, out);
	}
	fputs(" */\n", out);
	fprintf(out, head, script->nr + 1);
	fprintf(out, "#define LAST %" PRIu32 "\n\n", script->nr);
	for (uint32_t i = 0; i < nr_spaces; i++)
		fprintf(out, "static void space%" PRIu32 "(void);\n", i);
	fputs("\n/* A child goes on by itself; it ends when its calls have been made. */\n"
	      "static long fork_to(void (*space)(void))\n{\n"
	      "\tpid_t pid = fork();\n"
	      "\tif (!pid) {\n"
	      "\t\tspace();\n"
	      "\t\twhile (all->made < LAST)\n\t\t\tsched_yield();\n"
	      "\t\t_exit(0);\n\t}\n"
	      "\treturn pid < 0 ? -errno : 0;\n}\n\n",
	      out);
	for (uint32_t i = 0; i < nr_spaces; i++)
		put_space(script, i, out);
	fputs(main_head, out);
}
