// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the sleep estimator of hybrid polling.
 *
 * In the kernel:
 *	./tools/testing/kunit/kunit.py run --kunitconfig block/tests
 * The same file in userspace, with sanitizers:
 *	make -C tools/testing/blk_poll check
 */
#include <kunit/test.h>

#include "../blk-poll-est.h"

/* Buckets */

struct bucket_row {
	const char *desc;
	u32 bytes;
	int pair;		/* reads are 2 * pair, writes one more */
};

static const struct bucket_row bucket_rows[] = {
	{ "512 bytes", 512, 0 },
	{ "512 bytes and one", 513, 0 },
	{ "1 KiB less one", 1023, 0 },
	{ "1 KiB", 1024, 1 },
	{ "1 KiB and one", 1025, 1 },
	{ "two sectors and a half", 1280, 1 },
	{ "2 KiB less one", 2047, 1 },
	{ "2 KiB", 2048, 2 },
	{ "2 KiB and one", 2049, 2 },
	{ "4 KiB less one", 4095, 2 },
	{ "4 KiB", 4096, 3 },
	{ "4 KiB and one", 4097, 3 },
	{ "8 KiB less one", 8191, 3 },
	{ "8 KiB", 8192, 4 },
	{ "8 KiB and one", 8193, 4 },
	{ "16 KiB less one", 16383, 4 },
	{ "16 KiB", 16384, 5 },
	{ "16 KiB and one", 16385, 5 },
	{ "32 KiB less one", 32767, 5 },
	{ "32 KiB", 32768, 6 },
	{ "32 KiB and one", 32769, 6 },
	{ "64 KiB less one", 65535, 6 },
	{ "64 KiB", 65536, 7 },
	{ "64 KiB and one", 65537, 7 },
	{ "128 KiB less one", 131071, 7 },
	{ "128 KiB", 131072, 7 },
	{ "1 MiB", 1048576, 7 },
	{ "2 GiB", 0x80000000U, 7 },
	{ "the largest size", U32_MAX, 7 },
};

KUNIT_ARRAY_PARAM_DESC(bucket, bucket_rows, desc);

static void bucket_edges(struct kunit *test)
{
	const struct bucket_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, blk_poll_bucket(false, row->bytes),
			2 * row->pair);
	KUNIT_EXPECT_EQ(test, blk_poll_bucket(true, row->bytes),
			2 * row->pair + 1);
}

static void bucket_less_than_a_sector(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, blk_poll_bucket(false, 0), -1);
	KUNIT_EXPECT_EQ(test, blk_poll_bucket(true, 0), -1);
	KUNIT_EXPECT_EQ(test, blk_poll_bucket(false, 1), -1);
	KUNIT_EXPECT_EQ(test, blk_poll_bucket(false, 511), -1);
	KUNIT_EXPECT_EQ(test, blk_poll_bucket(true, 511), -1);
}

static void bucket_bytes_of_each(struct kunit *test)
{
	static const u32 bytes[] = {
		512, 512, 1024, 1024, 2048, 2048, 4096, 4096,
		8192, 8192, 16384, 16384, 32768, 32768, 65536, 65536,
	};
	unsigned int bucket;

	KUNIT_ASSERT_EQ(test, BLK_POLL_NR_BUCKETS, ARRAY_SIZE(bytes));
	for (bucket = 0; bucket < ARRAY_SIZE(bytes); bucket++) {
		KUNIT_EXPECT_EQ_MSG(test, blk_poll_bucket_bytes(bucket),
				    bytes[bucket], "bucket %u", bucket);
		KUNIT_EXPECT_EQ_MSG(test, blk_poll_bucket_is_write(bucket),
				    bucket % 2 == 1, "bucket %u", bucket);
	}
}

/* It is the smallest of its bucket: one byte less belongs to another. */
static void bucket_bytes_round_trip(struct kunit *test)
{
	int bucket;

	for (bucket = 0; bucket < BLK_POLL_NR_BUCKETS; bucket++) {
		u32 bytes = blk_poll_bucket_bytes(bucket);

		KUNIT_EXPECT_EQ(test, blk_poll_bucket(bucket % 2, bytes),
				bucket);
		KUNIT_EXPECT_EQ(test, blk_poll_bucket(bucket % 2, bytes - 1),
				bucket < 2 ? -1 : bucket - 2);
	}
}

/* Staging areas and windows */

/* What a sleeper sees: it knows only an upper bound when it overslept. */
static void add(struct blk_poll_staging *staging, u64 latency_ns,
		bool overslept, u64 prev_mean_ns)
{
	struct blk_poll_sample sample = {
		.latency_ns = latency_ns,
		.lower_ns = overslept ? 0 : latency_ns,
		.overslept = overslept,
	};

	blk_poll_staging_add(staging, &sample, prev_mean_ns);
}

static void staging_init_empties_a_used_area(struct kunit *test)
{
	struct blk_poll_staging staging;

	memset(&staging, 0x5a, sizeof(staging));
	blk_poll_staging_init(&staging);
	KUNIT_EXPECT_EQ(test, staging.sum_ns, 0);
	KUNIT_EXPECT_EQ(test, staging.min_ns, U64_MAX);
	KUNIT_EXPECT_EQ(test, staging.max_ns, 0);
	KUNIT_EXPECT_EQ(test, staging.lmd_sum_ns, 0);
	KUNIT_EXPECT_EQ(test, staging.samples, 0);
	KUNIT_EXPECT_EQ(test, staging.misses, 0);
}

static void window_close_empty_is_all_zero(struct kunit *test)
{
	struct blk_poll_staging staging;
	struct blk_poll_window win;

	memset(&win, 0x5a, sizeof(win));
	blk_poll_staging_init(&staging);
	blk_poll_window_close(&win, &staging);
	KUNIT_EXPECT_EQ(test, win.mean_ns, 0);
	KUNIT_EXPECT_EQ(test, win.min_ns, 0);
	KUNIT_EXPECT_EQ(test, win.max_ns, 0);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, 0);
	KUNIT_EXPECT_EQ(test, win.samples, 0);
	KUNIT_EXPECT_EQ(test, win.misses, 0);
}

struct mean_row {
	const char *desc;
	u32 nr;
	u64 latency_ns[4];
	u64 mean_ns;
	u64 min_ns;
	u64 max_ns;
};

static const struct mean_row mean_rows[] = {
	{ "one sample", 1, { 80000 }, 80000, 80000, 80000 },
	{ "one sample of 0", 1, { 0 }, 0, 0, 0 },
	{ "a half is rounded down", 2, { 1, 2 }, 1, 1, 2 },
	{ "two thirds are rounded down", 3, { 2, 2, 1 }, 1, 1, 2 },
	{ "three quarters are rounded down", 4, { 7, 7, 7, 6 }, 6, 6, 7 },
	{ "rounded down to 0", 2, { 0, 1 }, 0, 0, 1 },
	{ "no rest", 3, { 7, 8, 9 }, 8, 7, 9 },
	{ "smallest in the middle", 3, { 9, 3, 6 }, 6, 3, 9 },
	{ "largest in the middle", 3, { 3, 9, 6 }, 6, 3, 9 },
	{ "falling", 4, { 90, 70, 50, 30 }, 60, 30, 90 },
	{ "more than 32 bits", 2, { 1ULL << 35, 1ULL << 34 },
	  25769803776ULL, 1ULL << 34, 1ULL << 35 },
};

KUNIT_ARRAY_PARAM_DESC(mean, mean_rows, desc);

static void window_close_mean_min_max(struct kunit *test)
{
	const struct mean_row *row = test->param_value;
	struct blk_poll_staging staging;
	struct blk_poll_window win;
	u32 i;

	blk_poll_staging_init(&staging);
	for (i = 0; i < row->nr; i++)
		add(&staging, row->latency_ns[i], false, 0);
	blk_poll_window_close(&win, &staging);

	KUNIT_EXPECT_EQ(test, win.samples, row->nr);
	KUNIT_EXPECT_EQ(test, win.mean_ns, row->mean_ns);
	KUNIT_EXPECT_EQ(test, win.min_ns, row->min_ns);
	KUNIT_EXPECT_EQ(test, win.max_ns, row->max_ns);
}

struct lmd_row {
	const char *desc;
	u64 prev_mean_ns;
	u32 nr;
	struct {
		u64 latency_ns;
		bool overslept;
	} sample[4];
	u64 lmd_ns;
	u32 misses;
};

static const struct lmd_row lmd_rows[] = {
	{ "no window before", 0, 2, { { 1, true }, { 2, true } }, 0, 0 },
	{ "all above the mean before", 100, 2,
	  { { 101, true }, { 150, true } }, 0, 0 },
	{ "exactly at the mean before is no miss", 100, 1,
	  { { 100, true } }, 0, 0 },
	{ "one below the mean before is a miss", 100, 1,
	  { { 99, true } }, 1, 1 },
	{ "below, but found while spinning", 100, 1, { { 60, false } }, 40, 0 },
	/* (100 - 60) / 4 */
	{ "divided by all samples, not by those below", 100, 4,
	  { { 60, false }, { 140, false }, { 140, false }, { 140, false } },
	  10, 0 },
	/* 3 / 4 */
	{ "rounded down", 100, 4,
	  { { 99, false }, { 99, false }, { 99, false }, { 200, false } },
	  0, 0 },
	/* (40 + 30 + 0 + 0) / 4 = 17.5 */
	{ "a miss is both overslept and below", 100, 4,
	  { { 60, true }, { 70, false }, { 100, true }, { 130, true } },
	  17, 1 },
	/* (90 + 80) / 2 */
	{ "every sample missed", 100, 2, { { 10, true }, { 20, true } },
	  85, 2 },
	/* the samples' own mean is 150; (900 + 800) / 2 */
	{ "the mean before counts, not the own one", 1000, 2,
	  { { 100, false }, { 200, false } }, 850, 0 },
	{ "down to a latency of 0", 1, 1, { { 0, true } }, 1, 1 },
};

KUNIT_ARRAY_PARAM_DESC(lmd, lmd_rows, desc);

