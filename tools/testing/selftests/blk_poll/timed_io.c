// SPDX-License-Identifier: GPL-2.0
/*
 * Read from a device at given times, and say when and how long that was.
 *
 * usage: timed_io START FILE MS:READS...
 *
 * START is in ms since boot, as in /proc/uptime; each READS reads of a page
 * begin at the same time, MS ms after START.  One line for each such group: MS,
 * when its first read began and when its last one was done, in ms after START,
 * and the mean latency in us.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define IO_BYTES	4096

/* Reads of a group must not be merged: this far apart. */
#define STRIDE		(1024 * 1024)

struct read {
	pthread_t thread;
	unsigned long long at_ns;	/* when to begin */
	unsigned long long began_ns;
	unsigned long long ns;
	off_t pos;
};

static int fd;

static void *run(void *arg)
{
	struct read *read = arg;
	struct timespec ts = {
		.tv_sec = read->at_ns / NSEC_PER_SEC,
		.tv_nsec = read->at_ns % NSEC_PER_SEC,
	};
	void *buf;

	if (posix_memalign(&buf, IO_BYTES, IO_BYTES))
		die("memory", errno);
	memset(buf, 0, IO_BYTES);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
	read->began_ns = now_ns();
	if (pread(fd, buf, IO_BYTES, read->pos) != IO_BYTES)
		die("read", errno);
	read->ns = now_ns() - read->began_ns;
	free(buf);
	return NULL;
}

static void group(struct read *reads, int nr, unsigned long long ms,
		  unsigned long long start_ns)
{
	unsigned long long sum_ns = 0, first_ns = ULLONG_MAX, last_ns = 0;

	for (int i = 0; i < nr; i++) {
		struct read *read = &reads[i];

		pthread_join(read->thread, NULL);
		sum_ns += read->ns;
		if (read->began_ns < first_ns)
			first_ns = read->began_ns;
		if (read->began_ns + read->ns > last_ns)
			last_ns = read->began_ns + read->ns;
	}
	printf("%llu %llu %llu %llu\n", ms,
	       (first_ns - start_ns) / NSEC_PER_MSEC,
	       (last_ns - start_ns) / NSEC_PER_MSEC,
	       sum_ns / nr / NSEC_PER_USEC);
}

int main(int argc, char **argv)
{
	unsigned long long start_ns, ms;
	struct read *reads[argc];
	int nrs[argc], nr;

	if (argc < 4) {
		fputs("usage: timed_io START FILE MS:READS...\n", stderr);
		return 2;
	}
	start_ns = strtoull(argv[1], NULL, 10) * NSEC_PER_MSEC;
	fd = open(argv[2], O_RDONLY | O_DIRECT);
	if (fd < 0)
		die(argv[2], errno);

	for (int arg = 3; arg < argc; arg++) {
		if (sscanf(argv[arg], "%llu:%d", &ms, &nr) != 2 || nr < 1)
			die(argv[arg], EINVAL);
		nrs[arg] = nr;
		reads[arg] = calloc(nr, sizeof(**reads));
		if (!reads[arg])
			die("memory", errno);
		for (int i = 0; i < nr; i++) {
			reads[arg][i].at_ns = start_ns + ms * NSEC_PER_MSEC;
			reads[arg][i].pos = (off_t)i * STRIDE;
			if (pthread_create(&reads[arg][i].thread, NULL, run,
					   &reads[arg][i]))
				die("thread", errno);
		}
	}
	for (int arg = 3; arg < argc; arg++)
		group(reads[arg], nrs[arg], strtoull(argv[arg], NULL, 10),
		      start_ns);
	return 0;
}
