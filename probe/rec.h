/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe/rec.h - what the files of the ptrace recorder share. One struct rec a recording; tasks are
 * threads, spaces are mms, keyed as trace/event.h says.
 */
#ifndef PROBE_REC_H
#define PROBE_REC_H

#include <linux/ptrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/launch.h"
#include "probe/procmap.h"
#include "probe/record.h"
#include "trace/event.h"
#include "trace/intern.h"

/* An open file description that the tree maps, and our copy of its descriptor. */
struct rec_held {
	struct rec_held *next; /* of the hash chain */
	dev_t dev;
	ino_t ino;
	int fd; /* -1: given back */
	uint64_t description;
	uint32_t file;	  /* the trace's number; 0: not written yet */
	size_t nr_ranges; /* in all spaces */
	size_t nr_calls;  /* that are under way and map it */
	size_t nr_inside; /* of the call that is being looked at */
};
#define REC_HELD_CHAINS 1024

/* What an mmap of a file that was not met before will be written as. */
struct rec_file {
	struct trace_file file;
	char path[4096];
};

/* [start, end), and the description that is mapped there; NULL where that is no question. */
struct rec_range {
	uint64_t start, end;
	struct rec_held *held;
};

struct rec_ranges {
	struct rec_range *list; /* in order */
	size_t nr, room;
};

/* The last answer of rec_find_area: for each address from .from on, up to the end of the area. */
struct rec_asked {
	bool is_valid;
	uint64_t from;
	int found;
	struct procmap_area area;
};

/* rec_foresee.c: what tells where a new mapping will lie. */
struct rec_foresight {
	bool is_off;		  /* not in this space any more */
	bool is_known;		  /* .mapped is all of its ground */
	struct rec_ranges mapped; /* touching areas are one range */
	uint64_t top;		  /* where no address is asked for, they lie below */
	uint64_t brk;		  /* 0: not known */
	unsigned int nr_right[3]; /* guesses in a row, by enum mapping_size */
};

struct rec_space {
	uint32_t number;
	unsigned int nr_users; /* tasks */
	uint64_t calls_since_truth;
	uint64_t truth_ns,
		truth_cost_ns;	      /* when the map was last looked at, and how long it took */
	uint64_t nr_areas;	      /* at the last look */
	uint64_t born_ns;	      /* told by its EVENT_SPACE */
	uint64_t stack;		      /* where the main stack started then */
	uint64_t stack_end, grown_to; /* its end, and its start by later reports */
	unsigned int nr_parked;	      /* of its users */
	struct rec_task *caller;      /* in a call that changes this map */
	unsigned int nr_calling;      /* the caller, and those that waited for too long */
	struct rec_task *first_held, *last_held; /* wait for the caller at their entry */
	int pagemap_fd, maps_fd;		 /* -1 not opened, -2 not to be had */
	struct rec_asked asked;			 /* while its only task stands still */
	struct unwinder *unwinder;		 /* with stacks */
	bool has_sealed;			 /* mseal was called */
	struct rec_ranges files;		 /* mapped from descriptions that are held */
	struct rec_ranges touched;		 /* in areas that are known to be faulted */
	struct rec_ranges unknown;		 /* areas whose anon_vmas could not be read */
	struct rec_foresight foresight;
	bool in_doubt; /* the last call was about such */
	unsigned int nr_doubts;
};

struct rec_process {
	pid_t pid;
	unsigned int nr_users; /* its tasks, and who else keeps it */
	int pidfd;	       /* -1: not opened */
	char comm[16];
};

/* What a stopped call is to the recorder. */
enum rec_kind {
	REC_NONE,     /* no business of ours */
	REC_CALL,     /* enum trace_call in .call */
	REC_MMAP2,    /* i386: offset in pages */
	REC_OLD_MMAP, /* i386: arguments in memory */
	REC_IPC,      /* i386: shmat and shmdt among others */
	REC_SETRLIMIT,
	REC_PRLIMIT,
	REC_EXEC,
	REC_CLONE3,  /* flags in memory: REC_FORK or nothing */
	REC_FORK,    /* a copy of the space will be made */
	REC_OPAQUE,  /* changes the map in a way that no event tells */
	REC_TRACES,  /* ptrace, which a traced task cannot be given a second time */
	REC_STRICT,  /* seccomp without a filter, which there is no way to from one with */
	REC_LISTENS, /* seccomp with a filter that lets another process answer calls */
};

/* What shows at the task's next stop that a call has worked: [start, end) was not so at its entry. */
struct rec_foreseen {
	uint64_t start, end;
	bool is_mapped; /* else it is free */
	int64_t result; /* that is so then */
};

