/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_STRING_H
#define BLK_POLL_LINUX_STRING_H

#include <string.h>

/* Unlike the kernel's it does not tell whether the string was cut. */
static inline void strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

#endif /* BLK_POLL_LINUX_STRING_H */
