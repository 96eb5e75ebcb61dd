#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A ten times slower device is slept for at least five times as long.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# The middle one of three numbers.
median() {
	sort -n "$tmp/$1" | sed -n 2p
}

# Several windows of 100 ms on a role's disk; what the policy makes of them.
round() {
	local role=$1 ios=$2

	use_disk "$role"
	measure -n "$ios"
	tell "$role"
	expect_good_io
	expect_polled
	expect_slept 90
	stat_of read 4096 sleep_ns >>"$tmp/sleep.$role"
	echo "${io[mean_us]}" >>"$tmp/mean.$role"
}

# Sleep and mean latency of both, medians, in $sleep_ns and $mean_us.
compare() {
	local role

	rm -f "$tmp"/sleep.* "$tmp"/mean.*
	for role in slow fast; do
		use_disk "$role"
		must_put "$1" "$queue/io_poll_policy"
		must_put 0 "$queue/io_poll_delay"
		learn read 4096
	done
	for _ in {1..3}; do
		round slow 12
		round fast 50
	done
	for role in slow fast; do
		sleep_ns[$role]=$(median "sleep.$role")
		mean_us[$role]=$(median "mean.$role")
		note "$1, $role: sleep ${sleep_ns[$role]} ns, mean latency ${mean_us[$role]} us"
	done
	expect "sleep_ns of the fast device" "${sleep_ns[fast]}" -gt 0
	expect "mean latency of the slow device" "${mean_us[slow]}" -ge $((5 * mean_us[fast]))
}

# Half of each mean: as many times longer as the device is slower.
mean() {
	compare mean
	expect "sleep_ns of the slow device" "${sleep_ns[slow]}" -ge $((5 * sleep_ns[fast]))
}

# From half to the whole of the mean, as misses say: at least half as many
# times longer as the device is slower, which is five times for ten times.
lmd() {
	compare lmd
	expect "sleep_ns of the slow device" "${sleep_ns[slow]}" -ge \
		$((sleep_ns[fast] * mean_us[slow] / mean_us[fast] / 2))
}

declare -A sleep_ns mean_us
prepare
for role in slow fast; do
	use_disk "$role"
	keep "$queue/io_poll_delay" "$queue/io_poll_policy"
done

begin 2
try lmd
try mean
finish
