#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""replay.py SEAM: "seam replay" end to end, on the report of 2001 and the cases."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import tap

SEAM = sys.argv[1]
DATA = os.environ['SEAM_TEST_DATA']
CASES = os.path.join(DATA, 'cases')
HISTORY = os.path.join(DATA, 'history')
REPORT = f'{CASES}/report-2001.txt'
OF_2001 = 'linux-2.2.13,linux-2.4.2,linux-2.4.3'


def run(*args, stdin=None):
    return subprocess.run([SEAM, 'replay', *args], capture_output=True, text=True, input=stdin)


def replayed(*args, stdin=None):
    result = run('--json', *args, stdin=stdin)
    try:
        return json.loads(result.stdout)
    except ValueError:
        return {'error': result.stderr, 'trace': {}, 'kernels': []}


def by_kernel(report, field):
    return {row['kernel'][len('linux-'):]: row[field] for row in report['kernels']}


# What the kernels' own code did, counted: placement, find (list + tree), insert (list + tree).
STEPS = {
    'report-2001': {'2.2.13': (20116, 6749, 49301), '2.4.2': (2523319, 35, 23213),
                    '2.4.3': (20116, 29097, 24645), '2.4.10': (20116, 11, 11250)},
    'report-2001-touch': {'2.2.13': (20116, 29084, 49301), '2.4.2': (2523319, 39235, 23213),
                          '2.4.3': (20116, 29097, 24645), '2.4.10': (20116, 13420, 11250)},
    'report-2001-brk': {'2.2.13': (20116, 7586, 50975), '2.4.2': (2523319, 7576, 25912),
                        '2.4.3': (20116, 30492, 25482), '2.4.10': (20116, 848, 12087)},
    'report-2001-down': {'2.2.13': (19, 35, 49391), '2.4.2': (19, 32, 24111),
                         '2.4.3': (19, 24087, 24111), '2.4.10': (19, 11, 11259)},
}
AREAS = {'report-2001-down': [13, 2250, 2250, 13]}


def near(found, expected):
    return abs(found - expected) <= 0.05 * expected + 30


def test_refused_at_last():
    """What a file refuses when the range is clear leaves a hole; what is refused before leaves all as it was."""
    ground = ('mmap(0x10000000000, 0x600000, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0)'
              ' = 0x10000000000\n')
    whole = [('0x10000000000', '0x10000600000')]
    holed = [('0x10000000000', '0x10000200000'), ('0x10000400000', '0x10000600000')]
    for what, rest, error, expected in (
            ('too few huge pages', 'MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS|MAP_HUGETLB, -1, 0', 'ENOMEM', holed),
            ('a driver', 'MAP_SHARED|MAP_FIXED, 3</dev/x>, 0', 'EINVAL', holed),
            ('a file opened for reading', 'MAP_SHARED|MAP_FIXED, 3</x>, 0', 'EACCES', whole)):
        text = ground + f'mmap(0x10000200000, 0x200000, PROT_READ|PROT_WRITE, {rest}) = -1 {error} (refused)\n'
        for kernel in 'linux-6.18', 'linux-5.10':
            report = replayed('--maps', '--kernel', kernel, '-', stdin=text)
            maps = [(area['start'], area['end']) for row in report['kernels'] for process in row['processes']
                    for area in process['maps']]
            tap.ok(maps == expected and report['trace']['differences'] == 0, f'{what}: {error} on {kernel}', maps)


def test_steps():
    for stream, kernels in STEPS.items():
        report = replayed('--kernel', ','.join('linux-' + k for k in kernels),
                          f'{HISTORY}/{stream}.ops')
        areas = by_kernel(report, 'areas_end')
        tap.ok(list(areas.values()) == AREAS.get(stream, [12, 2250, 12, 12]), f'{stream}: areas',
               areas)
        for kernel, (placement, find, insert) in kernels.items():
            steps = by_kernel(report, 'steps').get(kernel, {})
            tap.ok(steps and steps['placement'] == placement and near(steps['find'], find) and
                   near(steps['insert'], insert), f'{stream}: steps on {kernel}', steps)


def test_mail():
    report = replayed('--kernel', OF_2001, REPORT)
    tap.ok(by_kernel(report, 'areas_end') == {'2.2.13': 1, '2.4.2': 5, '2.4.3': 1},
           'the mail: one area where they are joined, five where not', report)
    trace = report['trace']
    tap.ok(trace.get('calls') == 6 and trace['complete'] is False and
           trace['reused_addresses'] == 1, 'six calls, one address twice', trace)
    tap.ok([t['real_ns'] for t in trace.get('timings', [])] == [3434000000, 3167000000],
           'its timings', trace)
    first = run('--kernel', OF_2001, REPORT).stdout.split('\n')[0]
    tap.ok(first == 'report-2001.txt: as calls: 6 (one address twice): 5 areas on 2.4.2, 1 on '
           '2.2.13 and 2.4.3. It quotes real 3.434 s (2.4.2), 3.167 s (2.2.13).',
           'the first line is the answer', first)
    with open(REPORT, encoding='utf-8') as f:
        quoted = ''.join('> ' + line for line in f)
    report = replayed('--kernel', OF_2001, '-', stdin=quoted)
    tap.ok(by_kernel(report, 'areas_end') == {'2.2.13': 1, '2.4.2': 5, '2.4.3': 1},
           'the same quoted, from standard input', report)


