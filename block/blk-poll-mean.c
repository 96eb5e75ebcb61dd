// SPDX-License-Identifier: GPL-2.0
/*
 * Sleep policy "mean": half of the mean latency, as Linux 4.10 to 6.3 did.
 */

/**
 * DOC: Sleep policy mean
 *
 * Observed is the mean latency of each 100 ms window, oversleep included.
 *
 * Kept is one number per bucket: the sleep.
 *
 * It decides like this:
 *
 * 1. A window that had samples sets the sleep to (mean + 1) / 2.
 * 2. A window without samples changes nothing; the sleep does not age.
 *
 * Before the first window has closed it does not sleep.
 *
 * Example: reads that take 80 us on average are slept for 40 us and polled for
 * 40 us, half a CPU.  Half is safe as long as no read takes less than half of
 * the mean, and wasteful when all take about as long.
 *
 * Reference: 64f1c21e86f7 ("blk-mq: make the polling code adaptive"), removed
 * by 54bdd67d0f88 ("blk-mq: remove hybrid polling").
 */

#include "blk-poll-est.h"

/**
 * struct mean_state - What the policy keeps per bucket.
 * @sleep_ns: Sleep from the I/O's start; 0: nothing known.
 */
struct mean_state {
	u64 sleep_ns;
};

static void mean_init(void *state)
{
	struct mean_state *mean = state;

	WRITE_ONCE(mean->sleep_ns, 0);
}

static void mean_select(const void *state, const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	const struct mean_state *mean = state;

	blk_poll_plan_single(plan, READ_ONCE(mean->sleep_ns));
}

static void mean_window(void *state, const struct blk_poll_window *win)
{
	struct mean_state *mean = state;

	if (win->samples)
		WRITE_ONCE(mean->sleep_ns, (win->mean_ns + 1) / 2);
}

const struct blk_poll_policy blk_poll_mean = {
	.name		= "mean",
	.state_size	= sizeof(struct mean_state),
	.init		= mean_init,
	.select		= mean_select,
	.window		= mean_window,
};
