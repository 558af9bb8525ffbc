# SPDX-License-Identifier: BSD-2-Clause
"""What trace-dump makes of a text, for tests in Python: TRACE_DUMP names the program."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from tap import done, ok, skip  # noqa: E402,F401  for those that import this

DUMP = os.environ['TRACE_DUMP']
DATA = os.environ['SEAM_TEST_DATA']
CASES = os.path.join(DATA, 'cases')


class Dump:
    """The records of one dump."""

    def __init__(self, out):
        self.lines = out.splitlines()
        self.kind = self.lines[0].removeprefix('kind ') if self.lines else ''

    def of(self, *words):
        return [line for line in self.lines if line.split(' ', 1)[0] in words]

    def calls(self):
        """(tid, space, call, flags) of each call, the call as 'mmap(0, 1000, ...) = 7f..'."""
        found = []
        for line in self.of('call'):
            match = re.match(r'call line=\d+ space=(\d+) pid=\d+ tid=(\d+)(?: time=\S+)?(?: flags=(\w+))? '
                             r'(\w+\(.*?\) = \S+)', line)
            found.append((int(match[2]), int(match[1]), match[4], int(match[3] or '0', 16)))
        return found

    def plain_calls(self):
        return [call[2] for call in self.calls()]

    def reasons(self):
        for line in self.of('facts'):
            if ' because: ' in line:
                return line.split(' because: ')[1].split('; ')
        return []

    def fact(self, name):
        return next((m[1] for line in self.of('facts', 'maps') if (m := re.search(rf'\b{name}=(\S+)', line))), None)

    def trouble(self):
        """What the reader of traces says against it."""
        return self.of('trace')

    def areas(self):
        return [line.removeprefix('area ') for line in self.of('area')]


def dump_file(path, *options):
    run = subprocess.run([DUMP, *options, path], capture_output=True, timeout=120)
    out = run.stdout.decode(errors='replace')
    if run.returncode not in (0, 1) or run.stderr:
        out += f'\ncrashed {run.returncode} {run.stderr.decode(errors="replace")}'
    return Dump(out)


def dump(text, *options):
    if isinstance(text, str):
        text = text.encode()
    with tempfile.NamedTemporaryFile() as f:
        f.write(text)
        f.flush()
        return dump_file(f.name, *options)
