/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * source=port:NAME: another DPDK port under this one. It is owned by the driver, so that the application does not see
 * it, configured and started with this port, and its bursts are called on the NIC core only, with mbufs of a pool of
 * its own. It may appear after this port and leave before it.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_alarm.h>
#include <rte_bus.h>
#include <rte_malloc.h>

#include "rxlab_empties.h"

#define NO_PORT		RTE_MAX_ETHPORTS
#define DESC		256	/* asked for; the port may correct it */
#define POOL_SPARE	512	/* mbufs beside those in its rings: bursts under way, and what drivers keep */
#define RETRY_US	10000

/* A port keeps mbufs in its queues until it is closed: its pool lives as long as it does, not as long as ours. */
static struct rte_mempool *pools[RTE_MAX_ETHPORTS];
static bool removed[RTE_MAX_ETHPORTS];	/* unplugged, but not closed yet */
static uint64_t owner_id = RTE_ETH_DEV_NO_OWNER;

/* All but the events runs under rxlab_lock. */

static bool
is_removed(uint16_t port)
{
	return __atomic_load_n(&removed[port], __ATOMIC_ACQUIRE);
}

/*
 * ethdev has no call for this alone. An emulated NIC's application gets its mbufs back with its stop, and some drivers
 * keep them in a stopped port's queues; one without such an operation cannot.
 */
static void
release_queues(uint16_t port)
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
static void
give_back(struct rxlab_lower_port *lower)
{
	if (lower->empties != NULL && lower->empties->shortages > 0)
		PMD_LOG(NOTICE, "%s: %s asked %" PRIu64 " times for more mbufs than there were", rxlab_name(lower->dev),
			lower->dev->source_name, lower->empties->shortages);
	rxlab_empties_free(lower->empties);
	lower->empties = NULL;
}

/* Takes the port from the NIC core; the mbufs of an interrupted turn go back. */
static void
disconnect(struct rxlab_lower_port *lower)
{
	int ret = rxlab_port_lower(lower->dev->port, NULL);

	if (ret != 0)
		PMD_LOG(ERR, "%s: the NIC core does not let go of %s: %s", rxlab_name(lower->dev), lower->dev->source_name,
			rte_strerror(-ret));
	rxlab_lower_abandon(lower);
	lower->started = false;
}

static struct rxlab_lower_port *
find(uint16_t port)
{
	struct rxlab_dev *d;

	TAILQ_FOREACH(d, &rxlab_devs, next) {
		if (d->lower != NULL && d->lower->port == port)
			return d->lower;
	}
	return NULL;
}

static void
stop(struct rxlab_lower_port *lower)
{
	disconnect(lower);
	rxlab_lower_drop_waiting(lower);
	rte_eth_dev_stop(lower->port);
	if (lower->empties != NULL) {
		release_queues(lower->port);
		give_back(lower);
	}
}

/* The port is gone, or about to go and stopped. */
static void
forget(struct rxlab_lower_port *lower)
{
	if (lower->started)
		disconnect(lower);
	give_back(lower);
	lower->port = NO_PORT;
	PMD_LOG(NOTICE, "%s: %s is gone", rxlab_name(lower->dev), lower->dev->source_name);
	rxlab_link_refresh(lower->dev);
}

/*
 * ethdev tells of a port's end after its driver has torn the queues down, when the NIC core may be within one of its
 * bursts. On the vdev bus the NIC core can be called off before: this device's driver is replaced by a copy with a
 * remove that does so.
 */
static int
remove_hook(struct rte_vdev_device *vdev)
{
	struct rxlab_lower_port *lower;
	const struct rte_vdev_driver *driver;

	rxlab_lock();
	lower = container_of(container_of(vdev->device.driver, const struct rte_vdev_driver, driver),
			struct rxlab_lower_port, hook);
	driver = lower->hooked;
	vdev->device.driver = &driver->driver;
	lower->hooked = NULL;
	if (lower->started)
		stop(lower);
	forget(lower);
	rxlab_unlock();
	return driver->remove(vdev);
}

static bool
on_vdev_bus(const struct rte_device *device)
{
	return device->bus != NULL && strcmp(rte_bus_name(device->bus), "vdev") == 0;
}

