// SPDX-License-Identifier: GPL-2.0
/*
 * What waking up costs.
 */
#include "sim.h"

/*
 * The heavy tail: one wake-up in 100 is late by another 20 us on average.  So
 * it is when an interrupt or a deeper idle state comes between now and then.
 */
#define HEAVY_SHARE		0.01
#define HEAVY_NS		20000.0

/**
 * sim_wake_lag() - How late a sleeping task runs.
 * @machine: The CPU.
 * @random: Random numbers.
 * @sleep_ns: How long the sleep was.
 *
 * Return: Time from the end of the sleep until the task runs.
 */
u64 sim_wake_lag(const struct sim_machine *machine, struct sim_random *random,
		 u64 sleep_ns)
{
	u64 lag_ns = machine->wake_ns;

	if (machine->jitter_ns)
		lag_ns += (u64)(sim_random_exponential(random, machine->jitter_ns) + 0.5);
	if (machine->jitter == SIM_JITTER_HEAVY &&
	    sim_random_unit(random) < HEAVY_SHARE)
		lag_ns += (u64)(sim_random_exponential(random, HEAVY_NS) + 0.5);
	if (machine->idle_after_ns && sleep_ns >= machine->idle_after_ns)
		lag_ns += machine->idle_wake_ns;
	return lag_ns;
}

/* Of an exponential distribution; all at 0 if its mean is 0. */
static double survival(double mean, double ns)
{
	if (ns <= 0)
		return 1;
	if (mean <= 0 || ns / mean > 700)
		return 0;
	return sim_exp(-ns / mean);
}

/**
 * sim_jitter_survival() - Probability of a jitter.
 * @machine: The CPU.
 * @ns: A time.
 *
 * Return: The probability that the jitter is longer.
 */
double sim_jitter_survival(const struct sim_machine *machine, double ns)
{
	double usual = survival(machine->jitter_ns, ns);
	double a = machine->jitter_ns, b = HEAVY_NS;
	double both;

	if (machine->jitter != SIM_JITTER_HEAVY)
		return usual;
	/* the sum of both; with the same mean it would have another form */
	if (a == b)
		a += 1;
	both = (b * survival(b, ns) - a * survival(a, ns)) / (b - a);
	return (1 - HEAVY_SHARE) * usual + HEAVY_SHARE * both;
}

/**
 * sim_jitter_excess() - How much longer than a time the jitter is on average.
 * @machine: The CPU.
 * @ns: A time, not below 0.
 *
 * Return: Mean of max(jitter - @ns, 0).
 */
double sim_jitter_excess(const struct sim_machine *machine, double ns)
{
	double usual = machine->jitter_ns * survival(machine->jitter_ns, ns);
	double a = machine->jitter_ns, b = HEAVY_NS;
	double both;

	if (machine->jitter != SIM_JITTER_HEAVY)
		return usual;
	if (a == b)
		a += 1;
	both = (b * b * survival(b, ns) - a * a * survival(a, ns)) / (b - a);
	return (1 - HEAVY_SHARE) * usual + HEAVY_SHARE * both;
}

/**
 * sim_jitter_mean() - Mean of the jitter.
 * @machine: The CPU.
 *
 * Return: The mean.
 */
double sim_jitter_mean(const struct sim_machine *machine)
{
	return machine->jitter_ns +
	       (machine->jitter == SIM_JITTER_HEAVY ? HEAVY_SHARE * HEAVY_NS : 0);
}
