#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""report.py SEAM: "seam report" end to end: who makes the mappings of the cases."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
import tap

SEAM = sys.argv[1]
CASES = os.path.join(os.environ['SEAM_TEST_DATA'], 'cases')
KERNEL = ['--kernel', 'linux-6.18.44']


def run(*args):
    return subprocess.run([SEAM, 'report', *args], capture_output=True, text=True)


def reported(name, *args):
    result = run('--json', *KERNEL, *args, f'{CASES}/{name}')
    try:
        return json.loads(result.stdout)
    except ValueError:
        return {'error': result.stderr}


def replayed(name):
    result = subprocess.run([SEAM, 'replay', '--json', '--place', 'recorded', *KERNEL, f'{CASES}/{name}'],
                            capture_output=True, text=True)
    return json.loads(result.stdout)['kernels'][0]


def named(rows, name):
    return next((row for row in rows if row['name'] == name), {})


def test_sites():
    report = reported('11-jit-wx.strace')
    sites = report['by_site']
    emit = named(sites, 'emit < compile_function (11-jit-wx)')
    load = named(sites, 'load_module < main (11-jit-wx)')
    tap.ok(emit.get('splits', 0) > 50 and load.get('areas_made') in (71, 72),
           'the two functions that make the areas of a JIT', sites)
    tap.ok(sites[0]['name'] == emit['name'], 'the one that makes most comes first')
    protect = named(report['by_call'], 'mprotect')
    tap.ok(protect['splits'] > 100 and protect['calls'] == 161, 'by call', report['by_call'])


def test_sums():
    for name in ('01-fiber-guard.strace', '03-gc-write-barrier.strace', '07-thread-stacks.strace',
                 '09-file-windows.strace'):
        report = reported(name, '--top', '100000')
        areas = sum(p['areas_end'] for p in report['processes'])
        for kind in ('by_call', 'by_thread', 'by_file'):
            made = sum(row['areas_made'] - row['areas_removed'] for row in report[kind])
            tap.ok(made == areas, f'{name}: {kind}: made less removed are the {areas} at the end',
                   made)
        at_end = sum(row['areas_end'] for row in report['by_file'])
        tap.ok(at_end == areas, f'{name}: by file at the end', at_end)
        calls = {sum(row['calls'] for row in report[kind])
                 for kind in ('by_call', 'by_thread', 'by_file')}
        tap.ok(calls == {report['trace']['calls']}, f'{name}: each call once in each table', calls)
        replay = replayed(name)
        for kind in ('by_call', 'by_thread', 'by_file'):
            sums = {key: sum(row[key] for row in report[kind]) for key in ('splits', 'joins', 'joins_refused')}
            tap.ok(all(sums[key] == replay[key] for key in sums), f'{name}: {kind}: splits, joins and refused joins',
                   sums, replay)


def test_growth():
    report = reported('07-thread-stacks.strace')
    process = report['processes'][0]
    tap.ok(process['growth'] in ('growing', 'plateau') and
           process['growth_per_minute'] is not None, 'a log with times tells a rate', process)
    points = process['over_time']
    tap.ok(points[-1]['areas'] == process['areas_end'] and
           max(p['areas_most'] for p in points) == process['areas_peak'],
           'the curve ends at the end and reaches the peak')
    report = reported('01-fiber-guard.strace')
    tap.ok(report['processes'][0]['growth_per_minute'] is None, 'a log without times tells none')
    tap.ok(len(reported('09-file-windows.strace')['by_thread']) == 1, 'one thread')
    threads = reported('07-thread-stacks.strace', '--top', '100')['by_thread']
    tap.ok(len(threads) > 10, f'{len(threads)} threads')


def test_files():
    report = reported('09-file-windows.strace')
    names = [row['name'] for row in report['by_file']]
    tap.ok(any('fake (deleted)' in name for name in names) or len(names) > 3, 'files by name',
           names)
    causes = {row['cause']: row['pairs'] for row in report['causes']}
    tap.ok(causes.get('offset', 0) >= 63, 'windows mapped backwards are apart by offset', causes)


def test_failures():
    report = reported('12-formats-a.f-tt-T.strace')
    failures = {(row['name'], row['error']): row for row in report['failing_calls']}
    tap.ok(len(failures) >= 4 and all(row['calls'] for row in failures.values()) and
           all(name and error for name, error in failures), 'failing calls by errno', failures)
    tap.ok(sum(row['calls'] for row in failures.values()) ==
           sum(row['failed_calls'] for row in report['by_call']), 'all of them')


def test_text():
    out = run(*KERNEL, f'{CASES}/11-jit-wx.strace').stdout
    lines = out.split('\n')
    tap.ok(re.match(r'11-jit-wx\.strace: .* held 142 of 65,530 mappings at its peak, 142 at its '
                    r'end; they \w', lines[0]), 'the first line is the answer', lines[0])
    tap.ok(re.search(r'^over its 196 calls  [▁-█]+  0 to 142$', out, re.M), 'a curve', lines[1])
    for title in ('CALL', 'THREAD', 'FILE', 'CALL SITE'):
        tap.ok(re.search(rf'^CALLS +MADE .* {title}$', out, re.M), f'a table by {title.lower()}')
    out = run(*KERNEL, f'{CASES}/01-fiber-guard.strace').stdout
    pairs = reported('01-fiber-guard.strace')['causes'][0]['pairs']
    tap.ok(re.search(rf'^PAIRS  WHY APART AT THE END\n +{pairs}  different protection\n', out, re.M),
           'why neighbours are apart, in words', out)
    tap.ok('no call stacks' in out, 'a trace without stacks says so')
    result = run('--top', '0', f'{CASES}/01-fiber-guard.strace')
    tap.ok(result.returncode == 2 and '--top' in result.stderr, 'no such number of rows', result)
    result = run(*KERNEL, f'{CASES}/01-fiber-guard.smaps')
    tap.ok(result.returncode == 1 and 'smaps' in result.stderr, 'a map is no trace', result)


test_sites()
test_sums()
test_growth()
test_files()
test_failures()
test_text()
tap.done()
