#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# I/O of all sizes is really polled and really slept on, or ends by interrupt.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

sizes=(512 4096 8192 65536 131072 524288)

# polled DIRECTION BYTES: the policy learns, then nearly all of it is slept on.
polled() {
	local args=(-n 40 -b "$2")

	if [ "$2" -gt $((max_kb * 1024)) ]; then
		skip "larger than max_sectors_kb"
		return
	fi
	[ "$1" = read ] || args+=(-w)
	learn "$1" "$2"
	measure "${args[@]}"
	tell "$1 $2"
	expect_good_io
	expect_polled
	expect_slept 90
}

# split DIRECTION BYTES: one bio, more than the device takes at once.
split() {
	local args=(-n 20 -b "$2")

	if [ "$2" -le $((max_kb * 1024)) ]; then
		skip "not larger than max_sectors_kb"
		return
	fi
	[ "$1" = read ] || args+=(-w)
	measure "${args[@]}"
	tell "$1 $2"
	expect_good_io
	expect "downgraded I/Os" "${delta[downgraded]}" -eq "${io[ios]}"
	expect "interrupts" "${delta[irqs]}" -ge "${io[ios]}"
	expect "sleeps" "${delta[sleeps]}" -eq 0
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
}

# several DIRECTION BYTES: more than one bio can hold, nobody tries to poll.
several() {
	local args=(-n 20 -b "$2")

	[ "$1" = read ] || args+=(-w)
	measure "${args[@]}"
	tell "$1 $2"
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -ge "${io[ios]}"
	expect "sleeps" "${delta[sleeps]}" -eq 0
	expect "samples" "${delta[samples]}" -eq 0
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
}

# No RWF_HIPRI: interrupts, and none of the counters moves.
unpolled() {
	local name

	measure -n 50 -i
	tell "without RWF_HIPRI"
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -ge "${io[ios]}"
	for name in "${counters[@]}"; do
		expect "$name" "${delta[$name]}" -eq 0
	done
}

# Classic: polled, and neither slept on nor counted.
classic() {
	local name

	must_put -1 "$queue/io_poll_delay"
	measure -n 100
	tell "at -1"
	must_put 0 "$queue/io_poll_delay"
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -eq 0
	for name in "${counters[@]}"; do
		expect "$name" "${delta[$name]}" -eq 0
	done
	# It had the CPU all the time that it was not preempted.
	expect "voluntary switches" "${io[voluntary]}" -le $((io[ios] / 10))
}

# Sleeping gives the CPU back: it takes at most three quarters of what classic
# polling takes. Who else is busy on the host disturbs it: one round of five.
cheaper() {
	local round classic_us sleeping_us

	for round in {1..5}; do
		must_put -1 "$queue/io_poll_delay"
		measure -n 60
		expect_good_io
		classic_us=$((io[cpu_us] / io[ios]))
		must_put 0 "$queue/io_poll_delay"
		learn read 4096
		measure -n 60
		expect_good_io
		sleeping_us=$((io[cpu_us] / io[ios]))
		note "CPU per I/O in us, round $round: classic $classic_us, sleeping $sleeping_us"
		[ "$sleeping_us" -gt $((classic_us * 3 / 4)) ] || return 0
	done
	expect "CPU per I/O in us" "$sleeping_us" -le $((classic_us * 3 / 4))
}

prepare
use_disk fast
keep "$queue/io_poll_delay" "$queue/io_poll_policy"
max_kb=$(cat "$queue/max_sectors_kb")
put lmd "$queue/io_poll_policy"
put 0 "$queue/io_poll_delay"

begin $((2 * ${#sizes[@]} + 7))
for size in "${sizes[@]}"; do
	try "read_$size" polled read "$size"
	try "write_$size" polled write "$size"
done
try read_1048576 split read 1048576
try write_1048576 split write 1048576
try read_2097152 several read 2097152
try write_2097152 several write 2097152
try without_hipri unpolled
try classic
try cheaper
finish
