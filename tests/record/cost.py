#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cost.py SEAM COST: what recording costs a call in a loop of mmap and munmap, beside a tracer that does nothing.
The goal is 12 µs, and 18 with the question whether memory was touched, where the tracer that does nothing takes
10.1; each figure is the best of alternated tries, so that a busy machine slows all alike."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok  # noqa: E402

SEAM, COST = map(os.path.realpath, sys.argv[1:3])
CALLS, TRIES, BARE_NS = '20000', 9, 10100


def ns(*words):
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode == 77:
        print('1..0 # SKIP ptrace or seccomp is not allowed')
        sys.exit(77)
    return int(run.stdout)


with tempfile.TemporaryDirectory() as scratch:
    record = [SEAM, 'record', '-o', os.path.join(scratch, 'data'), '--', COST, 'loop', CALLS]
    kinds = {'alone': [COST, 'loop', CALLS, '0'], 'bare': [COST, 'bare', CALLS], 'recorded': [*record, '0'],
             'touched alone': [COST, 'loop', CALLS, '1'], 'touched recorded': [*record, '1']}
    best = {kind: min(many) for kind, many in
            zip(kinds, zip(*[[ns(*words) for words in kinds.values()] for _ in range(TRIES)]))}
for kind, least in best.items():
    print(f'# {kind}: {least / 1000:.2f} µs a call')
for kind, goal_ns in (('recorded', 12000), ('touched recorded', 18000)):
    ratio = best[kind] / best['bare']
    ok(ratio <= goal_ns / BARE_NS, f'{kind}: {ratio:.2f} of a tracer that does nothing', best)
done()
