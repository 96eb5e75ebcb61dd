// SPDX-License-Identifier: GPL-2.0
#include "sim.h"
void sim_run_events(struct sim_run *run) { sim_run_one(run); }
