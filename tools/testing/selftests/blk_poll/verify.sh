#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What polled I/O writes and reads is right, with a write cache too.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

nullb=/sys/kernel/config/nullb
longest_us=5000000

# Written polled and read by interrupt, then the other way round.
stamps() {
	local count=$((1048576 / $1))

	[ "$count" -le 16 ] || count=16
	[ "$count" -ge 4 ] || count=4
	for args in "-w" "-i" "-w -i -o 4194304" "-o 4194304"; do
		read -ra words <<<"$args"
		measure -b "$1" -n "$count" -v "${words[@]}"
		expect_good_io
		[[ $args == *-i* ]] || [ "$1" -gt $((max_kb * 1024)) ] ||
			expect "interrupts of $args" "${delta[irqs]}" -eq 0
	done
}

fio_verify() {
	local said
	shift

	if ! command -v fio >/dev/null; then
		skip "no fio"
		return
	fi
	before
	if ! said=$(timeout 100 fio --name=verify --filename="$dev" --direct=1 --thread \
		    --size=2m --verify=crc32c --verify_fatal=1 "$@" --hipri 2>&1); then
		note "fio says: ${said//$'\n'/$'\n'# }"
		failed=1
	fi
	after
	note "fio: samples ${delta[samples]} sleeps ${delta[sleeps]}" \
		"void ${delta[void]} irqs ${delta[irqs]}"
	expect "interrupts" "${delta[irqs]}" -eq 0
}

pvsync2() {
	fio_verify pvsync2 --ioengine=pvsync2 "$@"
	expect "samples" "${delta[samples]}" -gt 0
	expect "sleeps" "${delta[sleeps]}" -gt 0
}

io_uring() {
	fio_verify io_uring --ioengine=io_uring --iodepth=8 "$@"
	expect "samples" "${delta[samples]}" -gt 0
}

# A device with a write cache that knows FUA: the write is polled, and the
# flush after it comes by interrupt.
dsync() {
	if [ "$(cat "$queue/write_cache")" != "write back" ]; then
		skip "the disk has no write cache"
		return
	fi
	must_put "$1" "$queue/io_poll_delay"
	measure -w -D -n 40
	tell "DSYNC at $1"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	measure -w -D -n 20 -j 4
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

null_remove() {
	[ ! -d "$nullb/blk_poll_verify" ] || rmdir "$nullb/blk_poll_verify"
}

# A device with a write cache and without FUA: a flush on a poll queue would
# wait for somebody to look.
dsync_no_fua() {
	local dir=$nullb/blk_poll_verify pair null name

	if [ ! -d "$nullb" ]; then
		skip "no null_blk in configfs"
		return
	fi
	mkdir "$dir"
	if [ ! -e "$dir/fua" ] || [ ! -e "$dir/poll_queues" ]; then
		null_remove
		skip "null_blk has no attribute fua or poll_queues"
		return
	fi
	for pair in memory_backed=1 size=64 cache_size=1 fua=0 submit_queues=1 \
		    poll_queues=1 power=1; do
		must_put "${pair#*=}" "$dir/${pair%%=*}"
	done
	name=nullb$(cat "$dir/index")
	[ ! -b /dev/blk_poll_verify ] || name=blk_poll_verify
	null=/sys/block/$name/queue
	expect "write_cache" "$(cat "$null/write_cache")" = "write back"
	expect "fua" "$(cat "$null/fua")" = 0
	expect "io_poll" "$(cat "$null/io_poll")" = 1
	for args in "-w -v -D" "-v" "-w -v -D -j 4"; do
		read -ra words <<<"$args"
		timeout 100 "$poll_io" -n 20 "${words[@]}" "/dev/$name" >"$tmp/null"
		read_io null
		expect_good_io
		expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	done
	null_remove
}

# write_cache that changes under load decides between the two ways.
write_cache_toggled() {
	local i value

	value=$(cat "$queue/write_cache")
	must_put 3000 "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -j 2 -w -D "$dev"
	for i in {1..15}; do
		must_put "write through" "$queue/write_cache"
		must_put "write back" "$queue/write_cache"
	done
	load_stop load 40
	must_put "$value" "$queue/write_cache"
	note "$i rounds, ${io[ios]} writes, longest ${io[max_us]} us"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

prepare
use_disk data
keep "$queue/io_poll_delay" "$queue/write_cache"
max_kb=$(cat "$queue/max_sectors_kb")
put 3000 "$queue/io_poll_delay"
at_exit null_remove

begin 14
for size in 512 4096 8192 65536 131072 524288 1048576 2097152; do
	try "stamps_$size" stamps "$size"
done
try fio_pvsync2_randwrite pvsync2 --rw=randwrite --bs=16k
try fio_io_uring_randwrite io_uring --rw=randwrite --bs=16k
try dsync_sleeping dsync 3000
try dsync_classic dsync -1
try dsync_without_fua dsync_no_fua
try write_cache_toggled
finish
