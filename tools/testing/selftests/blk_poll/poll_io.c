// SPDX-License-Identifier: GPL-2.0
/*
 * Do synchronous direct I/O with RWF_HIPRI and say what it cost.
 *
 * Prints a line "started" when it can take SIGTERM, and a line of key=value
 * pairs at the end.  An I/O that fails is counted and does not end the run; the
 * exit status is 0 whenever the last line is true.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

#include "common.h"

#define SECTOR		512

/* Buffers start at a page, plus what -m asks for. */
#define BUFFER_ALIGN	4096

struct job {
	pthread_t thread;
	unsigned long long nr_ios;
	unsigned long long nr_errors;
	unsigned long long nr_short;
	unsigned long long nr_again;
	unsigned long long nr_bad;
	unsigned long long nr_voluntary;
	unsigned long long nr_involuntary;
	unsigned long long cpu_us;
	unsigned long long sum_ns;
	unsigned long long min_ns;
	unsigned long long max_ns;
	unsigned long long first;		/* first byte of this job's part of the file */
	unsigned long long bytes;		/* size of the part */
	unsigned long long seed;
	int last_errno;
};

static const char *path;
static unsigned long long opt_ios = 100;
static unsigned long long opt_size = 4096;
static unsigned long long opt_first;
static unsigned long long opt_limit_s;
static unsigned long long opt_signal_us;
static unsigned long long opt_misalign;
static unsigned int opt_jobs = 1;
static int opt_flags = RWF_HIPRI;
static bool opt_write;
static bool opt_random;
static bool opt_stamp;
static bool opt_until_error;
static int fd;
static unsigned long long deadline_ns;
static int nr_signals;
static bool stop;

static void on_signal(int sig)
{
	if (sig == SIGTERM)
		__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&nr_signals, 1, __ATOMIC_RELAXED);
}

/* Each sector starts with its own position: misplaced data is found. */
static void stamp(char *buf, unsigned long long pos)
{
	for (unsigned long long at = 0; at < opt_size; at += SECTOR) {
		unsigned long long mark = ~(pos + at);

		memcpy(buf + at, &mark, sizeof(mark));
	}
}

static bool stamped(const char *buf, unsigned long long pos)
{
	for (unsigned long long at = 0; at < opt_size; at += SECTOR) {
		unsigned long long mark;

		memcpy(&mark, buf + at, sizeof(mark));
		if (mark != ~(pos + at))
			return false;
	}
	return true;
}

static unsigned long long next_pos(struct job *job, unsigned long long i)
{
	unsigned long long slots = job->bytes / opt_size;

	if (opt_random) {
		job->seed ^= job->seed << 13;
		job->seed ^= job->seed >> 7;
		job->seed ^= job->seed << 17;
		i = job->seed;
	}
	return job->first + (i % slots) * opt_size;
}

static void one_io(struct job *job, char *buf, unsigned long long pos)
{
	struct iovec iov = { .iov_base = buf, .iov_len = opt_size };
	unsigned long long start_ns, ns;
	ssize_t ret;

	if (opt_stamp && opt_write)
		stamp(buf, pos);
	else if (opt_stamp)
		memset(buf, 0, opt_size);

	start_ns = now_ns();
	if (opt_write)
		ret = pwritev2(fd, &iov, 1, pos, opt_flags);
	else
		ret = preadv2(fd, &iov, 1, pos, opt_flags);
	ns = now_ns() - start_ns;

	job->nr_ios++;
	job->sum_ns += ns;
	if (ns < job->min_ns)
		job->min_ns = ns;
	if (ns > job->max_ns)
		job->max_ns = ns;
	if (ret < 0 && errno == EAGAIN) {
		job->nr_again++;
	} else if (ret < 0) {
		job->nr_errors++;
		job->last_errno = errno;
	} else if (!ret && opt_until_error) {
		/* a disk that was removed has no size any more */
		job->nr_errors++;
		job->last_errno = ENODEV;
	} else if ((unsigned long long)ret != opt_size) {
		job->nr_short++;
	} else if (opt_stamp && !opt_write && !stamped(buf, pos)) {
		job->nr_bad++;
	}
}

