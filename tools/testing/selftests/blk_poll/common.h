/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of these tests share.
 */
#ifndef BLK_POLL_COMMON_H
#define BLK_POLL_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_USEC	1000ULL
#define USEC_PER_SEC	1000000ULL

static inline void die(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(err));
	exit(2);
}

static inline unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* A number and nothing else, or what the caller has to say. */
static inline unsigned long long number(const char *text, void (*explain)(void))
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (!*text || *end)
		explain();
	return value;
}

#endif /* BLK_POLL_COMMON_H */
