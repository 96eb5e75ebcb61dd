/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM blk_poll

#if !defined(_TRACE_BLK_POLL_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_BLK_POLL_H

#include <linux/blk-poll.h>
#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

/*
 * A poller has slept.  All times count from the start of the I/O that was due:
 * when the plan wants to be awake, until when it looks then, when the timer was
 * set to expire, and when the task ran again.
 */
TRACE_EVENT(blk_poll_sleep,
	    TP_PROTO(const struct blk_poll_due *due, u64 now_ns,
		     bool woken_early),
	    TP_ARGS(due, now_ns, woken_early),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(bool, is_write)
			     __field(u32, bytes)
			     __field(u8, stage)
			     __field(u8, nr)
			     __field(u64, sleep_to_ns)
			     __field(u64, look_until_ns)
			     __field(u64, timer_ns)
			     __field(u64, woke_ns)
			     __field(bool, woken_early)),
	    TP_fast_assign(__entry->dev = due->dev;
			   __entry->is_write = due->is_write;
			   __entry->bytes = due->bytes;
			   __entry->stage = due->stage;
			   __entry->nr = due->nr;
			   __entry->sleep_to_ns = due->sleep.sleep_to_ns;
			   __entry->look_until_ns = due->sleep.look_until_ns;
			   __entry->timer_ns = due->timer_ns;
			   __entry->woke_ns = now_ns - due->start_ns;
			   __entry->woken_early = woken_early;),
	    TP_printk("%d,%d %s bytes=%u stage=%u/%u sleep_to_ns=%llu look_until_ns=%llu timer_ns=%llu woke_ns=%llu woken_early=%d",
		      MAJOR(__entry->dev), MINOR(__entry->dev),
		      __entry->is_write ? "write" : "read", __entry->bytes,
		      __entry->stage, __entry->nr, __entry->sleep_to_ns,
		      __entry->look_until_ns, __entry->timer_ns,
		      __entry->woke_ns, __entry->woken_early)
);

/* A poller has found a completion: see struct blk_poll_sample. */
TRACE_EVENT(blk_poll_sample,
	    TP_PROTO(dev_t dev, bool is_write, u32 bytes, u64 latency_ns,
		     u64 lower_ns, bool overslept),
	    TP_ARGS(dev, is_write, bytes, latency_ns, lower_ns, overslept),
	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(bool, is_write)
			     __field(u32, bytes)
			     __field(u64, latency_ns)
			     __field(u64, lower_ns)
			     __field(bool, overslept)),
	    TP_fast_assign(__entry->dev = dev;
			   __entry->is_write = is_write;
			   __entry->bytes = bytes;
			   __entry->latency_ns = latency_ns;
			   __entry->lower_ns = lower_ns;
			   __entry->overslept = overslept;),
	    TP_printk("%d,%d %s bytes=%u latency_ns=%llu lower_ns=%llu overslept=%d",
		      MAJOR(__entry->dev), MINOR(__entry->dev),
		      __entry->is_write ? "write" : "read", __entry->bytes,
		      __entry->latency_ns, __entry->lower_ns,
		      __entry->overslept)
);

#endif /* _TRACE_BLK_POLL_H */

#include <trace/define_trace.h>
