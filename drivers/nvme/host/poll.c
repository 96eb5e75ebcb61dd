// SPDX-License-Identifier: GPL-2.0
/*
 * Hybrid polling: what the block layer's estimator has to be told by NVMe.
 */

#include <linux/blk-poll.h>

#include "nvme.h"

/**
 * nvme_poll_forget() - Forget the latencies of a controller's namespaces.
 * @ctrl: The controller.
 *
 * After a reset the device can behave differently: other firmware, other
 * power state, other media behind it.
 *
 * Context: Task context, may sleep.
 */
void nvme_poll_forget(struct nvme_ctrl *ctrl)
{
	struct nvme_ns *ns;
	int srcu_idx;

	srcu_idx = srcu_read_lock(&ctrl->srcu);
	list_for_each_entry_srcu(ns, &ctrl->namespaces, list,
				 srcu_read_lock_held(&ctrl->srcu))
		blk_poll_forget(ns->queue);
	srcu_read_unlock(&ctrl->srcu, srcu_idx);
}
EXPORT_SYMBOL_GPL(nvme_poll_forget);

#ifdef CONFIG_NVME_MULTIPATH
/**
 * nvme_ns_head_poll_inherit() - Set all paths as their head is set.
 * @disk: Disk of the head.
 *
 * Paths that come later are set when they go live.
 *
 * Context: Task context, may sleep.
 */
void nvme_ns_head_poll_inherit(struct gendisk *disk)
{
	struct nvme_ns_head *head = disk->private_data;
	struct nvme_ns *ns;
	int srcu_idx;

	srcu_idx = srcu_read_lock(&head->srcu);
	list_for_each_entry_srcu(ns, &head->list, siblings,
				 srcu_read_lock_held(&head->srcu))
		blk_poll_inherit(ns->queue, disk->queue);
	srcu_read_unlock(&head->srcu, srcu_idx);
}
#endif /* CONFIG_NVME_MULTIPATH */
