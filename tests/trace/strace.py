#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The importer of strace logs: every shape that formats of all ages have, and the case files."""
import os
import re

from dumping import CASES, done, dump, dump_file, ok

MMAP = 'mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000001000'
MADE = 'mmap(0, 1000, 3, 22, ffffffffffffffff, 0) = 7f0000001000'


def one(line, wanted, what=None):
    """A log of this one line gives this one call."""
    d = dump(line + '\n')
    ok(d.plain_calls() == [wanted], what or line[:70], d.lines)


def seen(what, text, wanted, *options):
    d = dump(text, *options)
    ok(d.plain_calls() == wanted, what, d.lines)
    return d


# What stands in front of a call, and behind it
for prefix in ('', '123 ', '[pid 123] ', '[pid   123] ', '10:59:55 ', '10:59:55.985404 ', '1796036396.401025 ',
               '     0.000634 ', '123 10:59:55.985404 ', '[pid 123] 10:59:55.985404 ', '123 1796036396.401025 ',
               '123<fmt> ', '123<a b> 10:59:55 ', '[00007f1234567890] ', '[  25] ', '123 10:59:55 [   9] [00007f1234567890] ',
               '10:59:55.985404 (+     0.000012) ', '[pid 123<fmt>] ', '[????????????????] '):
    one(prefix + MMAP, MADE, 'in front: ' + (prefix or 'nothing'))
for suffix in (' <0.000075>', '          ', ' (flags O_RDONLY)'):
    one(MMAP + suffix, MADE, 'behind: ' + suffix)
one(MMAP.replace(') =', ')   ='), MADE, 'a result in its column')
one('mmap(NULL,4096,PROT_READ|PROT_WRITE,MAP_PRIVATE|MAP_ANONYMOUS,-1,0) = 0x00007f0000001000', MADE,
    'no blanks, a padded result')

# Arguments
for old in ('old_mmap', 'mmap2'):
    one(MMAP.replace('mmap', old, 1), MADE, old)
one('mmap(0, 0x1000, 0x3, 0x22, 0xffffffff, 0) = 0x7f0000001000', MADE, 'raw numbers')
one('mmap(NULL, 0x1000, 0x3 /* PROT_READ|PROT_WRITE */, 0x22 /* MAP_PRIVATE|MAP_ANONYMOUS */, -1, 0) = 0x7f0000001000',
    MADE, 'numbers and names')
one('mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|0x20000, -1, 0) = 0x7f0000001000',
    'mmap(0, 1000, 0, 20022, ffffffffffffffff, 0) = 7f0000001000', 'a flag that strace did not know')
one('mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|0x20000 /* MAP_??? */, -1, 0) = 0x7f0000001000',
    'mmap(0, 1000, 0, 20022, ffffffffffffffff, 0) = 7f0000001000', 'a flag that strace did not know, and said so')
one('mmap(NULL, 2097152, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT, -1, 0) = 0x7f0000200000',
    'mmap(0, 200000, 1, 54040022, ffffffffffffffff, 0) = 7f0000200000', 'a page size in the flags')
one('mmap(0x10000, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = -1 EEXIST (File exists)',
    'mmap(10000, 1000, 1, 100022, ffffffffffffffff, 0) = -17', 'an error')
one('munmap(0x1, 4096) = -1 (errno 22)', 'munmap(1, 1000) = -22', 'an error by number')
one('madvise(0x7f0000000000, 4096, 0x66 /* MADV_??? */) = 0', 'madvise(7f0000000000, 1000, 66) = 0', 'an advice by number')
one('madvise(0x7f0000000000, 4096, MADV_GUARD_INSTALL) = 0', 'madvise(7f0000000000, 1000, 66) = 0', 'an advice by name')
one('mremap(0x7f0000000000, 8192, 4096, 0) = 0x7f0000000000', 'mremap(7f0000000000, 2000, 1000, 0, 0) = 7f0000000000',
    'mremap of four arguments')
