/* SPDX-License-Identifier: BSD-2-Clause */
/* The side of the host: an initial file system of this program, QEMU, the serial line. */
#include "verify/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/scan.h"

#define MAX_PATHS 128
#define TAIL_LINES 3
#define LINE_SIZE 4096
#define NOT_FOUND 127
#define COMMAND_LINE_SIZE 1800 /* x86 kernels take 2048 bytes */
/*
 * Processes at the limit of areas show as much with few, and a kernel that shows areas as text only
 * (up to 6.10) takes 50 ms under emulation for 65,530.
 */
#define FEW_AREAS "sysctl.vm.max_map_count=2000"

/* An archive in the form that kernels unpack (cpio "newc"). */
struct archive {
	FILE *file;
	uint32_t inode;
	char *made[MAX_PATHS]; /* folders */
	unsigned int nr_made;
	bool failed;
};

static void pad(struct archive *archive, size_t size)
{
	static const char zeros[4];

	fwrite(zeros, 1, -size & 3, archive->file);
}

static void put_header(struct archive *archive, const char *name, uint32_t mode, uint32_t size)
{
	size_t name_size = strlen(name) + 1;

	fprintf(archive->file, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		++archive->inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, (uint32_t)name_size, 0);
	fwrite(name, 1, name_size, archive->file);
	pad(archive, 110 + name_size);
}

/* The folders above @path. */
static void put_folders(struct archive *archive, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *folder = strndup(path, (size_t)(slash - path));
		bool there = false;

		for (unsigned int i = 0; folder && i < archive->nr_made; i++)
			there |= !strcmp(archive->made[i], folder);
		if (!folder || there || archive->nr_made == MAX_PATHS) {
			archive->failed |= !there;
			free(folder);
			continue;
		}
		archive->made[archive->nr_made++] = folder;
		put_header(archive, folder, S_IFDIR | 0755, 0);
	}
}

/* A file of the host as /@name. */
static int put_file(struct archive *archive, const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char buf[65536];
	struct stat stat;
	size_t n;

	if (!file || fstat(fileno(file), &stat)) {
		int err = -errno;

		if (file)
			fclose(file);
		return err;
	}
	put_folders(archive, name);
	put_header(archive, name, S_IFREG | 0755, (uint32_t)stat.st_size);
	while ((n = fread(buf, 1, sizeof(buf), file)) > 0)
		fwrite(buf, 1, n, archive->file);
	pad(archive, (size_t)stat.st_size);
	fclose(file);
	return 0;
}

/* The libraries that this program runs with; none when it is static. */
static int put_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct archive *archive = ctx;

	/* the program itself has no name here, the kernel's own part no path */
	if (info->dlpi_name && info->dlpi_name[0] == '/' &&
	    put_file(archive, info->dlpi_name, info->dlpi_name + 1))
		archive->failed = true;
	return 0;
}

static int fail(char *ret_error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int fail(char *ret_error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret_error, GUEST_ERROR_SIZE, format, args);
	va_end(args);
	return err;
}

static int write_archive(const struct guest *guest, FILE *file, char *ret_error)
{
	struct archive archive = { .file = file };
	int err = put_file(&archive, "/proc/self/exe", "init");

	put_header(&archive, "dev", S_IFDIR | 0755, 0);
	dl_iterate_phdr(put_library, &archive);
	for (unsigned int i = 0; !err && i < guest->nr_files; i++) {
		err = put_file(&archive, guest->files[i], last_name(guest->files[i]));
		if (err)
			fail(ret_error, err, "%s: %s", guest->files[i], strerror(-err));
	}
	put_header(&archive, "TRAILER!!!", 0, 0);
	for (unsigned int i = 0; i < archive.nr_made; i++)
		free(archive.made[i]);
	if (!err && (archive.failed || fflush(file) || ferror(file)))
		err = fail(ret_error, -EIO, "the file system of the guest could not be written");
	return err;
}

