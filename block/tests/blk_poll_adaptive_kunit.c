// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the sleep policy "adaptive" and of the schedules that it follows.
 *
 * In the kernel:
 *	./tools/testing/kunit/kunit.py run --kunitconfig block/tests
 * The same file in userspace, with sanitizers:
 *	make -C tools/testing/blk_poll check
 */
#include <kunit/test.h>

#include "../blk-poll-hist.h"

/* Bins */

static void bins_hold_what_they_say(struct kunit *test)
{
	unsigned int bin;

	KUNIT_EXPECT_EQ(test, blk_poll_bin(0), 0);
	KUNIT_EXPECT_EQ(test, blk_poll_bin(1039), 0);
	KUNIT_EXPECT_EQ(test, blk_poll_bin(1040), 1);
	KUNIT_EXPECT_EQ(test, blk_poll_bin((1 << 23) - 1), BLK_POLL_NR_BINS - 1);
	KUNIT_EXPECT_EQ(test, blk_poll_bin(1 << 23), BLK_POLL_NR_BINS);
	KUNIT_EXPECT_EQ(test, blk_poll_bin(U64_MAX), BLK_POLL_NR_BINS);
	for (bin = 1; bin <= BLK_POLL_NR_BINS; bin++) {
		u32 start_ns = blk_poll_bin_start(bin);

		KUNIT_ASSERT_EQ(test, blk_poll_bin(start_ns), bin);
		KUNIT_ASSERT_EQ(test, blk_poll_bin(start_ns - 1), bin - 1);
		/* 1/64 to 1/128 wide; schedules count in 8 ns */
		KUNIT_ASSERT_EQ(test, start_ns % 8, 0);
	}
}

/* Histograms */

static struct blk_poll_hist *new_hist(struct kunit *test)
{
	struct blk_poll_hist *hist = kunit_kzalloc(test, sizeof(*hist),
						   GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hist);
	blk_poll_hist_init(hist);
	return hist;
}

static u32 hist_sum(const struct blk_poll_hist *hist)
{
	u32 sum = 0;

	for (unsigned int i = 0; i <= BLK_POLL_NR_BINS; i++)
		sum += hist->weight[i];
	return sum;
}

static void hist_total_is_the_sum(struct kunit *test)
{
	struct blk_poll_hist *hist = new_hist(test);

	/* the same bin all the time is what comes closest to overflowing */
	for (int i = 0; i < 100000; i++)
		blk_poll_hist_add(hist, 100);
	KUNIT_EXPECT_EQ(test, hist->total, hist_sum(hist));
	KUNIT_EXPECT_EQ(test, hist->total, hist->weight[100]);
	KUNIT_EXPECT_LT(test, hist->total, 32768);
	for (int i = 0; i < 100000; i++)
		blk_poll_hist_add(hist, i % (BLK_POLL_NR_BINS + 1));
	KUNIT_EXPECT_EQ(test, hist->total, hist_sum(hist));
	KUNIT_EXPECT_LT(test, hist->total, 32768);
}

static void hist_forgets(struct kunit *test)
{
	struct blk_poll_hist *hist = new_hist(test);

	for (int i = 0; i < 2000; i++)
		blk_poll_hist_add(hist, 100);
	KUNIT_EXPECT_TRUE(test, blk_poll_hist_knows(hist, 104));
	KUNIT_EXPECT_FALSE(test, blk_poll_hist_knows(hist, 105));
	KUNIT_EXPECT_FALSE(test, blk_poll_hist_knows(hist, 95));
	for (int i = 0; i < 16; i++)
		blk_poll_hist_fade(hist);
	KUNIT_EXPECT_EQ(test, hist->total, 0);
	KUNIT_EXPECT_FALSE(test, blk_poll_hist_knows(hist, 100));
}

/* Schedules */

static const struct blk_poll_costs usual_costs = {
	.sleep_ns	= 1000,
	.wake_ns	= 2000,
	.weight		= 10,
};

/* What @schedule costs an I/O; behind its last sleep it looks. */
static u64 cost_of(const struct blk_poll_schedule *schedule,
		   const struct blk_poll_costs *costs, u64 latency_ns)
{
	u64 now_ns = 0, cost_ns = 0;

	for (unsigned int i = 0; i < schedule->nr; i++) {
		const struct blk_poll_step *step = &schedule->step[i];

		if (latency_ns <= step->from_ns)
			break;
		cost_ns += step->from_ns - now_ns + costs->sleep_ns;
		now_ns = step->to_ns;
		if (latency_ns < now_ns)
			return cost_ns + costs->weight * (now_ns - latency_ns);
	}
	return cost_ns + latency_ns - now_ns;
}

