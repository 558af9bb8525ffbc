#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""broken.py SEAM: arguments and inputs that make no sense: each is refused in a line that says why, with
the right status, in little memory."""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])


def little_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))


def seam(*args, **keywords):
    """(status, stdout, stderr); a hang is status -1"""
    keywords.setdefault('stdin', subprocess.DEVNULL)
    try:
        run = subprocess.run([SEAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors='replace', timeout=20, preexec_fn=little_memory, **keywords)
    except subprocess.TimeoutExpired:
        return -1, '', 'no end'
    return run.returncode, run.stdout, run.stderr


def refuses(status, why, *args, **keywords):
    got, _, error = seam(*args, **keywords)
    ok(got == status and why in error and error.startswith('seam: '),
       '%s: %s' % (' '.join(args)[:70], why), 'status %d: %s' % (got, error[:300]))


def test_numbers():
    """A number below nothing is none: strtoul would have taken it for a huge one."""
    minus_max = ' -18446744073709551615'
    for verb, option, rest in (('top', '-n', ['--once']), ('report', '-n', []), ('stat', '-r', ['true']),
                               ('show', '--looks', ['1']), ('show', '--watch', ['1']),
                               ('replay', '--limit', []), ('verify', '--random', []),
                               ('record', '-p', [])):
        for number in ('-1', minus_max, '', '1x', '99999999999999999999'):
            refuses(2, ' %s: ' % number, verb, option, number, *rest)
    refuses(2, 'an address in hex', 'why', '1', minus_max)


def test_directories():
    refuses(1, '/: Is a directory', 'show', '/')
    refuses(1, '/: Is a directory', 'why', '/')
    refuses(1, '/: Is a directory', 'replay', '/')
    refuses(1, '/: Is a directory', 'report', '/')
    refuses(125, '/: Is a directory', 'verify', '/')
    refuses(1, '/dev/zero: ', 'show', '/dev/zero')


def test_rules_file(path):
    """--rules: no text of short lines is no rules, and never "no rules changed"."""
    script = os.path.join(path, 'x.ops')
    rules = os.path.join(path, 'rules')
    with open(script, 'w') as f:
        f.write('mmap 0 1000 3 22 -1 0\n')
    refuses(1, 'Is a directory', 'replay', script, '--rules', '/')
    refuses(1, 'shorter than', 'replay', script, '--rules', '/dev/zero')
    for text in ('#' + 'x' * 600 + '\n', 'numa=1\0\n'):
        with open(rules, 'w') as f:
            f.write(text)
        refuses(1, 'line 1', 'replay', script, '--rules', rules)


test_numbers()
test_directories()
with tempfile.TemporaryDirectory() as scratch:
    test_rules_file(scratch)
done()