struct rec_call {
	enum rec_kind kind;
	uint8_t call;
	uint32_t flags; /* EVENT_* */
	uint64_t nr, arg[6];
	uint64_t clone_flags; /* of clone and clone3 */
	uint64_t clone_args;  /* where clone3 has them; 0: in a register */
	uint64_t result_at;   /* where i386 puts the address of shmat; else 0 */
	uint64_t entry_ns;
	uint32_t file, stack;
	bool has_file;	  /* of an mmap; file may still be 0 */
	bool exit_unseen; /* does not stop at its exit */
	uint64_t exit_ns; /* of such a one, as the kernel has reported it; 0: it did not */
	uint64_t also_start, also_end; /* reported meanwhile, and not what was foreseen */
	bool has_also, has_more;       /* there was one such, there were more */
	struct rec_foreseen foreseen;
	bool not_made;	       /* the task was killed at its entry */
	struct rec_held *held; /* the description that an mmap maps */
};

struct rec_task {
	pid_t tid;
	struct rec_process *process; /* NULL: stopped before its parent's event told whose it is */
	struct rec_space *space;
	struct rec_task *next; /* of the hash chain */
	struct rec_task *next_held;
	uint64_t waiting_ns;   /* stopped since then: held, or its parent's event is due */
	bool in_call;	       /* between entry and exit of pending */
	bool in_exec;	       /* has called exec and not been seen since */
	bool is_held;	       /* at the entry of pending, until the space's caller is done */
	bool started;	       /* its first stop was seen */
	bool seen_call;	       /* an entry of it was seen */
	bool bears_unreported; /* what it made before its reports began may stand at its next stop */
	bool is_parked;	       /* stopped until all of its space are, to be let go */
	int park_signal;       /* to be let go with */
	int first_status;      /* of an attached one, which has stopped and waits to begin */
	uint64_t hidden_flags, hidden_args; /* 0, or what is to be put back after its clone */
	struct rec_call pending;
	struct rec_file *described; /* what pending maps; NULL: none of its calls did yet */
};

#define REC_CHAINS 4096

/* A task that has stopped or ended, as waitpid told. */
struct rec_status {
	pid_t tid; /* 0: taken out */
	int status;
};
#define REC_BATCH 64

struct rec {
	const struct record_options *options;
	struct record_result *result;
	struct launch launch;
	bool all_calls;	       /* no filter: each call stops, at entry and exit */
	bool detaching;	       /* every task is let go at its next stop */
	uint64_t detaching_ns; /* since then */
	bool privilege_said, tracing_said, strict_said, listener_said, filter_said;
	uint64_t began_ns;
	struct data_writer *writer; /* NULL: nothing is written, or not yet */
	struct rec_task *chains[REC_CHAINS];
	unsigned int nr_tasks, nr_waiting;
	struct rec_status batch[REC_BATCH]; /* told, and not handled yet: [batch_at, nr_batch) */
	unsigned int batch_at, nr_batch, nr_waits;
	bool may_poll;		  /* there is another processor for the tasks */
	bool stop_near;		  /* a task was let into a call, or the last stop came soon */
	unsigned int nr_unpolled; /* waits to come that sleep at once */
	uint32_t nr_spaces;
	struct rec_held *held[REC_HELD_CHAINS];
	bool no_kcmp, no_touches;
	pid_t self; /* 0: kcmp was not tried */
	uint64_t nr_descriptions;
	struct rec_areas *areas; /* rec_areas.c: buffers */
	struct iter *iter;	 /* attached: the kernel's own areas; NULL: not to be had */
	struct side *side;	 /* NULL: it does not open here */
	bool has_reports;	 /* it is open, and all tasks are reported on */
	uint64_t reports_ns;	 /* since when */
	struct intern files;	 /* their numbers, without a writer */
};

struct record_stop {
	struct rec *rec;
	const struct rec_task *task;
};

/* ---- rec_ptrace.c ---- */

/* Before the first file or event. */
void rec_begin_writing(struct rec *rec);
/* Adds what every event has and writes it. */
void rec_write(struct rec *rec, const struct rec_task *task, struct event *event);
/* The same of another space than the task's. */
void rec_write_in(struct rec *rec, const struct rec_task *task, const struct rec_space *space,
		  struct event *event);
