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
 * Kept is a tracker per queue, from the first time on that somebody writes to
 * io_poll_delay, io_poll_policy or io_poll_sync, and a wait per task and I/O on
 * its stack.
 *
 * It goes like this:
 *
 * 1. The waiter notes its start, direction and size, marks its bio REQ_POLLED
 *    and submits it.  On a queue whose io_poll_delay is -1 drivers are not told
 *    of the wait, and all that follows costs a test for NULL.  A ring has I/O
 *    of many queues; it does without a wait while all queues of the system are
 *    at -1.
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
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "blk-mq.h"
#include "blk-poll.h"

#define CREATE_TRACE_POINTS
#include <trace/events/blk_poll.h>

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

/* Queues whose io_poll_delay is not -1: rings have to note when I/O starts. */
atomic_t blk_poll_nr_enabled = ATOMIC_INIT(0);

/*
 * A CPU that has not woken from a sleep for this long, 1 s, doubts what it
 * costs.  Shorter would make a poller that does few I/Os sleep too long each
 * time, longer would keep it from sleeping long after waking up was dear.
 */
#define BLK_POLL_WAKE_AGE_MS	1000

/**
 * struct blk_poll_cpu_wake - What waking up costs a CPU, whatever the queue.
 * @model: The estimate.
 * @updated: When it was last learnt or doubted, in jiffies.
 * @sleepers: Tasks that have gone to sleep there and have not run again.
 */
struct blk_poll_cpu_wake {
	struct blk_poll_wake model;
	unsigned long updated;
	atomic_t sleepers;
};

static DEFINE_PER_CPU(struct blk_poll_cpu_wake, blk_poll_cpu_wake);

/* Forget what CPUs have learnt for themselves. */
static void blk_poll_init_cpu_states(struct blk_poll_tracker *t)
{
	int cpu;

	lockdep_assert_held(&t->lock);

	for_each_possible_cpu(cpu) {
		struct blk_poll_cpu *c = per_cpu_ptr(t->cpu, cpu);

		raw_spin_lock(&c->lock);
		for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
			if (c->state[i])
				blk_poll_adaptive.init(c->state[i]);
		raw_spin_unlock(&c->lock);
	}
}

static void blk_poll_init_states(struct blk_poll_tracker *t)
{
	const struct blk_poll_policy *policy = blk_poll_policies[t->policy];

	lockdep_assert_held(&t->lock);

	blk_poll_init_cpu_states(t);
	if (policy->per_cpu)
		return;
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		policy->init(t->bucket[i].state[t->policy]);
}

/*
 * Give back what CPUs have learnt for themselves, as nobody asks for it any more.
 * An I/O in flight can bring one state back, which is given back the next time.
 */
static void blk_poll_free_cpu_states(struct blk_poll_tracker *t)
{
	void *state[BLK_POLL_NR_BUCKETS];
	unsigned long flags;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct blk_poll_cpu *c = per_cpu_ptr(t->cpu, cpu);

		raw_spin_lock_irqsave(&c->lock, flags);
		memcpy(state, c->state, sizeof(state));
		memset(c->state, 0, sizeof(c->state));
		raw_spin_unlock_irqrestore(&c->lock, flags);
		for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
			kfree(state[i]);
	}
}

/*
 * The first I/O of a bucket on a CPU: what is known of it is what the whole
 * queue has learnt.  Without memory nobody sleeps there, the next I/O tries
 * again.
 */