/* The kernel's words, and behind "--" those of init. */
static int write_command_line(const struct guest *guest, char *line, char *ret_error)
{
	unsigned int quotes = 0;
	size_t len;

	for (const char *c = guest->append; c && *c; c++)
		quotes += *c == '"';
	if (quotes % 2)
		return fail(ret_error, -EINVAL, "'%s': a quote is left open", guest->append);
	len = (size_t)snprintf(line, COMMAND_LINE_SIZE,
			       "console=ttyS0 quiet loglevel=1 rdinit=/init reboot=t "
			       "panic=-1 tsc=unstable mitigations=off " FEW_AREAS " %s -- guest",
			       guest->append ? guest->append : "");

	for (char *const *word = guest->command; *word && len < COMMAND_LINE_SIZE; word++) {
		if (strpbrk(*word, " \t\n\"'"))
			return fail(ret_error, -EINVAL,
				    "'%s': blanks and quotes do not reach the guest", *word);
		len += (size_t)snprintf(line + len, COMMAND_LINE_SIZE - len, " %s", *word);
	}
	if (len >= COMMAND_LINE_SIZE)
		return fail(ret_error, -E2BIG, "too many words for the guest's command line");
	return 0;
}

struct machine {
	pid_t pid;
	int line;		    /* the serial line */
	char tail[TAIL_LINES][160]; /* what else was printed last */
	unsigned int nr_tail;
	char panic[160]; /* what the kernel said before it stopped */
};

/*
 * Without KVM unless asked: where machines are nested it may be there and not work, and what is
 * measured here is right or wrong, not fast.
 */
static void exec_qemu(const struct guest *guest, const char *archive, const char *command_line)
{
	const char *accelerator = guest->kvm ? "kvm" : "tcg,thread=single";
	const char *cpu = guest->cpu ? guest->cpu : guest->kvm ? "host" : "qemu64";
	char memory[16];

	/* it ends when this program does, however that ends */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(memory, sizeof(memory), "%u",
		 guest->memory_mb ? guest->memory_mb : GUEST_MEMORY_MB);
	execlp("qemu-system-x86_64", "qemu-system-x86_64", "-accel", accelerator, "-M",
	       "microvm,acpi=off,rtc=on", "-cpu", cpu, "-m", memory, "-kernel", guest->image,
	       "-initrd", archive, "-append", command_line, "-nographic", "-no-reboot",
	       "-nodefaults", "-serial", "stdio", (char *)NULL);
	dprintf(STDERR_FILENO, "qemu-system-x86_64 (QEMU) cannot be started: %s\n",
		strerror(errno));
	_exit(NOT_FOUND);
}

static int start(struct machine *machine, const struct guest *guest, const char *archive,
		 const char *command_line, char *ret_error)
{
	int pipe_fds[2], nothing;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return fail(ret_error, -errno, "pipe: %s", strerror(errno));
	machine->pid = fork();
	if (machine->pid < 0)
		return fail(ret_error, -errno, "fork: %s", strerror(errno));
	if (!machine->pid) {
		nothing = open("/dev/null", O_RDONLY);
		dup2(nothing, STDIN_FILENO);
		dup2(pipe_fds[1], STDOUT_FILENO);
		dup2(pipe_fds[1], STDERR_FILENO);
		exec_qemu(guest, archive, command_line);
	}
	close(pipe_fds[1]);
	machine->line = pipe_fds[0];
	return 0;
}

static void keep_tail(struct machine *machine, const char *line)
{
	const char *panic = strstr(line, "Kernel panic");

	if (!*line)
		return;
	if (panic)
		snprintf(machine->panic, sizeof(machine->panic), "%.150s", panic);
	snprintf(machine->tail[machine->nr_tail++ % TAIL_LINES], sizeof(machine->tail[0]), "%.150s",
		 line);
}

