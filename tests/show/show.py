#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""show.py SEAM: seam show and why on saved texts: counts held against a reader of its own, the report
of 2001, options, and what is refused."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import running  # noqa: E402
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
CASES = os.path.join(os.environ['SEAM_TEST_DATA'], 'cases')
ORDER = ['prot', 'shared', 'flags', 'special', 'file', 'offset', 'pkey']
# Never compared by 6.18.44, or told under another name.
SILENT = {'rd', 'wr', 'ex', 'sh', 'sd', 'gu'}


def seam(*args, **keywords):
    return running.run(SEAM, *args, **keywords)


def report(*args, **keywords):
    run = seam(*args, '--json', **keywords)
    return json.loads(run.stdout) if run.returncode == 0 else {'error': run.stderr}


def read_smaps(path):
    """[(start, end, perms, offset, file, flags, key)] as any reader would see it."""
    areas = []
    with open(path, errors='replace') as f:
        for line in f:
            words = line.split(None, 5)
            if re.match(r'[0-9a-f]+-[0-9a-f]+ ', line):
                start, end = (int(x, 16) for x in words[0].split('-'))
                name = words[5].strip() if len(words) > 5 else ''
                areas.append({'start': start, 'end': end, 'perms': words[1], 'flags': set(),
                              'offset': int(words[2], 16), 'file': (words[3], words[4]),
                              'key': '0', 'name': name})
            elif line.startswith('VmFlags:'):
                areas[-1]['flags'] = set(line.split()[1:])
            elif line.startswith('ProtectionKey:'):
                areas[-1]['key'] = words[1]
    return [a for a in areas if a['name'] != '[vsyscall]']


def causes(left, right):
    found = set()
    differ = left['flags'] ^ right['flags']
    if left['perms'][:3] != right['perms'][:3]:
        found.add('prot')
    if 'sh' in differ:
        found.add('shared')
        differ -= {'ms'}
    if differ - SILENT:
        found.add('flags')
    if (left['flags'] | right['flags']) & {'io', 'de', 'pf', 'mm'}:
        found.add('special')
    if left['file'] != right['file']:
        found.add('file')
    elif left['file'][1] != '0' and \
            left['offset'] + left['end'] - left['start'] != right['offset']:
        found.add('offset')
    if left['key'] != right['key']:
        found.add('pkey')
    return '+'.join(c for c in ORDER if c in found) or 'unseen'


def tally(areas):
    counted = {}
    for left, right in zip(areas, areas[1:]):
        if left['end'] == right['start']:
            cause = causes(left, right)
            counted[cause] = counted.get(cause, 0) + 1
    return counted


for name in sorted(os.listdir(CASES)):
    if not name.endswith('.smaps'):
        continue
    path = os.path.join(CASES, name)
    areas = read_smaps(path)
    found = report('show', '--kernel', 'linux-6.18.44', path)
    counted = {c['cause']: c['pairs'] for c in found.get('causes', [])}
    ok(found.get('areas') == len(areas) and counted == tally(areas), f'{name}: causes',
       tally(areas), found.get('error', counted))
    ok(found.get('source') == 'smaps' and found['pid'] is None and found['headroom'] is None and
       {'anon_vma', 'fork', 'file', 'offset'} <= set(found['not_visible']), f'{name}: the rest',
       found)
    screen = seam('show', path).stdout
    ok(not re.search(r'\b(unseen|untried|not_visible)\b', screen), f'{name}: sentences', screen)
    whys = report('why', '--kernel', 'linux-6.18.44', path)
    ok(len(whys.get('pairs', [])) == found['touching_pairs'], f'{name}: why has every pair')

fiber = os.path.join(CASES, '01-fiber-guard.smaps')
found = report('show', fiber)
ok([(g['what'], g['areas']) for g in found['groups']][0] == ('fiber-stack', 480) and
   found['remedies'][0]['areas_after'] == 38, 'fiber stacks, and what remains', found['groups'],
   found['remedies'])
first = seam('show', fiber).stdout.split('\n')[0]
ok(first == '01-fiber-guard.smaps: 502 mappings, 480 are fiber stacks and their guards; '
            'with guard markers 38.', 'the first line is the answer', first)
ok(seam('show', os.path.join(CASES, '12-healthy-python.smaps')).stdout.split('\n')[0] ==
   '12-healthy-python.smaps: 76 mappings, nothing worth mending.', 'a healthy process')
