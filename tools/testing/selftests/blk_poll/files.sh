#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RWF_HIPRI on files: reads and overwrites poll and sleep, the rest ends by interrupt.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

longest_us=5000000
mib=1048576

unmount() {
	! mountpoint -q "$tmp/mnt" || umount "$tmp/mnt"
}

in_time() {
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

# The journal and the superblock are written by interrupt, at any time.
expect_file_polled() {
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	expect "downgraded I/Os" "${delta[downgraded]}" -eq 0
	expect "void I/Os" "${delta[void]}" -eq 0
	expect_slept 90
	expect "interrupts" "${delta[irqs]}" -le $((io[ios] / 5))
}

make_fs() {
	case $1 in
	ext4)
		mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 \
			"/dev/$disk" 128m
		;;
	xfs)
		mkfs.xfs -q -f -K "/dev/$disk"
		;;
	esac
}

on() {
	local fs=$1

	if ! grep -qw "$fs" /proc/filesystems || ! command -v "mkfs.$fs" >/dev/null; then
		skip "no $fs"
		return
	fi
	mkdir -p "$tmp/mnt"
	dev=/dev/$disk
	must_put -1 "$queue/io_poll_delay"
	if ! make_fs "$fs" >"$tmp/mkfs" 2>&1; then
		note "mkfs.$fs: $(cat "$tmp/mkfs")"
		failed=1
		return
	fi
	mount "/dev/$disk" "$tmp/mnt"
	must_put 3000 "$queue/io_poll_delay"

	# Written once, so that what follows are overwrites.
	dd if=/dev/zero of="$tmp/mnt/file" bs=$mib count=4 conv=fsync status=none
	dev=$tmp/mnt/file
	measure -n 40 -w -v -b 8192
	tell "$fs, overwrites"
	in_time
	expect_file_polled
	measure -n 40 -v -b 8192
	tell "$fs, reads"
	in_time
	expect_file_polled
	measure -n 20 -w -v -b 8192 -D
	tell "$fs, DSYNC"
	in_time
	measure -n 20 -j 4 -b 16384
	tell "$fs, four jobs"
	in_time

	# Larger than the device takes at once, and than one bio holds.
	measure -n 4 -w -v -b $mib
	in_time
	expect "interrupts" "${delta[irqs]}" -gt 0
	measure -n 4 -v -b $mib
	in_time
	measure -n 2 -w -v -b $((2 * mib))
	in_time
	measure -n 2 -v -b $((2 * mib))
	in_time

	# Holes: blocks are allocated, and zeroed around what is written.
	truncate -s $((4 * mib)) "$tmp/mnt/holes"
	dev=$tmp/mnt/holes
	measure -n 20 -v -b 8192 -o $mib
	expect "I/Os with wrong data in a hole" "${io[bad]}" -eq 20
	measure -n 20 -w -v -b 512 -o $mib
	tell "$fs, into holes"
	in_time
	measure -n 20 -v -b 512 -o $mib
	in_time
	cmp -n $mib "$tmp/mnt/holes" /dev/zero || expect "bytes before the stamps" changed = zero

	# Blocks that are allocated but not written.
	fallocate -l $((2 * mib)) "$tmp/mnt/unwritten"
	dev=$tmp/mnt/unwritten
	measure -n 20 -w -v -b 4096
	tell "$fs, into unwritten blocks"
	in_time
	measure -n 20 -v -b 4096
	in_time

	# All of it as the page cache sees it, from the disk.
	sync
	echo 3 >/proc/sys/vm/drop_caches
	dev=$tmp/mnt/file
	measure -n 2 -v -b $((2 * mib)) -i
	in_time
	unmount
	dev=/dev/$disk
}

prepare
use_disk data
keep "$queue/io_poll_delay"
at_exit unmount

begin 2
try ext4 on ext4
try xfs on xfs
finish
