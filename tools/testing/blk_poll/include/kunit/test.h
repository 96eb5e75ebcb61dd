/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of KUnit as the suites in block/tests need, for userspace.
 *
 * The names and what they mean are the kernel's; how they work is not.  The
 * other half is in runner.c.
 */
#ifndef BLK_POLL_KUNIT_TEST_H
#define BLK_POLL_KUNIT_TEST_H

#include <setjmp.h>

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>

#define KUNIT_PARAM_DESC_SIZE	128

#define GFP_KERNEL		0U

/* Where a test goes on after a failure. */
enum kunit_severity {
	KUNIT_EXPECTATION,	/* with the next statement */
	KUNIT_ASSERTION,	/* with the next test */
};

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED,
};

struct kunit {
	void *priv;
	const void *param_value;
	const char *name;
	enum kunit_status status;

	/* of the runner */
	jmp_buf leave;
	void *memory;
	char skip_reason[KUNIT_PARAM_DESC_SIZE];
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char name[64];
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;

	/* of the runner */
	struct kunit_suite *next;
};

#define KUNIT_CASE(function)		{ .run_case = function, .name = #function }
#define KUNIT_CASE_SLOW(function)	KUNIT_CASE(function)
#define KUNIT_CASE_PARAM(function, generator)				\
	{ .run_case = function, .name = #function,			\
	  .generate_params = generator }

#define KUNIT_ARRAY_PARAM(prefix, array, get_desc)			\
static const void *prefix##_gen_params(const void *prev, char *desc)	\
{									\
	typeof(&(array)[0]) next = (array);				\
	void (*describe)(typeof(next), char *) = get_desc;		\
									\
	if (prev)							\
		next = (typeof(next))prev + 1;				\
	if (next == (array) + ARRAY_SIZE(array))			\
		return NULL;						\
	if (describe)							\
		describe(next, desc);					\
	return next;							\
}

#define KUNIT_ARRAY_PARAM_DESC(prefix, array, member)			\
static void prefix##_describe(typeof(&(array)[0]) row, char *desc)	\
{									\
	strscpy(desc, row->member, KUNIT_PARAM_DESC_SIZE);		\
}									\
KUNIT_ARRAY_PARAM(prefix, array, prefix##_describe)

void kunit_register(struct kunit_suite *suite);

#define kunit_test_suite(suite)						\
static void __attribute__((constructor)) suite##_register(void)		\
{									\
	kunit_register(&suite);						\
}									\
BLK_POLL_MODULE_NOTHING

/* One suite a call is enough here; the kernel takes several. */
#define kunit_test_suites(suite_ptr)					\
static void __attribute__((constructor)) kunit_suites_register(void)	\
{									\
	kunit_register(suite_ptr);					\
}									\
BLK_POLL_MODULE_NOTHING

/* Freed when the test ends, as in the kernel. */
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);

static inline void *kunit_kcalloc(struct kunit *test, size_t n, size_t size,
				  gfp_t gfp)
{
	return kunit_kzalloc(test, n * size, gfp);
}

__printf(2, 3)
void kunit_info(struct kunit *test, const char *fmt, ...);

__printf(2, 3) __noreturn
void kunit_skip(struct kunit *test, const char *fmt, ...);

/* @where and @what say what was not so, @fmt may be NULL or says why. */
__printf(5, 6)
void kunit_failed(struct kunit *test, enum kunit_severity severity,
		  const char *where, const char *what, const char *fmt, ...);

/* "name (value)" for both sides of a comparison. */
const char *kunit_describe(const char *what, long long left, long long right);

#define KUNIT_STR2(line)	#line
#define KUNIT_STR(line)		KUNIT_STR2(line)
#define KUNIT_WHERE		__FILE__ ":" KUNIT_STR(__LINE__)

