/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The bursts of a port under a port, called on the NIC core. */

#include "rxlab_lower.h"

static uint16_t
lower_rx(void *ctx, struct rxlab_frame *frames, uint16_t n)
{
	struct rxlab_lower_port *lower = ctx;
	uint16_t received, i;

	received = rte_eth_rx_burst(lower->port, 0, lower->rx, RTE_MIN(n, RXLAB_BURST));
	lower->nb_rx = 0;
	for (i = 0; i < received; i++) {
		struct rte_mbuf *m = lower->rx[i];

		/* The data room holds any frame of the MTU: a chain is short enough, or no frame for this port. */
		if (rte_pktmbuf_linearize(m) != 0) {
			rte_pktmbuf_free(m);
			continue;
		}
		lower->rx[lower->nb_rx] = m;
		frames[lower->nb_rx++] = (struct rxlab_frame) {
			.data = rte_pktmbuf_mtod(m, const uint8_t *),
			.len = m->data_len,
		};
	}
	return lower->nb_rx;
}

static void
lower_rx_done(void *ctx, const uint64_t *bufs __rte_unused)
{
	struct rxlab_lower_port *lower = ctx;

	rte_pktmbuf_free_bulk(lower->rx, lower->nb_rx);
	lower->nb_rx = 0;
}

static uint16_t
lower_tx_get(void *ctx, const uint32_t *len, uint8_t **dst, uint16_t n)
{
	struct rxlab_lower_port *lower = ctx;

	n = RTE_MIN(n, RXLAB_BURST);
	for (lower->nb_tx = 0; lower->nb_tx < n; lower->nb_tx++) {
		uint32_t bytes = len[lower->nb_tx];
		struct rte_mbuf *m = rte_pktmbuf_alloc(lower->pool);

		if (m == NULL)
			break;
		if (bytes <= rte_pktmbuf_tailroom(m)) {
			dst[lower->nb_tx] = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)bytes);
		} else {
			/* No frame for a port of this MTU. It must go somewhere, or those behind it never would. */
			dst[lower->nb_tx] = lower->too_long;
			rte_pktmbuf_free(m);
			m = NULL;
		}
		lower->tx[lower->nb_tx] = m;
	}
	return lower->nb_tx;
}

static uint16_t
lower_tx_send(void *ctx, uint16_t n)
{
	struct rxlab_lower_port *lower = ctx;
	uint16_t frames = 0, sent, i;

	for (i = 0; i < RTE_MIN(n, lower->nb_tx); i++) {
		if (lower->tx[i] != NULL)
			lower->tx[frames++] = lower->tx[i];
	}
	sent = frames == 0 ? 0 : rte_eth_tx_burst(lower->port, 0, lower->tx, frames);
	rte_pktmbuf_free_bulk(&lower->tx[sent], frames - sent);
	rte_pktmbuf_free_bulk(&lower->tx[i], lower->nb_tx - i);
	lower->nb_tx = 0;
	return sent;
}

struct rxlab_lower
rxlab_lower_calls(struct rxlab_lower_port *lower)
{
	return (struct rxlab_lower) {
		.ctx = lower,
		.rx = lower_rx,
		.rx_done = lower_rx_done,
		.tx_get = lower_tx_get,
		.tx_send = lower_tx_send,
	};
}

void
rxlab_lower_abandon(struct rxlab_lower_port *lower)
{
	lower_rx_done(lower, NULL);
	rte_pktmbuf_free_bulk(lower->tx, lower->nb_tx);
	lower->nb_tx = 0;
}

/* Frees what waits in the port: some drivers forget it when they close. Bounded, for more may arrive all the time. */
void
rxlab_lower_drop_waiting(struct rxlab_lower_port *lower)
{
	struct rte_mbuf *mbufs[RXLAB_BURST];
	uint32_t dropped = 0;
	uint16_t n;

	do {
		n = rte_eth_rx_burst(lower->port, 0, mbufs, RTE_DIM(mbufs));
		rte_pktmbuf_free_bulk(mbufs, n);
		dropped += n;
	} while (n > 0 && dropped < lower->pool->size);
}
