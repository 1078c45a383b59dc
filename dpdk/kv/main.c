/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * A key-value store over any DPDK port: rxkv EAL-ARGUMENTS -- [PORT [PARTITIONS [ITEMS]]]
 *
 * One lcore polls queue 0 and answers in the request's buffer. Clients send to the UDP port 20000 and the
 * partition of their key; the store itself and what it says are crates/apps/src/kv and crates/packet/src/kv.rs.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "rxlab_kv.h"

#define BURST 32
#define RING 512
#define MBUFS 8191
#define CACHE 256
#define MAX_PARTITIONS 64

static volatile sig_atomic_t stopped;

static void
stop(int signal)
{
	(void)signal;
	stopped = 1;
}

struct served {
	uint64_t received, replies, ignored, unsent;
};

struct server {
	uint16_t port;
	uint32_t partitions;
	struct rxlab_kv *stores[MAX_PARTITIONS];
	struct served served;
};

/* The length of the reply that is now in the frame's place; 0 for none. */
static uint16_t
serve(struct server *s, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t partition;

	if (m->nb_segs != 1)
		return 0;
	partition = rxlab_kv_partition(frame, m->data_len, s->partitions);
	if (partition == s->partitions)
		return 0;
	return rxlab_kv_serve(s->stores[partition], frame, m->data_len, m->buf_len - m->data_off);
}

static void
poll_once(struct server *s)
{
	struct rte_mbuf *in[BURST], *out[BURST];
	uint16_t n = rte_eth_rx_burst(s->port, 0, in, BURST), replies = 0, sent, len, i;

	for (i = 0; i < n; i++) {
		len = serve(s, in[i]);
		if (len == 0) {
			rte_pktmbuf_free(in[i]);
			continue;
		}
		in[i]->data_len = len;
		in[i]->pkt_len = len;
		in[i]->ol_flags = 0;
		out[replies++] = in[i];
	}
	sent = replies ? rte_eth_tx_burst(s->port, 0, out, replies) : 0;
	for (i = sent; i < replies; i++)
		rte_pktmbuf_free(out[i]);
	s->served.received += n;
	s->served.ignored += n - replies;
	s->served.replies += sent;
	s->served.unsent += replies - sent;
}

static void
start_port(uint16_t port)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_mempool *pool;
	uint16_t rx = RING, tx = RING;

	pool = rte_pktmbuf_pool_create("rxkv", MBUFS, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, rte_socket_id());
	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "rxkv: no memory for %d mbufs\n", MBUFS);
	if (rte_eth_dev_configure(port, 1, 1, &conf) < 0 ||
	    rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx) < 0 ||
	    rte_eth_rx_queue_setup(port, 0, rx, rte_eth_dev_socket_id(port), NULL, pool) < 0 ||
	    rte_eth_tx_queue_setup(port, 0, tx, rte_eth_dev_socket_id(port), NULL) < 0 ||
	    rte_eth_dev_start(port) < 0)
		rte_exit(EXIT_FAILURE, "rxkv: port %u does not start\n", port);
	rte_eth_promiscuous_enable(port);
}

/* Argument i, or the usual value where there is none. */
static uint64_t
number(int argc, char **argv, int i, uint64_t usual, uint64_t most)
{
	char *end;
	uint64_t n;

	if (i >= argc)
		return usual;
	n = strtoull(argv[i], &end, 10);
	if (*end != '\0' || end == argv[i] || n > most)
		rte_exit(EXIT_FAILURE, "rxkv: argument %d is `%s`; allowed: 0 to %" PRIu64 "\n", i, argv[i], most);
	return n;
}

int
main(int argc, char **argv)
{
	struct server s = { 0 };
	uint64_t items;
	uint32_t p;
	int eal = rte_eal_init(argc, argv);

	if (eal < 0)
		rte_exit(EXIT_FAILURE, "rxkv: EAL does not start\n");
	argc -= eal;
	argv += eal;
	s.port = number(argc, argv, 1, 0, RTE_MAX_ETHPORTS - 1);
	s.partitions = number(argc, argv, 2, 1, MAX_PARTITIONS);
	items = number(argc, argv, 3, 100000, 1 << 24);
	if (!rte_eth_dev_is_valid_port(s.port) || s.partitions == 0)
		rte_exit(EXIT_FAILURE, "rxkv: there is no port %u, or 0 partitions\n", s.port);
	for (p = 0; p < s.partitions; p++) {
		s.stores[p] = rxlab_kv_new(p, s.partitions, items / s.partitions);
		if (s.stores[p] == NULL)
			rte_exit(EXIT_FAILURE, "rxkv: no partition %u\n", p);
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	start_port(s.port);
	printf("rxkv: port %u, %u partitions\n", s.port, s.partitions);
	fflush(stdout);
	while (!stopped)
		poll_once(&s);
	rte_eth_dev_stop(s.port);
	rte_eth_dev_close(s.port);
	printf("rxkv: %" PRIu64 " received, %" PRIu64 " replies, %" PRIu64 " ignored, %" PRIu64 " unsent\n",
	       s.served.received, s.served.replies, s.served.ignored, s.served.unsent);
	for (p = 0; p < s.partitions; p++)
		rxlab_kv_free(s.stores[p]);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
