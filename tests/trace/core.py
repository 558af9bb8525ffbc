#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""core.py SEAM: core files and logs of a JVM against the maps of the same process; what is refused by name."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from cores import core  # noqa: E402
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
CASES = os.path.join(os.environ['SEAM_TEST_DATA'], 'cases')
VSYSCALL = 0xffffffffff600000


def show(data, *args):
    data = data if isinstance(data, bytes) else data.encode()
    run = subprocess.run([SEAM, 'show', '-', '--json', *args], input=data, capture_output=True, timeout=60)
    return json.loads(run.stdout) if run.returncode == 0 else {'error': run.stderr.decode(), 'status': run.returncode}


def read_maps(text):
    found = []
    for line in text.splitlines():
        match = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+ *(.*)', line)
        start, end, perms, offset, name = match.groups()
        found.append((int(start, 16), int(end, 16), perms, int(offset, 16), name))
    return found


def pairs_with(report, cause):
    return sum(row['pairs'] for row in report['causes'] if cause in row['cause'].split('+'))


run = subprocess.run([SEAM, 'why', '-'], input=core([(0x1000, 0x2000, 'rw-p', 0, ''), (0x2000, 0x3000, 'r--p', 0, '')]),
                     capture_output=True, timeout=60)
ok(b' rw-? ' in run.stdout, 'why: whether memory is shared is not told', run.stdout, run.stderr)
for name in sorted(os.listdir(CASES)):
    if not name.endswith('.maps') or '2.4' in name:
        continue
    with open(os.path.join(CASES, name)) as f:
        text = f.read()
    areas, plain = read_maps(text), show(text)
    report = show(core(areas))
    ok(report.get('source') == 'core' and report['comm'] == 'cored' and
       [report[k] for k in ('areas', 'touching_pairs', 'holes')] ==
       [plain[k] for k in ('areas', 'touching_pairs', 'holes')] and
       all(pairs_with(report, cause) == pairs_with(plain, cause) for cause in ('prot', 'file', 'offset')) and
       set(report['not_visible']) == set(plain['not_visible']) | {'shared', 'name'},
       f'{name}: as a core file', report, plain)

with open(os.path.join(CASES, '12-healthy-python.maps')) as f:
    python = read_maps(f.read())
low = [(0x8048000, 0x8049000, 'r-xp', 0, '/bin/a'), (0x8049000, 0x804a000, 'rw-p', 0x1000, '/bin/a'),
       (0x804a000, 0x804c000, 'rw-p', 0, ''), (0xf7000000, 0xf7001000, '---p', 0, '')]
wanted = show(core(low))
for bits in (32, 64):
    for big in (False, True):
        for extended in (False, True):
            report = show(core(low, bits, big, extended=extended))
            ok(report == {**wanted, 'read_ns': report.get('read_ns')},
               f'{bits} bits, {"big" if big else "little"} endian{", segments counted in section 0" * extended}', report)
many = [(0x10000000 + i * 0x2000, 0x10001000 + i * 0x2000, 'rw-p', 0, '') for i in range(70000)]
report = show(core(many, extended=True))
ok(report.get('areas') == 70000, '70,000 segments', report.get('error'))
report = show(core(python + [(VSYSCALL, VSYSCALL + 4096, '--xp', 0, '')]))
ok(report['areas'] == len([a for a in python if a[0] != VSYSCALL]), '[vsyscall] is not counted')
report = show(core(low, files=False))
ok('offset' in report['not_visible'] and any('NT_FILE' in note for note in report['notes']),
   'without a list of files', report)
report = show(core(low, dumped=low[1:]))
ok(report['areas'] == 3 and report['counted'] == 4 and report['notes'], 'a segment not dumped', report)

