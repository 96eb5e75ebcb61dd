// SPDX-License-Identifier: GPL-2.0
/*
 * Results of a run: sums and the distribution of late times.
 *
 * A histogram takes the same memory for ten I/Os and for ten billion, and one
 * increment for each.  Its bins know their latest I/O, so that a percentile is
 * a late time that occurred, and at most 1/1024 above the exact one.
 */
#include <stdlib.h>

#include "sim.h"

/**
 * sim_stats_init() - Begin to count.
 * @stats: The results.
 */
void sim_stats_init(struct sim_stats *stats)
{
	*stats = (struct sim_stats){
		.bin = calloc(SIM_NR_BINS, sizeof(*stats->bin)),
	};
	if (!stats->bin)
		sim_die("out of memory");
}

/**
 * sim_stats_free() - Free the results.
 * @stats: The results.
 */
void sim_stats_free(struct sim_stats *stats)
{
	free(stats->bin);
}

static unsigned int bin_of(u64 ns)
{
	int shift;

	if (ns < 2 << SIM_BIN_SHIFT)
		return ns;
	shift = ilog2(ns) - SIM_BIN_SHIFT;
	return min(((u64)shift << SIM_BIN_SHIFT) + (ns >> shift),
		   (u64)SIM_NR_BINS - 1);
}

/**
 * sim_stats_add() - Count an I/O.
 * @stats: The results.
 * @latency_ns: Time of the device.
 * @late_ns: From done to known.
 * @overslept: It was found at the first look after a sleep.
 */
void sim_stats_add(struct sim_stats *stats, u64 latency_ns, u64 late_ns,
		   bool overslept)
{
	struct sim_bin *bin = &stats->bin[bin_of(late_ns)];

	stats->ios++;
	stats->overslept += overslept;
	stats->latency_ns += latency_ns;
	stats->late_ns += late_ns;
	bin->nr++;
	bin->max_ns = max(bin->max_ns, late_ns);
}

/**
 * sim_stats_late() - Percentile of the late times, by nearest rank.
 * @stats: The results.
 * @parts: The share of I/Os that are at most so late...
 * @of: ...in parts of this.
 *
 * Return: A time.
 */
u64 sim_stats_late(const struct sim_stats *stats, u64 parts, u64 of)
{
	/* 2^44 I/Os would run for weeks; times 10^6 still fits */
	u64 rank = (stats->ios * parts + of - 1) / of;
	u64 nr = 0;
	unsigned int i;

	for (i = 0; i < SIM_NR_BINS; i++) {
		nr += stats->bin[i].nr;
		if (nr && nr >= rank)
			return stats->bin[i].max_ns;
	}
	return 0;
}

/**
 * sim_stats_cpu_pct() - CPU time in percent of the device's time.
 * @stats: The results.
 *
 * Return: The percentage.
 */
double sim_stats_cpu_pct(const struct sim_stats *stats)
{
	return 100.0 * (stats->spin_ns + stats->cost_ns) / stats->latency_ns;
}

/**
 * sim_stats_late_pct() - Added latency in percent of the device's time.
 * @stats: The results.
 *
 * Return: The percentage.
 */
double sim_stats_late_pct(const struct sim_stats *stats)
{
	return 100.0 * stats->late_ns / stats->latency_ns;
}
