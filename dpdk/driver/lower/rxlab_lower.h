/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * A port under a port: what its control (rxlab_lower.c), its set-up (rxlab_lower_setup.c) and its bursts
 * (rxlab_lower_burst.c) share.
 */
#ifndef RXLAB_LOWER_H
#define RXLAB_LOWER_H

#include "rxlab.h"

struct rxlab_lower_port {
	struct rxlab_dev *dev;
	uint16_t port;			/* NO_PORT while there is none of the name */
	bool started;
	struct rte_mempool *pool;
	struct rxlab_empties *empties;	/* emulate=1, while started: behind the pool */
	bool sends_chains;
	uint16_t nb_rx;			/* frames of the last burst, not freed yet */
	uint16_t nb_tx;			/* buffers handed out, not sent yet */
	struct rte_mbuf *rx[RXLAB_BURST];
	struct rte_mbuf *tx[RXLAB_BURST];	/* NULL: a frame too long */
	uint8_t too_long[RXLAB_MAX_FRAME];

	/* The port's driver with another remove; see hook_remove. */
	struct rte_vdev_driver hook;
	const struct rte_vdev_driver *hooked;
};

/* Configures the port and sets up its queues. 0 or a negative errno. */
int rxlab_lower_configure(struct rxlab_lower_port *lower);

/* Releases the queues of a stopped port. */
void rxlab_lower_release_queues(uint16_t port);

/* Frees the empties. The port holds none of them any more: its queues are released. */
void rxlab_lower_give_back(struct rxlab_lower_port *lower);

/* Frees the mempool of a port that is closed. */
void rxlab_lower_free_pool(uint16_t port);

/* The bursts as the NIC core calls them. */
struct rxlab_lower rxlab_lower_calls(struct rxlab_lower_port *lower);

/* Frees the mbufs of a turn that will not be finished. The NIC core makes no calls any more. */
void rxlab_lower_abandon(struct rxlab_lower_port *lower);

/* Frees what waits in the port. */
void rxlab_lower_drop_waiting(struct rxlab_lower_port *lower);

#endif /* RXLAB_LOWER_H */
