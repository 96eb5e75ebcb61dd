// SPDX-License-Identifier: GPL-2.0
/*
 * Hybrid polling: attributes of a queue in sysfs, poll_stat in debugfs.
 */

#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/part_stat.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include "blk.h"
#include "blk-mq.h"
#include "blk-poll.h"

/**
 * blk_poll_delay_show() - What io_poll_delay reads.
 * @q: The queue.
 *
 * Context: Any.
 * Return: -1, 0, or a number of microseconds.
 */
int blk_poll_delay_show(struct request_queue *q)
{
	struct blk_poll_tracker *t = blk_poll_tracker(q);

	return t ? READ_ONCE(t->delay_us) : BLK_POLL_DELAY_CLASSIC;
}

/* A multipath disk has settings, which are those of its paths. */
static void blk_poll_pass_on(struct gendisk *disk)
{
	if (disk->fops->poll_inherit)
		disk->fops->poll_inherit(disk);
}

/* Whether pollers of the queue, or of those below it, may be told to sleep. */
static bool blk_poll_can_set(struct gendisk *disk)
{
	struct request_queue *q = disk->queue;

	if (queue_is_mq(q))
		return blk_mq_can_poll(q);
	return disk->fops->poll_inherit && q->limits.features & BLK_FEAT_POLL;
}

static const char *blk_poll_why_not(struct gendisk *disk)
{
	if (queue_is_mq(disk->queue))
		return "no poll queues; see the driver's poll_queues parameter";
	if (disk->queue->limits.features & BLK_FEAT_POLL)
		return "write it to the disks below";
	return "a disk below has no poll queues, or what is above it cannot poll";
}

/*
 * Allocate, for the paths of a multipath disk too.  Memory must not be waited
 * for once the queue is frozen, as it may have to be written there.
 */
static int blk_poll_allocate(struct gendisk *disk)
{
	if (!blk_poll_tracker_get(disk->queue))
		return -ENOMEM;
	blk_poll_pass_on(disk);
	return 0;
}

/* The tracker, for a setting other than the default, or why it is refused. */
static struct blk_poll_tracker *
blk_poll_tracker_to_set(struct gendisk *disk, bool can_set, const char *stays)
{
	struct blk_poll_tracker *t;

	if (!can_set) {
		pr_info_ratelimited("%s: %s: %s\n", disk->disk_name, stays,
				    blk_poll_why_not(disk));
		return ERR_PTR(-EINVAL);
	}
	/* it is there, unless the queue has just got its poll queues */
	t = blk_poll_tracker_get(disk->queue);
	return t ? t : ERR_PTR(-ENOMEM);
}

/**
 * blk_poll_delay_prepare() - Allocate what io_poll_delay needs.
 * @disk: The disk.
 * @page: What is going to be written.
 * @count: Its length.
 *
 * -1 needs nothing.
 *
 * Context: May sleep, the queue is not frozen.
 * Return: 0 or -ENOMEM.
 */
int blk_poll_delay_prepare(struct gendisk *disk, const char *page, size_t count)
{
	if (sysfs_streq(page, "-1") || !blk_poll_can_set(disk))
		return 0;
	return blk_poll_allocate(disk);
}

/**
 * blk_poll_delay_store() - Set io_poll_delay.
 * @disk: The disk.
 * @page: -1: spin; 0: let the policy decide; 1 to 100000: sleep as many us.
 *
 * -1 is taken everywhere, as udev rules write it to every disk.
 *
 * Context: May sleep, the queue is frozen.
 * Return: 0, or
 *
 * * -EINVAL if @page is not one of these numbers, or the queue cannot poll;
 * * -ERANGE if @page does not fit an int;
 * * -ENOMEM.
 *
 * In all these cases the value stays as it was.
 */
