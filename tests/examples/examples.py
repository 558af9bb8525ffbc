#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""examples.py CUT_PAGES FIBERS: the programs of the demonstration do what they are shown for."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

CUT_PAGES, FIBERS = map(os.path.realpath, sys.argv[1:3])
PAGES = 300
# Maps, writes and reads back; prints the lines of its own map.
PROGRAM = f'''
import mmap
pages = mmap.mmap(-1, {PAGES} * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range({PAGES}):
    pages[4096 * i] = i % 251
assert all(pages[4096 * i] == i % 251 for i in range({PAGES}))
print(len(open('/proc/self/maps').readlines()))
'''


def mappings(**environ):
    run = subprocess.run([sys.executable, '-c', PROGRAM], capture_output=True, text=True,
                         env={**os.environ, 'LD_PRELOAD': CUT_PAGES, **environ})
    ok(run.returncode == 0, f'the program goes on as before {environ}', run)
    return int(run.stdout or -1)


plain = mappings()
cut = mappings(CUT_PAGES='cut')
ok(abs(cut - plain) < 50, 'pages that are alike are joined', plain, cut)
with open('/proc/sys/vm/overcommit_memory') as f:
    strict = f.read().strip() == '2'
apart = mappings(CUT_PAGES='apart')
if strict:
    skip('pages are kept apart', 'vm.overcommit_memory is 2')
else:
    ok(apart - plain > PAGES - 10, 'pages are kept apart', plain, apart)
ok(abs(mappings(CUT_PAGES='apart', CUT_PAGES_IN='another') - plain) < 50, 'only in the one named')

fibers = subprocess.Popen([FIBERS, '1000'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
line = fibers.stdout.readline()
ok(line == 'stopped as asked, with 500 clients\n', 'fibers are served', line)
with open(f'/proc/{fibers.pid}/maps') as f:
    lines = f.readlines()
ok(1000 <= len(lines) < 1100 and sum(line[5:].split()[1] == '---p' for line in lines) >= 500,
   'each takes a stack and its guard', len(lines))
fibers.communicate('\n')
ok(fibers.returncode == 0, 'and it ends')

# As `fibers-at-limit &` in a script starts it.
fibers = subprocess.Popen([FIBERS, '1000'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
fibers.stdout.readline()
try:
    fibers.wait(0.5)
    stayed = False
except subprocess.TimeoutExpired:
    stayed = True
fibers.kill()
fibers.wait()
ok(stayed, 'in the background of a script it stays to be looked at')
done()
