/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Published ways to decide how long to sleep, to be measured against.
 *
 * They follow the contract of struct blk_poll_policy and need nothing else.  A
 * kernel with BLK_POLL_RIVALS, which is for measuring, has those in its table
 * of policies that do not choose interrupts.  They are not part of the series.
 *
 * All set exact timers, as published: what waking up costs is their problem.
 */
#ifndef BLK_POLL_RIVALS_H
#define BLK_POLL_RIVALS_H

#include "blk-poll-est.h"

extern const struct blk_poll_policy blk_poll_ehp;
extern const struct blk_poll_policy blk_poll_ehp_irq;
extern const struct blk_poll_policy blk_poll_iou;
extern const struct blk_poll_policy blk_poll_pas;
extern const struct blk_poll_policy blk_poll_dpas;
extern const struct blk_poll_policy blk_poll_dpas_xpoint;

#endif /* BLK_POLL_RIVALS_H */
