// SPDX-License-Identifier: GPL-2.0
/*
 * Do reads or writes on an io_uring that polls, in ways that fio does not know:
 * several files on one ring, linked, cancelled, left behind by exit or exec.
 *
 * Prints a line of key=value pairs. An I/O that fails is counted by its error
 * and does not end the run.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

#include "common.h"

#define BLOCK		4096
#define MAX_DEPTH	256
#define MAX_FILES	8

/* user_data of requests that are not an I/O. */
#define NO_IO		((__u64)-1)

static struct io_uring ring;
static int fds[MAX_FILES];
static unsigned long long blocks[MAX_FILES];
static unsigned int nr_files;
static unsigned char *buffers;
static unsigned long long start_ns[MAX_DEPTH];
static bool busy[MAX_DEPTH];

static unsigned int opt_depth = 1;
static unsigned long long opt_ios = 100;
static bool opt_fixed;
static bool opt_link;
static bool opt_timeout;
static bool opt_cancel;
static bool opt_sqpoll;
static bool opt_write;
static const char *opt_leave;

static unsigned long long nr_submitted;
static unsigned long long nr_done;
static unsigned long long nr_good;
static unsigned long long nr_unsupported;
static unsigned long long nr_cancelled;
static unsigned long long nr_invalid;
static unsigned long long nr_errors;
static unsigned long long nr_others;
static int last_error;
static unsigned long long max_ns;

static struct io_uring_sqe *next_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		die("no entry left in the queue", ENOSPC);
	return sqe;
}

/* One I/O to the files in turn, from buffer nr. */
static void queue_io(unsigned int nr)
{
	unsigned int file = nr_submitted % nr_files;
	unsigned long long pos = nr_submitted / nr_files * 7 % blocks[file];
	struct io_uring_sqe *sqe = next_sqe();
	void *buf = buffers + nr * BLOCK;

	if (opt_fixed && opt_write)
		io_uring_prep_write_fixed(sqe, fds[file], buf, BLOCK, pos * BLOCK, nr);
	else if (opt_fixed)
		io_uring_prep_read_fixed(sqe, fds[file], buf, BLOCK, pos * BLOCK, nr);
	else if (opt_write)
		io_uring_prep_write(sqe, fds[file], buf, BLOCK, pos * BLOCK);
	else
		io_uring_prep_read(sqe, fds[file], buf, BLOCK, pos * BLOCK);
	sqe->user_data = nr;
	/* pairs, so that a failing one can take another with it */
	if (opt_link && nr_submitted % 2 == 0)
		sqe->flags |= IOSQE_IO_LINK;
	busy[nr] = true;
	start_ns[nr] = now_ns();
	nr_submitted++;

	if (opt_timeout) {
		static struct __kernel_timespec ts = { .tv_nsec = 1000000 };

		sqe->flags |= IOSQE_IO_LINK;
		sqe = next_sqe();
		io_uring_prep_link_timeout(sqe, &ts, 0);
		sqe->user_data = NO_IO;
	}
}

/* What is in flight on a disk cannot be stopped: it is done all the same. */
static void cancel(unsigned int nr)
{
	struct io_uring_sync_cancel_reg reg = {
		.addr = nr,
		.fd = -1,
		.timeout.tv_sec = -1,
		.timeout.tv_nsec = -1,
	};
	int ret = io_uring_register_sync_cancel(&ring, &reg);

	if (ret && ret != -ENOENT && ret != -EALREADY)
		die("cancel", -ret);
}

static void complete(struct io_uring_cqe *cqe)
{
	unsigned long long ns;
	unsigned int nr = cqe->user_data;

	if (cqe->user_data == NO_IO) {
		nr_others++;
		return;
	}
	if (nr >= opt_depth || !busy[nr])
		die("a completion that nobody asked for", EIO);
	busy[nr] = false;
	nr_done++;
	ns = now_ns() - start_ns[nr];
	if (ns > max_ns)
		max_ns = ns;
	if (cqe->res == BLOCK) {
		nr_good++;
	} else if (cqe->res == -EOPNOTSUPP) {
		nr_unsupported++;
	} else if (cqe->res == -ECANCELED) {
		nr_cancelled++;
	} else if (cqe->res == -EINVAL) {
		nr_invalid++;
	} else {
		nr_errors++;
		last_error = cqe->res < 0 ? -cqe->res : EIO;
	}
}

