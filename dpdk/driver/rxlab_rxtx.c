/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Bursts: one call into the library each, mbufs on this side. */

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_flow.h>
#include <rte_prefetch.h>

#include "rxlab_rx.h"
#include "rxlab_tx.h"

/* Gives mbufs that are in the state of a free one back to their pools. */
void
rxlab_put_bulk(void *const *mbufs, uint32_t n)
{
	uint32_t first, i;

	for (first = 0; first < n; first = i) {
		struct rte_mempool *pool = ((struct rte_mbuf *)mbufs[first])->pool;

		for (i = first + 1; i < n && ((struct rte_mbuf *)mbufs[i])->pool == pool; i++)
			;
		rte_mempool_put_bulk(pool, &mbufs[first], i - first);
	}
}

/* What flow rules tell of a frame, in the one word that a completion has for it: metadata, a flag or a mark. */
__rte_noinline void
rxlab_rx_mark(const struct rxlab_completion *c, struct rte_mbuf *m)
{
	if (c->kind & RXLAB_META) {
		if (rte_flow_dynf_metadata_avail()) {
			rte_flow_dynf_metadata_set(m, c->mark);
			m->ol_flags |= RTE_MBUF_DYNFLAG_RX_METADATA;
		}
		return;
	}
	m->ol_flags |= RTE_MBUF_F_RX_FDIR;
	if (c->mark != RXLAB_FLAG) {
		m->ol_flags |= RTE_MBUF_F_RX_FDIR_ID;
		m->hash.fdir.hi = c->mark - 1;
	}
}

static inline void
rx_hand_over(const struct rxlab_rx_queue *q, const struct rxlab_completion *done, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < RTE_MIN(n, PREFETCH_AHEAD); i++)
		rte_prefetch0((void *)(uintptr_t)done[i].buf);
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = (struct rte_mbuf *)(uintptr_t)done[i].buf;

		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0((void *)(uintptr_t)done[i + PREFETCH_AHEAD].buf);
		rx_fill(q, &done[i], m);
		pkts[i] = m;
	}
}

static uint16_t
rx_some(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_completion done[RXLAB_BURST];
	uint16_t received = rx_completions(q, h, done, n);

	rx_hand_over(q, done, pkts, received);
	return received;
}

/* As a burst of one call into the library, but waits for frames that the card keeps; -ENOTSUP if it keeps none. */
int
rxlab_rx_pkt_wait(struct rxlab_rx_queue *q, struct rte_mbuf **pkts, uint16_t n, uint32_t wait_us)
{
	struct rxlab_rx_half *h = &q->halves[0];
	struct rxlab_completion done[RXLAB_BURST];
	struct rxlab_refill refill;
	bool dry = h->nb_spares < n && !rx_top_up(q, h, n);
	int received;

	received = rxlab_rx_wait(h->ring, done, n, (const uint64_t *)h->spares, h->nb_spares, &refill, wait_us);
	if (received < 0)
		return received;
	if (unlikely(dry && refill.lacks))
		__atomic_fetch_add(q->nombuf, 1, __ATOMIC_RELAXED);
	h->nb_spares -= refill.used;
	rx_hand_over(q, done, pkts, (uint16_t)received);
	return received;
}

static inline uint16_t
rx_burst(const struct rxlab_rx_queue *q, struct rxlab_rx_half *h, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t received = 0;

	if (unlikely(h->ring == NULL))
		return 0;
	if (likely(n <= RXLAB_BURST))
		return rx_some(q, h, pkts, n);
	while (received < n) {
		uint16_t want = RTE_MIN(n - received, RXLAB_BURST);
		uint16_t some = rx_some(q, h, pkts + received, want);

		received += some;
		if (some < want)
			break;
	}
	return received;
}

/* A queue that one thread at a time polls. */
uint16_t
rxlab_rx_pkt_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_rx_queue *q = rxq;

	return rx_burst(q, &q->halves[0], pkts, n);
}

/* A number of the calling thread, which is no lcore; RXLAB_THREAD_IDS if it comes too late for one. */
static unsigned int
thread_id(void)
{
	static unsigned int next = RTE_MAX_LCORE;
	static __thread unsigned int mine;

	if (mine == 0)
		mine = RTE_MIN(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED), (unsigned int)RXLAB_THREAD_IDS);
	return mine;
}

