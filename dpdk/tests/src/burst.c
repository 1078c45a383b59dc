/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * burst PATH FRAMES LEAST FIFO: the other side of a link at PATH, by libccnic, of a program that sends back what it
 * receives. It reads the id of the program's polling thread from FIFO, and
 *
 * 1. sends some frames and waits for them,
 * 2. stops that thread, which alone does not run then, and sends FRAMES in one go,
 * 3. lets it go on after 100 ms, once FIFO says that all are at the card, sends some more, and takes what comes until LEAST
 *    have and no more does,
 * 4. sends some frames again, and waits for them.
 *
 * The frames are UDP over IPv4, of 64 flows; each has its number within its flow. Numbers of a flow only grow: what comes
 * out of order, twice or damaged is an error. It tells how many frames of steps 2 and 3 came back. Ends with 77 where it may
 * not stop a thread. */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "ccnic.h"

enum { BURST = 32, FLOWS = 64, SOME = 1024, LENGTH = 60, PATIENCE_MS = 60000, STALL_MS = 100, QUIET_MS = 1000 };
enum { IP = 14, TTL = IP + 8, UDP = IP + 20, PAYLOAD = UDP + 8 };
#define CONFIG "ring=32768,buffers=65536,bytes=256"

/* What a frame says of itself. */
struct payload {
	uint32_t flow;
	uint32_t check;		/* of flow and number */
	uint64_t number;
};

static struct ccnic_channel *channel;
static uint64_t sent[FLOWS], next[FLOWS], came;
static unsigned long all;

static void fail(const char *what)
{
	fprintf(stderr, "burst: %s: %s\n", what, ccnic_error());
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint32_t check_of(const struct payload *p)
{
	return (p->flow + 1) * 2654435761u ^ (uint32_t)p->number * 40503u;
}

/* The checksum of an IP header, which lies on an even address of a frame. */
static uint16_t ip_sum(const unsigned char *header)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* The next frame: flows take turns. */
static void make(unsigned char *frame)
{
	static const unsigned char head[PAYLOAD] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,
		0x45, 0, 0, LENGTH - IP, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0, 0, 0, 9, 0, LENGTH - UDP, 0, 0,
	};
	struct payload p = { .flow = all++ % FLOWS };
	uint16_t sum;

	p.number = sent[p.flow]++;
	p.check = check_of(&p);
	memset(frame, 0, LENGTH);
	memcpy(frame, head, sizeof(head));
	frame[UDP] = 4;
	frame[UDP + 1] = (unsigned char)p.flow;
	sum = ip_sum(frame + IP);
	memcpy(frame + IP + 10, &sum, 2);
	memcpy(frame + PAYLOAD, &p, sizeof(p));
}

/* Sends n frames; the link has room for all that this program sends at a time. */
static void send_all(unsigned long n)
{
	while (n > 0) {
		struct ccnic_segment segs[BURST];
		uint64_t bufs[BURST];
		int want = n < BURST ? (int)n : BURST, i, taken, at = 0;

		if (ccnic_alloc(channel, bufs, (uint32_t)want) != want)
			fail("no buffers for a burst");
		for (i = 0; i < want; i++) {
			unsigned char *frame = ccnic_buffer(channel, bufs[i], 0, LENGTH);

			if (frame == NULL)
				fail("no such buffer");
			make(frame);
			segs[i] = (struct ccnic_segment){ bufs[i], 0, LENGTH, 1 };
		}
		for (; at < want; at += taken) {
			taken = ccnic_tx_burst(channel, segs + at, (uint32_t)(want - at));
			if (taken <= 0)
				fail("the link takes no more");
		}
		n -= (unsigned long)want;
	}
}

