/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The wire: link state, the pair of ports, and the filters in front of the rings. */

#include <errno.h>
#include <string.h>

#include "rxlab.h"

static bool
carrier(const struct rxlab_dev *d)
{
	switch (d->source_kind) {
	case RXLAB_SOURCE_PAIR:
		return d->peer != NULL && d->peer->running && d->peer->admin_up;
	case RXLAB_SOURCE_PORT:
		return rxlab_lower_link(d);
	default:
		return true;
	}
}

static bool
link_is_up(const struct rxlab_dev *d)
{
	return d->running && d->admin_up && carrier(d);
}

/*
 * Whether frames pass. A port below drops by itself what it cannot send, and what it receives has come through its
 * link, whatever it says of that: net_tap reads the state of a device that has moved to another network namespace as
 * down, and raises no event when a state that it has read has changed.
 */
static bool
passes_frames(const struct rxlab_dev *d)
{
	if (d->source_kind == RXLAB_SOURCE_PORT)
		return d->running && d->admin_up && rxlab_lower_started(d);
	return link_is_up(d);
}

/* Hands the port's addresses and modes, and whether frames pass, to the NIC core. */
static int
apply_filter(struct rxlab_dev *d)
{
	const struct rte_eth_dev_data *data = d->eth_dev->data;
	struct rxlab_filter filter = {
		.promiscuous = data->promiscuous,
		.all_multicast = data->all_multicast,
		.link_up = passes_frames(d),
		.groups = d->nb_groups,
	};
	uint32_t i;
	int ret;

	/* Entry 0 is the port's own; the rest may have gaps. */
	for (i = 0; i < RTE_DIM(d->macs); i++) {
		if (i == 0 || !rte_is_zero_ether_addr(&d->macs[i]))
			memcpy(filter.mac[filter.macs++], d->macs[i].addr_bytes, RTE_ETHER_ADDR_LEN);
	}
	memcpy(filter.group, d->groups, d->nb_groups * sizeof(d->groups[0]));
	ret = rxlab_port_filter(d->port, &filter);
	if (ret != 0)
		PMD_LOG(ERR, "%s: the NIC core does not answer: %s", rxlab_name(d), rte_strerror(-ret));
	return ret;
}

/* Tells the application the state of a port's link, if it changed. */
void
rxlab_link_set(struct rte_eth_dev *dev, bool up, uint32_t speed)
{
	struct rte_eth_link link = {
		.link_speed = up ? speed : RTE_ETH_SPEED_NUM_NONE,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
		.link_status = up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN,
	};

	if (rte_eth_linkstatus_set(dev, &link) == 0 && dev->data->dev_conf.intr_conf.lsc)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

static void
refresh_status(struct rxlab_dev *d)
{
	rxlab_link_set(d->eth_dev, link_is_up(d), d->speed);
}

/* The same, once the NIC core knows. */
static int
refresh_one(struct rxlab_dev *d)
{
	int ret = apply_filter(d);

	refresh_status(d);
	return ret;
}

/* The port's link and that of the other end. */
int
rxlab_link_refresh(struct rxlab_dev *d)
{
	int ret = refresh_one(d);

	if (d->peer != NULL)
		refresh_one(d->peer);
	return ret;
}

/*
 * The primary process writes the state where it changes. Only a port below may change it without telling: it is asked
 * here, unless a control call is under way, which asks it as well.
 */
int
rxlab_link_update(struct rte_eth_dev *dev, int wait_to_complete __rte_unused)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);

	if (rte_eal_process_type() == RTE_PROC_PRIMARY && d->source_kind == RXLAB_SOURCE_PORT && rxlab_trylock()) {
		refresh_status(d);
		rxlab_unlock();
	}
	return 0;
}

static int
set_link(struct rte_eth_dev *dev, bool up)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	int ret;

	rxlab_lock();
	d->admin_up = up;
	ret = rxlab_link_refresh(d);
	rxlab_unlock();
	return ret;
}

int
rxlab_set_link_up(struct rte_eth_dev *dev)
{
	return set_link(dev, true);
}

