/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * TCP flows of the kernel (CUBIC), and how long each takes: from before connect() to after close(), which follows the
 * server's end of the flow, so that all bytes have arrived.
 *
 *   flows serve PORT
 *   flows send ADDRESS PORT FLOWS BYTES     prints a line for each: microseconds, retransmitted segments
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_FLOWS 1024
#define CHUNK (1 << 16)

static char chunk[CHUNK];

static void
die(const char *what)
{
	fprintf(stderr, "flows: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int
tcp_socket(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0)
		die("a socket with cubic");
	return s;
}

static struct sockaddr_in
address_of(const char *address, const char *port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	if (inet_pton(AF_INET, address, &in.sin_addr) != 1)
		die(address);
	return in;
}

/* Reads what is there; closes a flow that has ended. */
static void
drain(int flow)
{
	ssize_t n;

	while ((n = recv(flow, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0)
		;
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close(flow);
}

static void
serve(const char *port)
{
	struct sockaddr_in in = address_of("0.0.0.0", port);
	int s = tcp_socket(), epoll = epoll_create1(0), on = 1, i, n;
	struct epoll_event events[64], event = { .events = EPOLLIN, .data.fd = s };

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s, (struct sockaddr *)&in, sizeof(in)) != 0 || listen(s, MAX_FLOWS) != 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, s, &event) != 0)
		die("listen");
	printf("ready\n");
	fflush(stdout);
	while ((n = epoll_wait(epoll, events, 64, -1)) >= 0 || errno == EINTR) {
		for (i = 0; i < n; i++) {
			if (events[i].data.fd != s) {
				drain(events[i].data.fd);
				continue;
			}
			event.data.fd = accept(s, NULL, NULL);
			if (event.data.fd >= 0)
				epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
		}
	}
}

static struct sockaddr_in server;
static uint64_t bytes;
static pthread_barrier_t begin;
static struct result {
	uint64_t microseconds;
	uint32_t retransmitted;
} results[MAX_FLOWS];

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void *
flow_main(void *arg)
{
	struct result *result = arg;
	struct tcp_info info;
	socklen_t len = sizeof(info);
	uint64_t start, left = bytes;
	int s = tcp_socket();

	pthread_barrier_wait(&begin);
	start = now();
	if (connect(s, (struct sockaddr *)&server, sizeof(server)) != 0)
		die("connect");
	while (left > 0) {
		ssize_t n = send(s, chunk, left < CHUNK ? left : CHUNK, 0);

		if (n < 0)
			die("send");
		left -= (uint64_t)n;
	}
	shutdown(s, SHUT_WR);
	if (recv(s, chunk, 1, 0) != 0 || getsockopt(s, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
		die("the end of a flow");
	close(s);
	*result = (struct result) { now() - start, info.tcpi_total_retrans };
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[MAX_FLOWS];
	unsigned int i, n;

	if (argc == 3 && strcmp(argv[1], "serve") == 0) {
		serve(argv[2]);
		return EXIT_FAILURE;
	}
	n = argc == 6 && strcmp(argv[1], "send") == 0 ? (unsigned int)atoi(argv[4]) : 0;
	if (n == 0 || n > MAX_FLOWS) {
		fprintf(stderr, "flows: allowed: serve PORT, or send ADDRESS PORT FLOWS BYTES with 1 to %d flows\n", MAX_FLOWS);
		return 2;
	}
	server = address_of(argv[2], argv[3]);
	bytes = strtoull(argv[5], NULL, 10);
	pthread_barrier_init(&begin, NULL, n);
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, flow_main, &results[i]) != 0)
			die("a thread");
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < n; i++)
		printf("%llu %u\n", (unsigned long long)results[i].microseconds, results[i].retransmitted);
	return EXIT_SUCCESS;
}
