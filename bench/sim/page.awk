# SPDX-License-Identifier: GPL-2.0
# The report as an HTML page.
# usage: awk -v ios=N -v machine=TEXT -f ../html.awk -f page.awk models.txt policies.txt families.csv threads.csv results.csv

FNR == 1 { file++ }

# models.txt
file == 1 && /^#   parameters:/ { next }
file == 1 && /^#   / { sub(/^#   /, ""); imitates[model] = $0; next }
file == 1 && /^#/ { next }
file == 1 { model = $1; family[model] = $2; next }

# policies.txt
file == 2 {
	name = $1
	sub(/^[^ ]+ +/, "")
	policies[++nr_policies] = name
	what[name] = $0
	next
}

# families.csv
file == 3 {
	n = split($0, column, ",")
	for (i = 1; i <= n; i++)
		families[FNR, i] = column[i]
	family_columns = n
	family_rows = FNR
	next
}

# threads.csv: threads, policy, thousand I/Os a second, CPU %
file == 4 {
	split($0, column, ",")
	if (!(column[1] in seen_threads)) {
		seen_threads[column[1]]
		threads[++nr_threads] = column[1]
	}
	kiops[column[2], column[1]] = column[3]
	busy[column[2], column[1]] = column[4]
	next
}

# results.csv
FNR == 1 { next }
{
	split($0, column, ",")
	if (!(column[2] in rows))
		names[++nr_names] = column[2]
	row = ++rows[column[2]]
	for (i = 1; i <= 12; i++)
		results[column[2], row, i] = column[i]
}

function intro()
{
	print "<h1>Ways to wait for a fast disk</h1>"
	print "<p>A task reads from a disk, one I/O at a time, and waits: by an interrupt, by spinning, or by"
	print "sleeping first and spinning for the rest. This page shows what each way costs, in a simulation"
	print "with " ios " I/Os on each model of a device, and each trace once.</p>"
	print "<ul>\n<li><b>CPU</b>: time spent spinning, plus the CPU time of sleeps and interrupts, in percent of the"
	print "time that the device needs. Spinning all the time is 100.</li>"
	print "<li><b>late</b>: time from the moment when the device was done until the task knew, in percent of the"
	print "same. Spinning is never late.</li>"
	print "<li><b>J</b> = CPU + 10 &times; late: one number for both, where being late by a microsecond is as bad as"
	print "spinning for ten. <b>Lower is better</b>; classic polling is 100 by definition.</li>"
	print "<li><b>oracle</b> knows every latency in advance and still has to wake up: the limit, not a way to wait.</li>"
	print "</ul>"
}

function policy_list(	p)
{
	print "<h2>The ways</h2>\n<table>"
	for (p = 1; p <= nr_policies; p++)
		printf "<tr><td><b>%s</b></td><td class=\"text\">%s</td></tr>\n", policies[p], escape(what[policies[p]])
	print "</table>"
}

# The best of a column, without the limit.
function best_of(c,	r, best)
{
	for (r = 2; r <= family_rows; r++)
		if (families[r, 1] != "oracle" && (!best || families[r, c] + 0 < families[best, c] + 0))
			best = r
	return best
}

function family_table(	r, c, best, class)
{
	print "<h2>Everything in one table: J</h2>"
	print "<p>The geometric mean of J over the models of each family; the last column is that over the families, so"
	print "that each family counts the same. Green: the best of the column. Red: worse than just spinning.</p>"
	print "<div class=\"wide\"><table>\n<tr>"
	for (c = 1; c <= family_columns; c++)
		printf "<th>%s</th>", escape(families[1, c])
	print "</tr>"
	for (c = 2; c <= family_columns; c++)
		best[c] = best_of(c)
	for (r = 2; r <= family_rows; r++) {
		printf "<tr%s><td>%s</td>", families[r, 1] == "oracle" ? " class=\"limit\"" : "", families[r, 1]
		for (c = 2; c <= family_columns; c++) {
			class = r == best[c] ? " class=\"best\"" : families[r, c] > 100.005 ? " class=\"worse\"" : ""
			printf "<td%s>%s</td>", class, short(families[r, c])
		}
		print "</tr>"
	}
	print "</table></div>"
}

function steps()
{
	print "<h2>When a device changes</h2>"
	print "<p>Grey dots are latencies; each line is the sleep that a policy asks for. Good is a line just below the dots:"
	print "far below it spins, above them it is late. After the step a policy has to find the new latency; the closer it"
	print "stays to the dots, the better. <b>dpas</b> sleeps in one of eleven I/Os only and spins in the others, where its"
	print "dots are at 0. <b>iou-hybrid</b> never sleeps longer than it once did.</p>"
	print "<h3>From 20 to 60 us (step-up)</h3><p><img src=\"at-step-up.svg\" alt=\"Sleep over time at a step up\"></p>"
	print "<h3>From 60 to 20 us (step-down)</h3><p><img src=\"at-step-down.svg\" alt=\"Sleep over time at a step down\"></p>"
}

