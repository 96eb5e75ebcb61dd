// SPDX-License-Identifier: GPL-2.0
/*
 * How long a request takes on a device with irqmode=2: completion_nsec, or the
 * entries of a table one after another; how many are worked on at a time.
 */
#include <linux/vmalloc.h>
#include "null_blk.h"

#undef pr_fmt
#define pr_fmt(fmt)	"null_blk: " fmt

static const char * const null_latencies_name[] = {
	[READ]	= "read_latencies",
	[WRITE]	= "write_latencies",
};

static int null_latencies_refuse(struct nullb_latencies *table,
				 const char *why, int dir)
{
	pr_err("%s: %s\n", null_latencies_name[dir], why);
	table->refused = true;
	return -EINVAL;
}

/**
 * null_latencies_store() - Take a new table of latencies.
 * @dev: The device, which must be off.
 * @dir: READ or WRITE.
 * @ns: One to NULL_LATENCIES_MAX latencies in ns, none of them 0.
 * @size: Bytes at @ns.
 *
 * What was there before is gone in any case but one: the device is on.  As
 * configfs calls this from a close() and ignores what it returns, a table that
 * makes no sense also keeps the device from being switched on until a good one
 * is written.  That goes for an empty one, which is all there is after a write
 * that failed.
 *
 * Context: May sleep.  The caller serialises all of the device's configuration.
 * Return: @size, or -EINVAL, -EBUSY, -ENOMEM.
 */
ssize_t null_latencies_store(struct nullb_device *dev, int dir, const u32 *ns,
			     size_t size)
{
	struct nullb_latencies *table = &dev->latencies[dir];
	unsigned int nr = size / sizeof(*ns);

	if (dev->power) {
		pr_err("%s: the device is on\n", null_latencies_name[dir]);
		return -EBUSY;
	}

	vfree(table->ns);
	*table = (struct nullb_latencies){ };
	if (!nr || size % sizeof(*ns))
		return null_latencies_refuse(table, "no table of 32-bit words",
					     dir);
	if (nr > NULL_LATENCIES_MAX)
		return null_latencies_refuse(table, "more than 65536 words",
					     dir);
	for (unsigned int i = 0; i < nr; i++)
		if (!ns[i])
			return null_latencies_refuse(table, "a word is 0", dir);

	table->ns = vmalloc(size);
	if (!table->ns) {
		table->refused = true;
		return -ENOMEM;
	}
	memcpy(table->ns, ns, size);
	table->nr = nr;
	return size;
}

/**
 * null_latencies_show() - Give a table of latencies back.
 * @dev: The device.
 * @dir: READ or WRITE.
 * @buf: Where to, or NULL to ask for the size only.
 * @size: Bytes at @buf.
 *
 * The table can be another one than when the size was asked for.  configfs
 * gives away all of @buf then, so that the rest of it is cleared.
 *
 * Context: May sleep.  The caller serialises all of the device's configuration.
 * Return: The size of the table in bytes, or -EFBIG when it is larger than
 * @size.
 */
ssize_t null_latencies_show(struct nullb_device *dev, int dir, void *buf,
			    size_t size)
{
	struct nullb_latencies *table = &dev->latencies[dir];
	size_t bytes = table->nr * sizeof(*table->ns);

	if (!buf)
		return bytes;
	if (bytes > size)
		return -EFBIG;
	if (bytes)
		memcpy(buf, table->ns, bytes);
	memset(buf + bytes, 0, size - bytes);
	return bytes;
}

/**
 * null_timing_rewind() - Let the tables start with their first entry again.
 * @dev: The device.
 *
 * Once when it is switched on, and when its partitions have been looked for.
 *
 * Context: Any.  Does not sleep.
 */
void null_timing_rewind(struct nullb_device *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->timing_lock, flags);
	for (int dir = READ; dir <= WRITE; dir++)
		dev->latencies[dir].next = 0;
	memset(dev->channel_free_ns, 0, sizeof(dev->channel_free_ns));
	spin_unlock_irqrestore(&dev->timing_lock, flags);
}

/**
 * null_timing_start() - Get the timing of a device ready.
 * @dev: The device, which is about to be switched on.
 * @timed: Its requests take time, irqmode is 2.
 *
 * Context: May sleep.  The caller serialises all of the device's configuration.
 * Return: 0, or -EINVAL when the configuration makes no sense.
 */
int null_timing_start(struct nullb_device *dev, bool timed)
{
	for (int dir = READ; dir <= WRITE; dir++) {
		struct nullb_latencies *table = &dev->latencies[dir];

		if (table->refused) {
			pr_err("%s: the table that was written was refused\n",
			       null_latencies_name[dir]);
			return -EINVAL;
		}
		if (table->nr && !timed) {
			pr_err("%s needs irqmode=2\n",
			       null_latencies_name[dir]);
			return -EINVAL;
		}
	}
	if (dev->channels && !timed) {
		pr_err("channels needs irqmode=2\n");
		return -EINVAL;
	}
	if (dev->channels > NULL_CHANNELS_MAX) {
		pr_err("channels can be at most %u\n", NULL_CHANNELS_MAX);
		return -EINVAL;
	}
	dev->timed = dev->channels || dev->latencies[READ].nr ||
		     dev->latencies[WRITE].nr;
	spin_lock_init(&dev->timing_lock);
	null_timing_rewind(dev);
	return 0;
}

/**
 * null_timing_free() - Free the tables of a device.
 * @dev: The device, which is off.
 */
void null_timing_free(struct nullb_device *dev)
{
	for (int dir = READ; dir <= WRITE; dir++)
		vfree(dev->latencies[dir].ns);
}

/* The channel that is free before all others. */
static u64 *null_timing_channel(struct nullb_device *dev)
{
	u64 *first = &dev->channel_free_ns[0];

	for (unsigned int i = 1; i < dev->channels; i++)
		if (dev->channel_free_ns[i] < *first)
			first = &dev->channel_free_ns[i];
	return first;
}

/**
 * __null_timing_due() - When is a request done that has just come in?
 * @dev: The device, with a table or channels.
 * @op: What is asked of it.
 *
 * Only reads and writes have tables; all other requests take completion_nsec.
 * With channels a request waits until one of them is free.
 *
 * No latency is more than KTIME_MAX / 2, 2^62 ns.  With channels they add up;
 * the sum is cut to KTIME_MAX, which a timer takes for never.
 *
 * Context: Any.  Does not sleep.
 * Return: The time, as ktime_get_ns() counts it.
 */
u64 __null_timing_due(struct nullb_device *dev, enum req_op op)
{
	u64 due = ktime_get_ns(), latency = dev->completion_nsec;
	struct nullb_latencies *table = NULL;
	unsigned long flags;

	if (op == REQ_OP_READ || op == REQ_OP_WRITE)
		table = &dev->latencies[op_is_write(op)];

	spin_lock_irqsave(&dev->timing_lock, flags);
	if (table && table->nr) {
		latency = table->ns[table->next];
		table->next = (table->next + 1) % table->nr;
	}
	if (dev->channels) {
		u64 *free = null_timing_channel(dev);

		due = min_t(u64, max(due, *free) + latency, KTIME_MAX);
		*free = due;
	} else {
		due += latency;
	}
	spin_unlock_irqrestore(&dev->timing_lock, flags);
	return due;
}
