# SPDX-License-Identifier: GPL-2.0
# CPU against latency of one device, reads of 4 KiB one at a time: a point for each way to wait.
# usage: gnuplot -e "out='x.svg'; points='x.points'; name='x'" cells.gp
#   A line of x.points is: CPU in percent, mean latency in us, p99 in us, way.

set terminal svg size 860,420 dynamic font "DejaVu Sans,13" background rgb "white"
set output out

names = "irq classic fixed mean lmd adaptive ehp iou-hybrid pas"
# Those of the simulator's plots, bench/sim/pareto.gp.
colours = "0x0072b2 0x333333 0x999999 0x009e73 0xd55e00 0x882255 0xcc79a7 0x56b4e9 0xe69f00"
shapes = "5 7 4 9 11 3 13 15 7"

set title name.": reads of 4 KiB, one at a time; lower left is better" noenhanced
set xlabel "CPU, %"
set ylabel "mean latency, us"
set xrange [0:105]
set offsets 0, 0, graph 0.06, graph 0.06
set border 3 lc rgb "#666666"
set tics nomirror out
set grid back lt 1 lw 1 lc rgb "#eeeeee"
set key outside right top Left reverse samplen 1.5 spacing 1.25
set autoscale yfix

plot for [i = 1:words(names)] points using (strcol(4) eq word(names, i) ? $1 : NaN):2 \
	with points pt (0 + word(shapes, i)) ps 1.3 lc rgb (0 + word(colours, i)) \
	title word(names, i) noenhanced
