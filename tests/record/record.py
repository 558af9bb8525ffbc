#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""record.py [--every-cut] SEAM SUBJECT CUTS [SUBJECT32]: programs that are hard to record do the same as alone, and what
was recorded of them is what the kernel did."""
import errno
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import children_of, is_traced, on_terminal, run, state_of, wait_until  # noqa: E402
from tap import done, is_root, ok, skip  # noqa: E402

EVERY_CUT = '--every-cut' in sys.argv  # takes a minute on a machine that has time
SEAM, SUBJECT, CUTS, *SUBJECT32 = (os.path.realpath(word) for word in sys.argv[1:] if word != '--every-cut')
SUBJECT32 = SUBJECT32[0] if SUBJECT32 else None
NOBODY = 65534
MODES = {'filter': [], 'survive': ['--survive']}
scratch = tempfile.mkdtemp()
os.chmod(scratch, 0o777)
os.chdir(scratch)
DATA = os.path.join(scratch, 'recording')


def record(*program, options=(), **keywords):
    return run(SEAM, 'record', '-o', DATA, *options, '--', *program, **keywords)


def replay(*options, path=DATA):
    seen = run(SEAM, 'replay', '--json', *options, path)
    return json.loads(seen.stdout) if seen.stdout else {'trace': {}, 'error': seen.stderr}


def happened(seen, differences=0):
    """The recording is whole, and the model with its calls has the maps that the kernel had."""
    trace = seen['trace']
    changes = sum(kernel['joins'] + kernel['splits'] for kernel in seen.get('kernels', []))
    return trace.get('complete') is True and trace['differences'] <= differences and \
        trace['undetermined'] <= max(1, changes // 100)


def as_it_was(what, differences=0, **expected):
    seen = replay()
    trace = seen['trace']
    ok(happened(seen, differences) and trace['checkpoints'] > 0 and
       all(trace[key] == value for key, value in expected.items()), f'{what}: as it happened', trace)
    return trace


# The same outside, and the truth inside
ROLES = [('threads', '200'), ('spawns', '2'), ('clone-vm',), ('untraced',), ('fork', '15'), ('exec-from-thread',),
         ('leader-exits',), ('status', '4'), ('killed', '9'), ('killed', '15'), ('flock', '20'), ('descriptions',),
         ('stack', '300'), ('aio',), ('grows', '20'),
         ('limit',), ('limits',), ('promises',), ('own-filter', '0'), ('own-filter', '7')]
machine = os.uname().machine
if machine == 'x86_64':
    ROLES.append(('compat',))
for role in ROLES:
    alone = run(SUBJECT, *role)
    status = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    for mode, options in MODES.items():
        if mode == 'survive' and role[0] == 'limit':
            continue
        seen = record(SUBJECT, *role, options=options)
        ok((seen.returncode, seen.stdout) == (status, alone.stdout), f'{role[0]} ({mode}): the same as alone',
           alone, seen)
        ok(re.search(r'^seam: [\d,]+ calls of [\d,]+ process', seen.stderr, re.M) and 'lost 0' in seen.stderr,
           f'{role[0]} ({mode}): the closing line', seen.stderr)
        as_it_was(f'{role[0]} ({mode})')

# A map that is read anew means that something was not explained
DUMP = os.path.join(os.path.dirname(CUTS), '..', 'trace', 'trace-dump')
if os.path.exists(DUMP):
    for role in (('threads', '300'), ('spawns', '2'), ('limit',)):
        record(SUBJECT, *role)
        changes = re.findall(r'^(?:change|lost) .*$', run(DUMP, DATA).stdout, re.M)
        ok(not changes, f'{role[0]}: all is explained by calls', len(changes), changes[:3])

# Calls that need no stop at their exit
seen = record(SUBJECT, 'unmaps', '20', options=['--print'])
results = [int(n) for n in re.findall(r'^munmap (-?\d+)$', seen.stdout, re.M)]
printed = [-getattr(errno, word[1]) if word[1] else 0
           for word in re.findall(r'^\d+ munmap\(.*\) = (-1 (\w+)|0)', seen.stderr, re.M)][-len(results):]
ok(len(results) > 60 and {0, -errno.EINVAL} <= set(results) and printed == results,
   'the result of each munmap', results, printed)
as_it_was('munmap in all ways')
KERNEL = tuple(map(int, re.findall(r'\d+', os.uname().release)[:2]))
OUTCOME = re.compile(r'^\d+ (mmap|brk)\(.*?\) = (?:(0x\w+)|-1 (\w+))', re.M)
for mode, options in MODES.items():
    seen = record(SUBJECT, 'outcomes', '20', options=['--print', *options])
    told = [(name, int(value, 16)) for name, value in re.findall(r'^(mmap|brk) (0x\w+)$', seen.stdout, re.M)]
    printed = [(name, int(value, 16) if value else 2 ** 64 - getattr(errno, error))
               for name, value, error in OUTCOME.findall(seen.stderr)]
    # what the C library itself maps comes between
    at = iter(printed)
    lacking = [outcome for outcome in told if outcome not in at]
    ok(len(told) > 500 and not lacking, f'the result of each mmap and brk ({mode})', len(told), lacking[:5])
    inferred = re.findall(r'= (.*) \(inferred\)', seen.stderr)
    ok(set(inferred) == ({'-1 ENOMEM'} if mode == 'filter' and KERNEL >= (6, 11) else set()),
       f'an errno that was not seen is told as such ({mode})', inferred)
    as_it_was(f'mmap and brk in all ways ({mode})')
if os.path.exists(DUMP):
    record(SUBJECT, 'outcomes', '20')
    text = run(DUMP, DATA).stdout
    changes = re.findall(r'^(?:change|lost) .*$', text, re.M)
    ok(not changes, 'mmap and brk in all ways: all is explained by calls', len(changes), changes[:3])


def calls_of(words, options):
    run('setarch', '-R', SEAM, 'record', '-o', DATA, *options, '--', *words)
    return [re.sub(' (?:(pid|tid|time)=\\S+|flags=100\\b)', '', line) for line in run(DUMP, DATA).stdout.splitlines()
            if line.startswith('call')]


if os.path.exists(DUMP) and shutil.which('setarch') and run('setarch', '-R', 'true').returncode == 0:
    SIZES = 'x = [bytearray(i * 1000) for i in range(400)]; del x[::2]; y = [bytearray(i * 700) for i in range(600)]'
    for words in ([SUBJECT, 'outcomes', '20'], ['/usr/bin/python3', '-ISc', SIZES], ['bash', '-c', 'x=$(/bin/true; :)']):
        if not shutil.which(words[0]):
            continue
        there, here = calls_of(words, ['--survive']), calls_of(words, [])
        ok(here == there and len(here) > 20,
           f'{os.path.basename(words[0])}: each call and result as where it stops at its exit',
           [pair for pair in zip(there, here) if pair[0] != pair[1]][:3], len(there), len(here))
for role in ('unmaps-for-ever', 'maps-for-ever'):
    bad = []
    for round_ in range(10):
        seam = subprocess.Popen([SEAM, 'record', '-o', DATA, '--', SUBJECT, role], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        seam.stdout.readline()
        time.sleep(0.01 + random.random() / 20)
        os.kill(children_of(seam.pid)[0], signal.SIGKILL)
        seam.communicate(timeout=30)
        whole = replay()
        if seam.returncode != 137 or not happened(whole):
            bad.append((seam.returncode, whole['trace']))
    ok(not bad, f'killed 10 times, {role}: as it happened', bad)


# Killed while threads, or other processes with the same memory, stand at the entry of a call or in it
for role in (('killed-threads', '9'), ('killed-threads', '15'), ('killed-sharers', '10')):
    for mode, options in MODES.items():
        bad = []
        for round_ in range(6):
            seen = record(SUBJECT, *role, options=options)
            whole = replay()
            status = 128 + int(role[1]) if role[0] == 'killed-threads' else 0
            if seen.returncode != status or not happened(whole):
                bad.append((seen.returncode, whole['trace']))
        ok(not bad, f'{" ".join(role)} ({mode}): as it happened', bad)

# 32-bit programs
if SUBJECT32 and run(SUBJECT32, 'status', '0').returncode == 0:
    for role in (('threads', '100'), ('spawns', '2'), ('exec-from-thread',), ('flock', '5'), ('untraced',), ('maps',)):
        alone = run(SUBJECT32, *role)
        seen = record(SUBJECT32, *role)
        ok(seen.returncode == alone.returncode and (role[0] == 'maps' or seen.stdout == alone.stdout),
           f'32-bit {role[0]}: the same as alone', alone, seen)
        as_it_was(f'32-bit {role[0]}')
else:
    skip('32-bit programs', 'none can be built and run here (gcc -m32 -static)')


# What a program sees of its own map
def lines_of(text):
    return [' '.join(line.split()[:3]) for line in text.splitlines() if '[vsyscall]' not in line]


seen = record(SUBJECT, 'maps')
made = replay('--maps')
mine = [f"{int(m['start'], 16):08x}-{int(m['end'], 16):08x} {m['perms']} {int(str(m['offset']), 0):08x}"
        for m in made['kernels'][0]['processes'][-1]['maps']]
ok(lines_of(seen.stdout) == mine, 'replay --maps gives the lines of /proc/self/maps', seen.stdout, mine)
host = run(SEAM, 'replay', '--maps', '--json', '--kernel', 'linux-host,-anon_vma', '--place', 'recorded', DATA)
other = json.loads(host.stdout)['kernels'][0]['processes'][-1]['maps'] if host.stdout else []
ok(other and len(other) < len(mine), 'and others when a rule is off', len(other), len(mine), host.stderr)

# Descriptions
record(SUBJECT, 'descriptions')
dumped = re.findall(r'file=\d+:(\d+):\w+:/tmp/seam-files', run(DUMP, DATA).stdout) if os.path.exists(DUMP) else []
if '"descriptions": true' not in record(SUBJECT, 'descriptions', options=['--json']).stderr:
    skip('open file descriptions', 'pidfd_getfd or kcmp is not allowed here')
elif not dumped:
    skip('open file descriptions', 'no trace-dump')
else:
    names = {}
    ok([names.setdefault(d, len(names)) for d in dumped] == [0, 0, 0, 1, 0, 2, 2],
       'open file descriptions are told apart, also with the same number', dumped)

# As many calls as strace sees
CALLS = ('brk mmap munmap mprotect mremap madvise mlock mlock2 munlock mlockall munlockall shmat shmdt mbind '
         'set_mempolicy pkey_mprotect remap_file_pages').split()
if shutil.which('strace') and run('strace', '-o', '/dev/null', 'true').returncode == 0:
    for program in (('true',), ('sh', '-c', 'true | cat; ls /'), (SUBJECT, 'spawns', '1'), (SUBJECT, 'stack', '100')):
        log = os.path.join(scratch, 'strace')
        run('strace', '-f', '-qq', '-e', 'trace=' + ','.join(CALLS), '-o', log, *program)
        with open(log) as f:
            expected = len(re.findall(rf'^\d+ +(?:{"|".join(CALLS)})\(', f.read(), re.M))
        record(*program)
        ok(replay()['trace'].get('calls') == expected, f'as many calls as strace sees: {program[0]}',
           replay()['trace'], expected)
else:
    skip('as many calls as strace sees', 'no strace, or it may not trace')

# What the program inherits
ENVIRONMENT = '''grep -E "Sig[PBIC]|Shd|NoNewPrivs|Cap|Umask|Groups" /proc/self/status; ls /proc/self/fd; ulimit -a; env;
trap; nice; cat /proc/self/personality /proc/self/oom_score_adj; umask; pwd'''


def inherited(*words, ignored=()):
    def prepare():
        for sig in ignored:
            signal.signal(sig, signal.SIG_IGN)
    seen = run(*words, 'sh', '-c', ENVIRONMENT, preexec_fn=prepare, restore_signals=False)
    return '\n'.join(line for line in seen.stdout.splitlines() if not line.startswith('_='))


for ignored in ((), (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM), (signal.SIGCHLD,)):
    alone = inherited(ignored=ignored)
    for mode, options in MODES.items():
        seen = inherited(SEAM, 'record', '-o', DATA, *options, '--', ignored=ignored)
        if not is_root():  # without privileges a filter takes no_new_privs
            alone, seen = (re.sub(r'NoNewPrivs:.*', '', text) for text in (alone, seen))
        ok(alone == seen, f'what the program inherits ({mode}, {len(ignored)} ignored)', alone, seen)

# Call stacks
seen = record(SUBJECT, 'stacks', '40', options=['--stacks'])
if seen.returncode == 2 and 'not in this build' in seen.stderr:
    skip('call stacks', 'not in this build, or not on this machine')
else:
    sites = run(SEAM, 'report', DATA).stdout
    ok(seen.stdout.endswith('stacks done\n') and re.search(r'^ +40 .*inner_call\S* < outer_call', sites, re.M),
       'who called, by name', seen, sites)
    as_it_was('with stacks')
    if SUBJECT32:
        record(SUBJECT32, 'stacks', '40', options=['--stacks'])
        sites = run(SEAM, 'report', DATA).stdout
        ok(re.search(r'^ +40 .* \w+ < \w+', sites, re.M), 'also in a 32-bit program', sites)
    for program in filter(None, (SUBJECT, SUBJECT32)):
        record(program, 'stacks-anywhere', options=['--stacks'])
        sites = json.loads(run(SEAM, 'report', '--json', DATA).stdout)['by_site']
        ok(any(site['calls'] == 256 and ' < ' in site['name'] for site in sites),
           f'who called, wherever in a page the stack stands ({os.path.basename(program)})', sites)

# What people read of each call
seen = record(SUBJECT, 'maps', options=['--print'])
lines = seen.stderr.splitlines()
for pattern in (r'^\d+ exec: \d+ areas$', r'mprotect\(0x\w+, 4096, PROT_READ\) = 0  areas (\d+)→(\d+) split prot$',
                r'mmap\(NULL, 12288, PROT_READ, MAP_SHARED, 3<.*subject>, 0\) = 0x\w+  areas \d+→\d+ apart .*file',
                r'MADV_DONTDUMP\) = 0  areas \d+→\d+ split flags$', r'munmap\(0x\w+, 8192\) = 0  areas \d+ split$'):
    ok(any(re.search(pattern, line) for line in lines), f'--print: {pattern}', seen.stderr)

lines = on_terminal(200, SEAM, 'record', '-o', DATA, '--print', SUBJECT, 'maps-and-waits', '9').splitlines()
before = lines[:lines.index('behind')] if 'behind' in lines else []
ok(len([line for line in before if 'mmap(NULL, 151552,' in line]) == 9,
   '--print on a terminal: each call once it is done', lines)

# The program is the one that PATH finds, by one exec
for name, text, mode in (('one/plain-script', 'echo script $0', 0o755), ('one/not-executable', 'echo never', 0o644),
                         ('two/not-executable', '#!/bin/sh\necho here $0', 0o755), ('two/directory/x', '', 0o644),
                         ('two/plain-script', 'echo never', 0o755), ('one/refused', '', 0o644),
                         ('three/directory', '#!/bin/sh\necho file $0', 0o755)):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, 'w') as f:
        f.write(text)
    os.chmod(name, mode)
os.chmod('two/directory', 0o755)
for path in (f'/none:{scratch}/one:{scratch}/two:three::/bin', ':/bin', '/bin:', f'{scratch}/two/plain-script:/bin'):
    for name in ('plain-script', 'not-executable', 'directory', 'refused', 'true', 'none'):
        env = {**os.environ, 'PATH': path}
        alone = run('/usr/bin/env', name, env=env)
        seen = record(name, env=env)
        ok((seen.returncode, seen.stdout) == (alone.returncode, alone.stdout), f'PATH {path}: {name}', alone, seen)

# Statuses that are seam's
with open('plain', 'w'):
    pass
for program, status in ((('./plain',), 126), (('./none',), 127)):
    ok(record(*program).returncode == status, f'status {status}')
for words, status in ((('record',), 2), (('record', '-p', '1', 'true'), 2), (('record', '-p', 'x'), 2),
                      (('record', '-o', scratch + '/no/where', 'true'), 125), (('record', '-o', '/dev/full', 'true'), 125)):
    seen = run(SEAM, *words)
    ok(seen.returncode == status and seen.stderr.startswith('seam: '), f'{" ".join(words)}: {status}', seen)

# Standard output, a device (output.py has the rest)
os.mkdir('here')
with open('here/out', 'wb') as out:
    seen = run(SEAM, 'record', '-o', '-', 'sh', '-c', 'exit 3', capture_output=False, stdout=out, stderr=subprocess.PIPE)
ok(seen.returncode == 3 and replay(path='here/out')['trace'].get('complete') is True, 'to standard output', seen)

seen = run('sh', '-c', f'{{ "{SEAM}" record -o - true; echo behind; }} >here/out; "{SEAM}" record -o /dev/null true')
with open('here/out', 'rb') as f:
    ok(f.read().endswith(b'behind\n') and seen.returncode == 0, 'what is written next stands behind; to a device', seen)

# A disk that fills up, a pipe that closes: the program goes on
seam = subprocess.Popen([SEAM, 'record', '-o', DATA, '--', SUBJECT, 'loop', '2500'], stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)
seam.stdout.readline()
resource.prlimit(seam.pid, resource.RLIMIT_FSIZE, (100, 100))
out, err = seam.communicate(timeout=60)
ok('loop done' in out and seam.returncode == 125 and 'not written whole: File too large' in err,
   'a disk that fills up: the program goes on', seam.returncode, out, err)
ok(replay()['trace'].get('complete') is False, 'and the file is good up to there')
seen = record('sh', '-c', 'kill -XFSZ $$')
ok(seen.returncode == 128 + signal.SIGXFSZ, 'the program keeps its own SIGXFSZ', seen)
out = os.path.join(scratch, 'out')
seen = run('sh', '-c', f'{{ "{SEAM}" record -o - -- sh -c \'"{SUBJECT}" loop 2500 >{out}\'; echo $? >{out}.status; }} | head -c 100 | wc -c')
with open(out) as f, open(out + '.status') as s:
    ok('loop done' in f.read() and s.read().strip() == '125' and 'Broken pipe' in seen.stderr,
       'a pipe that closes: the program goes on', seen)


# What a recorded program cannot have is said, and the rest goes on
for mode, options in MODES.items():
    seen = record(SUBJECT, 'traces', options=options)
    ok('traces -1' in seen.stdout and seen.stderr.count('traces others (ptrace), which is refused') == 1 and
       seen.returncode == 0, f'a program that traces others ({mode})', seen)
    as_it_was(f'a program that traces others ({mode})')
seen = record(SUBJECT, 'own-filter', '0', options=['--survive'])
ok(seen.stderr.count('has a seccomp filter of its own: calls that fail with EPERM or ENOSYS') == 1,
   'what its own filter refuses is taken as not made', seen)
if os.path.exists(DUMP):
    text = run(DUMP, DATA).stdout
    ok(len(re.findall(r'^call .*flags=200 munmap', text, re.M)) == 1 and 'seccomp filter of its own' in text,
       'and so it is in the recording', text)
if run(SUBJECT, 'listener').returncode == 0:
    for mode, options in MODES.items():
        seen = record(SUBJECT, 'listener', options=options)
        ok(seen.returncode == 0 and seen.stderr.count('answered by a supervisor (seccomp user notification)') == 1 and
           (mode == 'survive' or 'these are not seen' in seen.stderr) and
           (not os.path.exists(DUMP) or 'user notification' in run(DUMP, DATA).stdout),
           f'that a supervisor answers calls is said ({mode})', seen)
    # what neither a call nor the kernel's reports tell, which begin after 50 ms, is found by a checkpoint
    record(SUBJECT, 'unseen')
    trace = as_it_was('a change that no call tells')
    text = run(DUMP, DATA).stdout if os.path.exists(DUMP) else 'found at a checkpoint'
    ok(KERNEL < (6, 11) or (trace['changes'] == 1 and 'found at a checkpoint' in text and
                            'that no call tells' in run(SEAM, 'replay', DATA).stdout),
       'it is told as such', trace, text)
else:
    skip('that a supervisor answers calls is said', 'no seccomp user notification here')
alone, seen = run(SUBJECT, 'strict'), record(SUBJECT, 'strict')
ok(alone.returncode == 4 and seen.returncode == 5 and 'strict seccomp' in seen.stderr and '--survive' in seen.stderr,
   'strict seccomp is not to be had under a filter', alone, seen)
seen = record(SUBJECT, 'strict', options=['--survive'])
ok(seen.returncode == 4 and 'strict seccomp' not in seen.stderr, 'but without one', seen)

# Nowhere to say anything, little room, no interpreter named
with open('noshebang', 'w') as f:
    f.write('echo script "$@"; exit 5\n')
os.chmod('noshebang', 0o755)
seen = record('./noshebang', 'a', 'b')
ok((seen.returncode, seen.stdout) == (5, 'script a b\n'), 'a script that names no interpreter', seen)
for streams in ('0<&-', '1>&-', '2>&-', '0<&- 1>&- 2>&-'):
    seen = run('sh', '-c', f'"{SEAM}" record -o {DATA} -- sh -c "exit 6" {streams}')
    ok(seen.returncode == 6 and replay()['trace'].get('complete'), f'streams that are closed: {streams}', seen)
for options in ([], ['--print']):
    reading, writing = os.pipe()
    os.close(reading)
    seen = run(SEAM, 'record', *options, '-o', DATA, '--', 'sh', '-c', 'echo out; exit 7', capture_output=False,
               stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    ok((seen.returncode, seen.stdout) == (7, 'out\n') and replay()['trace'].get('complete'),
       f'standard error is a closed pipe {" ".join(options)}', seen)
for limit in ('-n 10', '-s 100', '-v 30000', '-l 0', '-c 0'):
    if run('sh', '-c', f'ulimit {limit}; exec "{SEAM}" --version').returncode:
        skip(f'ulimit {limit}', 'seam itself does not start so, with a sanitizer say')
        continue
    seen = run('sh', '-c', f'ulimit {limit}; exec "{SEAM}" record -o {DATA} -- sh -c "/bin/echo hi; exit 4"')
    ok((seen.returncode, seen.stdout) == (4, 'hi\n'), f'ulimit {limit}', seen)
    as_it_was(f'ulimit {limit}')


# Signals to the recorder, which a test that runs in the background would ignore
def heed_signals():
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sig, signal.SIG_DFL)


def start(*program, options=(), wait='begun', **keywords):
    seam = subprocess.Popen([SEAM, 'record', '-o', DATA, *options, '--', *program], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals, **keywords)
    if wait:
        seam.stdout.readline()
    return seam


TRAPS = ['sh', '-c', 'trap "echo caught; exit 21" TERM INT HUP; echo begun; while :; do sleep 0.05; done']
for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    seam = start(*TRAPS)
    seam.send_signal(sig)
    out, err = seam.communicate(timeout=30)
    ok((out, seam.returncode) == ('caught\n', 21), f'{sig.name} to seam goes to the program', out, seam.returncode)
    as_it_was(f'ended by {sig.name}')
seam = start(*TRAPS, start_new_session=True)
os.killpg(seam.pid, signal.SIGINT)
out, err = seam.communicate(timeout=30)
ok((out, seam.returncode) == ('caught\n', 21), 'an interrupt from the terminal comes once', out, seam.returncode)

# Stop and continue
STOPPER = '''import os, signal
held, go = os.pipe()
pid = os.fork()
if not pid:
    os.kill(os.getpid(), signal.SIGSTOP)
    os.read(held, 1)  # ends only when the parent has seen it go on
    os._exit(6)
stopped = os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
os.kill(pid, signal.SIGCONT)
continued = os.WIFCONTINUED(os.waitpid(pid, os.WCONTINUED)[1])
os.write(go, b'!')
print(stopped, continued, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))'''
for mode, options in MODES.items():
    seen = record(sys.executable, '-c', STOPPER, options=options)
    ok(seen.stdout == 'True True 6\n', f'stop and continue are seen by the parent ({mode})', seen)
    seam = start(SUBJECT, 'loop', '600', options=options)
    pid = children_of(seam.pid)[0]
    os.kill(pid, signal.SIGSTOP)
    ok(wait_until(lambda: state_of(pid) in 'tT'), f'a stopped program stays stopped ({mode})')
    time.sleep(0.3)
    stopped = state_of(pid)
    os.kill(pid, signal.SIGCONT)
    out, err = seam.communicate(timeout=60)
    ok(stopped in 'tT' and seam.returncode == 11 and out.endswith('loop done\n'), f'and goes on ({mode})', stopped, out)


# A process that runs already: whose memory shares an anon_vma is known with BPF, else only by what calls do to it
shown = run(SEAM, 'show', '--json', str(os.getpid()))
HAS_BPF = bool(shown.stdout) and json.loads(shown.stdout)['source'] == 'bpf'
for attempt, role in enumerate(('loop', 'loop', 'loop', 'heap', 'history')):
    subject = subprocess.Popen([SUBJECT, role, '1500'], stdout=subprocess.PIPE, text=True)
    subject.stdout.readline()
    seam = subprocess.Popen([SEAM, 'record', '-o', DATA, '--ptrace', '-p', str(subject.pid)], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: is_traced(subject.pid) or seam.poll() is not None)
    time.sleep(0.1 + attempt % 3 * 0.2)
    if attempt < 2:
        seam.send_signal(signal.SIGINT)
    out = subject.communicate(timeout=60)[0]
    err = seam.communicate(timeout=60)[1]
    if seam.returncode == 125 and 'ptrace_scope' in err:
        skip('attaching', 'kernel.yama.ptrace_scope forbids it')
        break
    ok((out, subject.returncode, seam.returncode) == ('loop done\n', 11, 0), 'an attached process goes on', out, err)
    as_it_was(f'attached ({role})', differences=0 if HAS_BPF or role == 'heap' else 1)
subject = subprocess.Popen(['sh', '-c', 'kill -STOP $$; exit 5'])
wait_until(lambda: state_of(subject.pid) == 'T')
seam = subprocess.Popen([SEAM, 'record', '-o', DATA, '--yes', '-p', str(subject.pid)], stderr=subprocess.PIPE, text=True)
attached = wait_until(lambda: state_of(subject.pid) == 't' or seam.poll() is not None)
time.sleep(0.2)
seam.send_signal(signal.SIGINT)
err = seam.communicate(timeout=30)[1]
stays = 'T' if wait_until(lambda: state_of(subject.pid) == 'T') else state_of(subject.pid)
os.kill(subject.pid, signal.SIGCONT)
ok(attached and stays == 'T' and subject.wait(timeout=30) == 5, 'a stopped process stays stopped when it is let go', stays, err)
seen = run(SEAM, 'record', '-o', DATA, '-p', str(os.getpid()))
ok(seen.returncode == 125 and 'every system call' in seen.stderr, 'what attaching costs is said first', seen.stderr)
seen = run(SEAM, 'record', '-o', DATA, '--yes', '-p', '999999999')
ok(seen.returncode == 125 and 'No such process' in seen.stderr, 'no such process', seen.stderr)

# Cut anywhere
record(SUBJECT, 'threads', '1500')
seen = run(CUTS, DATA, '1' if EVERY_CUT else '13', timeout=None if EVERY_CUT else 600)
ok(seen.returncode == 0, f'cut at {"every" if EVERY_CUT else "each 13th"} byte of the last 64 KiB', seen.stdout, seen.stderr)

# Rights
if is_root():
    shutil.copy(shutil.which('id'), 'setid')
    os.chown('setid', 0, 0)
    os.chmod('setid', 0o4755)  # last: chown takes the bit away
    drop = ['setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups']
    nosuid = os.statvfs(scratch).f_flag & os.ST_NOSUID
    if nosuid or not shutil.which('setpriv'):
        skip('setuid programs', 'a nosuid mount, or no setpriv')
    else:
        seen = record(*drop, './setid', '-u')
        ok(seen.stdout == '0\n' and 'privilege' not in seen.stderr, 'a privileged recorder leaves rights alone', seen)
        for mode, options in MODES.items():
            seen = run(*drop, SEAM, 'record', '-o', os.path.join(scratch, 'nobodys'), *options, './setid', '-u')
            ok(seen.stdout == f'{NOBODY}\n' and seen.stderr.count('privilege lost') == 1,
               f'an unprivileged one says that they are lost ({mode})', seen)
            ok('privilege lost' in run(DUMP, 'nobodys').stdout or not os.path.exists(DUMP), 'also in the recording')
else:
    skip('setuid programs', 'needs root to make one')

os.chdir('/')
shutil.rmtree(scratch)
done()
