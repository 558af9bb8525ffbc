/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stops of a traced tree, one after the other. Every thread is attached by PTRACE_SEIZE, so that
 * stopping and continuing work as they do alone.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/rec.h"
#include "probe/rec_side.h"

#define TICK_US 20000 /* how often held tasks are looked after */
#define DETACH_NS UINT64_C(1000000000)
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define ALL_STOPS 16 /* so often all are taken that there are */
#define MOST_CALLS_LAST_NS 30000
#define UNPOLLED 64

/* ---- signals to the recorder ---- */

/* For the handler; a recording is a process's only one. */
static struct {
	pid_t program; /* what is sent to the recorder alone goes to the program */
	pid_t wake;    /* attached: one of its threads is stopped to wake the recorder */
	volatile sig_atomic_t stop;
} signalled;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	/* what the terminal sends to the whole group has reached the program already */
	if (signalled.program && info->si_code <= 0)
		kill(signalled.program, sig);
	if (signalled.wake) {
		signalled.stop = 1;
		ptrace(PTRACE_INTERRUPT, signalled.wake, NULL, NULL);
	}
	errno = saved;
}

static void on_tick(int sig)
{
}

/* Each process of the tree takes three descriptors here; the program has its own limit by now. */
static void raise_own_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void take_over(void)
{
	static const int ending[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
		sigaction(ending[i], &act, NULL);
		sigaddset(&set, ending[i]);
	}
	sigaction(SIGALRM, &(struct sigaction) { .sa_handler = on_tick }, NULL);
	sigaddset(&set, SIGALRM);
	sigaction(SIGCHLD, &(struct sigaction) { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP },
		  NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise_own_limit();
	signal(SIGPIPE, SIG_IGN); /* nobody reads our messages any more */
}

/* Ticks only while somebody waits. */
static void set_ticking(bool on)
{
	static bool ticking;
	struct itimerval tick = { { 0, on ? TICK_US : 0 }, { 0, on ? TICK_US : 0 } };

	if (on != ticking)
		setitimer(ITIMER_REAL, &tick, NULL);
	ticking = on;
}

/* ---- what the other files need ---- */

static void set_origin(struct event *event, const struct rec_task *task,
		       const struct rec_space *space)
{
	event->space = space ? space->number : 0;
	event->pid = (uint32_t)(task->process ? task->process->pid : task->tid);
	event->tid = (uint32_t)task->tid;
}

static void stop_writing(struct rec *rec, int err)
{
	rec->result->write_err = err;
	rec->options->say("the recording ends here, the program goes on");
}

void rec_begin_writing(struct rec *rec)
{
	int err;

	if (!rec->options->open_writer)
		return;
	err = rec->options->open_writer(rec->options->writer_ctx, &rec->writer);
	if (err)
		stop_writing(rec, err);
}

void rec_write_in(struct rec *rec, const struct rec_task *task, const struct rec_space *space,
		  struct event *event)
{
	const struct record_watcher *watcher = rec->options->watcher;
	const struct record_stop stop = { rec, task };

	set_origin(event, task, space);
	if (!event->time_ns)
		event->time_ns = clock_ns() - rec->began_ns;
	if (rec->writer && data_write(rec->writer, event) && !rec->result->write_err)
		stop_writing(rec, data_writer_error(rec->writer));
	if (watcher && watcher->event)
		watcher->event(watcher->ctx, event, &stop);
}

void rec_write(struct rec *rec, const struct rec_task *task, struct event *event)
{
	rec_write_in(rec, task, task->space, event);
}

void rec_tell_entry(struct rec *rec, const struct rec_task *task, const struct rec_call *call)
{
	const struct record_watcher *watcher = rec->options->watcher;
	struct event event = {
		.kind = EVENT_CALL,
		.call = call->call,
		.flags = call->flags | EVENT_NO_RESULT,
	};

	if (call->kind != REC_CALL || !watcher || !watcher->before_call)
		return;
	set_origin(&event, task, task->space);
	memcpy(event.arg, call->arg, sizeof(event.arg));
	watcher->before_call(watcher->ctx, &event, &(struct record_stop) { rec, task });
}

/* Without a writer, which numbers them itself: by all that tells two files apart. */
static uint32_t number_file(struct rec *rec, const struct trace_file *file)
{
	struct rec_file key;
	size_t len = strnlen(file->path, sizeof(key.path));
	bool is_new;

	memset(&key.file, 0, sizeof(key.file));
	key.file.dev = file->dev;
	key.file.ino = file->ino;
	key.file.description = file->description;
	key.file.traits = file->traits;
	key.file.known = file->known;
	memcpy(key.path, file->path, len);
	return intern_number(&rec->files, &key, offsetof(struct rec_file, path) + len, UINT32_MAX,
			     &is_new);
}

uint32_t rec_write_file(struct rec *rec, const struct trace_file *file)
{
	const struct record_watcher *watcher = rec->options->watcher;
	uint32_t number = rec->writer ? data_write_file(rec->writer, file) : number_file(rec, file);

	if (watcher && watcher->file)
		watcher->file(watcher->ctx, number, file);
	return number;
}

int rec_peek(pid_t tid, uint64_t addr, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)addr, size };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -1;
}

