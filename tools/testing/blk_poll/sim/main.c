// SPDX-License-Identifier: GPL-2.0
/*
 * Simulate ways to wait for a fast disk, without a disk.
 *
 * Exit status: 0, or 2 when the arguments or a trace make no sense.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* I/Os of a model if --ios is not given. */
#define DEFAULT_IOS	100000

/* I/Os that "fixed" looks at before it settles for half of their mean. */
#define FIXED_IOS	1000

/* Latencies that null_blk takes. */
#define MAX_TABLE	65536

/* Sources and policies of one call. */
#define MAX_SOURCES	1024
#define MAX_POLICIES	64

struct sim_options sim_options = {
	.machine = {
		.wake_ns	= 2000,
		.jitter_ns	= 300,
		.sleep_cpu_ns	= 1000,
		.poll_ns	= 100,
		.irq_ns		= 1000,
		.slice_ns	= 3 * NSEC_PER_MSEC,
		.threads	= 1,
		.qd		= 1,
	},
	.lambda		= 10,
	.seed		= 1,
	.coalesce_ios	= 8,
	.coalesce_ns	= 100 * NSEC_PER_USEC,
};

/* What to run and how to show it. */
struct work {
	const struct sim_policy *policy[MAX_POLICIES];
	unsigned int nr_policies;
	struct sim_source source[MAX_SOURCES];
	unsigned int nr_sources;
	enum sim_format format;
	bool tail;
	const char *dump;
	FILE *dump_file;
	const char *table;
};

static struct work work;

void sim_die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", SIM_NAME);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	putc('\n', stderr);
	exit(2);
}

enum {
	OPT_POLICY = 256, OPT_TRACE, OPT_MODEL, OPT_IOS, OPT_SEED, OPT_WAKE,
	OPT_WAKE_JITTER, OPT_JITTER, OPT_IDLE_AFTER, OPT_IDLE_WAKE,
	OPT_SLEEP_CPU, OPT_POLL, OPT_IRQ, OPT_SLICE, OPT_THREADS, OPT_QD,
	OPT_LAMBDA, OPT_DELAY, OPT_COALESCE_IOS, OPT_COALESCE, OPT_CSV,
	OPT_JSON, OPT_TAIL, OPT_DUMP, OPT_LIST_MODELS, OPT_LIST_POLICIES,
	OPT_ALL_MODELS, OPT_EVENTS, OPT_TABLE, OPT_HELP,
};

static const struct option options[] = {
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "ios", required_argument, NULL, OPT_IOS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "wake-ns", required_argument, NULL, OPT_WAKE },
	{ "wake-jitter-ns", required_argument, NULL, OPT_WAKE_JITTER },
	{ "wake-jitter", required_argument, NULL, OPT_JITTER },
	{ "idle-after-ns", required_argument, NULL, OPT_IDLE_AFTER },
	{ "idle-wake-ns", required_argument, NULL, OPT_IDLE_WAKE },
	{ "sleep-cpu-ns", required_argument, NULL, OPT_SLEEP_CPU },
	{ "poll-ns", required_argument, NULL, OPT_POLL },
	{ "irq-ns", required_argument, NULL, OPT_IRQ },
	{ "slice-ns", required_argument, NULL, OPT_SLICE },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "qd", required_argument, NULL, OPT_QD },
	{ "lambda", required_argument, NULL, OPT_LAMBDA },
	{ "delay-us", required_argument, NULL, OPT_DELAY },
	{ "coalesce-ios", required_argument, NULL, OPT_COALESCE_IOS },
	{ "coalesce-ns", required_argument, NULL, OPT_COALESCE },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "tail", no_argument, NULL, OPT_TAIL },
	{ "dump", required_argument, NULL, OPT_DUMP },
	{ "list-models", no_argument, NULL, OPT_LIST_MODELS },
	{ "list-policies", no_argument, NULL, OPT_LIST_POLICIES },
	{ "all-models", no_argument, NULL, OPT_ALL_MODELS },
	{ "table", required_argument, NULL, OPT_TABLE },
	{ "events", no_argument, NULL, OPT_EVENTS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ }
};