/* The trace's number of a file; 0 without memory. */
uint32_t rec_write_file(struct rec *rec, const struct trace_file *file);
/* Bytes of a stopped task's memory; -1 unless all are there. */
int rec_peek(pid_t tid, uint64_t addr, void *to, size_t size);
/* Tells the watcher of a call at its entry. */
void rec_tell_entry(struct rec *rec, const struct rec_task *task, const struct rec_call *call);
/*
 * Lets a stopped task go on, with @sig. False: it has been killed where it stood. At its entry that means
 * that the call is not made (6.18 kernel/seccomp.c __seccomp_filter, include/linux/ptrace.h
 * ptrace_report_syscall).
 */
bool rec_resume(struct rec *rec, struct rec_task *task, int sig);

/* ---- rec_notes.c ---- */

/* A program runs without rights that it would have alone. */
void rec_say_lost_rights(struct rec *rec, const struct rec_task *task);
/* A call at its entry that will be refused under a recorder, or hides others from it. */
void rec_say_of_call(struct rec *rec, const struct rec_task *task, const struct rec_call *call);
/*
 * A call that has failed: whether the host promises no more memory; and, where calls stop before the
 * program's own filter, whether that has refused it.
 */
void rec_mark_refused(struct rec *rec, const struct rec_task *task, struct rec_call *call,
		      int64_t result);

/* ---- rec_lives.c ---- */

/*
 * The parent stands at its event. Its child stops before it has run at all; that is waited for, so
 * that its space is told before the parent goes on.
 */
void rec_on_birth(struct rec *rec, struct rec_task *parent, int event);
/* A task that stopped before its parent's event: a thread's process is known without it. False: none. */
bool rec_place_thread(struct rec *rec, struct rec_task *task);
/* Tasks whose parents have not told of them for too long are on their own. */
void rec_take_orphans(struct rec *rec, uint64_t now_ns);
void rec_on_exec(struct rec *rec, pid_t pid);
/* The memory is still there, and if this was its last user, nothing can change it any more. */
void rec_on_exit(struct rec *rec, struct rec_task *task);
void rec_on_death(struct rec *rec, pid_t tid, int status);

/* ---- rec_filter.c ---- */

/* What the filter gives with its stops: a filter of the program's own gives something else. */
#define REC_FILTER_DATA 0x5ea3

/* In the child: the filter, without no_new_privs where that is allowed. 0 or -errno. */
int rec_install_filter(void);

/* ---- rec_decode.c ---- */

/* What the stopped call is. False: nothing for us. */
bool rec_decode(pid_t tid, const struct ptrace_syscall_info *info, struct rec_call *ret_call);
/* Stop only when argument .arg, masked, is one of the values; without values, when it is not NULL. */
struct rec_condition {
	uint8_t arg, nr_values;
	uint32_t mask;
	uint32_t values[6];
};
struct rec_number {
	uint32_t nr;
	uint8_t kind, call;
	const struct rec_condition *condition; /* NULL: always */
};
/* The calls of one architecture that must stop. */
struct rec_abi {
	uint32_t arch; /* AUDIT_ARCH_* */
	bool compat;   /* 32-bit calls */
	const struct rec_number *numbers;
	size_t nr_numbers;
};
extern const struct rec_abi rec_abis[];
extern const size_t rec_nr_abis;

/* ---- rec_registers.c ---- */

/*
 * The result of the call in which a task was killed, as it stands at its end; -ENOSYS: the call was not
 * made. False: not to be had.
 */
bool rec_result_of_dying(pid_t tid, const struct rec_call *call, int64_t *ret_result);
/* The task at its end has come back from the call. False also where that is not to be had. */
bool rec_is_back(pid_t tid, const struct rec_call *call);
/* The call at whose entry the task stands is not made and fails with ENOSYS. */
void rec_refuse_call(pid_t tid);
/* Takes CLONE_UNTRACED out of the call at its entry, so that the child is traced. */
void rec_hide_untraced(struct rec *rec, struct rec_task *task, const struct rec_call *call);
/* Puts it back in @tid, @parent itself or its child. */
void rec_show_untraced(struct rec_task *parent, pid_t tid);

/* ---- rec_calls.c ---- */

/* A call stopped at its entry, and at its exit with its result. */
void rec_call_entered(struct rec *rec, struct rec_task *task,
		      const struct ptrace_syscall_info *info);
void rec_call_left(struct rec *rec, struct rec_task *task, int64_t result);
/* Any stop of a task but its last one ends a call that did not stop at its exit. */
void rec_call_passed(struct rec *rec, struct rec_task *task);
/* The task stands at its end, perhaps in the middle of a call. */
void rec_call_died(struct rec *rec, struct rec_task *task);
/* The task will not come back from its call: exec, exit, death. */
void rec_call_gone(struct rec *rec, struct rec_task *task);
/* Lets calls go that have been held for too long. */
void rec_release_old(struct rec *rec, uint64_t now_ns);

