# SPDX-License-Identifier: BSD-2-Clause
"""Programs that tests run, and what /proc tells of them."""
import subprocess
import time


def run(*words, **keywords):
    """To its end: with text, nothing to read, and two minutes at most, unless told otherwise."""
    if 'input' not in keywords:
        keywords.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run(words, **{'capture_output': True, 'text': True, 'timeout': 120, **keywords})


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


def is_traced(pid):
    try:
        with open(f'/proc/{pid}/status') as f:
            return 'TracerPid:\t0\n' not in f.read()
    except OSError:
        return False