ratchet = os.path.join(CASES, '04-dontdump-scavenger-all-recommitted.smaps')
first = seam('show', ratchet).stdout.split('\n')[0]
ok('equal as far as smaps shows' in first, 'what smaps cannot tell is not called a reason', first)

# No remedy for what may be apart by things that the text hides; for what it shows, there is one.
for step, left in ((1, []), (-1, [('map-in-order', 5)])):
    text = ''.join(f'{0x7f0000000000 + i * 4096:x}-{0x7f0000001000 + i * 4096:x} r--s '
                   f'{(50 + step * i) * 4096:08x} 00:01 5  /data\n' for i in range(40))
    # the segments of a static program, which are no windows
    text = ''.join(f'{0x400000 + i * 4096:x}-{0x401000 + i * 4096:x} {perms} {i * 4096:08x} 08:01 7  /program\n'
                   for i, perms in enumerate(('r--p', 'r-xp', 'r--p', 'rw-p'))) + text
    found = json.loads(seam('show', '--json', '-', input=text).stdout)
    ok([(r['remedy'], r['areas_after']) for r in found['remedies']] == left and
       [(g['what'], g['areas']) for g in found['groups']] == [('file-windows', 40)], f'windows, offsets by {step}', found)

# A JVM closes the ends of its threads' stacks itself: no libc helps.
for jvm, remedy in (('', 'guard-markers'), ('7e0000000000-7e0001000000 r-xp 00000000 08:01 9 /jvm/libjvm.so\n', 'runtime-setting')):
    text = jvm + ''.join(f'{at:x}-{at + 0x4000:x} ---p 0 00:00 0\n{at + 0x4000:x}-{at + 0x100000:x} rw-p 0 00:00 0\n'
                         for at in range(0x7f0000000000, 0x7f0000000000 + 40 * 0x100000, 0x100000))
    found = json.loads(seam('show', '--json', '-', input=text).stdout)
    ok([r['remedy'] for r in found['remedies']] == [remedy] and found['remedies'][0]['areas_after'] == 1,
       f'thread stacks: {remedy}', found['groups'], found['remedies'])

# The report of 2001
mail = os.path.join(CASES, 'report-2001.txt')
for kernel, cause, words in (('linux-2.4.2', 'rule', 'linux-2.4.2 never joins them'),
                             ('linux-2.2.13', 'untried', 'no call has tried'),
                             ('linux-2.4.3', 'untried', 'no call has tried')):
    found = report('show', '--kernel', kernel, mail)
    ok(found.get('areas') == 8 and [(c['cause'], c['pairs']) for c in found['causes']] ==
       [(cause, 7)], f'the report by {kernel}', found)
    first = seam('show', '--kernel', kernel, mail).stdout.split('\n')[0]
    ok(first.startswith('report-2001.txt: 8 mappings given of 2,238 counted; 7 pairs touch, ') and
       words in first, f'the report by {kernel}, in words', first)
with open(mail) as f:
    ok(report('show', '-', stdin=f).get('areas') == 8, 'standard input')

# Pairs
pair = report('why', fiber, '7fa39c9a4000')['pairs']
ok(len(pair) == 1 and pair[0]['left']['end'] == '0x7fa39c9a4000' and
   pair[0]['causes'] == ['prot'] and 'mprotect(0x7fa39c9a3000, 4096' in pair[0]['join_by'],
   'why at an address', pair)
ok(seam('why', fiber, '0x7fa39c9a4800').returncode == 0, 'why inside an area')
ok('no two mappings touch' in seam('why', fiber, '0x1000').stderr, 'why where there is nothing')
ok(seam('why', fiber, 'here').returncode == 2, 'why at no address')

