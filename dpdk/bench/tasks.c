/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What an lcore does: each mode is a step, repeated until the program ends, and cut into samples. */

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "rxbench.h"

/* Steps between two looks at the clock, which costs as much as a short burst. */
#define STEPS 32
/* Spans kept of one sample; later ones of the sample are not. */
#define MAX_TIMES (1u << 20)
/* After so long a silence what is in flight counts as lost; the other end may lose its CPU for tens of ms. */
#define SILENCE_MS 200
/* rxcycles: the longest wait for a ring to fill, and how often it looks. */
#define FILL_US 200
#define FILL_LOOK_US 2
/* Longer than a NIC core takes to fill a ring of 1024, up to 50 ns a frame. */
#define REFILL_US 60

static atomic_bool stopped;
static sem_t finished;

void
tasks_stop(void)
{
	/* Relaxed: a flag alone, nothing is handed over with it. */
	atomic_store_explicit(&stopped, true, memory_order_relaxed);
	sem_post(&finished);
}

bool
tasks_stopped(void)
{
	return atomic_load_explicit(&stopped, memory_order_relaxed);
}

void
tasks_wait(unsigned int n)
{
	while (n > 0 && !tasks_stopped())
		if (sem_wait(&finished) == 0)
			n--;
}

RTE_INIT(finished_init)
{
	sem_init(&finished, 0, 0);
}

