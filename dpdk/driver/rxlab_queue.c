/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Queues: set-up, release, and the start and stop of single ones. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "rxlab.h"

/* Every mbuf's data must lie where the mempool's geometry says: the NIC finds it without reading the header. */
struct geometry {
	uint32_t priv_size;
	bool differs;
};

static void
check_mbuf(struct rte_mempool *pool __rte_unused, void *opaque, void *obj, unsigned int index __rte_unused)
{
	struct geometry *g = opaque;
	const struct rte_mbuf *m = obj;

	/* An attached one gets its own buffer back before it returns to the pool. */
	if (RTE_MBUF_DIRECT(m) && m->buf_addr != RTE_PTR_ADD(m, sizeof(*m) + g->priv_size))
		g->differs = true;
}

static int
check_pool(const char *name, struct rte_mempool *pool)
{
	struct geometry g = { .priv_size = rte_pktmbuf_priv_size(pool) };

	if (rte_pktmbuf_priv_flags(pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)
		g.differs = true;
	else
		rte_mempool_obj_iter(pool, check_mbuf, &g);
	if (g.differs) {
		PMD_LOG(ERR, "%s: mempool %s: its mbufs' data lies in external buffers: allowed is data right behind the mbuf",
			name, pool->name);
		return -ENOTSUP;
	}
	return 0;
}

/* Entries of the ring for so many descriptors, which ethdev has bounded: its limits have no word for a power of two. */
static uint16_t
ring_size(const struct rxlab_dev *d, const char *direction, uint16_t queue, uint16_t nb_desc)
{
	uint16_t size = (uint16_t)rte_align32pow2(nb_desc);

	if (size != nb_desc)
		PMD_LOG(INFO, "%s: %s queue %u: %u descriptors for %u, the next power of two", rxlab_name(d), direction,
			queue, size, nb_desc);
	return size;
}

static unsigned int
socket_of(const struct rte_eth_dev *dev, unsigned int socket)
{
	return (int)socket == SOCKET_ID_ANY ? (unsigned int)dev->data->numa_node : socket;
}

uint64_t
rxlab_rearm_data(uint16_t port)
{
	struct rte_mbuf m = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = port };

	uint64_t rearm;

	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&rearm, &m.rearm_data, sizeof(rearm));
	return rearm;
}

static void
set_ol_flags(struct rxlab_rx_queue *q, uint64_t offloads)
{
	static const struct {
		uint32_t kind;
		uint64_t offload;
		uint64_t ol_flag;
	} flags[] = {
		{ RXLAB_IP_GOOD, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, RTE_MBUF_F_RX_IP_CKSUM_GOOD },
		{ RXLAB_IP_BAD, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, RTE_MBUF_F_RX_IP_CKSUM_BAD },
		{ RXLAB_L4_GOOD, RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM,
			RTE_MBUF_F_RX_L4_CKSUM_GOOD },
		{ RXLAB_L4_BAD, RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM,
			RTE_MBUF_F_RX_L4_CKSUM_BAD },
		{ RXLAB_HASHED, RTE_ETH_RX_OFFLOAD_RSS_HASH, RTE_MBUF_F_RX_RSS_HASH },
	};
	unsigned int i, j;

	for (i = 0; i < RTE_DIM(q->ol_flags); i++) {
		q->ol_flags[i] = q->dev->tagged;
		for (j = 0; j < RTE_DIM(flags); j++) {
			if ((i << 16 & flags[j].kind) && (offloads & flags[j].offload))
				q->ol_flags[i] |= flags[j].ol_flag;
		}
	}
}

int
rxlab_rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_rx_queue *q;
	int ret;

	ret = check_pool(rxlab_name(d), pool);
	if (ret != 0)
		return ret;
	nb_desc = ring_size(d, "Rx", queue, nb_desc);
	socket = socket_of(dev, socket);
	q = rte_zmalloc_socket("rxlab_rx_queue", sizeof(*q) + d->nb_halves * sizeof(q->halves[0]), RTE_CACHE_LINE_SIZE,
			(int)socket);
	if (q == NULL)
		return -ENOMEM;
	q->pool = pool;
	q->rearm = rxlab_rearm_data(dev->data->port_id);
	q->nombuf = &d->now.rx_nombuf[queue];
	q->nb_halves = d->nb_halves;
	q->front = d->front;
	q->dev = d;
	set_ol_flags(q, conf->offloads | dev->data->dev_conf.rxmode.offloads);
	q->id = queue;
	q->nb_desc = nb_desc;
	q->deferred = conf->rx_deferred_start;
	q->socket = socket;
	q->conf = *conf;
	dev->data->rx_queues[queue] = q;
	return 0;
}

