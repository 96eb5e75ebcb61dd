// SPDX-License-Identifier: GPL-2.0
/*
 * Hybrid polling: histograms of latencies, and the cheapest schedule.
 */

/**
 * DOC: The cheapest schedule
 *
 * When is it best to look, if one knows how latencies are distributed?  Looking
 * costs CPU time while it lasts.  Sleeping costs little CPU time but an I/O that
 * ends meanwhile is late.  With one mode the best is to sleep until just before
 * it; with two it is to sleep, look for a moment, and sleep again.
 *
 * Observed are latencies.  Kept is a histogram with 64 bins an octave, which
 * forgets: recent samples weigh more.  The schedule follows in four steps.
 *
 * 1. *Smooth.*  Where few samples are, each stands for its neighbours: it is
 *    spread over as many bins as it takes to hold four samples, up to a quarter
 *    of an octave to either side.  Dense modes stay sharp.
 * 2. *Smear.*  A sleep ends late by a jitter that nobody knows in advance.  That
 *    is as if the jitter were nil and the I/O had ended earlier by as much, so
 *    each bin leaks to those before it, exponentially.
 * 3. *Doubt.*  Half a sample, and as many as there were surprises lately, are
 *    spread over all octaves alike.  That is what puts cheap looks into long
 *    sleeps where the device changes its ways.
 * 4. *Decide*, from the last bin back to the first.  Let V(i) be the cost from
 *    the start of bin i on, summed over all I/Os that take at least as long.
 *    Looking through bin i costs its width for each that is longer, half of it
 *    for those inside, and V(i+1).  Sleeping until the start of bin j costs the
 *    sleep for all of them, the weight times what the ones between are late, and
 *    V(j).  The cheaper one is V(i).
 *
 * Trying each j for each i would take the square of 832 steps.  But the cost of
 * sleeping from i to j is a constant of i, plus a constant of j, less start(j)
 * times the mass below i: for a fixed j a line over that mass, and the best j is
 * the lowest line.  Lines come with falling slope as j falls, and the mass falls
 * with i, so those that can still be lowest lie in a queue from whose ends each
 * is taken once.
 *
 * Example: half of the reads take 10 us and half 80.  Looking begins at 9.5 us
 * and ends at 10.5; whoever is not done by then sleeps until 79 us.  With a
 * wake-up of 2 us the one sleep from 0 costs 1 us of CPU, the second as much,
 * and 2 us are spun: 10 % of a CPU instead of a whole one.
 *
 * Reference: optimal inspection policies of reliability theory (Barlow, Hunter
 * and Proschan 1963), solved here by dynamic programming.
 */

#include "blk-poll-hist.h"

/*
 * What a sample weighs just after all were halved.  It grows to twice of that
 * until they are halved again, so that the present always weighs as much.
 * Smaller loses steps of growth, larger overflows the bin of a device that
 * always takes as long: 2 x 1024 x 31 is the most that a bin can come to.
 */
#define HIST_ONE		4

/*
 * Samples after which weights are halved, 2^10.  A sample counts for about a
 * thousand others to come.  Half or twice as many is within 1 %.
 */
#define HIST_LIFE_SHIFT		11

/*
 * A lone sample is spread until this many are in reach.  1 believes in gaps
 * where there are none (4 % dearer), 8 blurs modes.
 */
#define HIST_ENOUGH		4

/* As far as it is spread: 16 bins.  8 or 32 is within 1 %. */
#define HIST_REACH		16

/* As far as another sample is still the like of one, 4 bins: 6 %. */
#define HIST_LIKE		4

/*
 * Bins that are decided on above the last that was seen, 2 octaves: what takes
 * longer than four times the longest is for the ladder.
 */
#define HIST_ABOVE		(2U << BLK_POLL_BIN_SHIFT)

/*
 * Bins that are taken for one where nothing was seen, an eighth of an octave:
 * to decide on fewer is what takes the time.
 */
#define HIST_MERGE		8U

/* All masses together. */
#define HIST_MASS_SHIFT		14