static void window_close_lmd_and_misses(struct kunit *test)
{
	const struct lmd_row *row = test->param_value;
	struct blk_poll_staging staging;
	struct blk_poll_window win;
	u32 i;

	blk_poll_staging_init(&staging);
	for (i = 0; i < row->nr; i++)
		add(&staging, row->sample[i].latency_ns,
		    row->sample[i].overslept, row->prev_mean_ns);
	blk_poll_window_close(&win, &staging);

	KUNIT_EXPECT_EQ(test, win.samples, row->nr);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, row->lmd_ns);
	KUNIT_EXPECT_EQ(test, win.misses, row->misses);
}

/* As the tracker does it: each window refers to the one just before. */
static void next_window(struct blk_poll_window *win, u64 latency_ns)
{
	struct blk_poll_staging staging;

	blk_poll_staging_init(&staging);
	if (latency_ns)
		add(&staging, latency_ns, true, win->mean_ns);
	blk_poll_window_close(win, &staging);
}

static void window_close_after_an_empty_one(struct kunit *test)
{
	struct blk_poll_window win = { };

	next_window(&win, 100);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, 0);

	next_window(&win, 60);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, 40);
	KUNIT_EXPECT_EQ(test, win.misses, 1);

	next_window(&win, 0);
	KUNIT_EXPECT_EQ(test, win.samples, 0);

	/* the mean of 60 is forgotten */
	next_window(&win, 50);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, 0);
	KUNIT_EXPECT_EQ(test, win.misses, 0);

	next_window(&win, 30);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, 20);
	KUNIT_EXPECT_EQ(test, win.misses, 1);
}

/* The window figures are those published: of the upper bound. */
static void staging_add_ignores_the_lower_bound(struct kunit *test)
{
	struct blk_poll_sample sample = { .latency_ns = 70, .overslept = true };
	struct blk_poll_staging with_0, with_69;

	blk_poll_staging_init(&with_0);
	blk_poll_staging_init(&with_69);
	blk_poll_staging_add(&with_0, &sample, 100);
	sample.lower_ns = 69;
	blk_poll_staging_add(&with_69, &sample, 100);
	KUNIT_EXPECT_MEMEQ(test, &with_0, &with_69, sizeof(with_0));
	KUNIT_EXPECT_EQ(test, with_69.sum_ns, 70);
	KUNIT_EXPECT_EQ(test, with_69.min_ns, 70);
	KUNIT_EXPECT_EQ(test, with_69.lmd_sum_ns, 30);
}

struct clamp_row {
	const char *desc;
	u64 latency_ns;
	u64 clamped_ns;
};

static const struct clamp_row clamp_rows[] = {
	{ "one below 2^36 ns", 68719476735ULL, 68719476735ULL },
	{ "2^36 ns", 68719476736ULL, 68719476736ULL },
	{ "one above 2^36 ns", 68719476737ULL, 68719476736ULL },
	{ "the largest number", U64_MAX, 68719476736ULL },
};

KUNIT_ARRAY_PARAM_DESC(clamp, clamp_rows, desc);

static void staging_add_clamps(struct kunit *test)
{
	const struct clamp_row *row = test->param_value;
	const u64 prev_mean_ns = 68719476736ULL;
	struct blk_poll_staging staging;

	blk_poll_staging_init(&staging);
	add(&staging, row->latency_ns, true, prev_mean_ns);
	KUNIT_EXPECT_EQ(test, staging.sum_ns, row->clamped_ns);
	KUNIT_EXPECT_EQ(test, staging.min_ns, row->clamped_ns);
	KUNIT_EXPECT_EQ(test, staging.max_ns, row->clamped_ns);
	KUNIT_EXPECT_EQ(test, staging.lmd_sum_ns,
			prev_mean_ns - row->clamped_ns);
	KUNIT_EXPECT_EQ(test, staging.misses, row->clamped_ns < prev_mean_ns);
}

/* What the comments at the two limits promise. */
static void staging_limits_fit_together(struct kunit *test)
{
	/* two default request timeouts */
	KUNIT_EXPECT_GT(test, BLK_POLL_MAX_LATENCY_NS, 60ULL * NSEC_PER_SEC);
	/* a billion a second for a window */
	KUNIT_EXPECT_GT(test, BLK_POLL_MAX_SAMPLES, 100000000U);
	KUNIT_EXPECT_LE(test, BLK_POLL_MAX_LATENCY_NS,
			div_u64(U64_MAX, BLK_POLL_MAX_SAMPLES));
}

/* The last one that counts is worth as much as 2^27 of them. */
static void staging_add_saturates(struct kunit *test)
{
	struct blk_poll_staging staging, full;
	struct blk_poll_window win;

	blk_poll_staging_init(&staging);
	staging.samples = (1U << 27) - 1;
	staging.sum_ns = staging.samples * (1ULL << 36);
	staging.lmd_sum_ns = staging.samples * (1ULL << 36);
	staging.misses = staging.samples;
	staging.min_ns = 0;
	staging.max_ns = 1ULL << 36;

	full = staging;
	add(&full, U64_MAX, true, 1ULL << 36);
	KUNIT_EXPECT_EQ(test, full.samples, 1U << 27);
	KUNIT_EXPECT_EQ(test, full.sum_ns, 1ULL << 63);
	blk_poll_window_close(&win, &full);
	KUNIT_EXPECT_EQ(test, win.mean_ns, 1ULL << 36);
	KUNIT_EXPECT_EQ(test, win.misses, (1U << 27) - 1);

	full = staging;
	add(&full, 0, true, 1ULL << 36);
	KUNIT_EXPECT_EQ(test, full.samples, 1U << 27);
	KUNIT_EXPECT_EQ(test, full.lmd_sum_ns, 1ULL << 63);
	blk_poll_window_close(&win, &full);
	KUNIT_EXPECT_EQ(test, win.lmd_ns, 1ULL << 36);
	KUNIT_EXPECT_EQ(test, win.misses, 1U << 27);

	/* from here on nothing is counted */
	staging = full;
	add(&staging, 7, true, 1ULL << 36);
	KUNIT_EXPECT_MEMEQ(test, &staging, &full, sizeof(full));
}

/* No caller has such a mean; even so nothing but the lmd may suffer. */
static void staging_add_absurd_mean_before(struct kunit *test)
{
	struct blk_poll_staging staging;
	struct blk_poll_window win;

	blk_poll_staging_init(&staging);
	add(&staging, 5, true, U64_MAX);
	KUNIT_EXPECT_EQ(test, staging.lmd_sum_ns, U64_MAX - 5);
	add(&staging, U64_MAX, true, U64_MAX);
	add(&staging, 10, false, U64_MAX);
	blk_poll_window_close(&win, &staging);
	/* (2^36 + 15) / 3 */
	KUNIT_EXPECT_EQ(test, win.mean_ns, 22906492250ULL);
	KUNIT_EXPECT_EQ(test, win.min_ns, 5);
	KUNIT_EXPECT_EQ(test, win.max_ns, 1ULL << 36);
	KUNIT_EXPECT_EQ(test, win.samples, 3);
	KUNIT_EXPECT_EQ(test, win.misses, 2);
}

/* Three parts of a window that follows one with a mean of 150. */
static void three_parts(struct blk_poll_staging *part)
{
	int i;

	for (i = 0; i < 3; i++)
		blk_poll_staging_init(&part[i]);
	add(&part[0], 100, true, 150);
	add(&part[0], 300, true, 150);
	add(&part[1], 50, true, 150);
	add(&part[1], 400, false, 150);
	add(&part[1], 90, false, 150);
	add(&part[2], 200, false, 150);
}

static void staging_merge_order_does_not_matter(struct kunit *test)
{
	struct blk_poll_staging part[3], sum;
	int first, step;

	three_parts(part);
	for (first = 0; first < 3; first++) {
		for (step = 1; step < 3; step++) {
			blk_poll_staging_init(&sum);
			blk_poll_staging_merge(&sum, &part[first]);
			blk_poll_staging_merge(&sum, &part[(first + step) % 3]);
			blk_poll_staging_merge(&sum,
					       &part[(first + 2 * step) % 3]);
			KUNIT_EXPECT_EQ(test, sum.samples, 6);
			KUNIT_EXPECT_EQ(test, sum.sum_ns, 1140);
			KUNIT_EXPECT_EQ(test, sum.min_ns, 50);
			KUNIT_EXPECT_EQ(test, sum.max_ns, 400);
			/* 50 + 100 + 60 */
			KUNIT_EXPECT_EQ(test, sum.lmd_sum_ns, 210);
			KUNIT_EXPECT_EQ(test, sum.misses, 2);
		}
	}
}

static void staging_merge_leaves_the_part(struct kunit *test)
{
	struct blk_poll_staging part[3], before[3];

	three_parts(part);
	memcpy(before, part, sizeof(part));
	blk_poll_staging_merge(&part[0], &part[1]);
	KUNIT_EXPECT_MEMEQ(test, &part[1], &before[1], sizeof(before[1]));
}

static void staging_merge_empty(struct kunit *test)
{
	struct blk_poll_staging part[3], sum, empty;
	struct blk_poll_window win;

	three_parts(part);
	blk_poll_staging_init(&empty);

	sum = part[1];
	blk_poll_staging_merge(&sum, &empty);
	KUNIT_EXPECT_MEMEQ(test, &sum, &part[1], sizeof(sum));

	blk_poll_staging_init(&sum);
	blk_poll_staging_merge(&sum, &part[1]);
	KUNIT_EXPECT_MEMEQ(test, &sum, &part[1], sizeof(sum));

	blk_poll_staging_init(&sum);
	blk_poll_staging_merge(&sum, &empty);
	blk_poll_window_close(&win, &sum);
	KUNIT_EXPECT_EQ(test, win.min_ns, 0);
	KUNIT_EXPECT_EQ(test, win.samples, 0);
}

struct overflow_row {
	const char *desc;
	u32 sum;
	u32 part;
	u32 merged;
};

