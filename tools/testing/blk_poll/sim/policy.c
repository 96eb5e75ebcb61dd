// SPDX-License-Identifier: GPL-2.0
/*
 * All ways to wait: those of the kernel, the rivals, and some that only a
 * simulator can have.
 */
#include <string.h>

#include "blk-poll-rivals.h"
#include "sim.h"

/*
 * How far before the end a clairvoyant has its usual wake-up: its cost is then
 * the least.  Computed once, as it does not depend on the I/O.
 */
static struct {
	bool ready;
	double margin_ns;
	double cost_ns;
} oracle;

static void plan_irq(const struct sim_policy *policy, const struct sim_io *io,
			const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	blk_poll_plan_single(plan, 0);
	plan->flags = BLK_POLL_PLAN_IRQ;
}

static void plan_classic(const struct sim_policy *policy, const struct sim_io *io,
			const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	blk_poll_plan_single(plan, 0);
}

static void plan_fixed(const struct sim_policy *policy, const struct sim_io *io,
			const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	blk_poll_plan_single(plan, sim_options.fixed_ns);
}

/* What a sleep costs that ends, without jitter, so long before the end. */
static double sleep_cost(double before_ns)
{
	const struct sim_machine *m = &sim_options.machine;

	if (before_ns < 0)
		return m->sleep_cpu_ns +
		       sim_options.lambda * (sim_jitter_mean(m) - before_ns);
	return m->sleep_cpu_ns + before_ns - sim_jitter_mean(m) +
	       (1 + sim_options.lambda) * sim_jitter_excess(m, before_ns);
}

/*
 * Earlier costs spinning, later costs lambda times as much, so be late with a
 * probability of 1 / (1 + lambda).
 */
static void oracle_prepare(void)
{
	double low = 0, high = 1e9;
	int i;

	for (i = 0; i < 100; i++) {
		double mid = (low + high) / 2;

		if (sim_jitter_survival(&sim_options.machine, mid) *
		    (1 + sim_options.lambda) > 1)
			low = mid;
		else
			high = mid;
	}
	oracle.margin_ns = (u64)(high + 0.5);
	oracle.cost_ns = sleep_cost(oracle.margin_ns);
	oracle.ready = true;
}

/* The best timer if waking up takes @wake_ns; it must be below @limit_ns. */
static double oracle_timer(double latency_ns, double wake_ns, double limit_ns,
			   double *timer_ns)
{
	double best_ns = latency_ns - wake_ns - oracle.margin_ns;

	*timer_ns = best_ns < 1 ? 1 : best_ns < limit_ns ? best_ns : limit_ns;
	if (*timer_ns == best_ns)
		return oracle.cost_ns;
	return sleep_cost(latency_ns - wake_ns - *timer_ns);
}

/* Knows how long the I/O takes, yet not how long the wake-up will. */
static void plan_oracle(const struct sim_policy *policy, const struct sim_io *io,
			const struct blk_poll_inputs *in,
			struct blk_poll_plan *plan)
{
	const struct sim_machine *m = &sim_options.machine;
	double latency_ns = io->latency_ns;
	double light_ns = m->idle_after_ns ? m->idle_after_ns - 1.0 : 1e12;
	double cost_ns, deep_cost_ns, timer_ns, deep_ns;

	if (!oracle.ready)
		oracle_prepare();
	cost_ns = oracle_timer(latency_ns, m->wake_ns, light_ns, &timer_ns);
	if (m->idle_after_ns) {
		deep_cost_ns = oracle_timer(latency_ns,
					    m->wake_ns + m->idle_wake_ns, 1e12,
					    &deep_ns);
		if (deep_ns >= m->idle_after_ns && deep_cost_ns < cost_ns) {
			cost_ns = deep_cost_ns;
			timer_ns = deep_ns;
		}
	}
	blk_poll_plan_single(plan, cost_ns < latency_ns ? (u64)timer_ns : 0);
	plan->flags = BLK_POLL_PLAN_EXACT;
}

