/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Start and stop of a port: memory for its rings, their buffers, the hand-shake with the NIC core. */

#include <errno.h>

#include <rte_malloc.h>

#include "rxlab.h"

static int
check_rx_alike(const struct rxlab_dev *d, const struct rxlab_rx_queue *first, const struct rxlab_rx_queue *q)
{
	if (q->socket != first->socket) {
		PMD_LOG(ERR, "%s: Rx queue %u is on socket %u, queue %u on %u: allowed is one socket for all", rxlab_name(d),
			q->id, q->socket, first->id, first->socket);
		return -EINVAL;
	}
	if (rte_pktmbuf_data_room_size(q->pool) != rte_pktmbuf_data_room_size(first->pool) ||
			rte_pktmbuf_priv_size(q->pool) != rte_pktmbuf_priv_size(first->pool)) {
		PMD_LOG(ERR, "%s: mempools %s and %s differ in data room or private size: allowed are mempools alike",
			rxlab_name(d), q->pool->name, first->pool->name);
		return -EINVAL;
	}
	return 0;
}

static int
check_queues(const struct rxlab_dev *d, const struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		if (data->rx_queues[i] == NULL) {
			PMD_LOG(ERR, "%s: Rx queue %u is not set up", rxlab_name(d), i);
			return -EINVAL;
		}
		if (check_rx_alike(d, data->rx_queues[0], data->rx_queues[i]) != 0)
			return -EINVAL;
	}
	for (i = 0; i < data->nb_tx_queues; i++) {
		if (data->tx_queues[i] == NULL) {
			PMD_LOG(ERR, "%s: Tx queue %u is not set up", rxlab_name(d), i);
			return -EINVAL;
		}
	}
	return 0;
}

static void
say_size(const struct rxlab_dev *d, const char *direction, uint16_t queue, uint16_t asked, uint16_t size)
{
	PMD_LOG(INFO, "%s: %s queue %u: %u descriptors for %u, as the largest queue has", rxlab_name(d), direction, queue, size,
		asked);
}

/*
 * The queues of a direction have rings of one size: the interfaces lay a port's rings out together, and share buffers
 * between them. So each gets the largest that one asks for, as it gets the next power of two.
 */
