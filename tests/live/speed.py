#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""speed.py SEAM HARD: how long seam show takes on a process at its limit, and seam top with 300
processes. The best of several tries counts; on a machine that others keep busy, its CPU time."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, HARD = map(os.path.realpath, sys.argv[1:3])
TRIES = 20


def timed(*args):
    """(wall, CPU of it and its children) in ms"""
    start = time.monotonic()
    process = subprocess.Popen([SEAM, *args], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (time.monotonic() - start) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def best(limit_ms, *args):
    """Figures of the best of the tries, and the one that counts; not all are made when it is good enough."""
    wall = cpu = float('inf')
    for _ in range(TRIES):
        once = timed(*args)
        wall, cpu = min(wall, once[0]), min(cpu, once[1])
        if wall <= limit_ms * 0.7:
            break
    busy = os.getloadavg()[0] > os.cpu_count()
    return f'{wall:.0f} ms, CPU {cpu:.0f} ms', cpu if busy else wall


def read_smaps_ms(pid):
    start = time.thread_time()
    with open(f'/proc/{pid}/smaps', 'rb', buffering=0) as f:
        while f.read(1 << 18):
            pass
    return (time.thread_time() - start) * 1e3


def show(pid):
    run = subprocess.run([SEAM, 'show', '--json', pid], capture_output=True, text=True)
    return json.loads(run.stdout)


process = subprocess.Popen([HARD, 'limit'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
pid = process.stdout.readline().split()[1]
report = show(pid)
if report['source'] != 'bpf':
    skip('seam show', f'areas are read from {report["source"]} here: {report.get("notes")}')
else:
    figures, took = best(120, 'show', pid)
    read_ns = min(show(pid)['read_ns'] for _ in range(5)) / report['areas']
    smaps_ms = min(read_smaps_ms(pid) for _ in range(3))
    print(f'# {report["areas"]} areas: seam show {figures}; reading '
          f'{read_ns:.0f} ns an area, smaps {smaps_ms * 1e6 / report["areas"]:.0f}')
    ok(took <= 120, 'seam show at the limit: 120 ms', figures)
    ok(read_ns <= 450, 'an area is read in 450 ns', read_ns)
    ok(read_ns * report['areas'] <= 0.3 * smaps_ms * 1e6, 'in less than 0.3 of what smaps takes',
       read_ns, smaps_ms)
process.kill()
process.wait()

sleepers = [subprocess.Popen(['sleep', '600']) for _ in range(300)]
figures, took = best(100, 'top', '--once')
print(f'# 300 processes and more: seam top {figures}')
if os.geteuid():
    skip('seam top', 'counting by BPF needs root')
else:
    ok(took <= 100, 'seam top: 100 ms', figures)
for sleeper in sleepers:
    sleeper.kill()
for sleeper in sleepers:
    sleeper.wait()
done()
