/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What people look at: the port as text, and its registers. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "rxlab.h"

static void
dump_rx_queue(const struct rxlab_rx_queue *q, uint16_t id, FILE *file)
{
	if (q == NULL) {
		fprintf(file, "  Rx queue %u: not set up\n", id);
		return;
	}
	fprintf(file, "  Rx queue %u: %u descriptors, mempool %s, %s", id, q->nb_desc, q->pool->name,
		q->halves[0].ring == NULL ? "stopped" : "started");
	if (q->nb_halves > 1)
		fprintf(file, ", %u of %u threads", q->nb_taken, q->nb_halves);
	fprintf(file, "\n");
}

static void
dump_tx_queue(const struct rxlab_tx_queue *q, uint16_t id, FILE *file)
{
	if (q == NULL) {
		fprintf(file, "  Tx queue %u: not set up\n", id);
		return;
	}
	fprintf(file, "  Tx queue %u: %u descriptors, %u of them held, %s%s\n", id, q->nb_desc, q->head - q->tail,
		q->ring == NULL ? "stopped" : "started", q->edits == 0 ? "" : ", changes frames");
}

int
rxlab_priv_dump(struct rte_eth_dev *dev, FILE *file)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	uint16_t i;

	fprintf(file, "  iface=%s source=%s, NIC core on CPU %d, %s\n", d->iface, d->source, d->nic_cpu,
		d->running ? "started" : "stopped");
	fprintf(file, "  MTU %u, %s%s%s%s\n", dev->data->mtu,
		dev->data->scattered_rx ? "a frame in one mbuf or several" : "a frame in one mbuf",
		d->strips ? ", tags of VLANs taken off" : "", d->emulate ? ", emulates" : "",
		d->events != NULL ? ", Rx interrupts" : "");
	if (d->one_mbuf != NULL)
		fprintf(file, "  no scattered Rx: %s\n", d->one_mbuf);
	for (i = 0; i < dev->data->nb_rx_queues; i++)
		dump_rx_queue(dev->data->rx_queues[i], i, file);
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		dump_tx_queue(dev->data->tx_queues[i], i, file);
	return 0;
}

/* A card's registers are its counters: what the NIC core counts since the port's probe, in the order of rxlab_pmd.h. */
int
rxlab_get_reg(struct rte_eth_dev *dev, struct rte_dev_reg_info *info)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	const uint64_t *words = (const uint64_t *)&d->now.nic;
	uint32_t all = sizeof(d->now.nic) / sizeof(*words), i;
	uint64_t *out = info->data;

	if (out == NULL) {
		info->length = all;
		info->width = sizeof(*words);
		return 0;
	}
	if (info->length != 0 && info->length != all) {
		PMD_LOG(ERR, "%s: %u registers from %u: allowed are all %u from 0", rxlab_name(d), info->length, info->offset, all);
		return -ENOTSUP;
	}
	info->version = 1;
	for (i = 0; i < all; i++)
		out[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
	return 0;
}
