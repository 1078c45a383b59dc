/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What all receive bursts are made of. */
#ifndef RXLAB_RX_H
#define RXLAB_RX_H

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "rxlab.h"

/* Headers of mbufs this far ahead are prefetched: they come from the pool, where nobody touched them. */
#define PREFETCH_AHEAD	4

void rxlab_rx_mark(const struct rxlab_completion *c, struct rte_mbuf *m);

/* At least n spares, or as many as the pool has: then false. */
static bool
rx_top_up(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, uint16_t n)
{
	if (likely(rte_mempool_get_bulk(q->pool, &h->spares[h->nb_spares], RXLAB_BURST) == 0)) {
		h->nb_spares += RXLAB_BURST;
		return true;
	}
	while (h->nb_spares < n && rte_mempool_get(q->pool, &h->spares[h->nb_spares]) == 0)
		h->nb_spares++;
	return h->nb_spares >= n;
}

static inline void
rx_fill(const struct rxlab_rx_queue *q, const struct rxlab_completion *c, struct rte_mbuf *m)
{
	*(uint64_t *)&m->rearm_data = q->rearm;
	m->ol_flags = q->ol_flags[(c->kind >> 16) % RTE_DIM(q->ol_flags)];
	m->packet_type = c->kind & UINT16_MAX;
	m->pkt_len = c->len - q->front;
	m->data_len = c->len - q->front;
	m->hash.rss = c->rss;
	if (unlikely(c->mark != 0))
		rxlab_rx_mark(c, m);
}

/* One call into the library for at most n completions; how many. */
static __rte_always_inline uint16_t
rx_completions(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, struct rxlab_completion *done, uint16_t n)
{
	struct rxlab_refill refill;
	uint16_t received;
	bool dry = h->nb_spares < n && !rx_top_up(q, h, n);

	received = rxlab_rx_burst(h->ring, done, n, (const uint64_t *)h->spares, h->nb_spares, &refill);
	if (unlikely(dry && refill.lacks))
		__atomic_fetch_add(q->nombuf, 1, __ATOMIC_RELAXED);
	h->nb_spares -= refill.used;
	return received;
}

#endif /* RXLAB_RX_H */
