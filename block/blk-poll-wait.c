// SPDX-License-Identifier: GPL-2.0
/*
 * Hybrid polling: a task that submits one bio and waits for it by polling.
 */

#include <linux/blk-poll.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include "blk.h"
#include "blk-mq.h"
#include "blk-poll.h"

static bool blk_poll_done(struct blk_poll_wait *wait)
{
	/* pairs with blk_poll_end_io() */
	return smp_load_acquire(&wait->done);
}

/* The bio will be completed by an interrupt, which wakes us. */
static void blk_poll_wait_irq(struct blk_poll_wait *wait)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (blk_poll_done(wait))
			break;
		blk_io_schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static void blk_poll_sleep(struct blk_poll_wait *wait)
{
	ktime_t expires = ns_to_ktime(wait->due_ns);
	int token, ret = -EINTR;

	wait->nr_sleeps++;
	wait->stage++;
	wait->looks = 0;

	set_current_state(TASK_UNINTERRUPTIBLE);
	if (!blk_poll_done(wait)) {
		/*
		 * No slack, and in hard interrupt context on PREEMPT_RT too: a
		 * late wake-up is latency.
		 */
		token = io_schedule_prepare();
		ret = schedule_hrtimeout_range(&expires, 0,
					       HRTIMER_MODE_ABS_HARD);
		io_schedule_finish(token);
	}
	__set_current_state(TASK_RUNNING);

	if (ret)
		wait->nr_woken_early++;
	else if (single_task_running())
		/* with others to run the lag is the scheduler's, not ours */
		blk_poll_woken(ktime_get_ns() - wait->due_ns);
}

/* One look, and everything that it found is completed, whoever owns it. */
static void blk_poll_look(struct bio *bio, struct blk_poll_wait *wait,
			  bool may_sleep)
{
	struct io_comp_batch iob = { .wait = may_sleep ? wait : NULL };

	wait->due_ns = 0;
	wait->veto = false;
	wait->found = false;

	bio_poll(bio, &iob, BLK_POLL_ONESHOT);
	if (!rq_list_empty(&iob.req_list))
		iob.complete(&iob);

	/* A look that found others only was an empty one for us. */
	if (wait->found) {
		wait->looks++;
		wait->nr_looks++;
	}
}

/* Returns true if the bio was downgraded to an interrupt on the way. */
static bool blk_poll_until_done(struct bio *bio, struct blk_poll_wait *wait,
				bool may_sleep)
{
	while (!blk_poll_done(wait)) {
		/*
		 * A poll queue has no interrupt and a bio that is not polled
		 * any more has nobody who looks: only the bio knows which.  It
		 * may change its mind once, when it is split, fails over to
		 * another path or is requeued.
		 */
		if (!(READ_ONCE(bio->bi_opf) & REQ_POLLED)) {
			blk_poll_wait_irq(wait);
			return true;
		}

		blk_poll_look(bio, wait, may_sleep);
		if (blk_poll_done(wait))
			break;

		if (wait->due_ns && !wait->veto)
			blk_poll_sleep(wait);
		else
			cond_resched();
	}
	return false;
}

static void blk_poll_count(struct blk_poll_tracker *t,
			   enum blk_poll_counter counter, u32 nr)
{
	if (nr)
		this_cpu_add(t->cpu->counter[counter], nr);
}

static void blk_poll_account(struct request_queue *q,
			     const struct blk_poll_wait *wait, bool downgraded)
{
	struct blk_poll_tracker *t = blk_poll_tracker(q);

	if (!t)
		return;

	blk_poll_count(t, BLK_POLL_LOOKS, wait->nr_looks);
	blk_poll_count(t, BLK_POLL_SLEEPS, wait->nr_sleeps);
	blk_poll_count(t, BLK_POLL_WOKEN_EARLY, wait->nr_woken_early);
	blk_poll_count(t, BLK_POLL_OVERSLEPT, wait->overslept);
	if (downgraded)
		blk_poll_count(t, BLK_POLL_DOWNGRADED, 1);
	else if (!wait->sampled)
		blk_poll_count(t, BLK_POLL_VOID, 1);
}

/*
 * Can @bio be polled now?  Not if it needs a flush sequence: its flush request
 * would go to the poll queue ahead of it, where nobody looks for it.
 */
static bool blk_poll_possible(struct bio *bio)
{
	struct block_device *bdev = bio->bi_bdev;
	struct request_queue *q = bdev_get_queue(bdev);

	if (op_is_flush(bio->bi_opf) && bdev_write_cache(bdev) &&
	    !bdev_fua(bdev))
		return false;
	if (queue_is_mq(q))
		return blk_mq_can_poll(q);
	return q->limits.features & BLK_FEAT_POLL;
}

/* As the queue's io_poll_delay says; a stacked queue leaves it to those below. */
static bool blk_poll_may_sleep(struct request_queue *q)
{
	return !queue_is_mq(q) || blk_poll_enabled(q);
}

/**
 * submit_bio_wait_polled() - Submit a bio, and poll until it completes.
 * @bio: The bio.
 *
 * As submit_bio_wait(), but the task polls, and sleeps as the queue's
 * io_poll_delay says, if the queue can poll.  Polling is a hint: where it
 * cannot be had the task waits for an interrupt.
 *
 * Context: Task context, may sleep.  No locks that a completion could need.
 * Return: 0, or the error from bio_endio().
 */
int submit_bio_wait_polled(struct bio *bio)
{
	struct request_queue *q = bdev_get_queue(bio->bi_bdev);
	struct bvec_iter iter = bio->bi_iter;
	struct blk_poll_wait wait = { .task = current };
	bool may_sleep = blk_poll_may_sleep(q);
	bool downgraded;

	if (!blk_poll_possible(bio))
		return submit_bio_wait(bio);

	bio->bi_private = &wait;
	bio->bi_end_io = blk_poll_end_io;
	/* nothing else keeps polled and unpolled bios in different requests */
	bio->bi_opf |= REQ_SYNC | REQ_POLLED | REQ_NOMERGE;

	wait.bucket = blk_poll_bucket(op_is_write(bio_op(bio)),
				      bio->bi_iter.bi_size);
	if (may_sleep)
		wait.start_ns = ktime_get_ns();

	submit_bio(bio);
	/* what sits in the caller's plug is not at the device yet */
	blk_flush_plug(current->plug, false);
	downgraded = blk_poll_until_done(bio, &wait, may_sleep);
	if (may_sleep)
		blk_poll_account(q, &wait, downgraded);

	/* The queue stopped polling between our look at it and submission. */
	if (unlikely(bio->bi_status == BLK_STS_NOTSUPP)) {
		bio->bi_status = BLK_STS_OK;
		bio->bi_opf &= ~(REQ_POLLED | REQ_NOMERGE);
		bio->bi_cookie = BLK_QC_T_NONE;
		bio->bi_iter = iter;
		bio_associate_blkg(bio);
		return submit_bio_wait(bio);
	}
	return blk_status_to_errno(bio->bi_status);
}
