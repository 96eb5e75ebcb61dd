#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A null_blk that takes time: on poll queues, from tables, so many at a time, and not at all.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# What a request that is given up leaves in the log; "lost" counts them.
announced='null_blk: rq .* timed out|(timeout|I/O) error, dev'
given_up=0
fail=/sys/kernel/debug/fail_io_timeout
made=0

# One that takes its time, with these attributes too; a new name each time.
timed() {
	made=$((made + 1))
	name=blk_poll_timed$made
	null_make "$name" irqmode=2 memory_backed=0 poll_queues=1 "$@" || return
	set_any_disk "$null_disk"
	settle
}

# 32-bit words, as the machine has them.
words() {
	local value bytes=() i text

	for value; do
		bytes=()
		for i in 0 8 16 24; do
			printf -v text '\\x%02x' "$((value >> i & 255))"
			bytes+=("$text")
		done
		if [ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" != 1 ]; then
			bytes=("${bytes[3]}" "${bytes[2]}" "${bytes[1]}" "${bytes[0]}")
		fi
		printf '%b' "${bytes[0]}${bytes[1]}${bytes[2]}${bytes[3]}"
	done
}

# A device that is not on yet, with a table.
prepared() {
	made=$((made + 1))
	name=blk_poll_timed$made
	mkdir "$nullb/$name"
	at_exit null_gone "$name"
	must_put 2 "$nullb/$name/irqmode"
	must_put 0 "$nullb/$name/memory_backed"
	must_put 64 "$nullb/$name/size"
	must_put 1 "$nullb/$name/poll_queues"
	must_put 1 "$nullb/$name/submit_queues"
}

switch_on() {
	must_put 1 "$nullb/$name/power"
	null_disk=nullb$(cat "$nullb/$name/index")
	[ -b "/dev/$null_disk" ] || null_disk=$name
	set_any_disk "$null_disk"
	settle
}

# Who looks at new disks, and at those that were written, takes I/Os as well.
settle() {
	! command -v udevadm >"$tmp/udevadm" || udevadm settle --timeout=20 || true
}

# The shortest I/O takes at least so long, whoever waits for it and how.
at_least() {
	expect_good_io
	expect "shortest latency in us" "${io[min_us]}" -ge "$1"
}

completion_nsec() {
	timed completion_nsec=5000000 || return 0
	measure -n 50 -i
	tell "by interrupt"
	at_least 5000
	measure -n 50
	tell "classic"
	at_least 5000
	expect "io_poll_completed" "${delta[completed]}" -eq "${io[ios]}"
	expect "voluntary switches" "${io[voluntary]}" -le 25
	must_put 3000 "$queue/io_poll_delay"
	measure -n 50
	tell "fixed"
	at_least 5000
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	expect_slept 80
	null_gone "$name"
}

# It is not irqmode=2: done at the first look, as ever.
no_time() {
	timed irqmode=1 completion_nsec=5000000 || return 0
	measure -n 50
	tell "irqmode 1"
	expect_good_io
	expect "shortest latency in us" "${io[min_us]}" -lt 5000
	null_gone "$name"
}

# Every entry in its turn: four of reads, one of writes.
tables() {
	prepared
	must_put 20000000 "$nullb/$name/completion_nsec"
	words 3000000 6000000 9000000 12000000 >"$tmp/table"
	cp "$tmp/table" "$nullb/$name/read_latencies"
	words 4000000 >"$nullb/$name/write_latencies"
	cmp "$tmp/table" "$nullb/$name/read_latencies" || failed=1
	switch_on
	for how in "" -i; do
		measure -n 40 $how
		tell "reads $how"
		at_least 3000
		expect "shortest read in us" "${io[min_us]}" -lt 6000
		expect "mean read in us" "${io[mean_us]}" -ge 7000
		expect "longest read in us" "${io[max_us]}" -ge 12000
		measure -n 40 -w $how
		settle
		tell "writes $how"
		at_least 4000
		expect "shortest write in us" "${io[min_us]}" -lt 20000
	done
	# It is on: the table stays.
	words 1000 >"$nullb/$name/read_latencies"
	cmp "$tmp/table" "$nullb/$name/read_latencies" || failed=1
	null_gone "$name"
}

# Four tasks, forty I/Os of 20 ms: fewer at a time take longer, each limit its time.
channels() {
	local nr before_us=99999999

	for nr in 1 2 4; do
		timed completion_nsec=20000000 "channels=$nr" || return 0
		measure -n 10 -j 4
		tell "$nr channels"
		at_least 20000
		expect "I/Os" "${io[ios]}" -eq 40
		expect "time for all in us" "${io[wall_us]}" -ge $((800000 / nr))
		expect "time for all in us" "${io[wall_us]}" -lt "$before_us"
		before_us=${io[wall_us]}
		null_gone "$name"
	done
}

# Two at a time, of which one takes long: the other does not wait for it.
out_of_order() {
	prepared
	words 400000000 5000000 >"$nullb/$name/read_latencies"
	switch_on
	measure -n 1 -j 2
	tell "a slow and a fast one"
	at_least 5000
	expect "I/Os" "${io[ios]}" -eq 2
	expect "the shorter in us" "${io[min_us]}" -lt 300000
	expect "the longer in us" "${io[max_us]}" -ge 400000
	null_gone "$name"
}

# no_power REASON: what was asked for makes no sense.
no_power() {
	if put 1 "$nullb/$name/power"; then
		note "the device is on: $1"
		failed=1
	else
		expect "the error ($1)" "$why" = "Invalid argument"
	fi
}

nonsense() {
	local size=$((65536 * 4))

	prepared
	printf 'abcdef' >"$nullb/$name/read_latencies"
	no_power "six bytes"
	words 1000 0 1000 >"$nullb/$name/read_latencies"
	no_power "an entry of 0"
	words 1000 >"$nullb/$name/read_latencies"
	printf 'a' >"$nullb/$name/write_latencies"
	no_power "one byte for writes"
	words 1000 >"$nullb/$name/write_latencies"
	must_put 1 "$nullb/$name/irqmode"
	no_power "a table without a timer"
	must_put 2 "$nullb/$name/irqmode"
	must_put 65 "$nullb/$name/channels"
	no_power "65 channels"
	must_put 64 "$nullb/$name/channels"
	# The last entry that fits, and one more, in one go and in portions; so many
	# that configfs has no room for them.
	head -c "$size" /dev/zero | tr '\0' '\1' >"$tmp/large"
	cat "$tmp/large" >"$nullb/$name/read_latencies" || failed=1
	expect "size of the largest table" "$(wc -c <"$nullb/$name/read_latencies")" -eq "$size"
	words 1 >>"$tmp/large"
	for bytes in "$((size + 4))" 65536 16384; do
		dd if="$tmp/large" of="$nullb/$name/read_latencies" bs="$bytes" \
			2>"$tmp/dd" || failed=1
		no_power "65537 entries, $bytes bytes at a time"
		words 1000 >"$nullb/$name/read_latencies"
	done
	cat "$tmp/large" "$tmp/large" "$tmp/large" >"$tmp/larger"
	if dd if="$tmp/larger" of="$nullb/$name/read_latencies" bs="$((3 * size))" 2>"$tmp/dd"; then
		note "196611 entries were taken"
		failed=1
	fi
	no_power "196611 entries in one go"
	# Huge times are never, not the past.
	must_put 18446744073709551615 "$nullb/$name/completion_nsec"
	words 1000 >"$nullb/$name/read_latencies"
	switch_on
	measure -n 10
	at_least 1
	null_gone "$name"
	# Nor without any table.
	prepared
	must_put 0 "$nullb/$name/irqmode"
	must_put 1 "$nullb/$name/channels"
	no_power "channels without a timer"
	null_gone "$name"
}

# Eight times as many tasks do not bring down what two get done, on all CPUs and a
# single poll queue. Without sleeps it is the scheduler who shares the time out.
crowd() {
	local two_us

	timed completion_nsec=5000000 || return 0
	for delay in 3000 0; do
		must_put "$delay" "$queue/io_poll_delay"
		measure -n 60 -j 2
		two_us=${io[wall_us]}
		measure -n 60 -j 16
		tell "sixteen tasks, delay $delay"
		at_least 5000
		expect "I/Os" "${io[ios]}" -eq 960
		expect "time for eight times as much" "${io[wall_us]}" -le $((two_us * 10))
	done
	null_gone "$name"
}

quiet() {
	put "$probability" "$fail/probability"
	put "$times" "$fail/times"
	put "$verbose" "$fail/verbose"
}

# The block layer gives it up, and who polls for it hears of that.
lost() {
	if [ ! -d "$fail" ]; then
		skip "no injected timeouts (CONFIG_FAIL_IO_TIMEOUT)"
		return
	fi
	probability=$(cat "$fail/probability")
	times=$(cat "$fail/times")
	verbose=$(cat "$fail/verbose")
	at_exit quiet
	must_put 0 "$fail/verbose"
	for delay in -1 1000; do
		timed completion_nsec=3000000 || return 0
		must_put 1000 "$queue/io_timeout"
		must_put "$delay" "$queue/io_poll_delay"
		must_put 1 "$fail/times"
		must_put 100 "$fail/probability"
		must_put 1 "/sys/block/$disk/io-timeout-fail"
		measure -n 20
		tell "one of 20 lost, delay $delay"
		given_up=$((given_up + 1))
		expect "failed I/Os" "${io[errors]}" -eq 1
		expect "its errno" "${io[errno]}" -eq 110
		expect "its latency in us" "${io[max_us]}" -ge 1000000
		expect "its latency in us" "${io[max_us]}" -lt 8000000
		null_gone "$name"
	done
}

# Its time comes when it has been given up: nobody finds it then.
too_late() {
	timed completion_nsec=3000000000 || return 0
	must_put 500 "$queue/io_timeout"
	for delay in -1 1000; do
		must_put "$delay" "$queue/io_poll_delay"
		measure -n 1
		tell "longer than the timeout, delay $delay"
		given_up=$((given_up + 1))
		expect "failed I/Os" "${io[errors]}" -eq 1
		expect "its errno" "${io[errno]}" -eq 110
		expect "its latency in us" "${io[max_us]}" -lt 3000000
	done
	must_put 10000 "$queue/io_timeout"
	# Looks that would find the old ones, which were due meanwhile.
	measure -n 1
	tell "afterwards"
	at_least 3000000
	null_gone "$name"
}

# As many as the cases have counted, and not one more.
as_announced() {
	local lines

	lines=$(log_since | grep -c 'null_blk: rq .* timed out' || true)
	expect "requests given up" "$lines" -eq "$given_up"
}

prepare
[ -d "$nullb" ] || skip_all "no null_blk in configfs"
grep -qw channels "$nullb/features" || skip_all "null_blk takes no latencies"

disk=null_blk
begin 10
try completion_nsec
disk=null_blk
try no_time
disk=null_blk
try tables
disk=null_blk
try channels
disk=null_blk
try out_of_order
disk=null_blk
try nonsense
disk=null_blk
try crowd
disk=null_blk
try lost
disk=null_blk
try too_late
disk=null_blk
try as_announced
finish
