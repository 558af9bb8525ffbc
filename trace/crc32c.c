/* SPDX-License-Identifier: BSD-2-Clause */
/* Eight bytes a step, by one table for each byte's distance from the end of the step. */
#include "trace/crc32c.h"

#include <pthread.h>

#include "trace/data_format.h"

#define CRC32C_POLYNOMIAL UINT32_C(0x82f63b78) /* 0x1edc6f41, lowest bit first */

static uint32_t table[8][256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC32C_POLYNOMIAL : 0);
		table[0][byte] = crc;
	}
	for (int step = 1; step < 8; step++)
		for (int byte = 0; byte < 256; byte++) {
			uint32_t crc = table[step - 1][byte];

			table[step][byte] = crc >> 8 ^ table[0][crc & 0xff];
		}
}

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	pthread_once(&table_made, make_table);
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		uint32_t low = get_le32(p) ^ crc, high = get_le32(p + 4);

		crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
		      table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^ table[3][high & 0xff] ^
		      table[2][high >> 8 & 0xff] ^ table[1][high >> 16 & 0xff] ^
		      table[0][high >> 24];
	}
	for (; size; size--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}
