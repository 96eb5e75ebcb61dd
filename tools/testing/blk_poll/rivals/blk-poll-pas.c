// SPDX-License-Identifier: GPL-2.0
/*
 * Rival policies "pas" and "dpas": a sleep that follows its own outcomes.
 */

/**
 * DOC: Rival policies pas and dpas
 *
 * Observed is one bit per I/O: OVER if the first look after its sleep found
 * anything, UNDER if it did not.
 *
 * Kept are, per bucket, the sleep, the factor that was last applied to it, two
 * step sizes and the last outcome.
 *
 * "pas" starts with a sleep of 100 ns, a factor of 1, steps of 0.01 up and 0.1
 * down, and UNDER as the last outcome.  With each new outcome it goes:
 *
 * 1. From (previous, last) follows the factor: (UNDER, UNDER) adds the step up
 *    to it; (OVER, OVER) takes the step down off it; (UNDER, OVER) makes it
 *    1 - step down; (OVER, UNDER) makes it 1 + step up.  If it has come to 0 or
 *    less it is 1.
 * 2. The sleep is multiplied with it, rounded down, at least 100 ns.
 * 3. If both outcomes were the same the step down grows by 5 %, up to 0.1, and
 *    the step up is a tenth of it.  If they differ the step up shrinks by 10 %,
 *    down to 0.001, and the step down is ten times that.
 *
 * Every I/O is slept on.  If several tasks sleep at the same time, only the
 * first outcome after the sleep was changed counts.
 *
 * "dpas" wraps a mode around it, which it judges after 100 I/Os, in CP after
 * 1000, in INT after 10000:
 *
 * 1. PAS, as above: to OL if the sleep was at its lower limit and would have
 *    become shorter; else to CP if on average one task slept at a time.
 * 2. OL, overload, sleeps as PAS does: to PAS if on average one task slept, to
 *    INT if it was more than theta, which is 1 for NAND and 3 for Optane.
 * 3. CP, classic polling: to PAS.
 * 4. INT, interrupts: to OL.
 *
 * Example: from 100 ns the first outcomes are UNDER, so the factors are 1.01,
 * 1.02, 1.03...: sleeps of 101, 103, 106 ns; after 21 I/Os it sleeps for 832 ns,
 * after 39, if the device takes that long, for 99 us.
 *
 * The mode belongs to a CPU in the paper; here each bucket has its own.
 *
 * Reference: PAS and DPAS, USENIX FAST, 2026.
 */

#include "blk-poll-rivals.h"

/* Factors and steps are in millionths. */
#define PAS_ONE			1000000

/* From the paper: shortest sleep, and steps to begin with. */
#define PAS_MIN_SLEEP_NS	100
#define PAS_FIRST_UP		10000
#define PAS_FIRST_DOWN		100000

/* From the paper: bounds of the steps, and the ratio of both. */
#define PAS_MIN_UP		1000
#define PAS_MAX_DOWN		100000
#define PAS_DOWN_PER_UP		10

/*
 * Not from the paper, which knows no bound: 64 times in one step.  With a sleep
 * of at most 2^36 ns the product fits.
 */
#define PAS_MAX_FACTOR		(64 * PAS_ONE)

/* From the paper: I/Os between two judgements of dpas. */
#define DPAS_IOS		100
#define DPAS_CP_IOS		1000
#define DPAS_INT_IOS		10000

/* From the paper: more sleepers than this and interrupts are better. */
#define DPAS_THETA_NAND		1
#define DPAS_THETA_XPOINT	3

/**
 * struct pas_state - What the policy keeps per bucket.
 * @sleep_ns: The sleep.
 * @factor: What it was last multiplied with, in millionths.
 * @up: Step up, as well.
 * @down: Step down, as well.
 * @generation: Changes with @sleep_ns; never 0.
 * @last_over: The last outcome was OVER.
 * @at_floor: @sleep_ns was kept at its lower limit by the last outcome.
 */
struct pas_state {
	u64 sleep_ns;
	u32 factor;
	u32 up;
	u32 down;
	u32 generation;
	bool last_over;
	bool at_floor;
};

/* Modes of dpas. */
enum dpas_mode {
	DPAS_PAS,
	DPAS_OL,
	DPAS_CP,
	DPAS_INT,
};

/**
 * struct dpas_state - What dpas keeps per bucket.
 * @pas: The sleep.
 * @mode: The mode.
 * @theta: Sleepers that are too many.
 * @ios: I/Os since the last judgement.
 * @slept: Those that were slept on.
 * @sleepers: Sum, over them, of the tasks that slept at the time.
 * @floored: The sleep was at its lower limit.
 */
struct dpas_state {
	struct pas_state pas;
	enum dpas_mode mode;
	u32 theta;
	u32 ios;
	u32 slept;
	u32 sleepers;
	bool floored;
};

static void pas_init(void *state)
{
	struct pas_state *pas = state;

	WRITE_ONCE(pas->sleep_ns, PAS_MIN_SLEEP_NS);
	pas->factor = PAS_ONE;
	pas->up = PAS_FIRST_UP;
	pas->down = PAS_FIRST_DOWN;
	WRITE_ONCE(pas->generation, 1);
	pas->last_over = false;
	pas->at_floor = false;
}

static void pas_select(const void *state, const struct blk_poll_inputs *in,
		       struct blk_poll_plan *plan)
{
	const struct pas_state *pas = state;

	blk_poll_plan_single(plan, READ_ONCE(pas->sleep_ns));
	plan->flags = BLK_POLL_PLAN_EXACT;
	plan->tag = READ_ONCE(pas->generation);
}

