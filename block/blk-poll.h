/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hybrid polling inside the block layer: see blk-poll.c and blk-poll-wait.c.
 */
#ifndef BLK_POLL_H
#define BLK_POLL_H

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/blk-poll.h>
#include <linux/blkdev.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

#include "blk-mq.h"
#include "blk-poll-est.h"

struct attribute_group;
struct seq_file;

/* Values of io_poll_delay that are not a number of microseconds. */
#define BLK_POLL_DELAY_CLASSIC	(-1)
#define BLK_POLL_DELAY_ADAPTIVE	0

/*
 * Longest fixed delay, and longest sleep, in us: 100 ms.  A device that is
 * slower than that does not need polling.  A queue freeze has to wait for
 * sleepers, so much longer would be felt by whoever writes to sysfs.
 */
#define BLK_POLL_MAX_DELAY_US	100000

/* What is counted per queue, summed over its life; see blk-poll-sysfs.c. */
enum blk_poll_counter {
	BLK_POLL_LOOKS,
	BLK_POLL_SAMPLES,
	BLK_POLL_SLEEPS,
	BLK_POLL_OVERSLEPT,
	BLK_POLL_WOKEN_EARLY,
	BLK_POLL_DOWNGRADED,
	BLK_POLL_VOID,
	BLK_POLL_NR_COUNTERS,
};

/**
 * struct blk_poll_cpu - What one CPU adds up for a queue.
 * @lock: Protects all but @counter.
 * @dirty: Buckets whose @staging holds samples.
 * @staging: The open window.
 * @state: State of the policy that keeps one per CPU, of which there is one,
 *	adaptive; NULL until the bucket is used here for the first time.
 * @counter: Only ever added to, by this CPU.
 */
struct blk_poll_cpu {
	raw_spinlock_t lock;
	unsigned long dirty;
	struct blk_poll_staging staging[BLK_POLL_NR_BUCKETS];
	void *state[BLK_POLL_NR_BUCKETS];
	u64 counter[BLK_POLL_NR_COUNTERS];
};

/**
 * struct blk_poll_bucket - What a queue knows about one direction and size.
 * @mean_ns: Copy of @win.mean_ns that is read without the lock.
 * @lmd_sleep_ns: What the rule of lmd makes of @win, also without the lock: for
 *	rings, if the policy keeps its states per CPU.
 * @win: The last window that was closed.
 * @state: State of each policy, only the chosen one learns; NULL for those that
 *	keep one per CPU.
 */
struct blk_poll_bucket {
	u64 mean_ns;
	u64 lmd_sleep_ns;
	struct blk_poll_window win;
	void *state[BLK_POLL_NR_POLICIES];
};

/**
 * struct blk_poll_tracker - The statistics of a queue and what follows.
 * @delay_us: io_poll_delay: -1, 0 or a number of us.
 * @is_sync: io_poll_sync: sync direct I/O polls unasked.
 * @policy: Index into blk_poll_policies[], io_poll_policy.
 * @weight: What latency is worth, io_poll_weight.
 * @cpu: Per CPU.
 * @timer: Closes the window; armed by the first sample after the last one.
 * @lock: Serialises whoever closes windows, forgets or resets counters.
 * @scratch: Memory that policies learn in.
 * @scratch_lock: Protects it; whoever does not get it does without.
 * @sum: The window that is being closed, kept off the stack.  Under @lock.
 * @bucket: Written under @lock.
 * @counter_base: Values of the counters at the last reset.  Under @lock.
 *
 * Allocated when one of the attributes that it holds is written for the first
 * time, freed with the queue.  Until then the queue has a NULL pointer.
 */
struct blk_poll_tracker {
	int delay_us;
	bool is_sync;
	unsigned int policy;
	unsigned int weight;
	struct blk_poll_cpu __percpu *cpu;
	struct timer_list timer;
	raw_spinlock_t lock;
	void *scratch;
	raw_spinlock_t scratch_lock;
	struct blk_poll_staging sum[BLK_POLL_NR_BUCKETS];
	struct blk_poll_bucket bucket[BLK_POLL_NR_BUCKETS];
	u64 counter_base[BLK_POLL_NR_COUNTERS];
};