int blk_poll_delay_store(struct gendisk *disk, const char *page)
{
	struct blk_poll_tracker *t = blk_poll_tracker(disk->queue);
	int delay_us, err;

	err = kstrtoint(page, 10, &delay_us);
	if (err)
		return err;
	if (delay_us < BLK_POLL_DELAY_CLASSIC ||
	    delay_us > BLK_POLL_MAX_DELAY_US)
		return -EINVAL;

	if (delay_us != BLK_POLL_DELAY_CLASSIC) {
		t = blk_poll_tracker_to_set(disk, blk_poll_can_set(disk),
					    "io_poll_delay stays -1");
		if (IS_ERR(t))
			return PTR_ERR(t);
	}

	if (t) {
		blk_poll_set_delay(t, delay_us);
		blk_poll_pass_on(disk);
	}
	return 0;
}

/* All names, the chosen one in brackets, as the scheduler attribute. */
static ssize_t blk_poll_policy_show(struct gendisk *disk, char *page)
{
	struct blk_poll_tracker *t = blk_poll_tracker(disk->queue);
	unsigned int policy = t ? READ_ONCE(t->policy) : BLK_POLL_POLICY_DEFAULT;
	int len = 0;

	for (int i = 0; i < BLK_POLL_NR_POLICIES; i++)
		len += sysfs_emit_at(page, len, i == policy ? "%s[%s]" : "%s%s",
				     i ? " " : "", blk_poll_policies[i]->name);
	return len + sysfs_emit_at(page, len, "\n");
}

static int blk_poll_policy_prepare(struct gendisk *disk, const char *page,
				   size_t count)
{
	return blk_poll_allocate(disk);
}

/* The new policy starts without knowledge, even if it is the old one. */
static ssize_t blk_poll_policy_store(struct gendisk *disk, const char *page,
				     size_t count)
{
	struct blk_poll_tracker *t;
	int policy;

	for (policy = 0; policy < BLK_POLL_NR_POLICIES; policy++)
		if (sysfs_streq(page, blk_poll_policies[policy]->name))
			break;
	if (policy == BLK_POLL_NR_POLICIES)
		return -EINVAL;

	t = blk_poll_tracker_get(disk->queue);
	if (!t)
		return -ENOMEM;

	blk_poll_set_policy(disk->queue, t, policy);
	blk_poll_pass_on(disk);
	return count;
}

static ssize_t blk_poll_weight_show(struct gendisk *disk, char *page)
{
	struct blk_poll_tracker *t = blk_poll_tracker(disk->queue);

	return sysfs_emit(page, "%u\n", t ? READ_ONCE(t->weight) :
			  BLK_POLL_DEFAULT_WEIGHT);
}

static ssize_t blk_poll_weight_store(struct gendisk *disk, const char *page,
				     size_t count)
{
	struct blk_poll_tracker *t;
	unsigned int value;
	int err;

	err = kstrtouint(page, 10, &value);
	if (err)
		return err;
	if (!value || value > BLK_POLL_MAX_WEIGHT)
		return -EINVAL;

	t = blk_poll_tracker_get(disk->queue);
	if (!t)
		return -ENOMEM;
	WRITE_ONCE(t->weight, value);
	blk_poll_pass_on(disk);
	return count;
}

static ssize_t blk_poll_sync_show(struct gendisk *disk, char *page)
{
	struct blk_poll_tracker *t = blk_poll_tracker(disk->queue);

	return sysfs_emit(page, "%d\n", t && READ_ONCE(t->is_sync));
}

/* Not blk_poll_sync_prepare(), which is for each I/O. */
static int blk_poll_sync_attr_prepare(struct gendisk *disk, const char *page,
				      size_t count)
{
	if (!sysfs_streq(page, "1") || !blk_poll_can_poll(disk->queue))
		return 0;
	return blk_poll_allocate(disk);
}

