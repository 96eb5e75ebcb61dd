/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header of this name; only what blk_poll needs.
 * The C library may take it for its own, which is why the names that both
 * have are left to the compiler's header.
 */
#ifndef BLK_POLL_LINUX_LIMITS_H
#define BLK_POLL_LINUX_LIMITS_H

#include <limits.h>

#define U8_MAX	0xff
#define U16_MAX	0xffff
#define U32_MAX	0xffffffffU
#define U64_MAX	0xffffffffffffffffULL
#define S32_MAX	0x7fffffff
#define S64_MAX	0x7fffffffffffffffLL

#endif /* BLK_POLL_LINUX_LIMITS_H */
