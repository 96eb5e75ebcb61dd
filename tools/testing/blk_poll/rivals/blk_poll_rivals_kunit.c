// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the rivals of hybrid polling's own policies: each threshold of their
 * published rules, at and around its edge.
 *
 * In userspace, with sanitizers:
 *	make -C tools/testing/blk_poll check
 */
#include <kunit/test.h>

#include "blk-poll-rivals.h"

/* Every wake-up costs 2 us and nobody cares. */
static const struct blk_poll_inputs in = {
	.wake = { .lag_ns = 2000, .dev_ns = 300 },
	.cap_ns = U64_MAX,
};

static void *new_state(struct kunit *test, const struct blk_poll_policy *policy)
{
	void *state = kunit_kzalloc(test, policy->state_size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, state);
	policy->init(state);
	return state;
}

/* The plan of a rival; what was in it before must not show. */
static struct blk_poll_plan plan_of(struct kunit *test,
				    const struct blk_poll_policy *policy,
				    const void *state)
{
	struct blk_poll_plan plan;

	memset(&plan, 0x5a, sizeof(plan));
	policy->select(state, &in, &plan);
	KUNIT_EXPECT_LE(test, plan.nr, 1);
	if (plan.nr)
		KUNIT_EXPECT_EQ(test, plan.flags, BLK_POLL_PLAN_EXACT);
	return plan;
}

/* Its sleep; 0: it spins, U64_MAX: it waits for the interrupt. */
static u64 sleep_of(struct kunit *test, const struct blk_poll_policy *policy,
		    const void *state)
{
	struct blk_poll_plan plan = plan_of(test, policy, state);

	if (plan.flags & BLK_POLL_PLAN_IRQ) {
		KUNIT_EXPECT_EQ(test, plan.nr, 0);
		return U64_MAX;
	}
	return plan.nr ? plan.stage[0].sleep_to_ns : 0;
}

/* The timer is set for that very time, as short as it may be. */
static void plans_set_exact_timers(struct kunit *test)
{
	void *state = new_state(test, &blk_poll_pas);
	struct blk_poll_plan plan = plan_of(test, &blk_poll_pas, state);
	u8 stage = 0;

	KUNIT_EXPECT_EQ(test, blk_poll_plan_due(&plan, &stage, 0, &in), 100);
}

/* ehp */

static void ehp_sees(const struct blk_poll_policy *ehp, void *state,
		     u64 latency_ns, u64 now_ns)
{
	struct blk_poll_sample sample = { .latency_ns = latency_ns };

	ehp->reflect(state, &sample, now_ns);
}

struct ehp_row {
	const char *desc;
	u64 min_ns;
	u64 sleep_ns;
	u64 irq_sleep_ns;
};

static const struct ehp_row ehp_rows[] = {
	{ "0", 0, 0, 0 },
	{ "one below C", 4049, 0, 0 },
	{ "C", 4050, 0, 0 },
	{ "one above C", 4051, 1, 1 },
	{ "twice C", 8100, 4050, 4050 },
	{ "one below 10 C", 40499, 36449, 36449 },
	{ "10 C: interrupts, for those who have them", 40500, 36450, U64_MAX },
	{ "80 us", 80000, 75950, U64_MAX },
	{ "cut at 2^36", U64_MAX, 68719472686ULL, U64_MAX },
};

KUNIT_ARRAY_PARAM_DESC(ehp, ehp_rows, desc);

static void ehp_sleep_of_the_shortest(struct kunit *test)
{
	const struct ehp_row *row = test->param_value;
	void *state = new_state(test, &blk_poll_ehp);
	void *irq_state = new_state(test, &blk_poll_ehp_irq);

	ehp_sees(&blk_poll_ehp, state, row->min_ns, 0);
	ehp_sees(&blk_poll_ehp, state, 1, 10000000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_ehp, state),
			row->sleep_ns);
	ehp_sees(&blk_poll_ehp_irq, irq_state, row->min_ns, 0);
	ehp_sees(&blk_poll_ehp_irq, irq_state, 1, 10000000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_ehp_irq, irq_state),
			row->irq_sleep_ns);
}

