// SPDX-License-Identifier: GPL-2.0
/*
 * Hybrid polling: statistics of polled I/O, and what a poller is told to do.
 */

/**
 * DOC: Hybrid polling: who does what
 *
 * Observed are completions that a poller finds in a completion queue, and the
 * looks at which it finds nothing.
 *
 * Kept is a tracker per queue, from the first time that somebody writes to
 * io_poll_delay or io_poll_policy on, and a wait per task and I/O on its stack.
 *
 * It goes like this:
 *
 * 1. The waiter notes its start, direction and size, marks its bio REQ_POLLED
 *    and submits it.  On a queue whose io_poll_delay is -1 there is no wait,
 *    and all that follows costs a test for NULL.
 * 2. The driver's ->poll() finds the completion queue empty and *consults*.
 *    At the first such look the policy selects a plan; from then on each
 *    consultation compares the plan with the clock and leaves a due time.
 * 3. The waiter, outside of RCU and of all locks, first finishes whatever the
 *    round has completed, for itself or for others, then sleeps until the due
 *    time or until somebody else completes its I/O.
 * 4. A completion is found.  Whoever found it *reflects* at once: there the
 *    request, its queue and its tracker are alive, so that no pointer to any
 *    of them has to survive a sleep.
 * 5. A timer, armed by the first sample, closes the window after 100 ms and
 *    lets the policy learn from it.
 *
 * When nothing is known, when the queue is not polled, when io_poll_delay has
 * gone back to -1 while the I/O was in flight, the answer is: do not sleep.
 *
 * Example: two tasks share one poll queue.  A sleeps; B looks, finds A's
 * completion, reflects it as a sample that was not overslept, completes it,
 * and so wakes A, whose sleep counts as woken early and who does not look
 * again.
 */

#include <linux/blk-poll.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "blk-mq.h"
#include "blk-poll.h"

/*
 * Length of a window, as from 4.10 to 6.3.  Shorter has too few samples on
 * slow devices, longer follows a change too late.
 */
#define BLK_POLL_WINDOW_MS	100

/*
 * A sleep ends at most this fraction of the request timeout after the start,
 * so that a poller is back long before its request is given up: 1/8.
 */
#define BLK_POLL_TIMEOUT_SHIFT	3

/* One for the whole system: waking up costs the same whatever the queue. */
static DEFINE_PER_CPU(struct blk_poll_wake, blk_poll_cpu_wake);

static void blk_poll_init_states(struct blk_poll_tracker *t)
{
	const struct blk_poll_policy *policy = blk_poll_policies[t->policy];

	lockdep_assert_held(&t->lock);

	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		policy->init(t->bucket[i].state[t->policy]);
}

/* Move all that the CPUs have added up into t->sum[]. */
static void blk_poll_collect(struct blk_poll_tracker *t)
{
	int cpu, i;

	lockdep_assert_held(&t->lock);

	for (i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		blk_poll_staging_init(&t->sum[i]);

	for_each_possible_cpu(cpu) {
		struct blk_poll_cpu *c = per_cpu_ptr(t->cpu, cpu);

		if (!READ_ONCE(c->dirty))
			continue;
		raw_spin_lock(&c->lock);
		for_each_set_bit(i, &c->dirty, BLK_POLL_NR_BUCKETS) {
			blk_poll_staging_merge(&t->sum[i], &c->staging[i]);
			blk_poll_staging_init(&c->staging[i]);
		}
		WRITE_ONCE(c->dirty, 0);
		raw_spin_unlock(&c->lock);
	}
}

static void blk_poll_close_window(struct timer_list *timer)
{
	struct blk_poll_tracker *t = from_timer(t, timer, timer);
	const struct blk_poll_policy *policy;
	unsigned long flags;

	raw_spin_lock_irqsave(&t->lock, flags);
	policy = blk_poll_policies[t->policy];
	blk_poll_collect(t);
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		struct blk_poll_bucket *b = &t->bucket[i];
		struct blk_poll_window win;

		blk_poll_window_close(&win, &t->sum[i]);
		/* __blk_poll_reflect() reads the mean without the lock */
		WRITE_ONCE(b->win.mean_ns, win.mean_ns);
		b->win = win;
		if (policy->window)
			policy->window(b->state[t->policy], &win);
	}
	raw_spin_unlock_irqrestore(&t->lock, flags);
}

/**
 * blk_poll_forget() - Forget all that was learnt about a device.
 * @q: Its queue.
 *
 * For a driver that has reset the device or found another one in its place.
 * Plans of I/Os in flight stay as they are; their sleeps are bounded.
 *
 * Context: Any.  Does not sleep.
 */
void blk_poll_forget(struct request_queue *q)
{
	struct blk_poll_tracker *t = blk_poll_tracker(q);
	unsigned long flags;

	if (!t)
		return;

	raw_spin_lock_irqsave(&t->lock, flags);
	blk_poll_collect(t);
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		t->bucket[i].win = (struct blk_poll_window){ };
	blk_poll_init_states(t);
	raw_spin_unlock_irqrestore(&t->lock, flags);
}
EXPORT_SYMBOL_GPL(blk_poll_forget);

