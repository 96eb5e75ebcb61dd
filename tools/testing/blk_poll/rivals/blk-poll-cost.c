// SPDX-License-Identifier: GPL-2.0
/*
 * What one decision of each policy costs, for measuring.
 *
 * Reading blk_poll_cost in debugfs runs every policy on made-up latencies and
 * prints the mean time of a select(), a reflect(), a learn() and a window(), 0 for
 * one that it has not.  What is made now and then is in the mean.  In the timing lab a nanosecond is an instruction.
 */

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "blk-poll-est.h"

/* Calls that a figure is the mean of, and how many samples a window has. */
#define COST_CALLS		4096
#define COST_WINDOW_CALLS	64

/* Around 64 us, from a generator of Knuth's, so that branches go both ways. */
static u64 cost_latency_ns(u32 *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return 56 * NSEC_PER_USEC + (*seed >> 18);
}

struct cost {
	u64 select_ns;
	u64 reflect_ns;
	u64 learn_ns;
	u64 window_ns;
};

static void cost_window(const struct blk_poll_policy *policy, void *state,
			struct blk_poll_staging *staging, struct cost *cost)
{
	struct blk_poll_window win;
	u64 begin_ns;

	blk_poll_window_close(&win, staging);
	blk_poll_staging_init(staging);
	if (!policy->window)
		return;
	begin_ns = ktime_get_ns();
	policy->window(state, &win);
	cost->window_ns += ktime_get_ns() - begin_ns;
}

/* Interrupts stay away from the clock, for one I/O at a time. */
static void cost_of(const struct blk_poll_policy *policy, void *state,
		    void *scratch, struct cost *cost)
{
	const struct blk_poll_inputs in = {
		.wake = { .lag_ns = 2 * NSEC_PER_USEC },
		.weight = BLK_POLL_DEFAULT_WEIGHT,
		.cap_ns = 100 * NSEC_PER_MSEC,
	};
	struct blk_poll_staging staging;
	struct blk_poll_plan plan;
	u64 begin_ns, now_ns = 0;
	unsigned long flags;
	u32 seed = 1;

	policy->init(state);
	blk_poll_staging_init(&staging);
	for (int i = 0; i < COST_CALLS; i++) {
		struct blk_poll_sample sample = {
			.latency_ns = cost_latency_ns(&seed),
		};

		local_irq_save(flags);
		begin_ns = ktime_get_ns();
		policy->select(state, &in, &plan);
		cost->select_ns += ktime_get_ns() - begin_ns;

		sample.lower_ns = sample.latency_ns;
		sample.tag = plan.tag;
		if (plan.nr) {
			u64 sleep_ns = plan.stage[0].sleep_to_ns;

			sample.slept_ns = min(sleep_ns, sample.latency_ns);
			sample.overslept = sleep_ns > sample.latency_ns;
			sample.found_first = sample.overslept;
			sample.sleepers = 1;
			sample.lower_ns = sample.overslept ? 0 :
							     sample.latency_ns;
		}
		blk_poll_staging_add(&staging, &sample, 64 * NSEC_PER_USEC);
		now_ns += sample.latency_ns;
		if (policy->reflect) {
			begin_ns = ktime_get_ns();
			policy->reflect(state, &sample, now_ns);
			cost->reflect_ns += ktime_get_ns() - begin_ns;
		}
		if (policy->learn) {
			begin_ns = ktime_get_ns();
			policy->learn(state, &in, scratch, now_ns);
			cost->learn_ns += ktime_get_ns() - begin_ns;
		}
		if (i % COST_WINDOW_CALLS == COST_WINDOW_CALLS - 1)
			cost_window(policy, state, &staging, cost);
		local_irq_restore(flags);
	}
}

/* What the clock itself takes is in each figure, and is taken off. */
static u64 cost_of_the_clock(void)
{
	u64 sum_ns = 0;

	for (int i = 0; i < COST_CALLS; i++) {
		unsigned long flags;
		u64 begin_ns;

		local_irq_save(flags);
		begin_ns = ktime_get_ns();
		sum_ns += ktime_get_ns() - begin_ns;
		local_irq_restore(flags);
	}
	return sum_ns / COST_CALLS;
}

static u64 cost_mean(u64 sum_ns, unsigned int nr, u64 clock_ns)
{
	return sum_ns / nr > clock_ns ? sum_ns / nr - clock_ns : 0;
}

static int blk_poll_cost_show(struct seq_file *m, void *data)
{
	u64 clock_ns = cost_of_the_clock();

	seq_puts(m, "policy select_ns reflect_ns learn_ns window_ns state_bytes\n");
	for (int p = 0; p < BLK_POLL_NR_POLICIES; p++) {
		const struct blk_poll_policy *policy = blk_poll_policies[p];
		void *state = kzalloc(policy->state_size, GFP_KERNEL);
		void *scratch = kvmalloc(policy->scratch_size + 1, GFP_KERNEL);
		struct cost cost = { };

		if (state && scratch)
			cost_of(policy, state, scratch, &cost);
		kvfree(scratch);
		kfree(state);
		if (!state || !scratch)
			return -ENOMEM;
		seq_printf(m, "%s %llu %llu %llu %llu %zu\n", policy->name,
			   cost_mean(cost.select_ns, COST_CALLS, clock_ns),
			   cost_mean(cost.reflect_ns, COST_CALLS, clock_ns),
			   cost_mean(cost.learn_ns, COST_CALLS, clock_ns),
			   cost_mean(cost.window_ns,
				     COST_CALLS / COST_WINDOW_CALLS, clock_ns),
			   policy->state_size);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(blk_poll_cost);

static int __init blk_poll_cost_init(void)
{
	debugfs_create_file("blk_poll_cost", 0400, NULL, NULL,
			    &blk_poll_cost_fops);
	return 0;
}
late_initcall(blk_poll_cost_init);