one('mremap(0x7f0000000000, 8192, 4096, MREMAP_MAYMOVE|MREMAP_FIXED, 0x7f0000100000) = 0x7f0000100000',
    'mremap(7f0000000000, 2000, 1000, 3, 7f0000100000) = 7f0000100000', 'mremap of five')
for zero in ('NULL', '0', '0x0'):
    one(f'brk({zero}) = 0x55b75196b000', 'brk(0) = 55b75196b000')
one('mlockall(MCL_CURRENT|MCL_ONFAULT) = 0', 'mlockall(5) = 0')
one('munlockall()                      = 0', 'munlockall() = 0')
one('mlock2(0x7f0000000000, 4096, MLOCK_ONFAULT) = 0', 'mlock2(7f0000000000, 1000, 1) = 0')
one('pkey_mprotect(0x7f0000000000, 4096, PROT_READ, 1) = 0', 'pkey_mprotect(7f0000000000, 1000, 1, 1) = 0')
one('mseal(0x7f0000000000, 0x1000, 0) = 0', 'mseal(7f0000000000, 1000, 0) = 0')
one('syscall_0x1ce(0x7f0000000000, 0x1000, 0, 0x7f, 0x1, 0x2) = 0', 'mseal(7f0000000000, 1000, 0) = 0', 'mseal by its number')
one('mbind(0x7f0000000000, 4096, MPOL_BIND, [0x0000000000000001], 64, MPOL_MF_STRICT) = 0',
    'mbind(7f0000000000, 1000, 2, 1, 40, 1) = 0')
one('mbind(0x7f0000000000, 4096, MPOL_DEFAULT, NULL, 0, 0) = 0', 'mbind(7f0000000000, 1000, 0, 0, 0, 0) = 0')
one('set_mempolicy(MPOL_PREFERRED, [0x2], 65) = 0', 'set_mempolicy(1, 2, 41) = 0')
one('remap_file_pages(0x7f0000000000, 4096, 0, 3, 0) = 0', 'remap_file_pages(7f0000000000, 1000, 0, 3, 0) = 0')
one('prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0x7f0000000000, 4096, "heap, (two)") = 0',
    'prctl(53564d41, 0, 7f0000000000, 1000, 1) = 0')
one('prctl(0x53564d41 /* PR_??? */, 0, 0x7f0000000000, 0x1000, 0x55d0) = 0',
    'prctl(53564d41, 0, 7f0000000000, 1000, 1) = 0')
one('prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) = 0', 'prctl(29, 1, 0, 0, 0) = 0')
one('ioctl(3, UFFDIO_REGISTER, {range={start=0x7f0000000000, len=0x1000}, mode=UFFDIO_REGISTER_MODE_MISSING|'
    'UFFDIO_REGISTER_MODE_WP, ioctls=1<<_UFFDIO_WAKE}) = 0', 'uffd_ioctl(3, c020aa00, 7f0000000000, 1000, 3) = 0')
one('ioctl(3</anon_inode:[userfaultfd]>, UFFDIO_UNREGISTER, {start=0x7f0000000000, len=0x1000}) = 0',
    'uffd_ioctl(3, 8010aa01, 7f0000000000, 1000, 0) = 0')
one('setrlimit(RLIMIT_AS, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0', 'prlimit(9, 800000, ffffffffffffffff) = 0')
one('prlimit64(0, RLIMIT_STACK, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}, NULL) = 0',
    'prlimit(3, 800000, ffffffffffffffff) = 0')
