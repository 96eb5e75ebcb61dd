#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What io_poll_delay, io_poll_policy and poll_stat take, refuse and say.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

read_back() {
	must_put "$1" "$queue/io_poll_delay"
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = "$1"
}

delay_refused() {
	local value

	must_put 77 "$queue/io_poll_delay"
	for value in "${@:2}"; do
		refused "$queue/io_poll_delay" "$value" "$1"
	done
}

delay_unprivileged() {
	must_put 77 "$queue/io_poll_delay"
	expect "what nobody reads" "$(as_nobody cat "$queue/io_poll_delay")" = 77
	if as_nobody sh -c "echo 0 >$queue/io_poll_delay" 2>/dev/null; then
		note "nobody may write"
		failed=1
	fi
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = 77
}

sleeps_grow() {
	[ "$(counter sleeps)" -gt "$1" ]
}

# A task that is at it all the time is told by the next write.
live_effect() {
	local sleeps

	must_put -1 "$queue/io_poll_delay"
	load_start load -n 0 -l 60 "$dev"
	sleeps=$(counter sleeps)
	sleep 0.5
	expect "sleeps at -1" "$(($(counter sleeps) - sleeps))" -eq 0
	must_put 3000 "$queue/io_poll_delay"
	wait_for 10 sleeps_grow "$((sleeps + 20))" ||
		expect "sleeps at 3000" "$(counter sleeps)" -gt "$((sleeps + 20))"
	must_put -1 "$queue/io_poll_delay"
	# Each write waited for the I/O in flight, so the counter stands.
	sleeps=$(counter sleeps)
	sleep 0.5
	expect "sleeps after -1" "$(($(counter sleeps) - sleeps))" -le 1
	load_stop load 30
	expect_good_io
}

policy_write() {
	must_put mean "$queue/io_poll_policy"
	expect "io_poll_policy" "$(cat "$queue/io_poll_policy")" = "[mean] lmd adaptive"
	must_put lmd "$queue/io_poll_policy"
	expect "io_poll_policy" "$(cat "$queue/io_poll_policy")" = "mean [lmd] adaptive"
	expect "brackets" "$(get "$queue/io_poll_policy")" = lmd
}

policy_refused() {
	local value

	for value in none '' 0 MEAN 'mean lmd' '[mean]' meanx mea; do
		refused "$queue/io_poll_policy" "$value" "Invalid argument"
	done
}

weight_write() {
	local value

	for value in 1 100 10; do
		must_put "$value" "$queue/io_poll_weight"
		expect "io_poll_weight" "$(cat "$queue/io_poll_weight")" = "$value"
	done
	for value in 0 101 -1 ten '' 10.5; do
		refused "$queue/io_poll_weight" "$value" "Invalid argument"
	done
	expect "io_poll_weight" "$(cat "$queue/io_poll_weight")" = 10
}

# It starts without knowledge, even if it is the old one.
policy_forgets() {
	must_put 0 "$queue/io_poll_delay"
	must_put lmd "$queue/io_poll_policy"
	learn read 4096
	must_put lmd "$queue/io_poll_policy"
	expect "sleep_ns after io_poll_policy was written" "$(stat_of read 4096 sleep_ns)" -eq 0
}

# "mean" sleeps for half of the mean that poll_stat shows.
policy_mean() {
	local line mean_ns

	must_put 0 "$queue/io_poll_delay"
	must_put mean "$queue/io_poll_policy"
	learn read 4096
	# one reading, so that both figures are of one window
	line=$(awk '$1 == "read" && $2 == 4096 { print $4, $10 }' "$stat")
	mean_ns=${line% *}
	expect "mean_ns" "$mean_ns" -gt 0
	expect "sleep_ns" "${line#* }" -eq "$(((mean_ns + 1) / 2))"
	must_put lmd "$queue/io_poll_policy"
}

stat_reset() {
	local name

	must_put 3000 "$queue/io_poll_delay"
	measure -n 20
	expect "samples" "$(counter samples)" -ge 20
	must_put 0 "$stat"
	for name in "${counters[@]}"; do
		expect "$name" "$(counter "$name")" -eq 0
		expect "lines of $name" "$(grep -c "^$name " "$stat")" -eq 1
	done
	measure -n 10
	expect "samples and void after the reset" "$(($(counter samples) + $(counter void)))" -eq 10
}

