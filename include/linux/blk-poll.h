/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BLK_POLL_H
#define _LINUX_BLK_POLL_H

#include <linux/blkdev.h>

struct blk_mq_hw_ctx;
struct blk_poll_wait;
struct request;

#ifdef CONFIG_BLK_HYBRID_POLL
void __blk_poll_consult(struct blk_mq_hw_ctx *hctx, struct blk_poll_wait *wait);
void __blk_poll_reflect(struct request *rq, struct blk_poll_wait *wait,
			bool is_error);
void blk_poll_forget(struct request_queue *q);
#else
static inline void __blk_poll_consult(struct blk_mq_hw_ctx *hctx,
				      struct blk_poll_wait *wait)
{
}

static inline void __blk_poll_reflect(struct request *rq,
				      struct blk_poll_wait *wait, bool is_error)
{
}

static inline void blk_poll_forget(struct request_queue *q)
{
}
#endif /* CONFIG_BLK_HYBRID_POLL */

/**
 * blk_poll_consult() - Say that a look found the completion queue empty.
 * @hctx: The hardware queue that was looked at.
 * @iob: The completion batch that ->poll() was called with, or NULL.
 *
 * For a driver's ->poll().  Decides whether and until when the poller should
 * sleep before it looks again, and leaves the answer in @iob for the poller,
 * who does the sleeping.  A driver that does not call this never makes anybody
 * sleep.
 *
 * Context: As ->poll(): task context, usually under rcu_read_lock().  Does not
 * sleep.  The driver may hold a lock of its own.
 */
static inline void blk_poll_consult(struct blk_mq_hw_ctx *hctx,
				    struct io_comp_batch *iob)
{
	if (iob && iob->wait)
		__blk_poll_consult(hctx, iob->wait);
}

/**
 * blk_poll_reflect() - Learn from a completion that a poller has found.
 * @rq: The request, not completed yet.
 * @iob: The completion batch that ->poll() was called with, or NULL.
 * @is_error: The request failed; its latency teaches nothing.
 *
 * blk_mq_add_to_batch() calls this; a driver need not.
 *
 * Context: Any in which @rq may be completed.  Does not sleep.
 */
static inline void blk_poll_reflect(struct request *rq,
				    struct io_comp_batch *iob, bool is_error)
{
	if (iob && iob->wait)
		__blk_poll_reflect(rq, iob->wait, is_error);
}

#endif /* _LINUX_BLK_POLL_H */
