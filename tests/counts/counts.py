#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counts.py SEAM_ALL.c HEADERS [--record]: instructions an operation takes, counted by callgrind with the search in
plain C, so that they are the same on every machine; over 10 % more than is recorded for this compiler is a failure."""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))
from tap import done, ok  # noqa: E402

SOURCE, HEADERS = map(os.path.realpath, sys.argv[1:3])
RECORD = '--record' in sys.argv
FIGURES = os.path.join(HERE, 'figures')  # compiler, processor, work, instructions an operation
MOST = 1.10
WORKS = ('lookup', 'random_op', 'random_op_rules', 'map_unmap', 'extend', 'ask_commit')


def leave(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(0)


if not shutil.which('valgrind'):
    leave('no valgrind')
text = subprocess.run(['cc', '--version'], capture_output=True, text=True).stdout.splitlines()[0]
number = re.search(r'\b(\d+)\.\d+\.\d+', text)
compiler = f'{"clang" if "clang" in text else "gcc"}-{number[1] if number else "unknown"}'
key = (compiler, platform.machine())
recorded = {}
with open(FIGURES) as f:
    for line in f:
        if line.strip() and not line.startswith('#'):
            *words, instructions = line.split()
            recorded[tuple(words)] = float(instructions)
if not RECORD and not any(words[:2] == key for words in recorded):
    leave(f'no figures for {" on ".join(key)} (tests/counts/figures)')

with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, 'work')
    subprocess.run(['cc', '-std=gnu11', '-O2', '-static', '-fno-stack-protector', '-fcf-protection=none', '-DSEAM_PLAIN_SEARCH',
                    '-fno-tree-loop-distribute-patterns', '-w', '-I' + HEADERS, os.path.join(HERE, 'work.c'),
                    os.path.join(HERE, 'mem.c'), SOURCE, '-o', program], check=True)
    found = {}
    for work in WORKS:
        run = subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', '--toggle-collect=measured',
                              program, work], capture_output=True, text=True)
        collected = re.search(r'Collected : (\d+)', run.stderr)
        if not ok(run.returncode == 0 and collected, f'{work}: counted', run.stderr[-1000:]):
            continue
        found[work] = int(collected[1]) / int(run.stdout)
        was = recorded.get((*key, work))
        print(f'# {work}: {found[work]:.1f} instructions{f", recorded {was:.1f}" if was else ""}')
        if not RECORD:
            ok(was and found[work] <= was * MOST, f'{work}: not over 10 % more than recorded', was)
if RECORD:
    recorded.update({(*key, work): value for work, value in found.items()})
    with open(FIGURES) as f:
        head = [line for line in f if line.startswith('#')]
    with open(FIGURES, 'w') as f:
        f.writelines(head)
        f.writelines(f'{" ".join(words)} {value:.1f}\n' for words, value in sorted(recorded.items()))
done()
