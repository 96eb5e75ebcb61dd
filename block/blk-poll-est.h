/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sleep estimator of hybrid polling: what it sees, keeps and answers.
 *
 * Everything declared here is pure: no clock, lock, allocation, request, bio
 * or printing.  The same files are built into the kernel, into KUnit and into
 * userspace (tools/testing/blk_poll), which is why every outside header is
 * taken in this one place.
 */
#ifndef BLK_POLL_EST_H
#define BLK_POLL_EST_H

#include <linux/bits.h>
#include <linux/blk-poll-plan.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/*
 * Direction x size.  A bucket is direction + 2 * log2(sectors); the last pair
 * takes everything from 64 KiB up.  Sixteen is what mainline had from 4.10 to
 * 6.3.  Fewer would mix sizes whose latencies differ by more than the spread
 * within each; more would split a mixed load into buckets too thin to learn.
 */
#define BLK_POLL_NR_BUCKETS	16

/*
 * Latencies are clamped to this before they are summed: 2^36 ns, 69 seconds,
 * more than twice the default request timeout.  Larger would need a smaller
 * BLK_POLL_MAX_SAMPLES; smaller would falsify real latencies.
 */
#define BLK_POLL_MAX_LATENCY_NS	BIT_ULL(36)

/*
 * Most samples a window counts, over all CPUs; later ones are ignored.  2^27
 * in 100 ms is more than a billion I/Os a second.  A sum of 2^27 values of at
 * most 2^36 is at most 2^63 and fits a u64.
 */
#define BLK_POLL_MAX_SAMPLES	((u32)BIT(27))

/**
 * struct blk_poll_sample - What one polled completion taught.
 * @latency_ns: Upper bound: from the request's start to when it was found.
 * @lower_ns: Lower bound: when a look last saw it unfinished.  Equal to
 *	@latency_ns when the look just before was empty; 0 when nobody looked.
 * @slept_ns: How long its poller has slept on it, wake-ups included.
 * @lag_ns: How late the timer of its last sleep woke its poller; 0: not known.
 * @tag: That of the plan which its poller followed; 0: none, or not known.
 * @sleepers: Tasks that were asleep on the CPU after its poller had gone to
 *	sleep for the first time, itself included; 0: it did not sleep.
 * @overslept: Its own poller found it at the first look after a sleep.
 *	False when some other task found it, whoever slept.
 * @found_first: The first look after the first sleep of its poller found
 *	anything, or the I/O was completed by another task during that sleep.
 *
 * The bounds are equal if the latency is known exactly; otherwise it is known
 * to lie between them.  There is no sample of an I/O that teaches nothing, as
 * it was cancelled or the device was reset: no policy hears of it.
 */
struct blk_poll_sample {
	u64 latency_ns;
	u64 lower_ns;
	u64 slept_ns;
	u32 lag_ns;
	u32 tag;
	u16 sleepers;
	bool overslept;
	bool found_first;
};

/**
 * struct blk_poll_staging - Sums of a window that is still open.
 * @sum_ns: Sum of the latencies.
 * @min_ns: Smallest latency; U64_MAX while @samples is 0.
 * @max_ns: Largest latency.
 * @lmd_sum_ns: Sum of how far samples were below the previous mean.
 * @samples: Number of samples.
 * @misses: Overslept samples below the previous mean; at most @samples.
 *
 * One per CPU and bucket.  The owner serialises.
 */
struct blk_poll_staging {
	u64 sum_ns;
	u64 min_ns;
	u64 max_ns;
	u64 lmd_sum_ns;
	u32 samples;
	u32 misses;
};

/**
 * struct blk_poll_window - Figures of a closed window of one bucket.
 * @mean_ns: Mean latency, rounded down; 0 when @samples is 0.
 * @min_ns: Smallest latency; 0 when @samples is 0.
 * @max_ns: Largest latency.
 * @lmd_ns: Left mean deviation: mean distance below the mean of the window
 *	before, taken over all samples; 0 in the first window.
 * @samples: Number of samples.
 * @misses: Overslept samples below the mean of the window before.
 */
