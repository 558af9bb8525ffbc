#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Areas from the text of maps, smaps and numa_maps, clean and as people paste them."""
import glob
import os
import re

from dumping import CASES, done, dump, dump_file, ok


def area(line):
    """A line of the dump as a dict."""
    match = re.match(r'([0-9a-f]+)-([0-9a-f]+) (.*) \'(.*)\'$', line)
    fields = dict(word.split('=') for word in match[3].split())
    return dict(fields, start=match[1], end=match[2], name=match[4])


def read(text, *options):
    d = dump(text, *options)
    return d, [area(line) for line in d.areas()]


LIBC = '7f0000000000-7f0000026000 r--p 00000000 08:01 1234567890                 /usr/lib/libc.so.6\n'
ANON = '7f0000026000-7f0000028000 rw-p 00000000 00:00 0 \n'
HEAP = '55d000000000-55d000021000 rw-p 00000000 00:00 0                          [heap]\n'
PLAIN = HEAP + LIBC + ANON

d, areas = read(PLAIN)
ok(d.kind == 'maps text' and len(areas) == 3 and d.fact('source') == 'maps', 'plain', d.lines)
ok([a['flags'] for a in areas] == ['3', '1', '3'] and [a['file'] != '0' for a in areas] == [False, True, False], 'permissions and files', areas)
ok(areas[1]['dev'] == '8:1' and areas[1]['inode'] == '1234567890' and areas[1]['name'] == '/usr/lib/libc.so.6', 'device, inode, name', areas)

# The same through the hands of people
for what, change in (('indented', lambda line: '    ' + line), ('quoted', lambda line: '> ' + line), ('quoted twice', lambda line: '>> ' + line),
                     ('quoted with blanks', lambda line: ' > > ' + line), ('without the last blank', lambda line: line.rstrip() + '\n'),
                     ('from Windows', lambda line: line.rstrip('\n') + '\r\n'), ('escaped marks', lambda line: '&gt; ' + line),
                     ('with breaks', lambda line: line.rstrip('\n') + '<br>\n'), ('preformatted', lambda line: '<pre>' + line),
                     ('with tabs', lambda line: '\t' + line), ('blank lines between', lambda line: line + '\n')):
    d, changed = read(''.join(change(line) for line in PLAIN.splitlines(True)))
    same = [(a['start'], a['end'], a['flags'], a['inode'], a['name']) for a in changed]
    ok(same == [(a['start'], a['end'], a['flags'], a['inode'], a['name']) for a in areas], what, d.lines)
d, changed = read('<p>' + PLAIN.replace('\n', '</p>\n<p>'))
ok([a['name'] for a in changed] == [a['name'] for a in areas], 'in paragraphs', d.lines)
for cut in ('<snip ...>', '&lt;snip&gt;', '... 120 lines ...', '....', '[...]', '[snip]', '--More-- (truncated)'):
    d, changed = read(HEAP + cut + '\n' + LIBC + ANON)
    ok(len(changed) == 3 and d.fact('cut') == '1', 'lines left out: ' + cut, d.lines)
d, changed = read(PLAIN + '7f0000030000-7f00000310')
ok(len(changed) == 3 and d.fact('cut') == '1', 'cut in its last line', d.lines)

# What kernels print
d, changed = read('08048000-08056000 r-xp 00000000 103:03 1 /bin/a b\n08056000-08058000 rw-p 0000d000 fe:00 1 /bin/a b (deleted)\n'
                  '40000000-40013000 r-xp 00000000 08:02 2 /srv/new\\012line\n40013000-40014000 rw-p 00000000 00:00 0\n'
                  'bfffe000-c0000000 rwxp fffff000 00:00 0\n')
ok([a['name'] for a in changed] == ['/bin/a b', '/bin/a b (deleted)', '/srv/new\\012line', '', ''] and changed[0]['dev'] == '103:3' and
   changed[1]['pgoff'] == 'd' and changed[4]['pgoff'] == '0', 'eight digits, odd names and devices', d.lines)
