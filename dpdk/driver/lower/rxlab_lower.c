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
#define RETRY_US	10000

static bool removed[RTE_MAX_ETHPORTS];	/* unplugged, but not closed yet */
static uint64_t owner_id = RTE_ETH_DEV_NO_OWNER;

/* All but the events runs under rxlab_lock. */

static bool
is_removed(uint16_t port)
{
	return __atomic_load_n(&removed[port], __ATOMIC_ACQUIRE);
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
		rxlab_lower_release_queues(lower->port);
		rxlab_lower_give_back(lower);
	}
}

/* The port is gone, or about to go and stopped. */
static void
forget(struct rxlab_lower_port *lower)
{
	if (lower->started)
		disconnect(lower);
	rxlab_lower_give_back(lower);
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
	int ret = rxlab_lower_configure(lower);

	if (ret != 0)
		return ret;
	ret = run(lower);
	lower->started = ret == 0;
	if (ret != 0 && lower->empties != NULL) {
		rxlab_lower_release_queues(lower->port);
		rxlab_lower_give_back(lower);
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
		rxlab_lower_free_pool(port);
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
