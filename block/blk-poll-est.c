// SPDX-License-Identifier: GPL-2.0
/*
 * What all sleep policies of hybrid polling share: buckets, windows, plans.
 */

/**
 * DOC: Hybrid polling: statistics and plans
 *
 * A task that polls for an I/O can sleep through most of the time that the
 * device needs, if somebody tells it how long that is.  Observed is one number
 * per polled completion, the latency, known exactly when the look before was
 * empty and only as an interval when the poller had overslept.
 *
 * Kept are, for each of 16 buckets (direction x size):
 *
 * 1. a *staging* area per CPU with sums over the window that is open;
 * 2. the figures of the last closed *window* of 100 ms: mean, minimum,
 *    maximum, left mean deviation (lmd), samples and misses.  The lmd of a
 *    window is the sum, over the samples that are below the mean of the window
 *    before, of their distance to it, divided by the number of *all* samples.
 *    A *miss* is an overslept sample that is below the mean of the window
 *    before; a longer one is put down to the timer's own lag;
 * 3. the state of a *policy*, which learns from samples or windows.
 *
 * Decided is, once per I/O, a *plan*: up to four pairs (sleep to, look until),
 * all counted from the I/O's start.  A plan is walked like this:
 *
 * 1. Look.  Is the I/O done, stop.
 * 2. Is a stage left whose sleep is worth its wake-up, sleep until its target
 *    less the usual lag of a wake-up on this CPU.  A sleep shorter than the
 *    wake-up costs is left out; each stage is slept at most once.
 * 3. Look until the stage's second time, then go on with the next stage.
 * 4. After the last stage, spin.
 *
 * While nothing is known the plan has no stage: spin, as classic polling does.
 *
 * Example: reads of 4 KiB take 80 us, wake-ups lag 2 us.  A policy that wants
 * to look from 76 us on answers one stage (76, 76).  The task submits, looks
 * once, sets a timer for 74 us, runs again at about 76 us and spins for 4 us.
 */

#include "blk-poll-est.h"

/*
 * New wake-ups weigh 1/8 in the lag and in its deviation.  Heavier would let
 * single late wake-ups through, lighter would take hundreds of I/Os to notice
 * that the CPU uses a deeper idle state now.
 */
#define WAKE_WEIGHT_SHIFT	3

/*
 * A wake-up counts for at most four times the mean so far plus this many ns.
 * A task that had to wait for the CPU comes back after milliseconds and says
 * nothing about timers; a lasting change still gets through, as the bound
 * grows by 3/8 with each such wake-up.  The constant lets the first ones in.
 */
#define WAKE_CLIP_FLOOR_NS	(2 * NSEC_PER_USEC)

/* No timer on a working machine is later than this: 1 ms. */
#define WAKE_MAX_NS		NSEC_PER_MSEC

/*
 * Doubt takes 1/2 off the lag.  Without doubt a CPU whose wake-ups have once been
 * too dear to sleep would never measure, and so never sleep again.
 */
#define WAKE_DECAY_SHIFT	1

const struct blk_poll_policy *const blk_poll_policies[BLK_POLL_NR_POLICIES] = {
	[BLK_POLL_POLICY_MEAN]	= &blk_poll_mean,
	[BLK_POLL_POLICY_LMD]	= &blk_poll_lmd,
	[BLK_POLL_POLICY_ADAPTIVE] = &blk_poll_adaptive,
};

/**
 * blk_poll_bucket() - Sort an I/O by direction and size.
 * @is_write: Its direction.
 * @bytes: Its size.
 *
 * Context: Any.
 * Return: 0 to BLK_POLL_NR_BUCKETS - 1, or -1 when @bytes is less than a
 * sector: such I/O is not tracked.
 */
int blk_poll_bucket(bool is_write, u32 bytes)
{
	u32 sectors = bytes >> 9;

	if (!sectors)
		return -1;
	return is_write + 2 * min(ilog2(sectors), BLK_POLL_NR_BUCKETS / 2 - 1);
}

/**
 * blk_poll_bucket_bytes() - Smallest I/O of a bucket.
 * @bucket: 0 to BLK_POLL_NR_BUCKETS - 1.
 *
 * Context: Any.
 * Return: The size in bytes.
 */