static void blk_poll_tracker_destroy(struct blk_poll_tracker *t)
{
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		for (int p = 0; p < BLK_POLL_NR_POLICIES; p++)
			kfree(t->bucket[i].state[p]);
	free_percpu(t->cpu);
	kfree(t);
}

static struct blk_poll_tracker *blk_poll_tracker_alloc(void)
{
	struct blk_poll_tracker *t;
	int cpu;

	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return NULL;
	t->cpu = alloc_percpu(struct blk_poll_cpu);
	if (!t->cpu)
		goto free;
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		for (int p = 0; p < BLK_POLL_NR_POLICIES; p++) {
			const struct blk_poll_policy *policy =
				blk_poll_policies[p];
			void *state = kzalloc(policy->state_size, GFP_KERNEL);

			if (!state)
				goto free;
			policy->init(state);
			t->bucket[i].state[p] = state;
		}
	}

	t->delay_us = BLK_POLL_DELAY_CLASSIC;
	t->policy = BLK_POLL_POLICY_DEFAULT;
	raw_spin_lock_init(&t->lock);
	timer_setup(&t->timer, blk_poll_close_window, 0);
	for_each_possible_cpu(cpu) {
		struct blk_poll_cpu *c = per_cpu_ptr(t->cpu, cpu);

		raw_spin_lock_init(&c->lock);
		for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
			blk_poll_staging_init(&c->staging[i]);
	}
	return t;

free:
	blk_poll_tracker_destroy(t);
	return NULL;
}

/**
 * blk_poll_tracker_get() - Get the tracker of a queue, allocate it if needed.
 * @q: The queue.
 *
 * Context: May sleep.  The caller holds q->sysfs_lock, which serialises.
 * Return: The tracker, which lives as long as @q, or NULL without memory.
 */
struct blk_poll_tracker *blk_poll_tracker_get(struct request_queue *q)
{
	struct blk_poll_tracker *t = q->poll_tracker;

	lockdep_assert_held(&q->sysfs_lock);

	if (!t) {
		t = blk_poll_tracker_alloc();
		/* pairs with blk_poll_tracker() */
		smp_store_release(&q->poll_tracker, t);
	}
	return t;
}

/**
 * blk_poll_tracker_free() - Free the tracker of a queue, if it has one.
 * @q: The queue, to which nobody has a reference any more.
 *
 * Context: May sleep.
 */
void blk_poll_tracker_free(struct request_queue *q)
{
	if (!q->poll_tracker)
		return;

	timer_shutdown_sync(&q->poll_tracker->timer);
	blk_poll_tracker_destroy(q->poll_tracker);
}

/**
 * blk_poll_inputs_now() - Collect what a decision on this CPU depends on.
 * @q: The queue.
 * @in: Filled in.
 *
 * Context: Any.
 */
void blk_poll_inputs_now(struct request_queue *q, struct blk_poll_inputs *in)
{
	const struct blk_poll_wake *wake = raw_cpu_ptr(&blk_poll_cpu_wake);

	in->wake.lag_ns = READ_ONCE(wake->lag_ns);
	in->wake.dev_ns = READ_ONCE(wake->dev_ns);
	in->cap_ns = min_t(u64, (u64)BLK_POLL_MAX_DELAY_US * NSEC_PER_USEC,
			   jiffies_to_nsecs(q->rq_timeout) >>
				   BLK_POLL_TIMEOUT_SHIFT);
}

/**
 * blk_poll_select() - Make a plan.
 * @t: The tracker.
 * @bucket: 0 to BLK_POLL_NR_BUCKETS - 1.
 * @in: The inputs.
 * @plan: Filled in.
 *
 * Context: Any.
 */
void blk_poll_select(struct blk_poll_tracker *t, unsigned int bucket,
		     const struct blk_poll_inputs *in,
		     struct blk_poll_plan *plan)
{
	unsigned int policy = READ_ONCE(t->policy);
	int delay_us = READ_ONCE(t->delay_us);

	if (delay_us == BLK_POLL_DELAY_ADAPTIVE)
		blk_poll_policies[policy]->select(t->bucket[bucket].state[policy],
						  in, plan);
	else
		/* -1, classic, becomes 0: do not sleep */
		blk_poll_plan_single(plan, max(delay_us, 0) *
					   (u64)NSEC_PER_USEC);
}

