/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one call of an strace log says: which map it changes and how, or what it tells of threads,
 * processes and descriptors.
 */
#include <string.h>

#include "trace/strace_make.h"

#define F_DUPFD 0
#define F_DUPFD_CLOEXEC 1030
#define O_RDWR 2
#define O_CLOEXEC 02000000
#define MFD_CLOEXEC 1

/* In trials: does a stranger name memory of others? */
static int look_for_others(struct making *m)
{
	struct range named = m->effect.needs;

	if (named.start >= named.end)
		named = m->effect.frees;
	if (named.start >= named.end && m->event->call == TRACE_CALL_mmap && !m->effect.needs_free)
		named = m->effect.makes;
	if (m->effect.needs_hole)
		return 0;
	return strace_recognise(m->s, making_process(m), named);
}

/* A call that changes a map: an event. */
static int do_memory_call(struct strace *s, uint32_t tid, const struct strace_known *known,
			  const struct strace_call *call, struct event *event,
			  const char *tail_line)
{
	struct making m = { .s = s, .call = call, .event = event };
	struct strace_thread *thread;
	int r = strace_thread(s, tid, event, &thread);

	if (r)
		return r;
	m.process = thread->process;
	r = strace_space(s, making_process(&m), event, &event->space);
	if (r)
		return r;
	event->kind = EVENT_CALL;
	event->call = (uint8_t)known->call;
	event->pid = making_process(&m)->pid;
	event->result = call->value;
	if (making_process(&m)->compat)
		event->flags |= EVENT_COMPAT;
	if (call->result == STRACE_RESULT_UNKNOWN) {
		event->flags |= EVENT_NO_RESULT;
		trace_incomplete(s->trace, "calls without results");
	}
	r = known->make(&m);
	if (r || m.nothing)
		return r;
	if (s->trial) {
		r = look_for_others(&m);
		if (r)
			return r;
		event->space = making_process(&m)->space;
	}
	if (tail_line)
		return strace_defer(s, event, &m.effect, tail_line);
	return strace_commit(s, event, &m.effect);
}

static int do_birth(struct strace *s, uint32_t tid, const struct strace_call *call,
		    const struct event *event)
{
	const struct strace_pid *pid;

	if (!succeeded(call) || call->value <= 0 || call->value > INT32_MAX)
		return 0;
	pid = strace_pid_find(&s->survey, (uint32_t)call->value);
	/* the first pass has read its flags; none left: born when its first line was read */
	if (!pid || !pid->birth)
		return 0;
	return strace_born(s, tid, (uint32_t)call->value, s->survey.births[pid->birth - 1].flags,
			   event);
}

static int do_exec(struct strace *s, uint32_t tid, const struct strace_known *known,
		   const struct strace_call *call, const struct event *event)
{
	unsigned int path = (unsigned int)known->path;
	struct slice text;

	if (!succeeded(call) || call->nr_args <= path)
		return 0;
	text = call->arg[path];
	scan_blanks(&text.at, text.end);
	/* raw: only its address */
	text = text.at < text.end && *text.at == '"' ? unquoted(text) : (struct slice) { "", "" };
	return strace_exec(s, tid, text, event);
}

/* The process ends; where no "+++ exited" follows, at the end of the log. */
static int do_exit(struct strace_process *process, const struct strace_known *known,
		   const struct strace_call *call)
{
	/* exit ends a thread, the others a process */
	if (word_is(known->name, known->len, "exit") && process->nr_threads > 1)
		return 0;
	process->exiting = true;
	if (call->nr_args)
		strace_value(call->arg[0], &process->status);
	process->status &= 0xff;
	return 0;
}

