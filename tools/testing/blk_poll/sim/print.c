// SPDX-License-Identifier: GPL-2.0
/*
 * Results as a table, as CSV or as JSON, and a line for each I/O.
 */
#include "sim.h"

static const struct {
	const char *name;
	u64 parts;
	u64 of;
} percentiles[] = {
	{ "p50", 50, 100 }, { "p99", 99, 100 }, { "p999", 999, 1000 },
	{ "p9999", 9999, 10000 }, { "p99999", 99999, 100000 },
	{ "p999999", 999999, 1000000 },
};

/* Those that are always printed. */
#define USUAL_PERCENTILES	4

static int nr_percentiles(bool tail)
{
	return tail ? ARRAY_SIZE(percentiles) : USUAL_PERCENTILES;
}

static double late_us(const struct sim_stats *stats, int i)
{
	return sim_stats_late(stats, percentiles[i].parts, percentiles[i].of) /
	       1000.0;
}

static double cost_j(const struct sim_stats *stats)
{
	return sim_stats_cpu_pct(stats) +
	       sim_options.lambda * sim_stats_late_pct(stats);
}

static double per_io(const struct sim_stats *stats, u64 sum)
{
	return (double)sum / stats->ios;
}

static double thousands_per_s(const struct sim_stats *stats)
{
	return stats->ios * 1e6 / stats->end_ns;
}

static double busy_pct(const struct sim_stats *stats)
{
	return 100.0 * (stats->spin_ns + stats->cost_ns) / stats->end_ns;
}

static bool several(void)
{
	return sim_options.machine.threads > 1 || sim_options.machine.qd > 1;
}

/**
 * sim_print_begin() - Print what comes before all results.
 * @format: How.
 * @tail: Up to the 99.9999th percentile.
 */
void sim_print_begin(enum sim_format format, bool tail)
{
	const struct sim_machine *m = &sim_options.machine;
	int i;

	if (format == SIM_CSV) {
		printf("policy,trace,j,cpu_pct,late_pct,overslept_pct,sleeps_per_io,lat_mean_us");
		for (i = 0; i < nr_percentiles(tail); i++)
			printf(",late_%s_us", percentiles[i].name);
		putchar('\n');
	} else if (format == SIM_JSON) {
		printf("{\n\"lambda\": %g,\n\"seed\": %llu,\n",
		       sim_options.lambda, sim_options.seed);
		printf("\"machine\": {\"wake_ns\": %llu, \"wake_jitter_ns\": %llu",
		       m->wake_ns, m->jitter_ns);
		printf(", \"wake_jitter\": \"%s\"",
		       m->jitter == SIM_JITTER_HEAVY ? "heavy" : "exponential");
		printf(", \"idle_after_ns\": %llu, \"idle_wake_ns\": %llu",
		       m->idle_after_ns, m->idle_wake_ns);
		printf(", \"sleep_cpu_ns\": %llu, \"poll_ns\": %llu",
		       m->sleep_cpu_ns, m->poll_ns);
		printf(", \"irq_ns\": %llu, \"slice_ns\": %llu", m->irq_ns,
		       m->slice_ns);
		printf(", \"threads\": %u, \"qd\": %u},\n", m->threads, m->qd);
		printf("\"rows\": [");
	}
}

/**
 * sim_print_source() - Print what comes before the results on a source.
 * @format: How.
 * @run: The first run on it.
 */
void sim_print_source(enum sim_format format, const struct sim_run *run)
{
	if (format != SIM_TABLE)
		return;
	printf("%s, %llu I/Os (%s)\n", run->source->name, run->ios,
	       run->source->family);
	printf("%-10s %7s %6s %6s %5s %5s %6s %6s %6s %6s %6s\n", "", "J",
	       "CPU", "late", "over", "sleep", "late", "p50", "p99", "p99.9",
	       "p99.99");
	printf("%-10s %7s %6s %6s %5s %5s %6s %6s %6s %6s %6s\n", "policy", "",
	       "%", "%", "%", "/ I/O", "us", "us", "us", "us", "us");
}

/* At most six characters, or seven with @wide. */
static void print_short(double value, bool wide)
{
	int digits = wide ? 1000 : 100;

	printf(" %*.*f", wide ? 7 : 6,
	       value < digits ? 2 : value < 10 * digits ? 1 : 0, value);
}

static void print_us(double us)
{
	printf(" %6.*f", us < 10 ? 2 : us < 1000 ? 1 : 0, us);
}

static void print_table_row(const struct sim_run *run, bool tail)
{
	const struct sim_stats *stats = &run->stats;
	int i;

	printf("%-10s", run->policy->name);
	print_short(cost_j(stats), true);
	print_short(sim_stats_cpu_pct(stats), false);
	print_short(sim_stats_late_pct(stats), false);
	printf(" %5.1f %5.2f", 100 * per_io(stats, stats->overslept),
	       per_io(stats, stats->sleeps));
	print_us(per_io(stats, stats->late_ns) / 1000);
	for (i = 0; i < USUAL_PERCENTILES; i++)
		print_us(late_us(stats, i));
	putchar('\n');
	if (tail) {
		printf("%12s", "");
		for (i = USUAL_PERCENTILES; i < nr_percentiles(tail); i++) {
			printf(" %s", percentiles[i].name);
			print_us(late_us(stats, i));
		}
		printf(" us\n");
	}
	if (several())
		printf("%12s %.2f thousand I/Os a second, CPU busy for %.2f %% of the time\n",
		       "", thousands_per_s(stats), busy_pct(stats));
}