bool rec_resume(struct rec *rec, struct rec_task *task, int sig)
{
	bool to_exit = (task->in_call && !task->pending.exit_unseen) || task->hidden_flags;
	enum __ptrace_request request = rec->all_calls || to_exit ? PTRACE_SYSCALL : PTRACE_CONT;

	if (task->space)
		task->space->asked.is_valid = false;
	if (rec->detaching && !task->in_call) {
		task->is_parked = true;
		task->park_signal = sig;
		return true;
	}
	rec->stop_near |= to_exit && rec->may_poll;
	/* ESRCH: killed in the meantime; its end will be told */
	return !ptrace(request, task->tid, NULL, (unsigned long)sig);
}

/* ---- stops ---- */

static void on_event_stop(struct rec *rec, struct rec_task *task, int sig)
{
	bool first = !task->started;

	task->started = true;
	if (first && !task->process && !rec_place_thread(rec, task)) {
		task->waiting_ns = clock_ns();
		rec->nr_waiting++;
	} else if (rec->detaching && !task->in_call && !task->is_held) {
		rec_resume(rec, task, is_stop_signal(sig) ? SIGSTOP : 0);
	} else if (is_stop_signal(sig)) {
		ptrace(PTRACE_LISTEN, task->tid, NULL, NULL); /* until SIGCONT, as it would alone */
	} else {
		rec_resume(rec, task, 0);
	}
}

/*
 * A task that is killed leaves the stop that was told of, for the one at its end, which will be told as
 * well and must not be passed over: there it still has its memory, and the result of its call.
 */
static void on_call_stop(struct rec *rec, struct rec_task *task)
{
	struct ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) <= 0 ||
	    info.op == PTRACE_SYSCALL_INFO_NONE)
		return;
	/* a filter that asks for a tracer of the program's own, which there is none of */
	if (info.op == PTRACE_SYSCALL_INFO_SECCOMP && info.seccomp.ret_data != REC_FILTER_DATA) {
		rec_refuse_call(task->tid);
		rec_resume(rec, task, 0);
		return;
	}
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->hidden_flags) {
		rec_show_untraced(task, task->tid);
		task->hidden_flags = 0;
	}
	if (info.op != PTRACE_SYSCALL_INFO_EXIT)
		rec_call_entered(rec, task, &info);
	else if (task->in_call)
		rec_call_left(rec, task, info.exit.rval);
	else
		rec_resume(rec, task, 0);
}

static void on_stop(struct rec *rec, struct rec_task *task, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (event != PTRACE_EVENT_EXIT)
		rec_call_passed(rec, task);
	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		on_call_stop(rec, task);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		rec_on_birth(rec, task, event);
		rec_resume(rec, task, 0);
		break;
	case PTRACE_EVENT_EXIT:
		rec_on_exit(rec, task);
		break;
	case PTRACE_EVENT_STOP:
		on_event_stop(rec, task, sig);
		break;
	default:
		if (sig == SYSCALL_STOP)
			on_call_stop(rec, task);
		else
			rec_resume(rec, task, event ? 0 : sig);
	}
	task->bears_unreported = false;
}

static void take_status(struct rec *rec, pid_t tid, int status)
{
	struct rec_task *task;

	if (!WIFSTOPPED(status)) {
		rec_on_death(rec, tid, status);
		return;
	}
	if (status >> 16 == PTRACE_EVENT_EXEC) {
		rec_on_exec(rec, tid);
		return;
	}
	task = rec_add_task(rec, tid);
	if (!task) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return;
	}
	on_stop(rec, task, status);
}

/* ---- the run ---- */

static void begin_detaching(struct rec *rec)
{
	rec->detaching = true;
	rec->detaching_ns = clock_ns();
	rec->result->interrupted = true;
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next)
			ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

static void count_parked(struct rec *rec)
{
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next)
			if (task->space)
				task->space->nr_parked = 0;
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next)
			if (task->space)
				task->space->nr_parked += task->is_parked;
}

/*
 * Lets go the tasks of each space that stands still as a whole: its last checkpoint is what it will
 * go on with. A task in a sleep that nothing interrupts is not waited for for ever: false when it is
 * time to leave it to the end of the recorder.
 */