static const struct overflow_row overflow_rows[] = {
	{ "fills the whole", 0, 1U << 27, 1U << 27 },
	{ "the last one that fits", (1U << 27) - 1, 1, 1U << 27 },
	{ "the first one that does not", 1U << 27, 1, 1U << 27 },
	{ "one too many", (1U << 27) - 1, 2, (1U << 27) - 1 },
	{ "both full", 1U << 27, 1U << 27, 1U << 27 },
	{ "sum of the counts wraps to 0", 1, U32_MAX, 1 },
	{ "a full and an empty one", 1U << 27, 0, 1U << 27 },
};

KUNIT_ARRAY_PARAM_DESC(overflow, overflow_rows, desc);

/* Either everything of a part is in the whole or nothing. */
static void staging_merge_never_overflows(struct kunit *test)
{
	const struct overflow_row *row = test->param_value;
	struct blk_poll_staging sum, part;
	bool taken = row->merged != row->sum;

	blk_poll_staging_init(&sum);
	blk_poll_staging_init(&part);
	sum.samples = row->sum;
	sum.sum_ns = row->sum * 10ULL;
	sum.lmd_sum_ns = row->sum;
	sum.min_ns = 10;
	sum.max_ns = 10;
	part.samples = row->part;
	if (row->part) {
		part.sum_ns = row->part * 10ULL;
		part.lmd_sum_ns = row->part;
		part.misses = 1;
		part.min_ns = 5;
		part.max_ns = 15;
	}

	blk_poll_staging_merge(&sum, &part);
	KUNIT_EXPECT_EQ(test, sum.samples, row->merged);
	KUNIT_EXPECT_EQ(test, sum.sum_ns, row->merged * 10ULL);
	KUNIT_EXPECT_EQ(test, sum.lmd_sum_ns, row->merged);
	KUNIT_EXPECT_EQ(test, sum.misses, taken);
	KUNIT_EXPECT_EQ(test, sum.min_ns, taken ? 5 : 10);
	KUNIT_EXPECT_EQ(test, sum.max_ns, taken ? 15 : 10);
}

/* Policies */

/* A new state of @policy; KASAN and ASan guard its end. */
static void *new_state(struct kunit *test, const struct blk_poll_policy *policy)
{
	void *state = kunit_kzalloc(test, policy->state_size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, state);
	policy->init(state);
	return state;
}

/* The sleep of a policy that sleeps once; 0 if it does not. */
static u64 single_sleep(struct kunit *test,
			const struct blk_poll_policy *policy, const void *state)
{
	const struct blk_poll_inputs in = { .cap_ns = U64_MAX };
	struct blk_poll_plan plan = { };

	policy->select(state, &in, &plan);
	KUNIT_EXPECT_LE(test, plan.nr, 1);
	if (!plan.nr)
		return 0;
	KUNIT_EXPECT_GT(test, plan.stage[0].sleep_to_ns, 0);
	KUNIT_EXPECT_EQ(test, plan.stage[0].look_until_ns,
			plan.stage[0].sleep_to_ns);
	return plan.stage[0].sleep_to_ns;
}

/* The sleep of @policy after one window. */
static u64 sleep_after(struct kunit *test, const struct blk_poll_policy *policy,
		       const struct blk_poll_window *win)
{
	void *state = new_state(test, policy);

	policy->window(state, win);
	return single_sleep(test, policy, state);
}

struct half_row {
	const char *desc;
	u64 mean_ns;
	u64 sleep_ns;
};

static const struct half_row half_rows[] = {
	{ "mean of 0", 0, 0 },
	{ "mean of 1 is rounded up", 1, 1 },
	{ "mean of 2", 2, 1 },
	{ "mean of 3 is rounded up", 3, 2 },
	{ "even mean", 80000, 40000 },
	{ "odd mean", 80001, 40001 },
	{ "largest odd mean", 68719476735ULL, 34359738368ULL },
	{ "largest mean", 68719476736ULL, 34359738368ULL },
};

KUNIT_ARRAY_PARAM_DESC(half, half_rows, desc);

static void mean_window_half_rounded_up(struct kunit *test)
{
	const struct half_row *row = test->param_value;
	struct blk_poll_window win = {
		.mean_ns = row->mean_ns,
		.min_ns = row->mean_ns,
		.max_ns = row->mean_ns,
		.samples = 1,
	};

	KUNIT_EXPECT_EQ(test, sleep_after(test, &blk_poll_mean, &win),
			row->sleep_ns);
}

static void mean_window_only_the_mean_counts(struct kunit *test)
{
	struct blk_poll_window win = {
		.mean_ns = 80000,
		.min_ns = 1000,
		.max_ns = 900000,
		.lmd_ns = 1000,
		.samples = 1000,
		.misses = 1000,
	};

	KUNIT_EXPECT_EQ(test, sleep_after(test, &blk_poll_mean, &win), 40000);
}

static void mean_window_sequence(struct kunit *test)
{
	struct blk_poll_window busy = { .mean_ns = 80000, .samples = 10 };
	struct blk_poll_window fast = { .mean_ns = 20000, .samples = 10 };
	struct blk_poll_window empty = { };
	void *state = new_state(test, &blk_poll_mean);

	/* before the first window, and after one without samples */
	KUNIT_EXPECT_EQ(test, single_sleep(test, &blk_poll_mean, state), 0);
	blk_poll_mean.window(state, &empty);
	KUNIT_EXPECT_EQ(test, single_sleep(test, &blk_poll_mean, state), 0);

	blk_poll_mean.window(state, &busy);
	KUNIT_EXPECT_EQ(test, single_sleep(test, &blk_poll_mean, state), 40000);

	/* it does not age */
	blk_poll_mean.window(state, &empty);
	blk_poll_mean.window(state, &empty);
	KUNIT_EXPECT_EQ(test, single_sleep(test, &blk_poll_mean, state), 40000);

	/* nothing of the window before is left */
	blk_poll_mean.window(state, &fast);
	KUNIT_EXPECT_EQ(test, single_sleep(test, &blk_poll_mean, state), 10000);
}

struct rule_row {
	const char *desc;
	u64 mean_ns;
	u64 lmd_ns;
	u32 samples;
	u32 misses;
	u64 sleep_ns;
};

/*
 * With a mean of 80000 and an lmd of 1000: s = 76000, less a quarter 57000,
 * half 40000.
 */
static const struct rule_row rule_rows[] = {
	{ "no samples", 0, 0, 0, 0, 0 },
	{ "no samples, whatever the rest says", 80000, 1000, 0, 0, 0 },

	{ "lmd 0: half", 80000, 0, 1000, 0, 40000 },
	{ "lmd 0: half of an odd mean", 80001, 0, 1000, 0, 40001 },
	{ "lmd 0 and all missed: half", 80000, 0, 1000, 1000, 40000 },
	{ "lmd 0 and mean 0: no sleep", 0, 0, 1000, 0, 0 },
	{ "lmd 0 and mean 1: half of it is 1", 1, 0, 1, 0, 1 },

	{ "mean one below indent: half", 3999, 1000, 1000, 0, 2000 },
	{ "mean equal to indent: half", 4000, 1000, 1000, 0, 2000 },
	{ "mean one above indent: s = 1, so half", 4001, 1000, 1000, 0, 2001 },
	{ "mean far below indent: half", 4000, 80000, 1000, 0, 2000 },
	{ "mean 0 below indent: no sleep", 0, 1, 1000, 0, 0 },

	{ "nothing missed: full", 80000, 1000, 1000, 0, 76000 },
	{ "nothing missed of one: full", 80000, 1000, 1, 0, 76000 },
	{ "smallest lmd: full", 80000, 1, 1000, 0, 79996 },

	{ "full one above half", 80000, 9999, 1000, 0, 40004 },
	{ "full equal to half", 80000, 10000, 1000, 0, 40000 },
	{ "full below half: half", 80000, 10001, 1000, 0, 40000 },
	{ "full equal to half of an odd mean", 80001, 10000, 1000, 0, 40001 },
	{ "full below half of an odd mean", 80001, 10001, 1000, 0, 40001 },

	{ "all missed: half", 80000, 1000, 1000, 1000, 40000 },
	{ "one of one missed: half", 80000, 1000, 1, 1, 40000 },
	{ "one of 2 missed: half", 80000, 1000, 2, 1, 40000 },
	{ "one of 15 missed: half", 80000, 1000, 15, 1, 40000 },
	{ "one of 16 missed: half", 80000, 1000, 16, 1, 40000 },
	{ "one of 31 missed: half", 80000, 1000, 31, 1, 40000 },
	{ "31.99 samples a miss: half", 80000, 1000, 3199, 100, 40000 },
	{ "63 samples, 2 missed: half", 80000, 1000, 63, 2, 40000 },

	{ "one of 32 missed: less a quarter", 80000, 1000, 32, 1, 57000 },
	{ "2 of 64 missed: less a quarter", 80000, 1000, 64, 2, 57000 },
	{ "100 of 3200 missed: less a quarter", 80000, 1000, 3200, 100, 57000 },
	{ "one of 33 missed: less a quarter", 80000, 1000, 33, 1, 57000 },
	{ "one of 64 missed: less a quarter", 80000, 1000, 64, 1, 57000 },
	{ "one of 128 missed: less a quarter", 80000, 1000, 128, 1, 57000 },
	{ "5 of 1000 missed: less a quarter", 80000, 1000, 1000, 5, 57000 },
	{ "one of 255 missed: less a quarter", 80000, 1000, 255, 1, 57000 },
	{ "255.5 samples a miss: less a quarter", 80000, 1000, 511, 2, 57000 },
	{ "255.99 samples a miss: less a quarter",
	  80000, 1000, 25599, 100, 57000 },

	{ "one of 256 missed: full", 80000, 1000, 256, 1, 76000 },
	{ "2 of 512 missed: full", 80000, 1000, 512, 2, 76000 },
	{ "100 of 25600 missed: full", 80000, 1000, 25600, 100, 76000 },
	{ "one of 257 missed: full", 80000, 1000, 257, 1, 76000 },
	{ "one of 100000 missed: full", 80000, 1000, 100000, 1, 76000 },

	/* 76003 - 19000, 76001 - 19000 */
	{ "a quarter is rounded down, rest 3", 80003, 1000, 100, 1, 57003 },
	{ "a quarter is rounded down, rest 1", 80001, 1000, 100, 1, 57001 },
	/* 53336 - 13334, 53332 - 13333 */
	{ "less a quarter just above half", 80000, 6666, 100, 1, 40002 },
	{ "less a quarter just below half", 80000, 6667, 100, 1, 40000 },
	{ "less a quarter far below half", 80000, 9000, 100, 1, 40000 },

	/* mean 2^36; lmd 2^30 makes s = 2^36 - 2^32 */
	{ "largest mean and samples", 68719476736ULL, 1, 1U << 27, 0,
	  68719476732ULL },
	{ "largest lmd", 68719476736ULL, 68719476736ULL, 1U << 27, 0,
	  34359738368ULL },
	{ "2^27 samples, one missed", 68719476736ULL, 1U << 30, 1U << 27, 1,
	  64424509440ULL },
	{ "2^27 samples, 2^19 missed", 68719476736ULL, 1U << 30, 1U << 27,
	  1U << 19, 64424509440ULL },
	{ "2^27 samples, one more missed", 68719476736ULL, 1U << 30, 1U << 27,
	  (1U << 19) + 1, 48318382080ULL },
	{ "2^27 samples, 2^22 missed", 68719476736ULL, 1U << 30, 1U << 27,
	  1U << 22, 48318382080ULL },
	{ "2^27 samples, one more than 2^22 missed", 68719476736ULL, 1U << 30,
	  1U << 27, (1U << 22) + 1, 34359738368ULL },
	{ "2^27 samples, all missed", 68719476736ULL, 1U << 30, 1U << 27,
	  1U << 27, 34359738368ULL },
};

