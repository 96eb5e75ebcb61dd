// SPDX-License-Identifier: GPL-2.0
/*
 * Sleep policy "adaptive": the cheapest schedule for what was seen lately.
 */

/**
 * DOC: Sleep policy adaptive
 *
 * Being late costs latency, spinning and sleeping cost CPU time.  With a price
 * for the first in units of the second, 10 unless somebody says otherwise, how
 * to wait has one best answer for any device, and this policy looks for it.
 *
 * Observed is the latency of each polled I/O: exact when the look before had
 * found nothing, and only known to lie between two looks when it was overslept.
 *
 * Kept are, per bucket and CPU:
 *
 * 1. the last 16 samples;
 * 2. a histogram of latencies that forgets (*absolute*), and one of latencies
 *    in units of their moving mean (*relative*), which keeps its shape while
 *    the device gets slower and faster;
 * 3. for each of these an *expert*: a schedule of sleeps, and what it would have
 *    cost lately.  That of the last 16 sleeps once, until the shortest of them;
 *    those of the histograms come from blk_poll_hist_schedule();
 * 4. what the last window of the whole queue says, mean - 4 lmd as policy "lmd"
 *    has it, for as long as a CPU knows less than that itself.
 *
 * It decides like this:
 *
 * 1. Nothing is known: do not sleep.  Fewer than 2 samples are known: sleep as
 *    the last window says.
 * 2. Otherwise follow the expert that would have cost least.  Every expert is
 *    charged for every I/O, whoever was followed: what its schedule would have
 *    spent looking and sleeping, and the price of having been late, with the
 *    wake-up that this I/O really had.  Old costs fade, by half in 180 I/Os.
 * 3. Behind the last sleep of a schedule comes the *ladder*: nothing is known
 *    but that the I/O has taken t so far, so look again after
 *    sqrt(2 x sleep cost x t / price).  That is the cheapest interval if the
 *    end is as likely in each octave.  While intervals would be too short for a
 *    wake-up it looks all the time.
 *
 * It learns in the time in which the next I/O is at the device:
 *
 * 1. An overslept sample gets a latency drawn from where both histograms see it
 *    within its bounds.  Taking the upper bound would have the next sleep be
 *    longer still; taking the middle would put samples where there never was an
 *    I/O.
 * 2. After some overslept samples that tell little - the bounds are a quarter of
 *    the latency or more apart - the next I/O uses the ladder from its start on:
 *    a device that became much faster is seen by nobody who sleeps.  How many is
 *    some depends on how usual they are, 2 to 8.
 * 3. A share of the I/Os whose like the absolute histogram has not seen is kept,
 *    and makes its schedule look here and there (see The cheapest schedule).
 * 4. A histogram's schedule is made anew after 64 samples, while there are few
 *    of them sooner, at most once in 20 ms on average.
 * 5. After 10 s what was seen weighs half, and so on; after 16 times as long
 *    without any I/O nothing is left.
 *
 * Example: a tenth of the reads hits a cache, 10 us, the others take 80.  The
 * absolute histogram has two modes; its schedule looks from 9 to 11 us, sleeps
 * until 78, and looks until 83.  Then the ladder: look every 4 us.  It is late
 * by 0.3 us on average and takes an eighth of a CPU.  "mean" would sleep for
 * 36 us and be 26 us late for each hit.
 *
 * Reference: none; the parts are inspection policies (Barlow, Hunter, Proschan
 * 1963), prediction with expert advice (Littlestone, Warmuth 1994), and the
 * imputation of censored data (Efron 1967).
 */

#include "blk-poll-hist.h"

/*
 * CPU time of going to sleep and waking up, 1 us.  Measured values for Linux
 * are 0.5 to 3 us.  Half or twice the truth costs 3 %.  A CPU on which waking up
 * takes long is taken for a slow one, emulated for example, where a sleep costs
 * a quarter of that if that is more.
 */
#define SLEEP_CPU_NS		((u32)NSEC_PER_USEC)
#define SLEEP_WAKE_SHIFT	2

/*
 * Samples that are kept one by one.  The shortest of 16 is missed by the next
 * one once in 17, and a price of 10 wants one in 11.  Fewer are late more
 * often, more follow a device that becomes slower later.
 */