static unsigned long long tv_us(const struct timeval *tv)
{
	return tv->tv_sec * USEC_PER_SEC + tv->tv_usec;
}

static void *run(void *arg)
{
	struct job *job = arg;
	struct rusage before, after;
	char *area, *buf;

	if (posix_memalign((void **)&area, BUFFER_ALIGN,
			   opt_size + BUFFER_ALIGN))
		die("memory", errno);
	buf = area + opt_misalign;
	memset(buf, 0x5a, opt_size);

	getrusage(RUSAGE_THREAD, &before);
	for (unsigned long long i = 0; !opt_ios || i < opt_ios; i++) {
		if (__atomic_load_n(&stop, __ATOMIC_RELAXED) ||
		    (deadline_ns && now_ns() >= deadline_ns) ||
		    (opt_until_error && (job->nr_errors || job->nr_short)))
			break;
		one_io(job, buf, next_pos(job, i));
	}
	getrusage(RUSAGE_THREAD, &after);

	job->nr_voluntary = after.ru_nvcsw - before.ru_nvcsw;
	job->nr_involuntary = after.ru_nivcsw - before.ru_nivcsw;
	job->cpu_us = tv_us(&after.ru_utime) - tv_us(&before.ru_utime) +
		      tv_us(&after.ru_stime) - tv_us(&before.ru_stime);
	free(area);
	return NULL;
}

static unsigned long long file_bytes(void)
{
	unsigned long long bytes;
	struct stat st;

	if (fstat(fd, &st))
		die(path, errno);
	if (S_ISREG(st.st_mode))
		return st.st_size;
	if (ioctl(fd, BLKGETSIZE64, &bytes))
		die(path, errno);
	return bytes;
}

/* Signals go to the process, and to its first thread when there is but one. */
static void start_signals(void)
{
	struct sigevent ev = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
	};
	struct itimerspec its = { };
	timer_t timer;

	its.it_interval.tv_sec = opt_signal_us / USEC_PER_SEC;
	its.it_interval.tv_nsec = opt_signal_us % USEC_PER_SEC * NSEC_PER_USEC;
	its.it_value = its.it_interval;
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) ||
	    timer_settime(timer, 0, &its, NULL))
		die("timer", errno);
}

static void print(const struct job *jobs, unsigned long long wall_ns)
{
	struct job all = { .min_ns = ULLONG_MAX };

	for (unsigned int i = 0; i < opt_jobs; i++) {
		const struct job *job = &jobs[i];

		all.nr_ios += job->nr_ios;
		all.nr_errors += job->nr_errors;
		all.nr_short += job->nr_short;
		all.nr_again += job->nr_again;
		all.nr_bad += job->nr_bad;
		all.nr_voluntary += job->nr_voluntary;
		all.nr_involuntary += job->nr_involuntary;
		all.cpu_us += job->cpu_us;
		all.sum_ns += job->sum_ns;
		if (job->min_ns < all.min_ns)
			all.min_ns = job->min_ns;
		if (job->max_ns > all.max_ns)
			all.max_ns = job->max_ns;
		if (job->last_errno)
			all.last_errno = job->last_errno;
	}
	if (!all.nr_ios)
		all.min_ns = 0;

	printf("ios=%llu errors=%llu errno=%d ",
	       all.nr_ios, all.nr_errors, all.last_errno);
	printf("short=%llu again=%llu bad=%llu ",
	       all.nr_short, all.nr_again, all.nr_bad);
	printf("mean_us=%llu min_us=%llu max_us=%llu ",
	       all.nr_ios ? all.sum_ns / all.nr_ios / NSEC_PER_USEC : 0,
	       all.min_ns / NSEC_PER_USEC, all.max_ns / NSEC_PER_USEC);
	printf("voluntary=%llu involuntary=%llu cpu_us=%llu ",
	       all.nr_voluntary, all.nr_involuntary, all.cpu_us);
	printf("wall_us=%llu signals=%d\n",
	       wall_ns / NSEC_PER_USEC, nr_signals);
}

