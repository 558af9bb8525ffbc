#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""stat.py SEAM ACTOR: seam stat on programs that do awkward things."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import state_of, wait_until  # noqa: E402
from tap import done, is_root, ok, skip  # noqa: E402

SEAM, ACTOR = map(os.path.realpath, sys.argv[1:3])
NOBODY = 65534
scratch = tempfile.mkdtemp()
os.chmod(scratch, 0o755)
REPORT = os.path.join(scratch, 'report')


def stat(*program, options=(), **keywords):
    """(status, standard output, report) of one run."""
    run = subprocess.run([SEAM, 'stat', '--json', '-o', REPORT, *options, '--', *program],
                         stdout=subprocess.PIPE, text=True, timeout=60, **keywords)
    with open(REPORT) as f:
        text = f.read()
    return run.returncode, run.stdout, json.loads(text) if text else None


def printed(output):
    return int(re.search(r'^end (\d+)$', output, re.M)[1])


def exact_end(role, processes, status=0):
    code, output, report = stat(ACTOR, role, '500')
    last = report['processes'][-1]
    ok(code == status and report['status'] == status, f'{role}: the status', code)
    ok(len(report['processes']) == processes, f'{role}: {processes} spaces', report['processes'])
    ok(last['areas_end'] == printed(output) and last['areas_end_exact'] and
       last['areas_peak'] >= last['areas_end'], f'{role}: the areas at exit', output, last)


exact_end('areas', 1)
exact_end('leader-exits', 1, 7)
exact_end('exec-from-thread', 2)
exact_end('vfork-exec', 2)
exact_end('clone-vm', 1)

# Short lives
code, output, report = stat(ACTOR, 'forks', '50')
ok(code == 0 and len(report['processes']) == 51 and
   all(p['areas_end_exact'] for p in report['processes']), 'every fork is a space', report)
code, output, report = stat(ACTOR, 'threads', '200')
ok(code == 0 and len(report['processes']) == 1, 'threads are none', report)

# A peak between start and end
HOLDS = 'import mmap,time; a=[mmap.mmap(-1,4096) for _ in range(3000)]; time.sleep(1)'
for options in ((), ('--sample',)):
    code, output, report = stat(sys.executable, '-c', HOLDS, options=options)
    ok(code == 0 and max(p['areas_peak'] or 0 for p in report['processes']) > 3000 and
       report['real_ns'] > 900_000_000, f'the peak is seen {" ".join(options)}', report)
limit = [entry for entry in report['limits'] if entry['name'] == 'vm.max_map_count']
ok(limit and limit[0]['used'] > 3000, 'it counts against the limit', report['limits'])
ok(any('sampled' in note for note in report['notes']), 'that it was sampled is said', report)

code, output, report = stat(ACTOR, 'leader-exits', '500', options=('--sample',))
ok(code == 7 and len(report['processes']) == 1 and report['processes'][0]['areas_peak'] > 100,
   'sampled, a leader that left is no end', report)

# The contract of the report
code, output, report = stat('true')
ok(report['schema'] == 1 and report['kind'] == 'stat' and report['peak_sampled'] is True and
   report['looks'] >= 1 and report['user_ns'] + report['sys_ns'] < 10**9 and
   report['processes'][0]['calls'] is None and report['processes'][0]['failed_calls'] is None and
   report['processes'][0]['comm'] == 'true', 'fields', report)
ranks = [entry['used'] / entry['max'] if entry['max'] else 1 for entry in report['limits']]
ok(ranks == sorted(ranks, reverse=True), 'the nearest limit comes first', report['limits'])

# Statuses
plain = os.path.join(scratch, 'plain')
open(plain, 'w').close()
for program, status in ((('sh', '-c', 'exit 9'), 9), ((ACTOR, 'killed', '15'), 143),
                        ((ACTOR, 'killed', '9'), 137), ((plain,), 126),
                        ((os.path.join(scratch, 'none'),), 127)):
    code = subprocess.run([SEAM, 'stat', '--', *program], capture_output=True).returncode
    ok(code == status, f'status {status}', code)
run = subprocess.run([SEAM, 'stat', '-r', 'x', 'true'], capture_output=True, text=True)
ok(run.returncode == 2 and 'expected' in run.stderr, 'a wrong option', run)
run = subprocess.run([SEAM, 'stat'], capture_output=True)
ok(run.returncode == 2, 'no program', run)
run = subprocess.run([SEAM, 'stat', '-o', '/dev/full', 'true'], capture_output=True, text=True)
ok(run.returncode == 125 and 'not written' in run.stderr, 'a full disk', run)
run = subprocess.run([SEAM, 'stat', '-o', scratch + '/no/where', 'true'], capture_output=True)
ok(run.returncode == 125, 'a report that cannot be opened', run)

# What people read
run = subprocess.run([SEAM, 'stat', 'echo', 'its own'], capture_output=True, text=True)
ok(run.stdout == 'its own\n', 'standard output stays the program\'s', run.stdout)
ok(re.match(r'echo \d+: \d+ of [\d,]+ mappings at its peak', run.stderr) and
   re.search(r'^real\t\d+m\d+\.\d{3}s\nuser\t\d+m\d+\.\d{3}s\nsys\t\d+m\d+\.\d{3}s$', run.stderr, re.M),
   'the answer first, then as time prints', run.stderr)

# Again and again
code, output, report = stat('sh', '-c', 'exit 3', options=('-r', '5'))
ok(code == 3 and len(report['runs']) == 5 and
   report['real_ns'] == sorted(r['real_ns'] for r in report['runs'])[2], 'medians of runs', report)

