/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening what the user named, and telling by its content what it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "trace/data.h"
#include "trace/maps_line.h"
#include "trace/ops.h"
#include "trace/paste.h"
#include "trace/scan.h"
#include "trace/source.h"
#include "trace/strace_line.h"

/* Larger files are mapped rather than read: they must then not be cut while they are used. */
#define READ_MAX ((size_t)256 << 20)
/* Where an input without an end is given up. */
#define STREAM_MAX ((size_t)1 << 30)
/* How much of a text is looked at once something is known of it, and how much if nothing is. */
#define ENOUGH_LINES 2000
#define ENOUGH_BYTES ((size_t)8 << 20)

static const char *const kind_names[SOURCE_NR_KINDS] = {
	[SOURCE_UNKNOWN] = "of no kind that is known",
	[SOURCE_MAPS] = "maps text",
	[SOURCE_SMAPS] = "smaps text",
	[SOURCE_NUMA_MAPS] = "numa_maps text",
	[SOURCE_DATA] = "a seam.data recording",
	[SOURCE_LIVE] = "a recorder at work",
	[SOURCE_STRACE] = "an strace log",
	[SOURCE_OPS] = "an operation script",
	[SOURCE_MAIL] = "a text with excerpts",
	[SOURCE_CORE] = "a core file",
	[SOURCE_ELF] = "an ELF file, but no core file",
	[SOURCE_HS_ERR] = "a JVM error log (hs_err)",
	[SOURCE_PERF_TRACE] = "perf trace output",
	[SOURCE_PERF_SCRIPT] = "perf script output",
	[SOURCE_BPFTRACE] = "bpftrace output",
	[SOURCE_GDB_MAPPINGS] = "gdb's info proc mappings",
	[SOURCE_PMAP] = "pmap output",
	[SOURCE_ASAN] = "a sanitizer's process map",
	[SOURCE_VALGRIND] = "Valgrind's output",
	[SOURCE_BSD_MAP] = "a FreeBSD process map",
	[SOURCE_VMMAP] = "macOS vmmap output",
	[SOURCE_PROCSTAT] = "FreeBSD procstat output",
	[SOURCE_KDUMP] = "FreeBSD kdump output",
	[SOURCE_STRACE_COUNTS] = "the table of strace -c",
	[SOURCE_COMPRESSED] = "a compressed file",
	[SOURCE_UTF16] = "text in UTF-16",
};

const char *source_kind_name(enum source_kind kind)
{
	return kind_names[kind];
}

/* What a text is made of, by lines. */
struct tally {
	uint64_t maps, keys, numa, strace, ops, elisions, other, lines;
	uint64_t first_other;	  /* line number */
	enum source_kind foreign; /* told by a mark of its own */
	uint64_t foreign_line;
	bool headers, quoted, table;
	bool half, wrapped; /* the last line of strace may go on; one did, in a line of its own */
	bool first_seen, prose_first;
};

