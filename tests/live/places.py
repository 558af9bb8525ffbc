#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""places.py SEAM HARD: seam where little is allowed or shown: without BTF, capabilities or bpf(), behind
hidepid, in user and PID namespaces, in gVisor. It answers with less, says what is lost and what would
give it, or says why it cannot."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import run  # noqa: E402
from tap import done, is_root, ok, skip  # noqa: E402

SEAM, HARD = map(os.path.realpath, sys.argv[1:3])
NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
# Those that are sought, not those that help.
NO_BPF = ['setpriv', '--bounding-set', '-bpf,-perfmon,-sys_admin', '--inh-caps', '-all']
HIDDEN = {'anon_vma', 'fork', 'file', 'offset', 'uffd', 'close'}
scratch = tempfile.mkdtemp()
os.chmod(scratch, 0o755)
# The build folder may be closed to others.
SEAM, HARD = (shutil.copy(path, scratch) for path in (SEAM, HARD))


def works(*command):
    return run(*command, 'true').returncode == 0


def with_mounts(mounts, *command):
    """command in a mount namespace of its own"""
    return ['unshare', '-m', '--propagation', 'private', 'sh', '-c',
            f'{mounts} && exec "$@"', 'sh', *command]


def in_pid_namespace(mounts, script):
    """A script as the first process of a PID namespace."""
    return ['unshare', '-mpf', '--propagation', 'private', '--kill-child', 'sh', '-c',
            f'{mounts} && {{ {script}; }}']


def looks(what, command, *notes, source='smaps'):
    """seam show of the process answers from another source, and says what it could not do."""
    shown = run(*command, SEAM, 'show', '--json', '--causes', pid)
    report = json.loads(shown.stdout) if shown.returncode == 0 else {}
    text = run(*command, SEAM, 'show', '--causes', pid).stdout
    ok(report.get('source') == source and report['areas'] == AREAS and
       HIDDEN <= set(report['not_visible']) and report['groups'][0]['what'] == 'fiber-stack' and
       report['remedies'][0]['areas_after'] < 100, f'{what}: show', shown.stderr or report)
    ok(all(note in text for note in notes), f'{what}: says so', text)
    ok(len(text.rstrip().split('\n')) <= 24, f'{what}: one screen', text)


def refused(what, command, *words, silent=('BPF', 'libbpf')):
    """seam ends with 1 and these words, and with none that have nothing to do with it."""
    seen = run(*command)
    ok(seen.returncode == 1 and not seen.stdout and all(word in seen.stderr for word in words) and
       not any(word in seen.stderr for word in silent), what, seen.stdout, seen.stderr)