/*
 * Times are in 2^3 ns here.  Costs are then at most mass 2^14 x time 2^20 x
 * weight 2^7 = 2^41, and a difference of two times that of two times 2^62.
 */
#define HIST_TIME_SHIFT		3

/* A sleep is to be longer than its wake-up by this many ns. */
#define HIST_LEAST_NS		100

/**
 * blk_poll_bin() - Sort a latency.
 * @ns: The latency.
 *
 * Context: Any.
 * Return: 0 to BLK_POLL_NR_BINS; the last is for all that have no bin.
 */
unsigned int blk_poll_bin(u64 ns)
{
	unsigned int octave;

	if (ns < BIT(BLK_POLL_FIRST_OCTAVE))
		return 0;
	octave = ilog2(ns);
	if (octave >= BLK_POLL_FIRST_OCTAVE + BLK_POLL_NR_OCTAVES)
		return BLK_POLL_NR_BINS;
	/* the bits behind the first; the first one itself adds one octave */
	return ((octave - BLK_POLL_FIRST_OCTAVE - 1) << BLK_POLL_BIN_SHIFT) +
	       (unsigned int)(ns >> (octave - BLK_POLL_BIN_SHIFT));
}

/**
 * blk_poll_bin_start() - Find out where a bin begins.
 * @bin: 0 to BLK_POLL_NR_BINS.
 *
 * Context: Any.
 * Return: The shortest latency of the bin, in ns.
 */
u32 blk_poll_bin_start(unsigned int bin)
{
	unsigned int octave = bin >> BLK_POLL_BIN_SHIFT;
	u32 step = BIT(BLK_POLL_BIN_SHIFT) |
		   (bin & (BIT(BLK_POLL_BIN_SHIFT) - 1));

	if (!bin)
		return 0;
	return step << (octave + BLK_POLL_FIRST_OCTAVE - BLK_POLL_BIN_SHIFT);
}

/**
 * blk_poll_hist_init() - Empty a histogram.
 * @hist: The histogram.
 *
 * Context: The caller serialises access to @hist.
 */
void blk_poll_hist_init(struct blk_poll_hist *hist)
{
	*hist = (struct blk_poll_hist){ .one = HIST_ONE };
}

/**
 * blk_poll_hist_fade() - Let all that was seen weigh half.
 * @hist: The histogram.
 *
 * Context: The caller serialises access to @hist.
 */
void blk_poll_hist_fade(struct blk_poll_hist *hist)
{
	unsigned int i;

	hist->total = 0;
	for (i = 0; i <= BLK_POLL_NR_BINS; i++) {
		hist->weight[i] /= 2;
		hist->total += hist->weight[i];
	}
}

/**
 * blk_poll_hist_add() - Add a sample.
 * @hist: The histogram.
 * @bin: Its bin.
 *
 * Context: The caller serialises access to @hist.  Takes a thousand steps once
 * in a thousand samples.
 */
void blk_poll_hist_add(struct blk_poll_hist *hist, unsigned int bin)
{
	u16 one = min_t(u16, hist->one, U16_MAX - hist->weight[bin]);

	hist->weight[bin] += one;
	hist->total += one;
	if (++hist->age >> HIST_LIFE_SHIFT) {
		hist->age = 0;
		blk_poll_hist_fade(hist);
	}
	hist->one = HIST_ONE + (HIST_ONE * hist->age >> HIST_LIFE_SHIFT);
}

/**
 * blk_poll_hist_knows() - Find out whether the like of a sample was seen.
 * @hist: The histogram, without the sample.
 * @bin: The sample's bin.
 *
 * Context: The caller serialises access to @hist.
 * Return: Whether its neighbourhood holds most of a sample at least.
 */
bool blk_poll_hist_knows(const struct blk_poll_hist *hist, unsigned int bin)
{
	unsigned int i = bin > HIST_LIKE ? bin - HIST_LIKE : 0;
	unsigned int last = min(bin + HIST_LIKE, BLK_POLL_NR_BINS);
	u32 sum = 0;

	for (; i <= last; i++)
		sum += hist->weight[i];
	return 4 * sum >= 3 * hist->one;
}

