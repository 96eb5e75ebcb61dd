// SPDX-License-Identifier: GPL-2.0
/*
 * Hybrid polling: tasks that wait by polling, for one bio or for a ring.
 */

#include <linux/blk-crypto.h>
#include <linux/blk-poll.h>
#include <linux/jiffies.h>
#include <linux/part_stat.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include <trace/events/blk_poll.h>

#include "blk.h"
#include "blk-mq.h"
#include "blk-poll.h"

static bool blk_poll_done(struct blk_poll_wait *wait)
{
	/* pairs with blk_poll_sync_done() */
	return smp_load_acquire(&wait->done);
}

/*
 * Sleep until wait->due_ns, with the task's state already set.  No slack, and
 * in hard interrupt context on PREEMPT_RT too: a late wake-up is latency.
 */
static void blk_poll_sleep(struct blk_poll_wait *wait)
{
	ktime_t expires = ns_to_ktime(wait->due_ns);
	atomic_t *sleepers = blk_poll_sleepers();
	int sleeping = atomic_inc_return(sleepers);
	int token = io_schedule_prepare();
	int err = schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS_HARD);
	u64 now_ns = ktime_get_ns();

	io_schedule_finish(token);
	atomic_dec(sleepers);
	if (wait->nr_sleeps == 1)
		wait->sleepers = min(sleeping, U16_MAX);
	wait->slept_ns += now_ns - wait->empty_ns;
	wait->lag_ns = 0;
	if (err) {
		wait->woken_early++;
	} else if (single_task_running()) {
		/* with others to run the lag is the scheduler's, not ours */
		wait->lag_ns = min_t(u64, now_ns - wait->due_ns, U32_MAX);
		blk_poll_woken(now_ns - wait->due_ns);
	}
	trace_blk_poll_sleep(&wait->due, now_ns, err);
}

static void blk_poll_sleep_begin(struct blk_poll_wait *wait)
{
	wait->nr_sleeps++;
	wait->sleeps++;
	wait->stage++;
	wait->looks = 0;
	wait->empty_ns = wait->now_ns;
}

static void blk_poll_sync_sleep(struct blk_poll_wait *wait)
{
	blk_poll_sleep_begin(wait);
	set_current_state(TASK_UNINTERRUPTIBLE);
	if (!blk_poll_done(wait))
		blk_poll_sleep(wait);
	else
		wait->woken_early++;
	__set_current_state(TASK_RUNNING);
}

/**
 * blk_poll_ring_sleep() - Sleep until the earliest I/O of a ring is due.
 * @wait: The ring's wait, for which blk_poll_ring_due() was just true.
 *
 * Returns early for signals and for task work that is announced like one.
 * Nothing else wakes it: who completes an I/O of this ring does not know about
 * the sleep, which is bounded.
 *
 * Context: Task context, no lock held.
 */
void blk_poll_ring_sleep(struct blk_poll_wait *wait)
{
	blk_poll_sleep_begin(wait);
	set_current_state(TASK_INTERRUPTIBLE);
	blk_poll_sleep(wait);
}

/*
 * The queue that the bio is at, with a reference, or NULL.  Multipath makes the
 * bio point to one of its paths, which may be removed once the bio is done: RCU
 * keeps the path until we have the reference.  Request-based drivers are not
 * asked under RCU, as NVMe over TCP and null_blk may sleep in ->poll().
 */
static struct request_queue *blk_poll_queue_get(struct blk_poll_wait *wait)
{
	struct request_queue *q = NULL;

	rcu_read_lock();
	if (!blk_poll_done(wait)) {
		q = bdev_get_queue(READ_ONCE(wait->bio->bi_bdev));
		if (!percpu_ref_tryget(&q->q_usage_counter))
			q = NULL;
	}
	rcu_read_unlock();
	return q;
}

/* One look, and everything that it found is completed, whoever owns it. */
static void blk_poll_look(struct blk_poll_wait *wait, bool may_sleep)
{
	struct io_comp_batch iob = { .wait = may_sleep ? wait : NULL };
	blk_qc_t cookie = READ_ONCE(wait->bio->bi_cookie);
	struct request_queue *q;

	blk_poll_round_begin(wait);
	if (cookie == BLK_QC_T_NONE)
		return;
	q = blk_poll_queue_get(wait);
	if (!q)
		return;
	if (queue_is_mq(q)) {
		blk_queue_poll_bio(q, wait->bio, cookie, &iob,
				   BLK_POLL_ONESHOT);
	} else {
		/* dm polls its clones, which can be at a path as well */
		rcu_read_lock();
		if (!blk_poll_done(wait))
			blk_queue_poll_bio(q, wait->bio, cookie, &iob,
					   BLK_POLL_ONESHOT);
		rcu_read_unlock();
	}
	blk_queue_exit(q);
	if (!rq_list_empty(&iob.req_list))
		iob.complete(&iob);
	if (wait->looked)
		wait->looks++;
}