static void help(void)
{
	const struct sim_machine *m = &sim_options.machine;

	printf("usage: %s [OPTION]...\n"
	       "Simulate ways to wait for I/O and print what they cost.\n\n"
	       "what:\n"
	       "  --policy NAME[,NAME...]|all  ways to wait [all]\n"
	       "  --model NAME[:key=value,...] a device; may be given again [tlc-read]\n"
	       "  --all-models                 every model\n"
	       "  --trace FILE                 latencies in ns, one a line; a latency log of fio;\n"
	       "                               or CSV with columns latency_ns, direction, bytes\n"
	       "  --ios N                      how many [a trace once, of a model %d]\n"
	       "  --seed N                     of all random numbers [%llu]\n"
	       "  --list-models                each with its family; --list-policies\n\n"
	       "the machine:\n"
	       "  --wake-ns N                  waking up, at least [%llu]\n"
	       "  --wake-jitter-ns N           mean of what comes on top [%llu]\n"
	       "  --wake-jitter exponential|heavy  heavy: and 20 us more, once in 100\n"
	       "  --idle-after-ns N            sleeps from N on wake up slower [never]...\n"
	       "  --idle-wake-ns N             ...by this much\n"
	       "  --sleep-cpu-ns N             CPU time of a sleep [%llu]\n"
	       "  --poll-ns N                  distance of two looks [%llu]\n"
	       "  --irq-ns N                   an interrupt, until it wakes the task [%llu]\n"
	       "  --threads N                  on one CPU and one queue [1]\n"
	       "  --slice-ns N                 how long each may run [%llu]\n"
	       "  --qd N                       I/Os in flight of each thread [1]\n"
	       "  --delay-us N                 sleep of policy fixed [half of the first mean]\n"
	       "  --coalesce-ios N             completions that make an interrupt [%llu],\n"
	       "  --coalesce-ns N              or so long after the first [%llu]\n\n"
	       "results:\n"
	       "  --lambda X                   J = CPU %% + X * late %% [%g]\n"
	       "  --csv, --json                instead of a table\n"
	       "  --tail                       up to the 99.9999th percentile\n"
	       "  --dump FILE                  each I/O of a single policy and source\n"
	       "  --table FILE                 only write a source's latencies, for null_blk\n",
	       SIM_NAME, DEFAULT_IOS, sim_options.seed, m->wake_ns,
	       m->jitter_ns, m->sleep_cpu_ns, m->poll_ns, m->irq_ns,
	       m->slice_ns, sim_options.coalesce_ios, sim_options.coalesce_ns,
	       sim_options.lambda);
}

static const char *option_name(int option)
{
	const struct option *o;

	for (o = options; o->name; o++)
		if (o->val == option)
			return o->name;
	return "?";
}

static u64 whole(int option, const char *text, u64 low, u64 high)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!*text || strspn(text, "0123456789") != strlen(text))
		sim_die("--%s needs digits only, not %.40s",
			option_name(option), *text ? text : "nothing");
	if (errno || value < low || value > high)
		sim_die("--%s is from %llu to %llu", option_name(option), low,
			high);
	return value;
}

static double fraction(int option, const char *text, double low, double high)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end)
		sim_die("--%s needs a number, not %.40s", option_name(option),
			*text ? text : "nothing");
	if (!(value >= low && value <= high))
		sim_die("--%s is from %g to %g", option_name(option), low,
			high);
	return value;
}

static void add_policy(const struct sim_policy *policy)
{
	unsigned int i;

	for (i = 0; i < work.nr_policies; i++)
		if (work.policy[i] == policy)
			return;
	if (work.nr_policies == MAX_POLICIES)
		sim_die("too many policies");
	work.policy[work.nr_policies++] = policy;
}

static void add_policies(const char *list)
{
	do {
		size_t len = strcspn(list, ",");
		const struct sim_policy *policy = sim_policy_find(list, len);
		unsigned int i;

		if (len == 3 && !memcmp(list, "all", 3)) {
			for (i = 0; i < sim_nr_policies; i++)
				if (!sim_policies[i].extra)
					add_policy(&sim_policies[i]);
		} else if (policy) {
			add_policy(policy);
		} else {
			sim_die("no policy %.*s; see --list-policies",
				(int)min_t(size_t, len, 60), list);
		}
		list += len;
	} while (*list++);
}

static struct sim_source *new_source(void)
{
	if (work.nr_sources == MAX_SOURCES)
		sim_die("more than %d models and traces", MAX_SOURCES);
	return &work.source[work.nr_sources++];
}

