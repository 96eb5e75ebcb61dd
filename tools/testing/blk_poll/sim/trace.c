// SPDX-License-Identifier: GPL-2.0
/*
 * Traces: latencies that were measured.
 *
 * Three forms are told apart by their first line that is not a comment:
 *
 * 1. one number a line, the latency in ns, with or without a header;
 * 2. a header that names several columns, one of them latency_ns, as written
 *    from the tracepoints; direction and bytes are used if they are there;
 * 3. numbers only, in four columns or more: a latency log of fio, whose columns
 *    are time, latency in ns, direction and block size.  Trims are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define MAX_COLUMNS	32
#define MAX_LINE	1024

/**
 * struct reader - A trace that is being read.
 * @path: Its file.
 * @line: Number of the line.
 * @known: The columns are known.
 * @latency: Which column holds it.
 * @direction: As well; negative: none.
 * @bytes: As well.
 * @nr: I/Os so far.
 * @size: Of @trace.
 * @trace: They.
 */
struct reader {
	const char *path;
	unsigned long line;
	bool known;
	int latency;
	int direction;
	int bytes;
	u64 nr;
	u64 size;
	u64 *trace;
};

/* Cut a line at commas or, without any, at white space. */
static int split(char *line, char *column[MAX_COLUMNS])
{
	const char *between = strchr(line, ',') ? "," : " \t;";
	char *text;
	int nr = 0;

	line += strspn(line, " \t");
	while (*line && nr < MAX_COLUMNS) {
		text = strsep(&line, between);
		text += strspn(text, " \t\"");
		text[strcspn(text, " \t\"")] = '\0';
		if (*text || *between == ',')
			column[nr++] = text;
		if (!line)
			break;
	}
	return nr;
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end != text && !*end;
}

static int find_column(char *column[MAX_COLUMNS], int nr, const char *name)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(column[i], name))
			return i;
	return -1;
}

/* From the first line; true if that is a header. */
static bool find_columns(struct reader *reader, char *column[MAX_COLUMNS],
			 int nr)
{
	bool header = !is_number(column[0]);

	reader->known = true;
	reader->direction = -1;
	reader->bytes = -1;
	if (header) {
		reader->latency = find_column(column, nr, "latency_ns");
		if (reader->latency < 0)
			reader->latency = find_column(column, nr, "lat_ns");
		if (reader->latency < 0 && nr == 1)
			reader->latency = 0;
		if (reader->latency < 0)
			sim_die("%s:%lu: the header has no column latency_ns",
				reader->path, reader->line);
		reader->direction = find_column(column, nr, "direction");
		reader->bytes = find_column(column, nr, "bytes");
	} else if (nr >= 4) {
		reader->latency = 1;
		reader->direction = 2;
		reader->bytes = 3;
	} else if (nr > 1) {
		sim_die("%s:%lu: several columns without a header",
			reader->path, reader->line);
	}
	return header;
}

static u64 parse_number(const struct reader *reader, const char *text,
			const char *what, u64 low, u64 high)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!*text || strspn(text, "0123456789") != strlen(text))
		sim_die("%s:%lu: %s is not a whole number: %.40s", reader->path,
			reader->line, what, text);
	if (errno || value < low || value > high)
		sim_die("%s:%lu: %s is not from %llu to %llu", reader->path,
			reader->line, what, low, high);
	return value;
}

/* 0: read, 1: write, negative: anything else. */
static int parse_direction(const char *text)
{
	if (!strcmp(text, "0") || !strcasecmp(text, "r") ||
	    !strcasecmp(text, "read"))
		return 0;
	if (!strcmp(text, "1") || !strcasecmp(text, "w") ||
	    !strcasecmp(text, "write"))
		return 1;
	return -1;
}

static void append(struct reader *reader, u64 latency_ns, int bucket)
{
	if (reader->nr == SIM_MAX_TRACE)
		sim_die("%s: more than %lu I/Os; take a part of it",
			reader->path, SIM_MAX_TRACE);
	if (reader->nr == reader->size) {
		reader->size = reader->size ? 2 * reader->size : 4096;
		reader->trace = realloc(reader->trace, reader->size *
					sizeof(*reader->trace));
		if (!reader->trace)
			sim_die("out of memory");
	}
	reader->trace[reader->nr++] = latency_ns << 4 | bucket;
}

static void parse_line(struct reader *reader, char *line)
{
	char *column[MAX_COLUMNS];
	int nr = split(line, column);
	int direction = 0, bucket;
	u64 bytes = 4096;
	u64 latency_ns;

	if (!nr)
		return;
	if (!reader->known && find_columns(reader, column, nr))
		return;
	if (max(reader->latency, max(reader->direction, reader->bytes)) >= nr)
		sim_die("%s:%lu: too few columns", reader->path, reader->line);

	latency_ns = parse_number(reader, column[reader->latency], "latency", 1,
				  BLK_POLL_MAX_LATENCY_NS);
	if (reader->direction >= 0)
		direction = parse_direction(column[reader->direction]);
	if (reader->bytes >= 0)
		bytes = parse_number(reader, column[reader->bytes], "size", 0,
				     U32_MAX);
	/* as in the kernel, what is no read or write is not tracked */
	if (direction < 0)
		return;
	bucket = blk_poll_bucket(direction, bytes);
	if (bucket >= 0)
		append(reader, latency_ns, bucket);
}

static void read_file(struct reader *reader, FILE *file)
{
	char line[MAX_LINE];

	while (fgets(line, sizeof(line), file)) {
		size_t len = strcspn(line, "\r\n#");

		reader->line++;
		/* a zero byte ends a line early, as does the end of the file */
		if (!strpbrk(line, "\r\n") && !feof(file))
			sim_die("%s:%lu: not a line of text", reader->path,
				reader->line);
		line[len] = '\0';
		parse_line(reader, line);
	}
	if (ferror(file))
		sim_die("%s: %s", reader->path, strerror(errno));
}

/**
 * sim_source_trace() - Take latencies from a file.
 * @source: Filled in.
 * @path: The file; has to live as long as @source.
 */
void sim_source_trace(struct sim_source *source, const char *path)
{
	struct reader reader = { .path = path };
	const char *slash = strrchr(path, '/');
	FILE *file = fopen(path, "r");

	if (!file)
		sim_die("%s: %s", path, strerror(errno));
	read_file(&reader, file);
	fclose(file);
	if (!reader.nr)
		sim_die("%s: no latencies in it", path);
	*source = (struct sim_source){
		.name = slash ? slash + 1 : path,
		.family = "trace",
		.trace = reader.trace,
		.nr = reader.nr,
	};
}
