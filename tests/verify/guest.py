#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""guest.py SEAM: what seam verify --kernel-image says and returns, whatever the virtual machine does. A script
takes QEMU's place and says what a guest would; one line needs no kernel. SEAM_TEST_IMAGE=BZIMAGE: and a kernel."""
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
scratch = tempfile.TemporaryDirectory()
QEMU = '''#!/bin/sh
printf '%s\\n' "$@" >"$SCRATCH/args"
while [ $# -gt 0 ]; do [ "$1" = -initrd ] && cat "$2" >"$SCRATCH/files"; shift; done
. "$SCRATCH/says"
'''


def write(name, text, mode=0o644):
    path = os.path.join(scratch.name, name)
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def seam(says, *args, path=None):
    """(status, stdout, stderr, seconds) where the machine says this."""
    write('says', says)
    env = {**os.environ, 'PATH': path or scratch.name + ':' + os.environ['PATH'], 'SCRATCH': scratch.name}
    start = time.monotonic()
    run = subprocess.run([SEAM, *args], capture_output=True, text=True, timeout=60, env=env)
    return run.returncode, run.stdout, run.stderr, time.monotonic() - start


def verify(says, *args, path=None):
    return seam(says, 'verify', '--kernel-image', image, *args, path=path)


def kept(name):
    with open(os.path.join(scratch.name, name), 'rb') as f:
        return f.read()


def test_statuses():
    for status in (0, 1, 125):
        told = verify(f'echo "@| said"; echo "@= {status}"; echo @@; exec sleep 50', '--random', '5')
        ok(told[:2] == (status, ' said\n') and told[3] < 40, f'status {status} of the guest is its own', told)
    status, out, err, _ = verify('echo firmware; echo "@>half a "; echo "[ 1.0] oops"; echo "junk@|line"; '
                                 'echo "@!a message"; echo @.; echo "@= 0"; echo @@', '--random', '5', '--tap')
    ok((status, out, err) == (0, 'half a line\n', 'a message\n'), 'output and messages among others', out, err)
    _, out, _, _ = verify('echo "@|KTAP version 1"; echo "@= 0"; echo @@', '--random', '5', '--tap', '-o',
                          os.path.join(scratch.name, 'report'))
    ok(out == '' and kept('report') == b'KTAP version 1\n', 'the report to a file')


def test_request():
    script = write('calls.ops', 'mmap 10000000000 1000 3 32 -1 0\n')
    rules = write('rules', 'policy=linux-7.2\n')
    verify('echo "@= 0"; echo @@', '--append', 'maxcpus=1 quiet', '--rules', rules, '--tap', script)
    args = kept('args').decode().split('\n')
    line = args[args.index('-append') + 1]
    ok(args[args.index('-kernel') + 1] == image, 'the image', args)
    ok(args[args.index('-m') + 1] == '1024', 'memory for what eight processes lock', args)
    ok(' sysctl.vm.max_map_count=2000 maxcpus=1 quiet -- guest verify --tap ' in line and line.endswith(' --rules /rules /calls.ops'),
       'words for the kernel, and the request behind them', line)
    files = kept('files')
    ok(files[:6] == b'070701' and b'TRAILER!!!' in files and b'init' in files[:200], 'an initial file system', files[:200])
    ok(b'mmap 10000000000 1000' in files and b'policy=linux-7.2' in files, 'with the files of the request')
    verify('echo "@= 0"; echo @@', '--random', '7', '--seed', '3', '--ops', 'mmap,munmap', '--limit', '90',
           '--as', 'mdwe', '--kernel', 'linux-6.1')
    line = kept('args').decode()
    ok('--kernel linux-6.1 --as mdwe --ops mmap,munmap --limit 90 --random 7 --seed 3\n' in line, 'every option', line)


def test_failures():
    for says, words in (('exit 1', 'ended before its work'),
                        ('echo "[ 0.1] Kernel panic - not syncing: no init"; echo "[ 0.2] ---[ end"', 'not syncing: no init'),
                        ('echo "qemu: could not load kernel"', 'could not load kernel'),
                        ('echo "@= 0"', 'ended before its work'),
                        ('kill -9 $$', 'ended before its work'),
                        ('head -c 200000 /dev/zero; echo "@= 0"', 'ended before its work')):
        told = verify(says, '--random', '5')
        ok(told[0] == 125 and words in told[2], f'125, and a word of why: {says}', told)
    told = seam('exec sleep 50', 'guest', '--image', image, '--patience', '1', 'kernels')
    ok(told[0] == 125 and 'fallen silent' in told[2] and told[3] < 40, 'a guest that hangs', told)
    told = verify('', '--random', '5', path=os.path.join(scratch.name, 'empty'))
    ok(told[0] == 125 and 'qemu-system-x86_64' in told[2] and 'cannot be started' in told[2], 'no QEMU', told)
    told = seam('', 'verify', '--kernel-image', '/nowhere/bzImage', '--random', '5')
    ok(told[0] == 125 and told[2] == 'seam: /nowhere/bzImage: No such file or directory\n', 'no such image', told)
    told = verify('', '--append', 'a"b', '--random', '5')
    ok(told[0] == 125 and 'quote' in told[2], 'a quote that is left open', told)
    told = verify('', '/nowhere/x.ops')
    ok(told[0] == 125 and 'x.ops' in told[2], 'no such script', told)
    for args in (('--', 'true'), (), ('--random', '5', 'x.ops')):
        told = verify('', *args)
        ok(told[0] == 2 and 'usage' in told[2], f'usage: {args}', told)


def test_kernel():
    kernel = os.environ.get('SEAM_TEST_IMAGE')
    if not kernel:
        skip('a kernel in a virtual machine', 'SEAM_TEST_IMAGE names none')
        return
    script = write('one.ops', 'mmap 10000000000 1000 3 32 -1 0\nmmap 10000001000 1000 3 32 -1 0\n')
    for policy, status in (('linux-host', 0), ('linux-2.4.2', 1)):
        run = subprocess.run([SEAM, 'verify', '--kernel-image', kernel, '--tap', '--kernel', policy, script],
                             capture_output=True, text=True, timeout=300)
        ok(run.returncode == status and run.stdout.startswith('KTAP version 1\n1..1\n'),
           f'{kernel} under {policy}', run.returncode, run.stdout, run.stderr)
    # more than the machine may promise, and less than one process could have by itself
    script = write('promises.ops', 'mmap 0 2000000 3 22 -1 0\n' * 24)
    run = subprocess.run([SEAM, 'verify', '--kernel-image', kernel, '--append', 'sysctl.vm.overcommit_memory=2', '--json',
                          script], capture_output=True, text=True, timeout=300)
    report = json.loads(run.stdout)
    ok((run.returncode, report['undetermined'], report['mismatches']) == (0, 1, []),
       f'{kernel} with strict promises', run.returncode, run.stdout, run.stderr)


if platform.machine() != 'x86_64':
    print('1..0 # SKIP machines are x86-64')
    sys.exit(0)
image = write('bzImage', 'no kernel\n')
os.mkdir(os.path.join(scratch.name, 'empty'))
write('qemu-system-x86_64', QEMU, 0o755)
test_statuses()
test_request()
test_failures()
test_kernel()
done()