static void judge(const unsigned char *frame, uint16_t len)
{
	struct payload p;

	memcpy(&p, frame + PAYLOAD, sizeof(p));
	if (len != LENGTH || p.flow >= FLOWS || p.check != check_of(&p) || frame[UDP + 1] != p.flow) {
		fprintf(stderr, "burst: a damaged frame of %u B\n", len);
		exit(1);
	}
	if (p.number < next[p.flow] || p.number >= sent[p.flow]) {
		fprintf(stderr, "burst: flow %u: frame %lu after %lu\n", p.flow, p.number, next[p.flow] - 1);
		exit(1);
	}
	next[p.flow] = p.number + 1;
	came++;
}

/* Takes what is there; how much. */
static int take(void)
{
	struct ccnic_segment segs[BURST];
	uint64_t bufs[BURST];
	int n = ccnic_rx_burst(channel, segs, BURST), i;

	if (n < 0)
		fail("the link has ended");
	for (i = 0; i < n; i++) {
		unsigned char frame[LENGTH];

		if (segs[i].len > LENGTH || ccnic_read(channel, segs[i].buf, segs[i].off, frame, segs[i].len) != 0)
			fail("a frame that cannot be read");
		judge(frame, segs[i].len);
		bufs[i] = segs[i].buf;
	}
	if (n > 0 && ccnic_free(channel, bufs, (uint32_t)n) != 0)
		fail("buffers that cannot be given back");
	return n;
}

/* Takes until `least` have come since the count was `from`, and nothing for some time. */
static void take_all(uint64_t from, uint64_t least)
{
	uint64_t end = now_ms() + PATIENCE_MS, last = now_ms();

	while (came - from < least || now_ms() - last < QUIET_MS) {
		if (take() > 0)
			last = now_ms();
		else
			sched_yield();
		if (now_ms() > end) {
			fprintf(stderr, "burst: %lu frames of %lu have come back\n", came - from, least);
			exit(1);
		}
	}
}

/* A number that somebody writes into the FIFO. */
static int told(const char *path)
{
	FILE *fifo = fopen(path, "r");
	int number;

	if (fifo == NULL || fscanf(fifo, "%d", &number) != 1) {
		fprintf(stderr, "burst: %s says nothing\n", path);
		exit(1);
	}
	fclose(fifo);
	return number;
}

static void stall(pid_t thread)
{
	int status;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) {
		fprintf(stderr, "burst: a thread of another program cannot be stopped here: %s\n", strerror(errno));
		exit(errno == EPERM || errno == ENOSYS ? 77 : 1);
	}
	if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 || waitpid(thread, &status, __WALL) != thread) {
		perror("burst: the thread does not stop");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct timespec rest = { .tv_nsec = STALL_MS * 1000000l };
	struct ccnic_listener *listener;
	unsigned long frames, least;
	uint64_t before;
	int thread, linked;

	if (argc != 5) {
		fprintf(stderr, "usage: burst PATH FRAMES LEAST FIFO\n");
		return 2;
	}
	frames = strtoul(argv[2], NULL, 10);
	least = strtoul(argv[3], NULL, 10);
	if (ccnic_listen(argv[1], CONFIG, &listener) != 0)
		fail("listen");
	printf("burst: listens\n");
	fflush(stdout);
	linked = ccnic_accept(listener, PATIENCE_MS, &channel);
	if (linked != 1)
		fail("nobody came");
	thread = told(argv[4]);
	send_all(SOME);
	take_all(0, SOME);

	stall(thread);
	before = came;
	send_all(frames);
	nanosleep(&rest, NULL);
	told(argv[4]);
	if (take() != 0) {
		fprintf(stderr, "burst: frames come back while the thread is stopped\n");
		return 1;
	}
	if (ptrace(PTRACE_DETACH, thread, NULL, NULL) != 0) {
		perror("burst: the thread does not go on");
		return 1;
	}
	send_all(SOME);
	take_all(before, least);
	printf("burst: %lu frames, %lu came back\n", frames + SOME, came - before);

	before = came;
	send_all(SOME);
	take_all(before, SOME);
	ccnic_close(channel);
	ccnic_close_listener(listener);
	return 0;
}
