// SPDX-License-Identifier: GPL-2.0
/*
 * Sleep policy "lmd": the mean less four left mean deviations.
 */

/**
 * DOC: Sleep policy lmd
 *
 * Observed are mean, left mean deviation (lmd) and misses of each 100 ms
 * window.
 *
 * Kept is one number per bucket: the sleep.  Nothing is remembered from one
 * window to the next, apart from the mean that lmd and misses refer to.
 *
 * It decides at the end of a window of N samples, with half = (mean + 1) / 2
 * and indent = 4 x lmd:
 *
 * 1. N = 0: do not sleep.
 * 2. lmd = 0 or mean <= indent: sleep half.  An lmd of 0 means that there was
 *    no window before to compare with.
 * 3. Otherwise start from s = mean - indent and look at the number of bits in
 *    samples per miss, ratio = floor(log2(N / misses)), without bound if
 *    nothing was missed.
 * 4. ratio <= 4, more than about 3 % missed: s = half.
 * 5. ratio <= 7, more than about 0.4 % missed: take a quarter off s.
 * 6. Never sleep less than half.
 *
 * Before the first window has closed it does not sleep.
 *
 * Example: reads of 80 us on average whose short half is 2 us short on
 * average have lmd = 1 us.  Then s = 76 us, and 4 us are spun.  Are 5 of 1000
 * reads done before the poller looks, ratio = floor(log2(200)) = 7 and s goes
 * down to 57 us for the next window.
 *
 * Known weakness, kept because it is the published rule: an overslept sample
 * contains the wake-up.  If waking up costs more than 4 x lmd, overslept
 * samples lie above the mean and no miss is ever counted.  Taking the measured
 * wake-up lag off every timer makes that rarer.
 *
 * Reference: the adaptive sleep time proposed on the linux-block list in 2019,
 * never merged.
 */

#include "blk-poll-est.h"

/*
 * Distance of the sleep from the mean, in lmd.  From the 2019 proposal.  For a
 * normal distribution lmd is 0.4 standard deviations, so that 4 lmd are 1.6:
 * 5 % of the I/Os end earlier.  Fewer would oversleep more, more would spin.
 */
#define LMD_INDENT		4

/*
 * At most this many bits in samples per miss: sleep half.  From the 2019
 * proposal.  4 is a miss in fewer than 32.  Larger would give up on devices
 * that oversleep rarely, smaller would go on missing one read in 16.
 */
#define LMD_MANY_MISSES_LOG2	4

/*
 * At most this many bits in samples per miss: take a quarter off.  From the
 * 2019 proposal.  7 is a miss in fewer than 256, 0.4 %.  Larger would be
 * cautious because of noise, smaller would show in the 99th percentile.
 */
#define LMD_SOME_MISSES_LOG2	7

/**
 * struct lmd_state - What the policy keeps per bucket.
 * @sleep_ns: Sleep from the I/O's start; 0: nothing known.
 */
struct lmd_state {
	u64 sleep_ns;
};

static void lmd_init(void *state)
{
	struct lmd_state *lmd = state;

	WRITE_ONCE(lmd->sleep_ns, 0);
}

static void lmd_select(const void *state, const struct blk_poll_inputs *in,
		       struct blk_poll_plan *plan)
{
	const struct lmd_state *lmd = state;

	blk_poll_plan_single(plan, READ_ONCE(lmd->sleep_ns));
}

/* Bits in samples per miss; more than any threshold when nothing was missed. */
static unsigned int lmd_miss_ratio_log2(const struct blk_poll_window *win)
{
	return win->misses ? ilog2(win->samples / win->misses) : UINT_MAX;
}

/**
 * blk_poll_lmd_sleep_ns() - Apply the rule of 2019 to a window.
 * @win: The window.
 *
 * Context: Any.
 * Return: How long to sleep, 0 if it had no samples.
 */
u64 blk_poll_lmd_sleep_ns(const struct blk_poll_window *win)
{
	/* mean_ns and lmd_ns are at most 2^36, so the product fits */
	u64 half_ns = (win->mean_ns + 1) / 2;
	u64 indent_ns = LMD_INDENT * win->lmd_ns;
	unsigned int ratio_log2;
	u64 sleep_ns;

	if (!win->samples)
		return 0;
	if (!win->lmd_ns || win->mean_ns <= indent_ns)
		return half_ns;

	sleep_ns = win->mean_ns - indent_ns;
	ratio_log2 = lmd_miss_ratio_log2(win);
	if (ratio_log2 <= LMD_MANY_MISSES_LOG2)
		return half_ns;
	if (ratio_log2 <= LMD_SOME_MISSES_LOG2)
		sleep_ns -= sleep_ns / 4;
	return max(sleep_ns, half_ns);
}

static void lmd_window(void *state, const struct blk_poll_window *win)
{
	struct lmd_state *lmd = state;

	WRITE_ONCE(lmd->sleep_ns, blk_poll_lmd_sleep_ns(win));
}

const struct blk_poll_policy blk_poll_lmd = {
	.name		= "lmd",
	.state_size	= sizeof(struct lmd_state),
	.init		= lmd_init,
	.select		= lmd_select,
	.window		= lmd_window,
};
