# SPDX-License-Identifier: BSD-2-Clause
"""The releases whose answers are known, and the form in which answers are compared."""
RELEASES = ('2.2.13', '2.4.2', '2.4.3', '2.4.10', '2.6.0', '2.6.6', '2.6.7', '2.6.12-rc1', '2.6.24')


def policy(release):
    return 'linux-' + release.replace('-rc1', '')


def plain_form(text, release):
    """Lines without comments; identities numbered as they appear, offsets that mean nothing left out."""
    old = release.startswith(('2.2', '2.4'))
    numbers, lines = {}, []
    for line in text.splitlines():
        if line.startswith('#'):
            continue
        if line.startswith(' '):
            words = line.split()
            if words[3] == '0' and old:
                words[2] = '*'
            if int(words[3]) >= 100:
                words[3] = numbers.setdefault('file ' + words[3], f'file{len(numbers)}')
            if len(words) > 4 and words[4] != '0':
                words[4] = numbers.setdefault('anon ' + words[4], f'anon{len(numbers)}')
            line = ' ' + ' '.join(words)
        lines.append(line.rstrip())
    return lines
