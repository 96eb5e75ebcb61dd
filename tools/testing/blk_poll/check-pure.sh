#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check that C files are pure: they call only each other, keep no variables
# and do not calculate with floating point numbers.
# usage: check-pure.sh -o DIR FILE.c...
#   DIR takes the objects.  CC, NM and OBJDUMP name other tools.  Prints KTAP
#   and a line of totals.
set -euo pipefail

cc=${CC:-cc}
nm=${NM:-nm}
objdump=${OBJDUMP:-objdump}
flags=(-std=gnu11 -O2 -Wall -Werror -ffreestanding -fno-stack-protector
	-fno-pic -fno-pie -fno-common -I"$(dirname "$0")/include"
	-iquote "$(dirname "$0")/../../../block"
	-idirafter "$(dirname "$0")/../../../include")

# What a compiler may call for 64-bit integers and for structures.
helpers='__(u?div|u?mod|mul|ashl|ashr|lshr)di3|__u?divmoddi4|mem(cpy|set|move|cmp)'

. "$(dirname "$0")/ktap.sh"
skipped=0

skip() {
	nr=$((nr + 1))
	skipped=$((skipped + 1))
	printf 'ok %d %s # SKIP %s\n' "$nr" "$1" "$2"
}

# Print what is there, as KTAP comments; true if there is nothing.
nothing() {
	local line status=0

	while read -r line; do
		printf '# %s\n' "$line"
		status=1
	done
	return "$status"
}

# The object calls nothing but what $defined lists and the compiler's helpers.
calls_nobody() {
	"$nm" -u "$1" | awk '{ print $NF }' |
		{ grep -vxE "$helpers" || true; } |
		{ grep -vxFf "$defined" || true; } | nothing
}

# Constants are fine, anything that could be written to is not.
keeps_nothing() {
	"$nm" "$1" | { grep -E ' [bBcCdDgGsS] ' || true; } | nothing
}

# Without the registers for it a compiler refuses floating point or calls a
# helper; the instructions are looked at as well.
has_no_float() {
	local object=$dir/general.o

	if ! "$cc" "${flags[@]}" -mgeneral-regs-only -c -o "$object" "$1" 2>"$dir/log"; then
		nothing <"$dir/log" || true
		return 1
	fi
	calls_nobody "$object" || return 1
	"$objdump" -d "$object" | { grep -E '%([xyz]?mm[0-9]|st)' || true; } | nothing
}

# A check that fails on what it is for: refuses DESCRIPTION CHECK ARG...
refuses() {
	local what=$1 status=1

	shift
	"$@" >/dev/null || status=0
	result "control: $what is noticed" "$status"
}

if [ "${1-}" != -o ] || [ $# -lt 3 ]; then
	die "usage: check-pure.sh -o DIR FILE.c..."
fi
for tool in "$cc" "$nm" "$objdump"; do
	command -v "$tool" >/dev/null || die "no $tool; install gcc and binutils"
done
dir=$2
shift 2
mkdir -p "$dir"
defined=$dir/defined

general=true
"$cc" -mgeneral-regs-only -x c -c -o "$dir/probe.o" /dev/null 2>"$dir/log" ||
	general=false

objects=()
for file; do
	object=$dir/$(basename "$file" .c).o
	"$cc" "${flags[@]}" -c -o "$object" "$file"
	objects+=("$object")
done
"$nm" -g --defined-only "${objects[@]}" | awk 'NF == 3 { print $3 }' >"$defined"

printf 'KTAP version 1\n'
for file; do
	name=$(basename "$file")
	object=$dir/${name%.c}.o

	status=0
	calls_nobody "$object" || status=1
	result "$name calls nothing from outside" "$status"

	status=0
	keeps_nothing "$object" || status=1
	result "$name keeps no variables" "$status"

	if $general; then
		status=0
		has_no_float "$file" || status=1
		result "$name has no floating point" "$status"
	else
		skip "$name has no floating point" "no -mgeneral-regs-only"
	fi
done

cat >"$dir/impure.c" <<'EOF'
unsigned long long clock(void);
unsigned long long now(void);
unsigned long long calls;

unsigned long long now(void)
{
	calls++;
	return clock();
}
EOF
cat >"$dir/float.c" <<'EOF'
unsigned long long third(unsigned long long x);

unsigned long long third(unsigned long long x)
{
	return x * 0.333;
}
EOF
"$cc" "${flags[@]}" -c -o "$dir/impure.o" "$dir/impure.c"
refuses "a call" calls_nobody "$dir/impure.o"
refuses "a variable" keeps_nothing "$dir/impure.o"
if $general; then
	refuses "a floating point number" has_no_float "$dir/float.c"
else
	skip "control: a floating point number is noticed" \
		"no -mgeneral-regs-only"
fi

printf '1..%d\n' "$nr"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