/* A mark that only one foreign format has: at the line's beginning, or anywhere in it. */
static const struct {
	enum source_kind kind;
	bool anywhere;
	const char *text;
} marks[] = {
	{ SOURCE_HS_ERR, false, "# A fatal error has been detected by the Java Runtime" },
	{ SOURCE_HS_ERR, false, "# There is insufficient memory for the Java Runtime" },
	{ SOURCE_ASAN, true, "Process memory map follows:" },
	{ SOURCE_VALGRIND, true, ": aspacem " },
	{ SOURCE_VALGRIND, true, ":aspacem " },
	{ SOURCE_VALGRIND, false, "SYSCALL[" },
	{ SOURCE_VMMAP, true, "SM=COW" },
	{ SOURCE_VMMAP, true, "SM=PRV" },
	{ SOURCE_BSD_MAP, true, " COW NC " },
	{ SOURCE_BSD_MAP, true, " NCOW NNC " },
	{ SOURCE_BPFTRACE, false, "Attaching " },
	{ SOURCE_BPFTRACE, false, "Attached " },
	{ SOURCE_BPFTRACE, false, "@" },
	{ SOURCE_GDB_MAPPINGS, true, "Mapped address spaces:" },
	{ SOURCE_GDB_MAPPINGS, true, "Start Addr " },
	{ SOURCE_PMAP, false, "Address           Kbytes" },
	{ SOURCE_PMAP, false, "Address   Kbytes" },
	{ SOURCE_PMAP, true, "Address Perm   Offset" },
	{ SOURCE_VMMAP, true, "==== Non-writable regions for process" },
	{ SOURCE_VMMAP, false, "REGION TYPE  " },
	{ SOURCE_PROCSTAT, true, " START                END PRT " },
	{ SOURCE_PERF_SCRIPT, true, " syscalls:sys_enter_" },
	{ SOURCE_PERF_SCRIPT, true, " syscalls:sys_exit_" },
	{ SOURCE_PERF_SCRIPT, true, ": sys_enter_mmap: " },
	{ SOURCE_PERF_SCRIPT, true, ": sys_enter: NR " },
	{ SOURCE_KDUMP, true, " CALL  " },
	{ SOURCE_KDUMP, true, " RET   " },
};

/* "     0.995 ( 0.031 ms): comm/123 mmap(" */
static bool perf_trace_line(const char *at, const char *end)
{
	uint64_t value;
	const char *close;

	scan_blanks(&at, end);
	if (!scan_decimal(&at, end, &value) || !scan_char(&at, end, '.') ||
	    !scan_decimal(&at, end, &value) || !scan_text(&at, end, " ("))
		return false;
	close = memchr(at, ')', (size_t)(end - at));
	return close && end - close > 2 && close[1] == ':' && close[2] == ' ';
}

/* "00007f35e698b000     516 ..." or "...  516K rw---   [ anon ]" */
static bool pmap_line(const char *at, const char *end)
{
	uint64_t value;
	unsigned int digits;

	at = unquote(at, end, NULL);
	digits = scan_hex(&at, end, &value);
	if ((digits != 16 && digits != 8) || at == end || !is_blank(*at))
		return false;
	scan_blanks(&at, end);
	if (!scan_decimal(&at, end, &value))
		return false;
	while (at < end && (is_blank(*at) || is_digit(*at) || *at == 'K'))
		at++;
	return end - at >= 5 && (at[0] == 'r' || at[0] == '-') && (at[1] == 'w' || at[1] == '-') &&
	       (at[2] == 'x' || at[2] == '-');
}

static enum source_kind foreign_mark(const char *at, const char *end)
{
	size_t len = (size_t)(end - at);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t mark = strlen(marks[i].text);

		if (marks[i].anywhere ? find_text(at, end, marks[i].text) != NULL
				      : len >= mark && !memcmp(at, marks[i].text, mark))
			return marks[i].kind;
	}
	if (perf_trace_line(at, end))
		return SOURCE_PERF_TRACE;
	return pmap_line(at, end) ? SOURCE_PMAP : SOURCE_UNKNOWN;
}

static bool header_line(const char *at, const char *end)
{
	static const char *const headers[] = { "From:", "To:",	       "Subject:",
					       "Date:", "Message-Id:", "Message-ID:",
					       "From ", "Cc:",	       "In-Reply-To:" };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		const char *p = at;

		if (scan_text(&p, end, headers[i]))
			return true;
	}
	return false;
}

static void look_for_mark(struct tally *tally, const char *at, const char *end)
{
	if (tally->foreign != SOURCE_UNKNOWN)
		return;
	tally->foreign = foreign_mark(at, end);
	tally->foreign_line = tally->lines;
}

static void count_other(struct tally *tally, const char *at, const char *end)
{
	if (!tally->other++)
		tally->first_other = tally->lines;
	if (header_line(at, end))
		tally->headers = true;
	look_for_mark(tally, at, end);
	if (!tally->first_seen)
		tally->prose_first = true;
	tally->wrapped |= tally->half;
}

