/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/strace.h - the importer of strace logs, shared with the one of mails.
 *
 * The log is read twice. The first pass (strace_survey.c) pairs the two halves of calls that others
 * interrupted, and finds who made whom. The second (strace.c) reads line by line, works out calls
 * (strace_calls.c), keeps threads, processes and spaces apart (strace_tasks.c), and gives calls that
 * overlapped in one space an order that their results allow (strace_order.c).
 */
#ifndef TRACE_STRACE_H
#define TRACE_STRACE_H

#include "trace/importer.h"
#include "trace/range_set.h"
#include "trace/strace_args.h"
#include "trace/strace_line.h"

/* A log, or what a mail holds of one. The importer takes it over and frees it. */
struct strace_text {
	const char *data;
	size_t size;
	char *owned;	 /* freed at the end; NULL when data is the source's */
	uint32_t *lines; /* the source's line of each line; NULL: they are the same */
	bool excerpt;	 /* what cannot be read is prose */
};

/* Two halves of one call. */
struct strace_pair {
	const char *head; /* the line of the first half */
	const char *tail; /* what stands behind "resumed>"; NULL when it never came */
	const char *tail_end;
	const char *tail_line; /* where that line begins */
};

/* One thread or process made another, or was told of its end. */
struct strace_birth {
	uint32_t parent, child;
	uint64_t flags; /* CLONE_* */
	uint32_t next;	/* 1 + the next one of the same child */
};

/* What is known of a tid: a slot of a table by tid. */
struct strace_pid {
	uint32_t tid;
	bool in_use;
	bool announced;	     /* by a clone, or by strace itself */
	bool called;	     /* made a call */
	bool fresh;	     /* its first call is one that only a new program makes */
	uint32_t pair;	     /* 1 + the pair that it waits with */
	uint32_t birth;	     /* 1 + its next birth */
	uint32_t last_birth; /* the end of that chain */
	uint32_t signal;     /* 1 + the SIGCHLD that told of its end */
	uint32_t holder; /* 1 + a tid of the same space, towards the root of its set; 0: the root */
	uint32_t process; /* of a root: 1 + the process that stands for the set */
};

/* What the first pass has found. */
struct strace_survey {
	struct strace_pair *pairs; /* in the order of their first halves */
	uint32_t nr_pairs, room_pairs;
	uint32_t *tails; /* pairs in the order of their second halves */
	uint32_t nr_tails, room_tails;
	struct strace_birth *births; /* in the order of the log */
	uint32_t nr_births, room_births;
	struct strace_birth *signals; /* who was told of the end of which child (SIGCHLD) */
	uint32_t nr_signals, room_signals;
	struct strace_pid *pids; /* open addressing; a power of two */
	uint32_t nr_pids, room_pids;
	uint32_t first_pid;    /* whose lines have no [pid N]; 0: not known */
	uint32_t attached;     /* the one process that was attached to with all its threads */
	uint32_t nr_strangers; /* tids that call and that no clone has made */
	bool has_pids;	       /* any line tells its pid */
	bool has_opens;	       /* descriptors can be followed */
	bool has_exit_calls;   /* calls that end and make processes are in the log */
	bool has_births;
	bool mmap2_in_pages; /* offsets of mmap2 */
};

/* What a call does to the addresses of its space, so far as its order matters. */
struct strace_effect {
	struct range makes; /* mapped afterwards */
	struct range frees; /* not mapped afterwards, unless made */
	struct range needs; /* must have been mapped */
	bool needs_free;    /* makes must have been free */
	bool needs_hole;    /* it failed because some of needs was not mapped */
	bool placed;	    /* the kernel chose the place */
};

struct strace_space {
	struct range_set mapped, freed;
	uint64_t brk; /* 0: not known */
	uint32_t nr_processes;
	int32_t upward; /* over 0: maps have been placed upward, below 0 downward */
	bool ended;
};

struct strace_descriptor {
	int32_t fd;
	uint32_t file;
	bool cloexec;
};

/* The descriptors of one process; threads share them. */
struct strace_files {
	struct strace_descriptor *entries;
	uint32_t nr, room;
	uint32_t users;
};

struct strace_process {
	uint32_t pid;
	uint32_t space; /* index; NO_SPACE before its first event */
	uint32_t nr_threads;
	struct strace_files *files;
	char comm[16];
	bool compat;   /* makes 32-bit calls */
	bool stranger; /* no clone, exec or link tells where it comes from */
	bool exiting;
	uint64_t status;
};

struct strace_thread {
	uint32_t tid;	  /* of a slot in use: with in_use */
	uint32_t process; /* index */
	bool in_use;
};

/* A call whose second half is still to come: what it did lies somewhere between the two. */
struct strace_pending {
	struct event event;
	struct strace_effect effect;
	const char *tail_line; /* NULL: at the end of the log */
	bool done;
};

#define NO_SPACE UINT32_MAX

/* Shared memory of System V. */
struct strace_segment {
	uint64_t size; /* 0: the shmget is not in the log */
	uint32_t file;
};

struct strace {
	struct trace *trace;
	struct strace_text text;
	struct strace_survey survey;
	const char *at, *end;
	uint64_t line; /* of text, from 1 */
	uint32_t next_pair, next_tail;
	bool trial;	   /* only to find who shares a space; nothing is reported */
	uint64_t searches; /* threads looked at in trials */
	uint64_t copies;   /* ranges copied by forks */

