#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RWF_HIPRI on device-mapper: linear polls and sleeps, crypt works by interrupt.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# One that waits for the request's timeout would take 30 s.
longest_us=5000000
size=131072
key=$(printf '%064d' 0)

has_target() {
	dmsetup targets 2>/dev/null | grep -q "^$1 "
}

# dm_start NAME LINE...: make the table's device the one that is tested; its
# queue is $dm, disk and counters stay those of the disk below.
dm_start() {
	local name=blk_poll_$1 node
	shift

	printf '%s\n' "$@" | timeout 30 dmsetup create --noudevsync "$name" || return
	timeout 30 dmsetup mknodes "$name"
	dev=/dev/mapper/$name
	node=$(readlink -f "$dev")
	[[ $node == /dev/dm-* ]] ||
		node=/dev/dm-$(($(stat -c 0x%T "$dev")))
	dm=/sys/block/${node##*/}/queue
}

dm_stop() {
	local name

	for name in $(dmsetup ls 2>/dev/null | awk '/^blk_poll_/ { print $1 }'); do
		timeout 60 dmsetup remove --noudevsync "$name" || note "cannot remove $name"
	done
	dev=/dev/$disk
}

only_classic() {
	local value

	must_put -1 "$dm/io_poll_delay"
	for value in 0 1000; do
		if put "$value" "$dm/io_poll_delay"; then
			note "$value was taken"
			failed=1
		else
			expect "the error" "$why" = "Invalid argument"
		fi
	done
	expect "io_poll_delay" "$(cat "$dm/io_poll_delay")" = -1
	expect "an io_poll_policy" "$([ ! -e "$dm/io_poll_policy" ] || echo there)" = ""
}

crypt() {
	if ! has_target crypt; then
		skip "no dm-crypt"
		return
	fi
	use_disk data
	must_put 3000 "$queue/io_poll_delay"
	dm_start crypt "0 $size crypt aes-xts-plain64 $key 0 $dev 0"
	expect "io_poll" "$(cat "$dm/io_poll")" = 0
	only_classic
	measure -n 30 -w -v -b 8192
	tell "writes"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	expect "interrupts" "${delta[irqs]}" -ge 30
	expect "samples" "${delta[samples]}" -eq 0
	measure -n 30 -v -b 8192
	tell "reads"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	expect "interrupts" "${delta[irqs]}" -ge 30
	measure -j 4 -n 20
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	dm_stop
}

crypt_uring() {
	local said start=$SECONDS

	if ! has_target crypt || ! command -v fio >/dev/null; then
		skip "no dm-crypt or no fio"
		return
	fi
	use_disk fast
	dm_start crypt "0 $size crypt aes-xts-plain64 $key 0 $dev 0"
	said=$(fio_uring --rw=randread --number_ios=5 --size=1m)
	grep -q "Operation not supported" <<<"$said" ||
		expect "what fio says" "$said" = "Operation not supported"
	expect "seconds" $((SECONDS - start)) -lt 20
	dm_stop
}

# The same below a linear one: what cannot poll must show through.
crypt_stacked() {
	local below

	if ! has_target crypt || ! has_target linear; then
		skip "no dm-crypt or no dm-linear"
		return
	fi
	use_disk fast
	dm_start below "0 $size crypt aes-xts-plain64 $key 0 $dev 0"
	below=$dev
	dm_start above "0 $size linear $below 0"
	expect "io_poll" "$(cat "$dm/io_poll")" = 0
	measure -n 20
	tell "linear on crypt"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	timeout 60 dmsetup remove --noudevsync blk_poll_above || failed=1
	dm_stop
}

linear() {
	if ! has_target linear; then
		skip "no dm-linear"
		return
	fi
	use_disk fast
	must_put "$1" "$queue/io_poll_delay"
	dm_start linear "0 $size linear $dev 0"
	expect "io_poll" "$(cat "$dm/io_poll")" = 1
	only_classic
	for args in '' -w; do
		measure -n 60 ${args:+"$args"}
		tell "linear $args"
		expect_good_io
		expect "interrupts" "${delta[irqs]}" -eq 0
		if [ "$1" -gt 0 ]; then
			expect "samples" "${delta[samples]}" -eq "${io[ios]}"
			expect "voluntary switches" "${io[voluntary]}" -ge $((io[ios] * 9 / 10))
		else
			expect "voluntary switches" "${io[voluntary]}" -le $((io[ios] / 10))
		fi
	done
	dm_stop
}

# At 0 only reads have been learnt before; writes learn on the way.
linear_adaptive() {
	if ! has_target linear; then
		skip "no dm-linear"
		return
	fi
	use_disk fast
	must_put 0 "$queue/io_poll_delay"
	dm_start linear "0 $size linear $dev 0"
	learn read 4096
	measure -n 100
	tell "linear at 0"
	expect_good_io
	expect "interrupts" "${delta[irqs]}" -eq 0
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	expect "voluntary switches" "${io[voluntary]}" -ge $((io[ios] * 9 / 10))
	dm_stop
}

# More jobs than the disk's poll queues: a peer's look completes the clone, dm
# completes the bio only when its own poller looks.
linear_crowd() {
	if ! has_target linear; then
		skip "no dm-linear"
		return
	fi
	use_disk fast
	must_put 3000 "$queue/io_poll_delay"
	dm_start linear "0 $size linear $dev 0"
	measure -j 4 -n 50
	tell "four jobs"
	expect_good_io
	expect "I/Os" "${io[ios]}" -eq 200
	expect "interrupts" "${delta[irqs]}" -eq 0
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	dm_stop
}

# Each I/O goes to both disks, the fast and the slow one.
striped() {
	local other

	if ! has_target striped; then
		skip "no dm-stripe"
		return
	fi
	use_disk slow
	must_put 0 "$queue/io_poll_delay"
	other=$dev
	use_disk fast
	must_put 3000 "$queue/io_poll_delay"
	dm_start stripe "0 $size striped 2 8 $other 0 $dev 0"
	measure -n 20 -b 4096
	tell "within a stripe"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	measure -n 20 -b 16384
	tell "across stripes"
	expect_good_io
	# one sleep for all clones of an I/O, not one for each
	expect "voluntary switches" "${io[voluntary]}" -ge $((io[ios] * 9 / 10))
	expect "voluntary switches" "${io[voluntary]}" -le $((io[ios] * 15 / 10))
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	measure -n 10 -b 1048576 -w
	tell "across many stripes"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	dm_stop
}

# Suspended and given another table under load.
suspended() {
	local i

	if ! has_target linear; then
		skip "no dm-linear"
		return
	fi
	use_disk fast
	must_put 50000 "$queue/io_poll_delay"
	dm_start linear "0 $size linear $dev 0"
	load_start load -n 0 -l 60 -j 2 "$dev"
	for i in {1..4}; do
		timeout 30 dmsetup suspend --noudevsync blk_poll_linear ||
			expect "status of suspend $i" "$?" -eq 0
		timeout 30 dmsetup reload --table "0 $size linear /dev/$disk $((i * 8))" \
			blk_poll_linear
		timeout 30 dmsetup resume --noudevsync blk_poll_linear
	done
	load_stop load 30
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	dm_stop
}

# From a table that polls to one that does not, with I/O in flight.
table_changed() {
	if ! has_target crypt || ! has_target linear; then
		skip "no dm-crypt or no dm-linear"
		return
	fi
	use_disk fast
	must_put 50000 "$queue/io_poll_delay"
	dm_start linear "0 $size linear $dev 0"
	load_start load -n 0 -l 60 -j 2 "$dev"
	sleep 0.3
	timeout 30 dmsetup reload --table "0 $size crypt aes-xts-plain64 $key 0 /dev/$disk 0" \
		blk_poll_linear
	timeout 30 dmsetup suspend --noudevsync blk_poll_linear ||
		expect "status of suspend" "$?" -eq 0
	timeout 30 dmsetup resume --noudevsync blk_poll_linear
	sleep 0.3
	load_stop load 30
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	expect "io_poll" "$(cat "$dm/io_poll")" = 0
	dm_stop
}

# A target that fails at once, before anything was submitted below.
error_target() {
	if ! has_target error; then
		skip "no dm-error"
		return
	fi
	use_disk fast
	dm_start error "0 $size error"
	timeout 60 "$poll_io" -n 10 "$dev" >"$tmp/error"
	read_io error
	expect "failed I/Os" "${io[errors]}" -eq 10
	expect "errno" "${io[errno]}" -eq 5
	dm_stop
}

prepare
command -v dmsetup >/dev/null || skip_all "no dmsetup"
[ -c /dev/mapper/control ] || dmsetup mknodes >/dev/null 2>&1 || true
dmsetup targets >/dev/null 2>&1 || skip_all "no device-mapper"
for role in data slow fast; do
	use_disk "$role"
	keep "$queue/io_poll_delay"
done
at_exit dm_stop

begin 11
use_disk data
try crypt
use_disk fast
try crypt_io_uring crypt_uring
try crypt_stacked
try linear_classic linear -1
try linear_fixed linear 3000
try linear_adaptive
try linear_crowd
try striped
try suspended
try table_changed
try error_target
finish
