// SPDX-License-Identifier: GPL-2.0
/*
 * Models of devices: named, seeded, and like figures that were published.
 *
 * The list is frozen: later models may be added, and results are given per
 * family with equal weight, so that a family does not count more for having
 * more members.  Latencies are independent of the policy that is simulated.
 * p50 and p99 are what follows from the parameters, over many I/Os.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* Lognormal, by its median and the standard deviation of its logarithm. */
static double lognormal(struct sim_gen *gen, double median_ns, double sigma)
{
	if (sigma == 0)
		return median_ns;
	return median_ns * sim_exp(sigma * sim_random_normal(&gen->random));
}

static bool chance(struct sim_gen *gen, double probability)
{
	return sim_random_unit(&gen->random) < probability;
}

/* How many I/Os a state lasts: geometric, at least 1. */
static u64 dwell(struct sim_gen *gen, double mean)
{
	return 1 + (u64)sim_random_exponential(&gen->random, mean - 0.5);
}

/* Whether a device with two states is in the second. */
static bool alternate(struct sim_gen *gen, double first, double second)
{
	if (!gen->index) {
		gen->state = 0;
		gen->left = dwell(gen, first);
	}
	if (!gen->left) {
		gen->state = !gen->state;
		gen->left = dwell(gen, gen->state ? second : first);
	}
	gen->left--;
	return gen->state;
}

static double constant_next(struct sim_gen *gen)
{
	return gen->param[0];
}

/* sigma^2 = log(1 + cv^2), median = mean / sqrt(1 + cv^2) */
static double lognormal_next(struct sim_gen *gen)
{
	double mean_ns = gen->param[0], cv = gen->param[1];
	double spread = 1 + cv * cv;

	return lognormal(gen, mean_ns / __builtin_sqrt(spread),
			 __builtin_sqrt(sim_log(spread)));
}

static double optane_next(struct sim_gen *gen)
{
	double ns = gen->param[0] + gen->param[1] * sim_random_normal(&gen->random);

	if (chance(gen, gen->param[2]))
		ns += sim_random_exponential(&gen->random, gen->param[3]);
	return ns;
}

static double znand_next(struct sim_gen *gen)
{
	return lognormal(gen, gen->param[0], gen->param[1]);
}

static double tlc(struct sim_gen *gen, double sd_ns, double tail, double tail_ns)
{
	static const struct {
		double share;
		double ns;
	} modes[] = {
		{ 0.22, 59000 }, { 0.42, 64000 }, { 0.23, 71000 },
		{ 0.13, 76000 },
	};
	double share = sim_random_unit(&gen->random);
	double ns;
	int i = 0;

	while (i < 3 && share >= modes[i].share)
		share -= modes[i++].share;
	ns = modes[i].ns + sd_ns * sim_random_normal(&gen->random);
	/* the worst read is not worse than 90 us more */
	if (chance(gen, tail)) {
		double more_ns = sim_random_exponential(&gen->random, tail_ns);

		ns += more_ns < 90000 ? more_ns : 90000;
	}
	return ns;
}

static double tlc_read_next(struct sim_gen *gen)
{
	return tlc(gen, gen->param[0], gen->param[1], gen->param[2]);
}

static double cached_read_next(struct sim_gen *gen)
{
	bool hit = chance(gen, gen->param[0]);

	return lognormal(gen, hit ? gen->param[1] : gen->param[2],
			 gen->param[3]);
}

static double read_behind_write_next(struct sim_gen *gen)
{
	double ns = tlc(gen, 1400, 0.004, 16000);

	if (chance(gen, gen->param[0]))
		ns += gen->param[1] * sim_random_unit(&gen->random);
	return ns;
}

static double write_cache_next(struct sim_gen *gen)
{
	bool destage = alternate(gen, gen->param[2], gen->param[3]);

	return destage ? lognormal(gen, gen->param[4], 0.3) :
			 lognormal(gen, gen->param[0], gen->param[1]);
}

