/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the parts of rxbench share: options, tasks and what a task measures. */
#ifndef RXBENCH_H
#define RXBENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "forward.h"
#include "frame.h"

#define MAX_TASKS 16
#define MAX_PORTS 16
#define MAX_SAMPLES 1000
#define MAX_BURST 512
#define LINK_WAIT_MS 10000

enum mode {
	MODE_RX, MODE_TX, MODE_LOOP, MODE_ECHO, MODE_RTT, MODE_RXCYCLES, MODE_FWD, MODE_FWDCYCLES, MODE_DRAIN, MODES
};

extern const char *const mode_names[MODES];

/* What happened during a sample. */
struct sample {
	uint64_t cycles;      /* TSC cycles that it lasted */
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t polls;       /* calls of rx_burst */
	uint64_t empty;       /* of which returned nothing */
	uint64_t retries;     /* calls of tx_burst that did not take all */
	uint64_t no_buffer;   /* failed allocations */
	uint64_t bad;         /* checked frames that are not as they were written */
	uint64_t lost;        /* numbers missing among the checked frames, or not back in time (loop, rtt) */
	uint64_t reordered;   /* checked frames with a smaller number than one before */
	/*
	 * TSC cycles of: rtt, a round trip; rxcycles, a full rx_burst of what a full ring held; fwdcycles, a full burst
	 * received, forwarded and sent; drain, DRAIN_FRAMES frames
	 */
	uint64_t timed;       /* round trips, bursts or rounds */
	uint64_t min, p10, median, p90, p99, p999, max;
	double mean;          /* without the longest in a hundred */
};

/* What one lcore does until the program ends. */
struct task {
	enum mode mode;
	uint16_t rx_port, rx_queue;
	uint16_t tx_port, tx_queue;
	uint16_t ports;       /* fwd: polled, from rx_port on */
	/* From the options. */
	uint16_t burst, size, window;
	uint32_t work;        /* rx, drain: cycles or so of an application, for each frame */
	bool check;
	unsigned int samples;
	struct task *first;   /* of all tasks */
	unsigned int n_tasks;
	uint64_t period;      /* TSC cycles of a sample */
	struct rte_mempool *pool;
	/* The lcore's own. */
	struct frame_header header;
	uint64_t seq;         /* of the next frame to send */
	uint64_t expected;    /* of the next frame to receive; loop, rtt: those from here to seq are in flight */
	unsigned int held;    /* rxcycles: bursts that the full ring holds */
	uint64_t heard;       /* when something was last received, roughly */
	uint64_t last_look;   /* at the clock */
	uint64_t sink;        /* makes every byte that is read count */
	struct sample now;    /* counts since the program began */
	uint32_t *times;      /* spans measured since the sample began */
	uint32_t times_used;
	/* The results; complete when taken == samples. */
	struct sample *results;
	unsigned int taken;
} __rte_cache_aligned;

struct options {
	struct task tasks[MAX_TASKS];
	unsigned int n_tasks;
	uint16_t size, burst, window, rxd, txd;
	unsigned int samples, ms, mbufs, cache, work;
	struct route routes[MAX_ROUTES];
	unsigned int n_routes;
	bool check, driven, mixed, in_place;
};

/* options.c: prints what is wrong with the arguments after `--` and returns -EINVAL; 1 if it was asked for help. */
int options_parse(struct options *options, int argc, char **argv);

/* pool.c: all buffers of the program; NULL, said why and rte_errno set, if they cannot be had. */
struct rte_mempool *pool_create(const struct options *options);

/* ports.c: all ports that tasks name. Each prints what fails and returns a negative errno. */
int ports_start(const struct options *options, struct rte_mempool *pool);
int ports_wait_for_links(const struct options *options);
void ports_stop(const struct options *options);

/* tasks.c: what runs on an lcore; arg is a struct task that task_init has completed. */
int task_init(struct task *task, struct options *options, struct rte_mempool *pool);
int task_main(void *arg);
void task_free(struct task *task);
void tasks_stop(void);            /* safe in a signal handler */
bool tasks_stopped(void);
void tasks_wait(unsigned int n);  /* until n tasks have their samples, or all were stopped */
double timer_cycles(void);        /* mean TSC cycles that timing itself adds to a span */

uint16_t task_receive(struct task *task); /* a burst, read and freed: its frames */

/* drain.c */
#define DRAIN_FRAMES 64
uint32_t drain_round(struct task *task, struct task *first, unsigned int n);

/* report.c: lines of JSON on stdout. */
void report_ready(void);
void report_event(const char *event);
void report_samples(const struct options *options);
void report_stopped(const struct options *options);
void report_end(unsigned int buffers_left);

#endif
