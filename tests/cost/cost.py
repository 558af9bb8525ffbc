#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""cost.py SEAM: seam cost measures, keeps what it measured, and seam show tells a fork's price by it."""
import json
import mmap
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import running  # noqa: E402
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
PAGES = 20000
OPS = ['fork', 'exit', 'exec', 'munmap', 'maps', 'smaps', 'bpf']


def seam(*args, **changes):
    env = {k: v for k, v in {**os.environ, **changes}.items() if v is not None}
    return running.run(SEAM, *args, env=env)


def integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


home = tempfile.TemporaryDirectory()
kept = os.path.join(home.name, 'deep', 'seam', 'cost.json')
run = seam('cost', '--json', XDG_CACHE_HOME=os.path.join(home.name, 'deep'))
report = json.loads(run.stdout) if ok(run.returncode == 0, 'seam cost --json', run.stderr) else {}
per_area, controls = report.get('per_area', {}), report.get('controls', {})
missing = {row['what']: row['why'] for row in report.get('not_measured', [])}
ok(report.get('kind') == 'cost' and report.get('kernel_release') == os.uname().release and
   report.get('host') == os.uname().nodename, 'it says of which host and kernel it is', report)
for op in OPS:
    values = [per_area.get(f'{op}_{kind}_ns') for kind in ('untouched', 'touched')]
    if op == 'bpf' and missing.get('bpf'):
        ok(values == [None, None], 'reading by BPF is not measured, and null', values)
    else:
        ok(all(integer(v) and v < 1000000 for v in values), f'{op}: nanoseconds a mapping', values)
ok(per_area.get('fork_touched_ns', 0) > 0 and per_area.get('smaps_touched_ns', 0) > 0,
   'fork and smaps take time', per_area)
values = [per_area.get(f'kernel_{kind}_bytes') for kind in ('untouched', 'touched')]
if missing.get('kernel_bytes'):
    ok(len(missing['kernel_bytes']) > 10, 'kernel memory is not measured, and it is said why')
else:
    ok(all(integer(v) and 100 < v < 2000 for v in values), 'bytes of kernel memory', values)
ok(all(integer(controls.get(f'{what}_{how}_ns')) for what in ('mmap', 'fault')
       for how in ('few', 'many')), 'controls at few and at many areas', controls)
ok(report.get('file') == kept and json.load(open(kept)) == report, 'the report is kept as it was')

# A map that fork pays for: every second page of another protection.
region = mmap.mmap(-1, PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, PAGES, 2):
    region.madvise(16, page * mmap.PAGESIZE, mmap.PAGESIZE)  # MADV_DONTDUMP
known = {**report, 'per_area': {**per_area, 'fork_untouched_ns': 1000, 'fork_touched_ns': 1000}}


def show(cost, *args):
    with open(kept, 'w') as f:
        f.write(cost if isinstance(cost, str) else json.dumps(cost))
    return seam('show', str(os.getpid()), *args, XDG_CACHE_HOME=os.path.join(home.name, 'deep'))


told = json.loads(show(known, '--json').stdout)
ok(told['fork_areas_ns'] == told['areas'] * 1000, 'show: a fork pays for each mapping', told)
after = min([row['areas_after'] for row in told['remedies']], default=told['areas'])
ok(told['fork_needed_ns'] == told['fork_areas_ns'] * after // told['areas'],
   'show: and what it would pay after the remedy', told)
SENTENCE = 'A fork of this process pays about '
screen = show(known).stdout
ok(SENTENCE + '20.' in screen and ' ms for its mappings' in screen, 'show says so', screen)
ok(('of it needed' in screen) == bool(told['remedies']), 'and what of it is needed', screen)
cheap = {**report, 'per_area': {**per_area, 'fork_untouched_ns': 1, 'fork_touched_ns': 1}}
ok(SENTENCE not in show(cheap).stdout, 'not where it is not felt')
ok(SENTENCE not in show({**known, 'kernel_release': '2.4.2'}).stdout, 'not of another kernel')
ok(SENTENCE not in show({**known, 'host': 'elsewhere'}).stdout, 'not of another host')
for what, text in {'an empty file': '', 'no JSON': 'fork_touched_ns', 'a cut one': json.dumps(known)[:120],
                   'a wrong number': json.dumps(known).replace('1000', '-1')}.items():
    run = show(text)
    ok(run.returncode == 0 and SENTENCE not in run.stdout, f'not from {what}', run.stderr)
region.close()

run = seam('cost', '--no-header', '--no-save', XDG_CACHE_HOME='/nonexistent/x')
ok(run.returncode == 0 and 'fork' in run.stdout and 'TOUCHED' not in run.stdout and
   not run.stderr, 'a table without titles, not kept', run.stdout, run.stderr)
for args in (['7'], ['--what'], ['-o']):
    ok(seam('cost', *args).returncode == 2, f'usage: cost {" ".join(args)}')
done()