static void blk_poll_alloc_cpu_state(struct blk_poll_tracker *t,
				     struct blk_poll_cpu *c,
				     unsigned int bucket)
{
	struct blk_poll_window win;
	unsigned long flags;
	void *state;

	state = kzalloc(blk_poll_adaptive.state_size, GFP_NOWAIT | __GFP_NOWARN);
	if (!state)
		return;
	raw_spin_lock_irqsave(&t->lock, flags);
	win = t->bucket[bucket].win;
	raw_spin_unlock_irqrestore(&t->lock, flags);
	blk_poll_adaptive.init(state);
	blk_poll_adaptive.window(state, &win);

	raw_spin_lock_irqsave(&c->lock, flags);
	if (!c->state[bucket])
		swap(c->state[bucket], state);
	raw_spin_unlock_irqrestore(&c->lock, flags);
	kfree(state);
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

static void blk_poll_tell_cpus(struct blk_poll_tracker *t, unsigned int bucket,
			       const struct blk_poll_window *win)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct blk_poll_cpu *c = per_cpu_ptr(t->cpu, cpu);

		if (!READ_ONCE(c->state[bucket]))
			continue;
		raw_spin_lock(&c->lock);
		if (c->state[bucket])
			blk_poll_adaptive.window(c->state[bucket], win);
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
		b->win = win;
		WRITE_ONCE(b->mean_ns, win.mean_ns);
		WRITE_ONCE(b->lmd_sleep_ns, blk_poll_lmd_sleep_ns(&win));
		if (policy->per_cpu)
			blk_poll_tell_cpus(t, i, &win);
		else if (policy->window)
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
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		t->bucket[i].win = (struct blk_poll_window){ };
		WRITE_ONCE(t->bucket[i].mean_ns, 0);
		WRITE_ONCE(t->bucket[i].lmd_sleep_ns, 0);
	}
	blk_poll_init_states(t);
	raw_spin_unlock_irqrestore(&t->lock, flags);
}
EXPORT_SYMBOL_GPL(blk_poll_forget);

static void blk_poll_tracker_destroy(struct blk_poll_tracker *t)
{
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		for (int p = 0; p < BLK_POLL_NR_POLICIES; p++)
			kfree(t->bucket[i].state[p]);
	if (t->cpu)
		blk_poll_free_cpu_states(t);
	free_percpu(t->cpu);
	kvfree(t->scratch);
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
	raw_spin_lock_init(&t->scratch_lock);
	for_each_possible_cpu(cpu) {
		struct blk_poll_cpu *c = per_cpu_ptr(t->cpu, cpu);

		raw_spin_lock_init(&c->lock);
		for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++)
			blk_poll_staging_init(&c->staging[i]);
	}
	t->scratch = kvmalloc(blk_poll_adaptive.scratch_size, GFP_KERNEL);
	if (!t->scratch)
		goto free;
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		for (int p = 0; p < BLK_POLL_NR_POLICIES; p++) {
			const struct blk_poll_policy *policy =
				blk_poll_policies[p];
			void *state;

			if (policy->per_cpu)
				continue;
			state = kzalloc(policy->state_size, GFP_KERNEL);
			if (!state)
				goto free;
			policy->init(state);
			t->bucket[i].state[p] = state;
		}
	}

	t->delay_us = BLK_POLL_DELAY_CLASSIC;
	t->policy = BLK_POLL_POLICY_DEFAULT;
	t->weight = BLK_POLL_DEFAULT_WEIGHT;
	raw_spin_lock_init(&t->lock);
	timer_setup(&t->timer, blk_poll_close_window, 0);
	return t;

free:
	blk_poll_tracker_destroy(t);
	return NULL;
}

/**
 * blk_poll_tracker_get() - Get the tracker of a queue, allocate it if needed.
 * @q: The queue.
 *
 * Context: May sleep, also for memory: not while that could need @q, unless the
 * caller has seen to it, by memalloc_noio_save().
 * Return: The tracker, which lives as long as @q, or NULL without memory.
 */
struct blk_poll_tracker *blk_poll_tracker_get(struct request_queue *q)
{
	struct blk_poll_tracker *t = blk_poll_tracker(q), *first;

	if (t)
		return t;
	t = blk_poll_tracker_alloc();
	if (!t)
		return NULL;
	/*
	 * Multipath sets its paths, and its user the same path.  Publishes an
	 * initialised tracker, pairs with blk_poll_tracker().
	 */
	first = cmpxchg(&q->poll_tracker, NULL, t);
	if (!first)
		return t;
	blk_poll_tracker_destroy(t);
	return first;
}

/**
 * blk_poll_set_delay() - Set what the pollers of a queue do.
 * @t: The tracker of the queue.
 * @delay_us: -1, 0 or 1 to BLK_POLL_MAX_DELAY_US.
 *
 * Context: Any.
 */
void blk_poll_set_delay(struct blk_poll_tracker *t, int delay_us)
{
	int old_us = xchg(&t->delay_us, delay_us);

	atomic_add((delay_us != BLK_POLL_DELAY_CLASSIC) -
		   (old_us != BLK_POLL_DELAY_CLASSIC), &blk_poll_nr_enabled);
	if (delay_us == BLK_POLL_DELAY_CLASSIC)
		blk_poll_free_cpu_states(t);
}

