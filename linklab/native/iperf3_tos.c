/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has an iperf3 server mark its packets. Preloaded (ld.so(8)) into the server of one flow of a test.
 *
 * iperf3 takes -S on the client alone, and a server that sends (-R) does not set it. What a listening socket is given
 * holds for the connections that it accepts, and a UDP server sends from the socket that it has bound. So each socket
 * gets the byte in IPERF3_TOS, 0 to 255 and written in decimal, before it is bound.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <sys/socket.h>

int bind(int fd, const struct sockaddr *address, socklen_t size)
{
	const char *byte = getenv("IPERF3_TOS");
	int tos = byte ? atoi(byte) : 0;
	int (*next)(int, const struct sockaddr *, socklen_t);

	/* POSIX lets what dlsym() gives be a function, and C knows no conversion for it */
	*(void **)&next = dlsym(RTLD_NEXT, "bind");
	if (tos > 0 && tos < 256) {
		/* an IPv6 socket that also takes IPv4 has both; a socket of one version refuses the other */
		setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
		setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	}
	return next(fd, address, size);
}
