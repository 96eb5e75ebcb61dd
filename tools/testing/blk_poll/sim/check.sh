#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check the simulator against examples worked out by hand and against itself.
# usage: check.sh SIM SIM-WITH-SANITIZERS
#   Prints KTAP and a line of totals.
set -euo pipefail

. "$(dirname "$0")/../ktap.sh"

# A test is a function that succeeds: try DESCRIPTION FUNCTION [ARG]...
try() {
	local what=$1 status=0

	shift
	# in a condition "set -e" is off, so a test says itself what it needs
	"$@" || status=1
	result "$what" "$status"
}

# Compare standard input with what is expected; show the difference.
is() {
	diff <(printf '%s\n' "$@") - | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

# Lines of a dump: dump "INDEX INDEX..." OPTION...; no jitter.
dump() {
	local want=$1

	shift
	"$asan" --wake-jitter-ns 0 --dump "$tmp/dump" "$@" >"$tmp/out" || return
	awk -F, -v want=" $want " 'index(want, " " $1 " ")' "$tmp/dump"
}

# Columns of a single row of CSV: figures "COLUMN COLUMN..." OPTION...
figures() {
	local want=$1

	shift
	"$asan" --csv "$@" | awk -F, -v want="$want" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR == 2 {
			n = split(want, name, " ")
			for (i = 1; i <= n; i++)
				printf "%s%s", $at[name[i]], i < n ? " " : "\n"
		}'
}

# An I/O that takes 80 us, on a CPU that takes 2 us to wake up.

classic_dump() {
	dump "0 1 2" --policy classic --model constant --ios 3 |
		is 0,80000,0,0,0 1,80000,0,0,0 2,80000,0,0,0
}

# late: 1000 for the interrupt and 2000 for waking up
irq_dump() {
	dump "0 1" --policy irq --model constant --ios 2 |
		is 0,80000,0,3000,0 1,80000,0,3000,0
}

# CPU: (1000 + 1000) / 80000, late: 3000 / 80000
irq_figures() {
	figures "j cpu_pct late_pct lat_mean_us late_p50_us late_p9999_us" \
		--policy irq --model constant --ios 2 --wake-jitter-ns 0 |
		is "40.0000 2.5000 3.7500 83.0000 3.000 3.000"
}

# Awake and looking at 42000, as no lag is known yet, then at 41750, as 1/8 of
# 2000 is: spins for 38000 + 38250, sleeps cost 2000.
fixed_dump() {
	dump "0 1" --policy fixed --delay-us 40 --model constant --ios 2 |
		is 0,80000,40000,0,0 1,80000,40000,0,0
}
fixed_figures() {
	figures "j cpu_pct late_pct overslept_pct sleeps_per_io" \
		--policy fixed --delay-us 40 --model constant --ios 2 \
		--wake-jitter-ns 0 |
		is "48.9062 48.9062 0.0000 0.0000 1.0000"
}

# Awake at 92000, then at 91750, then with 250 + 1750 / 8 = 468 off at 91532.
fixed_oversleeps() {
	dump "0 1 2" --policy fixed --delay-us 90 --model constant --ios 3 |
		is 0,80000,90000,12000,1 1,80000,90000,11750,1 \
			2,80000,90000,11532,1
}

# The second is done before the task looks: late 11750 of 110000.
fixed_trace() {
	printf '80000\n30000\n' >"$tmp/two"
	dump "0 1" --policy fixed --delay-us 40 --trace "$tmp/two" |
		is 0,80000,40000,0,0 1,30000,40000,11750,1
	[ "${PIPESTATUS[1]}" -eq 0 ] &&
		figures "j cpu_pct late_pct overslept_pct" --policy fixed \
			--delay-us 40 --trace "$tmp/two" --wake-jitter-ns 0 |
		is "143.1818 36.3636 10.6818 50.0000"
}

# A sleep of 2000 is not worth a lag of 2000, once that is known.
fixed_too_short() {
	dump "0 40" --policy fixed --delay-us 2 --model constant --ios 50 |
		is 0,80000,2000,0,0 40,80000,0,0,0
}

# Half of the mean of the first 1000, in whole microseconds.
fixed_default() {
	dump "0" --policy fixed --model constant:ns=81999 --ios 10 |
		is 0,81999,40000,0,0
}

# The first sample is of 1 ms, so the window closes at 101 ms: the read that
# starts at 100 ms knows nothing, the next one half of 1 ms.
mean_dump() {
	dump "0 100 101 102" --policy mean --model constant:ns=1000000 \
		--ios 103 --wake-ns 0 |
		is 0,1000000,0,0,0 100,1000000,0,0,0 101,1000000,500000,0,0 \
			102,1000000,500000,0,0
}

# 1000 and 900 us in turns.  Window 1 closes at 101.0 ms with a mean of 950 us
# and no lmd: half.  Window 2 closes at 201.7 ms: half of the reads are 50 us
# below the mean before, so lmd = 25 us, and 950 - 4 * 25 = 850 us are slept.
lmd_dump() {
	printf '1000000\n900000\n' >"$tmp/turns"
	dump "106 107 212 213" --policy lmd --trace "$tmp/turns" --ios 214 \
		--wake-ns 0 |
		is 106,1000000,0,0,0 107,900000,475000,0,0 \
			212,1000000,475000,0,0 213,900000,850000,0,0
}

# The first sample at 1 ms opens a window; the one at 11 ms closes it.
ehp_dump() {
	dump "0 10 11" --policy ehp --model constant:ns=1000000 --ios 12 |
		is 0,1000000,0,0,0 10,1000000,0,0,0 11,1000000,995950,0,0
}
ehp_irq_dump() {
	dump "10 11" --policy ehp-irq --model constant:ns=1000000 --ios 12 |
		is 10,1000000,0,0,0 11,1000000,0,3000,0
}

# Awake for 80000, then for 80000 - 42000, half of which is slept ever after.
iou_dump() {
	dump "0 1 2 3 9" --policy iou-hybrid --model constant --ios 10 |
		is 0,80000,0,0,0 1,80000,40000,0,0 2,80000,19000,0,0 \
			3,80000,19000,0,0 9,80000,19000,0,0
}

# One ring, whatever the I/Os are: reads leave their mark on writes.
iou_has_one_state() {
	printf '%s\n' direction,bytes,latency_ns read,4096,80000 \
		write,4096,90000 >"$tmp/mixed"
	dump "0 1" --policy iou-hybrid --trace "$tmp/mixed" |
		is 0,80000,0,0,0 1,90000,40000,0,0
}

# Sleeps grow by 1, 2, 3, 4 %.
pas_dump() {
	dump "0 1 2 3 4" --policy pas --model constant --ios 5 |
		is 0,80000,100,0,0 1,80000,101,0,0 2,80000,103,0,0 \
			3,80000,106,0,0 4,80000,110,0,0
}

# With a wake-up of 2000 a sleep of 115 is just too long; then 115 * .9 = 103,
# and 103 * 1.009 is 103 again.
pas_turns() {
	dump "4 5 6 7" --policy pas --model constant:ns=2115 --ios 8 |
		is 4,2115,110,0,0 5,2115,115,0,1 6,2115,103,0,0 7,2115,103,0,0
}

# 100 I/Os as pas, 1000 classic, and pas again from where it was.
dpas_dump() {
	local sleep

	sleep=$(dump "100" --policy pas --model constant --ios 101 | cut -d, -f3)
	dump "100 1099" --policy dpas --model constant --ios 1101 |
		is 100,80000,0,0,0 1099,80000,0,0,0
	[ "${PIPESTATUS[1]}" -eq 0 ] &&
		[ "$(awk -F, '$1 == 1100 { print $3 }' "$tmp/dump")" = "$sleep" ]
}

# Wakes up at the very end, so the first look after the sleep finds it.
oracle_dump() {
	dump "0 1" --policy oracle --model constant --ios 2 |
		is 0,80000,78000,0,1 1,80000,78000,0,1
}

# Spinning for 900 costs less than a sleep of 1000.
oracle_spins() {
	dump "0 1" --policy oracle --model constant:ns=900 --ios 2 |
		is 0,900,0,0,0 1,900,0,0,0
}

# With jitter of 300: a margin of 300 * log(11) costs as much, and the sleep.
oracle_figures() {
	figures j --policy oracle --model constant --ios 200000 |
		awk '{ exit !($1 > 2.13 && $1 < 2.17) }'
}

# From 50 us on waking up takes 100 us more: sleep less, rather.
oracle_idle_state() {
	dump 0 --policy oracle --model constant --ios 1 --idle-after-ns 50000 \
		--idle-wake-ns 100000 |
		is 0,80000,49999,0,0
}
fixed_idle_state() {
	dump 0 --policy fixed --delay-us 60 --model constant --ios 1 \
		--idle-after-ns 60000 --idle-wake-ns 100000 |
		is 0,80000,60000,82000,1
}

# No second completion comes: the interrupt waits for 100 us.
coalesce_dump() {
	dump 0 --policy coalesce --model constant --ios 1 |
		is 0,80000,0,103000,0
	[ "${PIPESTATUS[1]}" -eq 0 ] &&
		dump 0 --policy coalesce --coalesce-ios 1 --model constant --ios 1 |
		is 0,80000,0,3000,0
}

# One at a time there is nothing to find at a submission.
on_submit_is_irq() {
	"$asan" --policy irq --model tlc-read --csv | sed 's/^irq/on-submit/' |
		diff - <("$asan" --policy on-submit --model tlc-read --csv)
}

# Six sleeps of 2000 let the lag grow to 1100, too much for another one.  It was
# last learnt at 53028; more than 1 s later it is halved, and worth a sleep again.
doubt() {
	dump "5 6 100005 100006" --policy fixed --delay-us 2 \
		--model constant:ns=10000 --ios 100007 |
		is 5,10000,2000,0,0 6,10000,0,0,0 100005,10000,0,0,0 \
			100006,10000,2000,0,0
}

# Half of 80000, awake at 42000; looks 700 apart until 45000 or later, 45500; the
# rest.  Found at 82000: not before 45500.  Then half of that, awake at 24750,
# looks until 28250, sleeps to 45500, and spins from 47500 on.
two_stages() {
	dump "0 1 2 3" --policy halves --model constant --ios 4 --poll-ns 700 "$@" |
		is 0,80000,0,0,0 1,80000,40000+34500,2000,1 \
			2,80000,22750+17250,0,0 3,80000,40000+34500,2000,1
}
two_stages_figures() {
	figures "cpu_pct sleeps_per_io" --policy halves --model constant --ios 2 \
		--poll-ns 700 --wake-jitter-ns 0 |
		is "53.4375 1.0000"
}

# What holds for everything

header() {
	"$sim" --csv --ios 10 | head -n 1 |
		is policy,trace,j,cpu_pct,late_pct,overslept_pct,sleeps_per_io,lat_mean_us,late_p50_us,late_p99_us,late_p999_us,late_p9999_us
}

# J of every row of $tmp/all, to the last digit but one.
formula() {
	awk -F, -v lambda="$1" '
		NR > 1 {
			d = $3 - $4 - lambda * $5
			if (d > lambda * 0.0001 + 0.0001 || -d > lambda * 0.0001 + 0.0001) {
				print "# " $0
				bad = 1
			}
			n++
		}
		END { exit bad || n < 100 }' "$2"
}

formula_of_another_lambda() {
	"$sim" --all-models --ios 20000 --lambda 2.5 --csv >"$tmp/lambda" &&
		formula 2.5 "$tmp/lambda"
}

classic_is_never_late() {
	awk -F, '
		$1 == "classic" {
			n++
			if ($3 != "100.0000" || $4 != "100.0000" || $5 != "0.0000" || $12 != "0.000")
				bad = 1
		}
		END { exit bad || n < 18 }' "$tmp/all"
}

# On other machines and at other prices as well.
oracle_is_the_limit_with() {
	"$sim" --all-models --ios 50000 --csv "$@" >"$tmp/other" &&
		oracle_is_the_limit "$tmp/other"
}

# One in 10^4 for the luck of the jitter.
oracle_is_the_limit() {
	awk -F, '
		NR > 1 { j[$2, $1] = $3; trace[$2]; policy[$1] }
		END {
			for (t in trace) {
				n++
				for (p in policy)
					if (j[t, p] < j[t, "oracle"] * 0.9999) {
						print "# " p " is better on " t
						bad = 1
					}
			}
			exit bad || n < 18
		}' "$1"
}

# Late and overslept of a dump, added up, are those of the row.
dump_adds_up() {
	"$asan" --policy "$1" --model lognormal --ios 20000 --csv \
		--dump "$tmp/dump" >"$tmp/row" || return
	awk -F, '
		FNR == 1 { next }
		NR == FNR { late = $5; over = $6; sleeps = $7; mean = $8; next }
		{
			l += $2; a += $4; o += $5; n++
			if ($3 != "0")
				s += split($3, x, "+")
		}
		function off(x, y) { return x - y > 0.0001 || y - x > 0.0001 }
		END {
			exit n != 20000 || off(100 * a / l, late) ||
				off(100 * o / n, over) || off(s / n, sleeps) ||
				off((l + a) / n / 1000, mean)
		}' "$tmp/row" "$tmp/dump"
}

# A nearest-rank percentile of a dump is that of the row, within 1/1024.
percentiles_of_a_dump() {
	"$asan" --policy irq --model lognormal --ios 20000 --csv \
		--dump "$tmp/dump" >"$tmp/row" || return
	tail -n +2 "$tmp/dump" | cut -d, -f4 | sort -n |
		awk -v row="$(tail -n 1 "$tmp/row")" '
			{ late[NR] = $1 / 1000 }
			function off(x, exact) { return x < exact - 0.0005 || x > exact * 1025 / 1024 + 0.0005 }
			END {
				split(row, column, ",")
				exit off(column[9], late[NR * 0.5]) || off(column[10], late[NR * 0.99]) ||
					off(column[11], late[NR * 0.999]) || off(column[12], late[NR * 0.9999])
			}'
}

same_seed_same_bytes() {
	local format

	for format in "" --csv --json --tail; do
		# shellcheck disable=SC2086
		"$sim" --all-models --ios 3000 $format >"$tmp/one" &&
			"$sim" --all-models --ios 3000 $format >"$tmp/two" &&
			cmp "$tmp/one" "$tmp/two" || return
	done
	"$sim" --policy lmd --model drift --dump "$tmp/one" >/dev/null &&
		"$sim" --policy lmd --model drift --dump "$tmp/two" >/dev/null &&
		cmp "$tmp/one" "$tmp/two"
}

# Also without the optimizations that a sanitizer prevents.
other_build_same_bytes() {
	"$sim" --all-models --ios 3000 --csv >"$tmp/one" &&
		"$asan" --all-models --ios 3000 --csv >"$tmp/two" &&
		cmp "$tmp/one" "$tmp/two"
}

other_seed_other_bytes() {
	"$sim" --model lognormal --ios 3000 --csv --seed 1 >"$tmp/one" &&
		"$sim" --model lognormal --ios 3000 --csv --seed 2 >"$tmp/two" &&
		! cmp -s "$tmp/one" "$tmp/two"
}

# All policies see the same latencies.
same_latencies() {
	"$asan" --policy classic --model drift --ios 5000 --dump "$tmp/one" >/dev/null &&
		"$asan" --policy mean --model drift --ios 5000 --dump "$tmp/two" >/dev/null &&
		cmp <(cut -d, -f2 "$tmp/one") <(cut -d, -f2 "$tmp/two")
}

# Ten million I/Os within ten seconds of CPU and 64 MiB of memory.
speed() {
	local TIMEFORMAT=%U seconds

	seconds=$( (ulimit -v 65536 && time "$sim" --policy "$1" --model "$2" \
		--ios 10000000 --csv >/dev/null) 2>&1) || return
	printf '# %s s\n' "$seconds"
	awk -v s="$seconds" 'BEGIN { exit !(s <= 10) }'
}

# The figures of --json are those of --csv.
json_is_csv() {
	"$asan" --model tlc-read --model optane --ios 5000 --json >"$tmp/json" &&
		"$asan" --model tlc-read --model optane --ios 5000 --csv |
		tail -n +2 >"$tmp/csv" || return
	sed -n -E -e 's/, "family": [^,]*, "ios": [0-9]*//' \
		-e 's/, "late_mean_us": [0-9.]*//' \
		-e 's/, "late_p99999_us".*//' \
		-e 's/^\{"policy": //p' "$tmp/json" |
		sed -E -e 's/"[a-z0-9_]+": //g' -e 's/[" ]//g' | diff - "$tmp/csv"
	[ "${PIPESTATUS[2]}" -eq 0 ] &&
		[ "$(tr -cd '{[' <"$tmp/json" | wc -c)" = "$(tr -cd '}]' <"$tmp/json" | wc -c)" ]
}

tail_adds_columns() {
	"$asan" --model lognormal --policy irq --ios 2000000 --csv --tail |
		awk -F, '
			NR == 1 { ok = $13 == "late_p99999_us" && $14 == "late_p999999_us" }
			NR == 2 { ok = ok && $14 > $13 && $13 > $12 && $12 > $11 }
			END { exit !ok }'
}

table_is_narrow() {
	"$sim" --all-models --ios 2000 | awk 'length > 79 { print "# " $0; bad = 1 } END { exit bad }'
}

# Several tasks, or several I/Os of each

# One task with one I/O at a time is the same in both engines.
engines_agree() {
	"$asan" --all-models --ios 3000 --csv >"$tmp/one" &&
		"$asan" --all-models --ios 3000 --csv --events >"$tmp/two" &&
		cmp "$tmp/one" "$tmp/two" || return
	"$asan" --policy "$1" --model markov --dump "$tmp/one" >/dev/null &&
		"$asan" --policy "$1" --model markov --dump "$tmp/two" --events >/dev/null &&
		cmp "$tmp/one" "$tmp/two"
}

# After 3 ms, in its 38th I/O, the first task has to give way to the second; its
# I/O is done 40 us later, and it runs again after another 3 ms.
threads_classic() {
	dump "36 37 38" --policy classic --model constant --threads 2 --ios 76 |
		is 36,80000,0,0,0 38,80000,0,0,0 37,80000,0,2960000,0
}

# The second submits when the first one sleeps.
threads_irq() {
	dump "0 1" --policy irq --model constant --threads 2 --ios 4 |
		is 0,80000,0,3000,0 1,80000,0,3000,0
}

# Both wake up at 100 us; 1 is found at 150 us, and 2 is submitted, which is done
# at 200 us while its task sleeps: the other one, which spins, wakes it up.
threads_wake_each_other() {
	printf '%s\n' 300000 150000 50000 >"$tmp/three"
	dump "0 1 2" --policy fixed --delay-us 100 --trace "$tmp/three" \
		--threads 2 --wake-ns 0 --sleep-cpu-ns 0 |
		is 1,150000,100000,0,0 2,50000,100000,0,0 0,300000,100000,0,0
	[ "${PIPESTATUS[1]}" -eq 0 ] &&
		dump 2 --policy fixed --delay-us 100 --trace "$tmp/three" --wake-ns 0 |
		is 2,50000,100000,50000,1
}

# The second I/O is done while its task sleeps; the first task finds it at its own
# first look.  That is OVER, the first outcome of both, so the sleep stays at 100.
threads_pas() {
	printf '%s\n' 300 50 5000 >"$tmp/three"
	dump "1 2" --policy pas --trace "$tmp/three" --threads 2 --wake-ns 0 \
		--sleep-cpu-ns 0 | is 1,50,100,50,0 2,5000,100,0,0
}

# Eight are done at once: eight interrupts or four, which keep the task from
# running for as long, and one sleep.
qd_interrupts() {
	figures "cpu_pct late_pct" --policy irq --model constant --qd 8 --ios 8 \
		--wake-jitter-ns 0 | is "1.4062 10.0000"
	[ "${PIPESTATUS[1]}" -eq 0 ] || return
	figures "cpu_pct late_pct" --policy coalesce --coalesce-ios 2 \
		--model constant --qd 8 --ios 8 --wake-jitter-ns 0 |
		is "0.7812 5.0000"
}

# A ring sleeps until its first I/O is due, and finds all eight.
qd_fixed() {
	dump "0 7" --policy fixed --delay-us 40 --model constant --qd 8 --ios 8 |
		is 0,80000,40000,0,0 7,80000,40000,0,0
	[ "${PIPESTATUS[1]}" -eq 0 ] &&
		figures "cpu_pct sleeps_per_io" --policy fixed --delay-us 40 \
			--model constant --qd 8 --ios 8 --wake-jitter-ns 0 |
		is "6.0938 0.1250"
}

# All policies get through, with every I/O counted once.
every_mix() {
	local mix

	for mix in "1 3" "2 1" "3 2" "16 1" "5 32"; do
		# shellcheck disable=SC2086
		set -- $mix
		"$asan" --threads "$1" --qd "$2" --model markov --model gc-knee \
			--model constant --wake-jitter heavy --ios 1501 --json >"$tmp/json" || return
		[ "$(grep -c '"ios": 1501,' "$tmp/json")" -eq "$((3 * $("$asan" --list-policies |
			grep -vc 'not in all')))" ] || return
	done
}