/* " > file(symbol+0x1) [0x2]" below a call: not a quoted line. */
static bool stack_line(const struct tally *tally, const char *at, const char *end)
{
	struct strace_line line;

	if (!tally->strace)
		return false;
	strace_line_parse(at, end, &line);
	return line.kind == STRACE_LINE_STACK;
}

/* Counts one line that is neither of maps nor blank. */
static void count_text(struct tally *tally, const char *at, const char *end)
{
	struct strace_line line;
	enum strace_looks looks;
	char decoded[1024];

	/* out of HTML; a program's own strings may hold entities, strace's words do not */
	if ((size_t)(end - at) <= sizeof(decoded) && memchr(at, '&', (size_t)(end - at))) {
		tally->quoted |= find_text(at, end, "&lt;unfinished") != NULL ||
				 find_text(at, end, "&lt;... ") != NULL;
		memcpy(decoded, at, (size_t)(end - at));
		end = decoded + decode_entities(decoded, (size_t)(end - at));
		at = decoded;
	}
	strace_line_parse(at, end, &line);
	looks = strace_line_looks(at, end);
	if (line.kind == STRACE_LINE_TABLE)
		tally->table = true;
	else if (looks)
		tally->strace++;
	else if (ops_line_looks(at, end))
		tally->ops++;
	else if (*at != '#' || tally->strace || tally->maps)
		count_other(tally, at, end);
	else
		look_for_mark(tally, at, end);
	/* at a blank, thus behind one of these; else a program's own output has torn it */
	tally->half = looks == STRACE_LOOKS_HALF && strchr(",)=", end[-1]) != NULL;
}

/* Counts one line. Quote marks hide nothing. */
static void count_line(struct tally *tally, const char *at, const char *end)
{
	struct maps_line maps;
	bool quoted;
	const char *inner = unquote(at, end, &quoted);

	tally->lines++;
	trim_markup(inner, &end);
	if (inner == end)
		return;
	if (stack_line(tally, at, end)) {
		tally->strace++;
		return;
	}
	switch (maps_line_parse(inner, end, &maps, NULL)) {
	case MAPS_LINE_AREA:
		tally->maps++;
		break;
	case MAPS_LINE_KEY:
		tally->keys++;
		break;
	case MAPS_LINE_NUMA:
		tally->numa++;
		break;
	case MAPS_LINE_ELISION:
		tally->elisions++;
		break;
	default:
		count_text(tally, inner, end);
	}
	tally->quoted |= quoted;
	tally->first_seen |= *inner != '#';
}

/* The kind of a text, from what it is made of. */
static enum source_kind judge(const struct tally *tally)
{
	bool prose = tally->headers || tally->prose_first;

	/* it quotes maps, among much else */
	if (tally->foreign == SOURCE_HS_ERR && !tally->headers && !tally->quoted)
		return SOURCE_HS_ERR;
	if (tally->ops && !tally->strace && !tally->maps && tally->other <= tally->ops)
		return SOURCE_OPS;
	if (tally->foreign != SOURCE_UNKNOWN && !tally->strace && !tally->maps)
		return tally->foreign;
	if (tally->strace) {
		if (prose || tally->quoted || tally->wrapped || tally->elisions || tally->maps ||
		    tally->other > tally->strace)
			return SOURCE_MAIL;
		return SOURCE_STRACE;
	}
	if (tally->maps) {
		if (prose || tally->other > tally->maps + tally->keys)
			return SOURCE_MAIL;
		return tally->keys ? SOURCE_SMAPS : SOURCE_MAPS;
	}
	if (tally->numa && !prose)
		return SOURCE_NUMA_MAPS;
	return tally->table ? SOURCE_STRACE_COUNTS : SOURCE_UNKNOWN;
}