u32 blk_poll_bucket_bytes(unsigned int bucket)
{
	return 512U << (bucket / 2);
}

/**
 * blk_poll_bucket_is_write() - Direction of the I/O of a bucket.
 * @bucket: 0 to BLK_POLL_NR_BUCKETS - 1.
 *
 * Context: Any.
 * Return: Whether it is written.
 */
bool blk_poll_bucket_is_write(unsigned int bucket)
{
	return bucket & 1;
}

/**
 * blk_poll_staging_init() - Empty a staging area.
 * @staging: The area.
 *
 * Context: The caller serialises access to @staging.
 */
void blk_poll_staging_init(struct blk_poll_staging *staging)
{
	*staging = (struct blk_poll_staging){ .min_ns = U64_MAX };
}

/**
 * blk_poll_staging_add() - Add a sample to the open window.
 * @staging: Where to.
 * @sample: The sample; its upper bound is taken as the latency.
 * @prev_mean_ns: Mean of the window before, 0 if that had no samples.
 *
 * Context: The caller serialises access to @staging.
 */
void blk_poll_staging_add(struct blk_poll_staging *staging,
			  const struct blk_poll_sample *sample,
			  u64 prev_mean_ns)
{
	u64 latency_ns = min(sample->latency_ns, BLK_POLL_MAX_LATENCY_NS);

	if (staging->samples >= BLK_POLL_MAX_SAMPLES)
		return;

	staging->samples++;
	staging->sum_ns += latency_ns;
	staging->min_ns = min(staging->min_ns, latency_ns);
	staging->max_ns = max(staging->max_ns, latency_ns);
	if (latency_ns < prev_mean_ns) {
		/* prev_mean_ns is a mean of clamped values: no overflow */
		staging->lmd_sum_ns += prev_mean_ns - latency_ns;
		staging->misses += sample->overslept;
	}
}

/**
 * blk_poll_staging_merge() - Add one CPU's part of a window to the whole.
 * @sum: The whole, changed.
 * @part: The part.  Left out altogether if the whole would then hold more than
 *	BLK_POLL_MAX_SAMPLES, so that no sum can overflow.
 *
 * Context: The caller serialises access to both.
 */
void blk_poll_staging_merge(struct blk_poll_staging *sum,
			    const struct blk_poll_staging *part)
{
	if (part->samples > BLK_POLL_MAX_SAMPLES - sum->samples)
		return;

	sum->samples += part->samples;
	sum->misses += part->misses;
	sum->sum_ns += part->sum_ns;
	sum->lmd_sum_ns += part->lmd_sum_ns;
	sum->min_ns = min(sum->min_ns, part->min_ns);
	sum->max_ns = max(sum->max_ns, part->max_ns);
}

/**
 * blk_poll_window_close() - Finish the figures of a window.
 * @win: Filled in; all zero for a window without samples.
 * @staging: The sums of all CPUs.
 *
 * Context: The caller serialises access to both.  Divides twice: not for the
 * I/O path.
 */
void blk_poll_window_close(struct blk_poll_window *win,
			   const struct blk_poll_staging *staging)
{
	*win = (struct blk_poll_window){ .samples = staging->samples };
	if (!win->samples)
		return;

	win->mean_ns = div_u64(staging->sum_ns, win->samples);
	win->lmd_ns = div_u64(staging->lmd_sum_ns, win->samples);
	win->min_ns = staging->min_ns;
	win->max_ns = staging->max_ns;
	win->misses = staging->misses;
}

/**
 * blk_poll_wake_reflect() - Learn how late a timer woke its task.
 * @wake: The CPU's model.
 * @lag_ns: Running again minus expiry of the timer.
 *
 * Context: Any.  A race with itself loses a sample and does no other harm.
 */