static bool let_go(struct rec *rec)
{
	bool overdue = clock_ns() - rec->detaching_ns > DETACH_NS;

	count_parked(rec);
	for (unsigned int i = 0; i < REC_CHAINS; i++) {
		struct rec_task *task = rec->chains[i], *next;

		for (; task; task = next) {
			struct rec_space *space = task->space;
			bool still = !space || space->nr_parked == space->nr_users;

			next = task->next;
			if (!task->is_parked || (!still && !overdue))
				continue;
			if (space && still)
				rec_write_truth(rec, task);
			if (space)
				space->nr_parked--;
			rec_leave_space(rec, task, REC_END_TRACE, 0);
			ptrace(PTRACE_DETACH, task->tid, NULL, (unsigned long)task->park_signal);
			rec_drop_task(rec, task);
		}
	}
	return !overdue;
}

/*
 * A processor that idles takes longer to come back, in a virtual machine ten times, than most calls
 * that change maps last. It is kept awake for as long where a stop is near: the exit of a call, or
 * the next of calls that follow each other closely. Where others want the processor, that only takes
 * it from the tasks: after a try in vain there is none for some time.
 */
static pid_t poll_first(struct rec *rec, int *ret_status)
{
	uint64_t until_ns = clock_ns() + MOST_CALLS_LAST_NS;
	pid_t tid;

	if (rec->nr_unpolled) {
		rec->nr_unpolled--;
		return 0;
	}
	do {
		tid = waitpid(-1, ret_status, __WALL | WNOHANG);
		if (tid)
			return tid;
		sched_yield();
	} while (clock_ns() < until_ns);
	rec->nr_unpolled = UNPOLLED;
	return 0;
}

static pid_t wait_first(struct rec *rec, int *ret_status)
{
	uint64_t began_ns = clock_ns();
	pid_t tid = rec->stop_near ? poll_first(rec, ret_status) : 0;

	if (!tid)
		tid = waitpid(-1, ret_status, __WALL);
	rec->stop_near = rec->may_poll && clock_ns() - began_ns < 2 * MOST_CALLS_LAST_NS;
	return tid;
}

/*
 * Waits for the next stop. From time to time all that there are at this moment are taken: waitpid
 * looks at the tasks in one and the same order each time, so that busy ones would keep others from
 * ever being seen. Not each time, since a look that finds no more goes through all tasks.
 */
static int gather_batch(struct rec *rec)
{
	struct rec_status *next = rec->batch;

	rec->batch_at = rec->nr_batch = 0;
	while (rec->nr_batch < REC_BATCH) {
		next->tid = rec->nr_batch ? waitpid(-1, &next->status, __WALL | WNOHANG)
					  : wait_first(rec, &next->status);
		if (next->tid <= 0)
			break;
		next++;
		rec->nr_batch++;
		if (rec->nr_tasks == 1 || (rec->nr_batch == 1 && ++rec->nr_waits % ALL_STOPS))
			break;
	}
	return rec->nr_batch ? 0 : -errno;
}

static void handle_batch(struct rec *rec)
{
	while (rec->batch_at < rec->nr_batch) {
		struct rec_status *next = &rec->batch[rec->batch_at++];

		if (next->tid)
			take_status(rec, next->tid, next->status);
	}
}

static void follow(struct rec *rec)
{
	while (rec->nr_tasks) {
		int err;

		set_ticking(rec->nr_waiting || rec->detaching);
		if (signalled.stop && !rec->detaching)
			begin_detaching(rec);
		err = gather_batch(rec);
		if (!err) {
			handle_batch(rec);
		} else if (err == -EINTR && rec->nr_waiting) {
			uint64_t now_ns = clock_ns();

			rec_release_old(rec, now_ns);
			rec_take_orphans(rec, now_ns);
		} else if (err != -EINTR) {
			break;
		}
		if (rec->detaching && !let_go(rec))
			break;
	}
	set_ticking(false);
}

static void begin(struct rec *rec)
{
	cpu_set_t allowed;

	rec->began_ns = clock_ns();
	rec->may_poll = !sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) > 1;
}

static const unsigned long trace_options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
					   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
					   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;

static int run_launched(struct rec *rec)
{
	bool filter = !rec->options->survive;
	unsigned long options = trace_options |
				(filter ? PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL : 0);
	struct rec_task *task;
	int err;

	rec->all_calls = !filter;
	err = launch_start_prepared(&rec->launch, rec->options->argv,
				    filter ? rec_install_filter : NULL);
	if (err)
		return err;
	task = rec_add_task(rec, rec->launch.pid);
	if (!task)
		err = -ENOMEM;
	else if (ptrace(PTRACE_SEIZE, rec->launch.pid, NULL, options))
		err = -errno;
	if (err) {
		launch_cancel(&rec->launch);
		return err;
	}
	task->started = true;
	rec_set_process(task, rec_add_process(rec, task->tid));
	rec->result->threads++;
	signalled.program = rec->launch.pid;
	take_over();
	rec->side = side_begin(rec->launch.pid);
	begin(rec);
	launch_open_gate(&rec->launch);
	follow(rec);
	side_close(rec->side);
	rec->result->exec_errno = launch_end(&rec->launch);
	return 0;
}

