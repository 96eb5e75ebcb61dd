// SPDX-License-Identifier: GPL-2.0
/*
 * Rival policy "ehp": the shortest of recent latencies, less a constant.
 */

/**
 * DOC: Rival policy ehp
 *
 * Observed is the latency of each I/O, oversleep included.
 *
 * Kept are, per bucket, the shortest latency of the window of 10 ms that is
 * open, and that of the last window that had samples.
 *
 * It decides like this:
 *
 * 1. A window opens with the first sample after the last one has closed, and
 *    takes samples for 10 ms.
 * 2. C = 4050 ns is two context switches and an interrupt on the machine of
 *    those who proposed it.
 * 3. If the shortest latency of the last window was above C, sleep for the
 *    difference.  Otherwise do not sleep.
 * 4. Only "ehp-irq": if it was 10 x C or more, wait for the interrupt.
 *
 * Before the first window has closed it does not sleep.
 *
 * Example: the shortest of reads around 80 us took 76 us, so the timer is set
 * for 71.95 us; with a wake-up of 2 us the task looks from 73.95 us on.
 *
 * A closed window counts from the next sample on, as no timer closes it: one
 * I/O later than with a timer.  The proposal keeps its figures per CPU; here
 * they are where the contract has them, per bucket.
 *
 * Reference: EHP, Journal of Systems Architecture, 2022.
 */

#include "blk-poll-rivals.h"

/* Length of a window, from the proposal. */
#define EHP_WINDOW_NS		(10 * NSEC_PER_MSEC)

/* Two context switches and an interrupt, from the proposal. */
#define EHP_COST_NS		4050

/* From this many of EHP_COST_NS on interrupts are cheap enough. */
#define EHP_IRQ_FACTOR		10

/**
 * struct ehp_state - What the policy keeps per bucket.
 * @begin_ns: When the open window began.
 * @open_min_ns: Shortest latency in it; U64_MAX: no window is open.
 * @min_ns: Shortest latency of the last window; 0: nothing known.
 */
struct ehp_state {
	u64 begin_ns;
	u64 open_min_ns;
	u64 min_ns;
};

static void ehp_init(void *state)
{
	struct ehp_state *ehp = state;

	ehp->begin_ns = 0;
	ehp->open_min_ns = U64_MAX;
	WRITE_ONCE(ehp->min_ns, 0);
}

static void ehp_select(const void *state, const struct blk_poll_inputs *in,
		       struct blk_poll_plan *plan)
{
	const struct ehp_state *ehp = state;
	u64 min_ns = READ_ONCE(ehp->min_ns);

	blk_poll_plan_single(plan, min_ns > EHP_COST_NS ?
				   min_ns - EHP_COST_NS : 0);
	plan->flags = BLK_POLL_PLAN_EXACT;
}

static void ehp_irq_select(const void *state, const struct blk_poll_inputs *in,
			   struct blk_poll_plan *plan)
{
	const struct ehp_state *ehp = state;

	if (READ_ONCE(ehp->min_ns) < EHP_IRQ_FACTOR * EHP_COST_NS) {
		ehp_select(state, in, plan);
		return;
	}
	blk_poll_plan_single(plan, 0);
	plan->flags = BLK_POLL_PLAN_IRQ;
}

static void ehp_reflect(void *state, const struct blk_poll_sample *sample,
			u64 now_ns)
{
	struct ehp_state *ehp = state;
	u64 latency_ns = min(sample->latency_ns, BLK_POLL_MAX_LATENCY_NS);

	if (ehp->open_min_ns != U64_MAX &&
	    now_ns - ehp->begin_ns >= EHP_WINDOW_NS) {
		WRITE_ONCE(ehp->min_ns, ehp->open_min_ns);
		ehp->open_min_ns = U64_MAX;
	}
	if (ehp->open_min_ns == U64_MAX)
		ehp->begin_ns = now_ns;
	ehp->open_min_ns = min(ehp->open_min_ns, latency_ns);
}

const struct blk_poll_policy blk_poll_ehp = {
	.name		= "ehp",
	.state_size	= sizeof(struct ehp_state),
	.init		= ehp_init,
	.select		= ehp_select,
	.reflect	= ehp_reflect,
};

const struct blk_poll_policy blk_poll_ehp_irq = {
	.name		= "ehp-irq",
	.state_size	= sizeof(struct ehp_state),
	.init		= ehp_init,
	.select		= ehp_irq_select,
	.reflect	= ehp_reflect,
};
