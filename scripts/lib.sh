#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Functions that the scripts beside this file share.
# usage: . scripts/lib.sh (sourced, never run)

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$repo/build
linux=$build/linux
patches=$repo/patches
cache=${XDG_CACHE_HOME:-$HOME/.cache}/blk-poll
me=${0##*/}

# Print the reason and what to do about it, then leave.
die() {
	printf '%s: %s\n' "$me" "$1" >&2
	shift
	[ $# -eq 0 ] || printf '  %s\n' "$@" >&2
	exit 1
}

say() {
	printf '%s: %s\n' "$me" "$*"
}

# Print the comment at the head of the script up to its usage line.
usage() {
	sed -n '3,/^[^#]/{s/^# \{0,1\}//p}' "$0"
}

# The value of a key of patches/base.
base_get() {
	local value

	value=$(sed -n "s/^$1 //p" "$patches/base")
	[ -n "$value" ] || die "patches/base has no line '$1 ...'" "restore it: git checkout patches/base"
	printf '%s\n' "$value"
}

# Whether the tree with the series is there.
have_linux() {
	[ -d "$linux/.git" ]
}

# The pristine kernel tree: the user's own or the unpacked package.
stock_tree() {
	printf '%s\n' "${KERNEL_SRC:-$cache/$(base_get package)}"
}

# The patches in their order, one file name a line.
series_names() {
	sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$patches/series"
}

# Overlay files that the patch brings: its "New:" lines, above the diff.
patch_new() {
	sed -n -e '/^diff --git /q' -e 's/^New: //p' "$1"
}

# A header of the patch, which stands on one line.
patch_header() {
	sed -n -e '/^$/q' -e '/^---$/q' -e "s/^$2: //p" "$1"
}

# The commit message: subject, empty line, body up to the "---" line.
patch_message() {
	patch_header "$1" Subject
	printf '\n'
	sed -e '/^---$/,$d' "$1" | sed -e '1,/^$/d'
}

# Free text between the "New:" lines and the diff, without empty lines around it.
patch_notes() {
	sed -e '1,/^---$/d' "$1" | sed -e '/^diff --git /,$d' -e '/^New: /d' |
		sed -e '/./,$!d' | tac | sed -e '/./,$!d' | tac
}

# The diff and nothing before it; empty when the patch has only new files.
patch_diff() {
	sed -n '/^diff --git /,$p' "$1"
}

# Install the packages that provide missing commands: need COMMAND=PACKAGE ...
need() {
	local pair missing=()

	for pair; do
		command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
	done
	[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# Install packages by name, with fresh package lists when that is needed.
install_packages() {
	local sudo=() apt try

	command -v apt-get >/dev/null ||
		die "missing: $*" "install what these Debian packages contain, then run it again"
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
			die "missing packages: $*" "run: sudo apt-get install $*"
		fi
		sudo=(sudo)
	fi
	apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
	say "installing $*" >&2
	for try in 1 2; do
		if "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null; then
			return
		fi
		[ "$try" -eq 2 ] || "${apt[@]}" update >/dev/null || sleep 5
	done
	die "apt-get could not install: $*" "run: apt-get update && apt-get install $*"
}

# A busybox that runs without any library. Sets busybox.
need_busybox() {
	busybox=$(command -v busybox || true)
	if [ -z "$busybox" ] || ldd "$busybox" >/dev/null 2>&1; then
		install_packages busybox-static
		busybox=$(command -v busybox)
	fi
}

# git without the user's settings: the same input gives the same bytes.
kgit() {
	GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git -C "$linux" \
		-c gc.auto=0 -c core.quotePath=false -c advice.detachedHead=false \
		-c diff.algorithm=myers -c diff.indentHeuristic=true "$@"
}

# What is in build/linux but in no commit. Debian's .gitignore hides every
# new file, so it is not asked.
uncommitted() {
	kgit update-index -q --refresh >/dev/null || true
	kgit diff-index --name-only HEAD
	kgit ls-files --others -x '*~' -x '*.orig' -x '*.rej' -x '*.swp' -x '*.pyc' \
		-x '.checkpatch-camelcase.*'
}

# Refuse to go over work that is nowhere else.
guard_linux() {
	local head dirty

	[ -z "${FORCE:-}" ] || return 0
	dirty=$(uncommitted)
	[ -z "$dirty" ] || die "build/linux has changes that are in no commit:" \
		"$(head -n 5 <<<"$dirty" | tr '\n' ' ')" \
		"commit them there and run: make refresh; or throw them away: FORCE=1 make $me"
	head=$(kgit rev-parse HEAD)
	[ "$head" = "$(kgit rev-parse base)" ] ||
		[ "$head" = "$(kgit rev-parse -q --verify refs/blk-poll/applied || true)" ] ||
		die "build/linux has commits that the patches do not have" \
			"take them back: make refresh; or throw them away: FORCE=1 make $me"
}

# Files of the overlay: all that would go to a kernel tree, claimed or not.
overlay_files() {
	local dir dirs=()

	for dir in block drivers include fs io_uring Documentation tools/testing/selftests; do
		[ ! -d "$repo/$dir" ] || dirs+=("$dir")
	done
	[ ${#dirs[@]} -eq 0 ] || (cd "$repo" && git ls-files -co --exclude-standard -- "${dirs[@]}" |
		while read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done)
}

# All that the tree with the series depends on, as one checksum.
series_stamp() {
	local name

	{
		kgit rev-parse base
		for name in $(series_names); do
			printf '%s\n' "$name"
			cat "$patches/$name"
			patch_new "$patches/$name" | while read -r file; do
				printf '%s %s\n' "$file" "$(stat -c %a "$repo/$file")"
				cat "$repo/$file"
			done
		done
	} | sha256sum | cut -d' ' -f1
}

# Commit one patch on top of $head, whose tree is $tree, into both of them.
# commit_patch PATCH [DIR]: its new files lie at the same paths here, or in DIR.
# Author and committer are the patch's, so hashes repeat.
commit_patch() {
	local name=${1#"$patches"/} file source mode from mail date

	[ -f "$1" ] || die "patches/series names $name, which is not there" "correct patches/series"
	while read -r file; do
		source=$repo/$file
		[ -z "${2:-}" ] || source=$2/${file##*/}
		[ -f "$source" ] ||
			die "$name claims $file, which is not there" "restore the file or the New: line"
		! kgit cat-file -e "$tree:$file" 2>/dev/null ||
			die "$name claims $file, which is in the tree already" \
				"a file of the kernel is changed by a diff, a new one is claimed once"
		mode=100644
		[ ! -x "$source" ] || mode=100755
		printf '%s %s\t%s\n' "$mode" "$(kgit hash-object -w --no-filters "$source")" "$file"
	done < <(patch_new "$1") >"$index.new"
	[ ! -s "$index.new" ] || kgit update-index --index-info <"$index.new"
	if grep -q '^diff --git ' "$1"; then
		patch_diff "$1" | kgit apply --cached --whitespace=nowarn - ||
			die "$name does not apply" "see which hunk above; rebase it in build/linux and run: make refresh"
	fi
	from=$(patch_header "$1" From)
	date=$(patch_header "$1" Date)
	if [ -z "$from" ] || [ -z "$date" ] || [ -z "$(patch_header "$1" Subject)" ]; then
		die "$name lacks From:, Date: or Subject:" "write all three at its head"
	fi
	mail=${from##*<}
	mail=${mail%>}
	tree=$(kgit write-tree)
	head=$(patch_message "$1" | git stripspace |
		GIT_AUTHOR_NAME=${from% <*} GIT_AUTHOR_EMAIL=$mail GIT_AUTHOR_DATE=$date \
		GIT_COMMITTER_NAME=${from% <*} GIT_COMMITTER_EMAIL=$mail GIT_COMMITTER_DATE=$date \
		kgit commit-tree --no-gpg-sign "$tree" -p "$head")
}

# Sets index, head and tree for commit_patch; to be run in a subshell, for its trap.
commit_onto() {
	index=$(mktemp "$build/index.XXXXXX")
	trap 'rm -f "$index" "$index.lock" "$index.new"' EXIT
	export GIT_INDEX_FILE=$index
	head=$(kgit rev-parse "$1")
	tree=$head
	kgit read-tree "$head"
}

# One commit for each patch on top of base, without a look at the checkout.
# Print the last one. To be run as $(commit_series).
commit_series() {
	local name head tree

	commit_onto base
	for name in $(series_names); do
		commit_patch "$patches/$name"
	done
	printf '%s\n' "$head"
}

# The rivals on top of a commit, for measuring only. To be run as $(commit_rivals COMMIT).
commit_rivals() {
	local head tree

	commit_onto "$1"
	commit_patch "$patches/lab/rivals.patch" "$repo/tools/testing/blk_poll/rivals"
	printf '%s\n' "$head"
}
