/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header of this name; only what blk_poll needs. */
#ifndef BLK_POLL_LINUX_MODULE_H
#define BLK_POLL_LINUX_MODULE_H

/* A declaration that changes nothing, to go with the semicolon. */
#define BLK_POLL_MODULE_NOTHING		struct blk_poll_module_nothing

#define MODULE_AUTHOR(text)		BLK_POLL_MODULE_NOTHING
#define MODULE_DESCRIPTION(text)	BLK_POLL_MODULE_NOTHING
#define MODULE_LICENSE(text)		BLK_POLL_MODULE_NOTHING

#endif /* BLK_POLL_LINUX_MODULE_H */
