/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives a fuzzer's target the files and the folders of files that are named, one by one (TAP). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

static int run_file(const char *path)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, room = 0, n;

	if (!in)
		return -1;
	do {
		if (size == room) {
			room = room * 2 + 65536;
			data = realloc(data, room);
			if (!data)
				abort();
		}
		n = fread(data + size, 1, room - size, in);
		size += n;
	} while (n);
	fclose(in);
	/* exactly as large as it is, so that a sanitizer sees each step beyond the end */
	data = realloc(data, size ? size : 1);
	if (!data)
		abort();
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static unsigned int run_path(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int nr = 0;
	struct dirent *entry;

	if (!dir)
		return run_file(path) ? 0 : 1;
	while ((entry = readdir(dir))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		nr += run_path(name);
	}
	closedir(dir);
	return nr;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0;

	for (int i = 1; i < argc; i++)
		nr += run_path(argv[i]);
	printf("%sok 1 - %u inputs\n1..1\n", nr ? "" : "not ", nr);
	return nr == 0;
}