/* As the queue's io_poll_delay says; a stacked queue leaves it to those below. */
static bool blk_poll_may_sleep(struct request_queue *q)
{
	return queue_is_mq(q) ? blk_poll_enabled(q) : blk_poll_any_enabled();
}

/*
 * Whether an interrupt will complete the bio.  A poll queue has no interrupt,
 * and a bio that is not polled any more has nobody who looks.  The bio tells:
 * it loses REQ_POLLED when it is split, put off, or fails over.  dm also takes
 * the flag from a bio of which it has parts in flight that it wants polled; as
 * long as it has, REQ_DRV says so.
 */
static bool blk_poll_downgraded(struct bio *bio)
{
	blk_opf_t opf = READ_ONCE(bio->bi_opf);

	if (opf & REQ_POLLED)
		return false;
	return queue_is_mq(bdev_get_queue(READ_ONCE(bio->bi_bdev))) ||
	       READ_ONCE(bio->bi_cookie) == BLK_QC_T_NONE || !(opf & REQ_DRV);
}

/*
 * Whether spinning is of no use.  A bio without a cookie is queued somewhere and
 * has to be started by somebody who needs a CPU, maybe this one; give him some
 * time.  One that has taken very long waits for a reset, for a reconnection, or
 * for something that a stacked device waits for.
 */
static bool blk_poll_should_idle(struct bio *bio, unsigned long begin)
{
	if (READ_ONCE(bio->bi_cookie) == BLK_QC_T_NONE)
		return time_after(jiffies, begin + 1);
	return time_after(jiffies, begin +
			  usecs_to_jiffies(BLK_POLL_MAX_DELAY_US));
}

static void blk_poll_sync_idle(struct blk_poll_wait *wait)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	if (!blk_poll_done(wait))
		io_schedule_timeout(1);
	__set_current_state(TASK_RUNNING);
}

static void blk_poll_account(struct blk_poll_wait *wait, bool downgraded)
{
	struct blk_poll_tracker *t = blk_poll_tracker(bdev_get_queue(wait->bdev));

	if (downgraded) {
		part_stat_lock();
		part_stat_inc(wait->bdev, poll_downgraded);
		part_stat_unlock();
	}
	if (!t || !wait->start_ns)
		return;

	blk_poll_count_sleeps(t, wait);
	if (downgraded)
		this_cpu_inc(t->cpu->counter[BLK_POLL_DOWNGRADED]);
	else if (wait->bio->bi_status ||
		 READ_ONCE(wait->bio->bi_cookie) != BLK_QC_T_NONE)
		this_cpu_inc(t->cpu->counter[BLK_POLL_VOID]);
}

/*
 * Can @bio be polled now?  Not if it needs a flush sequence: its flush request
 * would go to the poll queue ahead of it, where nobody looks for it.  And not
 * if it is to be encrypted: the fallback without hardware submits a bio of its
 * own in its place.
 */
static bool blk_poll_possible(struct bio *bio)
{
	struct block_device *bdev = bio->bi_bdev;

	if (bio_has_crypt_ctx(bio))
		return false;
	if (op_is_flush(bio->bi_opf) && bdev_write_cache(bdev) &&
	    !bdev_fua(bdev))
		return false;
	return blk_poll_can_poll(bdev_get_queue(bdev));
}

/**
 * blk_poll_sync_prepare() - Have a bio polled by the task that submits it.
 * @wait: The task's wait, whose bio is NULL before the first one.
 * @bio: The bio, complete but for its submission.
 *
 * Takes a reference to @bio and marks it, if it is the first for @wait and its
 * queue can poll.  Otherwise it does nothing, and the bio will be completed
 * by an interrupt.
 *
 * Context: Task context.
 */
void blk_poll_sync_prepare(struct blk_poll_wait *wait, struct bio *bio)
{
	if (wait->bio || !blk_poll_possible(bio))
		return;

	bio_get(bio);
	/* nothing else keeps polled and unpolled bios in different requests */
	bio->bi_opf |= REQ_SYNC | REQ_POLLED | REQ_NOMERGE;

	*wait = (struct blk_poll_wait){
		.bio	= bio,
		.bdev	= bio->bi_bdev,
		.iter	= bio->bi_iter,
		.task	= current,
		.bucket	= blk_poll_bucket(op_is_write(bio_op(bio)),
					  bio->bi_iter.bi_size),
	};
	if (blk_poll_may_sleep(bdev_get_queue(bio->bi_bdev)))
		wait->start_ns = ktime_get_ns();
}