# The CPU is never busy for more time than there is.
never_more_than_one_cpu() {
	"$sim" --threads 16 --ios 20000 --model tlc-read --model optane --json |
		awk -F'"busy_pct": ' 'NF > 1 { n++; if ($2 + 0 > 100.001) bad = 1 } END { exit bad || n < 24 }'
}

# The report's figures

# J of 10 and 40 in one family: 20.  With 80 in another: the root of 20 * 80.
families_by_hand() {
	printf '%s\n' 'a x 1 1' '# text' 'b x 1 1' 'c y 1 1' >"$tmp/models"
	printf '%s\n' policy,trace,j p,a,10 p,b:k=1,40 p,c,80 >"$tmp/rows"
	awk -f "$bench/families.awk" "$tmp/models" "$tmp/rows" |
		is policy,x,y,all p,20.00,80.00,40.00
}

# q is beaten by p; r is the same as p and counts once; the oracle never counts.
front_by_hand() {
	printf '%s\n' policy,trace,j,cpu,late p,t,30,10,2 q,t,41,11,3 r,t,30,10,2 \
		s,t,50,50,0 oracle,t,1,1,0 >"$tmp/rows"
	awk -v out="$tmp" -f "$bench/points.awk" "$tmp/rows" &&
		is "10 2 p" "50 0 s" <"$tmp/t.front" && is "p 30" <"$tmp/t.best" &&
		is "p 10 2" "q 11 3" "r 10 2" "s 50 0" "oracle 1 0" <"$tmp/t.points"
}

