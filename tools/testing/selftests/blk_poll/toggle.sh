#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Settings that change all the time, under load: I/O goes on, nothing is lost.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

seconds=4

# toggle FILE VALUE...: write the values in turn, as fast as it goes.
toggle() {
	local file=$1 end writes=0 value start
	shift

	before
	load_start load -n 0 -l 60 -j 2 "$dev"
	start=$EPOCHREALTIME
	end=$((SECONDS + seconds))
	while [ "$SECONDS" -lt "$end" ]; do
		for value; do
			must_put "$value" "$file"
			writes=$((writes + 1))
		done
		[ "$failed" -eq 0 ] || break
	done
	start=$((${EPOCHREALTIME/./} - ${start/./}))
	load_stop load 30
	after
	note "$writes writes to ${file##*/}, $((writes * 1000000 / start)) a second"
	note "${io[ios]} I/Os, longest ${io[max_us]} us"
	expect "writes" "$writes" -ge "$#"
	expect_good_io
	expect "I/Os" "${io[ios]}" -ge 20
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
	expect "interrupts" "${delta[irqs]}" -eq 0
}

delay() {
	toggle "$queue/io_poll_delay" -1 0 3000
	expect "sleeps" "${delta[sleeps]}" -gt 0
}

policy() {
	must_put 0 "$queue/io_poll_delay"
	toggle "$queue/io_poll_policy" mean lmd
}

reset_counters() {
	must_put 3000 "$queue/io_poll_delay"
	toggle "$stat" 0
	expect "sleeps since the last reset" "$(counter sleeps)" -le "${io[ios]}"
}

read_stat() {
	local i

	load_start load -n 0 -l 60 -j 2 "$dev"
	for i in {1..50}; do
		cat "$stat" "$queue/io_poll_delay" "$queue/io_poll_policy" >"$tmp/stat"
		expect "lines of poll_stat $i" "$(grep -c '^samples ' "$tmp/stat")" -eq 1
	done
	load_stop load 30
	expect_good_io
}

prepare
use_disk fast
keep "$queue/io_poll_delay" "$queue/io_poll_policy"

begin 5
try io_poll_delay delay
try io_poll_policy policy
try poll_stat_reset reset_counters
try poll_stat_read read_stat
try afterwards
finish
