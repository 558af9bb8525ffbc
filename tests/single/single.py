#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""single.py SEAM_ALL.c HEADERS: the one-file build asks nothing of its surroundings but mem*, keeps its size and its
stack, and does under musl what the library does."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SOURCE, HEADERS = map(os.path.realpath, sys.argv[1:3])
TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '../..'))
FREE = ['-std=gnu11', '-ffreestanding', '-nostdlib', '-fno-stack-protector', '-fno-asynchronous-unwind-tables',
        '-DSEAM_FREESTANDING', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Wno-missing-field-initializers', '-Werror',
        '-I' + HEADERS]
MEM = {'memcpy', 'memmove', 'memset', 'memcmp'}
SIZES = {'linux_6_18': 64 << 10}  # code and constants, -Os
UNITS = ('brk', 'fork', 'granule', 'mmap', 'munmap', 'payload', 'plain', 'vectors')

folder = tempfile.TemporaryDirectory()


def build(what, *words, compiler='cc'):
    """The object, or None and it is told."""
    path = os.path.join(folder.name, re.sub(r'\W+', '-', what) + '.o')
    run = subprocess.run([compiler, *FREE, *words, '-c', SOURCE, '-o', path], capture_output=True, text=True)
    return path if ok(run.returncode == 0, f'compiles: {what}', run.stderr[:2000]) else None


def symbols(path, *words):
    lines = subprocess.run(['nm', *words, path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def asks_nothing(what, *words, compiler='cc'):
    path = build(what, *words, compiler=compiler)
    if path:
        # PIC on 32-bit processors has two names of the linker's own
        wanted = {name for name in symbols(path, '-u')
                  if not name.startswith(('_GLOBAL_OFFSET_TABLE_', '__x86.get_pc_thunk'))}
        ok(wanted <= MEM, f'asks for mem* only: {what}', wanted - MEM)
    return path


def text_size(path):
    """Code and constants; tables that the loader relocates are data."""
    lines = subprocess.run(['size', '-A', path], capture_output=True, text=True, check=True).stdout.splitlines()
    return sum(int(line.split()[1]) for line in lines if re.match(r'\.(text|rodata)', line))


whole = asks_nothing('all policies', '-O2')
with open(os.path.join(TOP, 'lib/libseam.map')) as f:
    mapped = set(re.findall(r'^\s+(seam_\w+);', f.read(), flags=re.M)) - {'seam_alloc_malloc'}
if whole:
    exported = symbols(whole, '-g', '--defined-only')
    ok(exported == mapped, 'its global names are those of the library', exported ^ mapped)
asks_nothing('plain search', '-O2', '-DSEAM_PLAIN_SEARCH')
asks_nothing('two policies', '-O2', '-DSEAM_POLICIES(X)=X(plain) X(linux_2_4_10)')
asks_nothing('debug', '-O0')
if shutil.which('clang'):
    asks_nothing('clang', '-O2', '-Wno-unknown-pragmas', compiler='clang')
else:
    skip('clang', 'no clang')
if subprocess.run(['cc', '-m32', '-xc', '-', '-o', '/dev/null'], input='#include <stdint.h>\nint main(void) { return 0; }',
                  text=True, capture_output=True).returncode:
    skip('32 bits', 'the compiler makes no 32-bit programs (gcc-multilib)')
else:
    asks_nothing('32 bits', '-O2', '-m32')
for policy, most in SIZES.items():
    path = asks_nothing(f'{policy} alone', '-Os', f'-DSEAM_ONE_POLICY={policy}')
    size = text_size(path) if path else 0
    ok(0 < size <= most, f'{policy} alone takes at most {most} bytes', size)
    print(f'# {policy}: {size} bytes')


def runs(what, compiler):
    """Unit tests of the library, with the one file in its place."""
    hosted = [compiler, '-std=gnu11', '-O1', '-D_GNU_SOURCE', '-w', '-I' + HEADERS]
    library = os.path.join(folder.name, 'hosted.o')
    run = subprocess.run([*hosted, '-c', SOURCE, '-o', library], capture_output=True, text=True)
    if not ok(run.returncode == 0, f'compiles: {what}', run.stderr[:2000]):
        return
    for name in UNITS:
        program = os.path.join(folder.name, name)
        run = subprocess.run([*hosted, '-static', f'-I{TOP}', os.path.join(TOP, f'tests/unit/{name}.c'), library,
                              '-o', program], capture_output=True, text=True)
        if run.returncode == 0:
            run = subprocess.run([program], capture_output=True, text=True)
        ok(run.returncode == 0, f'{what}: tests/unit/{name}.c', run.stdout[-2000:], run.stderr[-2000:])


runs('this compiler', 'cc')
if shutil.which('musl-gcc'):
    runs('musl', 'musl-gcc')
else:
    skip('musl', 'no musl-gcc (musl-tools)')
done()