static void recognise_text(struct source *source)
{
	struct tally tally = { 0 };
	const char *at = source->data, *end = at + source->size;

	while (at < end) {
		const char *stop = line_end(at, end);
		uint64_t known = tally.strace + tally.maps + tally.ops + tally.numa;

		if ((known && tally.lines >= ENOUGH_LINES && !tally.prose_first) ||
		    (size_t)(at - source->data) > ENOUGH_BYTES)
			break;
		count_line(&tally, at, stop);
		at = stop + 1;
	}
	source->kind = judge(&tally);
	if (source->kind == tally.foreign)
		source->line = tally.foreign_line;
	if (source->kind == SOURCE_UNKNOWN)
		source->line = tally.first_other ? tally.first_other : 1;
}

static bool is_text_byte(unsigned char byte)
{
	return byte >= ' ' || (byte >= '\t' && byte <= '\r') || byte == '\033';
}

bool source_find_zero(const char *data, size_t size, uint64_t *ret_line, size_t *ret_byte)
{
	const char *zero = size ? memchr(data, 0, size) : NULL, *start = data;
	uint64_t line = 1;

	if (!zero || zero == data)
		return false;
	for (const char *at = data; at < zero; at++) {
		if (!is_text_byte((unsigned char)*at))
			return false;
		if (*at == '\n') {
			line++;
			start = at + 1;
		}
	}
	*ret_line = line;
	*ret_byte = (size_t)(zero - start) + 1;
	return true;
}

static bool is_binary(const struct source *source)
{
	size_t head = source->size < 4096 ? source->size : 4096;

	return memchr(source->data, 0, head) != NULL;
}

/* What has a zero byte is no text; which one that is in what begins as a text. */
static void refuse_binary(struct source *source)
{
	if (!source_find_zero(source->data, source->size, &source->line, &source->zero_byte))
		source->line = 1;
}

static bool has_magic(const struct source *source, const char *magic)
{
	const char *at = source->data;

	return scan_text(&at, at + source->size, magic);
}

static bool is_elf(const struct source *source)
{
	return has_magic(source, "\177ELF");
}

static bool is_core(const struct source *source)
{
	const unsigned char *p = (const unsigned char *)source->data;

	if (!is_elf(source) || source->size < 20)
		return false;
	/* e_type is ET_CORE, in the file's own byte order (e_ident[EI_DATA]) */
	return p[5] == 2 ? p[16] == 0 && p[17] == 4 : p[16] == 4 && p[17] == 0;
}

static bool is_compressed(const struct source *source)
{
	static const char *const magics[] = {
		"\037\213\b", /* gzip */
		"\375"
		"7zXZ",	       /* xz */
		"(\265/\375",  /* zstd */
		"BZh91AY&SY",  /* bzip2 */
		"PK\003\004",  /* zip */
		"\004\"M\030", /* lz4 */
	};

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (has_magic(source, magics[i]))
			return true;
	return false;
}

static bool is_utf16(const struct source *source)
{
	return has_magic(source, "\377\376") || has_magic(source, "\376\377");
}

/* Of UTF-8; else the first line would be none of what it is. */
static void skip_byte_order_mark(struct source *source)
{
	if (!has_magic(source, "\357\273\277"))
		return;
	source->skipped = 3;
	source->data += source->skipped;
	source->size -= source->skipped;
}

static void recognise(struct source *source)
{
	source->kind = SOURCE_UNKNOWN;
	source->line = source->zero_byte = 0;
	skip_byte_order_mark(source);
	if (!source->size)
		return;
	if (has_magic(source, DATA_MAGIC))
		source->kind = SOURCE_DATA;
	else if (is_core(source))
		source->kind = SOURCE_CORE;
	else if (is_elf(source))
		source->kind = SOURCE_ELF;
	else if (is_compressed(source))
		source->kind = SOURCE_COMPRESSED;
	else if (is_utf16(source))
		source->kind = SOURCE_UTF16;
	else if (is_binary(source))
		refuse_binary(source);
	else
		recognise_text(source);
}