static u64 cost_of_all(const struct blk_poll_schedule *schedule,
		       const struct blk_poll_costs *costs, const u64 *latency_ns,
		       int nr)
{
	u64 sum = 0;

	for (int i = 0; i < nr; i++)
		sum += cost_of(schedule, costs, latency_ns[i]);
	return sum;
}

struct schedule_row {
	const char *desc;
	u64 mode_ns[4];		/* up to the first 0 */
	u64 spread_ns;
};

static const struct schedule_row schedule_rows[] = {
	{ "constant, 5 us", { 5000 }, 1 },
	{ "constant, 80 us", { 80000 }, 1 },
	{ "constant, 1 ms", { 1000000 }, 1 },
	{ "a mode of 60 to 70 us", { 60000 }, 10000 },
	{ "10 and 80 us", { 10000, 80000 }, 1000 },
	{ "20, 60 and 200 us", { 20000, 60000, 200000 }, 3000 },
	{ "anything up to 100 us", { 1000 }, 99000 },
	{ "10, 40, 160 us and 3 ms", { 10000, 40000, 160000, 3000000 }, 500 },
};

KUNIT_ARRAY_PARAM_DESC(schedule, schedule_rows, desc);

#define NR_LATENCIES	2000

/* No schedule of one sleep is cheaper, nor is looking all the time. */
static void schedule_beats_single_sleeps(struct kunit *test)
{
	const struct schedule_row *row = test->param_value;
	struct blk_poll_hist_scratch *scratch;
	struct blk_poll_hist *hist = new_hist(test);
	struct blk_poll_schedule found, single = { .nr = 1 };
	u64 *latency_ns, cost_ns, least_ns;
	u32 seed = 12345, before_ns = 0;

	scratch = kunit_kzalloc(test, sizeof(*scratch), GFP_KERNEL);
	latency_ns = kunit_kzalloc(test, NR_LATENCIES * sizeof(*latency_ns),
				   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, scratch);
	KUNIT_ASSERT_NOT_NULL(test, latency_ns);
	for (int i = 0, mode = 0; i < NR_LATENCIES; i++, mode++) {
		seed = seed * 1664525 + 1013904223;
		if (mode == ARRAY_SIZE(row->mode_ns) || !row->mode_ns[mode])
			mode = 0;
		latency_ns[i] = row->mode_ns[mode] +
				((seed >> 8) * row->spread_ns >> 24);
		blk_poll_hist_add(hist, blk_poll_bin(latency_ns[i]));
	}
	blk_poll_hist_schedule(hist, &usual_costs, scratch, &found);

	KUNIT_ASSERT_LE(test, found.nr, BLK_POLL_MAX_STEPS);
	for (unsigned int i = 0; i < found.nr; i++) {
		KUNIT_ASSERT_GE(test, found.step[i].from_ns, before_ns);
		KUNIT_ASSERT_GT(test, found.step[i].to_ns,
				found.step[i].from_ns + usual_costs.wake_ns);
		before_ns = found.step[i].to_ns;
	}

	least_ns = 0;
	for (int i = 0; i < NR_LATENCIES; i++)
		least_ns += latency_ns[i];
	for (unsigned int bin = 1; bin < BLK_POLL_NR_BINS; bin++) {
		single.step[0].to_ns = blk_poll_bin_start(bin);
		if (single.step[0].to_ns <= usual_costs.wake_ns)
			continue;
		cost_ns = cost_of_all(&single, &usual_costs, latency_ns,
				      NR_LATENCIES);
		least_ns = min(least_ns, cost_ns);
	}
	cost_ns = cost_of_all(&found, &usual_costs, latency_ns, NR_LATENCIES);
	/* and what is smoothed and doubted: a fiftieth, and two sleeps for each */
	KUNIT_EXPECT_LE_MSG(test, cost_ns, least_ns + least_ns / 50 +
			    2 * usual_costs.sleep_ns * NR_LATENCIES,
			    "%u sleeps cost more than the best single one",
			    found.nr);
}

