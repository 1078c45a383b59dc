/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The arguments after `--`. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_kvargs.h>

#include "rxbench.h"

const char *const mode_names[MODES] = {
	[MODE_RX] = "rx",     [MODE_TX] = "tx",   [MODE_LOOP] = "loop",
	[MODE_ECHO] = "echo", [MODE_RTT] = "rtt", [MODE_RXCYCLES] = "rxcycles",
	[MODE_FWD] = "fwd",   [MODE_FWDCYCLES] = "fwdcycles", [MODE_DRAIN] = "drain",
};

static const char usage[] =
	"rxbench [EAL options] -- --task MODE[,port=N][,rx=N][,tx=N][,queue=N][,rxq=N][,txq=N][,ports=N] [--task ..] [options]\n"
	"Each task runs on a worker lcore of its own, in order; one line of JSON for each sample.\n"
	"  rx        receive, read every byte, free\n"
	"  tx        allocate, write every byte, send\n"
	"  loop      both on one lcore, at most --window frames in flight\n"
	"  echo      send what is received\n"
	"  rtt       one frame in flight: time until it is back\n"
	"  rxcycles  let the ring fill, then time the calls of rx_burst that return a whole burst of what it held\n"
	"  fwd       forward by longest-prefix match between ports=N ports from rx on\n"
	"  fwdcycles let the ring fill, then time whole bursts: received, forwarded and sent\n"
	"  drain     time how long all tasks take to empty a full queue together (net_rxlab with nic_service=1)\n"
	"Options:\n"
	"  --size BYTES    of a sent frame, without FCS (default 64)\n"
	"  --burst N       frames per call (32)\n"
	"  --window N      frames in flight of a loop (256)\n"
	"  --samples N     per task (5)\n"
	"  --ms N          per sample (20)\n"
	"  --rxd N, --txd N  descriptors of a queue (1024)\n"
	"  --mbufs N       buffers (8192)\n"
	"  --cache N       buffers that each lcore keeps to itself (512)\n"
	"  --mixed         buffers in no order, as in a program that has run for long: a new pool has them one behind the other\n"
	"  --in-place      the mempool of net_rxlab's port 0 with channel=PATH: frames are not copied\n"
	"  --work N        cycles of an application for each frame of rx and drain (0)\n"
	"  --route A.B.C.D/LEN,PORT  of fwd and fwdcycles; without routes all leave through tx of the first task\n"
	"  --check         count frames that are torn, lost or out of order (loop and rtt always do)\n"
	"  --driven        begin with a line on stdin, stop with the next, close ports where stdin ends\n";

/* Number of text in [least, most] into *value. */
static int
number(const char *what, const char *text, unsigned long least, unsigned long most, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && *text != '-' && *value >= least && *value <= most)
		return 0;
	fprintf(stderr, "rxbench: %s %s: allowed: %lu to %lu\n", what, text, least, most);
	return -EINVAL;
}

static int
task_key(const char *key, const char *text, void *arg)
{
	struct task *task = arg;
	unsigned long value;
	bool queue = strcmp(key, "queue") == 0, rxq = strcmp(key, "rxq") == 0, txq = strcmp(key, "txq") == 0;
	bool ports = strcmp(key, "ports") == 0;

	if (number(key, text ? text : "", ports, queue || rxq || txq ? RTE_MAX_QUEUES_PER_PORT - 1 : MAX_PORTS - 1,
		   &value) != 0)
		return -EINVAL;
	if (queue || rxq)
		task->rx_queue = value;
	if (queue || txq)
		task->tx_queue = value;
	if (ports)
		task->ports = value;
	if (strcmp(key, "port") == 0 || strcmp(key, "rx") == 0)
		task->rx_port = value;
	if (strcmp(key, "port") == 0 || strcmp(key, "tx") == 0)
		task->tx_port = value;
	return 0;
}

static int
task_parse(struct options *options, const char *text)
{
	static const char *const keys[] = { "port", "rx", "tx", "queue", "rxq", "txq", "ports", NULL };
	size_t name = strcspn(text, ",");
	struct rte_kvargs *list;
	struct task *task;
	unsigned int mode;
	int ret;

	if (options->n_tasks == MAX_TASKS) {
		fprintf(stderr, "rxbench: --task %s: allowed: at most %d tasks\n", text, MAX_TASKS);
		return -EINVAL;
	}
	task = &options->tasks[options->n_tasks];
	for (mode = 0; mode < MODES; mode++)
		if (strlen(mode_names[mode]) == name && strncmp(text, mode_names[mode], name) == 0)
			break;
	if (mode == MODES) {
		fprintf(stderr, "rxbench: --task %s: allowed: rx, tx, loop, echo, rtt, rxcycles, fwd, fwdcycles, drain\n",
			text);
		return -EINVAL;
	}
	task->mode = mode;
	task->ports = 1;
	options->n_tasks++;
	if (text[name] == '\0')
		return 0;
	list = rte_kvargs_parse(text + name + 1, keys);
	if (list == NULL) {
		fprintf(stderr, "rxbench: --task %s: allowed keys: port, rx, tx, queue, rxq, txq, ports\n", text);
		return -EINVAL;
	}
	ret = rte_kvargs_process(list, NULL, task_key, task);
	rte_kvargs_free(list);
	return ret < 0 ? -EINVAL : 0;
}