/**
 * blk_poll_sync_done() - Tell a task that its polled bio has been completed.
 * @wait: The task's wait, or NULL.
 * @bio: Any bio of the task.
 *
 * A bio that was refused because it was polled, as its queue or one below lost
 * its poll queues between blk_poll_sync_prepare() and submission, is not done
 * yet: blk_poll_sync_wait() submits it again, without polling.
 *
 * Context: Any: the task itself, a peer that polls the same queue, or an
 * interrupt if the bio was downgraded.  @wait may be gone afterwards.
 * Return: Whether @bio is done; otherwise the caller must leave it alone.
 */
bool blk_poll_sync_done(struct blk_poll_wait *wait, struct bio *bio)
{
	struct task_struct *task;
	bool retry;

	if (!wait || bio != wait->bio)
		return true;

	task = wait->task;
	retry = bio->bi_status == BLK_STS_NOTSUPP && bio->bi_opf & REQ_POLLED;
	wait->retry = retry;

	rcu_read_lock();
	/*
	 * With @done set the task may return, and even exit, at once: its
	 * stack must not be touched any more, and RCU keeps the task.  Pairs
	 * with blk_poll_done().
	 */
	smp_store_release(&wait->done, true);
	blk_wake_io_task(task);
	rcu_read_unlock();
	return !retry;
}

/*
 * bio_set_dev() takes back what multipath has set and makes sure that a bio to
 * a partition is remapped again, as its sector is the one inside it again.
 */
static void blk_poll_retry(struct blk_poll_wait *wait)
{
	struct bio *bio = wait->bio;

	wait->retry = false;
	wait->done = false;
	bio->bi_status = BLK_STS_OK;
	bio->bi_opf &= ~(REQ_POLLED | REQ_NOMERGE);
	bio->bi_cookie = BLK_QC_T_NONE;
	bio->bi_iter = wait->iter;
	/* dm splits a bio without asking for BIO_CHAIN to be set again */
	atomic_set(&bio->__bi_remaining, 1);
	bio_set_dev(bio, wait->bdev);
	submit_bio_noacct(bio);
}

/**
 * blk_poll_sync_wait() - Poll until the bio is done, or not polled any more.
 * @wait: The task's wait; nothing happens if no bio was prepared with it.
 *
 * A bio that is not polled any more, because it was split, was put off or has
 * failed over, will be completed by an interrupt: the caller has to wait for
 * the completion in any case.
 *
 * Context: Task context, may sleep.  No locks that a completion could need.
 */
void blk_poll_sync_wait(struct blk_poll_wait *wait)
{
	unsigned long begin = jiffies;
	struct bio *bio = wait->bio;
	bool downgraded = false;
	bool may_sleep;

	if (!bio)
		return;

	may_sleep = wait->start_ns;
	/* what sits in the caller's plug is not at the device yet */
	blk_flush_plug(current->plug, false);

	while (!blk_poll_done(wait)) {
		rcu_read_lock();
		/* if it is done, the path that it names can be gone */
		downgraded = !blk_poll_done(wait) && blk_poll_downgraded(bio);
		rcu_read_unlock();
		if (downgraded)
			break;

		blk_poll_look(wait, may_sleep);
		if (blk_poll_done(wait))
			break;

		if (wait->due_ns && !wait->veto)
			blk_poll_sync_sleep(wait);
		else if (blk_poll_should_idle(bio, begin))
			blk_poll_sync_idle(wait);
		else
			cond_resched();
	}

	if (blk_poll_done(wait) && wait->retry) {
		downgraded = true;
		blk_poll_retry(wait);
	}
	blk_poll_account(wait, downgraded);
	bio_put(bio);
}

static void blk_poll_end_io(struct bio *bio)
{
	blk_poll_sync_done(bio->bi_private, bio);
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
	struct blk_poll_wait wait;

	wait.bio = NULL;
	blk_poll_sync_prepare(&wait, bio);
	if (!wait.bio)
		return submit_bio_wait(bio);

	bio->bi_private = &wait;
	bio->bi_end_io = blk_poll_end_io;
	submit_bio(bio);
	blk_poll_sync_wait(&wait);

	/* It may have been downgraded: then an interrupt will complete it. */
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (blk_poll_done(&wait))
			break;
		blk_io_schedule();
	}
	__set_current_state(TASK_RUNNING);

	return blk_status_to_errno(bio->bi_status);
}
