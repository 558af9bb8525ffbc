/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program lays the pair between two holes, so that nothing else can join it:
 *	hole | left | right | hole
 * What fork left behind comes first, then the fork, then the rest in the child. Memory that was
 * touched apart differs in one flag while it is touched.
 */
#include "face/why_c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "findings/causes.h"

#define PAGE_SHIFT 12
/* Larger areas are made this large: their size keeps nothing apart. */
#define MAX_BYTES (UINT64_C(64) << 20)

struct side {
	const struct snapshot_area *seen;
	struct seam_area area; /* as seen */
	const char *at;	       /* where it is, in C */
	const char *len;
	uint64_t bytes;
	bool touched, inherited, moved, has_file;
	int fd; /* number of its descriptor in the program */
};

struct program {
	const struct findings *findings;
	size_t left;
	uint32_t causes;
	struct side side[2];
	bool whole; /* both from one mapping, split later: they share an anon_vma */
	FILE *out;
};

static bool needs_touch(const struct side *side)
{
	uint64_t flags = side->area.flags;

	if (flags & SEAM_VM_MAYSHARE)
		return false;
	if (side->area.anon_vma || side->seen->anonymous_bytes)
		return true;
	/* Accounting outlives the right to write only where memory was written. */
	return !side->has_file && flags & SEAM_VM_ACCOUNT && !(flags & SEAM_VM_WRITE);
}

static struct side make_side(const struct findings *findings, size_t index, bool right)
{
	const struct snapshot_area *seen = &findings->snapshot->areas[index];
	struct side side = {
		.seen = seen,
		.area = area_as_seen(findings->snapshot, index),
		.at = right ? "p + left" : "p",
		.len = right ? "right" : "left",
		.bytes = seen->area.end - seen->area.start,
		.has_file = seen->area.file || seen->inode,
	};

	if (side.bytes > MAX_BYTES)
		side.bytes = MAX_BYTES;
	side.touched = needs_touch(&side);
	side.inherited = side.area.anon_chain > 1;
	side.moved = !side.has_file && side.area.pgoff != side.area.start >> PAGE_SHIFT;
	return side;
}

static bool is_one_inode(const struct side *side)
{
	return side[0].seen->inode == side[1].seen->inode &&
	       side[0].seen->dev_major == side[1].seen->dev_major &&
	       side[0].seen->dev_minor == side[1].seen->dev_minor;
}

static struct program make_program(const struct findings *findings, size_t left, FILE *out)
{
	struct program program = {
		.findings = findings,
		.left = left,
		.causes = findings->pair[left],
		.side = { make_side(findings, left, false), make_side(findings, left + 1, true) },
		.out = out,
	};
	struct side *side = program.side;

	program.whole = side[0].area.anon_vma && side[0].area.anon_vma == side[1].area.anon_vma &&
			side[0].area.file == side[1].area.file && !side[0].moved &&
			!side[1].moved && !(program.causes & SEAM_CAUSE(offset));
	side[1].fd = !side[0].has_file || side[0].area.file == side[1].area.file ? side[0].fd : 1;
	return program;
}

const char *why_c_reason(const struct findings *findings, size_t left)
{
	const struct snapshot_area *area = &findings->snapshot->areas[left];
	uint64_t flags = area[0].area.flags | area[1].area.flags;

	if (flags & SEAM_VM_SPECIAL)
		return "only the kernel or a driver makes such mappings";
	if (flags & SEAM_VM_GROWSDOWN)
		return "the stack of exec is made by the kernel";
	if (flags & SEAM_VM_HUGETLB)
		return "hugetlb pages must be reserved by the administrator first";
	if (findings->pair[left] & (SEAM_CAUSE(untried) | SEAM_CAUSE(unseen)))
		return "what is made equal joins; only a split that failed half-way stays so";
	if (findings->pair[left] & SEAM_CAUSE(rule))
		return "the kernel that keeps such a pair apart is not this one";
	if (findings->pair[left] & SEAM_CAUSE(close))
		return "it takes the driver that forbids joining";
	return NULL;
}

