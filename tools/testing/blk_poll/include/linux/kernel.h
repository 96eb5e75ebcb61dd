/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_KERNEL_H
#define BLK_POLL_LINUX_KERNEL_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#endif /* BLK_POLL_LINUX_KERNEL_H */
