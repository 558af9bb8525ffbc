/* SPDX-License-Identifier: BSD-2-Clause */
#include "sym/symbols.h"

#include <stddef.h>

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "trace/data.h"
#include "trace/grow.h"

struct entry {
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_size;
	Dwfl *dwfl;	     /* with this module alone */
	Dwfl_Module *module; /* NULL: not there any more, or another file by now */
};

struct symbols {
	struct entry *entries;
	uint32_t nr, room;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (uint32_t i = 0; i < symbols->nr; i++) {
		dwfl_end(symbols->entries[i].dwfl);
		free(symbols->entries[i].path);
	}
	free(symbols->entries);
	free(symbols);
}

static bool is_recorded(Dwfl_Module *module, const struct entry *entry)
{
	const unsigned char *build_id;
	GElf_Addr at;
	int size;

	/* reads the file, and its build-id with it */
	if (!dwfl_module_getelf(module, &(GElf_Addr) { 0 }))
		return false;
	size = dwfl_module_build_id(module, &build_id, &at);
	return !entry->build_id_size || (size == entry->build_id_size &&
					 memcmp(build_id, entry->build_id, (size_t)size) == 0);
}

static void load(struct entry *entry)
{
	entry->dwfl = dwfl_begin(&callbacks);
	if (!entry->dwfl)
		return;
	entry->module = dwfl_report_offline(entry->dwfl, entry->path, entry->path, -1);
	dwfl_report_end(entry->dwfl, NULL, NULL);
	if (entry->module && !is_recorded(entry->module, entry))
		entry->module = NULL;
}

static struct entry *find_entry(struct symbols *symbols, const struct trace_module *module)
{
	struct entry *entry;

	for (uint32_t i = 0; i < symbols->nr; i++) {
		entry = &symbols->entries[i];
		if (!strcmp(entry->path, module->path) &&
		    entry->build_id_size == module->build_id_size &&
		    memcmp(entry->build_id, module->build_id, module->build_id_size) == 0)
			return entry;
	}
	if (grow(&symbols->entries, symbols->nr, &symbols->room, sizeof(*symbols->entries)))
		return NULL;
	entry = &symbols->entries[symbols->nr];
	*entry = (struct entry) { .path = strdup(module->path),
				  .build_id_size = module->build_id_size };
	if (!entry->path)
		return NULL;
	memcpy(entry->build_id, module->build_id, module->build_id_size);
	symbols->nr++;
	load(entry);
	return entry;
}

/* The address that libdw gives the byte at @offset of the file. */
static bool address_of(Dwfl_Module *module, uint64_t offset, GElf_Addr *ret_addr)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t nr_headers;

	if (!elf || elf_getphdrnum(elf, &nr_headers))
		return false;
	for (size_t i = 0; i < nr_headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    offset < header.p_offset || offset - header.p_offset >= header.p_filesz)
			continue;
		*ret_addr = offset - header.p_offset + header.p_vaddr + bias;
		return true;
	}
	return false;
}

const char *symbols_name(void *symbols, const struct trace_module *module, uint64_t offset,
			 uint64_t *ret_into)
{
	struct entry *entry = find_entry(symbols, module);
	GElf_Addr addr;
	GElf_Off into;
	GElf_Sym sym;
	const char *name;

	if (!entry || !entry->module || !address_of(entry->module, offset, &addr))
		return NULL;
	name = dwfl_module_addrinfo(entry->module, addr, &into, &sym, NULL, NULL, NULL);
	*ret_into = into;
	return name;
}

#else

struct symbols *symbols_new(void)
{
	return NULL;
}

void symbols_free(struct symbols *symbols)
{
}

const char *symbols_name(void *symbols, const struct trace_module *module, uint64_t offset,
			 uint64_t *ret_into)
{
	return NULL;
}

#endif
