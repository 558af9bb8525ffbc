/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/data.h - seam.data: writing and reading it. docs/file-format.md tells the format.
 *
 * Writing: one thread makes events, a second one compresses and writes; data_write never waits for
 * the disk unless two whole blocks are pending. Reading: from a buffer that holds the whole file.
 */
#ifndef TRACE_DATA_H
#define TRACE_DATA_H

#include "trace/event.h"
#include "trace/trace.h"

/* The first bytes of every seam.data. */
#define DATA_MAGIC "\x89seam\r\n\x1a"
#define DATA_MAGIC_SIZE 8

/* One frame of a call stack: an offset into a module, or an address when module is 0. */
struct trace_frame {
	uint32_t module; /* number of a struct trace_module; 0: none */
	uint64_t offset; /* in the module's file, or the address itself */
};

struct trace_module {
	const char *path;
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: it has none */
};

struct trace_stack {
	const struct trace_frame *frames; /* innermost first */
	uint32_t nr_frames;
};

struct data_writer;

/*
 * Writes to @fd, which stays the caller's and may be a pipe. @host is stored at once. Times are kept
 * in ticks of @tick_ns: what is finer than the recorder can tell costs a byte or two per call.
 *  -ENOMEM, -EAGAIN (no thread), or the errno of write
 */
int data_writer_open(int fd, const struct trace_host *host, uint32_t tick_ns,
		     struct data_writer **ret_writer);

/*
 * Before the first event: the file is @size bytes long by now, of an earlier recording. Nobody reads
 * them from here on; they go when the first block is written, by the writer's thread. -errno
 */
int data_writer_replaces(struct data_writer *writer, uint64_t size);

/*
 * Adds one event. Numbers of files and stacks must come from the calls below. Errors stick: once a
 * write has failed, nothing more is written and every call gives the same error.
 */
int data_write(struct data_writer *writer, const struct event *event);

/* The number of a file, module or stack, written when it is new; 0 when there is no memory. */
uint32_t data_write_file(struct data_writer *writer, const struct trace_file *file);
uint32_t data_write_module(struct data_writer *writer, const struct trace_module *module);
uint32_t data_write_stack(struct data_writer *writer, const struct trace_stack *stack);

/* 0, or the first error of any call. */
int data_writer_error(struct data_writer *writer);

/*
 * Writes what is left and the closing record, and frees the writer. The first error of all.
 * *ret_bytes (may be NULL): what the file has.
 */
int data_writer_close(struct data_writer *writer, uint64_t *ret_bytes);

struct data_reader;

/*
 * @data must stay until data_reader_close. @facts is filled in step with the events; its counts are
 * final when data_reader_next has returned 0.
 *  -EINVAL  not a seam.data, or of a later major version; *ret_error tells
 *  -ENOMEM
 */
int data_reader_open(const void *data, size_t size, struct trace_facts *facts,
		     struct data_reader **ret_reader, struct trace_error *ret_error);
/* 1 and *ret_event; 0 at the end, also when the file was cut (facts tell); -EINVAL; -ENOMEM. */
int data_reader_next(struct data_reader *reader, struct event *ret_event,
		     struct trace_error *ret_error);
/* NULL: no such number so far. */
const struct trace_file *data_reader_file(const struct data_reader *reader, uint32_t number);
const struct trace_module *data_reader_module(const struct data_reader *reader, uint32_t number);
/* Lives until the next call. */
const struct trace_stack *data_reader_stack(struct data_reader *reader, uint32_t number);
void data_reader_close(struct data_reader *reader);

#endif