/**
 * blk_poll_set_policy() - Choose a policy, which starts without knowledge.
 * @q: The queue.
 * @t: Its tracker.
 * @policy: 0 to BLK_POLL_NR_POLICIES - 1.
 *
 * Context: Any.
 */
void blk_poll_set_policy(struct request_queue *q, struct blk_poll_tracker *t,
			 unsigned int policy)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&t->lock, flags);
	WRITE_ONCE(t->policy, policy);
	raw_spin_unlock_irqrestore(&t->lock, flags);
	blk_poll_free_cpu_states(t);
	blk_poll_forget(q);
}

/**
 * blk_poll_inherit() - Set a path of a multipath disk as the disk is set.
 * @q: Queue of the path.
 * @head: Queue of the disk that users see.
 *
 * A path that cannot poll, or for which there is no memory, stays as it is:
 * I/O on it works all the same.
 *
 * Context: May sleep.
 */
void blk_poll_inherit(struct request_queue *q, struct request_queue *head)
{
	struct blk_poll_tracker *from = blk_poll_tracker(head), *to;
	unsigned int noio, policy, weight;
	bool is_sync;
	int delay_us;

	if (!from || !blk_mq_can_poll(q))
		return;

	/* this path may be the one that memory has to be written to */
	noio = memalloc_noio_save();
	to = blk_poll_tracker_get(q);
	memalloc_noio_restore(noio);
	if (!to)
		return;

	/* again, if meanwhile somebody has written there and copied it here */
	do {
		policy = READ_ONCE(from->policy);
		is_sync = READ_ONCE(from->is_sync);
		weight = READ_ONCE(from->weight);
		delay_us = READ_ONCE(from->delay_us);
		if (READ_ONCE(to->policy) != policy)
			blk_poll_set_policy(q, to, policy);
		WRITE_ONCE(to->is_sync, is_sync);
		WRITE_ONCE(to->weight, weight);
		blk_poll_set_delay(to, delay_us);
	} while (policy != READ_ONCE(from->policy) ||
		 is_sync != READ_ONCE(from->is_sync) ||
		 weight != READ_ONCE(from->weight) ||
		 delay_us != READ_ONCE(from->delay_us));
}
EXPORT_SYMBOL_GPL(blk_poll_inherit);

/* Called through blk_poll_sync_wanted(), see there. */
bool __blk_poll_sync_always(struct request_queue *q)
{
	return READ_ONCE(blk_poll_tracker(q)->is_sync);
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

	blk_poll_set_delay(q->poll_tracker, BLK_POLL_DELAY_CLASSIC);
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
	struct blk_poll_tracker *t = blk_poll_tracker(q);
	struct blk_poll_cpu_wake *wake = raw_cpu_ptr(&blk_poll_cpu_wake);

	if (time_after(jiffies, READ_ONCE(wake->updated) +
				msecs_to_jiffies(BLK_POLL_WAKE_AGE_MS))) {
		WRITE_ONCE(wake->updated, jiffies);
		blk_poll_wake_decay(&wake->model);
	}
	in->wake.lag_ns = READ_ONCE(wake->model.lag_ns);
	in->wake.dev_ns = READ_ONCE(wake->model.dev_ns);
	in->wake.last_ns = 0;
	in->elapsed_ns = 0;
	in->weight = t ? READ_ONCE(t->weight) : BLK_POLL_DEFAULT_WEIGHT;
	/* rq_timeout is an unsigned int of jiffies: at most 2^32 * 10^7 */
	in->cap_ns = min((u64)BLK_POLL_MAX_DELAY_US * NSEC_PER_USEC,
			 (u64)q->rq_timeout * TICK_NSEC >>
				 BLK_POLL_TIMEOUT_SHIFT);
}

static void blk_poll_learn(struct blk_poll_tracker *t, void *state,
			   const struct blk_poll_inputs *in, u64 now_ns)
{
	if (raw_spin_trylock(&t->scratch_lock)) {
		blk_poll_adaptive.learn(state, in, t->scratch, now_ns);
		raw_spin_unlock(&t->scratch_lock);
	} else {
		blk_poll_adaptive.learn(state, in, NULL, now_ns);
	}
}

/* Let what a CPU knows for itself make a plan. */
static void blk_poll_select_cpu(struct blk_poll_tracker *t,
				struct blk_poll_cpu *c, unsigned int bucket,
				const struct blk_poll_inputs *in,
				struct blk_poll_plan *plan, u64 now_ns)
{
	unsigned long flags;
	void *state;