void blk_poll_wake_reflect(struct blk_poll_wake *wake, u64 lag_ns)
{
	/* At most WAKE_MAX_NS, 2^20: every step below fits an int. */
	int old_ns = READ_ONCE(wake->lag_ns);
	int dev_ns = READ_ONCE(wake->dev_ns);
	int clip_ns = min(4 * old_ns + WAKE_CLIP_FLOOR_NS, WAKE_MAX_NS);
	int new_ns = min_t(u64, lag_ns, clip_ns);
	int diff_ns = new_ns - old_ns;
	int dist_ns = diff_ns < 0 ? -diff_ns : diff_ns;

	/*
	 * Divide rather than shift, as both differences can be negative.  It
	 * stops within 7 ns of the truth.
	 */
	WRITE_ONCE(wake->last_ns, new_ns);
	WRITE_ONCE(wake->lag_ns, old_ns + diff_ns / (1 << WAKE_WEIGHT_SHIFT));
	WRITE_ONCE(wake->dev_ns,
		   dev_ns + (dist_ns - dev_ns) / (1 << WAKE_WEIGHT_SHIFT));
}

/**
 * blk_poll_wake_decay() - Doubt a wake-up cost that was not measured lately.
 * @wake: The CPU's model.
 *
 * Context: Any, as blk_poll_wake_reflect().
 */
void blk_poll_wake_decay(struct blk_poll_wake *wake)
{
	u32 lag_ns = READ_ONCE(wake->lag_ns);

	WRITE_ONCE(wake->lag_ns,
		   lag_ns - DIV_ROUND_UP(lag_ns, 1 << WAKE_DECAY_SHIFT));
}

/**
 * blk_poll_plan_single() - Make the plan that sleeps once, then spins.
 * @plan: Filled in.
 * @sleep_ns: When to look, counted from the I/O's start; 0: do not sleep.
 *
 * Context: Any.
 */
void blk_poll_plan_single(struct blk_poll_plan *plan, u64 sleep_ns)
{
	plan->nr = sleep_ns ? 1 : 0;
	plan->flags = 0;
	plan->tag = 0;
	plan->stage[0].sleep_to_ns = sleep_ns;
	plan->stage[0].look_until_ns = sleep_ns;
}

/**
 * blk_poll_plan_over() - Find out whether to ask the policy again.
 * @plan: The plan of this I/O.
 * @stage: First stage not slept yet.
 * @elapsed_ns: Time since the I/O's start.
 *
 * Context: Any.
 * Return: Whether all stages are over and the policy has more to say.
 */
bool blk_poll_plan_over(const struct blk_poll_plan *plan, u8 stage,
			u64 elapsed_ns)
{
	return plan->flags & BLK_POLL_PLAN_MORE && stage >= plan->nr &&
	       (!plan->nr ||
		elapsed_ns >= plan->stage[plan->nr - 1].look_until_ns);
}

/**
 * blk_poll_plan_due() - Find out whether to sleep now, and until when.
 * @plan: The plan of this I/O.
 * @stage: First stage not slept yet; moved past stages that are not worth it.
 *	The caller moves it past a stage that it has slept.
 * @elapsed_ns: Time since the I/O's start.
 * @in: The wake-up cost, taken off the target, and the cap.
 *
 * The target includes the wake-up: a timer set for it makes the poller look
 * at the stage's time.  A sleep is not worth it if after taking off the lag
 * less than another lag is left: it would save nothing and could only be late.
 * With BLK_POLL_PLAN_EXACT the timer is set for the target itself.
 *
 * Context: Any.
 * Return: When the timer has to expire, counted from the I/O's start, or 0:
 * look, do not sleep.
 */
u64 blk_poll_plan_due(const struct blk_poll_plan *plan, u8 *stage,
		      u64 elapsed_ns, const struct blk_poll_inputs *in)
{
	u64 lag_ns = plan->flags & BLK_POLL_PLAN_EXACT ? 0 : in->wake.lag_ns;

	for (; *stage < plan->nr; (*stage)++) {
		const struct blk_poll_stage *s = &plan->stage[*stage];
		u64 target_ns = min(s->sleep_to_ns, in->cap_ns);

		if (*stage && elapsed_ns < s[-1].look_until_ns)
			return 0;
		/* lag_ns is less than 2^32, so that twice of it fits */
		if (target_ns > elapsed_ns &&
		    target_ns - elapsed_ns > 2 * lag_ns)
			return target_ns - lag_ns;
	}
	return 0;
}
