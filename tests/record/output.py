#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""output.py SEAM: where a recording goes, and that what stood there stays until the program runs."""
import json
import os
import resource
import shutil
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import run  # noqa: E402
from tap import done, is_root, ok, skip  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
NOBODY = 65534
scratch = tempfile.mkdtemp()
os.chmod(scratch, 0o755)
os.chdir(scratch)


def record(output, *program, **keywords):
    return run(SEAM, 'record', *(['-o', output] if output else []), '--', *(program or ['true']), **keywords)


def write(path, text='earlier'):
    with open(path, 'w') as f:
        f.write(text)
    return path


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def is_whole(path):
    seen = run(SEAM, 'replay', '--json', path)
    return bool(seen.stdout) and json.loads(seen.stdout)['trace'].get('complete') is True


def files():
    return sorted(os.listdir('.'))


def in_folder(name):
    os.mkdir(name)
    os.chdir(name)


def out_again():
    os.chdir(scratch)


write('plain')
NOT_RUN = {'./none': 127, '../plain': 126, '..': 126}

# A file named on the command line
in_folder('named')
write('data')
for program, status in NOT_RUN.items():
    for options in ([], ['--survive'], ['--print'], ['--json'], ['--stacks']):
        seen = run(SEAM, 'record', *options, '-o', 'data', '--', program)
        ok(seen.returncode in (status, 2) and content('data') == b'earlier' and seen.stderr.startswith('seam: '),
           f'{program} {" ".join(options)}: the earlier file stays', seen)
ok(record('new', './none').returncode == 127 and files() == ['data'], 'and no new one is left', files())
seen = run(SEAM, 'record', '-o', 'data', '--yes', '-p', '999999999')
ok(seen.returncode == 125 and content('data') == b'earlier', 'no such process: it stays as well', seen)
write('data', 'x' * 1000000)
inode = os.stat('data').st_ino
ok(record('data').returncode == 0 and is_whole('data') and os.stat('data').st_size < 10000 and
   os.stat('data').st_ino == inode, 'a longer file is written over, in its place')
seen = record('data', 'cp', 'data', 'copy')
ok(seen.returncode == 0 and is_whole('data'), 'a program that reads the file it is recorded to', seen)
seen = run('sh', '-c', f'umask 077; "{SEAM}" record -o private true')
ok(os.stat('private').st_mode & 0o777 == 0o600, 'umask holds')
out_again()

# Links
in_folder('links')
write('data')
os.symlink('data', 'link')
os.symlink('nothing', 'dangling')
os.link('data', 'hard')
ok(record('link', './none').returncode == 127 and content('data') == b'earlier', 'behind a link it stays')
ok(record('link').returncode == 0 and os.path.islink('link') and is_whole('data') and is_whole('hard'),
   'a link is followed, and stays', files())
ok(record('dangling').returncode == 0 and is_whole('nothing'), 'also one to nothing')
os.symlink('loop', 'loop')
seen = record('loop')
ok(seen.returncode == 125 and 'symbolic' in seen.stderr, 'a link to itself', seen)
out_again()

# What is no file
in_folder('special')
os.mkfifo('fifo')
got = []
for program, expected in (('./none', 127), ('true', 0)):
    reader = threading.Thread(target=lambda: got.append(content('fifo')))
    reader.start()
    seen = record('fifo', program)
    reader.join(30)
    ok(seen.returncode == expected and 'next: ' not in seen.stderr, f'into a FIFO: {program}', seen)
with open('read', 'wb') as f:
    f.write(got[1])
ok(not got[0] and is_whole('read'), 'nothing, and a whole recording, come out of it', len(got[0]), len(got[1]))
for program, expected in (('./none', 127), ('true', 0)):
    ok(record('/dev/null', program).returncode == expected and os.path.exists('/dev/null'), f'/dev/null: {program}')
seen = record('/dev/full')
ok(seen.returncode == 125 and 'No space left' in seen.stderr, 'a full device', seen)
seen = record('.')
ok(seen.returncode == 125 and 'directory' in seen.stderr, 'a directory', seen)
out_again()

# Standard output
in_folder('stdout')
for how, before in (('>', b''), ('>>', b'earlier'), ('1<>', b'earlier')):
    write('data')
    seen = run('sh', '-c', f'"{SEAM}" record -o - -- ./none {how}data')
    ok(seen.returncode == 127 and content('data') == before, f'-o - {how}: nothing is written where nothing ran', seen)
    write('data')
    seen = run('sh', '-c', f'"{SEAM}" record -o - -- sh -c "exit 3" {how}data')
    text = content('data')
    with open('data', 'wb') as f:
        f.write(text[len(before) if how == '>>' else 0:])
    ok(seen.returncode == 3 and is_whole('data'), f'-o - {how}', seen)