#ifdef CONFIG_BLK_HYBRID_POLL
struct blk_poll_tracker *blk_poll_tracker_get(struct request_queue *q);
void blk_poll_tracker_free(struct request_queue *q);
void blk_poll_select(struct blk_poll_tracker *t, int cpu, unsigned int bucket,
		     const struct blk_poll_inputs *in,
		     struct blk_poll_plan *plan, u64 now_ns);
void blk_poll_inputs_now(struct request_queue *q, struct blk_poll_inputs *in);
atomic_t *blk_poll_sleepers(void);
void blk_poll_woken(u64 lag_ns);
void blk_poll_set_delay(struct blk_poll_tracker *t, int delay_us);
void blk_poll_set_policy(struct request_queue *q, struct blk_poll_tracker *t,
			 unsigned int policy);
void blk_poll_count_sleeps(struct blk_poll_tracker *t,
			   struct blk_poll_wait *wait);

/* The tracker of @q, or NULL. */
static inline struct blk_poll_tracker *blk_poll_tracker(struct request_queue *q)
{
	/* pairs with blk_poll_tracker_get(): see it initialised */
	return smp_load_acquire(&q->poll_tracker);
}

/* A task that submits now may be asked to sleep. */
static inline bool blk_poll_enabled(struct request_queue *q)
{
	struct blk_poll_tracker *t = blk_poll_tracker(q);

	return t && READ_ONCE(t->delay_us) != BLK_POLL_DELAY_CLASSIC;
}

/*
 * The plug's cached clock can be older than the request: read the real one. The
 * queue is only looked at when there is any that lets pollers sleep.
 */
static inline void blk_poll_start_request(struct request *rq)
{
	if (blk_poll_any_enabled() && blk_poll_enabled(rq->q))
		rq->io_start_time_ns = ktime_get_ns();
}

/* Whether the queue, or what is below it, has somebody to ask. */
static inline bool blk_poll_can_poll(struct request_queue *q)
{
	if (queue_is_mq(q))
		return blk_mq_can_poll(q);
	return q->limits.features & BLK_FEAT_POLL;
}

int submit_bio_wait_polled(struct bio *bio);

int blk_poll_delay_show(struct request_queue *q);
int blk_poll_delay_prepare(struct gendisk *disk, const char *page,
			   size_t count);
int blk_poll_delay_store(struct gendisk *disk, const char *page);
extern const struct attribute_group blk_poll_attr_group;
#define BLK_POLL_STAT_MODE	0600
int blk_poll_stat_show(void *data, struct seq_file *m);
ssize_t blk_poll_stat_write(void *data, const char __user *buf, size_t count,
			    loff_t *ppos);
#else
static inline void blk_poll_tracker_free(struct request_queue *q)
{
}

static inline void blk_poll_start_request(struct request *rq)
{
}

static inline int submit_bio_wait_polled(struct bio *bio)
{
	return submit_bio_wait(bio);
}

/* As from 6.4 to 6.12: reads back -1, takes anything. */
static inline int blk_poll_delay_show(struct request_queue *q)
{
	return BLK_POLL_DELAY_CLASSIC;
}

static inline int blk_poll_delay_prepare(struct gendisk *disk, const char *page,
					 size_t count)
{
	return 0;
}

static inline int blk_poll_delay_store(struct gendisk *disk, const char *page)
{
	return 0;
}

static inline int blk_poll_stat_show(void *data, struct seq_file *m)
{
	return 0;
}

#define blk_poll_stat_write	NULL
#define BLK_POLL_STAT_MODE	0400
#endif /* CONFIG_BLK_HYBRID_POLL */

#endif /* BLK_POLL_H */
