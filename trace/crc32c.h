/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CRC32C_H
#define TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli, RFC 3720 B.4) of @size bytes, going on from @crc; begin with 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
