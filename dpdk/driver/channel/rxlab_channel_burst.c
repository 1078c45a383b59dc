/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * Bursts over a channel: one call into the library each. It copies frames, but for those in mbufs of the driver's own
 * mempool, whose buffers are the link's.
 */

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "rxlab_channel.h"

/* Headers of mbufs this far ahead are prefetched. */
#define PREFETCH_AHEAD	4

/* At least n spares, or as many as the pool has: then false. */
static bool
top_up(struct rxlab_channel_rx *q, uint16_t n)
{
	if (likely(rte_pktmbuf_alloc_bulk(q->pool, &q->spares[q->nb_spares], RXLAB_BURST) == 0)) {
		q->nb_spares += RXLAB_BURST;
		return true;
	}
	while (q->nb_spares < n) {
		q->spares[q->nb_spares] = rte_pktmbuf_alloc(q->pool);
		if (q->spares[q->nb_spares] == NULL)
			return false;
		q->nb_spares++;
	}
	return true;
}

/* What has come of a frame is freed, and what still comes of it is dropped. */
static void
give_up(struct rxlab_channel_rx *q)
{
	rte_pktmbuf_free(q->first);
	q->first = q->last = NULL;
	q->now->rx_too_long += !q->drops;
	q->drops = true;
}

/* A frame ends with its link. */
static inline void
of_link(struct rxlab_channel_rx *q, uint32_t link)
{
	if (likely(link == q->link))
		return;
	q->link = link;
	if (q->first != NULL)
		give_up(q);
	q->drops = false;
}

/*
 * A piece of a frame of several, or one that did not fit its mbuf: a length of 0. Returns the whole frame at its end,
 * if it is one to be received. No sender makes longer ones: without a bound, a hostile one could empty the mempool.
 */
static __rte_noinline struct rte_mbuf *
join(struct rxlab_channel_rx *q, struct rte_mbuf *m, uint16_t len, bool last)
{
	struct rte_mbuf *whole = NULL;

	if (len == 0 || !q->scatter || (q->first != NULL && q->first->nb_segs == RXLAB_MAX_SEGS))
		give_up(q);
	if (q->drops) {
		rte_pktmbuf_free(m);
	} else if (q->first == NULL) {
		q->first = q->last = m;
	} else {
		q->last->next = m;
		q->last = m;
		q->first->nb_segs++;
		q->first->pkt_len += len;
	}
	if (last) {
		whole = q->first;
		q->first = q->last = NULL;
		q->drops = false;
	}
	return whole;
}

static inline void
fill(const struct rxlab_channel_rx *q, struct rte_mbuf *m, uint64_t rearm, uint16_t len)
{
	*(uint64_t *)&m->rearm_data = rearm;
	m->ol_flags = q->ol_flags;
	m->packet_type = 0;
	m->pkt_len = len;
	m->data_len = len;
}

/* A piece has come in m, which is filled: a frame more, or a part of one. */
static inline uint16_t
take(struct rxlab_channel_rx *q, struct rte_mbuf *m, bool last, struct rte_mbuf **out, uint64_t *bytes)
{
	if (unlikely(!last || m->data_len == 0 || q->first != NULL || q->drops)) {
		m = join(q, m, m->data_len, last);
		if (m == NULL)
			return 0;
	}
	*bytes += m->pkt_len;
	*out = m;
	return 1;
}

/* A burst by copies. */
static uint16_t
rx_some(struct rxlab_channel_rx *q, struct rte_mbuf **pkts, uint16_t n, uint16_t *pieces)
{
	struct rxlab_room rooms[RXLAB_BURST];
	uint16_t came, received = 0, i;
	uint64_t bytes = 0;
	uint32_t link;

	if (q->nb_spares < n && unlikely(!top_up(q, n))) {
		q->now->rx_nombuf++;
		n = q->nb_spares;
	}
	for (i = 0; i < n; i++)
		rooms[i].data = RTE_PTR_ADD(q->spares[q->nb_spares - 1 - i]->buf_addr, RTE_PKTMBUF_HEADROOM);
	came = rxlab_channel_rx(q->channel, rooms, n, q->room, &link);
	of_link(q, link);
	for (i = 0; i < came; i++) {
		struct rte_mbuf *m = q->spares[--q->nb_spares];

		fill(q, m, q->rearm, rooms[i].len);
		received += take(q, m, rooms[i].last, &pkts[received], &bytes);
	}
	q->now->rx_packets += received;
	q->now->rx_bytes += bytes;
	*pieces = came;
	return received;
}