static int
route_parse(struct options *options, const char *text)
{
	struct route *route = &options->routes[options->n_routes];
	unsigned int a, b, c, d, depth, port;
	char end;

	if (options->n_routes == MAX_ROUTES ||
	    sscanf(text, "%3u.%3u.%3u.%3u/%2u,%2u%c", &a, &b, &c, &d, &depth, &port, &end) != 6 || a > 255 || b > 255 ||
	    c > 255 || d > 255 || depth < 1 || depth > 32 || port >= MAX_PORTS) {
		fprintf(stderr, "rxbench: --route %s: allowed: %d of A.B.C.D/LEN,PORT\n", text, MAX_ROUTES);
		return -EINVAL;
	}
	*route = (struct route) { .address = RTE_IPV4(a, b, c, d), .depth = depth, .port = port };
	options->n_routes++;
	return 0;
}

enum { TASK = 256, SIZE, BURST, WINDOW, SAMPLES, MS, RXD, TXD, MBUFS, CACHE, WORK, ROUTE, CHECK, DRIVEN, MIXED, IN_PLACE, HELP };

static const struct option known[] = {
	{ "task", required_argument, NULL, TASK },       { "size", required_argument, NULL, SIZE },
	{ "burst", required_argument, NULL, BURST },     { "window", required_argument, NULL, WINDOW },
	{ "samples", required_argument, NULL, SAMPLES }, { "ms", required_argument, NULL, MS },
	{ "rxd", required_argument, NULL, RXD },         { "txd", required_argument, NULL, TXD },
	{ "mbufs", required_argument, NULL, MBUFS },     { "cache", required_argument, NULL, CACHE },
	{ "check", no_argument, NULL, CHECK },           { "driven", no_argument, NULL, DRIVEN },
	{ "work", required_argument, NULL, WORK },       { "route", required_argument, NULL, ROUTE },
	{ "mixed", no_argument, NULL, MIXED },           { "help", no_argument, NULL, HELP },
	{ "in-place", no_argument, NULL, IN_PLACE },
	{ NULL, 0, NULL, 0 },
};

static int
option_parse(struct options *options, int option)
{
	unsigned long value;
	int ret;

#define NUMBER(name, field, least, most)                                      \
	case name:                                                            \
		ret = number("--" #field, optarg, least, most, &value);       \
		if (ret == 0)                                                 \
			options->field = value;                               \
		return ret
	switch (option) {
	case TASK:
		return task_parse(options, optarg);
	NUMBER(SIZE, size, FRAME_MIN, FRAME_MAX);
	NUMBER(BURST, burst, 1, MAX_BURST);
	NUMBER(WINDOW, window, 1, 32768);
	NUMBER(SAMPLES, samples, 1, MAX_SAMPLES);
	NUMBER(MS, ms, 1, 60000);
	NUMBER(RXD, rxd, 8, 32768);
	NUMBER(TXD, txd, 8, 32768);
	NUMBER(MBUFS, mbufs, 64, 1 << 24);
	NUMBER(CACHE, cache, 0, RTE_MEMPOOL_CACHE_MAX_SIZE);
	NUMBER(WORK, work, 0, 1000000);
	case ROUTE:
		return route_parse(options, optarg);
	case CHECK:
		options->check = true;
		return 0;
	case DRIVEN:
		options->driven = true;
		return 0;
	case MIXED:
		options->mixed = true;
		return 0;
	case IN_PLACE:
		options->in_place = true;
		return 0;
	case HELP:
		fputs(usage, stdout);
		return 1;
	}
	return -EINVAL; /* getopt has told why */
#undef NUMBER
}

int
options_parse(struct options *options, int argc, char **argv)
{
	int option, ret;

	*options = (struct options) {
		.size = 64, .burst = 32, .window = 256, .rxd = 1024, .txd = 1024,
		.samples = 5, .ms = 20, .mbufs = 8192, .cache = 512,
	};
	optind = 1;
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		ret = option_parse(options, option);
		if (ret != 0)
			return ret;
	}
	if (optind < argc) {
		fprintf(stderr, "rxbench: %s: allowed: options only, see --help\n", argv[optind]);
		return -EINVAL;
	}
	if (options->window < options->burst) {
		fprintf(stderr, "rxbench: --window %u: allowed: at least --burst %u\n", options->window,
			options->burst);
		return -EINVAL;
	}
	if (options->n_tasks == 0) {
		fprintf(stderr, "rxbench: --task is missing, see --help\n");
		return -EINVAL;
	}
	return 0;
}