one('personality(PER_LINUX|ADDR_NO_RANDOMIZE) = 0 (PER_LINUX)', 'personality(40000) = 0')
one('map_shadow_stack(NULL, 0x1000, SHADOW_STACK_SET_TOKEN) = 0x7f0000000000', 'map_shadow_stack(0, 1000, 1) = 7f0000000000')
one('io_setup(128, [0x7f0000000000]) = 0', 'io_setup(80, 7f0000000000) = 0')
for line in ('prlimit64(0, RLIMIT_STACK, NULL, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0',
             'prctl(PR_GET_DUMPABLE) = 1', 'arch_prctl(ARCH_SET_FS, 0x7f0000000740) = 0', 'ioctl(1, TCGETS, {c_iflag=ICRNL, ...}) = 0',
             'personality(0xffffffff) = 0 (PER_LINUX)', 'read(3, "\\177ELF\\2\\1", 832) = 832',
             'write(1, "mmap(NULL, 4096)\\n", 17) = 17', 'rt_sigreturn({mask=[]}) = 1516248014',
             'mincore(0x7feb3fea8000, 4096, [1]) = 0', 'futex(0x7f, FUTEX_WAIT, 1, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)',
             'munmap(0x7f0000000000, 4096) = ? ERESTARTNOINTR (To be restarted)',
             'munmap(0x7f0000000000, 4096) = -1 ENOMEM (Cannot allocate memory) (INJECTED)',
             '[ Process PID=7 runs in x32 mode. ]', '/usr/bin/strace: Process 9 detached', 'strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted'):
    d = dump(MMAP + '\n' + line + '\n')
    ok(d.plain_calls() == [MADE] and not d.trouble(), 'no call of ours: ' + line[:60], d.lines)

# mmap2: pages in old logs, bytes in new ones; the whole log is one or the other
seen('mmap2 in pages', 'mmap2(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0x40000000\n'
     'mmap2(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0x131) = 0x40002000\n',
     ['mmap(0, 2000, 1, 2, 3, 1000000) = 40000000', 'mmap(0, 2000, 1, 2, 3, 131000) = 40002000'])
seen('mmap2 in bytes', 'mmap2(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0x131000) = 0x40000000\n',
     ['mmap(0, 2000, 1, 2, 3, 131000) = 40000000'])

# Times
d = dump('1 23:59:59.500000 brk(NULL) = 0x1000\n1 00:00:00.250000 brk(0x3000) = 0x3000 <0.000075>\n')
ok('time=750000000+75000' in d.of('call')[1], 'over midnight, with a duration', d.lines)
d = dump('     0.000000 brk(NULL) = 0x1000\n     0.000100 brk(0x3000) = 0x3000\n     0.000200 brk(0x4000) = 0x4000\n')
ok(['time=' in c for c in d.of('call')] == [False, True, True] and 'time=300000' in d.of('call')[2], 'from line to line', d.lines)
d = dump('1796036396.000001 brk(NULL) = 0x1000\n1796036397.000001 brk(0x3000) = 0x3000\n')
ok('time=1000000000' in d.of('call')[1], 'since 1970', d.lines)

# Lines that are no calls
d = dump('\n'.join(['strace: Process 7 attached', 'Process 8 attached (waiting for parent)', 'Process 9 resumed',
                    'Process 10 attached with 3 threads', '[ Process PID=7 runs in 32 bit mode. ]', '7 ' + MMAP,
                    '7 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_ACCERR, si_addr=0x7f8252f39000} ---',
                    '7 --- stopped by SIGSTOP ---', '7 +++ killed by SIGKILL +++', 'strace: exit']) + '\n')
ok(d.plain_calls() == [MADE] and not d.trouble() and d.calls()[0][3] & 2, 'messages; a 32-bit process', d.lines)
ok(d.of('end')[0].split()[-2] == '89', 'killed by SIGKILL is status 128 + 9', d.lines)
d = dump(MMAP + '\n+++ exited with 3 +++\n')
ok(d.of('end')[0].split()[-2] == '3' and 'flags' not in d.of('end')[0], 'exit status', d.lines)
d = dump(MMAP + '\n')
ok('flags=10' in d.of('end')[0], 'still alive at the end of the log', d.lines)
d = dump('execve("/bin/true", ["true"], [/* 21 vars */]) = 0\nbrk(0) = 0x8a00000\n_exit(2) = ?\n')
ok('born=exec' in d.of('space')[0] and "'true'" in d.of('comm')[0] and d.of('end')[0].split()[-2] == '2' and
   d.reasons() == ['no start areas'], 'a log of 2001 from exec to _exit tells that there were no others', d.lines)