/* ---- rec_tasks.c ---- */

struct rec_task *rec_find_task(struct rec *rec, pid_t tid);
/* NULL: no memory. */
struct rec_task *rec_add_task(struct rec *rec, pid_t tid);
void rec_drop_task(struct rec *rec, struct rec_task *task);
struct rec_process *rec_add_process(struct rec *rec, pid_t pid); /* without users */
void rec_put_process(struct rec_process *process);
struct rec_space *rec_add_space(struct rec *rec);
void rec_set_process(struct rec_task *task, struct rec_process *process);
enum rec_end {
	REC_END_EXEC,  /* exec has made another space */
	REC_END_EXIT,  /* with a status, as a shell says it */
	REC_END_TRACE, /* it lives on when the recording ends */
};
/* Takes the task out of its space; when it was the last user, an EVENT_END is written. */
void rec_leave_space(struct rec *rec, struct rec_task *task, enum rec_end how, int status);
void rec_set_space(struct rec_task *task, struct rec_space *space);
/* The task is now known as @tid. */
void rec_rename_task(struct rec *rec, struct rec_task *task, pid_t tid);
void rec_free_tasks(struct rec *rec);

/* ---- rec_areas.c ---- */

int rec_areas_new(struct rec *rec);
void rec_areas_free(struct rec *rec);

enum rec_look {
	REC_LOOK_MAPS,	/* ranges, protection, files by inode */
	REC_LOOK_FLAGS, /* all of smaps; slower, as it walks the page tables */
	REC_LOOK_EXEC,	/* that, right after exec: each file is one open description */
};
/* The areas of the task's space, until the next look. -errno. */
int rec_look(struct rec *rec, const struct rec_task *task, enum rec_look look,
	     const struct seam_area **ret_areas, size_t *ret_nr);
/* Writes the areas of the task's space: an EVENT_TRUTH or _CHANGE begun in @event. */
void rec_write_areas(struct rec *rec, const struct rec_task *task, struct event *event,
		     enum rec_look look);
void rec_write_truth(struct rec *rec, const struct rec_task *task);
/* The growth of the space's stack since it was last seen, if there was any. */
void rec_write_growth(struct rec *rec, const struct rec_task *task, struct rec_space *space,
		      uint64_t stack);
/* The whole map after something that no event tells; @what names it, NULL where that is not known. */
void rec_write_change(struct rec *rec, const struct rec_task *task, const char *what);
/* A number for a name of memory as maps shows it, "[anon:NAME]"; 0 without memory. */
uint32_t rec_name_number(struct rec *rec, const char *name);
/* A new space with its areas, and the facts that stand beside them. */
void rec_write_space(struct rec *rec, const struct rec_task *task, enum space_born born,
		     const struct rec_task *parent);
/* The maps file of a space for PROCMAP_QUERY; -1 where that is not to be had. */
int rec_maps_fd(const struct rec_task *task);
/* procmap_find in the space of a stopped task. */
int rec_find_area(const struct rec_task *task, uint64_t addr, struct procmap_area *ret_area);

/* ---- rec_anon.c ---- */

/* Before anything is stopped, since it takes a time. */
void rec_open_anon(struct rec *rec);
void rec_close_anon(struct rec *rec);
/* anon_vmas and offsets into @areas, all of the stopped task's space: the SEES_* that this adds. */
uint32_t rec_add_anon(struct rec *rec, const struct rec_task *task, struct seam_area *areas,
		      size_t nr);
/* That was not to be had: what calls do to these areas depends on what is not known. */
void rec_mark_unknown(struct rec_space *space, const struct seam_area *areas, size_t nr);
/* Sets space->in_doubt by a finished call. */
void rec_doubt(struct rec *rec, struct rec_space *space, const struct rec_call *call,
	       int64_t result);

/* ---- rec_files.c ---- */

/*
 * The file behind an mmap: at its entry; what its copy tells, after the task has been let go; its number
 * once the call has its result.
 */
void rec_identify(struct rec *rec, struct rec_task *task, struct rec_call *call);
void rec_describe_file(const struct rec_task *task, const struct rec_call *call);
void rec_number_file(struct rec *rec, struct rec_task *task, struct rec_call *call, int64_t result);
/* Gives back copies whose last area the call at its entry removes. */
void rec_before_unmap(const struct rec_task *task, const struct rec_call *call);
/* A call has ended: what is mapped where. */
void rec_after_call(struct rec *rec, struct rec_task *task, const struct rec_call *call,
		    int64_t result);