/* Step 1; returns the first bin behind all that have mass. */
static unsigned int hist_smooth(const struct blk_poll_hist *hist,
				struct blk_poll_hist_scratch *s)
{
	u32 enough = HIST_ENOUGH * hist->one;
	unsigned int i, k, end = 0;

	s->below[0] = 0;
	for (i = 0; i < BLK_POLL_NR_BINS; i++) {
		s->below[i + 1] = s->below[i] + hist->weight[i];
		s->mass[i] = 0;
	}
	for (i = 0; i < BLK_POLL_NR_BINS; i++) {
		unsigned int from = i, to = i + 1;
		u32 part;

		if (!hist->weight[i])
			continue;
		while (s->below[to] - s->below[from] < enough &&
		       to - i <= HIST_REACH) {
			from -= from > 0;
			to += to < BLK_POLL_NR_BINS;
			if (to == BLK_POLL_NR_BINS)
				break;
		}
		part = ((u32)hist->weight[i] << 8) / (to - from);
		for (k = from; k < to; k++)
			s->mass[k] += part;
		end = max(end, to);
	}
	return end;
}

/* Step 2.  A bin keeps width / (width + jitter), the rest goes on. */
static void hist_smear(struct blk_poll_hist_scratch *s, u32 jitter_ns)
{
	u32 carry = 0, share = 0;
	unsigned int i;

	for (i = BLK_POLL_NR_BINS; i--;) {
		u32 sum = s->mass[i] + carry;

		/* within an octave all bins are as wide */
		if (i == BLK_POLL_NR_BINS - 1 ||
		    !((i + 1) & (BIT(BLK_POLL_BIN_SHIFT) - 1))) {
			u32 width = blk_poll_bin_start(i + 1) -
				    blk_poll_bin_start(i);

			share = div_u64((u64)width << 16, width + jitter_ns);
		}
		s->mass[i] = (u64)sum * share >> 16;
		carry = sum - s->mass[i];
	}
	s->mass[0] += carry;
}

/* How many bins from @i on can be taken for one, as nothing was seen there. */
static unsigned int hist_merge(const struct blk_poll_hist_scratch *s,
			       unsigned int i, unsigned int nr)
{
	unsigned int k;

	if (i % HIST_MERGE || i + HIST_MERGE > nr)
		return 1;
	for (k = i; k < i + HIST_MERGE; k++)
		if (s->mass[k])
			return 1;
	return HIST_MERGE;
}

/*
 * Step 3, and scale to 2^HIST_MASS_SHIFT in all.  Of the @nr bins empty ones are
 * merged, so that fewer are left; they are counted and returned.  One more takes
 * all that is behind them.  What is lost by rounding is added to the next one,
 * so that thin mass comes as grains here and there instead of vanishing.
 */
static unsigned int hist_doubt(const struct blk_poll_hist *hist,
			       const struct blk_poll_costs *costs,
			       struct blk_poll_hist_scratch *s, unsigned int nr)
{
	u32 any = (hist->one << 7) + ((u64)hist->total * costs->surprise >> 8);
	u32 each = any / BLK_POLL_NR_BINS + 1;
	u64 total = ((u64)hist->total << 8) + each * BLK_POLL_NR_BINS;
	u64 scale = div64_u64(1ULL << (HIST_MASS_SHIFT + 24), total);
	u64 rest = ((u64)hist->weight[BLK_POLL_NR_BINS] << 8) +
		   each * (BLK_POLL_NR_BINS - nr);
	unsigned int i, to, k = 0;
	u64 sum = 0;

	s->below[0] = 0;
	s->time[0] = 0;
	for (i = 0; i < nr; i = to) {
		to = i + hist_merge(s, i, nr);
		sum += (s->mass[i] + (to - i) * each) * scale;
		s->mass[k] = sum >> 24;
		sum &= BIT(24) - 1;
		s->below[k + 1] = s->below[k] + s->mass[k];
		k++;
		s->time[k] = blk_poll_bin_start(to) >> HIST_TIME_SHIFT;
	}
	s->mass[k] = (sum + rest * scale) >> 24;
	return k;
}

