/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* VLANs of received frames: the NIC core filters them, the receive burst takes their tags off. */

#include <errno.h>

#include "rxlab.h"

static bool
wants(const struct rxlab_dev *d, uint64_t offload)
{
	return (d->eth_dev->data->dev_conf.rxmode.offloads & offload) != 0;
}

/* Tells the NIC core which VLANs pass: all where no filter is asked for. */
static int
set_filter(struct rxlab_dev *d)
{
	return rxlab_port_vlans(d->port, wants(d, RTE_ETH_RX_OFFLOAD_VLAN_FILTER) ? d->vlans : NULL);
}

int
rxlab_vlan_start(struct rxlab_dev *d)
{
	return set_filter(d);
}

/* ethdev lets only ports with a filter be called, and no VLAN beyond 4094. */
int
rxlab_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vlan, int on)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	uint64_t bit = RTE_BIT64(vlan % 64);
	int ret;

	rxlab_lock();
	if (on)
		d->vlans[vlan / 64] |= bit;
	else
		d->vlans[vlan / 64] &= ~bit;
	ret = set_filter(d);
	rxlab_unlock();
	return ret;
}

/* What the mask names has changed in dev_conf, which ethdev restores if this fails. */
int
rxlab_vlan_offload_set(struct rte_eth_dev *dev, int mask)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	int ret = 0;

	rxlab_lock();
	if (mask & RTE_ETH_VLAN_FILTER_MASK)
		ret = set_filter(d);
	if (ret == 0 && (mask & RTE_ETH_VLAN_STRIP_MASK)) {
		rxlab_choose_bursts(dev);
		/* A thread that polls meanwhile ends its burst by the old one: either is right for the frame that comes now. */
		if (d->running)
			rte_eth_fp_ops[dev->data->port_id].rx_pkt_burst = dev->rx_pkt_burst;
	}
	rxlab_unlock();
	return ret;
}
