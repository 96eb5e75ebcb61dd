/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_LOG2_H
#define BLK_POLL_LINUX_LOG2_H

#include <linux/types.h>

/* Undefined for 0 in the kernel; here UBSan reports it. */
static inline int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

#endif /* BLK_POLL_LINUX_LOG2_H */
