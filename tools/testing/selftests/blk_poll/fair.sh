#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A poller leaves the tasks that share its CPU at least half of their fair share.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

tasks=4
seconds=4

# User and system time of a process in clock ticks.
ticks() {
	local words

	read -r words <"/proc/$1/stat"
	read -ra words <<<"${words##*) }"
	echo $((words[11] + words[12]))
}

busy_start() {
	local i

	busy=()
	for ((i = 0; i < tasks; i++)); do
		taskset -c 0 sh -c 'while :; do :; done' &
		busy+=($!)
		at_exit load_kill "$!"
	done
}

busy_stop() {
	kill -KILL "${busy[@]}" 2>/dev/null || true
	{ wait "${busy[@]}" || true; } 2>/dev/null
}

# share DELAY [ARG]...: one poller and the others on one CPU.
share() {
	local start begin=() i used least=100 sum=0 total us

	must_put "$1" "$queue/io_poll_delay"
	shift
	busy_start
	: >"$tmp/poller"
	taskset -c 0 "$poll_io" -n 0 -l 60 "$@" "$dev" >"$tmp/poller" &
	load_pid=$!
	at_exit load_kill "$load_pid"
	wait_for 30 test -s "$tmp/poller" || expect "the poller" silent = started
	for ((i = 0; i < tasks; i++)); do
		begin[i]=$(ticks "${busy[i]}")
	done
	start=$EPOCHREALTIME
	sleep "$seconds"
	us=$((${EPOCHREALTIME/./} - ${start/./}))
	total=$((us * $(getconf CLK_TCK) / 1000000))
	for ((i = 0; i < tasks; i++)); do
		used=$(($(ticks "${busy[i]}") - begin[i]))
		sum=$((sum + used))
		# percent of the part of the CPU that is fair among all of them
		used=$((100 * used * (tasks + 1) / total))
		[ "$used" -ge "$least" ] || least=$used
	done
	load_stop poller 30
	busy_stop
	note "in $us us $((100 * sum / total)) % of the CPU for $tasks tasks, the least got" \
		"$least % of its fair share; the poller: ${io[ios]} I/Os, longest ${io[max_us]} us"
	expect_good_io
	expect "I/Os of the poller" "${io[ios]}" -ge 10
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
	expect "percent of a fair share" "$least" -ge 50
}

prepare
command -v taskset >/dev/null || skip_all "no taskset"
use_disk fast
keep "$queue/io_poll_delay"
note "kernel: $(uname -v), $(grep -o 'preempt=[a-z]*' /proc/cmdline || echo "preempt= not given")"

begin 4
try classic share -1
try fixed share 3000
try adaptive share 0
try four_pollers share 0 -j 4
finish