table = '% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n' \
        '100.00    0.000000           0        39         2 mmap\n------ ----------- ----------- --------- --------- ----------------\n' \
        '100.00    0.000000                    39         2 total\n'
d = dump(MMAP + '\n' + table)
ok(d.plain_calls() == [MADE] and not d.trouble(), 'the table of -C', d.lines)
d = dump(table)
ok(not d.calls() and 'strace -c' in d.trouble()[0], 'the table of -c alone is refused by name', d.lines)

# Two halves
seen('unfinished and resumed, new form', '1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0 <unfinished ...>\n'
     '2 brk(NULL) = 0x1000\n1 <... mmap resumed>) = 0x7f0000001000 <0.000041>\n', ['brk(0) = 1000', MADE])
seen('old form', '1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0 <unfinished ...>\n'
     '2 brk(NULL) = 0x1000\n1 <... mmap resumed> ) = 0x7f0000001000\n', ['brk(0) = 1000', MADE])
d = seen('never resumed', '1 munmap(0x7f0000000000, 4096 <unfinished ...>\n1 +++ killed by SIGKILL +++\n',
         ['munmap(7f0000000000, 1000) = 0'])
ok(d.calls()[0][3] & 1 and 'calls without results' in d.reasons(), 'has no result', d.lines)
d = dump('1 <... mmap resumed>) = 0x7f0000001000\n1 brk(NULL) = 0x1000\n')
ok(d.plain_calls() == ['brk(0) = 1000'] and 'calls without beginnings' in d.reasons(), 'a second half alone', d.lines)
seen('torn by a message', '[pid 5] mprotect(0x7fbd7ed94000, 4096, PROT_NONEstrace: Process 6 attached\n) = 0\n[pid 6] brk(NULL) = 0x1000\n',
     ['mprotect(7fbd7ed94000, 1000, 0) = 0', 'brk(0) = 1000'])
seen('torn by a message of a strace with a path', '[pid 5] mprotect(0x7fbd7ed94000, 4096, PROT_NONE/usr/bin/strace: Process 6 attached\n) = 0\n',
     ['mprotect(7fbd7ed94000, 1000, 0) = 0'])
d = seen('detached', '[pid 5] munmap(0x7f0000000000, 4096 <detached ...>\n', ['munmap(7f0000000000, 1000) = 0'])
ok(d.calls()[0][3] & 1, 'has no result', d.lines)
seen('torn by a message, resumed later', '[pid 5] mprotect(0x7fbd7ed94000, 4096, PROT_NONEstrace: Process 6 attached\n <unfinished ...>\n'
     '[pid 6] brk(NULL) = 0x1000\n[pid 5] <... mprotect resumed>) = 0\n',
     ['brk(0) = 1000', 'mprotect(7fbd7ed94000, 1000, 0) = 0'])
seen('torn by its buffer', '5 read(3,  <unfinished ...>\n"", 4096)     = 0\n5 ' + MMAP + '\n', [MADE])
d = dump('5 munmap(0x7f0000000000, 4096 <unfinished ...>\n5 +++ exited with 0 +++\n5 ' + MMAP + '\n')
ok(len(d.of('space')) == 2, 'a number that is used again is another process', d.lines)

# What overlapped in one space, ordered by its results
CLONE = '1 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM, parent_tid=[2]) = 2\n'
A = '1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000001000\n'
MADE_A = 'mmap(0, 1000, 1, 22, ffffffffffffffff, 0) = 7f0000001000'
GONE = 'munmap(7f0000001000, 1000) = 0'
d = seen('the address was free only after the other munmap', CLONE + A + '1 munmap(0x7f0000001000, 4096 <unfinished ...>\n' + A.replace('1', '2', 1) +
         '1 <... munmap resumed>) = 0\n', [MADE_A, GONE, MADE_A])