static void reap(void)
{
	struct io_uring_cqe *cqe;
	int ret = io_uring_wait_cqe(&ring, &cqe);

	if (ret && ret != -EINTR && ret != -EAGAIN)
		die("waiting", -ret);
	while (!io_uring_peek_cqe(&ring, &cqe)) {
		complete(cqe);
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* The kernel stops at an entry that it refuses, and takes the rest if asked again. */
static void submit(void)
{
	while (io_uring_sq_ready(&ring)) {
		int ret = io_uring_submit(&ring);

		if (ret < 0)
			die("submitting", -ret);
	}
}

/* Fill the ring, and go away without a look at it. */
static void leave(void)
{
	for (unsigned int nr = 0; nr < opt_depth; nr++)
		queue_io(nr);
	submit();
	if (!strcmp(opt_leave, "exec"))
		execl("/bin/true", "true", NULL);
	_exit(0);
}

static void run(void)
{
	while (nr_done < opt_ios) {
		unsigned int queued = 0;

		for (unsigned int nr = 0; nr < opt_depth; nr++) {
			if (busy[nr] || nr_submitted >= opt_ios)
				continue;
			queue_io(nr);
			queued++;
		}
		if (queued)
			submit();
		if (opt_cancel)
			for (unsigned int nr = 0; nr < opt_depth; nr += 2)
				cancel(nr);
		reap();
	}
}

static void setup(int argc, char **argv)
{
	unsigned int flags = IORING_SETUP_IOPOLL;
	struct iovec iov[MAX_DEPTH];
	int ret;

	for (int i = optind; i < argc; i++) {
		unsigned long long bytes;
		int fd = open(argv[i], (opt_write ? O_RDWR : O_RDONLY) | O_DIRECT);

		if (fd < 0)
			die(argv[i], errno);
		if (ioctl(fd, BLKGETSIZE64, &bytes))
			die(argv[i], errno);
		fds[nr_files] = fd;
		blocks[nr_files++] = bytes / BLOCK;
	}
	if (posix_memalign((void **)&buffers, BLOCK, MAX_DEPTH * BLOCK))
		die("memory", ENOMEM);
	memset(buffers, 0x5a, MAX_DEPTH * BLOCK);

	if (opt_sqpoll)
		flags |= IORING_SETUP_SQPOLL;
	/* a timeout takes an entry of its own */
	ret = io_uring_queue_init(2 * opt_depth, &ring, flags);
	if (ret)
		die("io_uring_setup", -ret);
	if (!opt_fixed)
		return;
	for (unsigned int nr = 0; nr < opt_depth; nr++)
		iov[nr] = (struct iovec){ buffers + nr * BLOCK, BLOCK };
	ret = io_uring_register_buffers(&ring, iov, opt_depth);
	if (ret)
		die("io_uring_register_buffers", -ret);
}

static void explain(void)
{
	fputs("usage: ring_io [option]... DISK...\n"
	      "  -q N   I/Os in flight, 1 to 256 (default 1)\n"
	      "  -n N   I/Os (default 100), to the disks in turn\n"
	      "  -w     write (default: read)\n"
	      "  -f     with registered buffers\n"
	      "  -l     linked in pairs\n"
	      "  -t     each with a linked timeout of 1 ms\n"
	      "  -c     try to cancel every other one\n"
	      "  -s     with SQPOLL\n"
	      "  -x W   fill the ring, then exit or exec\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "q:n:wfltcsx:")) != -1) {
		switch (opt) {
		case 'q':
			opt_depth = number(optarg, explain);
			break;
		case 'n':
			opt_ios = number(optarg, explain);
			break;
		case 'w':
			opt_write = true;
			break;
		case 'f':
			opt_fixed = true;
			break;
		case 'l':
			opt_link = true;
			break;
		case 't':
			opt_timeout = true;
			break;
		case 'c':
			opt_cancel = true;
			break;
		case 's':
			opt_sqpoll = true;
			break;
		case 'x':
			opt_leave = optarg;
			break;
		default:
			explain();
		}
	}
	if (optind >= argc || argc - optind > MAX_FILES ||
	    !opt_depth || opt_depth > MAX_DEPTH ||
	    (opt_leave && strcmp(opt_leave, "exit") && strcmp(opt_leave, "exec")))
		explain();
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	setup(argc, argv);
	if (opt_leave)
		leave();
	run();
	printf("ios=%llu good=%llu unsupported=%llu cancelled=%llu invalid=%llu ",
	       nr_done, nr_good, nr_unsupported, nr_cancelled, nr_invalid);
	printf("errors=%llu errno=%d others=%llu max_us=%llu\n",
	       nr_errors, last_error, nr_others, max_ns / NSEC_PER_USEC);
	return 0;
}
