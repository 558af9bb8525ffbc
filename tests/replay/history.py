#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""history.py SEAM: each stream of tests/data/history, replayed under each old kernel, gives what the
code of that kernel gave: every result, every map, to the letter (objects of shared anonymous memory
and anon_vmas up to renaming; the offset of anonymous memory means nothing up to 2.4)."""
import collections
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import tap

SEAM = sys.argv[1]
DATA = os.path.join(os.environ['SEAM_TEST_DATA'], 'history')
FIRST_OBJECT = 100


def normal_form(text, offsets_mean_nothing):
    lines, names = [], {}

    def renamed(kind, number):
        return names.setdefault((kind, number), f'{kind}{len(names)}')

    for line in text.splitlines():
        if line.startswith('#'):
            continue
        if line.startswith(' '):
            fields = line.split()
            if fields[3] == '0' and offsets_mean_nothing:
                fields[2] = '*'
            if int(fields[3]) >= FIRST_OBJECT:
                fields[3] = renamed('object', fields[3])
            if fields[4:] and fields[4] != '0':
                fields[4] = renamed('anon_vma', fields[4])
            line = ' '.join(fields)
        lines.append(line)
    return lines


def replay(stream, releases):
    """The outputs of several kernels follow each other, each with a first line of its own."""
    kernels = ','.join('linux-' + release for release in releases)
    run = subprocess.run([SEAM, 'replay', '--format', 'ops', '--kernel', kernels,
                          f'{DATA}/{stream}.ops'], capture_output=True, text=True)
    return run.stderr, re.split(r'^# release .*\n', run.stdout, flags=re.M)[1:]


streams = collections.defaultdict(list)
for path in sorted(glob.glob(f'{DATA}/*.out')):
    stream, release = re.match(r'(.+?)\.(2\..+)\.out$', os.path.basename(path)).groups()
    streams[stream].append(release)
tap.ok(len(streams) >= 81, f'{len(streams)} streams')
for stream, releases in sorted(streams.items()):
    errors, outputs = replay(stream, releases)
    wrong = []
    for release, found in zip(releases, outputs):
        with open(f'{DATA}/{stream}.{release}.out', encoding='ascii') as f:
            expected = f.read()
        old = release.startswith(('2.2', '2.4'))
        if normal_form(found, old) != normal_form(expected, old):
            wrong.append(release)
    tap.ok(not wrong and not errors and len(outputs) == len(releases), f'{stream}', wrong, errors)
tap.done()