#define KUNIT_COMPARE(test, severity, left, op, right, fmt, ...)	\
do {									\
	const typeof(left) left_ = (left);				\
	const typeof(right) right_ = (right);				\
									\
	if (!(left_ op right_))						\
		kunit_failed(test, severity, KUNIT_WHERE,		\
			     kunit_describe(#left " " #op " " #right,	\
					    (long long)left_,		\
					    (long long)right_),		\
			     fmt, ##__VA_ARGS__);			\
} while (0)

#define KUNIT_CHECK(test, severity, condition, what, fmt, ...)		\
do {									\
	if (!(condition))						\
		kunit_failed(test, severity, KUNIT_WHERE, what, fmt,	\
			     ##__VA_ARGS__);				\
} while (0)

#define KUNIT_FAIL(test, fmt, ...)					\
	KUNIT_CHECK(test, KUNIT_EXPECTATION, false, "not to come here",	\
		    fmt, ##__VA_ARGS__)

#define KUNIT_TRUE(test, severity, condition, fmt, ...)			\
	KUNIT_CHECK(test, severity, condition, #condition " is true",	\
		    fmt, ##__VA_ARGS__)
#define KUNIT_FALSE(test, severity, condition, fmt, ...)		\
	KUNIT_CHECK(test, severity, !(condition), #condition " is false", \
		    fmt, ##__VA_ARGS__)
#define KUNIT_NOT_NULL(test, severity, ptr, fmt, ...)			\
	KUNIT_CHECK(test, severity, (ptr) != NULL, #ptr " is not NULL",	\
		    fmt, ##__VA_ARGS__)
#define KUNIT_PTR(test, severity, left, op, right, fmt, ...)		\
	KUNIT_CHECK(test, severity, (left) op (right),			\
		    #left " " #op " " #right, fmt, ##__VA_ARGS__)
#define KUNIT_STRCMP(test, severity, left, op, right, fmt, ...)		\
	KUNIT_CHECK(test, severity, strcmp(left, right) op 0,		\
		    #left " " #op " " #right, fmt, ##__VA_ARGS__)
#define KUNIT_MEMCMP(test, severity, left, op, right, size, fmt, ...)	\
	KUNIT_CHECK(test, severity, memcmp(left, right, size) op 0,	\
		    "bytes of " #left " " #op " " #right, fmt, ##__VA_ARGS__)

#define KUNIT_EXPECT_EQ_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_EXPECTATION, left, ==, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_EXPECT_EQ(test, left, right)				\
	KUNIT_EXPECT_EQ_MSG(test, left, right, NULL)
#define KUNIT_EXPECT_NE_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_EXPECTATION, left, !=, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_EXPECT_NE(test, left, right)				\
	KUNIT_EXPECT_NE_MSG(test, left, right, NULL)
#define KUNIT_EXPECT_LT_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_EXPECTATION, left, <, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_EXPECT_LT(test, left, right)				\
	KUNIT_EXPECT_LT_MSG(test, left, right, NULL)
#define KUNIT_EXPECT_LE_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_EXPECTATION, left, <=, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_EXPECT_LE(test, left, right)				\
	KUNIT_EXPECT_LE_MSG(test, left, right, NULL)
#define KUNIT_EXPECT_GT_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_EXPECTATION, left, >, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_EXPECT_GT(test, left, right)				\
	KUNIT_EXPECT_GT_MSG(test, left, right, NULL)
#define KUNIT_EXPECT_GE_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_EXPECTATION, left, >=, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_EXPECT_GE(test, left, right)				\
	KUNIT_EXPECT_GE_MSG(test, left, right, NULL)

#define KUNIT_EXPECT_TRUE_MSG(test, condition, fmt, ...)		\
	KUNIT_TRUE(test, KUNIT_EXPECTATION, condition, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_TRUE(test, condition)				\
	KUNIT_EXPECT_TRUE_MSG(test, condition, NULL)
#define KUNIT_EXPECT_FALSE_MSG(test, condition, fmt, ...)		\
	KUNIT_FALSE(test, KUNIT_EXPECTATION, condition, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_FALSE(test, condition)				\
	KUNIT_EXPECT_FALSE_MSG(test, condition, NULL)
#define KUNIT_EXPECT_NOT_NULL_MSG(test, condition, fmt, ...)		\
	KUNIT_NOT_NULL(test, KUNIT_EXPECTATION, condition, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NOT_NULL(test, condition)				\
	KUNIT_EXPECT_NOT_NULL_MSG(test, condition, NULL)

#define KUNIT_EXPECT_PTR_EQ(test, left, right)				\
	KUNIT_PTR(test, KUNIT_EXPECTATION, left, ==, right, NULL)
#define KUNIT_EXPECT_STREQ(test, left, right)				\
	KUNIT_STRCMP(test, KUNIT_EXPECTATION, left, ==, right, NULL)
#define KUNIT_EXPECT_STRNEQ(test, left, right)				\
	KUNIT_STRCMP(test, KUNIT_EXPECTATION, left, !=, right, NULL)
#define KUNIT_EXPECT_MEMEQ_MSG(test, left, right, size, fmt, ...)	\
	KUNIT_MEMCMP(test, KUNIT_EXPECTATION, left, ==, right, size, fmt, \
		     ##__VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ(test, left, right, size)			\
	KUNIT_EXPECT_MEMEQ_MSG(test, left, right, size, NULL)

#define KUNIT_ASSERT_EQ_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_ASSERTION, left, ==, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, left, right)				\
	KUNIT_ASSERT_EQ_MSG(test, left, right, NULL)
#define KUNIT_ASSERT_NE_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_ASSERTION, left, !=, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_ASSERT_NE(test, left, right)				\
	KUNIT_ASSERT_NE_MSG(test, left, right, NULL)
#define KUNIT_ASSERT_LT_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_ASSERTION, left, <, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_ASSERT_LT(test, left, right)				\
	KUNIT_ASSERT_LT_MSG(test, left, right, NULL)
#define KUNIT_ASSERT_LE_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_ASSERTION, left, <=, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_ASSERT_LE(test, left, right)				\
	KUNIT_ASSERT_LE_MSG(test, left, right, NULL)
#define KUNIT_ASSERT_GT_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_ASSERTION, left, >, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_ASSERT_GT(test, left, right)				\
	KUNIT_ASSERT_GT_MSG(test, left, right, NULL)
#define KUNIT_ASSERT_GE_MSG(test, left, right, fmt, ...)		\
	KUNIT_COMPARE(test, KUNIT_ASSERTION, left, >=, right, fmt,	\
		      ##__VA_ARGS__)
#define KUNIT_ASSERT_GE(test, left, right)				\
	KUNIT_ASSERT_GE_MSG(test, left, right, NULL)

#define KUNIT_ASSERT_TRUE_MSG(test, condition, fmt, ...)		\
	KUNIT_TRUE(test, KUNIT_ASSERTION, condition, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_TRUE(test, condition)				\
	KUNIT_ASSERT_TRUE_MSG(test, condition, NULL)
#define KUNIT_ASSERT_FALSE_MSG(test, condition, fmt, ...)		\
	KUNIT_FALSE(test, KUNIT_ASSERTION, condition, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_FALSE(test, condition)				\
	KUNIT_ASSERT_FALSE_MSG(test, condition, NULL)
#define KUNIT_ASSERT_NOT_NULL_MSG(test, condition, fmt, ...)		\
	KUNIT_NOT_NULL(test, KUNIT_ASSERTION, condition, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL(test, condition)				\
	KUNIT_ASSERT_NOT_NULL_MSG(test, condition, NULL)

#define KUNIT_ASSERT_PTR_EQ(test, left, right)				\
	KUNIT_PTR(test, KUNIT_ASSERTION, left, ==, right, NULL)
#define KUNIT_ASSERT_STREQ(test, left, right)				\
	KUNIT_STRCMP(test, KUNIT_ASSERTION, left, ==, right, NULL)
#define KUNIT_ASSERT_STRNEQ(test, left, right)				\
	KUNIT_STRCMP(test, KUNIT_ASSERTION, left, !=, right, NULL)
#define KUNIT_ASSERT_MEMEQ_MSG(test, left, right, size, fmt, ...)	\
	KUNIT_MEMCMP(test, KUNIT_ASSERTION, left, ==, right, size, fmt,	\
		     ##__VA_ARGS__)
#define KUNIT_ASSERT_MEMEQ(test, left, right, size)			\
	KUNIT_ASSERT_MEMEQ_MSG(test, left, right, size, NULL)

#endif /* BLK_POLL_KUNIT_TEST_H */