static void set_format(enum sim_format format)
{
	if (work.format != SIM_TABLE && work.format != format)
		sim_die("--csv or --json, not both");
	work.format = format;
}

static void list_policies(void)
{
	unsigned int i;

	for (i = 0; i < sim_nr_policies; i++)
		printf("%-12s %s%s\n", sim_policies[i].name,
		       sim_policies[i].what,
		       sim_policies[i].extra ? " (not in all)" : "");
}

/* Options that say what the machine is like; false for any other. */
static bool machine_option(int option, const char *arg)
{
	struct sim_machine *m = &sim_options.machine;
	const u64 most_ns = NSEC_PER_SEC;

	switch (option) {
	case OPT_WAKE:
		m->wake_ns = whole(option, arg, 0, most_ns);
		return true;
	case OPT_WAKE_JITTER:
		m->jitter_ns = whole(option, arg, 0, most_ns);
		return true;
	case OPT_JITTER:
		if (!strcmp(arg, "heavy"))
			m->jitter = SIM_JITTER_HEAVY;
		else if (!strcmp(arg, "exponential"))
			m->jitter = SIM_JITTER_EXPONENTIAL;
		else
			sim_die("--wake-jitter is exponential or heavy, not %.40s", arg);
		return true;
	case OPT_IDLE_AFTER:
		m->idle_after_ns = whole(option, arg, 0, most_ns);
		return true;
	case OPT_IDLE_WAKE:
		m->idle_wake_ns = whole(option, arg, 0, most_ns);
		return true;
	case OPT_SLEEP_CPU:
		m->sleep_cpu_ns = whole(option, arg, 0, most_ns);
		return true;
	case OPT_POLL:
		m->poll_ns = whole(option, arg, 1, most_ns);
		return true;
	case OPT_IRQ:
		m->irq_ns = whole(option, arg, 0, most_ns);
		return true;
	case OPT_SLICE:
		m->slice_ns = whole(option, arg, 1000, most_ns);
		return true;
	case OPT_THREADS:
		m->threads = whole(option, arg, 1, SIM_MAX_THREADS);
		return true;
	case OPT_QD:
		m->qd = whole(option, arg, 1, SIM_MAX_QD);
		return true;
	default:
		return false;
	}
}

static void do_option(int option, const char *arg)
{
	switch (option) {
	case OPT_POLICY:
		add_policies(arg);
		break;
	case OPT_TRACE:
		sim_source_trace(new_source(), arg);
		break;
	case OPT_MODEL:
		sim_source_model(new_source(), arg);
		break;
	case OPT_ALL_MODELS:
		for (int i = 0; sim_model_name(i); i++)
			sim_source_model(new_source(), sim_model_name(i));
		break;
	case OPT_IOS:
		sim_options.ios = whole(option, arg, 1, 1ULL << 40);
		break;
	case OPT_SEED:
		sim_options.seed = whole(option, arg, 0, U64_MAX);
		break;
	case OPT_LAMBDA:
		sim_options.lambda = fraction(option, arg, 0, 1e6);
		break;
	case OPT_DELAY:
		sim_options.fixed_ns = whole(option, arg, 1, 1000000) *
				       NSEC_PER_USEC;
		break;
	case OPT_COALESCE_IOS:
		sim_options.coalesce_ios = whole(option, arg, 1, 1000000);
		break;
	case OPT_COALESCE:
		sim_options.coalesce_ns = whole(option, arg, 0, NSEC_PER_SEC);
		break;
	case OPT_CSV:
		set_format(SIM_CSV);
		break;
	case OPT_JSON:
		set_format(SIM_JSON);
		break;
	case OPT_TAIL:
		work.tail = true;
		break;
	case OPT_DUMP:
		work.dump = arg;
		break;
	case OPT_TABLE:
		work.table = arg;
		break;
	case OPT_EVENTS:
		sim_options.by_events = true;
		break;
	case OPT_LIST_MODELS:
		sim_list_models(stdout);
		exit(EXIT_SUCCESS);
	case OPT_LIST_POLICIES:
		list_policies();
		exit(EXIT_SUCCESS);
	case OPT_HELP:
		help();
		exit(EXIT_SUCCESS);
	}
}

