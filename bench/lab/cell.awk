# SPDX-License-Identifier: GPL-2.0
# A cell of the lab as a line of results.csv.
# usage: awk -v head=FIELDS -v mean=NS -f cell.awk FIO BEFORE AFTER
#   FIO has fio's figures in one line; BEFORE and AFTER are what the guest's
#   kernel had counted: time and idle time in ns, counters of poll_stat.

FNR == 1 { file++ }
file == 1 { split($0, fio, " "); next }
$1 == "now" { now[file] = $3 }
# the colon stands apart from one of the two names
$1 ~ /^\.(idle|iowait)_sleeptime:?$/ { idle[file] += $(NF - 1) }
NF == 2 && $1 ~ /^[a-z_]+$/ { count[file, $1] = $2 }

function moved(name)
{
	return count[3, name] - count[2, name]
}

END {
	ios = fio[6]
	wall = now[3] - now[2]
	if (file != 3 || !ios || wall <= 0) {
		printf "cell.awk: %s has no figures\n", head >"/dev/stderr"
		exit 1
	}
	sleeps = moved("sleeps")
	busy = wall - (idle[3] - idle[2])
	printf "%s,%.1f,%.3f,%.3f,%.3f,%.3f,%.2f,%.3f,%.3f,%.2f,%d,%.3f,%.1f\n", head, fio[1], fio[2], fio[3], fio[4],
		fio[5], 100 * busy / wall, fio[7] / ios, sleeps / ios, sleeps ? 100 * moved("overslept") / sleeps : 0,
		ios, mean / 1000, busy / ios
}
