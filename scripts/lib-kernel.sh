#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Functions to configure and make a kernel outside its tree.
# usage: . scripts/lib-kernel.sh (sourced, never run)
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The tree of the series with the rivals on top, build/linux-lab.
make_lab_tree() {
	local commit lab=$build/linux-lab

	[ -z "$(uncommitted)" ] || say "build/linux has changes that are in no commit: they are not in build/linux-lab" >&2
	exec 8>"$build/.linux-lab.lock"
	flock 8
	commit=$(commit_rivals "$(kgit rev-parse HEAD)") || exit
	# A tree whose repository is gone knows no HEAD.
	if ! git -C "$lab" rev-parse -q --verify HEAD >/dev/null 2>&1; then
		say "making build/linux-lab, about a minute"
		rm -rf "$lab"
		kgit worktree prune
		kgit worktree add -q --detach "$lab" "$commit"
	elif [ "$(git -C "$lab" rev-parse HEAD)" != "$commit" ]; then
		git -C "$lab" checkout -q -f --detach "$commit"
	fi
	exec 8>&-
}

# Prepare to make WHICH tree (series, lab or stock) with SET in directory OUT.
# Sets tree, out, set_name, fragments and the command kmake.
kernel_setup() {
	local which=$1 name names compiler=gcc

	set_name=$2
	out=$3
	case $which in
	series)
		tree=$linux
		have_linux || "$repo/scripts/apply"
		;;
	lab)
		have_linux || "$repo/scripts/apply"
		make_lab_tree
		tree=$build/linux-lab
		;;
	stock)
		tree=$(stock_tree)
		[ -f "$tree/Makefile" ] || "$repo/scripts/fetch"
		;;
	*)
		die "no tree named $which" "choose series, lab or stock"
		;;
	esac
	names=$(sed -n "s/^$set_name: //p" "$repo/configs/sets")
	[ -n "$names" ] || die "configs/sets has no set named $set_name" \
		"choose one of: $(sed -n 's/^\([a-z0-9_-]*\):.*/\1/p' "$repo/configs/sets" | tr '\n' ' ')"
	fragments=()
	for name in $names; do
		fragments+=("$repo/configs/$name.config")
	done

	need make=make gcc=gcc flex=flex bison=bison bc=bc cpio=cpio perl=perl
	[ -f /usr/include/libelf.h ] || install_packages libelf-dev

	# The same sources give the same bytes, whoever builds them and when.
	export KBUILD_BUILD_TIMESTAMP='2025-01-01 00:00:00 UTC' KBUILD_BUILD_VERSION=1
	export KBUILD_BUILD_USER=blk-poll KBUILD_BUILD_HOST=localhost
	export LC_ALL=C LANG=C TZ=UTC
	# No CCACHE_DEPEND: only the preprocessed text tells that a changed option
	# does not matter to a file.
	if command -v ccache >/dev/null; then
		compiler='ccache gcc'
		export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$repo CCACHE_NOHASHDIR=1
		export CCACHE_MAXSIZE=8G CCACHE_COMPILERCHECK=content
		export CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
		mkdir -p "$CCACHE_DIR"
	fi
	mkdir -p "$out"
	kmake=(make -C "$tree" "O=$out" "CC=$compiler" LOCALVERSION=)
}

# Options a fragment asks for that did not survive their dependencies. The
# stock tree may lack an option altogether, the series brings it.
lost_options() {
	local line name

	while read -r line; do
		! grep -qxF -- "$line" "$out/.config" || continue
		name=${line#\# }
		name=${name#CONFIG_}
		name=${name%%[= ]*}
		case $line in
		'#'*)
			grep -q "^CONFIG_$name=" "$out/.config" || continue
			;;
		*)
			[ "$tree" != "$(stock_tree)" ] ||
				grep -rqsE --include='Kconfig*' "^[[:space:]]*(menu)?config $name\$" "$tree" ||
				continue
			;;
		esac
		printf '%s\n' "$line"
	done < <(grep -hE '^(CONFIG_|# CONFIG_.* is not set)' "${fragments[@]}")
}

# Make .config: what the fragments say, and nothing else that can be off.
kernel_config() {
	local log=$1 merged target lost

	merged=$(cat "${fragments[@]}" | sha256sum)
	target=olddefconfig
	if [ ! -f "$out/.config" ] || [ "$merged" != "$(cat "$out/.fragments" 2>/dev/null)" ]; then
		target=allnoconfig
		cat "${fragments[@]}" >"$out/.allconfig"
	fi
	rm -f "$out/.fragments"
	if ! KCONFIG_ALLCONFIG=$out/.allconfig "${kmake[@]}" "$target" >"$log" 2>&1; then
		tail -n 30 "$log" >&2
		die "$set_name: the configuration failed" "see $log"
	fi
	lost=$(lost_options)
	if [ -n "$lost" ]; then
		printf '%s\n' "$lost" >&2
		die "$set_name: the options above are not in $out/.config" \
			"add what they depend on to a fragment in configs/"
	fi
	printf '%s\n' "$merged" >"$out/.fragments"
}
