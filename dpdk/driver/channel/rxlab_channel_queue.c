/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The two queues of a channel port. Their descriptors are those of the link: what is asked for is noted alone. */

#include <errno.h>

#include <rte_malloc.h>

#include "rxlab_channel.h"

int
rxlab_channel_rx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct rxlab_channel_dev *d = rxlab_channel_of(dev);
	struct rxlab_channel_rx *q;

	q = rte_zmalloc_socket("rxlab_channel_rx", sizeof(*q), RTE_CACHE_LINE_SIZE, (int)socket);
	if (q == NULL)
		return -ENOMEM;
	q->channel = d->channel;
	q->now = &d->now;
	q->pool = pool;
	if (rte_pktmbuf_priv_flags(pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)
		q->ol_flags = RTE_MBUF_F_EXTERNAL;
	if (d->pool != NULL && pool->pool_data == d->pool)
		q->in_place = d->pool;
	q->rearm = rxlab_rearm_data(dev->data->port_id);
	q->scatter = (conf->offloads | dev->data->dev_conf.rxmode.offloads) & RTE_ETH_RX_OFFLOAD_SCATTER;
	q->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	q->nb_desc = nb_desc;
	dev->data->rx_queues[queue] = q;
	return 0;
}

int
rxlab_channel_tx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_txconf *conf __rte_unused)
{
	struct rxlab_channel_dev *d = rxlab_channel_of(dev);
	struct rxlab_channel_tx *q;

	q = rte_zmalloc_socket("rxlab_channel_tx", sizeof(*q), RTE_CACHE_LINE_SIZE, (int)socket);
	if (q == NULL)
		return -ENOMEM;
	q->channel = d->channel;
	q->now = &d->now;
	q->dev = d;
	q->longest = d->longest;
	q->nb_desc = nb_desc;
	dev->data->tx_queues[queue] = q;
	return 0;
}

/* Gives back what no frame has come in. */
void
rxlab_channel_rx_empty(struct rxlab_channel_rx *q)
{
	rte_pktmbuf_free_bulk(q->spares, q->nb_spares);
	rte_pktmbuf_free(q->first);
	q->nb_spares = 0;
	q->first = q->last = NULL;
	q->drops = false;
}

void
rxlab_channel_rx_release(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_channel_rx *q = dev->data->rx_queues[queue];

	if (q == NULL)
		return;
	rxlab_channel_rx_empty(q);
	rte_free(q);
	dev->data->rx_queues[queue] = NULL;
}

void
rxlab_channel_tx_release(struct rte_eth_dev *dev, uint16_t queue)
{
	rte_free(dev->data->tx_queues[queue]);
	dev->data->tx_queues[queue] = NULL;
}
