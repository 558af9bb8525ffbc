#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bash.py SEAM FOLDER: bash's own test-suite, out of its Debian source package (fetched into FOLDER), gives the same
results under seam record as alone, and each recording replays as it happened. A test whose output differs from run to
run by itself is named and not compared."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from tap import done, ok, skip  # noqa: E402

SEAM, FOLDER = map(os.path.realpath, sys.argv[1:3])
KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
TIMEOUT_S = 300
# what is no test, and what traces nothing but waits for a terminal
NO_TESTS = {'run-all', 'run-minimal', 'run-gprof'}


def give_up(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(77)


def codename():
    with open('/etc/os-release') as f:
        words = dict(line.rstrip().split('=', 1) for line in f if '=' in line)
    return words.get('VERSION_CODENAME', '').strip('"')


def fetch():
    """The source of the installed release's bash, by an apt configuration of our own."""
    for sub in ('etc', 'lists/partial', 'cache/archives/partial'):
        os.makedirs(os.path.join(FOLDER, sub), exist_ok=True)
    sources = os.path.join(FOLDER, 'etc', 'sources.list')
    with open(sources, 'w') as f:
        f.write(f'deb-src [signed-by={KEYRING}] http://deb.debian.org/debian {codename()} main\n')
    options = ['-o', f'Dir::Etc::sourcelist={sources}', '-o', 'Dir::Etc::sourceparts=/dev/null', '-o',
               f'Dir::State::lists={FOLDER}/lists', '-o', f'Dir::Cache={FOLDER}/cache', '-o', 'APT::Sandbox::User=root']
    for words in (['update'], ['source', '--download-only', 'bash']):
        if subprocess.run(['apt-get', *options, *words], cwd=FOLDER, capture_output=True).returncode:
            give_up(f'apt-get {words[0]} does not get the source of bash here')


def source():
    if not shutil.which('apt-get') or not os.path.exists(KEYRING):
        give_up('not a Debian with its keyring')
    archives = glob.glob(os.path.join(FOLDER, 'bash_*.orig.tar.*'))
    if not archives:
        fetch()
        archives = glob.glob(os.path.join(FOLDER, 'bash_*.orig.tar.*'))
    if not glob.glob(os.path.join(FOLDER, 'bash-*')):
        subprocess.run(['tar', '-xf', archives[0]], cwd=FOLDER, check=True)
    top = glob.glob(os.path.join(FOLDER, 'bash-*'))[0]
    for name in ('recho', 'zecho', 'printenv', 'xcase'):
        if subprocess.run(['cc', '-w', f'-I{top}', f'-I{top}/include', '-o', f'{top}/tests/{name}', f'{top}/support/{name}.c'],
                          capture_output=True).returncode:
            give_up(f'{name} cannot be built here')
    return os.path.join(top, 'tests')


def run_test(tests, name, *before):
    """Its status and all that it prints."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {'PATH': f'.:{os.environ["PATH"]}', 'THIS_SH': shutil.which('bash'), 'TMPDIR': scratch,
                       'BASH_TSTOUT': os.path.join(scratch, 'out'), 'BUILD_DIR': os.path.dirname(tests),
                       'HOME': scratch, 'USER': 'tester', 'LANG': 'C', 'TERM': 'dumb'}
        seen = subprocess.run([*before, 'sh', name], cwd=tests, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
        return seen.returncode, b'\n'.join(line.replace(scratch.encode(), b'TMPDIR') for line in seen.stdout.split(b'\n')
                                           if not line.startswith(b'seam: '))


tests = source()
data = os.path.join(FOLDER, 'recording')
totals = dict.fromkeys(('calls', 'processes', 'differences', 'undetermined'), 0)
nr_same = 0
for path in sorted(glob.glob(os.path.join(tests, 'run-*'))):
    name = os.path.basename(path)
    if name in NO_TESTS:
        continue
    alone = run_test(tests, name)
    recorded = run_test(tests, name, SEAM, 'record', '-o', data, '--')
    trace = json.loads(subprocess.run([SEAM, 'replay', '--json', data], capture_output=True, text=True).stdout)['trace']
    for key in totals:
        totals[key] += trace[key]
    if recorded != alone and run_test(tests, name) != alone:
        skip(name, 'its output differs from run to run by itself')
        continue
    nr_same += ok(recorded == alone and trace['complete'] and not trace['differences'],
                  f'{name}: the same, {trace["calls"]} calls', alone, recorded, trace)
print('#', nr_same, 'the same;', ', '.join(f'{value} {key}' for key, value in totals.items()))
done()
