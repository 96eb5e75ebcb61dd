#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compare adaptive with the best published policy on each device, and with the best
# fixed schedule that one could have had.
# usage: targets.sh SIMULATOR [OPTION OF IT]... [-- TRACE...]
#   A line per device of the file "targets" and per trace: J of adaptive, the best
#   rival and its J, the ratio and its limit, J of hindsight, how late adaptive is
#   in percent; then means over families and what misses a limit. Exit status 1 if
#   something does, or if J has changed. With options of the simulator, --seed 2 for
#   example, the limits are still those without.
set -euo pipefail
shopt -s inherit_errexit

here=$(dirname "$0")
sim=${1:?usage: targets.sh SIMULATOR [OPTION]... [-- TRACE...]}
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	options+=("$1")
	shift
done
[ $# -eq 0 ] || shift

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
simulate() {
	"$sim" --policy mean,lmd,ehp,iou-hybrid,pas,adaptive,hindsight --csv "$@" "${options[@]}"
}

{
	grep -v '^#' "$here/targets"
	for trace; do
		printf 'trace %s 1.0 0\n' "$trace"
	done
} >"$tmp/list"
while read -r family name limit known; do
	[ ${#options[@]} -eq 0 ] || known=0
	source=(--model "$name" --ios 50000)
	[ "$family" != trace ] || source=(--trace "$name")
	simulate "${source[@]}" >"$tmp/csv"
	# the name can have commas, the policy and the last ten columns have none
	awk -F, -v family="$family" -v name="${name##*/}" -v limit="$limit" -v known="$known" '
	NR > 1 {
		j = $(NF - 9)
		if ($1 == "adaptive") { own = j; late = $(NF - 7) }
		else if ($1 == "hindsight") best_fixed = j
		else if (!rival || j < least) { rival = $1; least = j }
	}
	END { print family, name, own, rival, least, own / least, limit, best_fixed, late, known }' "$tmp/csv"
done <"$tmp/list" >"$tmp/rows"

awk '
function mean(sum, count,	f, total, nr) {
	for (f in count) { total += sum[f] / count[f]; nr++ }
	return exp(total / nr)
}
BEGIN { printf "%-62s %8s %-10s %8s %6s %6s %8s %6s\n", "device", "adaptive", "rival", "its J", "ratio", "limit", "hindsight", "late %" }
{
	printf "%-62s %8.2f %-10s %8.2f %6.3f %6.2f %8.2f %6.2f\n", $2, $3, $4, $5, $6, $7, $8, $9
	rival[$1] += log($6)
	hindsight[$1] += log($3 / $8)
	count[$1]++
	in_time += $9 <= 1
	latest = $9 > latest ? $9 : latest
	if ($10 > 0 && ($3 > 1.05 * $10 || 1.05 * $3 < $10))
		missed = missed "\n" $2 ": J " $3 ", was " $10
	if ($6 > $7)
		missed = missed "\n" $2 ": ratio " $6 ", limit " $7
}
END {
	printf "over families, geometric means: J / best rival %.3f, J / hindsight %.3f\n", mean(rival, count), mean(hindsight, count)
	printf "late by 1 %% or less on %d of %d, by %.2f %% at most\n", in_time, NR, latest
	if (mean(rival, count) > 0.53) missed = missed "\nJ / best rival over families, limit 0.53"
	if (mean(hindsight, count) > 1.10) missed = missed "\nJ / hindsight over families, limit 1.10"
	if (latest > 3.5) missed = missed "\nlate, limit 3.5 %"
	if (missed)
		print "MISSED:" missed
	exit missed != ""
}' "$tmp/rows"