/* Called through blk_poll_consult(), see there. */
void __blk_poll_consult(struct blk_mq_hw_ctx *hctx, struct blk_poll_wait *wait)
{
	struct request_queue *q = hctx->queue;
	struct blk_poll_tracker *t = blk_poll_tracker(q);
	u64 elapsed_ns, timer_ns;
	u8 stage = wait->stage;

	wait->looks++;
	wait->nr_looks++;

	if (!t || wait->bucket < 0) {
		wait->veto = true;
		return;
	}

	if (!wait->planned) {
		blk_poll_inputs_now(q, &wait->in);
		blk_poll_select(t, wait->bucket, &wait->in, &wait->plan);
		wait->planned = true;
	}

	/* Nothing left but to spin.  That is the fast path: no clock. */
	if (stage >= wait->plan.nr) {
		wait->veto = true;
		return;
	}

	wait->empty_ns = ktime_get_ns();
	elapsed_ns = wait->empty_ns - wait->start_ns;
	timer_ns = blk_poll_plan_due(&wait->plan, &wait->stage, elapsed_ns,
				     &wait->in);
	if (!timer_ns) {
		wait->veto = true;
		/* Given up because of the lag, not because it is too late? */
		if (wait->stage != stage &&
		    wait->plan.stage[stage].sleep_to_ns > elapsed_ns)
			blk_poll_wake_decay(raw_cpu_ptr(&blk_poll_cpu_wake));
		return;
	}

	timer_ns += wait->start_ns;
	if (!wait->due_ns || timer_ns < wait->due_ns)
		wait->due_ns = timer_ns;
}
EXPORT_SYMBOL_GPL(__blk_poll_consult);

/**
 * blk_poll_woken() - Learn how late a sleep's timer woke the task.
 * @lag_ns: Now minus the timer's expiry.
 *
 * Context: Task context, right after the sleep.
 */
void blk_poll_woken(u64 lag_ns)
{
	blk_poll_wake_reflect(raw_cpu_ptr(&blk_poll_cpu_wake), lag_ns);
}

static void blk_poll_stage(struct blk_poll_tracker *t, unsigned int bucket,
			   const struct blk_poll_sample *sample, u64 now_ns)
{
	const struct blk_poll_policy *policy;
	struct blk_poll_bucket *b = &t->bucket[bucket];
	struct blk_poll_cpu *c = raw_cpu_ptr(t->cpu);
	unsigned long flags;

	/* If we migrate here it is another CPU's area, locked all the same. */
	raw_spin_lock_irqsave(&c->lock, flags);
	blk_poll_staging_add(&c->staging[bucket], sample,
			     READ_ONCE(b->win.mean_ns));
	__set_bit(bucket, &c->dirty);
	raw_spin_unlock_irqrestore(&c->lock, flags);

	policy = blk_poll_policies[READ_ONCE(t->policy)];
	if (policy->reflect) {
		raw_spin_lock_irqsave(&t->lock, flags);
		/* again, as io_poll_policy may just have been written */
		policy = blk_poll_policies[t->policy];
		if (policy->reflect)
			policy->reflect(b->state[t->policy], sample, now_ns);
		raw_spin_unlock_irqrestore(&t->lock, flags);
	}

	if (!timer_pending(&t->timer))
		mod_timer(&t->timer,
			  jiffies + msecs_to_jiffies(BLK_POLL_WINDOW_MS));
	this_cpu_inc(t->cpu->counter[BLK_POLL_SAMPLES]);
}

/**
 * blk_poll_end_io() - Complete a bio that its submitter polls for.
 * @bio: The bio.
 *
 * Context: Any: the waiter itself, a peer that polls the same queue, or an
 * interrupt if the bio was downgraded.
 */
void blk_poll_end_io(struct bio *bio)
{
	struct blk_poll_wait *wait = bio->bi_private;
	struct task_struct *task = wait->task;

	rcu_read_lock();
	/*
	 * With @done set the waiter may return, and even exit, at once: its
	 * stack must not be touched any more, and RCU keeps the task.  Pairs
	 * with blk_poll_done().
	 */
	smp_store_release(&wait->done, true);
	if (task != current)
		wake_up_process(task);
	rcu_read_unlock();
}

/* The wait of the task that submitted @rq, if it is one that waits for it. */
static struct blk_poll_wait *blk_poll_owner(struct request *rq)
{
	if (rq->bio && rq->bio->bi_end_io == blk_poll_end_io)
		return rq->bio->bi_private;
	return NULL;
}

/* Called through blk_poll_reflect(), see there. */
void __blk_poll_reflect(struct request *rq, struct blk_poll_wait *wait,
			bool is_error)
{
	struct blk_poll_tracker *t = blk_poll_tracker(rq->q);
	struct blk_poll_wait *owner = blk_poll_owner(rq);
	struct blk_poll_sample sample;
	u64 start_ns, now_ns;
	int bucket;

	wait->found = true;

	/* io_poll_delay may have left -1 only after the request was started */
	start_ns = rq->io_start_time_ns;
	if (!t || is_error || !start_ns || !(rq->cmd_flags & REQ_POLLED) ||
	    (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE))
		return;
	bucket = blk_poll_bucket(op_is_write(req_op(rq)), blk_rq_bytes(rq));
	if (bucket < 0)
		return;

	now_ns = ktime_get_ns();
	sample.latency_ns = now_ns - start_ns;
	if (wait->looks)
		sample.lower_ns = sample.latency_ns;
	else if (wait->empty_ns > start_ns)
		sample.lower_ns = wait->empty_ns - start_ns;
	else
		sample.lower_ns = 0;
	sample.overslept = owner == wait && wait->nr_sleeps && !wait->looks;

	if (owner) {
		owner->sampled = true;
		owner->overslept = sample.overslept;
	}
	blk_poll_stage(t, bucket, &sample, now_ns);
}
EXPORT_SYMBOL_GPL(__blk_poll_reflect);