/* One line from the guest. True at the end of all runs. */
static bool take_line(struct machine *machine, char *line, FILE *out, int *status)
{
	char *mark;
	int run_status;

	line[strcspn(line, "\r\n")] = 0;
	/* the firmware and the kernel may have left something in front */
	mark = strchr(line, '@');
	if (!mark) {
		keep_tail(machine, line);
	} else if (mark[1] == '|') {
		fprintf(out, "%s\n", mark + 2);
	} else if (mark[1] == '>') {
		fputs(mark + 2, out);
	} else if (mark[1] == '!') {
		fprintf(stderr, "%s\n", mark + 2);
	} else if (sscanf(mark, "@= %d", &run_status) == 1) {
		if (run_status > *status)
			*status = run_status;
	} else if (mark[1] == '@') {
		return true;
	} else if (mark[1] != '.') {
		keep_tail(machine, line);
	}
	return false;
}

static int fail_with_tail(const struct machine *machine, char *ret_error, int err, const char *what)
{
	unsigned int first = machine->nr_tail > TAIL_LINES ? machine->nr_tail - TAIL_LINES : 0;
	size_t len = (size_t)snprintf(ret_error, GUEST_ERROR_SIZE, "%s", what);

	if (machine->panic[0]) {
		snprintf(ret_error + len, GUEST_ERROR_SIZE - len, ": %s", machine->panic);
		return err;
	}
	for (unsigned int i = first; i < machine->nr_tail && len < GUEST_ERROR_SIZE; i++)
		len += (size_t)snprintf(ret_error + len, GUEST_ERROR_SIZE - len, "%s %s",
					i == first ? ":" : " |", machine->tail[i % TAIL_LINES]);
	return err;
}

/* The whole lines in buf, whose size is left as what remains. True at the end of all runs. */
static bool take_lines(struct machine *machine, char *buf, size_t *size, FILE *out, int *status)
{
	char *at = buf, *end;
	bool over = false;

	while (!over && (end = memchr(at, '\n', *size - (size_t)(at - buf)))) {
		*end = 0;
		over = take_line(machine, at, out, status);
		at = end + 1;
	}
	*size -= (size_t)(at - buf);
	memmove(buf, at, *size);
	return over;
}

/* Everything until the end. */
static int hear_out(struct machine *machine, const struct guest *guest, FILE *out, int *status,
		    char *ret_error)
{
	int patience_ms = (int)(guest->patience_s ? guest->patience_s : 300) * 1000;
	struct pollfd fds = { machine->line, POLLIN, 0 };
	char buf[LINE_SIZE];
	size_t size = 0;
	ssize_t n;

	for (;;) {
		if (!poll(&fds, 1, patience_ms))
			return fail_with_tail(machine, ret_error, -ETIMEDOUT,
					      "the guest has fallen silent");
		n = read(machine->line, buf + size, sizeof(buf) - 1 - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_with_tail(machine, ret_error, -EIO,
					      "the guest ended before its work");
		size += (size_t)n;
		if (take_lines(machine, buf, &size, out, status))
			return 0;
		if (size == sizeof(buf) - 1) /* no line as long is ours */
			size = 0;
	}
}

int guest_run(const struct guest *guest, FILE *out, int *ret_status, char *ret_error)
{
	static struct machine machine;
	char command_line[COMMAND_LINE_SIZE], path[32];
	int err = write_command_line(guest, command_line, ret_error), fd, qemu_status = 0;
	FILE *archive;

	if (err)
		return err;
	if (access(guest->image, R_OK))
		return fail(ret_error, -errno, "%s", strerror(errno));
	/* in memory, and inherited by QEMU */
	fd = memfd_create("seam-guest", 0);
	archive = fd < 0 ? NULL : fdopen(fd, "w");
	if (!archive)
		return fail(ret_error, -errno, "memory for the guest's files: %s", strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = write_archive(guest, archive, ret_error);
	machine = (struct machine) { 0 };
	if (!err)
		err = start(&machine, guest, path, command_line, ret_error);
	if (!err) {
		*ret_status = 0;
		err = hear_out(&machine, guest, out, ret_status, ret_error);
		kill(machine.pid, SIGKILL);
		waitpid(machine.pid, &qemu_status, 0);
		close(machine.line);
		if (err && WIFEXITED(qemu_status) && WEXITSTATUS(qemu_status) == NOT_FOUND)
			err = fail(ret_error, -ENOENT, "%s", machine.tail[0]);
	}
	fclose(archive);
	return err;
}
