#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A device that is pulled out under polled load: the error reaches who polls, in time.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# The device does not answer any more, as if it had been pulled: its registers
# are not where they were, and read as ones, completions never come. The driver
# finds out when a request has timed out, gives up, and takes the disk away.
pulled() {
	local dir address

	dir=$(pci_dir)
	address=${dir##*/}
	must_put 2000 "$queue/io_timeout"
	if [ "$1" = none ]; then
		load_start load -n 0 -l 90 -e -j 4 -i "$dev"
		sleep 1
	else
		must_put "$1" "$queue/io_poll_delay"
		load_start load -n 0 -l 90 -e -j 4 "$dev"
		progress 20
	fi
	# no memory space, no bus master, and the upper half of the first BAR
	printf '\0\0' | dd of="$dir/config" bs=1 seek=4 conv=notrunc status=none
	printf '\0\177\0\0' | dd of="$dir/config" bs=4 seek=5 conv=notrunc status=none
	load_wait load 60
	note "errors ${io[errors]}, short ${io[short]} of ${io[ios]}, longest ${io[max_us]} us"
	expect "jobs that got to know" "$((io[errors] + io[short]))" -eq 4
	expect "longest latency in us" "${io[max_us]}" -lt 30000000
	timeout 60 sh -c "[ ! -e $dir ] || echo 1 >$dir/remove" ||
		expect "status of the removal" "$?" -eq 0
	pci_rescan "$address"
}

# With interrupts only, for what is the kernel's own.
by_interrupt() {
	pulled none
}

afterwards_there() {
	[ -d "$pci" ] || echo 1 >/sys/bus/pci/rescan
}

prepare
use_disk fast
[ -w "$(pci_dir)/remove" ] || skip_all "$disk is not a PCI device that can be removed"
pci=$(pci_dir)
at_exit afterwards_there
# What the driver says about such a device, and who read it last.
announced='controller is down|(I/O|QID) .*timeout|I/O error|Disabling device|Removing after probe'
announced+='|Controller not ready|Device not ready|nvme.*(timeout|reset)'

begin 4
try by_interrupt
try adaptive pulled 0
try mid_sleep pulled 50000
try afterwards
finish