# Traces

three_forms_of_a_trace() {
	printf '%s\n' '# measured' 'latency' 70000 80000 90000 >"$tmp/plain"
	printf '%s\r\n' 70000 80000 90000 >"$tmp/dos"
	printf '%s\n' '1, 70000, 0, 4096, 0, 0' '1, 80000, 0, 4096, 8, 0' \
		'2, 5, 2, 4096, 8, 0' '2, 90000, 0, 4096, 8, 0' >"$tmp/fio"
	printf '%s\n' 'dev,bytes,latency_ns,direction,x' '"259,0",4096,1,read,' \
		>"$tmp/quoted"
	printf '%s\n' 'dev,bytes,latency_ns,direction,x' '259:0,4096,70000,read,' \
		'259:0,4096,80000,R,' '259:0,4096,9,discard,' '259:0,4096,90000,0,' >"$tmp/events"
	for form in plain dos fio events; do
		"$asan" --trace "$tmp/$form" --csv --ios 5000 | sed "s/,$form,/,/" >"$tmp/rows-$form" || return
		cmp "$tmp/rows-plain" "$tmp/rows-$form" || return
	done
}

# Direction and size have statistics of their own: 1 ms reads, 100 us writes.
buckets() {
	printf '%s\n' direction,bytes,latency_ns read,4096,1000000 \
		write,4096,100000 read,65536,1000000 >"$tmp/mixed"
	dump "150 151 152" --policy mean --trace "$tmp/mixed" --ios 153 --wake-ns 0 |
		is 150,1000000,500000,0,0 151,100000,50000,0,0 152,1000000,500000,0,0
}

