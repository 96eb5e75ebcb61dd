// SPDX-License-Identifier: GPL-2.0
/*
 * Many tasks on one CPU and one completion queue, each with one I/O at a time
 * or with a ring of several.
 *
 * A task that spins looks all the time, so only what ends its spinning is
 * simulated: a completion, whoever it belongs to, a task that wakes up and
 * preempts it, the end of its time slice, or its plan.  A look reaps all
 * completions.  One of another task's wakes that task up if it sleeps for this
 * one I/O; a ring is not woken.
 *
 * A task that goes to sleep keeps the CPU from the others for the CPU time that
 * a sleep costs, an interrupt keeps it from all.
 */
#include <stdlib.h>

#include "sim.h"

enum task_state {
	TASK_RUNNABLE,		/* runs, or waits for the CPU */
	TASK_ASLEEP,		/* until its timer, or somebody wakes it up */
	TASK_IRQ,		/* until an interrupt */
	TASK_GONE,		/* has nothing left to do */
};

struct task;

/**
 * struct slot - An I/O in flight.
 * @task: Whose it is.
 * @io: What the device does.
 * @index: Its number.
 * @start_ns: When it was submitted.
 * @done_ns: When the device is done.
 * @deliver_ns: When its interrupt has been handled.
 * @slept_ns: How long its task has slept since, without the present sleep.
 * @tag: Of its plan.
 * @sleeps: For the dump.
 * @irq: An interrupt will come.
 * @busy: It is in flight.
 * @reaped: It was found, or its interrupt was handled.
 * @overslept: It was found at the first look after a sleep.
 */
struct slot {
	struct task *task;
	struct sim_io io;
	u64 index;
	u64 start_ns;
	u64 done_ns;
	u64 deliver_ns;
	u64 slept_ns;
	u32 tag;
	struct sim_sleeps sleeps;
	bool irq;
	bool busy;
	bool reaped;
	bool overslept;
};

/**
 * struct task - A task, and its struct blk_poll_wait.
 * @slot: Its I/Os.
 * @in: Inputs of @plan.
 * @plan: Of its only I/O; a ring makes a new one for each I/O and round.
 * @state: What it does.
 * @asleep_ns: When it went to sleep.
 * @due_ns: When its timer expires.
 * @wake_ns: When it runs again, if the CPU is free.
 * @slice_ns: When its time slice ends.
 * @empty_ns: Last look before the last sleep.
 * @lag_ns: Of its last wake-up, 0 if others wanted the CPU.
 * @looks: Since the last sleep.
 * @nr_sleeps: So far.
 * @nr_busy: I/Os in flight, reaped or not.
 * @nr_reaped: Of them, found by whomever.
 * @sleepers: Tasks asleep when it went to its first sleep, itself included.
 * @stage: Of @plan.
 * @found_first: The look after its first sleep found something.
 * @early: Somebody has woken it up.
 * @slept: It has not run since it was asleep.
 * @next: In a queue.
 */
struct task {
	struct slot *slot;
	struct blk_poll_inputs in;
	struct blk_poll_plan plan;
	enum task_state state;
	u64 asleep_ns;
	u64 due_ns;
	u64 wake_ns;
	u64 slice_ns;
	u64 empty_ns;
	u64 lag_ns;
	u32 looks;
	u32 nr_sleeps;
	u32 nr_busy;
	u32 nr_reaped;
	u16 sleepers;
	u8 stage;
	bool found_first;
	bool early;
	bool slept;
	struct task *next;
};

/* Tasks that wait for the CPU, first in first out. */
struct queue {
	struct task *first;
	struct task **last;
};

/* I/Os by the time when they are done. */
struct heap {
	struct slot **slot;
	unsigned int nr;
};

/* I/Os in the order in which they came. */
struct fifo {
	struct slot **slot;
	unsigned int first;
	unsigned int nr;
};