/* A mail whose head says so is taken out of its encoding. */
static void decode_mail(char *data, size_t *size)
{
	static const char header[] = "\nContent-Transfer-Encoding: quoted-printable";
	size_t head = *size < 65536 ? *size : 65536;
	const char *at = data, *end = data + head;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		if ((size_t)(end - at) >= sizeof(header) - 1 &&
		    !strncasecmp(at, header, sizeof(header) - 1)) {
			*size = decode_quoted_printable(data, *size);
			return;
		}
		at++;
	}
}

/* Is what has come of an input already of no kind that we know? Then its end need not be awaited. */
static bool is_hopeless(const char *data, size_t size)
{
	struct source begin;

	source_from_buffer("", data, size, &begin);
	return begin.kind == SOURCE_UNKNOWN;
}

/* More room for what has been read so far. */
static int grow_input(char **data, size_t *room)
{
	char *more;

	if (*room >= STREAM_MAX)
		return -EFBIG;
	more = realloc(*data, *room * 2);
	if (!more)
		return -ENOMEM;
	*data = more;
	*room *= 2;
	return 0;
}

/* Reads to the end. The size is only a guess: files of /proc have none, others grow. */
static int read_all(int fd, size_t guess, struct source *source)
{
	size_t room = guess + 4096, size = 0;
	bool looked = false;
	char *data = malloc(room);
	ssize_t n = 1;
	int err = data ? 0 : -ENOMEM;

	while (!err && n) {
		if (size == room)
			err = grow_input(&data, &room);
		if (err)
			break;
		n = read(fd, data + size, room - size);
		if (n < 0 && errno != EINTR)
			err = -errno;
		size += n > 0 ? (size_t)n : 0;
		if (!looked && size > ENOUGH_BYTES) {
			looked = true;
			if (is_hopeless(data, size))
				break;
		}
	}
	if (err) {
		free(data);
		return err;
	}
	decode_mail(data, &size);
	source->data = data;
	source->size = size;
	return 0;
}

static int map_all(int fd, size_t size, struct source *source)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	madvise(p, size, MADV_SEQUENTIAL);
	source->data = p;
	source->size = size;
	source->mapped = true;
	return 0;
}

/* Directories and devices without an end are no input; a terminal and /dev/null are. */
static int check_kind(int fd, const struct stat *st)
{
	if (S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (S_ISCHR(st->st_mode) && (isatty(fd) || st->st_rdev == makedev(1, 3)))
		return 0;
	return -EOPNOTSUPP;
}

static int take_all(int fd, struct source *source)
{
	struct stat st;
	size_t size;
	int r;

	if (fstat(fd, &st))
		return -errno;
	r = check_kind(fd, &st);
	if (r)
		return r;
	size = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
	if (size > READ_MAX && lseek(fd, 0, SEEK_CUR) == 0)
		return map_all(fd, size, source);
	return read_all(fd, size, source);
}

int source_open(const char *path, struct source *ret_source)
{
	struct source source = { .name = path };
	bool from_stdin = !strcmp(path, "-");
	int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int r;

	if (fd < 0)
		return -errno;
	r = take_all(fd, &source);
	if (!from_stdin)
		close(fd);
	if (r)
		return r;
	recognise(&source);
	*ret_source = source;
	return 0;
}

void source_from_buffer(const char *name, const void *data, size_t size, struct source *ret_source)
{
	*ret_source =
		(struct source) { .name = name, .data = data, .size = size, .borrowed = true };
	recognise(ret_source);
}

const char *source_error(int err)
{
	if (err == -EFBIG)
		return "more than 1 GiB and no end in sight: what is larger must be in a file";
	return strerror(-err);
}

void source_close(struct source *source)
{
	char *data = (char *)source->data - source->skipped;

	if (source->mapped)
		munmap(data, source->size + source->skipped);
	else if (!source->borrowed)
		free(data);
	*source = (struct source) { 0 };
}