	blk_poll_plan_single(plan, 0);
	if (now_ns && !READ_ONCE(c->state[bucket]))
		blk_poll_alloc_cpu_state(t, c, bucket);

	raw_spin_lock_irqsave(&c->lock, flags);
	state = c->state[bucket];
	if (state) {
		if (now_ns)
			blk_poll_learn(t, state, in, now_ns);
		blk_poll_adaptive.select(state, in, plan);
	}
	raw_spin_unlock_irqrestore(&c->lock, flags);
}

/**
 * blk_poll_select() - Make a plan, or the next part of one.
 * @t: The tracker.
 * @cpu: The CPU on which the I/O is waited for, negative for a ring.
 * @bucket: 0 to BLK_POLL_NR_BUCKETS - 1.
 * @in: The inputs.
 * @plan: Filled in.
 * @now_ns: The clock, for a policy that learns now; 0: it must not.
 *
 * A ring makes a plan for each I/O at each look, and has no time for one that
 * takes as long as adaptive's: it would lose half of its throughput.  It sleeps
 * as the last window says, by the rule of lmd.
 *
 * Context: Any.
 */
void blk_poll_select(struct blk_poll_tracker *t, int cpu, unsigned int bucket,
		     const struct blk_poll_inputs *in,
		     struct blk_poll_plan *plan, u64 now_ns)
{
	unsigned int policy = READ_ONCE(t->policy);
	int delay_us = READ_ONCE(t->delay_us);

	if (delay_us != BLK_POLL_DELAY_ADAPTIVE)
		/* -1, classic, becomes 0: do not sleep */
		blk_poll_plan_single(plan, max(delay_us, 0) *
					   (u64)NSEC_PER_USEC);
	else if (blk_poll_policies[policy]->per_cpu && cpu < 0)
		blk_poll_plan_single(plan,
				     READ_ONCE(t->bucket[bucket].lmd_sleep_ns));
	else if (blk_poll_policies[policy]->per_cpu)
		blk_poll_select_cpu(t, per_cpu_ptr(t->cpu, cpu), bucket, in,
				    plan, now_ns);
	else
		blk_poll_policies[policy]->select(t->bucket[bucket].state[policy],
						  in, plan);
}

/**
 * blk_poll_count_sleeps() - Count the sleeps of a wait that nobody has counted.
 * @t: The tracker of the queue that is looked at.
 * @wait: The wait.
 *
 * Context: Task context.
 */
void blk_poll_count_sleeps(struct blk_poll_tracker *t,
			   struct blk_poll_wait *wait)
{
	if (!wait->sleeps)
		return;
	this_cpu_add(t->cpu->counter[BLK_POLL_SLEEPS], wait->sleeps);
	this_cpu_add(t->cpu->counter[BLK_POLL_WOKEN_EARLY], wait->woken_early);
	wait->sleeps = 0;
	wait->woken_early = 0;
}

/* Called through blk_poll_consult(), see there. */
void __blk_poll_consult(struct blk_mq_hw_ctx *hctx, struct blk_poll_wait *wait)
{
	struct request_queue *q = hctx->queue;
	struct blk_poll_tracker *t = blk_poll_tracker(q);
	u64 elapsed_ns, timer_ns;

	wait->consulted = true;
	wait->looked = true;

	if (!t || wait->bucket < 0) {
		wait->veto = true;
		return;
	}
	blk_poll_count_sleeps(t, wait);
	this_cpu_inc(t->cpu->counter[BLK_POLL_LOOKS]);
	/* some other I/O of the ring keeps it awake in this round */
	if (wait->veto)
		return;

	/* Nothing left but to spin.  That is the fast path: no clock. */
	if (wait->planned && wait->stage >= wait->plan.nr &&
	    !(wait->plan.flags & BLK_POLL_PLAN_MORE)) {
		wait->veto = true;
		return;
	}

	if (!wait->now_ns)
		wait->now_ns = ktime_get_ns();
	elapsed_ns = wait->now_ns - wait->start_ns;
	if (!wait->planned ||
	    blk_poll_plan_over(&wait->plan, wait->stage, elapsed_ns)) {
		blk_poll_inputs_now(q, &wait->in);
		wait->in.elapsed_ns = elapsed_ns;
		blk_poll_select(t, wait->ring ? -1 : raw_smp_processor_id(),
				wait->bucket, &wait->in, &wait->plan,
				wait->now_ns);
		wait->planned = true;
		wait->stage = 0;
	}
	timer_ns = blk_poll_plan_due(&wait->plan, &wait->stage, elapsed_ns,
				     &wait->in);
	if (!timer_ns) {
		wait->veto = true;
		return;
	}

	if (wait->due_ns && wait->due_ns <= wait->start_ns + timer_ns)
		return;
	wait->due_ns = wait->start_ns + timer_ns;
	wait->due = (struct blk_poll_due){
		.start_ns	= wait->start_ns,
		.timer_ns	= timer_ns,
		.sleep		= wait->plan.stage[wait->stage],
		.dev		= disk_devt(q->disk),
		.bytes		= blk_poll_bucket_bytes(wait->bucket),
		.is_write	= blk_poll_bucket_is_write(wait->bucket),
		.stage		= wait->stage,
		.nr		= wait->plan.nr,
	};
}
EXPORT_SYMBOL_GPL(__blk_poll_consult);