/* With two modes two sleeps are far cheaper, see the example in the text. */
static void schedule_of_two_modes(struct kunit *test)
{
	struct blk_poll_hist_scratch *scratch;
	struct blk_poll_hist *hist = new_hist(test);
	struct blk_poll_schedule found;
	u64 cost_ns;

	scratch = kunit_kzalloc(test, sizeof(*scratch), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, scratch);
	for (int i = 0; i < 1000; i++)
		blk_poll_hist_add(hist, blk_poll_bin(i % 2 ? 10000 : 80000));
	blk_poll_hist_schedule(hist, &usual_costs, scratch, &found);
	KUNIT_ASSERT_GE(test, found.nr, 2);
	cost_ns = cost_of(&found, &usual_costs, 10000) +
		  cost_of(&found, &usual_costs, 80000);
	KUNIT_EXPECT_LE(test, cost_ns, 6000);
}

/* Nothing seen, or only what has no bin: whatever comes out is a schedule. */
static void schedule_of_nothing(struct kunit *test)
{
	struct blk_poll_costs costs = { .weight = BLK_POLL_MAX_WEIGHT };
	struct blk_poll_hist_scratch *scratch;
	struct blk_poll_hist *hist = new_hist(test);
	struct blk_poll_schedule found;

	scratch = kunit_kzalloc(test, sizeof(*scratch), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, scratch);
	for (int i = 0; i < 200; i++) {
		costs.sleep_ns = i * 100;
		costs.wake_ns = i * i;
		costs.jitter_ns = i % 7 * 1000;
		costs.surprise = i * 327;
		blk_poll_hist_schedule(hist, &costs, scratch, &found);
		KUNIT_ASSERT_LE(test, found.nr, BLK_POLL_MAX_STEPS);
		blk_poll_hist_add(hist, BLK_POLL_NR_BINS);
	}
}

/* The policy, on a device in a CPU whose timers are 2.0 to 2.6 us late */

/**
 * struct lab - A device, and a task that waits for it.
 * @state: The policy's.
 * @scratch: Its scratch memory.
 * @now_ns: The clock.
 * @in: What a decision depends on.
 * @seed: Of the jitter.
 * @late_ns: Of the last I/O, how late it was found.
 * @spun_ns: How long was looked.
 * @slept_ns: How long was slept.
 * @sleeps: How often.
 */
struct lab {
	void *state;
	void *scratch;
	u64 now_ns;
	struct blk_poll_inputs in;
	u32 seed;
	u64 late_ns;
	u64 spun_ns;
	u64 slept_ns;
	unsigned int sleeps;
};

static void lab_init(struct kunit *test, struct lab *lab)
{
	*lab = (struct lab){
		.in = {
			.cap_ns = 100 * NSEC_PER_MSEC,
			.weight = BLK_POLL_DEFAULT_WEIGHT,
		},
		.seed = 1,
	};
	lab->state = kunit_kzalloc(test, blk_poll_adaptive.state_size,
				   GFP_KERNEL);
	lab->scratch = kunit_kzalloc(test, blk_poll_adaptive.scratch_size,
				     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, lab->state);
	KUNIT_ASSERT_NOT_NULL(test, lab->scratch);
	blk_poll_adaptive.init(lab->state);
	for (int i = 0; i < 100; i++)
		blk_poll_wake_reflect(&lab->in.wake, 2300);
	lab->in.wake.dev_ns = 200;
}

/* Wait for an I/O of @latency_ns as blk_poll_sync_wait() does. */
static void lab_io(struct kunit *test, struct lab *lab, u64 latency_ns)
{
	struct blk_poll_sample sample = { };
	struct blk_poll_plan plan = { };
	u64 now_ns = 0, timer_ns, next_ns, empty_ns = 0;
	bool planned = false;
	u8 stage = 0;
	int rounds = 0;

	lab->spun_ns = 0;
	lab->slept_ns = 0;
	lab->sleeps = 0;
	while (now_ns < latency_ns) {
		/* bounded: looks of 100 ns, or the end of it */
		KUNIT_ASSERT_LE(test, ++rounds, 1000000);
		sample.overslept = false;
		if (!planned || blk_poll_plan_over(&plan, stage, now_ns)) {
			lab->in.elapsed_ns = now_ns;
			blk_poll_adaptive.learn(lab->state, &lab->in,
						lab->scratch,
						lab->now_ns + now_ns);
			blk_poll_adaptive.select(lab->state, &lab->in, &plan);
			planned = true;
			stage = 0;
		}
		timer_ns = blk_poll_plan_due(&plan, &stage, now_ns, &lab->in);
		if (!timer_ns) {
			next_ns = min(now_ns + 100, latency_ns);
			lab->spun_ns += next_ns - now_ns;
			now_ns = next_ns;
			continue;
		}
		KUNIT_ASSERT_GT(test, timer_ns, now_ns);
		KUNIT_ASSERT_LE(test, timer_ns, lab->in.cap_ns);
		lab->seed = lab->seed * 1664525 + 1013904223;
		sample.lag_ns = 2000 + (lab->seed >> 8) % 600;
		empty_ns = now_ns;
		lab->slept_ns += timer_ns + sample.lag_ns - now_ns;
		now_ns = timer_ns + sample.lag_ns;
		lab->sleeps++;
		stage++;
		sample.overslept = now_ns >= latency_ns;
	}
	lab->late_ns = now_ns - latency_ns;
	lab->now_ns += now_ns;
	sample.latency_ns = now_ns;
	sample.lower_ns = sample.overslept ? empty_ns : now_ns;
	blk_poll_adaptive.reflect(lab->state, &sample, lab->now_ns);
}

