/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * emulate=1, after rxbisect's section 5: the port below receives into the application's mbufs, and their addresses are
 * passed on through the virtual rings. Each frame passed on leaves an empty mbuf, the one that the application had
 * posted for it. The empties go to the port below as mbufs of a mempool that has none of its own: its dequeue takes
 * from them.
 */
#ifndef RXLAB_EMPTIES_H
#define RXLAB_EMPTIES_H

#include "rxlab_lower.h"

/* Who calls has the port below in hand: the NIC core in a turn, or a control call that has called it off. */
struct rxlab_empties {
	struct rte_mempool *mempool;	/* what the port below takes from */
	uint64_t shortages;		/* of its attempts: there were fewer than it asked for */
	uint16_t nb_pools;
	struct rte_mempool *pools[RXLAB_QUEUES];	/* the application's, each once */
	uint32_t size;
	uint32_t count;
	void *mbufs[];
};

/*
 * As many empties as a ring of nb_desc and the bursts under way take, out of the mempools of the port's Rx queues.
 * NULL after a message.
 */
struct rxlab_empties *rxlab_empties_new(const struct rxlab_dev *d, uint32_t nb_desc);

/* Gives the mbufs back to the application's mempools. The port below holds none and takes none any more. */
void rxlab_empties_free(struct rxlab_empties *e);

/* Takes mbufs that are in the state of free ones; what is too much goes back to its mempool. */
void rxlab_empties_put(struct rxlab_empties *e, void *const *mbufs, uint32_t n);

/* Tells this process of the mempool operations, once. 0 or a negative number. */
int rxlab_empties_register(void);

/* The bursts that pass pointers, as the NIC core calls them. */
struct rxlab_lower rxlab_emulated_calls(struct rxlab_lower_port *lower);

#endif /* RXLAB_EMPTIES_H */
