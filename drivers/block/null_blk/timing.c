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

/**
 * null_latencies_store() - Take a new table of latencies.
 * @dev: The device, which must be off.
 * @dir: READ or WRITE.
 * @ns: One to NULL_LATENCIES_MAX latencies in ns, none of them 0.
 * @size: Bytes at @ns.
 *
 * A table that makes no sense is an error at once and, as configfs ignores what
 * is returned to a close(), keeps the device from being switched on until a
 * good one is written.  An empty one takes the table away.
 *
 * Context: May sleep.  The caller serialises all of the device's configuration.
 * Return: @size, or -EINVAL, -EFBIG, -EBUSY, -ENOMEM.
 */
ssize_t null_latencies_store(struct nullb_device *dev, int dir, const u32 *ns,
			     size_t size)
{
	struct nullb_latencies *table = &dev->latencies[dir];
	unsigned int nr = size / sizeof(*ns);
	u32 *copy = NULL;

	if (dev->power) {
		pr_err("%s: the device is on\n", null_latencies_name[dir]);
		return -EBUSY;
	}

	vfree(table->ns);
	*table = (struct nullb_latencies){ .refused = -EINVAL };
	if (size % sizeof(*ns)) {
		pr_err("%s: %zu bytes are no table of 32-bit words\n",
		       null_latencies_name[dir], size);
		return -EINVAL;
	}
	if (nr > NULL_LATENCIES_MAX) {
		table->refused = -EFBIG;
		return -EFBIG;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (ns[i])
			continue;
		pr_err("%s: entry %u is 0\n", null_latencies_name[dir], i);
		return -EINVAL;
	}
	if (nr) {
		copy = vmalloc(size);
		if (!copy) {
			table->refused = -ENOMEM;
			return -ENOMEM;
		}
		memcpy(copy, ns, size);
	}
	*table = (struct nullb_latencies){ .ns = copy, .nr = nr };
	return size;
}

/**
 * null_latencies_show() - Give a table of latencies back.
 * @dev: The device.
 * @dir: READ or WRITE.
 * @buf: Where to, or NULL to ask for the size only.
 * @size: Bytes at @buf.
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
	memcpy(buf, table->ns, bytes);
	return bytes;
}

/**
 * null_timing_start() - Get the timing of a device ready.
 * @dev: The device, which is about to be switched on.
 * @timed: Its requests take time, irqmode is 2.
 *
 * Tables start with their first entry again.
 *
 * Context: May sleep.  The caller serialises all of the device's configuration.
 * Return: 0, or a negative error when the configuration makes no sense.
 */
int null_timing_start(struct nullb_device *dev, bool timed)
{
	for (int dir = READ; dir <= WRITE; dir++) {
		struct nullb_latencies *table = &dev->latencies[dir];

		if (table->refused) {
			pr_err("%s: the table that was written was refused\n",
			       null_latencies_name[dir]);
			return table->refused;
		}
		if (table->nr && !timed) {
			pr_err("%s needs irqmode=2\n",
			       null_latencies_name[dir]);
			return -EINVAL;
		}
		table->next = 0;
	}
	if (dev->channels && !timed) {
		pr_err("channels needs irqmode=2\n");
		return -EINVAL;
	}
	if (dev->channels > NULL_CHANNELS_MAX) {
		pr_err("channels can be at most %u\n", NULL_CHANNELS_MAX);
		return -EINVAL;
	}
	spin_lock_init(&dev->timing_lock);
	memset(dev->channel_free_ns, 0, sizeof(dev->channel_free_ns));
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
 * null_timing_due() - When is a request done that has just come in?
 * @dev: The device, with irqmode=2.
 * @op: What is asked of it.
 *
 * Only reads and writes have tables; all other requests take completion_nsec.
 * With channels a request waits until one of them is free.
 *
 * Context: Any.  Does not sleep.
 * Return: The time, as ktime_get_ns() counts it.
 */
u64 null_timing_due(struct nullb_device *dev, enum req_op op)
{
	u64 due = ktime_get_ns(), latency = dev->completion_nsec;
	struct nullb_latencies *table = NULL;
	unsigned long flags;

	if (op == REQ_OP_READ || op == REQ_OP_WRITE)
		table = &dev->latencies[op_is_write(op)];
	if (!dev->channels && (!table || !table->nr))
		return due + latency;

	spin_lock_irqsave(&dev->timing_lock, flags);
	if (table && table->nr) {
		latency = table->ns[table->next];
		table->next = (table->next + 1) % table->nr;
	}
	if (dev->channels) {
		u64 *free = null_timing_channel(dev);

		due = max(due, *free) + latency;
		*free = due;
	} else {
		due += latency;
	}
	spin_unlock_irqrestore(&dev->timing_lock, flags);
	return due;
}