target = subprocess.Popen([HARD, 'limit'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
pid = target.stdout.readline().split()[1]
with open(f'/proc/{pid}/maps') as maps:
    AREAS = sum('[vsyscall]' not in line for line in maps)

BPF = json.loads(run(SEAM, 'show', '--json', pid).stdout)['source'] == 'bpf'

# Anybody can be without bpf().
looks('where bpf() is filtered', [HARD, 'sandbox'],
      'a seccomp filter' if BPF else "the kernel's own truth could not be read")

if not is_root():
    skip('the rest', 'needs root')
elif not shutil.which('setpriv') or not works('unshare', '-m'):
    skip('the rest', 'needs setpriv and mount namespaces')
else:
    no_btf = with_mounts('mount -t tmpfs none /sys/kernel/btf')
    if BPF:
        looks('without BTF', no_btf, 'no BTF in /sys/kernel/btf')
        counted = json.loads(run(*no_btf, SEAM, 'top', '--once', '--json').stdout)
        ok([row['areas'] for row in counted['processes'] if str(row['pid']) == pid] == [AREAS],
           'without BTF: seam top', counted)
    else:
        skip('without BTF', 'it cannot be read by BPF here')
    looks('without CAP_BPF', NO_BPF, 'CAP_BPF and CAP_PERFMON are needed')
    looks('without CAP_BPF, where bpf() is filtered', [*NO_BPF, HARD, 'sandbox'],
          'CAP_BPF and CAP_PERFMON are needed')

    # Kernel threads and those that have exited have no memory, with or without BPF.
    with open('/proc/2/comm') as comm:
        thread = comm.read() == 'kthreadd\n'
    for where, command in (('', []), (' without BTF', no_btf), (' for others', NOBODY)):
        if thread:
            refused(f'a kernel thread{where}', [*command, SEAM, 'show', '2'],
                    'it is a kernel thread')
        else:
            skip(f'a kernel thread{where}', 'none is seen from here')
        zombie = subprocess.Popen([HARD, 'zombie'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        dead = zombie.stdout.readline().split()[1]
        refused(f'an exited process{where}', [*command, SEAM, 'show', dead], 'it has exited',
                f'({zombie.pid})')
        zombie.kill()
        zombie.wait()
        refused(f'no process{where}', [*command, SEAM, 'show', '2147483647'], 'no such process')
    refused('of another user', [*NOBODY, SEAM, 'show', pid], 'user 0', 'CAP_SYS_PTRACE')
    if thread:
        refused('a kernel thread: why', [SEAM, 'why', '2'], 'it is a kernel thread')

    # A security module refuses root too; so does a file that may be written only.
    closed = with_mounts(' && '.join(f'mount --bind /proc/sys/vm/compact_memory /proc/{pid}/task/{pid}/{name}'
                                     for name in ('maps', 'smaps')), *NO_BPF)
    if works(*closed):
        refused('closed by a security module', [*closed, SEAM, 'show', pid], 'a security module keeps it closed',
                'though CAP_SYS_PTRACE is held', 'CAP_BPF and CAP_PERFMON', silent=('libbpf',))
    else:
        skip('closed by a security module', 'nothing can be mounted over a map here')

    # hidepid: 2 hides, 1 closes
    as_nobody = ' '.join(NOBODY)
    for hide, words in ((2, 'hidden from you (/proc is mounted with hidepid)'),
                        (1, '(/proc is mounted with hidepid)')):
        mounts = f'mount -t proc -o hidepid={hide} proc /proc'
        if run(*in_pid_namespace(mounts, 'true')).returncode:
            skip(f'hidepid={hide}', 'this kernel has it not')
            continue
        refused(f'hidepid={hide}', in_pid_namespace(mounts, f'{as_nobody} {SEAM} show 1'), words)
        refused(f'hidepid={hide}: no process',
                in_pid_namespace(mounts, f'{as_nobody} {SEAM} show 77777'), 'no such process')
        if hide == 2:
            top = run(*in_pid_namespace(mounts, f'{as_nobody} sh -c "{SEAM} top --once; :"')).stdout
            ok('it does not show you what others run' in top and '; 1 process\n' in top,
               'hidepid=2: seam top says so', top)

    # /proc of another PID namespace: its numbers are not ours. That of the first shell is 1.
    foreign = run('unshare', '-pf', SEAM, 'show', '--json', '--causes', pid)
    report = json.loads(foreign.stdout) if foreign.returncode == 0 else {}
    ok(report.get('source') == 'smaps' and report['areas'] == AREAS and report['comm'] == 'hard',
       '/proc of another PID namespace: show', foreign.stderr or report)
    text = run('unshare', '-pf', SEAM, 'show', '--causes', pid).stdout
    ok('/proc is mounted for another PID namespace' in text,
       '/proc of another PID namespace: says so', text)

    # user namespaces, from inside and from outside
    if not works(*NOBODY, 'unshare', '-Ur'):
        skip('user namespaces', 'others may not make them here')
    else:
        inside = [*NOBODY, 'unshare', '-Ur']
        refused('in a user namespace: of a user outside', [*inside, SEAM, 'show', pid],
                'a user whom this user namespace does not know', silent=('libbpf',))
        shown = run(*inside, 'sh', '-c', f'{SEAM} show $$')
        ok('of the first user namespace are needed' in shown.stdout, 'in a user namespace: show',
           shown.stdout, shown.stderr)
        with subprocess.Popen([*inside, HARD, 'markers'], stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE) as user:
            user.stdout.readline()
            report = json.loads(run(SEAM, 'show', '--json', str(user.pid)).stdout)
            ok(report['comm'] == 'hard' and (report['source'] == 'bpf') == BPF,
               'of another user namespace: root', report)
            shown = run(*NOBODY, SEAM, 'show', '--json', str(user.pid))
            ok(shown.returncode == 0 and json.loads(shown.stdout)['areas'] == report['areas'],
               'of another user namespace: its owner', shown.stderr)
            user.kill()

    # gVisor is told by what its /proc/version always says; it counts for itself.
    version = os.path.join(scratch, 'version')
    with open(version, 'w') as f:
        f.write('Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n')
    gvisor = with_mounts(f'mount --bind {version} /proc/version')
    text = run(*gvisor, SEAM, 'show', pid).stdout
    ok("gVisor: its count of mappings is not the host's" in text, 'gVisor', text)
    ok('gVisor' not in run(SEAM, 'show', pid).stdout, 'not gVisor')

target.kill()
target.wait()
shutil.rmtree(scratch)
done()
