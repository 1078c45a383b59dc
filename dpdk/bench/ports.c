/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The ports that tasks name: set up, up, down. */

#include <errno.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "rxbench.h"

static bool
receives(const struct task *task)
{
	return task->mode != MODE_TX;
}

static bool
sends(const struct task *task)
{
	return task->mode != MODE_RX && task->mode != MODE_RXCYCLES && task->mode != MODE_DRAIN;
}

/* Whether a task uses the port, and how many queues of it. */
static bool
port_queues(const struct options *options, uint16_t port, uint16_t *rx, uint16_t *tx)
{
	bool used = false;
	unsigned int i;

	*rx = *tx = 1; /* some drivers refuse a port without one of each */
	for (i = 0; i < options->n_tasks; i++) {
		const struct task *task = &options->tasks[i];

		if (receives(task) && port >= task->rx_port && port < task->rx_port + task->ports) {
			*rx = RTE_MAX(*rx, task->rx_queue + 1);
			used = true;
		}
		if (sends(task) && (task->tx_port == port || (task->mode == MODE_FWD && used))) {
			*tx = RTE_MAX(*tx, task->tx_queue + 1);
			used = true;
		}
	}
	return used;
}

static int
failed(uint16_t port, const char *what, int error)
{
	fprintf(stderr, "rxbench: port %u: %s: %s\n", port, what, rte_strerror(-error));
	return error;
}

static int
configure(uint16_t port, uint16_t rx, uint16_t tx, uint16_t *rxd, uint16_t *txd)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = { 0 };
	int ret;

	ret = rte_eth_dev_info_get(port, &info);
	if (ret != 0)
		return failed(port, "no such port, give one with --vdev", ret);
	if (rx > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) & info.flow_type_rss_offloads;
	}
	/* All buffers come from one pool and have one owner. */
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	ret = rte_eth_dev_configure(port, rx, tx, &conf);
	if (ret != 0)
		return failed(port, "configure", ret);
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(port, rxd, txd);
	return ret == 0 ? 0 : failed(port, "descriptors", ret);
}

static int
port_start(uint16_t port, uint16_t rx, uint16_t tx, uint16_t rxd, uint16_t txd, struct rte_mempool *pool)
{
	int socket = rte_eth_dev_socket_id(port), ret;
	uint16_t queue;

	ret = configure(port, rx, tx, &rxd, &txd);
	for (queue = 0; ret == 0 && queue < rx; queue++) {
		ret = rte_eth_rx_queue_setup(port, queue, rxd, socket, NULL, pool);
		if (ret != 0)
			return failed(port, "rx queue", ret);
	}
	for (queue = 0; ret == 0 && queue < tx; queue++) {
		ret = rte_eth_tx_queue_setup(port, queue, txd, socket, NULL);
		if (ret != 0)
			return failed(port, "tx queue", ret);
	}
	if (ret != 0)
		return ret;
	ret = rte_eth_dev_start(port);
	if (ret != 0)
		return failed(port, "start", ret);
	ret = rte_eth_promiscuous_enable(port);
	return ret == 0 || ret == -ENOTSUP ? 0 : failed(port, "promiscuous mode", ret);
}

int
ports_start(const struct options *options, struct rte_mempool *pool)
{
	uint16_t port, rx, tx;
	int ret;

	for (port = 0; port < MAX_PORTS; port++) {
		if (!port_queues(options, port, &rx, &tx))
			continue;
		ret = port_start(port, rx, tx, options->rxd, options->txd, pool);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
wait_for_link(uint16_t port)
{
	struct rte_eth_link link;
	unsigned int ms;
	int ret;

	for (ms = 0; ms < LINK_WAIT_MS && !tasks_stopped(); ms++) {
		ret = rte_eth_link_get_nowait(port, &link);
		if (ret == 0 && link.link_status == RTE_ETH_LINK_UP)
			return 0;
		rte_delay_us_sleep(1000);
	}
	return failed(port, "link is down, nobody is at the other end", -ETIMEDOUT);
}

int
ports_wait_for_links(const struct options *options)
{
	uint16_t port, rx, tx;
	int ret;

	for (port = 0; port < MAX_PORTS; port++) {
		ret = port_queues(options, port, &rx, &tx) ? wait_for_link(port) : 0;
		if (ret != 0)
			return ret;
	}
	return 0;
}

void
ports_stop(const struct options *options)
{
	uint16_t port, rx, tx;
	int ret;

	for (port = 0; port < MAX_PORTS; port++) {
		if (!port_queues(options, port, &rx, &tx) || !rte_eth_dev_is_valid_port(port))
			continue;
		ret = rte_eth_dev_stop(port);
		if (ret != 0)
			failed(port, "stop", ret);
		ret = rte_eth_dev_close(port);
		if (ret != 0)
			failed(port, "close", ret);
	}
}
