#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# More jobs than poll queues: all I/O ends, in time, and the counters add up.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# A wait for a request's timeout would show as a step of 30 s.
longest_us=5000000

# crowd DELAY JOBS
crowd() {
	must_put "$1" "$queue/io_poll_delay"
	[ "$1" -ne 0 ] || learn read 4096
	measure -j "$2" -n 25 -r
	tell "$2 jobs at $1"
	expect_good_io
	expect "number of I/Os" "${io[ios]}" -eq $(($2 * 25))
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	expect "interrupts" "${delta[irqs]}" -eq 0
	[ "$1" != -1 ] || return 0
	expect_polled
	expect "samples" "${delta[samples]}" -ge $((io[ios] * 9 / 10))
	expect "sleeps" "${delta[sleeps]}" -le "${io[ios]}"
	expect "sleeps" "${delta[sleeps]}" -ge $((io[ios] / 2))
	expect "woken_early" "${delta[woken_early]}" -le "${delta[sleeps]}"
	expect "voluntary switches" "${io[voluntary]}" -ge $((delta[sleeps] * 8 / 10))
}

# The same with another program, as processes, and with writes between reads.
fio_crowd() {
	local said

	if ! command -v fio >/dev/null; then
		skip "no fio"
		return
	fi
	must_put 0 "$queue/io_poll_delay"
	before
	said=$(timeout 100 fio --name=crowd --filename="$dev" --direct=1 --rw=randrw --bs=4k \
		--ioengine=pvsync2 --hipri --numjobs=4 --size=64m --number_ios=25 \
		--group_reporting --minimal 2>&1) || expect "fio's status" "$?" -eq 0
	after
	note "fio: samples ${delta[samples]} sleeps ${delta[sleeps]}" \
		"void ${delta[void]} irqs ${delta[irqs]}"
	# fields of the terse format: 5 is the error, 15 and 56 the longest clat
	expect "fio's error" "$(cut -d';' -f5 <<<"$said")" = 0
	expect "longest read in us" "$(cut -d';' -f15 <<<"$said")" -lt "$longest_us"
	expect "longest write in us" "$(cut -d';' -f56 <<<"$said")" -lt "$longest_us"
	expect "samples and void" "$((delta[samples] + delta[void]))" -eq 100
	expect "interrupts" "${delta[irqs]}" -eq 0
	expect "sleeps" "${delta[sleeps]}" -ge 50
}

# Some of the jobs spin, some sleep: io_poll_delay counts at submission.
mixed_with_unpolled() {
	must_put 0 "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -i -j 2 "$dev"
	measure -j 2 -n 25
	load_stop load 30
	expect_good_io
	tell "beside I/O by interrupt"
	expect "interrupts" "${delta[irqs]}" -gt 0
	expect "samples and void" "$((delta[samples] + delta[void] + delta[downgraded]))" -eq 50
}

prepare
use_disk fast
keep "$queue/io_poll_delay"
[ "$(cat /sys/module/nvme/parameters/poll_queues)" = 1 ] || skip_all "needs nvme.poll_queues=1"

begin 11
for jobs in 2 4 8; do
	try "adaptive_$jobs" crowd 0 "$jobs"
	try "fixed_$jobs" crowd 3000 "$jobs"
	try "classic_$jobs" crowd -1 "$jobs"
done
try fio fio_crowd
try mixed mixed_with_unpolled
finish
