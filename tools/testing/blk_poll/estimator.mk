# SPDX-License-Identifier: GPL-2.0
#
# What the unit tests and the simulator are built from.

# The pure files, in block/.  A new policy is added here and nowhere else.
ESTIMATOR := blk-poll-est blk-poll-mean blk-poll-lmd blk-poll-hist blk-poll-adaptive

# The rivals, in rivals/: for measuring, not part of the series.
RIVALS := blk-poll-ehp blk-poll-iou blk-poll-pas