static const char *prot_text(uint64_t flags)
{
	static const char *const texts[] = {
		"PROT_NONE",
		"PROT_READ",
		"PROT_WRITE",
		"PROT_READ | PROT_WRITE",
		"PROT_EXEC",
		"PROT_READ | PROT_EXEC",
		"PROT_WRITE | PROT_EXEC",
		"PROT_READ | PROT_WRITE | PROT_EXEC",
	};

	return texts[flags & SEAM_VM_RWX];
}

static void write_headers(const struct program *program)
{
	const uint64_t uffd = SEAM_VM_UFFD_MISSING | SEAM_VM_UFFD_WP | SEAM_VM_UFFD_MINOR;
	const struct side *side = program->side;
	uint64_t flags = side[0].area.flags | side[1].area.flags;
	const struct {
		bool wanted;
		const char *name;
	} headers[] = {
		{ side[0].has_file || side[1].has_file, "fcntl.h" },
		{ flags & uffd, "linux/userfaultfd.h" },
		{ true, "stdio.h" },
		{ flags & uffd, "sys/ioctl.h" },
		{ true, "sys/mman.h" },
		{ side[0].area.name || side[1].area.name, "sys/prctl.h" },
		{ flags & (uffd | SEAM_VM_SEALED) || side[0].area.numa || side[1].area.numa,
		  "sys/syscall.h" },
		{ side[0].inherited || side[1].inherited, "sys/wait.h" },
		{ true, "unistd.h" },
	};

	fputs("#define _GNU_SOURCE\n", program->out);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i].wanted)
			fprintf(program->out, "#include <%s>\n", headers[i].name);
	fputc('\n', program->out);
}

/* The files: one descriptor, two of one file, or two files. */
static void write_files(const struct program *program)
{
	const struct side *side = program->side;
	bool first = side[0].has_file, second = side[1].has_file && (!first || side[1].fd);

	if (first) {
		fputs("\tint fd0 = memfd_create(\"left\", 0);\n", program->out);
		fprintf(program->out, "\tftruncate(fd0, %" PRIu64 ");\n",
			((side[0].area.pgoff + side[1].area.pgoff) << PAGE_SHIFT) + side[0].bytes +
				side[1].bytes);
	}
	if (!second)
		return;
	if (first && is_one_inode(side)) {
		fputs("\tint fd1 = open(\"/proc/self/fd/3\", O_RDWR);\n", program->out);
		return;
	}
	fprintf(program->out, "\tint fd%d = memfd_create(\"right\", 0);\n", side[1].fd);
	fprintf(program->out, "\tftruncate(fd%d, %" PRIu64 ");\n", side[1].fd,
		(side[1].area.pgoff << PAGE_SHIFT) + side[1].bytes);
}

/* What the mapping is born with: to be touched it must be writable for a while. */
static uint64_t birth_prot(const struct side *side)
{
	return side->touched ? SEAM_VM_READ | SEAM_VM_WRITE : side->area.flags & SEAM_VM_RWX;
}

static void write_mmap(const struct program *program, const struct side *side, const char *at,
		       const char *len)
{
	FILE *out = program->out;

	fprintf(out, "\tmmap(%s, %s, %s,\n\t     %s | MAP_FIXED%s%s%s, ", at, len,
		prot_text(birth_prot(side)),
		side->area.flags & SEAM_VM_MAYSHARE ? "MAP_SHARED" : "MAP_PRIVATE",
		side->has_file ? "" : " | MAP_ANONYMOUS",
		side->area.flags & SEAM_VM_NORESERVE ? " | MAP_NORESERVE" : "",
		side->area.flags & SEAM_VM_DROPPABLE ? " | 0x8 /* MAP_DROPPABLE */" : "");
	if (side->has_file)
		fprintf(out, "fd%d, %" PRIu64 ");\n", side->fd, side->area.pgoff << PAGE_SHIFT);
	else
		fputs("-1, 0);\n", out);
}