/*
 * Not a way to wait: shows what a plan of two stages does, and the lower bound
 * of a sample.
 */
static void halves_init(void *state)
{
	*(u64 *)state = 0;
}

static void halves_select(const void *state, const struct blk_poll_inputs *in,
			  struct blk_poll_plan *plan)
{
	u64 lower_ns = *(const u64 *)state;

	blk_poll_plan_single(plan, lower_ns / 2);
	plan->flags = BLK_POLL_PLAN_EXACT;
	if (!plan->nr)
		return;
	plan->nr = 2;
	plan->stage[0].look_until_ns += 5 * NSEC_PER_USEC;
	plan->stage[1].sleep_to_ns = max(lower_ns,
					 plan->stage[0].look_until_ns);
	plan->stage[1].look_until_ns = plan->stage[1].sleep_to_ns;
}

static void halves_reflect(void *state, const struct blk_poll_sample *sample,
			   u64 now_ns)
{
	*(u64 *)state = sample->lower_ns;
}

static const struct blk_poll_policy halves = {
	.name		= "halves",
	.state_size	= sizeof(u64),
	.init		= halves_init,
	.select		= halves_select,
	.reflect	= halves_reflect,
};

const struct sim_policy sim_policies[] = {
	{ .name = "irq", .what = "sleeps until the interrupt",
	  .plan = plan_irq },
	{ .name = "classic", .what = "spins", .plan = plan_classic },
	{ .name = "fixed", .what = "one sleep for all: --delay-us, or half of the first mean",
	  .plan = plan_fixed },
	{ .name = "mean", .what = "half of the mean, Linux 4.10 to 6.3",
	  .ops = &blk_poll_mean },
	{ .name = "lmd", .what = "mean less 4 lmd, the proposal of 2019",
	  .ops = &blk_poll_lmd },
	{ .name = "adaptive", .what = "the cheapest schedule for what was seen",
	  .ops = &blk_poll_adaptive },
	{ .name = "ehp", .what = "recent minimum less 4.05 us, 2022",
	  .ops = &blk_poll_ehp },
	{ .name = "iou-hybrid", .what = "half of the least time awake, io_uring",
	  .ops = &blk_poll_iou, .one_state = true },
	{ .name = "pas", .what = "follows its outcomes, 2026",
	  .ops = &blk_poll_pas },
	{ .name = "dpas", .what = "pas with modes, classic and interrupts as well",
	  .ops = &blk_poll_dpas },
	{ .name = "on-submit", .what = "as irq, and each submission looks once",
	  .plan = plan_irq, .irq = SIM_IRQ_SUBMIT },
	{ .name = "coalesce", .what = "as irq, one interrupt for several I/Os",
	  .plan = plan_irq, .irq = SIM_IRQ_COALESCE },
	{ .name = "oracle", .what = "knows each latency: nobody can be better",
	  .plan = plan_oracle },
	{ .name = "hindsight", .what = "the best fixed schedule, fitted on all latencies before",
	  .prepare = sim_hindsight_prepare, .plan = sim_hindsight_plan },
	{ .name = "ehp-irq", .what = "ehp, and interrupts from 40.5 us on",
	  .ops = &blk_poll_ehp_irq, .extra = true },
	{ .name = "dpas-xpoint", .what = "dpas as it is for Optane",
	  .ops = &blk_poll_dpas_xpoint, .extra = true },
	{ .name = "halves", .what = "to the last lower bound, in two sleeps: a test",
	  .ops = &halves, .extra = true },
};

const unsigned int sim_nr_policies = ARRAY_SIZE(sim_policies);

/**
 * sim_policy_find() - Find a policy by name.
 * @name: The name, not terminated.
 * @len: Its length.
 *
 * Return: The policy or NULL.
 */
const struct sim_policy *sim_policy_find(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < sim_nr_policies; i++)
		if (strlen(sim_policies[i].name) == len &&
		    !memcmp(sim_policies[i].name, name, len))
			return &sim_policies[i];
	return NULL;
}