seen = run('sh', '-c', f'"{SEAM}" record -o - true | cat >data')
ok(seen.returncode == 0 and is_whole('data'), '-o - into a pipe', seen)
seen = run('sh', '-c', f'"{SEAM}" record -o - true >&-')
ok(seen.returncode in (0, 125), '-o - with no standard output', seen)
out_again()

# The default file, and the one before
in_folder('default')
for _ in range(3):
    record(None)
kept = content('seam.data'), content('seam.data.old')
ok(files() == ['seam.data', 'seam.data.old'] and is_whole('seam.data') and is_whole('seam.data.old'),
   'the earlier recording is kept', files())
for program, status in NOT_RUN.items():
    seen = record(None, program)
    ok(seen.returncode == status and (content('seam.data'), content('seam.data.old')) == kept and len(files()) == 2,
       f'{program}: both stay as they are', seen, files())
record(None, 'echo', 'another')
ok(content('seam.data.old') == kept[0] and content('seam.data') != kept[0], 'then they move on')
os.remove('seam.data')
os.symlink('../plain', 'seam.data')
record(None)
ok(os.path.islink('seam.data.old') and content('../plain') == b'earlier' and is_whole('seam.data'),
   'a link is kept like a file')
out_again()

# Rights
in_folder('rights')


def as_nobody(output, *program, folder='.'):
    seen = run('setpriv', '--reuid', str(NOBODY), '--regid', str(NOBODY), '--clear-groups', SEAM, 'record',
               *(['-o', output] if output else []), '--', *(program or ['true']), cwd=folder)
    return seen.returncode, seen.stderr


def mode(path, bits, owner=None):
    if owner is not None:
        os.chown(path, owner, owner)
    os.chmod(path, bits)


if not is_root() or not shutil.which('setpriv'):
    skip('as somebody else', 'needs root and setpriv')
elif as_nobody('/dev/null')[0]:
    skip('as somebody else', 'nobody cannot run seam from its folder')
else:
    os.mkdir('closed')
    mode(write('closed/mine'), 0o644, NOBODY)
    mode(write('closed/theirs'), 0o644)
    mode(write('closed/seam.data'), 0o644, NOBODY)
    ok(as_nobody('mine', folder='closed')[0] == 0 and is_whole('closed/mine'), 'a file of one\'s own in a folder of others')
    for output in ('theirs', 'new', None):
        status, text = as_nobody(output, folder='closed')
        ok(status == 125 and 'Permission denied' in text, f'what is not allowed is said: {output}', status, text)
    ok(sorted(os.listdir('closed')) == ['mine', 'seam.data', 'theirs'] and
       content('closed/seam.data') == content('closed/theirs') == b'earlier', 'and nothing is changed')
    os.mkdir('sticky')
    mode('sticky', 0o1777)
    mode(write('sticky/shared'), 0o666)
    mode(write('sticky/seam.data'), 0o644)
    ok(as_nobody('shared', folder='sticky')[0] == 0 and is_whole('sticky/shared'), 'a file of others in a sticky folder')
    status, text = as_nobody(None, 'echo', 'ran', folder='sticky')
    ok(status == 125 and 'not permitted' in text and content('sticky/seam.data') == b'earlier',
       'an earlier recording of others there is not moved, and that is said', status, text)
    ok(not os.path.exists('sticky/seam.data.old'), 'nor taken')
    status, text = as_nobody('new', './none', folder='sticky')
    ok(status == 127 and not os.path.exists('sticky/new'), 'no new file is left where the program cannot be run', text)
out_again()

# No room
in_folder('room')
for blocks, status in ((0, 125), (8, 0)):
    seen = run('sh', '-c', f'ulimit -f {blocks}; "{SEAM}" record -o data true')
    ok(seen.returncode == status and ('File too large' in seen.stderr) == (not blocks), f'ulimit -f {blocks}', seen)
seen = run(SEAM, 'record', '-o', 'data', 'sh', '-c', 'echo ran',
           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
ok(seen.returncode == 125 and seen.stdout == 'ran\n', 'the program runs all the same', seen)

out_again()
os.chdir('/')
shutil.rmtree(scratch)
done()
