#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""histories.py SEAM: what the old kernels' own code answered, to the letter, and their steps."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok  # noqa: E402
from releases import RELEASES, plain_form, policy  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
HISTORY = os.path.join(os.environ['SEAM_TEST_DATA'], 'history')

# stream: kernel: steps of placement, find and insert, counted in the kernels' own functions
STEPS = {
    'report-2001': {
        '2.2.13': (20116, 6749, 49301), '2.4.2': (2523319, 35, 23213),
        '2.4.3': (20116, 29097, 24645), '2.4.10': (20116, 11, 11250)},
    'report-2001-touch': {
        '2.2.13': (20116, 29084, 49301), '2.4.2': (2523319, 39235, 23213),
        '2.4.3': (20116, 29097, 24645), '2.4.10': (20116, 13420, 11250)},
    'report-2001-brk': {
        '2.2.13': (20116, 7586, 50975), '2.4.2': (2523319, 7576, 25912),
        '2.4.3': (20116, 30492, 25482), '2.4.10': (20116, 848, 12087)},
    'report-2001-down': {
        '2.2.13': (19, 35, 49391), '2.4.2': (19, 32, 24111),
        '2.4.3': (19, 24087, 24111), '2.4.10': (19, 11, 11259)},
}


def compare_streams():
    for name in sorted(n[:-4] for n in os.listdir(HISTORY) if n.endswith('.ops')):
        script = os.path.join(HISTORY, name + '.ops')
        wrong = []
        for release in RELEASES:
            answer = subprocess.run(
                [SEAM, 'replay', '--format', 'ops', '--kernel', policy(release), script],
                capture_output=True, text=True, timeout=60)
            with open(os.path.join(HISTORY, f'{name}.{release}.out')) as f:
                expected = plain_form(f.read(), release)
            found = plain_form(answer.stdout, release)
            if found != expected:
                first = next((pair for pair in zip(expected, found) if pair[0] != pair[1]), None)
                wrong.append((release, answer.stderr, first or 'one is shorter'))
        ok(not wrong, f'{name} on {len(RELEASES)} kernels', *wrong)


def near(found, expected):
    """The trees are kept in shape by other code: 5 percent, and some at the start."""
    return abs(found - expected) <= 0.05 * expected + 30


def compare_steps():
    for name, kernels in STEPS.items():
        answer = subprocess.run(
            [SEAM, 'replay', '--json', '--kernel', ','.join(map(policy, kernels)),
             os.path.join(HISTORY, name + '.ops')], capture_output=True, text=True, timeout=60)
        rows = {row['kernel']: row['steps'] for row in json.loads(answer.stdout)['kernels']}
        for release, (placement, find, insert) in kernels.items():
            steps = rows[policy(release)]
            ok(steps['placement'] == placement and near(steps['find'], find) and
               near(steps['insert'], insert), f'steps of {name} on {release}', steps)


compare_streams()
compare_steps()
done()
