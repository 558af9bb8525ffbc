#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""healthy.py SEAM: programs in which nothing is worth mending. No remedy is offered, the screen fits 24
lines, and the first line says that all is well; the same for each process that they start."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..'))
from running import children_of  # noqa: E402
from tap import done, ok, skip  # noqa: E402

SEAM = os.path.realpath(sys.argv[1])
SERVER_USER = 65534  # for what refuses to run as root
DEADLINE_S = 90


def write(name, text):
    path = os.path.join(scratch, name)
    with open(path, 'w') as f:
        f.write(text)
    return path


def tool(name):
    """In the path, or where Debian keeps PostgreSQL's."""
    return shutil.which(name) or next(iter(glob.glob(f'/usr/lib/postgresql/*/bin/{name}')), None)


def become_server():
    if not os.geteuid():
        os.setgroups([])
        os.setgid(SERVER_USER)
        os.setuid(SERVER_USER)


def java():
    main = write('Idle.java', '''
public class Idle {
    public static void main(String[] args) throws Exception {
        java.util.Map<Integer, byte[]> kept = new java.util.HashMap<>();
        for (int i = 0; i < 20000; i++) kept.put(i, new byte[1000]);
        System.out.println("READY");
        Thread.sleep(600000);
    }
}''')
    return ['java', main]


def go_build():
    os.makedirs(os.path.join(scratch, 'module'), exist_ok=True)
    write('module/go.mod', 'module idle\n')
    write('module/main.go', '''package main

import "net/http"

func main() { http.ListenAndServe("", nil) }
''')
    return ['go', 'build', '-a', '-o', os.path.join(scratch, 'idle')]


def nginx():
    conf = write('nginx.conf', f'''daemon off; worker_processes 2; pid {scratch}/nginx.pid;
error_log stderr; events {{}}
http {{ access_log off; server {{ listen unix:{scratch}/nginx.socket; }} }}
''')
    return ['nginx', '-p', scratch, '-c', conf]


def postgres():
    data = os.path.join(scratch, 'data')
    made = subprocess.run([tool('initdb'), '-D', data, '-A', 'trust', '--no-sync'], capture_output=True,
                          text=True, preexec_fn=become_server)
    if made.returncode:
        raise OSError(made.stderr)
    return ['postgres', '-D', data, '-k', scratch, '-c', 'listen_addresses=']


def page():
    return 'file://' + write('page.html', '<h1>Hello</h1><script>let kept = []; for (let i = 0; '
                             'i < 1e5; i++) kept.push({i});</script>')


BUILDS = 2  # processes of a build: the tool and a compiler
# name: command, and how many processes it has when all have been started
PROGRAMS = {
    'bash': (lambda: ['bash', '--norc', '-c', 'read -r line; echo'], 1),
    'python3': (lambda: ['python3', '-c', 'import json, ssl, time; kept = [str(i) for i in range(10**5)]\n'
                         'time.sleep(600)'], 1),
    'node': (lambda: ['node', '-e', 'let kept = []; for (let i = 0; i < 1e5; i++) kept.push({i});'
                      'setTimeout(() => {}, 600000)'], 1),
    'java': (java, 1),
    'go': (go_build, BUILDS),
    'redis-server': (lambda: ['redis-server', '--port', '0', '--unixsocket', f'{scratch}/redis.socket',
                              '--dir', scratch], 1),
    'nginx': (nginx, 3),
    'postgres': (postgres, 4),
    'chromium': (lambda: ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
                          f'--user-data-dir={scratch}/chromium', '--remote-debugging-port=0', page()], 6),
}


def tree(pid):
    """A process and all that it started, as far as they have memory."""
    found = [pid]
    for parent in found:
        found += children_of(parent)
    return found


def show(pid):
    run = subprocess.run([SEAM, 'show', '--json', str(pid)], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else None


def settled(pid, nr):
    """Once all are started and none of them grows any more; a build is never the same twice."""
    before, end = None, time.monotonic() + DEADLINE_S
    while time.monotonic() < end and os.path.exists(f'/proc/{pid}/exe'):
        now = {pid: report['areas'] for pid in tree(pid) if (report := show(pid))}
        if len(now) >= nr and (now == before or nr == BUILDS):
            return sorted(now)
        before = now
        time.sleep(0.5)
    return []


def look(name, pid, first):
    report = show(pid)
    run = subprocess.run([SEAM, 'show', str(pid)], capture_output=True, text=True)
    if not report or run.returncode:
        return  # it has ended
    what = f'{name}: {report["comm"]}, {report["areas"]} areas'
    ok(not report['remedies'], f'{what}: no remedy', report['groups'], report['remedies'])
    lines = run.stdout.rstrip('\n').split('\n')
    if first or len(lines) > 24 or 'healthy' not in lines[0]:
        ok(len(lines) <= 24 and 'healthy' in lines[0], f'{what}: one screen, and it says so', run.stdout)


def check(name, command, nr):
    server = name in ('postgres',)
    try:
        words = command()
    except OSError as error:
        return skip(name, str(error).strip().split('\n')[-1])
    environment = dict(os.environ, GOCACHE=os.path.join(scratch, 'cache'), HOME=scratch, GOFLAGS='-mod=mod')
    process = subprocess.Popen([tool(words[0]), *words[1:]], stdin=subprocess.PIPE, env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               cwd=os.path.join(scratch, 'module') if name == 'go' else scratch,
                               preexec_fn=become_server if server else None, start_new_session=True)
    pids = settled(process.pid, nr)
    for pid in pids:
        look(name, pid, pid == pids[0])
    os.killpg(process.pid, signal.SIGKILL)
    said = process.communicate()[1].strip().splitlines()
    if not pids:
        skip(name, f'it does not come up here: {said[-1] if said else process.returncode}')
    return None


scratch = tempfile.mkdtemp()
os.chmod(scratch, 0o777)
wanted = sys.argv[2:] or PROGRAMS
for name in wanted:
    if tool(name):
        check(name, *PROGRAMS[name])
    else:
        skip(name, 'not installed')
shutil.rmtree(scratch, ignore_errors=True)
done()
