#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Calls and maps in the middle of mails and issue texts."""
import os
import random

from dumping import CASES, done, dump, dump_file, ok

MADE = 'mmap(0, 1000, 3, 22, ffffffffffffffff, 0) = %x'

d = dump_file(os.path.join(CASES, 'report-2001.txt'))
ok(d.plain_calls() == [MADE % a for a in (0x40019000, 0x40019000, 0x4001a000, 0x4001b000, 0x4001c000, 0x4001d000)], 'report-2001.txt: its six calls', d.lines)
ok(d.fact('reused') == '1' and d.fact('complete') == '0' and {c[0] for c in d.calls()} == {15677}, 'one address twice, one process, not complete', d.lines)
ok([line for line in d.of('timing')] == ["timing line=42 real=3434000000 user=2790000000 sys=530000000 '2.4.2'",
                                         "timing line=49 real=3167000000 user=2950000000 sys=70000000 '2.2.13'"], 'and its timings', d.lines)

CALL = '%d old_mmap(NULL, 4096, PROT_READ|PROT_WRITE,%sMAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x%x'


def mail(rng):
    """(text, wanted calls, wanted areas): a mail with excerpts of both kinds."""
    pid, base = rng.randrange(100, 30000), 0x40019000 + 4096 * rng.randrange(1, 5000)
    calls, areas = rng.randrange(1, 41), rng.choice((0, rng.randrange(1, 30)))
    lines = ['Hello,', 'my compiler is slow, see below.', '', '....']
    wrapped = rng.random() < .7
    lines += [CALL % (pid, '\n' if wrapped else ' ', base + 4096 * i) for i in range(calls)]
    lines += ['.....', '', 'It takes 10 seconds (was 5):', 'real    0m10.000s', 'user\t0m1.500s', 'sys 0m0.25s', '']
    if areas:
        lines += [f'$ wc -l /proc/{pid}/maps', f'{areas + 7} /proc/{pid}/maps', 'the map is', '']
        lines += [f'{base + 8192 * i:08x}-{base + 8192 * i + 4096:08x} rw-p 00000000 00:00 0' for i in range(areas)]
        lines += ['<snip>', '']
    lines += ['munmap() is called as well (seldom), mmap2 never', 'p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);', 'munmap(p, 4096);', '-- ', 'A. User']
    quote = rng.choice(('', '> ', '>> ', '    ', '> > ', '&gt; ', '| ', '> | ', ': ', 'JD> '))
    text = '\n'.join(quote + part for line in lines for part in line.split('\n')) + '\n'
    return text, [MADE % (base + 4096 * i) for i in range(calls)], areas


for seed in range(40):
    text, calls, areas = mail(random.Random(seed))
    d = dump(text)
    right = d.plain_calls() == calls and len(d.areas()) == areas and d.fact('complete') == '0' and \
        d.of('timing')[0].startswith('timing line=') and 'real=10000000000 user=1500000000 sys=250000000' in d.of('timing')[0]
    if areas:
        right = right and f'counted={areas + 7} ' in d.of('maps')[0]
    ok(right, f'mail {seed}: {len(calls)} calls, {areas} areas', text, d.lines)


def seen(what, text, wanted, prose=True):
    d = dump('Subject: x\n\nHello, see this:\n\n' + text + '\nthanks\n' if prose else text)
    ok(d.plain_calls() == wanted, what, d.lines)
    return d


ONE = MADE % 0x40019000
seen('broken before its result', '1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n= 0x40019000\n', [ONE])
seen('broken behind "="', '1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) =\n0x40019000\n', [ONE])
seen('broken twice', '> 1 mmap(NULL, 4096,\n> PROT_READ|PROT_WRITE,\n> MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x40019000\n', [ONE])
seen('broken in its error', '1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate\nmemory)\n',
     [ONE.replace('40019000', '-12')])
seen('a call that breaks off', '1 mmap(NULL, 4096, PROT_READ|PROT_WRITE,\n.....\n1 munmap(0x40019000, 4096) = 0\n', ['munmap(40019000, 1000) = 0'])
seen('in HTML', '<pre>1 munmap(0x40019000, 4096 &lt;unfinished ...&gt;\n1 &lt;... munmap resumed&gt;) = 0</pre>\n', ['munmap(40019000, 1000) = 0'])
seen('in HTML from the first line on', '<pre>1 munmap(0x40019000, 4096 &lt;unfinished ...&gt;\n1 &lt;... munmap resumed&gt;) = 0</pre>\n',
     ['munmap(40019000, 1000) = 0'], prose=False)
seen('in HTML without tags', '1 munmap(0x40019000, 4096 &lt;unfinished ...&gt;\n1 &lt;... munmap resumed&gt;) = 0\n', ['munmap(40019000, 1000) = 0'], prose=False)
for what, leader in (('docker', '2026-12-01T04:33:02.123456789Z '), ('docker, with a zone', '2026-12-01T04:33:02+01:00 '), ('Kubernetes', '2026-12-01T04:33:02.1Z stderr F '),
                     ('docker compose', 'web-1  | '), ('journalctl', 'Dec 01 04:33:01 host strace[123]: '), ('syslog', 'Dec  1 04:33:01 host strace: ')):
    d = seen(f'in the log of {what}', f'{leader}1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x40019000\n{leader}\n'
             f'{leader}40000000-40013000 r-xp 00001000 03:02 77 /lib/a.so\n', [ONE], prose=False)
    ok(len(d.areas()) == 1, f'maps in the log of {what}', d.lines)