trace_begins_again() {
	printf '%s\n' 1000 2000 3000 >"$tmp/three"
	dump "2 3 7" --policy classic --trace "$tmp/three" --ios 8 |
		is 2,3000,0,0,0 3,1000,0,0,0 7,2000,0,0,0
}

# One line says what is wrong, nothing else is printed, and the status is 2.
refuses() {
	local status=0

	"$asan" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ] && [ ! -s "$tmp/out" ] &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^blk-poll-sim: ' "$tmp/err"
}

refuses_trace() {
	printf '%b' "$1" >"$tmp/bad"
	refuses --trace "$tmp/bad"
}

# Quantiles are those that --list-models states; a regime's come out less well.
quantiles() {
	local model=$1 p50=$2 p99=$3 ios=$5

	"$sim" --policy classic --model "$model" --ios "$ios" --dump "$tmp/dump" >/dev/null || return
	tail -n +2 "$tmp/dump" | cut -d, -f2 | LC_ALL=C sort -n |
		awk -v p50="$p50" -v p99="$p99" -v slack="$4" '
			{ ns[NR] = $1 }
			function off(x, stated) { return x < stated * (1 - slack) || x > stated * (1 + slack) }
			END {
				printf "# p50 %.2f p99 %.2f\n", ns[NR * 0.5] / 1000, ns[NR * 0.99] / 1000
				exit off(ns[NR * 0.5] / 1000, p50) || off(ns[NR * 0.99] / 1000, p99)
			}'
}

