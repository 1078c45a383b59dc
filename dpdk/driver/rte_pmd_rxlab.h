/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What programs may call of the driver net_rxlab, beyond ethdev. */
#ifndef RTE_PMD_RXLAB_H
#define RTE_PMD_RXLAB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mbuf;
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

/**
 * Receives what lies in host memory, and asks the card for more of what it keeps, without waiting: a later call has that
 * (CEIO, section 4.2). For ports with iface=ceio. It is what rte_eth_rx_burst() does on them.
 *
 * As for that, one thread at a time receives from a queue, and frames of a flow come in their order, by whichever of the
 * three calls. The credits of frames that earlier calls have returned are released once there are enough of them
 * ("release" of the interface), or when a call finds nothing: a frame counts as processed with the next call.
 *
 * @param port_id
 *   A port of this driver with iface=ceio, started.
 * @param queue_id
 *   One of its Rx queues.
 * @param pkts
 *   Where the mbufs go, which are the application's then.
 * @param n
 *   How many at most.
 * @return
 *   How many there are. Negative on error: -ENODEV, no such port of this driver in this process; -EINVAL, no such queue, or
 *   it is stopped; -ENOTSUP, the port has another interface.
 */
int rte_pmd_rxlab_async_recv(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t n);

/**
 * As rte_pmd_rxlab_async_recv(), but waits for the frames that the card keeps and has been asked for, until they have come, n
 * are there or the time is up. It waits neither for frames that have not arrived yet nor without an mbuf to receive into: a
 * queue without any returns at once.
 *
 * @param port_id
 *   As above.
 * @param queue_id
 *   As above.
 * @param pkts
 *   As above.
 * @param n
 *   As above; of more than 64 it waits for 64.
 * @param wait_us
 *   How long at most, in us. On a port whose NIC core is a service of the calling lcore nothing comes meanwhile.
 * @return
 *   As above.
 */
int rte_pmd_rxlab_recv(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t n, uint32_t wait_us);

/**
 * Posts mbufs of the application's, for the card to write frames into: what is received later is one of them, and no copy
 * is made. From the first call on the application posts all mbufs of the queue, and receiving takes none from the queue's
 * mempool, until the queue or the port stops; posted mbufs go back to their own mempools then. A queue that has no mbuf
 * left keeps frames on the card until one is posted.
 *
 * @param port_id
 *   As above.
 * @param queue_id
 *   As above.
 * @param mbufs
 *   Of any mempool with the private size and at least the data room of the queue's; each as rte_mbuf_raw_alloc() gives it,
 *   its data right behind it.
 * @param n
 *   How many.
 * @return
 *   How many are posted, from the first: the ring has room for those that were received and not posted anew, and for none
 *   right after the start. Negative on error: as above, and -EINVAL if an mbuf does not fit; then none is posted.
 */
int rte_pmd_rxlab_post_recv(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **mbufs, uint16_t n);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_RXLAB_H */