/* A held description that may have lost its last range. */
void rec_put_held(struct rec *rec, struct rec_held *held);
/*
 * A child has its parent's ranges, as far as they are in its map: MADV_DONTFORK may have left some
 * out.
 */
int rec_copy_files(struct rec_space *child, const struct rec_space *parent,
		   const struct seam_area *areas, size_t nr_areas);

/* ---- rec_touch.c ---- */

/* Can it be asked here which memory has been touched? */
bool rec_can_ask(void);
/* What the call at its entry cuts or may join: an EVENT_TOUCH for what is faulted and was not known. */
void rec_ask_before(struct rec *rec, const struct rec_task *task, struct rec_call *call);
/* Is nothing mapped in [start, end)? */
bool rec_is_free(const struct rec_task *task, uint64_t start, uint64_t end);
/* The same; if so, the neighbours of what will be mapped there are asked for. */
bool rec_ask_room(struct rec *rec, const struct rec_task *task, uint64_t start, uint64_t end);
/* Nobody but the task changes its map until its next stop, and nobody wants to see its calls' exits. */
bool rec_is_alone(const struct rec *rec, const struct rec_task *task);
/* The neighbours of what the call has made, before the call is written. */
void rec_ask_after(struct rec *rec, const struct rec_task *task, const struct rec_call *call,
		   int64_t result);
/*
 * All that @parent had touched when it made @child, which has @areas: the child's pages tell, since
 * other threads of the parent may have gone on. Also all that one task has touched so far.
 */
void rec_ask_all(struct rec *rec, const struct rec_task *parent, const struct rec_task *child,
		 const struct seam_area *areas, size_t nr_areas);
/* After the call was written: @ranges, of memory of some kind, go with what was moved or removed. */
void rec_move_ranges(struct rec *rec, struct rec_ranges *ranges, const struct rec_call *call,
		     int64_t result);

/* ---- rec_foresee.c ---- */

/* At the entry of a call: .foreseen, and .exit_unseen where its outcome will be found without its exit. */
void rec_foresee(struct rec *rec, const struct rec_task *task, struct rec_call *call);
/* Has the pending call, whose exit was not seen, worked as foreseen? */
bool rec_is_proved(const struct rec_task *task);
/* Its result at the task's next stop. False: not to be had. */
bool rec_find_outcome(struct rec *rec, struct rec_task *task, int64_t *ret_result);
/* The ground that is mapped: by a look at the whole map, and by each call after that. */
void rec_foresight_begin(struct rec *rec, struct rec_space *space, const struct seam_area *areas,
			 size_t nr);
void rec_foresight_after(struct rec *rec, struct rec_space *space, const struct rec_call *call,
			 int64_t result);
/* A call has changed it in a way that is not known. */
void rec_foresight_forget(struct rec *rec, struct rec_space *space);
/*
 * Is there ground in @areas, in order, that no call has mapped, or less than there should be? A stack that
 * has grown is none. False also where that is not known.
 */
bool rec_foresight_differs(const struct rec_space *space, const struct seam_area *areas, size_t nr);
/* A child begins with what was learnt of its parent. */
void rec_foresight_copy(struct rec_space *child, const struct rec_space *parent);

/* ---- rec_stack.c ---- */

/* The call stack of a task at the entry of a call; 0: none. */
uint32_t rec_stack(struct rec *rec, const struct rec_task *task);
/* Tells the unwinder of code that the call has mapped or removed. */
void rec_stack_after(const struct rec_space *space, const struct rec_call *call, int64_t result);

/* ---- rec_reports.c ---- */

/* What the kernel reports by itself: changes that no recorded call explains are written. */
void rec_take_reports(struct rec *rec);
/* A child that was made before its parent's reports began. */
void rec_on_unreported(struct rec *rec, struct rec_task *child);
/*
 * A call at its entry, as long as nothing is reported: how far the main stack has grown is asked; another
 * area that grows has to be reported on.
 */
void rec_before_reports(struct rec *rec, const struct rec_task *task, const struct rec_call *call);

/* ---- rec_ranges.c ---- */

/* The first range that ends behind @addr. */
size_t rec_ranges_find(const struct rec_ranges *ranges, uint64_t addr);
bool rec_ranges_meet(const struct rec_ranges *ranges, uint64_t start, uint64_t end);
/* Into free ground. */
int rec_ranges_insert(struct rec_ranges *ranges, const struct rec_range *range);
void rec_ranges_cut(struct rec *rec, struct rec_ranges *ranges, uint64_t start, uint64_t end);
int rec_ranges_copy(struct rec_ranges *to, const struct rec_ranges *from);
void rec_ranges_free(struct rec *rec, struct rec_ranges *ranges);

#endif
