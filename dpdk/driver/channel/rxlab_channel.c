/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The face of a channel port: probe and close, configuration, start and stop, its link. */

#include <errno.h>

#include "rxlab_channel.h"

static const char *
name_of(const struct rxlab_channel_dev *d)
{
	return d->eth_dev->data->name;
}

/* Called on the thread that makes the port's links. */
static void
told(void *ctx, bool up, const char *why)
{
	struct rxlab_channel_dev *d = ctx;

	if (why != NULL)
		PMD_LOG(ERR, "%s: no link: %s", name_of(d), why);
	if (up)
		__atomic_fetch_add(&d->now.links, 1, __ATOMIC_RELAXED);
	rxlab_link_set(d->eth_dev, up, d->speed);
}

static int
dev_configure(struct rte_eth_dev *dev)
{
	if (dev->data->dev_conf.lpbk_mode != 0) {
		PMD_LOG(ERR, "%s: lpbk_mode %u: a channel has no loop: allowed is 0", dev->data->name,
			dev->data->dev_conf.lpbk_mode);
		return -ENOTSUP;
	}
	if (dev->data->dev_conf.intr_conf.rxq)
		return rxlab_refuse(dev, "intr_conf.rxq: Rx interrupts of a channel are");
	if (dev->data->dev_conf.link_speeds & RTE_ETH_LINK_SPEED_FIXED)
		return rxlab_refuse(dev, "link_speeds: a fixed speed of a channel is");
	return rxlab_check_conf(dev);
}

static int
dev_start(struct rte_eth_dev *dev)
{
	struct rxlab_channel_dev *d = rxlab_channel_of(dev);
	char err[RXLAB_ERR_LEN] = "";
	int ret = rxlab_channel_start(d->channel, err, sizeof(err));

	if (ret != 0) {
		PMD_LOG(ERR, "%s: %s", name_of(d), err);
		return ret;
	}
	d->running = true;
	return 0;
}

static int
dev_stop(struct rte_eth_dev *dev)
{
	struct rxlab_channel_dev *d = rxlab_channel_of(dev);
	uint16_t i;

	rxlab_channel_stop(d->channel);
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			rxlab_channel_rx_empty(dev->data->rx_queues[i]);
	}
	d->running = false;
	rxlab_link_set(dev, false, d->speed);
	return 0;
}

static int
dev_close(struct rte_eth_dev *dev)
{
	struct rxlab_channel_dev *d = rxlab_channel_of(dev);

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	dev_stop(dev);
	if (dev->data->nb_rx_queues > 0)
		rxlab_channel_rx_release(dev, 0);
	if (dev->data->nb_tx_queues > 0)
		rxlab_channel_tx_release(dev, 0);
	if (d->pool != NULL)
		d->pool->port = NULL;	/* its mbufs lie in memory of the link: it goes with the mempool */
	else
		rxlab_channel_free(d->channel);
	d->channel = NULL;
	/* Part of dev_private: ethdev must not free it. */
	dev->data->mac_addrs = NULL;
	return 0;
}

static int
infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct rxlab_channel_dev *d = rxlab_channel_of(dev);
	const struct rte_eth_desc_lim limits = {
		.nb_max = RXLAB_MAX_DESC,
		.nb_min = 1,
		.nb_align = 1,
		.nb_seg_max = RXLAB_MAX_SEGS,
		.nb_mtu_seg_max = RXLAB_MAX_SEGS,
	};

	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_rx_pktlen = RTE_MIN(d->longest, (uint32_t)RXLAB_MAX_FRAME);
	info->max_mtu = info->max_rx_pktlen - RXLAB_OVERHEAD;
	info->min_rx_bufsize = RTE_ETHER_MIN_LEN;
	info->max_rx_queues = 1;
	info->max_tx_queues = 1;
	info->max_mac_addrs = 1;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER;
	info->tx_offload_capa = RXLAB_TX_PLAIN;
	info->tx_queue_offload_capa = RXLAB_TX_PLAIN;
	info->speed_capa = rte_eth_speed_bitflag(d->speed, RTE_ETH_LINK_FULL_DUPLEX);
	info->rx_desc_lim = limits;
	info->tx_desc_lim = limits;
	info->default_rxportconf = (struct rte_eth_dev_portconf) { .burst_size = 32, .ring_size = 1024, .nb_queues = 1 };
	info->default_txportconf = info->default_rxportconf;
	info->dev_capa &= ~(RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP | RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP);
	return 0;
}