# More than quantiles, of those that imitate published figures.
optane_figures() {
	"$sim" --policy classic --model optane --ios 1000000 --dump "$tmp/dump" >/dev/null || return
	tail -n +2 "$tmp/dump" | cut -d, -f2 | LC_ALL=C sort -n |
		awk '
			{ ns[NR] = $1; sum += $1; squares += $1 * $1 }
			END {
				mean = sum / NR
				sd = sqrt(squares / NR - mean * mean)
				printf "# mean %.0f sd %.0f p99.99 %.0f\n", mean, sd, ns[NR * 0.9999]
				exit !(mean > 6740 && mean < 6880 && sd > 450 && sd < 550 &&
					ns[NR * 0.9999] > 16500 && ns[NR * 0.9999] < 19500)
			}'
}
tlc_figures() {
	"$sim" --policy classic --model tlc-read --ios 1000000 --dump "$tmp/dump" >/dev/null || return
	tail -n +2 "$tmp/dump" | cut -d, -f2 | LC_ALL=C sort -n |
		awk '
			{ ns[NR] = $1; bin[int($1 / 1000)]++ }
			END {
				printf "# p50 %d p99 %d p99.9 %d max %d\n", ns[NR * 0.5], ns[NR * 0.99], ns[NR * 0.999], ns[NR]
				# between two modes there is less than at each
				modes = bin[61] < bin[59] && bin[61] < bin[64] && bin[67] < bin[64] &&
					bin[67] < bin[71] && bin[73] < bin[71] && bin[73] < bin[75]
				exit !(modes && ns[NR * 0.999] > 85000 && ns[NR * 0.999] < 93000 &&
					ns[NR] > 140000 && ns[NR] < 190000)
			}'
}