d, changed = read('7f0000000000-7f0000001000 rw-s 00000000 00:01 1024 /dev/zero (deleted)\n7f0000001000-7f0000002000 rw-s 00000000 00:01 1025 /dev/zero (deleted)\n'
                  '7f0000002000-7f0000003000 rw-s 00000000 00:01 0 /SYSV00000000 (deleted)\n7f0000003000-7f0000004000 rw-s 00000000 00:01 7 /memfd:x (deleted)\n'
                  '7f0000004000-7f0000005000 rw-s 00000000 00:01 9 [anon_shmem:y z]\n')
ok(all(a['traits'] == '4' and a['flags'] == '8b' for a in changed) and len({a['file'] for a in changed}) == 5, 'shared anonymous memory', d.lines)
d, changed = read('7f0000000000-7f0000001000 rw-p 00000000 00:00 0 [anon:dalvik-main space (region space)]\n'
                  '7f0000001000-7f0000002000 rw-p 00000000 00:00 0 [anon:other]\n7f0000002000-7f0000003000 rw-p 00000000 00:00 0 [stack:20482]\n'
                  '7f0000003000-7f0000004000 rw-p 00000000 00:00 0 [anon:other]\n')
ok(changed[1]['name'] == 'other' or [a['name'] for a in changed][1] == '[anon:other]' and
   len({re.search(r' name=(\d+)', line)[1] for line in d.areas()}) == 3, 'names of anonymous memory', d.lines)
d, changed = read(PLAIN + 'ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n')
ok(len(changed) == 3, '[vsyscall] is not counted', d.lines)
d, changed = read('7f0000000000-7f0000001000 rw-- 00000000 00:00 0\n')
ok(len(changed) == 1, 'WSL 1 prints - for private', d.lines)
d, changed = read('000000400000-000000401000 r-xp 0000000000 /bin/moss\n000000401000-000000402000 r-xp 0000001000 /bin/moss\n000000402000-000000403000 rw-p 0000000000\n')
ok([a['file'] for a in changed][0] == [a['file'] for a in changed][1] != '0' and changed[2]['file'] == '0' and changed[1]['pgoff'] == '1',
   'no device: files by their names', d.lines)

d, changed = read(LIBC.replace('libc', 'a&lt;b&amp;c'))
ok(changed[0]['name'] == '/usr/lib/a<b&c.so.6', 'entities in a name', d.lines)

# Two reads are not one moment
d, changed = read(HEAP + LIBC + ANON + LIBC + ANON + '7f0000028000-7f0000029000 rw-p 00000000 00:00 0 \n')
ok(len(changed) == 4 and any('twice' in line for line in d.of('note')), 'lines that come twice', d.lines)
d, changed = read('1000-3000 rw-p 00000000 00:00 0\n2000-5000 r--p 00000000 00:00 0\n')
ok([(a['start'], a['end']) for a in changed] == [('1000', '2000'), ('2000', '5000')] and d.of('note'), 'areas that overlap', d.lines)
d, changed = read('1000-3000 rw-p 00000000 00:00 0\n1000-5000 rw-p 00000000 00:00 0\n')
ok([(a['start'], a['end']) for a in changed] == [('1000', '5000')], 'an area that grew', d.lines)
d, changed = read('1000-3000 rw-p 00000000 00:00 0\n3000-3000 rw-p 00000000 00:00 0\n3000-5000 rw-p 00000000 00:00 0\n')
ok(len(changed) == 2, 'an area of no length', d.lines)
d, changed = read(HEAP + '\n' + PLAIN)
ok(len(changed) == 3, 'the same map again, longer', d.lines)
d, changed = read(ANON + HEAP + LIBC)
ok(len(changed) == 2 and any('largest' in line for line in d.of('note')), 'two maps in one text: the largest', d.lines)

# smaps
SMAPS = HEAP + 'Size:                132 kB\nRss:                   4 kB\nAnonymous:             8 kB\nSwap:                  4 kB\n' \
    'ProtectionKey:         2\nVmFlags: rd wr mr mw me ac sd \n' + ANON.replace('rw-p', 'r--p') + 'Size: 8 kB\nVmFlags: rd mr mw me lo nh dd\n'
d, areas = read(SMAPS)
ok(d.kind == 'smaps text' and areas[0]['flags'] == hex(0x8100073 | 2 << 32)[2:] and areas[0]['anonymous'] == str(12 * 1024) and
   areas[1]['flags'] == hex(0x71 | 0x2000 | 0x40000000 | 0x4000000)[2:], 'smaps: flags, keys, anonymous memory', d.lines)