/* Room for what a ring of so many descriptors holds, in a queue that holds nothing. */
int
rxlab_tx_queue_size(struct rxlab_tx_queue *q, uint16_t nb_desc)
{
	uint32_t entries = 2 * (uint32_t)nb_desc;
	struct rte_mbuf **sw_ring;
	struct rxlab_tx_slot *slots = NULL;

	sw_ring = rte_zmalloc_socket("rxlab_sw_ring", entries * sizeof(*sw_ring), RTE_CACHE_LINE_SIZE, (int)q->socket);
	if (sw_ring != NULL && q->edits != 0)
		slots = rte_malloc_socket("rxlab_slots", entries * sizeof(*slots), RTE_CACHE_LINE_SIZE, (int)q->socket);
	if (sw_ring == NULL || (q->edits != 0 && slots == NULL)) {
		rte_free(sw_ring);
		return -ENOMEM;
	}
	rte_free(q->sw_ring);
	rte_free(q->slots);
	q->sw_ring = sw_ring;
	q->slots = slots;
	q->mask = entries - 1;
	q->nb_desc = nb_desc;
	return 0;
}

int
rxlab_tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_txconf *conf)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	uint64_t offloads = conf->offloads | dev->data->dev_conf.txmode.offloads;
	struct rxlab_tx_queue *q;

	nb_desc = ring_size(d, "Tx", queue, nb_desc);
	socket = socket_of(dev, socket);
	q = rte_zmalloc_socket("rxlab_tx_queue", sizeof(*q), RTE_CACHE_LINE_SIZE, (int)socket);
	if (q == NULL)
		return -ENOMEM;
	q->edits = rxlab_tx_edits(offloads);
	q->socket = socket;
	if (rxlab_tx_queue_size(q, nb_desc) != 0) {
		rte_free(q);
		return -ENOMEM;
	}
	/*
	 * A chain's links must be cut before its mbufs are free: not without reading them. And of a changed frame an entry is of
	 * no mbuf.
	 */
	q->fast_free = (offloads & (RXLAB_TX_PLAIN | RXLAB_TX_EDITS)) == RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	q->refused = &d->now.tx_refused[queue];
	q->tagged = d->tagged;
	q->passes = d->emulate;
	q->dev = d;
	q->id = queue;
	q->deferred = conf->tx_deferred_start;
	q->conf = *conf;
	dev->data->tx_queues[queue] = q;
	return 0;
}

/* ethdev releases queues of stopped ports only: they hold no mbufs. */
void
rxlab_rx_queue_release(struct rte_eth_dev *dev, uint16_t queue)
{
	rte_free(dev->data->rx_queues[queue]);
	dev->data->rx_queues[queue] = NULL;
}

void
rxlab_tx_queue_release(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_tx_queue *q = dev->data->tx_queues[queue];

	if (q == NULL)
		return;
	rte_free(q->sw_ring);
	rte_free(q->slots);
	rte_free(q);
	dev->data->tx_queues[queue] = NULL;
}

static void
give_back(void *ctx __rte_unused, const uint64_t *bufs, uint32_t n)
{
	rxlab_put_bulk((void *const *)(uintptr_t)bufs, n);
}

/* Spares for n buffers, but at most a burst: in bulk while the pool has that many, then singly. */
static void
get_spares(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, uint32_t n)
{
	n = RTE_MIN(n, (uint32_t)RXLAB_BURST);
	if (rte_mempool_get_bulk(q->pool, &h->spares[h->nb_spares], n) == 0) {
		h->nb_spares += n;
		return;
	}
	while (n-- > 0 && rte_mempool_get(q->pool, &h->spares[h->nb_spares]) == 0)
		h->nb_spares++;
}

static int
open_half(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, uint16_t number)
{
	uint32_t missing;
	uint16_t used = 0;

	h->ring = rxlab_port_rxq(q->dev->port, q->id, number);
	for (;;) {
		missing = rxlab_rxq_fill(h->ring, (const uint64_t *)h->spares, h->nb_spares, &used);
		h->nb_spares -= used;
		if (missing == 0)
			return 0;
		get_spares(q, h, missing);
		if (h->nb_spares == 0) {
			PMD_LOG(ERR, "%s: Rx queue %u: mempool %s is empty: the queue needs %u more mbufs",
				rxlab_name(q->dev), q->id, q->pool->name, missing);
			return -ENOMEM;
		}
	}
}

