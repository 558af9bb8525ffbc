/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/event.h - what a trace holds, whatever it was read from (docs/file-format.md).
 *
 * Everything is keyed by space (an mm), never by pid: vfork and CLONE_VM share one, and an exec
 * from a thread changes the tid. Space numbers count from 0 in order of creation.
 */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/area.h>

/* Every call once: X(name, number of arguments that count). */
#define TRACE_CALLS(X)                                                                             \
	X(mmap, 6) /* addr len prot flags fd offset_bytes */                                       \
	X(munmap, 2)                                                                               \
	X(mprotect, 3)                                                                             \
	X(pkey_mprotect, 4)                                                                        \
	X(mremap, 5) /* old old_len new_len flags new */                                           \
	X(madvise, 3)                                                                              \
	X(mlock, 2)                                                                                \
	X(mlock2, 3)                                                                               \
	X(munlock, 2)                                                                              \
	X(mlockall, 1)                                                                             \
	X(munlockall, 0)                                                                           \
	X(brk, 1)                                                                                  \
	X(mseal, 3)                                                                                \
	X(mbind, 6)	    /* addr len mode nodes max flags; nodes: the first word of the mask */ \
	X(set_mempolicy, 3) /* mode nodes max */                                                   \
	X(remap_file_pages, 5)                                                                     \
	X(shmat, 4) /* shmid addr flags len (0: not told) */                                       \
	X(shmdt, 1)                                                                                \
	/* PR_SET_VMA: arg[4] is a number of the name, text the name; PR_SET_MM_MAP: see replay */ \
	X(prctl, 5)                                                                                \
	X(uffd_ioctl, 5) /* fd request start len mode */                                           \
	X(prlimit, 3)	 /* resource soft hard: a limit of this space changed */                   \
	X(personality, 1)                                                                          \
	X(arch_prctl, 2)                                                                           \
	X(process_madvise, 5)                                                                      \
	X(map_shadow_stack, 3)                                                                     \
	X(io_setup, 2)                                                                             \
	/* operations of scripts and of the loader, no system calls (docs/ops.md) */               \
	X(kmmap, 6) /* as mmap, from the program loader */                                         \
	X(touch, 2)                                                                                \
	X(rtouch, 2)                                                                               \
	X(exec, 3) /* end_code start_data brk */                                                   \
	X(stack, 2)                                                                                \
	X(limit, 1)                                                                                \
	X(rlimit, 2) /* enum trace_rlimit, bytes */                                                \
	X(fork, 0)   /* the EVENT_SPACE that follows is the child, and makes it */

enum trace_call {
#define TRACE_CALL_ENUM(name, args) TRACE_CALL_##name,
	TRACE_CALLS(TRACE_CALL_ENUM)
#undef TRACE_CALL_ENUM
		TRACE_NR_CALLS
};
/* "mmap", and how many arguments it has. NULL and -1: not one of ours, as below. */
const char *trace_call_name(unsigned int call);
int trace_call_args(unsigned int call);
int trace_call_by_name(const char *name, size_t len);
/* A system call that can change areas, as facts.calls counts; not limits and personality. */
bool trace_call_counts(unsigned int call);
/* Is its result an address when it succeeds? */
bool trace_call_gives_address(unsigned int call);
/* Do its first two arguments name the range that it works on, address and length? */
bool trace_call_names_range(unsigned int call);

enum trace_rlimit { TRACE_RLIMIT_AS, TRACE_RLIMIT_DATA, TRACE_RLIMIT_STACK, TRACE_RLIMIT_MEMLOCK };

enum event_kind {
	/*
	 * A new mm: born says how; areas: what it starts with, when known. arg[0]: the parent; as far
	 * as told (else 0) arg[1]: start_brk, [2] end_code, [3] start_data, [4] end_data, [5]
	 * personality, and SEAM_MAY_* << 32.
	 */
	EVENT_SPACE,
	EVENT_CALL,
	EVENT_TRUTH, /* areas as the kernel held them at this moment */
	EVENT_TOUCH, /* arg[0], arg[1]: range that is known to be faulted now */
	EVENT_CHANGE, /* a change that no call explains; areas: the range arg[0]..arg[1] afterwards */
	EVENT_LOST,   /* arg[0] records were lost here; text says why */
	EVENT_END,    /* the space ends (exit, or exec made another); arg[0]: status if exit, 128+N
		       * for signal N. Every space has one, at the latest at the trace's end */
	EVENT_COMM,   /* text: the new name of the process */
	EVENT_NOTE,   /* text: something a person should know ("privilege lost") */
};