static void explain(void)
{
	fputs("usage: poll_io [option]... FILE\n"
	      "  -n N   I/Os per job, 0: no end (default 100)\n"
	      "  -l S   stop after S seconds\n"
	      "  -e     a job stops at its first error or short I/O\n"
	      "  -b N   bytes per I/O (default 4096)\n"
	      "  -j N   jobs, each in a part of the file of its own (default 1)\n"
	      "  -o N   leave out the first N bytes of the file\n"
	      "  -m N   buffers start N bytes after a page\n"
	      "  -w     write (default: read)\n"
	      "  -r     random positions\n"
	      "  -v     write stamps into each sector, or look for them\n"
	      "  -i     without RWF_HIPRI: wait for interrupts\n"
	      "  -N     with RWF_NOWAIT\n"
	      "  -D     with RWF_DSYNC\n"
	      "  -S N   send SIGUSR1 to itself every N us\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:l:eb:j:o:m:wrviNDS:")) != -1) {
		switch (opt) {
		case 'n':
			opt_ios = number(optarg, explain);
			break;
		case 'l':
			opt_limit_s = number(optarg, explain);
			break;
		case 'e':
			opt_until_error = true;
			break;
		case 'b':
			opt_size = number(optarg, explain);
			break;
		case 'j':
			opt_jobs = number(optarg, explain);
			break;
		case 'o':
			opt_first = number(optarg, explain);
			break;
		case 'm':
			opt_misalign = number(optarg, explain);
			break;
		case 'w':
			opt_write = true;
			break;
		case 'r':
			opt_random = true;
			break;
		case 'v':
			opt_stamp = true;
			break;
		case 'i':
			opt_flags &= ~RWF_HIPRI;
			break;
		case 'N':
			opt_flags |= RWF_NOWAIT;
			break;
		case 'D':
			opt_flags |= RWF_DSYNC;
			break;
		case 'S':
			opt_signal_us = number(optarg, explain);
			break;
		default:
			explain();
		}
	}
	if (optind != argc - 1 || !opt_jobs || !opt_size ||
	    opt_misalign >= BUFFER_ALIGN)
		explain();
	path = argv[optind];
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct job *jobs;
	unsigned long long part, start_ns;

	parse(argc, argv);
	fd = open(path, (opt_write ? O_RDWR : O_RDONLY) | O_DIRECT);
	if (fd < 0)
		die(path, errno);
	part = (file_bytes() - opt_first) / opt_jobs / opt_size * opt_size;
	if (!part)
		die("I/O larger than a job's part of the file", EFBIG);

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	jobs = calloc(opt_jobs, sizeof(*jobs));
	if (!jobs)
		die("memory", errno);
	puts("started");
	fflush(stdout);

	start_ns = now_ns();
	if (opt_limit_s)
		deadline_ns = start_ns + opt_limit_s * NSEC_PER_SEC;
	if (opt_signal_us)
		start_signals();
	for (unsigned int i = 0; i < opt_jobs; i++) {
		jobs[i].first = opt_first + i * part;
		jobs[i].bytes = part;
		jobs[i].seed = 0x9e3779b97f4a7c15ULL * (i + 1);
		jobs[i].min_ns = ULLONG_MAX;
		/* A single job runs here, so that signals meet it. */
		if (opt_jobs == 1)
			run(&jobs[i]);
		else if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			die("thread", errno);
	}
	for (unsigned int i = 0; opt_jobs > 1 && i < opt_jobs; i++)
		pthread_join(jobs[i].thread, NULL);

	print(jobs, now_ns() - start_ns);
	return 0;
}
