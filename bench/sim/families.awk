# SPDX-License-Identifier: GPL-2.0
# Geometric mean of J over the models of each family, and over the families, so
# that each family has the same weight. CSV.
# usage: awk -f families.awk models.txt results.csv

NR == FNR {
	if ($1 !~ /^#/)
		of_model[$1] = $2
	next
}

FNR == 1 { FS = "," ; $0 = $0; next }

{
	model = $2
	sub(/:.*/, "", model)
	family = model in of_model ? of_model[model] : "trace"
	if (!(family in seen)) {
		seen[family]
		families[++nr_families] = family
	}
	if (!($1 in known)) {
		known[$1]
		policies[++nr_policies] = $1
	}
	sum[$1, family] += log($3)
	count[$1, family]++
}

END {
	printf "policy"
	for (f = 1; f <= nr_families; f++)
		printf ",%s", families[f]
	print ",all"
	for (p = 1; p <= nr_policies; p++) {
		policy = policies[p]
		total = 0
		printf "%s", policy
		for (f = 1; f <= nr_families; f++) {
			mean = sum[policy, families[f]] / count[policy, families[f]]
			total += mean
			printf ",%.2f", exp(mean)
		}
		printf ",%.2f\n", exp(total / nr_families)
	}
}
