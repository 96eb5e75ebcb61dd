/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BLK_POLL_H
#define _LINUX_BLK_POLL_H

#include <linux/atomic.h>
#include <linux/blk-poll-plan.h>
#include <linux/blkdev.h>
#include <linux/timekeeping.h>

struct blk_mq_hw_ctx;
struct request;

/**
 * struct blk_poll_due - The sleep that ends first among those of a round.
 * @start_ns: Start of its I/O, on the clock of ktime_get_ns().
 * @timer_ns: When its timer expires, from @start_ns on.
 * @sleep: The stage of the plan that it is.
 * @dev: The disk.
 * @bytes: Size of the I/O's bucket.
 * @is_write: Direction of the I/O.
 * @stage: Index of @sleep in its plan.
 * @nr: Number of stages of that plan.
 */
struct blk_poll_due {
	u64 start_ns;
	u64 timer_ns;
	struct blk_poll_stage sleep;
	dev_t dev;
	u32 bytes;
	bool is_write;
	u8 stage;
	u8 nr;
};

#ifdef CONFIG_BLK_HYBRID_POLL
/**
 * struct blk_poll_wait - A task that waits for polled I/O.
 * @start_ns: ktime_get_ns() just before the I/O was submitted.
 * @in: Wake-up cost and cap, taken when the plan was made.
 * @plan: The plan or the present part of it, valid if @planned.
 * @now_ns: The clock, read once a round at most; 0: not read yet.
 * @due_ns: Out, each round: when the earliest sleep that was decided must be
 *	over, on the clock of @start_ns; 0: none.
 * @due: Which sleep that is, valid if @due_ns is not 0.
 * @empty_ns: Last empty look before the last sleep, on the same clock; 0: none.
 * @slept_ns: How long was slept so far, from looks to wake-ups.
 * @lag_ns: How late the last timer woke the task; 0: not known.
 * @bio: The bio that is waited for, NULL for a ring.
 * @bdev: Its device when it was submitted.
 * @iter: Its data when it was submitted.
 * @looks: Rounds that looked since the last sleep; 0: this is the first.
 * @nr_sleeps: Sleeps so far; for one bio at most the stages of its plans.
 * @sleeps: Those of them that no tracker has counted yet.
 * @woken_early: Those of @sleeps that ended before their timer.
 * @sleepers: Tasks in such a sleep on the CPU when the first one began.
 * @bucket: Bucket of the I/O, negative if there is none.
 * @stage: Next stage of @plan, never goes back while that is the same.
 * @planned: A plan was made at the first empty look.
 * @ring: Waits for many I/Os: the plan is made anew for each.
 * @consulted: Out, each I/O: the driver has consulted.
 * @looked: Out, each round: somebody has looked.
 * @veto: Out, each round: something must not be slept on.
 * @found: Out, each round: the look found completions.
 * @retry: The bio was refused because it was polled.
 * @done: Set by the completion, with release semantics; the last that it
 *	touches in here.
 * @task: Who waits.
 *
 * On the waiter's stack.  Only the waiter and what it calls write to it, apart
 * from @retry and @done, which belong to whoever completes the bio.
 */
struct blk_poll_wait {
	u64 start_ns;
	struct blk_poll_inputs in;
	struct blk_poll_plan plan;
	u64 now_ns;
	u64 due_ns;
	struct blk_poll_due due;
	u64 empty_ns;
	u64 slept_ns;
	u32 lag_ns;
	struct bio *bio;
	struct block_device *bdev;
	struct bvec_iter iter;
	u32 looks;
	u32 nr_sleeps;
	u32 sleeps;
	u32 woken_early;
	u16 sleepers;
	s8 bucket;
	u8 stage;
	bool planned;
	bool ring;
	bool consulted;
	bool looked;
	bool veto;
	bool found;
	bool retry;
	bool done;
	struct task_struct *task;
};

void __blk_poll_consult(struct blk_mq_hw_ctx *hctx, struct blk_poll_wait *wait);
void __blk_poll_reflect(struct request *rq, struct blk_poll_wait *wait,
			bool is_error);
void blk_poll_reflect_unseen(struct request *rq, bool is_error);
void blk_poll_forget(struct request_queue *q);
void blk_poll_inherit(struct request_queue *q, struct request_queue *head);

bool __blk_poll_sync_always(struct request_queue *q);
void blk_poll_sync_prepare(struct blk_poll_wait *wait, struct bio *bio);
bool blk_poll_sync_done(struct blk_poll_wait *wait, struct bio *bio);
void blk_poll_sync_wait(struct blk_poll_wait *wait);

extern atomic_t blk_poll_nr_enabled;

/**
 * blk_poll_any_enabled() - Find out whether any queue lets pollers sleep.
 *
 * Context: Any.
 * Return: Whether io_poll_delay of a queue of the system is not -1.
 */
static inline bool blk_poll_any_enabled(void)
{
	return atomic_read(&blk_poll_nr_enabled);
}

/**
 * blk_poll_ring_start() - Note the start of a polled I/O of a ring.
 *
 * Context: Any.
 * Return: ktime_get_ns(), or 0 while no queue lets pollers sleep.
 */
