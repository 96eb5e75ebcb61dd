#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# io_poll_policy "adaptive", the default: it learns, sleeps, forgets, and survives
# whatever is written meanwhile.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

default() {
	null_make adaptive poll_queues=1 || return 0
	expect "io_poll_policy" "$(cat "/sys/block/$null_disk/queue/io_poll_policy")" = \
		"mean lmd [adaptive]"
	expect "io_poll_weight" "$(cat "/sys/block/$null_disk/queue/io_poll_weight")" = 10
}

start() {
	must_put -1 "$queue/io_poll_delay"
	must_put 0 "$queue/io_poll_delay"
	learn "$1" 4096
}

# Where waking up is dear it may spin for some I/O, and look twice for another.
sleeps() {
	local args=(-n 100)

	[ "$1" = read ] || args+=(-w)
	start "$1"
	measure "${args[@]}"
	tell "$1"
	expect_good_io
	expect_polled
	expect "sleeps" "${delta[sleeps]}" -ge 10
	# a timer can expire before the task has gone to sleep
	expect "voluntary switches" "${io[voluntary]}" -ge $((delta[sleeps] / 2))
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
}

# One device takes ten times as long as the other, and each is slept on.
devices() {
	local role

	for role in fast slow; do
		use_disk "$role"
		keep "$queue/io_poll_delay"
		start read
		measure -n 40
		tell "$role"
		expect_good_io
		expect_polled
		expect "sleeps" "${delta[sleeps]}" -gt 0
	done
	use_disk fast
}

# Nothing is left of what was learnt.
forgets() {
	start read
	must_put adaptive "$queue/io_poll_policy"
	expect "sleep_ns after io_poll_policy was written" "$(stat_of read 4096 sleep_ns)" -eq 0
	start read
	must_put -1 "$queue/io_poll_delay"
	must_put 0 "$queue/io_poll_delay"
	expect "sleep_ns after io_poll_delay was -1" "$(stat_of read 4096 sleep_ns)" -eq 0
}

# Jobs on all CPUs, while what they learn is thrown away again and again.
stirred() {
	local end=$((SECONDS + 5)) writes=0

	must_put 0 "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -j 4 "$dev"
	while [ "$SECONDS" -lt "$end" ]; do
		for value in lmd adaptive; do
			must_put "$value" "$queue/io_poll_policy"
		done
		for value in -1 0; do
			must_put "$value" "$queue/io_poll_delay"
		done
		must_put $((1 + RANDOM % 100)) "$queue/io_poll_weight"
		cat "$stat" >/dev/null
		writes=$((writes + 5))
	done
	load_stop load 30
	note "$writes writes, ${io[ios]} I/Os, longest ${io[max_us]} us"
	expect_good_io
	must_put 10 "$queue/io_poll_weight"
}

# ring DEPTH: each round sleeps for all or for none.
ring() {
	local said

	start read
	before
	said=$(fio_uring --rw=randread --size=64m --number_ios=200 --iodepth="$1" --minimal)
	after
	note "ring of $1: samples ${delta[samples]}, sleeps ${delta[sleeps]}, irqs ${delta[irqs]}"
	expect "fio's error" "$(cut -d';' -f5 <<<"$said")" = 0
	expect "samples" "${delta[samples]}" -eq 200
	expect "interrupts" "${delta[irqs]}" -eq 0
	[ "$1" -gt 1 ] || expect "sleeps" "${delta[sleeps]}" -ge 20
}

prepare
use_disk fast
keep "$queue/io_poll_delay" "$queue/io_poll_policy" "$queue/io_poll_weight"
must_put adaptive "$queue/io_poll_policy"

begin 8
try default
try reads sleeps read
try writes sleeps write
try devices
try forgets
try stirred
try ring_1 ring 1
try ring_16 ring 16
finish