static void ehp_window_of_10_ms(struct kunit *test)
{
	const struct blk_poll_policy *ehp = &blk_poll_ehp;
	void *state = new_state(test, ehp);
	const u64 begin_ns = 123456789;

	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 0);
	ehp_sees(ehp, state, 90000, begin_ns);
	ehp_sees(ehp, state, 80000, begin_ns + 5000000);
	ehp_sees(ehp, state, 70000, begin_ns + 9999999);
	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 0);

	/* closes the window and is the first of the next one */
	ehp_sees(ehp, state, 50000, begin_ns + 10000000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 65950);
	ehp_sees(ehp, state, 60000, begin_ns + 19999999);
	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 65950);

	/* late, but it is the last window that had samples */
	ehp_sees(ehp, state, 90000, begin_ns + 900000000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 45950);

	/* that one began with its first sample */
	ehp_sees(ehp, state, 90000, begin_ns + 909999999);
	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 45950);
	ehp_sees(ehp, state, 90000, begin_ns + 910000000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, ehp, state), 85950);
}

/* iou-hybrid */

static void iou_sees(void *state, u64 latency_ns, u64 slept_ns)
{
	struct blk_poll_sample sample = {
		.latency_ns = latency_ns,
		.slept_ns = slept_ns,
	};

	blk_poll_iou.reflect(state, &sample, 0);
}

struct iou_row {
	const char *desc;
	u64 latency_ns;
	u64 slept_ns;
	u64 sleep_ns;
};

static const struct iou_row iou_rows[] = {
	{ "not slept", 80000, 0, 40000 },
	{ "odd, rounded down", 80001, 0, 40000 },
	{ "slept for a part", 80000, 42000, 19000 },
	{ "3 ns awake", 80000, 79997, 1 },
	{ "2 ns awake", 80000, 79998, 1 },
	{ "1 ns awake: half of it is nothing", 80000, 79999, 0 },
	{ "slept all the time", 80000, 80000, 0 },
	{ "slept for longer", 80000, 90000, 0 },
	{ "cut at 2^36", U64_MAX, 0, 1ULL << 35 },
};

KUNIT_ARRAY_PARAM_DESC(iou, iou_rows, desc);

static void iou_half_of_the_time_awake(struct kunit *test)
{
	const struct iou_row *row = test->param_value;
	void *state = new_state(test, &blk_poll_iou);

	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_iou, state), 0);
	iou_sees(state, row->latency_ns, row->slept_ns);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_iou, state),
			row->sleep_ns);
}

/* The example of its DOC: a constant device of 80 us, wake-ups of 2 us. */
static void iou_is_a_ratchet(struct kunit *test)
{
	void *state = new_state(test, &blk_poll_iou);

	iou_sees(state, 80000, 0);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_iou, state), 40000);
	iou_sees(state, 80000, 42000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_iou, state), 19000);
	iou_sees(state, 80000, 21000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_iou, state), 19000);

	/* a device that has become slower is not noticed */
	iou_sees(state, 1000000, 21000);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_iou, state), 19000);
}

/* pas */

static void sees_outcome(const struct blk_poll_policy *policy, void *state,
			 u32 tag, bool over, u16 sleepers)
{
	struct blk_poll_sample sample = {
		.latency_ns = 80000,
		.slept_ns = 2100,
		.tag = tag,
		.sleepers = sleepers,
		.found_first = over,
	};

	policy->reflect(state, &sample, 0);
}

/* An I/O with such an outcome: 'O' or 'U'. */
static void one_io(struct kunit *test, const struct blk_poll_policy *policy,
		   void *state, char outcome, u16 sleepers)
{
	struct blk_poll_plan plan = plan_of(test, policy, state);

	if (plan.nr) {
		sees_outcome(policy, state, plan.tag, outcome == 'O', sleepers);
	} else {
		struct blk_poll_sample sample = { .latency_ns = 80000 };

		policy->reflect(state, &sample, 0);
	}
}

static void ios(struct kunit *test, const struct blk_poll_policy *policy,
		void *state, unsigned int nr, char outcome, u16 sleepers)
{
	while (nr--)
		one_io(test, policy, state, outcome, sleepers);
}

struct pas_row {
	const char *desc;
	const char *outcomes;
	u64 sleep_ns;
};

