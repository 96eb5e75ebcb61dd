#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a rotational disk io.latency looks at the mean of all it has seen, not of the last window.
#   A group misses its target in one window and meets it in the next. When its
#   sibling's turn to be throttled comes, after 500 ms, the mean of both counts.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

nullb=/sys/kernel/config/nullb/blk_poll_iolat
cgroup=/sys/fs/cgroup
debug=/sys/module/blk_cgroup/parameters/blkcg_debug_stats

# The device needs this for an I/O, one after the other.
device_us=5000
# A window is 16 times the target: 192 ms.
target_us=12000
window_ms=192
# No decision before this much after the last one.
decision_ms=500
timed_io=$here/timed_io

null_start() {
	local pair

	mkdir "$nullb"
	for pair in size=64 submit_queues=1 poll_queues=0 hw_queue_depth=1 queue_mode=2 irqmode=2 \
		    completion_nsec=$((device_us * 1000)) power=1; do
		put "${pair#*=}" "$nullb/${pair%%=*}" || return
	done
	disk=nullb$(cat "$nullb/index")
	[ ! -b /dev/blk_poll_iolat ] || disk=blk_poll_iolat
	dev=/dev/$disk
	queue=/sys/block/$disk/queue
	put 1 "$queue/rotational" && put mq-deadline "$queue/scheduler" &&
		put 64 "$queue/nr_requests"
}

null_remove() {
	[ ! -d "$nullb" ] || rmdir "$nullb"
}

groups_remove() {
	local group

	for group in blk_poll_good blk_poll_bad; do
		[ ! -d "$cgroup/$group" ] || rmdir "$cgroup/$group"
	done
}

# in_group GROUP EVENT...: reads of a group at times after $start.
in_group() {
	local name=$1
	shift

	(echo "$BASHPID" >"$cgroup/blk_poll_$name/cgroup.procs" &&
		exec timeout 60 "$timed_io" "$start" "$dev" "$@") >"$tmp/$name"
}

uptime_ms() {
	local seconds

	read -r seconds _ </proc/uptime
	echo "${seconds/./}0"
}

depth() {
	sed -n "s/^$major:$minor .*depth=\([a-z0-9]*\).*/\1/p" "$cgroup/blk_poll_bad/io.stat"
}

# at GROUP MS: when the reads at MS began and ended, how long they took.
at() {
	read -r _ began ended us < <(grep "^$2 " "$tmp/$1")
	note "$1 group, $2 ms: began at $began, ended at $ended ms, $us us on average"
}

# A group misses its target, and at 215 ms a window ends that says so: the first
# decision, its sibling's depth is halved. It misses again, the window ends at
# 450 ms. That of 790 ms is good, and more than 500 ms after the first decision:
# the second. The mean of both windows is far from the target, so the depth must
# be halved again. The sibling does a read before both and one after each, to
# take notice. Returns whether all that happened in this order.
pattern() {
	local began ended us first second

	start=$(($(uptime_ms) + 700))
	in_group bad 150:1 440:1 1200:1 &
	in_group good 0:16 215:1 225:16 450:1 790:1
	wait $!
	at good 0
	[ "$us" -gt $((2 * target_us)) ] && [ "$ended" -lt 205 ] || return
	at bad 150
	[ "$ended" -lt 205 ] || return
	at good 215
	first=$ended
	at good 225
	[ "$began" -ge "$first" ] && [ "$us" -gt $((2 * target_us)) ] &&
		[ "$ended" -lt 440 ] || return
	at bad 440
	[ "$began" -gt "$first" ] && [ "$ended" -lt 780 ] || return
	at good 450
	second=$ended
	# its window is over, and it is too early for a decision
	[ "$second" -ge $((first + window_ms)) ] &&
		[ "$second" -lt $((first + decision_ms)) ] || return
	at good 790
	[ "$ended" -ge $((second + window_ms)) ] &&
		[ "$ended" -gt $((first + decision_ms)) ] || return
	[ "$us" -lt "$target_us" ] && [ "$ended" -lt 1200 ]
}

mean_counts() {
	local major minor start try

	IFS=: read -r major minor <"/sys/block/$disk/dev"
	for try in {1..10}; do
		mkdir "$cgroup/blk_poll_good" "$cgroup/blk_poll_bad"
		must_put "$major:$minor target=$target_us" "$cgroup/blk_poll_good/io.latency"
		if pattern; then
			expect "depth after both decisions" "$(depth)" = 16
			groups_remove
			return
		fi
		note "the pattern was not kept in try $try; depth $(depth)"
		groups_remove
	done
	skip "the machine is too busy for a pattern of 192 ms"
}

prepare
[ -w "$cgroup/cgroup.subtree_control" ] || skip_all "no cgroup2 at $cgroup"
grep -qw io "$cgroup/cgroup.controllers" || skip_all "no io controller"
[ -w "$debug" ] || skip_all "no blkcg_debug_stats"
[ -d /sys/kernel/config/nullb ] || skip_all "no null_blk in configfs"
keep "$debug"
at_exit null_remove
null_start || skip_all "null_blk: $why"
put 1 "$debug"
if ! grep -qw io "$cgroup/cgroup.subtree_control"; then
	put +io "$cgroup/cgroup.subtree_control"
	at_exit put -io "$cgroup/cgroup.subtree_control"
fi
at_exit groups_remove

begin 1
try mean_of_windows mean_counts
finish