static int
level_sizes(const struct rxlab_dev *d, const struct rte_eth_dev_data *data)
{
	uint16_t rx_desc = 0, tx_desc = 0, i;

	for (i = 0; i < data->nb_rx_queues; i++)
		rx_desc = RTE_MAX(rx_desc, ((struct rxlab_rx_queue *)data->rx_queues[i])->nb_desc);
	for (i = 0; i < data->nb_tx_queues; i++)
		tx_desc = RTE_MAX(tx_desc, ((struct rxlab_tx_queue *)data->tx_queues[i])->nb_desc);
	for (i = 0; i < data->nb_rx_queues; i++) {
		struct rxlab_rx_queue *q = data->rx_queues[i];

		if (q->nb_desc != rx_desc)
			say_size(d, "Rx", i, q->nb_desc, rx_desc);
		q->nb_desc = rx_desc;
	}
	for (i = 0; i < data->nb_tx_queues; i++) {
		struct rxlab_tx_queue *q = data->tx_queues[i];

		if (q->nb_desc == tx_desc)
			continue;
		say_size(d, "Tx", i, q->nb_desc, tx_desc);
		if (rxlab_tx_queue_size(q, tx_desc) != 0) {
			PMD_LOG(ERR, "%s: Tx queue %u: no EAL memory for %u descriptors", rxlab_name(d), i, tx_desc);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Whether frames may lie in several mbufs, which is asked for or made necessary by the MTU. */
static int
describe_scatter(const struct rxlab_dev *d, const struct rte_eth_dev_data *data, struct rxlab_start *start,
		const struct rte_mempool *pool)
{
	uint32_t most = d->one_mbuf == NULL ? start->room * RXLAB_MAX_SEGS : start->room;

	if (start->max_frame > most) {
		PMD_LOG(ERR, "%s: MTU %u: a frame of %u bytes does not fit %s of %s: allowed is an MTU up to %d%s%s",
			rxlab_name(d), data->mtu, start->max_frame,
			d->one_mbuf == NULL ? RTE_STR(RXLAB_MAX_SEGS) " mbufs" : "an mbuf", pool->name,
			(int)most - RXLAB_OVERHEAD, d->one_mbuf == NULL ? "" : ": ", d->one_mbuf == NULL ? "" : d->one_mbuf);
		return -EINVAL;
	}
	start->scatter = start->max_frame > start->room ||
		(data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER);
	return 0;
}

/* What the library needs to know of the queues. */
static int
describe(const struct rxlab_dev *d, const struct rte_eth_dev_data *data, struct rxlab_start *start)
{
	const struct rxlab_rx_queue *rx = data->nb_rx_queues == 0 ? NULL : data->rx_queues[0];
	const struct rxlab_tx_queue *tx = data->nb_tx_queues == 0 ? NULL : data->tx_queues[0];

	*start = (struct rxlab_start) {
		.rx_queues = data->nb_rx_queues,
		.tx_queues = data->nb_tx_queues,
		.rx_desc = rx == NULL ? RXLAB_MIN_DESC : rx->nb_desc,
		.tx_desc = tx == NULL ? RXLAB_MIN_DESC : tx->nb_desc,
		.max_frame = data->mtu + RXLAB_OVERHEAD,
		.data_offset = sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM,
		.checksums = data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_CHECKSUM,
		.events = d->events,
	};
	start->room = start->max_frame;
	if (rx == NULL && d->emulate) {
		PMD_LOG(ERR, "%s: emulate=1 without Rx queues: allowed is one or more, whose mbufs the port below fills",
			rxlab_name(d));
		return -EINVAL;
	}
	if (rx == NULL)
		return 0;
	start->data_offset += rte_pktmbuf_priv_size(rx->pool);
	start->room = rte_pktmbuf_data_room_size(rx->pool) - RTE_PKTMBUF_HEADROOM;
	return describe_scatter(d, data, start, rx->pool);
}

static int
start_port(struct rxlab_dev *d, struct rxlab_start *start)
{
	char err[RXLAB_ERR_LEN] = "";
	int ret;

	ret = rxlab_port_memory(d->port, start, &start->bytes, err, sizeof(err));
	if (ret != 0) {
		PMD_LOG(ERR, "%s: %s", rxlab_name(d), err);
		return ret;
	}
	d->memory = rte_zmalloc_socket("rxlab_rings", start->bytes, RTE_CACHE_LINE_SIZE, d->eth_dev->data->numa_node);
	if (d->memory == NULL) {
		PMD_LOG(ERR, "%s: no %zu bytes of EAL memory for the rings", rxlab_name(d), start->bytes);
		return -ENOMEM;
	}
	start->memory = d->memory;
	ret = rxlab_port_start(d->port, start, err, sizeof(err));
	if (ret == 0)
		return 0;
	PMD_LOG(ERR, "%s: %s", rxlab_name(d), err);
	rte_free(d->memory);
	d->memory = NULL;
	return ret;
}

static int
open_queues(struct rxlab_dev *d)
{
	struct rte_eth_dev_data *data = d->eth_dev->data;
	uint16_t i;
	int ret = 0;

	for (i = 0; i < data->nb_rx_queues && ret == 0; i++) {
		struct rxlab_rx_queue *q = data->rx_queues[i];

		ret = q->deferred ? rxlab_rxq_switch(d->port, i, false) : rxlab_rx_queue_open(q);
	}
	for (i = 0; i < data->nb_tx_queues && ret == 0; i++) {
		struct rxlab_tx_queue *q = data->tx_queues[i];

		if (q->deferred)
			ret = rxlab_txq_switch(d->port, i, false);
		else
			rxlab_tx_queue_open(q);
	}
	return ret;
}

static void
close_queues(struct rxlab_dev *d)
{
	struct rte_eth_dev_data *data = d->eth_dev->data;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++)
		rxlab_rx_queue_close(data->rx_queues[i]);
	for (i = 0; i < data->nb_tx_queues; i++)
		rxlab_tx_queue_close(data->tx_queues[i]);
}

/* Undoes start_port and open_queues; the NIC core lets go first, or nothing is freed. */
static int
stop_port(struct rxlab_dev *d)
{
	int ret = rxlab_port_stop(d->port);

	if (ret != 0) {
		PMD_LOG(ERR, "%s: the NIC core does not answer: %s", rxlab_name(d), rte_strerror(-ret));
		return ret;
	}
	close_queues(d);
	ret = rxlab_port_reset(d->port);
	if (ret != 0)
		return ret;
	rxlab_interrupts_close(d);
	rte_free(d->memory);
	d->memory = NULL;
	return 0;
}

/* The bursts that do what this start asks for, and no more: those that are asked for nothing have no look at it. */
void
rxlab_choose_bursts(struct rte_eth_dev *dev)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	uint16_t i;

	if (dev->data->scattered_rx)
		dev->rx_pkt_burst = rxlab_rx_pkt_burst_scattered;
	else
		dev->rx_pkt_burst = d->nb_halves == 1 ? rxlab_rx_pkt_burst : rxlab_rx_pkt_burst_shared;
	d->strips = (dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	if (d->strips) {
		d->rx_below = dev->rx_pkt_burst;
		dev->rx_pkt_burst = rxlab_rx_pkt_burst_strip;
	}
	dev->tx_pkt_burst = rxlab_tx_pkt_burst;
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct rxlab_tx_queue *q = dev->data->tx_queues[i];

		/* VLAN offloads are switched on ports whose queues are not set up, too. */
		if (q != NULL && q->edits != 0)
			dev->tx_pkt_burst = rxlab_tx_pkt_burst_edit;
	}
}

static int
start_locked(struct rxlab_dev *d)
{
	struct rte_eth_dev_data *data = d->eth_dev->data;
	struct rxlab_start start;
	int ret;

	if (check_queues(d, data) != 0)
		return -EINVAL;
	/* Left from a start that failed, and that a busy NIC core did not let be undone. */
	if (d->memory != NULL) {
		ret = stop_port(d);
		if (ret != 0)
			return ret;
	}
	ret = level_sizes(d, data);
	if (ret == 0)
		ret = rxlab_interrupts_open(d);
	if (ret == 0)
		ret = describe(d, data, &start);
	if (ret == 0)
		ret = start_port(d, &start);
	if (ret != 0) {
		rxlab_interrupts_close(d);
		return ret;
	}
	data->scattered_rx = start.scatter;
	d->start_mtu = data->mtu;
	rxlab_choose_bursts(d->eth_dev);
	ret = open_queues(d);
	if (ret == 0)
		ret = rxlab_vlan_start(d);
	if (ret == 0)
		ret = rxlab_lower_start(d);
	if (ret == 0)
		ret = rxlab_port_run(d->port);
	if (ret != 0) {
		rxlab_lower_stop(d);
		stop_port(d);
		return ret;
	}
	rxlab_core_check_service(d->core, rxlab_name(d));
	d->running = true;
	rxlab_link_refresh(d);
	return 0;
}

int
rxlab_dev_start(struct rte_eth_dev *dev)
{
	int ret;

	rxlab_lock();
	ret = start_locked(rxlab_dev_of(dev));
	rxlab_unlock();
	return ret;
}

int
rxlab_dev_stop(struct rte_eth_dev *dev)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	int ret = 0;

	rxlab_lock();
	/* Also one whose start failed, and was not undone. */
	if (d->memory != NULL) {
		ret = stop_port(d);
		if (ret == 0) {
			rxlab_lower_stop(d);
			d->running = false;
			rxlab_link_refresh(d);
		}
	}
	rxlab_unlock();
	return ret;
}
