/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulator of hybrid polling: what its parts share.
 *
 * One CPU, one completion queue, and a device of which nothing is known but
 * how long each I/O takes it.  Times are in ns, of simulated time.
 */
#ifndef BLK_POLL_SIM_H
#define BLK_POLL_SIM_H

#include <stdio.h>

#include "blk-poll-est.h"

/* Name of the program in messages. */
#define SIM_NAME		"blk-poll-sim"

/* Threads and depth, each; a thread has its I/Os in an array. */
#define SIM_MAX_THREADS		1024
#define SIM_MAX_QD		1024
/* Their product: 16 MiB of memory. */
#define SIM_MAX_IN_FLIGHT	65536

/* Most I/Os of a trace: 128 MiB of memory. */
#define SIM_MAX_TRACE		BIT(24)

/* Parameters of a model. */
#define SIM_MAX_PARAMS		8

/* Sleeps of one I/O that a dump tells apart; the last holds all further ones. */
#define SIM_MAX_SLEEPS		16

/* Window of the statistics, and when a wake-up cost is doubted: blk-poll.c. */
#define SIM_WINDOW_NS		(100 * NSEC_PER_MSEC)
#define SIM_WAKE_AGE_NS		((u64)NSEC_PER_SEC)
/* No sleep ends later: 1/8 of a request timeout of 30 s would be more. */
#define SIM_CAP_NS		(100 * NSEC_PER_MSEC)

/* Random numbers that do not know of each other. */
enum {
	SIM_STREAM_DEVICE,
	SIM_STREAM_WAKE,
};

/**
 * struct sim_random - A generator of random numbers, xoshiro256**.
 * @s: Its state, never all zero.
 * @spare: Second number of the last pair of normal ones.
 * @has_spare: There is one.
 */
struct sim_random {
	u64 s[4];
	double spare;
	bool has_spare;
};

void sim_random_init(struct sim_random *random, u64 seed, u64 stream);
u64 sim_random_u64(struct sim_random *random);
double sim_random_unit(struct sim_random *random);
double sim_random_exponential(struct sim_random *random, double mean);
double sim_random_normal(struct sim_random *random);
double sim_log(double x);
double sim_exp(double x);

/**
 * struct sim_io - One I/O as the device sees it.
 * @latency_ns: From start to done, at least 1.
 * @bucket: Direction and size, see blk_poll_bucket().
 */
struct sim_io {
	u64 latency_ns;
	u8 bucket;
};

/* How late a wake-up is beyond its fixed cost. */
enum sim_jitter {
	SIM_JITTER_EXPONENTIAL,
	SIM_JITTER_HEAVY,
};

/**
 * struct sim_machine - The CPU.
 * @wake_ns: From a timer's expiry until the task runs, at least.
 * @jitter_ns: Mean of what comes on top.
 * @jitter: How that is distributed.
 * @idle_after_ns: Sleeps from this length on use a deeper idle state; 0: none.
 * @idle_wake_ns: What waking up from there costs more.
 * @sleep_cpu_ns: CPU time of going to sleep and waking up.
 * @poll_ns: Distance of two looks.
 * @irq_ns: From done until the interrupt handler has woken the task; CPU time
 *	as well.
 * @slice_ns: How long a task runs while others want to.
 * @threads: Tasks.
 * @qd: I/Os that each has in flight.
 */
struct sim_machine {
	u64 wake_ns;
	u64 jitter_ns;
	enum sim_jitter jitter;
	u64 idle_after_ns;
	u64 idle_wake_ns;
	u64 sleep_cpu_ns;
	u64 poll_ns;
	u64 irq_ns;
	u64 slice_ns;
	unsigned int threads;
	unsigned int qd;
};

u64 sim_wake_lag(const struct sim_machine *machine, struct sim_random *random,
		 u64 sleep_ns);
double sim_jitter_survival(const struct sim_machine *machine, double ns);
double sim_jitter_excess(const struct sim_machine *machine, double ns);
double sim_jitter_mean(const struct sim_machine *machine);

/* Latencies: a model or a trace */

/**
 * struct sim_param - A number that a model can be given.
 * @key: Its name.
 * @value: If it is not given.
 * @min: At least.
 * @max: At most.
 */
struct sim_param {
	const char *key;
	double value;
	double min;
	double max;
};

struct sim_gen;

/**
 * struct sim_model - A kind of device.
 * @name: As given to --model.
 * @family: Results are averaged per family.
 * @imitates: What it is like, and which published figures it has.
 * @p50_us: Its median with the parameters' defaults.
 * @p99_us: Its 99th percentile, as well.
 * @is_write: Direction of its I/Os.
 * @param: Parameters up to the first without a name.
 * @next: Latency of the next I/O in ns.
 */
