/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* A port whose wire is a channel to another process: one queue each way, polled by the application alone. */
#ifndef RXLAB_CHANNEL_H
#define RXLAB_CHANNEL_H

#include "../rxlab.h"

/* Everything counted; secondary processes read it. */
struct rxlab_channel_stats {
	uint64_t rx_packets, rx_bytes;
	uint64_t rx_in_place;		/* frames that were not copied */
	uint64_t rx_too_long;		/* frames that no mbuf has room for, or that take several without SCATTER */
	uint64_t rx_nombuf;
	/* Rx and Tx may be polled by different lcores. */
	uint64_t tx_packets __rte_cache_aligned;
	uint64_t tx_bytes;
	uint64_t tx_in_place;
	uint64_t tx_refused;		/* frames that are too long or have too many segments */
	uint64_t links;			/* made since the port is there */
};

struct rxlab_channel_dev;

/* What a mempool of the driver knows; its mbuf i has buffer i. */
struct rxlab_channel_pool {
	struct rxlab_channel *channel;
	struct rxlab_lent lent;
	uint32_t shift, inverse;	/* the stride, as a power of two and the inverse of its odd part */
	const struct rte_mempool *mp;
	struct rxlab_channel_dev *port;	/* NULL once it is closed */
	uint32_t nb_headers;
	struct rte_mbuf *headers[];
};

/* The buffer of an mbuf of the pool. */
static inline uint32_t
rxlab_channel_buffer(const struct rxlab_channel_pool *p, const struct rte_mbuf *m)
{
	return (uint32_t)(RTE_PTR_DIFF(m->buf_addr, p->lent.base) >> p->shift) * p->inverse;
}

struct rxlab_channel_rx {
	struct rxlab_channel *channel;
	struct rxlab_channel_stats *now;
	struct rte_mempool *pool;
	struct rxlab_channel_pool *in_place;	/* the pool is the driver's own */
	uint64_t ol_flags;		/* of each received mbuf */
	uint64_t rearm;			/* data_off, refcnt, nb_segs and port of each received mbuf */
	struct rte_mbuf *first, *last;	/* of a frame that has come in part */
	bool drops;			/* what comes of that frame */
	uint32_t link;			/* the number of the link that it comes of */
	bool scatter;
	uint16_t room;			/* bytes of frame that an mbuf holds */
	uint16_t nb_spares;
	uint16_t nb_desc;
	struct rte_mbuf *spares[2 * RXLAB_BURST];
} __rte_cache_aligned;

struct rxlab_channel_tx {
	struct rxlab_channel *channel;
	struct rxlab_channel_stats *now;
	struct rxlab_channel_dev *dev;
	uint32_t longest;		/* bytes */
	uint16_t nb_desc;
} __rte_cache_aligned;

/* A port, in EAL memory. */
struct rxlab_channel_dev {
	enum rxlab_kind kind;
	struct rxlab_channel_stats now;
	struct rxlab_channel_stats base;	/* of the last reset */
	uint32_t longest;		/* bytes of a frame */
	uint32_t speed;			/* of the link, in Mbps */
	struct rte_ether_addr mac;

	/* Primary process only. */
	struct rte_eth_dev *eth_dev;
	struct rxlab_channel *channel;
	struct rxlab_channel_pool *pool;	/* the mempool in place, while there is one */
	bool running;
};

static inline struct rxlab_channel_dev *
rxlab_channel_of(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

/* rxlab_channel.c */
bool rxlab_channel_is(const struct rte_eth_dev *dev);
int rxlab_channel_probe(struct rte_vdev_device *vdev, const struct rxlab_conf *conf);
void rxlab_channel_attach(struct rte_eth_dev *dev);

/* rxlab_channel_queue.c */
int rxlab_channel_rx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int rxlab_channel_tx_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_txconf *conf);
void rxlab_channel_rx_release(struct rte_eth_dev *dev, uint16_t queue);
void rxlab_channel_tx_release(struct rte_eth_dev *dev, uint16_t queue);
void rxlab_channel_rx_empty(struct rxlab_channel_rx *q);

/* rxlab_channel_burst.c */
uint16_t rxlab_channel_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n);
uint16_t rxlab_channel_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n);

/* rxlab_channel_stats.c */
int rxlab_channel_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int rxlab_channel_stats_reset(struct rte_eth_dev *dev);
int rxlab_channel_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n);
int rxlab_channel_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n);

#endif /* RXLAB_CHANNEL_H */
