#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""width.py SEAM: on a terminal no line of a table or of help is wider than it, reasons are broken there and not cut,
and titles stand out unless NO_COLOR is set; in a pipe nothing is cut, and there are no escapes."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import on_terminal, run  # noqa: E402
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
REPORT = os.path.join(os.environ['SEAM_TEST_DATA'], 'history/report-2001.ops')
ESCAPE = re.compile('\x1b\\[[0-9;]*[A-Za-z]')
BOLD = '\x1b[1m'


TITLES = re.compile(r' *[A-Z%]{2}')
SENTENCE = re.compile(r'.{0,12}: ')


def tables(text):
    """The lines of each table: from its titles to an empty line or a sentence."""
    found, within = [], False
    for line in text.split('\n'):
        plain = ESCAPE.sub('', line)
        within = bool(TITLES.match(plain)) or bool(within and plain and not SENTENCE.match(plain))
        if within:
            found.append(plain)
    return found


held = subprocess.Popen([sys.executable, '-c', 'import json, ssl; print(1, flush=True); input()'],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
held.stdout.readline()
for words in (['show', str(held.pid)], ['why', str(held.pid)], ['top', '--once'], ['kernels'], ['kernels', '--probe'],
              ['kernels', '--diff', 'linux-2.4.2', 'linux-6.18'], ['stat', 'true'],
              ['replay', '--kernel', 'linux-2.2.13,linux-2.4.2,linux-6.18', REPORT],
              ['report', '--kernel', 'linux-6.18', REPORT]):
    what = ' '.join([words[0], *(word for word in words[1:2] if word.startswith('--'))])
    seen = on_terminal(80, SEAM, *words, env={**os.environ, 'TERM': 'xterm'})
    lines = tables(seen)
    ok(len(lines) > 1 and all(len(line) <= 80 for line in lines), f'{what}: 80 columns',
       *[line for line in lines if len(line) > 80] or [seen])
    seen = run(SEAM, *words)
    ok('\x1b' not in seen.stdout + seen.stderr, f'{what}: no escapes in a pipe', seen)
ok(re.search('moved_files, .*,$', run(SEAM, 'kernels').stdout, re.M) is None, 'kernels: in a pipe a policy is a line')
for words in (['show', os.path.join(os.environ['SEAM_TEST_DATA'], 'cases/07-thread-stacks.smaps')], ['kernels']):
    piped, seen = run(SEAM, *words).stdout, on_terminal(80, SEAM, *words, env={**os.environ, 'TERM': 'xterm'})
    ok(ESCAPE.sub('', seen).split() == piped.split(), f'{words[0]}: the same words on a terminal and in a pipe', piped, seen)
for words in (['help'], *(['help', verb] for verb in re.findall(r'^  (\w+) ', run(SEAM, 'help').stdout, flags=re.M))):
    seen = run(SEAM, *words).stdout.split('\n')
    ok(all(len(line) <= 80 for line in seen), f'{" ".join(words)}: 80 columns', *[line for line in seen if len(line) > 80])
wide = max(len(line) for line in tables(run(SEAM, 'why', str(held.pid)).stdout))
ok(wide > 100, 'why: in a pipe a pair is a line', wide)
for environ, bold in (({'TERM': 'xterm'}, True), ({'TERM': 'xterm', 'NO_COLOR': '1'}, False), ({'TERM': 'dumb'}, False)):
    seen = on_terminal(80, SEAM, 'kernels', env={**os.environ, **environ})
    ok((BOLD in seen) == bold, f'titles in bold: {bold}, {environ}', seen[:300])
held.kill()
done()
