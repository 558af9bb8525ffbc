#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hard.py SEAM HARD [HARD32]: seam show, top and why on processes that are hard to look at, as root and as
somebody without rights."""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import running  # noqa: E402
from tap import done, ok, skip  # noqa: E402

SEAM, HARD = map(os.path.realpath, sys.argv[1:3])
HARD32 = os.path.realpath(sys.argv[3]) if len(sys.argv) > 3 else None
NOBODY = 65534
root = os.geteuid() == 0
scratch = tempfile.mkdtemp()
os.chmod(scratch, 0o755)
# The build folder may be closed to others.
NOBODY_SEAM, NOBODY_HARD = (shutil.copy(path, scratch) for path in (SEAM, HARD))


class Hard:
    def __init__(self, role, program=None, **keywords):
        self.process = subprocess.Popen([program or NOBODY_HARD, role], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, **keywords)
        words = self.process.stdout.readline().split()
        self.pid = words[1] if words else None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def seam(*args, **keywords):
    return running.run(NOBODY_SEAM, *args, **keywords)


def show(*args, **keywords):
    run = seam('show', '--json', *args, **keywords)
    return json.loads(run.stdout) if run.returncode == 0 else {'error': run.stderr}


def lines_of(pid):
    with open(f'/proc/{pid}/maps') as f:
        return sum('[vsyscall]' not in line for line in f)


def group(report, what):
    return next((g for g in report.get('groups', []) if g['what'] == what), {})


def remedy(report, name):
    return next((r for r in report.get('remedies', []) if r['remedy'] == name), {})


with Hard('limit') as hard:
    report = show(hard.pid)
    ok(report.get('areas') == lines_of(hard.pid) and report['headroom'] in (-1, 0, 1),
       'at the limit: every area is seen', report)
    ok(group(report, 'fiber-stack').get('areas', 0) > 0.9 * report['areas'],
       'at the limit: what they are', report.get('groups'))
    ok(remedy(report, 'guard-markers').get('areas_after', 9999) < 100,
       'at the limit: what would remain', report.get('remedies'))
    run = seam('show', hard.pid)
    ok('this is the area limit, not memory' in run.stdout.split('\n')[0],
       'at the limit: the first line says so', run.stdout[:300])
    ok(len(run.stdout.split('\n')) <= 24, 'at the limit: one screen', run.stdout)
    run = seam('show', '--fail-on', 'headroom<5%', '--fail-on', 'cause.fork>0', hard.pid)
    ok(run.returncode == 1 and 'headroom<5%' in run.stderr and 'fork' not in run.stderr,
       '--fail-on says which', run.stderr)
    run = seam('why', hard.pid, group(report, 'fiber-stack').get('example', '0'))
    ok(run.returncode == 0 and 'Joined by:' in run.stdout, 'at the limit: seam why', run.stdout)

with Hard('leader-exits') as hard:
    report = show(hard.pid)
    ok(report.get('areas', 0) > 10 and not report['notes'] or report['source'] != 'bpf',
       'without its main thread', report)
    bare = subprocess.run([NOBODY_HARD, 'sandbox', NOBODY_SEAM, 'show', '--json', '--causes', hard.pid],
                          capture_output=True, text=True)
    ok(json.loads(bare.stdout)['areas'] == report['areas'] and 'resident' not in bare.stdout,
       'without its main thread, from smaps', bare.stdout)

with Hard('threads') as hard:
    report = show(hard.pid)
    ok(group(report, 'thread-stack').get('units', 0) >= 990, '1,000 threads',
       report.get('groups'))

with Hard('many-threads') as hard:
    with open(f'/proc/{hard.pid}/status') as f:
        started = int(f.read().split('Threads:')[1].split()[0])
    if started < 10000:
        skip('10,000 threads', f'only {started} can be started here')
    else:
        report = show(hard.pid)
        ok(group(report, 'thread-stack').get('units', 0) >= 9990 and
           report['areas'] == lines_of(hard.pid), '10,000 threads', report.get('groups'))
        rows = json.loads(seam('top', '--once', '--json').stdout)['processes']
        ok([r['areas'] for r in rows if str(r['pid']) == hard.pid] == [report['areas']],
           '10,000 threads are one line of seam top', rows[:3])

if not HARD32:
    skip('32-bit', 'such programs cannot be built here')
else:
    with Hard('limit', HARD32) as hard:
        report = show(hard.pid)
        ok(report.get('areas') == lines_of(hard.pid) and
           group(report, 'fiber-stack').get('areas', 0) > 0.9 * report['areas'] and
           remedy(report, 'guard-markers').get('areas_after', 9999) < 100,
           'a 32-bit process at its limit', report)
        ok(seam('why', hard.pid).returncode == 0, 'a 32-bit process: seam why')

# One that exits while it is read: a report, or words.
ENDED = ('no such process', 'has just ended', 'ended while', 'has exited', 'memory map went')
answers = set()
for delay_ms in range(0, 100, 10):
    with Hard('limit') as hard:
        # also without BPF: then smaps is read
        command = [NOBODY_SEAM, 'show', '--json', '--causes', hard.pid]
        if delay_ms % 20:
            command = [NOBODY_HARD, 'sandbox', *command]
        look = subprocess.Popen(command, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(delay_ms / 1000)
        hard.process.kill()
        hard.process.wait()
        out, error = look.communicate(timeout=60)
    if look.returncode == 0:
        report = json.loads(out)
        whole = report['areas'] > 0 and report['touching_pairs'] < report['areas']
        answers.add('report' if whole else out[:400])
    else:
        answers.add('words' if look.returncode == 1 and not out and
                    any(words in error for words in ENDED) else error)
ok(answers <= {'report', 'words'}, 'exiting while it is read', answers)

with Hard('changing') as hard:
    for look in range(10):
        report = show('--kernel', 'plain', hard.pid)
        if not ok(report.get('touching_pairs', -1) + report.get('holes', 0) + 1 ==
                  report.get('areas'), 'while it changes', report):
            break

with Hard('markers') as hard:
    if not hard.pid:
        skip('guard markers', 'this kernel has not got them')
    else:
        report = show(hard.pid)
        run = seam('show', hard.pid)
        ok('64 guard markers' in run.stdout, 'guard markers are seen', run.stdout, report)

with Hard('zombie') as hard:
    report = show(hard.pid)
    ok('exited' in report.get('error', ''), 'a zombie', report)

ok('no such process' in show('2147483647').get('error', ''), 'no such process')
ok(seam('show', '/').returncode == 1, 'a folder')
ok(seam('show').returncode == 2, 'nothing')
ok(seam('show', '--fail-on', 'moon>1', '1').returncode == 2, 'a condition on the moon')

with Hard('grow') as hard:
    run = seam('show', '--watch', '1', '--looks', '3', hard.pid)
    lines = run.stdout.strip().split('\n')
    ok(len(lines) == 3 and 'a minute' in lines[2], '--watch tells growth', run.stdout, run.stderr)

with Hard('limit') as hard:
    run = seam('top', '--once', '--json')
    rows = json.loads(run.stdout)['processes']
    counts = [row['areas'] or 0 for row in rows]
    own = next(row for row in rows if str(row['pid']) == hard.pid)
    ok(own['limit_percent'] > 99 and counts == sorted(counts, reverse=True),
       'seam top: the one at its limit comes first', rows[:2])

# The screen of seam top, with its keys, in a terminal of 60 columns
HEAD = re.compile(rb'MAPPINGS  ?%LIMIT')


class Screen:
    def __init__(self, *options, **environment):
        self.terminal, end = pty.openpty()
        self.resize(12, 60)
        self.process = subprocess.Popen([NOBODY_SEAM, 'top', '-d', '60', *options], stdin=end, stdout=end,
                                        env=dict(os.environ, TERM='xterm', **environment),
                                        start_new_session=True)
        os.close(end)
        self.all = b''
        self.first = self.after(b'', HEAD)

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def after(self, key, wanted):
        """The frame that follows a key; what it lacks is waited for."""
        os.write(self.terminal, key)
        frame = b''
        end = time.monotonic() + 20
        while not re.search(wanted, frame) or not frame.endswith(b'\x1b[J'):
            ready = select.select([self.terminal], [], [], end - time.monotonic())[0]
            if not ready:
                ok(False, f'seam top: {wanted} comes after {key}', frame)
                break
            frame = (frame + os.read(self.terminal, 65536)).split(b'\x1b[H')[-1]
        self.all += frame
        return re.sub(rb'\x1b\[[0-9;?]*[A-Za-z]', b'', frame).decode(errors='replace').split('\r\n')

    def end(self, key):
        os.write(self.terminal, key)
        status = self.process.wait(timeout=30)
        rest = os.read(self.terminal, 65536)
        os.close(self.terminal)
        return status, rest


def column(frame, nr):
    return [line.split()[nr] for line in frame[3:] if line.strip()]


with Hard('limit') as hard:
    screen = Screen()
    hard_areas = f'{lines_of(hard.pid):,}'
    frame = screen.first
    ok(len(frame) <= 12 and max(map(len, frame)) <= 60 and hard_areas in frame[3].split() and
       len(frame[3].split()) > 6, 'seam top: a screen that fits, and what the largest is made of', frame)
    pids = [int(pid) for pid in column(screen.after(b'N', HEAD), 0)]
    ok(len(pids) > 1 and pids == sorted(pids), 'seam top: N sorts by number', pids)
    turned = [int(pid) for pid in column(screen.after(b'I', HEAD), 0)]
    ok(turned == sorted(turned, reverse=True) and turned[0] > pids[0], 'seam top: I turns it round', turned)
    ok('q F10' in '\n'.join(screen.after(b'h', b'q F10')), 'seam top: h helps')
    frame = screen.after(b'M', HEAD)
    ok(len(frame) > 3 and 'Keys' not in frame[0], 'seam top: any key goes back', frame)
    screen.after(b'I', HEAD)
    frame = screen.after(b'M', HEAD)
    down = screen.after(b'\x1b[B', HEAD)
    ok(column(down, 0)[:-1] == column(frame, 0)[1:len(column(down, 0))] or column(down, 0) == column(frame, 0),
       'seam top: down scrolls by one', frame, down)
    screen.resize(8, 100)
    frame = screen.after(b' ', HEAD)
    ok(len(frame) <= 8 and len(frame[0]) > 60, 'seam top: it follows the size of the terminal', frame)
    ok(b'\x1b[1m' in screen.all, 'seam top: colours')
    status, rest = screen.end(b'q')
    ok(status == 0 and b'\x1b[?1049l' in rest, 'seam top: q gives the screen back', status, rest)

with Hard('limit') as hard:
    text = running.on_terminal(80, NOBODY_SEAM, 'show', hard.pid, env=dict(os.environ, NO_COLOR='1'))
    table = text.split('LEFT  REMEDY\n')[1].split('\n\n')[0].split('\n')
    ok(len(table) > 1 and max(map(len, table)) <= 80 and '(Linux 6.13)' in ' '.join(table) and
       all(line[:6].strip() in ('', '23', '24') for line in table),
       'a remedy is told whole in 80 columns', text)
    ok(all(len(line) <= 80 for line in text.split('\n')[3:14]), 'tables fit 80 columns', text)

screen = Screen(NO_COLOR='1')
ok(b'\x1b[1m' not in screen.all, 'seam top: NO_COLOR')
screen.process.send_signal(signal.SIGTERM)
ok(screen.end(b'')[0] == 0, 'seam top: a signal ends it in order')
run = seam('top', '--once', '-n', '3')
ok('\x1b' not in run.stdout and len(run.stdout.split('\n')) <= 9, 'seam top: no colour in a pipe', run.stdout)
looks = subprocess.Popen([NOBODY_SEAM, 'top', '-d', '0.1', '-n', '1'], stdout=subprocess.PIPE, text=True)
titles = [line for line in (looks.stdout.readline() for _ in range(12)) if 'PID' in line]
looks.kill()
looks.communicate()
ok(len(titles) >= 2, 'seam top -d: look after look in a pipe', titles)

if root:
    def drop():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    with Hard('threads') as hard:
        report = show(hard.pid, preexec_fn=drop)
        ok('user 0' in report.get('error', ''), 'of another user', report)
    with Hard('not-dumpable', preexec_fn=drop) as hard:
        report = show(hard.pid, preexec_fn=drop)
        ok('not dumpable' in report.get('error', ''), 'not dumpable', report)
    with Hard('limit', preexec_fn=drop) as hard:
        report = show(hard.pid, preexec_fn=drop)
        ok(report.get('source') == 'smaps' and
           {'anon_vma', 'fork'} <= set(report['not_visible']),
           'an own process without rights', report)
        ok(remedy(report, 'guard-markers').get('areas_after', 9999) < 100,
           'an own process without rights: what would remain', report.get('remedies'))
    if shutil.which('setpriv'):
        weak = ['setpriv', '--bounding-set', '-bpf,-perfmon,-sys_admin', '--inh-caps', '-all']
        with Hard('limit', preexec_fn=drop) as hard:
            sources = []
            for extra in ([], ['--causes']):
                run = subprocess.run([*weak, NOBODY_SEAM, 'show', '--json', *extra, hard.pid],
                                     capture_output=True, text=True, timeout=60)
                sources.append(json.loads(run.stdout)['source'] if run.stdout else run.stderr)
            ok(sources == ['maps', 'smaps'], 'smaps of a stranger only when asked for', sources)
    inside = subprocess.run(['unshare', '-pf', '--mount-proc', 'sh', '-c',
                             f"""sleep 60 & exec 2>&1
                             until grep -q '(sleep) S' /proc/$!/stat; do :; done
                             wc -l < /proc/$!/maps; {NOBODY_SEAM} show --json $!
                             {NOBODY_SEAM} top --once --json; kill $!"""],
                            capture_output=True, text=True, timeout=60)
    if inside.returncode:
        skip('in a PID namespace', inside.stderr.strip().replace('\n', ' ') or 'unshare fails')
    else:
        lines, text = inside.stdout.split('\n', 1)
        report, at = json.JSONDecoder().raw_decode(text)
        rows = json.loads(text[at:])['processes']
        ok(abs(report['areas'] - int(lines)) <= 1 and report['comm'] == 'sleep',
           'in a PID namespace: show', inside.stdout)
        ok([row['areas'] for row in rows if row['pid'] == report['pid']] == [report['areas']],
           'in a PID namespace: top has the same pid', rows)
    with subprocess.Popen(['unshare', '-pf', '--kill-child', NOBODY_HARD, 'threads'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as outer:
        if outer.stdout.readline():
            pid = str(running.children_of(outer.pid)[0])
            ok(show(pid).get('areas') == lines_of(pid), 'of another PID namespace', show(pid))
        outer.kill()
    run = seam('top', '--once', '--json', preexec_fn=drop)
    ok(json.loads(run.stdout)['not_readable'] > 0, 'seam top says what it may not count',
       run.stdout)
else:
    skip('other users', 'needs root')
shutil.rmtree(scratch)
done()
