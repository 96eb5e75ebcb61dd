# SPDX-License-Identifier: GPL-2.0
# From results.csv three files for each model, for pareto.gp: NAME.points with
# policy, CPU % and late %; NAME.front with those that no other beats in both;
# NAME.best with the policy of the lowest J, and that J.
# usage: awk -v out=DIR -f points.awk results.csv
# The clairvoyant is a limit, not a way to wait: it is never best nor in front.

BEGIN { FS = "," }

function file_name(name)
{
	gsub(/[^A-Za-z0-9._-]/, "_", name)
	return out "/" name
}

FNR > 1 {
	if (!($2 in rows))
		order[++nr] = $2
	row = ++rows[$2]
	policy[$2, row] = $1
	j[$2, row] = $3
	cpu[$2, row] = $4
	late[$2, row] = $5
}

# Whether another way costs no more CPU and is no later, and better in one.
function beaten(name, i,	k)
{
	for (k = 1; k <= rows[name]; k++)
		if (policy[name, k] != "oracle" && k != i &&
		    cpu[name, k] <= cpu[name, i] && late[name, k] <= late[name, i] &&
		    (cpu[name, k] < cpu[name, i] || late[name, k] < late[name, i] || k < i))
			return 1
	return 0
}

function write_model(name,	base, i, best, sort)
{
	base = file_name(name)
	best = 0
	sort = "sort -n >'" base ".front'"
	for (i = 1; i <= rows[name]; i++) {
		print policy[name, i], cpu[name, i], late[name, i] >(base ".points")
		if (policy[name, i] == "oracle")
			continue
		if (!best || j[name, i] + 0 < j[name, best] + 0)
			best = i
		if (!beaten(name, i))
			print cpu[name, i], late[name, i], policy[name, i] | sort
	}
	print policy[name, best], j[name, best] >(base ".best")
	close(sort)
	close(base ".points")
	close(base ".best")
}

END {
	for (n = 1; n <= nr; n++)
		write_model(order[n])
}
