# SPDX-License-Identifier: BSD-2-Clause
"""Tests in Python that print TAP: ok(condition, 'what'), skip('what', 'why'), then done()."""
import os
import sys

count = failures = 0


def ok(condition, what, *seen):
    """seen: printed when it fails."""
    global count, failures
    count += 1
    failures += not condition
    print(f'{"" if condition else "not "}ok {count} - {what}', flush=True)
    if not condition:
        for value in seen:
            print('#', str(value).replace('\n', '\n# '), flush=True)
    return bool(condition)


def skip(what, why):
    global count
    count += 1
    print(f'ok {count} - {what} # SKIP {why}', flush=True)


def is_root():
    """Root, and not only of a user namespace that has no other users."""
    if os.getuid():
        return False
    with open('/proc/self/uid_map') as f:
        return sum(int(line.split()[2]) for line in f) > 65534


def done():
    print(f'1..{count}')
    sys.exit(1 if failures else 0)
