#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Functions that the tests of hybrid polling share.
# Sourced by a test, never run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
topic=$(basename "$0" .sh)
poll_io=$here/poll_io
export LC_ALL=C

ktap_helpers=$here/../kselftest/ktap_helpers.sh
[ -r "$ktap_helpers" ] ||
	ktap_helpers=${KTAP_HELPERS:?names no ktap_helpers.sh, and none is in $here/../kselftest}
# shellcheck source=/dev/null
. "$ktap_helpers"

# What a kernel says when something is wrong.
trouble='WARNING:|BUG:|INFO: |Oops|Call Trace|possible (circular|recursive|irq)'
trouble+='|inconsistent lock|suspicious RCU|ODEBUG|general protection|refcount_t'
trouble+='|blocked for more than|[Tt]imeout|timed out|[Ss]tall|hung|lockup'
trouble+='|I/O error|no such request|Controller (not ready|is down)'

# The disk under test, see use_disk().
disk=none
nullb=/sys/kernel/config/nullb
dev='' queue='' stat='' ctrl=''

undo=()
tmp=
failed=0

note() {
	printf '# %s\n' "$*"
}

# Leave before anything was changed.
skip_all() {
	ktap_print_header
	ktap_skip_all "$*"
	exit "$KSFT_SKIP"
}

# Remember a command that takes back what is about to be done.
at_exit() {
	undo+=("$(printf '%q ' "$@")")
}