static double gc_knee_next(struct sim_gen *gen)
{
	bool slow = chance(gen, gen->param[2]);

	return slow ? lognormal(gen, gen->param[3], 0.2) :
		      lognormal(gen, gen->param[0], gen->param[1]);
}

static double gc_storm_next(struct sim_gen *gen)
{
	bool storm = alternate(gen, gen->param[2], gen->param[3]);

	return storm ? lognormal(gen, gen->param[1], 0.07) :
		       lognormal(gen, gen->param[0], 0.0718);
}

static double step_next(struct sim_gen *gen)
{
	double at = gen->param[2] ? gen->param[2] : gen->ios / 3;

	return lognormal(gen, gen->param[gen->index >= at], gen->param[3]);
}

/* Up for half of the period, down for the other. */
static double ramp_next(struct sim_gen *gen)
{
	u64 period = gen->param[2];
	double phase = 2.0 * (gen->index % period) / period;

	if (phase > 1)
		phase = 2 - phase;
	return lognormal(gen, gen->param[0] +
			 (gen->param[1] - gen->param[0]) * phase, gen->param[3]);
}

/*
 * The logarithm walks at random and is drawn back by 1/memory a step; the steps
 * are such that its standard deviation comes to that given.
 */
static double drift_next(struct sim_gen *gen)
{
	double keep = 1 - 1 / gen->param[2];
	double step = gen->param[1] * __builtin_sqrt(1 - keep * keep);

	gen->level = gen->level * keep +
		     step * sim_random_normal(&gen->random);
	return gen->param[0] * sim_exp(gen->level) *
	       (1 + 0.02 * sim_random_normal(&gen->random));
}

static double markov_next(struct sim_gen *gen)
{
	bool slow = alternate(gen, gen->param[2], gen->param[3]);

	return lognormal(gen, gen->param[slow], gen->param[4]);
}

static double stalls_next(struct sim_gen *gen)
{
	bool stall = chance(gen, gen->param[2]);

	return stall ? lognormal(gen, gen->param[3], 0.3) :
		       lognormal(gen, gen->param[0], gen->param[1]);
}

static double cloud_next(struct sim_gen *gen)
{
	bool held = chance(gen, gen->param[2]);

	return held ? lognormal(gen, gen->param[3], 0.3) :
		      lognormal(gen, gen->param[0], gen->param[1]);
}

/* Pareto, cut */
static double heavy_tail_next(struct sim_gen *gen)
{
	double u = sim_random_unit(&gen->random);
	double ns = gen->param[0] * sim_exp(-sim_log(u) / gen->param[1]);

	return ns < gen->param[2] ? ns : gen->param[2];
}

#define MAX_NS		1e10
#define MAX_IOS		1e9

