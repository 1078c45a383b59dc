/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The receive calls of CEIO (section 5), for applications that want more of iface=ceio than rte_eth_rx_burst(). */

#include <errno.h>
#include <string.h>

#include "rxlab.h"
#include "rte_pmd_rxlab.h"

/* A queue that can be polled; NULL, and *error says why. */
static struct rxlab_rx_queue *
queue_of(uint16_t port_id, uint16_t queue_id, int *error)
{
	const struct rte_eth_dev *dev;
	const struct rxlab_dev *d;
	struct rxlab_rx_queue *q;

	*error = -ENODEV;
	if (rte_eal_process_type() != RTE_PROC_PRIMARY || !rte_eth_dev_is_valid_port(port_id))
		return NULL;
	dev = &rte_eth_devices[port_id];
	if (!rxlab_is_rxlab(dev))
		return NULL;
	*error = -ENOTSUP;
	d = rxlab_dev_of(dev);
	if (d->kind != RXLAB_KIND_CARD || strcmp(d->iface, "ceio") != 0)
		return NULL;
	*error = -EINVAL;
	if (queue_id >= dev->data->nb_rx_queues)
		return NULL;
	q = dev->data->rx_queues[queue_id];
	return q == NULL || q->halves[0].ring == NULL ? NULL : q;
}

int
rte_pmd_rxlab_async_recv(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t n)
{
	int error;
	struct rxlab_rx_queue *q = queue_of(port_id, queue_id, &error);

	return q == NULL ? error : rxlab_rx_pkt_burst(q, pkts, n);
}

int
rte_pmd_rxlab_recv(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t n, uint32_t wait_us)
{
	int error;
	struct rxlab_rx_queue *q = queue_of(port_id, queue_id, &error);

	return q == NULL ? error : rxlab_rx_pkt_wait(q, pkts, RTE_MIN(n, RXLAB_BURST), wait_us);
}

/* Whether the NIC core finds the mbuf's data where it looks for it, and room for the longest frame. */
static bool
fits(const struct rxlab_rx_queue *q, const struct rte_mbuf *m)
{
	uint16_t priv = rte_pktmbuf_priv_size(q->pool);

	return RTE_MBUF_DIRECT(m) && m->priv_size == priv && m->buf_addr == RTE_PTR_ADD(m, sizeof(*m) + priv) &&
		m->buf_len >= rte_pktmbuf_data_room_size(q->pool) && rte_mbuf_refcnt_read(m) == 1 && m->next == NULL;
}

int
rte_pmd_rxlab_post_recv(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **mbufs, uint16_t n)
{
	int error;
	struct rxlab_rx_queue *q = queue_of(port_id, queue_id, &error);
	uint16_t i;

	if (q == NULL)
		return error;
	for (i = 0; i < n; i++) {
		if (!fits(q, mbufs[i]))
			return -EINVAL;
	}
	return rxlab_rx_post(q->halves[0].ring, (const uint64_t *)mbufs, n);
}