static const struct pas_row pas_rows[] = {
	{ "first sleep", "", 100 },
	/* (UNDER, UNDER) from the start: 100 * 1.01, * 1.02, * 1.03, * 1.04 */
	{ "1 under: 1 + .01", "U", 101 },
	{ "2 under: 103.02", "UU", 103 },
	{ "3 under: 106.09", "UUU", 106 },
	{ "4 under: 110.24", "UUUU", 110 },
	{ "10 under: the factor is 1.1", "UUUUUUUUUU", 166 },
	/* (UNDER, OVER): .9, at the floor; up .009, down .09 */
	{ "over at the floor", "O", 100 },
	/* (OVER, UNDER): 1.009; up .0081 */
	{ "100.9 is rounded down", "OU", 100 },
	/* (UNDER, UNDER): 1.009 + .0081 = 1.0171; down .08505, up .008505 */
	{ "101.71 is rounded down", "OUU", 101 },
	/* 1.0171 + .008505 = 1.025605 */
	{ "103.59 is rounded down", "OUUU", 103 },
	/* 166 * .9 = 149.4; up .009, down .09 */
	{ "over after under: 1 - .1", "UUUUUUUUUUO", 149 },
	/* .9 - .09 = .81: 120.69; down .0945, up .00945 */
	{ "over again: .9 - .09", "UUUUUUUUUUOO", 120 },
	/* 1 + .00945: 121.13; up .008505, down .08505 */
	{ "under after over: 1 + .00945", "UUUUUUUUUUOOU", 121 },
	/* 1.00945 + .008505: 123.17; down .089302, up .00893 */
	{ "under again: 1.00945 + .008505", "UUUUUUUUUUOOUU", 123 },
	/* 1 - .089302: 112.02 */
	{ "over after under: 1 - .089302", "UUUUUUUUUUOOUUO", 112 },
};

KUNIT_ARRAY_PARAM_DESC(pas, pas_rows, desc);

static void pas_follows_its_outcomes(struct kunit *test)
{
	const struct pas_row *row = test->param_value;
	void *state = new_state(test, &blk_poll_pas);
	const char *outcome;

	for (outcome = row->outcomes; *outcome; outcome++)
		one_io(test, &blk_poll_pas, state, *outcome, 1);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_pas, state),
			row->sleep_ns);
}

/* The sleep after an outcome is the one before times @factor in millionths. */
static void expect_factor(struct kunit *test, void *state, char outcome,
			  u64 factor)
{
	u64 sleep_ns = sleep_of(test, &blk_poll_pas, state);

	one_io(test, &blk_poll_pas, state, outcome, 1);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_pas, state),
			sleep_ns * factor / 1000000);
}

/* From 2^36 ns, so that no rounding hides a factor. */
static void *long_sleep(struct kunit *test)
{
	void *state = new_state(test, &blk_poll_pas);

	ios(test, &blk_poll_pas, state, 100, 'U', 1);
	KUNIT_ASSERT_EQ(test, sleep_of(test, &blk_poll_pas, state),
			1ULL << 36);
	return state;
}

/*
 * Down: .1, then .09 as up has shrunk to .009, then 5 % more each time, .0945
 * and .099225, and then .1, as 5 % more would be above it.
 */
static void pas_factor_of_0_or_less_is_1(struct kunit *test)
{
	static const u32 factors[] = {
		900000, 810000, 715500, 616275, 516275, 416275, 316275, 216275,
		116275, 16275, 1000000,
	};
	void *state = long_sleep(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(factors); i++)
		expect_factor(test, state, 'O', factors[i]);
	/* and goes on from there: 1 - .1 */
	expect_factor(test, state, 'O', 900000);
}

/* .01 * .9^k, rounded down to millionths, until that is less than .001. */
static void pas_steps_shrink_to_a_thousandth(struct kunit *test)
{
	void *state = long_sleep(test);
	u32 up = 10000;
	int i;

	for (i = 0; i < 40; i++) {
		expect_factor(test, state, i % 2 ? 'U' : 'O',
			      i % 2 ? 1000000 + up : 1000000 - 10 * up);
		up = max(up * 9 / 10, 1000U);
	}
	expect_factor(test, state, 'O', 990000);
	expect_factor(test, state, 'U', 1001000);

	/* 5 % more of .01, then of .0105 */
	expect_factor(test, state, 'U', 1002000);
	expect_factor(test, state, 'U', 1003050);
	expect_factor(test, state, 'U', 1004152);
}

static void pas_first_outcome_wins(struct kunit *test)
{
	const struct blk_poll_policy *pas = &blk_poll_pas;
	void *state = new_state(test, pas);
	struct blk_poll_plan plan[2];

	ios(test, pas, state, 10, 'U', 1);
	plan[0] = plan_of(test, pas, state);
	plan[1] = plan_of(test, pas, state);
	KUNIT_EXPECT_NE(test, plan[0].tag, 0);
	KUNIT_EXPECT_EQ(test, plan[0].tag, plan[1].tag);

	sees_outcome(pas, state, plan[0].tag, true, 2);
	KUNIT_EXPECT_EQ(test, sleep_of(test, pas, state), 149);
	sees_outcome(pas, state, plan[1].tag, true, 2);
	KUNIT_EXPECT_EQ(test, sleep_of(test, pas, state), 149);
	KUNIT_EXPECT_NE(test, plan_of(test, pas, state).tag, plan[0].tag);
}

