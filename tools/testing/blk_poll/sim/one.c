// SPDX-License-Identifier: GPL-2.0
/*
 * One task with one I/O at a time: the loop of blk_poll_sync_wait().
 *
 * While the task spins it finds an I/O at the moment when it is done, so that
 * classic polling is never late: a latency is what a spinning task sees.  The
 * distance of two looks matters where a plan says how long to look.
 */
#include "sim.h"

/**
 * struct one_io - An I/O that is waited for.
 * @io: What the device does.
 * @in: Inputs of the plan.
 * @plan: The plan.
 * @elapsed_ns: Time since its start.
 * @empty_ns: When the last look before the last sleep was.
 * @slept_ns: Time asleep.
 * @lag_ns: Of the last wake-up.
 * @sleeps: For the dump.
 * @nr_sleeps: How many.
 * @overslept: Found at the first look after a sleep.
 */
struct one_io {
	struct sim_io io;
	struct blk_poll_inputs in;
	struct blk_poll_plan plan;
	u64 elapsed_ns;
	u64 empty_ns;
	u64 slept_ns;
	u64 lag_ns;
	struct sim_sleeps sleeps;
	unsigned int nr_sleeps;
	bool overslept;
};

/* When an interrupt has woken the task up. */
static void wait_irq(struct one_io *one, struct sim_run *run,
		     struct sim_random *random)
{
	const struct sim_machine *machine = &sim_options.machine;
	u64 raised_ns = one->io.latency_ns;

	if (run->policy->irq == SIM_IRQ_COALESCE &&
	    sim_options.coalesce_ios > 1)
		raised_ns += sim_options.coalesce_ns;
	raised_ns += machine->irq_ns;
	one->elapsed_ns = raised_ns + sim_wake_lag(machine, random, raised_ns);
	run->stats.cost_ns += machine->irq_ns + machine->sleep_cpu_ns;
}

/* From an empty look through a sleep to the next look. */
static void sleep_until(struct one_io *one, u64 timer_ns, u64 start_ns,
			struct sim_tracker *tracker, struct sim_run *run,
			struct sim_random *random)
{
	const struct sim_machine *machine = &sim_options.machine;
	u64 asleep_ns = timer_ns - one->elapsed_ns;
	u64 lag_ns = sim_wake_lag(machine, random, asleep_ns);

	one->nr_sleeps++;
	one->empty_ns = one->elapsed_ns;
	one->slept_ns += asleep_ns + lag_ns;
	one->lag_ns = lag_ns;
	one->elapsed_ns = timer_ns + lag_ns;
	one->overslept = one->elapsed_ns >= one->io.latency_ns;
	sim_tracker_woken(tracker, start_ns + one->elapsed_ns, lag_ns);
	run->stats.sleeps++;
	run->stats.cost_ns += machine->sleep_cpu_ns;
}

/* Look until the plan goes on, or until the I/O is done. */
static void spin(struct one_io *one, u8 stage, struct sim_run *run)
{
	u64 begin_ns = one->elapsed_ns;
	u64 poll_ns = sim_options.machine.poll_ns;
	u64 until_ns = U64_MAX;

	if (stage && (stage < one->plan.nr ||
		      one->plan.flags & BLK_POLL_PLAN_MORE)) {
		/* a stage that was left out can be over by now */
		until_ns = max(one->plan.stage[stage - 1].look_until_ns, begin_ns);
		until_ns = min(until_ns - begin_ns, BLK_POLL_MAX_LATENCY_NS);
		/* one look at the end, on the grid that began with the first */
		until_ns = begin_ns + DIV_ROUND_UP(until_ns, poll_ns) * poll_ns;
	}
	one->elapsed_ns = min(until_ns, one->io.latency_ns);
	run->stats.spin_ns += one->elapsed_ns - begin_ns;
}

static void poll(struct one_io *one, u64 start_ns, struct sim_tracker *tracker,
		 struct sim_run *run, struct sim_random *random)
{
	u8 stage = 0;

	while (one->elapsed_ns < one->io.latency_ns) {
		u64 now_ns = one->elapsed_ns;
		u64 timer_ns;

		if (blk_poll_plan_over(&one->plan, stage, now_ns)) {
			one->in.elapsed_ns = now_ns;
			sim_tracker_select(tracker, start_ns + now_ns, &one->io,
					   &one->in, &one->plan);
			stage = 0;
		}
		timer_ns = blk_poll_plan_due(&one->plan, &stage, now_ns,
					     &one->in);
		if (timer_ns) {
			sim_sleeps_add(&one->sleeps,
				       sim_asked_ns(&one->plan, stage, now_ns,
						    &one->in));
			stage++;
			sleep_until(one, timer_ns, start_ns, tracker, run,
				    random);
		} else {
			spin(one, stage, run);
		}
	}
}

static void reflect(const struct one_io *one, u64 now_ns,
		    struct sim_tracker *tracker)
{
	struct blk_poll_sample sample = {
		.latency_ns = one->elapsed_ns,
		.lower_ns = one->elapsed_ns,
		.slept_ns = one->slept_ns,
		.lag_ns = one->lag_ns,
		.tag = one->plan.tag,
		.sleepers = one->nr_sleeps ? 1 : 0,
		.overslept = one->overslept,
		.found_first = one->overslept && one->nr_sleeps == 1,
	};

	if (one->overslept)
		sample.lower_ns = one->empty_ns;
	if (one->plan.flags & BLK_POLL_PLAN_IRQ)
		sample.lower_ns = 0;
	sim_tracker_reflect(tracker, now_ns, one->io.bucket, &sample);
}

/**
 * sim_run_one() - Let one task do I/O, one at a time.
 * @run: The run.
 */
void sim_run_one(struct sim_run *run)
{
	struct sim_tracker tracker;
	struct sim_stream stream;
	struct sim_random random;
	u64 now_ns = 0;
	u64 i;

	sim_tracker_init(&tracker, run->policy);
	sim_stream_init(&stream, run->source, sim_options.seed, run->ios);
	sim_random_init(&random, sim_options.seed, SIM_STREAM_WAKE);
	for (i = 0; i < run->ios; i++) {
		struct one_io one;
		u64 late_ns;

		one.io = sim_stream_next(&stream);
		one.elapsed_ns = 0;
		one.slept_ns = 0;
		one.lag_ns = 0;
		one.in.elapsed_ns = 0;
		one.sleeps.nr = 0;
		one.nr_sleeps = 0;
		one.overslept = false;
		sim_tracker_select(&tracker, now_ns, &one.io, &one.in,
				   &one.plan);
		if (one.plan.flags & BLK_POLL_PLAN_IRQ)
			wait_irq(&one, run, &random);
		else
			poll(&one, now_ns, &tracker, run, &random);

		now_ns += one.elapsed_ns;
		late_ns = one.elapsed_ns - one.io.latency_ns;
		reflect(&one, now_ns, &tracker);
		sim_stats_add(&run->stats, one.io.latency_ns, late_ns,
			      one.overslept);
		sim_dump_io(run, i, one.io.latency_ns, &one.sleeps, late_ns,
			    one.overslept);
	}
	run->stats.end_ns = now_ns;
	sim_tracker_free(&tracker);
}
