/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When to sleep during a polled I/O.  Pure types, shared by the estimator in
 * block/blk-poll-est.h, which also runs in userspace, and those who wait.
 */
#ifndef _LINUX_BLK_POLL_PLAN_H
#define _LINUX_BLK_POLL_PLAN_H

#include <linux/types.h>

/* Most sleeps of one plan; see struct blk_poll_plan. */
#define BLK_POLL_MAX_STAGES	4

/*
 * What a ns of latency is worth in ns of CPU time, unless somebody says.  10
 * and more put latency first; 1 would treat the two alike.
 */
#define BLK_POLL_DEFAULT_WEIGHT	10
#define BLK_POLL_MAX_WEIGHT	100

/**
 * struct blk_poll_wake - What it costs a CPU to wake up from an exact timer.
 * @lag_ns: Moving mean of wake-up minus timer expiry.
 * @dev_ns: Moving mean of the distance from @lag_ns.
 * @last_ns: The last one, clipped as it was for the means.
 */
struct blk_poll_wake {
	u32 lag_ns;
	u32 dev_ns;
	u32 last_ns;
};

/**
 * struct blk_poll_inputs - What a decision may depend on besides the state.
 * @wake: The wake-up cost of the CPU that is about to sleep.
 * @cap_ns: No sleep ends later than this after the I/O's start.
 * @elapsed_ns: Time since the I/O's start.
 * @weight: What a ns of latency is worth, in ns of CPU time; 1 to
 *	BLK_POLL_MAX_WEIGHT.
 */
struct blk_poll_inputs {
	struct blk_poll_wake wake;
	u64 cap_ns;
	u64 elapsed_ns;
	u32 weight;
};

/**
 * struct blk_poll_stage - One sleep of a plan and the looks after it.
 * @sleep_to_ns: When the poller wants to be awake and looking.
 * @look_until_ns: Until when it looks before the next stage may begin.
 *
 * Both count from the I/O's start.
 */
struct blk_poll_stage {
	u64 sleep_to_ns;
	u64 look_until_ns;
};

/*
 * Set the timers for the very times of the plan: take no lag off, and leave no
 * sleep out because it is short.  For a policy that reckons with the wake-up
 * itself, or is to be measured as it was published.
 */
#define BLK_POLL_PLAN_EXACT	0x1

/*
 * There is more to the plan than its stages: when the last one is over, ask the
 * policy again.
 */
#define BLK_POLL_PLAN_MORE	0x4

/*
 * Do not look at all, wait for the interrupt.  Who cannot have one for an I/O
 * that is in flight takes it for a plan without stages.
 */
#define BLK_POLL_PLAN_IRQ	0x2

/**
 * struct blk_poll_plan - When to sleep during one I/O.
 * @nr: Number of stages; 0 means do not sleep, spin.
 * @flags: BLK_POLL_PLAN_EXACT, BLK_POLL_PLAN_IRQ.
 * @tag: Whatever the policy likes; comes back in the I/O's sample.
 * @stage: The stages, times never decreasing.  After the last one the poller
 *	spins until the I/O is done.
 */
struct blk_poll_plan {
	u8 nr;
	u8 flags;
	u32 tag;
	struct blk_poll_stage stage[BLK_POLL_MAX_STAGES];
};

#endif /* _LINUX_BLK_POLL_PLAN_H */
