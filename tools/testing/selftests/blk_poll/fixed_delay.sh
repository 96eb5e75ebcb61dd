#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A fixed io_poll_delay is kept: each I/O is slept on once, and for so long.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Shorter than the device: one sleep an I/O, the rest is spun.
shorter() {
	must_put "$1" "$queue/io_poll_delay"
	measure -n 60
	tell "$1 us"
	expect_good_io
	expect_polled
	expect_slept 95
	expect "sleep_ns" "$(stat_of read 4096 sleep_ns)" -eq $(($1 * 1000))
	expect "sleep_ns of writes" "$(stat_of write 65536 sleep_ns)" -eq $(($1 * 1000))
}

# Longer than the device: the latency is the sleep. A busy host only ever
# makes it longer, so one round of several has to be within 15 %.
longer() {
	local us=$1 round best=

	must_put "$us" "$queue/io_poll_delay"
	for round in {1..5}; do
		measure -n "$2"
		tell "$us us"
		expect_good_io
		expect_polled
		expect_slept 95
		expect "overslept in percent" \
			"$((delta[overslept] * 100 / (delta[sleeps] + !delta[sleeps])))" -ge 95
		expect "mean latency in us" "${io[mean_us]}" -ge $((us * 85 / 100))
		[ -n "$best" ] && [ "$best" -le "${io[mean_us]}" ] || best=${io[mean_us]}
		[ "$best" -gt $((us * 115 / 100)) ] || break
	done
	expect "best mean latency of $round rounds in us" "$best" -le $((us * 115 / 100))
}

# Each device has its own value.
independent() {
	local other

	other=$(find_disk slow) || { skip "no NVMe disk for the role slow"; return; }
	must_put 700 "$queue/io_poll_delay"
	must_put 300 "/sys/block/$other/queue/io_poll_delay"
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = 700
	must_put -1 "/sys/block/$other/queue/io_poll_delay"
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = 700
}

prepare
use_disk fast
keep "$queue/io_poll_delay"
if other=$(find_disk slow); then
	keep "/sys/block/$other/queue/io_poll_delay"
fi

begin 6
try 3000_us shorter 3000
try 4000_us shorter 4000
try 10000_us longer 10000 40
try 30000_us longer 30000 20
try 100000_us longer 100000 8
try independent
finish
