# SPDX-License-Identifier: GPL-2.0
# Front door: each target is one script. KERNEL_SRC=DIR builds on another tree.

SET ?= small
OUT ?= build/series

.PHONY: help fetch apply build boot refresh series lint unit sim sim-report bench bench-overhead \
	selftest demo check check-each deb clean

help:		## show this list
	@sed -n 's/^\([a-z-]*\):.*##[[:space:]]*/\1\t/p' Makefile | expand -t 16

fetch:		## get the pristine kernel tree and check that the series fits
	@scripts/fetch

apply:		## make build/linux: the kernel with the series as commits
	@scripts/apply

build: apply	## build a kernel (SET=small or another set of configs/sets)
	@scripts/build $(SET)

boot: build	## boot it to a shell (SET=...)
	@scripts/boot --kernel $(SET)

refresh:	## take commits made in build/linux back into patches and files
	@scripts/refresh

series: apply	## write the series as mails (OUT=DIR)
	@scripts/series $(OUT)

lint: apply	## checkpatch, sparse, W=1, kernel-doc, shellcheck, codespell
	@scripts/lint

unit:		## the estimator's tests in user space
	@$(MAKE) -s -C tools/testing/blk_poll check

sim:		## build the simulator of ways to wait, build/blk-poll-sim
	@$(MAKE) -s -C tools/testing/blk_poll/sim OUT='$(CURDIR)/build'
	@echo 'build/blk-poll-sim is built; see build/blk-poll-sim --help'

sim-report:	## every way to wait on every model as tables and plots (TRACES=files)
	@scripts/sim-report $(TRACES)

bench: apply	## every way to wait in the timing lab (MODEL=, POLICY=, TRACE=file: some cells)
	@MODEL='$(MODEL)' POLICY='$(POLICY)' TRACE='$(TRACE)' scripts/bench

bench-overhead: apply ## instructions per I/O where nobody asks for anything, stock and ours
	@scripts/bench-overhead

selftest: apply	## the tests in a guest
	@scripts/selftest

demo: apply	## show what it does
	@scripts/demo

check:		## everything that must pass before a change goes out
	@scripts/check

check-each: apply ## build every commit of the series alone, boot the last one
	@scripts/check-each

deb: apply	## Debian packages of the patched kernel (CONFIG=FILE: your own configuration)
	@scripts/deb $(CONFIG)

clean:		## remove build/
	@scripts/clean
