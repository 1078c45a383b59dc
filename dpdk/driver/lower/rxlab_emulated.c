/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The bursts of a port under an emulated NIC, on the NIC core: pointers to the application's mbufs pass both ways. */

#include <string.h>

#include "rxlab_empties.h"

/* Whether it can be lent to the port below: of a mempool of the application's, unshared. */
static bool
is_ours(const struct rxlab_empties *e, const struct rte_mbuf *m)
{
	uint16_t i;

	if (!RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1)
		return false;
	for (i = 0; i < e->nb_pools; i++) {
		if (m->pool == e->pools[i])
			return true;
	}
	return false;
}

/* Back where it may be filled anew, segment by segment. */
static void
recycle(struct rxlab_empties *e, struct rte_mbuf *m)
{
	while (m != NULL) {
		struct rte_mbuf *next = m->next;

		if (is_ours(e, m)) {
			m->next = NULL;
			m->nb_segs = 1;
			rxlab_empties_put(e, (void *const *)&m, 1);
		} else {
			rte_pktmbuf_free_seg(m);
		}
		m = next;
	}
}

/* Brings a chain into its first segment; whether there was room. A receive ring takes frames of one. */
static bool
gather(struct rxlab_empties *e, struct rte_mbuf *m)
{
	struct rte_mbuf *seg, *rest = m->next;

	if (!RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1 || m->pkt_len - m->data_len > rte_pktmbuf_tailroom(m))
		return false;
	for (seg = rest; seg != NULL; seg = seg->next) {
		memcpy(rte_pktmbuf_mtod_offset(m, void *, m->data_len), rte_pktmbuf_mtod(seg, void *), seg->data_len);
		m->data_len += seg->data_len;
	}
	m->next = NULL;
	m->nb_segs = 1;
	recycle(e, rest);
	return true;
}

/* A completion names no offset: a frame that begins elsewhere is copied, as one in a mbuf that is not ours. */
static struct rxlab_frame
describe(struct rxlab_empties *e, struct rte_mbuf *m)
{
	struct rxlab_frame f = { .data = rte_pktmbuf_mtod(m, const uint8_t *) };

	if (unlikely(m->nb_segs != 1) && !gather(e, m))
		return f;	/* of no length: a bad frame */
	f.len = m->data_len;
	if (likely(m->data_off == RTE_PKTMBUF_HEADROOM && is_ours(e, m)))
		f.buf = (uintptr_t)m;
	return f;
}

static uint16_t
emulated_rx(void *ctx, struct rxlab_frame *frames, uint16_t n)
{
	struct rxlab_lower_port *lower = ctx;
	uint16_t i;

	lower->nb_rx = rte_eth_rx_burst(lower->port, 0, lower->rx, RTE_MIN(n, RXLAB_BURST));
	for (i = 0; i < lower->nb_rx; i++)
		frames[i] = describe(lower->empties, lower->rx[i]);
	return lower->nb_rx;
}

static void
emulated_rx_done(void *ctx, const uint64_t *bufs)
{
	struct rxlab_lower_port *lower = ctx;
	void *empty[RXLAB_BURST];
	uint16_t nb_empty = 0, i;

	for (i = 0; i < lower->nb_rx; i++) {
		if (likely(bufs[i] != 0))
			empty[nb_empty++] = (void *)(uintptr_t)bufs[i];
		else
			recycle(lower->empties, lower->rx[i]);
	}
	rxlab_empties_put(lower->empties, empty, nb_empty);
	lower->nb_rx = 0;
}

/* The port below frees what it has sent. What it has no room for stays in the rings. */
static uint16_t
emulated_tx(void *ctx, const uint64_t *bufs, uint16_t n, uint16_t *faults)
{
	struct rxlab_lower_port *lower = ctx;
	struct rte_mbuf *mbufs[RXLAB_BURST];
	uint16_t i;

	n = RTE_MIN(n, RXLAB_BURST);
	for (i = 0; i < n; i++) {
		mbufs[i] = (struct rte_mbuf *)(uintptr_t)bufs[i];
		if (unlikely(!lower->sends_chains && mbufs[i]->nb_segs > 1))
			break;
	}
	if (unlikely(i == 0 && n > 0)) {
		rte_pktmbuf_free(mbufs[0]);
		(*faults)++;
		return 1;
	}
	return rte_eth_tx_burst(lower->port, 0, mbufs, i);
}

struct rxlab_lower
rxlab_emulated_calls(struct rxlab_lower_port *lower)
{
	return (struct rxlab_lower) {
		.ctx = lower,
		.rx = emulated_rx,
		.rx_done = emulated_rx_done,
		.tx_pass = emulated_tx,
	};
}