/**
 * blk_poll_sleepers() - Find where the sleeping tasks of this CPU are counted.
 *
 * Context: Task context.
 * Return: The counter, to which the caller adds itself while it sleeps; he may
 * wake up on another CPU.
 */
atomic_t *blk_poll_sleepers(void)
{
	return &raw_cpu_ptr(&blk_poll_cpu_wake)->sleepers;
}

/**
 * blk_poll_woken() - Learn how late a sleep's timer woke the task.
 * @lag_ns: Now minus the timer's expiry.
 *
 * Context: Task context, right after the sleep.
 */
void blk_poll_woken(u64 lag_ns)
{
	struct blk_poll_cpu_wake *wake = raw_cpu_ptr(&blk_poll_cpu_wake);

	WRITE_ONCE(wake->updated, jiffies);
	blk_poll_wake_reflect(&wake->model, lag_ns);
}

static void blk_poll_stage(struct blk_poll_tracker *t, unsigned int bucket,
			   const struct blk_poll_sample *sample, bool is_ring,
			   u64 now_ns)
{
	const struct blk_poll_policy *policy;
	struct blk_poll_bucket *b = &t->bucket[bucket];
	struct blk_poll_cpu *c = raw_cpu_ptr(t->cpu);
	unsigned long flags;

	policy = blk_poll_policies[READ_ONCE(t->policy)];
	/* If we migrate here it is another CPU's area, locked all the same. */
	raw_spin_lock_irqsave(&c->lock, flags);
	blk_poll_staging_add(&c->staging[bucket], sample,
			     READ_ONCE(b->mean_ns));
	WRITE_ONCE(c->dirty, c->dirty | BIT(bucket));
	if (policy->per_cpu && !is_ring && c->state[bucket])
		policy->reflect(c->state[bucket], sample, now_ns);
	raw_spin_unlock_irqrestore(&c->lock, flags);

	if (policy->reflect && !policy->per_cpu) {
		raw_spin_lock_irqsave(&t->lock, flags);
		/* again, as io_poll_policy may just have been written */
		policy = blk_poll_policies[t->policy];
		if (policy->reflect && !policy->per_cpu)
			policy->reflect(b->state[t->policy], sample, now_ns);
		raw_spin_unlock_irqrestore(&t->lock, flags);
	}

	if (!timer_pending(&t->timer))
		mod_timer(&t->timer,
			  jiffies + msecs_to_jiffies(BLK_POLL_WINDOW_MS));
	this_cpu_inc(t->cpu->counter[BLK_POLL_SAMPLES]);
}

/*
 * A ring, and a task that waits for a bio to a stacked device, cannot tell what
 * is theirs and take all that they find for their own.
 */
static bool blk_poll_takes_all(struct blk_poll_wait *wait)
{
	return wait->ring || !queue_is_mq(bdev_get_queue(wait->bdev));
}

