# SPDX-License-Identifier: BSD-2-Clause
"""The files of the tree, for the style tests."""
import os
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))
# Inputs of tests and examples: data, written as their formats want it.
DATA = ('tests/data/', 'examples/report-2001/')


def files():
    """Paths below TOP of what belongs to the project."""
    git = subprocess.run(['git', '-C', TOP, 'ls-files', '-co', '--exclude-standard', '-z'],
                         capture_output=True)
    if git.returncode == 0:
        names = git.stdout.decode().split('\0')
    else:  # unpacked from an archive
        names = [os.path.relpath(os.path.join(d, n), TOP)
                 for d, dirs, found in os.walk(TOP) for n in found
                 if not os.path.relpath(d, TOP).startswith(('build', '.git'))]
    return sorted(n for n in names if n and os.path.isfile(os.path.join(TOP, n)))


def sources(*suffixes):
    """Without data and what is generated."""
    return [n for n in files() if n.endswith(suffixes) and not n.startswith(DATA) and
            not n.endswith('.skel.h')]


def texts():
    """(name, lines) of every file that people write."""
    for name in files():
        if name.startswith(DATA) or '/corpus/' in name:
            continue
        with open(os.path.join(TOP, name), 'rb') as f:
            data = f.read()
        if b'\0' not in data:
            yield name, data.decode(errors='replace').split('\n')


def skip(why):
    print('skipped:', why)
    sys.exit(77)


def finish(faults, held):
    """Prints the faults and ends the test; held: what was looked at, must be some."""
    for fault in faults:
        print(fault)
    print(f'{held} looked at, {len(faults)} faults')
    sys.exit(1 if faults or not held else 0)