ok(not d.of('change') and not any(c[3] for c in d.calls()), 'and so it is not taken for a lost munmap', d.lines)
seen('a change that needs the map comes before its end', CLONE + A + '1 mprotect(0x7f0000001000, 4096, PROT_NONE <unfinished ...>\n'
     '2 munmap(0x7f0000001000, 4096) = 0\n1 <... mprotect resumed>) = 0\n',
     [MADE_A, 'mprotect(7f0000001000, 1000, 0) = 0', GONE])
seen('a change that failed comes after it', CLONE + A + '1 munmap(0x7f0000001000, 4096 <unfinished ...>\n'
     '2 mprotect(0x7f0000001000, 4096, PROT_NONE) = -1 ENOMEM (Cannot allocate memory)\n1 <... munmap resumed>) = 0\n',
     [MADE_A, GONE, 'mprotect(7f0000001000, 1000, 0) = -12'])
seen('and before it, when it comes from the one that was interrupted', CLONE + A + '1 mprotect(0x7f0000001000, 4096, PROT_NONE <unfinished ...>\n'
     '2 munmap(0x7f0000001000, 4096) = 0\n1 <... mprotect resumed>) = -1 ENOMEM (Cannot allocate memory)\n',
     [MADE_A, GONE, 'mprotect(7f0000001000, 1000, 0) = -12'])
d = seen('two that could have come in any order', CLONE + A + '1 mprotect(0x7f0000001000, 4096, PROT_NONE <unfinished ...>\n'
         '2 mprotect(0x7f0000001000, 4096, PROT_READ|PROT_WRITE) = 0\n1 <... mprotect resumed>) = 0\n',
         [MADE_A, 'mprotect(7f0000001000, 1000, 3) = 0', 'mprotect(7f0000001000, 1000, 0) = 0'])
ok([c[3] & 8 for c in d.calls()] == [0, 8, 8], 'are both marked', d.lines)
B = 'mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0'
seen('two maps side by side: downward, the upper one was first', CLONE + A + f'1 {B} <unfinished ...>\n2 {B}) = 0x7effffffe000\n'
     '1 <... mmap resumed>) = 0x7efffffff000\n',
     [MADE_A, MADE_A.replace('7f0000001000', '7efffffff000'), MADE_A.replace('7f0000001000', '7effffffe000')])

# Whose space
d = dump(CLONE + A + A.replace('1', '2', 1).replace('0x7f0000001000', '0x7f0000000000'))
ok(len(d.of('space')) == 1 and {c[1] for c in d.calls()} == {0} and 'clone not in log' not in d.reasons(), 'a thread shares its space', d.lines)
d = dump(A + '1 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} <unfinished ...>\n2 brk(NULL) = 0x1000\n'
         '1 <... clone3 resumed> => {parent_tid=[2]}, 88) = 2\n')
ok(len(d.of('space')) == 1, 'a thread whose first line stands inside of the clone', d.lines)
d = dump(A.replace('1', '2', 1) + '1 fork() = 2\n2 munmap(0x7f0000001000, 4096) = 0\n')
ok(len(d.of('space')) == 1 and len(d.of('end')) == 1 and not d.trouble(), 'one whose lines stand before all of its maker', d.lines)
for fork in ('fork() = 2', 'clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 2',
             'clone(0x1200011, 0, 0, 0x7fb5a7592a10, 0) = 0x2', 'clone3({flags=CLONE_CHILD_SETTID, exit_signal=SIGCHLD}, 88) = 2'):
    d = dump(A + '1 ' + fork + '\n2 munmap(0x7f0000001000, 4096) = 0\n')
    ok(len(d.of('space')) == 2 and 'born=fork' in d.of('space')[1] and d.calls()[-1][1] == 1, 'its own copy: ' + fork[:30], d.lines)
