#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""names.py SEAM: names that others chose - of programs, files, lines of input - neither move a terminal
nor end a line, wherever they are shown; and no part of them is lost."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import running  # noqa: E402
from tap import done, ok, skip  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
NAME = b'a\nb\x1b[1m\xc2\x9bc'
SHOWN = b'a?b?[1m?c'
# Takes that name, and more mappings than any other process there.
LARGEST = '''
import ctypes, mmap, os, subprocess, sys
PR_SET_NAME = 15
ctypes.CDLL(None).prctl(PR_SET_NAME, os.fsencode(sys.argv[1]), 0, 0, 0)
held = [mmap.mmap(-1, 4096, prot=mmap.PROT_READ if i % 2 else mmap.PROT_WRITE) for i in range(2000)]
subprocess.run([sys.argv[2], 'top', '--once'])
'''
CONTROL = re.compile(b'[\\0-\\x08\\x0b-\\x1f\\x7f]|\\xc2[\\x80-\\x9f]')


def seam(*args, **keywords):
    return running.run(SEAM, *args, text=False, **keywords)


def plain(what, run, where, shown=SHOWN):
    text = getattr(run, where)
    ok(shown in text and not CONTROL.search(text), f'{what}: plain', run)


def whole(what, text):
    report = json.loads(text.decode())
    while isinstance(report, dict) and 'comm' not in report:
        report = report['processes'][0]
    ok(report['comm'] == NAME.decode(), f'{what}: whole', text)


with tempfile.TemporaryDirectory() as scratch:
    program = os.path.join(scratch.encode(), NAME)
    trace = os.path.join(scratch, 'trace')
    shutil.copy(shutil.which('sleep'), program)
    with subprocess.Popen([program, '60']) as process:
        pid = str(process.pid)
        while json.loads(seam('show', '--json', pid).stdout.decode())['comm'] != NAME.decode():
            time.sleep(0.01)
        plain('show', seam('show', pid), 'stdout')
        pairs = json.loads(seam('why', '--json', pid).stdout.decode())
        whole('why --json', seam('why', '--json', pid).stdout)
        plain('why', seam('why', pid), 'stdout')
        address = pairs['pairs'][0]['right']['start'][2:]
        plain('why ADDR', seam('why', pid, address), 'stdout')
        run = seam('record', '-p', pid, stdin=subprocess.DEVNULL)
        plain('record asks', run, 'stderr')
        process.kill()
    plain('stat', seam('stat', program, '0'), 'stderr')
    whole('stat --json', seam('stat', '--json', program, '0').stderr)
    # its file, mapped by the loader
    run = seam('record', '--print', '-o', trace, '/bin/sh', '-c', 'exec "$1" 0', 'sh', program)
    ok(run.returncode == 0 and not CONTROL.search(run.stderr), 'record --print: plain', run)
    run = seam('record', '-o', trace, program, '0')
    plain('report', seam('report', trace), 'stdout')
    whole('report --json', seam('report', '--json', trace).stdout)
    run = seam('replay', '--maps', trace)
    ok(b'/a\\012b' in run.stdout and b' %s: ' % SHOWN in run.stdout,
       'replay --maps: a newline in a path as the kernel writes it', run)

    # the first line of top, where none has more mappings than it
    inside = ['unshare', '-Urpf', '--kill-child', '--mount-proc']
    if subprocess.run([*inside, 'true'], capture_output=True).returncode:
        skip('top: plain', 'no PID namespaces here')
    else:
        run = subprocess.run([*inside, sys.executable, '-c', LARGEST, NAME, SEAM], capture_output=True, timeout=60)
        plain('top', run, 'stdout')
        ok(run.stdout.startswith(SHOWN + b' 1: '), 'top: the first line', run)

    # where only ASCII can be shown
    for locale, ascii in ('C', True), ('C.UTF-8', False):
        shown = os.environ | {'LC_ALL': locale}
        for what, words, where in (
                ('record --print', ['record', '--print', '-o', trace, 'true'], 'stderr'),
                ('report', ['report', trace], 'stdout'),
                ('record asks', ['record', '-p', str(os.getpid())], 'stderr')):
            text = getattr(seam(*words, env=shown, stdin=subprocess.DEVNULL), where)
            ok(len(text) > 80 and text.isascii() == ascii, f'{what}, LC_ALL={locale}', text)

    os.rename(trace, program)
    plain('report: the file', seam('report', program), 'stdout')
    plain('replay: the file', seam('replay', program), 'stdout')
    os.truncate(program, 40)
    run = seam('report', program)
    plain('report: no process', run, 'stdout')
    ok(b': no process' in run.stdout, 'report: no process', run)
    with open(program, 'wb') as f:
        f.write(b'1000-2000 r--p 0 00:00 0\n')
    plain('show: the file', seam('show', program), 'stdout')
    with open(program, 'wb') as f:
        f.write(b'1000-2000 r--p 0 00:00 0\n1000-x\x1b[1m\xc2\x9b\n')
    run = seam('show', program)
    plain('a line that cannot be read', run, 'stderr')
    plain('a program that is not there', seam('stat', program + b'/'), 'stderr')
    plain('an option', seam(b'show', b'--watch', NAME, b'1'), 'stderr')
done()
