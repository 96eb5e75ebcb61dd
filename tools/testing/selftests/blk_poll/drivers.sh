#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Poll queues of the other drivers: virtio_blk and NVMe over TCP sleep, null_blk and SCSI spin.
#   Takes a virtio disk with the serial number blkpoll-virtio, or the one that
#   BLK_POLL_VIRTIO names; makes the others itself.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

longest_us=5000000
nvmet=/sys/kernel/config/nvmet
scsi=/sys/bus/pseudo/drivers/scsi_debug
nqn=blk_poll_drivers

in_time() {
	expect_good_io
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

polled_all() {
	expect "io_poll_completed" "${delta[completed]}" -ge "${io[ios]}"
	expect "downgraded I/Os" "${delta[downgraded]}" -eq 0
}

# What was written by polling is what a reader by interrupt finds.
verified() {
	measure -n 60 -w -v -b 8192
	tell "writes"
	in_time
	polled_all
	measure -n 60 -v -b 8192 -i
	in_time
	measure -n 60 -v -b 8192
	tell "reads"
	in_time
	polled_all
}

find_virtio() {
	local dir

	if [ -n "${BLK_POLL_VIRTIO:-}" ]; then
		basename "$BLK_POLL_VIRTIO"
		return
	fi
	for dir in /sys/block/vd*; do
		if [ -e "$dir/serial" ] && [ "$(cat "$dir/serial")" = blkpoll-virtio ]; then
			echo "${dir##*/}"
			return
		fi
	done
	return 1
}

virtio() {
	local name

	name=$(find_virtio) || { skip "no virtio disk for this test"; return; }
	set_any_disk "$name"
	if [ "$(cat "$queue/io_poll")" != 1 ]; then
		skip "no poll queues: boot with virtio_blk.poll_queues=1"
		return
	fi
	must_put 3000 "$queue/io_poll_delay"
	measure -n 60
	tell "virtio, fixed"
	in_time
	polled_all
	expect_slept 90
	must_put 0 "$queue/io_poll_delay"
	learn read 4096
	measure -n 60
	tell "virtio, adaptive"
	in_time
	polled_all
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	expect_slept 80
	measure -n 30 -j 6
	tell "virtio, six jobs"
	in_time
	polled_all
	must_put -1 "$queue/io_poll_delay"
	measure -n 30
	tell "virtio, classic"
	in_time
	polled_all
	expect "sleeps" "${delta[sleeps]}" -eq 0
}

null() {
	null_make blk_poll_drivers submit_queues=2 poll_queues=1 || return 0
	set_any_disk "$null_disk"
	must_put 1000 "$queue/io_poll_delay"
	verified
	# It is done at the first look: nobody sleeps, and each look has a sample.
	expect "sleeps" "${delta[sleeps]}" -eq 0
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	must_put 0 "$queue/io_poll_delay"
	measure -n 200 -j 8
	tell "null_blk, eight jobs"
	in_time
	polled_all
	# Queues that come and go under load.
	load_start load -n 0 -l 60 -j 3 -w -v "$dev"
	for value in 1 2 1 2; do
		must_put "$value" "$nullb/blk_poll_drivers/submit_queues"
		sleep 0.1
	done
	load_stop load 40
	in_time
	null_gone blk_poll_drivers
}

scsi_stop() {
	[ ! -w "$scsi/add_host" ] || put -1 "$scsi/add_host" || true
}

scsi_disk() {
	local dir

	for dir in "$scsi"/adapter*/host*/target*/*/block/sd*; do
		[ ! -b "/dev/${dir##*/}" ] || { echo "${dir##*/}"; return; }
	done
	return 1
}

# Its ->poll() does not consult: polled, right, and never slept on.
scsi() {
	if [ ! -w "$scsi/add_host" ]; then
		skip "no scsi_debug"
		return
	fi
	if [ "$(cat /sys/module/scsi_debug/parameters/poll_queues 2>/dev/null)" = 0 ]; then
		skip "no poll queues: boot with scsi_debug.poll_queues=1"
		return
	fi
	put 1 "$scsi/add_host"
	if ! wait_for 20 scsi_disk >"$tmp/sd"; then
		note "scsi_debug made no disk"
		failed=1
		return
	fi
	set_any_disk "$(scsi_disk)"
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
	for value in -1 0 3000; do
		must_put "$value" "$queue/io_poll_delay"
		verified
		expect "sleeps" "${delta[sleeps]}" -eq 0
	done
}

tcp_stop() {
	nvme disconnect -n "$nqn" >/dev/null 2>&1 || true
	rm -f "$nvmet/ports/77/subsystems/$nqn"
	[ ! -d "$nvmet/ports/77" ] || rmdir "$nvmet/ports/77"
	if [ -d "$nvmet/subsystems/$nqn" ]; then
		put 0 "$nvmet/subsystems/$nqn/namespaces/1/enable" || true
		rmdir "$nvmet/subsystems/$nqn/namespaces/1" "$nvmet/subsystems/$nqn"
	fi
}

tcp_disk() {
	local dir node

	for dir in /sys/class/nvme-subsystem/nvme-subsys*; do
		[ "$(cat "$dir/subsysnqn")" = "$nqn" ] || continue
		# the disk above the paths, or that of the only controller
		for node in "$dir"/nvme*n* "$dir"/nvme*/nvme*n*; do
			[[ ${node##*/} =~ ^nvme[0-9]+n[0-9]+$ ]] || continue
			echo "${node##*/}"
			return
		done
	done
	return 1
}

# A target in this machine, with the slow NVMe disk behind it.
tcp_start() {
	local space=$nvmet/subsystems/$nqn/namespaces/1 port=$nvmet/ports/77

	mkdir "$nvmet/subsystems/$nqn" "$space" "$port"
	must_put 1 "$nvmet/subsystems/$nqn/attr_allow_any_host"
	must_put "/dev/$data" "$space/device_path"
	must_put 1 "$space/enable"
	must_put ipv4 "$port/addr_adrfam"
	must_put tcp "$port/addr_trtype"
	must_put 127.0.0.1 "$port/addr_traddr"
	must_put 4420 "$port/addr_trsvcid"
	ip link set lo up
	ln -s "$nvmet/subsystems/$nqn" "$port/subsystems/$nqn"
	timeout 60 nvme connect -t tcp -a 127.0.0.1 -s 4420 -n "$nqn" \
		--nr-io-queues=1 --nr-poll-queues=1 >"$tmp/connect" 2>&1 ||
		{ note "nvme connect: $(cat "$tmp/connect")"; failed=1; return 1; }
	if ! wait_for 20 tcp_disk >"$tmp/tcp_disk"; then
		note "no disk after nvme connect"
		failed=1
		return 1
	fi
}

tcp() {
	local path slept

	if [ ! -d "$nvmet" ] || ! command -v nvme >/dev/null || ! command -v ip >/dev/null; then
		skip "no NVMe target, nvme or ip"
		return
	fi
	tcp_start || return 0
	set_any_disk "$(tcp_disk)"
	expect "io_poll" "$(cat "$queue/io_poll")" = 1
	# With native multipath the statistics are the path's.
	for path in /sys/block/"${disk%n*}"c*"n${disk##*n}"; do
		[ ! -e "$path" ] || stat=/sys/kernel/debug/block/${path##*/}/poll_stat
	done
	# A poller spins while its queue connects, beside the worker that receives.
	for _ in {1..20}; do
		must_put 1 "/sys/class/nvme/${disk%n*}/reset_controller"
	done
	must_put -1 "$queue/io_poll_delay"
	verified
	# Longer than it takes: the worker that receives the data wakes the poller,
	# long before its time. No counter of the path knows of such a sleep.
	must_put 100000 "$queue/io_poll_delay"
	verified
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	expect "voluntary switches" "${io[voluntary]}" -ge $((io[ios] * 9 / 10))
	expect "mean latency in us" "${io[mean_us]}" -lt 90000
	must_put 0 "$queue/io_poll_delay"
	slept=$(counter sleeps)
	learn read 8192
	verified
	expect "samples" "${delta[samples]}" -eq "${io[ios]}"
	measure -n 30 -j 6
	tell "TCP, six jobs"
	in_time
	# Not each time: what waking up costs here can be half of the latency, which
	# is then not worth a sleep.
	expect "sleeps" "$(($(counter sleeps) - slept))" -gt 0
	tcp_stop
}

prepare
data=$(find_disk data) || skip_all "no NVMe disk for the role data"
at_exit scsi_stop
at_exit tcp_stop

disk=virtio
begin 4
disk=virtio_blk
try polled virtio
disk=null_blk
try polled null
disk=scsi_debug
try polled scsi
disk=nvme_tcp
try polled tcp
finish
