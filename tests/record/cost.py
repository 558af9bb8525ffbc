#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cost.py SEAM COST [--compile]: what recording costs a call in a loop of mmap and munmap, held against a tracer that
does nothing but let it go on at the two stops of each call (docs/performance.md). On one processor, in processor time
of all that take part, without what starting takes; medians of alternated runs. --compile: also what it adds to a
compile. A machine on which the same thing takes now this and now that long tells nothing: a named skip."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, COST = map(os.path.realpath, sys.argv[1:3])
CALLS, ROUNDS, SPREAD = 20000, 11, 0.5
COMPILES, COMPILE_GOAL = 9, 1.02
SOURCE = '''#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main() { std::regex r("a"); std::map<int, std::string> m; std::cout << m.size(); }
'''
GOALS = {'recorded': 1.25, 'recorded, and asked whether memory was touched': 1.5}
if tuple(map(int, re.findall(r'\d+', os.uname().release)[:2])) >= (6, 11):  # PROCMAP_QUERY: one stop a call
    GOALS = {'recorded': 1, 'recorded, and asked whether memory was touched': 1.25}


def cpu_us(*words):
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) == 77:
        print('1..0 # SKIP ptrace or seccomp is not allowed')
        sys.exit(77)
    return (used.ru_utime + used.ru_stime) * 1e6


ALL_CPUS = os.sched_getaffinity(0)
os.sched_setaffinity(0, {max(ALL_CPUS)})
with tempfile.TemporaryDirectory() as scratch:
    record = [SEAM, 'record', '-o', os.path.join(scratch, 'data'), '--', COST, 'loop']
    kinds = {'bare': lambda calls: [COST, 'bare', calls], 'recorded': lambda calls: [*record, calls, '0'],
             'recorded, and asked whether memory was touched': lambda calls: [*record, calls, '1'],
             'touched, not recorded': lambda calls: [COST, 'loop', calls, '1']}
    rounds = [{kind: (cpu_us(*words(str(CALLS))) - cpu_us(*words('2'))) / CALLS for kind, words in kinds.items()}
              for _ in range(ROUNDS)]
for kind in kinds:
    print(f'# {kind}: {statistics.median(seen[kind] for seen in rounds):.2f} µs a call')
low, _, high = statistics.quantiles([seen['bare'] for seen in rounds], n=4)
for kind, goal in GOALS.items():
    ratio = statistics.median(seen[kind] / seen['bare'] for seen in rounds)
    if ratio > goal and high > low * (1 + SPREAD):
        skip(f'{kind}: {ratio:.2f} of a tracer that does nothing',
             f'which itself takes {low:.1f} to {high:.1f} µs a call here')
    else:
        ok(ratio <= goal, f'{kind}: {ratio:.2f} of a tracer that does nothing', rounds)


def used_s(*words):
    before = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = os.wait4(child.pid, 0)[2]
    return used.ru_utime + used.ru_stime, time.monotonic() - before


def compile_cost():
    """A compile of two seconds, alone and recorded in turns, on all processors."""
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(scratch, 'a.cc')
        with open(source, 'w') as f:
            f.write(SOURCE)
        words = ['g++', '-O2', '-c', source, '-o', os.path.join(scratch, 'a.o')]
        record = [SEAM, 'record', '-o', os.path.join(scratch, 'data'), '--', *words]
        pairs = [(used_s(*words), used_s(*record)) for _ in range(COMPILES)]
    cpu, wall = (statistics.median(recorded[i] / alone[i] for alone, recorded in pairs) for i in (0, 1))
    alone_s = statistics.median(alone[0] for alone, _ in pairs)
    print(f'# a compile of {alone_s:.2f} s: recorded {wall:.3f} of the time by the clock')
    what = f'a compile, recorded: {cpu:.3f} of the processor time'
    low, _, high = statistics.quantiles([alone[0] for alone, _ in pairs], n=4)
    if cpu > COMPILE_GOAL and high > low * (2 * COMPILE_GOAL - 1):
        skip(what, f'alone it takes {low:.2f} to {high:.2f} s here')
    else:
        ok(cpu <= COMPILE_GOAL, what, pairs)


if '--compile' in sys.argv and shutil.which('g++'):
    os.sched_setaffinity(0, ALL_CPUS)
    compile_cost()
done()