#define NR_RECENT		16U

/*
 * Look for an eighth of the latency and 2 us after the sleep of the recent
 * expert before the ladder begins.  Less sleeps again just before the end, more
 * spins through a stall.
 */
#define RECENT_LOOK_SHIFT	3
#define RECENT_LOOK_NS		(2 * NSEC_PER_USEC)

/* Samples that wait to be learnt; more than that in one round are skipped. */
#define NR_PENDING		8

/*
 * A bin in which nothing was seen is believed in as much as in 2^-10 of what one
 * sample weighs in four.  2^-4 puts samples where there are none (5 % dearer),
 * 2^-14 never gets out of an error.
 */
#define BELIEF_SHIFT		10

/* Samples after which a CPU knows better than the last window; 8 is 1 % dearer. */
#define YOUNG			2

/* Latencies in units of their mean are in 2^-16 of it. */
#define RELATIVE_SHIFT		16

/*
 * Weight of a new latency in the mean: 1/8.  Heavier makes the mean jump with
 * each I/O of a wide distribution, lighter lags behind a ramp.
 */
#define MEAN_SHIFT		3

/* Costs fade by 1/256 with each I/O.  1/64 to 1/512 are within 1 %. */
#define COST_SHIFT		8

/*
 * An expert cannot come to cost more than the best one by more than this many
 * times what it costs to be late by a whole I/O.  What is right for a device that
 * became faster 100 times is followed after one I/O with 2, after 14 without.
 */
#define MAX_DEBT		2

/* Shares of I/Os move by 1/256. */
#define SHARE_SHIFT		8

/* Overslept samples in a row that lead to the ladder, at least and at most. */
#define MIN_BLIND		2U
#define MAX_BLIND		8U

/*
 * Of a device that takes less than this on average only every second sample is
 * learnt, or every third and so on, 20 us: to learn takes up to half a us, which
 * a fast device would give for each I/O.
 */
#define LEARN_NS		(20 * NSEC_PER_USEC)

/* Samples after which a schedule is made anew. */
#define REPLAN_SAMPLES		64U

/*
 * A schedule is made once in 20 ms on average, and up to 12 times in a row at
 * first: with some 20 us each that is 0.1 % of a CPU, and an I/O that is shorter
 * than that is late one time in a thousand.  4 ms is 1 % better in what it costs,
 * but is seen in the 99th percentile of a device that answers in 10 us.
 */
#define BUDGET_NS		(20 * NSEC_PER_MSEC)
#define BUDGET_MAX		12

/* 10 s.  Longer trusts in a device that has changed, shorter forgets slow loads. */
#define AGE_NS			(10ULL * NSEC_PER_SEC)
#define AGE_MAX			16

/* Any number will do whose bits are mixed; 2^32 over the golden ratio. */
#define RANDOM_SEED		0x9e3779b9

/* In the order in which they are asked if they would have cost the same. */
enum adaptive_expert_id {
	EXPERT_RECENT,
	EXPERT_ABSOLUTE,
	EXPERT_RELATIVE,
	NR_EXPERTS,
	/* these two are not charged */
	EXPERT_WINDOW = NR_EXPERTS,
	EXPERT_LADDER,
	NR_SCHEDULES,
};

/**
 * struct adaptive_pending - A sample that is not learnt yet.
 * @lower_ns: Lower bound of its latency.
 * @latency_ns: Upper bound.
 * @lag_ns: Of its last wake-up; 0: it had none.
 */
struct adaptive_pending {
	u64 lower_ns;
	u64 latency_ns;
	u32 lag_ns;
};

