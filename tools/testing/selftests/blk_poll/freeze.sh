#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whatever freezes the queue gets its turn in time, under polled load.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# The sleep of 100 ms, the device, and much for an emulated machine.
longest_us=3000000

# frozen DELAY FILE VALUE...: each write waits for the sleepers in flight.
frozen() {
	local delay=$1 file=$2 value start took longest=0 writes=0
	shift 2

	must_put "$delay" "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -j 2 "$dev"
	for _ in {1..4}; do
		for value; do
			start=$EPOCHREALTIME
			must_put "$value" "$file"
			took=$((${EPOCHREALTIME/./} - ${start/./}))
			[ "$took" -le "$longest" ] || longest=$took
			writes=$((writes + 1))
		done
	done
	before
	sleep 0.3
	after
	load_stop load 40
	note "$writes writes to ${file##*/}, longest $longest us;" \
		"${io[ios]} I/Os, longest ${io[max_us]} us"
	expect "longest write in us" "$longest" -lt "$longest_us"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
	expect "samples in the end" "${delta[samples]}" -gt 0
	expect "interrupts in the end" "${delta[irqs]}" -eq 0
}

schedulers() {
	local names

	read -ra names < <(tr -d '[]' <"$queue/scheduler")
	if [ "${#names[@]}" -lt 2 ]; then
		skip "no I/O scheduler"
		return
	fi
	frozen 100000 "$queue/scheduler" "${names[@]}"
}

# An I/O scheduler in front of a poll queue: as well polled and slept on.
polls_with() {
	if ! put "$1" "$queue/scheduler"; then
		skip "no I/O scheduler $1"
		return
	fi
	must_put 0 "$queue/io_poll_delay"
	learn read 4096
	measure -n 60
	tell "$1"
	expect_good_io
	expect_polled
	expect_slept 90
	measure -n 40 -j 4 -w
	tell "$1, four jobs"
	expect_good_io
	expect_polled
	must_put none "$queue/scheduler"
}

prepare
use_disk fast
keep "$queue/io_poll_delay" "$queue/scheduler" "$queue/nr_requests"

begin 5
try scheduler schedulers
try polls_with_mq_deadline polls_with mq-deadline
try polls_with_kyber polls_with kyber
try nr_requests frozen 100000 "$queue/nr_requests" 64 32
try io_poll_delay frozen 100000 "$queue/io_poll_delay" 100000 99999
finish