static void parse(int argc, char **argv)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			sim_die("unknown option or value missing: %.60s; see --help",
				argv[optind - 1]);
		if (!machine_option(option, optarg))
			do_option(option, optarg);
	}
	if (optind < argc)
		sim_die("unknown argument %.60s; see --help", argv[optind]);

	if (!work.nr_policies)
		add_policies("all");
	if (!work.nr_sources)
		sim_source_model(new_source(), "tlc-read");
	if (sim_options.machine.threads * sim_options.machine.qd >
	    SIM_MAX_IN_FLIGHT)
		sim_die("--threads times --qd is at most %d", SIM_MAX_IN_FLIGHT);
	if (work.dump && (work.nr_policies > 1 || work.nr_sources > 1))
		sim_die("--dump is for a single policy on a single model or trace");
	if (work.table && work.nr_sources > 1)
		sim_die("--table is for a single model or trace");
}

/* What somebody would set who has measured for a moment. */
static u64 first_impression(const struct sim_source *source, u64 ios)
{
	u64 nr = min_t(u64, ios, FIXED_IOS);
	struct sim_stream stream;
	u64 sum_ns = 0;
	u64 i;

	sim_stream_init(&stream, source, sim_options.seed, ios);
	for (i = 0; i < nr; i++)
		sum_ns += sim_stream_next(&stream).latency_ns;
	return max_t(u64, sum_ns / nr / 2 / NSEC_PER_USEC, 1) * NSEC_PER_USEC;
}

static u64 nr_ios(const struct sim_source *source)
{
	if (sim_options.ios)
		return sim_options.ios;
	return source->trace ? source->nr : DEFAULT_IOS;
}

static FILE *open_output(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		sim_die("%s: %s", path, strerror(errno));
	return file;
}

/* 32-bit words of this machine: read_latencies and write_latencies of null_blk. */
static void write_table(const struct sim_source *source)
{
	u64 ios = nr_ios(source);
	struct sim_stream stream;
	FILE *file;
	u64 i;

	if (ios > MAX_TABLE)
		sim_die("a table has at most %d latencies, not %llu; see --ios",
			MAX_TABLE, ios);
	file = open_output(work.table);
	sim_stream_init(&stream, source, sim_options.seed, ios);
	for (i = 0; i < ios; i++) {
		u32 ns = clamp_t(u64, sim_stream_next(&stream).latency_ns, 1,
				 U32_MAX);

		fwrite(&ns, sizeof(ns), 1, file);
	}
	if (ferror(file) | fclose(file))
		sim_die("%s: cannot write", work.table);
}

static FILE *open_dump(const char *path)
{
	FILE *file = open_output(path);

	fprintf(file, "index,latency_ns,sleeps_ns,late_ns,overslept\n");
	return file;
}

static void run_policy(struct sim_run *run)
{
	sim_stats_init(&run->stats);
	run->dump = work.dump_file;
	if (run->policy->prepare)
		run->policy->prepare(run->source, run->ios);
	if (sim_options.machine.threads > 1 || sim_options.machine.qd > 1 ||
	    sim_options.by_events)
		sim_run_events(run);
	else
		sim_run_one(run);
	if (run->dump && (ferror(run->dump) | fclose(run->dump)))
		sim_die("%s: cannot write", work.dump);
	sim_print_run(work.format, run, work.tail);
	sim_stats_free(&run->stats);
}

int main(int argc, char **argv)
{
	u64 fixed_ns;
	unsigned int i, k;

	parse(argc, argv);
	if (work.table) {
		write_table(&work.source[0]);
		return EXIT_SUCCESS;
	}
	if (work.dump)
		work.dump_file = open_dump(work.dump);
	fixed_ns = sim_options.fixed_ns;
	sim_print_begin(work.format, work.tail);
	for (i = 0; i < work.nr_sources; i++) {
		struct sim_run run = { .source = &work.source[i] };

		run.ios = nr_ios(run.source);
		sim_options.fixed_ns = fixed_ns;
		if (!fixed_ns)
			sim_options.fixed_ns = first_impression(run.source,
								run.ios);
		if (i && work.format == SIM_TABLE)
			putchar('\n');
		sim_print_source(work.format, &run);
		for (k = 0; k < work.nr_policies; k++) {
			run.policy = work.policy[k];
			run_policy(&run);
		}
	}
	sim_print_end(work.format);
	if (fflush(stdout) || ferror(stdout))
		sim_die("cannot write the results");
	for (i = 0; i < work.nr_sources; i++)
		free(work.source[i].trace);
	return EXIT_SUCCESS;
}
