# SPDX-License-Identifier: GPL-2.0
# Checks that each mode did what its name says, and that it paid.
# usage: awk -v rounds=N -f runs.awk -f checks.awk runs.csv
#   One line for each check; exit status 1 when one of them failed. Counts are
#   checked in every round, CPU by its median, latency in the best round.

# Share of the I/Os, in percent, that must end by interrupt in mode irq, must be
# slept for in a sleeping mode, and must be seen by the estimator.
BEGIN { MOST_PCT = 90 }

# Voluntary context switches, as a share of the sleeps in percent. The two are
# read some milliseconds apart, and fio waits for a lock now and then. fio's own
# figure, ctx in runs.csv, is no good for that: it has the involuntary ones too.
BEGIN { SWITCHES_LOW_PCT = 95; SWITCHES_HIGH_PCT = 105 }

# A polling task that never sleeps is switched by others only.
BEGIN { CLASSIC_SWITCHES_PCT = 10 }

# How much longer than with classic polling in the same round an I/O may take, in the
# best round: what the host adds changes from round to round, and who has to be woken
# gets more of it.
BEGIN { LATENCY_RATIO = 1.10 }

# How much of the IOPS of classic polling must be left at a depth of 32.
BEGIN { IOPS_RATIO = 0.90 }

# CPU time as fio accounts it against the time in which its CPU was not idle, in
# polled modes: most points of difference, in a round that the host disturbed. The
# work of interrupts is nobody's. An error in the accounts would be 50 or 100.
BEGIN { CPU_POINTS = 25 }

function check(ok, text) {
	printf "%s - %s\n", ok ? "ok" : "not ok", text
	failed += !ok
}

# One column in percent of another, in the round where that is lowest (sign 1) or
# highest (sign -1); -1 where there is nothing to divide by.
function extreme_share(key, part, whole, sign,    i, x, best) {
	best = -1
	for (i = 1; i <= runs[key]; i++) {
		if (value[key, whole, i] <= 0)
			return -1
		x = 100 * value[key, part, i] / value[key, whole, i]
		if (i == 1 || sign * x < sign * best)
			best = x
	}
	return best
}

function lowest_share(key, part, whole) {
	return extreme_share(key, part, whole, 1)
}

function highest_share(key, part, whole) {
	return extreme_share(key, part, whole, -1)
}

function shown(key,    part, n) {
	n = split(key, part, " ")
	return (part[1] == "mode" ? "" : part[1] " ") part[3] " " part[2] (n > 3 ? " " part[4] " " part[5] : "")
}

# On a file: the journal and the superblock are written by interrupt at any time.
function polled_file(key) {
	check(runs[key] && highest_share(key, "irqs", "ios") >= 0 &&
		highest_share(key, "irqs", "ios") < 100 - MOST_PCT,
		sprintf("%s: an interrupt of the disk for %.1f %% of the I/Os (below %d)", shown(key),
			highest_share(key, "irqs", "ios"), 100 - MOST_PCT))
	timed(key)
}

function timed(key) {
	check(lowest_share(key, "samples", "ios") > MOST_PCT && highest(key, "downgraded") == 0,
		sprintf("%s: the kernel polled and timed %.1f %% of them (above %d), %d ended by interrupt",
			shown(key), lowest_share(key, "samples", "ios"), MOST_PCT, highest(key, "downgraded")))
}

function polled(key, sleeping,    irqs) {
	irqs = highest(key, "irqs_whole_run")
	check(runs[key] && lowest(key, "ios") > 0 && irqs == 0 && lowest(key, "irqs_whole_run") == 0,
		sprintf("%s: %d interrupts of the disk in %d I/Os", shown(key), irqs, median(key, "ios")))
	if (sleeping)
		timed(key)
}

function slept(key,    low, high) {
	check(lowest_share(key, "sleeps", "ios") > MOST_PCT,
		sprintf("%s: a sleep for %.1f %% of the I/Os (above %d)", shown(key),
			lowest_share(key, "sleeps", "ios"), MOST_PCT))
	low = lowest_share(key, "part_switches", "part_sleeps")
	high = highest_share(key, "part_switches", "part_sleeps")
	check(low >= SWITCHES_LOW_PCT && high <= SWITCHES_HIGH_PCT,
		sprintf("%s: voluntary context switches are %.1f to %.1f %% of the sleeps (%d to %d)", shown(key),
			low, high, SWITCHES_LOW_PCT, SWITCHES_HIGH_PCT))
}

