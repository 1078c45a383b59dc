/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What programs may call of the driver net_rxlab, beyond ethdev. */
#ifndef RTE_PMD_RXLAB_H
#define RTE_PMD_RXLAB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mempool;

/**
 * A mempool whose mbufs lie in the memory of a channel port's link, for frames that are not copied.
 *
 * An mbuf of it that is sent on the port goes to the other process, if nobody else holds it; an Rx queue with this mempool
 * receives in place. Any other mbuf is copied, as is all that goes over a later link: the mempool stays with the memory of
 * the link for which it was made. The other process may do the same, or copy.
 *
 * The buffers are those of both sides; this side has half of them at first. A program that holds many starves the
 * other one. Free the mempool once the port is stopped or closed and nobody has an mbuf of it.
 *
 * @param port_id
 *   A port of this process with channel=PATH, configured or not. Links are made from this call on.
 * @param name
 *   Of the mempool.
 * @param cache_size
 *   Mbufs that each lcore keeps.
 * @param patience_ms
 *   How long to wait for the other process, in ms.
 * @return
 *   The mempool; NULL on error with rte_errno: EINVAL, not such a port; EAGAIN, no link in time, or there is such a mempool
 *   already; ENOMEM and others of rte_mempool_create_empty().
 */
struct rte_mempool *rte_pmd_rxlab_channel_pool(uint16_t port_id, const char *name, unsigned int cache_size,
		unsigned int patience_ms);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_RXLAB_H */
