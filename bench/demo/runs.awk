# SPDX-License-Identifier: GPL-2.0
# Reads runs.csv, a line per run, for the programs beside it. They find
#   job[1..jobs]           "MODE RW BS" in order of appearance, followed by
#                          "ENGINE qdDEPTH" unless that is pvsync2
#   value[job, COLUMN, n]  what run n of the job has in a column
#   runs[job]              its number of runs

BEGIN {
	FS = ","
}

FNR == 1 {
	for (i = 1; i <= NF; i++) {
		name[i] = $i
		column[$i] = i
	}
	next
}

{
	key = $(column["mode"]) " " $(column["rw"]) " " $(column["bs"])
	if ($(column["engine"]) != "pvsync2")
		key = key " " $(column["engine"]) " qd" $(column["qd"])
	if (!(key in runs))
		job[++jobs] = key
	runs[key]++
	for (i = 1; i <= NF; i++)
		value[key, name[i], runs[key]] = $i
}

# Stores the values of a column in sorted[1..n], returns n.
function sort(key, col,    i, j, x) {
	for (i = 1; i <= runs[key]; i++) {
		x = value[key, col, i] + 0
		for (j = i - 1; j > 0 && sorted[j] > x; j--)
			sorted[j + 1] = sorted[j]
		sorted[j + 1] = x
	}
	return runs[key]
}

function median(key, col,    n) {
	n = sort(key, col)
	if (n % 2)
		return sorted[(n + 1) / 2]
	return n ? (sorted[n / 2] + sorted[n / 2 + 1]) / 2 : 0
}

function lowest(key, col) {
	return sort(key, col) ? sorted[1] : 0
}

function highest(key, col,    n) {
	n = sort(key, col)
	return n ? sorted[n] : 0
}