ok(int(d.fact('sees'), 16) & 0x1002 == 0x1002, 'flags and keys are seen', d.lines)
d, quoted = read(''.join('> ' + line for line in SMAPS.splitlines(True)))
ok(quoted == areas, 'smaps quoted', d.lines)
d, cut = read(SMAPS[:SMAPS.rindex('VmFlags')])
ok(len(cut) == 1 and d.fact('cut') == '1', 'an area whose flags were cut off is left out', d.lines)
d, old = read(re.sub('VmFlags.*\n', '', SMAPS))
ok(len(old) == 2 and not int(d.fact('sees'), 16) & 2 and d.fact('source') == 'smaps', 'smaps before VmFlags', d.lines)
d, unknown = read(SMAPS.replace('nh dd', 'nh dd zz') + '7f0000028000-7f0000029000 r--p 00000000 00:00 0 \nVmFlags: rd mr mw me lo nh dd zz yy\n')
flags = [int(a['flags'], 16) >> 48 for a in unknown]
ok(flags[0] == 0 and flags[1] and flags[2] != flags[1] and flags[1] & flags[2] and d.of('note'), 'codes that are not known stay apart', d.lines)

# numa_maps
d, areas = read('55d000000000 default heap anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n7f0000000000 bind:0 file=/a mapped=3 N0=3 kernelpagesize_kB=4\n'
                '7f0000026000 prefer (many):0-1 anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n7f0000028000 bind:0 anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n')
numa = [re.search(r' numa=(\d+)', line)[1] for line in d.areas()]
ok(d.fact('source') == 'numa_maps' and numa[0] == '0' and numa[1] == numa[3] != numa[2] != '0', 'numa_maps: policies', d.lines)
ok(not int(d.fact('sees'), 16) & 1, 'numa_maps tells no ends', d.lines)

# Refused
for text, line, word in ((PLAIN + 'not a line of maps\n' + PLAIN, 4, 'not a line'), (HEAP + '7f0000000000-7f0000026000 rw?p 00000000 00:00 0\n' + ANON, 2, 'permissions'),
                         (HEAP + '7f0000026000-7f0000000000 rw-p 00000000 00:00 0\n' + ANON, 2, 'end'), (HEAP + '7f0000000000-7f0000026000 rw-p zero 00:00 0\n' + ANON, 2, 'offset'),
                         (HEAP + '7f0000000001-7f0000026000 rw-p 00000000 00:00 0\n' + ANON, 2, 'page')):
    d, _ = read(text)
    ok(any(f'refused -22 line={line} ' in x and word in x for x in d.of('maps')), f'refused with its line: {word}', d.lines)
    d, _ = read(text, '--skip-bad')
    ok(d.fact('bad') == '1' and len(d.areas()) in (2, 3), f'left out: {word}', d.lines)
d, _ = read('55d000000000-7ffd0f0f1000 ---p 00000000 00:00 0                          [rollup]\nRss:                1234 kB\n')
ok(any('smaps_rollup' in x for x in d.of('maps')), 'smaps_rollup is refused by name', d.lines)
for text in ('', '\n\n', 'some prose\n', '\0\1\2'):
    d, _ = read(text)
    ok(any('refused' in x for x in d.of('maps')), f'no map: {text!r}', d.lines)

# The case files
for path in sorted(glob.glob(os.path.join(CASES, '*maps'))):
    d = dump_file(path)
    with open(path, errors='replace') as f:
        lines = [m for line in f if (m := re.match(r'([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ (\d+) *(.*)$', line)) and m[6] != '[vsyscall]']
    wanted = [(m[1].lstrip('0'), m[2].lstrip('0'), m[5], m[6]) for m in lines]
    found = [(a['start'], a['end'], a['inode'], a['name']) for a in map(area, d.areas())]
    ok(found == wanted, f'{os.path.basename(path)}: {len(wanted)} areas', len(found))
d = dump_file(os.path.join(CASES, 'report-2001.txt'))
ok(len(d.areas()) == 8 and d.fact('counted') == '2238' and d.fact('source') == 'text', 'report-2001.txt: 8 areas of 2,238', d.lines)
done()