function scale(	p, t)
{
	print "<h2>Several tasks on one CPU</h2>"
	print "<p>Thousand I/Os a second on <b>tlc-read</b>, and how busy the CPU is, if so many tasks share one CPU and one"
	print "completion queue. Who spins keeps the others from running: a way that spins much does not scale.</p>"
	print "<div class=\"wide\"><table>\n<tr><th>tasks</th>"
	for (t = 1; t <= nr_threads; t++)
		printf "<th>%s</th><th></th>", threads[t]
	print "</tr>"
	for (p = 1; p <= nr_policies; p++) {
		printf "<tr%s><td>%s</td>", policies[p] == "oracle" ? " class=\"limit\"" : "", policies[p]
		for (t = 1; t <= nr_threads; t++)
			printf "<td>%.1f</td><td>%.0f %%</td>", kiops[policies[p], threads[t]], busy[policies[p], threads[t]]
		print "</tr>"
	}
	print "</table></div>"
}

# The row of a model with the lowest J, without the limit.
function best_row(name,	r, best)
{
	for (r = 1; r <= rows[name]; r++)
		if (results[name, r, 1] != "oracle" &&
		    (!best || results[name, r, 3] + 0 < results[name, best, 3] + 0))
			best = r
	return best
}

function model_section(name,	base, r, best, class, i)
{
	base = name
	sub(/:.*/, "", base)
	printf "<h3 id=\"%s\">%s <small>(%s)</small></h3>\n", file_name(name), escape(name),
		base in family ? family[base] : "trace"
	printf "<p>%s</p>\n", base in imitates ? escape(imitates[base]) : "Measured latencies."
	printf "<p><img src=\"%s.svg\" alt=\"CPU against lateness on %s\"></p>\n", file_name(name), escape(name)
	print "<div class=\"wide\"><table><tr><th>policy</th><th>J</th><th>CPU %</th><th>late %</th><th>overslept %</th><th>sleeps per I/O</th>"
	print "<th>latency, mean us</th><th>late: p50 us</th><th>p99</th><th>p99.9</th><th>p99.99</th></tr>"
	best = best_row(name)
	for (r = 1; r <= rows[name]; r++) {
		printf "<tr%s><td>%s</td>", results[name, r, 1] == "oracle" ? " class=\"limit\"" : "", results[name, r, 1]
		for (i = 3; i <= 12; i++) {
			class = i > 3 ? "" : r == best ? " class=\"best\"" : \
				results[name, r, 3] > 100.005 ? " class=\"worse\"" : ""
			printf "<td%s>%s</td>", class, short(results[name, r, i])
		}
		print "</tr>"
	}
	print "</table></div>"
}

function models(	n)
{
	print "<h2>Model by model: CPU against lateness</h2>"
	print "<p>Each point is a way to wait; <b>both axes are logarithmic, and lower left is better</b>. The dashed stairs are"
	print "the front: for a point on it, nobody costs less CPU without being later. Everything below the red dotted line"
	print "would be cheaper, by J, than the best of them. <b>on-submit</b> lies on irq: with one I/O at a time there is nothing"
	print "to find at a submission.</p>\n<p>"
	for (n = 1; n <= nr_names; n++)
		printf "<a href=\"#%s\">%s</a>%s\n", file_name(names[n]), escape(names[n]), n < nr_names ? " &middot;" : ""
	print "</p>"
	for (n = 1; n <= nr_names; n++)
		model_section(names[n])
}

function machine_section()
{
	gsub(/[{}"]/, "", machine)
	gsub(/: /, " = ", machine)
	print "<h2>The machine</h2>"
	print "<p>A sleep ends late by wake_ns and a random time with the mean wake_jitter_ns, and costs sleep_cpu_ns of CPU;"
	print "an interrupt costs irq_ns and then a wake-up. While a task spins it finds an I/O at once. One task, one I/O at"
	print "a time, seed 1.</p>"
	printf "<p class=\"note\">%s</p>\n", escape(machine)
	print "<p>A row again, or another machine: <code>build/blk-poll-sim --help</code>. All figures: <a href=\"results.csv\">results.csv</a>,"
	print "<a href=\"families.csv\">families.csv</a>, <a href=\"table.txt\">table.txt</a>. This is a model: it shows which way is"
	print "better and why, not the microseconds of your machine.</p>\n</body>\n</html>"
}

END {
	head("Ways to wait for a fast disk")
	intro()
	family_table()
	policy_list()
	steps()
	scale()
	models()
	machine_section()
}