KUNIT_ARRAY_PARAM_DESC(rule, rule_rows, desc);

static void lmd_window_rules(struct kunit *test)
{
	const struct rule_row *row = test->param_value;
	struct blk_poll_window win = {
		.mean_ns = row->mean_ns,
		.lmd_ns = row->lmd_ns,
		.max_ns = row->mean_ns,
		.samples = row->samples,
		.misses = row->misses,
	};

	KUNIT_EXPECT_EQ(test, sleep_after(test, &blk_poll_lmd, &win),
			row->sleep_ns);
}

/* Whatever came before, a window decides alone. */
static void lmd_window_has_no_memory(struct kunit *test)
{
	static const struct blk_poll_window wins[] = {
		{ },
		{ .mean_ns = 80000, .lmd_ns = 1000, .samples = 1000 },
		{ .mean_ns = 80000, .lmd_ns = 1000, .samples = 99, .misses = 9 },
		{ .mean_ns = 80000, .lmd_ns = 1000, .samples = 99, .misses = 1 },
		{ .mean_ns = 10000, .samples = 1 },
	};
	static const u64 sleeps_ns[] = { 0, 76000, 40000, 57000, 5000 };
	void *state = new_state(test, &blk_poll_lmd);
	int i, k;

	KUNIT_EXPECT_EQ(test, single_sleep(test, &blk_poll_lmd, state), 0);
	for (i = 0; i < ARRAY_SIZE(wins); i++) {
		for (k = 0; k < ARRAY_SIZE(wins); k++) {
			blk_poll_lmd.window(state, &wins[i]);
			blk_poll_lmd.window(state, &wins[k]);
			KUNIT_EXPECT_EQ_MSG(test,
					    single_sleep(test, &blk_poll_lmd,
							 state),
					    sleeps_ns[k],
					    "window %d after %d", k, i);
		}
	}
}

/* Several equal samples of the window that follows @prev_mean_ns. */
static void add_many(struct blk_poll_staging *staging, int nr, u64 latency_ns,
		     bool overslept, u64 prev_mean_ns)
{
	while (nr--)
		add(staging, latency_ns, overslept, prev_mean_ns);
}

/* Close the window, tell the policy, open the next one. */
static u64 close_lmd(struct kunit *test, void *state,
		     struct blk_poll_staging *staging,
		     struct blk_poll_window *win)
{
	blk_poll_window_close(win, staging);
	blk_poll_staging_init(staging);
	blk_poll_lmd.window(state, win);
	return single_sleep(test, &blk_poll_lmd, state);
}

static void lmd_window_worked_example(struct kunit *test)
{
	void *state = new_state(test, &blk_poll_lmd);
	struct blk_poll_staging staging;
	struct blk_poll_window win;

	/* 1: mean 80000; nothing before it, so half: 40000 */
	blk_poll_staging_init(&staging);
	add_many(&staging, 1, 78000, false, 0);
	add_many(&staging, 2, 80000, false, 0);
	add_many(&staging, 1, 82000, false, 0);
	KUNIT_EXPECT_EQ(test, close_lmd(test, state, &staging, &win), 40000);

	/* 2: lmd = 32 x 2000 / 64 = 1000, nothing missed: 80000 - 4000 */
	add_many(&staging, 32, 78000, false, win.mean_ns);
	add_many(&staging, 32, 82000, false, win.mean_ns);
	KUNIT_EXPECT_EQ(test, close_lmd(test, state, &staging, &win), 76000);

	/*
	 * 3: sum = 31 x 78000 + 32 x 82000 + 77000 = 5119000, mean = 79984;
	 * lmd = (31 x 2000 + 3000) / 64 = 1015; only one of the two overslept
	 * is below 80000, so a miss in 64: s = 79984 - 4060 = 75924, less
	 * 18981.
	 */
	add_many(&staging, 31, 78000, false, win.mean_ns);
	add_many(&staging, 31, 82000, false, win.mean_ns);
	add_many(&staging, 1, 82000, true, win.mean_ns);
	add_many(&staging, 1, 77000, true, win.mean_ns);
	KUNIT_EXPECT_EQ(test, close_lmd(test, state, &staging, &win), 56943);

	/*
	 * 4: sum = 3 x 76984 + 61 x 80984 = 5170976, mean = 80796; lmd =
	 * 3 x 3000 / 64 = 140; a miss in 21: half = 40398
	 */
	add_many(&staging, 3, 76984, true, win.mean_ns);
	add_many(&staging, 61, 80984, false, win.mean_ns);
	KUNIT_EXPECT_EQ(test, close_lmd(test, state, &staging, &win), 40398);

	/* 5: no samples */
	KUNIT_EXPECT_EQ(test, close_lmd(test, state, &staging, &win), 0);

	/* 6: nothing to compare with, nothing can be missed: half, 35001 */
	add_many(&staging, 2, 70001, true, win.mean_ns);
	KUNIT_EXPECT_EQ(test, close_lmd(test, state, &staging, &win), 35001);
}

/* Plans */

static void plan_single_sets_one_stage(struct kunit *test)
{
	struct blk_poll_plan plan;

	memset(&plan, 0x5a, sizeof(plan));
	blk_poll_plan_single(&plan, 0);
	KUNIT_EXPECT_EQ(test, plan.nr, 0);
	KUNIT_EXPECT_EQ(test, plan.flags, 0);
	KUNIT_EXPECT_EQ(test, plan.tag, 0);

	blk_poll_plan_single(&plan, 1);
	KUNIT_EXPECT_EQ(test, plan.nr, 1);
	KUNIT_EXPECT_EQ(test, plan.stage[0].sleep_to_ns, 1);
	KUNIT_EXPECT_EQ(test, plan.stage[0].look_until_ns, 1);

	blk_poll_plan_single(&plan, U64_MAX);
	KUNIT_EXPECT_EQ(test, plan.nr, 1);
	KUNIT_EXPECT_EQ(test, plan.stage[0].sleep_to_ns, U64_MAX);
	KUNIT_EXPECT_EQ(test, plan.stage[0].look_until_ns, U64_MAX);
}

struct due_row {
	const char *desc;
	u64 sleep_to_ns;
	u64 elapsed_ns;
	u32 lag_ns;
	u64 cap_ns;
	u64 due_ns;		/* 0: not slept, the stage is over */
};

static const struct due_row due_rows[] = {
	{ "no lag", 76000, 0, 0, U64_MAX, 76000 },
	{ "lag is taken off", 76000, 0, 2000, U64_MAX, 74000 },
	{ "counts from the start, not from now", 76000, 1000, 2000, U64_MAX,
	  74000 },
	{ "two lags left are not worth it", 76000, 72000, 2000, U64_MAX, 0 },
	{ "two lags and one left are", 76000, 71999, 2000, U64_MAX, 74000 },
	{ "two lags from the start are not", 4000, 0, 2000, U64_MAX, 0 },
	{ "two lags and one from the start are", 4001, 0, 2000, U64_MAX,
	  2001 },
	{ "less than a lag left", 76000, 75000, 2000, U64_MAX, 0 },
	{ "nothing left, no lag", 76000, 76000, 0, U64_MAX, 0 },
	{ "one left, no lag", 76000, 75999, 0, U64_MAX, 76000 },
	{ "lag longer than the target", 76000, 0, 80000, U64_MAX, 0 },

	{ "cap below the target", 76000, 0, 2000, 50000, 48000 },
	{ "cap equal to the target", 76000, 0, 2000, 76000, 74000 },
	{ "cap one above the target", 76000, 0, 2000, 76001, 74000 },
	{ "cap of 0", 76000, 0, 0, 0, 0 },
	{ "cap of two lags is not worth it", 76000, 0, 2000, 4000, 0 },
	{ "cap of two lags and one is", 76000, 0, 2000, 4001, 2001 },
	{ "cap in the past", 76000, 60000, 0, 50000, 0 },

	{ "past the target", 76000, 76001, 0, U64_MAX, 0 },
	{ "far past the target", 76000, 1ULL << 40, 2000, U64_MAX, 0 },
	{ "half of the number range elapsed", 76000, 1ULL << 63, 2000,
	  U64_MAX, 0 },
	{ "largest elapsed, no lag", 76000, U64_MAX, 0, U64_MAX, 0 },
	{ "largest elapsed, some lag", 76000, U64_MAX, 2000, U64_MAX, 0 },

	{ "longest sleep, largest lag that is learnt", 68719476736ULL, 0,
	  1000000, U64_MAX, 68718476736ULL },
	{ "longest sleep, largest lag that fits", 68719476736ULL, 0, U32_MAX,
	  U64_MAX, 64424509441ULL },
	{ "two lags of 2^31 are not worth it", 1ULL << 32, 0, 1U << 31,
	  U64_MAX, 0 },
	{ "two lags of 2^31 and one are", (1ULL << 32) + 1, 0, 1U << 31,
	  U64_MAX, (1ULL << 31) + 1 },
	{ "largest numbers", U64_MAX, 0, 0, U64_MAX, U64_MAX },
};

