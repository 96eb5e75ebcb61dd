#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Odd ways to ask for polling: all of them end, in time and right.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

longest_us=5000000
cpu=/sys/devices/system/cpu/cpu1/online

in_time() {
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

# NOWAIT may say EAGAIN, and must not wait.
nowait() {
	must_put 3000 "$queue/io_poll_delay"
	measure -n 50 -N
	tell "NOWAIT, ${io[again]} times EAGAIN"
	in_time
	measure -n 50 -N -j 8
	tell "NOWAIT, 8 jobs, ${io[again]} times EAGAIN"
	in_time
	expect "interrupts" "${delta[irqs]}" -eq 0
}

partition() {
	if ! command -v addpart >/dev/null; then
		skip "no addpart"
		return
	fi
	must_put 3000 "$queue/io_poll_delay"
	addpart "$dev" 1 2048 65536
	dev=${dev}p1
	wait_for 10 test -b "$dev" || expect "block device" none = "$dev"
	measure -n 50
	tell "partition"
	dev=/dev/$disk
	delpart "$dev" 1
	in_time
	expect_polled
	expect_slept 90
}

# Buffers at odd places, and sizes that are no multiple of a sector.
misaligned() {
	must_put 3000 "$queue/io_poll_delay"
	for at in 4 512 4092; do
		measure -n 20 -m "$at" -b 8192
		in_time
		expect_polled
	done
	measure -n 10 -b 1000
	expect "failed I/Os" "${io[errors]}" -eq 10
	expect "errno" "${io[errno]}" -eq 22
}

# More tasks than the poll queue has tags.
many() {
	must_put 0 "$queue/io_poll_delay"
	must_put 8 "$queue/nr_requests"
	measure -j 32 -n 8
	must_put "$nr_requests" "$queue/nr_requests"
	tell "32 jobs, 8 tags"
	in_time
	expect "I/Os" "${io[ios]}" -eq 256
	expect_polled
}

# A task with a real-time priority must leave the CPU to what it waits for.
real_time() {
	if ! command -v chrt >/dev/null || ! command -v taskset >/dev/null; then
		skip "no chrt or no taskset"
		return
	fi
	must_put "$1" "$queue/io_poll_delay"
	put "$2" "$queue/scheduler" || { skip "no I/O scheduler $2"; return; }
	before
	timeout 100 taskset -c 0 chrt -f 10 "$poll_io" -n 20 "$dev" >"$tmp/rt"
	after
	must_put none "$queue/scheduler"
	read_io rt
	tell "SCHED_FIFO at $1, $2"
	in_time
	# as long as the throttling of real-time tasks, 50 ms of each second, is
	# not what lets the I/O through
	expect "mean latency in us" "${io[mean_us]}" -lt 200000
}

# The same where the only CPU has nobody else to start the I/O.
real_time_alone() {
	if [ ! -w "$cpu" ]; then
		skip "cpu1 cannot be taken offline"
		return
	fi
	must_put 0 "$cpu"
	real_time "$@"
	must_put 1 "$cpu"
}

# Two tasks on one CPU, one of them nice.
one_cpu() {
	local pid name

	must_put "$1" "$queue/io_poll_delay"
	: >"$tmp/nice"
	taskset -c 0 nice -n 19 "$poll_io" -n 60 "$dev" >"$tmp/nice" &
	pid=$!
	before
	taskset -c 0 timeout 100 "$poll_io" -n 60 "$dev" >"$tmp/first"
	wait "$pid"
	after
	for name in first nice; do
		read_io "$name"
		tell "$name at $1"
		in_time
	done
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# Poll queues that come and go under load: who polled before ends by interrupt
# or by polling, whichever finds the I/O.
poll_queues_changed() {
	local name value i

	null_make blk_poll_corner poll_queues=1 || return 0
	name=$null_disk
	must_put 0 "/sys/block/$name/queue/io_poll_delay"
	load_start load -n 0 -l 60 -j 3 -w -v "/dev/$name"
	for i in {1..8}; do
		for value in 0 1; do
			must_put "$value" "$nullb/blk_poll_corner/poll_queues"
			expect "io_poll $i" "$(cat "/sys/block/$name/queue/io_poll")" = "$value"
			# or the jobs see nothing but a frozen queue
			sleep 0.1
		done
	done
	load_stop load 40
	note "${io[ios]} I/Os, longest ${io[max_us]} us"
	in_time
	null_gone blk_poll_corner
}

prepare
use_disk fast
nr_requests=$(cat "$queue/nr_requests")
keep "$queue/io_poll_delay" "$queue/scheduler" "$queue/nr_requests"
[ ! -w "$cpu" ] || keep "$cpu"

begin 11
try nowait
try partition
try misaligned
try many_jobs many
try real_time_classic real_time -1 none
try real_time_sleeping real_time 3000 none
try real_time_mq_deadline real_time -1 mq-deadline
try real_time_alone real_time_alone -1 mq-deadline
try one_cpu_classic one_cpu -1
try one_cpu_adaptive one_cpu 0
try poll_queues_changed
finish