TWO = ((0x1000, 0x2000, 'rw-s', 0), (0x2000, 0x3000, 'rw-s', 0))
for name, causes in (('/bin/a', ['offset']), ('/SYSV00000000 (deleted)', ['file']), ('/dev/zero (deleted)', ['file'])):
    report = show(core([(*area, name) for area in TWO]))
    ok([row['cause'] for row in report['causes']] == causes, f'{name} twice: {causes}', report['causes'])
report = show(core([(*TWO[0], '/dev/zero (deleted)'), (0x2000, 0x3000, 'rw-s', 0x1000, '/dev/zero (deleted)')]))
ok([row['cause'] for row in report['causes']] in ([], ['unseen'], ['untried']), 'shared memory in two parts is one object', report['causes'])

whole = core(low)
for size in (20, 63, 100, len(whole) - 300):
    ok('cut off' in show(whole[:size]).get('error', '') + str(show(whole[:size]).get('notes')), f'cut after {size} bytes', show(whole[:size]))
report = show(core(low[::-1], files=False))
ok('segment 2' in report.get('error', ''), 'segments that do not ascend', report)
report = show(core(low[::-1], files=False), '--skip-bad')
ok(report.get('areas') == 1, 'are left out when asked for', report)
ok('PT_LOAD' in show(core([])).get('error', ''), 'no memory in it')
bad = bytearray(whole)
at = whole.index(b'CORE\0\0\0\0', whole.index(b'CORE\0\0\0\0') + 8) + 8
bad[at:at + 8] = b'\xff' * 8
ok('NT_FILE' in show(bytes(bad)).get('error', ''), 'more files than there is room for', show(bytes(bad)))

with open(os.path.join(CASES, '12-healthy-python.maps')) as f:
    maps = f.read()
LOG = '#\n# {}\n#\n\nregisters:\nRAX=0x00007f48198cff14\n\nDynamic libraries:\n{}{}\n\nVM Arguments:\njava_command: A\n'
FATAL = 'A fatal error has been detected by the Java Runtime Environment:'
MEMORY = 'There is insufficient memory for the Java Runtime Environment to continue.'
plain = show(maps)
for title, tail in ((FATAL, ''), (MEMORY, ''), (FATAL, 'Total number of mappings: 76\n')):
    report = show(LOG.format(title, maps, tail))
    ok(report.get('source') == 'hs_err' and report['areas'] == plain['areas'] and
       report['causes'] == plain['causes'], f"a JVM's log: {title[:20]} {tail}", report)
log = LOG.format(FATAL, maps, '')
cut = log[:log.index('Dynamic') + 700]
ok(0 < show(cut).get('areas', 0) < plain['areas'], 'a log that was cut', show(cut))
ok("'Dynamic libraries:'" in show(log[:log.index('Dynamic')]).get('error', ''), 'a log without its map')
broken = log.replace(maps.splitlines()[2], 'what is this')
number = log[:log.index(maps.splitlines()[2])].count('\n') + 1
ok(f':{number}:' in show(broken).get('error', ''), 'a line that cannot be read, by its number', show(broken))

REFUSED = {
    "a sanitizer's process map": '==7==ERROR: AddressSanitizer failed to allocate\n==7==Process memory map follows:\n'
                                 '==7==End of process memory map.\n',
    "Valgrind's output": '--7:1: aspacem <<< SHOW_SEGMENTS: out_of_memory (3 segments)\n'
                         '--7:1: aspacem   0: RSVN 0000000000-00003fffff 4194304 ----- SmFixed\n',
    'macOS vmmap': '__TEXT                 0000000100000000-0000000100001000 [    4K] r-x/rwx SM=COW  /bin/a\n',
    'FreeBSD process map': '0x400000 0x401000 1 0 0xfffff80003b1a000 r-x 2 1 0x0 COW NC vnode /bin/a\n',
}
for what, text in REFUSED.items():
    error = show(text).get('error', '')
    line = 2 if 'sanitizer' in what else 1
    ok(what in error and f':{line}:' in error, f'refused by name: {what}', error)
done()
