// SPDX-License-Identifier: GPL-2.0
/*
 * Rival policy "iou-hybrid": half of the shortest time that was not slept.
 */

/**
 * DOC: Rival policy iou-hybrid
 *
 * Observed are the latency of each I/O and how long was slept on it.
 *
 * Kept is one number: the smallest difference of the two ever seen.  In
 * io_uring it belongs to a ring; who uses this policy should have one state for
 * all buckets.
 *
 * It decides like this:
 *
 * 1. After each I/O, keep latency - slept if it is less than what was kept.
 * 2. Sleep for half of it, once per I/O.
 *
 * Before the first I/O has completed it does not sleep.
 *
 * Example: every read takes 80 us.  The first is not slept on and leaves 80 us,
 * so the second is slept on for 40 us, plus a wake-up of 2 us, and leaves
 * 38 us.  From then on 19 us are slept and nothing changes any more, as
 * 80 - 21 is more than 38: about a quarter of the latency, for ever.
 *
 * Reference: hybrid polling of io_uring, Linux 6.13.
 */

#include "blk-poll-rivals.h"

/**
 * struct iou_state - What the policy keeps.
 * @min_ns: Smallest latency - slept; U64_MAX: nothing known.
 */
struct iou_state {
	u64 min_ns;
};

static void iou_init(void *state)
{
	struct iou_state *iou = state;

	WRITE_ONCE(iou->min_ns, U64_MAX);
}

static void iou_select(const void *state, const struct blk_poll_inputs *in,
		       struct blk_poll_plan *plan)
{
	const struct iou_state *iou = state;
	u64 min_ns = READ_ONCE(iou->min_ns);

	blk_poll_plan_single(plan, min_ns == U64_MAX ? 0 : min_ns / 2);
	plan->flags = BLK_POLL_PLAN_EXACT;
}

static void iou_reflect(void *state, const struct blk_poll_sample *sample,
			u64 now_ns)
{
	struct iou_state *iou = state;
	u64 latency_ns = min(sample->latency_ns, BLK_POLL_MAX_LATENCY_NS);
	u64 awake_ns = latency_ns - min(sample->slept_ns, latency_ns);

	WRITE_ONCE(iou->min_ns, min(iou->min_ns, awake_ns));
}

const struct blk_poll_policy blk_poll_iou = {
	.name		= "iou-hybrid",
	.state_size	= sizeof(struct iou_state),
	.init		= iou_init,
	.select		= iou_select,
	.reflect	= iou_reflect,
};
