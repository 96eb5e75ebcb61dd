#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The trace events tell each sleep and each sample, with figures that fit together.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

tracing=/sys/kernel/tracing
longest_ns=5000000000

# record COMMAND [ARG]...: with the events on; their lines go to $tmp/events.
record() {
	: >"$tracing/trace"
	must_put 1 "$tracing/events/blk_poll/enable"
	"$@"
	must_put 0 "$tracing/events/blk_poll/enable"
	# "task-pid [cpu] flags time: event: disk direction key=value..."
	sed -n 's/^.*: \(blk_poll_[a-z]*\): /\1 /p' "$tracing/trace" >"$tmp/events"
}

count() {
	grep -c "^$1 " "$tmp/events" || true
}

# Lines of an event for which an awk expression over its fields is not true.
wrong() {
	awk -v "event=$1" -v "nodes=$major_minor" '
	$1 == event {
		split("", f)
		f["disk"] = $2
		f["direction"] = $3
		for (i = 4; i <= NF; i++) {
			n = index($i, "=")
			text = substr($i, n + 1)
			f[substr($i, 1, n - 1)] = text ~ /^[0-9]+$/ ? text + 0 : text
		}
		if (!(f["disk"] == nodes && '"$2"'))
			print
	}' "$tmp/events" | head -n 3
}

# each DELAY DIRECTION: one line for each sleep and each sample that is counted.
each() {
	local args=(-n 40 -b 8192) said

	[ "$2" = read ] || args+=(-w)
	must_put "$1" "$queue/io_poll_delay"
	[ "$1" -ne 0 ] || learn "$2" 8192
	record measure "${args[@]}"
	tell "$2 at $1"
	expect_good_io
	expect_polled
	expect_slept 90
	expect "samples traced" "$(count blk_poll_sample)" -eq "${delta[samples]}"
	expect "sleeps traced" "$(count blk_poll_sleep)" -eq "${delta[sleeps]}"
	expect "overslept traced" "$(grep -c 'overslept=1' "$tmp/events" || true)" -eq \
		"${delta[overslept]}"
	said=$(wrong blk_poll_sample 'f["direction"] == "'"$2"'" && f["bytes"] == 8192 &&
		f["latency_ns"] > 0 && f["latency_ns"] < '$longest_ns' &&
		f["lower_ns"] <= f["latency_ns"]')
	expect "samples that cannot be" "$said" = ""
	said=$(wrong blk_poll_sleep 'f["direction"] == "'"$2"'" && f["bytes"] == 8192 &&
		f["stage"] == "0/1" && f["sleep_to_ns"] > 0 && f["timer_ns"] <= f["sleep_to_ns"] &&
		f["woke_ns"] >= f["timer_ns"] && f["woken_early"] == 0')
	expect "sleeps that cannot be" "$said" = ""
	[ "$1" -eq 0 ] ||
		expect "plans of another length" \
			"$(wrong blk_poll_sleep 'f["sleep_to_ns"] == '"$(($1 * 1000))")" = ""
}

# A ring tells the I/O that was due first.
ring() {
	local said

	must_put 3000 "$queue/io_poll_delay"
	before
	record fio_uring --rw=randread --size=64m --number_ios=60 --iodepth=1 --minimal >"$tmp/fio"
	after
	note "ring: samples ${delta[samples]}, sleeps ${delta[sleeps]}"
	expect "samples" "${delta[samples]}" -eq 60
	expect "samples traced" "$(count blk_poll_sample)" -eq 60
	# what a ring sleeps at the very end is counted by the next one
	expect "sleeps traced" "$(count blk_poll_sleep)" -ge "${delta[sleeps]}"
	said=$(wrong blk_poll_sleep 'f["sleep_to_ns"] == 3000000 && f["direction"] == "read"')
	expect "plans of another length" "$said" = ""
}

# Neither spins nor interrupts are sleeps.
silent() {
	must_put -1 "$queue/io_poll_delay"
	record measure -n 20
	expect_good_io
	expect "events of classic polling" "$(count blk_poll_sample)/$(count blk_poll_sleep)" = 0/0
	must_put 3000 "$queue/io_poll_delay"
	record measure -n 20 -i
	expect_good_io
	expect "events of interrupts" "$(count blk_poll_sample)/$(count blk_poll_sleep)" = 0/0
}

prepare
[ -e "$tracing/events/blk_poll/enable" ] || mount -t tracefs none "$tracing" 2>/dev/null || true
[ -w "$tracing/events/blk_poll/enable" ] || skip_all "no trace events in $tracing"
use_disk fast
major_minor=$(cat "/sys/block/$disk/dev")
major_minor=${major_minor/:/,}
keep "$queue/io_poll_delay"
at_exit put 0 "$tracing/events/blk_poll/enable"

begin 6
try fixed_read each 3000 read
try fixed_write each 3000 write
try adaptive_read each 0 read
try adaptive_write each 0 write
try ring
try silent
finish
