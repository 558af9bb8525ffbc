#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""options.py SEAM: every verb reads its options alike, as its help lists them, and refuses in the same words."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
import running  # noqa: E402
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
OPTION = re.compile(r'^ {2,6}(?:-(\w), )?--([a-z-]+)(?: (\S.*?))?(?:  .*)?$', re.M)
PROGRAM = {'record', 'stat'}
FILE = {'replay', 'report', 'show', 'why', 'verify'}


def seam(*words):
    return running.run(SEAM, *words)


def refused(verb, words, said, what):
    run = seam(verb, *words)
    first = run.stderr.partition('\n')[0]
    ok(run.returncode == 2 and not run.stdout and re.fullmatch(f'seam: {verb}: {said}', first) and
       f'usage: seam {verb} ' in run.stderr, f'{verb}: {what}', words, run.returncode, run.stderr)


def check_option(verb, letter, name, value):
    flag = not value or ' ' in value  # "--diff A B" takes operands
    if flag:
        refused(verb, [f'--{name}=1'], f'--{name} takes no value', f'--{name} with a value')
        if letter:
            refused(verb, [f'-{letter}Z'], 'no option -Z', f'a letter that there is not behind -{letter}')
        return
    refused(verb, [f'--{name}'], f'--{name}: .+ expected', f'--{name} without a value')
    if letter:
        refused(verb, ['-' + letter], f'--{name}: .+ expected', f'-{letter} without a value')
    refused(verb, [f'--{name}', ''], f"--{name} '': .+ expected", f'--{name} with nothing')


def check_verb(verb):
    text = seam('help', verb).stdout
    options = OPTION.findall(text)
    ok(len(options) > 2, f'{verb}: help lists its options', text)
    ok(all(len(line) <= 80 for line in text.splitlines()[3:]), f'{verb}: on 80 columns', text)
    for option in options:
        check_option(verb, *option)
    refused(verb, ['--moon'], 'no option --moon', 'an option that there is not')
    refused(verb, ['-Z'], 'no option -Z', 'a letter that there is not')
    refused(verb, ['--moon=1'], 'no option --moon=1', 'with a value')
    if verb in PROGRAM:
        refused(verb, [''], "'': the name of a program expected", 'no name')
    elif verb in FILE:
        refused(verb, [''], "'': .*the name of a file.* expected", 'no name')
    else:
        refused(verb, ['moon'], "'moon': no argument is expected", 'an argument')


def check_numbers():
    for verb, words, said in (
            ('show', ['--watch', '0', '1'], "--watch '0': a number of seconds from 1 to 86400 expected"),
            ('show', ['--watch', '86401', '1'], "--watch '86401': a number of seconds from 1 to 86400 expected"),
            ('show', ['--looks=-1', '1'], "--looks '-1': a number of lines from 1 expected"),
            ('top', ['-n', ' 1'], "--rows ' 1': a number of rows from 1 expected"),
            ('stat', ['-r1x', 'true'], "--repeat '1x': a number of runs from 1 to 100000 expected"),
            ('record', ['-p', '2147483648'], "--pid '2147483648': a process id expected"),
            ('verify', ['--seed', '18446744073709551616'], "--seed '18446744073709551616': a number from 0 expected"),
            ('replay', ['--limit', '0x'], "--limit '0x': a number of areas from 1 expected"),
            ('replay', ['--format', 'xml'], "--format 'xml': text, json or ops expected"),
            ('replay', ['--layout', ''], "--layout '': i386 or x86-64 expected"),
            ('replay', ['--rules', 'x'] * 40, "--rules 'x': given too often")):
        refused(verb, words, re.escape(said), ' '.join(words[:2]))
    run = seam('verify', '--random', '0x10', '--seed=0x7', '--json')
    ok(run.returncode in (0, 1) and '"seed":7' in run.stdout.replace(' ', ''), 'numbers in hex', run.stdout, run.stderr)
    ok(seam('top', '--onc', '--rows=1', '--no-h').returncode == 0, 'names may be cut short')


def check_together():
    """What cannot be had together is refused; nothing is passed over in silence."""
    for verb, words, said in (
            ('show', ['--json', '-F', 'pid', '1'], '--fields, --json or --watch, one of them'),
            ('show', ['--watch', '1', '-F', 'pid', '1'], '--fields, --json or --watch, one of them'),
            ('show', ['--looks', '2', '1'], '--looks is for --watch'),
            ('show', ['-F', 'pid,colour', '1'], "--fields 'pid,colour': some of pid, comm, areas, limit, headroom, "
             'touching_pairs, holes, source and kernel expected'),
            ('show', ['-F', ','.join(['pid'] * 17), '1'], '--fields .+: given too often'),
            ('replay', ['--json', '--format', 'ops'], 'one of --json and --format ops'),
            ('replay', ['--json', '-F', 'areas'], '--fields is for text'),
            ('replay', ['-F', 'areas,'], "--fields 'areas,': some of kernel, .+ and bytes expected"),
            ('kernels', ['--diff', 'linux-6.18,close=3', 'plain'], "--diff: no rule or value 'close=3' .+")):
        refused(verb, words, said, ' '.join(words)[:60])


for name in re.findall(r'^  (\w+) ', seam('help').stdout, flags=re.M):
    check_verb(name)
check_numbers()
check_together()
for words in (['show', '--help'], ['replay', '--maps', 'x', '-h'], ['stat', '--json', '--help', 'true']):
    run = seam(*words)
    ok(run.returncode == 0 and run.stdout == seam('help', words[0]).stdout, ' '.join(words), run)
ok(seam('stat', 'sh', '-c', 'echo "$1"', 'sh', '--help').stdout == '--help\n',
   "--help behind the program is the program's")
run = seam('stat', 'sh', '-c', 'exit 3', '--json')
ok(run.returncode == 3 and '"schema"' not in run.stderr, "what is behind the program is the program's", run.stderr)
done()
