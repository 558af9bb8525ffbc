#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""shapes.py SEAM SHAPES: each shape is told by what it is, and a program that does what the remedy
says has the number of areas that was computed."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, SHAPES = map(os.path.realpath, sys.argv[1:3])
# shape: group, areas in it, remedy that the mended program follows
EXPECTED = {
    'fibers': ('fiber-stack', 128, 'guard-markers'),
    'barrier': ('write-barrier', 64, 'uffd-write-protect'),
    'advice': ('advice-stripes', 64, 'undo-advice'),
    'advice-touched': ('advice-stripes', 64, 'touch-first'),
    'huge': ('advice-stripes', 64, 'one-advice'),
    'decommit': ('decommit', None, 'reserve-first'),
    'touched-apart': ('touched-apart', None, 'touch-first'),
    'forked': ('fork-leftover', 64, 'reserve-first'),
    'shared-anon': ('shared-anon-per-map', 64, 'map-private'),
    'windows': ('file-windows', 64, 'map-in-order'),
    'repeated': ('file-windows', 64, 'map-once'),
    'opened-anew': ('file-windows', 64, 'map-once'),
    'file-per-map': ('file-per-map', 64, None),
    'moved': ('moved', None, 'reserve-first'),
    'numa': ('numa-stripes', 64, 'one-policy'),
    'locks': ('lock-stripes', 64, 'undo-advice'),
    'uffd': ('uffd-stripes', 64, None),
    'code': ('jit-wx', 64, 'dual-mapping'),
    'code-dual': ('jit-dual', 65, 'reserve-first'),
    'chunks': ('aligned-chunks', 64, None),
    'small-fibers': ('fiber-stack', 128, 'guard-markers'),
    'threads': ('thread-stack', 128, 'guard-markers'),
    'locks-first': ('lock-stripes', 64, 'one-advice'),
    'segments': ('shared-anon-per-map', 64, 'map-once'),
    'forked-holes': ('fork-leftover', 64, 'reserve-first'),
    'marked-stripes': ('advice-stripes', 64, 'undo-advice'),
    'two-uffd': ('uffd-stripes', 64, None),
    'mixed': ('write-barrier', 64, 'uffd-write-protect'),
    'few': ('advice-stripes', 8, None),
}
# What only the kernel's own truth shows.
HIDDEN = {'touched-apart', 'forked', 'opened-anew', 'moved', 'forked-holes', 'two-uffd'}


def look(*program):
    """The report on a program, or why there is none."""
    process = subprocess.Popen([SHAPES, *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, cwd=scratch)
    words = process.stdout.readline().split()
    report = status = None
    if words:
        run = subprocess.run([SEAM, 'show', '--json', words[1]], capture_output=True, text=True)
        report = json.loads(run.stdout) if run.returncode == 0 else {'error': run.stderr}
    process.stdin.close()
    process.stdout.close()
    status = process.wait()
    return report, status


def check(shape, what, areas, remedy):
    report, status = look(shape)
    if status == 77:
        return skip(shape, 'this kernel has not got it')
    if report['source'] != 'bpf' and shape in HIDDEN:
        return skip(shape, 'hidden without the kernel\'s own truth')
    group = next((g for g in report['groups'] if g['what'] == what), None)
    ok(group and (areas is None or group['areas'] == areas), f'{shape}: {areas or "many"} {what}',
       report['groups'])
    left = next((r for r in report['remedies'] if r['remedy'] == remedy), None)
    if not remedy:
        return ok(not report['remedies'], f'{shape}: no remedy', report['remedies'])
    mended, status = look(shape, 'mended')
    if status == 77:
        return skip(f'{shape}: {remedy}', 'this kernel has not got it')
    if not ok(left, f'{shape}: {remedy}', report['remedies']):
        return None
    if not left['exact']:
        return ok(left['areas_after'] <= mended['areas'], f'{shape}: at least that many remain',
                  left, mended['areas'])
    return ok(left['areas_after'] == mended['areas'],
              f'{shape}: {left["areas_after"]} areas by {remedy}, and the mended program has them',
              left, mended['areas'], mended['groups'])


scratch = tempfile.mkdtemp()
for shape, expected in EXPECTED.items():
    check(shape, *expected)
os.rmdir(scratch)
done()
