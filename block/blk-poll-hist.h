/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms of latencies, and the cheapest schedule for what is in one.
 */
#ifndef BLK_POLL_HIST_H
#define BLK_POLL_HIST_H

#include "blk-poll-est.h"

/*
 * Bins of an octave, 2^6: a bin is 1.1 to 1.6 % wide.  With half as many the
 * schedules cost 3 to 5 % more, with twice as many 1 % less for twice the
 * memory.
 */
#define BLK_POLL_BIN_SHIFT	6

/*
 * The first bin takes all below 2^10 ns: nobody sleeps less than 1 us.  Later
 * than 2^23 ns, 8.4 ms, there are no bins: what polls for so long is told by
 * the ladder (see blk-poll-adaptive.c) as well.  One octave more, and products
 * in blk_poll_hist_schedule() would not fit 63 bits.
 */
#define BLK_POLL_FIRST_OCTAVE	10U
#define BLK_POLL_NR_OCTAVES	13U
#define BLK_POLL_NR_BINS	(BLK_POLL_NR_OCTAVES << BLK_POLL_BIN_SHIFT)

/*
 * Sleeps of a schedule.  The cheapest schedule for the worst trace known has
 * 14; what is longer goes on with the ladder.
 */
#define BLK_POLL_MAX_STEPS	32

/**
 * struct blk_poll_hist - How often which latency came, lately.
 * @weight: Of each bin; the last one takes all that is longer.
 * @one: What a sample that comes now weighs, 16 to 31.
 * @age: Samples since all weights were halved.
 * @total: Sum of @weight, at most 2^16 x (BLK_POLL_NR_BINS + 1).
 */
struct blk_poll_hist {
	u16 weight[BLK_POLL_NR_BINS + 1];
	u16 one;
	u16 age;
	u32 total;
};

/**
 * struct blk_poll_step - A sleep of a schedule.
 * @from_ns: Look until then, counted from the I/O's start.
 * @to_ns: Then sleep, so as to look again at this time, wake-up included.
 */
struct blk_poll_step {
	u32 from_ns;
	u32 to_ns;
};

/**
 * struct blk_poll_schedule - When to sleep during an I/O.
 * @nr: How many of @step are used.
 * @look_ns: Look until then after the last step.
 * @step: The sleeps, in order.
 */
struct blk_poll_schedule {
	u32 nr;
	u32 look_ns;
	struct blk_poll_step step[BLK_POLL_MAX_STEPS];
};

/**
 * struct blk_poll_costs - What a schedule is weighed by.
 * @sleep_ns: CPU time of a sleep.
 * @wake_ns: From a timer's expiry until the task runs, at the least.
 * @jitter_ns: Mean of what comes on top.
 * @weight: Price of a ns of latency in ns of CPU time, up to
 *	BLK_POLL_MAX_WEIGHT.
 * @surprise: Share of the I/Os whose like was not seen before, of 65536.
 */
struct blk_poll_costs {
	u32 sleep_ns;
	u32 wake_ns;
	u32 jitter_ns;
	u32 weight;
	u32 surprise;
};

/**
 * struct blk_poll_hist_scratch - Memory for blk_poll_hist_schedule().
 * @cost: Of sleeping until the start of a bin and going on from there, without
 *	what depends on where the sleep begins.
 * @mass: Share of the I/Os in each bin; while it is smoothed, weight x 256.
 * @below: Sum of @mass over all bins before.
 * @time: Starts of the bins, in units of 8 ns.
 * @line: Bins that may be worth sleeping to, the latest first.
 * @jump: Bin to sleep to from the start of a bin; 0: look.
 */
struct blk_poll_hist_scratch {
	s64 cost[BLK_POLL_NR_BINS + 1];
	u32 mass[BLK_POLL_NR_BINS + 1];
	u32 below[BLK_POLL_NR_BINS + 1];
	u32 time[BLK_POLL_NR_BINS + 1];
	u16 line[BLK_POLL_NR_BINS + 1];
	u16 jump[BLK_POLL_NR_BINS + 1];
};

unsigned int blk_poll_bin(u64 ns);
u32 blk_poll_bin_start(unsigned int bin);
void blk_poll_hist_init(struct blk_poll_hist *hist);
void blk_poll_hist_add(struct blk_poll_hist *hist, unsigned int bin);
void blk_poll_hist_fade(struct blk_poll_hist *hist);
bool blk_poll_hist_knows(const struct blk_poll_hist *hist, unsigned int bin);
void blk_poll_hist_schedule(const struct blk_poll_hist *hist,
			    const struct blk_poll_costs *costs,
			    struct blk_poll_hist_scratch *scratch,
			    struct blk_poll_schedule *schedule);

#endif /* BLK_POLL_HIST_H */