/* Fills the ring. After an error the queue holds what it got: stop it, then close it. */
int
rxlab_rx_queue_open(struct rxlab_rx_queue *q)
{
	uint16_t i;
	int ret;

	for (i = 0; i < q->nb_halves; i++) {
		ret = open_half(q, &q->halves[i], i);
		if (ret != 0)
			return ret;
	}
	q->dev->eth_dev->data->rx_queue_state[q->id] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

/* Gives back all that a queue holds which the NIC no longer serves, whoever polled it last. */
void
rxlab_rx_queue_close(struct rxlab_rx_queue *q)
{
	uint16_t i;

	q->dev->eth_dev->data->rx_queue_state[q->id] = RTE_ETH_QUEUE_STATE_STOPPED;
	for (i = 0; i < q->nb_halves; i++) {
		struct rxlab_rx_half *h = &q->halves[i];
		struct rxlab_rxq *ring = rxlab_port_rxq(q->dev->port, q->id, i);

		/* Also one that was never opened: a shared ring gives its buffers back when all its halves have left. */
		if (ring == NULL)
			continue;
		rxlab_rxq_drain(ring, give_back, NULL);
		rxlab_put_bulk(h->spares, h->nb_spares);
		h->nb_spares = 0;
		/* The rest of that frame was dropped, or will be counted as of a stopped queue. */
		rte_pktmbuf_free(h->chain);
		h->chain = NULL;
		h->ring = NULL;
	}
	/* Other threads may poll it next. */
	memset(q->half_of, 0, sizeof(q->half_of));
	q->nb_taken = 0;
}

void
rxlab_tx_queue_open(struct rxlab_tx_queue *q)
{
	q->head = 0;
	q->tail = 0;
	q->done = 0;
	q->ring = rxlab_port_txq(q->dev->port, q->id);
	q->dev->eth_dev->data->tx_queue_state[q->id] = RTE_ETH_QUEUE_STATE_STARTED;
}

void
rxlab_tx_queue_close(struct rxlab_tx_queue *q)
{
	q->dev->eth_dev->data->tx_queue_state[q->id] = RTE_ETH_QUEUE_STATE_STOPPED;
	if (q->ring == NULL)
		return;
	rxlab_tx_read(q, q->done + rxlab_txq_reclaim(q->ring));
	rxlab_tx_free(q, rxlab_txq_drain(q->ring));
	RTE_ASSERT(q->head == q->tail);
	q->done = 0;
	q->ring = NULL;
}

static int
hand_shake_error(const struct rxlab_dev *d, const char *what, uint16_t queue, int ret)
{
	PMD_LOG(ERR, "%s: %s queue %u: the NIC core does not answer: %s", rxlab_name(d), what, queue, rte_strerror(-ret));
	return ret;
}

int
rxlab_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_rx_queue *q = dev->data->rx_queues[queue];
	int ret;

	if (q->halves[0].ring != NULL)
		return 0;
	rxlab_lock();
	ret = rxlab_rxq_switch(q->dev->port, queue, true);
	if (ret != 0) {
		hand_shake_error(q->dev, "start of Rx", queue, ret);
	} else {
		ret = rxlab_rx_queue_open(q);
		if (ret != 0 && rxlab_rxq_switch(q->dev->port, queue, false) == 0)
			rxlab_rx_queue_close(q);
	}
	rxlab_unlock();
	return ret;
}

int
rxlab_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_rx_queue *q = dev->data->rx_queues[queue];
	int ret;

	if (q->halves[0].ring == NULL)
		return 0;
	rxlab_lock();
	ret = rxlab_rxq_switch(q->dev->port, queue, false);
	if (ret == 0)
		rxlab_rx_queue_close(q);
	else
		hand_shake_error(q->dev, "stop of Rx", queue, ret);
	rxlab_unlock();
	return ret;
}

int
rxlab_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_tx_queue *q = dev->data->tx_queues[queue];
	int ret;

	if (q->ring != NULL)
		return 0;
	rxlab_lock();
	ret = rxlab_txq_switch(q->dev->port, queue, true);
	if (ret == 0)
		rxlab_tx_queue_open(q);
	else
		hand_shake_error(q->dev, "start of Tx", queue, ret);
	rxlab_unlock();
	return ret;
}

int
rxlab_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue)
{
	struct rxlab_tx_queue *q = dev->data->tx_queues[queue];
	int ret;

	if (q->ring == NULL)
		return 0;
	rxlab_lock();
	ret = rxlab_txq_switch(q->dev->port, queue, false);
	if (ret == 0)
		rxlab_tx_queue_close(q);
	else
		hand_shake_error(q->dev, "stop of Tx", queue, ret);
	rxlab_unlock();
	return ret;
}