static const struct sim_model models[] = {
	{
		.name = "constant", .family = "steady",
		.imitates =
			"Every I/O takes the same: for checking by hand.",
		.p50_us = 80, .p99_us = 80,
		.param = { { "ns", 80000, 1, MAX_NS } },
		.next = constant_next,
	}, {
		.name = "lognormal", .family = "steady",
		.imitates =
			"One wide mode, the textbook shape of a busy device.",
		.p50_us = 57.47, .p99_us = 113.8,
		.param = { { "mean", 60000, 1, MAX_NS }, { "cv", 0.3, 0, 10 } },
		.next = lognormal_next,
	}, {
		.name = "optane", .family = "fast",
		.imitates =
			"Optane, 4 KiB reads, polled: mean 6.81 us, sd 0.50, p99.99 18.",
		.p50_us = 6.80, .p99_us = 7.85,
		.param = { { "mean", 6800, 1, MAX_NS }, { "sd", 440, 0, MAX_NS },
			   { "tail", 0.002, 0, 1 }, { "tail_ns", 3740, 0, MAX_NS } },
		.next = optane_next,
	}, {
		.name = "znand", .family = "fast",
		.imitates =
			"Z-NAND, 4 KiB reads: 983 ZET answers in about 14 us.",
		.p50_us = 14.0, .p99_us = 18.5,
		.param = { { "median", 14000, 1, MAX_NS }, { "sigma", 0.12, 0, 3 } },
		.next = znand_next,
	}, {
		.name = "tlc-read", .family = "nand",
		.imitates =
			"980 PRO, 4 KiB reads: modes at 59/64/71/76 us, p50 64, p99 78, p99.9 89, max 166.",
		.p50_us = 64.6, .p99_us = 78.1,
		.param = { { "sd", 1400, 0, MAX_NS }, { "tail", 0.004, 0, 1 },
			   { "tail_ns", 16000, 0, MAX_NS } },
		.next = tlc_read_next,
	}, {
		.name = "cached-read", .family = "mixture",
		.imitates =
			"Reads of which some hit a cache: two modes, 10 and 80 us.",
		.p50_us = 10.5, .p99_us = 88.2,
		.param = { { "hit", 0.6, 0, 1 }, { "hit_ns", 10000, 1, MAX_NS },
			   { "miss_ns", 80000, 1, MAX_NS }, { "sigma", 0.05, 0, 3 } },
		.next = cached_read_next,
	}, {
		.name = "read-behind-write", .family = "mixture",
		.imitates =
			"tlc-read, but one read in 10 waits for a program operation of 600 us.",
		.p50_us = 65.2, .p99_us = 607,
		.param = { { "wait", 0.1, 0, 1 }, { "program", 600000, 0, MAX_NS } },
		.next = read_behind_write_next,
	}, {
		.name = "write-cache", .family = "writes", .is_write = true,
		.imitates =
			"Enterprise NVMe writes up to 40k IOPS: median 11 us, p99 13; the cache is destaged now and then.",
		.p50_us = 11.0, .p99_us = 13.2,
		.param = { { "median", 11000, 1, MAX_NS }, { "sigma", 0.0718, 0, 3 },
			   { "quiet", 8000, 1, MAX_IOS }, { "destage", 40, 1, MAX_IOS },
			   { "destage_ns", 300000, 1, MAX_NS } },
		.next = write_cache_next,
	}, {
		.name = "gc-knee", .family = "writes", .is_write = true,
		.imitates =
			"The same at 70k IOPS, garbage collection begins: median 23 us, p99 in ms.",
		.p50_us = 23.2, .p99_us = 3120,
		.param = { { "median", 23000, 1, MAX_NS }, { "sigma", 0.5, 0, 3 },
			   { "slow", 0.015, 0, 1 }, { "slow_ns", 3400000, 1, MAX_NS } },
		.next = gc_knee_next,
	}, {
		.name = "gc-storm", .family = "writes", .is_write = true,
		.imitates =
			"The same at 80k IOPS: storms with a median of 3400 us and a p99 of 4000, between them 11.",
		.p50_us = 11.25, .p99_us = 3815,
		.param = { { "quiet_ns", 11000, 1, MAX_NS }, { "storm_ns", 3400000, 1, MAX_NS },
			   { "quiet", 4000, 1, MAX_IOS }, { "storm", 1000, 1, MAX_IOS } },
		.next = gc_storm_next,
	}, {
		.name = "step-up", .family = "change",
		.imitates =
			"After a third of the I/Os a device becomes slower at once: 20 to 60 us.",
		.p50_us = 58.0, .p99_us = 66.9,
		.param = { { "from", 20000, 1, MAX_NS }, { "to", 60000, 1, MAX_NS },
			   { "at", 0, 0, MAX_IOS }, { "sigma", 0.05, 0, 3 } },
		.next = step_next,
	}, {
		.name = "step-down", .family = "change",
		.imitates =
			"After a third of the I/Os a device becomes faster at once: 60 to 20 us.",
		.p50_us = 20.7, .p99_us = 65.9,
		.param = { { "from", 60000, 1, MAX_NS }, { "to", 20000, 1, MAX_NS },
			   { "at", 0, 0, MAX_IOS }, { "sigma", 0.05, 0, 3 } },
		.next = step_next,
	}, {
		.name = "ramp", .family = "change",
		.imitates =
			"Load comes and goes: from 10 to 200 us and back, in 20000 I/Os.",
		.p50_us = 105, .p99_us = 203,
		.param = { { "low", 10000, 1, MAX_NS }, { "high", 200000, 1, MAX_NS },
			   { "period", 20000, 2, MAX_IOS }, { "sigma", 0.05, 0, 3 } },
		.next = ramp_next,
	}, {
		.name = "drift", .family = "change",
		.imitates =
			"A device that warms up and cools down: around 25 us, changing over 2000 I/Os.",
		.p50_us = 25.0, .p99_us = 63.4,
		.param = { { "median", 25000, 1, MAX_NS }, { "sd", 0.4, 0, 2 },
			   { "memory", 2000, 1, MAX_IOS } },
		.next = drift_next,
	}, {
		.name = "markov", .family = "regimes",
		.imitates =
			"Two regimes of random length, as ten processes on a 980 PRO show them: 12 and 150 us.",
		.p50_us = 12.35, .p99_us = 164,
		.param = { { "fast_ns", 12000, 1, MAX_NS }, { "slow_ns", 150000, 1, MAX_NS },
			   { "fast", 700, 1, MAX_IOS }, { "slow", 300, 1, MAX_IOS },
			   { "sigma", 0.05, 0, 3 } },
		.next = markov_next,
	}, {
		.name = "stalls", .family = "stalls",
		.imitates =
			"20 us, but one I/O in 500 takes about 3 ms: internal housekeeping.",
		.p50_us = 20.0, .p99_us = 22.6,
		.param = { { "median", 20000, 1, MAX_NS }, { "sigma", 0.05, 0, 3 },
			   { "stall", 0.002, 0, 1 }, { "stall_ns", 3000000, 1, MAX_NS } },
		.next = stalls_next,
	}, {
		.name = "cloud", .family = "cloud",
		.imitates =
			"A cloud volume, EBS gp2: about 690 us, throttled now and then (median=249000: EC2 local SSD).",
		.p50_us = 693, .p99_us = 5000,
		.param = { { "median", 690000, 1, MAX_NS }, { "sigma", 0.2, 0, 3 },
			   { "held", 0.02, 0, 1 }, { "held_ns", 5000000, 1, MAX_NS } },
		.next = cloud_next,
	}, {
		.name = "heavy-tail", .family = "tail",
		.imitates =
			"Pareto: no scale of its own, the worst that an average can meet.",
		.p50_us = 31.7, .p99_us = 431,
		.param = { { "min_ns", 20000, 1, MAX_NS }, { "alpha", 1.5, 0.1, 100 },
			   { "max_ns", 20000000, 1, MAX_NS } },
		.next = heavy_tail_next,
	},
};

