#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""broken.py SEAM: arguments and inputs that make no sense: each is refused in a line that says why, with
the right status, in little memory."""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
with open(SEAM, 'rb') as f:
    SANITIZED = b'__asan_init' in f.read()


def little_memory():
    if not SANITIZED:  # the shadow of its memory is larger
        resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))


def seam(*args, **keywords):
    """(status, stdout, stderr); a hang is status -1"""
    keywords.setdefault('stdin', subprocess.DEVNULL)
    try:
        run = subprocess.run([SEAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors='replace', timeout=20, preexec_fn=little_memory, **keywords)
    except subprocess.TimeoutExpired:
        return -1, '', 'no end'
    return run.returncode, run.stdout, run.stderr


def refuses(status, why, *args, **keywords):
    got, _, error = seam(*args, **keywords)
    ok(got == status and why in error and error.startswith('seam: '),
       '%s: %s' % (' '.join(args)[:70], why), 'status %d: %s' % (got, error[:300]))


def test_numbers():
    """A number below nothing is none: strtoul would have taken it for a huge one."""
    minus_max = ' -18446744073709551615'
    for verb, option, rest in (('top', '-n', ['--once']), ('report', '-n', []), ('stat', '-r', ['true']),
                               ('show', '--looks', ['1']), ('show', '--watch', ['1']),
                               ('replay', '--limit', []), ('verify', '--random', []),
                               ('record', '-p', [])):
        for number in ('-1', minus_max, '', '1x', '99999999999999999999'):
            refuses(2, " '%s': " % number, verb, option, number, *rest)
    refuses(2, 'an address in hex', 'why', '1', minus_max)


def test_directories():
    refuses(1, '/: Is a directory', 'show', '/')
    refuses(1, '/: Is a directory', 'why', '/')
    refuses(1, '/: Is a directory', 'replay', '/')
    refuses(1, '/: Is a directory', 'report', '/')
    refuses(125, '/: Is a directory', 'verify', '/')
    refuses(1, '/dev/zero: ', 'show', '/dev/zero')
    with subprocess.Popen(['yes', 'neither map nor trace'], stdout=subprocess.PIPE) as endless:
        refuses(1, 'not a trace', 'replay', '-', stdin=endless.stdout)
        endless.kill()


def test_rules_file(path):
    """--rules: no text of short lines is no rules, and never "no rules changed"."""
    script = os.path.join(path, 'x.ops')
    rules = os.path.join(path, 'rules')
    with open(script, 'w') as f:
        f.write('mmap 0 1000 3 22 -1 0\n')
    refuses(1, 'Is a directory', 'replay', script, '--rules', '/')
    refuses(1, 'shorter than', 'replay', script, '--rules', '/dev/zero')
    for text in ('#' + 'x' * 600 + '\n', 'numa=1\0\n'):
        with open(rules, 'w') as f:
            f.write(text)
        refuses(1, rules + ':1: ', 'replay', script, '--rules', rules)
    for text, says in (('numa=1\n# again\nnuma = 0\n', ":3: 'numa' has its value in line 1 already"),
                       ('policy=linux-6.18\nnum=1\n', ":2: no rule is named 'num'"),
                       ('numa=x\n', ":1: 'x': expected a number"), ('numa=9\n', ":1: '9': expected a number"),
                       ('numa\n', ":1: 'numa': RULE=VALUE expected"), ('numa=1 0\n', ':1: '), ('=1\n', ':1: '),
                       ('numa=1\npolicy=plain\n', ':2: policy= belongs in front'), ('policy x\n', ':1: ')):
        with open(rules, 'w') as f:
            f.write(text)
        refuses(1, rules + says, 'replay', script, '--rules', rules)
    with open(rules, 'w') as f:
        f.write('policy = linux-6.18\n  numa = 0 # blanks may stand\n\tanon_vma\t=\t1\n')
    got = seam('replay', script, '--rules', rules)
    ok(got[0] == 0, 'blanks around = in a rules file', got)


def test_zero_byte(path):
    """A zero byte in a text is told with its line and place, wherever it stands."""
    script = os.path.join(path, 'zero.ops')
    for lines, before in (1, 'munm'), (1, 'munmap 10000 10'), (400, 'munmap 10000 10'):
        with open(script, 'w') as f:
            f.write('mmap 10000 1000 3 32 -1 0\n' * lines + before + '\0' + '00\n')
        says = f'zero.ops:{lines + 1}: byte {len(before) + 1} of this line is a zero'
        refuses(1, says, 'replay', script)
        refuses(1, says, 'replay', '--format', 'ops', script)
        refuses(125, says, 'verify', script)
    with open(script, 'w') as f:
        f.write('00400000-00401000 r-xp 00000000 08:01 5 /a\n00401000-0040\0002000 r-xp 00000000 08:01 5 /a\n')
    refuses(1, 'zero.ops:2: byte 14 of this line is a zero', 'show', script)


def test_pipe(path):
    """A named pipe is opened once: at a second time there would be no writer."""
    pipe = os.path.join(path, 'pipe')
    os.mkfifo(pipe)
    with subprocess.Popen(['sh', '-c', 'echo "00400000-00452000 r-xp 00000000 08:02 173521 /x" > "$0"',
                           pipe]) as writer:
        got = seam('show', pipe)
        writer.kill()
    ok(got[0] == 0 and '1 mapping' in got[1], 'show of a named pipe ends', got)


def test_chosen_calls():
    """--ops of calls that are drawn seldom, or never."""
    for call in 'fork', 'mseal', 'mlockall', 'munmap', 'mmap,touch':
        got = seam('verify', '--random', '50', '--seed', '1', '--ops', call)
        ok(got[0] == 0 and '50 calls' in got[1], 'verify --ops ' + call, got)
    for calls in 'kmmap,stack', 'touch', 'rlimit':
        refuses(125, '--ops: none of these', 'verify', '--random', '50', '--ops', calls)


def test_closed_streams(path):
    """A closed standard stream is not the next file that is opened, and fails as a closed one does."""
    data = os.path.join(path, 'x.data')
    run = subprocess.run(['sh', '-c', 'exec "$0" record -o "$1" sh -c true 2>&-', SEAM, data],
                         stdout=subprocess.DEVNULL, timeout=60)
    got = seam('replay', '--json', data)
    ok(run.returncode == 0 and got[0] == 0 and '"complete":true' in got[1].replace(' ', ''),
       'recording without standard error: no message in the file', run, got)
    for stream, words, want in (('<&-', 'verify --random 20', 0), ('<&-', 'show -', 1),
                                ('>&-', 'kernels', 1), ('2>&-', 'stat true', 125)):
        run = subprocess.run(['sh', '-c', 'exec "$0" %s %s' % (words, stream), SEAM],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        ok(run.returncode == want, 'seam %s %s: status %d' % (words, stream, want), run)


def test_wrong_verb(path):
    log = os.path.join(path, 'x.strace')
    with open(log, 'w') as f:
        f.write('1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000\n')
    refuses(1, 'an strace log: a log of calls holds no map', 'show', log)


def test_cut_recording(path):
    """A recording of which nothing is left is told from a program that did nothing."""
    data = os.path.join(path, 'y.data')
    seam('record', '-o', data, 'true')
    with open(data, 'r+b') as f:
        f.truncate(os.path.getsize(data) // 2)
    for verb in 'report', 'replay':
        got = seam(verb, data)
        ok(got[0] == 0 and 'Not complete: ' in got[1], '%s of a cut recording says so' % verb, got)


def test_without_memory():
    """Nobody is asked about what cannot be done."""
    ended = subprocess.Popen(['true'])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    try:
        with open('/proc/2/comm') as f:
            is_kernel_thread = f.read() == 'kthreadd\n'
    except FileNotFoundError:
        is_kernel_thread = False
    for verb in 'record', 'verify':
        refuses(125, 'process %d: it has exited' % ended.pid, verb, '-p', str(ended.pid))
        if is_kernel_thread:
            refuses(125, 'process 2: it is a kernel thread', verb, '-p', '2')
        else:
            skip('a kernel thread: ' + verb, 'none is seen from here')
    ended.wait()


test_numbers()
test_directories()
test_without_memory()
test_chosen_calls()
with tempfile.TemporaryDirectory() as scratch:
    test_rules_file(scratch)
    test_zero_byte(scratch)
    test_closed_streams(scratch)
    test_pipe(scratch)
    test_wrong_verb(scratch)
    test_cut_recording(scratch)
done()
