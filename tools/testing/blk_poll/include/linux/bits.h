/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_BITS_H
#define BLK_POLL_LINUX_BITS_H

#define BIT(nr)		(1UL << (nr))
#define BIT_ULL(nr)	(1ULL << (nr))

#endif /* BLK_POLL_LINUX_BITS_H */