/**
 * sim_list_models() - Print all models.
 * @file: Where to.
 */
void sim_list_models(FILE *file)
{
	unsigned int i, k;

	fprintf(file, "# %-18s %-8s %10s %10s\n", "model", "family", "p50_us",
		"p99_us");
	for (i = 0; i < ARRAY_SIZE(models); i++) {
		const struct sim_model *model = &models[i];

		fprintf(file, "%-20s %-8s %10.2f %10.2f\n", model->name,
			model->family, model->p50_us, model->p99_us);
		fprintf(file, "#   %s\n#   parameters:", model->imitates);
		for (k = 0; model->param[k].key; k++)
			fprintf(file, " %s=%g", model->param[k].key,
				model->param[k].value);
		putc('\n', file);
	}
}

/**
 * sim_model_name() - Name of a model.
 * @i: Its number.
 *
 * Return: The name; NULL if there are not so many.
 */
const char *sim_model_name(unsigned int i)
{
	return i < ARRAY_SIZE(models) ? models[i].name : NULL;
}

static const struct sim_model *find_model(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (strlen(models[i].name) == len &&
		    !memcmp(models[i].name, name, len))
			return &models[i];
	sim_die("no model %.*s; see --list-models", (int)min_t(size_t, len, 60),
		name);
}

