# SPDX-License-Identifier: GPL-2.0
# Draws how long each policy sleeps, over time, when a device changes at once.
# usage: gnuplot -e "out='FILE.svg'; base='PREFIX'; policies='A B'; name='MODEL'" step.gp
#   PREFIX followed by a policy, "dpas" or "oracle", and .dat has time in ms, sleep and latency in us.

set terminal svg size 1000,430 dynamic font "DejaVu Sans,13" background rgb "white"
set output out

colour(policy) = policy eq "mean" ? 0x009e73 : policy eq "lmd" ? 0xd55e00 : \
	policy eq "ehp" ? 0xcc79a7 : policy eq "iou-hybrid" ? 0x56b4e9 : \
	0xe69f00

set xlabel "time (ms)"
set ylabel "sleep asked for (us)"
set xrange [0:1000]
set yrange [0:80]
set border 3 lc rgb "#666666"
set tics nomirror out
set grid back lt 1 lw 1 lc rgb "#eeeeee"
set key outside right top Left reverse samplen 2 spacing 1.25

plot base . "oracle.dat" using 1:3 with points pt 7 ps 0.25 lc rgb "#bbbbbb" title "latency", \
	base . "dpas.dat" using 1:2 with points pt 7 ps 0.35 lc rgb 0xb08030 title "dpas", \
	for [policy in policies] base . policy . ".dat" using 1:2 \
		with lines lw 2 lc rgb colour(policy) title policy noenhanced, \
	base . "oracle.dat" using 1:2 with lines lw 1 dt 3 lc rgb "black" title "oracle"