struct sim_model {
	const char *name;
	const char *family;
	const char *imitates;
	double p50_us;
	double p99_us;
	bool is_write;
	struct sim_param param[SIM_MAX_PARAMS + 1];
	double (*next)(struct sim_gen *gen);
};

/**
 * struct sim_gen - A model at work.
 * @model: Which one.
 * @param: Its parameters, in the order of the model.
 * @random: Its random numbers.
 * @index: Number of the I/O.
 * @ios: How many there will be.
 * @level: A model's memory.
 * @left: I/Os left in its present state.
 * @state: Its present state.
 * @bucket: Of all its I/Os.
 */
struct sim_gen {
	const struct sim_model *model;
	double param[SIM_MAX_PARAMS];
	struct sim_random random;
	u64 index;
	u64 ios;
	double level;
	u64 left;
	unsigned int state;
	u8 bucket;
};

/**
 * struct sim_source - Where latencies come from.
 * @name: Of the file, without directories, or the model as it was given.
 * @family: Of the model; "trace" for a trace.
 * @gen: A model before its first I/O.
 * @trace: I/Os of a trace, NULL for a model; latency << 4 | bucket.
 * @nr: How many.
 */
struct sim_source {
	const char *name;
	const char *family;
	struct sim_gen gen;
	u64 *trace;
	u64 nr;
};

/**
 * struct sim_stream - A pass through a source.
 * @source: The source.
 * @gen: State of a model.
 * @next: Next I/O of a trace.
 */
struct sim_stream {
	const struct sim_source *source;
	struct sim_gen gen;
	u64 next;
};

void sim_list_models(FILE *file);
const char *sim_model_name(unsigned int i);
void sim_source_model(struct sim_source *source, const char *spec);
void sim_source_trace(struct sim_source *source, const char *path);
void sim_stream_init(struct sim_stream *stream, const struct sim_source *source,
		     u64 seed, u64 ios);
struct sim_io sim_stream_next(struct sim_stream *stream);

/* Results */

/*
 * Late times are counted in bins that are exact below 2^11 ns and 1/1024 wide
 * above, up to 2^36 ns.
 */
#define SIM_BIN_SHIFT		10
#define SIM_NR_BINS		((36 - SIM_BIN_SHIFT + 2) << SIM_BIN_SHIFT)

/**
 * struct sim_bin - I/Os of about the same late time.
 * @nr: How many.
 * @max_ns: The latest of them.
 */
struct sim_bin {
	u64 nr;
	u64 max_ns;
};

/**
 * struct sim_stats - What came out.
 * @ios: I/Os.
 * @overslept: Those found at the first look after a sleep.
 * @sleeps: Sleeps by a timer.
 * @latency_ns: Summed time of the device.
 * @late_ns: Summed time from done to known.
 * @spin_ns: Summed time of looking.
 * @cost_ns: CPU time of sleeping and of interrupts.
 * @end_ns: When the last I/O was known.
 * @bin: Distribution of the late times.
 */
struct sim_stats {
	u64 ios;
	u64 overslept;
	u64 sleeps;
	u64 latency_ns;
	u64 late_ns;
	u64 spin_ns;
	u64 cost_ns;
	u64 end_ns;
	struct sim_bin *bin;
};

void sim_stats_init(struct sim_stats *stats);
void sim_stats_free(struct sim_stats *stats);
void sim_stats_add(struct sim_stats *stats, u64 latency_ns, u64 late_ns,
		   bool overslept);
u64 sim_stats_late(const struct sim_stats *stats, u64 parts, u64 of);
double sim_stats_cpu_pct(const struct sim_stats *stats);
double sim_stats_late_pct(const struct sim_stats *stats);

/* How an interrupt comes about. */
enum sim_irq {
	SIM_IRQ_EACH,
	SIM_IRQ_SUBMIT,		/* submissions look as well */
	SIM_IRQ_COALESCE,	/* after some completions or some time */
};

/**
 * struct sim_policy - A way to wait.
 * @name: As given to --policy.
 * @what: A line for the user.
 * @ops: A policy as in the kernel, or NULL.
 * @prepare: Called before a run, or NULL.
 * @plan: Without @ops, fill in the plan of an I/O.
 * @irq: What an interrupt means if a plan asks for it.
 * @one_state: All buckets share a state.
 * @extra: Not part of "all".
 */
struct sim_policy {
	const char *name;
	const char *what;
	const struct blk_poll_policy *ops;
	void (*prepare)(const struct sim_source *source, u64 ios);
	void (*plan)(const struct sim_policy *policy, const struct sim_io *io,
		     const struct blk_poll_inputs *in,
		     struct blk_poll_plan *plan);
	enum sim_irq irq;
	bool one_state;
	bool extra;
};

