#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""faults.py SEAM [--few] [--room] [--print] [--OPTION=VALUE...] [CALL...]: which error wins when a call has
several faults at once.

Every call is made with each pair of faults, of the memory that it works on, of what runs out and of its
arguments, on the running kernel and in the model; one script for each state of the memory. --few: what a
build has time for. --room: at the limit of areas alone. --print: the scripts, for another kernel. Other
options go to seam verify: --as=no-rights.
"""
import ctypes
import itertools
import json
import mmap
import os
import platform
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok  # noqa: E402

A = 0x10000000000  # the range is A to A + 4 pages, a page of something else on either side
B = 0x10000040000  # where mremap moves to
NONE = 'ffffffffffffffff'

# The memory: what stands in and around the range when the call is made.
PLAIN = f'mmap {A - 0x1000:x} 6000 3 32 -1 0'
STATES = {
    '': [],
    'untouched-half': [f'touch {A:x} 2000'],
    'hole-first': [f'munmap {A:x} 1000'],
    'hole-last': [f'munmap {A + 0x3000:x} 1000'],
    'hole-middle': [f'munmap {A + 0x1000:x} 1000'],
    'nothing': [f'munmap {A - 0x1000:x} 6000'],
    'sealed-first': [f'mseal {A:x} 1000 0'],
    'sealed-last': [f'mseal {A + 0x3000:x} 1000 0'],
    'sealed-read-only': [f'mprotect {A + 0x2000:x} 1000 1', f'mseal {A + 0x2000:x} 1000 0'],
    'locked': [f'mlock {A + 0x2000:x} 1000'],
    'no-access': [f'mprotect {A + 0x1000:x} 1000 0'],
    'write-only': [f'mprotect {A + 0x1000:x} 1000 2'],
    'advised': [f'madvise {A + 0x2000:x} 1000 a'],
    'watched': [f'uffd_ioctl 1 c020aa00 {A + 0x2000:x} 1000 2'],
    'bound': [f'mbind {A + 0x1000:x} 1000 1 1 40 0'],
    'file': [f'mmap {A + 0x1000:x} 2000 3 12 3 0'],
    'shared-file': [f'mmap {A:x} 4000 3 11 3 0'],
    'read-only-file': [f'mmap {A + 0x2000:x} 1000 1 11 5 0'],
    'shared': [f'mmap {A + 0x1000:x} 3000 3 31 -1 0'],
    'segment': [f'shmat 0 {A + 0x1000:x} 4000 2000'],
    'stack': [f'mmap {A + 0x2000:x} 1000 3 132 -1 0'],
    'droppable': [f'mmap {A + 0x1000:x} 1000 3 38 -1 0'],
    'noreserve': [f'mmap {A:x} 2000 1 4032 -1 0'],
    'huge': [f'munmap {A - 0x1000:x} 6000', f'mmap {A:x} 200000 3 44032 -1 0'],
    'lock-future': ['mlockall 2'],
    'lock-on-fault': ['mlockall 6'],
}
FEW = ('', 'hole-middle', 'sealed-last', 'locked', 'shared-file', 'read-only-file', 'stack')
# What runs out. The limits are lifted again before the memory is made anew.
LIMITS = {
    '': [],
    'no-space': ['rlimit as 0'],
    'no-data': ['rlimit data 1000'],
    'no-stack': ['rlimit stack 1000'],
    'lock-none': ['rlimit memlock 0'],
    'lock-one': ['rlimit memlock 1000'],
}
LIFT = ['munlockall', 'rlimit as ffffffff', 'rlimit data ffffffff', 'rlimit stack 800000', 'rlimit memlock 800000']
MOST = 8000  # operations of a script
ROOM = range(7)  # areas that may still come

ADDRESSES = {'unaligned': f'{A + 1:x}', 'beyond': '800000000000', 'last-page': '7ffffffff000', 'top': 'fffffffffffff000',
             'from-the-hole': f'{A - 0x2000:x}'}
LENGTHS = {'empty': '0', 'one-byte': '1', 'part': '3fff', 'wraps': 'fffffffffffff000', 'rounds-to-0': NONE,
           'longer': '6000', 'to-the-end': 'fffefffff000'}


def faults(position, values):
    return {f'{name}': {position: value} for name, value in values.items()}


# call: (its arguments when all is well, the faults of its arguments)
CALLS = {
    'mmap': ([f'{A:x}', '4000', '3', '32', '-1', '0'], {
        **faults(0, ADDRESSES), **faults(1, {**LENGTHS, 'too-long': '400000000000'}),
        'no-hint': {0: '0', 3: '22'}, 'exec': {2: '7'}, 'odd-prot': {2: '13'},
        'no-type': {3: '30'}, 'two-types': {3: '33'}, 'noreplace': {3: '100022'}, 'locked': {3: '2032'},
        'grows': {3: '132'}, 'shared': {3: '31'}, 'shared-grows': {3: '131'}, 'droppable': {3: '38'},
        'droppable-locked': {3: '2038'}, 'no-file': {3: '12'}, 'file': {3: '12', 4: '3'},
        'file-grows': {3: '112', 4: '3'}, 'read-only': {3: '11', 4: '5'}, 'write-only': {3: '12', 4: '7'},
        'validate': {3: '400013', 4: '3'}, 'file-offset': {3: '12', 4: '3', 5: 'ffffffffffffe'},
        'file-too-far': {3: '12', 4: '3', 5: '7ffffffffffff'}, 'file-huge': {3: '40012', 4: '3'},
        'noreserve': {3: '4032'}, 'populate': {3: '8032'}, 'huge': {3: '44032'}, 'low': {0: '1000'}, 'null': {0: '0'}}),
    'munmap': ([f'{A:x}', '4000'], {**faults(0, ADDRESSES), **faults(1, LENGTHS), 'middle': {0: f'{A + 0x1000:x}', 1: '1000'}}),
    'mprotect': ([f'{A:x}', '4000', '1'], {
        **faults(0, ADDRESSES), **faults(1, LENGTHS), 'unknown': {2: '10'}, 'sem': {2: '9'}, 'rwx': {2: '7'},
        'rx': {2: '5'}, 'rw': {2: '3'}, 'down': {2: '1000001'}, 'up': {2: '2000001'}, 'both': {2: '3000001'},
        'down-unknown': {2: '1000011'}, 'middle': {0: f'{A + 0x1000:x}', 1: '1000'}}),
    'pkey_mprotect': ([f'{A:x}', '4000', '1', NONE], {
        **faults(0, ADDRESSES), **faults(1, LENGTHS), 'unknown': {2: '10'}, 'both': {2: '3000001'}, 'down': {2: '1000001'},
        'no-key': {3: 'f'}, 'no-such-key': {3: '10'}, 'below': {3: 'fffffffffffffffe'}, 'key-0': {3: '0'}}),
    'mremap': ([f'{A:x}', '4000', '4000', '1', f'{B:x}'], {
        **faults(0, ADDRESSES),
        'old-empty': {1: '0'}, 'old-part': {1: '3fff'}, 'old-longer': {1: '6000'}, 'old-wraps': {1: 'fffffffffffff000'},
        'old-rounds-to-0': {1: NONE}, 'new-empty': {2: '0'}, 'new-part': {2: '3001'}, 'grows': {2: '6000'},
        'shrinks': {2: '1000'}, 'new-huge': {2: '800000000000'}, 'new-rounds-to-0': {2: NONE},
        'too-long': {2: '400000000000'},
        'unknown': {3: '9'}, 'in-place': {3: '0'}, 'fixed': {3: '3'}, 'fixed-alone': {3: '2'}, 'keep': {3: '5'},
        'keep-fixed': {3: '7'}, 'keep-alone': {3: '4'},
        'to-unaligned': {3: '3', 4: f'{B + 1:x}'}, 'to-itself': {3: '3', 4: f'{A + 0x1000:x}'},
        'to-beyond': {3: '3', 4: '800000000000'}, 'to-the-last': {3: '3', 4: '7ffffffff000'},
        'keep-to-itself': {3: '7', 4: f'{A + 0x1000:x}'}, 'keep-unaligned': {3: '5', 4: f'{B + 1:x}'},
        'to-low': {3: '3', 4: '1000'}}),
    'madvise': ([f'{A:x}', '4000', '10'], {
        **faults(0, ADDRESSES), **faults(1, LENGTHS),
        **faults(2, {name: f'{advice:x}' for name, advice in
                     (('unknown', 0x63), ('gap', 5), ('normal', 0), ('random', 1), ('dontneed', 4), ('free', 8), ('remove', 9),
                      ('dontfork', 10), ('dofork', 11), ('mergeable', 12), ('hugepage', 14), ('dodump', 17), ('wipe', 18),
                      ('keep', 19), ('cold', 20), ('pageout', 21), ('populate', 22), ('populate-write', 23),
                      ('dontneed-locked', 24), ('guard', 102), ('unguard', 103))})}),
    'mlock': ([f'{A:x}', '4000'], {**faults(0, ADDRESSES), **faults(1, LENGTHS), 'middle': {0: f'{A + 0x1000:x}', 1: '1000'}}),
    'mlock2': ([f'{A:x}', '4000', '1'], {**faults(0, ADDRESSES), **faults(1, LENGTHS), 'unknown': {2: '2'}, 'plain': {2: '0'}}),
    'munlock': ([f'{A:x}', '4000'], {**faults(0, ADDRESSES), **faults(1, LENGTHS)}),
    'mlockall': (['2'], faults(0, {'empty': '0', 'on-fault': '4', 'unknown': '8', 'unknown-too': 'a', 'all': '7', 'current': '5'})),
    'mseal': ([f'{A:x}', '4000', '0'], {**faults(0, ADDRESSES), **faults(1, LENGTHS), 'flags': {2: '1'}}),
    'mbind': ([f'{A:x}', '4000', '1', '1', '40', '0'], {
        **faults(0, ADDRESSES), **faults(1, LENGTHS), 'default': {2: '0', 3: '0', 4: '0'}, 'local': {2: '4', 3: '0', 4: '0'}}),
    'remap_file_pages': ([f'{A:x}', '4000', '0', '1', '0'], {
        **faults(0, ADDRESSES), **faults(1, LENGTHS), 'prot': {2: '1'}, 'offset-wraps': {3: NONE}, 'far': {3: 'ffffffffffffe'},
        'nonblock': {4: '10000'}}),
    'uffd_ioctl': (['1', 'c020aa00', f'{A:x}', '4000', '1'], {
        **faults(2, ADDRESSES), **faults(3, LENGTHS), 'another': {0: '2'}, 'unregister': {1: '8010aa01'},
        'no-mode': {4: '0'}, 'unknown': {4: '8'}, 'write': {4: '2'}, 'both': {4: '3'}}),
    'shmat': (['0', f'{A:x}', '4000', '4000'], {
        **faults(1, {**ADDRESSES, 'anywhere': '0'}), 'not-over': {2: '0'}, 'rounded': {2: '6000'}, 'read-only': {2: '5000'},
        'exec': {2: 'c000'}, 'part': {3: '3fff'}, 'longer': {3: '6000'}}),
    'shmdt': ([f'{A + 0x1000:x}'], faults(0, {**ADDRESSES, 'off': f'{A:x}'})),
    'prctl': (['53564d41', '0', f'{A:x}', '4000', '1'], {
        **faults(2, ADDRESSES), **faults(3, LENGTHS), 'no-name': {4: '0'}, 'other': {1: '1'}}),
    'touch': ([f'{A:x}', '4000'], {'below': {0: f'{A - 0x3000:x}', 1: '1000'}}),
}


def brk_scripts():
    """brk has no errors of its own: it gives the old break."""
    places = {'below': '1000', 'same': '$1', 'page': '$1+1000', 'part': '$1+1001', 'far': '$1+20000', 'beyond': '800000000000',
              'top': 'fffffffffffff000', 'rounds-to-0': NONE, 'huge': '400000000000'}
    ways = {'': [], 'in-the-way': ['mmap $1+3000 1000 3 32 -1 0'], 'a-stack-above': ['mmap $1+180000 1000 3 132 -1 0'],
            'beside': ['mmap $1+2000 1000 3 32 -1 0'], 'sealed': ['brk $1+2000', 'mseal $1+1000 1000 0'],
            'hole': ['brk $1+4000', 'munmap $1+1000 2000'], 'cut': ['brk $1+4000', 'munmap $1+2000 2000']}
    for (way, made), (limit, set_limit), lock in itertools.product(ways.items(), LIMITS.items(), ('', 'lock-future')):
        lines = ['brk 0'] + made + (['mlockall 2'] if lock else []) + set_limit
        for place in places.values():
            lines += [f'brk {place}', *LIFT, 'brk $1', *(['mlockall 2'] if lock else []), *set_limit]
        yield ' '.join(filter(None, ('brk', way, limit, lock))), lines


def with_faults(good, chosen):
    args = list(good)
    for fault in chosen:
        for position, value in fault.items():
            args[position] = value
    return ' '.join(args)


def calls_of(call, few):
    """The call with no fault, each one and each two of its arguments."""
    good, known = CALLS[call]
    made = dict.fromkeys(with_faults(good, chosen) for nr in (0, 1) for chosen in itertools.combinations(known.values(), nr))
    if not few:
        made.update(dict.fromkeys(with_faults(good, chosen) for chosen in itertools.combinations(known.values(), 2)))
    return [f'{call} {args}' for args in made]


def cannot_be_told(one, state):
    """Calls that hang on how many huge pages there are; one userfaultfd that takes back what another has, in which
    kernels differ and of which the model knows nothing. What is sealed cannot be made anew: it stays watched."""
    if one.startswith('uffd_ioctl 2 '):
        return ' 8010aa01 ' in one or 'sealed' in state
    return state == 'huge' and re.match('touch |mlock2? |madvise [^ ]+ [^ ]+ 1[67]$', one)


def anew():
    return [f'munmap {A - 0x4000:x} 204000', PLAIN]


def scripts(few, only):
    for call, (state, made), (limit, set_limit) in itertools.product(CALLS, STATES.items(), LIMITS.items()):
        if only and call not in only or few and (limit or state not in FEW):
            continue
        # two states of the memory, and one fault; one state, and two faults
        lift = LIFT if limit else ['munlockall'] if 'lock' in state or call == 'mlockall' else []
        steps = [[*lift, *anew(), *made, *set_limit, one] for one in calls_of(call, few or bool(state and limit))
                 if not cannot_be_told(one, state)]
        each = MOST // len(steps[0]) if steps else 1
        for part in range(0, len(steps), each):
            yield ' '.join(filter(None, (call, state, limit, str(part // each or '')))), sum(steps[part:part + each], [])
    if not only or 'brk' in only:
        yield from itertools.islice(brk_scripts(), 8 if few else None)


def room_scripts(areas, only):
    """At the limit of areas and just below it. @areas: of a process that has made nothing."""
    for call, room in itertools.product(CALLS, ROOM):
        if only and call not in only:
            continue
        lines = [f'limit {areas + 1 + 12 + room:x}', *anew()]
        # twelve areas that join nothing
        lines += [f'mmap {A + 0x400000 + n * 0x2000:x} 1000 3 32 -1 0' for n in range(12)]
        for one in calls_of(call, True):
            lines += [one, *LIFT, *anew()]
        yield f'{call} room {room}', lines


def has_names():
    """Whether memory can be named here (CONFIG_ANON_VMA_NAME)."""
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    words = (ctypes.c_ulong(word) for word in (0, start, mmap.PAGESIZE, 0))
    return not ctypes.CDLL(None).prctl(0x53564d41, *words)


def own_areas(seam):
    run = subprocess.run([seam, 'verify', '--random', '5', '--limit', '1'], capture_output=True, text=True)
    return int(re.search('has ([0-9]+) of its own', run.stderr).group(1))


def main():
    if platform.system() != 'Linux' or platform.machine() != 'x86_64':
        print('1..0 # SKIP verify knows Linux on x86-64')
        return
    words = sys.argv[2:]
    few, only = '--few' in words, [word for word in words if not word.startswith('--')]
    options = [word for word in words if word.startswith('--') and word not in ('--few', '--print', '--room')]
    if not has_names() and '--print' not in words:
        del CALLS['prctl']
    found = list(scripts(few, only))
    if not found:
        print('1..0 # SKIP memory cannot be named on this kernel')
        return
    if '--room' in words:
        found = []
    if not few:
        found += room_scripts(own_areas(sys.argv[1]), only)
    text = ''.join(f'== {name}\n' + '\n'.join(lines) + '\n' for name, lines in found)
    if '--print' in words:
        print(text, end='')
        return
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, 'faults')
        with open(path, 'w') as f:
            f.write(text)
        run = subprocess.run([sys.argv[1], 'verify', '--json', '-o', path + '.json', *options, path],
                             capture_output=True, text=True)
        with open(path + '.json') as f:
            report = json.load(f)
    wrong = {mismatch['name']: mismatch for mismatch in report['mismatches']}
    for name, _ in found:
        if name in wrong or len(found) < 400:
            ok(name not in wrong, name, wrong.get(name))
    ok(run.returncode == 0, f'{report["checked"]} calls in {len(found)} states', report['failed'], run.stderr)
    done()


main()
