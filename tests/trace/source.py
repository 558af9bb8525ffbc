#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a file is, told by what it holds and never by its name; files that are no files."""
import os
import subprocess
import tempfile

from dumping import CASES, DATA, DUMP, done, dump, dump_file, ok

for name, kind in (('12-formats-a.perf-trace.txt', 'perf trace output'), ('12-formats-a.bpftrace.txt', 'bpftrace output'), ('12-formats-a.gdb.txt', "gdb's info proc mappings"),
                   ('12-formats-a.pmap-x.txt', 'pmap output'), ('12-formats-a.k.strace', 'an strace log'), ('12-formats-a.C.strace', 'an strace log'),
                   ('01-fiber-guard.maps', 'maps text'), ('01-fiber-guard.smaps', 'smaps text'), ('report-2001.txt', 'a text with excerpts'), ('../history/report-2001.ops', 'an operation script'),
                   ('01-fiber-guard.truth', 'of no kind that is known'), ('common.h', 'of no kind that is known')):
    d = dump_file(os.path.join(CASES, name))
    ok(d.kind == kind, f'{name}: {kind}', d.lines[:4])
    if 'output' in kind or 'gdb' in kind:
        ok(kind in d.trouble()[0] and any(kind in line for line in d.of('maps')), f'{kind} is refused by name', d.lines[:4])

KINDS = {
    'pmap output': '00007f8d3c000000    132K rw---   [ anon ]\n00007f8d3c021000  65404K -----   [ anon ]\n',
    'perf trace output': '     0.884 ( 0.034 ms): fmt/26699 mmap(len: 8192, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS) = 0x7f\n',
    'perf script output': 'fmt 26699 [001]  5.123: syscalls:sys_enter_mmap: addr: 0x0, len: 0x2000\n',
    'bpftrace output': 'Attaching 4 probes...\n1 2 3 mmap addr=0x0\n',
    'macOS vmmap output': 'Process:         a [1]\n==== Non-writable regions for process 1\nREGION TYPE                 START - END\n',
    'FreeBSD procstat output': '  PID              START                END PRT  RES PRES REF SHD FLAG  TP PATH\n  123  0x400000  0x401000 r-x    1    2   1   0 CN--  vn /bin/a\n',
    'FreeBSD kdump output': '  1234 a        CALL  mmap(0,0x1000,0x3<PROT_READ|PROT_WRITE>,0x1002,0xffffffff,0)\n  1234 a        RET   mmap 34366644224/0x8006d9000\n',
    'a JVM error log (hs_err)': '#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  There is insufficient memory\n',
    'a core file': b'\177ELF\2\1\1' + b'\0' * 9 + b'\4\0>\0' + b'\0' * 40,
    'a seam.data recording': b'\x89seam\r\n\x1a' + b'\0' * 16,
    'text in UTF-16': '1000-2000 rw-p 00000000 00:00 0\n'.encode('utf-16'),
    'an ELF file, but no core file': b'\177ELF\2\1\1' + b'\0' * 9 + b'\2\0>\0' + b'\0' * 40,
}
for kind, text in KINDS.items():
    d = dump(text)
    ok(d.kind == kind, kind, d.lines[:4])
for what, head in (('gzip', b'\x1f\x8b\x08\0'), ('xz', b'\xfd7zXZ\0'), ('zstd', b'\x28\xb5\x2f\xfd'), ('bzip2', b'BZh91AY&SY'),
                   ('zip', b'PK\3\4'), ('lz4', b'\4"M\x18')):
    d = dump(head + b'\x91\xff' * 40)
    ok(d.kind == 'a compressed file' and 'refused' in d.trouble()[0] and 'a compressed file' in d.of('maps')[0], what, d.lines)
AREA = b'1000-2000 rw-p 00000000 00:00 0\n'
ok(dump(b'\xef\xbb\xbf' + AREA).lines == dump(AREA).lines, 'a byte order mark hides no line')
d = dump('08048000     20K r-x--  cat\n0804d000      4K rw---  cat\n')
ok(d.kind == 'pmap output', 'pmap of a 32-bit process', d.lines)
d = dump('12345:   /bin/cat\n         Address Perm   Offset Device Inode Size Rss Mapping\n    55d000000000 r--p 00000000  08:01  1234   12  12 cat\n')
ok(d.kind == 'pmap output', 'pmap -X', d.lines)
LINE = '1000-2000 rw-p 00000000 00:00 0\n'
for what, text, kind in (('prose, then maps', 'see this\n' + LINE * 3, 'a text with excerpts'), ('maps, then as much prose', LINE + 'see\nthis\n', 'a text with excerpts'),
                         ('maps and a word', LINE * 3 + 'so\n', 'maps text')):
    ok(dump(text).kind == kind, f'{what}: {kind}', dump(text).lines)
d = dump('0000000000400000      4 ????? cat\n0000000000600000      4 ????? cat\n')
ok(d.kind == 'of no kind that is known', 'what only begins as pmap does', d.lines)
d = dump('a line of prose\nanother\n')
ok(d.kind == 'of no kind that is known' and 'line=1' in d.trouble()[0], 'prose is refused with its first line', d.lines)
d = dump('')
ok('empty' in d.trouble()[0], 'empty', d.lines)
d = dump(b'\xff\xfe\xfd\n' * 100)
ok('refused' in d.trouble()[0], 'no text in any encoding', d.lines)
d = dump('x' * 3000000)
ok('refused' in d.trouble()[0], 'one endless line', d.lines[:1])


def run(*words, **options):
    return subprocess.run([DUMP, *words], capture_output=True, timeout=60, **options)


MAPS = os.path.join(CASES, '12-healthy-python.maps')
with open(MAPS, 'rb') as f:
    plain = f.read()
same = run(MAPS).stdout
ok(run('-', input=plain).stdout == same, 'standard input, from a pipe')
with open(MAPS, 'rb') as f:
    ok(run('-', stdin=f).stdout == same, 'standard input, from a file')
with tempfile.TemporaryDirectory() as place:
    fifo = os.path.join(place, 'fifo')
    os.mkfifo(fifo)
    child = subprocess.Popen([DUMP, fifo], stdout=subprocess.PIPE)
    with open(fifo, 'wb') as f:
        f.write(plain)
    ok(child.communicate(timeout=60)[0] == same, 'a FIFO')
    ok(run(place).stdout == b'cannot open -21\n', 'a directory is refused')
    ok(run(os.path.join(place, 'none')).stdout == b'cannot open -2\n', 'a file that is not there')
ok(run('/dev/zero').stdout == b'cannot open -95\n', 'a device without an end is refused')
ok(b'kind of no kind' in run('/dev/null').stdout, '/dev/null is empty')
ok(b'kind maps text' in run('/proc/self/maps').stdout, 'a file of /proc has no size')
done()
