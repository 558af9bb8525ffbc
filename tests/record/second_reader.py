#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""second_reader.py SEAM SUBJECT DUMP PREFIX: a reader of seam.data written from docs/file-format.md alone,
held against the first one, event by event."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, SUBJECT, DUMP, PREFIX = map(os.path.realpath, sys.argv[1:5])
MASK64 = 2**64 - 1
KINDS = {0: 'space', 2: 'truth', 3: 'touch', 4: 'change', 5: 'lost', 6: 'end', 7: 'comm', 8: 'note'}
CRC_TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82f63b78 if number & 1 else 0)
    CRC_TABLE.append(number)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def unpack(frame):
    return subprocess.run(['zstd', '-d', '-c', '-D', PREFIX], input=frame, capture_output=True, check=True).stdout


def as_signed(value):
    return value >> 1 ^ -(value & 1)


def as_span(code):
    return code if code < 32 else (16 + (code & 15)) << ((code >> 4) - 1)


class Bytes:
    """A row of varints and texts."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def __bool__(self):
        return self.at < len(self.data)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value & MASK64

    def signed(self):
        return as_signed(self.varint())

    def part(self):
        size = self.varint()
        self.at += size
        return Bytes(self.data[self.at - size:self.at])

    def text(self):
        return self.part().data.decode()


def blocks(data):
    """The kind and the payload of each block."""
    at, expected = struct.unpack_from('<I', data, 12)[0], 0
    while at < len(data):
        magic, crc, kind, codec, size, stored, raw, number = struct.unpack_from('<4sIBBHIII', data, at)
        end = at + size + stored
        assert magic == b'SBK1' and crc == crc32c(data[at + 8:end]) and number == expected
        payload = data[at + size:end]
        payload = unpack(payload) if codec == 1 else payload
        assert len(payload) == raw and codec < 2
        yield kind, Bytes(payload)
        at, expected = end, expected + 1


class Reader:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = f.read()
        magic, major, _, _, self.tick_ns, self.shift = struct.unpack_from('<8sHHIII', self.data)
        assert magic == b'\x89seam\r\n\x1a' and major == 2
        self.threads, self.shapes, self.files = [(0, 0, 0)], [None], [None]
        self.frames, self.stacks = [None], [None]
        self.description = 0
        self.host, self.finish, self.nr_calls, self.nr_events = {}, None, 0, 0
        self.raw_bytes = self.area_bytes = 0

    def lines(self):
        """Each event as the first reader's dump has it."""
        for kind, payload in blocks(self.data):
            self.raw_bytes += len(payload.data)
            if kind == 1:
                self.names(payload)
            elif kind == 3:
                self.names(payload.part())
            if kind in (2, 3):
                yield from self.events(payload)

    # names

    def names(self, row):
        readers = {1: self.name_host, 2: self.name_file, 3: self.name_thread, 4: self.name_shape, 6: self.name_stacks,
                   7: lambda body: self.frames.append((body.varint(), body.varint())),
                   8: self.name_file_again}
        while row:
            head, body = row.varint(), row.part()
            assert not head & 1
            readers.get(head >> 1, lambda body: None)(body)

    def name_host(self, body):
        while body:
            name = body.text()
            self.host[name] = body.text() if body.varint() else body.varint()

    def next_description(self, body):
        self.description = self.description + body.signed() & MASK64
        return self.description

    def name_file(self, body):
        _, traits, _, _, path = body.varint(), body.varint(), body.varint(), body.varint(), body.text()
        self.files.append((self.next_description(body), traits, path))

    def name_file_again(self, body):
        _, traits, path = self.files[len(self.files) - body.varint()]
        self.files.append((self.next_description(body), traits, path))

    def name_thread(self, body):
        space, pid, _ = self.threads[-1]
        space, pid = space + body.signed(), pid + body.signed()
        self.threads.append((space, pid, pid + body.signed()))

    def name_shape(self, body):
        name, flags, nr = body.text(), body.varint(), body.varint()
        fields = []
        for _ in range(nr):
            code = body.varint()
            fields.append((code, body.signed() if code == 0 else None))
        self.shapes.append((name, flags, fields))

    def name_stacks(self, body):
        outer = len(self.stacks) - body.varint()
        while body:
            self.stacks.append((body.varint(), outer))
            outer = len(self.stacks) - 1

    # events

    def events(self, row):
        self.tick, self.thread, self.file, self.last = row.varint(), 0, 0, {}
        while row:
            head = row.varint()
            if head & 1:
                yield self.call(row, head)
                continue
            body = row.part()
            if head >> 1 == 48:
                self.finish = (body.varint(), body.varint())
            elif head >> 1 > 15 and head >> 1 < 48:
                yield from self.event(KINDS[(head >> 1) - 16], body)

    def times(self, row):
        gap, duration = row.varint(), as_span(row.varint())
        begin = self.tick + (-as_span(gap >> 1) if gap & 1 else as_span(gap >> 1))
        self.tick = begin + duration
        self.nr_events += 1
        return f' time={begin * self.tick_ns}+{duration * self.tick_ns}' if begin or duration else ''

    def begin(self, kind, times, flags, born=None):
        space, pid, tid = self.threads[self.thread]
        return (f'{kind} space={space} pid={pid} tid={tid}{times}' + (f' flags={flags:x}' if flags else '') +
                (f' born={born}' if born else ''))

    def call(self, row, head):
        if head & 2:
            self.thread = row.varint()
        name, flags, fields = self.shapes[head >> 2]
        begin = self.begin('touch' if name == '(touch)' else 'call', self.times(row), flags)
        values = []
        for code, constant in fields:
            values.append(self.field(row, code, constant, values))
        *args, result, file, stack = values
        if name == '(touch)':
            return f'{begin} {args[0]:x} {args[1]:x}'
        self.nr_calls += 1
        shown = ', '.join(f'{arg & MASK64:x}' for arg in args)
        signed = result - 2**64 if result >= 2**63 else result
        text = f'{begin} {name}({shown}) = ' + (f'{signed}' if -4096 < signed < 0 else f'{result & MASK64:x}')
        if file:
            description, traits, path = self.files[file]
            text += f' file={file}:{description}:{traits:x}:{path}'
        return text + (f' stack={stack}' if stack else '')

    def field(self, row, code, constant, before):
        last = self.last.setdefault(self.thread, {'addr': 0, 'break': 0})
        if code in (0, 6):
            return before[0] if code else constant
        value = row.varint()
        if code in (1, 5):
            return value << self.shift if code == 5 else value
        value = as_signed(value)
        if code == 3:
            value = last['addr'] = ((last['addr'] >> self.shift) + value << self.shift) & MASK64
        elif code == 4:
            value = last['addr'] = last['addr'] + value & MASK64
        elif code == 7:
            value = last['break'] = last['break'] + value & MASK64
        elif code == 8:
            value = self.file = self.file + value
        return value

    def event(self, kind, row):
        mask, times, self.thread_before = row.varint(), self.times(row), self.thread
        self.thread = row.varint()
        flags = row.varint() if mask & 1 else 0
        born = row.varint() if mask & 4 else 0
        args = [row.varint() for _ in range(row.varint())] if mask & 8 else []
        args += [0] * (6 - len(args))
        begin = self.begin(kind, times, flags, ('unknown', 'exec', 'fork')[born] if kind == 'space' else None)
        self.thread = self.thread_before
        for bit in (0x10, 0x20, 0x40):
            if mask & bit:
                row.varint()
        before = row.at
        areas = list(self.areas(row)) if mask & 0x80 else []
        self.area_bytes += row.at - before
        yield f'{begin} {args[0]:x} {args[1]:x}' + (f" '{row.text()}'" if mask & 0x100 else '')
        yield from areas

    def areas(self, row):
        _, nr = row.varint(), row.varint()
        start = end = flags = file = pgoff = last_file = 0
        for _ in range(nr):
            mask, pages = row.varint(), row.varint()
            before = (end - start >> self.shift, file, pgoff)
            start = end + (row.signed() << self.shift if mask & 1 else 0)
            end = start + (pages << self.shift)
            flags = row.varint() if mask & 2 else flags
            if mask & 4:
                code = row.varint()
                file = last_file + as_signed(code - 1) if code else 0
            last_file = file or last_file
            pgoff = before[2] + before[0] if file and file == before[1] else 0
            pgoff += row.signed() if mask & 8 else 0
            _ = [row.varint() for _ in range(2)] if mask & 0x10 else 0
            ids = [row.varint() for _ in range(4)] if mask & 0x20 else [0] * 4
            _ = row.varint() if mask & 0x40 else 0
            yield (f'holds {start:x}-{end:x} flags={flags:x} pgoff={pgoff & MASK64:x} file={file} name={ids[2]}')