struct constant_row {
	const char *desc;
	u64 latency_ns;
	u64 spare_ns;		/* that an I/O may spin and be late for */
};

static const struct constant_row constant_rows[] = {
	{ "10 us", 10000, 1500 },
	{ "80 us", 80000, 1500 },
	{ "1 ms", 1000000, 1500 },
	{ "20 ms: no bins so far out", 20000000, 100000 },
};

KUNIT_ARRAY_PARAM_DESC(constant, constant_rows, desc);

static void adaptive_sleeps_until_just_before(struct kunit *test)
{
	const struct constant_row *row = test->param_value;
	u64 spare_ns = 0;
	struct lab lab;

	lab_init(test, &lab);
	for (int i = 0; i < 300; i++) {
		lab_io(test, &lab, row->latency_ns);
		if (i >= 200)
			spare_ns += lab.spun_ns + lab.late_ns;
	}
	KUNIT_EXPECT_LE(test, spare_ns / 100, row->spare_ns);
	KUNIT_EXPECT_GE(test, lab.sleeps, 1);
}

/* The first ten I/Os are enough to sleep for most of the time. */
static void adaptive_starts_soon(struct kunit *test)
{
	struct lab lab;

	lab_init(test, &lab);
	lab_io(test, &lab, 80000);
	KUNIT_EXPECT_EQ(test, lab.sleeps, 0);
	for (int i = 0; i < 9; i++)
		lab_io(test, &lab, 80000);
	lab_io(test, &lab, 80000);
	KUNIT_EXPECT_LE(test, lab.spun_ns, 80000 / 4);
}

/* Late for as long as it slept until now, but at most three times. */
static void adaptive_follows_a_step_down(struct kunit *test)
{
	int late = 0;
	struct lab lab;

	lab_init(test, &lab);
	for (int i = 0; i < 1000; i++)
		lab_io(test, &lab, 1000000);
	for (int i = 0; i < 50; i++) {
		lab_io(test, &lab, 10000);
		late += lab.late_ns > 5000;
	}
	KUNIT_EXPECT_LE(test, late, 3);
}

/* Eight I/Os later it sleeps again for most of the time. */
static void adaptive_follows_a_step_up(struct kunit *test)
{
	struct lab lab;

	lab_init(test, &lab);
	for (int i = 0; i < 1000; i++)
		lab_io(test, &lab, 10000);
	for (int i = 0; i < 8; i++)
		lab_io(test, &lab, 1000000);
	lab_io(test, &lab, 1000000);
	KUNIT_EXPECT_GE(test, lab.slept_ns, 800000);
	KUNIT_EXPECT_LE(test, lab.spun_ns, 200000);
}

/* One I/O of 100 ms: the next ones are waited for as those before. */
static void adaptive_forgives_an_outlier(struct kunit *test)
{
	u64 before_ns = 0, after_ns = 0;
	struct lab lab;

	lab_init(test, &lab);
	for (int i = 0; i < 1200; i++) {
		lab_io(test, &lab, 80000);
		if (i >= 1000)
			before_ns += lab.spun_ns + 10 * lab.late_ns;
	}
	lab_io(test, &lab, 100 * NSEC_PER_MSEC);
	for (int i = 0; i < 200; i++) {
		lab_io(test, &lab, 80000);
		after_ns += lab.spun_ns + 10 * lab.late_ns;
	}
	KUNIT_EXPECT_LE(test, after_ns, before_ns + before_ns / 2);
}

