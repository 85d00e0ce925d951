// SPDX-License-Identifier: BSD-3-Clause
/*
 * How long it takes this machine, many times over, to let a sleeping process run, to send a datagram over loopback,
 * to fork, and to start a program.
 *
 * Called by calibrate.py. Prints a line for each, with its name and nanoseconds: "wake 5312 5410 ...".
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAKES 20000
#define SENDS 50000
#define FORKS 500
#define PAUSE_US 300 /* after so short a sleep the caches are still warm */

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void must(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

/* A process waits for a byte, learns from it when it was written, and answers how long it took to run. */
static void wake(void)
{
	int there[2], back[2];
	long long written, took;
	pid_t child;

	must(!pipe(there) && !pipe(back), "pipe");
	child = fork();
	must(child >= 0, "fork");
	if (!child) {
		close(there[1]);
		while (read(there[0], &written, sizeof(written)) == sizeof(written)) {
			took = now() - written;
			must(write(back[1], &took, sizeof(took)) == sizeof(took), "write");
		}
		_exit(0);
	}
	printf("wake");
	for (int i = 0; i < WAKES; i++) {
		usleep(PAUSE_US);
		written = now();
		must(write(there[1], &written, sizeof(written)) == sizeof(written), "write");
		must(read(back[0], &took, sizeof(took)) == sizeof(took), "read");
		printf(" %lld", took);
	}
	close(there[1]);
	wait(NULL);
}

static void packet(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(to);
	int from = socket(AF_INET, SOCK_DGRAM, 0), at = socket(AF_INET, SOCK_DGRAM, 0);
	char data[64] = { 0 };

	must(!bind(at, (struct sockaddr *)&to, length) && !getsockname(at, (struct sockaddr *)&to, &length), "bind");
	printf("\npacket");
	for (int i = 0; i < SENDS; i++) {
		long long began = now();

		must(sendto(from, data, sizeof(data), 0, (struct sockaddr *)&to, length) > 0, "sendto");
		printf(" %lld", now() - began);
		must(recv(at, data, sizeof(data), 0) > 0, "recv");
	}
}

static void processes(const char *name, int starts)
{
	printf("\n%s", name);
	for (int i = 0; i < FORKS; i++) {
		long long began;
		pid_t child;
		int status;

		fflush(stdout);
		began = now();
		child = fork();
		if (!child) {
			if (starts)
				execl("/bin/true", "true", (char *)NULL);
			_exit(starts); /* 1 where the program could not be started */
		}
		must(child > 0, "fork");
		must(wait(&status) == child, "wait");
		printf(" %lld", now() - began);
		if (status) {
			fprintf(stderr, "calibrate_chance: /bin/true could not be started\n");
			exit(1);
		}
	}
}

int main(void)
{
	wake();
	packet();
	processes("fork", 0);
	processes("exec", 1);
	printf("\n");
	return 0;
}