/* ---- attaching ---- */

static int seize_new_threads(struct rec *rec, struct rec_process *process, unsigned int *ret_new)
{
	char path[32];
	struct dirent *entry;
	DIR *tasks;
	int err = 0;

	*ret_new = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!err && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);
		struct rec_task *task;

		if (tid <= 0 || rec_find_task(rec, tid))
			continue;
		if (ptrace(PTRACE_SEIZE, tid, NULL, trace_options)) {
			err = errno == ESRCH ? 0 : -errno; /* it has ended since */
			continue;
		}
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		task = rec_add_task(rec, tid);
		if (!task) {
			err = -ENOMEM;
			continue;
		}
		rec_set_process(task, process);
		rec->result->threads++;
		++*ret_new;
	}
	closedir(tasks);
	return err;
}

/* Until a list of the threads shows no new one; those that are seized make theirs known by events. */
static int seize_all(struct rec *rec, struct rec_process *process)
{
	unsigned int nr_new;
	int err;

	do
		err = seize_new_threads(rec, process, &nr_new);
	while (!err && nr_new);
	if (!err && !rec->nr_tasks)
		err = -ESRCH;
	return err;
}

/*
 * Waits until every thread has stopped, and leaves them so. A thread in a sleep that nothing
 * interrupts (a parent in vfork) is not waited for.
 */
static void gather(struct rec *rec)
{
	uint64_t until_ns = clock_ns() + UINT64_C(1000000000);
	unsigned int nr_left = rec->nr_tasks;
	int status;

	while (nr_left && clock_ns() < until_ns) {
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
		struct rec_task *task = tid > 0 ? rec_find_task(rec, tid) : NULL;

		if (tid < 0)
			return;
		if (!tid) {
			usleep(200);
		} else if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP && task) {
			nr_left -= !task->started;
			task->started = true;
			task->first_status = status;
		} else {
			nr_left -= !WIFSTOPPED(status) && task && !task->started;
			take_status(rec, tid, status);
		}
	}
}

static void begin_attached(struct rec *rec, struct rec_space *space)
{
	bool told = false;

	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next)
			if (!task->space)
				rec_set_space(task, space);
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next) {
			if (!task->first_status)
				continue;
			if (!told)
				rec_write_space(rec, task, BORN_UNKNOWN, NULL);
			told = true;
		}
	for (unsigned int i = 0; i < REC_CHAINS; i++)
		for (struct rec_task *task = rec->chains[i]; task; task = task->next)
			if (task->first_status)
				on_event_stop(rec, task, WSTOPSIG(task->first_status));
}

static int follow_attached(struct rec *rec, struct rec_process *process)
{
	struct rec_space *space;
	int err = seize_all(rec, process);

	if (err)
		return err; /* what was seized is let go when the recorder ends */
	space = rec_add_space(rec);
	if (!space)
		return -ENOMEM;
	signalled.wake = rec->options->pid;
	take_over();
	gather(rec);
	begin_attached(rec, space);
	follow(rec);
	return 0;
}

static int run_attached(struct rec *rec)
{
	struct rec_process *process = rec_add_process(rec, rec->options->pid);
	int err;

	if (!process)
		return -ENOMEM;
	process->nr_users++; /* stays while threads come and go */
	rec->all_calls = true;
	rec_open_anon(rec);
	begin(rec);
	err = follow_attached(rec, process);
	rec_put_process(process);
	rec_close_anon(rec);
	return err;
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

/* PTRACE_GET_SYSCALL_INFO came with 5.3. */
static bool kernel_is_too_old(void)
{
	struct utsname name;
	unsigned int major, minor;

	return !uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 3));
}

int record_run(const struct record_options *options, struct record_result *ret_result)
{
	struct rec *rec = calloc(1, sizeof(*rec));
	uint64_t cpu_ns = own_cpu_ns();
	int err;

	*ret_result = (struct record_result) { 0 };
	if (!rec)
		return -ENOMEM;
	if (kernel_is_too_old()) {
		free(rec);
		return -ENOSYS;
	}
	rec->options = options;
	rec->result = ret_result;
	rec->no_touches = !rec_can_ask();
	err = rec_areas_new(rec);
	if (!err)
		err = options->argv ? run_launched(rec) : run_attached(rec);
	rec_free_tasks(rec);
	rec_areas_free(rec);
	intern_free(&rec->files);
	ret_result->elapsed_ns = clock_ns() - rec->began_ns;
	ret_result->cpu_ns = own_cpu_ns() - cpu_ns;
	free(rec);
	return err;
}