struct blk_poll_window {
	u64 mean_ns;
	u64 min_ns;
	u64 max_ns;
	u64 lmd_ns;
	u32 samples;
	u32 misses;
};

/**
 * struct blk_poll_policy - One way to decide how long to sleep.
 * @name: As in sysfs and in the simulator.
 * @state_size: Bytes of state per bucket.
 * @scratch_size: Bytes that @learn needs for the time of a call; 0: none.
 * @per_cpu: Each CPU has states of its own, so that CPUs do not share memory
 *	that is written for each I/O.  The caller then serialises all that is
 *	done with a state.
 * @init: Forget everything.  The state is zeroed memory or a used state.
 * @select: Fill in a plan for an I/O that has taken @in->elapsed_ns so far;
 *	only reads the state.  Unless @per_cpu it may run while another CPU is
 *	in @reflect or @window and must then see old or new values.
 * @reflect: Learn from one sample at @now_ns, any monotonic clock.  May be
 *	NULL.  The caller serialises it with @window per bucket.
 * @window: Learn from a window that has just closed, empty or not.  May be
 *	NULL.
 * @learn: Do what takes longer than @reflect may, at a moment when an I/O is at
 *	the device and its poller would only spin, before @select.  The scratch
 *	memory is NULL if it is in use.  May be NULL; only for @per_cpu.
 */
struct blk_poll_policy {
	const char *name;
	size_t state_size;
	size_t scratch_size;
	bool per_cpu;
	void (*init)(void *state);
	void (*select)(const void *state, const struct blk_poll_inputs *in,
		       struct blk_poll_plan *plan);
	void (*reflect)(void *state, const struct blk_poll_sample *sample,
			u64 now_ns);
	void (*window)(void *state, const struct blk_poll_window *win);
	void (*learn)(void *state, const struct blk_poll_inputs *in,
		      void *scratch, u64 now_ns);
};

/* Indices into blk_poll_policies[]. */
enum {
	BLK_POLL_POLICY_MEAN,
	BLK_POLL_POLICY_LMD,
	BLK_POLL_POLICY_ADAPTIVE,
	BLK_POLL_NR_POLICIES,
};

/* What io_poll_delay = 0 uses until io_poll_policy is written. */
#define BLK_POLL_POLICY_DEFAULT	BLK_POLL_POLICY_ADAPTIVE

extern const struct blk_poll_policy blk_poll_mean;
extern const struct blk_poll_policy blk_poll_lmd;
extern const struct blk_poll_policy blk_poll_adaptive;
extern const struct blk_poll_policy *const
	blk_poll_policies[BLK_POLL_NR_POLICIES];

u64 blk_poll_lmd_sleep_ns(const struct blk_poll_window *win);

int blk_poll_bucket(bool is_write, u32 bytes);
u32 blk_poll_bucket_bytes(unsigned int bucket);
bool blk_poll_bucket_is_write(unsigned int bucket);

void blk_poll_staging_init(struct blk_poll_staging *staging);
void blk_poll_staging_add(struct blk_poll_staging *staging,
			  const struct blk_poll_sample *sample,
			  u64 prev_mean_ns);
void blk_poll_staging_merge(struct blk_poll_staging *sum,
			    const struct blk_poll_staging *part);
void blk_poll_window_close(struct blk_poll_window *win,
			   const struct blk_poll_staging *staging);

void blk_poll_wake_reflect(struct blk_poll_wake *wake, u64 lag_ns);
void blk_poll_wake_decay(struct blk_poll_wake *wake);

void blk_poll_plan_single(struct blk_poll_plan *plan, u64 sleep_ns);
bool blk_poll_plan_over(const struct blk_poll_plan *plan, u8 stage,
			u64 elapsed_ns);
u64 blk_poll_plan_due(const struct blk_poll_plan *plan, u8 *stage,
		      u64 elapsed_ns, const struct blk_poll_inputs *in);

#endif /* BLK_POLL_EST_H */
