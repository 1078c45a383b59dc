/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Set-up of a port under a port: its configuration, its rings and the mempool behind them. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rxlab_empties.h"

#define DESC		256	/* asked for; the port may correct it */
#define POOL_SPARE	512	/* mbufs beside those in its rings: bursts under way, and what drivers keep */

/* A port keeps mbufs in its queues until it is closed: its pool lives as long as it does, not as long as ours. */
static struct rte_mempool *pools[RTE_MAX_ETHPORTS];

/*
 * ethdev has no call for this alone. An emulated NIC's application gets its mbufs back with its stop, and some drivers
 * keep them in a stopped port's queues; one without such an operation cannot.
 */
void
rxlab_lower_release_queues(uint16_t port)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];
	struct rte_eth_dev_data *data = dev->data;

	if (data->nb_rx_queues > 0 && data->rx_queues[0] != NULL && dev->dev_ops->rx_queue_release != NULL) {
		dev->dev_ops->rx_queue_release(dev, 0);
		data->rx_queues[0] = NULL;
	}
	if (data->nb_tx_queues > 0 && data->tx_queues[0] != NULL && dev->dev_ops->tx_queue_release != NULL) {
		dev->dev_ops->tx_queue_release(dev, 0);
		data->tx_queues[0] = NULL;
	}
}

/* The port holds no mbufs of the application's any more: its queues are released. */
void
rxlab_lower_give_back(struct rxlab_lower_port *lower)
{
	if (lower->empties != NULL && lower->empties->shortages > 0)
		PMD_LOG(NOTICE, "%s: %s asked %" PRIu64 " times for more mbufs than there were", rxlab_name(lower->dev),
			lower->dev->source_name, lower->empties->shortages);
	rxlab_empties_free(lower->empties);
	lower->empties = NULL;
}

/* A pool for the port's rings whose mbufs hold a frame of this port. */
static struct rte_mempool *
pool_for(const struct rxlab_lower_port *lower, uint32_t nb_mbufs)
{
	static unsigned int serial;
	const struct rte_eth_dev_data *data = lower->dev->eth_dev->data;
	uint32_t room = RTE_PKTMBUF_HEADROOM + RTE_MAX(data->mtu + (uint32_t)RXLAB_OVERHEAD, (uint32_t)RTE_MBUF_DEFAULT_DATAROOM);
	struct rte_mempool *pool = pools[lower->port];
	char name[RTE_MEMPOOL_NAMESIZE];

	if (pool != NULL && rte_pktmbuf_data_room_size(pool) >= room && pool->size >= nb_mbufs)
		return pool;
	snprintf(name, sizeof(name), "rxlab_lower_%u", serial++);
	return rte_pktmbuf_pool_create(name, nb_mbufs, 0, 0, (uint16_t)room, data->numa_node);
}

static void
free_pool(struct rte_mempool *pool)
{
	if (pool != NULL && !rte_mempool_full(pool)) {
		PMD_LOG(WARNING, "%u mbufs of %s did not come back", rte_mempool_in_use_count(pool), pool->name);
		return;
	}
	rte_mempool_free(pool);
}

static int
set_up_queues(struct rxlab_lower_port *lower, uint16_t nb_rx, uint16_t nb_tx)
{
	unsigned int socket = (unsigned int)rte_eth_dev_socket_id(lower->port);
	int ret;

	ret = rte_eth_rx_queue_setup(lower->port, 0, nb_rx, socket, NULL, lower->pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(lower->port, 0, nb_tx, socket, NULL);
	return ret;
}

/* The rings of a port that frames are copied from and to, in a pool of their own. */
static int
set_up(struct rxlab_lower_port *lower)
{
	struct rte_mempool *pool, *old = pools[lower->port];
	uint16_t nb_rx = DESC, nb_tx = DESC;
	int ret;

	ret = rte_eth_dev_adjust_nb_rx_tx_desc(lower->port, &nb_rx, &nb_tx);
	if (ret != 0)
		return ret;
	pool = pool_for(lower, nb_rx + nb_tx + POOL_SPARE);
	if (pool == NULL)
		return -rte_errno;
	pools[lower->port] = pool;
	lower->pool = pool;
	ret = set_up_queues(lower, nb_rx, nb_tx);
	/* Set up anew, the queues have let go of the old pool's mbufs. */
	if (old != pool)
		free_pool(old);
	return ret;
}

/* The rings of a port under an emulated NIC: its receive ring holds as much as the virtual ones (rxbisect, section 5). */
static int
set_up_emulated(struct rxlab_lower_port *lower)
{
	const struct rxlab_dev *d = lower->dev;
	const struct rte_eth_dev_data *data = d->eth_dev->data;
	const struct rxlab_rx_queue *q = data->rx_queues[0];
	uint32_t posted = rxlab_port_posted(d->port, q->nb_desc, data->nb_rx_queues);
	uint16_t nb_rx = (uint16_t)rte_align32pow2(RTE_MIN(posted, (uint32_t)RXLAB_MAX_DESC)), nb_tx = DESC;
	int ret;

	ret = rte_eth_dev_adjust_nb_rx_tx_desc(lower->port, &nb_rx, &nb_tx);
	if (ret != 0)
		return ret;
	lower->empties = rxlab_empties_new(d, nb_rx);
	if (lower->empties == NULL)
		return -ENOMEM;
	lower->pool = lower->empties->mempool;
	ret = set_up_queues(lower, nb_rx, nb_tx);
	if (ret != 0)
		rxlab_lower_give_back(lower);
	return ret;
}

int
rxlab_lower_configure(struct rxlab_lower_port *lower)
{
	const struct rxlab_dev *d = lower->dev;
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	int ret;

	ret = rte_eth_dev_info_get(lower->port, &info);
	if (ret != 0)
		return ret;
	if (d->emulate && strcmp(info.driver_name, "net_af_xdp") == 0) {
		PMD_LOG(ERR, "%s: emulate=1: %s receives into the memory of its mempool: allowed is a port that takes mbufs",
			rxlab_name(d), d->source_name);
		return -ENOTSUP;
	}
	conf.intr_conf.lsc = (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	lower->sends_chains = (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	if (d->emulate && lower->sends_chains)
		conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	ret = rte_eth_dev_configure(lower->port, 1, 1, &conf);
	if (ret != 0)
		return ret;
	return d->emulate ? set_up_emulated(lower) : set_up(lower);
}

void
rxlab_lower_free_pool(uint16_t port)
{
	free_pool(pools[port]);
	pools[port] = NULL;
}
