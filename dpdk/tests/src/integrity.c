/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order and integrity of frames: the workers send numbered frames with a checksum over their payload through a
 * looped port, or a pair of ports, and receive them, while the main lcore stops and starts queues. At the end every
 * frame is accounted for: received, or counted as dropped by the driver, or lost in a queue that was stopped.
 *
 *   integrity EAL-ARGUMENTS -- [--packets N] [--queues N] [--pauses 0|1] [--seed N]
 */
#include "payload.h"

#define FLOWS 64	/* per worker and port */
#define MAX_WORKERS 8
#define WINDOW 512	/* frames under way per worker, as long as it does not overload */

struct flow {
	struct headers headers;
	uint64_t sent;		/* the sender's */
	uint64_t expected;	/* the receiver's, as all below: the number of the next frame */
	uint64_t received;
	int receiver;		/* the worker that receives it, -1 before the first frame */
} __rte_cache_aligned;

struct worker {
	int id;
	uint64_t sent;		/* read by the other workers, for the window */
	uint64_t received;
	uint64_t duplicated, reordered, corrupted, moved;
	uint64_t random;
} __rte_cache_aligned;

static struct flow flows[MAX_PORTS][MAX_WORKERS][FLOWS];
static struct worker workers[MAX_WORKERS];
static int n_workers;
static uint16_t n_ports, n_queues;
static uint64_t per_worker;
static bool segments;
static struct rte_mempool *pool;
static atomic_bool finish;
static atomic_int sending;

static void
send_burst(struct worker *w, uint16_t port)
{
	struct flow *f[BURST];
	struct rte_mbuf *mbufs[BURST];
	uint16_t i, taken;

	if (rte_pktmbuf_alloc_bulk(pool, mbufs, BURST) != 0)
		return;
	for (i = 0; i < BURST; i++) {
		uint64_t random = draw(&w->random);
		uint32_t k = (random >> 16) % FLOWS;

		f[i] = &flows[port][w->id][k];
		payload_write(mbufs[i], &f[i]->headers, (uint32_t)port << 16 | w->id << 8 | k, f[i]->sent++, random);
		if (segments && (random >> 8 & 15) == 0)
			payload_split(mbufs[i], pool);
	}
	taken = rte_eth_tx_burst(port, w->id, mbufs, BURST);
	/* The frames that the queue did not take were never sent: their numbers are used again. */
	for (i = BURST; i > taken; i--)
		f[i - 1]->sent--;
	rte_pktmbuf_free_bulk(mbufs + taken, BURST - taken);
	w->sent += taken;
}

static struct flow *
flow_of(uint32_t id)
{
	uint32_t port = id >> 16, worker = id >> 8 & 0xff, k = id & 0xff;

	if (port >= n_ports || worker >= (uint32_t)n_workers || k >= FLOWS)
		return NULL;
	return &flows[port][worker][k];
}

static void
check_frame(struct worker *w, struct rte_mbuf *m)
{
	const struct payload *p = payload_of(m);
	struct flow *f = p == NULL ? NULL : flow_of(p->flow);

	w->received++;
	if (f == NULL) {
		w->corrupted++;
		return;
	}
	if (f->receiver != w->id) {
		w->moved += f->receiver != -1;
		f->receiver = w->id;
	}
	if (p->seq + 1 == f->expected)
		w->duplicated++;
	else if (p->seq < f->expected)
		w->reordered++;
	else
		f->expected = p->seq + 1;
	f->received++;
}

static uint16_t
receive(struct worker *w)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t port, q, i, n, all = 0;

	for (port = 0; port < n_ports; port++) {
		for (q = w->id; q < n_queues; q += n_workers) {
			if (!gate_pass(&gates[port][RX][q]))
				continue;
			n = rte_eth_rx_burst(port, q, mbufs, BURST);
			for (i = 0; i < n; i++)
				check_frame(w, mbufs[i]);
			rte_pktmbuf_free_bulk(mbufs, n);
			all += n;
		}
	}
	return all;
}

/* Frames sent and not received, of all workers; counters of others are read as they happen to be. */
static uint64_t
under_way(void)
{
	uint64_t n = 0;
	int w;

	for (w = 0; w < n_workers; w++)
		n += *(volatile uint64_t *)&workers[w].sent - *(volatile uint64_t *)&workers[w].received;
	return n;
}

static int
work(void *arg)
{
	struct worker *w = arg;
	uint64_t written_off = 0;	/* frames under way that will not come any more */
	unsigned int idle = 0;
	uint16_t port;

	while (!atomic_load_explicit(&finish, memory_order_relaxed)) {
		/* One part in eight without a window: the driver has to drop. */
		bool overload = (w->sent >> 14 & 7) == 7;
		bool may_send = overload || (int64_t)(under_way() - written_off) < WINDOW * n_workers;

		for (port = 0; port < n_ports; port++)
			if (gate_pass(&gates[port][TX][w->id]) && may_send && w->sent < per_worker)
				send_burst(w, port);
		if (w->sent >= per_worker && w->random != 0) {
			w->random = 0;
			atomic_fetch_sub_explicit(&sending, 1, memory_order_relaxed);
		}
		if (receive(w) != 0) {
			idle = 0;
			continue;
		}
		if (!may_send && ++idle >= 200) {
			written_off = under_way();
			idle = 0;
		}
		/* Workers and the NIC core share CPUs. */
		sched_yield();
	}
	return 0;
}

