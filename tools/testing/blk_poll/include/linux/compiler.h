/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_COMPILER_H
#define BLK_POLL_LINUX_COMPILER_H

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))

#define __printf(fmt, first)	__attribute__((format(printf, fmt, first)))
#define __noreturn		__attribute__((noreturn))

#endif /* BLK_POLL_LINUX_COMPILER_H */
