/* SPDX-License-Identifier: BSD-2-Clause */
#include "sym/unwind.h"

#include <stddef.h>

#if defined(HAVE_LIBDW) && defined(__x86_64__)

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define CACHE_SIZE 4096
#define CACHE_LINES 8
#define MAX_BUILD_ID 20

struct line {
	uint64_t addr; /* 0: empty */
	uint8_t data[CACHE_SIZE];
};

struct unwinder {
	Dwfl *dwfl;
	pid_t pid, tid; /* tid: whose stack is being read */
	bool stale, attached;
	struct line cache[CACHE_LINES]; /* of its memory, for one stack */
	struct unwind_frame *frames;
	unsigned int nr_frames, max_frames;
};

bool unwind_is_possible(void)
{
	return true;
}

/* ---- memory and registers of the stopped thread ---- */

static const struct line *cached(struct unwinder *unwinder, uint64_t addr)
{
	struct line *line = &unwinder->cache[addr / CACHE_SIZE % CACHE_LINES];
	uint64_t start = addr & ~(uint64_t)(CACHE_SIZE - 1);
	struct iovec local = { line->data, CACHE_SIZE }, remote = { (void *)start, CACHE_SIZE };

	if (line->addr == start && start)
		return line;
	line->addr = 0;
	if (process_vm_readv(unwinder->tid, &local, 1, &remote, 1, 0) != CACHE_SIZE)
		return NULL;
	line->addr = start;
	return line;
}

/*
 * A word of a 32-bit program is asked for as one of 64 bits, whose upper half nobody looks at: it may
 * lie in the next page, and that need not be there.
 */
static bool read_word(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret_word, void *arg)
{
	size_t at = addr % CACHE_SIZE, left = CACHE_SIZE - at, size = sizeof(*ret_word);
	const struct line *line = cached(arg, addr);
	uint8_t *word = (uint8_t *)ret_word;

	if (!line || left < size / 2)
		return false;
	*ret_word = 0;
	memcpy(word, line->data + at, left < size ? left : size);
	line = left < size ? cached(arg, addr + left) : NULL;
	if (line)
		memcpy(word + left, line->data, size - left);
	return true;
}

/* In the order of the DWARF numbers; the 32-bit ones as the kernel hands them out. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct unwinder *unwinder = arg;
	union {
		struct user_regs_struct wide;
		uint32_t narrow[17];
	} regs;
	struct iovec iov = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, unwinder->tid, (void *)NT_PRSTATUS, &iov))
		return false;
	if (iov.iov_len == sizeof(regs.narrow)) {
		static const uint8_t order[] = { 6, 1, 2, 0, 15, 5, 3, 4, 12 };
		Dwarf_Word words[9];

		for (size_t i = 0; i < 9; i++)
			words[i] = regs.narrow[order[i]];
		return dwfl_thread_state_registers(thread, 0, 9, words);
	}
	return dwfl_thread_state_registers(
		thread, 0, 17,
		(const Dwarf_Word[]) { regs.wide.rax, regs.wide.rdx, regs.wide.rcx, regs.wide.rbx,
				       regs.wide.rsi, regs.wide.rdi, regs.wide.rbp, regs.wide.rsp,
				       regs.wide.r8, regs.wide.r9, regs.wide.r10, regs.wide.r11,
				       regs.wide.r12, regs.wide.r13, regs.wide.r14, regs.wide.r15,
				       regs.wide.rip });
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct unwinder *unwinder = arg;

	if (*thread_arg)
		return 0;
	*thread_arg = unwinder;
	return unwinder->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return tid == ((struct unwinder *)arg)->tid;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

/* ---- modules ---- */

static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			const char *file_name, const char *debuglink, GElf_Word crc,
			char **ret_name)
{
	return -1; /* names are looked up when the recording is read */
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

static bool refresh(struct unwinder *unwinder)
{
	if (!unwinder->stale)
		return unwinder->attached;
	unwinder->stale = false;
	dwfl_report_begin(unwinder->dwfl);
	if (dwfl_linux_proc_report(unwinder->dwfl, unwinder->tid) ||
	    dwfl_report_end(unwinder->dwfl, NULL, NULL))
		return unwinder->attached;
	if (!unwinder->attached)
		unwinder->attached = dwfl_attach_state(unwinder->dwfl, NULL, unwinder->pid,
						       &thread_callbacks, unwinder);
	return unwinder->attached;
}

struct unwinder *unwinder_new(pid_t pid)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->pid = pid;
	unwinder->stale = true;
	unwinder->dwfl = dwfl_begin(&callbacks);
	if (unwinder->dwfl)
		return unwinder;
	free(unwinder);
	return NULL;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	dwfl_end(unwinder->dwfl);
	free(unwinder);
}

void unwinder_changed(struct unwinder *unwinder)
{
	if (unwinder)
		unwinder->stale = true;
}

/* ---- frames ---- */

/* Where in its file an address of a module lies, by the program headers. */
static bool file_offset(Dwfl_Module *module, uint64_t addr, uint64_t *ret_offset)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t nr_headers;

	if (!elf || elf_getphdrnum(elf, &nr_headers))
		return false;
	addr -= bias;
	for (size_t i = 0; i < nr_headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    addr < header.p_vaddr || addr - header.p_vaddr >= header.p_filesz)
			continue;
		*ret_offset = addr - header.p_vaddr + header.p_offset;
		return true;
	}
	return false;
}

static void name_module(Dwfl_Module *module, uint64_t addr, struct unwind_frame *frame)
{
	const unsigned char *build_id;
	const char *main_file = NULL;
	GElf_Addr at;
	int size;

	if (!file_offset(module, addr, &frame->offset))
		return;
	frame->path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main_file, NULL);
	if (main_file)
		frame->path = main_file;
	else if (frame->path && !strncmp(frame->path, "[vdso", 5))
		frame->path = "[vdso]"; /* libdw puts the process id in */
	size = dwfl_module_build_id(module, &build_id, &at);
	if (size > 0 && size <= MAX_BUILD_ID) {
		frame->build_id = build_id;
		frame->build_id_size = (uint8_t)size;
	}
}

static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct unwinder *unwinder = arg;
	struct unwind_frame *frame = &unwinder->frames[unwinder->nr_frames];
	Dwfl_Module *module;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, NULL))
		return DWARF_CB_ABORT;
	*frame = (struct unwind_frame) { .offset = pc };
	module = dwfl_addrmodule(unwinder->dwfl, pc);
	if (module)
		name_module(module, pc, frame);
	return ++unwinder->nr_frames < unwinder->max_frames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

unsigned int unwinder_stack(struct unwinder *unwinder, pid_t tid, struct unwind_frame *ret_frames,
			    unsigned int max)
{
	if (!max)
		return 0;
	unwinder->tid = tid;
	unwinder->frames = ret_frames;
	unwinder->max_frames = max;
	unwinder->nr_frames = 0;
	for (size_t i = 0; i < CACHE_LINES; i++)
		unwinder->cache[i].addr = 0;
	if (refresh(unwinder))
		dwfl_getthread_frames(unwinder->dwfl, tid, add_frame, unwinder);
	return unwinder->nr_frames;
}

#else

bool unwind_is_possible(void)
{
	return false;
}

struct unwinder *unwinder_new(pid_t pid)
{
	return NULL;
}

void unwinder_free(struct unwinder *unwinder)
{
}

void unwinder_changed(struct unwinder *unwinder)
{
}

unsigned int unwinder_stack(struct unwinder *unwinder, pid_t tid, struct unwind_frame *ret_frames,
			    unsigned int max)
{
	return 0;
}

#endif