/* Until all is sent and nothing has come for half a second. */
static uint64_t
supervise(bool pauses, uint64_t seed, uint64_t stops[2])
{
	uint64_t last = 0, quiet = 0, now, left, hz = rte_get_timer_hz(), start = rte_get_timer_cycles();
	int w;

	while (quiet < (atomic_load(&sending) == 0 ? 500u : 20000u)) {
		if (pauses && atomic_load(&sending) == n_workers) {
			uint64_t random = draw(&seed);
			int direction = random & 1;
			uint16_t queues = direction == RX ? n_queues : n_workers;

			queue_pause((random >> 8) % n_ports, direction, (random >> 16) % queues, (random >> 32) % 3000);
			stops[direction]++;
		}
		usleep(1000);
		for (now = 0, w = 0; w < n_workers; w++)
			now += *(volatile uint64_t *)&workers[w].received;
		quiet = now == last ? quiet + 1 : 0;
		last = now;
	}
	left = atomic_load(&sending);
	if (left != 0)
		die("nothing has come for 20 s, %" PRIu64 " workers still send\n", left);
	atomic_store(&finish, true);
	rte_eal_mp_wait_lcore();
	return (rte_get_timer_cycles() - start) / hz;
}

static void
judge(uint64_t seconds, const uint64_t stops[2], uint16_t rx_desc, uint16_t tx_desc)
{
	uint64_t sent = 0, received = 0, in = 0, out = 0, dropped = 0, missing = 0;
	uint64_t duplicated = 0, reordered = 0, corrupted = 0, moved = 0;
	struct rte_eth_stats stats;
	unsigned int i, k;
	int w;

	for (w = 0; w < n_workers; w++) {
		sent += workers[w].sent;
		received += workers[w].received;
		duplicated += workers[w].duplicated;
		reordered += workers[w].reordered;
		corrupted += workers[w].corrupted;
		moved += workers[w].moved;
	}
	for (i = 0; i < n_ports; i++) {
		rte_eth_stats_get(i, &stats);
		in += stats.ipackets;
		out += stats.opackets;
		dropped += drops(i);
		for (w = 0; w < n_workers; w++)
			for (k = 0; k < FLOWS; k++)
				missing += flows[i][w][k].sent - flows[i][w][k].received;
	}
	printf("sent %" PRIu64 ", received %" PRIu64 " in %" PRIu64 " s; dropped by the NIC %" PRIu64
	       ", in stopped queues: Tx %" PRId64 " of %" PRIu64 " stops, Rx %" PRId64 " of %" PRIu64 " stops\n"
	       "duplicated %" PRIu64 ", reordered %" PRIu64 ", corrupted %" PRIu64 ", moved to another lcore %" PRIu64 "\n",
	       sent, received, seconds, dropped, (int64_t)(sent - out), stops[TX], (int64_t)(in - received), stops[RX],
	       duplicated, reordered, corrupted, moved);
	if (duplicated + reordered + corrupted + moved != 0)
		die("frames are wrong\n");
	if (missing != sent - received)
		die("%" PRIu64 " frames are missing by their numbers, %" PRIu64 " by count\n", missing, sent - received);
	if (out != in + dropped)
		die("the NIC took %" PRIu64 " frames, delivered %" PRIu64 " and dropped %" PRIu64 "\n", out, in, dropped);
	if (sent - out > stops[TX] * tx_desc || in - received > stops[RX] * rx_desc)
		die("frames are lost beyond those of stopped queues\n");
}

int
main(int argc, char **argv)
{
	uint64_t stops[2] = { 0 }, seed, seconds;
	uint16_t rx_desc = 1024, tx_desc = 1024, port, q;
	unsigned int lcore;
	int n = rte_eal_init(argc, argv), w, k;

	if (n < 0)
		return EXIT_FAILURE;
	argc -= n;
	argv += n;
	seed = option(argc, argv, "--seed", 1);
	n_queues = option(argc, argv, "--queues", 4);
	n_ports = rte_eth_dev_count_avail();
	n_workers = rte_lcore_count() - 1;
	if (n_ports < 1 || n_ports > MAX_PORTS || n_workers < 1 || n_workers > MAX_WORKERS ||
	    n_queues < n_workers || n_queues > MAX_QUEUES)
		die("%u ports, %d workers, %u queues: 1 looped port or a pair, at most %d workers, as many queues or up to %d\n",
		    n_ports, n_workers, n_queues, MAX_WORKERS, MAX_QUEUES);
	per_worker = option(argc, argv, "--packets", 1000000) / n_workers;

	pool = rte_pktmbuf_pool_create("frames", 32767, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no pool: %s\n", rte_strerror(rte_errno));
	for (port = 0; port < n_ports; port++) {
		struct rte_eth_dev_info info;

		port_configure(port, n_queues, n_queues, rx_desc, tx_desc, pool);
		rte_eth_dev_info_get(port, &info);
		segments = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
		for (q = 0; q < n_workers; q++)
			for (k = 0; k < FLOWS; k++)
				flows[port][q][k] = (struct flow){ .headers = headers_of(port << 12 | q << 8 | k), .receiver = -1 };
	}
	for (port = 0; port < n_ports; port++)
		port_start(port);

	atomic_store(&sending, n_workers);
	w = 0;
	RTE_LCORE_FOREACH_WORKER(lcore) {
		workers[w] = (struct worker){ .id = w, .random = draw(&seed) | 1 };
		rte_eal_remote_launch(work, &workers[w++], lcore);
	}
	seconds = supervise(option(argc, argv, "--pauses", 1), seed, stops);
	judge(seconds, stops, rx_desc, tx_desc);
	for (port = 0; port < n_ports; port++)
		port_stop(port);
	pool_must_be_full(pool, "after the stop", 0);
	for (port = 0; port < n_ports; port++)
		rte_eth_dev_close(port);
	pool_must_be_full(pool, "after the close", 0);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