static void
hook_remove(struct rxlab_lower_port *lower)
{
	struct rte_device *device = rte_eth_devices[lower->port].device;

	if (lower->hooked != NULL || device == NULL || !on_vdev_bus(device))
		return;
	lower->hooked = container_of(device->driver, const struct rte_vdev_driver, driver);
	lower->hook = *lower->hooked;
	lower->hook.remove = remove_hook;
	device->driver = &lower->hook.driver;
}

static void
unhook_remove(struct rxlab_lower_port *lower)
{
	if (lower->hooked == NULL)
		return;
	rte_eth_devices[lower->port].device->driver = &lower->hooked->driver;
	lower->hooked = NULL;
}

static int
claim(struct rxlab_lower_port *lower, uint16_t port)
{
	struct rte_eth_dev_owner owner = { .id = owner_id };
	const struct rxlab_dev *d = lower->dev;
	int ret;

	if (port == d->port_id || find(port) != NULL) {
		PMD_LOG(ERR, "%s: source=port:%s: allowed is a port that is not used already", rxlab_name(d), d->source_name);
		return -EBUSY;
	}
	snprintf(owner.name, sizeof(owner.name), "%s", rxlab_name(d));
	ret = rte_eth_dev_owner_set(port, &owner);
	if (ret != 0) {
		PMD_LOG(ERR, "%s: source=port:%s: that port cannot be owned: %s", rxlab_name(d), d->source_name,
			rte_strerror(-ret));
		return ret;
	}
	lower->port = port;
	return 0;
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
		give_back(lower);
	return ret;
}

static int
configure(struct rxlab_lower_port *lower)
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

static int
run(struct rxlab_lower_port *lower)
{
	const struct rxlab_lower calls = lower->dev->emulate ? rxlab_emulated_calls(lower) : rxlab_lower_calls(lower);
	uint16_t mtu = lower->dev->eth_dev->data->mtu, old;
	int ret;

	/* Not all ports can; frames longer than theirs are then dropped there. */
	if (rte_eth_dev_get_mtu(lower->port, &old) == 0 && old != mtu)
		rte_eth_dev_set_mtu(lower->port, mtu);
	ret = rte_eth_dev_start(lower->port);
	if (ret != 0)
		return ret;
	/* What is filtered is this port's affair. */
	rte_eth_promiscuous_enable(lower->port);
	hook_remove(lower);
	ret = rxlab_port_lower(lower->dev->port, &calls);
	if (ret != 0)
		rte_eth_dev_stop(lower->port);
	return ret;
}

static int
start(struct rxlab_lower_port *lower)
{
	int ret = configure(lower);

	if (ret != 0)
		return ret;
	ret = run(lower);
	lower->started = ret == 0;
	if (ret != 0 && lower->empties != NULL) {
		release_queues(lower->port);
		give_back(lower);
	}
	return ret;
}

/* Starts the lower port, if there is one, its probe is over and it is not about to go. */
int
rxlab_lower_start(struct rxlab_dev *d)
{
	struct rxlab_lower_port *lower = d->lower;
	int ret;

	if (lower == NULL || lower->started || lower->port == NO_PORT)
		return 0;
	if (!rte_dev_is_probed(rte_eth_devices[lower->port].device) || is_removed(lower->port))
		return 0;
	ret = start(lower);
	if (ret != 0)
		PMD_LOG(ERR, "%s: source=port:%s: that port does not start: %s", rxlab_name(d), d->source_name,
			rte_strerror(-ret));
	return ret;
}

void
rxlab_lower_stop(struct rxlab_dev *d)
{
	if (d->lower != NULL && d->lower->started)
		stop(d->lower);
}

bool
rxlab_lower_started(const struct rxlab_dev *d)
{
	return d->lower != NULL && d->lower->started;
}