KUNIT_ARRAY_PARAM_DESC(due, due_rows, desc);

static void plan_due_single(struct kunit *test)
{
	const struct due_row *row = test->param_value;
	struct blk_poll_inputs in = {
		.wake = { .lag_ns = row->lag_ns, .dev_ns = 12345 },
		.cap_ns = row->cap_ns,
	};
	struct blk_poll_plan plan;
	u8 stage = 0;

	blk_poll_plan_single(&plan, row->sleep_to_ns);
	KUNIT_EXPECT_EQ(test,
			blk_poll_plan_due(&plan, &stage, row->elapsed_ns, &in),
			row->due_ns);
	/* the caller moves on from a stage that it sleeps */
	KUNIT_EXPECT_EQ(test, stage, row->due_ns ? 0 : 1);
}

static void plan_due_without_stages(struct kunit *test)
{
	const struct blk_poll_inputs in = { .cap_ns = U64_MAX };
	struct blk_poll_plan plan;
	u8 stage = 0;

	/* what is left of the plan before does not count */
	blk_poll_plan_single(&plan, 76000);
	plan.nr = 0;
	KUNIT_EXPECT_EQ(test, blk_poll_plan_due(&plan, &stage, 0, &in), 0);
	KUNIT_EXPECT_EQ(test, stage, 0);
}

/* A plan that has been walked to its end stays there. */
static void plan_due_never_goes_back(struct kunit *test)
{
	const struct blk_poll_inputs in = { .cap_ns = U64_MAX };
	struct blk_poll_plan plan;
	u8 stage;

	blk_poll_plan_single(&plan, 76000);
	stage = 1;
	KUNIT_EXPECT_EQ(test, blk_poll_plan_due(&plan, &stage, 0, &in), 0);
	KUNIT_EXPECT_EQ(test, stage, 1);
	stage = U8_MAX;
	KUNIT_EXPECT_EQ(test, blk_poll_plan_due(&plan, &stage, 0, &in), 0);
	KUNIT_EXPECT_EQ(test, stage, U8_MAX);
}

static const struct blk_poll_plan four_stages = {
	.nr = 4,
	.stage = {
		{ .sleep_to_ns = 10000, .look_until_ns = 12000 },
		{ .sleep_to_ns = 20000, .look_until_ns = 22000 },
		{ .sleep_to_ns = 40000, .look_until_ns = 45000 },
		{ .sleep_to_ns = 80000, .look_until_ns = 80000 },
	},
};

struct walk_row {
	const char *desc;
	u8 stage;
	u64 elapsed_ns;
	u64 cap_ns;
	u64 due_ns;
	u8 stage_after;
};

