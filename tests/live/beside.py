#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""beside.py SEAM BESIDE SUBJECT [SUBJECT32]: the model beside programs that run follows all that they do, names what
no call of theirs does, and finds what is not so."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, is_root, ok, skip  # noqa: E402

SEAM, BESIDE, SUBJECT = map(os.path.realpath, sys.argv[1:4])
CORPUS = os.path.join(os.path.dirname(os.path.realpath(__file__)), '../verify/rules.corpus')
SUBJECT32 = os.path.realpath(sys.argv[4]) if len(sys.argv) > 4 else None
SKIPPED = 77
UNDETERMINED = 0.02  # of the calls checked, at most
WITHOUT_RIGHTS = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--bounding-set=-all']
scratch = tempfile.mkdtemp(prefix='seam-beside-')
os.chmod(scratch, 0o777)


def verify(*words, before=()):
    """Exit status, report, and what the run has printed."""
    report = os.path.join(scratch, 'report')
    run = subprocess.run([*before, SEAM, 'verify', '--json', '-o', '-', *words], capture_output=True, text=True,
                         timeout=120, stdin=subprocess.DEVNULL, cwd=scratch)
    text = run.stdout
    # the program's own output comes before the report
    start = text.rfind('{\n  "schema"')
    with open(report, 'w') as f:
        f.write(text)
    return run.returncode, json.loads(text[start:]) if start >= 0 else {}, text[:max(start, 0)], run.stderr


def follows(what, *program, changes=None, before=()):
    status, report, _, said = verify('--', *program, before=before)
    if report.get('status') == SKIPPED:
        skip(what, 'not on this kernel')
        return
    known = status == 0 and report['nr_mismatches'] == 0 and report['checked'] > 0
    known = known and report['undetermined'] <= UNDETERMINED * report['checked']
    ok(known, what, status, report, said)
    if changes is not None:
        names = {change['what'] for change in report.get('changes', [])}
        ok(changes <= names, f'{what}: {", ".join(sorted(changes))}', names)


CHANGES = {'grows': {'stack growth'}, 'uffd': {'a userfaultfd that was closed'},
           'uring': {'io_uring (IORING_OP_MADVISE)'}, 'advised': {'process_madvise'}}
ROLES = ['fill', 'given-back', 'emptied', 'uring', 'uffd', 'grows', 'locks', 'nature', 'segments', 'advised', 'guards', 'sealed',
         'droppable', 'files', 'racing', 'waits']
for role in ROLES:
    follows(role, BESIDE, role, changes=CHANGES.get(role))
status, report, _, _ = verify('--', BESIDE, 'waits')
if report.get('status') == SKIPPED:
    skip('calls at the same time', 'no userfaultfd for faults of the kernel here')
else:
    ok(report['overlapped'] > 0, 'calls at the same time are told, not checked', report)
if not is_root():
    skip('without rights', 'not root')
elif not shutil.which('setpriv'):
    skip('without rights', 'no setpriv')
elif subprocess.run([*WITHOUT_RIGHTS, BESIDE, 'locks'], capture_output=True).returncode:
    skip('without rights', 'the build folder is closed to others')
else:
    for role in ('fill', 'given-back', 'emptied', 'uring', 'grows', 'files'):
        follows(f'{role}, without rights', BESIDE, role, before=WITHOUT_RIGHTS)
for role in ('threads', 'spawns', 'clone-vm', 'fork', 'exec-from-thread', 'leader-exits', 'stack', 'stacks', 'limit'):
    follows(role, SUBJECT, role)
if SUBJECT32:
    follows('32-bit calls', SUBJECT32, 'threads')
else:
    skip('32-bit calls', 'no 32-bit programs here')

# the program goes as it would alone
follows('random calls', SEAM, 'verify', '--random', '1500')
# each rule by itself, among them what a file refuses when the range is clear already
follows('the corpus of rules', SEAM, 'verify', CORPUS)
# refused by the limit, the mapping leaves memory cut where it was to begin
script = os.path.join(scratch, 'huge.ops')
with open(script, 'w') as f:
    f.write('mmap 10000000000 400000 5 32 -1 0\nrlimit as 0\nmmap 10000200000 200000 3 44032 -1 0\n')
follows('a limit that huge pages meet', SEAM, 'verify', script)
status, report, printed, _ = verify('--', 'sh', '-c', 'echo out; exit 5')
ok(status == 0 and report['status'] == 5 and printed == 'out\n', 'output and status are the program\'s', status, report)
status, report, _, _ = verify('--', 'sh', '-c', 'kill -9 $$')
ok(status == 0 and report['status'] == 137, 'so is the signal that ended it', status, report)
status, _, _, said = verify('--', '/nonexistent')
ok(status == 125 and '/nonexistent' in said, 'a program that is not there', status, said)

# the check bites
status, report, _, _ = verify('--kernel', 'linux-host,-anon_vma', '--', BESIDE, 'fill')
found = report['mismatches'][0] if report['mismatches'] else {}
ok(status == 1 and 'MAP_FIXED' in found.get('call', '') and found['expected'] != found['found'],
   'without the rule of anon_vmas the first mismatch is the map between', status, report)
script = os.path.join(scratch, 'mismatch.ops')
subprocess.run([SEAM, 'verify', '--kernel', 'linux-host,-anon_vma', '--emit', 'ops', '-o', script, '--', BESIDE, 'fill'])
alone = [subprocess.run([SEAM, 'verify', *kernel, script], capture_output=True, text=True)
         for kernel in ([], ['--kernel', 'linux-host,-anon_vma'])]
with open(script) as f:
    ok([run.returncode for run in alone] == [0, 1], '--emit ops: a script that shows it alone', f.read(), alone)
status, report, _, _ = verify('--kernel', 'linux-host,-account', '--', 'sh', '-c', 'true')
ok(status == 1 and report['nr_mismatches'], 'nor does it go without accounting', status, report)
status, report, _, _ = verify('--kernel', 'linux-host,-account', '--mismatches', '2', '--', 'sh', '-c', 'ls;ls;ls')
ok(status == 1 and report['nr_mismatches'] == 2, '--mismatches ends comparing', status, report)
status, report, _, _ = verify('--kernel', 'linux-host,-account', '--stop', '--', 'sh', '-c', 'ls;ls;ls')
ok(status == 1 and report['nr_mismatches'] == 1 and report['status'] == 0, '--stop too, the program goes on', report)
status, _, _, said = verify('--mismatches', '0', '--', 'true')
ok(status == 2 and '--mismatches' in said, '--mismatches 0 is refused', said)
status, _, _, said = verify('--limit', '9', '--', 'true')
ok(status == 2 and '--limit' in said, '--limit is of random calls and scripts', said)

# a process that runs
program = subprocess.Popen([BESIDE, 'for-ever'], stdout=subprocess.PIPE, text=True)
pid = program.stdout.readline().strip()
status, _, _, said = verify('-p', pid)
ok(status == 125 and 'stops it' in said and '--yes' in said, '-p says what it costs and asks', status, said)
run = subprocess.Popen([SEAM, 'verify', '--json', '-o', '-', '--yes', '-p', pid], stdout=subprocess.PIPE, text=True)
try:
    run.wait(1)
except subprocess.TimeoutExpired:
    run.send_signal(signal.SIGINT)
report = json.loads(run.communicate(timeout=60)[0])
ok(run.returncode == 0 and report['checked'] > 100 and report['status'] is None and not report['mismatches'],
   'a process that runs is followed', run.returncode, report)
ok(program.poll() is None, 'and goes on when it is let go', program.returncode)
program.kill()
program.wait()
shutil.rmtree(scratch)
done()