enum space_born {
	BORN_UNKNOWN, /* the log starts in the middle of its life */
	BORN_EXEC,
	BORN_FORK, /* of space arg[0] */
};

#define EVENT_NO_RESULT 0x1u	/* the log does not tell the result */
#define EVENT_COMPAT 0x2u	/* a 32-bit call */
#define EVENT_AREAS_KNOWN 0x4u	/* areas is complete as far as known[] says */
#define EVENT_AMBIGUOUS 0x8u	/* overlapped another call of its space; order is a guess */
#define EVENT_EXIT_AT_END 0x10u /* EVENT_END: still alive when the trace ended */
/*
 * An mmap or remap_file_pages that failed, and all that lay in its range is gone: the file itself has
 * refused. With EVENT_NO_RESULT (scripts) it would, and result is the error.
 */
#define EVENT_CLEARED 0x20u
/* mmap: its file is a memfd, sealed so at that time (F_SEAL_WRITE, F_SEAL_FUTURE_WRITE) */
#define EVENT_SEAL_WRITE 0x40u
#define EVENT_SEAL_FUTURE_WRITE 0x80u
/*
 * It failed, as the map shows; with which error was not seen. result is the one that the call has by
 * itself; a security module could have given another one.
 */
#define EVENT_INFERRED 0x100u
/*
 * It failed for reasons that no map tells: as the task's own seccomp filter fails calls (EPERM, ENOSYS),
 * or because the host promises no more memory (vm.overcommit_memory), by none of the process's own
 * limits. Taken as it was, changing nothing.
 */
#define EVENT_REFUSED 0x200u

/* What a source of areas can see (a set); the rest of each struct seam_area is 0. */
#define SEES_RANGE 0x1u	       /* range, rwx, shared or private */
#define SEES_FLAGS 0x2u	       /* all flag bits that smaps prints */
#define SEES_ALL_FLAGS 0x4u    /* the kernel's own 64 bits */
#define SEES_OFFSET 0x8u       /* offsets of files */
#define SEES_ANON_OFFSET 0x10u /* offsets of anonymous memory */
#define SEES_INODE 0x20u       /* device and inode; file ids stand for inodes */
#define SEES_FILE 0x40u	       /* open file descriptions */
#define SEES_ANON_VMA 0x80u    /* anon_vma identity and chain */
#define SEES_NUMA 0x100u
#define SEES_UFFD 0x200u
#define SEES_NAME 0x400u
#define SEES_CLOSE 0x800u
#define SEES_PKEY 0x1000u
#define SEES_GUARDS 0x2000u  /* guard markers, page by page */
#define HIDES_SHARED 0x4000u /* not shared or private, though SEES_RANGE: core files */
#define HIDES_PROT 0x8000u   /* not rwx, though SEES_RANGE: the map of a sanitizer */

struct event {
	uint8_t kind;
	uint8_t call; /* enum trace_call */
	uint8_t born; /* enum space_born */
	uint8_t unused;
	uint32_t flags; /* EVENT_* */
	uint32_t space;
	uint32_t pid, tid;
	uint32_t stack; /* id of a call stack; 0 none */
	uint32_t file;	/* id of a struct trace_file; 0 none. mmap only */
	uint32_t sees;	/* SEES_*, with areas */
	uint32_t line;	/* where it was read: line of a text, block of a file; for messages */
	uint64_t time_ns, duration_ns; /* entry, from the trace's start; 0 when not told */
	uint64_t arg[6];
	/*
	 * Operation scripts name results of earlier operations: unless ref[i] is 0, the result of
	 * operation ref[i] is to be added to arg[i]; if that one failed or was skipped, so is this.
	 * Operations are numbered from 1, in the order of their EVENT_CALLs.
	 */
	uint32_t ref[6];
	int64_t result;		       /* value, or -errno */
	const struct seam_area *areas; /* the reader's, valid until the next event */
	size_t nr_areas;
	const char *text; /* scripts: the operation as written */
};

/* A file that the trace names. Two opens of one inode are two. */
struct trace_file {
	uint64_t dev, ino;
	uint64_t description; /* equal exactly for one open file description; 0: not known */
	uint32_t traits;      /* SEAM_FILE_* as far as known (READ|WRITE when not) */
	uint32_t known;	      /* 1: description is known */
	const char *path;     /* "" when not known */
};

#endif
