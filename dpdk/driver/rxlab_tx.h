/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What all transmit bursts are made of. */
#ifndef RXLAB_TX_H
#define RXLAB_TX_H

#include <rte_branch_prediction.h>

#include "rxlab.h"

static inline bool
tx_fits(const struct rxlab_tx_queue *q, const struct rte_mbuf *m)
{
	/* A chain on a MBUF_FAST_FREE queue would go back to the pool with its links. */
	return m->nb_segs - 1u < (q->fast_free ? 1u : RXLAB_MAX_SEGS) && m->pkt_len - 1 < RXLAB_MAX_FRAME;
}

/* Bytes of the tag that the NIC wrote before the frame, if it is still there. */
static inline uint16_t
tx_tag(const struct rxlab_tx_queue *q, const struct rte_mbuf *m)
{
	return unlikely(m->ol_flags & q->tagged) && m->data_off == RTE_PKTMBUF_HEADROOM ? RXLAB_TAG : 0;
}

static inline uint16_t
tx_frames(const struct rxlab_segment *segs, uint16_t n)
{
	uint16_t frames = 0, i;

	for (i = 0; i < n; i++)
		frames += segs[i].last;
	return frames;
}

/* Describes a frame that is sent as it is, and stores its mbufs in the sw_ring, the first as entry `used` from the head. */
static __rte_always_inline uint16_t
tx_describe(struct rxlab_tx_queue *q, struct rte_mbuf *m, struct rxlab_segment *segs, uint16_t used)
{
	uint16_t tag = tx_tag(q, m), first = used;

	do {
		q->sw_ring[(q->head + used) & q->mask] = m;
		segs[used++] = (struct rxlab_segment) {
			.buf = q->passes ? (uintptr_t)m : rte_pktmbuf_mtod(m, uintptr_t) - tag,
			.off = tag,
			.len = m->data_len,
			.last = m->next == NULL,
		};
		tag = 0;	/* a chain has the tag of its first mbuf */
		m = m->next;
	} while (m != NULL);
	return used - first;
}

typedef uint16_t (*rxlab_tx_gather_t)(struct rxlab_tx_queue *q, struct rte_mbuf **pkts, uint16_t n,
		struct rxlab_segment *segs, uint16_t *nb_segs);

/*
 * Describes whole frames, as many as fit one call. Returns the frames; ends before one that does not fit the ring.
 */
static __rte_always_inline uint16_t
tx_gather(struct rxlab_tx_queue *q, struct rte_mbuf **pkts, uint16_t n, struct rxlab_segment *segs, uint16_t *nb_segs)
{
	uint16_t used = 0, i;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (unlikely(!tx_fits(q, m)) || m->nb_segs > RXLAB_BURST - used)
			break;
		used += tx_describe(q, m, segs, used);
	}
	*nb_segs = used;
	return i;
}

/* A burst, whose frames `gather` describes. */
static __rte_always_inline uint16_t
tx_burst(struct rxlab_tx_queue *q, struct rte_mbuf **pkts, uint16_t n, rxlab_tx_gather_t gather)
{
	struct rxlab_segment segs[RXLAB_BURST];
	uint16_t sent = 0;

	if (unlikely(q->ring == NULL))
		return 0;
	if (unlikely(q->done > 0)) {
		rxlab_tx_read(q, q->done);
		q->done = 0;
	}
	while (sent < n) {
		uint16_t nb_segs, taken;
		uint32_t freed = 0;
		uint16_t frames = gather(q, pkts + sent, n - sent, segs, &nb_segs);

		if (unlikely(frames == 0)) {
			/* As sent, or an application that sends until all is sent would never end. */
			rte_pktmbuf_free(pkts[sent++]);
			(*q->refused)++;
			continue;
		}
		taken = rxlab_tx_burst(q->ring, segs, nb_segs, &freed);
		q->head += taken;
		rxlab_tx_read(q, freed);
		if (taken < nb_segs)
			return sent + tx_frames(segs, taken);
		sent += frames;
	}
	return sent;
}

#endif /* RXLAB_TX_H */
