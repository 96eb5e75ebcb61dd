# SPDX-License-Identifier: GPL-2.0
# Prints the medians of the runs, under each the lowest and the highest, and
# one sentence about them.
# usage: awk -f runs.awk -f table.awk runs.csv

function digits(col) {
	return col == "cpu_pct" ? "%.1f" : "%.0f"
}

function width(c) {
	return c == 1 ? "%9s" : c == 4 ? "%13s" : "%11s"
}

function cell(key, col) {
	return sprintf(digits(col), median(key, col))
}

function spread(key, col) {
	return sprintf(digits(col) ".." digits(col), lowest(key, col), highest(key, col))
}

function cpu(mode) {
	return sprintf("%.0f %%", median(mode " randread 4k", "cpu_pct"))
}

function mean_us(mode) {
	return median(mode " randread 4k", "lat_mean_us")
}

function latency(mode) {
	return sprintf("%.2f", mean_us("classic") > 0 ? mean_us(mode) / mean_us("classic") : 0)
}

END {
	nr = split("iops lat_mean_us lat_p50_us lat_p99_us cpu_pct irqs sleeps", cols, " ")
	printf "%-8s%-14s%9s%11s%11s%13s%11s%11s%11s\n", "mode", "I/O", "IOPS",
		"mean us", "p50 us", "p99 us", "CPU %", "I/O irqs", "sleeps"
	for (j = 1; j <= jobs; j++) {
		key = job[j]
		n = split(key, part, " ")
		printf "\n%-8s%-14s", part[1], part[3] " " part[2]
		for (c = 1; c <= nr; c++)
			printf width(c), cell(key, cols[c])
		printf "\n%8s%-14s", "", n < 4 ? "" : part[5] == "qd1" ? part[4] : part[4] " " part[5]
		for (c = 1; c <= nr; c++)
			printf width(c), spread(key, cols[c])
		printf "\n"
	}
	printf "\nlmd answers in %s x the time of classic polling, with %s of a CPU instead of %s;\n",
		latency("lmd"), cpu("lmd"), cpu("classic")
	printf "mean needs %s, interrupts need %s and answer in %s x that time.\n",
		cpu("mean"), cpu("irq"), latency("irq")
}
