/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * Overlay mode (CC-NIC, section 4): threads between the links of other processes and the queues of any DPDK port.
 * rxoverlay EAL-ARGUMENTS -- PORT LINK...
 *
 * Queue q of PORT and the q-th LINK are one wire: what comes at either goes out of the other, in order. All are names of
 * ports; a link is a port of one queue each way, such as net_rxlab0,iface=ccnic,channel=PATH. PORT has as many queues as
 * there are links, and spreads flows over them by RSS if there are several.
 *
 * Each direction of a wire is one task. The worker lcores share the tasks; without workers the main lcore has them all.
 * What does not fit at once is dropped, as a switch does: with a link whose process is gone, everything.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#define BURST 32
#define RING 1024
#define CACHE 256
#define MAX_LINKS 64
/* Rounds in which nothing came, before a thread lets others run. */
#define ROUNDS 64

static volatile sig_atomic_t stopped;

static void
stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* One direction of a wire. Written by its worker alone. */
struct task {
	uint16_t from, from_queue, to, to_queue;
	uint64_t frames, dropped;
} __rte_cache_aligned;

static struct task tasks[2 * MAX_LINKS];
static unsigned int task_count, workers;

static uint16_t
forward(struct task *t)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = rte_eth_rx_burst(t->from, t->from_queue, mbufs, BURST), sent;

	if (n == 0)
		return 0;
	sent = rte_eth_tx_burst(t->to, t->to_queue, mbufs, n);
	t->frames += sent;
	t->dropped += n - sent;
	rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	return n;
}

/* The tasks of worker `first`, which are those at a distance of `workers`. */
static int
work(void *first)
{
	unsigned int idle = 0, i;

	while (!stopped) {
		uint16_t moved = 0;

		for (i = (uintptr_t)first; i < task_count; i += workers)
			moved |= forward(&tasks[i]);
		if (moved != 0)
			idle = 0;
		else if (++idle % ROUNDS == 0)
			sched_yield();
		else
			rte_pause();
	}
	return 0;
}

static uint16_t
port_of(const char *name)
{
	uint16_t port;

	if (rte_eth_dev_get_port_by_name(name, &port) != 0)
		rte_exit(EXIT_FAILURE, "rxoverlay: there is no port %s\n", name);
	return port;
}

static void
start_port(uint16_t port, const char *name, uint16_t queues, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	uint16_t rx = RING, tx = RING, q;

	if (rte_eth_dev_info_get(port, &info) != 0)
		rte_exit(EXIT_FAILURE, "rxoverlay: port %s tells nothing of itself\n", name);
	if (queues > info.max_rx_queues || queues > info.max_tx_queues)
		rte_exit(EXIT_FAILURE, "rxoverlay: port %s has %u Rx and %u Tx queues; allowed: at least %u, one for each link\n",
			 name, info.max_rx_queues, info.max_tx_queues, queues);
	if (queues > 1 && info.flow_type_rss_offloads != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) & info.flow_type_rss_offloads;
	}
	/* A frame that one side has in several pieces stays so on the other one. */
	conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER & info.rx_offload_capa;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS & info.tx_offload_capa;
	if (rte_eth_dev_configure(port, queues, queues, &conf) < 0 || rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx) < 0)
		rte_exit(EXIT_FAILURE, "rxoverlay: port %s does not take %u queues\n", name, queues);
	for (q = 0; q < queues; q++)
		if (rte_eth_rx_queue_setup(port, q, rx, rte_eth_dev_socket_id(port), NULL, pool) < 0 ||
		    rte_eth_tx_queue_setup(port, q, tx, rte_eth_dev_socket_id(port), NULL) < 0)
			rte_exit(EXIT_FAILURE, "rxoverlay: port %s has no queue %u\n", name, q);
	if (rte_eth_dev_start(port) < 0)
		rte_exit(EXIT_FAILURE, "rxoverlay: port %s does not start\n", name);
	/* A link has no filter, and may say so. */
	(void)rte_eth_promiscuous_enable(port);
}

static void
join(uint16_t port, uint16_t queue, uint16_t link)
{
	tasks[task_count++] = (struct task){ .from = port, .from_queue = queue, .to = link };
	tasks[task_count++] = (struct task){ .from = link, .to = port, .to_queue = queue };
}

static void
run(void)
{
	unsigned int lcore;
	uintptr_t next = 0;

	workers = RTE_MIN(rte_lcore_count() - 1, task_count);
	if (workers == 0) {
		workers = 1;
		work(0);
		return;
	}
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (next < workers)
			rte_eal_remote_launch(work, (void *)next++, lcore);
	}
	rte_eal_mp_wait_lcore();
}

static void
tell(unsigned int links, char **names)
{
	unsigned int q;

	for (q = 0; q < links; q++) {
		const struct task *to = &tasks[2 * q], *back = to + 1;

		printf("rxoverlay: %s: %" PRIu64 " to the link, %" PRIu64 " dropped; %" PRIu64 " from it, %" PRIu64 " dropped\n",
		       names[q], to->frames, to->dropped, back->frames, back->dropped);
	}
}

int
main(int argc, char **argv)
{
	struct rte_mempool *pool;
	uint16_t port, links, q;
	int eal = rte_eal_init(argc, argv);

	if (eal < 0)
		rte_exit(EXIT_FAILURE, "rxoverlay: EAL does not start\n");
	argc -= eal;
	argv += eal;
	if (argc < 3 || argc - 2 > MAX_LINKS)
		rte_exit(EXIT_FAILURE, "rxoverlay: PORT LINK...; allowed: 1 to %d links\n", MAX_LINKS);
	links = argc - 2;
	/* What all rings, caches and bursts hold. */
	pool = rte_pktmbuf_pool_create("rxoverlay", links * (4 * RING + 2 * BURST) + rte_lcore_count() * 2 * CACHE, CACHE, 0,
				       RTE_MBUF_DEFAULT_BUF_SIZE, rte_socket_id());
	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "rxoverlay: no memory for the mbufs of %u links\n", links);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	port = port_of(argv[1]);
	start_port(port, argv[1], links, pool);
	for (q = 0; q < links; q++) {
		uint16_t link = port_of(argv[2 + q]);

		start_port(link, argv[2 + q], 1, pool);
		join(port, q, link);
	}
	printf("rxoverlay: %s and %u links\n", argv[1], links);
	fflush(stdout);
	run();
	tell(links, argv + 2);
	for (q = 0; q < links; q++)
		rte_eth_dev_stop(tasks[2 * q].to);
	rte_eth_dev_stop(port);
	for (q = 0; q < links; q++)
		rte_eth_dev_close(tasks[2 * q].to);
	rte_eth_dev_close(port);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