static uint64_t open_flags(const struct strace_known *known, const struct strace_call *call)
{
	uint64_t flags = 0, value = 0;
	struct slice slice;

	if (known->flags < 0 || call->nr_args <= (unsigned int)known->flags)
		return 0;
	slice = call->arg[known->flags];
	strace_member(slice, "flags", &slice); /* openat2 */
	if (strace_value(slice, &value))
		flags = value;
	if (known->kind == KNOWN_MEMFD)
		return O_RDWR | (flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
	return flags;
}

/* The path by -y, else as it was asked for. */
static int do_open(struct strace *s, struct strace_process *process,
		   const struct strace_known *known, const struct strace_call *call)
{
	static const char prefix[] = "/memfd:";
	struct slice path = call->path;
	char memfd[300];

	if (!succeeded(call) || call->value < 0 || call->value > INT32_MAX)
		return 0;
	if (!path.at)
		path = call->nr_args > (unsigned int)known->path ? unquoted(call->arg[known->path])
								 : (struct slice) { "", "" };
	if (!call->path.at && known->kind == KNOWN_MEMFD) {
		size_t start = sizeof(prefix) - 1, len = (size_t)(path.end - path.at);

		if (len > sizeof(memfd) - start)
			len = sizeof(memfd) - start;
		memcpy(memfd, prefix, start);
		memcpy(memfd + start, path.at, len);
		path = (struct slice) { memfd, memfd + start + len };
	}
	return strace_files_open(s, process->files, (int32_t)call->value, open_flags(known, call),
				 path);
}

/* dup and its like, and fcntl where it does the same. */
static int do_dup(struct strace *s, struct strace_process *process,
		  const struct strace_known *known, const struct strace_call *call)
{
	struct slice path;
	uint64_t flags = 0;
	int32_t from;

	if (!succeeded(call) || !call->nr_args || !strace_fd(call->arg[0], &from, &path) ||
	    call->value < 0 || call->value > INT32_MAX)
		return 0;
	if (known->flags >= 0 && call->nr_args > (unsigned int)known->flags)
		strace_value(call->arg[known->flags], &flags);
	if (known->kind == KNOWN_FCNTL) {
		if (call->nr_args < 2 || (flags != F_DUPFD && flags != F_DUPFD_CLOEXEC))
			return 0;
		flags = flags == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
	}
	return strace_files_dup(s, process->files, from, (int32_t)call->value, flags & O_CLOEXEC);
}

static int do_close(struct strace_process *process, const struct strace_call *call)
{
	struct slice path;
	int32_t fd;

	if (succeeded(call) && call->nr_args && strace_fd(call->arg[0], &fd, &path))
		strace_files_close(process->files, fd);
	return 0;
}

#define MEMORY(name, call, make)                                                                   \
	{                                                                                          \
		name, sizeof(name) - 1, KNOWN_MEMORY, call, make, -1, -1                           \
	}
#define OTHER(name, kind, path, flags)                                                             \
	{                                                                                          \
		name, sizeof(name) - 1, kind, 0, NULL, path, flags                                 \
	}

/* Every call that says something about maps, the frequent ones first. */
static const struct strace_known known_calls[] = {
	MEMORY("mmap", TRACE_CALL_mmap, make_mmap),
	MEMORY("munmap", TRACE_CALL_munmap, make_munmap),
	MEMORY("mprotect", TRACE_CALL_mprotect, make_range),
	MEMORY("madvise", TRACE_CALL_madvise, make_range),
	MEMORY("brk", TRACE_CALL_brk, make_brk),
	MEMORY("mremap", TRACE_CALL_mremap, make_mremap),
	OTHER("close", KNOWN_CLOSE, -1, -1),
	OTHER("openat", KNOWN_OPEN, 1, 2),
	OTHER("open", KNOWN_OPEN, 0, 1),
	MEMORY("old_mmap", TRACE_CALL_mmap, make_mmap),
	MEMORY("mmap2", TRACE_CALL_mmap, make_mmap2),
	MEMORY("ioctl", TRACE_CALL_uffd_ioctl, make_ioctl),
	OTHER("fcntl", KNOWN_FCNTL, -1, 1),
	OTHER("fcntl64", KNOWN_FCNTL, -1, 1),
	MEMORY("prctl", TRACE_CALL_prctl, make_prctl),
	OTHER("clone", KNOWN_CLONE, -1, -1),
	OTHER("clone3", KNOWN_CLONE, -1, -1),
	OTHER("fork", KNOWN_FORK, -1, -1),
	OTHER("vfork", KNOWN_VFORK, -1, -1),
	OTHER("execve", KNOWN_EXEC, 0, -1),
	OTHER("execveat", KNOWN_EXEC, 1, -1),
	OTHER("exit_group", KNOWN_EXIT, -1, -1),
	OTHER("exit", KNOWN_EXIT, -1, -1),
	OTHER("_exit", KNOWN_EXIT, -1, -1),
	MEMORY("mlock", TRACE_CALL_mlock, make_range),
	MEMORY("munlock", TRACE_CALL_munlock, make_range),
	MEMORY("mlock2", TRACE_CALL_mlock2, make_range),
	MEMORY("mlockall", TRACE_CALL_mlockall, make_numbers),
	MEMORY("munlockall", TRACE_CALL_munlockall, make_numbers),
	MEMORY("pkey_mprotect", TRACE_CALL_pkey_mprotect, make_range),
	MEMORY("mseal", TRACE_CALL_mseal, make_range),
	MEMORY("mbind", TRACE_CALL_mbind, make_mbind),
	MEMORY("set_mempolicy", TRACE_CALL_set_mempolicy, make_set_mempolicy),
	MEMORY("remap_file_pages", TRACE_CALL_remap_file_pages, make_range),
	OTHER("shmget", KNOWN_SHMGET, -1, -1),
	MEMORY("shmat", TRACE_CALL_shmat, make_shmat),
	MEMORY("shmdt", TRACE_CALL_shmdt, make_shmdt),
	MEMORY("prlimit64", TRACE_CALL_prlimit, make_prlimit),
	MEMORY("setrlimit", TRACE_CALL_prlimit, make_setrlimit),
	MEMORY("personality", TRACE_CALL_personality, make_personality),
	MEMORY("arch_prctl", TRACE_CALL_arch_prctl, make_arch_prctl),
	MEMORY("map_shadow_stack", TRACE_CALL_map_shadow_stack, make_map_shadow_stack),
	MEMORY("io_setup", TRACE_CALL_io_setup, make_io_setup),
	/* by number, where strace is older than the call */
	MEMORY("syscall_0x1ce", TRACE_CALL_mseal, make_range),
	MEMORY("syscall_462", TRACE_CALL_mseal, make_range),
	MEMORY("syscall_0x1c5", TRACE_CALL_map_shadow_stack, make_map_shadow_stack),
	MEMORY("syscall_453", TRACE_CALL_map_shadow_stack, make_map_shadow_stack),
	MEMORY("syscall_325", TRACE_CALL_mlock2, make_range),
	MEMORY("syscall_329", TRACE_CALL_pkey_mprotect, make_range),
	OTHER("openat2", KNOWN_OPEN, 1, 2),
	OTHER("creat", KNOWN_OPEN, 0, -1),
	OTHER("memfd_create", KNOWN_MEMFD, 0, 1),
	OTHER("dup", KNOWN_DUP, -1, -1),
	OTHER("dup2", KNOWN_DUP, -1, -1),
	OTHER("dup3", KNOWN_DUP, -1, 2),
};

const struct strace_known *strace_known(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		if (known_calls[i].len == len && !memcmp(known_calls[i].name, name, len))
			return &known_calls[i];
	return NULL;
}

enum strace_moment strace_moment(const struct strace_known *known)
{
	if (!known)
		return STRACE_NEVER;
	switch (known->kind) {
	case KNOWN_MEMORY:
	case KNOWN_CLONE:
	case KNOWN_FORK:
	case KNOWN_VFORK:
		return STRACE_AT_HEAD;
	default:
		return STRACE_AT_TAIL;
	}
}

static int do_process_call(struct strace *s, uint32_t tid, const struct strace_known *known,
			   const struct strace_call *call, const struct event *event)
{
	struct strace_process *process;
	struct strace_thread *thread;
	int r = strace_thread(s, tid, event, &thread);

	if (r)
		return r;
	process = &s->processes[thread->process];
	switch (known->kind) {
	case KNOWN_EXIT:
		return do_exit(process, known, call);
	case KNOWN_OPEN:
	case KNOWN_MEMFD:
		return do_open(s, process, known, call);
	case KNOWN_DUP:
	case KNOWN_FCNTL:
		return do_dup(s, process, known, call);
	case KNOWN_CLOSE:
		return do_close(process, call);
	default:
		return strace_shmget(s, call);
	}
}

int strace_do_call(struct strace *s, uint32_t tid, const struct strace_known *known,
		   const struct strace_call *call, struct event *event, const char *tail_line)
{
	switch (known->kind) {
	case KNOWN_MEMORY:
		return do_memory_call(s, tid, known, call, event, tail_line);
	case KNOWN_CLONE:
	case KNOWN_FORK:
	case KNOWN_VFORK:
		return do_birth(s, tid, call, event);
	case KNOWN_EXEC:
		return do_exec(s, tid, known, call, event);
	default:
		return do_process_call(s, tid, known, call, event);
	}
}
