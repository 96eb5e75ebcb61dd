// SPDX-License-Identifier: GPL-2.0
/*
 * The best schedule that one fixed plan could have had: it has seen all
 * latencies before the first I/O.
 *
 * A schedule says for each moment to look or to sleep until some other.  The
 * cheapest follows backwards from the end: with what comes later known, looking
 * through a bin costs its width for all I/Os that take longer, sleeping costs
 * the sleep for all of them, and lambda times what the others are late.  It is
 * reckoned in floating point numbers with bins half as wide as the kernel's,
 * and with the true cost of a wake-up.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* Bins of an octave, from 64 ns to 69 s. */
#define OCTAVE_BINS		128
#define FIRST_OCTAVE		6
#define NR_BINS			((36 - FIRST_OCTAVE) * OCTAVE_BINS)

/**
 * struct schedule - For a bucket.
 * @known: Any I/O is in it.
 * @last: No I/O takes longer than this bin.
 * @jump: Where to sleep to from the start of a bin, 0: look.
 */
struct schedule {
	bool known;
	unsigned int last;
	unsigned int jump[NR_BINS + 1];
};

static struct schedule schedules[BLK_POLL_NR_BUCKETS];

static double edge(unsigned int bin)
{
	unsigned int octave = bin / OCTAVE_BINS;

	return bin ? (double)(OCTAVE_BINS + bin % OCTAVE_BINS) / OCTAVE_BINS *
		     (double)BIT_ULL(octave + FIRST_OCTAVE) : 0;
}

static unsigned int bin_of(u64 ns)
{
	unsigned int octave;

	if (ns < BIT(FIRST_OCTAVE))
		return 0;
	octave = min_t(unsigned int, ilog2(ns), 35);
	return (octave - FIRST_OCTAVE) * OCTAVE_BINS +
	       (unsigned int)((double)ns / (double)BIT_ULL(octave) * OCTAVE_BINS) -
	       OCTAVE_BINS;
}

/* Expected cost of sleeping from bin i to the edge of bin j, see above. */
struct sums {
	double mass[NR_BINS + 2];	/* in bins below */
	double moment[NR_BINS + 2];	/* their latencies */
	double value[NR_BINS + 2];
};

/* What counts is when it would have to wake up: earlier by the jitter. */
static void smear(double *mass, unsigned int nr)
{
	double mean = sim_jitter_mean(&sim_options.machine);
	double carry = 0;
	unsigned int i;

	if (mean <= 0)
		return;
	for (i = nr; i--; ) {
		double width = edge(i + 1) - edge(i);
		double survive = sim_exp(-width / mean);
		/* of what is spread evenly over a bin, the part that stays */
		double stay = 1 - mean / width * (1 - survive);
		double in = mass[i];

		mass[i] = in * stay + carry * (1 - survive);
		carry = in * (1 - stay) + carry * survive;
	}
	mass[0] += carry;
}

static void fit(struct schedule *schedule, double *mass)
{
	const struct sim_machine *m = &sim_options.machine;
	static struct sums s;
	double lambda = sim_options.lambda;
	unsigned int nr = schedule->last + 1, i, k;

	smear(mass, nr);
	s.mass[0] = 0;
	s.moment[0] = 0;
	for (i = 0; i < nr; i++) {
		s.mass[i + 1] = s.mass[i] + mass[i];
		s.moment[i + 1] = s.moment[i] +
				  mass[i] * (edge(i) + edge(i + 1)) / 2;
	}
	s.value[nr] = 0;
	for (i = nr; i--; ) {
		double left = s.mass[nr] - s.mass[i];
		double width = edge(i + 1) - edge(i);

		s.value[i] = (left - mass[i] / 2) * width + s.value[i + 1];
		schedule->jump[i] = 0;
		/* any further one is dearer once it is late for too many */
		for (k = i + 1; k <= nr; k++) {
			double late = (s.mass[k] - s.mass[i]) * edge(k) -
				      (s.moment[k] - s.moment[i]);
			double cost = m->sleep_cpu_ns * left + lambda * late;

			if (cost >= s.value[i])
				break;
			if (edge(k) - edge(i) <= m->wake_ns)
				continue;
			if (cost + s.value[k] < s.value[i]) {
				s.value[i] = cost + s.value[k];
				schedule->jump[i] = k;
			}
		}
	}
}

/**
 * sim_hindsight_prepare() - See a whole run before it begins.
 * @source: Its source.
 * @ios: Its I/Os.
 */
void sim_hindsight_prepare(const struct sim_source *source, u64 ios)
{
	static double mass[BLK_POLL_NR_BUCKETS][NR_BINS];
	struct sim_stream stream;
	unsigned int b;
	u64 n;

	memset(mass, 0, sizeof(mass));
	memset(schedules, 0, sizeof(schedules));
	sim_stream_init(&stream, source, sim_options.seed, ios);
	for (n = 0; n < ios; n++) {
		struct sim_io io = sim_stream_next(&stream);
		unsigned int bin = bin_of(io.latency_ns);

		mass[io.bucket][bin]++;
		schedules[io.bucket].known = true;
		schedules[io.bucket].last = max(schedules[io.bucket].last, bin);
	}
	for (b = 0; b < BLK_POLL_NR_BUCKETS; b++)
		if (schedules[b].known)
			fit(&schedules[b], mass[b]);
}

/**
 * sim_hindsight_plan() - Make the plan, or the next part of it.
 * @policy: Not used.
 * @io: The I/O; only its bucket is looked at.
 * @in: The elapsed time.
 * @plan: Filled in.
 */
void sim_hindsight_plan(const struct sim_policy *policy,
			const struct sim_io *io,
			const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	const struct schedule *schedule = &schedules[io->bucket];
	unsigned int i = bin_of(in->elapsed_ns), n = 0;

	blk_poll_plan_single(plan, 0);
	plan->flags = BLK_POLL_PLAN_EXACT | BLK_POLL_PLAN_MORE;
	if (in->elapsed_ns > edge(i))
		i++;
	while (n < BLK_POLL_MAX_STAGES && i <= schedule->last) {
		struct blk_poll_stage *stage = &plan->stage[n];
		unsigned int from = i;

		while (i <= schedule->last && !schedule->jump[i])
			i++;
		if (i > schedule->last)
			break;
		if (i > from) {
			/* first look until it is time to sleep */
			if (!n) {
				*stage++ = (struct blk_poll_stage){ };
				n++;
			}
			stage[-1].look_until_ns = edge(i);
		}
		i = schedule->jump[i];
		stage->sleep_to_ns = edge(i) - sim_options.machine.wake_ns;
		stage->look_until_ns = edge(i);
		n++;
	}
	plan->nr = n;
	if (i > schedule->last)
		plan->flags = BLK_POLL_PLAN_EXACT;
}
