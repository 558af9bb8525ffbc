#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""programs.py SEAM [--all] [--record] [NAME...]: real programs with the model beside them: no mismatch, and few outcomes
that hang on what nobody can tell. With --record they are recorded, do the same as alone, and the replay of what was
recorded is what happened. Small ones; with --all the large ones too. What is not installed is a named skip."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
ALL = '--all' in sys.argv
RECORDED = '--record' in sys.argv
WANTED = [word for word in sys.argv[2:] if word not in ('--all', '--record')]
TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..'))
UNDETERMINED = 0.02
TIMEOUT_S = 900

PYTHON = '''
import mmap, threading
def work():
    for i in range(50):
        m = mmap.mmap(-1, 65536)
        m[0] = 1
        m.close()
    return [bytearray(100000) for i in range(100)]
threads = [threading.Thread(target=work) for i in range(20)]
[t.start() for t in threads]
[t.join() for t in threads]
'''
NODE = '''
const { Worker, isMainThread } = require('worker_threads');
let kept = [];
for (let i = 0; i < 200000; i++) kept.push({ i });
if (isMainThread) for (let i = 0; i < 3; i++) new Worker(__filename);
'''
JAVA = '''
import java.util.*;
public class T {
    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Thread thread = new Thread(() -> {
                List<byte[]> kept = new ArrayList<>();
                for (int j = 0; j < 200; j++) {
                    kept.add(new byte[10000]);
                    if (kept.size() > 50)
                        kept.clear();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads)
            thread.join();
        System.gc();
    }
}
'''
RUBY = '''
fibers = 10000.times.map { Fiber.new { Fiber.yield 1; 2 } }
fibers.each(&:resume)
fibers = nil
GC.start
'''
UCONTEXT = r'''
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#define STACK 65536
#define GUARD 4096
static ucontext_t home, fiber[2000];
static volatile int sum;
static void work(void)
{
	volatile char used[2000];

	for (int i = 0; i < 2000; i++)
		used[i] = (char)i;
	sum += used[7];
}
int main(void)
{
	for (int i = 0; i < 4000; i++) {
		ucontext_t *own = &fiber[i % 2000];
		char *at = mmap(0, STACK + GUARD, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

		mprotect(at, GUARD, PROT_NONE);
		getcontext(own);
		own->uc_stack.ss_sp = at + GUARD;
		own->uc_stack.ss_size = STACK;
		own->uc_link = &home;
		makecontext(own, work, 0);
		swapcontext(&home, own);
		if (i % 3 == 0)
			munmap(at, STACK + GUARD);
	}
	return 0;
}
'''
LIBGC = r'''
#include <gc.h>
struct node { struct node *next; char data[200]; };
int main(void)
{
	struct node *first = 0;

	GC_INIT();
	GC_enable_incremental();
	for (int i = 0; i < 200000; i++) {
		struct node *node = GC_MALLOC(sizeof(*node));

		if (i % 4 == 0) {
			node->next = first;
			first = node;
		}
		if (i % 50000 == 0)
			first = 0;
	}
	return 0;
}
'''
CPP = '''
#include <map>
#include <regex>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < 1000; i++)
		m[std::to_string(i)].push_back(i);
	return std::regex_match("aab", std::regex("a+b*")) ? 0 : 1;
}
'''
BOOST = '''
#include <boost/context/continuation.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <vector>
namespace ctx = boost::context;
int main()
{
	std::vector<ctx::continuation> fibers;
	for (int i = 0; i < 2000; i++)
		fibers.push_back(ctx::callcc(std::allocator_arg, ctx::protected_fixedsize_stack(65536),
			[](ctx::continuation &&back) { return std::move(back.resume()); }));
	for (auto &fiber : fibers)
		fiber = fiber.resume();
	return 0;
}
'''
REDIS = '''
redis-server --port 0 --unixsocket r.sock --save '' --daemonize no >/dev/null &
server=$!
until redis-cli -s r.sock ping >/dev/null 2>&1; do sleep 0.1; done
redis-cli -s r.sock debug populate 200000 >/dev/null
redis-cli -s r.sock bgsave >/dev/null
for i in 1 2 3 4 5 6 7 8; do redis-cli -s r.sock set k$i v >/dev/null; sleep 0.1; done
redis-cli -s r.sock shutdown nosave
wait $server
'''
SQL = '''
create table t(a); pragma mmap_size=268435456;
with recursive c(x) as (select 1 union all select x+1 from c where x<50000) insert into t select x from c;
select sum(a) from t order by a;
'''
PERL = 'my @a = map { "x" x $_ } 1..2000; my %h = map { $_ => [1..10] } 1..20000; fork; wait;'
CHROMIUM = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking']

scratch = tempfile.mkdtemp(prefix='seam-programs-')


def path(name):
    return os.path.join(scratch, name)


def write(name, text):
    with open(path(name), 'w') as f:
        f.write(text)
    return path(name)


def compiled(name, text, *flags):
    """The program's path, or None when it cannot be built here."""
    compiler = 'g++' if name.endswith('.cc') else 'cc'
    source, program = write(name, text), path(name.partition('.')[0])
    if not shutil.which(compiler):
        return None
    run = subprocess.run([compiler, '-O1', source, '-o', program, *flags], capture_output=True)
    return program if run.returncode == 0 else None


