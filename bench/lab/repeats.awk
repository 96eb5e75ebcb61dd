# SPDX-License-Identifier: GPL-2.0
# Whether two runs of the same cells gave the same figures.
# usage: awk -F, -v n=COLUMNS -f repeats.awk
#   Lines of results.csv, each followed by the same cell's of another run, of
#   COLUMNS columns each. Prints 0 or 1 (they differ by more than 0.5 %) and why.

# How much the column of the second run is away from that of the first, in percent.
function off(column,	d)
{
	d = 100 * ($(n + column) / $column - 1)
	return d < 0 ? -d : d
}

{
	worst = 0
	# IOPS, mean latency, CPU
	for (i = 1; i <= 3; i++) {
		column = i == 1 ? 8 : i == 2 ? 9 : 13
		if (off(column) > worst)
			worst = off(column)
	}
	differ = worst > 0.5
	bad += differ
	printf "%d two runs of %s, %s, %s depth %s: IOPS, latency and CPU differ by %.2f %% at most, expected 0.5\n",
		differ, $1, $2, $3, $6, worst
}

END { exit bad > 0 }