/**
 * struct world - Everything.
 * @run: The run.
 * @tracker: What was learnt.
 * @stream: Latencies.
 * @random: Jitter.
 * @now_ns: The clock.
 * @next_index: Number of the next I/O.
 * @nr_done: I/Os that are known to be done.
 * @task: All tasks.
 * @cur: The one that runs.
 * @woken: Those that have slept and preempt whoever runs.
 * @ready: Others that could run.
 * @nr_asleep: Tasks asleep for a timer.
 * @held_ns: Until then only @holder can run.
 * @holder: Who went to sleep last.
 * @irq_busy_ns: Until then interrupts are handled.
 * @polled: I/Os at the device whose completions will be looked for.
 * @irq: Those that end by an interrupt.
 * @pending: Done, the interrupt is not raised yet.
 * @raised: The interrupt is being handled.
 * @raise_ns: When it is raised for @pending at the latest.
 */
struct world {
	struct sim_run *run;
	struct sim_tracker tracker;
	struct sim_stream stream;
	struct sim_random random;
	u64 now_ns;
	u64 next_index;
	u64 nr_done;
	struct task *task;
	struct task *cur;
	struct queue woken;
	struct queue ready;
	unsigned int nr_asleep;
	u64 held_ns;
	struct task *holder;
	u64 irq_busy_ns;
	struct heap polled;
	struct heap irq;
	struct fifo pending;
	struct fifo raised;
	u64 raise_ns;
};

static bool earlier(const struct slot *a, const struct slot *b)
{
	return a->done_ns < b->done_ns ||
	       (a->done_ns == b->done_ns && a->index < b->index);
}

