/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has iperf3 wait with a pause where it would poll without one. Preloaded (ld.so(8)) into the iperf3 of a test.
 *
 * Up to 3.15, iperf3 calls select(2) again at once while nothing changes: at the beginning, when its stream can be
 * written but the server has not said yet that the test runs; and at the end, when the timer of its reports has passed
 * and the other side has not answered. Behind a full queue either takes seconds. On the virtual clock of a network such
 * a loop takes the processor from the other programs and hundreds of thousands of system calls.
 *
 * After two select() that did not wait and were followed by no read() or write(), the next one begins a millisecond
 * later. While data flow, each is followed by one of these, and one that paces a sender waits; so nothing else changes.
 * From 3.16 on, iperf3 sends and receives in threads of their own, which wait in read() and write(); it is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define IDLE_SELECTS 2
#define PAUSE_NS 1000000
#define FIRST_WITH_THREADS 16

static unsigned int idle;
static int pauses;
static int (*next_select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
static ssize_t (*next_read)(int, void *, size_t);
static ssize_t (*next_write)(int, const void *, size_t);

/* POSIX lets what dlsym() gives be a function, and C knows no conversion for it */
#define FIND(next, name) (*(void **)&(next) = dlsym(RTLD_NEXT, (name)))

__attribute__((constructor)) static void find_next(void)
{
	char *(*version)(void);
	int major, minor;

	FIND(next_select, "select");
	FIND(next_read, "read");
	FIND(next_write, "write");
	FIND(version, "iperf_get_iperf_version");
	pauses = version && sscanf(version(), "%d.%d", &major, &minor) == 2 && major == 3 && minor < FIRST_WITH_THREADS;
}

int select(int count, fd_set *readable, fd_set *writable, fd_set *exceptional, struct timeval *timeout)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NS };
	/* select() of Linux changes it */
	int waits = !timeout || timeout->tv_sec || timeout->tv_usec;
	int ready;

	if (pauses && idle >= IDLE_SELECTS)
		nanosleep(&pause, NULL);
	ready = next_select(count, readable, writable, exceptional, timeout);
	if (ready == 0 && waits)
		idle = 0;
	else if (idle < IDLE_SELECTS)
		idle++;
	return ready;
}

ssize_t read(int fd, void *buffer, size_t size)
{
	idle = 0;
	return next_read(fd, buffer, size);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
	idle = 0;
	return next_write(fd, buffer, size);
}
