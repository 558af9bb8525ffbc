#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""causes.py SEAM MAKER: each cause, made by a program and named by seam why; the call that seam
names is made and the two are one; the program that seam emits makes such a pair again."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, MAKER = map(os.path.realpath, sys.argv[1:3])
# What the kernel's own truth shows, and what smaps shows of it.
CAUSES = {
    'prot': ('prot', 'prot'),
    'shared': ('shared', 'shared'),
    'flags': ('flags', 'flags'),
    'lock': ('flags', 'flags'),
    'special': (None, None),
    'file': ('file', 'file'),
    'file-twice': ('file', 'unseen'),
    'offset': ('offset', 'offset'),
    'moved': ('offset', 'unseen'),
    'anon_vma': ('anon_vma', 'unseen'),
    'all-locked': ('anon_vma', 'unseen'),
    'fork': ('fork', 'unseen'),
    'numa': ('numa', 'numa'),
    'uffd': ('uffd', 'unseen'),
    'name': ('name', 'name'),
    'pkey': ('pkey', 'pkey'),
    'close': ('close', 'unseen'),
    'untried': ('untried', 'unseen'),
    'several': ('prot+shared+flags+file', 'prot+shared+flags+file'),
    'many': ('prot+flags+offset+anon_vma+numa+uffd', 'prot+flags+numa'),
    'forked-flags': ('flags+fork', 'flags'),
}
# Pairs that no call joins.
STAY = {'shared', 'special', 'file', 'file-twice', 'offset', 'all-locked', 'uffd', 'close', 'several', 'many', 'forked-flags'}
PROTS = {'PROT_NONE': 0, 'PROT_READ': 1, 'PROT_WRITE': 2, 'PROT_EXEC': 4}
FLAGS = {'MAP_PRIVATE': 2, 'MAP_ANONYMOUS': 32, 'MAP_FIXED': 16, 'MAP_NORESERVE': 0x4000}
ADVICES = {'MADV_DONTDUMP': 16, 'MADV_DODUMP': 17}


def start(*program):
    process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    words = process.stdout.readline().split()
    if not words:
        return process, None, None
    return process, words[1], words[2]


def stop(process):
    process.stdin.close()
    process.stdout.close()
    process.kill()
    return process.wait()


def why(pid, border, *options):
    run = subprocess.run([SEAM, 'why', '--json', *options, pid, border], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else None


def number(text, names):
    return sum(names[word] for word in text.split('|'))


def command(call):
    """A call as seam names it, as the maker takes it."""
    name, args = re.fullmatch(r'(\w+)\((.*)\)', call).groups()
    args = args.split(', ')
    if name == 'mprotect':
        return f'mprotect {args[0]} {args[1]} {number(args[2], PROTS)}'
    if name == 'madvise':
        return f'madvise {args[0]} {args[1]} {ADVICES[args[2]]}'
    if name == 'mmap':
        return f'mmap {args[0]} {args[1]} {number(args[2], PROTS)} {number(args[3], FLAGS)}'
    return f'{name} {args[0]} {args[1]}'


def obey(process, join_by):
    answers = []
    for call in join_by.split(';')[0].split(', then '):
        process.stdin.write(command(call) + '\n')
        process.stdin.flush()
        answers.append(process.stdout.readline().strip())
    return answers


def touches(pid, border):
    """Whether two areas still meet there."""
    report = why(pid, border)
    return report is not None and int(report['pairs'][0]['right']['start'], 16) == int(border, 16)


def check_emitted(name, pid, border, causes):
    source = subprocess.run([SEAM, 'why', '--emit', 'c', pid, border], capture_output=True,
                            text=True)
    if source.returncode:
        return ok(name in ('special', 'untried', 'close') or 'unseen' in causes,
                  f'{name}: no program, and why', source.stderr)
    path = os.path.join(scratch, name)
    with open(path + '.c', 'w') as f:
        f.write(source.stdout)
    built = subprocess.run([compiler, '-Wno-unused-result', '-o', path, path + '.c'],
                           capture_output=True, text=True)
    if not ok(built.returncode == 0, f'{name}: the emitted program is built', built.stderr):
        return False
    process, pid, border = start(path)
    again = why(pid, border) if pid else None
    stop(process)
    return ok(again and again['pairs'] and again['pairs'][0]['causes'] == causes,
              f'{name}: the emitted program makes {"+".join(causes)}', again, source.stdout)


def check(name, expected):
    process, pid, border = start(MAKER, name)
    if not pid:
        status = stop(process)
        return skip(name, 'this kernel has not got it') if status == 77 else ok(
            False, f'{name}: made', status)
    report = why(pid, border)
    if not ok(report and len(report['pairs']) == 1, f'{name}: a pair', report):
        return stop(process)
    pair = report['pairs'][0]
    found = '+'.join(pair['causes'])
    wanted = expected[report['source'] != 'bpf']
    if wanted is None:
        ok('special' in pair['causes'], f'{name}: special', pair)
    else:
        ok(found == wanted, f'{name}: {wanted}', pair)
    ok(pair['detail'], f'{name}: told bit by bit', pair)
    if compiler:
        check_emitted(name, pid, border, pair['causes'])
    if 'unseen' in pair['causes']:
        return stop(process)
    if name in STAY and pair['join_by']:
        ok(report['source'] != 'bpf' and not pair['join_certain'], f'{name}: no call is sure to join them', pair)
    elif name in STAY:
        ok(pair['no_join'], f'{name}: no call joins them', pair)
    elif pair['join_by']:
        answers = obey(process, pair['join_by'])
        ok(set(answers) == {'DONE'} and not touches(pid, border),
           f'{name}: joined by {pair["join_by"]}', answers, why(pid, border))
    else:
        ok(False, f'{name}: a call that joins them', pair)
    return stop(process)


scratch = tempfile.mkdtemp()
compiler = shutil.which('cc')
try:
    for name, expected in CAUSES.items():
        check(name, expected)
    # 2.4.2 joins nothing: what keeps them apart here does not count there.
    for name in ('anon_vma', 'flags'):
        process, pid, border = start(MAKER, name)
        report = why(pid, border, '--kernel', 'linux-2.4.2')
        ok(report and report['pairs'][0]['causes'] == ['rule'] and not report['pairs'][0]['join_by'],
           f'{name} by the rules of 2.4.2: rule alone', report)
        stop(process)
finally:
    shutil.rmtree(scratch)
done()