# A table holds what a dump says of each I/O.
table_is_the_dump() {
	"$asan" --model tlc-read --ios 5000 --table "$tmp/table" || return
	"$asan" --model tlc-read --ios 5000 --policy classic --dump "$tmp/dump" >"$tmp/out" || return
	od -An -v -tu4 -w4 "$tmp/table" | tr -d ' ' >"$tmp/words"
	[ "$(wc -l <"$tmp/words")" -eq 5000 ] &&
		tail -n +2 "$tmp/dump" | cut -d, -f2 | cmp - "$tmp/words"
}

[ $# -eq 2 ] || die "usage: check.sh SIM SIM-WITH-SANITIZERS"
sim=$(realpath "$1")
asan=$(realpath "$2")
bench=$(realpath "$(dirname "$0")/../../../../bench/sim")
targets=$(realpath "$(dirname "$0")/targets.sh")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

printf 'KTAP version 1\n'
try "dump: classic" classic_dump
try "dump: irq" irq_dump
try "figures: irq" irq_figures
try "dump: fixed" fixed_dump
try "figures: fixed" fixed_figures
try "dump: fixed oversleeps less and less" fixed_oversleeps
try "dump and figures: fixed on a trace" fixed_trace
try "dump: fixed is not worth its wake-up" fixed_too_short
try "dump: fixed takes half" fixed_default
try "dump: mean from the second window on" mean_dump
try "dump: lmd from the third window on" lmd_dump
try "dump: ehp" ehp_dump
try "dump: ehp-irq" ehp_irq_dump
try "dump: iou-hybrid" iou_dump
try "dump: iou-hybrid has one state" iou_has_one_state
try "dump: pas grows" pas_dump
try "dump: pas turns" pas_turns
try "dump: dpas" dpas_dump
try "dump: a wake-up cost is doubted after a second" doubt
try "dump: two stages" two_stages
try "dump: two stages, by events" two_stages --events
try "figures: two stages" two_stages_figures
try "dump: oracle" oracle_dump
try "dump: oracle spins rather" oracle_spins
try "figures: oracle pays for jitter" oracle_figures
try "dump: oracle avoids an idle state" oracle_idle_state
try "dump: fixed does not" fixed_idle_state
try "dump: coalesce" coalesce_dump
try "on-submit is irq with one I/O at a time" on_submit_is_irq
for policy in fixed mean lmd ehp iou-hybrid pas dpas irq oracle; do
	try "dump adds up to the row: $policy" dump_adds_up "$policy"
done
try "table: what is in the dump" table_is_the_dump
try "percentiles are those of the dump" percentiles_of_a_dump
try "CSV header" header

try "adaptive keeps to its targets" "$targets" "$sim"

"$sim" --all-models --ios 100000 --csv >"$tmp/all"
try "J = CPU + 10 x late" formula 10 "$tmp/all"
try "J = CPU + 2.5 x late" formula_of_another_lambda
try "classic is never late" classic_is_never_late
try "oracle is the limit" oracle_is_the_limit "$tmp/all"
try "oracle is the limit: heavy tail" oracle_is_the_limit_with --wake-jitter heavy
try "oracle is the limit: idle state" oracle_is_the_limit_with \
	--idle-after-ns 20000 --idle-wake-ns 10000
try "oracle is the limit: lambda 3, slow wake-up" oracle_is_the_limit_with \
	--lambda 3 --wake-ns 5000
try "oracle is the limit: lambda 30, no jitter" oracle_is_the_limit_with \
	--lambda 30 --wake-jitter-ns 0
try "same seed, same bytes" same_seed_same_bytes
try "same seed, same bytes of another build" other_build_same_bytes
try "other seed, other bytes" other_seed_other_bytes
try "every policy sees the same latencies" same_latencies
try "JSON says what CSV says" json_is_csv
try "--tail goes to the 99.9999th percentile" tail_adds_columns
try "the table fits 79 columns" table_is_narrow
try "speed: lmd, lognormal" speed lmd lognormal
try "speed: pas, tlc-read" speed pas tlc-read

try "one task by events: same as without" engines_agree pas
try "two tasks: classic" threads_classic
try "two tasks: irq" threads_irq
try "two tasks: one wakes the other" threads_wake_each_other
try "two tasks: pas and what others find" threads_pas
try "depth 8: interrupts" qd_interrupts
try "depth 8: fixed" qd_fixed
try "tasks and depths: all get through" every_mix
try "tasks: no more than a whole CPU" never_more_than_one_cpu

try "report: families count the same" families_by_hand
try "report: the front" front_by_hand

try "trace: every form" three_forms_of_a_trace
try "trace: direction and size" buckets
try "trace: begins again" trace_begins_again
try "trace: no file" refuses --trace "$tmp/none"
try "trace: a directory" refuses --trace "$tmp"
try "trace: empty" refuses_trace ''
try "trace: only a header" refuses_trace 'latency_ns\n'
try "trace: text" refuses_trace '100\nabc\n'
try "trace: a fraction" refuses_trace '100.5\n'
try "trace: negative" refuses_trace '100\n-100\n'
try "trace: 0" refuses_trace '100\n0\n'
try "trace: too large" refuses_trace '100\n99999999999999999999\n'
try "trace: columns without a header" refuses_trace '100,200\n'
try "trace: no column latency_ns" refuses_trace 'time,lat\n1,2\n'
try "trace: too few columns" refuses_trace 'a,latency_ns\n1,2\n1\n'
try "trace: binary" refuses_trace '\0\0\0\0'
try "refused: an option that does not exist" refuses --nonsense
try "refused: an argument" refuses nonsense
try "refused: an option without value" refuses --policy
try "refused: a policy that does not exist" refuses --policy nonsense
try "refused: no policy" refuses --policy ''
try "refused: a model that does not exist" refuses --model nonsense
try "refused: a parameter that does not exist" refuses --model constant:x=1
try "refused: a parameter without value" refuses --model constant:ns
try "refused: a parameter that is no number" refuses --model constant:ns=x
try "refused: a parameter that is nan" refuses --model constant:ns=nan
try "refused: a parameter out of range" refuses --model constant:ns=0
try "refused: 0 I/Os" refuses --ios 0
try "refused: -1 I/Os" refuses --ios -1
try "refused: too many threads" refuses --threads 1025
try "refused: too many in flight" refuses --threads 1024 --qd 65
try "refused: depth 0" refuses --qd 0
try "refused: looks at no distance" refuses --poll-ns 0
try "refused: lambda that is no number" refuses --lambda x
try "refused: lambda below 0" refuses --lambda -1
try "refused: an unknown jitter" refuses --wake-jitter normal
try "refused: both CSV and JSON" refuses --csv --json
try "refused: dump of several policies" refuses --policy all --dump "$tmp/dump"
try "refused: a table of several models" refuses --all-models --table "$tmp/table"
try "refused: a table that is too long" refuses --ios 65537 --table "$tmp/table"
try "refused: a table to nowhere" refuses --ios 1 --table "$tmp/none/table"
try "refused: dump to nowhere" refuses --policy irq --csv --dump "$tmp/none/dump"

while read -r model family p50 p99; do
	slack=0.03
	ios=200000
	case $family in
	change|regimes|writes)
		slack=0.1
		ios=1000000
		;;
	esac
	try "quantiles: $model" quantiles "$model" "$p50" "$p99" "$slack" "$ios"
done < <("$sim" --list-models | grep -v '^#')
try "published figures: optane" optane_figures
try "published figures: tlc-read" tlc_figures

printf '1..%d\n' "$nr"
printf '%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
