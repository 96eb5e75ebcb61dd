#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run commands that print KTAP and a line of totals; print it all, then one sum.
# usage: check.sh COMMAND [ARG]... [-- COMMAND [ARG]...]...
#   A command that prints no totals, or leaves with a status that they do not
#   explain, counts as one failed test.
set -euo pipefail

totals='^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
passed=0
failed=0
skipped=0
part=0

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Run one command and add its totals.
run() {
	local status=0 p=0 f=0 s=0

	"$@" 2>&1 | tee "$log" | sed -E -e "/$totals/d" -e 's/^/    /' || status=$?
	if tail -n 1 "$log" | grep -qE "$totals"; then
		read -r p _ f _ s _ < <(tail -n 1 "$log")
		[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	else
		printf '    # %s left with status %d and no totals\n' "$1" "$status"
		f=1
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	part=$((part + 1))
	if [ "$f" -eq 0 ]; then
		printf 'ok %d %s\n' "$part" "${1##*/}"
	else
		printf 'not ok %d %s\n' "$part" "${1##*/}"
	fi
}

[ $# -gt 0 ] || die "no command given"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

printf 'KTAP version 1\n'
while [ $# -gt 0 ]; do
	command=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	[ ${#command[@]} -gt 0 ] || die "an empty command"
	run "${command[@]}"
done
printf '1..%d\n' "$part"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
