#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Polled I/O on an NVMe disk with two paths: it ends whatever path goes away.
#   Takes two controllers of one subsystem with the serial number blkpoll-multi,
#   or those that BLK_POLL_MULTI names, as in "nvme3 nvme4".
set -euo pipefail
. "$(dirname "$0")/lib.sh"

longest_us=10000000

find_ctrls() {
	local dir

	if [ -n "${BLK_POLL_MULTI:-}" ]; then
		tr ' ' '\n' <<<"$BLK_POLL_MULTI"
		return
	fi
	for dir in /sys/class/nvme/nvme*; do
		[ "$(tr -d ' ' <"$dir/serial")" != blkpoll-multi ] || echo "${dir##*/}"
	done
}

# The disk above the paths, and the hidden one of each path.
set_paths() {
	local dir head

	mapfile -t ctrls < <(find_ctrls)
	[ "${#ctrls[@]}" -ge 1 ] || return
	for dir in /sys/class/nvme-subsystem/nvme-subsys*/nvme*n*; do
		if [ -e "${dir%/*}/${ctrls[0]}" ] && [[ ${dir##*/} =~ ^nvme[0-9]+n[0-9]+$ ]]; then
			head=${dir##*/}
		fi
	done
	[ -n "${head:-}" ] || return
	disk=$head
	dev=/dev/$disk
	queue=/sys/block/$disk/queue
	paths=("/sys/class/nvme/${ctrls[0]}"/nvme*c*n*)
	[ "${#ctrls[@]}" -lt 2 ] || paths+=("/sys/class/nvme/${ctrls[1]}"/nvme*c*n*)
}

# Interrupts of both controllers.
both_irqs() {
	local sum=0 nr n

	for nr in "${!ctrls[@]}"; do
		ctrl=${ctrls[nr]}
		n=$(irqs)
		sum=$((sum + (n > 0 ? n : 0)))
	done
	echo "$sum"
}

# What is written to the disk is what both paths read.
paths_read() {
	local path

	for path in "${paths[@]}"; do
		expect "$1 of ${path##*/}" "$(get "$path/queue/$1")" = "$2"
	done
}

set_both() {
	must_put "$2" "$queue/$1"
	expect "$1" "$(get "$queue/$1")" = "$2"
	paths_read "$1" "$2"
}

passed_on() {
	local value

	for value in 0 3000 -1; do
		set_both io_poll_delay "$value"
	done
	set_both io_poll_policy mean
	set_both io_poll_policy lmd
	set_both io_poll_sync 1
	set_both io_poll_sync 0
	refused "$queue/io_poll_delay" 100001 "Invalid argument"
	refused "$queue/io_poll_delay" x "Invalid argument"
	# A path of its own will, until the disk is written to again.
	set_both io_poll_delay 3000
	must_put 0 "${paths[0]}/queue/io_poll_delay"
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = 3000
	set_both io_poll_delay 3000
}

run_io() {
	timeout 100 "$poll_io" "$@" "$dev" >"$tmp/multi" || note "poll_io $*: status $?"
	read_io multi
	note "${io[ios]} I/Os, mean ${io[mean_us]} max ${io[max_us]} us, voluntary ${io[voluntary]}"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

# polled DELAY: as the paths' io_poll_delay says.
polled() {
	local irqs completed

	if [ "$(cat "$queue/io_poll")" != 1 ]; then
		skip "the disk above the paths cannot be polled"
		return
	fi
	must_put "$1" "$queue/io_poll_delay"
	irqs=$(both_irqs)
	completed=$(cat "$queue/io_poll_completed")
	run_io -n 60
	run_io -n 60 -w
	expect "interrupts" $(($(both_irqs) - irqs)) -eq 0
	expect "io_poll_completed" "$(($(cat "$queue/io_poll_completed") - completed))" -ge 120
	if [ "$1" -gt 0 ]; then
		expect "voluntary switches" "${io[voluntary]}" -ge 54
	elif [ "$1" -lt 0 ]; then
		expect "voluntary switches" "${io[voluntary]}" -le 6
	fi
}

crowd() {
	must_put 3000 "$queue/io_poll_delay"
	run_io -n 25 -j 6
	expect "I/Os" "${io[ios]}" -eq 150
}

# Each controller is reset under load: I/O goes to the other path.
reset_each() {
	local nr

	must_put "$1" "$queue/io_poll_delay"
	load_start load -n 0 -l 90 -j 3 "$dev"
	for nr in 0 1 0; do
		sleep 0.3
		timeout 60 sh -c "echo 1 >/sys/class/nvme/${ctrls[nr]}/reset_controller" ||
			expect "status of the reset" "$?" -eq 0
	done
	sleep 0.3
	load_stop load 60
	note "${io[ios]} I/Os, longest ${io[max_us]} us"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

# A path is taken away for good while its sleepers sleep.
path_removed() {
	local dir

	must_put 50000 "$queue/io_poll_delay"
	dir=$(readlink -f "/sys/class/nvme/${ctrls[0]}/device")
	load_start load -n 0 -l 90 -j 3 "$dev"
	sleep 0.5
	timeout 60 sh -c "echo 1 >$dir/remove" || expect "status of the removal" "$?" -eq 0
	sleep 1
	load_stop load 60
	note "${io[ios]} I/Os, longest ${io[max_us]} us"
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
	set_paths || { note "the disk is gone"; failed=1; return; }
	run_io -n 30
}

# The path comes back, and is set as the disk is.
path_returns() {
	must_put 4000 "$queue/io_poll_delay"
	must_put 1 "$queue/io_poll_sync"
	echo 1 >/sys/bus/pci/rescan
	wait_for 30 two_paths || { note "only one path"; failed=1; return; }
	wait_for 30 delay_is 4000 || true
	paths_read io_poll_delay 4000
	paths_read io_poll_sync 1
	must_put 0 "$queue/io_poll_sync"
	run_io -n 30
}

delay_is() {
	local path

	for path in "${paths[@]}"; do
		[ "$(cat "$path/queue/io_poll_delay")" = "$1" ] || return
	done
}


restore() {
	echo 1 >/sys/bus/pci/rescan
	wait_for 20 two_paths || note "only one path"
	put -1 "$queue/io_poll_delay" || true
}

two_paths() {
	set_paths && [ "${#ctrls[@]}" -eq 2 ]
}

prepare
set_paths || skip_all "no NVMe disk for the role multi"
[ "${#ctrls[@]}" -eq 2 ] || skip_all "needs two controllers"
[ -e "${paths[1]}/queue" ] || skip_all "no native multipath"
ctrl=${ctrls[0]}
at_exit restore
# The paths are gone and back meanwhile, in between one of them serves.
announced='Failing over|requeu|no (usable|available) path'

begin 10
try passed_on
try classic polled -1
try sleeping polled 3000
try adaptive polled 0
try crowd
try reset_classic reset_each -1
try reset_sleeping reset_each 3000
try reset_mid_sleep reset_each 50000
try path_removed
try path_returns
finish