bool
rxlab_lower_link(const struct rxlab_dev *d)
{
	struct rte_eth_link link;

	if (!rxlab_lower_started(d))
		return false;
	/* A port without link events is taken as up: nothing would tell when it comes up. */
	if (!(rte_eth_devices[d->lower->port].data->dev_flags & RTE_ETH_DEV_INTR_LSC))
		return true;
	return rte_eth_link_get_nowait(d->lower->port, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

/* ---- Events ---- */

/*
 * Brings all ports over others up to date. An alarm, not a part of the event: a port is not usable while it is being
 * probed, and a link event may be raised by a thread that another waits for.
 */
static void
reconcile(void *arg __rte_unused)
{
	struct rxlab_dev *d;
	bool again = false;

	if (!rxlab_trylock()) {
		rte_eal_alarm_set(RETRY_US, reconcile, NULL);
		return;
	}
	TAILQ_FOREACH(d, &rxlab_devs, next) {
		if (d->lower == NULL || d->lower->port == NO_PORT)
			continue;
		if (is_removed(d->lower->port))
			rxlab_lower_stop(d);
		else if (d->running && !d->lower->started && rxlab_lower_start(d) == 0 && !d->lower->started)
			again = true;
		rxlab_link_refresh(d);
	}
	rxlab_unlock();
	if (again)
		rte_eal_alarm_set(RETRY_US, reconcile, NULL);
}

static void
new_port(uint16_t port)
{
	struct rxlab_dev *d;

	TAILQ_FOREACH(d, &rxlab_devs, next) {
		if (d->lower == NULL || d->lower->port != NO_PORT ||
				strcmp(d->source_name, rte_eth_devices[port].data->name) != 0)
			continue;
		if (claim(d->lower, port) == 0)
			rte_eal_alarm_set(1, reconcile, NULL);
		return;
	}
}

static int
port_event(uint16_t port, enum rte_eth_event_type event, void *arg __rte_unused, void *ret_param __rte_unused)
{
	struct rxlab_lower_port *lower;

	switch (event) {
	case RTE_ETH_EVENT_NEW:
		rxlab_lock();
		new_port(port);
		rxlab_unlock();
		break;
	case RTE_ETH_EVENT_DESTROY:
		rxlab_lock();
		lower = find(port);
		if (lower != NULL) {
			unhook_remove(lower);
			forget(lower);
		}
		free_pool(pools[port]);
		pools[port] = NULL;
		removed[port] = false;
		rxlab_unlock();
		break;
	case RTE_ETH_EVENT_INTR_RMV:
		__atomic_store_n(&removed[port], true, __ATOMIC_RELEASE);	/* pairs with is_removed */
		rte_eal_alarm_set(1, reconcile, NULL);
		break;
	default:
		rte_eal_alarm_set(1, reconcile, NULL);
		break;
	}
	return 0;
}

/* Once for the process: a pool may outlive the last port that used it. */
static int
watch(void)
{
	static const enum rte_eth_event_type events[] = {
		RTE_ETH_EVENT_NEW, RTE_ETH_EVENT_DESTROY, RTE_ETH_EVENT_INTR_LSC, RTE_ETH_EVENT_INTR_RMV,
	};
	unsigned int i;
	int ret;

	if (owner_id != RTE_ETH_DEV_NO_OWNER)
		return 0;
	ret = rte_eth_dev_owner_new(&owner_id);
	for (i = 0; i < RTE_DIM(events) && ret == 0; i++)
		ret = rte_eth_dev_callback_register(RTE_ETH_ALL, events[i], port_event, NULL);
	return ret;
}

int
rxlab_lower_new(struct rxlab_dev *d)
{
	struct rxlab_lower_port *lower;
	uint16_t port;
	int ret = watch();

	if (ret != 0)
		return ret;
	lower = rte_zmalloc("rxlab_lower", sizeof(*lower), RTE_CACHE_LINE_SIZE);
	if (lower == NULL)
		return -ENOMEM;
	lower->dev = d;
	lower->port = NO_PORT;
	d->lower = lower;
	if (rte_eth_dev_get_port_by_name(d->source_name, &port) != 0)
		return 0;	/* it may come */
	return claim(lower, port);
}

/* Gives the lower port back as it was: the application's, and stopped. */
void
rxlab_lower_free(struct rxlab_dev *d)
{
	struct rxlab_lower_port *lower = d->lower;

	if (lower == NULL)
		return;
	rxlab_lower_stop(d);
	if (lower->port != NO_PORT) {
		unhook_remove(lower);
		rte_eth_dev_owner_unset(lower->port, owner_id);
	}
	rte_free(lower);
	d->lower = NULL;
}
