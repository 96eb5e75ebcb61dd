#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Switch between the ways to poll while reading at random, each time with a look at what it says.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# step VALUE: as a user would, while a job reads 4 KiB at random by polling.
step() {
	local old

	must_put "$1" "$queue/io_poll_delay"
	expect "io_poll_delay" "$(cat "$queue/io_poll_delay")" = "$1"
	old=$(cat "$queue/io_poll_completed")
	timeout 100 fio --name=reads --filename="$dev" --direct=1 --bs=4k --rw=randread \
		--norandommap --ioengine=pvsync2 --hipri=1 --number_ios=40 --size=64m \
		--thread --minimal >"$tmp/fio" 2>&1 ||
		{ note "fio: $(cat "$tmp/fio")"; failed=1; }
	expect "io_poll_completed" "$(($(cat "$queue/io_poll_completed") - old))" -ge 40
}

# What has no poll queue says so by what it reads, and refuses.
without() {
	local name

	null_make blk_poll_switch || return 0
	name=$null_disk
	expect "io_poll" "$(cat "/sys/block/$name/queue/io_poll")" = 0
	refused "/sys/block/$name/queue/io_poll" 1 "Invalid argument"
	refused "/sys/block/$name/queue/io_poll_delay" 0 "Invalid argument"
	must_put -1 "/sys/block/$name/queue/io_poll_delay"
}

prepare
command -v fio >/dev/null || skip_all "no fio"
use_disk fast
keep "$queue/io_poll_delay"

begin 6
try no_poll_queue without
try classic step -1
try adaptive step 0
try fixed_4_us step 4
try fixed_3_ms step 3000
try classic_again step -1
finish
