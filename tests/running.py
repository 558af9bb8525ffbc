# SPDX-License-Identifier: BSD-2-Clause
"""Programs that tests run, and what /proc tells of them."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import time


def run(*words, **keywords):
    """To its end: with text, nothing to read, and two minutes at most, unless told otherwise."""
    if 'input' not in keywords:
        keywords.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run(words, **{'capture_output': True, 'text': True, 'timeout': 120, **keywords})


def on_terminal(columns, *words, **keywords):
    """What comes on a terminal of so many columns."""
    terminal, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    with subprocess.Popen(words, stdin=other, stdout=other, stderr=other, **keywords):
        os.close(other)
        seen = b''
        try:
            while data := os.read(terminal, 65536):
                seen += data
        except OSError:  # nobody has it open any more
            pass
    os.close(terminal)
    return seen.decode(errors='replace').replace('\r\n', '\n')


def wait_until(condition, seconds=60):
    """Whether it came to hold."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.005)
    return False


def state_of(pid):
    """The letter of ps; X when it is no more."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().rpartition(') ')[2][0]
    except OSError:
        return 'X'


def children_of(pid):
    """Of its main thread; none when it is no more."""
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def is_traced(pid):
    try:
        with open(f'/proc/{pid}/status') as f:
            return 'TracerPid:\t0\n' not in f.read()
    except OSError:
        return False