/**
 * struct adaptive_state - What the policy keeps per bucket and CPU.
 * @mean_ns: Moving mean of the latencies, at least 2^10.
 * @inverse: 2^(2 x RELATIVE_SHIFT) / @mean_ns.
 * @planned_mean_ns: @mean_ns when the relative schedule was made.
 * @aged_ns: When old samples were last made lighter.
 * @paid_ns: Until when @budget has been paid.
 * @ladder_ns: When the ladder begins at the earliest.
 * @budget: Schedules that may be made.
 * @samples: How many were learnt, up to U32_MAX.
 * @skipped: How many came since the last one that is or will be learnt.
 * @random: State of a generator of random numbers, never 0.
 * @surprise: Share of samples whose like was not known, of 65536.
 * @blind: Share of overslept samples that tell little, of 65536.
 * @blind_run: Such samples in a row.
 * @nr_recent: How many of @recent_ns are used.
 * @next_recent: Where the next one goes.
 * @nr_pending: How many of @pending are used.
 * @turn: Which of the histograms' experts makes its schedule next.
 * @best: Whom to follow.
 * @fresh: Samples since an expert's schedule was made.
 * @cost: Faded sum of what it would have cost, in ns of CPU time.
 * @recent_ns: Last latencies, less the jitter that their wake-up had.
 * @pending: Samples that are not learnt yet.
 * @absolute: Histogram of latencies.
 * @relative: Histogram of latencies in units of @mean_ns.
 * @schedule: Of the experts, of the window, and the empty one of the ladder.
 */
struct adaptive_state {
	u64 mean_ns;
	u64 inverse;
	u64 planned_mean_ns;
	u64 aged_ns;
	u64 paid_ns;
	u64 ladder_ns;
	u32 budget;
	u32 samples;
	u32 skipped;
	u32 random;
	u32 surprise;
	u32 blind;
	u8 blind_run;
	u8 nr_recent;
	u8 next_recent;
	u8 nr_pending;
	u8 turn;
	u8 best;
	u16 fresh[NR_EXPERTS];
	u64 cost[NR_EXPERTS];
	u32 recent_ns[NR_RECENT];
	struct adaptive_pending pending[NR_PENDING];
	struct blk_poll_hist absolute;
	struct blk_poll_hist relative;
	struct blk_poll_schedule schedule[NR_SCHEDULES];
};

static void adaptive_init(void *state)
{
	struct adaptive_state *a = state;

	*a = (struct adaptive_state){
		.mean_ns	= BIT(BLK_POLL_FIRST_OCTAVE),
		.budget		= BUDGET_MAX,
		.random		= RANDOM_SEED,
		.best		= EXPERT_WINDOW,
	};
	blk_poll_hist_init(&a->absolute);
	blk_poll_hist_init(&a->relative);
}

