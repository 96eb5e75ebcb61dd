#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completions that get lost: the driver's timeout ends what is polled and slept on.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

fail=/sys/kernel/debug/fail_io_timeout
announced='timeout, (aborting|reset|completion)'

# lose DELAY: one completion of many is dropped. The driver aborts the command,
# which helps nobody, then resets the controller and repeats it.
lose() {
	local aborts resets

	aborts=$(lines 'timeout, aborting')
	resets=$(lines 'timeout, reset')
	must_put 1000 "$queue/io_timeout"
	must_put "$1" "$queue/io_poll_delay"
	load_start load -n 0 -l 90 -j 2 "$dev"
	must_put 1 "$fail/times"
	must_put 100 "$fail/probability"
	must_put 1 "/sys/block/$disk/io-timeout-fail"
	wait_for 30 more_lines 'timeout, aborting' "$aborts" || expect "timeouts in the log" 0 -gt 0
	wait_for 60 more_lines 'timeout, reset' "$resets" || note "the abort was enough"
	must_put 0 "/sys/block/$disk/io-timeout-fail"
	wait_for 30 live || expect "state" "$(cat "/sys/class/nvme/$ctrl/state")" = live
	load_stop load 60
	note "${io[ios]} I/Os, ${io[errors]} failed, longest ${io[max_us]} us"
	expect "I/Os" "${io[ios]}" -gt 10
	expect "failed I/Os" "${io[errors]}" -le 1
	expect "short I/Os" "${io[short]}" -eq 0
	expect "longest latency in us" "${io[max_us]}" -lt 20000000
}

# Lines of the log, and whether there are more of them than before.
lines() {
	log_since | grep -c "$1" || true
}

more_lines() {
	[ "$(lines "$1")" -gt "$2" ]
}

live() {
	[ "$(cat "/sys/class/nvme/$ctrl/state")" = live ]
}

quiet() {
	put 0 "/sys/block/$disk/io-timeout-fail"
	put "$probability" "$fail/probability"
	put "$times" "$fail/times"
	put "$verbose" "$fail/verbose"
}

prepare
use_disk fast
if [ ! -d "$fail" ] || [ ! -w "/sys/block/$disk/io-timeout-fail" ]; then
	skip_all "no CONFIG_FAIL_IO_TIMEOUT"
fi
probability=$(cat "$fail/probability")
times=$(cat "$fail/times")
verbose=$(cat "$fail/verbose")
at_exit quiet
put 0 "$fail/verbose"
keep "$queue/io_poll_delay" "$queue/io_timeout"

begin 3
try adaptive lose 0
try fixed lose 50000
try afterwards
finish