	struct strace_thread *threads; /* by tid, open addressing; a power of two */
	uint32_t nr_threads, room_threads;
	uint32_t tids; /* of all of them, by exclusive or: of one, its own */
	struct strace_process *processes;
	uint32_t nr_processes, room_processes;
	struct strace_space *spaces;
	uint32_t nr_spaces, room_spaces;
	struct strace_pending *pending;
	uint32_t nr_pending, room_pending;
	struct intern segment_ids; /* number - 1 is the index */
	struct strace_segment *segments;
	uint32_t nr_segments, room_segments;
	struct intern attachments; /* of a space and an address */
	uint64_t *attached_sizes;
	uint32_t nr_attached, room_attached;

	struct event *queue; /* events that wait to be given out */
	uint32_t nr_queue, room_queue, queue_at;
	struct intern texts; /* of names and comms */
	struct intern paths; /* descriptors told by path: the key gives a file */
	uint32_t *path_files;
	uint32_t nr_path_files, room_path_files;
	uint64_t nr_descriptions;

	bool has_time, relative_clock;
	uint64_t first_time_ns, last_time_ns, day_ns;
	char *scratch; /* two halves joined */
	size_t room_scratch;
	bool ended;
};

/* strace.c */
int strace_begin(struct trace *trace, const struct strace_text *text);
int strace_next(struct trace *trace, struct event *ret_event);
void strace_close(struct trace *trace);
/* Adds an event behind those that wait. */
int strace_emit(struct strace *s, const struct event *event);
/* A line cannot be read: what was found and what was expected. Returns -EINVAL. */
int strace_expected(struct strace *s, struct slice found, const char *expected);
/* The line in the source of a line of the text. */
uint32_t strace_source_line(const struct strace *s, uint64_t line);

/* strace_survey.c */
int strace_survey(const struct strace_text *text, struct strace_survey *ret_survey);
void strace_survey_free(struct strace_survey *survey);
struct strace_pid *strace_pid_find(const struct strace_survey *survey, uint32_t tid);
/* Where a call that was interrupted is cut: the end of its first half, or NULL. */
const char *strace_cut(const struct strace_line *line);

/* strace_tasks.c: @when gives the line and time of the events that these make. */
/* The thread of a tid, made when it is new; -ENOMEM. */
int strace_thread(struct strace *s, uint32_t tid, const struct event *when,
		  struct strace_thread **ret_thread);
/* The space of a process, begun when it is new. */
int strace_space(struct strace *s, struct strace_process *process, const struct event *when,
		 uint32_t *ret_space);
/* @parent has made @child, a thread or a process. */
int strace_born(struct strace *s, uint32_t parent, uint32_t child, uint64_t flags,
		const struct event *when);
int strace_exec(struct strace *s, uint32_t tid, struct slice path, const struct event *when);
int strace_exit(struct strace *s, uint32_t tid, uint64_t status, const struct event *when);
int strace_set_comm(struct strace *s, struct strace_process *process, const char *name, size_t len,
		    const struct event *when);
/* Of a stranger: does this name memory that only another's space holds? Then they are one. */
int strace_recognise(struct strace *s, struct strace_process *process, struct range named);
/* The log is over: ends every space. */
int strace_end_all(struct strace *s);
void strace_tasks_free(struct strace *s);

/* Descriptors (strace_files.c) */
struct strace_files *strace_files_new(void);
struct strace_files *strace_files_copy(const struct strace_files *from);
void strace_files_put(struct strace_files *files);
void strace_files_exec(struct strace_files *files);
/* A new description under @fd. */
int strace_files_open(struct strace *s, struct strace_files *files, int32_t fd, uint64_t flags,
		      struct slice path);
int strace_files_dup(struct strace *s, struct strace_files *files, int32_t from, int32_t to,
		     bool cloexec);
void strace_files_close(struct strace_files *files, int32_t fd);
/* The file behind a descriptor; one that was never opened in the log gets an identity now. */
int strace_files_find(struct strace *s, struct strace_files *files, int32_t fd, struct slice path,
		      uint32_t *ret_file);

/* strace_calls.c */
enum strace_kind {
	KNOWN_MEMORY, /* changes a map */
	KNOWN_CLONE,
	KNOWN_FORK,
	KNOWN_VFORK,
	KNOWN_EXEC,
	KNOWN_EXIT,
	KNOWN_OPEN,
	KNOWN_MEMFD,
	KNOWN_DUP,
	KNOWN_FCNTL,
	KNOWN_CLOSE,
	KNOWN_SHMGET,
};

struct making;

/* A call that says something about maps. */
struct strace_known {
	const char *name;
	size_t len;
	enum strace_kind kind;
	enum trace_call call; /* KNOWN_MEMORY */
	int (*make)(struct making *m);
	int path, flags; /* which arguments they are; -1 none */
};

/* NULL: it says nothing about maps. */
const struct strace_known *strace_known(const char *name, size_t len);

enum strace_moment {
	STRACE_NEVER,
	STRACE_AT_HEAD, /* done when its first half is read */
	STRACE_AT_TAIL, /* done when its second half is read */
};
enum strace_moment strace_moment(const struct strace_known *known);

/*
 * Carries out what one call of a thread says. @tail_line: where its second half will come, NULL
 * when the call is whole. Returns 0; -EINVAL after strace_expected; -ENOMEM.
 */
int strace_do_call(struct strace *s, uint32_t tid, const struct strace_known *known,
		   const struct strace_call *call, struct event *event, const char *tail_line);

/* strace_order.c */
/* A complete call: ordered against those that wait, then emitted. */
int strace_commit(struct strace *s, struct event *event, const struct strace_effect *effect);
/* A call of which the second half is yet to come at @tail_line. */
int strace_defer(struct strace *s, const struct event *event, const struct strace_effect *effect,
		 const char *tail_line);
/* The second half of a call has come: it has happened by now. */
int strace_settle(struct strace *s, const char *tail_line);
/* All that wait in @space have happened by now: it ends. */
int strace_settle_space(struct strace *s, uint32_t space);

#endif