/* Square root, rounded down; @x is below 2^62. */
static u32 adaptive_sqrt(u64 x)
{
	u64 root = 0, bit;

	if (!x)
		return 0;
	for (bit = 1ULL << (ilog2(x) & ~1); bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/*
 * The jitter is exponential: its mean is e / 2 times its mean deviation, and
 * the rest of the lag is what each wake-up takes.
 */
static void adaptive_costs(const struct adaptive_state *a,
			   const struct blk_poll_inputs *in,
			   struct blk_poll_costs *costs)
{
	u32 jitter_ns = in->wake.dev_ns + in->wake.dev_ns / 3;

	jitter_ns = min(jitter_ns, in->wake.lag_ns);
	*costs = (struct blk_poll_costs){
		.sleep_ns	= max(SLEEP_CPU_NS,
				      in->wake.lag_ns >> SLEEP_WAKE_SHIFT),
		.wake_ns	= in->wake.lag_ns - jitter_ns,
		.jitter_ns	= jitter_ns,
		.weight		= max(in->weight, 1U),
		.surprise	= a->surprise,
	};
}

/* A rung of the ladder at @ns. */
static u32 adaptive_rung(const struct blk_poll_costs *costs, u64 ns)
{
	return adaptive_sqrt(2ULL * costs->sleep_ns * ns / costs->weight);
}

/* When rungs have become longer than a wake-up and some 500 ns. */
static u64 adaptive_ladder_start(const struct blk_poll_costs *costs)
{
	u64 least_ns = costs->wake_ns + costs->jitter_ns + 500;

	return least_ns * least_ns * costs->weight / (2 * costs->sleep_ns);
}

/*
 * What looking until @look_ns and the ladder cost from @from_ns to @to_ns.
 * There are 2 x (sqrt(to) - sqrt(from)) / sqrt(2 x sleep / weight) rungs, and
 * half of the last one is late.
 */
static u64 adaptive_ladder_cost(const struct adaptive_state *a,
				const struct blk_poll_costs *costs,
				u64 from_ns, u64 to_ns, u64 look_ns)
{
	u64 cost_ns = 0;

	look_ns = max(look_ns, a->ladder_ns);
	if (to_ns <= look_ns)
		return to_ns > from_ns ? to_ns - from_ns : 0;
	if (look_ns > from_ns) {
		cost_ns = look_ns - from_ns;
		from_ns = look_ns;
	}
	return cost_ns +
	       (u64)adaptive_sqrt(2ULL * costs->sleep_ns * costs->weight) *
	       (adaptive_sqrt(to_ns) - adaptive_sqrt(from_ns)) +
	       (u64)costs->weight * adaptive_rung(costs, to_ns) / 2;
}

/* 2^RELATIVE_SHIFT, or the mean for a schedule in units of it. */
static u64 adaptive_scale(const struct adaptive_state *a, unsigned int id)
{
	return id == EXPERT_RELATIVE ? a->mean_ns : BIT(RELATIVE_SHIFT);
}

/* Both are at most 2^36, or one is 2^16 and the other 2^23 or so. */
static u64 adaptive_scaled(u64 ns, u64 scale)
{
	return ns * scale >> RELATIVE_SHIFT;
}

/* An expert's price for an I/O of @latency_ns whose wake-ups are so late. */
static u64 adaptive_charge(const struct adaptive_state *a, unsigned int id,
			   const struct blk_poll_costs *costs, u64 latency_ns,
			   u32 jitter_ns)
{
	const struct blk_poll_schedule *s = &a->schedule[id];
	u64 scale = adaptive_scale(a, id), now_ns = 0, cost_ns = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		u64 from_ns = adaptive_scaled(s->step[i].from_ns, scale);

		if (latency_ns <= from_ns)
			return cost_ns + (latency_ns > now_ns ?
					  latency_ns - now_ns : 0);
		if (from_ns > now_ns)
			cost_ns += from_ns - now_ns;
		cost_ns += costs->sleep_ns;
		now_ns = adaptive_scaled(s->step[i].to_ns, scale) + jitter_ns;
		if (latency_ns < now_ns)
			return cost_ns + costs->weight * (now_ns - latency_ns);
	}
	return cost_ns + adaptive_ladder_cost(a, costs, now_ns, latency_ns,
					      adaptive_scaled(s->look_ns, scale));
}

static void adaptive_choose(struct adaptive_state *a,
			    const struct blk_poll_costs *costs, u64 latency_ns,
			    u32 jitter_ns)
{
	unsigned int id, best = 0;

	for (id = 0; id < NR_EXPERTS; id++) {
		/* at most 2^8 times the weight 2^7 times 2^36 */
		a->cost[id] += adaptive_charge(a, id, costs, latency_ns,
					       jitter_ns);
		a->cost[id] -= a->cost[id] >> COST_SHIFT;
		if (a->cost[id] < a->cost[best])
			best = id;
	}
	/* one catastrophe is not held against an expert for hundreds of I/Os */
	for (id = 0; id < NR_EXPERTS; id++)
		a->cost[id] = min(a->cost[id], a->cost[best] +
				  MAX_DEBT * costs->weight * latency_ns);
	a->best = a->samples < YOUNG ? EXPERT_WINDOW : best;
}

/* xorshift of 32 bits, by Marsaglia */
static u32 adaptive_random(struct adaptive_state *a)
{
	a->random ^= a->random << 13;
	a->random ^= a->random >> 17;
	a->random ^= a->random << 5;
	return a->random;
}

static u64 adaptive_relative(const struct adaptive_state *a, u64 ns)
{
	return adaptive_scaled(ns, a->inverse);
}

/**
 * struct adaptive_belief - What a histogram says of an interval.
 * @hist: The histogram.
 * @first: Bin of the lower bound.
 * @last: Bin of the upper bound.
 * @belief: 2^BELIEF_SHIFT times the weights of these bins, and 1 for each.
 * @share: The same, of 65536 for the whole histogram.
 */
struct adaptive_belief {
	const struct blk_poll_hist *hist;
	unsigned int first;
	unsigned int last;
	u32 belief;
	u32 share;
};

static void adaptive_believe(struct adaptive_belief *b,
			     const struct blk_poll_hist *hist, u64 lower_ns,
			     u64 upper_ns)
{
	u32 weight = 0;

	b->hist = hist;
	b->first = blk_poll_bin(lower_ns);
	b->last = blk_poll_bin(upper_ns);
	for (unsigned int i = b->first; i <= b->last; i++)
		weight += hist->weight[i];
	/* a histogram's weights come to less than 2^16 in all */
	b->belief = (weight << BELIEF_SHIFT) + b->last - b->first + 1;
	b->share = div_u64((u64)b->belief << 16,
			   (hist->total << BELIEF_SHIFT) + BLK_POLL_NR_BINS);
}

/* A bin of the interval, as likely as it is believed in. */
static unsigned int adaptive_draw_bin(struct adaptive_state *a,
				      const struct adaptive_belief *b)
{
	u32 at = (u64)b->belief * adaptive_random(a) >> 32;
	unsigned int bin;

	for (bin = b->first; bin < b->last; bin++) {
		u32 here = ((u32)b->hist->weight[bin] << BELIEF_SHIFT) + 1;

		if (at < here)
			break;
		at -= here;
	}
	return bin;
}

/* How many of the last samples are within the bounds; the @nth of them. */
static u32 adaptive_recent_within(const struct adaptive_state *a, u64 lower_ns,
				  u64 upper_ns, u32 nth, u64 *latency_ns)
{
	u32 nr = 0;

	for (u32 i = 1; i <= a->nr_recent; i++) {
		u32 ns = a->recent_ns[(a->next_recent + NR_RECENT - i) %
				      NR_RECENT];

		if (ns > lower_ns && ns <= upper_ns && nr++ == nth)
			*latency_ns = ns;
	}
	return nr;
}

/*
 * A latency from @lower_ns to @upper_ns, as likely as the histograms and the last
 * samples see it; the one that sees more of its samples there is asked more
 * often.
 */
static u64 adaptive_draw(struct adaptive_state *a, u64 lower_ns, u64 upper_ns)
{
	struct adaptive_belief absolute, relative;
	u64 start_ns = lower_ns, end_ns;
	u32 nr, recent, pick;

	adaptive_believe(&absolute, &a->absolute, lower_ns, upper_ns);
	adaptive_believe(&relative, &a->relative,
			 adaptive_relative(a, lower_ns),
			 adaptive_relative(a, upper_ns));
	nr = adaptive_recent_within(a, lower_ns, upper_ns, U32_MAX, &start_ns);
	recent = (nr << 16) / (a->nr_recent + 1);

	pick = (u64)(absolute.share + relative.share + recent) *
	       adaptive_random(a) >> 32;
	if (pick < absolute.share) {
		unsigned int bin = adaptive_draw_bin(a, &absolute);

		start_ns = blk_poll_bin_start(bin);
		end_ns = blk_poll_bin_start(bin + 1);
	} else if (pick < absolute.share + relative.share) {
		unsigned int bin = adaptive_draw_bin(a, &relative);

		start_ns = adaptive_scaled(blk_poll_bin_start(bin), a->mean_ns);
		end_ns = adaptive_scaled(blk_poll_bin_start(bin + 1),
					 a->mean_ns);
	} else {
		adaptive_recent_within(a, lower_ns, upper_ns,
				       (u64)nr * adaptive_random(a) >> 32,
				       &start_ns);
		end_ns = start_ns;
	}
	start_ns = clamp(start_ns, lower_ns, upper_ns);
	return start_ns + (clamp(end_ns, start_ns, upper_ns) - start_ns) / 2;
}

/* Move a share of 65536. */
static void adaptive_share(u32 *share, bool yes)
{
	int step = ((yes ? 65536 : 0) - (int)*share) / (1 << SHARE_SHIFT);

	*share += step;
}

static void adaptive_learn_mean(struct adaptive_state *a, u64 latency_ns)
{
	s64 mean_ns = a->mean_ns;
	s64 diff_ns = latency_ns - mean_ns;

	/* one stall does not count for more than a doubling */
	if (a->samples)
		mean_ns += clamp(diff_ns, -mean_ns / 2, mean_ns) /
			   (1 << MEAN_SHIFT);
	else
		mean_ns = latency_ns;
	a->mean_ns = max_t(s64, mean_ns, BIT(BLK_POLL_FIRST_OCTAVE));
	a->inverse = div64_u64(1ULL << (2 * RELATIVE_SHIFT), a->mean_ns);
}

/* Sleep until the k-th shortest of the last: 1 / (1 + price) of them. */
static void adaptive_learn_recent(struct adaptive_state *a,
				  const struct blk_poll_costs *costs, u64 ns)
{
	struct blk_poll_schedule *s = &a->schedule[EXPERT_RECENT];
	u32 shortest_ns[NR_RECENT], nr = 0, k, i;

	a->recent_ns[a->next_recent] = min_t(u64, ns, U32_MAX);
	a->next_recent = (a->next_recent + 1) % NR_RECENT;
	a->nr_recent += a->nr_recent < NR_RECENT;

	k = clamp_t(u32, (NR_RECENT + 1) / (1 + costs->weight), 1,
		    a->nr_recent);
	for (i = 0; i < a->nr_recent; i++) {
		u32 at = (a->next_recent + NR_RECENT - 1 - i) % NR_RECENT;
		u32 x_ns = a->recent_ns[at], n;

		/* insert it among the k shortest so far */
		if (nr == k && x_ns >= shortest_ns[k - 1])
			continue;
		nr += nr < k;
		for (n = nr - 1; n && shortest_ns[n - 1] > x_ns; n--)
			shortest_ns[n] = shortest_ns[n - 1];
		shortest_ns[n] = x_ns;
	}
	s->nr = 1;
	s->step[0].from_ns = 0;
	s->step[0].to_ns = shortest_ns[k - 1];
	s->look_ns = min_t(u64, U32_MAX, RECENT_LOOK_NS + s->step[0].to_ns +
			   (u64)(s->step[0].to_ns >> RECENT_LOOK_SHIFT));
}

static void adaptive_learn_one(struct adaptive_state *a,
			       const struct blk_poll_costs *costs,
			       const struct adaptive_pending *p)
{
	bool exact = p->lower_ns == p->latency_ns;
	bool blind = p->latency_ns - p->lower_ns > p->latency_ns / 4;
	u64 latency_ns = p->latency_ns;
	u32 jitter_ns = costs->jitter_ns;
	unsigned int bin;

	/* one that is very late says nothing about the next one */
	if (p->lag_ns)
		jitter_ns = p->lag_ns > costs->wake_ns ?
			    min(p->lag_ns - costs->wake_ns,
				6 * costs->jitter_ns) : 0;
	if (!exact)
		latency_ns = adaptive_draw(a, p->lower_ns, p->latency_ns);
	bin = blk_poll_bin(latency_ns);

	adaptive_choose(a, costs, latency_ns, jitter_ns);
	adaptive_share(&a->blind, blind);
	a->blind_run = blind ? a->blind_run + 1 : 0;
	if (a->blind_run >= min(MIN_BLIND + (a->blind >> 12), MAX_BLIND)) {
		a->blind_run = 0;
		a->best = EXPERT_LADDER;
	}
	if (exact)
		adaptive_share(&a->surprise,
			       !blk_poll_hist_knows(&a->absolute, bin));

	adaptive_learn_mean(a, latency_ns);
	adaptive_learn_recent(a, costs, latency_ns > jitter_ns ?
					latency_ns - jitter_ns : 1);
	blk_poll_hist_add(&a->absolute, bin);
	blk_poll_hist_add(&a->relative,
			  blk_poll_bin(adaptive_relative(a, latency_ns)));
	a->fresh[EXPERT_ABSOLUTE] += a->fresh[EXPERT_ABSOLUTE] < U16_MAX;
	a->fresh[EXPERT_RELATIVE] += a->fresh[EXPERT_RELATIVE] < U16_MAX;
	a->samples += a->samples < U32_MAX;
}

static bool adaptive_is_stale(const struct adaptive_state *a, unsigned int id)
{
	/* what a wake-up is in units of the mean has changed by a quarter */
	if (id == EXPERT_RELATIVE &&
	    (4 * a->mean_ns > 5 * a->planned_mean_ns ||
	     5 * a->mean_ns < 4 * a->planned_mean_ns))
		return true;
	return a->fresh[id] >= min(a->samples / 4 + 2, REPLAN_SAMPLES);
}

/* Make one schedule anew, if it is time to and there is a budget. */
static void adaptive_replan(struct adaptive_state *a,
			    const struct blk_poll_costs *costs, void *scratch,
			    u64 now_ns)
{
	struct blk_poll_costs relative = *costs;
	unsigned int id = a->turn ? EXPERT_RELATIVE : EXPERT_ABSOLUTE;

	if (!adaptive_is_stale(a, id))
		id = EXPERT_ABSOLUTE + EXPERT_RELATIVE - id;
	if (!adaptive_is_stale(a, id))
		return;
	if (now_ns - a->paid_ns >= BUDGET_NS) {
		u64 due = div64_u64(now_ns - a->paid_ns, BUDGET_NS);

		a->budget = min_t(u64, a->budget + due, BUDGET_MAX);
		a->paid_ns += due * BUDGET_NS;
	}
	if (!a->budget)
		return;
	a->budget--;
	a->turn = id == EXPERT_ABSOLUTE;
	a->fresh[id] = 0;

	if (id == EXPERT_ABSOLUTE) {
		blk_poll_hist_schedule(&a->absolute, costs, scratch,
				       &a->schedule[id]);
		return;
	}
	a->planned_mean_ns = a->mean_ns;
	relative.sleep_ns = adaptive_relative(a, costs->sleep_ns);
	relative.wake_ns = adaptive_relative(a, costs->wake_ns);
	relative.jitter_ns = adaptive_relative(a, costs->jitter_ns);
	blk_poll_hist_schedule(&a->relative, &relative, scratch,
			       &a->schedule[id]);
}

/* Halve what is old, once for each AGE_NS that has passed. */
static void adaptive_age(struct adaptive_state *a, u64 now_ns)
{
	u64 times;

	if (!a->samples)
		a->aged_ns = now_ns;
	if (now_ns - a->aged_ns < AGE_NS)
		return;
	times = div64_u64(now_ns - a->aged_ns, AGE_NS);
	if (times > AGE_MAX) {
		struct blk_poll_schedule window = a->schedule[EXPERT_WINDOW];
		struct adaptive_pending pending = a->pending[0];

		adaptive_init(a);
		a->schedule[EXPERT_WINDOW] = window;
		/* the one that has ended just now is not old */
		a->pending[0] = pending;
		a->nr_pending = 1;
		a->aged_ns = now_ns;
		return;
	}
	a->aged_ns += times * AGE_NS;
	for (; times; times--) {
		blk_poll_hist_fade(&a->absolute);
		blk_poll_hist_fade(&a->relative);
		a->nr_recent /= 2;
	}
}

static void adaptive_learn(void *state, const struct blk_poll_inputs *in,
			   void *scratch, u64 now_ns)
{
	struct adaptive_state *a = state;
	struct blk_poll_costs costs;

	if (!a->nr_pending)
		return;

	adaptive_age(a, now_ns);
	adaptive_costs(a, in, &costs);
	a->ladder_ns = adaptive_ladder_start(&costs);
	for (unsigned int i = 0; i < a->nr_pending; i++)
		adaptive_learn_one(a, &costs, &a->pending[i]);
	a->nr_pending = 0;
	if (scratch)
		adaptive_replan(a, &costs, scratch, now_ns);
}

static void adaptive_reflect(void *state, const struct blk_poll_sample *sample,
			     u64 now_ns)
{
	struct adaptive_state *a = state;
	struct adaptive_pending *p;

	/* by their number: by the clock, fast ones would be learnt less often */
	a->skipped++;
	if (a->nr_pending == NR_PENDING ||
	    (a->samples > REPLAN_SAMPLES &&
	     a->skipped * a->mean_ns < LEARN_NS))
		return;
	a->skipped = 0;
	p = &a->pending[a->nr_pending++];
	p->latency_ns = min(sample->latency_ns, BLK_POLL_MAX_LATENCY_NS);
	p->lower_ns = min(sample->lower_ns, p->latency_ns);
	p->lag_ns = sample->lag_ns;
}

static void adaptive_window(void *state, const struct blk_poll_window *win)
{
	struct adaptive_state *a = state;
	struct blk_poll_schedule *s = &a->schedule[EXPERT_WINDOW];
	u64 sleep_ns = blk_poll_lmd_sleep_ns(win);

	s->nr = sleep_ns ? 1 : 0;
	s->step[0].from_ns = 0;
	s->step[0].to_ns = min_t(u64, sleep_ns, U32_MAX);
	s->look_ns = min_t(u64, 2 * win->mean_ns, U32_MAX);
}

/* Append a stage that begins with looking until @from_ns. */
static void adaptive_stage(struct blk_poll_plan *plan, u64 now_ns, u64 from_ns,
			   u64 to_ns, u64 wake_ns)
{
	struct blk_poll_stage *stage = &plan->stage[plan->nr];

	if (plan->nr) {
		stage[-1].look_until_ns = from_ns;
	} else if (from_ns > now_ns) {
		/* no sleep to begin with */
		stage->sleep_to_ns = 0;
		stage->look_until_ns = from_ns;
		plan->nr++;
		stage++;
	}
	stage->sleep_to_ns = to_ns - wake_ns;
	stage->look_until_ns = to_ns;
	plan->nr++;
}

static void adaptive_select(const void *state, const struct blk_poll_inputs *in,
			    struct blk_poll_plan *plan)
{
	const struct adaptive_state *a = state;
	const struct blk_poll_schedule *s = &a->schedule[a->best];
	u64 scale = adaptive_scale(a, a->best), now_ns = in->elapsed_ns;
	u64 cap_ns = min(in->cap_ns, BLK_POLL_MAX_LATENCY_NS);
	struct blk_poll_costs costs;
	u64 from_ns, to_ns;

	/* nothing is known, or it has taken so long that it will be spun for */
	blk_poll_plan_single(plan, 0);
	if ((!a->samples && !s->nr) || now_ns >= cap_ns)
		return;

	plan->flags = BLK_POLL_PLAN_EXACT | BLK_POLL_PLAN_MORE;
	adaptive_costs(a, in, &costs);
	/* one is left for looking before the first sleep */
	for (unsigned int i = 0; i < s->nr; i++) {
		from_ns = max(adaptive_scaled(s->step[i].from_ns, scale), now_ns);
		to_ns = adaptive_scaled(s->step[i].to_ns, scale);
		if (to_ns <= from_ns + costs.wake_ns)
			continue;
		if (plan->nr >= BLK_POLL_MAX_STAGES - 1)
			return;
		adaptive_stage(plan, in->elapsed_ns, from_ns, to_ns,
			       costs.wake_ns);
		now_ns = to_ns;
	}

	from_ns = max(a->ladder_ns, adaptive_scaled(s->look_ns, scale));
	if (plan->nr) {
		/* the ladder is asked for only if it comes to that */
		plan->stage[plan->nr - 1].look_until_ns = max(from_ns, now_ns);
		return;
	}
	while (plan->nr < BLK_POLL_MAX_STAGES - 1) {
		from_ns = max(from_ns, now_ns);
		if (from_ns >= cap_ns) {
			plan->flags = BLK_POLL_PLAN_EXACT;
			return;
		}
		/* waking up may have become dearer since it was learnt from */
		now_ns = from_ns + max(adaptive_rung(&costs, from_ns),
				       costs.wake_ns);
		adaptive_stage(plan, in->elapsed_ns, from_ns, now_ns,
			       costs.wake_ns);
	}
}

const struct blk_poll_policy blk_poll_adaptive = {
	.name		= "adaptive",
	.state_size	= sizeof(struct adaptive_state),
	.scratch_size	= sizeof(struct blk_poll_hist_scratch),
	.per_cpu	= true,
	.init		= adaptive_init,
	.select		= adaptive_select,
	.reflect	= adaptive_reflect,
	.window		= adaptive_window,
	.learn		= adaptive_learn,
};
