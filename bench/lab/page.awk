# SPDX-License-Identifier: GPL-2.0
# The lab's report as an HTML page.
# usage: awk -f ../html.awk -f page.awk file=1 models file=2 expect.txt file=3 agreement.txt repeats.txt
#   file=4 results.csv

# bench/lab/models
file == 1 && /^(#|$)/ { next }
file == 1 {
	n = split($0, part, ": ")
	what[part[1]] = part[n]
	next
}

# expect.txt
file == 2 { expect[++nr_expect] = $0; next }

# agreement.txt and repeats.txt: 0 or 1, and what was found
file == 3 { found[++nr_found] = $0; next }

# results.csv
FNR == 1 { next }
{
	split($0, field, ",")
	model = field[1]
	mode = field[2]
	where = field[3] " " field[4] " " field[5] " " field[6] " " field[7]
	if (!(model in seen_model)) {
		seen_model[model]
		models[++nr_models] = model
		device[model] = field[18]
	}
	if (!(mode in seen_mode)) {
		seen_mode[mode]
		modes[++nr_modes] = mode
	}
	if (!((model, where) in seen_where)) {
		seen_where[model, where]
		wheres[model, ++nr_wheres[model]] = where
	}
	for (i = 8; i <= 17; i++)
		value[model, where, mode, i] = field[i]
	has[model, where, mode]
}

function intro()
{
	print "<h1>Ways to wait for a disk, measured in the timing lab</h1>"
	print "<p>A real kernel with this series and fio, in a virtual machine whose clock counts instructions: a nanosecond is"
	print "an instruction, and what else the host does is not seen. The disk is null_blk in the same machine, which takes as"
	print "long for each request as a table says, and works on eight at a time. One CPU, one poll queue. These are not the"
	print "microseconds of any real machine; they say which way costs what, exactly and each time the same.</p>"
	print "<ul>\n<li><b>irq</b> waits for an interrupt, <b>classic</b> spins (io_poll_delay -1), <b>fixed</b> sleeps half of the"
	print "mean latency (io_poll_delay N); the others are policies (io_poll_delay 0).</li>"
	print "<li><b>CPU</b> is what the guest was not idle, interrupts, fio and 5 ms of its start included. Each cell measures a second,\nso that on <b>step</b> and <b>gc</b>, which change meanwhile, ways to wait do not meet quite the same I/Os.</li>\n</ul>"
}

# classic's mean latency is 1; CPU in percent.
function summary(	m, n, where, base, x)
{
	where = "pvsync2 randread 4k 1 1"
	print "<h2>Everything in one table</h2>"
	print "<p>Reads of 4 KiB, one at a time: mean latency as a multiple of classic polling's, and CPU in percent. Green: the"
	print "least CPU of those whose latency is within 2 % of classic polling's. Red: slower than an interrupt.</p>"
	print "<div class=\"wide\"><table>\n<tr><th>device</th>"
	for (n = 1; n <= nr_modes; n++)
		printf "<th>%s</th><th></th>", modes[n]
	print "</tr>"
	for (m = 1; m <= nr_models; m++) {
		if (!((models[m], where, "classic") in has))
			continue
		base = value[models[m], where, "classic", 9]
		best = ""
		for (n = 1; n <= nr_modes; n++) {
			x = value[models[m], where, modes[n], 9]
			if (x && x <= 1.02 * base && modes[n] != "classic" &&
			    (best == "" || value[models[m], where, modes[n], 13] + 0 < value[models[m], where, best, 13] + 0))
				best = modes[n]
		}
		printf "<tr><td>%s</td>", models[m]
		for (n = 1; n <= nr_modes; n++) {
			x = value[models[m], where, modes[n], 9]
			if (!x) {
				printf "<td></td><td></td>"
				continue
			}
			worse = x > value[models[m], where, "irq", 9] + 0 && value[models[m], where, "irq", 9] && modes[n] != "irq"
			printf "<td%s>%.3f</td><td%s>%.0f %%</td>", worse ? " class=\"worse\"" : "", x / base,
				modes[n] == best ? " class=\"best\"" : "", value[models[m], where, modes[n], 13]
		}
		print "</tr>"
	}
	print "</table></div>"
}

function claims(	n)
{
	print "<h2>What is claimed, and whether it holds</h2>\n<table>"
	for (n = 1; n <= nr_expect; n++)
		printf "<tr><td class=\"text\"%s>%s</td></tr>\n", expect[n] ~ /^DOES NOT/ ? " style=\"background: #fde0dd\"" : "",
			escape(expect[n])
	print "</table>"
}

function agreement(	n)
{
	if (!nr_found)
		return
	print "<h2>Can it be believed?</h2>"
	print "<p>The simulator was given the same latencies and policies. <b>Late</b> is in it how long after the device was done"
	print "the task knew, in the lab how much longer I/Os took than with classic polling, in percent of the device's time. Some"
	print "cells were measured twice, the second time in another guest and after others.</p>\n<table>"
	for (n = 1; n <= nr_found; n++)
		printf "<tr><td class=\"text\"%s>%s</td></tr>\n", found[n] ~ /^1/ ? " style=\"background: #fde0dd\"" : "",
			escape(substr(found[n], 3))
	print "</table>"
}

function model_section(m,	w, n, where, part, title)
{
	printf "<h2 id=\"%s\">%s</h2>\n<p>%s. The device takes %s us in the mean.</p>\n", m, m,
		m in what ? escape(what[m]) : "Latencies of a file", device[m]
	printf "<p><img src=\"%s.svg\" alt=\"CPU against latency on %s\"></p>\n", m, m
	for (w = 1; w <= nr_wheres[m]; w++) {
		where = wheres[m, w]
		split(where, part, " ")
		title = part[1] " " part[2] " of " part[3] ", depth " part[4] (part[5] > 1 ? ", " part[5] " tasks on the CPU" : "")
		printf "<h3>%s</h3>\n<div class=\"wide\"><table>\n", title
		print "<tr><th></th><th>IOPS</th><th>mean us</th><th>p50</th><th>p99</th><th>p99.9</th><th>CPU %</th><th>switches per I/O</th><th>sleeps per I/O</th><th>overslept %</th></tr>"
		for (n = 1; n <= nr_modes; n++) {
			if (!((m, where, modes[n]) in has))
				continue
			printf "<tr><td>%s</td><td>%.0f</td>", modes[n], value[m, where, modes[n], 8]
			for (i = 9; i <= 16; i++)
				printf "<td>%s</td>", short(value[m, where, modes[n], i])
			print "</tr>"
		}
		print "</table></div>"
	}
}

END {
	head("Ways to wait for a disk: the timing lab")
	intro()
	summary()
	claims()
	for (m = 1; m <= nr_models; m++)
		model_section(models[m])
	agreement()
	print "<p class=\"note\">All figures: <a href=\"results.csv\">results.csv</a>. Again: <code>make bench</code>.</p>\n</body>\n</html>"
}
