#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""verify.py SEAM CORPUS PART: the model held against the running kernel, and what seam verify says."""
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import running  # noqa: E402
from tap import done, ok, skip  # noqa: E402

SEAM, CORPUS = map(os.path.realpath, sys.argv[1:3])
PAGES = os.path.join(os.path.dirname(CORPUS), '../../docs/rules')
scratch = tempfile.mkdtemp()


def verify(*options):
    return running.run(SEAM, 'verify', *options, timeout=240)


def report(*options):
    """(status, report) of a run with --json."""
    path = os.path.join(scratch, 'report')
    run = verify('--json', '-o', path, *options)
    with open(path) as f:
        return run.returncode, json.load(f)


def write(name, text):
    path = os.path.join(scratch, name)
    with open(path, 'w') as f:
        f.write(text)
    return path


def sections():
    """(name, script) of the corpus."""
    found = []
    with open(CORPUS) as f:
        for line in f:
            if line.startswith('== '):
                found.append([line[3:].strip(), ''])
            elif found:
                found[-1][1] += line
    return found


def test_random():
    for seed in (1, 2, random.randrange(1 << 31)):
        status, found = report('--random', '60000', '--seed', str(seed))
        ok(status == 0 and found['checked'] >= 60000 and not found['mismatches'],
           f'random calls, seed {seed}', found['failed'], *found['mismatches'])
        if found['kernel_truths']:
            ok(found['kernel_truths'] > 20, f'anon_vmas and offsets as the kernel holds them, seed {seed}')
        else:
            skip(f'anon_vmas and offsets as the kernel holds them, seed {seed}', 'not to be read here')
        ok(found['undetermined'] <= found['checked'] / 50, f'what hangs on pages is rare, seed {seed}')
    for only in ('mmap,munmap,mprotect,touch', 'mmap,mremap,touch,munmap', 'mmap,munmap,brk'):
        status, found = report('--random', '10000', '--ops', only)
        ok(status == 0, f'{only} alone, seed {found["seed"]}', found['failed'], *found['mismatches'])
    status, found = report('--random', '3000', '--limit', '200')
    ok(status == 0, f'under a limit of areas, seed {found["seed"]}', found['failed'],
       *found['mismatches'])


def test_rules():
    status, found = report(CORPUS)
    wrong = {mismatch['name']: mismatch for mismatch in found['mismatches']}
    for name, _ in sections():
        ok(name not in wrong, name, wrong.get(name))
    ok(status == 0 and not found['skipped'], 'every operation is made', found['failed'], found['skipped'])


def own_areas():
    """Of a process that has made nothing yet."""
    return int(re.search('has ([0-9]+) of its own', verify('--random', '5', '--limit', '1').stderr).group(1))


def room_for_moving():
    """Some areas more may come: enough for a move, were it not that its worst case is looked at first."""
    first = own_areas() + 4
    return ''.join(f'== {limit - first + 4} areas\nlimit {limit:x}\nmmap 10000000000 1000 3 32 -1 0\n'
                   'mremap 10000000000 1000 1000 3 10000008000\n' for limit in range(first, first + 5))


# what no system call shows, or not every kernel has: tests/unit/vectors.c does
NOT_SHOWN = {'area_tree': 'steps alone', 'above4g': 'address space cannot be used up here',
             'name': 'names are not configured'}


def test_bites():
    """Each rule of this kernel, switched off, is noticed by the scripts that its page names."""
    host = json.loads(subprocess.run([SEAM, 'kernels', '--probe', '--json'], capture_output=True,
                                     text=True).stdout)['rules']
    known = dict(sections())
    for rule, value in host.items():
        if not value:
            continue
        with open(os.path.join(PAGES, rule + '.md')) as f:
            names = re.findall('`== ([^`]+)`', f.read())
        scripts = ''.join(f'== {name}\n{known[name]}' for name in names)
        if rule == 'mremap_room':
            scripts += room_for_moving()
        if not scripts and rule in NOT_SHOWN:
            skip(f'without {rule}', NOT_SHOWN[rule])
            continue
        status, found = report('--stop', '--kernel', f'linux-host,-{rule}', write('bite.ops', scripts))
        ok(status == 1 and len(found['mismatches']) == 1, f'without {rule}', found['failed'], names)
    if not host['ksm']:
        skip('a heap grows', 'this kernel marks no heap')
        return
    # refused by kernel and model alike, brk would show nothing
    script = write('heap.ops', known['brk-memory-merge'])
    status, found = report('--kernel', f'linux-host,ksm={3 - host["ksm"]}', script)
    ok(status == 1 and found['mismatches'][0]['call'].startswith('brk '), 'a heap grows', found)