/* Called through blk_poll_reflect(), see there; @wait is NULL if nobody looked. */
void __blk_poll_reflect(struct request *rq, struct blk_poll_wait *wait,
			bool is_error)
{
	struct blk_poll_tracker *t = blk_poll_tracker(rq->q);
	struct blk_poll_sample sample = { };
	u64 start_ns, now_ns;
	int bucket;

	if (wait && !wait->found) {
		/* Another disk's request, on a queue that both share, counts no look. */
		if (t && (blk_poll_takes_all(wait) ||
			  rq->q == bdev_get_queue(wait->bdev))) {
			blk_poll_count_sleeps(t, wait);
			this_cpu_inc(t->cpu->counter[BLK_POLL_LOOKS]);
		}
		wait->found = true;
		wait->looked = true;
	}

	/* io_poll_delay may have left -1 only after the request was started */
	start_ns = rq->io_start_time_ns;
	if (!t || is_error || !start_ns || !rq->bio ||
	    !(rq->cmd_flags & REQ_POLLED) ||
	    (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE))
		return;
	bucket = blk_poll_bucket(op_is_write(req_op(rq)), blk_rq_bytes(rq));
	if (bucket < 0)
		return;

	now_ns = ktime_get_ns();
	sample.latency_ns = now_ns - start_ns;
	if (wait && wait->looks)
		sample.lower_ns = sample.latency_ns;
	else if (wait && wait->empty_ns > start_ns)
		sample.lower_ns = wait->empty_ns - start_ns;
	if (wait && (blk_poll_takes_all(wait) || rq->bio == wait->bio)) {
		sample.overslept = wait->nr_sleeps && !wait->looks;
		sample.found_first = sample.overslept && wait->nr_sleeps == 1;
		sample.lag_ns = wait->lag_ns;
	}
	/* a ring keeps no plan, and has slept for others as well */
	if (wait && !wait->ring && rq->bio == wait->bio) {
		sample.slept_ns = wait->slept_ns;
		sample.sleepers = wait->sleepers;
		sample.tag = wait->plan.tag;
	}
	if (sample.overslept)
		this_cpu_inc(t->cpu->counter[BLK_POLL_OVERSLEPT]);
	trace_blk_poll_sample(disk_devt(rq->q->disk),
			      op_is_write(req_op(rq)), blk_rq_bytes(rq),
			      sample.latency_ns, sample.lower_ns,
			      sample.overslept);
	blk_poll_stage(t, bucket, &sample, wait && wait->ring, now_ns);

	/*
	 * Nobody needs to look for this bio any more.  A cookie that is gone
	 * tells a task that waits for it that it has taught something.
	 */
	WRITE_ONCE(rq->bio->bi_cookie, BLK_QC_T_NONE);
}
EXPORT_SYMBOL_GPL(__blk_poll_reflect);

/**
 * blk_poll_reflect_unseen() - Learn from a completion that no poller has found.
 * @rq: The request, not completed yet.
 * @is_error: The request failed; its latency teaches nothing.
 *
 * For drivers in which something else than ->poll() can complete a polled
 * request while its poller sleeps, or which cannot tell who has called ->poll().
 * Without it they would learn only from I/O that took longer than the sleep, or
 * from none.  Does nothing for a request that is not polled.
 *
 * Context: Any in which @rq may be completed.  Does not sleep.
 */
void blk_poll_reflect_unseen(struct request *rq, bool is_error)
{
	if (blk_poll_enabled(rq->q))
		__blk_poll_reflect(rq, NULL, is_error);
}
EXPORT_SYMBOL_GPL(blk_poll_reflect_unseen);

/**
 * blk_poll_ring_begin() - Prepare to wait for the I/Os of a ring.
 * @wait: Storage of the task that lives as long as the waiting.
 *
 * Worth the call only while blk_poll_any_enabled().
 *
 * Context: Task context.
 * Return: @wait, initialised.
 */
struct blk_poll_wait *blk_poll_ring_begin(struct blk_poll_wait *wait)
{
	*wait = (struct blk_poll_wait){ .ring = true, .task = current };
	return wait;
}

/* Called through blk_poll_ring_next(), see there. */
void __blk_poll_ring_next(struct blk_poll_wait *wait, u64 start_ns,
			  bool is_write, u32 bytes)
{
	wait->veto |= !wait->consulted;
	wait->consulted = false;
	/*
	 * No plan is kept from one round to the next.  Its times count from the
	 * I/O's start, so what has been slept is in the past by then.
	 */
	wait->planned = false;
	wait->stage = 0;
	wait->start_ns = start_ns;
	wait->bucket = start_ns ? blk_poll_bucket(is_write, bytes) : -1;
}

/* Called through blk_poll_ring_due(), see there. */
bool __blk_poll_ring_due(struct blk_poll_wait *wait)
{
	if (wait->looked)
		wait->looks++;
	return wait->due_ns && wait->consulted && !wait->veto && !wait->found;
}
