# SPDX-License-Identifier: GPL-2.0
# Check claims about the lab's figures.
# usage: awk -f expect.awk EXPECT results.csv
#   A line of EXPECT is "MODEL ENGINE PATTERN SIZE DEPTH TASKS: COLUMN MODE [/ MODE]
#   OPERATOR BOUND: what it says"; the value is that of a mode, or its ratio to
#   another's. A claim about cells that were not measured is named, and neither
#   holds nor fails. Exit status 1 when one fails.

FNR == 1 { file++ }
file == 1 && /^(#|$)/ { next }
file == 1 {
	claim[++nr] = $0
	next
}
FNR == 1 {
	columns = split($0, column, ",")
	for (i = 8; i <= columns; i++)
		known[column[i]]
	next
}
{
	split($0, field, ",")
	where = field[1] " " field[3] " " field[4] " " field[5] " " field[6] " " field[7]
	for (i = 8; i <= columns; i++)
		value[where, field[2], column[i]] = field[i]
}

function holds(x, operator, bound)
{
	if (operator == "<=")
		return x <= bound
	if (operator == ">=")
		return x >= bound
	printf "expect.awk: unknown operator %s\n", operator >"/dev/stderr"
	exit 2
}

END {
	for (n = 1; n <= nr; n++) {
		split(claim[n], part, ": ")
		where = part[1]
		words = split(part[2], word, " ")
		over = word[3] == "/" ? word[4] : ""
		operator = word[words - 1]
		bound = word[words] + 0
		if (!(word[1] in known)) {
			printf "expect.awk: no column %s: %s\n", word[1], claim[n] >"/dev/stderr"
			exit 2
		}
		if (!((where, word[2], word[1]) in value) ||
		    (over != "" && !((where, over, word[1]) in value))) {
			printf "not measured: %s: %s\n", where, part[3]
			missing++
			continue
		}
		x = value[where, word[2], word[1]]
		base = over != "" ? value[where, over, word[1]] : 1
		if (base > 0)
			x /= base
		good = base > 0 && holds(x, operator, bound)
		printf "%s: %s: %s: %.3f, expected %s %s\n", good ? "holds" : "DOES NOT HOLD", where, part[3], x,
			operator, word[words]
		good ? held++ : failed++
	}
	printf "%d claims hold, %d do not, %d were not measured\n", held, failed, missing
	exit failed > 0
}
