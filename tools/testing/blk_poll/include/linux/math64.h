/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_MATH64_H
#define BLK_POLL_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline u64 mul_u32_u32(u32 a, u32 b)
{
	return (u64)a * b;
}

#endif /* BLK_POLL_LINUX_MATH64_H */