# A child that stays
began = time.monotonic()
code, output, report = stat(ACTOR, 'daemon', '1500')
ok(time.monotonic() - began < 1.2 and code == 0, 'the end is that of the program itself')
ok([p['running'] for p in report['processes']] == [False, True], 'what runs on is told', report)

# Signals
alone = subprocess.run([ACTOR, 'signals'], stdout=subprocess.PIPE, text=True).stdout
for options in ((), ('--sample',)):
    code, output, report = stat(ACTOR, 'signals', options=options)
    ok(output == alone, f'mask and dispositions are its own {" ".join(options)}', output)


def start(*program, options=()):
    seam = subprocess.Popen([SEAM, 'stat', '--json', '-o', REPORT, *options, '--', *program],
                            stdout=subprocess.PIPE, text=True)
    return seam, int(seam.stdout.readline().split()[1])


for options in ((), ('--sample',)):
    seam, pid = start(ACTOR, 'stops', str(int(signal.SIGSTOP)), options=options)
    ok(wait_until(lambda: state_of(pid) in 'Tt'), 'a stop stops')
    time.sleep(0.1)
    ok(state_of(pid) in 'Tt', 'and stays stopped')
    os.kill(pid, signal.SIGCONT)
    output, _ = seam.communicate(timeout=20)
    ok(output == 'goes on\n' and seam.returncode == 3, 'until it is continued', output)

    seam, pid = start(ACTOR, 'waits-for', str(int(signal.SIGTERM)), options=options)
    wait_until(lambda: state_of(pid) == 'S')
    seam.send_signal(signal.SIGTERM)
    output, _ = seam.communicate(timeout=20)
    ok(output == 'signal\n' and seam.returncode == 4, 'a signal to seam is passed on', output)


def at_terminal(*words):
    """Runs seam in the foreground of a terminal of its own, as a shell with job control would;
    yields to the caller: (master, pid of seam, function that waits)."""
    shell, master = pty.fork()
    if shell:
        return shell, master
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    seam = os.fork()
    if not seam:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(words[0], words)
    os.write(1, b'started\n')
    while True:
        _, status = os.waitpid(seam, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
            os.write(1, b'job stopped\n')
            os.tcsetpgrp(0, seam)
            os.killpg(seam, signal.SIGCONT)
        else:
            os.write(1, b'job ended %d\n' % os.waitstatus_to_exitcode(status))
            os._exit(0)


def read_until(master, text):
    seen = b''
    while text not in seen:
        try:
            data = os.read(master, 4096)
        except OSError:
            break
        if not data:
            break
        seen += data
    return seen


signal.alarm(120)  # a terminal that says nothing ends the test
for options in ((), ('--sample',)):
    shell, master = at_terminal(SEAM, 'stat', *options, '-o', REPORT, '--', ACTOR, 'waits-for',
                                str(int(signal.SIGINT)))
    read_until(master, b'pid ')
    time.sleep(0.2)
    os.write(master, b'\x1a')
    seen = read_until(master, b'job stopped')
    ok(b'job stopped' in seen, 'control-Z stops the job', seen)
    time.sleep(0.2)
    os.write(master, b'\x03')
    seen = read_until(master, b'job ended')
    with open(REPORT) as f:
        text = f.read()
    ok(b'signal' in seen and b'job ended 4' in seen and 'real' in text,
       'control-C is the program\'s, and the report comes', seen, text)
    os.waitpid(shell, 0)
    os.close(master)

# Without seam the program goes on
for options in ((), ('--sample',)):
    seam, pid = start(ACTOR, 'waits-for', str(int(signal.SIGTERM)), options=options)
    wait_until(lambda: state_of(pid) == 'S')
    seam.kill()
    seam.wait()
    os.kill(pid, signal.SIGTERM)
    ok(seam.stdout.read() == 'signal\n', f'seam is killed, the program goes on {" ".join(options)}')

# Rights
copy = os.path.join(scratch, 'seam')
tool = os.path.join(scratch, 'actor')
shutil.copy(SEAM, copy)
shutil.copy(ACTOR, tool)
if not is_root() or os.statvfs(scratch).f_flag & os.ST_NOSUID:
    skip('a setuid program', 'needs root and a scratch directory that is not nosuid')
else:
    os.chmod(tool, 0o4755)
    as_nobody = dict(user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True)
    run = subprocess.run([copy, 'stat', '--', tool, 'areas', '10'], **as_nobody)
    ok(run.returncode == 0 and 'ran without the rights' in run.stderr and tool in run.stderr,
       'lost rights are said', run)
    run = subprocess.run([copy, 'stat', '--sample', '--', tool, 'areas', '10'], **as_nobody)
    ok('ran without the rights' not in run.stderr, 'sampled, they are not lost', run)
    run = subprocess.run([copy, 'stat', '--', tool, 'areas', '10'], capture_output=True, text=True)
    ok('ran without the rights' not in run.stderr, 'nor under root', run)

# Traced by another already
inner = os.path.join(scratch, 'inner')
# (a leak checker traces, too)
code, output, report = stat(SEAM, 'stat', '--json', '-o', inner, '--', ACTOR, 'areas', '20',
                            env={**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'})
with open(inner) as f:
    report = json.load(f)
ok(code == 0 and any('tracing was refused' in note for note in report['notes']),
   'refused by ptrace it samples and says so', report['notes'])

shutil.rmtree(scratch)
done()