/* One key=value of @spec, up to a comma. */
static const char *set_param(struct sim_gen *gen, const char *spec,
			     const char *pair)
{
	const struct sim_model *model = gen->model;
	size_t len = strcspn(pair, "=,");
	char *end;
	double value;
	int i;

	for (i = 0; model->param[i].key; i++)
		if (strlen(model->param[i].key) == len &&
		    !memcmp(model->param[i].key, pair, len))
			break;
	if (!model->param[i].key)
		sim_die("model %s has no parameter %.*s; see --list-models",
			model->name, (int)min_t(size_t, len, 60), pair);
	if (pair[len] != '=')
		sim_die("parameter %s of model %s needs a value",
			model->param[i].key, model->name);
	errno = 0;
	value = strtod(pair + len + 1, &end);
	if (end == pair + len + 1 || (*end && *end != ',') || errno)
		sim_die("not a number in --model %.60s", spec);
	/* also refuses what is not a number at all */
	if (!(value >= model->param[i].min && value <= model->param[i].max))
		sim_die("%s of model %s is from %g to %g", model->param[i].key,
			model->name, model->param[i].min, model->param[i].max);
	gen->param[i] = value;
	return *end ? end + 1 : end;
}

/**
 * sim_source_model() - Take latencies from a model.
 * @source: Filled in.
 * @spec: NAME[:key=value,...]; has to live as long as @source.
 */
void sim_source_model(struct sim_source *source, const char *spec)
{
	size_t len = strcspn(spec, ":");
	struct sim_gen *gen = &source->gen;
	const char *pair;
	int i;

	*source = (struct sim_source){ .name = spec };
	gen->model = find_model(spec, len);
	gen->bucket = blk_poll_bucket(gen->model->is_write, 4096);
	source->family = gen->model->family;
	for (i = 0; gen->model->param[i].key; i++)
		gen->param[i] = gen->model->param[i].value;

	if (!spec[len])
		return;
	pair = spec + len + 1;
	do {
		pair = set_param(gen, spec, pair);
	} while (*pair);
}

/**
 * sim_stream_init() - Begin a pass through a source.
 * @stream: Filled in.
 * @source: The source.
 * @seed: Seed of a model's random numbers.
 * @ios: How many I/Os there will be.
 */
void sim_stream_init(struct sim_stream *stream, const struct sim_source *source,
		     u64 seed, u64 ios)
{
	*stream = (struct sim_stream){
		.source = source,
		.gen = source->gen,
	};
	stream->gen.ios = ios;
	sim_random_init(&stream->gen.random, seed, SIM_STREAM_DEVICE);
}

/**
 * sim_stream_next() - Get the next I/O.
 * @stream: The stream; a trace begins again after its end.
 *
 * Return: The I/O.
 */
struct sim_io sim_stream_next(struct sim_stream *stream)
{
	const struct sim_source *source = stream->source;
	struct sim_gen *gen = &stream->gen;
	struct sim_io io;
	double ns;

	if (source->trace) {
		u64 entry = source->trace[stream->next];

		stream->next = stream->next + 1 < source->nr ?
			       stream->next + 1 : 0;
		io.latency_ns = entry >> 4;
		io.bucket = entry & 15;
		return io;
	}

	ns = gen->model->next(gen) + 0.5;
	gen->index++;
	/* no device answers within 100 ns, unless it is told to */
	if (ns < 100 && gen->model->next != constant_next)
		ns = 100;
	if (ns > BLK_POLL_MAX_LATENCY_NS)
		ns = BLK_POLL_MAX_LATENCY_NS;
	io.latency_ns = ns;
	io.bucket = gen->bucket;
	return io;
}
