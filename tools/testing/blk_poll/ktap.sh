#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Count and report tests as KTAP.
# usage: . ktap.sh (sourced, never run)

nr=0
passed=0
failed=0

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Report one test: result DESCRIPTION STATUS.
result() {
	nr=$((nr + 1))
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
		printf 'ok %d %s\n' "$nr" "$1"
	else
		failed=$((failed + 1))
		printf 'not ok %d %s\n' "$nr" "$1"
	fi
}