static inline u64 blk_poll_ring_start(void)
{
	return blk_poll_any_enabled() ? ktime_get_ns() : 0;
}

struct blk_poll_wait *blk_poll_ring_begin(struct blk_poll_wait *wait);
void __blk_poll_ring_next(struct blk_poll_wait *wait, u64 start_ns,
			  bool is_write, u32 bytes);
bool __blk_poll_ring_due(struct blk_poll_wait *wait);
void blk_poll_ring_sleep(struct blk_poll_wait *wait);
#else
/* Nobody waits by it: something to declare and to clear. */
struct blk_poll_wait {
	struct bio *bio;
};

static inline void __blk_poll_consult(struct blk_mq_hw_ctx *hctx,
				      struct blk_poll_wait *wait)
{
}

static inline void __blk_poll_reflect(struct request *rq,
				      struct blk_poll_wait *wait, bool is_error)
{
}

static inline void blk_poll_reflect_unseen(struct request *rq, bool is_error)
{
}

static inline void blk_poll_forget(struct request_queue *q)
{
}

static inline void blk_poll_inherit(struct request_queue *q,
				    struct request_queue *head)
{
}

static inline void blk_poll_sync_prepare(struct blk_poll_wait *wait,
					 struct bio *bio)
{
}

static inline bool blk_poll_sync_done(struct blk_poll_wait *wait,
				      struct bio *bio)
{
	return true;
}

static inline void blk_poll_sync_wait(struct blk_poll_wait *wait)
{
}

static inline bool blk_poll_any_enabled(void)
{
	return false;
}

static inline u64 blk_poll_ring_start(void)
{
	return 0;
}

static inline struct blk_poll_wait *
blk_poll_ring_begin(struct blk_poll_wait *wait)
{
	return NULL;
}

static inline void __blk_poll_ring_next(struct blk_poll_wait *wait,
					u64 start_ns, bool is_write, u32 bytes)
{
}

static inline bool __blk_poll_ring_due(struct blk_poll_wait *wait)
{
	return false;
}

static inline void blk_poll_ring_sleep(struct blk_poll_wait *wait)
{
}
#endif /* CONFIG_BLK_HYBRID_POLL */

/**
 * blk_poll_sync_wanted() - Find out whether sync I/O is to be polled.
 * @bdev: The block device.
 * @is_hipri: The caller asked for it, by RWF_HIPRI.
 *
 * Context: Any.
 * Return: @is_hipri, or true if io_poll_sync of the queue says so for everyone.
 */
static inline bool blk_poll_sync_wanted(struct block_device *bdev,
					bool is_hipri)
{
#ifdef CONFIG_BLK_HYBRID_POLL
	struct request_queue *q = bdev_get_queue(bdev);

	if (READ_ONCE(q->poll_tracker))
		return is_hipri || __blk_poll_sync_always(q);
#endif
	return is_hipri;
}

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
 * blk_mq_add_to_batch() calls this; a driver that uses that need not.
 *
 * Context: Any in which @rq may be completed.  Does not sleep.
 */
static inline void blk_poll_reflect(struct request *rq,
				    struct io_comp_batch *iob, bool is_error)
{
	if (iob && iob->wait)
		__blk_poll_reflect(rq, iob->wait, is_error);
}

/**
 * blk_poll_round_begin() - Begin to look.
 * @wait: Who waits, or NULL.
 *
 * Context: Task context, before a look at one completion queue or at all those
 * of a ring.
 */
static inline void blk_poll_round_begin(struct blk_poll_wait *wait)
{
#ifdef CONFIG_BLK_HYBRID_POLL
	if (!wait)
		return;
	wait->now_ns = 0;
	wait->due_ns = 0;
	wait->veto = false;
	wait->found = false;
	wait->looked = false;
	wait->consulted = true;
#endif
}

/**
 * blk_poll_ring_next() - Say for which I/O of a ring the next look is.
 * @wait: The ring's wait, or NULL.
 * @start_ns: What blk_poll_ring_start() gave when it was submitted, or 0 for
 *	an I/O that must not be slept on.
 * @is_write: Its direction.
 * @bytes: Its size.
 *
 * The I/O before forbids any sleep in this round if its driver was not there
 * to consult: it is not polled, or by a driver that does not.
 *
 * Context: Task context, between blk_poll_round_begin() and
 * blk_poll_ring_due().
 */
static inline void blk_poll_ring_next(struct blk_poll_wait *wait, u64 start_ns,
				      bool is_write, u32 bytes)
{
	if (wait)
		__blk_poll_ring_next(wait, start_ns, is_write, bytes);
}

/**
 * blk_poll_ring_due() - End a round of a ring.
 * @wait: The ring's wait, or NULL.
 *
 * Context: Task context.
 * Return: Whether to call blk_poll_ring_sleep() before the next round: nothing
 * was found, and nothing must not be slept on.
 */
static inline bool blk_poll_ring_due(struct blk_poll_wait *wait)
{
	return wait && __blk_poll_ring_due(wait);
}

#endif /* _LINUX_BLK_POLL_H */
