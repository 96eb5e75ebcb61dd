#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Without poll queues RWF_HIPRI works by interrupt, and nothing can be set.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

parameter=/sys/module/nvme/parameters/poll_queues

take_away() {
	must_put 0 "$parameter"
	pci_again
	expect "io_poll" "$(cat "$queue/io_poll")" = 0
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = -1
}

by_interrupt() {
	measure -n 50 "$@"
	tell "hipri $*"
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -ge "${io[ios]}"
	expect "longest latency in us" "${io[max_us]}" -lt 5000000
}

delay_refused() {
	local value

	must_put -1 "$queue/io_poll_delay"
	for value in 0 1 1000; do
		if put "$value" "$queue/io_poll_delay"; then
			note "$value was taken"
			failed=1
		else
			expect "the error" "$why" = "Invalid argument"
		fi
	done
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = -1
	said=$(log_since | grep -c "$disk: io_poll_delay stays -1: no poll queues" || true)
	expect "lines in the log" "$said" -ge 1
}

uring_refused() {
	local said

	if ! command -v fio >/dev/null; then
		skip "no fio"
		return
	fi
	said=$(fio_uring --rw=randread --number_ios=10 --size=1m)
	grep -q "Operation not supported" <<<"$said" ||
		expect "what fio says" "$said" = "Operation not supported"
}

give_back() {
	must_put "$old" "$parameter"
	pci_again
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
	expect "io_poll_delay of a new queue" "$(cat "$queue/io_poll_delay")" = -1
	must_put 3000 "$queue/io_poll_delay"
	measure -n 50
	tell "polled again"
	expect_good_io
	expect_polled
	expect_slept 90
}

# The disk's settings have gone with the old queue.
restore() {
	[ "$(cat "$parameter")" != "$old" ] || return 0
	put "$old" "$parameter"
	pci_again
}

prepare
use_disk fast
[ -w "$parameter" ] || skip_all "no parameter poll_queues of nvme"
[ -w "$(pci_dir)/remove" ] || skip_all "$disk is not a PCI device that can be removed"
old=$(cat "$parameter")
at_exit restore

begin 6
try take_away
try read by_interrupt
try write by_interrupt -w
try io_poll_delay delay_refused
try io_uring uring_refused
try give_back
finish
