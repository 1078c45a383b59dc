/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * Waiting without polling. Rx interrupts are eventfds, which the NIC core writes to once a queue whose event is armed has
 * frames. A lcore that waits for a line of memory to change watches the queue's count of frames.
 */

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_interrupts.h>
#include <rte_malloc.h>
#include <rte_power_intrinsics.h>

#include "rxlab.h"

static void
close_events(struct rxlab_event *events, uint16_t n)
{
	while (n-- > 0)
		close(events[n].fd);
	rte_free(events);
}

static struct rxlab_event *
open_events(uint16_t n)
{
	struct rxlab_event *events = rte_zmalloc("rxlab_events", n * sizeof(*events), RTE_CACHE_LINE_SIZE);
	uint16_t i;

	for (i = 0; events != NULL && i < n; i++) {
		events[i].fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (events[i].fd < 0) {
			close_events(events, i);
			return NULL;
		}
	}
	return events;
}

/* What EAL is told of the events, so that the application's epoll finds them. */
static int
describe(struct rte_intr_handle *handle, const struct rxlab_event *events, uint16_t n)
{
	uint16_t i;

	if (rte_intr_vec_list_alloc(handle, "rxlab_vectors", n) != 0)
		return -ENOMEM;
	if (rte_intr_type_set(handle, RTE_INTR_HANDLE_VDEV) != 0 || rte_intr_nb_efd_set(handle, n) != 0 ||
			rte_intr_max_intr_set(handle, n + RTE_INTR_VEC_RXTX_OFFSET) != 0 ||
			rte_intr_efd_counter_size_set(handle, sizeof(uint64_t)) != 0)
		return -EIO;
	for (i = 0; i < n; i++) {
		if (rte_intr_vec_list_index_set(handle, i, i + RTE_INTR_VEC_RXTX_OFFSET) != 0 ||
				rte_intr_efds_index_set(handle, i, events[i].fd) != 0)
			return -EIO;
	}
	return 0;
}

/* For a start that asks for Rx interrupts. */
int
rxlab_interrupts_open(struct rxlab_dev *d)
{
	struct rte_eth_dev *dev = d->eth_dev;
	uint16_t n = dev->data->nb_rx_queues;
	int ret;

	if (!dev->data->dev_conf.intr_conf.rxq || n == 0)
		return 0;
	d->events = open_events(n);
	if (d->events == NULL) {
		PMD_LOG(ERR, "%s: no %u eventfds for Rx interrupts: %s", rxlab_name(d), n, rte_strerror(errno));
		return -ENOMEM;
	}
	dev->intr_handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	ret = dev->intr_handle == NULL ? -ENOMEM : describe(dev->intr_handle, d->events, n);
	if (ret != 0)
		PMD_LOG(ERR, "%s: EAL takes no %u Rx interrupts: %s", rxlab_name(d), n, rte_strerror(-ret));
	return ret;
}

/* The NIC core has let go of them. */
void
rxlab_interrupts_close(struct rxlab_dev *d)
{
	struct rte_intr_handle *handle = d->eth_dev->intr_handle;

	if (d->events == NULL)
		return;
	if (handle != NULL) {
		rte_intr_free_epoll_fd(handle);
		rte_intr_vec_list_free(handle);
		rte_intr_instance_free(handle);
		d->eth_dev->intr_handle = NULL;
	}
	close_events(d->events, d->eth_dev->data->nb_rx_queues);
	d->events = NULL;
}

int
rxlab_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);

	if (d->events == NULL)
		return -ENOTSUP;
	/* Release: pairs with the acquire of the NIC core, which raises the event for what came since the last one, too. */
	__atomic_store_n(&d->events[queue].armed, 1, __ATOMIC_RELEASE);
	return 0;
}

int
rxlab_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);

	if (d->events == NULL)
		return -ENOTSUP;
	__atomic_store_n(&d->events[queue].armed, 0, __ATOMIC_RELAXED);
	return 0;
}

static int
changed(const uint64_t value, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return value == opaque[0] ? 0 : -1;
}

static int
never(const uint64_t value __rte_unused, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ] __rte_unused)
{
	return -1;
}

/*
 * The count moves after the frame is there. So what is counted once the count was read is awaited, and what was there
 * before is seen by the look at the ring.
 */
int
rxlab_monitor_addr(void *rxq, struct rte_power_monitor_cond *pmc)
{
	struct rxlab_rx_queue *q = rxq;
	volatile uint64_t *count = &q->dev->now.nic.rx[q->id].outcome[RXLAB_OUTCOME_DELIVERED];

	pmc->addr = count;
	pmc->size = sizeof(*count);
	pmc->opaque[0] = __atomic_load_n(count, __ATOMIC_ACQUIRE);
	pmc->fn = rxlab_rx_queue_count(q) == 0 ? changed : never;
	return 0;
}
