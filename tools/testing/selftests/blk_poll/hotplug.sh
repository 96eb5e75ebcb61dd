#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# CPUs that go and come under polled load: the sleepers on them move on.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

cpu=/sys/devices/system/cpu/cpu1/online

# cycle DELAY: the CPU waits for the I/O of the queue that only it serves.
cycle() {
	local start took longest=0

	must_put "$1" "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -j 4 "$dev"
	for _ in {1..4}; do
		start=$EPOCHREALTIME
		must_put 0 "$cpu"
		must_put 1 "$cpu"
		took=$((${EPOCHREALTIME/./} - ${start/./}))
		[ "$took" -le "$longest" ] || longest=$took
	done
	before
	sleep 0.3
	after
	load_stop load 40
	note "longest round $longest us; ${io[ios]} I/Os, longest ${io[max_us]} us"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
	expect "longest round in us" "$longest" -lt 10000000
	expect "samples in the end" "${delta[samples]}" -gt 0
}

# With a CPU less it still polls and sleeps.
one_less() {
	must_put 0 "$cpu"
	must_put 3000 "$queue/io_poll_delay"
	measure -n 50
	must_put 1 "$cpu"
	tell "without cpu1"
	expect_good_io
	expect_polled
	expect_slept 90
}

prepare
use_disk fast
[ -w "$cpu" ] || skip_all "cpu1 cannot be taken offline"
keep "$queue/io_poll_delay" "$cpu"

begin 3
try adaptive cycle 0
try fixed cycle 30000
try one_less
finish
