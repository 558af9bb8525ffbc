/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * actor ROLE [N]: a program that does one awkward thing, for tests of what follows programs.
 * It prints on standard output what its follower should find.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

static char *self; /* argv[0] */

/* @nr areas that nothing can join: every second page is read-only. */
static void make_areas(unsigned long nr)
{
	char *base =
		mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		exit(99);
	for (unsigned long i = 0; i < nr; i += 2)
		if (mprotect(base + i * PAGE, PAGE, PROT_READ))
			exit(99);
}

/* The areas of this very moment, without changing them: nothing allocates. */
static void print_areas(const char *what)
{
	char buf[65536];
	unsigned long lines = 0;
	ssize_t len;
	bool gate = false;
	int fd = open("/proc/thread-self/maps", O_RDONLY);

	while ((len = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < len; i++)
			lines += buf[i] == '\n';
		gate |= memmem(buf, (size_t)len, "[vsyscall]", 10) != NULL;
	}
	close(fd);
	len = snprintf(buf, sizeof(buf), "%s %lu\n", what, lines - gate);
	if (write(1, buf, (size_t)len) != len)
		_exit(99);
}

/* Areas at the very end, by a thread that outlives the leader. */
static void *last_thread(void *nr)
{
	usleep(20000); /* the leader has left */
	make_areas((unsigned long)nr);
	usleep(60000);
	print_areas("end");
	_exit(7);
}

static int leader_exits(unsigned long nr)
{
	pthread_t thread;

	pthread_create(&thread, NULL, last_thread, (void *)nr);
	pthread_exit(NULL);
}

static void *exec_self(void *nr)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", (unsigned long)nr);
	execl(self, self, "areas", text, (char *)NULL);
	_exit(99);
}

static int exec_from_thread(unsigned long nr)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_self, (void *)nr);
	pause();
	return 99;
}

static int areas(unsigned long nr)
{
	make_areas(nr);
	print_areas("end");
	_exit(0);
}

/* A child of vfork uses its parent's memory: two spaces in all, not three. */
static int vfork_exec(unsigned long nr)
{
	char text[32];
	pid_t pid;

	snprintf(text, sizeof(text), "%lu", nr);
	pid = vfork();
	if (!pid) {
		execl(self, self, "areas", text, (char *)NULL);
		_exit(99);
	}
	return waitpid(pid, NULL, 0) == pid ? 0 : 99;
}

static int stay(void *unused)
{
	usleep(5000);
	_exit(0);
}

/* A process of its own that uses its parent's memory: one space. */
static int clone_vm(unsigned long nr)
{
	static char stack[65536];
	pid_t pid = clone(stay, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	make_areas(nr);
	if (waitpid(pid, NULL, 0) != pid)
		return 99;
	print_areas("end");
	_exit(0);
}

static void *leave(void *unused)
{
	return NULL;
}

static int threads(unsigned long nr)
{
	pthread_t thread;

	for (unsigned long i = 0; i < nr; i++)
		if (pthread_create(&thread, NULL, leave, NULL) || pthread_join(thread, NULL))
			return 99;
	return 0;
}

static int forks(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			return 99;
	}
	return 0;
}

/* Leaves a child behind that lives @nr ms longer, and holds no standard output of ours. */
static int daemon_stays(unsigned long nr)
{
	if (!fork()) {
		close(0);
		close(1);
		close(2);
		usleep((unsigned int)nr * 1000);
		_exit(0);
	}
	return 0;
}

static int killed(unsigned long nr)
{
	return raise((int)nr);
}

/* Stops itself; whoever started it sends SIGCONT. */
static int stops(unsigned long nr)
{
	dprintf(1, "pid %d\n", (int)getpid());
	raise((int)nr);
	dprintf(1, "goes on\n");
	return 3;
}

static void on_signal(int sig)
{
	_exit(write(1, "signal\n", 7) == 7 ? 4 : 99);
}

static int waits_for(unsigned long nr)
{
	signal((int)nr, on_signal);
	dprintf(1, "pid %d\n", (int)getpid());
	pause();
	return 99;
}

/* The signals that it was started with. */
static int signals(unsigned long nr)
{
	struct sigaction action;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++) {
		sigaction(sig, NULL, &action);
		dprintf(1, "%d %d%d\n", sig, sigismember(&mask, sig), action.sa_handler == SIG_IGN);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*play)(unsigned long nr);
	} roles[] = {
		{ "areas", areas },
		{ "leader-exits", leader_exits },
		{ "exec-from-thread", exec_from_thread },
		{ "vfork-exec", vfork_exec },
		{ "clone-vm", clone_vm },
		{ "threads", threads },
		{ "forks", forks },
		{ "daemon", daemon_stays },
		{ "killed", killed },
		{ "stops", stops },
		{ "waits-for", waits_for },
		{ "signals", signals },
	};

	self = argv[0];
	for (unsigned int i = 0; argc > 1 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].name, argv[1]))
			return roles[i].play(argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
	fprintf(stderr, "actor: no such role\n");
	return 98;
}
