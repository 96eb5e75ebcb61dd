#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A controller that is reset or taken away under polled load leaves nobody behind.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

parameter=/sys/module/nvme/parameters/poll_queues

ready() {
	[ "$(cat "/sys/class/nvme/$ctrl/state")" = live ] &&
		[ "$(cat "$queue/io_poll")" = "${1:-1}" ]
}

# One reset, done within a minute, or the test is over.
reset_once() {
	timeout 60 sh -c "echo 1 >/sys/class/nvme/$ctrl/reset_controller" ||
		expect "status of the reset" "$?" -eq 0
	wait_for 30 ready "$@" || expect "state" "$(cat "/sys/class/nvme/$ctrl/state")" = live
}

# under_load DELAY JOBS: I/O is repeated by the driver, the caller sees nothing.
under_load() {
	must_put "$1" "$queue/io_poll_delay"
	before
	load_start load -n 0 -l 90 -j "$2" "$dev"
	for _ in {1..3}; do
		progress 20
		reset_once
	done
	progress 20
	load_stop load 60
	after
	tell "$2 jobs at $1, three resets"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt 20000000
	expect "sleeps" "${delta[sleeps]}" -gt 0
	expect "samples, void, downgraded" \
		"$((delta[samples] + delta[void] + delta[downgraded]))" -eq "${io[ios]}"
}

forgotten() {
	must_put 0 "$queue/io_poll_delay"
	learn read 4096
	reset_once
	expect "sleep_ns after the reset" "$(stat_of read 4096 sleep_ns)" -eq 0
	expect "samples of the window after the reset" "$(stat_of read 4096 samples)" -eq 0
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = 0
}

polls() {
	learn read 4096
	measure -n 100
	tell "afterwards"
	expect_good_io
	expect_polled
	expect_slept 90
}

# The sleepers of 100 ms come back and find that their I/O was repeated.
mid_sleep() {
	must_put 100000 "$queue/io_poll_delay"
	measure -n 2
	load_start load -n 0 -l 60 "$dev"
	progress 2
	reset_once
	progress 2
	load_stop load 60
	tell "in a sleep of 100 ms"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt 20000000
}

# The queues that the sleepers poll become queues with interrupts.
lose_poll_queues() {
	must_put 3000 "$queue/io_poll_delay"
	load_start load -n 0 -l 90 -j 2 "$dev"
	progress 20
	must_put 0 "$parameter"
	reset_once 0
	sleep 0.5
	load_stop load 60
	note "errors ${io[errors]} of ${io[ios]}, longest ${io[max_us]} us"
	expect "I/Os" "${io[ios]}" -gt 20
	expect "longest latency in us" "${io[max_us]}" -lt 20000000
	expect "short I/Os" "${io[short]}" -eq 0
	measure -n 30
	expect_good_io
	expect "interrupts without poll queues" "${delta[irqs]}" -ge 30
	must_put 1 "$parameter"
	pci_again
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
	expect "io_poll_delay of a new queue" "$(cat "$queue/io_poll_delay")" = -1
	must_put 0 "$queue/io_poll_delay"
}

# Errors reach the caller, and the process can end.
removed() {
	local dir

	dir=$(pci_dir)
	must_put "$1" "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -e -j 4 "$dev"
	progress 20
	timeout 60 sh -c "echo 1 >$dir/remove" || expect "status of the removal" "$?" -eq 0
	load_wait load 60
	# A disk that is gone has no bytes: a read after that is short.
	note "errors ${io[errors]}, short ${io[short]} of ${io[ios]}, longest ${io[max_us]} us"
	expect "jobs that got to know" "$((io[errors] + io[short]))" -eq 4
	expect "longest latency in us" "${io[max_us]}" -lt 20000000
	pci_rescan "${dir##*/}"
	must_put 0 "$queue/io_poll_delay"
}

# A controller that was left without its poll queues, or altogether.
restore() {
	put "$old" "$parameter"
	[ -d "$pci" ] || echo 1 >/sys/bus/pci/rescan
}

prepare
use_disk fast
[ -w "/sys/class/nvme/$ctrl/reset_controller" ] || skip_all "$ctrl cannot be reset"
[ -w "$(pci_dir)/remove" ] || skip_all "$disk is not a PCI device that can be removed"
old=$(cat "$parameter")
[ "$old" = 1 ] || skip_all "needs nvme.poll_queues=1"
pci=$(pci_dir)
at_exit restore

begin 9
try under_load_adaptive under_load 0 4
try under_load_fixed under_load 3000 1
try forgotten
try polls_after_reset polls
try mid_sleep
try removed_adaptive removed 0
try removed_mid_sleep removed 50000
try lose_poll_queues
try polls_after_all polls
finish