d = dump(A + '1 vfork( <unfinished ...>\n2 execve("/bin/ls", ["ls"], 0x7ffe /* 20 vars */) = 0\n1 <... vfork resumed>) = 2\n2 brk(NULL) = 0x1000\n'
         '2 +++ exited with 0 +++\n1 +++ exited with 0 +++\n')
ok(len(d.of('space')) == 2 and 'born=exec' in d.of('space')[1] and d.calls()[-1][1] == 1 and len(d.of('end')) == 2,
   'vfork makes no space, the exec does', d.lines)
d = dump(A + CLONE + '2 execve("/bin/ls", ["ls"], 0x7ffe /* 20 vars */ <unfinished ...>\n1 +++ superseded by execve in pid 2 +++\n'
         '1 <... execve resumed>) = 0\n1 brk(NULL) = 0x1000\n1 +++ exited with 0 +++\n')
ok(len(d.of('space')) == 2 and d.calls()[-1][:2] == (1, 1) and len(d.of('end')) == 2, 'exec from a thread', d.lines)
d = dump('1 execve("/bin/nothing", ["nothing"], 0x7ffe /* 20 vars */) = -1 ENOENT (No such file or directory)\n' + A)
ok(len(d.of('space')) == 1 and 'born=unknown' in d.of('space')[0], 'an exec that failed', d.lines)
d = dump(A + '2 munmap(0x7f0000001000, 4096) = 0\n')
ok(len(d.of('space')) == 1 and 'clone not in log' in d.reasons(), 'a stranger that names memory of another is one of its threads', d.lines)
d = dump('2 munmap(0x7f0000001000, 4096) = 0\n' + A.replace('1', '3', 1) + '1 brk(NULL) = 0x5000\n')
ok(len(d.of('space')) == 3 and 'clone not in log' not in d.reasons(), 'others have spaces of their own', d.lines)
d = dump(A + '2 munmap(0x7f0000001000, 4096) = 0\n2 +++ exited with 0 +++\n1 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2, si_uid=0} ---\n')
ok(len(d.of('space')) == 2 and 'born=fork' in d.of('space')[1] and 'clone not in log' in d.reasons(),
   'one whose end was told by SIGCHLD is a child', d.lines)
d = dump('1 brk(NULL) = 0x1000\n1 brk(0x3000) = 0x3000\n1 brk(NULL) = 0x9000\n')
ok(len(d.of('space')) == 2 and 'exec not in log' in d.reasons(), 'another break is another program', d.lines)
d = dump('strace: Process 5 attached with 3 threads\n[pid 7] brk(NULL) = 0x1000\n[pid 6] brk(NULL) = 0x1000\n[pid 5] brk(NULL) = 0x1000\n')
ok(len(d.of('space')) == 1 and {c[0] for c in d.calls()} == {5, 6, 7} and 'clone not in log' not in d.reasons(), 'attached to a process with threads', d.lines)
d = dump(A[2:] + '[pid 2] munmap(0x7f0000001000, 4096) = 0\n[pid 1] brk(NULL) = 0x1000\n[pid 2] +++ exited with 0 +++\nbrk(NULL) = 0x1000\n')
ok([c[0] for c in d.calls()] == [1, 2, 1, 1], 'bare lines are the first process\'s', d.lines)
d = dump(MMAP + '\nclone(child_stack=NULL, flags=SIGCHLD) = 77\nexit_group(0) = ?\n')
ok('no -f' in d.reasons() and len(d.of('space')) == 1, 'no -f: a child that is not followed', d.lines)
d = dump(MMAP + '\n')
ok('no -f' in d.reasons(), 'no -f: nothing tells of others', d.lines)

# Descriptors
F = 'mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, %s, 0) = 0x7f00000%d1000\n'


def files(*lines):
    return [re.search(r'file=(\d+):(\d+):(\w+):(.*)', line).groups() for line in dump(''.join(lines)).of('call') if 'file=' in line]


