#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With io_poll_sync at 1 programs poll that do not ask for it; at 0 they do not.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

longest_us=5000000

values() {
	local value

	must_put 0 "$queue/io_poll_sync"
	for value in 2 -1 '' x 1x; do
		refused "$queue/io_poll_sync" "$value" "Invalid argument"
	done
	refused "$queue/io_poll_sync" 4294967296 "Numerical result out of range"
	must_put 1 "$queue/io_poll_sync"
	expect "io_poll_sync" "$(cat "$queue/io_poll_sync")" = 1
	refused "$queue/io_poll_sync" 2 "Invalid argument"
	must_put 0 "$queue/io_poll_sync"
	expect "io_poll_sync" "$(cat "$queue/io_poll_sync")" = 0
}

# The counts are for everybody to read, and for nobody to write.
unprivileged() {
	local name count

	for name in io_poll_completed io_poll_downgraded; do
		count=$(cat "$queue/$name")
		expect "$name as nobody reads it" "$(as_nobody cat "$queue/$name")" = "$count"
		expect "mode of $name" "$(stat -c %a "$queue/$name")" = 444
	done
	if as_nobody sh -c "echo 1 >$queue/io_poll_sync" 2>/dev/null; then
		note "nobody may write io_poll_sync"
		failed=1
	fi
}

by_interrupt() {
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -ge "${io[ios]}"
	expect "samples" "${delta[samples]}" -eq 0
	expect "io_poll_completed" "${delta[completed]}" -eq 0
}

off() {
	must_put 0 "$queue/io_poll_sync"
	must_put 3000 "$queue/io_poll_delay"
	measure -n 40 -i
	tell "off"
	by_interrupt
}

sleeping() {
	must_put 1 "$queue/io_poll_sync"
	must_put 3000 "$queue/io_poll_delay"
	measure -n 40 -i
	tell "reads"
	expect_good_io
	expect_polled
	expect_slept 90
	measure -n 40 -i -w
	tell "writes"
	expect_good_io
	expect_polled
	expect_slept 90
}

classic() {
	must_put 1 "$queue/io_poll_sync"
	must_put -1 "$queue/io_poll_delay"
	measure -n 40 -i
	tell "classic"
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -eq 0
	expect "io_poll_completed" "${delta[completed]}" -eq "${io[ios]}"
	expect "sleeps" "${delta[sleeps]}" -eq 0
}

# A plain program, with blocks of a sector.
dd_polls() {
	must_put 1 "$queue/io_poll_sync"
	must_put 3000 "$queue/io_poll_delay"
	before
	timeout 100 dd if="$dev" of="$tmp/sectors" bs=512 count=40 iflag=direct status=none ||
		expect "status of dd" "$?" -eq 0
	timeout 100 dd if="$tmp/sectors" of="$dev" bs=512 count=40 oflag=direct status=none ||
		expect "status of dd" "$?" -eq 0
	after
	note "dd: io_poll_completed ${delta[completed]}, sleeps ${delta[sleeps]}," \
		"irqs ${delta[irqs]}"
	expect "interrupts" "${delta[irqs]}" -eq 0
	expect "io_poll_completed" "${delta[completed]}" -eq 80
	expect "sleeps" "${delta[sleeps]}" -ge 72
}

# What is not synchronous, direct, and a single bio is left alone.
others() {
	must_put 1 "$queue/io_poll_sync"
	must_put 3000 "$queue/io_poll_delay"
	before
	timeout 100 dd if="$dev" of=/dev/null bs=4k count=8 skip=100 iflag=nocache status=none
	after
	expect "interrupts of buffered reads" "${delta[irqs]}" -gt 0
	expect "polled of buffered reads" "${delta[completed]}" -eq 0
	measure -n 8 -i -b 2097152
	tell "2 MiB"
	by_interrupt
	before
	timeout 100 fio --name=aio --filename="$dev" --direct=1 --bs=4k --rw=randread \
		--thread --ioengine=libaio --iodepth=4 --number_ios=40 --size=64m \
		--minimal >"$tmp/fio" 2>&1 ||
		note "fio says: $(cat "$tmp/fio")"
	after
	expect "interrupts of asynchronous reads" "${delta[irqs]}" -gt 0
	expect "polled of asynchronous reads" "${delta[completed]}" -eq 0
}

# I/O that was to be polled and is split counts as downgraded.
downgrades() {
	local old

	must_put 1 "$queue/io_poll_sync"
	must_put -1 "$queue/io_poll_delay"
	old=$(cat "$queue/io_poll_downgraded")
	measure -n 8 -i -b 1048576
	tell "1 MiB"
	expect_good_io
	expect "io_poll_downgraded" "$(($(cat "$queue/io_poll_downgraded") - old))" -eq "${io[ios]}"
}

unmount() {
	! mountpoint -q "$tmp/mnt" || umount "$tmp/mnt"
}

on_file() {
	local old=$disk

	if ! grep -qw ext4 /proc/filesystems || ! command -v mkfs.ext4 >/dev/null; then
		skip "no ext4"
		return
	fi
	set_disk "$data"
	must_put 0 "$queue/io_poll_sync"
	mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$dev" 128m
	mkdir -p "$tmp/mnt"
	mount "$dev" "$tmp/mnt"
	dd if=/dev/zero of="$tmp/mnt/file" bs=1M count=2 conv=fsync status=none
	must_put 3000 "$queue/io_poll_delay"
	dev=$tmp/mnt/file
	measure -n 30 -i -v -w
	tell "file, off"
	expect_good_io
	expect "samples" "${delta[samples]}" -eq 0
	must_put 1 "$queue/io_poll_sync"
	for direction in -w ''; do
		# shellcheck disable=SC2086 # one word or none
		measure -n 30 -i -v $direction
		tell "file, on $direction"
		expect_good_io
		expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
		expect "samples" "${delta[samples]}" -eq "${io[ios]}"
		expect_slept 90
	done
	must_put 0 "$queue/io_poll_sync"
	must_put -1 "$queue/io_poll_delay"
	unmount
	set_disk "$old"
}

# A queue that cannot poll takes 0, and nothing else.
cannot_poll() {
	null_make blk_poll_sync || return 0
	must_put 0 "/sys/block/$null_disk/queue/io_poll_sync"
	refused "/sys/block/$null_disk/queue/io_poll_sync" 1 "Invalid argument"
	null_gone blk_poll_sync
}

prepare
use_disk fast
data=$(find_disk data) || skip_all "no NVMe disk for the role data"
keep "$queue/io_poll_delay" "$queue/io_poll_sync"
at_exit unmount

begin 11
try values
try unprivileged
try off
try sleeping
try classic
try dd_polls
try others
try downgrades
try on_file
try cannot_poll
try off_again off
finish
