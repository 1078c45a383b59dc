/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the test programs share: ports, a pool counted without mercy, and a hand-shake by which the main lcore
 * keeps the workers away from a queue.
 */
#ifndef COMMON_H
#define COMMON_H

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#define BURST 32
#define MAX_QUEUES 16
#define MAX_PORTS 2
#define ETHER_IP_UDP 42

/* Ends at once: rte_exit() would clean up under workers that still run. */
#define die(...)                                \
	do {                                    \
		fflush(stdout);                 \
		fprintf(stderr, "FAILED: " __VA_ARGS__); \
		_exit(EXIT_FAILURE);            \
	} while (0)

/* splitmix64: small, seeded, the same everywhere. */
static inline uint64_t
draw(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Mbufs in the pool, which is a ring as by default, and its caches. rte_mempool_avail_count() hides a surplus, which a
 * double free makes. */
static inline unsigned int
pool_count(const struct rte_mempool *pool)
{
	unsigned int lcore, n = rte_ring_count(pool->pool_data);

	for (lcore = 0; pool->cache_size != 0 && lcore < RTE_MAX_LCORE; lcore++)
		n += pool->local_cache[lcore].len;
	return n;
}

static inline void
pool_must_be_full(const struct rte_mempool *pool, const char *when, uint64_t round)
{
	unsigned int n = pool_count(pool);

	if (n != pool->size)
		die("%s %" PRIu64 ": %u mbufs in the pool of %u\n", when, round, n, pool->size);
}

static inline void
port_configure(uint16_t port, uint16_t rx_queues, uint16_t tx_queues, uint16_t rx_desc, uint16_t tx_desc,
	       struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };
	struct rte_eth_dev_info info;
	uint16_t q;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0)
		die("port %u: no information: %s\n", port, rte_strerror(-ret));
	conf.rx_adv_conf.rss_conf.rss_hf = (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) & info.flow_type_rss_offloads;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS & info.tx_offload_capa;
	ret = rte_eth_dev_configure(port, rx_queues, tx_queues, &conf);
	if (ret != 0)
		die("port %u: %u and %u queues: %s\n", port, rx_queues, tx_queues, rte_strerror(-ret));
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx_desc, &tx_desc);
	for (q = 0; ret == 0 && q < rx_queues; q++)
		ret = rte_eth_rx_queue_setup(port, q, rx_desc, SOCKET_ID_ANY, NULL, pool);
	for (q = 0; ret == 0 && q < tx_queues; q++)
		ret = rte_eth_tx_queue_setup(port, q, tx_desc, SOCKET_ID_ANY, NULL);
	if (ret != 0)
		die("port %u: set-up of queues of %u and %u entries: %s\n", port, rx_desc, tx_desc, rte_strerror(-ret));
}

static inline void
port_start(uint16_t port)
{
	int ret = rte_eth_dev_start(port);

	if (ret != 0)
		die("port %u does not start: %s\n", port, rte_strerror(-ret));
	/* A loop brings frames back with their own destination. */
	ret = rte_eth_promiscuous_enable(port);
	if (ret != 0 && ret != -ENOTSUP)
		die("port %u: promiscuous: %s\n", port, rte_strerror(-ret));
}

static inline void
port_stop(uint16_t port)
{
	int ret = rte_eth_dev_stop(port);

	if (ret != 0)
		die("port %u does not stop: %s\n", port, rte_strerror(-ret));
}

/* --- the main lcore keeps workers away from a queue, or from all of them --- */

enum { RX, TX };

/* closed is written by the main lcore, left by the queue's worker once it has seen closed. */
struct gate {
	atomic_bool closed;
	atomic_bool left;
};

static struct gate gates[MAX_PORTS][2][MAX_QUEUES];

/* Worker, before each burst on a queue. Acquire and release pair with gate_shut and gate_open: what the main
 * lcore did to the queue while the gate was closed is seen after it, what the worker did before it. */
static inline bool
gate_pass(struct gate *g)
{
	if (likely(!atomic_load_explicit(&g->closed, memory_order_acquire)))
		return true;
	atomic_store_explicit(&g->left, true, memory_order_release);
	return false;
}

static inline void
gate_shut(struct gate *g)
{
	uint64_t end = rte_get_timer_cycles() + 10 * rte_get_timer_hz();

	atomic_store_explicit(&g->left, false, memory_order_relaxed);
	atomic_store_explicit(&g->closed, true, memory_order_release);
	while (!atomic_load_explicit(&g->left, memory_order_acquire)) {
		if (rte_get_timer_cycles() > end)
			die("a worker hangs in a burst\n");
		sched_yield();
	}
}

static inline void
gate_open(struct gate *g)
{
	atomic_store_explicit(&g->closed, false, memory_order_release);
}

/* Stops a queue that its worker has left, lets time pass and starts it again. */
static inline void
queue_pause(uint16_t port, int direction, uint16_t queue, unsigned int microseconds)
{
	struct gate *g = &gates[port][direction][queue];
	int ret;

	gate_shut(g);
	ret = direction == RX ? rte_eth_dev_rx_queue_stop(port, queue) : rte_eth_dev_tx_queue_stop(port, queue);
	if (ret != 0)
		die("port %u: %s queue %u does not stop: %s\n", port, direction == RX ? "Rx" : "Tx", queue, rte_strerror(-ret));
	usleep(microseconds);
	ret = direction == RX ? rte_eth_dev_rx_queue_start(port, queue) : rte_eth_dev_tx_queue_start(port, queue);
	if (ret != 0)
		die("port %u: %s queue %u does not start: %s\n", port, direction == RX ? "Rx" : "Tx", queue, rte_strerror(-ret));
	gate_open(g);
}

/* --- frames --- */

struct headers {
	uint8_t bytes[ETHER_IP_UDP];
};

/* Ethernet, IPv4 and UDP of one flow; lengths and checksum are set per frame. */
static inline struct headers
headers_of(uint32_t flow)
{
	struct headers h = { {
		0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00,
		0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 198, 18, flow >> 8, flow, 198, 19, 0, 1,
		flow >> 8 | 0x10, flow, 0x20, 0, 0, 0, 0, 0,
	} };

	return h;
}

static inline void
headers_write(uint8_t *frame, const struct headers *h, uint16_t frame_len)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + 14);

	memcpy(frame, h->bytes, ETHER_IP_UDP);
	ip->total_length = rte_cpu_to_be_16(frame_len - 14);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	*(uint16_t *)(frame + 38) = rte_cpu_to_be_16(frame_len - 34);
}

#endif