/* One look at the plan of four stages, with a lag of 1000. */
static const struct walk_row walk_rows[] = {
	{ "first sleep", 0, 0, U64_MAX, 9000, 0 },
	{ "first sleep is still worth it", 0, 7999, U64_MAX, 9000, 0 },
	{ "first sleep is not, look on", 0, 8000, U64_MAX, 0, 1 },
	{ "looking after the first sleep", 1, 10000, U64_MAX, 0, 1 },
	{ "last look after the first sleep", 1, 11999, U64_MAX, 0, 1 },
	{ "second sleep begins", 1, 12000, U64_MAX, 19000, 1 },
	{ "second sleep is still worth it", 1, 17999, U64_MAX, 19000, 1 },
	{ "second sleep is not, look on", 1, 18000, U64_MAX, 0, 2 },
	{ "looking after the second sleep", 2, 21999, U64_MAX, 0, 2 },
	{ "third sleep begins", 2, 22000, U64_MAX, 39000, 2 },
	{ "looking after the third sleep", 3, 44999, U64_MAX, 0, 3 },
	{ "fourth sleep begins", 3, 45000, U64_MAX, 79000, 3 },
	{ "spinning after the fourth sleep", 4, 80000, U64_MAX, 0, 4 },
	{ "all slept, though early", 4, 0, U64_MAX, 0, 4 },

	{ "too late for two stages, looking", 0, 18000, U64_MAX, 0, 2 },
	{ "too late for two stages, third sleep", 0, 22000, U64_MAX, 39000,
	  2 },
	{ "too late for all", 0, 78000, U64_MAX, 0, 4 },
	{ "far too late for all", 0, 1ULL << 40, U64_MAX, 0, 4 },

	{ "cap cuts the second sleep", 1, 12000, 15000, 14000, 1 },
	{ "cap leaves nothing to sleep, looking", 1, 22000, 15000, 0, 3 },
	{ "cap of two lags left is not worth it", 1, 12000, 14000, 0, 2 },
	{ "cap of 0 from the start, looking", 0, 0, 0, 0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(walk, walk_rows, desc);

static void plan_due_four_stages(struct kunit *test)
{
	const struct walk_row *row = test->param_value;
	struct blk_poll_inputs in = {
		.wake = { .lag_ns = 1000 },
		.cap_ns = row->cap_ns,
	};
	u8 stage = row->stage;

	KUNIT_EXPECT_EQ(test,
			blk_poll_plan_due(&four_stages, &stage,
					  row->elapsed_ns, &in),
			row->due_ns);
	KUNIT_EXPECT_EQ(test, stage, row->stage_after);
}

struct exact_row {
	const char *desc;
	u64 sleep_to_ns;
	u64 elapsed_ns;
	u64 cap_ns;
	u64 due_ns;
};

/* A lag of 2000 makes no difference. */
static const struct exact_row exact_rows[] = {
	{ "the target itself", 76000, 0, U64_MAX, 76000 },
	{ "far less than a lag is slept", 100, 0, U64_MAX, 100 },
	{ "1 ns is slept", 76000, 75999, U64_MAX, 76000 },
	{ "the target is now", 76000, 76000, U64_MAX, 0 },
	{ "the target was before", 76000, 76001, U64_MAX, 0 },
	{ "cap", 76000, 0, 30000, 30000 },
	{ "no sleep", 0, 0, U64_MAX, 0 },
};

KUNIT_ARRAY_PARAM_DESC(exact, exact_rows, desc);

static void plan_due_exact(struct kunit *test)
{
	const struct exact_row *row = test->param_value;
	struct blk_poll_inputs in = {
		.wake = { .lag_ns = 2000, .dev_ns = 500 },
		.cap_ns = row->cap_ns,
	};
	struct blk_poll_plan plan;
	u8 stage = 0;

	blk_poll_plan_single(&plan, row->sleep_to_ns);
	plan.flags |= BLK_POLL_PLAN_EXACT;
	KUNIT_EXPECT_EQ(test,
			blk_poll_plan_due(&plan, &stage, row->elapsed_ns, &in),
			row->due_ns);
}

/* Every nanosecond of an I/O that takes 100 us, polled by a good caller. */
static void plan_due_sleeps_each_stage_once(struct kunit *test)
{
	static const u64 due_at_ns[] = { 9000, 19000, 39000, 79000 };
	static const u64 asked_at_ns[] = { 0, 12000, 22000, 45000 };
	const struct blk_poll_inputs in = {
		.wake = { .lag_ns = 1000 },
		.cap_ns = U64_MAX,
	};
	unsigned int slept = 0;
	u64 elapsed_ns = 0;
	u8 stage = 0;

	while (elapsed_ns < 100000) {
		u64 due_ns = blk_poll_plan_due(&four_stages, &stage,
					       elapsed_ns, &in);

		if (!due_ns) {
			elapsed_ns++;
			continue;
		}
		KUNIT_ASSERT_LT(test, slept, ARRAY_SIZE(due_at_ns));
		KUNIT_EXPECT_EQ(test, elapsed_ns, asked_at_ns[slept]);
		KUNIT_EXPECT_EQ(test, due_ns, due_at_ns[slept]);
		KUNIT_EXPECT_EQ(test, stage, slept);
		slept++;
		stage++;
		elapsed_ns = due_ns + 1000;
	}
	KUNIT_EXPECT_EQ(test, slept, ARRAY_SIZE(due_at_ns));
}

/* Wake-ups */

struct wake_row {
	const char *desc;
	u32 lag_ns;
	u32 dev_ns;
	u64 sample_ns;
	u32 lag_after_ns;
	u32 dev_after_ns;
};

/* Weight 1/8 of the difference; at most 4 x lag + 2000 and 1 ms count. */
static const struct wake_row wake_rows[] = {
	{ "nothing known, no lag", 0, 0, 0, 0, 0 },
	{ "nothing known, 800", 0, 0, 800, 100, 100 },
	{ "nothing known, 2000", 0, 0, 2000, 250, 250 },
	{ "nothing known, 2008 counts as 2000", 0, 0, 2008, 250, 250 },
	{ "nothing known, 5 ms counts as 2000", 0, 0, 5000000, 250, 250 },
	{ "as usual", 8000, 0, 8000, 8000, 0 },
	{ "as usual, the deviation shrinks", 8000, 800, 8000, 8000, 700 },
	{ "longer by 800", 8000, 800, 8800, 8100, 800 },
	{ "shorter by 800", 8000, 800, 7200, 7900, 800 },
	{ "no lag at all", 8000, 0, 0, 7000, 1000 },
	{ "longer by less than 8", 100, 0, 107, 100, 0 },
	{ "longer by 8", 100, 0, 108, 101, 1 },
	{ "shorter by less than 8", 100, 0, 93, 100, 0 },
	{ "shorter by 8", 100, 0, 92, 99, 1 },
	{ "deviation larger by less than 8", 8000, 7, 8000, 8000, 7 },
	{ "deviation larger by 8", 8000, 8, 8000, 8000, 7 },
	/* 4 x 8000 + 2000 = 34000, 26000 more; (26000 - 800) / 8 = 3150 */
	{ "just below the bound", 8000, 800, 33992, 11249, 3949 },
	{ "at the bound", 8000, 800, 34000, 11250, 3950 },
	{ "above the bound", 8000, 800, 34008, 11250, 3950 },
	{ "5 ms counts as the bound", 8000, 800, 5000000, 11250, 3950 },
	{ "largest number counts as the bound", 8000, 800, U64_MAX, 11250,
	  3950 },
	{ "2^32 is not taken for 0", 8000, 800, 1ULL << 32, 11250, 3950 },
	{ "2^63 is not taken for negative", 8000, 800, 1ULL << 63, 11250,
	  3950 },
	{ "1 ms counts in full", 500000, 0, 1000000, 562500, 62500 },
	{ "more than 1 ms counts as 1 ms", 500000, 0, 1000008, 562500, 62500 },
	{ "stays at 1 ms", 1000000, 0, U64_MAX, 1000000, 0 },
};

KUNIT_ARRAY_PARAM_DESC(wake, wake_rows, desc);

static void wake_reflect_one_sample(struct kunit *test)
{
	const struct wake_row *row = test->param_value;
	struct blk_poll_wake wake = {
		.lag_ns = row->lag_ns,
		.dev_ns = row->dev_ns,
	};

	blk_poll_wake_reflect(&wake, row->sample_ns);
	KUNIT_EXPECT_EQ(test, wake.lag_ns, row->lag_after_ns);
	KUNIT_EXPECT_EQ(test, wake.dev_ns, row->dev_after_ns);
}

static void reflect_many(struct blk_poll_wake *wake, int nr, u64 lag_ns)
{
	while (nr--)
		blk_poll_wake_reflect(wake, lag_ns);
}

struct steady_row {
	const char *desc;
	u32 from_ns;
	u64 to_ns;
	u64 low_ns;
	u64 high_ns;
	int samples;
};

/*
 * The distance shrinks by 1/8 a sample and stops within 7 ns: ln(distance) /
 * ln(8/7) samples.  To rise from 0 to a quarter of lag takes ln(lag / 2667) /
 * ln(11/8) more, as long as the bound holds it back.
 */
static const struct steady_row steady_rows[] = {
	{ "100 ns from nothing", 0, 100, 93, 107, 36 },
	{ "2 us from nothing", 0, 2000, 1993, 2007, 58 },
	{ "10 us from nothing", 0, 10000, 9993, 10007, 76 },
	{ "60 us from nothing", 0, 60000, 59993, 60007, 96 },
	{ "1 ms from nothing", 0, 1000000, 999993, 1000000, 126 },
	{ "5 ms from nothing is 1 ms", 0, 5000000, 999993, 1000000, 126 },
	{ "step from 2 us up to 40 us", 2000, 40000, 39993, 40007, 86 },
	{ "step from 40 us down to 2 us", 40000, 2000, 1993, 2007, 80 },
	{ "step from 1 ms down to nothing", 1000000, 0, 0, 7, 104 },
};

KUNIT_ARRAY_PARAM_DESC(steady, steady_rows, desc);

static void wake_reflect_finds_a_steady_lag(struct kunit *test)
{
	const struct steady_row *row = test->param_value;
	struct blk_poll_wake wake = { .lag_ns = row->from_ns };

	reflect_many(&wake, row->samples, row->to_ns);
	KUNIT_EXPECT_GE(test, wake.lag_ns, row->low_ns);
	KUNIT_EXPECT_LE(test, wake.lag_ns, row->high_ns);

	/* the deviation follows a little later: 7 of it, 7 of the lag */
	reflect_many(&wake, row->samples, row->to_ns);
	KUNIT_EXPECT_LE(test, wake.dev_ns, 14);
}

/* 9 and 11 us by turns: the mean is 10, each is 1 away from it. */
static void wake_reflect_finds_the_deviation(struct kunit *test)
{
	struct blk_poll_wake wake = { };
	int i;

	for (i = 0; i < 100; i++) {
		blk_poll_wake_reflect(&wake, 9000);
		blk_poll_wake_reflect(&wake, 11000);
	}
	/* it follows the last one by less than an eighth */
	KUNIT_EXPECT_GE(test, wake.lag_ns, 10000 - 125);
	KUNIT_EXPECT_LE(test, wake.lag_ns, 10000 + 125);
	KUNIT_EXPECT_GE(test, wake.dev_ns, 900);
	KUNIT_EXPECT_LE(test, wake.dev_ns, 1100);
}

static void wake_reflect_doubts_one_outlier(struct kunit *test)
{
	static const u32 usual_ns[] = { 0, 500, 2000, 10000, 100000 };
	int i;

	for (i = 0; i < ARRAY_SIZE(usual_ns); i++) {
		struct blk_poll_wake wake = { .lag_ns = usual_ns[i] };

		blk_poll_wake_reflect(&wake, 5000000);
		KUNIT_EXPECT_GT(test, wake.lag_ns, usual_ns[i]);
		/* 3/8, and an eighth of 2 us */
		KUNIT_EXPECT_LE(test, wake.lag_ns,
				usual_ns[i] + usual_ns[i] * 3 / 8 + 250);

		/* ln(37500) / ln(8/7) */
		reflect_many(&wake, 79, usual_ns[i]);
		KUNIT_EXPECT_LE(test, wake.lag_ns, usual_ns[i] + 7);
	}
}

static void wake_reflect_never_exceeds_1_ms(struct kunit *test)
{
	struct blk_poll_wake wake = { };
	int i;

	for (i = 0; i < 1000; i++) {
		blk_poll_wake_reflect(&wake, i % 3 ? U64_MAX : 1000000);
		KUNIT_ASSERT_LE(test, wake.lag_ns, 1000000);
		KUNIT_ASSERT_LE(test, wake.dev_ns, 1000000);
	}
	KUNIT_EXPECT_GE(test, wake.lag_ns, 999993);
}

struct decay_row {
	const char *desc;
	u32 lag_ns;
	u32 after_ns;
};

/* half, what is taken off is rounded up so that it reaches 0 */
static const struct decay_row decay_rows[] = {
	{ "0 stays", 0, 0 },
	{ "1", 1, 0 },
	{ "2", 2, 1 },
	{ "3 is rounded up", 3, 1 },
	{ "6400", 6400, 3200 },
	{ "6401 is rounded up", 6401, 3200 },
	{ "1 ms", 1000000, 500000 },
};

KUNIT_ARRAY_PARAM_DESC(decay, decay_rows, desc);

static void wake_decay_once(struct kunit *test)
{
	const struct decay_row *row = test->param_value;
	struct blk_poll_wake wake = { .lag_ns = row->lag_ns, .dev_ns = 77 };

	blk_poll_wake_decay(&wake);
	KUNIT_EXPECT_EQ(test, wake.lag_ns, row->after_ns);
	KUNIT_EXPECT_EQ(test, wake.dev_ns, 77);
}

/* 1000000 has 20 bits, one goes with each step. */
static void wake_decay_reaches_0(struct kunit *test)
{
	struct blk_poll_wake wake = { .lag_ns = 1000000 };
	int steps = 0;

	while (wake.lag_ns && steps < 100) {
		u32 before_ns = wake.lag_ns;

		blk_poll_wake_decay(&wake);
		KUNIT_ASSERT_LT(test, wake.lag_ns, before_ns);
		steps++;
	}
	KUNIT_EXPECT_EQ(test, wake.lag_ns, 0);
	KUNIT_EXPECT_EQ(test, steps, 20);
}

/* What holds for every policy */

static const struct blk_poll_policy *policy_of(struct kunit *test)
{
	return *(const struct blk_poll_policy *const *)test->param_value;
}

static void policy_desc(const struct blk_poll_policy *const *policy, char *desc)
{
	strscpy(desc, (*policy)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(policy, blk_poll_policies, policy_desc);

static void policies_table(struct kunit *test)
{
	int i, k;

	KUNIT_EXPECT_PTR_EQ(test, blk_poll_policies[BLK_POLL_POLICY_MEAN],
			    &blk_poll_mean);
	KUNIT_EXPECT_STREQ(test, blk_poll_mean.name, "mean");
	KUNIT_EXPECT_PTR_EQ(test, blk_poll_policies[BLK_POLL_POLICY_LMD],
			    &blk_poll_lmd);
	KUNIT_EXPECT_STREQ(test, blk_poll_lmd.name, "lmd");
	KUNIT_EXPECT_LT(test, BLK_POLL_POLICY_DEFAULT, BLK_POLL_NR_POLICIES);

	for (i = 0; i < BLK_POLL_NR_POLICIES; i++) {
		const struct blk_poll_policy *policy = blk_poll_policies[i];

		KUNIT_ASSERT_NOT_NULL(test, policy);
		KUNIT_ASSERT_NOT_NULL(test, policy->name);
		KUNIT_EXPECT_STRNEQ(test, policy->name, "");
		KUNIT_EXPECT_TRUE(test, policy->init && policy->select);
		/* or it could not learn */
		KUNIT_EXPECT_TRUE(test, policy->reflect || policy->window);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, policy->name,
					    blk_poll_policies[k]->name);
	}
}

/* xorshift64: never 0 for a seed that is not 0 */
static u64 random_u64(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static u32 random_below(u64 *seed, u32 limit)
{
	return ((random_u64(seed) >> 32) * limit) >> 32;
}

/* Of any magnitude, from 0 to U64_MAX. */
static u64 random_magnitude(u64 *seed)
{
	return random_u64(seed) >> random_below(seed, 64);
}

/* A device with moods, and the tracker that watches it. */
struct world {
	u64 seed;
	u64 now_ns;
	u64 usual_ns;
	u64 prev_mean_ns;
	u64 longest_ns;		/* ever seen, clamped */
	struct blk_poll_staging staging;
	void *scratch;		/* for policies that learn */
};

static void world_init(struct kunit *test, struct world *world, u64 seed)
{
	*world = (struct world){ .seed = seed, .usual_ns = 80000 };
	world->scratch = kunit_kzalloc(test, blk_poll_adaptive.scratch_size,
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, world->scratch);
	blk_poll_staging_init(&world->staging);
}

static struct blk_poll_sample random_sample(struct world *world)
{
	u32 mood = random_below(&world->seed, 64);
	struct blk_poll_sample sample;

	if (mood == 1)
		world->usual_ns = random_u64(&world->seed) >> 40;
	sample.latency_ns = world->usual_ns +
		random_below(&world->seed, (world->usual_ns >> 3) + 1);
	if (mood == 0)
		sample.latency_ns = random_magnitude(&world->seed);
	sample.overslept = !random_below(&world->seed, 8);
	sample.lower_ns = sample.latency_ns;
	if (sample.overslept)
		sample.lower_ns >>= random_below(&world->seed, 40);
	return sample;
}

static struct blk_poll_inputs random_inputs(u64 *seed)
{
	return (struct blk_poll_inputs){
		.wake = {
			.lag_ns = random_below(seed, 1 << random_below(seed, 20)),
			.dev_ns = random_below(seed, 1 << random_below(seed, 20)),
		},
		.cap_ns = random_magnitude(seed),
		.elapsed_ns = random_below(seed, 2) ? 0 : random_magnitude(seed),
		.weight = 1 + random_below(seed, BLK_POLL_MAX_WEIGHT),
	};
}

/* One I/O is over. */
static void world_sample(struct world *world, void *state,
			 const struct blk_poll_policy *policy)
{
	struct blk_poll_sample sample = random_sample(world);

	world->now_ns += sample.latency_ns >> 20;
	world->longest_ns = max(world->longest_ns,
				min(sample.latency_ns, BLK_POLL_MAX_LATENCY_NS));
	blk_poll_staging_add(&world->staging, &sample, world->prev_mean_ns);
	if (policy->reflect)
		policy->reflect(state, &sample, world->now_ns);
	if (policy->learn) {
		struct blk_poll_inputs in = random_inputs(&world->seed);

		/* now and then somebody else uses the scratch memory */
		policy->learn(state, &in, random_below(&world->seed, 4) ?
			      world->scratch : NULL, world->now_ns);
	}
}

/* 100 ms are over. */
static void world_window(struct world *world, void *state,
			 const struct blk_poll_policy *policy)
{
	struct blk_poll_window win;

	world->now_ns += 100 * NSEC_PER_MSEC;
	blk_poll_window_close(&win, &world->staging);
	blk_poll_staging_init(&world->staging);
	world->prev_mean_ns = win.mean_ns;
	if (policy->window)
		policy->window(state, &win);
}

/* A plan is well formed, sleeps no longer than @limit_ns and costs no state. */
static void check_plan(struct kunit *test, const struct blk_poll_policy *policy,
		       const void *state, void *copy,
		       const struct blk_poll_inputs *in, u64 limit_ns)
{
	struct blk_poll_plan plan, again;
	u64 before_ns = 0;
	int i;

	/* what was in a plan before must not show */
	memset(&plan, 0, sizeof(plan));
	memset(&again, 0xff, sizeof(again));
	memcpy(copy, state, policy->state_size);
	policy->select(state, in, &plan);
	policy->select(state, in, &again);
	KUNIT_ASSERT_MEMEQ(test, state, copy, policy->state_size);

	KUNIT_ASSERT_LE(test, plan.nr, BLK_POLL_MAX_STAGES);
	KUNIT_ASSERT_EQ(test, plan.nr, again.nr);
	/* one that goes on does so until the cap */
	if (plan.flags & BLK_POLL_PLAN_MORE) {
		u64 cap_ns = min(in->cap_ns, BLK_POLL_MAX_LATENCY_NS);

		limit_ns = max(limit_ns, 2 * cap_ns + 2000);
	}
	for (i = 0; i < plan.nr; i++) {
		const struct blk_poll_stage *stage = &plan.stage[i];

		KUNIT_ASSERT_GE(test, stage->sleep_to_ns, before_ns);
		KUNIT_ASSERT_GE(test, stage->look_until_ns, stage->sleep_to_ns);
		KUNIT_ASSERT_LE(test, stage->sleep_to_ns, limit_ns);
		KUNIT_ASSERT_EQ(test, stage->sleep_to_ns,
				again.stage[i].sleep_to_ns);
		KUNIT_ASSERT_EQ(test, stage->look_until_ns,
				again.stage[i].look_until_ns);
		before_ns = stage->look_until_ns;
	}
}

static void policy_knows_nothing_at_first(struct kunit *test)
{
	const struct blk_poll_policy *policy = policy_of(test);
	void *state = new_state(test, policy);
	u64 seed = 20190301;
	int i;

	for (i = 0; i < 100; i++) {
		struct blk_poll_inputs in = random_inputs(&seed);
		struct blk_poll_plan plan = { .nr = 1 };

		policy->select(state, &in, &plan);
		KUNIT_ASSERT_EQ(test, plan.nr, 0);
	}
}

/* No sleep is longer than the longest latency ever seen. */
static void policy_plans_are_sane(struct kunit *test)
{
	const struct blk_poll_policy *policy = policy_of(test);
	void *copy = kunit_kzalloc(test, policy->state_size, GFP_KERNEL);
	void *state = new_state(test, policy);
	struct blk_poll_inputs in;
	struct world world;
	int i, k;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	world_init(test, &world, 4102019);
	for (i = 0; i < 200; i++) {
		for (k = random_below(&world.seed, 64); k; k--) {
			world_sample(&world, state, policy);
			in = random_inputs(&world.seed);
			check_plan(test, policy, state, copy, &in,
				   world.longest_ns);
		}
		world_window(&world, state, policy);
		in = random_inputs(&world.seed);
		check_plan(test, policy, state, copy, &in, world.longest_ns);
	}
}

/* Figures that no window can have together, each within its own range. */
static void policy_plans_of_absurd_windows(struct kunit *test)
{
	const struct blk_poll_policy *policy = policy_of(test);
	void *copy = kunit_kzalloc(test, policy->state_size, GFP_KERNEL);
	void *state = new_state(test, policy);
	const u64 limit_ns = BLK_POLL_MAX_LATENCY_NS;
	u64 seed = 6041209;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	for (i = 0; i < 2000; i++) {
		struct blk_poll_sample sample = {
			.latency_ns = random_magnitude(&seed),
			.lower_ns = random_magnitude(&seed),
			.overslept = random_below(&seed, 2),
		};
		struct blk_poll_window win = {
			.mean_ns = min(random_magnitude(&seed), limit_ns),
			.min_ns = min(random_magnitude(&seed), limit_ns),
			.max_ns = min(random_magnitude(&seed), limit_ns),
			.lmd_ns = min(random_magnitude(&seed), limit_ns),
			.samples = random_below(&seed, 2) ?
				   random_u64(&seed) >> 37 : 0,
		};
		struct blk_poll_inputs in = random_inputs(&seed);

		win.misses = random_below(&seed, win.samples + 1) >>
			     random_below(&seed, 28);
		if (policy->reflect)
			policy->reflect(state, &sample, i * 1000ULL);
		if (policy->window)
			policy->window(state, &win);
		check_plan(test, policy, state, copy, &in, limit_ns);
	}
}

/* After init a used state learns the same as a new one. */
static void policy_init_forgets(struct kunit *test)
{
	const struct blk_poll_policy *policy = policy_of(test);
	struct world *world[2];
	void *state[2];
	int i, k, side;

	for (side = 0; side < 2; side++) {
		state[side] = new_state(test, policy);
		world[side] = kunit_kzalloc(test, sizeof(*world[side]),
					    GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, world[side]);
		world_init(test, world[side], 1000003);
	}
	for (i = 0; i < 2000; i++)
		world_sample(world[0], state[0], policy);
	world_window(world[0], state[0], policy);
	policy->init(state[0]);
	world_init(test, world[0], 1000003);

	for (i = 0; i < 50; i++) {
		struct blk_poll_plan plan[2] = { };
		const struct blk_poll_inputs in = {
			.wake = { .lag_ns = 2000, .dev_ns = 200 },
			.cap_ns = U64_MAX,
		};

		for (side = 0; side < 2; side++) {
			policy->select(state[side], &in, &plan[side]);
			for (k = 0; k < 20; k++)
				world_sample(world[side], state[side], policy);
			world_window(world[side], state[side], policy);
		}
		KUNIT_ASSERT_MEMEQ_MSG(test, &plan[0], &plan[1],
				       sizeof(plan[0]), "window %d", i);
	}
}

/* The rules of mean and lmd once more, in the plainest way */

#define ORACLE_MAX_SAMPLES	640

/* One window as a list. */
struct oracle_window {
	u32 nr;
	struct blk_poll_sample sample[ORACLE_MAX_SAMPLES];
};

/* How often each rule of lmd decided. */
enum oracle_rule {
	ORACLE_NO_SAMPLES,
	ORACLE_NO_LMD,
	ORACLE_WIDE,
	ORACLE_MANY_MISSES,
	ORACLE_SOME_MISSES,
	ORACLE_FULL,
	ORACLE_HALF_IS_MORE,
	ORACLE_NR_RULES,
};

static u64 oracle_latency(const struct blk_poll_sample *sample)
{
	if (sample->latency_ns > 68719476736ULL)
		return 68719476736ULL;
	return sample->latency_ns;
}

/* The largest number that times @nr is not above @sum, bit by bit. */
static u64 oracle_quotient(u64 sum, u32 nr)
{
	u64 quotient = 0;
	int bit;

	for (bit = 36; bit >= 0; bit--)
		if ((quotient + (1ULL << bit)) * nr <= sum)
			quotient += 1ULL << bit;
	return quotient;
}

static u64 oracle_mean(const struct oracle_window *win)
{
	u64 sum = 0;
	u32 i;

	if (!win->nr)
		return 0;
	for (i = 0; i < win->nr; i++)
		sum += oracle_latency(&win->sample[i]);
	return oracle_quotient(sum, win->nr);
}

static u64 oracle_lmd(const struct oracle_window *win, u64 prev_mean_ns)
{
	u64 sum = 0;
	u32 i;

	if (!win->nr)
		return 0;
	for (i = 0; i < win->nr; i++)
		if (prev_mean_ns > oracle_latency(&win->sample[i]))
			sum += prev_mean_ns - oracle_latency(&win->sample[i]);
	return oracle_quotient(sum, win->nr);
}

static u32 oracle_misses(const struct oracle_window *win, u64 prev_mean_ns)
{
	u32 i, misses = 0;

	for (i = 0; i < win->nr; i++)
		if (win->sample[i].overslept &&
		    oracle_latency(&win->sample[i]) < prev_mean_ns)
			misses++;
	return misses;
}

static enum oracle_rule oracle_lmd_rule(const struct oracle_window *prev,
					const struct oracle_window *win)
{
	u64 prev_mean_ns = oracle_mean(prev);
	u64 lmd_ns = oracle_lmd(win, prev_mean_ns);
	u32 misses = oracle_misses(win, prev_mean_ns);

	if (!win->nr)
		return ORACLE_NO_SAMPLES;
	if (!lmd_ns)
		return ORACLE_NO_LMD;
	if (4 * lmd_ns >= oracle_mean(win))
		return ORACLE_WIDE;
	/* floor(log2(floor(N / misses))) is at most 4, at most 7 */
	if (misses * 32 > win->nr)
		return ORACLE_MANY_MISSES;
	if (misses * 256 > win->nr)
		return ORACLE_SOME_MISSES;
	return ORACLE_FULL;
}

static u64 oracle_lmd_sleep(const struct oracle_window *prev,
			    const struct oracle_window *win,
			    u32 hits[ORACLE_NR_RULES])
{
	enum oracle_rule rule = oracle_lmd_rule(prev, win);
	u64 mean_ns = oracle_mean(win);
	u64 half_ns = mean_ns - mean_ns / 2;
	u64 sleep_ns = mean_ns - 4 * oracle_lmd(win, oracle_mean(prev));

	hits[rule]++;
	switch (rule) {
	case ORACLE_NO_SAMPLES:
		return 0;
	case ORACLE_SOME_MISSES:
		/* a quarter rounded down less is three quarters rounded up */
		sleep_ns = (3 * sleep_ns + 3) >> 2;
		break;
	case ORACLE_FULL:
		break;
	default:
		return half_ns;
	}
	if (sleep_ns >= half_ns)
		return sleep_ns;
	hits[ORACLE_HALF_IS_MORE]++;
	return half_ns;
}

/* Windows of all sizes, narrow or wide, rarely missed or often. */
static void oracle_fill(struct oracle_window *win, u32 usual_ns, u64 *seed)
{
	static const u32 sizes[] = {
		1, 4, 40, 160, ORACLE_MAX_SAMPLES + 1, ORACLE_MAX_SAMPLES + 1,
	};
	static const u32 miss_one_in[] = { 1, 2, 20, 60, 200, 500, 1U << 31 };
	u32 spread_ns = usual_ns >> random_below(seed, 8);
	u32 one_in = miss_one_in[random_below(seed, ARRAY_SIZE(miss_one_in))];
	u32 i;

	win->nr = random_below(seed,
			       sizes[random_below(seed, ARRAY_SIZE(sizes))]);
	for (i = 0; i < win->nr; i++) {
		struct blk_poll_sample *sample = &win->sample[i];

		sample->latency_ns = usual_ns + random_below(seed, spread_ns);
		sample->overslept = !random_below(seed, one_in);
		sample->lower_ns = 0;
	}
	if (win->nr && !random_below(seed, 16))
		win->sample[0].latency_ns = random_magnitude(seed);
}

/* As in the kernel: each CPU has a part, and they are merged. */
static void oracle_close(struct blk_poll_window *win, u64 prev_mean_ns,
			 const struct oracle_window *list, u64 *seed)
{
	struct blk_poll_staging part[3], sum;
	u32 i;

	blk_poll_staging_init(&sum);
	for (i = 0; i < ARRAY_SIZE(part); i++)
		blk_poll_staging_init(&part[i]);
	for (i = 0; i < list->nr; i++)
		blk_poll_staging_add(&part[random_below(seed, 3)],
				     &list->sample[i], prev_mean_ns);
	for (i = 0; i < ARRAY_SIZE(part); i++)
		blk_poll_staging_merge(&sum, &part[i]);
	blk_poll_window_close(win, &sum);
}

static void mean_and_lmd_agree_with_the_oracle(struct kunit *test)
{
	struct oracle_window *list = kunit_kcalloc(test, 2, sizeof(*list),
						   GFP_KERNEL);
	void *mean_state = new_state(test, &blk_poll_mean);
	void *lmd_state = new_state(test, &blk_poll_lmd);
	u32 hits[ORACLE_NR_RULES] = { };
	struct blk_poll_window win = { };
	u64 mean_sleep_ns = 0;
	u64 seed = 88172645463325252ULL;
	u32 usual_ns = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, list);
	for (i = 0; i < 3000; i++) {
		struct oracle_window *now = &list[i % 2];
		struct oracle_window *prev = &list[(i + 1) % 2];
		u64 prev_mean_ns = win.mean_ns;

		if (i % 16 == 0)
			usual_ns = 1U << (4 + random_below(&seed, 24));
		oracle_fill(now, usual_ns, &seed);
		oracle_close(&win, prev_mean_ns, now, &seed);
		KUNIT_ASSERT_EQ_MSG(test, win.mean_ns, oracle_mean(now),
				    "window %d", i);
		KUNIT_ASSERT_EQ_MSG(test, win.lmd_ns,
				    oracle_lmd(now, oracle_mean(prev)),
				    "window %d", i);
		KUNIT_ASSERT_EQ_MSG(test, win.misses,
				    oracle_misses(now, oracle_mean(prev)),
				    "window %d", i);

		blk_poll_mean.window(mean_state, &win);
		if (now->nr)
			mean_sleep_ns = win.mean_ns - win.mean_ns / 2;
		KUNIT_ASSERT_EQ_MSG(test,
				    single_sleep(test, &blk_poll_mean,
						 mean_state),
				    mean_sleep_ns, "window %d", i);

		blk_poll_lmd.window(lmd_state, &win);
		KUNIT_ASSERT_EQ_MSG(test,
				    single_sleep(test, &blk_poll_lmd,
						 lmd_state),
				    oracle_lmd_sleep(prev, now, hits),
				    "window %d", i);
	}

	/* or the windows were not random enough */
	for (i = 0; i < ORACLE_NR_RULES; i++)
		KUNIT_EXPECT_GE_MSG(test, hits[i], 20, "rule %d", i);
}

static struct kunit_case blk_poll_est_cases[] = {
	KUNIT_CASE_PARAM(bucket_edges, bucket_gen_params),
	KUNIT_CASE(bucket_less_than_a_sector),
	KUNIT_CASE(bucket_bytes_of_each),
	KUNIT_CASE(bucket_bytes_round_trip),
	KUNIT_CASE(staging_init_empties_a_used_area),
	KUNIT_CASE(staging_add_ignores_the_lower_bound),
	KUNIT_CASE_PARAM(staging_add_clamps, clamp_gen_params),
	KUNIT_CASE(staging_limits_fit_together),
	KUNIT_CASE(staging_add_saturates),
	KUNIT_CASE(staging_add_absurd_mean_before),
	KUNIT_CASE(staging_merge_order_does_not_matter),
	KUNIT_CASE(staging_merge_leaves_the_part),
	KUNIT_CASE(staging_merge_empty),
	KUNIT_CASE_PARAM(staging_merge_never_overflows, overflow_gen_params),
	KUNIT_CASE(window_close_empty_is_all_zero),
	KUNIT_CASE_PARAM(window_close_mean_min_max, mean_gen_params),
	KUNIT_CASE_PARAM(window_close_lmd_and_misses, lmd_gen_params),
	KUNIT_CASE(window_close_after_an_empty_one),
	KUNIT_CASE_PARAM(mean_window_half_rounded_up, half_gen_params),
	KUNIT_CASE(mean_window_only_the_mean_counts),
	KUNIT_CASE(mean_window_sequence),
	KUNIT_CASE_PARAM(lmd_window_rules, rule_gen_params),
	KUNIT_CASE(lmd_window_has_no_memory),
	KUNIT_CASE(lmd_window_worked_example),
	KUNIT_CASE(plan_single_sets_one_stage),
	KUNIT_CASE_PARAM(plan_due_single, due_gen_params),
	KUNIT_CASE(plan_due_without_stages),
	KUNIT_CASE(plan_due_never_goes_back),
	KUNIT_CASE_PARAM(plan_due_four_stages, walk_gen_params),
	KUNIT_CASE_PARAM(plan_due_exact, exact_gen_params),
	KUNIT_CASE(plan_due_sleeps_each_stage_once),
	KUNIT_CASE_PARAM(wake_reflect_one_sample, wake_gen_params),
	KUNIT_CASE_PARAM(wake_reflect_finds_a_steady_lag, steady_gen_params),
	KUNIT_CASE(wake_reflect_finds_the_deviation),
	KUNIT_CASE(wake_reflect_doubts_one_outlier),
	KUNIT_CASE(wake_reflect_never_exceeds_1_ms),
	KUNIT_CASE_PARAM(wake_decay_once, decay_gen_params),
	KUNIT_CASE(wake_decay_reaches_0),
	KUNIT_CASE(policies_table),
	KUNIT_CASE_PARAM(policy_knows_nothing_at_first, policy_gen_params),
	KUNIT_CASE_PARAM(policy_plans_are_sane, policy_gen_params),
	KUNIT_CASE_PARAM(policy_plans_of_absurd_windows, policy_gen_params),
	KUNIT_CASE_PARAM(policy_init_forgets, policy_gen_params),
	KUNIT_CASE(mean_and_lmd_agree_with_the_oracle),
	{ }
};

static struct kunit_suite blk_poll_est_suite = {
	.name = "blk_poll_est",
	.test_cases = blk_poll_est_cases,
};

kunit_test_suite(blk_poll_est_suite);

MODULE_DESCRIPTION("Tests of the sleep estimator of hybrid polling");
MODULE_LICENSE("GPL");
