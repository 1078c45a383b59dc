/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * Receive bursts that do more than hand mbufs over; a start chooses them where they are needed (rxlab_choose_bursts).
 */

#include <rte_ether.h>

#include "rxlab_rx.h"

/*
 * The card stores a frame that is longer than an mbuf piece by piece, in order, up to the first piece that finds no mbuf.
 * Such a frame is counted as dropped, and ends for this side where the next one begins.
 */
static uint16_t
rx_chain(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, const struct rxlab_completion *done, uint16_t n,
		struct rte_mbuf **pkts)
{
	uint16_t whole = 0, i;

	for (i = 0; i < n; i++) {
		const struct rxlab_completion *c = &done[i];
		struct rte_mbuf *m = (struct rte_mbuf *)(uintptr_t)c->buf;

		rx_fill(q, c, m);
		if (c->kind & RXLAB_FOLLOWS) {
			if (unlikely(h->chain == NULL)) {
				rte_mbuf_raw_free(m);
				continue;
			}
			h->chain_end->next = m;
			h->chain_end = m;
			h->chain->nb_segs++;
			h->chain->pkt_len += m->data_len;
		} else {
			rte_pktmbuf_free(h->chain);
			h->chain = m;
			h->chain_end = m;
		}
		if (!(c->kind & RXLAB_MORE)) {
			pkts[whole++] = h->chain;
			h->chain = NULL;
		}
	}
	return whole;
}

/* A queue whose frames may lie in several mbufs. One thread at a time polls it. */
uint16_t
rxlab_rx_pkt_burst_scattered(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_rx_queue *q = rxq;
	struct rxlab_rx_half *h = &q->halves[0];
	struct rxlab_completion done[RXLAB_BURST];
	uint16_t received = 0;

	if (unlikely(h->ring == NULL))
		return 0;
	while (received < n) {
		uint16_t want = RTE_MIN(n - received, RXLAB_BURST);
		uint16_t some = rx_completions(q, h, done, want), i;

		for (i = 0; i < some; i++)
			rte_prefetch0((void *)(uintptr_t)done[i].buf);
		received += rx_chain(q, h, done, some, pkts + received);
		if (some < want)
			break;
	}
	return received;
}

/* Takes the tag of a VLAN off, the outer one of two. */
static void
strip(struct rte_mbuf *m)
{
	uint32_t l2 = m->packet_type & RTE_PTYPE_L2_MASK;

	/* The parser knows: no other frame's bytes need be looked at. */
	if (l2 != RTE_PTYPE_L2_ETHER_VLAN && l2 != RTE_PTYPE_L2_ETHER_QINQ)
		return;
	if (rte_vlan_strip(m) != 0)
		return;
	m->packet_type &= ~RTE_PTYPE_L2_MASK;
	m->packet_type |= l2 == RTE_PTYPE_L2_ETHER_QINQ ? RTE_PTYPE_L2_ETHER_VLAN : RTE_PTYPE_L2_ETHER;
}

/* Any queue of a port that strips tags. */
uint16_t
rxlab_rx_pkt_burst_strip(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_rx_queue *q = rxq;
	uint16_t received = q->dev->rx_below(rxq, pkts, n), i;

	for (i = 0; i < received; i++)
		strip(pkts[i]);
	return received;
}