# The kernel's own pages are neither given up for a join nor joined.
KERNELS_OWN = """\
7ffff7fbf000-7ffff7fc2000 rw-p 00000000 00:00 0
VmFlags: rd wr mr mw me ac sd
7ffff7fc2000-7ffff7fc6000 r--p 00000000 00:00 0                          [vvar]
VmFlags: rd mr pf io de dd sd
7ffff7fc6000-7ffff7fc8000 r-xp 00000000 00:00 0                          [vdso]
VmFlags: rd ex mr mw me de sd
7ffff7fc8000-7ffff7fc9000 rw-p 00000000 00:00 0
VmFlags: rd wr mr mw me ac sd
"""
for what, text in (('smaps', KERNELS_OWN), ('maps', re.sub('VmFlags.*\n', '', KERNELS_OWN))):
    pairs = report('why', '-', input=text).get('pairs', [])
    ok(len(pairs) == 3 and not any(pair['join_by'] for pair in pairs) and all(pair['no_join'] for pair in pairs),
       f'{what}: no call joins [vvar] or [vdso] with anything', pairs)

# Options
run = seam('show', '-F', 'areas,touching_pairs,holes', '--no-header', fiber)
ok(run.stdout.split() == ['502', '482', '19'], '-F', run.stdout)
ok(seam('show', '-F', 'moon', fiber).returncode == 2, '-F of what there is not')
for condition, status in (('areas>501', 1), ('areas>502', 0), ('areas>=502', 1), ('areas<502', 0),
                          ('areas=502', 1), ('cause.prot>400', 1), ('cause.fork>0', 0),
                          ('group.fiber-stack>=480', 1), ('group.moved>0', 0),
                          ('headroom<20%', 1), ('cause.moon>0', 2), ('areas>', 2), ('>1', 2)):
    run = seam('show', '--fail-on', condition, fiber)
    ok(run.returncode == status, f'--fail-on {condition}', run.returncode, run.stderr)
run = seam('show', '--kernel', 'linux-0.01', fiber)
ok(run.returncode == 2 and 'linux-0.01' in run.stderr, 'a kernel that is not known', run.stderr)
found = report('show', '--kernel', 'linux-6.18.44,-anon_vma', fiber)
ok(found['kernel'] == 'linux-6.18.44,-anon_vma' and 'anon_vma' not in found['not_visible'],
   'a rule switched off', found['kernel'], found['not_visible'])
BAD = '1000-2000 r--p 0 00:00 0\nnonsense\n2000-3000 rw-p 0 00:00 0\nmore\n'
for verb in 'show', 'why':
    run = seam(verb, '-', input=BAD)
    ok(run.returncode == 1 and "-:2: 'nonsense'" in run.stderr, f'{verb}: a line that cannot be read', run)
    run = seam(verb, '--skip-bad', '-', input=BAD)
    ok(run.returncode == 0 and 'could not be read: 2 lines.\n' in run.stdout, f'{verb}: --skip-bad counts', run)
    run = seam(verb, '--skip-bad', '--json', '-', input=BAD)
    ok(json.loads(run.stdout)['bad_lines'] == 2, f'{verb}: --skip-bad counts, in JSON', run)
run = seam('why', '--skip-bad', '-', '2000', input=BAD)
ok('could not be read: 2 lines.\n' in run.stdout, 'why ADDR: --skip-bad counts', run)
run = seam('show', '-o', '/dev/full', fiber)
ok(run.returncode == 1 and 'not written whole' in run.stderr, 'a full disk', run.stderr)

# What is wrong with a text or a file, at which line or byte
with tempfile.TemporaryDirectory() as scratch:
    for name, data, where in (
            ('backwards', '7f0000002000-7f0000001000 rw-p 00000000 00:00 0\n',
             ":1: '7f0000002000-7f0000001000 rw-p 00000000 00:00 0': expected an end that does not lie below"),
            ('second', '1000-2000 rw-p 0 00:00 0\n4000-3000 rw-p 0 00:00 0\n', ":2: '4000-3000 rw-p"),
            ('crooked', '1001-2000 rw-p 0 00:00 0\n', ':1: '),
            ('too-far', 'fffffffffffff000-1ffffffffffffffff rw-p 0 00:00 0\n', 'at most 16 hexadecimal digits'),
            ('the-end', 'fffffffffffff000-ffffffffffffffff rw-p 0 00:00 0\n', 'whole pages'),
            ('perms', '1000-2000 zz-p 0 00:00 0\n', 'expected permissions like rw-p'),
            ('no-length', '1000-1000 rw-p 0 00:00 0\n', 'every mapping in it is empty'),
            ('prose', 'hello\n', ':1: not a map: expected lines like'),
            ('nothing', '', 'empty: expected maps'),
            ('head', '\x7fELF', 'byte 4: the head of an ELF file ends here'),
            ('broken', '\x7fELF' + 60 * 'x', 'byte 16: an ELF file of type 30840')):
        path = os.path.join(scratch, name)
        with open(path, 'w') as f:
            f.write(data)
        run = seam('show', path)
        ok(run.returncode == 1 and where in run.stderr and not run.stdout, f'{name}: what is wrong',
           run.stdout, run.stderr)