function spun(key,    high) {
	high = highest_share(key, "part_switches", "ios")
	check(high >= 0 && high < CLASSIC_SWITCHES_PCT && highest(key, "sleeps") == 0,
		sprintf("%s: %d sleeps, a voluntary context switch for %.1f %% of the I/Os (below %d)", shown(key),
			highest(key, "sleeps"), high, CLASSIC_SWITCHES_PCT))
}

# The same I/O by classic polling.
function by_classic(key) {
	sub(/^[a-z]+/, "classic", key)
	return key
}

function quotient(x, y) {
	return y > 0 ? x / y : 0
}

function as_fast(key,    i, x, ratio) {
	for (i = 1; i <= runs[key]; i++) {
		x = quotient(value[key, "lat_mean_us", i], value[by_classic(key), "lat_mean_us", i])
		if (i == 1 || x < ratio)
			ratio = x
	}
	check(ratio > 0 && ratio <= LATENCY_RATIO,
		sprintf("%s: mean latency of the best round %.2f x classic's (at most %.2f)", shown(key), ratio,
			LATENCY_RATIO))
}

# Many I/Os at a time: sleeping costs no throughput.
function as_many(key,    ratio) {
	ratio = quotient(median(key, "iops"), median(by_classic(key), "iops"))
	check(ratio >= IOPS_RATIO,
		sprintf("%s: %.2f x the IOPS of classic (at least %.2f)", shown(key), ratio, IOPS_RATIO))
}

# The given modes take more and more CPU.
function cheaper(list, io,    n, mode, i, ok, text, now, last) {
	n = split(list, mode, " ")
	ok = 1
	last = 0
	for (i = 1; i <= n; i++) {
		now = median(mode[i] " " io, "cpu_pct")
		ok = ok && now > last
		text = text sprintf("%s%s %.1f %%", i > 1 ? " < " : "", mode[i], now)
		last = now
	}
	check(ok, sprintf("CPU, %s: %s", shown("mode " io), text))
}

function difference(key, i,    x) {
	x = value[key, "busy_pct", i] - value[key, "cpu_pct", i]
	return x < 0 ? -x : x
}

END {
	nr = split("irq randread 4k,classic randread 4k,fixed randread 4k,mean randread 4k,lmd randread 4k," \
		"classic randwrite 4k,lmd randwrite 4k,classic randread 8k,lmd randread 8k," \
		"classic randread 4k io_uring qd1,lmd randread 4k io_uring qd1," \
		"classic randread 4k io_uring qd32,lmd randread 4k io_uring qd32," \
		"lmd randread 4k pvsync2/ext4 qd1", want, ",")
	for (w = 1; w <= nr; w++)
		missing += rounds - runs[want[w]]
	check(rounds > 0 && jobs == nr && missing == 0, sprintf("%d jobs, each in all of %d rounds", jobs, rounds))

	for (w = 1; w <= nr; w++) {
		key = want[w]
		if (key ~ /^irq /) {
			check(lowest_share(key, "irqs", "ios") > MOST_PCT,
				sprintf("%s: an interrupt of the disk for %.1f %% of the I/Os (above %d)", shown(key),
					lowest_share(key, "irqs", "ios"), MOST_PCT))
		} else if (key ~ /^classic /) {
			polled(key, 0)
			spun(key)
		} else if (key ~ /ext4/) {
			polled_file(key)
			slept(key)
		} else if (key ~ /qd32$/) {
			polled(key, 1)
			as_many(key)
		} else {
			polled(key, 1)
			slept(key)
			as_fast(key)
		}
	}
	cheaper("irq lmd mean classic", "randread 4k")
	cheaper("lmd classic", "randwrite 4k")
	cheaper("lmd classic", "randread 8k")
	cheaper("lmd classic", "randread 4k io_uring qd1")
	for (j = 1; j <= jobs; j++) {
		if (job[j] ~ /irq/)
			continue
		for (i = 1; i <= runs[job[j]]; i++) {
			if (difference(job[j], i) >= worst) {
				worst = difference(job[j], i)
				where = job[j]
			}
		}
	}
	check(where != "" && worst <= CPU_POINTS,
		sprintf("polled modes: CPU as fio counts it and idle time differ by at most %.1f points, in %s (at most %d)",
			worst, shown(where), CPU_POINTS))
	exit failed > 0
}
