#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""single.py SEAM_ALL.c HEADERS: the one-file build asks nothing of its surroundings but mem*, keeps its size and its
stack, and does under musl what the library does."""
import functools
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
        '-DSEAM_FREESTANDING', '-Wall', '-Wextra', '-Wvla', '-Walloca', '-Wno-unused-parameter',
        '-Wno-missing-field-initializers', '-Werror', '-I' + HEADERS]
MEM = {'memcpy', 'memmove', 'memset', 'memcmp'}
SIZES = {'linux_6_18': 64 << 10, 'plain': 44 << 10}  # code and constants, -Os
# What a program's static link takes of plain alone: what it calls, what then goes in, and at most so much.
MAP = ('space_create', 'space_destroy', 'space_mmap', 'space_munmap', 'space_mprotect', 'area_find')
ASK = (*MAP, 'space_ask', 'space_commit', 'space_abort', 'space_set_hook', 'space_set_tag', 'area_find_below')
ALL = (*ASK, 'space_fork', 'space_snapshot', 'read_begin', 'read_find', 'read_try', 'space_after_fork', 'space_mremap',
       'granule_at')
LINKED = (('a map, no readers', MAP, ['-DSEAM_NO_READERS'], 28 << 10), ('a map', MAP, [], 31 << 10),
          ('a map that asks', ASK, [], 34 << 10), ('that and readers, forks, snapshots', ALL, [], 40 << 10))
MOST_STACK = 1336  # bytes from a public call down, hooks and the allocator not counted
UNITS = ('brk', 'fork', 'granule', 'mmap', 'munmap', 'payload', 'plain', 'vectors')

folder = tempfile.TemporaryDirectory()


def build(what, *words, compiler='cc'):
    """The object, or None and it is told."""
    path = os.path.join(folder.name, re.sub(r'\W+', '-', ' '.join([what, *words])) + '.o')
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




@functools.cache
def sections(*switches):
    return build('plain alone, in sections', '-Os', '-ffunction-sections', '-fdata-sections', '-DSEAM_ONE_POLICY=plain',
                 *switches)


def linked_size(calls, switches):
    """Code and constants of a program that names these calls and no others, unused sections left out."""
    library = sections(*switches)
    program = os.path.join(folder.name, 'program.c')
    linked = os.path.join(folder.name, 'program')
    with open(program, 'w') as f:
        f.write('#include <seam/seam.h>\nvoid *volatile used;\nvoid start(void)\n{\n')
        f.writelines(f'used = (void *)seam_{call};\n' for call in calls)
        f.write('}\n')
    run = subprocess.run(['cc', '-Os', '-w', '-ffreestanding', '-nostdlib', '-static', '-no-pie', '-I' + HEADERS, program,
                          library, '-Wl,--gc-sections,-e,start,--build-id=none,--unresolved-symbols=ignore-all',
                          '-o', linked], capture_output=True, text=True)
    if not library or not ok(run.returncode == 0, 'links', run.stderr[:2000]):
        return 0
    return text_size(linked)


for what, calls, switches, most in LINKED:
    size = linked_size(calls, switches)
    ok(0 < size <= most, f'plain alone, linked into {what}: at most {most} bytes', size)
    print(f'# linked, {what}: {size} bytes')


# Calls through pointers: what a public call finds in its policy, and what walk_range is given to call.
VISITS = {'mprotect': 'change', 'madvise': 'advise', 'mlock': 'lock', 'munlock': 'lock', 'mseal': 'seal',
          'mbind': 'bind', 'set_name': 'name', 'set_tag': 'tag', 'uffd_register': 'register',
          'uffd_unregister': 'unregister'}


def deepest(path):
    """(bytes, functions) of the deepest way down from a public call; a recursion is told and ends the search."""
    with open(path) as f:
        text = f.read()
    name = re.compile(r'[^:"]+$')
    sizes = {name.search(title)[0]: int(size) for title, size in
             re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?\\n(\d+) bytes', text)}
    edges = {}
    for source, target in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
        edges.setdefault(name.search(source)[0], set()).add(name.search(target)[0])
    called = set().union(*edges.values())
    pointed = {f for f in sizes if f not in called and not f.startswith('seam_')}
    recursions, on_path = set(), set()

    def through_pointer(function, call):
        if function.startswith('walk_range'):
            return {f for f in pointed if f.endswith('_part')
                    and f == VISITS.get(call, f[:-len('_part')]) + '_part'}
        if not function.startswith('seam_space_'):
            return set()  # the allocator, the hook, payloads
        return {f for f in pointed if re.match('(linux|old)_', f)
                and (call in ('ask', 'call', 'apply') or f.split('_', 1)[1] == call)}

    @functools.cache
    def down(function, call):
        if function in on_path:
            recursions.add(function)
            return 0, ()
        is_call = re.fullmatch(r'(?:seam_space|linux|old)_(\w+)', function)
        call = is_call[1] if is_call else call
        on_path.add(function)
        targets = edges.get(function, set())
        targets = targets | through_pointer(function, call) if '__indirect_call' in targets else targets
        below = max((down(f, call) for f in targets if f in sizes), default=(0, ()))
        on_path.discard(function)
        return below[0] + sizes[function], (function, *below[1])
    best = max(down(root, '') for root in sizes if root.startswith('seam_'))
    return (*best, recursions)


def stack(policy):
    # gcc writes who calls whom, and what each puts on the stack
    path = build(f'{policy}, with its calls', '-O2', f'-DSEAM_ONE_POLICY={policy}', '-fcallgraph-info=su')
    if not path:
        return
    size, functions, recursions = deepest(path[:-len('.o')] + '.ci')
    print(f'# {policy}: {size} bytes of stack, {" ".join(functions)}')
    ok(not recursions, f'{policy}: nothing calls itself', recursions)
    ok(200 < size <= MOST_STACK, f'{policy}: at most {MOST_STACK} bytes of stack a call', size)


if subprocess.run(['cc', '-fcallgraph-info=su', '-xc', '-', '-c', '-o', os.path.join(folder.name, 'try.o')],
                  input='int x;', text=True, capture_output=True).returncode:
    skip('stack', 'the compiler tells no calls (gcc 10 and later do)')
else:
    for policy in ('plain', 'linux_6_18', 'linux_2_4_10'):
        stack(policy)


def says(switches):
    """What random calls on a space of plain give."""
    program = os.path.join(folder.name, 'plain')
    run = subprocess.run(['cc', '-std=gnu11', '-O1', '-D_GNU_SOURCE', '-w', '-I' + HEADERS, '-I' + TOP, *switches,
                          os.path.join(TOP, 'tests/single/plain.c'), SOURCE, '-o', program], capture_output=True, text=True)
    if run.returncode == 0:
        run = subprocess.run([program], capture_output=True, text=True)
    ok(run.returncode == 0, ' '.join(['random calls on plain', *switches]), run.stdout[-200:], run.stderr[-2000:])
    return run.stdout


whole = says([])
for switches in (['-DSEAM_ONE_POLICY=plain'], ['-DSEAM_ONE_POLICY=plain', '-DSEAM_NO_READERS', '-Os']):
    ok(says(switches) == whole, ' '.join(['the same map', *switches]))


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