static void write_touch(const struct program *program, const struct side *side)
{
	if (side->touched)
		fprintf(program->out, "\t*(%s) = 1;\n", side->at);
}

static void write_flags(const struct program *program, const struct side *side)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} advices[] = {
		{ SEAM_VM_DONTDUMP, "MADV_DONTDUMP" },
		{ SEAM_VM_DONTCOPY, "MADV_DONTFORK" },
		{ SEAM_VM_WIPEONFORK, "MADV_WIPEONFORK" },
		{ SEAM_VM_MERGEABLE, "MADV_MERGEABLE" },
		{ SEAM_VM_HUGEPAGE, "MADV_HUGEPAGE" },
		{ SEAM_VM_NOHUGEPAGE, "MADV_NOHUGEPAGE" },
		{ SEAM_VM_SEQ_READ, "MADV_SEQUENTIAL" },
		{ SEAM_VM_RAND_READ, "MADV_RANDOM" },
	};
	uint64_t flags = side->area.flags;
	FILE *out = program->out;

	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (flags & advices[i].bit && !(flags & SEAM_VM_DROPPABLE))
			fprintf(out, "\tmadvise(%s, %s, %s);\n", side->at, side->len,
				advices[i].name);
	if (flags & SEAM_VM_LOCKED)
		fprintf(out, "\tmlock2(%s, %s, %s);\n", side->at, side->len,
			flags & SEAM_VM_LOCKONFAULT ? "MLOCK_ONFAULT" : "0");
	if (side->area.numa)
		fprintf(out,
			"\tunsigned long node_%s = 1; /* MPOL_PREFERRED, node 0 */\n"
			"\tsyscall(SYS_mbind, %s, %s, 1, &node_%s, 64, 0);\n",
			side->len, side->at, side->len, side->len);
	if (side->area.name)
		fprintf(out, "\tprctl(0x53564d41, 0, %s, %s, \"%s\"); /* PR_SET_VMA */\n", side->at,
			side->len, side->len);
}

/* Registration comes before protection: an area that may not be written is refused. */
static void write_uffd(const struct program *program, const struct side *side)
{
	uint64_t flags = side->area.flags;
	uint64_t mode = (flags & SEAM_VM_UFFD_MISSING ? UINT64_C(1) : 0) |
			(flags & SEAM_VM_UFFD_WP ? UINT64_C(2) : 0) |
			(flags & SEAM_VM_UFFD_MINOR ? UINT64_C(4) : 0);

	if (!mode)
		return;
	fprintf(program->out,
		"\tint uffd_%s = syscall(SYS_userfaultfd, 1 /* user mode only */);\n"
		"\tioctl(uffd_%s, UFFDIO_API, &(struct uffdio_api){ .api = UFFD_API });\n"
		"\tioctl(uffd_%s, UFFDIO_REGISTER, &(struct uffdio_register){\n"
		"\t\t.range = { (unsigned long)(%s), %s }, .mode = %" PRIu64 " });\n",
		side->len, side->len, side->len, side->at, side->len, mode);
}

static void write_protection(const struct program *program, const struct side *side)
{
	uint64_t flags = side->area.flags, born = birth_prot(side);
	unsigned int key = (unsigned int)((flags & SEAM_VM_PKEY) >> SEAM_VM_PKEY_SHIFT);

	if (key)
		fprintf(program->out, "\tpkey_mprotect(%s, %s, %s, pkey_alloc(0, 0));\n", side->at,
			side->len, prot_text(flags));
	else if (born != (flags & SEAM_VM_RWX))
		fprintf(program->out, "\tmprotect(%s, %s, %s);\n", side->at, side->len,
			prot_text(flags));
	if (flags & SEAM_VM_SEALED)
		fprintf(program->out, "\tsyscall(462 /* mseal */, %s, %s, 0);\n", side->at,
			side->len);
}

