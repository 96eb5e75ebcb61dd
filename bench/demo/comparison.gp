# SPDX-License-Identifier: GPL-2.0
# Draws latency against CPU of the 4k random reads, a labelled point for each mode.
# usage: gnuplot -e "kind='png'; out='FILE'; results='results.csv'; runs='runs.csv'" comparison.gp

if (kind eq "png") {
	set terminal pngcairo size 1200,750 font "DejaVu Sans,14" background rgb "white"
} else {
	set terminal svg size 1200,750 dynamic font "DejaVu Sans,14" background rgb "white"
}
set output out
set datafile separator comma
set datafile columnheaders

# Colours that also those see apart who do not see all of them.
colour(mode) = mode eq "irq" ? 0x0072b2 : mode eq "lmd" ? 0xd55e00 : \
	mode eq "classic" ? 0x333333 : mode eq "mean" ? 0x009e73 : 0xaa4499

# What the current line of a file says: its values in ms, and its CPU, or
# nothing when it is not a 4k random read, one at a time, on the raw disk.
ms(name) = column(name) / 1000.0
cpu(name) = strcol("engine") eq "pvsync2" && strcol("rw") eq "randread" && \
	strcol("bs") eq "4k" ? column(name) : NaN
tint(name) = colour(strcol(name))
left(name) = cpu(name) > 60 ? NaN : cpu(name)
right(name) = cpu(name) > 60 ? cpu(name) : NaN
text(name) = sprintf("{/:Bold %s}  %.2f ms at %.0f %% CPU", strcol(name), ms("lat_mean_us"), column("cpu_pct"))

# The labels stand above the highest p99, each at a height of its own.
stats results using (cpu("cpu_pct") >= 0 ? ms("lat_p99_us") : NaN) nooutput
top = STATS_max
height(line) = top * (1.45 - 0.085 * line)

set title "{/:Bold=18 Latency against CPU: ways to wait for a 4k random read}\n" . \
	"{/=13 one task, one read at a time; NVMe disk and CPUs are emulated by QEMU, so compare the modes only}"
set xlabel "CPU of the waiting task, usr + sys (%)"
set ylabel "latency (ms)"
set xrange [0:105]
set yrange [0:1.55 * top]
set xtics 10 nomirror out
set ytics nomirror out
set border 3 lc rgb "#666666"
set grid back lt 1 lw 1 lc rgb "#eeeeee"
set key at screen 0.5, 0.045 center horizontal maxrows 1 Left reverse samplen 1.5 width 2
set bmargin 6
set style textbox opaque fillcolor rgb "white" noborder margins 0.3,0.3
set lmargin 9
set rmargin 4

plot results using (cpu("cpu_pct")):(0):(0):(height($0)):(tint("mode")) \
		with vectors nohead lw 1 dt 3 lc rgb variable notitle, \
	results using (cpu("cpu_pct")):(ms("lat_mean_us")):(0):(ms("lat_p99_us") - ms("lat_mean_us")):(tint("mode")) \
		with vectors nohead lw 2 lc rgb variable notitle, \
	runs using (cpu("cpu_pct")):(ms("lat_mean_us")):(tint("mode")) \
		with points pt 7 ps 0.6 lc rgb variable notitle, \
	results using (cpu("cpu_pct")):(ms("lat_p99_us")):(tint("mode")) \
		with points pt 9 ps 1.6 lc rgb variable notitle, \
	results using (cpu("cpu_pct")):(ms("lat_mean_us")):(tint("mode")) \
		with points pt 7 ps 2.2 lc rgb variable notitle, \
	results using (left("cpu_pct")):(height($0)):(text("mode")):(tint("mode")) \
		with labels boxed left offset 0.8,0 textcolor rgb variable notitle, \
	results using (right("cpu_pct")):(height($0)):(text("mode")):(tint("mode")) \
		with labels boxed right offset -0.8,0 textcolor rgb variable notitle, \
	NaN with points pt 9 ps 1.6 lc rgb "#666666" title "99th percentile", \
	NaN with points pt 7 ps 2.2 lc rgb "#666666" title "mean", \
	NaN with points pt 7 ps 0.6 lc rgb "#666666" title "mean of a single round"