def test_reports():
    host = json.loads(subprocess.run([SEAM, 'kernels', '--probe', '--json'], capture_output=True,
                                     text=True).stdout)['rules']
    # the check bites: each rule that random calls meet, switched off
    for rule in ('anon_vma', 'account', 'offset', 'sticky', 'file', 'mremap_many'):
        if not host[rule]:
            skip(f'-{rule} is noticed', 'this kernel has no such rule')
            continue
        kernel = f'linux-host,-{rule}'
        for seed in ('1', '2', '3', '4'):  # until one that a script alone shows again
            status, found = report('--random', '200000', '--stop', '--seed', seed, '--kernel', kernel)
            if status == 1 and found['mismatches'] and found['mismatches'][0]['call']:
                break
        shown = ok(status == 1 and found['status'] == 1 and len(found['mismatches']) == 1,
                   f'{kernel} is noticed')
        if not shown:
            continue
        mismatch = found['mismatches'][0]
        ok(all(mismatch[key] for key in ('call', 'expected', 'found')), 'and told')
        path = write('shown.ops', mismatch['script'])
        kind = ['--as', mismatch['process']] if mismatch['process'] else []
        again = verify(*kind, '--kernel', kernel, path)
        ok(again.returncode == 1, 'its script shows it again', mismatch['script'], again.stdout)
        ok(verify(*kind, path).returncode == 0, 'and is right under linux-host', mismatch['script'])
        ok(len(mismatch['script'].splitlines()) <= 40, 'and is short', mismatch['script'])
    test_c()
    run = verify('--random', '1000', '--tap')
    ok(run.stdout.startswith('KTAP version 1\n1..1\nok 1 '), 'KTAP', run.stdout)
    run = verify('--random', '5', '--limit', '3')
    ok(run.returncode == 125 and 'of its own' in run.stderr, 'a limit that cannot be', run.stderr)
    rules = write('rules', '# nothing is compared\npolicy=linux-host\nanon_vma=0\n')
    ok(report('--random', '200000', '--stop', '--rules', rules)[0] == 1, 'a vector from a file')
    for options, words in ((['--random', 'x'], 'a number'), (['--ops', 'jump', '--random', '1'], 'jump'),
                           (['--kernel', 'linux-1', '--random', '1'], 'linux-1'),
                           (['--kernel', 'linux-host,-moon', '--random', '1'], 'moon'),
                           (['--rules', write('bad', 'anon_vma=1\nnonsense\n'), '--random', '1'], 'bad:2: '),
                           ([], '--random')):
        run = verify(*options)
        ok(run.returncode == 2 and words in run.stderr, f'usage: {" ".join(options)}', run.stderr)
    status, found = report(write('own.ops', 'mmap 0 1000 3 22 -1 0\nmunmap 0 7ffffffff000\n'
                                            'touch $1-40000000 80000000\nbrk 1000\nmunmap $1 1000\n'))
    ok(status == 0 and found['skipped'] == 2, "memory of seam's own is not named", found['failed'], found['skipped'])
    test_huge_page_of_own()
    run = verify(write('bad.ops', 'mmap 0 1000 3 22 -1 0\nmunmap $7 1000\n'))
    ok(run.returncode == 125 and 'bad.ops:2: ' in run.stderr, 'a line that cannot be read', run.stderr)


def test_huge_page_of_own():
    what = "nor is the rest of a huge page, which is seam's own"
    fixed = ('setarch', '-R')  # its text at 0x555555554000
    try:
        can = os.uname().machine == 'x86_64' and not subprocess.run([*fixed, 'true'], capture_output=True).returncode
    except FileNotFoundError:
        can = False
    if not can:
        return skip(what, 'addresses cannot be fixed here')
    path = write('huge.ops', 'mmap 555555400000 1000 3 44032 -1 0\n')
    run = running.run(*fixed, SEAM, 'verify', '--json', path, timeout=60)
    ok(run.returncode == 0 and json.loads(run.stdout)['skipped'] == 1, what, run.stdout, run.stderr)


def test_c():
    """The C file makes the same calls."""
    name, script = sections()[5]
    source = os.path.join(scratch, 'calls.c')
    run = verify('--emit', 'c', '-o', source, write('emit.ops', script))
    ok(run.returncode == 0, f'{name} as C', run.stderr)
    compiler = shutil.which('cc')
    if not compiler:
        skip('the C file runs', 'no cc')
        return
    program = os.path.join(scratch, 'calls')
    built = subprocess.run([compiler, '-w', '-o', program, source], capture_output=True, text=True)
    if ok(built.returncode == 0, 'the C file compiles', built.stderr):
        out = subprocess.run([program], capture_output=True, text=True, timeout=20).stdout
        calls = [line for line in script.splitlines() if line and line[0] != '#']
        ok(sum(line[0] != ' ' for line in out.splitlines()) == len(calls) and 'error' not in out,
           'and makes every call', out)


if platform.system() != 'Linux' or platform.machine() != 'x86_64':
    print('1..0 # SKIP verify knows Linux on x86-64')
    sys.exit(0)
{'random': test_random, 'rules': test_rules, 'bites': test_bites, 'reports': test_reports}[sys.argv[3]]()
shutil.rmtree(scratch)
done()