int
rxlab_set_link_down(struct rte_eth_dev *dev)
{
	return set_link(dev, false);
}

static struct rxlab_dev *
find(const char *name)
{
	struct rxlab_dev *d;

	TAILQ_FOREACH(d, &rxlab_devs, next) {
		if (strcmp(rxlab_name(d), name) == 0)
			return d;
	}
	return NULL;
}

/* Joins the port with the one that it names, if that exists; called when either appears. */
int
rxlab_pair_join(struct rxlab_dev *d)
{
	struct rxlab_dev *peer = find(d->source_name);
	char err[RXLAB_ERR_LEN] = "";
	int ret;

	if (peer == NULL)
		return 0;
	if (peer->source_kind != RXLAB_SOURCE_PAIR || strcmp(peer->source_name, rxlab_name(d)) != 0) {
		PMD_LOG(ERR, "%s: source=pair:%s: that port has source=%s: allowed is a port with source=pair:%s",
			rxlab_name(d), d->source_name, peer->source, rxlab_name(d));
		return -EINVAL;
	}
	ret = rxlab_port_pair(d->port, peer->port, err, sizeof(err));
	if (ret != 0) {
		PMD_LOG(ERR, "%s: source=pair:%s: %s", rxlab_name(d), d->source_name, err);
		return ret;
	}
	d->peer = peer;
	peer->peer = d;
	rxlab_link_refresh(d);
	return 0;
}

void
rxlab_pair_leave(struct rxlab_dev *d)
{
	struct rxlab_dev *peer = d->peer;

	if (peer == NULL)
		return;
	rxlab_port_unpair(d->port);
	d->peer = NULL;
	peer->peer = NULL;
	rxlab_link_refresh(peer);
}

static int
apply_locked(struct rte_eth_dev *dev)
{
	int ret;

	rxlab_lock();
	ret = apply_filter(rxlab_dev_of(dev));
	rxlab_unlock();
	return ret;
}

/* ethdev writes the modes and addresses to its data after a call that enables, before one that disables. */

int
rxlab_promiscuous_enable(struct rte_eth_dev *dev)
{
	dev->data->promiscuous = 1;
	return apply_locked(dev);
}

int
rxlab_promiscuous_disable(struct rte_eth_dev *dev)
{
	dev->data->promiscuous = 0;
	return apply_locked(dev);
}

int
rxlab_allmulticast_enable(struct rte_eth_dev *dev)
{
	dev->data->all_multicast = 1;
	return apply_locked(dev);
}

int
rxlab_allmulticast_disable(struct rte_eth_dev *dev)
{
	dev->data->all_multicast = 0;
	return apply_locked(dev);
}

static int
set_mac(struct rte_eth_dev *dev, uint32_t index, const struct rte_ether_addr *addr)
{
	struct rte_ether_addr *mac = &rxlab_dev_of(dev)->macs[index];
	struct rte_ether_addr old = *mac;
	int ret;

	*mac = *addr;
	ret = apply_locked(dev);
	if (ret != 0)
		*mac = old;
	return ret;
}

int
rxlab_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr)
{
	return set_mac(dev, 0, addr);
}

int
rxlab_mac_addr_add(struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t index, uint32_t pool __rte_unused)
{
	return set_mac(dev, index, addr);
}

void
rxlab_mac_addr_remove(struct rte_eth_dev *dev, uint32_t index)
{
	static const struct rte_ether_addr none;

	set_mac(dev, index, &none);
}

int
rxlab_set_mc_addr_list(struct rte_eth_dev *dev, struct rte_ether_addr *addrs, uint32_t n)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);

	if (n > RTE_DIM(d->groups)) {
		PMD_LOG(ERR, "%s: %u multicast addresses: allowed are %zu", rxlab_name(d), n, RTE_DIM(d->groups));
		return -ENOSPC;
	}
	if (n > 0)
		memcpy(d->groups, addrs, n * sizeof(*addrs));
	d->nb_groups = n;
	return apply_locked(dev);
}