extern const struct sim_policy sim_policies[];
extern const unsigned int sim_nr_policies;

void sim_hindsight_prepare(const struct sim_source *source, u64 ios);
void sim_hindsight_plan(const struct sim_policy *policy,
			const struct sim_io *io,
			const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan);

const struct sim_policy *sim_policy_find(const char *name, size_t len);

/**
 * struct sim_options - All that a run depends on but policy and source.
 * @machine: The CPU.
 * @lambda: Price of being late, in CPU time.
 * @seed: Of all random numbers.
 * @ios: How many, 0: a trace once, or SIM_DEFAULT_IOS.
 * @fixed_ns: Sleep of the policy "fixed"; 0: half of a first impression.
 * @coalesce_ios: Completions that make an interrupt.
 * @coalesce_ns: Or so long after the first of them.
 * @by_events: Let the engine for many threads run a single one, too.
 */
struct sim_options {
	struct sim_machine machine;
	double lambda;
	u64 seed;
	u64 ios;
	u64 fixed_ns;
	u64 coalesce_ios;
	u64 coalesce_ns;
	bool by_events;
};

extern struct sim_options sim_options;

/* What was learnt: the part of block/blk-poll.c that a policy depends on */

/**
 * struct sim_tracker - Statistics, windows, wake-up cost and policy states.
 * @policy: The way to wait.
 * @state: Of each bucket, if the policy has any.
 * @scratch: Memory for the policy to learn in.
 * @mean_ns: Of each bucket, in the last window.
 * @staging: Of each bucket, of the open window.
 * @close_ns: When the open window closes; U64_MAX: none is open.
 * @wake: What waking up costs.
 * @wake_updated_ns: When it was last learnt or doubted.
 */
struct sim_tracker {
	const struct sim_policy *policy;
	void *state[BLK_POLL_NR_BUCKETS];
	void *scratch;
	u64 mean_ns[BLK_POLL_NR_BUCKETS];
	struct blk_poll_staging staging[BLK_POLL_NR_BUCKETS];
	u64 close_ns;
	struct blk_poll_wake wake;
	u64 wake_updated_ns;
};

void sim_tracker_init(struct sim_tracker *tracker,
		      const struct sim_policy *policy);
void sim_tracker_free(struct sim_tracker *tracker);
void sim_tracker_close_window(struct sim_tracker *tracker);
void sim_tracker_select(struct sim_tracker *tracker, u64 now_ns,
			const struct sim_io *io, struct blk_poll_inputs *in,
			struct blk_poll_plan *plan);
void sim_tracker_reflect(struct sim_tracker *tracker, u64 now_ns, u8 bucket,
			 const struct blk_poll_sample *sample);
void sim_tracker_woken(struct sim_tracker *tracker, u64 now_ns, u64 lag_ns);

/**
 * struct sim_sleeps - The sleeps of one I/O, for a dump.
 * @nr: How many of @asked_ns are used.
 * @asked_ns: How long each was meant to be, wake-up included.
 */
struct sim_sleeps {
	unsigned int nr;
	u64 asked_ns[SIM_MAX_SLEEPS];
};

void sim_sleeps_add(struct sim_sleeps *sleeps, u64 asked_ns);
u64 sim_asked_ns(const struct blk_poll_plan *plan, u8 stage, u64 elapsed_ns,
		 const struct blk_poll_inputs *in);

/**
 * struct sim_run - One policy on one source.
 * @policy: The policy.
 * @source: The source.
 * @ios: How many I/Os.
 * @stats: Filled in.
 * @dump: Where each I/O is written to, or NULL.
 */
struct sim_run {
	const struct sim_policy *policy;
	const struct sim_source *source;
	u64 ios;
	struct sim_stats stats;
	FILE *dump;
};

void sim_dump_io(struct sim_run *run, u64 index, u64 latency_ns,
		 const struct sim_sleeps *sleeps, u64 late_ns, bool overslept);
void sim_run_one(struct sim_run *run);
void sim_run_events(struct sim_run *run);

/* Formats of the results. */
enum sim_format {
	SIM_TABLE,
	SIM_CSV,
	SIM_JSON,
};

void sim_print_begin(enum sim_format format, bool tail);
void sim_print_source(enum sim_format format, const struct sim_run *run);
void sim_print_run(enum sim_format format, const struct sim_run *run, bool tail);
void sim_print_end(enum sim_format format);

/* One line on stderr, and out. */
__printf(1, 2) __noreturn
void sim_die(const char *fmt, ...);

#endif /* BLK_POLL_SIM_H */