def first_reader(path):
    for line in subprocess.run([DUMP, path], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith(('kind ', 'facts ', 'maps ')):
            continue
        yield re.sub(r' (line=\d+)|(?<= stack=)(\d+):.*', lambda m: '' if m[1] else m[2], line)


if not shutil.which('zstd'):
    skip('a second reader', 'no zstd command')
    done()
with tempfile.TemporaryDirectory() as scratch:
    path = os.path.join(scratch, 'seam.data')
    for role, options in (('spawns 3', []), ('threads 300', []), ('stacks 20', ['--stacks']), ('maps', []), ('flock 3', []),
                          ('status 3', [])):
        run = subprocess.run([SEAM, 'record', '-o', path, *options, '--', SUBJECT, *role.split()],
                             capture_output=True, text=True)
        if not os.path.exists(path):
            skip(role, run.stderr.strip())  # no call stacks here
            continue
        reader = Reader(path)
        mine, theirs = list(reader.lines()), list(first_reader(path))
        ok(mine == theirs, f'{role}: both readers read {len(theirs)} lines',
           *[pair for pair in zip(mine, theirs) if pair[0] != pair[1]][:3], len(mine))
        ok(reader.finish == (reader.nr_calls, reader.nr_events) and reader.nr_calls > 10,
           f'{role}: the closing record counts them', reader.finish, reader.nr_calls, reader.nr_events)
        ok(reader.host['release'] == os.uname().release, f'{role}: the host', reader.host)
        os.unlink(path)

    # Short runs: what start areas and checkpoints take is not counted as bytes of calls
    for words in (['sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do ls / | cat; done'], [SUBJECT, 'spawns', '2']):
        subprocess.run([SEAM, 'record', '-o', path, '--', *words], capture_output=True)
        reader = Reader(path)
        nr_lines = sum(1 for _ in reader.lines())
        size = len(reader.data) * (1 - reader.area_bytes / reader.raw_bytes) / reader.nr_calls
        ok(nr_lines and size <= 10, f'{os.path.basename(words[0])}: {size:.1f} bytes a call of {reader.nr_calls}, '
           f'{len(reader.data) / reader.nr_calls:.1f} with all maps')
done()
