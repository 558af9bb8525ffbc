#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The importer of operation scripts."""
import glob
import os
import re

from dumping import DATA, done, dump, dump_file, ok

d = dump('# a comment\n#map-every 7\nmmap 0 10000 3 22 -1 0\n\nmprotect $1+4000 1000 0\r\nmunmap $1-1000 $2\nmmap 50000000 2000 1 12 3 c\nkmmap 0 1000 5 1802 8 0\nrlimit as ffffffff\n'
         'mremap 1000 1000 2000 1\nmremap 1000 1000 2000 3 5000\nmunlockall\n')
ok(d.kind == 'an operation script' and d.fact('map_every') == '7' and d.reasons() == [] and d.fact('complete') == '1', 'recognised, complete', d.lines)
ok(d.plain_calls() == ['mmap(0, 10000, 3, 22, ffffffffffffffff, 0) = 0', 'mprotect($1+4000, 1000, 0) = 0', 'munmap($1+fffffffffffff000, $2+0) = 0',
                       'mmap(50000000, 2000, 1, 12, 3, c000) = 0', 'kmmap(0, 1000, 5, 1802, 8, 0) = 0', 'rlimit(0, ffffffffffffffff) = 0',
                       'mremap(1000, 1000, 2000, 1, 0) = 0', 'mremap(1000, 1000, 2000, 3, 5000) = 0', 'munlockall() = 0'], 'its operations', d.lines)
ok("file=1:3:3:" in d.of('call')[3] and "file=6:8:1:" in d.of('call')[4] and d.of('call')[1].endswith("'mprotect $1+4000 1000 0'"), 'files, and the text as written', d.lines)
ok([d.of('space')[0].split()[0], d.of('end')[0].split()[0]] == ['space', 'end'] and 'born=exec' in d.of('space')[0], 'one space, empty at first', d.lines)
for fd, file in (('-1', None), ('0', None), ('2', None), ('3', '3:3'), ('4', '4:3'), ('5', '5:1'), ('6', '6:7'), ('7', '7:2'), ('8', '8:1'), ('9', '9:1'), ('a', '10:b'), ('c', '12:403'), ('d', '13:43'), ('e', '14:21'), ('f', None)):
    d = dump(f'mmap 0 1000 1 2 {fd} 0\n')
    ok((f':{file}:' in d.of('call')[0]) if file else 'file=' not in d.of('call')[0], f'file {fd}', d.lines)

d = dump('mmap 0 4000 3 22 -1 0\nfork\n[1] munmap $1 1000\n[1] fork\n[2] touch $1 1000\nbrk 0\n')
ok([c[1] for c in d.calls()] == [0, 0, 1, 1, 2, 0] and len(d.of('space')) == 3 and [s.split()[-2] for s in d.of('space')] == ['0', '0', '1'] and len(d.of('end')) == 3,
   'spaces that fork makes', d.lines)

for bad, word in (('mmpa 0 1000 3 22 -1 0', 'mmpa'), ('mmap 0 1000 3 22 -1', 'expected 6 arguments, found 5'), ('mmap 0 1000 3 22 -1 0 0', 'found 7'),
                  ('munmap 0x1000 1000', 'without 0x'), ('munmap $9 1000', 'earlier'), ('munmap $2 1000', 'earlier'), ('munmap $0 1000', 'earlier'), ('munmap $x 1', 'behind $'),
                  ('munmap $1*4 1', '$K+HEX'), ('munmap 11111111111111111 1', 'hexadecimal'), ('mmap 0 1000 3 22 x 0', '3 to e'), ('mmap 0 1000 3 2 3 $1', 'offset'),
                  ('mmap 0 1000 3 2 3 10000000000000', 'offset'), ('rlimit cpu 1', 'memlock'), ('#map-every x', 'decimal'), ('[1] brk 0', 'fork'), ('[x] brk 0', 'space'),
                  ('[0]', 'operation'), ('mmap 1 2 3 4 5 6 7 8 9 a b c d', 'over 7')):
    d = dump('brk 0\n' + bad + '\nbrk $1\n')
    ok(len(d.trouble()) == 1 and 'line=2' in d.trouble()[0] and word in d.trouble()[0], 'refused with its line: ' + bad, d.lines)
    d = dump('brk 0\n' + bad + '\nbrk $1\n', '--skip-bad')
    ok(d.plain_calls() == ['brk(0) = 0', 'brk($1+0) = 0'] and d.fact('bad') == '1', 'left out: ' + bad, d.lines)
d = dump('brk 0\nmmpa 0\nbrk 1\nbrk $3\nbrk $2\n', '--skip-bad')
ok(d.plain_calls() == ['brk(0) = 0', 'brk(1) = 0', 'brk($2+0) = 0'] and d.fact('bad') == '2', 'a line left out keeps its number', d.lines)
d = dump('#map-every x\nbrk 0\n')
ok(len(d.trouble()) == 1 and 'line=1' in d.trouble()[0], 'a bad first line', d.lines)

d = dump('\r\rfork\r\n\r\n')
ok(d.plain_calls() == ['fork() = 0'] and len(d.of('space')) == 2, 'blanks in front of the first operation', d.lines)

total = 0
for path in sorted(glob.glob(os.path.join(DATA, 'history', '*.ops'))):
    with open(path) as f:
        lines = [line.rstrip('\n') for line in f if line.strip() and line[0] != '#']
    d = dump_file(path)
    texts = [re.search(r"'(.*)'$", line)[1] for line in d.of('call')]
    total += len(texts)
    if texts != lines or d.trouble():
        ok(False, os.path.basename(path), d.lines[:9])
ok(total > 10000, f'{total} operations of the history, each as written')
done()