f = files('openat(AT_FDCWD, "/a", O_RDONLY|O_CLOEXEC) = 3\n', F % ('3', 1), F % ('3', 2), 'close(3) = 0\n', 'openat(AT_FDCWD, "/a", O_RDWR) = 3\n', F % ('3', 3),
          'dup(3) = 4\n', F % ('4', 4), 'fcntl(4, F_DUPFD_CLOEXEC, 0) = 5\n', F % ('5', 5), 'dup2(0, 4) = 4\n', F % ('4', 6),
          'memfd_create("x y", MFD_CLOEXEC) = 7\n', F % ('7', 7))
ok([x[1] for x in f] == ['1', '1', '2', '2', '2', '3', '4'], 'each open is another, dup is the same', f)
ok([x[2] for x in f] == ['1', '1', '3', '3', '3', '3', 'b'] and f[6][3] == '/memfd:x y', 'how they were opened', f)
f = files(F % ('3</etc/a b, (c)>', 1), F % ('3</etc/a b, (c)>', 2), F % ('3</memfd:x>(deleted)', 3), F % ('4</memfd:x>(deleted)', 4))
ok([x[0] for x in f] == ['1', '1', '2', '3'] and f[0][3] == '/etc/a b, (c)' and f[2][2:] == ('b', '/memfd:x'), 'by number and path, where opens are not logged', f)
f = files(F % ('3</dev/zero<char 1:5>>', 1))
ok(f[0][3] == '/dev/zero<char 1:5>', '-yy', f)
f = files('1 openat(AT_FDCWD, "/a", O_RDONLY) = 3\n', '1 fork() = 2\n', '2 ' + F % ('3', 1), '1 ' + F % ('3', 2), '2 close(3) = 0\n',
          '2 openat(AT_FDCWD, "/a", O_RDONLY) = 3\n', '2 ' + F % ('3', 3), '1 ' + F % ('3', 4))
ok([x[1] for x in f] == ['1', '1', '2', '1'], 'a child has the descriptors of its parent, and then its own', f)

# shm
d = dump('shmget(IPC_PRIVATE, 8192, IPC_CREAT|0600) = 12\nshmat(12, NULL, 0) = 0x7f0000000000\nshmat(13, NULL, SHM_RDONLY) = 0x7f0000010000\nshmdt(0x7f0000000000) = 0\n'
         'mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000\n')
ok(d.plain_calls()[:3] == ['shmat(c, 0, 0, 2000) = 7f0000000000', 'shmat(d, 0, 1000, 0) = 7f0000010000', 'shmdt(7f0000000000) = 0'] and
   'shmat of unknown size' in d.reasons() and not d.of('change'), 'shared memory of System V', d.lines)

# Handed out twice
d = dump(A + A)
ok(d.fact('reused') == '1' and d.of('change') and 'addresses handed out twice' in d.reasons() and d.of('change')[0].endswith(' 7f0000001000 7f0000002000'),
   'an address handed out twice is taken as freed', d.lines)
d = dump(A + A.replace('NULL', '0x7f0000001000').replace('MAP_PRIVATE', 'MAP_PRIVATE|MAP_FIXED'))
ok(d.fact('reused') == '0' and not d.of('change'), 'but not where MAP_FIXED asked for it', d.lines)

# Stacks
d = dump(A + ' > /lib/libc.so.6(mmap+0x37) [0x10]\n > /bin/a(main+0x1) [0x20]\n' + A.replace('1000 ', '2000 ').replace('0x7f0000001000', '0x7f0000005000') +
         ' > /lib/libc.so.6(mmap+0x37) [0x10]\n > /bin/a(main+0x1) [0x20]\n' + '1 munmap(0x7f0000005000, 4096) = 0\n > /bin/b(f+0x1) [0x20]\n')
ok([re.search(r'stack=(\d+)', c)[1] for c in d.of('call')] == ['1', '1', '2'], 'stacks have numbers', d.lines)