/* @factor and the steps are below 2^27, so that sums fit an s32. */
static u32 pas_factor(const struct pas_state *pas, bool over)
{
	s32 factor = pas->factor;

	if (over)
		factor = (pas->last_over ? factor : PAS_ONE) - (s32)pas->down;
	else
		factor = (pas->last_over ? PAS_ONE : factor) + (s32)pas->up;
	if (factor <= 0)
		return PAS_ONE;
	return min_t(u32, factor, PAS_MAX_FACTOR);
}

static void pas_adapt_steps(struct pas_state *pas, bool same)
{
	if (same) {
		pas->down = min_t(u32, pas->down * 105 / 100, PAS_MAX_DOWN);
		pas->up = pas->down / PAS_DOWN_PER_UP;
	} else {
		pas->up = max_t(u32, pas->up * 9 / 10, PAS_MIN_UP);
		pas->down = pas->up * PAS_DOWN_PER_UP;
	}
}

/* Learn an outcome; false if an outcome of the same sleep came before. */
static bool pas_learn(struct pas_state *pas,
		      const struct blk_poll_sample *sample)
{
	bool over = sample->found_first;
	u64 sleep_ns;

	if (!sample->slept_ns || sample->tag != pas->generation)
		return false;

	pas->factor = pas_factor(pas, over);
	sleep_ns = div_u64(pas->sleep_ns * pas->factor, PAS_ONE);
	pas->at_floor = sleep_ns < PAS_MIN_SLEEP_NS;
	WRITE_ONCE(pas->sleep_ns, clamp_t(u64, sleep_ns, PAS_MIN_SLEEP_NS,
					  BLK_POLL_MAX_LATENCY_NS));
	pas_adapt_steps(pas, over == pas->last_over);
	pas->last_over = over;
	/* 0 stands for no plan */
	WRITE_ONCE(pas->generation, pas->generation == U32_MAX ?
				    1 : pas->generation + 1);
	return true;
}

static void pas_reflect(void *state, const struct blk_poll_sample *sample,
			u64 now_ns)
{
	pas_learn(state, sample);
}

static void dpas_set_mode(struct dpas_state *dpas, enum dpas_mode mode)
{
	WRITE_ONCE(dpas->mode, mode);
	dpas->ios = 0;
	dpas->slept = 0;
	dpas->sleepers = 0;
	dpas->floored = false;
}

static void dpas_init_theta(void *state, u32 theta)
{
	struct dpas_state *dpas = state;

	pas_init(&dpas->pas);
	dpas->theta = theta;
	dpas_set_mode(dpas, DPAS_PAS);
}

static void dpas_init(void *state)
{
	dpas_init_theta(state, DPAS_THETA_NAND);
}

static void dpas_xpoint_init(void *state)
{
	dpas_init_theta(state, DPAS_THETA_XPOINT);
}

static void dpas_select(const void *state, const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	const struct dpas_state *dpas = state;

	switch (READ_ONCE(dpas->mode)) {
	case DPAS_PAS:
	case DPAS_OL:
		pas_select(&dpas->pas, in, plan);
		break;
	case DPAS_CP:
		blk_poll_plan_single(plan, 0);
		break;
	case DPAS_INT:
		blk_poll_plan_single(plan, 0);
		plan->flags = BLK_POLL_PLAN_IRQ;
		break;
	}
}

/* I/Os until the next judgement. */
static u32 dpas_period(enum dpas_mode mode)
{
	switch (mode) {
	case DPAS_CP:
		return DPAS_CP_IOS;
	case DPAS_INT:
		return DPAS_INT_IOS;
	default:
		return DPAS_IOS;
	}
}

static enum dpas_mode dpas_judge(const struct dpas_state *dpas)
{
	/* an I/O in flight at the change of mode may have been slept on */
	bool alone = dpas->slept && dpas->sleepers <= dpas->slept;

	switch (dpas->mode) {
	case DPAS_PAS:
		if (dpas->floored)
			return DPAS_OL;
		return alone ? DPAS_CP : DPAS_PAS;
	case DPAS_OL:
		if (alone)
			return DPAS_PAS;
		/* at most 100 I/Os and 3: the product fits */
		return dpas->sleepers > dpas->theta * dpas->slept ? DPAS_INT :
								    DPAS_OL;
	case DPAS_INT:
		return DPAS_OL;
	default:
		return DPAS_PAS;
	}
}

static void dpas_reflect(void *state, const struct blk_poll_sample *sample,
			 u64 now_ns)
{
	struct dpas_state *dpas = state;

	if (pas_learn(&dpas->pas, sample))
		dpas->floored |= dpas->pas.at_floor;
	if (sample->slept_ns && sample->sleepers) {
		dpas->slept++;
		dpas->sleepers += sample->sleepers;
	}
	if (++dpas->ios >= dpas_period(dpas->mode))
		dpas_set_mode(dpas, dpas_judge(dpas));
}

const struct blk_poll_policy blk_poll_pas = {
	.name		= "pas",
	.state_size	= sizeof(struct pas_state),
	.init		= pas_init,
	.select		= pas_select,
	.reflect	= pas_reflect,
};

const struct blk_poll_policy blk_poll_dpas = {
	.name		= "dpas",
	.state_size	= sizeof(struct dpas_state),
	.init		= dpas_init,
	.select		= dpas_select,
	.reflect	= dpas_reflect,
};

const struct blk_poll_policy blk_poll_dpas_xpoint = {
	.name		= "dpas-xpoint",
	.state_size	= sizeof(struct dpas_state),
	.init		= dpas_xpoint_init,
	.select		= dpas_select,
	.reflect	= dpas_reflect,
};