def test_log_of_2001():
    report = replayed('--maps', '--kernel', OF_2001 + ',linux-6.18',
                      f'{CASES}/02-compiler-page-gc.old.strace')
    for row in report['kernels']:
        maps = row['processes'][0]['maps']
        sizes = [int(m['end'], 0) - int(m['start'], 0) for m in maps]
        pages = sum(1 for m, size in zip(maps, sizes)
                    if size == 4096 and m['perms'] == 'rw-p' and not m['name'])
        whole = [size for size in sizes if size >= 2238 * 4096]
        if row['kernel'] == 'linux-2.4.2':
            tap.ok(pages == 2238 and not whole, '2.4.2: 2,238 areas of one page', pages)
        else:
            tap.ok(len(whole) == 1 and pages == 0, f"{row['kernel']}: one area", sizes)
        tap.ok(not row['failed_calls'] and not row['skipped_calls'], 'no call fails', row)
    tap.ok(report['trace']['layout'] == 'i386', 'addresses of 32 bits stay such')
    log = '''brk(0)                                  = 0x804a000
shmget(IPC_PRIVATE, 4096, IPC_CREAT|0600) = 5
shmat(5, 0xb5000000, 0)                 = 0xb5000000
'''
    report = replayed('--kernel', 'linux-2.4.2', '-', stdin=log)
    tap.ok(report['trace']['layout'] == 'i386', 'also where memory is attached at a wish', report)


# Areas of each program as its kernel held them, without the twelve that exec made: a log does not
# tell those.
BY_LOG = {'01-fiber-guard': 502, '03-gc-write-barrier': 449, '05-decommit-by-mmap': 413,
          '06-memfd-double-map': 332, '07-thread-stacks': 133, '09-file-windows': 154,
          '10-hugepage-advice': 537, '11-jit-wx': 154}
MADE_BY_EXEC = 12


def test_cases():
    for name, areas in BY_LOG.items():
        for place in ([], ['--place', 'recorded']):
            report = replayed('--kernel', 'linux-6.18.44', *place, f'{CASES}/{name}.strace')
            row = report['kernels'][0] if report['kernels'] else {}
            tap.ok(row.get('areas_end') == areas - MADE_BY_EXEC and not row['failed_anew'] and
                   not row['skipped_calls'], f"{name}: {areas} areas {' '.join(place)}",
                   {k: v for k, v in row.items() if k not in ('calls', 'processes')})


def test_what_if():
    log = f'{CASES}/05-decommit-by-mmap.strace'
    report = replayed('--kernel', 'linux-6.18,linux-6.18,-anon_vma,linux-6.18,-anon_vma,-account',
                      log)
    names = [row['kernel'] for row in report['kernels']]
    areas = [row['areas_end'] for row in report['kernels']]
    tap.ok(names == ['linux-6.18', 'linux-6.18,-anon_vma', 'linux-6.18,-anon_vma,-account'],
           'kernels with rules off', names)
    tap.ok(areas[0] > areas[1] >= areas[2], 'each rule off leaves fewer areas', areas)
    vectors = {row['vector'] for row in report['kernels']}
    tap.ok(len(vectors) == 3, 'and each is a vector of its own', vectors)
    with tempfile.TemporaryDirectory() as folder:
        rules = f'{folder}/rules'
        with open(rules, 'w', encoding='ascii') as f:
            f.write('policy=linux-6.18\nanon_vma=0 # no history\n')
        report = replayed('--kernel', 'linux-6.18', '--rules', rules, log)
        tap.ok([row['areas_end'] for row in report['kernels']] == areas[:2],
               'the same rule off by a file', report)
    never = replayed('--kernel', 'linux-6.18', '--touch', 'never', log)
    tap.ok(never['kernels'][0]['areas_end'] < areas[0], 'untouched memory joins more')
    limited = replayed('--kernel', 'linux-6.18', '--limit', '100', log)['kernels'][0]
    tap.ok(limited['areas_peak'] <= 101 and limited['failed_anew'] and
           limited['first_failed_anew']['error'] == 'ENOMEM', 'a limit of 100 areas', limited)


def test_remedy():
    log = f'{CASES}/01-fiber-guard.strace'
    report = replayed('--kernel', 'linux-6.18,linux-6.1', '--remedy', 'guard-markers', log)
    areas = by_kernel(report, 'areas_end')
    tap.ok(areas == {'6.18': 38 - MADE_BY_EXEC, '6.1': 502 - MADE_BY_EXEC},
           'guard pages as markers, where the kernel knows them', areas)
    tap.ok(any('6.13' in note for note in report['trace']['notes']), 'which is said', report)
    log = f'{CASES}/03-gc-write-barrier.strace'
    report = replayed('--kernel', 'linux-6.18', '--remedy', 'guard-markers', log)
    tap.ok(by_kernel(report, 'areas_end') == {'6.18': 449 - MADE_BY_EXEC},
           'a write barrier is no guard', report)


