# SPDX-License-Identifier: BSD-2-Clause
"""Core files made to measure: cores.core(areas, bits, big, ...) gives the bytes."""
import struct

PT_LOAD, PT_NOTE, NT_PRPSINFO, NT_FILE, PN_XNUM = 1, 4, 3, 0x46494c45, 0xffff


def note(kind, text, e):
    return struct.pack(e + '3I', 5, len(text), kind) + b'CORE\0\0\0\0' + text + b'\0' * (-len(text) % 4)


def files_note(areas, e, word):
    """Areas: (start, end, perms, offset, name)."""
    named = [a for a in areas if a[4].startswith('/')]
    text = struct.pack(e + 2 * word, len(named), 4096)
    text += b''.join(struct.pack(e + 3 * word, a[0], a[1], a[3] // 4096) for a in named)
    return note(NT_FILE, text + b''.join(a[4].encode() + b'\0' for a in named), e)


def core(areas, bits=64, big=False, comm='cored', files=True, extended=False, dumped=None):
    e, word = '>' if big else '<', 'Q' if bits == 64 else 'I'
    size = 136 if bits == 64 else 124
    info = bytearray(size)
    info[size - 96:size - 96 + len(comm)] = comm.encode()
    notes = note(NT_PRPSINFO, bytes(info), e) + (files_note(areas, e, word) if files else b'')
    loads = areas if dumped is None else dumped
    nr = len(loads) + 1
    head, segment, section = (64, 56, 64) if bits == 64 else (52, 32, 40)
    first = head + (section if extended else 0)
    at = first + nr * segment
    out = b'\177ELF' + bytes([bits // 32, 2 if big else 1, 1]) + b'\0' * 9
    out += struct.pack(e + 'HHI' + 3 * word + 'I6H', 4, 62, 1, 0, first, head if extended else 0, 0, head,
                       segment, PN_XNUM if extended else nr, section if extended else 0,
                       1 if extended else 0, 0)
    if extended:  # section 0: sh_size 1, sh_info the number of segments
        out += struct.pack(e + 'II' + 4 * word + 'II' + 2 * word, 0, 0, 0, 0, 0, 1, 0, nr, 0, 0)

    def entry(kind, flags, offset, vaddr, filesz, memsz):
        if bits == 64:
            return struct.pack(e + 'II6Q', kind, flags, offset, vaddr, 0, filesz, memsz, 4096)
        return struct.pack(e + '8I', kind, offset, vaddr, 0, filesz, memsz, flags, 4096)
    parts = [out, entry(PT_NOTE, 0, at, 0, len(notes), 0)]
    for a in loads:
        flags = 4 * (a[2][0] == 'r') + 2 * (a[2][1] == 'w') + (a[2][2] == 'x')
        parts.append(entry(PT_LOAD, flags, at + len(notes), a[0], 0, a[1] - a[0]))
    return b''.join(parts) + notes
