#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""chroot.py TOP BUILD: makes the static seam, and runs it as nobody where there is nothing else."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, is_root, ok, skip  # noqa: E402

TOP, BUILD = map(os.path.realpath, sys.argv[1:3])
LARGEST = 3 * 1000 * 1000
NOBODY = 65534
LIBRARIES = ('zstd', 'libbpf', 'libdw')

PT_INTERP = 3


def asks_for_loader(path):
    """Whether a 64-bit ELF file has a PT_INTERP segment."""
    with open(path, 'rb') as f:
        data = f.read()
    first, = struct.unpack_from('=Q', data, 32)
    size, count = struct.unpack_from('=HH', data, 54)
    return any(struct.unpack_from('=I', data, first + i * size)[0] == PT_INTERP for i in range(count))


environ = {name: value for name, value in os.environ.items() if name not in ('MAKEFLAGS', 'MAKELEVEL')}
run = subprocess.run(['make', '-C', TOP, 'static', 'BUILD=' + BUILD], capture_output=True, text=True,
                     env=environ)
if not ok(run.returncode == 0, 'make static', run.stdout, run.stderr):
    done()
binary = os.path.join(BUILD, 'static', 'seam')
size = os.path.getsize(binary)
ok(size <= LARGEST, f'{size} bytes, at most {LARGEST}')
ok(not asks_for_loader(binary), 'it asks for no loader')

jail = tempfile.mkdtemp()
os.chmod(jail, 0o755)
shutil.copy(binary, jail)


def enter():
    os.chroot(jail)
    os.chdir('/')
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def inside(*words):
    return subprocess.run(['/seam', *words], capture_output=True, text=True, preexec_fn=enter, env={})


if not is_root():
    skip('in an empty root directory', 'chroot wants root')
else:
    run = inside('--version')
    lines = run.stdout.splitlines()
    ok(run.returncode == 0 and lines[0].startswith('seam '), '--version', run)
    ok([line.split()[0] if not line.startswith('  without') else line.split()[1].rstrip(':')
        for line in lines[1:]] == list(LIBRARIES), 'tells each library, in or left out', run.stdout)
    run = inside('help')
    ok(run.returncode == 0 and 'usage: seam VERB' in run.stdout, 'help', run)
    run = inside('stat', '--', '/seam', '--version')
    ok(run.returncode == 0 and '\nreal\t' in run.stderr, 'stat without /proc', run)

shutil.rmtree(jail)
done()
