#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An io_uring that polls sleeps until its earliest I/O is due, if it may.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

longest_us=5000000
ios=120
declare -A said

# ring [ARG]...: $ios random reads by fio; the fields of its terse line. With
# SQPOLL it does not know when an I/O was issued: then only the whole counts.
ring() {
	local said

	before
	said=$(fio_uring --rw=randread --size=64m --number_ios="$ios" --minimal "$@")
	after
	# 5 is the error, 9 the run time in ms, 15 the longest clat in us, 90 the
	# context switches
	IFS=';' read -ra fields <<<"$said"
	if [ "${#fields[@]}" -lt 90 ]; then
		note "fio says: ${said//$'\n'/$'\n'# }"
		failed=1
		fields=("${fields[@]:-}" {1..90})
	fi
	note "ring $*: ${fields[8]} ms, longest ${fields[14]} us," \
		"switches ${fields[89]}, irqs ${delta[irqs]}," \
		"looks ${delta[looks]}, samples ${delta[samples]}, sleeps ${delta[sleeps]}"
	expect "fio's error" "${fields[4]}" = 0
	expect "run time in ms" "${fields[8]}" -lt 20000
	[[ $* == *sqthread_poll* ]] ||
		expect "longest latency in us" "${fields[14]%.*}" -lt "$longest_us"
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# One I/O at a time: a sleep each.
one() {
	must_put "$1" "$queue/io_poll_delay"
	[ "$1" -ne 0 ] || learn read 4096
	ring --iodepth=1
	expect "samples" "${delta[samples]}" -eq "$ios"
	expect "sleeps" "${delta[sleeps]}" -ge $((ios * 8 / 10))
	expect "sleeps" "${delta[sleeps]}" -le $((ios * 11 / 10))
	expect "switches" "${fields[89]}" -ge $((delta[sleeps] * 8 / 10))
}

# Many at a time: fewer sleeps than I/Os, as one is for all of them.
many() {
	must_put "$1" "$queue/io_poll_delay"
	[ "$1" -ne 0 ] || learn read 4096
	# it may spin all the time: one I/O that is overdue is enough
	for _ in {1..10}; do
		ring --iodepth=16 --iodepth_batch_submit=16 --iodepth_batch_complete_min=1
		expect "samples" "${delta[samples]}" -eq "$ios"
		[ "${delta[sleeps]}" -eq 0 ] || break
	done
	expect "sleeps" "${delta[sleeps]}" -gt 0
	expect "sleeps" "${delta[sleeps]}" -lt "$ios"
}

classic() {
	must_put -1 "$queue/io_poll_delay"
	ring --iodepth=4
	expect "samples" "${delta[samples]}" -eq 0
	expect "sleeps" "${delta[sleeps]}" -eq 0
}

sqpoll() {
	must_put 3000 "$queue/io_poll_delay"
	ring --iodepth=4 --sqthread_poll=1
	expect "sleeps" "${delta[sleeps]}" -eq 0
}

# Commands of NVMe through the character device: nothing to sleep on.
passthrough() {
	local said node=/dev/ng${disk#nvme}

	if [ ! -c "$node" ]; then
		skip "no $node"
		return
	fi
	must_put 3000 "$queue/io_poll_delay"
	before
	said=$(timeout 100 fio --name=cmd --filename="$node" \
		--ioengine=io_uring_cmd --cmd_type=nvme \
		--hipri --thread --rw=randread --bs=4k --iodepth=4 --size=64m --number_ios="$ios" \
		--minimal 2>&1 || true)
	after
	expect "fio's error" "$(cut -d';' -f5 <<<"$said")" = 0
	expect "sleeps" "${delta[sleeps]}" -eq 0
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# A ring and tasks on one poll queue: each finds the other's completions.
beside() {
	must_put "$1" "$queue/io_poll_delay"
	load_start load -n 0 -l 60 -j 2 "$dev"
	ring --iodepth=8
	load_stop load 30
	expect_good_io
	note "tasks: ${io[ios]} I/Os, longest ${io[max_us]} us"
	expect "longest latency in us" "${io[max_us]}" -lt "$longest_us"
}

# Two rings on one poll queue.
two() {
	must_put "$1" "$queue/io_poll_delay"
	ios=100 ring --iodepth=4 --numjobs=2 --group_reporting
	expect "samples" "${delta[samples]}" -ge 190
}

toggled() {
	local pid

	must_put 0 "$queue/io_poll_delay"
	before
	fio_uring --rw=randread --size=64m --time_based --runtime=4 --iodepth=8 --minimal \
		>"$tmp/fio" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		for value in 0 -1 3000; do
			must_put "$value" "$queue/io_poll_delay"
		done
	done
	wait "$pid"
	after
	note "toggled: samples ${delta[samples]}, sleeps ${delta[sleeps]}"
	expect "fio's error" "$(cut -d';' -f5 "$tmp/fio")" = 0
	expect "longest latency in us" \
		"$(cut -d';' -f15 "$tmp/fio" | cut -d. -f1)" -lt "$longest_us"
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# Killed in a sleep of 100 ms, with I/O in flight.
slept_since() {
	[ "$(counter sleeps)" -gt "$1" ]
}

killed() {
	local start took sleeps

	must_put 100000 "$queue/io_poll_delay"
	sleeps=$(counter sleeps)
	fio --name=uring --filename="$dev" --direct=1 --bs=4k --thread --ioengine=io_uring --hipri \
		--rw=randread --size=64m --time_based --runtime=60 --iodepth=8 >"$tmp/fio" 2>&1 &
	load_pid=$!
	at_exit load_kill "$load_pid"
	wait_for 30 slept_since "$sleeps" || expect "sleeps before the kill" "$sleeps" = more
	start=$EPOCHREALTIME
	kill -KILL "$load_pid"
	wait_for 30 gone "$load_pid" || expect "the ring" there = gone
	{ wait "$load_pid" || true; } 2>/dev/null
	took=$((${EPOCHREALTIME/./} - ${start/./}))
	note "killed in $took us"
	expect "time to die in us" "$took" -lt "$longest_us"
	must_put 3000 "$queue/io_poll_delay"
	measure -n 30
	tell "afterwards"
	expect_good_io
	expect_polled
}

# ring_run [ARG]... DISK...: what ring_io says, in said[].
ring_run() {
	local pair pairs=()

	said=()
	read -ra pairs < <(timeout 100 "$here/ring_io" "$@" 2>&1) || true
	note "ring_io $*: ${pairs[*]}"
	for pair in "${pairs[@]}"; do
		said[${pair%%=*}]=${pair#*=}
	done
	expect "longest latency in us" "${said[max_us]:-$longest_us}" -lt "$longest_us"
}

# At no depth fewer I/Os in the same time as by classic polling. That they are
# 95 percent is for a clock that does not depend on a host to show; on an
# emulated CPU a wake-up alone can take a tenth of the device's time. What is
# asked here is that a depth is not lost: the best of five pairs.
depth() {
	local classic sleeping ratio best=0

	for _ in {1..5}; do
		must_put -1 "$queue/io_poll_delay"
		ios=$2 ring --iodepth="$1"
		classic=${fields[7]}
		must_put 0 "$queue/io_poll_delay"
		learn read 4096
		ios=$2 ring --iodepth="$1"
		sleeping=${fields[7]}
		ratio=$((100 * sleeping / (classic + !classic)))
		[ "$ratio" -le "$best" ] || best=$ratio
		[ "$best" -lt 90 ] || break
	done
	expect "IOPS in percent of classic polling's" "$best" -ge 80
}

fixed_buffers() {
	must_put 3000 "$queue/io_poll_delay"
	before
	ring_run -f -q 8 -n "$ios" "$dev"
	ring_run -f -q 8 -n "$ios" -w "$dev"
	after
	expect "good I/Os" "${said[good]}" -eq "$ios"
	expect "samples" "${delta[samples]}" -eq $((2 * ios))
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# Two disks on one ring sleep until the faster one is due.
two_disks() {
	local slow slow_queue

	slow=$(find_disk slow) || { skip "no NVMe disk for the role slow"; return; }
	slow_queue=/sys/block/$slow/queue
	keep "$slow_queue/io_poll_delay"
	must_put 3000 "$queue/io_poll_delay"
	must_put 30000 "$slow_queue/io_poll_delay"
	before
	ring_run -q 2 -n 40 "$dev" "/dev/$slow"
	after
	expect "good I/Os" "${said[good]}" -eq 40
	expect "sleeps" "${delta[sleeps]}" -gt 0
	must_put -1 "$slow_queue/io_poll_delay"
	before
	ring_run -q 2 -n 40 "$dev" "/dev/$slow"
	after
	expect "good I/Os" "${said[good]}" -eq 40
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# Disks of another driver on the ring, one that polls and one that cannot: the
# latter is refused as ever, I/O by I/O, and the others go on.
other_drivers() {
	local queues paths=()

	for queues in 0 1; do
		null_make "blk_poll_ring$queues" "poll_queues=$queues" || return 0
		paths+=("/dev/$null_disk")
	done
	must_put 3000 "$queue/io_poll_delay"
	before
	ring_run -q 4 -n 60 "$dev" "${paths[1]}"
	expect "good I/Os" "${said[good]}" -eq 60
	ring_run -q 6 -n 60 "$dev" "${paths[@]}"
	after
	expect "good I/Os" "${said[good]}" -eq 40
	expect "unsupported I/Os" "${said[unsupported]}" -eq 20
	expect "interrupts" "${delta[irqs]}" -eq 0
	null_gone blk_poll_ring0
	null_gone blk_poll_ring1
}

# Reads that are split among those that are not, in one batch: the parts end by
# interrupt and must not get requests that were allocated for polled ones.
split_in_batch() {
	local said

	must_put -1 "$queue/io_poll_delay"
	before
	said=$(fio_uring --rw=randread --size=64m --number_ios=120 --minimal --bssplit=4k/50:1m/50 \
		--iodepth=16 --iodepth_batch_submit=16 --iodepth_batch_complete_min=1)
	after
	IFS=';' read -ra fields <<<"$said"
	note "split: ${fields[8]:-?} ms, longest ${fields[14]:-?} us, irqs ${delta[irqs]}"
	expect "fio's error" "${fields[4]:-1}" = 0
	expect "longest latency in us" "${fields[14]%.*}" -lt "$longest_us"
	expect "interrupts" "${delta[irqs]}" -gt 0
	expect "io_poll_completed" "${delta[completed]}" -gt 0
}

# Chains, in which nothing fails.
linked() {
	must_put 3000 "$queue/io_poll_delay"
	before
	ring_run -l -q 8 -n 80 "$dev"
	after
	expect "good I/Os" "${said[good]}" -eq 80
	expect "interrupts" "${delta[irqs]}" -eq 0
}

# A polled ring takes no timeouts: the pair is refused, and nothing hangs.
timed_out() {
	must_put 3000 "$queue/io_poll_delay"
	ring_run -t -q 4 -n 40 "$dev"
	expect "I/Os that ended" "${said[ios]}" -eq 40
	expect "cancelled I/Os" "${said[cancelled]}" -eq 40
	ring_run -q 4 -n 40 "$dev"
	expect "good I/Os" "${said[good]}" -eq 40
}

cancelled() {
	must_put 3000 "$queue/io_poll_delay"
	ring_run -c -q 8 -n 80 "$dev"
	expect "I/Os that ended" "${said[ios]}" -eq 80
	expect "good and cancelled I/Os" "$((said[good] + said[cancelled]))" -eq 80
}

sqpoll_adaptive() {
	must_put 0 "$queue/io_poll_delay"
	before
	ring_run -s -q 8 -n "$ios" "$dev"
	after
	expect "good I/Os" "${said[good]}" -eq "$ios"
	expect "sleeps" "${delta[sleeps]}" -eq 0
}

# left HOW: the ring goes away with 32 I/Os in flight, a hundred ms of sleep set.
left() {
	local start took

	must_put 100000 "$queue/io_poll_delay"
	start=$EPOCHREALTIME
	for _ in {1..4}; do
		timeout 60 "$here/ring_io" -x "$1" -q 32 "$dev" || expect "status" "$?" -eq 0
	done
	took=$((${EPOCHREALTIME/./} - ${start/./}))
	note "four rings left by $1 in $took us"
	expect "time in us" "$took" -lt "$longest_us"
	# A freeze waits for what they have left.
	must_put 3000 "$queue/io_poll_delay"
	afterwards
}

prepare
command -v fio >/dev/null || skip_all "no fio"
use_disk fast
[ -x "$here/ring_io" ] || skip_all "ring_io has not been built"
keep "$queue/io_poll_delay"

begin 28
try one_fixed one 3000
try one_adaptive one 0
try many_fixed many 3000
try many_adaptive many 0
try classic
try sqpoll
try passthrough
try beside_tasks_fixed beside 3000
try beside_tasks_adaptive beside 0
try beside_tasks_classic beside -1
try two_rings two 0
try depth_1 depth 1 200
try depth_8 depth 8 1600
try depth_32 depth 32 4000
try depth_128 depth 128 8000
try fixed_buffers
try two_disks
try other_drivers
try split_in_batch
try linked
try timed_out
try cancelled
try sqpoll_adaptive
try left_by_exit left exit
try left_by_exec left exec
try toggled
try killed
try afterwards
finish