/* The first poll of a thread takes a half, which is its own until the queue stops. */
static struct rxlab_rx_half *
rx_take_half(struct rxlab_rx_queue *q, unsigned int thread)
{
	uint16_t taken = __atomic_load_n(&q->nb_taken, __ATOMIC_RELAXED);

	if (q->halves[0].ring == NULL)
		return NULL;
	/* Relaxed: it matters that nobody else has the half, not what anybody did before. */
	while (taken < q->nb_halves && thread < RXLAB_THREAD_IDS) {
		if (__atomic_compare_exchange_n(&q->nb_taken, &taken, taken + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			q->half_of[thread] = (uint8_t)(taken + 1);
			return &q->halves[taken];
		}
	}
	q->half_of[thread] = RXLAB_NO_HALF;
	PMD_LOG(ERR, "%s: Rx queue %u: one more thread polls it, and receives nothing: allowed are threads=%u",
		rxlab_name(q->dev), q->id, q->nb_halves);
	return NULL;
}

/* The calling thread's half of a queue that several may poll; NULL if there is none left for it. */
static inline struct rxlab_rx_half *
rx_half(struct rxlab_rx_queue *q)
{
	unsigned int thread = rte_lcore_id();
	uint8_t half;

	if (unlikely(thread >= RTE_MAX_LCORE))
		thread = thread_id();
	half = q->half_of[thread];
	if (likely((uint8_t)(half - 1) < q->nb_halves))
		return &q->halves[half - 1];
	return half == RXLAB_NO_HALF ? NULL : rx_take_half(q, thread);
}

/* A queue that several threads may poll at a time. */
uint16_t
rxlab_rx_pkt_burst_shared(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct rxlab_rx_queue *q = rxq;
	struct rxlab_rx_half *h = rx_half(q);

	return unlikely(h == NULL) ? 0 : rx_burst(q, h, pkts, n);
}

/* The ring as the calling thread sees it; NULL while the queue is stopped, or if the thread may not poll it. */
static struct rxlab_rxq *
rx_ring(struct rxlab_rx_queue *q)
{
	struct rxlab_rx_half *h = q->nb_halves == 1 ? &q->halves[0] : rx_half(q);

	return h == NULL ? NULL : h->ring;
}

uint32_t
rxlab_rx_queue_count(void *rxq)
{
	struct rxlab_rxq *ring = rx_ring(rxq);

	return ring == NULL ? 0 : rxlab_rxq_count(ring);
}

int
rxlab_rx_descriptor_status(void *rxq, uint16_t offset)
{
	struct rxlab_rxq *ring = rx_ring(rxq);

	return ring == NULL ? RTE_ETH_RX_DESC_UNAVAIL : rxlab_rxq_status(ring, offset);
}

/* All mbufs of the queue come from one pool, unshared and of one segment: nothing of them need be read. */
static void
tx_free_fast(struct rxlab_tx_queue *q, uint32_t n)
{
	struct rte_mempool *pool = q->sw_ring[q->tail & q->mask]->pool;

	while (n > 0) {
		uint32_t first = q->tail & q->mask;
		uint32_t run = RTE_MIN(n, q->mask + 1 - first);

		rte_mempool_put_bulk(pool, (void **)&q->sw_ring[first], run);
		q->tail += run;
		n -= run;
	}
}

static void
tx_free_any(struct rxlab_tx_queue *q, uint32_t n)
{
	void *freed[RXLAB_BURST];
	uint32_t nb_freed = 0;

	for (; n > 0; n--) {
		struct rte_mbuf *m = rte_pktmbuf_prefree_seg(q->sw_ring[q->tail++ & q->mask]);

		if (m == NULL)
			continue;
		freed[nb_freed++] = m;
		if (nb_freed == RTE_DIM(freed)) {
			rxlab_put_bulk(freed, nb_freed);
			nb_freed = 0;
		}
	}
	rxlab_put_bulk(freed, nb_freed);
}

/* As any, but an entry of a frame that was changed is of its slot, and has no mbuf. */
static void
tx_free_edited(struct rxlab_tx_queue *q, uint32_t n)
{
	for (; n > 0; n--) {
		struct rte_mbuf *m = q->sw_ring[q->tail++ & q->mask];

		if (m != NULL)
			rte_pktmbuf_free_seg(m);
	}
}

/* Frees the n oldest segments held, which are the application's. */
void
rxlab_tx_free(struct rxlab_tx_queue *q, uint32_t n)
{
	if (n == 0)
		return;
	if (q->fast_free)
		tx_free_fast(q, n);
	else if (q->slots != NULL)
		tx_free_edited(q, n);
	else
		tx_free_any(q, n);
}

/* The NIC core has read the n oldest segments held. If it has passed them on, they are the port below's now. */
void
rxlab_tx_read(struct rxlab_tx_queue *q, uint32_t n)
{
	if (q->passes)
		q->tail += n;
	else
		rxlab_tx_free(q, n);
}

/* A queue that sends frames as they are. */
uint16_t
rxlab_tx_pkt_burst(void *txq, struct rte_mbuf **pkts, uint16_t n)
{
	return tx_burst(txq, pkts, n, tx_gather);
}

uint16_t
rxlab_tx_pkt_prepare(void *txq, struct rte_mbuf **pkts, uint16_t n)
{
	const struct rxlab_tx_queue *q = txq;
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (!tx_fits(q, pkts[i])) {
			rte_errno = EINVAL;
			return i;
		}
		if (pkts[i]->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK & ~(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6 | q->edits)) {
			rte_errno = ENOTSUP;
			return i;
		}
		if ((pkts[i]->ol_flags & q->edits) && !rxlab_tx_can_edit(q, pkts[i])) {
			rte_errno = EINVAL;
			return i;
		}
	}
	return n;
}

int
rxlab_tx_descriptor_status(void *txq, uint16_t offset)
{
	struct rxlab_tx_queue *q = txq;

	return q->ring == NULL ? RTE_ETH_TX_DESC_UNAVAIL : rxlab_txq_status(q->ring, offset);
}

/* Frees at most free_cnt frames that the NIC has read, all of them if it is 0. Returns how many. */
int
rxlab_tx_done_cleanup(void *txq, uint32_t free_cnt)
{
	struct rxlab_tx_queue *q = txq;
	uint32_t segs = 0, frames = 0;

	if (q->passes)
		return -ENOTSUP;	/* the port below frees them */
	if (q->ring == NULL)
		return 0;
	q->done += rxlab_txq_reclaim(q->ring);
	while (segs < q->done && (free_cnt == 0 || frames < free_cnt)) {
		const struct rte_mbuf *m = q->sw_ring[(q->tail + segs++) & q->mask];

		frames += m != NULL && m->next == NULL;
	}
	rxlab_tx_free(q, segs);
	q->done -= segs;
	return (int)frames;
}