on_exit() {
	local i

	trap '' INT TERM
	for ((i = ${#undo[@]} - 1; i >= 0; i--)); do
		eval "${undo[i]}" || note "could not undo: ${undo[i]}"
	done
}

# Root, the helper, debugfs, the feature itself; a directory for files.
prepare() {
	[ "$(id -u)" -eq 0 ] || skip_all "must be run as root"
	[ -x "$poll_io" ] || skip_all "poll_io has not been built"
	[ -d /sys/kernel/debug/block ] || skip_all "no debugfs at /sys/kernel/debug"
	set -- /sys/block/*/queue/io_poll_policy
	[ -e "$1" ] || skip_all "no CONFIG_BLK_HYBRID_POLL"
	trap on_exit EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	tmp=$(mktemp -d)
	at_exit rm -rf "$tmp"
	marker="blk_poll: $topic starts, $(date +%s.%N)"
	echo "$marker" >/dev/kmsg
}

# The NVMe disk for a role: fast (about 5 ms), slow (ten times as much), data
# (about 5 ms, keeps what is written). Where a CPU is emulated a wake-up can
# take 1 ms, and a sleep of less than twice that is left out: therefore so slow.
# All may be overwritten, so that each has to be named, as BLK_POLL_FAST=nvme0n1,
# or to have the serial number blkpoll-fast, which no real one has.
find_disk() {
	local name=BLK_POLL_${1^^} dir

	if [ -n "${!name:-}" ]; then
		basename "${!name}"
		return
	fi
	for dir in /sys/class/nvme/nvme*/nvme*n*; do
		if [[ ${dir##*/} =~ ^nvme[0-9]+n[0-9]+$ ]] &&
		   [ "$(tr -d ' ' <"${dir%/*}/serial")" = "blkpoll-$1" ]; then
			echo "${dir##*/}"
			return
		fi
	done
	return 1
}

# Make a disk the one under test, of NVMe or, without interrupts to count, any.
set_disk() {
	set_any_disk "$1"
	ctrl=$(basename "$(readlink -f "/sys/block/$disk/device")")
}

set_any_disk() {
	disk=$1
	dev=/dev/$disk
	queue=/sys/block/$disk/queue
	stat=/sys/kernel/debug/block/$disk/poll_stat
	# One sleep for each I/O that sleeps: what most tests count on. The default,
	# adaptive, takes as many as pay; adaptive.sh is about it, and abi.sh about
	# disks to which nothing was written.
	case $topic in
	adaptive|abi)
		return
		;;
	esac
	if [ -w "$queue/io_poll_policy" ] && [ "$(get "$queue/io_poll_policy")" = adaptive ]; then
		keep "$queue/io_poll_policy"
		put lmd "$queue/io_poll_policy" || true
	fi
}

# null_make NAME [ATTRIBUTE=VALUE]...: a null_blk that keeps what is written; its
# disk is $null_disk. Where there is no null_blk the case is skipped, and it fails.
null_make() {
	local dir=$nullb/$1 pair

	if [ ! -d "$nullb" ]; then
		skip "no null_blk in configfs"
		return 1
	fi
	mkdir "$dir"
	at_exit null_gone "$1"
	for pair in memory_backed=1 size=64 submit_queues=1 poll_queues=0 "${@:2}" power=1; do
		must_put "${pair#*=}" "$dir/${pair%%=*}"
	done
	null_disk=nullb$(cat "$dir/index")
	[ -b "/dev/$null_disk" ] || null_disk=$1
}

null_gone() {
	[ ! -d "$nullb/$1" ] || rmdir "$nullb/$1"
}

# Make the disk for a role the one under test, or skip everything.
use_disk() {
	local found

	found=$(find_disk "$1") || skip_all "no NVMe disk for the role $1"
	set_disk "$found"
	[ -b "$dev" ] || skip_all "no block device $dev"
	[ "$(cat "$queue/io_poll")" = 1 ] || skip_all "$disk has no poll queue"
	[ "$(irqs)" -ge 0 ] || skip_all "no lines of $ctrl in /proc/interrupts"
}

# Print header and plan; the last case looks at the kernel's log.
begin() {
	ktap_print_header
	ktap_set_plan "$(($1 + 1))"
}

finish() {
	try dmesg_clean log_is_clean
	ktap_finished
}

# Run a case: a function that tells by expect() and skip(), or by its status.
# It has the name of the case if none is given.
try() {
	local case_name=$disk.$topic.$1

	[ $# -eq 1 ] || shift
	failed=0
	skipped=
	"$@" || failed=1
	if [ "$failed" -ne 0 ]; then
		ktap_test_fail "$case_name"
	elif [ -n "$skipped" ]; then
		__ktap_test ok "$case_name" "SKIP $skipped"
		KTAP_CNT_SKIP=$((KTAP_CNT_SKIP + 1))
	else
		ktap_test_pass "$case_name"
	fi
}

# Say why the case that runs could prove nothing.
skip() {
	skipped=$*
}

# expect WHAT VALUE OPERATOR BOUND: as test(1) does; the case fails otherwise.
expect() {
	if ! test "$2" "$3" "$4"; then
		note "$1 is '$2', expected $3 '$4'"
		failed=1
	fi
}

# wait_for SECONDS COMMAND: until the command succeeds; fails after that time.
wait_for() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

log_since() {
	dmesg | sed "1,/$marker/d"
}

# Nothing but what the test has announced in $announced.
log_is_clean() {
	local said

	said=$(log_since | grep -E "$trouble" | grep -vE "${announced:-^\$}" || true)
	[ -z "$said" ] || note "the kernel says: ${said//$'\n'/$'\n'# }"
	expect "trouble in the log" "$said" = ""
}

# Write a line; the error's text is in $why if it is refused. In a trap a bare
# return would hand on the status of what came before it.
put() {
	why=$({ printf '%s\n' "$1" >"$2"; } 2>&1) && return 0
	why=${why##*: }
	return 1
}

# put that the case cannot do without.
must_put() {
	put "$1" "$2" && return 0
	note "writing '$1' to $2: $why"
	failed=1
}

# refused FILE VALUE REASON: and the old value is still there.
refused() {
	local old

	old=$(cat "$1")
	if put "$2" "$1"; then
		note "'$2' was taken, $1 now reads '$(cat "$1")'"
		failed=1
	else
		expect "the error" "$why" = "$3"
	fi
	expect "${1##*/}" "$(cat "$1")" = "$old"
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# What an attribute says, without brackets around the others' names.
get() {
	sed 's/.*\[\(.*\)\].*/\1/' "$1"
}

# Write the value of an attribute again at exit.
keep() {
	local file

	for file; do
		at_exit put "$(get "$file")" "$file"
	done
}

# Without another program, here and below: they run often, and starting one
# takes its time where the CPU is emulated.

# Interrupts of the controller's I/O queues up to now; -1 without any line.
irqs() {
	local lines=() cpus=() words=() sum=-1 line i

	# not by a loop of read: that seeks, and the kernel writes the file anew
	mapfile -t lines </proc/interrupts
	read -ra cpus <<<"${lines[0]}"
	for line in "${lines[@]}"; do
		[[ $line =~ [[:space:]]${ctrl}q[1-9][0-9]*[[:space:]]*$ ]] || continue
		read -ra words <<<"$line"
		[ "$sum" -ge 0 ] || sum=0
		for ((i = 1; i <= ${#cpus[@]}; i++)); do
			sum=$((sum + words[i]))
		done
	done
	echo "$sum"
}

# A counter of poll_stat; 0 while the queue has none.
counter() {
	local lines=() words=() value=0 line

	mapfile -t lines <"$stat"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		if [ "${#words[@]}" -eq 2 ] && [ "${words[0]}" = "$1" ]; then
			value=${words[1]}
		fi
	done
	echo "$value"
}

# stat_of DIRECTION BYTES COLUMN: a figure of the last window, 0 without a line.
stat_of() {
	local bytes=$(($2 < 65536 ? $2 : 65536)) lines=() heads=() words=() value=0 line i

	mapfile -t lines <"$stat"
	read -ra heads <<<"${lines[0]:-}"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		[ "${words[0]} ${words[1]}" = "$1 $bytes" ] || continue
		for i in "${!heads[@]}"; do
			[ "${heads[i]}" != "$3" ] || value=${words[i]}
		done
	done
	echo "$value"
}

counters=(looks samples sleeps overslept woken_early downgraded void)
declare -A before delta io

# Read all witnesses into before[], for after() to say what has moved.
before() {
	local lines=() words=() name line

	for name in "${counters[@]}"; do
		before[$name]=0
	done
	mapfile -t lines <"$stat"
	for line in "${lines[@]}"; do
		read -ra words <<<"$line"
		[ "${#words[@]}" -ne 2 ] || before[${words[0]}]=${words[1]}
	done
	before[irqs]=$(irqs)
	before[completed]=$(<"$queue/io_poll_completed")
}

# Leave in delta[] what has moved since before().
after() {
	local key
	local -A earlier=()

	for key in "${!before[@]}"; do
		earlier[$key]=${before[$key]}
	done
	before
	for key in "${!before[@]}"; do
		delta[$key]=$((before[$key] - earlier[$key]))
	done
}

# Take over the last line that poll_io has printed into $tmp/NAME.
read_io() {
	local name pair pairs=() lines=()

	for name in ios errors errno short again bad mean_us min_us max_us \
		    voluntary involuntary cpu_us wall_us signals; do
		io[$name]=0
	done
	mapfile -t lines <"$tmp/$1"
	if [ "${#lines[@]}" -ne 2 ]; then
		note "poll_io has not ended well"
		io[errors]=-1
		return
	fi
	read -ra pairs <<<"${lines[1]}"
	for pair in "${pairs[@]}"; do
		io[${pair%%=*}]=${pair#*=}
	done
}

# Run poll_io on the disk between two readings of the witnesses.
measure() {
	before
	: >"$tmp/measured"
	timeout 100 "$poll_io" "$@" "$dev" >"$tmp/measured" || note "poll_io $*: status $?"
	after
	read_io measured
}

# One line with everything that was measured.
tell() {
	local name line="$*: ${io[ios]} I/Os, mean ${io[mean_us]} max ${io[max_us]} us"

	line+=", voluntary ${io[voluntary]}, irqs ${delta[irqs]}"
	for name in "${counters[@]}"; do
		line+=", $name ${delta[$name]}"
	done
	note "$line"
}

# Every I/O came back, whole and right.
expect_good_io() {
	expect "number of I/Os" "${io[ios]}" -gt 0
	expect "failed I/Os (errno ${io[errno]:-?})" "${io[errors]}" -eq 0
	expect "short I/Os" "${io[short]}" -eq 0
	expect "I/Os with wrong data" "${io[bad]}" -eq 0
}

# No interrupt, and a pollers' sample for each I/O.
expect_polled() {
	expect "interrupts" "${delta[irqs]}" -eq 0
	expect "downgraded I/Os" "${delta[downgraded]}" -eq 0
	expect "samples and void" "$((delta[samples] + delta[void]))" -eq "${io[ios]}"
	# more, when the driver had to repeat some
	expect "io_poll_completed" "${delta[completed]}" -ge "${io[ios]}"
}

# At most one sleep an I/O, and one in PERCENT of them, with as many switches.
# It cannot be all: a virtual CPU may stand still until the device is done.
expect_slept() {
	expect "sleeps" "${delta[sleeps]}" -le "${io[ios]}"
	expect "sleeps in percent" "$((delta[sleeps] * 100 / (io[ios] + !io[ios])))" -ge "$1"
	expect "voluntary switches" "${io[voluntary]}" -ge "$((delta[sleeps] * 9 / 10))"
}

# A case: polling and sleeping still work as they should, after all that was done.
afterwards() {
	must_put 3000 "$queue/io_poll_delay"
	measure -n 50
	tell "afterwards"
	expect_good_io
	expect_polled
	expect_slept 90
}

# learn DIRECTION BYTES [ARG]...: do I/O until the policy knows a sleep.
learn() {
	local dir=$1 bytes=$2 args=(-n 30 -b "$2") i
	shift 2

	[ "$dir" = read ] || args+=(-w)
	for i in {1..20}; do
		timeout 100 "$poll_io" "${args[@]}" "$@" "$dev" >"$tmp/learn"
		[ "$(stat_of "$dir" "$bytes" sleep_ns)" -eq 0 ] || return 0
	done
	note "no sleep for $dir of $bytes bytes after $((i * 30)) I/Os"
	failed=1
}

# Start poll_io in the background, as job NAME; end it and read what it says.
load_start() {
	local name=$1
	shift

	: >"$tmp/$name"
	"$poll_io" "$@" >"$tmp/$name" &
	load_pid=$!
	at_exit load_kill "$load_pid"
	if ! wait_for 30 test -s "$tmp/$name"; then
		note "poll_io $* does not start"
		failed=1
	fi
}

load_kill() {
	kill -KILL "$1" 2>/dev/null || true
}

# Whether the process is gone, or dead and only not waited for.
gone() {
	local state

	state=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 0
	[ -z "$state" ] || [ "${state%% *}" = Z ]
}

# load_stop NAME SECONDS: ask the last load to end, fail if it does not.
load_stop() {
	kill -TERM "$load_pid" 2>/dev/null || true
	load_wait "$1" "$2"
}

load_wait() {
	if ! wait_for "$2" gone "$load_pid"; then
		note "the load still runs after $2 s:"
		note "$(cat "/proc/$load_pid"/task/*/stack 2>/dev/null | tr '\n' ' ')"
		failed=1
		kill -KILL "$load_pid" 2>/dev/null || true
		return
	fi
	wait "$load_pid" || true
	read_io "$1"
}

samples_grow() {
	[ "$(counter samples)" -gt "$1" ]
}

# The load gets on by some I/Os.
progress() {
	local samples

	samples=$(counter samples)
	wait_for 30 samples_grow $((samples + $1)) ||
		expect "samples" "$(counter samples)" -gt $((samples + $1))
}

# The PCI device of the disk's controller.
pci_dir() {
	readlink -f "/sys/class/nvme/$ctrl/device"
}

pci_disk() {
	local found=("/sys/bus/pci/devices/$1"/nvme/nvme*/nvme*n*)

	[ -b "/dev/${found[0]##*/}" ]
}

# Take the controller away and find it again; its number may change.
pci_again() {
	local dir address

	dir=$(pci_dir)
	address=${dir##*/}
	timeout 60 sh -c "echo 1 >$dir/remove"
	pci_rescan "$address"
}

pci_rescan() {
	local found

	echo 1 >/sys/bus/pci/rescan
	if ! wait_for 30 pci_disk "$1"; then
		note "no disk at $1 after the rescan"
		failed=1
		return
	fi
	found=("/sys/bus/pci/devices/$1"/nvme/nvme*/nvme*n*)
	set_disk "${found[0]##*/}"
}

# What fio says about polled I/O through io_uring; its exit status is lost.
fio_uring() {
	timeout 100 fio --name=uring --filename="$dev" --direct=1 --bs=4k --thread \
		--ioengine=io_uring --hipri "$@" 2>&1 || true
}