static void pas_ignores_what_was_not_slept(struct kunit *test)
{
	struct blk_poll_sample sample = { .latency_ns = 80000 };
	void *state = new_state(test, &blk_poll_pas);
	struct blk_poll_plan plan = plan_of(test, &blk_poll_pas, state);

	blk_poll_pas.reflect(state, &sample, 0);
	sample.tag = plan.tag;
	blk_poll_pas.reflect(state, &sample, 0);
	sample.tag = 0;
	sample.slept_ns = 2100;
	blk_poll_pas.reflect(state, &sample, 0);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_pas, state), 100);
	KUNIT_EXPECT_EQ(test, plan_of(test, &blk_poll_pas, state).tag,
			plan.tag);
}

/* That its own I/O was overslept does not matter, nor the reverse. */
static void pas_looks_at_the_first_look_only(struct kunit *test)
{
	struct blk_poll_sample sample = {
		.latency_ns = 80000,
		.slept_ns = 2100,
		.overslept = true,
	};
	void *state = new_state(test, &blk_poll_pas);

	sample.tag = plan_of(test, &blk_poll_pas, state).tag;
	blk_poll_pas.reflect(state, &sample, 0);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_pas, state), 101);
}

/* dpas */

/* Sleeps in any case; what follows tells PAS and OL apart. */
static void expect_sleeps(struct kunit *test,
			  const struct blk_poll_policy *dpas, void *state)
{
	u64 sleep_ns = sleep_of(test, dpas, state);

	KUNIT_EXPECT_GE(test, sleep_ns, 100);
	KUNIT_EXPECT_NE(test, sleep_ns, U64_MAX);
}

static void dpas_alone_spins_ten_of_eleven(struct kunit *test)
{
	const struct blk_poll_policy *dpas = &blk_poll_dpas;
	void *state = new_state(test, dpas);
	int round;

	for (round = 0; round < 3; round++) {
		ios(test, dpas, state, 99, 'U', 1);
		expect_sleeps(test, dpas, state);
		one_io(test, dpas, state, 'U', 1);
		KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 0);
		ios(test, dpas, state, 999, 'U', 1);
		KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 0);
		one_io(test, dpas, state, 'U', 1);
	}
	expect_sleeps(test, dpas, state);
}

/* The sleep is that of pas, and survives a time without. */
static void dpas_sleeps_as_pas(struct kunit *test)
{
	void *dpas = new_state(test, &blk_poll_dpas);
	void *pas = new_state(test, &blk_poll_pas);
	int i;

	for (i = 0; i < 100; i++) {
		/* far from the floor, or it would be overload */
		char outcome = i < 25 || i % 5 ? 'U' : 'O';

		KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_dpas, dpas),
				sleep_of(test, &blk_poll_pas, pas));
		one_io(test, &blk_poll_dpas, dpas, outcome, 1);
		one_io(test, &blk_poll_pas, pas, outcome, 1);
	}
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_dpas, dpas), 0);
	ios(test, &blk_poll_dpas, dpas, 1000, 'U', 1);
	KUNIT_EXPECT_EQ(test, sleep_of(test, &blk_poll_dpas, dpas),
			sleep_of(test, &blk_poll_pas, pas));
}

/* One more task in one of 100 sleeps: the average is not 1.0 any more. */
static void dpas_not_alone_sleeps(struct kunit *test)
{
	const struct blk_poll_policy *dpas = &blk_poll_dpas;
	void *state = new_state(test, dpas);
	int round;

	for (round = 0; round < 20; round++) {
		one_io(test, dpas, state, 'U', 2);
		ios(test, dpas, state, 99, 'U', 1);
		expect_sleeps(test, dpas, state);
	}
}

/* To overload by a single over at the floor, and back as it is alone. */
static void dpas_overload_alone(struct kunit *test)
{
	const struct blk_poll_policy *dpas = &blk_poll_dpas;
	void *state = new_state(test, dpas);

	one_io(test, dpas, state, 'O', 1);
	ios(test, dpas, state, 99, 'U', 1);
	/* OL */
	ios(test, dpas, state, 99, 'U', 1);
	expect_sleeps(test, dpas, state);
	one_io(test, dpas, state, 'U', 1);
	/* PAS */
	ios(test, dpas, state, 99, 'U', 1);
	expect_sleeps(test, dpas, state);
	one_io(test, dpas, state, 'U', 1);
	/* CP */
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 0);
}

