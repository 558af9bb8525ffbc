/* SPDX-License-Identifier: BSD-2-Clause */
#include "face/path_text.h"

#include <string.h>

void path_text(FILE *out, const char *path, const char *escaped)
{
	for (; *path; path++)
		if (strchr(escaped, *path))
			fprintf(out, "\\%03o", (unsigned char)*path);
		else
			fputc(*path, out);
}
