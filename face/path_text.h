/* SPDX-License-Identifier: BSD-2-Clause */
/* face/path_text.h - a path within a line of text. */
#ifndef FACE_PATH_TEXT_H
#define FACE_PATH_TEXT_H

#include <stdio.h>

/* What ends the line or moves a terminal, as strace escapes it. */
#define PATH_CONTROLS                                                                              \
	"\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020\021\022\023\024\025\026" \
	"\027\030"                                                                                 \
	"\031\032\033\034\035\036\037\177"

/* Each byte of @path that is one of @escaped is written in octal, "\012" (fs/seq_file.c, mangle_path). */
void path_text(FILE *out, const char *path, const char *escaped);

#endif