/* The time stamp counter, read after all loads before it. */
static inline uint64_t
tsc(void)
{
#ifdef RTE_ARCH_X86
	__builtin_ia32_lfence();
	return rte_rdtsc();
#else
	return rte_rdtsc_precise();
#endif
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

double
timer_cycles(void)
{
	uint32_t spans[1000];
	uint64_t start, total = 0;
	unsigned int i, kept = RTE_DIM(spans) * 99 / 100;

	for (i = 0; i < RTE_DIM(spans); i++) {
		start = tsc();
		spans[i] = tsc() - start;
	}
	qsort(spans, RTE_DIM(spans), sizeof(spans[0]), by_value);
	for (i = 0; i < kept; i++)
		total += spans[i];
	return (double)total / kept;
}

static inline void
keep_time(struct task *task, uint64_t span)
{
	if (task->times_used < MAX_TIMES)
		task->times[task->times_used++] = RTE_MIN(span, UINT32_MAX);
}

static void
quantiles(struct task *task, struct sample *out)
{
	uint32_t n = task->times_used, *times = task->times, i;
	uint64_t total = 0;

	task->times_used = 0;
	out->timed = n;
	if (n == 0)
		return;
	qsort(times, n, sizeof(times[0]), by_value);
	out->min = times[0];
	out->p10 = times[(uint64_t)n * 10 / 100];
	out->median = times[n / 2];
	out->p90 = times[(uint64_t)n * 90 / 100];
	out->p99 = times[(uint64_t)n * 99 / 100];
	out->p999 = times[(uint64_t)n * 999 / 1000];
	out->max = times[n - 1];
	/* The counter may tick in coarse steps: a mean resolves what a median cannot. */
	for (i = 0; i <= (uint64_t)(n - 1) * 99 / 100; i++)
		total += times[i];
	out->mean = (double)total / i;
}

/* What an application computes for a frame: a chain that takes so many cycles or so. */
static inline uint64_t
work(uint32_t cycles)
{
	uint64_t x = cycles;

	for (; cycles >= 4; cycles -= 4)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x;
}

/* Reads and frees what was received. */
static inline void
consume(struct task *task, struct rte_mbuf **bufs, uint16_t n)
{
	uint64_t bytes = 0, sink = 0, sum;
	uint16_t i;

	for (i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(bufs[i], void *));
	for (i = 0; i < n; i++) {
		const uint8_t *data = rte_pktmbuf_mtod(bufs[i], const uint8_t *);
		uint16_t len = rte_pktmbuf_data_len(bufs[i]);

		sum = frame_sum(data, len);
		sink ^= sum;
		bytes += len;
		if (task->check) {
			uint64_t seq = len < FRAME_MIN ? task->expected : ((const uint64_t *)data)[FRAME_SEQ];

			task->now.bad += sum != 0 || bufs[i]->nb_segs != 1 || len < FRAME_MIN;
			if (seq >= task->expected)
				task->now.lost += seq - task->expected;
			else
				task->now.reordered++;
			task->expected = seq + 1;
		}
	}
	for (i = 0; i < n; i++)
		sink ^= work(task->work);
	/* What is read must count, or the compiler drops the reading. */
	*(volatile uint64_t *)&task->sink = task->sink ^ sink;
	task->now.rx_packets += n;
	task->now.rx_bytes += bytes;
	rte_pktmbuf_free_bulk(bufs, n);
}

static inline uint16_t
poll(struct task *task, struct rte_mbuf **bufs)
{
	uint16_t n = rte_eth_rx_burst(task->rx_port, task->rx_queue, bufs, task->burst);

	task->now.polls++;
	task->now.empty += n == 0;
	return n;
}

/* Sends all of them, however often it takes; frees the rest at the end of the program. */
static inline void
send_all(struct task *task, struct rte_mbuf **bufs, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(task->tx_port, task->tx_queue, bufs, n);

	while (unlikely(sent < n)) {
		if (tasks_stopped()) {
			rte_pktmbuf_free_bulk(bufs + sent, n - sent);
			break;
		}
		task->now.retries++;
		sent += rte_eth_tx_burst(task->tx_port, task->tx_queue, bufs + sent, n - sent);
	}
	task->now.tx_packets += sent;
}

/* Allocates, writes and sends n frames. */
static inline void
produce(struct task *task, uint16_t n)
{
	struct rte_mbuf *bufs[MAX_BURST];
	uint16_t i;

	if (unlikely(rte_pktmbuf_alloc_bulk(task->pool, bufs, n) != 0)) {
		task->now.no_buffer++;
		/* Sent frames may wait to be freed; a driver that cannot do it by itself frees when it sends. */
		rte_eth_tx_done_cleanup(task->tx_port, task->tx_queue, 0);
		return;
	}
	for (i = 0; i < n; i++) {
		frame_write(rte_pktmbuf_mtod(bufs[i], uint8_t *), task->size, &task->header, task->seq++);
		bufs[i]->data_len = task->size;
		bufs[i]->pkt_len = task->size;
	}
	send_all(task, bufs, n);
}

static inline void
step_rx(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	uint16_t n = poll(task, bufs);

	if (n > 0)
		consume(task, bufs, n);
}

uint16_t
task_receive(struct task *task)
{
	uint64_t before = task->now.rx_packets;

	step_rx(task);
	return (uint16_t)(task->now.rx_packets - before);
}

static void
step_drain(struct task *task)
{
	uint32_t span = drain_round(task, task->first, task->n_tasks);

	if (span != 0)
		keep_time(task, span);
}

static inline void
step_tx(struct task *task)
{
	produce(task, task->burst);
}

static inline void
step_echo(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	uint16_t n = poll(task, bufs);

	task->now.rx_packets += n;
	if (n > 0)
		send_all(task, bufs, n);
}

/* Whether nothing came back for long; then what was in flight is lost. */
static inline bool
silent(struct task *task, uint64_t now)
{
	if (now - task->heard < rte_get_tsc_hz() / 1000 * SILENCE_MS)
		return false;
	task->now.lost += task->seq - task->expected;
	task->expected = task->seq;
	task->heard = now;
	return true;
}

static inline void
step_loop(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	uint16_t n;

	/* A frame that arrives tells that those before it are no longer in flight, even if they were lost. */
	if (task->seq - task->expected + task->burst <= task->window)
		produce(task, task->burst);
	n = poll(task, bufs);
	if (n > 0) {
		consume(task, bufs, n);
		task->heard = task->last_look;
	}
}

static inline void
step_rtt(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	uint64_t start = tsc();
	uint16_t n;

	produce(task, 1);
	task->heard = start;
	do {
		n = poll(task, bufs);
	} while (n == 0 && !silent(task, rte_rdtsc()) && !tasks_stopped());
	if (n > 0) {
		consume(task, bufs, n);
		keep_time(task, tsc() - start);
	}
}

/* Lets others have this CPU meanwhile: the NIC core may need it. */
static void
let_time_pass(unsigned int us)
{
	uint64_t span = rte_get_tsc_hz() / 1000000 * us, from = rte_rdtsc();

	while (rte_rdtsc() - from < span)
		sched_yield();
}

/* Waits until the ring no longer fills; how many whole bursts it holds, any number where the driver cannot tell. */
static unsigned int
let_fill(const struct task *task)
{
	unsigned int us = 0;
	int filled = -1, before;

	do {
		before = filled;
		let_time_pass(FILL_LOOK_US);
		us += FILL_LOOK_US;
		filled = rte_eth_rx_queue_count(task->rx_port, task->rx_queue);
		/* A driver that cannot tell gets the whole wait. */
	} while ((filled < 0 || filled == 0 || filled != before) && us < FILL_US);
	return filled < 0 ? UINT_MAX : RTE_MAX((unsigned int)filled / task->burst, 1u);
}

/* No more bursts are timed than the full ring held: behind them it is as full as the NIC keeps it. */
static inline void
step_rxcycles(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	unsigned int held;
	uint64_t start, span;
	uint16_t n;

	/* Counting what the ring holds brings its entries here: only the first time, as the samples have not begun. */
	if (task->held == 0)
		task->held = let_fill(task);
	else
		let_time_pass(REFILL_US);
	held = task->held;
	do {
		start = tsc();
		n = poll(task, bufs);
		span = tsc() - start;
		if (n == task->burst)
			keep_time(task, span);
		if (n > 0)
			consume(task, bufs, n);
	} while (n == task->burst && --held > 0 && !tasks_stopped());
}

/* Makes frames ready and sends them, each through its port; those that may not be forwarded are freed. */
static inline void
route(struct task *task, struct rte_mbuf **bufs, uint16_t n)
{
	uint16_t ports[MAX_BURST], first, i;

	forward(bufs, n, ports);
	for (first = 0; first < n; first = i) {
		for (i = first + 1; i < n && ports[i] == ports[first]; i++)
			;
		task->tx_port = ports[first];
		if (unlikely(ports[first] == NO_ROUTE))
			rte_pktmbuf_free_bulk(bufs + first, i - first);
		else
			send_all(task, bufs + first, i - first);
	}
	task->now.rx_packets += n;
}

static inline void
step_fwd(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	bool idle = true;
	uint16_t i, n;

	for (i = 0; i < task->ports; i++) {
		n = poll(task, bufs);
		if (n > 0) {
			route(task, bufs, n);
			idle = false;
		}
		task->rx_port = i + 1 == task->ports ? task->rx_port - i : task->rx_port + 1;
	}
	/* The ends of its traffic may need this CPU. */
	if (idle)
		sched_yield();
}

static inline void
step_fwdcycles(struct task *task)
{
	struct rte_mbuf *bufs[MAX_BURST];
	uint64_t start, span, retries = task->now.retries;
	uint16_t n;

	let_fill(task);
	do {
		start = tsc();
		n = poll(task, bufs);
		if (n > 0)
			route(task, bufs, n);
		span = tsc() - start;
		/* A full Tx ring is the NIC's delay. */
		if (n == task->burst && retries == task->now.retries)
			keep_time(task, span);
		retries = task->now.retries;
	} while (n == task->burst && !tasks_stopped());
}

/* A finished sample: counts since `from`, and from now on those of the next. */
static void
take_sample(struct task *task, struct sample *from, uint64_t began, uint64_t now)
{
	struct sample *out = &task->results[task->taken];

	*out = (struct sample) {
		.cycles = now - began,
		.rx_packets = task->now.rx_packets - from->rx_packets,
		.rx_bytes = task->now.rx_bytes - from->rx_bytes,
		.tx_packets = task->now.tx_packets - from->tx_packets,
		.polls = task->now.polls - from->polls,
		.empty = task->now.empty - from->empty,
		.retries = task->now.retries - from->retries,
		.no_buffer = task->now.no_buffer - from->no_buffer,
		.bad = task->now.bad - from->bad,
		.lost = task->now.lost - from->lost,
		.reordered = task->now.reordered - from->reordered,
	};
	quantiles(task, out);
	if (++task->taken == task->samples)
		sem_post(&finished);
}

/* Repeats a step until the end; the first period warms up, those after it are samples, then it just goes on. */
static inline __attribute__((always_inline)) void
repeat(struct task *task, void (*step)(struct task *), unsigned int steps)
{
	uint64_t began = rte_rdtsc(), now;
	struct sample from = task->now;
	bool warm = false;
	unsigned int i;

	task->heard = began;
	while (!tasks_stopped()) {
		for (i = 0; i < steps; i++)
			step(task);
		now = rte_rdtsc();
		task->last_look = now;
		if (task->mode == MODE_LOOP)
			silent(task, now);
		if (now - began < task->period || task->taken == task->samples)
			continue;
		if (warm)
			take_sample(task, &from, began, now);
		warm = true;
		task->times_used = 0;
		from = task->now;
		began = rte_rdtsc(); /* sorting spans takes a while */
	}
}

int
task_main(void *arg)
{
	struct task *task = arg;

	switch (task->mode) {
	case MODE_RX:
		repeat(task, step_rx, STEPS);
		break;
	case MODE_TX:
		repeat(task, step_tx, STEPS);
		break;
	case MODE_LOOP:
		repeat(task, step_loop, STEPS);
		break;
	case MODE_ECHO:
		repeat(task, step_echo, STEPS);
		break;
	case MODE_RTT:
		repeat(task, step_rtt, STEPS);
		break;
	case MODE_FWD:
		repeat(task, step_fwd, STEPS);
		break;
	case MODE_FWDCYCLES:
		repeat(task, step_fwdcycles, 1);
		break;
	case MODE_DRAIN:
		repeat(task, step_drain, 1);
		break;
	default:
		repeat(task, step_rxcycles, 1);
	}
	return 0;
}

int
task_init(struct task *task, struct options *options, struct rte_mempool *pool)
{
	frame_header_init(&task->header, options->size);
	task->size = options->size;
	task->burst = options->burst;
	task->window = options->window;
	task->work = options->work;
	/* What is in flight is told by the numbers that come back. */
	task->check = options->check || task->mode == MODE_LOOP || task->mode == MODE_RTT;
	task->samples = options->samples;
	task->period = rte_get_tsc_hz() / 1000 * options->ms;
	task->pool = pool;
	task->first = options->tasks;
	task->n_tasks = options->n_tasks;
	task->results = calloc(task->samples, sizeof(task->results[0]));
	task->times = calloc(MAX_TIMES, sizeof(task->times[0]));
	return task->results == NULL || task->times == NULL ? -ENOMEM : 0;
}

void
task_free(struct task *task)
{
	free(task->results);
	free(task->times);
}