/*
 * The floor must cut something off.  Outcomes in turns let the step up shrink
 * to .001, so that the sleep stays at 100 for a while when it grows again.
 */
static void dpas_at_the_floor_is_not_below_it(struct kunit *test)
{
	const struct blk_poll_policy *dpas = &blk_poll_dpas;
	void *state = new_state(test, dpas);
	int i;

	ios(test, dpas, state, 100, 'O', 1);
	/* OL */
	for (i = 0; i < 100; i++)
		one_io(test, dpas, state, i % 2 ? 'O' : 'U', 1);
	/* PAS */
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 100);
	one_io(test, dpas, state, 'U', 1);
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 100);
	ios(test, dpas, state, 99, 'U', 1);
	/* CP, not OL */
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 0);
}

static void dpas_counts_what_teaches_nothing(struct kunit *test)
{
	const struct blk_poll_policy *dpas = &blk_poll_dpas;
	struct blk_poll_sample sample = { .slept_ns = 2100, .sleepers = 1 };
	void *state = new_state(test, dpas);
	int i;

	/* outcomes of older sleeps: counted, yet nothing is learnt */
	for (i = 0; i < 100; i++)
		dpas->reflect(state, &sample, 0);
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 0);
}

struct theta_row {
	const char *desc;
	const struct blk_poll_policy *policy;
	u16 sleepers;		/* in 99 of the I/Os */
	u16 last_sleepers;	/* in the last one */
	bool interrupts;
};

static const struct theta_row theta_rows[] = {
	{ "NAND, one more in one of 100", &blk_poll_dpas, 1, 2, true },
	{ "NAND, two", &blk_poll_dpas, 2, 2, true },
	{ "Optane, two", &blk_poll_dpas_xpoint, 2, 2, false },
	{ "Optane, three", &blk_poll_dpas_xpoint, 3, 3, false },
	{ "Optane, three and one more in one of 100",
	  &blk_poll_dpas_xpoint, 3, 4, true },
	{ "Optane, three less one and one more in one",
	  &blk_poll_dpas_xpoint, 3, 2, false },
};

KUNIT_ARRAY_PARAM_DESC(theta, theta_rows, desc);

static void dpas_overload_with_others(struct kunit *test)
{
	const struct theta_row *row = test->param_value;
	const struct blk_poll_policy *dpas = row->policy;
	void *state = new_state(test, dpas);

	one_io(test, dpas, state, 'O', 2);
	ios(test, dpas, state, 99, 'U', 2);
	/* OL */
	ios(test, dpas, state, 99, 'U', row->sleepers);
	expect_sleeps(test, dpas, state);
	one_io(test, dpas, state, 'U', row->last_sleepers);
	if (!row->interrupts) {
		expect_sleeps(test, dpas, state);
		return;
	}

	/* INT */
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), U64_MAX);
	ios(test, dpas, state, 9999, 'U', 1);
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), U64_MAX);
	one_io(test, dpas, state, 'U', 1);
	/* OL again, and alone */
	expect_sleeps(test, dpas, state);
	ios(test, dpas, state, 100, 'U', 1);
	/* PAS */
	expect_sleeps(test, dpas, state);
	ios(test, dpas, state, 100, 'U', 1);
	/* CP */
	KUNIT_EXPECT_EQ(test, sleep_of(test, dpas, state), 0);
}

/* What holds for every rival */

static const struct blk_poll_policy *const rivals[] = {
	&blk_poll_ehp, &blk_poll_ehp_irq, &blk_poll_iou, &blk_poll_pas,
	&blk_poll_dpas, &blk_poll_dpas_xpoint,
};