/* As -1 of io_poll_delay, 0 is taken everywhere. */
static ssize_t blk_poll_sync_store(struct gendisk *disk, const char *page,
				   size_t count)
{
	struct blk_poll_tracker *t = blk_poll_tracker(disk->queue);
	unsigned int value;
	int err;

	err = kstrtouint(page, 10, &value);
	if (err)
		return err;
	if (value > 1)
		return -EINVAL;

	if (value) {
		t = blk_poll_tracker_to_set(disk,
					    blk_poll_can_poll(disk->queue),
					    "io_poll_sync stays 0");
		if (IS_ERR(t))
			return PTR_ERR(t);
	}

	if (t) {
		WRITE_ONCE(t->is_sync, value);
		blk_poll_pass_on(disk);
	}
	return count;
}

static ssize_t blk_poll_completed_show(struct gendisk *disk, char *page)
{
	return sysfs_emit(page, "%lu\n",
			  part_stat_read(disk->part0, poll_completed));
}

static ssize_t blk_poll_downgraded_show(struct gendisk *disk, char *page)
{
	return sysfs_emit(page, "%lu\n",
			  part_stat_read(disk->part0, poll_downgraded));
}

static struct queue_sysfs_entry blk_poll_policy_entry = {
	.attr		= { .name = "io_poll_policy", .mode = 0644 },
	.show		= blk_poll_policy_show,
	.load_module	= blk_poll_policy_prepare,
	.store		= blk_poll_policy_store,
};

static struct queue_sysfs_entry blk_poll_weight_entry = {
	.attr		= { .name = "io_poll_weight", .mode = 0644 },
	.show		= blk_poll_weight_show,
	.load_module	= blk_poll_policy_prepare,
	.store		= blk_poll_weight_store,
};

static struct queue_sysfs_entry blk_poll_sync_entry = {
	.attr		= { .name = "io_poll_sync", .mode = 0644 },
	.show		= blk_poll_sync_show,
	.load_module	= blk_poll_sync_attr_prepare,
	.store		= blk_poll_sync_store,
};

static struct queue_sysfs_entry blk_poll_completed_entry = {
	.attr		= { .name = "io_poll_completed", .mode = 0444 },
	.show		= blk_poll_completed_show,
};

static struct queue_sysfs_entry blk_poll_downgraded_entry = {
	.attr		= { .name = "io_poll_downgraded", .mode = 0444 },
	.show		= blk_poll_downgraded_show,
};

static struct attribute *blk_poll_attrs[] = {
	&blk_poll_policy_entry.attr,
	&blk_poll_weight_entry.attr,
	&blk_poll_sync_entry.attr,
	&blk_poll_completed_entry.attr,
	&blk_poll_downgraded_entry.attr,
	NULL,
};

/* What a stacked disk cannot tell or choose is that of the disks below. */
static umode_t blk_poll_attr_visible(struct kobject *kobj,
				     struct attribute *attr, int n)
{
	struct gendisk *disk = container_of(kobj, struct gendisk, queue_kobj);

	if (!queue_is_mq(disk->queue) && !disk->fops->poll_inherit &&
	    (attr == &blk_poll_policy_entry.attr ||
	     attr == &blk_poll_weight_entry.attr ||
	     attr == &blk_poll_completed_entry.attr))
		return 0;
	return attr->mode;
}

/* The attributes of a queue that hybrid polling adds to those there were. */
const struct attribute_group blk_poll_attr_group = {
	.attrs		= blk_poll_attrs,
	.is_visible	= blk_poll_attr_visible,
};

static const char *const blk_poll_counter_names[BLK_POLL_NR_COUNTERS] = {
	[BLK_POLL_LOOKS]	= "looks",
	[BLK_POLL_SAMPLES]	= "samples",
	[BLK_POLL_SLEEPS]	= "sleeps",
	[BLK_POLL_OVERSLEPT]	= "overslept",
	[BLK_POLL_WOKEN_EARLY]	= "woken_early",
	[BLK_POLL_DOWNGRADED]	= "downgraded",
	[BLK_POLL_VOID]		= "void",
};

static u64 blk_poll_counter_sum(struct blk_poll_tracker *t, int counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(t->cpu, cpu)->counter[counter]);
	return sum;
}