run = seam('show', SEAM)
ok(run.returncode == 1 and 'expected a core file' in run.stderr, 'a program', run.stderr)
run = seam('kernels', '--diff', 'linux-6.1', 'b')
ok(run.returncode == 2 and "--diff: no policy 'b'" in run.stderr, 'kernels --diff: which is unknown',
   run.stderr)

# Lists of tools: Valgrind's segments, a sanitizer's process map, numa_maps
VALGRIND = """--71:1: aspacem <<< SHOW_SEGMENTS: Memory layout at client startup (9 segments)
--71:1: aspacem (1,47,7) /bin/a
--71:1: aspacem   0: RSVN 0000000000-0000107fff 1081344 ----- SmFixed
--71:1: aspacem   1: file 0000108000-0000108fff    4096 r---- d=0xfe01 i=1139  o=0       (1,47)
--71:1: aspacem   2: file 0000109000-0000109fff    4096 r-x-- d=0xfe01 i=1139  o=4096    (1,47)
--71:1: aspacem   3: file 000010a000-000010afff    4096 r-x-- d=0xfe01 i=1139  o=4096    (1,47)
--71:1: aspacem   4: anon 000010b000-000010dfff   12288 rw--T
--71:1: aspacem   5: ANON 000010e000-000010efff    4096 rw---
--71:1: aspacem   6:      000010f000-0057ffffff   1335m
--71:1: aspacem   7: shm  0058000000-0058000fff    4096 rw---
--71:1: aspacem   8: RSVN 0058001000-ffffffffffffffff  16383e ----- SmFixed
--71:1: aspacem >>>
"""
ASAN = ('==9==ReserveShadowMemoryRange failed\n==9==Process memory map follows:\n'
        '\t0x000000400000-0x000000401000\t/bin/a\n\t0x000000401000-0x000000402000\t/bin/a\n'
        '\t0x000000402000-0x000000403000\t/bin/b\n\t0x7f0000000000-0x7f0000001000\t\n'
        '==9==End of process memory map.\n')
NUMA = ('1000 default\n2000 bind:0 anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n'
        '3000 bind:0 anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n4000 default\n')
for name, text, source, areas, pairs, causes, hidden in (
        ('Valgrind', VALGRIND, 'text', 6, 4, {'prot': 1, 'offset': 1, 'prot+file': 1, 'unseen': 1},
         {'shared', 'flags', 'anon_vma'}),
        ('a sanitizer', ASAN, 'text', 4, 2, {'unseen': 1, 'file': 1}, {'prot', 'shared', 'offset'}),
        ('numa_maps', NUMA, 'numa_maps', 4, 0, {}, {'prot', 'shared', 'flags'})):
    run = seam('show', '--json', '-', input=text)
    found = json.loads(run.stdout) if run.returncode == 0 else {}
    ok(found.get('source') == source and found['areas'] == areas and
       found['touching_pairs'] == pairs and hidden <= set(found['not_visible']) and
       {c['cause']: c['pairs'] for c in found['causes']} == causes, f'{name}: causes', run.stderr or found)
ok('changes 2 times; numa_maps tells no ends' in seam('show', '-', input=NUMA).stdout,
   'numa_maps: changes of policy', seam('show', '-', input=NUMA).stdout)
ok('????' in seam('why', '-', input=ASAN).stdout, 'a protection that is not told')
run = seam('show', '-', input='--71:0: aspacem Valgrind: FATAL: VG_N_SEGMENTS is too low.\n')
ok(run.returncode == 1 and 'without a list of segments' in run.stderr, 'Valgrind without a list',
   run.stderr)

# What is no map
for what in ('01-fiber-guard.strace', '01-fiber-guard.c', '12-formats-a.gdb.txt'):
    run = seam('show', os.path.join(CASES, what))
    ok(run.returncode == 1 and what in run.stderr and not run.stdout, f'{what} is refused',
       run.stderr)
done()
