# SPDX-License-Identifier: GPL-2.0
# CPU against latency of one device, reads of 4 KiB one at a time: a point for each way to wait.
# usage: gnuplot -e "out='x.svg'; points='x.points'; name='x'" cells.gp
#   A line of x.points is: CPU in percent, mean latency in us, p99 in us, way.

set terminal svg size 760,420 font 'DejaVu Sans,12' background '#ffffff'
set output out
set title name.': reads of 4 KiB, one at a time; lower left is better' noenhanced
set xlabel 'CPU %'
set ylabel 'mean latency, us'
set xrange [0:105]
set offsets 0, 6, graph 0.12, graph 0.06
set grid lc rgb '#dddddd'
set key off
plot points using 1:2 with points pt 7 ps 0.9 lc rgb '#08519c', \
	points using 1:2:4 with labels offset char 0.8,0.6 left noenhanced font ',11'
