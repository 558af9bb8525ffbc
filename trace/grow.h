/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/grow.h - arrays that grow by doubling. */
#ifndef TRACE_GROW_H
#define TRACE_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Makes room for one more of @nr things of @size in the array that @array points to; @room is how
 * many fit. -ENOMEM leaves all as it was.
 */
static inline int grow(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	void **at = array;
	uint32_t more = *room ? *room * 2 : 16;
	void *p;

	if (nr < *room)
		return 0;
	if (more <= *room)
		return -ENOMEM;
	p = reallocarray(*at, more, size);
	if (!p)
		return -ENOMEM;
	*at = p;
	*room = more;
	return 0;
}

#endif
