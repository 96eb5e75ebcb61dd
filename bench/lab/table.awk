# SPDX-License-Identifier: GPL-2.0
# results.csv of the lab as a table.
# usage: awk -f table.awk results.csv

BEGIN { FS = "," }
FNR == 1 { next }
{
	where = $1 ", " $3 " " $4 " " $5 ($6 > 1 ? ", depth " $6 : "") ($7 > 1 ? ", " $7 " tasks" : "")
	if (where != last) {
		printf "\n%s: the device takes %s us\n", where, $18
		printf "%-12s %9s %9s %9s %9s %6s %8s %8s %6s\n", "", "IOPS", "mean us", "p99 us", "p99.9 us", "CPU %",
			"switch/IO", "sleep/IO", "over %"
	}
	last = where
	printf "%-12s %9.0f %9.2f %9.1f %9.1f %6.1f %8.2f %8.2f %6.1f\n", $2, $8, $9, $11, $12, $13, $14, $15, $16
}