# Errors
for bad, word in (('hello, world', 'name(arguments)'), ('mmap(NULL, 4096, PROT_READ|PROT_WHAT, MAP_PRIVATE, 3, 0) = 0x7f0000000000', 'PROT_WHAT'),
                  ('mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3) = 0x7f0000000000', 'six'), ('munmap(0x7f0000000000, 4096', ')'),
                  ('munmap(0x7f0000000000, 4096) = zero', 'result'), ('munmap(0x7f0000000000) = 0', 'argument')):
    d = dump(A + A.replace('7f', '6f') + bad + '\n' + A.replace('7f', '5f'))
    ok(len(d.trouble()) == 1 and 'line=3' in d.trouble()[0] and word in d.trouble()[0], 'refused with its line: ' + bad[:40], d.lines)
    d = dump(A + A.replace('7f', '6f') + bad + '\n' + A.replace('7f', '5f'), '--skip-bad')
    ok(len(d.calls()) == 3 and d.fact('bad') == '1' and 'lines left out' in d.reasons(), 'left out: ' + bad[:40], d.lines)
d = dump(A + '1 mmap(NULL, 4096, PROT_R')
ok(d.plain_calls() == [MADE_A] and 'cut in its last line' in d.reasons(), 'a log that was cut', d.lines)

# The case files
for name in sorted(os.listdir(CASES)):
    if not name.endswith('.strace'):
        continue
    d = dump_file(os.path.join(CASES, name))
    with open(os.path.join(CASES, name), errors='replace') as log:
        lines = log.read().splitlines()
    known = r'(?:mmap|old_mmap|munmap|mprotect|mremap|madvise|m(?:un)?lock|m(?:un)?lockall|brk)'
    wanted = sum(bool(re.match(rf'(?:\[pid +\d+\] |\d+ )?(?:[\d:.]+ | +[\d.]+ )?{known}\(', line)) for line in lines)
    ok(int(d.fact('calls')) == wanted and not d.trouble(), f'{name}: {wanted} calls', d.lines[:20], d.fact('calls'))


def threads(name):
    """The calls of each thread, addresses left aside."""
    found = {}
    for tid, _, call, _ in dump_file(os.path.join(CASES, f'12-formats-a.{name}.strace')).calls():
        found.setdefault(tid, []).append(re.sub(r'\b[0-9a-f]{8,}\b', 'A', call))
    return sorted(found.values())


wanted = threads('f-tt-T')
ok([len(t) for t in wanted] == [40, 49, 49, 1], 'four threads', [len(t) for t in wanted])
for name in ('C', 'stderr', 'y'):
    ok(threads(name) == wanted, f'12 {name}: the same calls in each thread')
ok(threads('default') == [wanted[0]], '12 default: those of the first')
ok(sorted(threads('k')) == sorted([c for c in t if re.match('mmap|mprotect', c)] for t in wanted if len(t) > 1), '12 k: maps and protections')
d = dump_file(os.path.join(CASES, '12-formats-a.k.strace'))
ok(all('stack=' in c for c in d.of('call')), '12 k: each with its stack')
for name in ('f-tt-T', 'C', 'stderr', 'y'):
    d = dump_file(os.path.join(CASES, f'12-formats-a.{name}.strace'))
    ok(len(d.of('space')) == 2 and 'clone not in log' in d.reasons() and d.fact('reused') == '0', f'12 {name}: threads recognised, a child forked', d.of('space'))
d = dump_file(os.path.join(CASES, '12-formats-a.default.strace'))
ok('no -f' in d.reasons(), '12 default: no -f')
d = dump_file(os.path.join(CASES, '07-thread-stacks.strace'))
ok(len(d.of('space')) == 1 and d.fact('reused') == '0' and not any(c[3] & 8 for c in d.calls()), '07: 40 threads, one space, nothing open', d.of('space'))
d = dump_file(os.path.join(CASES, '08-fork-anon-vma.strace'))
ok(len(d.of('space')) == 24 and sum('born=fork' in s for s in d.of('space')) == 23, '08: 23 forks')
done()