stat_refused() {
	local value old

	for value in 1 -1 '' x 00x 4294967296 99999999999999999999; do
		old=$(counter samples)
		expect "samples" "$old" -gt 0
		if put "$value" "$stat"; then
			note "'$value' was taken"
			failed=1
		else
			expect "the error for '$value'" "$why" = "Invalid argument"
		fi
		expect "samples" "$(counter samples)" -eq "$old"
	done
	expect "mode" "$(stat -c %a "$stat")" = 600
}

# No sleep ends later than an eighth of io_timeout, or 100 ms.
delay_cap() {
	local timeout_ms

	must_put 100000 "$queue/io_poll_delay"
	timeout_ms=$(cat "$queue/io_timeout")
	[ "$timeout_ms" -lt 800 ] ||
		expect "sleep_ns" "$(stat_of read 4096 sleep_ns)" -eq 100000000
	must_put 400 "$queue/io_timeout"
	expect "sleep_ns at io_timeout 400" "$(stat_of read 4096 sleep_ns)" -eq 50000000
	measure -n 10
	must_put "$timeout_ms" "$queue/io_timeout"
	tell capped
	expect_good_io
	expect_slept 90
	expect "mean latency in us" "${io[mean_us]}" -lt 90000
	expect "mean latency in us" "${io[mean_us]}" -ge 40000
}

io_poll_write() {
	must_put 0 "$queue/io_poll"
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
	must_put 1 "$queue/io_poll"
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
}

# Use a null_blk with the given attributes; null_done returns to the old disk.
null_use() {
	null_make blk_poll_abi "$@" || return
	set_any_disk "$null_disk"
}

null_done() {
	null_gone blk_poll_abi
	use_disk fast
}

cannot_poll() {
	local value

	null_use || return 0
	expect "io_poll" "$(cat "$queue/io_poll")" = 0
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = -1
	must_put -1 "$queue/io_poll_delay"
	for value in 0 1 100000; do
		refused "$queue/io_poll_delay" "$value" "Invalid argument"
	done
	said=$(log_since | grep -c "$null_disk: io_poll_delay stays -1: no poll queues" || true)
	expect "lines in the log" "$said" -ge 1
	refused "$queue/io_poll_delay" 2147483648 "Numerical result out of range"
	refused "$queue/io_poll" 1 "Invalid argument"
	timeout 60 "$poll_io" -n 20 -w -v "$dev" >"$tmp/null"
	read_io null
	expect_good_io
	null_done
}

# A device that is done at the first look: polled, never slept on.
never_slept_on() {
	null_use poll_queues=1 || return 0
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
	expect "a stat that nobody asked for" "$(cat "$stat")" = ""
	must_put 0 "$stat"
	expect "a stat that nobody asked for" "$(cat "$stat")" = ""
	must_put 3000 "$queue/io_poll_delay"
	for args in -wv -v; do
		timeout 60 "$poll_io" -n 50 "$args" "$dev" >"$tmp/null"
		read_io null
		expect_good_io
	done
	expect "samples" "$(counter samples)" -eq 100
	expect "sleeps" "$(counter sleeps)" -eq 0
	null_done
}

# The window's timer is pending when the queue goes.
gone_with_timer() {
	for _ in {1..5}; do
		null_use poll_queues=1 || return 0
		must_put 0 "$queue/io_poll_delay"
		timeout 60 "$poll_io" -n 1 "$dev" >"$tmp/null"
		null_gone blk_poll_abi
	done
	read_io null
	expect_good_io
	null_done
}

prepare
use_disk fast
keep "$queue/io_poll_delay" "$queue/io_poll_policy" "$queue/io_poll_weight"
put lmd "$queue/io_poll_policy"

begin 21
for value in -1 0 1 100000; do
	try "io_poll_delay_takes_$value" read_back "$value"
done
try io_poll_delay_out_of_range delay_refused "Invalid argument" -2 100001 2147483647 -2147483648
try io_poll_delay_garbage delay_refused "Invalid argument" abc 5us '1 2' 0x10 1.5 - '' ' ' ' 5' '5 '
try io_poll_delay_no_int delay_refused "Numerical result out of range" \
	2147483648 -2147483649 99999999999999999999 -99999999999999999999
try io_poll_delay_unprivileged delay_unprivileged
try io_poll_delay_live live_effect
try io_poll_delay_cap delay_cap
try io_poll_ignored io_poll_write
try io_poll_policy_write policy_write
try io_poll_policy_garbage policy_refused
try io_poll_weight weight_write
try io_poll_policy_forgets policy_forgets
try io_poll_policy_mean policy_mean
try poll_stat_reset stat_reset
try poll_stat_garbage stat_refused
try cannot_poll
try never_slept_on
try gone_with_timer
finish
