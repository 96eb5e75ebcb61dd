#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Signals do not disturb a sleeping poller, and SIGKILL ends it in time.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# An I/O sleeps once whatever happens; a storm of signals must not add sleeps.
storm() {
	must_put "$1" "$queue/io_poll_delay"
	[ "$1" != 0 ] || learn read 4096
	measure -n 100 -S 500
	tell "signals ${io[signals]}, at $1"
	expect_good_io
	expect "I/Os" "${io[ios]}" -eq 100
	expect "signals" "${io[signals]}" -ge 20
	expect_polled
	expect_slept 90
}

# A fixed delay is not cut short, and not started again.
delay_kept() {
	must_put 20000 "$queue/io_poll_delay"
	measure -n 30 -S 1000
	tell "signals ${io[signals]}, at 20000"
	expect_good_io
	expect "signals" "${io[signals]}" -ge 20
	expect_polled
	expect_slept 90
	expect "woken_early" "${delta[woken_early]}" -eq 0
	expect "mean latency in us" "${io[mean_us]}" -ge 17000
	expect "mean latency in us" "${io[mean_us]}" -lt 40000
}

storm_data() {
	must_put 3000 "$queue/io_poll_delay"
	measure -n 60 -b 8192 -w -v -S 500
	expect_good_io
	measure -n 60 -b 8192 -v -S 500
	tell "signals ${io[signals]}, data compared"
	expect_good_io
	expect "signals" "${io[signals]}" -ge 20
}

# The states of a process's tasks, a letter each.
states() {
	sed 's/.*) \(.\).*/\1/' "/proc/$1"/task/*/stat 2>/dev/null | tr -d '\n' || true
}

in_state() {
	[[ $(states "$1") == *$2* ]]
}

# kill -9 in the middle of a sleep of 100 ms, several times.
killed() {
	local i start took longest=0 asleep=0

	must_put 100000 "$queue/io_poll_delay"
	for i in {1..6}; do
		load_start load -n 0 -l 60 "$@" "$dev"
		if wait_for 10 in_state "$load_pid" D; then
			asleep=$((asleep + 1))
		fi
		start=$EPOCHREALTIME
		kill -KILL "$load_pid"
		if ! wait_for 30 gone "$load_pid"; then
			note "killed and still there:"
			note "$(cat "/proc/$load_pid"/task/*/stack 2>/dev/null | tr '\n' ' ')"
			failed=1
			return
		fi
		took=$((${EPOCHREALTIME/./} - ${start/./}))
		[ "$took" -le "$longest" ] || longest=$took
		# the shell would tell the world that it was killed
		{ wait "$load_pid" || true; } 2>/dev/null
	done
	note "longest end of $i kills: $longest us; $asleep were asleep"
	expect "killed in a sleep" "$asleep" -ge 4
	# the sleep, the device, and much for a machine that emulates both
	expect "longest end in us" "$longest" -lt 5000000
}

# Each job of a killed process goes, not only its first.
killed_crowd() {
	killed -j 4
}

stopped() {
	must_put 20000 "$queue/io_poll_delay"
	load_start load -n 50 "$dev"
	wait_for 10 in_state "$load_pid" D || note "never seen asleep"
	kill -STOP "$load_pid"
	wait_for 10 in_state "$load_pid" T ||
		expect "state after SIGSTOP" "$(states "$load_pid")" = T
	kill -CONT "$load_pid"
	load_wait load 60
	expect_good_io
	expect "I/Os" "${io[ios]}" -eq 50
}

usable() {
	must_put 3000 "$queue/io_poll_delay"
	measure -n 30
	tell "afterwards"
	expect_good_io
	expect "I/Os" "${io[ios]}" -eq 30
	expect_polled
	expect_slept 90
}

prepare
for role in data fast; do
	use_disk "$role"
	keep "$queue/io_poll_delay"
done

begin 8
try storm_fixed storm 3000
try storm_adaptive storm 0
try delay_kept
use_disk data
try storm_data
use_disk fast
try stopped
try killed
try killed_crowd
try usable
finish