/* It knew 1 ms, then nothing came for long; no plan knows of that any more. */
static void adaptive_forgets_what_is_old(struct kunit *test)
{
	struct lab lab;

	lab_init(test, &lab);
	for (int i = 0; i < 100; i++)
		lab_io(test, &lab, 1000000);
	lab.now_ns += 200 * NSEC_PER_SEC;
	lab_io(test, &lab, 20000);
	/* the last one is learnt before the plan for it is made */
	lab_io(test, &lab, 20000);
	KUNIT_EXPECT_LE(test, lab.late_ns, 5000);
}

/* A CPU that has seen nothing sleeps as the last window of the queue says. */
static void adaptive_starts_from_the_window(struct kunit *test)
{
	const struct blk_poll_window win = {
		.mean_ns = 80000, .lmd_ns = 1000, .samples = 1000,
	};
	struct blk_poll_plan plan;
	struct lab lab;

	lab_init(test, &lab);
	blk_poll_adaptive.window(lab.state, &win);
	blk_poll_adaptive.select(lab.state, &lab.in, &plan);
	KUNIT_ASSERT_GE(test, plan.nr, 1);
	/* 80 us - 4 us, less the wake-up */
	KUNIT_EXPECT_GE(test, plan.stage[0].sleep_to_ns, 73000);
	KUNIT_EXPECT_LE(test, plan.stage[0].sleep_to_ns, 76000);
}

/* The dearer latency is, the less late; the dearer CPU time, the less spun. */
static void adaptive_obeys_its_weight(struct kunit *test)
{
	u64 late_ns[3] = { }, spun_ns[3] = { };
	const u32 weights[3] = { 1, 10, 100 };
	struct lab lab;

	for (int w = 0; w < 3; w++) {
		lab_init(test, &lab);
		lab.in.weight = weights[w];
		for (int i = 0; i < 3000; i++) {
			lab_io(test, &lab, 60000 + (u64)(i * 7919 % 10007));
			if (i < 1000)
				continue;
			late_ns[w] += lab.late_ns;
			spun_ns[w] += lab.spun_ns;
		}
	}
	KUNIT_EXPECT_GT(test, late_ns[0], late_ns[1]);
	KUNIT_EXPECT_GT(test, late_ns[1], late_ns[2]);
	KUNIT_EXPECT_LT(test, spun_ns[0], spun_ns[1]);
	KUNIT_EXPECT_LT(test, spun_ns[1], spun_ns[2]);
}

/* A plan is over when its last look is, and only if there is more. */
static void plan_over_asks_again(struct kunit *test)
{
	struct blk_poll_plan plan = {
		.nr = 2,
		.flags = BLK_POLL_PLAN_MORE,
		.stage = { { 1000, 2000 }, { 5000, 6000 } },
	};

	KUNIT_EXPECT_FALSE(test, blk_poll_plan_over(&plan, 1, 10000));
	KUNIT_EXPECT_FALSE(test, blk_poll_plan_over(&plan, 2, 5999));
	KUNIT_EXPECT_TRUE(test, blk_poll_plan_over(&plan, 2, 6000));
	plan.flags = 0;
	KUNIT_EXPECT_FALSE(test, blk_poll_plan_over(&plan, 2, 10000));
}

static struct kunit_case blk_poll_adaptive_cases[] = {
	KUNIT_CASE(bins_hold_what_they_say),
	KUNIT_CASE(hist_total_is_the_sum),
	KUNIT_CASE(hist_forgets),
	KUNIT_CASE_PARAM(schedule_beats_single_sleeps, schedule_gen_params),
	KUNIT_CASE(schedule_of_two_modes),
	KUNIT_CASE(schedule_of_nothing),
	KUNIT_CASE(plan_over_asks_again),
	KUNIT_CASE_PARAM(adaptive_sleeps_until_just_before, constant_gen_params),
	KUNIT_CASE(adaptive_starts_soon),
	KUNIT_CASE(adaptive_follows_a_step_down),
	KUNIT_CASE(adaptive_follows_a_step_up),
	KUNIT_CASE(adaptive_forgives_an_outlier),
	KUNIT_CASE(adaptive_forgets_what_is_old),
	KUNIT_CASE(adaptive_starts_from_the_window),
	KUNIT_CASE(adaptive_obeys_its_weight),
	{ }
};

static struct kunit_suite blk_poll_adaptive_suite = {
	.name = "blk_poll_adaptive",
	.test_cases = blk_poll_adaptive_cases,
};

kunit_test_suite(blk_poll_adaptive_suite);

MODULE_DESCRIPTION("Tests of the sleep policy adaptive of hybrid polling");
MODULE_LICENSE("GPL");
