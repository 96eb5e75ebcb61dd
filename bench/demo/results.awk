# SPDX-License-Identifier: GPL-2.0
# Prints results.csv: the medians of the runs.
# usage: awk -f runs.awk -f results.awk runs.csv

END {
	nr = split("iops lat_mean_us lat_p50_us lat_p99_us cpu_pct irqs sleeps", cols, " ")
	printf "engine,mode,rw,bs,qd"
	for (c = 1; c <= nr; c++)
		printf ",%s", cols[c]
	printf "\n"
	for (j = 1; j <= jobs; j++) {
		key = job[j]
		printf "%s,%s,%s,%s,%s", value[key, "engine", 1], value[key, "mode", 1],
			value[key, "rw", 1], value[key, "bs", 1], value[key, "qd", 1]
		for (c = 1; c <= nr; c++)
			printf cols[c] ~ /irqs|sleeps/ ? ",%.0f" : ",%.1f", median(key, cols[c])
		printf "\n"
	}
}