/* A burst in place; negative if the link has other buffers than the mempool. */
static int
rx_in_place(struct rxlab_channel_rx *q, struct rte_mbuf **pkts, uint16_t n, uint16_t *pieces)
{
	struct rxlab_segment segs[RXLAB_BURST];
	struct rte_mbuf *const *headers = q->in_place->headers;
	uint16_t received = 0;
	uint64_t bytes = 0;
	uint32_t link = q->link;
	int came, i;

	for (i = 0; i < n; i++)
		segs[i].last = false;	/* any bytes but those of a bool are valid */
	came = rxlab_channel_rx_in_place(q->channel, segs, n, &link);
	of_link(q, link);
	for (i = 0; i < RTE_MIN(came, PREFETCH_AHEAD); i++)
		rte_prefetch0(headers[segs[i].buf]);
	for (i = 0; i < came; i++) {
		struct rte_mbuf *m = headers[segs[i].buf];

		if (i + PREFETCH_AHEAD < came)
			rte_prefetch0(headers[segs[i + PREFETCH_AHEAD].buf]);
		/* The offset is the other side's; the library has seen that the frame lies in the buffer. */
		fill(q, m, (q->rearm & ~(uint64_t)UINT16_MAX) | segs[i].off, segs[i].len);
		received += take(q, m, segs[i].last, &pkts[received], &bytes);
	}
	q->now->rx_in_place += received;
	q->now->rx_packets += received;
	q->now->rx_bytes += bytes;
	*pieces = (uint16_t)RTE_MAX(came, 0);
	return came < 0 ? came : received;
}

static uint16_t
rx_any(struct rxlab_channel_rx *q, struct rte_mbuf **pkts, uint16_t n, uint16_t *pieces)
{
	int received = q->in_place == NULL ? -1 : rx_in_place(q, pkts, n, pieces);

	return received < 0 ? rx_some(q, pkts, n, pieces) : (uint16_t)received;
}

uint16_t
rxlab_channel_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_channel_rx *q = rxq;
	uint16_t received = 0, came, want;

	do {
		want = RTE_MIN(n - received, RXLAB_BURST);
		received += rx_any(q, pkts + received, want, &came);
	} while (received < n && came == want && want != 0);
	return received;
}

static inline bool
fits(const struct rxlab_channel_tx *q, const struct rte_mbuf *m)
{
	return m->nb_segs - 1u < RXLAB_MAX_SEGS && m->pkt_len - 1 < q->longest;
}

/* Whether the mbuf's buffer may go to the other side: it is the link's, and nobody else has the mbuf or a clone. */
static inline bool
may_pass(const struct rxlab_channel_pool *own, const struct rte_mbuf *m)
{
	return own != NULL && m->pool == own->mp && rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_HAS_EXTBUF(m) &&
		rte_mbuf_ext_refcnt_read(m->shinfo) == 1;
}

/* Describes whole frames, as many as fit one call; how many. Ends before one that is too long. */
static inline uint16_t
gather(const struct rxlab_channel_tx *q, struct rte_mbuf **pkts, uint16_t n, struct rxlab_piece *pieces, uint16_t *used)
{
	const struct rxlab_channel_pool *own = q->dev->pool;
	uint16_t i;

	for (*used = i = 0; i < n; i++) {
		const struct rte_mbuf *m = pkts[i];

		if (unlikely(!fits(q, m)) || m->nb_segs > RXLAB_BURST - *used)
			break;
		do {
			pieces[(*used)++] = (struct rxlab_piece) {
				.data = rte_pktmbuf_mtod(m, const uint8_t *),
				.buf = may_pass(own, m) ? rxlab_channel_buffer(own, m) : RXLAB_ELSEWHERE,
				.off = m->data_off,
				.len = m->data_len,
				.last = m->next == NULL,
			};
			m = m->next;
		} while (m != NULL);
	}
	return i;
}

/* The first n frames went. Those in place are the other side's, and their headers as in a free mbuf; others are freed. */
static void
sent_some(struct rxlab_channel_tx *q, struct rte_mbuf **pkts, uint16_t n, const struct rxlab_piece *pieces, bool passed)
{
	uint16_t i, at = 0;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i], *next;
		bool in_place = passed;
		uint16_t first = at;

		q->now->tx_bytes += m->pkt_len;
		do
			in_place &= pieces[at].buf != RXLAB_ELSEWHERE;
		while (!pieces[at++].last);
		if (!in_place) {
			rte_pktmbuf_free(m);
			continue;
		}
		q->now->tx_in_place++;
		if (likely(at - first == 1))
			continue;
		for (; m != NULL; m = next) {
			next = m->next;
			m->next = NULL;
			m->nb_segs = 1;
		}
	}
	q->now->tx_packets += n;
}

uint16_t
rxlab_channel_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_channel_tx *q = txq;
	struct rxlab_piece pieces[RXLAB_BURST];
	uint16_t sent = 0;

	while (sent < n) {
		bool passed = false;
		uint16_t used, went;
		uint16_t frames = gather(q, pkts + sent, n - sent, pieces, &used);

		if (unlikely(frames == 0)) {
			/* As sent, or an application that sends until all is sent would never end. */
			rte_pktmbuf_free(pkts[sent++]);
			q->now->tx_refused++;
			continue;
		}
		went = rxlab_channel_tx(q->channel, pieces, used, &passed);
		sent_some(q, pkts + sent, went, pieces, passed);
		sent += went;
		if (went < frames)
			break;
	}
	return sent;
}