/* The line of @bin where the mass is @x, with the weight in it. */
static s64 hist_line(const struct blk_poll_hist_scratch *s, unsigned int bin,
		     s64 x)
{
	return s->cost[bin] - x * s->time[bin];
}

/*
 * Whether the line of @b is nowhere the lowest between those of @a and @c.  It
 * would have to cross that of @c at a smaller mass than that of @a.
 */
static bool hist_line_idle(const struct blk_poll_hist_scratch *s,
			   unsigned int a, unsigned int b, unsigned int c)
{
	return (s->cost[b] - s->cost[c]) * (s->time[a] - s->time[b]) >=
	       (s->cost[a] - s->cost[b]) * (s->time[b] - s->time[c]);
}

/* Step 4: fill in s->jump[]. */
static void hist_decide(const struct blk_poll_costs *costs,
			struct blk_poll_hist_scratch *s, unsigned int nr)
{
	s64 sleep = costs->sleep_ns >> HIST_TIME_SHIFT, weight = costs->weight;
	u32 least = (costs->wake_ns + HIST_LEAST_NS) >> HIST_TIME_SHIFT;
	unsigned int first = 0, lines = 0, next = nr, i;
	/* mass from i on, and twice the sum of mass x time below i */
	s64 later = s->mass[nr], moment = 0, value = 0;

	for (i = 0; i < nr; i++)
		moment += (s64)s->mass[i] * (s->time[i] + s->time[i + 1]);
	s->cost[nr] = weight * ((s64)s->below[nr] * s->time[nr] - moment / 2);

	for (i = nr; i--;) {
		u32 start = s->time[i], end = s->time[i + 1], mass = s->mass[i];
		s64 x = weight * s->below[i], doze;

		/* look: those inside are done half-way */
		value += later * (end - start) + (s64)mass * (end - start) / 2;
		later += mass;
		moment -= (s64)mass * (start + end);
		s->jump[i] = 0;

		/* from here on these are far enough to sleep to */
		for (; next > i && s->time[next] >= start + least; next--) {
			while (lines - first >= 2 &&
			       hist_line_idle(s, s->line[lines - 2],
					      s->line[lines - 1], next))
				lines--;
			s->line[lines++] = next;
		}
		while (lines - first >= 2 &&
		       hist_line(s, s->line[first + 1], x) <=
		       hist_line(s, s->line[first], x))
			first++;
		if (lines > first) {
			doze = hist_line(s, s->line[first], x) + sleep * later +
			       weight * (moment / 2);
			if (doze < value) {
				value = doze;
				s->jump[i] = s->line[first];
			}
		}
		s->cost[i] = value + weight * ((s64)s->below[i] * start -
					       moment / 2);
	}
}

/**
 * blk_poll_hist_schedule() - Find the cheapest schedule.
 * @hist: What latencies to expect.
 * @costs: What things cost.
 * @scratch: Memory, 17 KiB; need not be initialised.
 * @schedule: Filled in.
 *
 * Context: The caller serialises access to @hist and @scratch.  Some ten
 * thousand steps: not on the way of an I/O, unless its device is busy meanwhile.
 */
void blk_poll_hist_schedule(const struct blk_poll_hist *hist,
			    const struct blk_poll_costs *costs,
			    struct blk_poll_hist_scratch *scratch,
			    struct blk_poll_schedule *schedule)
{
	unsigned int nr, i = 0, n = 0;

	nr = min(hist_smooth(hist, scratch) + HIST_ABOVE, BLK_POLL_NR_BINS);
	hist_smear(scratch, costs->jitter_ns);
	nr = hist_doubt(hist, costs, scratch, nr);
	hist_decide(costs, scratch, nr);

	while (i < nr && n < BLK_POLL_MAX_STEPS) {
		if (!scratch->jump[i]) {
			i++;
			continue;
		}
		schedule->step[n++] = (struct blk_poll_step){
			.from_ns = scratch->time[i] << HIST_TIME_SHIFT,
			.to_ns = scratch->time[scratch->jump[i]] << HIST_TIME_SHIFT,
		};
		i = scratch->jump[i];
	}
	schedule->nr = n;
	schedule->look_ns = 0;
}