static void print_csv_row(const struct sim_run *run, bool tail)
{
	const struct sim_stats *stats = &run->stats;
	const char *c;
	int i;

	printf("%s,", run->policy->name);
	for (c = run->source->name; *c; c++)
		putchar(*c == ',' ? ';' : *c);
	printf(",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f", cost_j(stats),
	       sim_stats_cpu_pct(stats), sim_stats_late_pct(stats),
	       100 * per_io(stats, stats->overslept),
	       per_io(stats, stats->sleeps),
	       per_io(stats, stats->latency_ns + stats->late_ns) / 1000);
	for (i = 0; i < nr_percentiles(tail); i++)
		printf(",%.3f", late_us(stats, i));
	putchar('\n');
}

static void print_json_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 32)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_json_row(const struct sim_run *run)
{
	const struct sim_stats *stats = &run->stats;
	static bool comma;
	int i;

	printf("%s\n{\"policy\": \"%s\", \"trace\": ", comma ? "," : "",
	       run->policy->name);
	comma = true;
	print_json_string(run->source->name);
	printf(", \"family\": \"%s\", \"ios\": %llu", run->source->family,
	       stats->ios);
	printf(", \"j\": %.4f, \"cpu_pct\": %.4f, \"late_pct\": %.4f",
	       cost_j(stats), sim_stats_cpu_pct(stats),
	       sim_stats_late_pct(stats));
	printf(", \"overslept_pct\": %.4f, \"sleeps_per_io\": %.4f",
	       100 * per_io(stats, stats->overslept),
	       per_io(stats, stats->sleeps));
	printf(", \"lat_mean_us\": %.4f, \"late_mean_us\": %.4f",
	       per_io(stats, stats->latency_ns + stats->late_ns) / 1000,
	       per_io(stats, stats->late_ns) / 1000);
	for (i = 0; i < nr_percentiles(true); i++)
		printf(", \"late_%s_us\": %.3f", percentiles[i].name,
		       late_us(stats, i));
	printf(", \"kiops\": %.4f, \"busy_pct\": %.4f}",
	       thousands_per_s(stats), busy_pct(stats));
}

/**
 * sim_print_run() - Print the results of a run.
 * @format: How.
 * @run: The run.
 * @tail: Up to the 99.9999th percentile.
 */
void sim_print_run(enum sim_format format, const struct sim_run *run, bool tail)
{
	switch (format) {
	case SIM_TABLE:
		print_table_row(run, tail);
		break;
	case SIM_CSV:
		print_csv_row(run, tail);
		break;
	case SIM_JSON:
		print_json_row(run);
		break;
	}
}

/**
 * sim_print_end() - Print what comes after all results.
 * @format: How.
 */
void sim_print_end(enum sim_format format)
{
	if (format == SIM_JSON)
		printf("\n]\n}\n");
}

/**
 * sim_sleeps_add() - Remember a sleep.
 * @sleeps: Those of an I/O.
 * @asked_ns: How long it was meant to be.
 */
void sim_sleeps_add(struct sim_sleeps *sleeps, u64 asked_ns)
{
	if (sleeps->nr < SIM_MAX_SLEEPS)
		sleeps->asked_ns[sleeps->nr++] = asked_ns;
	else
		sleeps->asked_ns[SIM_MAX_SLEEPS - 1] += asked_ns;
}

/**
 * sim_asked_ns() - How long a sleep is meant to be.
 * @plan: The plan.
 * @stage: The stage that is slept.
 * @elapsed_ns: Time since the I/O's start.
 * @in: Inputs of the plan.
 *
 * Return: The time, as the policy sees it: the timer may be set earlier, as
 * waking up takes time as well.
 */
u64 sim_asked_ns(const struct blk_poll_plan *plan, u8 stage, u64 elapsed_ns,
		 const struct blk_poll_inputs *in)
{
	return min(plan->stage[stage].sleep_to_ns, in->cap_ns) - elapsed_ns;
}

/**
 * sim_dump_io() - Write a line about an I/O, if that is wanted.
 * @run: The run.
 * @index: Its number.
 * @latency_ns: Time of the device.
 * @sleeps: Its sleeps.
 * @late_ns: From done to known.
 * @overslept: It was found at the first look after a sleep.
 */
void sim_dump_io(struct sim_run *run, u64 index, u64 latency_ns,
		 const struct sim_sleeps *sleeps, u64 late_ns, bool overslept)
{
	unsigned int i;

	if (!run->dump)
		return;
	fprintf(run->dump, "%llu,%llu,", index, latency_ns);
	for (i = 0; i < sleeps->nr; i++)
		fprintf(run->dump, "%s%llu", i ? "+" : "", sleeps->asked_ns[i]);
	fprintf(run->dump, "%s,%llu,%d\n", sleeps->nr ? "" : "0", late_ns,
		overslept);
}
