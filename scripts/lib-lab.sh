#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Functions to run cells of the timing lab and to gather what they gave.
# usage: . scripts/lib-lab.sh (sourced, never run)
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What all users of the lab need.
lab_need() {
	need qemu-system-x86_64=qemu-system-x86 cpio=cpio setpriv=util-linux fio=fio jq=jq awk=mawk
	need_busybox
}

lab_tools=$repo/bench/lab
# Of one guest: booting, and a cell, take at most so long.
lab_boot_s=300
lab_cell_s=90
# Fields of a line of results.csv.
lab_columns="model,mode,engine,rw,bs,qd,threads,iops,lat_mean_us,lat_p50_us,lat_p99_us,lat_p999_us"
lab_columns+=",cpu_pct,ctx_per_io,sleeps_per_io,overslept_pct,ios,device_us,busy_ns_per_io"

# lab_list NAME: the lines of a list in bench/lab, without comments and empty ones.
lab_list() {
	sed -e '/^#/d' -e '/^$/d' "$lab_tools/$1"
}

# lab_pack DIR NR: DIR/initramfs-NR with all that the guest needs for its cells.
lab_pack() {
	local dir=$1 nr=$2 root=$1/root-$2 fio file

	fio=$(command -v fio)
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/tables"
	cp "$busybox" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	cp "$repo/scripts/bench-guest" "$root/init"
	chmod 0755 "$root/init"
	cp "$dir/cells-$nr" "$root/cells"
	[ ! -d "$dir/tables" ] || cp "$dir/tables"/* "$root/tables/"
	{ printf '%s\n' "$fio" && ldd "$fio" | grep -o '/[^ ]*'; } | while read -r file; do
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
	done
	# no times in it: the same guest each time
	find "$root" -exec touch -h -d @1767225600 {} +
	(cd "$root" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc) >"$dir/initramfs-$nr"
	rm -rf "$root"
}

# lab_guest DIR NR KERNEL: one guest of the lab runs the cells of DIR/cells-NR.
# Counted instructions are its clock: a second of it takes some of ours, and none
# while it is idle. It has no device but two serial ports, for the kernel's log
# and for results, so that nothing in it depends on the host's time.
lab_guest() {
	local dir=$1 nr=$2 image=$build/kernel-$3/arch/x86/boot/bzImage limit_s status=0

	[ -f "$image" ] || die "no kernel $image" "run it without --no-build"
	mkdir -p "$dir/raw"
	lab_pack "$dir" "$nr"
	limit_s=$((lab_boot_s + lab_cell_s * $(wc -l <"$dir/cells-$nr")))
	setpriv --pdeathsig KILL timeout --kill-after=5 "$limit_s" \
		setpriv --pdeathsig KILL qemu-system-x86_64 \
		-M q35 -accel tcg,thread=single -icount shift=0,sleep=off -cpu max -smp 1 -m 1024 \
		-nodefaults -display none -no-reboot -rtc base=2026-01-01,clock=vm -seed 1 \
		-kernel "$image" -initrd "$dir/initramfs-$nr" \
		-append "console=ttyS0 panic=-1 oops=panic nokaslr norandmaps null_blk.nr_devices=0 tsc=reliable clocksource=tsc quiet" \
		-serial "file:$dir/console-$nr.log" -serial "file:$dir/results-$nr" \
		</dev/null >"$dir/qemu-$nr.log" 2>&1 || status=$?
	rm -f "$dir/initramfs-$nr"
	[ -e "$dir/results-$nr" ] || return 1
	# The files out of what came through the port.
	awk -v dir="$dir/raw" '
		{ sub(/\r$/, "") }
		/^@begin / { file = dir "/" $2; printf "" >file; next }
		/^@end$/ { close(file); file = ""; next }
		/^@all$/ { all = 1 }
		file != "" { print >file }
		END { exit !all }' "$dir/results-$nr" && [ "$status" -eq 0 ] && return
	# What there is to say, at the end of what lab_wait shows.
	tail -n 20 "$dir/console-$nr.log" "$dir/qemu-$nr.log" >"$dir/failed-$nr" 2>&1 || true
	return 1
}

# lab_wait DIR TOTAL PID...: until all guests have ended, with a line now and then,
# or until one has failed.
lab_wait() {
	local dir=$1 total=$2 start=$SECONDS last=$SECONDS pid
	shift 2

	while [ $# -gt 0 ]; do
		sleep 1
		if [ $((SECONDS - last)) -ge 20 ]; then
			last=$SECONDS
			say "$(cat "$dir"/results-* 2>/dev/null | grep -ac '^@begin .*\.after' || true) of $total cells, $((SECONDS - start)) s"
		fi
		for pid; do
			shift
			if kill -0 "$pid" 2>/dev/null; then
				set -- "$@" "$pid"
			elif ! wait "$pid"; then
				cat "$dir"/failed-* "${dir%/*}"/*/failed-* 2>/dev/null >&2 || true
				die "a guest failed" "its messages are above, the others' are in $dir"
			fi
		done
	done
}

# lab_collect DIR CELLS: a line of lab_columns for each cell.
lab_collect() {
	local name model mode engine rw bs qd nr mean

	while IFS=, read -r name model _ mode _ engine rw bs qd nr _; do
		mean=$(sed -n "s/^$model .* //p" "$1/models" 2>/dev/null || true)
		jq -r --arg rw "$rw" '.jobs[1] as $job |
			(if $rw == "randwrite" then $job.write else $job.read end) as $io |
			[$io.iops, $io.lat_ns.mean / 1000, $io.lat_ns.percentile."50.000000" / 1000,
			 $io.lat_ns.percentile."99.000000" / 1000, $io.lat_ns.percentile."99.900000" / 1000,
			 $io.total_ios, $job.ctx] | map(tostring) | join(" ")' "$1/raw/$name.json" |
			awk -v head="$model,$mode,$engine,$rw,$bs,$qd,$nr" -v mean="${mean:-0}" \
				-f "$lab_tools/cell.awk" - "$1/raw/$name.before" "$1/raw/$name.after"
	done <"$2"
}
