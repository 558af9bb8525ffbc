#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""lines.py SEAM: each line on standard error is written whole, so that seams beside each other do not
tear one another's; what ulimit -f forbids is an error that is told, and the program gets its signal."""
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])


def writes(*args):
    """What each write to standard error held: a pipe of packets keeps them apart."""
    reading, writing = os.pipe2(os.O_DIRECT | os.O_CLOEXEC)
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
    subprocess.run([SEAM, *args], stdout=subprocess.DEVNULL, stderr=writing, timeout=60)
    os.close(writing)
    packets = []
    while packet := os.read(reading, 1 << 16):
        packets.append(packet)
    os.close(reading)
    return packets


def limited(*args):
    return subprocess.run([SEAM, *args], capture_output=True, text=True, timeout=60, preexec_fn=lambda:
                          resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))


# A look is a line, for programs that read as it goes on.
for words in (['top', '-n', '2', '-d', '0.1'], ['show', '--watch', '1', str(os.getpid())]):
    with subprocess.Popen([SEAM, *words, '--json'], stdout=subprocess.PIPE) as watch:
        looks = [watch.stdout.readline() for _ in range(3)]
        watch.kill()
    try:
        kinds = [json.loads(look)['kind'] for look in looks]
    except ValueError:
        kinds = []
    ok(kinds == words[:1] * 3, f'{words[0]} --json: a look is a line', looks)

with tempfile.TemporaryDirectory() as scratch:
    out = os.path.join(scratch, 'out')
    for what, args in (('a message', ('show', 'nosuch')), ('wrong usage', ('show',)),
                       ('record', ('record', '-o', out, 'true')),
                       ('record --print', ('record', '--print', '-o', out, 'true')),
                       ('stat', ('stat', 'true')), ('verify', ('verify', '--', 'true'))):
        seen = writes(*args)
        ok(seen and all(packet.endswith(b'\n') for packet in seen), f'{what}: whole lines', seen)
    # a pipe with a name: what went there cannot be read again
    pipe = os.path.join(scratch, 'pipe')
    os.mkfifo(pipe)
    with subprocess.Popen(['cat', pipe], stdout=subprocess.PIPE) as reader:
        run = subprocess.run(['timeout', '-s', 'KILL', '20', SEAM, 'record', '-o', pipe, 'true'],
                             capture_output=True, text=True)
        ok(run.returncode == 0 and 'next:' not in run.stderr, 'record into a named pipe ends', run)
        reader.kill()
    for args in (('show', '-o', out, str(os.getpid())), ('kernels', '-o', out)):
        run = limited(*args)
        ok(run.returncode == 1 and 'not written whole: File too large' in run.stderr,
           f'{args[0]}: beyond ulimit -f', run)
    run = limited('stat', 'sh', '-c', 'echo >"$1"', 'sh', out)
    ok(run.returncode == 128 + signal.SIGXFSZ, 'a program beyond ulimit -f ends as it would alone', run)
done()
