#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""installed.py BUILD EXAMPLE.c...: the library is installed somewhere, the examples are built against it as anybody
would, and run: with the shared library, and with the archive."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

BUILD, *EXAMPLES = sys.argv[1:]
for tool in ('pkg-config', 'meson'):
    if not shutil.which(tool):
        print(f'1..0 # SKIP no {tool}')
        sys.exit(0)

folder = tempfile.TemporaryDirectory()
root = folder.name
# a DESTDIR that meson does not add to what it is told by its surroundings
run = subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', root],
                     capture_output=True, text=True, env={**os.environ, 'DESTDIR': root})
found = glob.glob(root + '/**/pkgconfig/seam.pc', recursive=True)
if not ok(run.returncode == 0 and len(found) == 1, 'installed, with a .pc file', run.stdout, run.stderr, found):
    done()
environ = {**os.environ, 'PKG_CONFIG_LIBDIR': os.path.dirname(found[0]), 'PKG_CONFIG_SYSROOT_DIR': root}
libraries = os.path.dirname(os.path.dirname(found[0]))
headers = glob.glob(root + '/**/include/seam/seam.h', recursive=True)
ok(len(headers) == 1 and os.path.exists(libraries + '/libseam.so') and os.path.exists(libraries + '/libseam.a'),
   'headers, shared library, archive', headers, os.listdir(libraries))


def flags(*words):
    return subprocess.run(['pkg-config', *words, 'seam'], env=environ, capture_output=True, text=True,
                          check=True).stdout.split()


version = subprocess.run(['pkg-config', '--modversion', 'seam'], env=environ, capture_output=True, text=True)
ok(version.returncode == 0 and version.stdout.strip(), 'pkg-config knows its version', version.stderr)
for example in EXAMPLES:
    name = os.path.basename(example)[:-len('.c')]
    program = os.path.join(root, name)
    # the archive by its name: the linker prefers the shared one
    for how, libs in (('shared', flags('--libs')), ('archive', [libraries + '/libseam.a'])):
        run = subprocess.run(['cc', '-O1', '-Wall', '-Wextra', '-Werror', example,
                              *flags('--cflags'), *libs, '-pthread', '-o', program], capture_output=True, text=True)
        if not ok(run.returncode == 0, f'{name}: compiles, {how}', run.stderr):
            continue
        run = subprocess.run([program], capture_output=True, text=True, timeout=120,
                             env={**os.environ, 'LD_LIBRARY_PATH': libraries})
        if run.returncode == 77:
            skip(f'{name}: runs, {how}', run.stderr.strip())
        else:
            ok(run.returncode == 0, f'{name}: runs, {how}', run.returncode, run.stdout, run.stderr)
done()