/* The thread that makes links writes the state where it changes. */
static int
link_update(struct rte_eth_dev *dev __rte_unused, int wait_to_complete __rte_unused)
{
	return 0;
}

/* All frames of the other side are for this port: it has no filter. */
static int
no_filter(struct rte_eth_dev *dev __rte_unused)
{
	return 0;
}

static int
mac_addr_set(struct rte_eth_dev *dev __rte_unused, struct rte_ether_addr *addr __rte_unused)
{
	return 0;
}

/* ethdev has checked the limits; the link's buffers are as both sides agreed. */
static int
mtu_set(struct rte_eth_dev *dev __rte_unused, uint16_t mtu __rte_unused)
{
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_configure = dev_configure,
	.dev_start = dev_start,
	.dev_stop = dev_stop,
	.dev_close = dev_close,
	.link_update = link_update,
	.promiscuous_enable = no_filter,
	.promiscuous_disable = no_filter,
	.allmulticast_enable = no_filter,
	.allmulticast_disable = no_filter,
	.mac_addr_set = mac_addr_set,
	.mtu_set = mtu_set,
	.stats_get = rxlab_channel_stats_get,
	.stats_reset = rxlab_channel_stats_reset,
	.xstats_get = rxlab_channel_xstats_get,
	.xstats_get_names = rxlab_channel_xstats_get_names,
	.xstats_reset = rxlab_channel_stats_reset,
	.dev_infos_get = infos_get,
	.rx_queue_setup = rxlab_channel_rx_setup,
	.tx_queue_setup = rxlab_channel_tx_setup,
	.rx_queue_release = rxlab_channel_rx_release,
	.tx_queue_release = rxlab_channel_tx_release,
};

/* A secondary process reads; the link belongs to the primary. */
static const struct eth_dev_ops secondary_ops = {
	.dev_close = dev_close,
	.link_update = link_update,
	.stats_get = rxlab_channel_stats_get,
	.stats_reset = rxlab_channel_stats_reset,
	.xstats_get = rxlab_channel_xstats_get,
	.xstats_get_names = rxlab_channel_xstats_get_names,
	.xstats_reset = rxlab_channel_stats_reset,
	.dev_infos_get = infos_get,
};

/* Whether it is a channel port of this process. */
bool
rxlab_channel_is(const struct rte_eth_dev *dev)
{
	return dev->dev_ops == &ops;
}

/* In a secondary process. */
void
rxlab_channel_attach(struct rte_eth_dev *dev)
{
	dev->dev_ops = &secondary_ops;
}

static int
create(struct rxlab_channel_dev *d, const struct rxlab_conf *conf)
{
	const struct rxlab_told calls = { .ctx = d, .call = told };
	char err[RXLAB_ERR_LEN] = "";
	int ret = rxlab_channel_new(conf->args, calls, &d->channel, err, sizeof(err));

	if (ret != 0) {
		PMD_LOG(ERR, "%s: %s", name_of(d), err);
		return ret;
	}
	d->longest = rxlab_channel_longest(d->channel);
	d->speed = rxlab_args_speed(conf->args);
	if (conf->mac_given)
		d->mac = conf->mac;
	else
		rte_eth_random_addr(d->mac.addr_bytes);
	return 0;
}

int
rxlab_channel_probe(struct rte_vdev_device *vdev, const struct rxlab_conf *conf)
{
	struct rte_eth_dev *dev;
	struct rxlab_channel_dev *d;
	int ret;

	if (vdev->device.numa_node == SOCKET_ID_ANY)
		vdev->device.numa_node = (int)rte_socket_id();
	dev = rte_eth_vdev_allocate(vdev, sizeof(*d));
	if (dev == NULL) {
		PMD_LOG(ERR, "%s: no EAL memory or no port left", rte_vdev_device_name(vdev));
		return -ENOMEM;
	}
	d = rxlab_channel_of(dev);
	d->kind = RXLAB_KIND_CHANNEL;
	d->eth_dev = dev;
	ret = create(d, conf);
	if (ret != 0) {
		rte_eth_dev_release_port(dev);
		return ret;
	}
	dev->data->mac_addrs = &d->mac;
	dev->dev_ops = &ops;
	dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	dev->rx_pkt_burst = rxlab_channel_rx_burst;
	dev->tx_pkt_burst = rxlab_channel_tx_burst;
	rte_eth_dev_probing_finish(dev);
	return 0;
}