static void heap_push(struct heap *heap, struct slot *slot)
{
	unsigned int i = heap->nr++;

	while (i && earlier(slot, heap->slot[(i - 1) / 2])) {
		heap->slot[i] = heap->slot[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap->slot[i] = slot;
}

static struct slot *heap_pop(struct heap *heap)
{
	struct slot *first = heap->slot[0];
	struct slot *last = heap->slot[--heap->nr];
	unsigned int i = 0, child;

	while ((child = 2 * i + 1) < heap->nr) {
		if (child + 1 < heap->nr &&
		    earlier(heap->slot[child + 1], heap->slot[child]))
			child++;
		if (!earlier(heap->slot[child], last))
			break;
		heap->slot[i] = heap->slot[child];
		i = child;
	}
	heap->slot[i] = last;
	return first;
}

static unsigned int max_slots(void)
{
	return sim_options.machine.threads * sim_options.machine.qd;
}

static void fifo_push(struct fifo *fifo, struct slot *slot)
{
	fifo->slot[(fifo->first + fifo->nr++) % max_slots()] = slot;
}

static struct slot *fifo_first(const struct fifo *fifo)
{
	return fifo->slot[fifo->first];
}

static struct slot *fifo_pop(struct fifo *fifo)
{
	struct slot *slot = fifo_first(fifo);

	fifo->first = (fifo->first + 1) % max_slots();
	fifo->nr--;
	return slot;
}

static void queue_push(struct queue *queue, struct task *task)
{
	task->next = NULL;
	*queue->last = task;
	queue->last = &task->next;
}

static void queue_push_first(struct queue *queue, struct task *task)
{
	task->next = queue->first;
	if (!queue->first)
		queue->last = &task->next;
	queue->first = task;
}

static struct task *queue_pop(struct queue *queue)
{
	struct task *task = queue->first;

	queue->first = task->next;
	if (!queue->first)
		queue->last = &queue->first;
	return task;
}

static bool is_ring(void)
{
	return sim_options.machine.qd > 1;
}

/* Interrupts */

static void handled(struct world *world, struct slot *slot)
{
	struct task *task = slot->task;

	slot->reaped = true;
	task->nr_reaped++;
	if (task->state != TASK_IRQ || task->wake_ns != U64_MAX)
		return;
	task->wake_ns = world->now_ns +
			sim_wake_lag(&sim_options.machine, &world->random,
				     world->now_ns - task->asleep_ns);
}

static void raise_irq(struct world *world)
{
	world->raise_ns = U64_MAX;
	world->irq_busy_ns = max(world->irq_busy_ns, world->now_ns) +
			     sim_options.machine.irq_ns;
	if (world->held_ns > world->now_ns)
		world->held_ns += sim_options.machine.irq_ns;
	world->run->stats.cost_ns += sim_options.machine.irq_ns;
	while (world->pending.nr) {
		struct slot *slot = fifo_pop(&world->pending);

		slot->deliver_ns = world->irq_busy_ns;
		fifo_push(&world->raised, slot);
	}
}

static void completed(struct world *world, struct slot *slot)
{
	fifo_push(&world->pending, slot);
	if (world->run->policy->irq != SIM_IRQ_COALESCE ||
	    world->pending.nr >= sim_options.coalesce_ios)
		raise_irq(world);
	else if (world->pending.nr == 1)
		world->raise_ns = world->now_ns + sim_options.coalesce_ns;
}

/* "on-submit": whoever submits takes what is done, the interrupt finds nothing. */
static void look_at_submission(struct world *world)
{
	while (world->raised.nr)
		handled(world, fifo_pop(&world->raised));
}

/* Time */

static struct task *next_sleeper(const struct world *world)
{
	struct task *next = NULL;
	unsigned int i;

	for (i = 0; i < sim_options.machine.threads; i++) {
		struct task *task = &world->task[i];

		if (task->state != TASK_ASLEEP && task->state != TASK_IRQ)
			continue;
		if (!next || task->wake_ns < next->wake_ns)
			next = task;
	}
	return next;
}

static u64 next_event(const struct world *world)
{
	const struct task *sleeper = next_sleeper(world);
	u64 next_ns = world->raise_ns;

	if (sleeper)
		next_ns = min(next_ns, sleeper->wake_ns);
	if (world->irq.nr)
		next_ns = min(next_ns, world->irq.slot[0]->done_ns);
	if (world->raised.nr)
		next_ns = min(next_ns, fifo_first(&world->raised)->deliver_ns);
	return next_ns;
}

/* What happens now: the device first, then the tasks. */
static void handle_events(struct world *world)
{
	u64 now_ns = world->now_ns;
	struct task *sleeper;

	while (world->irq.nr && world->irq.slot[0]->done_ns <= now_ns)
		completed(world, heap_pop(&world->irq));
	if (world->raise_ns <= now_ns)
		raise_irq(world);
	while (world->raised.nr &&
	       fifo_first(&world->raised)->deliver_ns <= now_ns)
		handled(world, fifo_pop(&world->raised));
	while ((sleeper = next_sleeper(world)) && sleeper->wake_ns <= now_ns) {
		if (sleeper->state == TASK_ASLEEP)
			world->nr_asleep--;
		else
			sleeper->early = true;
		sleeper->state = TASK_RUNNABLE;
		queue_push(&world->woken, sleeper);
	}
}

static void advance(struct world *world, u64 to_ns)
{
	u64 next_ns;

	while ((next_ns = next_event(world)) <= to_ns) {
		world->now_ns = max(world->now_ns, next_ns);
		handle_events(world);
	}
	world->now_ns = max(world->now_ns, to_ns);
}

/* I/O */

static void submit(struct world *world, struct slot *slot)
{
	struct task *task = slot->task;

	if (world->run->policy->irq == SIM_IRQ_SUBMIT)
		look_at_submission(world);
	slot->io = sim_stream_next(&world->stream);
	slot->index = world->next_index++;
	slot->start_ns = world->now_ns;
	slot->done_ns = world->now_ns + slot->io.latency_ns;
	slot->slept_ns = 0;
	slot->sleeps.nr = 0;
	slot->busy = true;
	slot->reaped = false;
	slot->overslept = false;
	task->nr_busy++;
	task->in.elapsed_ns = 0;
	sim_tracker_select(&world->tracker, world->now_ns, &slot->io, &task->in,
			   &task->plan);
	slot->tag = task->plan.tag;
	slot->irq = task->plan.flags & BLK_POLL_PLAN_IRQ;
	heap_push(slot->irq ? &world->irq : &world->polled, slot);
}

static void submit_all(struct world *world, struct task *task)
{
	unsigned int i;

	task->looks = 0;
	task->nr_sleeps = 0;
	task->empty_ns = 0;
	task->lag_ns = 0;
	task->sleepers = 0;
	task->stage = 0;
	task->found_first = false;
	for (i = 0; i < sim_options.machine.qd; i++)
		if (!task->slot[i].busy && world->next_index < world->run->ios)
			submit(world, &task->slot[i]);
}

/* A task learns that an I/O is done. */
static void known(struct world *world, struct slot *slot)
{
	u64 late_ns = world->now_ns - slot->done_ns;

	slot->busy = false;
	slot->task->nr_busy--;
	slot->task->nr_reaped--;
	if (slot->irq) {
		const struct blk_poll_sample sample = {
			.latency_ns = world->now_ns - slot->start_ns,
			.tag = slot->tag,
		};

		sim_tracker_reflect(&world->tracker, world->now_ns,
				    slot->io.bucket, &sample);
	}
	sim_stats_add(&world->run->stats, slot->io.latency_ns, late_ns,
		      slot->overslept);
	sim_dump_io(world->run, slot->index, slot->io.latency_ns, &slot->sleeps,
		    late_ns, slot->overslept);
	world->run->stats.end_ns = world->now_ns;
	world->nr_done++;
}

static void wake_early(struct world *world, struct task *task)
{
	u64 wake_ns = world->now_ns +
		      sim_wake_lag(&sim_options.machine, &world->random,
				   world->now_ns - task->asleep_ns);

	if (wake_ns >= task->wake_ns)
		return;
	task->wake_ns = wake_ns;
	task->early = true;
}

/* A look of @finder finds a completion, and reflects as the kernel does. */
static void found(struct world *world, struct slot *slot, struct task *finder)
{
	struct task *owner = slot->task;
	bool own = owner == finder || is_ring();
	struct blk_poll_sample sample = {
		.latency_ns = world->now_ns - slot->start_ns,
		.slept_ns = slot->slept_ns,
		.tag = slot->tag,
		.sleepers = owner->sleepers,
		.found_first = owner->found_first,
	};

	if (finder->looks)
		sample.lower_ns = sample.latency_ns;
	else if (finder->empty_ns > slot->start_ns)
		sample.lower_ns = finder->empty_ns - slot->start_ns;
	sample.overslept = own && finder->nr_sleeps && !finder->looks;
	sample.lag_ns = own ? finder->lag_ns : 0;
	if (owner->slept) {
		sample.slept_ns += world->now_ns - owner->asleep_ns;
		sample.found_first |= owner->nr_sleeps == 1;
	}
	sim_tracker_reflect(&world->tracker, world->now_ns, slot->io.bucket,
			    &sample);

	slot->overslept = sample.overslept;
	slot->reaped = true;
	owner->nr_reaped++;
	if (owner != finder && owner->state == TASK_ASLEEP && !is_ring())
		wake_early(world, owner);
}

static void sleep_begin(struct world *world, struct task *task)
{
	task->asleep_ns = world->now_ns;
	task->slept = true;
	task->early = false;
	world->run->stats.cost_ns += sim_options.machine.sleep_cpu_ns;
	world->held_ns = world->now_ns + sim_options.machine.sleep_cpu_ns;
	world->holder = task;
	world->cur = NULL;
}

static void sleep_until(struct world *world, struct task *task, u64 due_ns)
{
	sleep_begin(world, task);
	task->state = TASK_ASLEEP;
	task->due_ns = due_ns;
	task->wake_ns = due_ns +
			sim_wake_lag(&sim_options.machine, &world->random,
				     due_ns - world->now_ns);
	task->empty_ns = world->now_ns;
	task->looks = 0;
	task->stage++;
	world->nr_asleep++;
	if (!task->nr_sleeps++)
		task->sleepers = world->nr_asleep;
	world->run->stats.sleeps++;
}

static void sleep_irq(struct world *world, struct task *task)
{
	sleep_begin(world, task);
	task->state = TASK_IRQ;
	task->wake_ns = U64_MAX;
}

/* A task runs after it was asleep. */
static void wake_up(struct world *world, struct task *task)
{
	u64 slept_ns = world->now_ns - task->asleep_ns;
	unsigned int i;

	task->slept = false;
	for (i = 0; i < sim_options.machine.qd; i++)
		task->slot[i].slept_ns += task->slot[i].irq ? 0 : slept_ns;
	/* with others to run the lag is the scheduler's, not the timer's */
	task->lag_ns = 0;
	if (!task->early && !world->woken.first && !world->ready.first) {
		task->lag_ns = world->now_ns - task->due_ns;
		sim_tracker_woken(&world->tracker, world->now_ns,
				  task->lag_ns);
	}
}

/* When @task could run. */
static u64 cpu_free(const struct world *world, const struct task *task)
{
	return task == world->holder ? world->irq_busy_ns :
				       max(world->irq_busy_ns, world->held_ns);
}

/* Let the next task run; false if there is none. */
static bool dispatch(struct world *world)
{
	struct task *task;
	u64 free_ns;

	if (!world->woken.first && !world->ready.first)
		return false;
	task = queue_pop(world->woken.first ? &world->woken : &world->ready);
	/* meanwhile there may be more interrupts */
	while ((free_ns = cpu_free(world, task)) > world->now_ns)
		advance(world, free_ns);
	world->holder = NULL;
	world->cur = task;
	task->slice_ns = world->now_ns + sim_options.machine.slice_ns;
	if (task->slept)
		wake_up(world, task);
	return true;
}

/* One look, and what it finds; false if there is nothing. */
static bool look(struct world *world, struct task *task)
{
	bool any = false;

	if (task->nr_busy == task->nr_reaped)
		return false;
	while (world->polled.nr &&
	       world->polled.slot[0]->done_ns <= world->now_ns) {
		if (task->nr_sleeps == 1 && !task->looks)
			task->found_first = true;
		found(world, heap_pop(&world->polled), task);
		any = true;
	}
	return any;
}

/**
 * struct verdict - What consulting for all I/Os of a task has come to.
 * @due_ns: When a timer has to expire; 0: none.
 * @asked_ns: How long that sleep is meant to be.
 * @until_ns: When the answer may change; U64_MAX: it will not.
 * @polled: I/Os that are looked for.
 * @veto: One must not be slept on.
 */
struct verdict {
	u64 due_ns;
	u64 asked_ns;
	u64 until_ns;
	unsigned int polled;
	bool veto;
};

static void consult(struct world *world, struct slot *slot,
		    struct verdict *verdict)
{
	struct task *task = slot->task;
	u64 elapsed_ns = world->now_ns - slot->start_ns;
	const struct blk_poll_stage *before;
	u64 timer_ns;

	verdict->polled++;
	if (is_ring() ||
	    blk_poll_plan_over(&task->plan, task->stage, elapsed_ns)) {
		task->in.elapsed_ns = elapsed_ns;
		sim_tracker_select(&world->tracker, world->now_ns, &slot->io,
				   &task->in, &task->plan);
		task->stage = 0;
		slot->tag = task->plan.tag;
	}
	timer_ns = blk_poll_plan_due(&task->plan, &task->stage, elapsed_ns,
				     &task->in);
	if (!timer_ns) {
		verdict->veto = true;
		if (!task->stage || (task->stage >= task->plan.nr &&
				     !(task->plan.flags & BLK_POLL_PLAN_MORE)))
			return;
		before = &task->plan.stage[task->stage - 1];
		verdict->until_ns = min(verdict->until_ns, slot->start_ns +
					min(before->look_until_ns,
					    2 * BLK_POLL_MAX_LATENCY_NS));
		return;
	}
	timer_ns += slot->start_ns;
	if (verdict->due_ns && verdict->due_ns <= timer_ns)
		return;
	verdict->due_ns = timer_ns;
	verdict->asked_ns = sim_asked_ns(&task->plan, task->stage, elapsed_ns,
					 &task->in);
}

static void consult_all(struct world *world, struct task *task,
			struct verdict *verdict)
{
	unsigned int i;

	*verdict = (struct verdict){ .until_ns = U64_MAX };
	for (i = 0; i < sim_options.machine.qd; i++)
		if (task->slot[i].busy && !task->slot[i].irq)
			consult(world, &task->slot[i], verdict);
}

/* Look until something happens. */
static void spin(struct world *world, struct task *task,
		 const struct verdict *verdict)
{
	u64 begin_ns = world->now_ns;
	u64 poll_ns = sim_options.machine.poll_ns;
	u64 until_ns = next_event(world);

	if (world->woken.first) {
		queue_push_first(&world->ready, task);
		world->cur = NULL;
		return;
	}

	/* a look at the end, on the grid that began with the first one */
	if (verdict->until_ns != U64_MAX)
		until_ns = min(until_ns, begin_ns + poll_ns *
			       DIV_ROUND_UP(max(verdict->until_ns, begin_ns) -
					    begin_ns, poll_ns));
	if (world->polled.nr)
		until_ns = min(until_ns, world->polled.slot[0]->done_ns);
	if (world->ready.first)
		until_ns = min(until_ns, task->slice_ns);

	advance(world, until_ns);
	world->run->stats.spin_ns += world->now_ns - begin_ns;
	if (world->woken.first) {
		queue_push_first(&world->ready, task);
		world->cur = NULL;
	} else if (world->ready.first && world->now_ns >= task->slice_ns) {
		queue_push(&world->ready, task);
		world->cur = NULL;
	}
}

/* One round of the task that runs. */
static void step(struct world *world, struct task *task)
{
	bool any = look(world, task);
	struct verdict verdict;
	unsigned int i;

	if (task->nr_reaped || !task->nr_busy) {
		for (i = 0; i < sim_options.machine.qd; i++)
			if (task->slot[i].busy && task->slot[i].reaped)
				known(world, &task->slot[i]);
		submit_all(world, task);
		if (!task->nr_busy) {
			task->state = TASK_GONE;
			world->cur = NULL;
		}
		return;
	}
	if (any) {
		/* of other tasks only: look again before anything else */
		task->looks++;
		return;
	}

	consult_all(world, task, &verdict);
	task->looks++;
	if (!verdict.polled) {
		sleep_irq(world, task);
	} else if (verdict.due_ns && !verdict.veto) {
		for (i = 0; i < sim_options.machine.qd; i++)
			if (task->slot[i].busy)
				sim_sleeps_add(&task->slot[i].sleeps,
					       verdict.asked_ns);
		sleep_until(world, task, verdict.due_ns);
	} else {
		spin(world, task, &verdict);
	}
}

static void *allocate(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		sim_die("out of memory");
	return memory;
}

static void world_init(struct world *world, struct sim_run *run)
{
	const struct sim_machine *machine = &sim_options.machine;
	struct slot *slots = allocate(max_slots(), sizeof(*slots));
	unsigned int i, k;

	*world = (struct world){
		.run = run,
		.raise_ns = U64_MAX,
		.task = allocate(machine->threads, sizeof(*world->task)),
		.polled.slot = allocate(max_slots(), sizeof(struct slot *)),
		.irq.slot = allocate(max_slots(), sizeof(struct slot *)),
		.pending.slot = allocate(max_slots(), sizeof(struct slot *)),
		.raised.slot = allocate(max_slots(), sizeof(struct slot *)),
	};
	world->woken.last = &world->woken.first;
	world->ready.last = &world->ready.first;
	sim_tracker_init(&world->tracker, run->policy);
	sim_stream_init(&world->stream, run->source, sim_options.seed,
			run->ios);
	sim_random_init(&world->random, sim_options.seed, SIM_STREAM_WAKE);
	for (i = 0; i < machine->threads; i++) {
		world->task[i].slot = &slots[i * machine->qd];
		for (k = 0; k < machine->qd; k++)
			world->task[i].slot[k].task = &world->task[i];
		queue_push(&world->ready, &world->task[i]);
	}
}

static void world_free(struct world *world)
{
	sim_tracker_free(&world->tracker);
	free(world->task[0].slot);
	free(world->task);
	free(world->polled.slot);
	free(world->irq.slot);
	free(world->pending.slot);
	free(world->raised.slot);
}

/**
 * sim_run_events() - Let many tasks do I/O, or some several at a time.
 * @run: The run.
 */
void sim_run_events(struct sim_run *run)
{
	struct world world;

	world_init(&world, run);
	while (world.nr_done < run->ios) {
		if (world.cur)
			step(&world, world.cur);
		else if (!dispatch(&world))
			advance(&world, next_event(&world));
	}
	world_free(&world);
}