def test_text():
    out = run('--kernel', OF_2001, f'{HISTORY}/report-2001.ops').stdout
    lines = out.split('\n')
    tap.ok(lines[0] == 'report-2001.ops: 2,250 areas on 2.4.2, 12 on 2.2.13 and 2.4.3.',
           'the first line is the answer', lines[0])
    tap.ok(lines[1].split() == ['KERNEL', 'AREAS', 'PEAK', 'TRIES', 'JOINS', 'SPLITS', 'FAILED',
                                'FIND', 'PLACEMENT', 'INSERT', 'BYTES'], 'a table', lines[1])
    tap.ok(re.search(r'^Placement: 20,116 steps .*2,523,319 .*: 125 times as many\.$', out, re.M),
           'the argument of 2001 answered', out)
    out = run('--kernel', OF_2001, '-F', 'kernel,areas', '--no-header',
              f'{HISTORY}/report-2001.ops').stdout
    tap.ok([line.split() for line in out.splitlines()] ==
           [['linux-2.2.13', '12'], ['linux-2.4.2', '2,250'], ['linux-2.4.3', '12']],
           'fields for scripts', out)
    out = run('--maps', '--kernel', 'linux-2.4.3', REPORT).stdout
    tap.ok(re.search(r'^40000000-40005000 rw-p 00000000 00:00 0 *$', out, re.M),
           'maps as the kernel prints them', out)
    out = run('--kernel', 'linux-2.4.2', f'{CASES}/01-fiber-guard.strace').stdout
    tap.ok('0x2aaaaaaab000' in out, 'an old kernel with 64-bit addresses is said to be one', out)


def refused(what, *args, status=2, says=''):
    result = run(*args)
    tap.ok(result.returncode == status and says in result.stderr and not result.stdout, what,
           result)


def test_errors():
    refused('no such kernel', '--kernel', 'linux-9.9', REPORT, says='linux-9.9')
    refused('no such rule', '--kernel', 'linux-6.18,-colour', REPORT, says='colour')
    refused('no such rule file', '--rules', '/nonexistent/rules', REPORT, status=1,
            says='nonexistent')
    refused('no such touch', '--touch', 'some', REPORT, says='recorded, eager or never')
    refused('no such remedy', '--remedy', 'hope', REPORT, says='guard-markers expected')
    refused('no such limit', '--limit', '-3', REPORT, says='--limit')
    refused('no such option', '--frobnicate', REPORT, says='--frobnicate')
    refused('no such field', '-F', 'areas,colour', '--kernel', 'plain', REPORT, says='field')
    refused('no such file', '--kernel', 'plain', '/nonexistent/trace', status=1,
            says='No such file')
    refused('maps are no trace', '--kernel', 'plain', f'{CASES}/01-fiber-guard.maps', status=1,
            says='maps')
    refused('operations are asked of a log', '--format', 'ops', '--kernel', 'plain',
            f'{CASES}/01-fiber-guard.strace', status=1, says='operation scripts')
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/bad.ops'
        with open(path, 'w', encoding='ascii') as f:
            f.write('mmap 0 1000 3 22 -1 0\nmmap 0 lots 3 22 -1 0\nmmap 0 1000 3 22 -1 0\n')
        refused('a line that cannot be read', '--kernel', 'plain', path, status=1, says=':2:')
        report = replayed('--skip-bad', '--kernel', 'plain', path)
        tap.ok(report['trace'].get('bad_lines') == 1 and report['trace']['calls'] == 2,
               'and is left out with --skip-bad', report)
        out = f'{folder}/out.json'
        result = run('--json', '-o', out, '--kernel', 'plain', REPORT)
        with open(out, encoding='utf-8') as f:
            tap.ok(json.load(f)['kind'] == 'replay' and not result.stdout, 'written to a file')
        result = run('--json', '-o', f'{folder}/none/out', '--kernel', 'plain', REPORT)
        tap.ok(result.returncode == 1 and 'none/out' in result.stderr, 'a file that cannot be')


def test_fork_script():
    script = ('mmap 0 4000 3 22 -1 0\ntouch $1 4000\nfork\n[1] munmap $1+1000 1000\n'
              '[1] mmap $1+1000 1000 3 32 -1 0\nmmap $1-1000 1000 3 32 -1 0\n')
    report = replayed('--kernel', 'linux-6.18', '-', stdin=script)
    areas = [p['areas_end'] for p in report['kernels'][0]['processes']]
    tap.ok(areas == [1, 3], 'a child cannot fill a hole in inherited memory', areas)
    out = run('--format', 'ops', '--kernel', 'linux-6.18', '-', stdin=script).stdout
    tap.ok('# space 0' in out and '# space 1' in out, 'the map of each at the end', out)


test_refused_at_last()
test_steps()
test_mail()
test_log_of_2001()
test_cases()
test_what_if()
test_remedy()
test_text()
test_errors()
test_fork_script()
tap.done()
