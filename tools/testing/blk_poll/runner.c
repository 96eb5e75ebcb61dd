// SPDX-License-Identifier: GPL-2.0
/*
 * Run the KUnit suites that are linked in, print KTAP and a line of totals.
 *
 * Each case without parameters and each row of a case with parameters is one
 * test in the totals.  usage: runner (takes no arguments)
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <kunit/test.h>

/* The first bytes of every allocation; a multiple of malloc's alignment. */
union memory {
	union memory *next;
	max_align_t align;
};

struct totals {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

static struct kunit_suite *suites;

void kunit_register(struct kunit_suite *suite)
{
	struct kunit_suite **end = &suites;

	while (*end)
		end = &(*end)->next;
	*end = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	union memory *memory = calloc(1, sizeof(*memory) + size);

	(void)gfp;
	if (!memory)
		return NULL;
	memory->next = test->memory;
	test->memory = memory;
	return memory + 1;
}

static void free_memory(struct kunit *test)
{
	union memory *memory, *next;

	for (memory = test->memory; memory; memory = next) {
		next = memory->next;
		free(memory);
	}
	test->memory = NULL;
}

void kunit_info(struct kunit *test, const char *fmt, ...)
{
	va_list args;

	printf("    # %s: ", test->name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void kunit_skip(struct kunit *test, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(test->skip_reason, sizeof(test->skip_reason), fmt, args);
	va_end(args);
	test->status = KUNIT_SKIPPED;
	longjmp(test->leave, 1);
}

const char *kunit_describe(const char *what, long long left, long long right)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s (%lld and %lld)", what, left, right);
	return text;
}

void kunit_failed(struct kunit *test, enum kunit_severity severity,
		  const char *where, const char *what, const char *fmt, ...)
{
	va_list args;

	printf("    # %s: %s at %s\n    #     expected %s\n", test->name,
	       severity == KUNIT_ASSERTION ? "ASSERTION FAILED" :
					     "EXPECTATION FAILED",
	       where, what);
	if (fmt) {
		printf("    #     ");
		va_start(args, fmt);
		vprintf(fmt, args);
		va_end(args);
		putchar('\n');
	}
	test->status = KUNIT_FAILURE;
	if (severity == KUNIT_ASSERTION)
		longjmp(test->leave, 1);
}

/* One case, or one row of it. */
static void run_test(struct kunit *test, const struct kunit_suite *suite,
		     const struct kunit_case *test_case, const void *param)
{
	*test = (struct kunit){ .name = test_case->name, .param_value = param };

	/* a sanitizer that ends the program shall not take lines with it */
	fflush(stdout);
	if (!setjmp(test->leave)) {
		if (suite->init && suite->init(test))
			kunit_failed(test, KUNIT_ASSERTION, suite->name,
				     "init to return 0", NULL);
		test_case->run_case(test);
	}
	if (suite->exit)
		suite->exit(test);
	free_memory(test);
}

static void print_result(const struct kunit *test, const char *indent,
			 unsigned int number, const char *name)
{
	printf("%s%s %u %s", indent,
	       test->status == KUNIT_FAILURE ? "not ok" : "ok", number, name);
	if (test->status == KUNIT_SKIPPED)
		printf(" # SKIP %s", test->skip_reason);
	putchar('\n');
}

static void count(struct totals *totals, enum kunit_status status)
{
	switch (status) {
	case KUNIT_SUCCESS:
		totals->passed++;
		break;
	case KUNIT_FAILURE:
		totals->failed++;
		break;
	case KUNIT_SKIPPED:
		totals->skipped++;
		break;
	}
}

/* All rows of a case with parameters. */
static void run_rows(struct kunit *test, const struct kunit_suite *suite,
		     const struct kunit_case *test_case, struct totals *totals)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const char *indent = "        ";
	const void *param = NULL;
	unsigned int failed = 0;
	unsigned int row = 0;

	printf("%sKTAP version 1\n%s# Subtest: %s\n", indent, indent,
	       test_case->name);
	while ((param = test_case->generate_params(param, desc))) {
		run_test(test, suite, test_case, param);
		if (!desc[0])
			snprintf(desc, sizeof(desc), "param-%u", row);
		print_result(test, indent, ++row, desc);
		count(totals, test->status);
		failed += test->status == KUNIT_FAILURE;
		desc[0] = '\0';
	}
	/* a table without rows has proved nothing */
	if (!row)
		totals->failed++;
	test->status = failed || !row ? KUNIT_FAILURE : KUNIT_SUCCESS;
}

static bool run_suite(const struct kunit_suite *suite, unsigned int number,
		      struct totals *totals)
{
	const struct kunit_case *test_case;
	unsigned int failed = totals->failed;
	unsigned int nr = 0;
	struct kunit test;

	for (test_case = suite->test_cases; test_case->run_case; test_case++)
		nr++;
	printf("    KTAP version 1\n    # Subtest: %s\n    1..%u\n",
	       suite->name, nr);

	nr = 0;
	for (test_case = suite->test_cases; test_case->run_case; test_case++) {
		if (test_case->generate_params) {
			run_rows(&test, suite, test_case, totals);
		} else {
			run_test(&test, suite, test_case, NULL);
			count(totals, test.status);
		}
		print_result(&test, "    ", ++nr, test_case->name);
	}

	failed = totals->failed - failed;
	printf("%s %u %s\n", failed || !nr ? "not ok" : "ok", number,
	       suite->name);
	return nr && !failed;
}

int main(void)
{
	const struct kunit_suite *suite;
	struct totals totals = { 0 };
	unsigned int nr = 0;
	bool ok = true;

	for (suite = suites; suite; suite = suite->next)
		nr++;
	printf("KTAP version 1\n1..%u\n", nr);
	ok = nr;

	nr = 0;
	for (suite = suites; suite; suite = suite->next)
		ok &= run_suite(suite, ++nr, &totals);

	printf("%u passed, %u failed, %u skipped\n", totals.passed,
	       totals.failed, totals.skipped);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