/* First sleep that the policy, or io_poll_delay, would give an I/O on @cpu. */
static u64 blk_poll_sleep_ns(struct request_queue *q,
			     struct blk_poll_tracker *t, int cpu, int bucket)
{
	struct blk_poll_inputs in;
	struct blk_poll_plan plan;
	u64 sleep_ns = 0;

	blk_poll_inputs_now(q, &in);
	blk_poll_select(t, cpu, bucket, &in, &plan, 0);
	/* a plan may begin with looking */
	for (int i = 0; i < plan.nr && !sleep_ns; i++)
		sleep_ns = min(plan.stage[i].sleep_to_ns, in.cap_ns);
	return sleep_ns;
}

/* On the first CPU that would sleep, as each may know something else. */
static u64 blk_poll_current_sleep_ns(struct request_queue *q,
				     struct blk_poll_tracker *t, int bucket)
{
	u64 sleep_ns = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		sleep_ns = blk_poll_sleep_ns(q, t, cpu, bucket);
		if (sleep_ns)
			break;
	}
	return sleep_ns;
}

/**
 * blk_poll_stat_show() - Print poll_stat.
 * @data: The queue.
 * @m: Where to.
 *
 * A line per bucket that had samples in its last window or has a sleep, then a
 * line per counter.  miss_ppm is misses per million samples.  Empty until one of
 * the attributes is written.
 *
 * Context: Task context.
 * Return: 0.
 */
int blk_poll_stat_show(void *data, struct seq_file *m)
{
	struct request_queue *q = data;
	struct blk_poll_tracker *t = blk_poll_tracker(q);

	if (!t)
		return 0;

	seq_puts(m, "dir bytes samples mean_ns min_ns max_ns lmd_ns misses miss_ppm sleep_ns\n");
	for (int i = 0; i < BLK_POLL_NR_BUCKETS; i++) {
		u64 sleep_ns = blk_poll_current_sleep_ns(q, t, i);
		struct blk_poll_window win;

		raw_spin_lock_irq(&t->lock);
		win = t->bucket[i].win;
		raw_spin_unlock_irq(&t->lock);
		if (!win.samples && !sleep_ns)
			continue;
		seq_printf(m, "%s %u %u %llu %llu %llu %llu %u %llu %llu\n",
			   blk_poll_bucket_is_write(i) ? "write" : "read", blk_poll_bucket_bytes(i),
			   win.samples, win.mean_ns, win.min_ns, win.max_ns,
			   win.lmd_ns, win.misses,
			   div_u64(win.misses * 1000000ULL,
				   max(win.samples, 1U)),
			   sleep_ns);
	}

	for (int i = 0; i < BLK_POLL_NR_COUNTERS; i++) {
		u64 base;

		raw_spin_lock_irq(&t->lock);
		base = t->counter_base[i];
		raw_spin_unlock_irq(&t->lock);
		seq_printf(m, "%s %llu\n", blk_poll_counter_names[i],
			   blk_poll_counter_sum(t, i) - base);
	}
	return 0;
}

/**
 * blk_poll_stat_write() - Reset the counters of poll_stat.
 * @data: The queue.
 * @buf: "0".
 * @count: Length of @buf.
 * @ppos: Not used.
 *
 * What has been learnt stays.
 *
 * Context: Task context, may sleep.
 * Return: @count, -EINVAL for anything but 0, or -EFAULT.
 */
ssize_t blk_poll_stat_write(void *data, const char __user *buf, size_t count,
			    loff_t *ppos)
{
	struct request_queue *q = data;
	struct blk_poll_tracker *t = blk_poll_tracker(q);
	unsigned int value;
	int err;

	err = kstrtouint_from_user(buf, count, 10, &value);
	if (err)
		return err == -EFAULT ? err : -EINVAL;
	if (value)
		return -EINVAL;
	if (!t)
		return count;

	raw_spin_lock_irq(&t->lock);
	for (int i = 0; i < BLK_POLL_NR_COUNTERS; i++)
		t->counter_base[i] = blk_poll_counter_sum(t, i);
	raw_spin_unlock_irq(&t->lock);
	return count;
}