/* Memory that was moved is numbered as at its old place. */
static void write_moved(const struct program *program, const struct side *side)
{
	fprintf(program->out,
		"\tchar *old_%s = mmap(NULL, %s, %s, MAP_PRIVATE | MAP_ANONYMOUS%s, -1, 0);\n"
		"\t*old_%s = 1;\n"
		"\tmremap(old_%s, %s, %s, MREMAP_MAYMOVE | MREMAP_FIXED, %s);\n",
		side->len, side->len, "PROT_READ | PROT_WRITE",
		side->area.flags & SEAM_VM_NORESERVE ? " | MAP_NORESERVE" : "", side->len,
		side->len, side->len, side->len, side->at);
}

static void write_birth(const struct program *program, const struct side *side)
{
	if (side->moved) {
		write_moved(program, side);
	} else if (!program->whole) {
		write_mmap(program, side, side->at, side->len);
		write_touch(program, side);
	}
}

static void write_rest(const struct program *program, const struct side *side)
{
	write_uffd(program, side);
	write_flags(program, side);
	write_protection(program, side);
}

/*
 * Two neighbours that would join, or share an anon_vma, when the second is made: the right one is
 * made first and has a flag more until the left one has been touched.
 */
static void write_apart(const struct program *program)
{
	const struct side *left = &program->side[0], *right = &program->side[1];
	bool dump = (left->area.flags | right->area.flags) & SEAM_VM_DONTDUMP;

	write_mmap(program, right, right->at, right->len);
	fprintf(program->out, "\tmadvise(%s, %s, %s);\n", right->at, right->len,
		dump ? "MADV_DONTFORK" : "MADV_DONTDUMP");
	write_touch(program, right);
	write_birth(program, left);
	fprintf(program->out, "\tmadvise(%s, %s, %s);\n", right->at, right->len,
		dump ? "MADV_DOFORK" : "MADV_DODUMP");
	write_rest(program, left);
	write_rest(program, right);
}

/* Sides with (or without) memory of a parent. */
static void write_sides(const struct program *program, bool inherited)
{
	const struct side *side = program->side;

	if (side[0].inherited == inherited && side[1].inherited == inherited && side[0].touched &&
	    side[1].touched && !program->whole && !side[0].moved && !side[1].moved) {
		write_apart(program);
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (side[i].inherited != inherited)
			continue;
		write_birth(program, &side[i]);
		write_rest(program, &side[i]);
	}
}

static void write_body(const struct program *program)
{
	const struct side *side = program->side;

	if (program->whole) {
		write_mmap(program, &side[0], "p", "left + right");
		fputs("\t*p = 1;\n", program->out);
	}
	if (side[0].inherited || side[1].inherited) {
		write_sides(program, true);
		fputs("\tif (fork())\n\t\treturn wait(NULL) < 0;\n", program->out);
	}
	write_sides(program, false);
}

int why_c(const struct findings *findings, size_t left, FILE *out)
{
	struct program program;
	char text[CAUSES_TEXT_SIZE];

	if (why_c_reason(findings, left))
		return -EOPNOTSUPP;
	program = make_program(findings, left, out);
	fprintf(out, "/* Two neighbours kept apart by: %s. */\n",
		causes_text(text, program.causes));
	write_headers(&program);
	fprintf(out,
		"int main(void)\n{\n\tsize_t left = %" PRIu64 ", right = %" PRIu64
		", page = 4096;\n",
		program.side[0].bytes, program.side[1].bytes);
	write_files(&program);
	fputs("\tchar *p = mmap(NULL, left + right + 2 * page, PROT_NONE,\n"
	      "\t\t       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);\n\n"
	      "\tmunmap(p, left + right + 2 * page);\n\tp += page;\n",
	      out);
	write_body(&program);
	fputs("\tprintf(\"READY %d %p\\n\", getpid(), p + left);\n"
	      "\tfflush(stdout);\n\tgetchar();\n\treturn 0;\n}\n",
	      out);
	return 0;
}
