#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kills.py SEAM SUBJECT [ROUNDS]: a recorder that is killed at any moment leaves a file that is good to its last block,
and a tree that is dead (with the filter, which kills it) or goes on and ends as it would alone (--survive, -p)."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import children_of, is_traced, state_of, wait_until  # noqa: E402
from tap import done, ok, skip  # noqa: E402

SEAM, SUBJECT = map(os.path.realpath, sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 12
LOOP_MS = 700
SHOWN_S = 0.3  # what was done so long ago is in the file: the writer does that each tenth of a second
scratch = tempfile.mkdtemp()
os.chdir(scratch)
DATA, OUT = os.path.join(scratch, 'recording'), os.path.join(scratch, 'out')


def out():
    with open(OUT) as f:
        return f.read()


def is_alive(pid):
    return state_of(pid) not in 'ZX'


def replayed():
    """The file's calls; None: it is no good."""
    if not os.path.exists(DATA) or os.path.getsize(DATA) < 24:
        return 0
    seen = subprocess.run([SEAM, 'replay', '--json', DATA], capture_output=True, text=True)
    return json.loads(seen.stdout)['trace'].get('calls') if seen.stdout else None


def kill_after(seam, seconds):
    """Its children at that moment."""
    time.sleep(seconds)
    children = children_of(seam.pid)
    seam.kill()
    seam.wait()
    return children


def launched(options, rng):
    """A fifth of the rounds end while all is being set up, the others after the program has begun."""
    early = rng.random() < 0.2
    with open(OUT, 'w') as f:
        seam = subprocess.Popen([SEAM, 'record', '-o', DATA, *options, '--', SUBJECT, 'loop', str(LOOP_MS)],
                                stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.DEVNULL)
    if not early:
        wait_until(lambda: 'begun' in out())
    ran_s = rng.random() * (0.05 if early else 0.8 * LOOP_MS / 1000)
    return kill_after(seam, ran_s), 0 if early else ran_s


def attached(options, rng):
    with open(OUT, 'w') as f:
        subject = subprocess.Popen([SUBJECT, 'loop', str(LOOP_MS)], stdin=subprocess.DEVNULL, stdout=f)
    wait_until(lambda: 'begun' in out())
    seam = subprocess.Popen([SEAM, 'record', '-o', DATA, '--yes', *options, '-p', str(subject.pid)],
                            stderr=subprocess.DEVNULL)
    early = rng.random() < 0.2
    if not early:
        wait_until(lambda: is_traced(subject.pid) or seam.poll() is not None)
    ran_s = rng.random() * 0.7 * LOOP_MS / 1000
    kill_after(seam, ran_s)
    if subject.wait(timeout=60) != 11:
        return [os.getpid()], 0  # which lives: bad
    return [], 0 if early else ran_s


def try_all(name, run, options, survives):
    rng = random.Random(5)
    bad, nr_shown, nr_to_show, nr_with_calls = [], 0, 0, 0
    for round_ in range(ROUNDS):
        for path in (DATA, OUT):
            if os.path.exists(path):
                os.unlink(path)
        tree, ran_s = run(options, rng)
        gone = wait_until(lambda: not any(is_alive(pid) for pid in tree))
        calls = replayed()
        # a program that was not begun has nothing to finish
        finished = not survives or wait_until(lambda: out() in ('', 'begun\nloop done\n'))
        if not gone or calls is None or not finished:
            bad.append((round_, gone, calls, out()))
        nr_with_calls += (calls or 0) > 10
        if ran_s > SHOWN_S:
            nr_to_show += 1
            nr_shown += (calls or 0) > 10
    ok(not bad, f'killed {ROUNDS} times ({name}): the file is good, the tree {"goes on" if survives else "is dead"}; '
       f'{nr_with_calls} have calls', bad[:5], len(bad))
    ok(nr_shown >= nr_to_show * 0.7, f'{name}: what was done {SHOWN_S} s before is there: {nr_shown} of {nr_to_show}')


def may_attach():
    sleeper = subprocess.Popen(['sleep', '10'])
    seam = subprocess.Popen([SEAM, 'record', '-o', os.devnull, '--yes', '-p', str(sleeper.pid)], stderr=subprocess.DEVNULL)
    may = wait_until(lambda: is_traced(sleeper.pid) or seam.poll() is not None) and seam.poll() is None
    sleeper.kill()
    seam.wait()
    sleeper.wait()
    return may


try_all('filter', launched, [], survives=False)
try_all('survive', launched, ['--survive'], survives=True)
if may_attach():
    try_all('attached', attached, [], survives=True)
else:
    skip('attached', 'ptrace of a process that runs already is not allowed')
os.chdir('/')
shutil.rmtree(scratch)
done()