static void rival_desc(const struct blk_poll_policy *const *policy, char *desc)
{
	strscpy(desc, (*policy)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rival, rivals, rival_desc);

/* xorshift64 */
static u64 random_u64(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A sample with any figures; a tag that may be that of the last plan. */
static struct blk_poll_sample random_sample(u64 *seed, u32 tag)
{
	return (struct blk_poll_sample){
		.latency_ns = random_u64(seed) >> (random_u64(seed) % 64),
		.slept_ns = random_u64(seed) >> (random_u64(seed) % 64),
		.tag = random_u64(seed) % 8 ? tag : random_u64(seed),
		.sleepers = random_u64(seed) % 4,
		.found_first = random_u64(seed) % 6 == 0,
	};
}

/* Selecting changes nothing, and a plan is well formed, whatever was seen. */
static void rival_plans_are_sane(struct kunit *test)
{
	const struct blk_poll_policy *policy =
		*(const struct blk_poll_policy *const *)test->param_value;
	void *copy = kunit_kzalloc(test, policy->state_size, GFP_KERNEL);
	void *state = new_state(test, policy);
	u64 seed = 20260131;
	u64 now_ns = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	for (i = 0; i < 50000; i++) {
		struct blk_poll_sample sample;
		struct blk_poll_plan plan;

		memcpy(copy, state, policy->state_size);
		plan = plan_of(test, policy, state);
		KUNIT_ASSERT_MEMEQ(test, state, copy, policy->state_size);
		if (plan.nr)
			KUNIT_ASSERT_LE(test, plan.stage[0].sleep_to_ns,
					BLK_POLL_MAX_LATENCY_NS);

		sample = random_sample(&seed, plan.tag);
		now_ns += random_u64(&seed) >> 42;
		policy->reflect(state, &sample, now_ns);
	}
}

/* After init a used state learns the same as a new one. */
static void rival_init_forgets(struct kunit *test)
{
	const struct blk_poll_policy *policy =
		*(const struct blk_poll_policy *const *)test->param_value;
	void *used = new_state(test, policy);
	void *fresh = new_state(test, policy);
	u64 seed = 7;
	int i;

	for (i = 0; i < 1234; i++) {
		struct blk_poll_sample sample =
			random_sample(&seed, plan_of(test, policy, used).tag);

		policy->reflect(used, &sample, i * 100000ULL);
	}
	policy->init(used);
	for (i = 0; i < 1234; i++) {
		struct blk_poll_plan plan = plan_of(test, policy, fresh);
		struct blk_poll_plan other = plan_of(test, policy, used);
		struct blk_poll_sample sample = random_sample(&seed, plan.tag);

		KUNIT_ASSERT_EQ(test, plan.nr, other.nr);
		KUNIT_ASSERT_EQ(test, plan.flags, other.flags);
		KUNIT_ASSERT_EQ(test, plan.tag, other.tag);
		KUNIT_ASSERT_EQ(test, plan.stage[0].sleep_to_ns,
				other.stage[0].sleep_to_ns);
		policy->reflect(fresh, &sample, i * 100000ULL);
		policy->reflect(used, &sample, i * 100000ULL);
	}
}

static struct kunit_case blk_poll_rivals_cases[] = {
	KUNIT_CASE(plans_set_exact_timers),
	KUNIT_CASE_PARAM(ehp_sleep_of_the_shortest, ehp_gen_params),
	KUNIT_CASE(ehp_window_of_10_ms),
	KUNIT_CASE_PARAM(iou_half_of_the_time_awake, iou_gen_params),
	KUNIT_CASE(iou_is_a_ratchet),
	KUNIT_CASE_PARAM(pas_follows_its_outcomes, pas_gen_params),
	KUNIT_CASE(pas_factor_of_0_or_less_is_1),
	KUNIT_CASE(pas_steps_shrink_to_a_thousandth),
	KUNIT_CASE(pas_first_outcome_wins),
	KUNIT_CASE(pas_ignores_what_was_not_slept),
	KUNIT_CASE(pas_looks_at_the_first_look_only),
	KUNIT_CASE(dpas_alone_spins_ten_of_eleven),
	KUNIT_CASE(dpas_sleeps_as_pas),
	KUNIT_CASE(dpas_not_alone_sleeps),
	KUNIT_CASE(dpas_overload_alone),
	KUNIT_CASE(dpas_at_the_floor_is_not_below_it),
	KUNIT_CASE(dpas_counts_what_teaches_nothing),
	KUNIT_CASE_PARAM(dpas_overload_with_others, theta_gen_params),
	KUNIT_CASE_PARAM(rival_plans_are_sane, rival_gen_params),
	KUNIT_CASE_PARAM(rival_init_forgets, rival_gen_params),
	{ }
};

static struct kunit_suite blk_poll_rivals_suite = {
	.name = "blk_poll_rivals",
	.test_cases = blk_poll_rivals_cases,
};

kunit_test_suite(blk_poll_rivals_suite);

MODULE_DESCRIPTION("Tests of the rivals of hybrid polling's policies");
MODULE_LICENSE("GPL");