CLONE = '1 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, child_tid=0x7f28baeb6990,%sstack=0x7f28ba6b6000, stack_size=0x7fff80} => {parent_tid=[2]}, 88) = 2\n'
TAIL = '2 mmap(NULL, 4096, PROT_READ|PROT_WRITE,%sMAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x40019000\n1 munmap(0x40019000, 4096) = 0\n'
whole = dump('Hello,\n' + CLONE % ' ' + TAIL % ' ').calls()
for what, text in (('', 'Hello,\n' + CLONE % '\n' + TAIL % '\n'), (', without prose', CLONE % '\n' + TAIL % '\n')):
    d = dump(text)
    ok(d.calls() == whole and 'pid=1 tid=2 ' in d.of('call')[0] and 'clone not in log' not in d.reasons(), f'a broken clone still makes a thread{what}', d.lines, whole)
seen('in a fence', '```\nmunmap(0x40019000, 4096) = 0\n```\n', ['munmap(40019000, 1000) = 0'])
seen('with a prompt', '$ strace ./a\nmunmap(0x40019000, 4096)                = 0\n', ['munmap(40019000, 1000) = 0'])
d = dump('Hello,\n\n1 mmap(NULL, 4096, PROT_READ|PROT_WRITE,\n\nMAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x40019000\n1 munmap(0x1000, 4096) = 0\n')
ok(d.plain_calls() == ['munmap(1000, 1000) = 0'] and 'parts left out in the text' not in d.reasons(), 'an empty line ends a call', d.lines)
d = dump('Hello,\n1 munmap(0x1000, 4096) = 0\n.....\n1 munmap(0x3000, 4096) = 0\n')
ok(len(d.calls()) == 2 and 'parts left out in the text' in d.reasons(), 'what is left out is told', d.lines)
for text, ns in (('1m2.5s', 62500000000), ('0m0,25s', 250000000), ('1h2m3.000000004s', 3723000000004), ('2.5', 2500000000), ('1m2.5sec', None)):
    d = dump(f'Hello,\n1 munmap(0x1000, 4096) = 0\nreal {text}\nuser {text}\nsys {text}\n')
    wanted = [f"timing line=3 real={ns} user={ns} sys={ns} ''"] if ns else []
    ok(d.of('timing') == wanted, f'a time of {text}', d.lines)
AREA = '1000-2000 rw-p 00000000 00:00 0'
for count, wanted in (('2238', 2238), ('2,238', 2238), ('2.238', 2238), ("2'238", 2238), ('2\u00a0238', 2238), ('2\u202f238', 2238), ('&nbsp; 2238', 2238),
                      ('12,345,678', 12345678), ('2238<br>', 2238), ('2,23', 0), ('1,234.567', 0), ('2238,111', 0), ('2.2.13', 0)):
    for command in ('cat /proc/1/maps | wc -l', 'grep -c . /proc/1/maps'):
        d = dump(f'Hello,\n{command}\n{count}\n{AREA}\n')
        ok(f'counted={wanted} ' in d.of('maps')[0], f'{command}: {count}', d.lines)
d = dump(f'<p>Hello,<br>\n1 munmap(0x1000,<br>\n4096) = 0<br/>\n{AREA}</p>\n2.4.2:<br>\nreal&nbsp; &nbsp; 0m1s<br>\nuser 0m1s<br>\nsys\u00a00m1s<br></p>\n')
ok(d.plain_calls() == ['munmap(1000, 1000) = 0'] and len(d.areas()) == 1 and
   d.of('timing') == ["timing line=6 real=1000000000 user=1000000000 sys=1000000000 '2.4.2'"], 'lines that end in tags', d.lines)
times = 'real 0m1s\nuser 0m1s\nsys 0m1s\n' * 100
ok(0 < len(dump('Hello,\n1 munmap(0x1000, 4096) = 0\n' + times).of('timing')) <= 100, 'a hundred times')
d = dump('Subject: x\nContent-Transfer-Encoding: Quoted-Printable\n\nHello,\n\n1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIV=\nATE|MAP_ANONYMOUS, -1=\n'
         ', 0) =3D 0x40019000\n1000-2000 rw-p 00000000 00:00 0=20\n')
ok(d.plain_calls() == [ONE] and len(d.areas()) == 1 and 'line=6 ' in d.of('call')[0], 'quoted-printable', d.lines)
d = dump('Hello,\n> 40000000-40013000 r-xp 00001000 03:02 77\n> /lib/ld-2.2.so\n> 40013000-40014000 r-xp 00002000\n> 03:02 78 /lib/b.so\n> 40014000-40015000 rw-p 00000000\n> 00:00 0\nthanks\n')
ok([' '.join(a.split()[i] for i in (0, 2, 4, 5)) + a[a.index(" '"):] for a in d.areas()] == ["40000000-40013000 pgoff=1 dev=3:2 inode=77 '/lib/ld-2.2.so'", "40013000-40014000 pgoff=2 dev=3:2 inode=78 '/lib/b.so'",
   "40014000-40015000 pgoff=0 dev=0:0 inode=0 ''"], 'lines of maps that a mailer broke', d.lines)
d = dump('Hello,\n\nmaps only:\n1000-2000 rw-p 00000000 00:00 0\n')
ok(len(d.areas()) == 1 and 'no calls' in d.trouble()[0], 'maps and no calls', d.lines)
d = dump('Hello,\n\n1 munmap(0x40019000, 4096) = 0\n')
ok(len(d.calls()) == 1 and 'no line of maps' in d.of('maps')[0], 'calls and no maps', d.lines)
d = dump('Hello,\n\nthis is all.\n')
ok('line=1' in d.trouble()[0], 'neither is refused with its first line', d.lines)
done()