def beside(name, *program, also=(), once=False):
    """@also: what must be there besides the program itself; None: it could not be built. @once: what it does the second
    time is something else."""
    if WANTED and name not in WANTED:
        return
    if not program or program[0] is None:
        skip(name, 'cannot be built here')
        return
    for needed in (program[0], *also):
        if not shutil.which(needed):
            skip(name, f'no {needed}')
            return
    if RECORDED:
        recorded(name, program, once)
    else:
        verified(name, program)


def alone(*program):
    return subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          cwd=scratch, timeout=TIMEOUT_S)


def recorded(name, program, once):
    """Output is compared where it is the same each time."""
    data = path('data')
    run = alone(SEAM, 'record', '-o', data, '--', *program)
    first, second = (run, run) if once else (alone(*program), alone(*program))
    seen = json.loads(alone(SEAM, 'replay', '--json', data).stdout or '{"trace": {}, "kernels": []}')
    trace = seen['trace']
    changes = sum(kernel['joins'] + kernel['splits'] for kernel in seen['kernels'])
    good = run.returncode == (0 if once else first.returncode) and (run.stdout == first.stdout or first.stdout != second.stdout)
    good = good and trace.get('complete') and not trace['differences'] and trace['undetermined'] <= 0.01 * changes
    ok(good, f'{name}: {trace.get("calls")} calls of {trace.get("processes")} spaces, {trace.get("differences")} '
       f'differences, {trace.get("undetermined")} of {changes} joins and splits undetermined, '
       f'{os.path.getsize(data) / max(1, trace.get("calls", 0)):.1f} bytes a call', first.returncode, run.returncode,
       first.stdout[-500:], run.stdout[-500:], trace)


def verified(name, program):
    report = path('report')
    run = subprocess.run([SEAM, 'verify', '--json', '-o', report, '--', *program], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=scratch, timeout=TIMEOUT_S)
    seen = {}
    if os.path.exists(report):
        with open(report) as f:
            seen = json.load(f)
        os.unlink(report)
    good = run.returncode == 0 and seen['status'] == 0 and seen['undetermined'] <= UNDETERMINED * seen['checked']
    figures = f'{seen.get("checked")} calls, {seen.get("undetermined")} undetermined, {seen.get("processes")} processes'
    ok(good, f'{name}: {figures}', run.returncode, json.dumps(seen)[:4000], run.stderr.decode(errors='replace')[-500:])


def garbage_collectors():
    """Those of this Java machine, as its options are called."""
    for name in ('Serial', 'Parallel', 'G1', 'Z', 'Shenandoah'):
        run = subprocess.run(['java', f'-XX:+Use{name}GC', '-version'], capture_output=True)
        if run.returncode == 0:
            yield name


def large():
    beside('node', 'node', write('n.js', NODE))
    if shutil.which('javac'):
        subprocess.run(['javac', write('T.java', JAVA)], cwd=scratch, check=True)
        for name in garbage_collectors():
            beside(f'java {name}', 'java', f'-XX:+Use{name}GC', '-cp', scratch, 'T')
    else:
        skip('java', 'no javac')
    beside('ruby', 'ruby', write('f.rb', RUBY))
    beside('boost.context', compiled('boost.cc', BOOST, '-lboost_context'))
    beside('libgc', compiled('gc.c', LIBGC, '-lgc'))
    static = compiled('static.c', UCONTEXT, '-static')
    emulators = glob.glob('/usr/bin/qemu-x86_64') or ['qemu-x86_64']
    beside('qemu-user', *([emulators[0], static] if static else [None]))
    beside('redis', 'sh', write('redis.sh', REDIS), also=['redis-server', 'redis-cli'])
    page = write('page.html', '<html><body><h1>seam</h1><script>document.title = "x"</script></body></html>')
    browser = 'chromium' if shutil.which('chromium') else 'google-chrome'
    beside('chromium', browser, *CHROMIUM, '--user-data-dir=' + path('profile'), '--dump-dom', 'file://' + page)
    if shutil.which('meson') and shutil.which('ninja'):
        subprocess.run(['meson', 'setup', path('build'), TOP], capture_output=True)
        write('make.sh', f'CCACHE_DISABLE=1 ninja -j2 -C {path("build")} libseam.a')
    beside('make', 'sh', path('make.sh'), also=['meson', 'ninja'], once=True)


def small():
    beside('bash', 'bash', '-c', 'for i in 1 2 3 4; do ls /; (echo $i | cat); done; x=$(seq 20000)')
    beside('python3', sys.executable, '-c', PYTHON)
    beside('perl', 'perl', '-e', PERL)
    beside('g++', 'g++', '-O2', '-c', write('c.cc', CPP), '-o', path('c.o'))
    beside('sqlite', 'sqlite3', path('t.db'), SQL, once=True)
    if shutil.which('git'):
        subprocess.run('git init -q r; cd r; for i in 1 2 3 4 5; do seq $((i * 9999)) >f; git add f; '
                       'git -c user.name=n -c user.email=e commit -qm $i; done', shell=True, cwd=scratch, check=True)
    beside('git', 'git', '-C', path('r'), 'gc', '--aggressive', once=True)
    beside('ucontext', compiled('ucontext.c', UCONTEXT))


small()
if ALL:
    large()
shutil.rmtree(scratch, ignore_errors=True)
done()
