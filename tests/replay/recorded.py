#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""recorded.py SEAM SELFMAPS: a recording replayed as it happened gives the map that the program saw
of itself; with a rule off it gives another."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import tap

SEAM, SELFMAPS = map(os.path.realpath, sys.argv[1:3])


def maps_lines(text):
    """The kernel shows [vsyscall] to all and counts it for none."""
    return [line for line in text.splitlines()
            if re.match(r'[0-9a-f]+-[0-9a-f]+ ', line) and not line.endswith('[vsyscall]')]


def replay(*args):
    return subprocess.run([SEAM, 'replay', *args], capture_output=True, text=True).stdout


def of_parent(text):
    """The maps of the first process."""
    return maps_lines(re.split(r'^# ', text, flags=re.M)[1])


with tempfile.TemporaryDirectory() as folder:
    data = f'{folder}/seam.data'
    run = subprocess.run([SEAM, 'record', '-o', data, '--', SELFMAPS], capture_output=True, text=True)
    if run.returncode:
        print('1..0 # SKIP seam record:', run.stderr.strip().splitlines()[-1:] or run.returncode)
        sys.exit(0)
    seen = maps_lines(run.stdout)
    report = json.loads(replay('--json', data))
    trace = report['trace']
    tap.ok(trace['complete'] and trace['processes'] == 2, 'complete, two processes', trace)
    tap.ok(trace['checkpoints'] >= 2 and not trace['differences'] and not trace['resynced'],
           'no difference to the kernel', trace)
    tap.ok(trace['touch'] != 'recorded' or not trace['undetermined'],
           'nothing hangs on what was touched: that is recorded', trace)
    row = report['kernels'][0]
    tap.ok(row['recorded'] and row['areas_end'] == sum(p['areas_end'] for p in row['processes']) and
           row['processes'][0]['areas_end'] == len(seen), 'as many areas as the program saw', row)
    tap.ok(of_parent(replay('--maps', data)) == seen, 'the same lines')
    other = of_parent(replay('--maps', '--place', 'recorded', '--kernel',
                             'linux-host,-anon_vma,-account', data))
    tap.ok(other and other != seen, 'others with rules off')
    old = json.loads(replay('--json', '--kernel', 'linux-2.4.2,linux-2.4.3', data))['kernels']
    tap.ok(old[0]['areas_end'] > old[1]['areas_end'] > 0 and not old[0]['skipped_calls'],
           'and under kernels of 2001', old)
tap.done()
