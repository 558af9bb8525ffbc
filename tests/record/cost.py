#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cost.py SEAM COST: what recording costs a call in a loop of mmap and munmap, held against a tracer that does nothing
but let it go on at the two stops of each call (docs/performance.md). On one processor, in processor time of all that
take part, without what starting takes; medians of alternated runs. A machine on which the same thing takes now this
and now that long tells nothing: a named skip."""
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, COST = map(os.path.realpath, sys.argv[1:3])
CALLS, ROUNDS, SPREAD = 20000, 11, 0.5
GOALS = {'recorded': 1.25, 'recorded, and asked whether memory was touched': 1.5}


def cpu_us(*words):
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) == 77:
        print('1..0 # SKIP ptrace or seccomp is not allowed')
        sys.exit(77)
    return (used.ru_utime + used.ru_stime) * 1e6


os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
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
done()
