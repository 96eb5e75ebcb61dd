# SPDX-License-Identifier: GPL-2.0
# Whether simulator and lab agree on the same policy and the same latencies.
# usage: awk -f agree.awk results.csv simulated.csv
#   Late is, in the lab, how much longer I/Os take than with classic polling, in
#   percent of the device's time. Prints 0 or 1 (they differ by more than TOLERANCE
#   points of late, or sleeps per I/O) and what both say.

BEGIN {
	FS = ","
	late_tolerance = 1
	sleeps_tolerance = 0.1
}

FNR == 1 { file++ }
file == 1 && FNR > 1 && $3 == "pvsync2" && $4 == "randread" && $5 == "4k" && $7 == 1 {
	latency[$1, $2] = $9
	sleeps[$1, $2] = $15
	device[$1] = $18
}
file == 2 {
	if (!(($1, "classic") in latency))
		next
	late = 100 * (latency[$1, $2] - latency[$1, "classic"]) / device[$1]
	differ = late - $5 > late_tolerance || $5 - late > late_tolerance ||
		sleeps[$1, $2] - $7 > sleeps_tolerance || $7 - sleeps[$1, $2] > sleeps_tolerance
	bad += differ
	printf "%d simulator and lab on %s, %s: late %.2f and %.2f %%, sleeps per I/O %.2f and %.2f\n", differ, $1, $2,
		$5, late, $7, sleeps[$1, $2]
}

END { exit bad > 0 }
