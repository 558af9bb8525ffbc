#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
rules.py SEAM RULES_ON: each rule of the kernels up to 2.6.24 by a script of its own, and each rule of their
vectors switched off: something must then come out otherwise.

A case: name, script, {releases: results, and behind a colon the areas at the end}. Releases are one,
or a range FIRST-LAST, or * for all others. Addresses and results are those of the scripts; areas are
START-END/FLAGS in pages, all hexadecimal, and behind a # the anon_vma where a case is about it.
"""
import functools
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok  # noqa: E402
from releases import RELEASES, plain_form, policy  # noqa: E402

SEAM, RULES_ON = map(os.path.realpath, sys.argv[1:3])
HISTORY = os.path.join(os.environ['SEAM_TEST_DATA'], 'history')

# two equal areas that touch and are two: growth in place never joins
TOUCHING = ('mmap 50000000 1000 3 32 -1 0', 'mmap 50002000 2000 3 32 -1 0', 'mremap 50000000 1000 2000 0')
TWO_AREAS = ('mmap 50000000 3000 3 32 -1 0', 'mmap 50003000 1000 1 32 -1 0')

CASES = [
    # mmap
    ('mmap: nothing to map', ['mmap 50000000 0 3 32 -1 0'],
     {'2.2.13-2.6.12-rc1': '50000000', '2.6.24': '-EINVAL'}),
    ('mmap: a length that wraps', ['mmap 50000000 fffff001 3 22 -1 0'],
     {'2.2.13-2.4.10': '50000000', '2.6.0-2.6.12-rc1': '-EINVAL', '2.6.24': '-ENOMEM'}),
    ('mmap: longer than user space', ['mmap 0 c0001000 0 22 -1 0'],
     {'2.2.13-2.6.12-rc1': '-EINVAL', '2.6.24': '-ENOMEM'}),
    ('mmap: an offset that wraps', ['mmap 50000000 2000 1 12 3 ffffffff'],
     {'2.2.13-2.6.12-rc1': '-EINVAL', '2.6.24': '-EOVERFLOW'}),
    ('mmap: an offset that wraps as bytes', ['mmap 50000000 2000 1 12 3 fffff'],
     {'2.2.13': '-EINVAL', '*': '50000000'}),
    ('mmap: fixed beyond user space', ['mmap bffff000 2000 3 32 -1 0'],
     {'2.2.13-2.4.10': '-EINVAL', '2.6.0-2.6.24': '-ENOMEM'}),
    ('mmap: fixed and not aligned', ['mmap 50000800 1000 3 32 -1 0'], {'*': '-EINVAL'}),
    ('mmap: anonymous of type 0', ['mmap 50000000 1000 3 30 -1 0'],
     {'2.4.2': '50000000: 50000-50001/73', '*': '-EINVAL'}),
    ('mmap: anonymous of type 3', ['mmap 50000000 1000 3 33 -1 0'],
     {'2.4.2': '50000000: 50000-50001/fb', '*': '-EINVAL'}),
    ('mmap: shared anonymous', ['mmap 50000000 1000 3 31 -1 0'],
     {'2.2.13': '-EINVAL', '*': '50000000: 50000-50001/fb'}),
    ('mmap: files as they are opened',
     ['mmap 50000000 1000 3 10 3 0', 'mmap 50000000 1000 3 11 5 0', 'mmap 50000000 1000 1 12 7 0',
      'mmap 50000000 1000 1 12 -1 0', 'mmap 50000000 1000 1 11 5 0'],
     {'2.2.13-2.6.12-rc1': '-EINVAL -EACCES -EACCES -EBADF 50000000: 50000-50001/d1',
      '2.6.24': '-EINVAL -EACCES -EACCES -EBADF 50000000: 50000-50001/80000d1'}),
    ('mmap: a growing file area, refused after its range is cleared',
     ['mmap 50000000 1000 3 32 -1 0', 'mmap 50000000 1000 3 112 3 0'],
     {'2.2.13-2.4.3': '50000000 50000000: 50000-50001/173', '*': '50000000 -EINVAL:'}),
    ('mmap: shared anonymous memory may grow', ['mmap 50000000 1000 3 131 -1 0'],
     {'2.2.13': '-EINVAL', '*': '50000000: 50000-50001/1fb'}),
    ('mmap: MAP_LOCKED', ['mmap 50000000 1000 3 2032 -1 0'],
     {'2.2.13-2.4.10': '50000000: 50000-50001/73', '*': '50000000: 50000-50001/102073'}),
    ('mmap: areas with a close operation',
     ['mmap 50000000 1000 3 12 6 0', 'mmap 50001000 1000 3 12 6 1'],
     {'2.2.13': '50000000 50001000: 50000-50002/73',
      '2.4.2-2.4.10': '50000000 50001000: 50000-50001/73 50001-50002/73',
      '2.6.0-2.6.24': '50000000 50001000: 50000-50001/100073 50001-50002/100073'}),
    # placement
    ('placement: a hole behind the last place, upward',
     ['mmap 0 2000 3 22 -1 0', 'mmap 0 1000 1 22 -1 0', 'munmap 40000000 1000', 'mmap 0 2000 0 22 -1 0',
      'mmap 0 1000 0 22 -1 0'],
     {'2.2.13-2.4.10': '40000000 40002000 0 40003000 40000000',
      '2.6.0-2.6.7': '40000000 40002000 0 40003000 40005000'}),
    ('placement: a hole behind the last place, downward',
     ['mmap 0 2000 3 22 -1 0', 'mmap 0 1000 1 22 -1 0', 'munmap b7fff000 1000', 'mmap 0 2000 0 22 -1 0',
      'mmap 0 1000 0 22 -1 0'],
     {'2.6.12-rc1': 'b7ffe000 b7ffd000 0 b7ffb000 b7ffa000',
      '2.6.24': 'b7ffe000 b7ffd000 0 b7ffb000 b7fff000'}),
    # brk
    ('brk: rw memory beside the heap', ['exec 8050000 8050000 8060000', 'brk 8062000',
                                        'mmap 8062000 1000 3 32 -1 0'],
     {'2.2.13-2.4.10': '0 8062000 8062000: 8060-8062/77 8062-8063/73',
      '2.6.0-2.6.7': '0 8062000 8062000: 8060-8062/100077 8062-8063/100073',
      '2.6.12-rc1-2.6.24': '0 8062000 8062000: 8060-8063/100073'}),
    ('brk: rwx memory closes the gap that brk leaves',
     ['exec 8050000 8050000 8060000', 'brk 8062000', 'mmap 8063000 1000 7 32 -1 0', 'brk 8063000',
      'mmap 8062000 1000 7 32 -1 0'],
     {'2.2.13': '0 8062000 8063000 8062000 8062000: 8060-8064/77',
      '2.4.2': '0 8062000 8063000 8062000 8062000: 8060-8062/77 8062-8063/77 8063-8064/77',
      '2.4.3': '0 8062000 8063000 8062000 8062000: 8060-8063/77 8063-8064/77',
      '2.4.10': '0 8062000 8063000 8062000 8062000: 8060-8064/77',
      '2.6.0-2.6.7': '0 8062000 8063000 8062000 8062000: 8060-8064/100077',
      '2.6.12-rc1-2.6.24': '0 8062000 8063000 8062000 8062000: 8060-8062/100073 8062-8064/100077'}),
    ('brk: at the area limit',
     ['exec 8050000 8050000 8060000', 'brk 8061000', 'mmap 50000000 1000 3 32 -1 0', 'limit 1',
      'brk 8062000', 'brk 8060000'],
     {'*': '0 8061000 50000000 0 8061000 8060000'}),
    ('brk: beyond user space', ['exec 8050000 8050000 8060000', 'brk c0001000'],
     {'2.4.10': '0 c0001000: 8060-c0001/77', '*': '0 8060000'}),
    ('brk: the data limit counts from the code in 2.2',
     ['exec 8040000 8050000 8060000', 'rlimit data 20000', 'brk 8062000', 'brk 8071000'],
     {'2.2.13': '0 0 8060000 8060000', '*': '0 0 8062000 8062000'}),
    # healing
    ('mprotect that changes nothing, to an area\'s end', [*TOUCHING, 'mprotect 50001000 1000 3'],
     {'2.2.13': '50000000 50002000 50000000 0: 50000-50004/73',
      '2.4.2-2.4.3': '50000000 50002000 50000000 0: 50000-50002/73 50002-50004/73',
      '2.4.10': '50000000 50002000 50000000 0: 50000-50004/73',
      '2.6.0-2.6.6': '50000000 50002000 50000000 0: 50000-50004/100073',
      '2.6.7-2.6.24': '50000000 50002000 50000000 0: 50000-50002/100073 50002-50004/100073'}),
    ('mprotect that changes nothing, not to an area\'s end', [*TOUCHING, 'mprotect 50000000 1000 3'],
     {'2.2.13': '50000000 50002000 50000000 0: 50000-50004/73',
      '2.4.2-2.4.10': '50000000 50002000 50000000 0: 50000-50002/73 50002-50004/73',
      '*': '50000000 50002000 50000000 0: 50000-50002/100073 50002-50004/100073'}),
    ('munlock that changes nothing', [*TOUCHING, 'munlock 50001000 1000'],
     {'2.2.13': '50000000 50002000 50000000 0: 50000-50004/73',
      '2.4.2-2.4.10': '50000000 50002000 50000000 0: 50000-50002/73 50002-50004/73',
      '*': '50000000 50002000 50000000 0: 50000-50002/100073 50002-50004/100073'}),
    # limits
    ('limit: munmap of the middle', [*TWO_AREAS, 'limit 3', 'munmap 50001000 1000'],
     {'2.2.13-2.4.10': '50000000 50003000 0 0: 50000-50001/73 50002-50003/73 50003-50004/71',
      '*': '50000000 50003000 0 -ENOMEM: 50000-50001/100073 50001-50003/100073 50003-50004/71'}),
    ('limit: munmap of an end', [*TWO_AREAS, 'limit 2', 'munmap 50000000 1000'],
     {'2.2.13-2.4.10': '50000000 50003000 0 0', '*': '50000000 50003000 0 -ENOMEM'}),
    ('limit: mlock of the middle', [*TWO_AREAS, 'limit 3', 'mlock 50001000 1000'],
     {'2.2.13-2.4.10': '50000000 50003000 0 0: 50000-50001/73 50001-50002/2073 50002-50003/73 50003-50004/71',
      '*': '50000000 50003000 0 -EAGAIN: 50000-50001/100073 50001-50003/100073 50003-50004/71'}),
    ('limit: mprotect', [*TWO_AREAS, 'limit 2', 'mprotect 50001000 2000 1'],
     {'2.2.13': '50000000 50003000 0 0: 50000-50001/73 50001-50004/71',
      '2.4.2-2.4.3': '50000000 50003000 0 0: 50000-50001/73 50001-50003/71 50003-50004/71',
      '2.4.10': '50000000 50003000 0 0: 50000-50001/73 50001-50004/71',
      '*': '50000000 50003000 0 -ENOMEM: 50000-50003/100073 50003-50004/71'}),
    ('limit: advice', [*TWO_AREAS, 'limit 1', 'madvise 50000000 1000 1'],
     {'2.2.13': '50000000 50003000 0 -ENOSYS', '2.4.2-2.4.10': '50000000 50003000 0 -ENOMEM',
      '*': '50000000 50003000 0 -EAGAIN'}),
    ('limit: a move whose old place cannot be cut out',
     [*TWO_AREAS, 'limit 3', 'mremap 50001000 1000 1000 3 60000000'],
     {'2.2.13': '50000000 50003000 0 50001000',
      '2.4.2-2.4.10': '50000000 50003000 0 60000000: 50000-50003/73 50003-50004/71 60000-60001/73',
      '2.6.0': '50000000 50003000 0 60000000: 50000-50003/100073 50003-50004/100071 60000-60001/100073',
      '*': '50000000 50003000 0 -ENOMEM'}),
    # mremap
    ('mremap: flags and addresses',
     ['mmap 50000000 2000 3 32 -1 0', 'mremap 50000800 1000 2000 1', 'mremap 50000000 2000 2000 8',
      'mremap 50000000 2000 2000 2 60000000', 'mremap 50000000 2000 2000 3 50001000',
      'mremap 50000000 2000 2000 3 60000800', 'mremap 50000000 2000 2000 3 bffff000',
      'mremap 50000000 3000 4000 1', 'mremap 51000000 1000 2000 1', 'mremap 51000000 1000 1000 0'],
     {'2.2.13': '50000000 -EINVAL 50000000 50000000 50000000 50000000 50000000 -EFAULT -EFAULT 51000000',
      '*': '50000000 -EINVAL -EINVAL -EINVAL -EINVAL -EINVAL -EINVAL -EFAULT -EFAULT 51000000'}),
    ('mremap: to no length', ['mmap 50000000 2000 3 32 -1 0', 'mremap 50000000 2000 0 0'],
     {'2.2.13-2.6.0': '50000000 50000000:', '*': '50000000 -EINVAL'}),
    ('mremap: to a place while shrinking',
     ['mmap 50000000 2000 3 32 -1 0', 'mremap 50000000 2000 1000 3 60000000'],
     {'2.2.13': '50000000 50000000: 50000-50001/73', '2.4.2-2.4.10': '50000000 -EFAULT: 50000-50001/73',
      '*': '50000000 60000000: 60000-60001/100073'}),
    ('mremap: the target is cleared before the source is looked at',
     ['mmap 60000000 2000 3 32 -1 0', 'mremap 50000000 1000 1000 3 60000000'],
     {'2.2.13': '60000000 50000000: 60000-60002/73', '2.4.2-2.4.10': '60000000 -EFAULT: 60001-60002/73',
      '*': '60000000 -EFAULT: 60001-60002/100073'}),
    ('mremap: a move goes up from the old place in 2.2, from the base later',
     ['mmap 50000000 1000 3 32 -1 0', 'mmap 50001000 1000 1 32 -1 0', 'mremap 50000000 1000 2000 1'],
     {'2.2.13': '50000000 50001000 50002000', '2.4.2-2.6.7': '50000000 50001000 40000000',
      '*': '50000000 50001000 b7ffe000'}),
    ('mremap: of no length loses the account of its source, or gives it to the next (2.6.0)',
     ['mmap 50000000 3000 3 32 -1 0', 'mmap 50004000 1000 1 32 -1 0',
      'mremap 50001000 0 1000 3 60000000'],
     {'2.4.2-2.4.10': '50000000 50004000 60000000: 50000-50003/73 50004-50005/71 60000-60001/73',
      '2.6.0': '50000000 50004000 60000000: 50000-50003/100073 50004-50005/100071 60000-60001/100073',
      '2.6.6-2.6.24': '50000000 50004000 60000000: 50000-50003/73 50004-50005/71 60000-60001/100073'}),
    # mprotect
    ('mprotect: holes and bad arguments',
     ['mmap 50000000 1000 3 32 -1 0', 'mprotect 50001000 1000 1', 'mprotect 50000000 2000 1',
      'mprotect 50000800 1000 1', 'mprotect 50000000 1000 10'],
     {'2.2.13-2.4.10': '50000000 -EFAULT -EFAULT -EINVAL -EINVAL: 50000-50001/71',
      '*': '50000000 -ENOMEM -ENOMEM -EINVAL -EINVAL: 50000-50001/100071'}),
    ('mprotect: a range that wraps', ['mmap 50000000 1000 3 32 -1 0', 'mprotect 50000000 c0000000 1'],
     {'2.2.13-2.6.0': '50000000 -EINVAL', '*': '50000000 -ENOMEM'}),
    ('mprotect: a length that wraps', ['mmap 50000000 1000 3 32 -1 0', 'mprotect 50000000 fffff001 1'],
     {'2.6.24': '50000000 -ENOMEM', '*': '50000000 0'}),
    ('mprotect: no length and a bad protection', ['mprotect 50000000 0 10'], {'2.6.24': '0', '*': '-EINVAL'}),
    ('mprotect: bit 8', ['mmap 50000000 1000 3 32 -1 0', 'mprotect 50000000 1000 9'],
     {'2.2.13-2.4.10': '50000000 -EINVAL', '*': '50000000 0: 50000-50001/100071'}),
    ('mprotect: from the start of a growing area',
     ['mmap 50000000 3000 3 132 -1 0', 'mprotect 50002000 1000 1000001', 'mprotect 50000000 1000 2000001',
      'mprotect 50000000 1000 3000001'],
     {'2.2.13-2.4.10': '50000000 -EINVAL -EINVAL -EINVAL: 50000-50003/173',
      '*': '50000000 0 -EINVAL -EINVAL: 50000-50003/100171'}),
    ('mprotect: pieces of a private file area come together again from 2.6.7',
     ['mmap 50000000 3000 1 12 3 0', 'mprotect 50001000 1000 5', 'mprotect 50001000 1000 1'],
     {'2.2.13': '50000000 0 0: 50000-50003/71',
      '2.4.2-2.6.6': '50000000 0 0: 50000-50001/71 50001-50002/71 50002-50003/71',
      '2.6.7-2.6.12-rc1': '50000000 0 0: 50000-50003/71', '2.6.24': '50000000 0 0: 50000-50003/8000071'}),
    ('mprotect: the account sticks to what was writable once',
     ['mmap 50000000 2000 1 32 -1 0', 'mprotect 50000000 1000 3', 'mprotect 50000000 1000 1'],
     {'2.2.13': '50000000 0 0: 50000-50002/71', '2.4.2-2.4.3': '50000000 0 0: 50000-50001/71 50001-50002/71',
      '2.4.10': '50000000 0 0: 50000-50002/71',
      '*': '50000000 0 0: 50000-50001/100071 50001-50002/71'}),
    # locking
    ('mlock: memory that cannot be read', ['mmap 50000000 1000 0 32 -1 0', 'mlock 50000000 1000'],
     {'2.2.13-2.4.10': '50000000 0: 50000-50001/2070', '*': '50000000 -EFAULT: 50000-50001/2070'}),
    ('mlock: the limit binds the superuser up to 2.6.7',
     ['mmap 50000000 2000 3 32 -1 0', 'rlimit memlock 1000', 'mlock 50000000 2000'],
     {'2.2.13-2.6.7': '50000000 0 -ENOMEM', '*': '50000000 0 0'}),
    ('mlockall: of what is to come alone', ['mmap 50000000 1000 3 32 -1 0', 'mlock 50000000 1000', 'mlockall 2'],
     {'2.2.13-2.4.10': '50000000 0 0: 50000-50001/73', '2.6.0-2.6.7': '50000000 0 0: 50000-50001/100073',
      '*': '50000000 0 0: 50000-50001/102073'}),
    # advice
    ('madvise: memory without a file, and what is locked',
     ['mmap 50000000 1000 3 32 -1 0', 'madvise 50000000 1000 3', 'mlock 50000000 1000',
      'madvise 50000000 1000 4', 'madvise 50000000 1000 63', 'madvise 60000000 1000 0',
      'madvise 50000800 1000 0'],
     {'2.2.13': '50000000 -ENOSYS 0 -ENOSYS -ENOSYS -ENOSYS -ENOSYS',
      '*': '50000000 -EBADF 0 -EINVAL -EINVAL -ENOMEM -EINVAL'}),
    ('madvise: not for children, and for them again',
     ['mmap 50000000 3000 3 32 -1 0', 'madvise 50001000 1000 a', 'madvise 50000000 1000 a',
      'madvise 50000000 3000 b'],
     {'2.2.13': '50000000 -ENOSYS -ENOSYS -ENOSYS', '2.4.2-2.6.12-rc1': '50000000 -EINVAL -EINVAL -EINVAL',
      '2.6.24': '50000000 0 0 0: 50000-50003/100073'}),
    ('madvise: pages of files that are taken away',
     ['mmap 50000000 3000 3 11 3 0', 'madvise 50001000 1000 9', 'mprotect 50000000 1000 1',
      'madvise 50000000 1000 9', 'mlock 50001000 1000', 'madvise 50001000 1000 9',
      'mmap 50010000 1000 3 31 -1 0', 'madvise 50010000 1000 9', 'mmap 50020000 1000 3 32 -1 0',
      'madvise 50020000 1000 9'],
     {'2.2.13': '50000000 -ENOSYS 0 -ENOSYS 0 -ENOSYS -EINVAL -ENOSYS 50020000 -ENOSYS',
      '2.4.2-2.6.12-rc1': '50000000 -EINVAL 0 -EINVAL 0 -EINVAL 50010000 -EINVAL 50020000 -EINVAL',
      '2.6.24': '50000000 -ENOSYS 0 -EACCES 0 -EINVAL 50010000 0 50020000 -EINVAL'}),
    ('madvise: a length that rounds up to 0',
     ['mmap 50000000 1000 3 32 -1 0', 'madvise 50000000 fffffff0 0'],
     {'2.2.13': '50000000 -ENOSYS', '2.4.2-2.6.7': '50000000 0', '2.6.12-rc1-2.6.24': '50000000 -EINVAL'}),
    ('mremap: locked memory grows within the limit',
     ['mmap 50000000 3000 3 32 -1 0', 'mlock 50000000 3000', 'rlimit memlock 4000',
      'mremap 50000000 3000 4000 0', 'mremap 50000000 4000 5000 0'],
     {'2.2.13-2.6.7': '50000000 0 0 50000000 -EAGAIN', '*': '50000000 0 0 50000000 50000000'}),
    ('brk: a heap that is to be locked grows within the limit',
     ['exec 8050000 8050000 8060000', 'rlimit memlock 3000', 'mlockall 2', 'brk 8062000', 'brk 8064000'],
     {'2.2.13-2.6.7': '0 0 0 8062000 8062000', '*': '0 0 0 8062000 8064000'}),
    ('placement: downward finds nothing, and upward is tried',
     ['mmap 8000000 b0000000 0 4032 -1 0', 'mmap 0 8000000 0 4022 -1 0', 'mmap 0 1000 0 4022 -1 0',
      'mmap 0 8001000 0 4022 -1 0', 'munmap b8000000 8000000', 'mmap 0 7fff000 0 4022 -1 0',
      'mmap 0 1000 0 4022 -1 0'],
     {'2.2.13-2.6.7': '8000000 b8000000 -ENOMEM -ENOMEM 0 b8000000 bffff000',
      '2.6.12-rc1': '8000000 0 b8000000 -ENOMEM 0 b8000000 bffff000',
      '2.6.24': '8000000 b8000000 7fff000 -ENOMEM 0 b8000000 7ffe000'}),
    ('mprotect: down to where nothing grows',
     ['mmap 50002000 1000 3 132 -1 0', 'mprotect 50000000 1000 1000001', 'mprotect 50002000 1000 1000001'],
     {'2.2.13-2.4.10': '50002000 -EINVAL -EINVAL', '*': '50002000 -ENOMEM 0'}),
    ('madvise: a hint that is there already cuts up to 2.6.12',
     ['mmap 50000000 2000 3 32 -1 0', 'madvise 50000000 1000 0'],
     {'2.2.13': '50000000 -ENOSYS', '2.4.2-2.4.10': '50000000 0: 50000-50001/73 50001-50002/73',
      '2.6.0-2.6.12-rc1': '50000000 0: 50000-50001/100073 50001-50002/100073',
      '2.6.24': '50000000 0: 50000-50002/100073'}),
    # munmap
    ('munmap: nothing', ['munmap 50000000 0', 'munmap 50000800 1000', 'munmap 50000000 1000'],
     {'2.2.13': '0 -EINVAL 0', '*': '-EINVAL -EINVAL 0'}),
    # anon_vma
    ('anon_vma: a border that moves takes it along from 2.6.8',
     ['mmap 50002000 2000 3 32 -1 0', 'mprotect 50002000 2000 1', 'mmap 50000000 2000 3 32 -1 0',
      'touch 50000000 2000', 'mprotect 50001000 1000 1'],
     {'2.6.7': '50002000 0 50000000 0 0: 50000-50001/100073#1 50001-50004/100071',
      '2.6.12-rc1-2.6.24': '50002000 0 50000000 0 0: 50000-50001/100073#1 50001-50004/100071#1'}),
    ('anon_vma: what is only read has none up to 2.6.12',
     ['mmap 50000000 1000 3 32 -1 0', 'rtouch 50000000 1000'],
     {'2.6.7-2.6.12-rc1': '50000000 0: 50000-50001/100073#0', '2.6.24': '50000000 0: 50000-50001/100073#1'}),
    ('anon_vma: memory touched apart stays apart, and the gap goes to the area below',
     ['mmap 50000000 1000 3 32 -1 0', 'mmap 50002000 1000 3 32 -1 0', 'touch 50000000 1000',
      'touch 50002000 1000', 'mmap 50001000 1000 3 32 -1 0'],
     {'2.2.13': '50000000 50002000 0 0 50001000: 50000-50003/73',
      '2.6.0-2.6.6': '50000000 50002000 0 0 50001000: 50000-50003/100073',
      '2.6.7-2.6.24': '50000000 50002000 0 0 50001000: 50000-50002/100073#1 50002-50003/100073#2'}),
    ('anon_vma: a neighbour\'s is taken over, whatever its protection',
     ['mmap 50000000 1000 3 32 -1 0', 'touch 50000000 1000', 'mmap 50001000 1000 7 32 -1 0',
      'touch 50001000 1000'],
     {'2.6.7-2.6.24': '50000000 0 50001000 0: 50000-50001/100073#1 50001-50002/100077#1'}),
]

# more scripts, for rules that no case is about
EXTRA = [
    ('file-below-heap', ['exec 8050000 8050000 8060000', 'mmap 805f000 1000 7 12 3 0', 'brk 8061000']),
]

# area_tree: of steps alone. numa and special: no operation of scripts makes such areas.
NOT_SHOWN = ('area_tree', 'numa', 'special')
FILES_NEVER_JOIN = ('2.4.2', '2.4.3', '2.4.10')


def releases_of(key, named):
    if key == '*':
        return [r for r in RELEASES if r not in named]
    if key in RELEASES:
        return [key]
    for first in RELEASES:
        if key.startswith(first + '-') and key[len(first) + 1:] in RELEASES:
            return RELEASES[RELEASES.index(first):RELEASES.index(key[len(first) + 1:]) + 1]
    raise ValueError(key)


def run(spec, path):
    return subprocess.run([SEAM, 'replay', '--format', 'ops', '--kernel', spec, path],
                          capture_output=True, text=True, timeout=60).stdout


def short_form(answer):
    """(results, areas) as the cases write them."""
    lines = answer.splitlines()
    results = [line.split(' = ')[1].split()[0].lstrip('0') or '0' for line in lines if line.startswith('@')]
    areas = []
    for line in reversed(lines):
        if line.startswith('@'):
            break
        if line.startswith(' '):
            (start, end), flags = line.split()[0].split('-'), line.split()[1]
            anon = '#' + line.split()[4] if len(line.split()) > 4 else ''
            areas.insert(0, f'{int(start, 16) >> 12:x}-{int(end, 16) >> 12:x}/{flags}{anon}')
    return ' '.join(results), ' '.join(areas)


def same_areas(found, expected):
    if '#' not in expected:
        found = re.sub('#[0-9]+', '', found)
    return found.replace('#0', '') == expected.replace('#0', '')


def write_script(path, lines):
    with open(path, 'w') as f:
        f.write('#map-every 0\n' + '\n'.join(lines) + '\n')


def check_cases(scratch):
    for number, (name, script, expected) in enumerate(CASES):
        path = os.path.join(scratch, f'{number}.ops')
        write_script(path, script)
        named, wrong = set(), []
        for key in sorted(expected, key=lambda k: k == '*'):
            results, colon, areas = expected[key].partition(':')
            for release in releases_of(key, named):
                named.add(release)
                found = short_form(run(policy(release), path))
                if found[0] != results or (colon and not same_areas(found[1], areas.strip())):
                    wrong.append((release, 'found', *found, 'expected', expected[key]))
        ok(not wrong, name, *wrong)


def shows(spec, release, scripts):
    """A script that comes out otherwise under the changed vector, or None."""
    for path in scripts:
        if plain_form(run(spec, path), release) != unchanged(release, path):
            return path
    return None


@functools.lru_cache(maxsize=None)
def unchanged(release, path):
    return plain_form(run(policy(release), path), release)


def switch_off(scratch):
    scripts = [os.path.join(scratch, f'{number}.ops') for number in range(len(CASES))]
    for name, lines in EXTRA:
        scripts.append(os.path.join(scratch, name + '.ops'))
        write_script(scripts[-1], lines)
    histories = sorted(n for n in os.listdir(HISTORY) if n.endswith('.ops') and 'report' not in n)
    scripts += [os.path.join(HISTORY, n) for n in histories]
    for release in RELEASES:
        on = subprocess.run([RULES_ON, policy(release)], capture_output=True, text=True, check=True)
        for rule in on.stdout.split():
            if rule in NOT_SHOWN or (rule == 'offset' and release in FILES_NEVER_JOIN):
                continue
            ok(shows(f'{policy(release)},-{rule}', release, scripts), f'{release} without {rule}')


with tempfile.TemporaryDirectory() as where:
    check_cases(where)
    switch_off(where)
done()
