# SPDX-License-Identifier: GPL-2.0
# Draws CPU against lateness on one model, a point for each way to wait.
# usage: gnuplot -e "out='FILE.svg'; points='FILE'; front='FILE'; best='FILE'" pareto.gp

set terminal svg size 860,470 dynamic font "DejaVu Sans,13" background rgb "white"
set output out

names = "irq classic fixed mean lmd adaptive ehp iou-hybrid pas dpas on-submit coalesce hindsight oracle"
# Colours that also those see apart who do not see all of them, and shapes.
colours = "0x0072b2 0x333333 0x999999 0x009e73 0xd55e00 0x882255 0xcc79a7 0x56b4e9 0xe69f00 0x8b5a00 0x5566cc 0x77aadd 0x777777 0x000000"
shapes = "5 7 4 9 11 3 13 15 7 5 6 8 2 3"

# Late by less than this is drawn as this much: logarithms have no 0.
least = 0.001
late(x) = x < least ? least : x

stats best using 2 nooutput
best_j = STATS_min
lambda = 10.0
same_cost(x) = x < best_j ? late((best_j - x) / lambda) : NaN

set logscale xy
set xlabel "CPU (% of the device's time)"
set ylabel "late (% of the device's time)"
set xrange [*:160]
set yrange [0.7 * least:*]
set ytics add ("≤ 0.001" least)
set format y "%g"
set format x "%g"
set border 3 lc rgb "#666666"
set tics nomirror out
set grid back lt 1 lw 1 lc rgb "#eeeeee"
set key outside right top Left reverse samplen 1.5 spacing 1.25
set samples 500

plot front using 1:(late($2)) with steps lw 1.5 dt 2 lc rgb "#888888" title "front: nobody beats\nthese in both", \
	same_cost(x) with lines lw 1 dt 3 lc rgb "#d62728" title "as cheap as the best J", \
	for [i = 1:words(names)] points using (strcol(1) eq word(names, i) ? $2 : NaN):(late($3)) \
		with points pt (0 + word(shapes, i)) ps 1.3 lc rgb (0 + word(colours, i)) \
		title word(names, i) noenhanced, \
	front using 1:(late($2)):3 with labels left offset 0.8,0.6 font ",11" textcolor rgb "#444444" noenhanced notitle
