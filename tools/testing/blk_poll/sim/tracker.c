// SPDX-License-Identifier: GPL-2.0
/*
 * What block/blk-poll.c does between pollers and policies, with one CPU.
 */
#include <stdlib.h>

#include "sim.h"

/**
 * sim_tracker_init() - Begin with nothing known.
 * @tracker: The tracker.
 * @policy: The way to wait.
 */
void sim_tracker_init(struct sim_tracker *tracker,
		      const struct sim_policy *policy)
{
	int i;

	*tracker = (struct sim_tracker){
		.policy = policy,
		.close_ns = U64_MAX,
	};
	if (policy->ops && policy->ops->scratch_size) {
		tracker->scratch = malloc(policy->ops->scratch_size);
		if (!tracker->scratch)
			sim_die("out of memory");
	}
	for (i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		blk_poll_staging_init(&tracker->staging[i]);
		if (!policy->ops)
			continue;
		if (policy->one_state && i) {
			tracker->state[i] = tracker->state[0];
			continue;
		}
		tracker->state[i] = calloc(1, policy->ops->state_size);
		if (!tracker->state[i])
			sim_die("out of memory");
		policy->ops->init(tracker->state[i]);
	}
}

/**
 * sim_tracker_free() - Free what is known.
 * @tracker: The tracker.
 */
void sim_tracker_free(struct sim_tracker *tracker)
{
	int i;

	free(tracker->scratch);
	for (i = 0; i < BLK_POLL_NR_BUCKETS; i++)
		if (!i || !tracker->policy->one_state)
			free(tracker->state[i]);
}

/**
 * sim_tracker_close_window() - Let the policy learn from the open window.
 * @tracker: The tracker.
 */
void sim_tracker_close_window(struct sim_tracker *tracker)
{
	const struct blk_poll_policy *ops = tracker->policy->ops;
	int i;

	for (i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		struct blk_poll_window win;

		blk_poll_window_close(&win, &tracker->staging[i]);
		blk_poll_staging_init(&tracker->staging[i]);
		tracker->mean_ns[i] = win.mean_ns;
		if (ops && ops->window)
			ops->window(tracker->state[i], &win);
	}
	tracker->close_ns = U64_MAX;
}

/* The window's timer has expired meanwhile. */
static void expire(struct sim_tracker *tracker, u64 now_ns)
{
	if (now_ns >= tracker->close_ns)
		sim_tracker_close_window(tracker);
}

/**
 * sim_tracker_select() - Make a plan.
 * @tracker: The tracker.
 * @now_ns: The clock.
 * @io: The I/O; only an oracle looks at its latency.
 * @in: Filled in, to be used with the plan.
 * @plan: Filled in.
 */
void sim_tracker_select(struct sim_tracker *tracker, u64 now_ns,
			const struct sim_io *io, struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	const struct sim_policy *policy = tracker->policy;

	expire(tracker, now_ns);
	if (now_ns - tracker->wake_updated_ns > SIM_WAKE_AGE_NS) {
		tracker->wake_updated_ns = now_ns;
		blk_poll_wake_decay(&tracker->wake);
	}
	in->wake = tracker->wake;
	in->cap_ns = SIM_CAP_NS;

	in->weight = sim_options.lambda < 1 ? 1 :
		     sim_options.lambda > BLK_POLL_MAX_WEIGHT ?
		     BLK_POLL_MAX_WEIGHT : (u32)(sim_options.lambda + 0.5);

	if (policy->ops && policy->ops->learn)
		policy->ops->learn(tracker->state[io->bucket], in,
				   tracker->scratch, now_ns);
	if (policy->ops)
		policy->ops->select(tracker->state[io->bucket], in, plan);
	else
		policy->plan(policy, io, in, plan);
}

/**
 * sim_tracker_reflect() - Learn from a completion.
 * @tracker: The tracker.
 * @now_ns: The clock.
 * @bucket: Of the I/O.
 * @sample: What was seen.
 */
void sim_tracker_reflect(struct sim_tracker *tracker, u64 now_ns, u8 bucket,
			 const struct blk_poll_sample *sample)
{
	const struct blk_poll_policy *ops = tracker->policy->ops;

	expire(tracker, now_ns);
	blk_poll_staging_add(&tracker->staging[bucket], sample,
			     tracker->mean_ns[bucket]);
	if (ops && ops->reflect)
		ops->reflect(tracker->state[bucket], sample, now_ns);
	if (tracker->close_ns == U64_MAX)
		tracker->close_ns = now_ns + SIM_WINDOW_NS;
}

/**
 * sim_tracker_woken() - Learn how late a timer woke a task.
 * @tracker: The tracker.
 * @now_ns: The clock.
 * @lag_ns: Now less the timer's expiry.
 */
void sim_tracker_woken(struct sim_tracker *tracker, u64 now_ns, u64 lag_ns)
{
	tracker->wake_updated_ns = now_ns;
	blk_poll_wake_reflect(&tracker->wake, lag_ns);
}
