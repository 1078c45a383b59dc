/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * Mempools whose mbufs have the link's buffers as their own: mbuf i has buffer i, in each of the two processes. Headers
 * are private; only numbers, offsets and lengths cross. An mbuf is in the pool while its buffer is free on this side.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "rxlab_channel.h"
#include "rte_pmd_rxlab.h"

#define OPS_NAME "rxlab_channel"

static int
pool_alloc(struct rte_mempool *mp)
{
	mp->pool_data = mp->pool_config;
	return 0;
}

static void
pool_free(struct rte_mempool *mp)
{
	struct rxlab_channel_pool *p = mp->pool_data;

	if (p == NULL)
		return;	/* it was never made */
	if (p->port == NULL) {
		rxlab_channel_free(p->channel);
	} else {
		rxlab_channel_take_back(p->channel);
		p->port->pool = NULL;
	}
	rte_free(p);
}

/* While the pool is made, the headers come here in order; their buffers are where they belong. */
static int
pool_enqueue(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	struct rxlab_channel_pool *p = mp->pool_data;
	uint64_t bufs[RXLAB_BURST];
	unsigned int i, some;

	if (unlikely(p->nb_headers < p->lent.buffers)) {
		for (i = 0; i < n && p->nb_headers < p->lent.buffers; i++)
			p->headers[p->nb_headers++] = objs[i];
		return 0;
	}
	for (; n > 0; n -= some, objs += some) {
		some = RTE_MIN(n, (unsigned int)RXLAB_BURST);
		for (i = 0; i < some; i++)
			bufs[i] = rxlab_channel_buffer(p, objs[i]);
		rxlab_channel_give(p->channel, bufs, some);
	}
	return 0;
}

static int
pool_dequeue(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct rxlab_channel_pool *p = mp->pool_data;
	uint64_t bufs[RXLAB_BURST];
	unsigned int taken = 0, some, got, i;

	while (taken < n) {
		some = RTE_MIN(n - taken, (unsigned int)RXLAB_BURST);
		got = rxlab_channel_alloc(p->channel, bufs, some);
		for (i = 0; i < got; i++)
			objs[taken++] = p->headers[bufs[i]];
		if (got < some) {
			pool_enqueue(mp, objs, taken);
			return -ENOBUFS;
		}
	}
	return 0;
}

/* On this side alone: what the other side has is not counted, and comes when it gives it back. */
static unsigned int
pool_count(const struct rte_mempool *mp)
{
	const struct rxlab_channel_pool *p = mp->pool_data;

	return rxlab_channel_available(p->channel);
}

/*
 * Once, and only where a mempool is wanted: processes share mempools by the numbers of their operations. A secondary
 * process can list this one's mempools no more from then on than it can use them.
 */
static int
register_ops(void)
{
	static const struct rte_mempool_ops ops = {
		.name = OPS_NAME,
		.alloc = pool_alloc,
		.free = pool_free,
		.enqueue = pool_enqueue,
		.dequeue = pool_dequeue,
		.get_count = pool_count,
	};
	static bool done;

	if (!done && rte_mempool_register_ops(&ops) < 0)
		return -ENOSPC;
	done = true;
	return 0;
}

/* The last clone of an mbuf is gone. */
static void
no_clone(void *addr __rte_unused, void *opaque)
{
	struct rte_mbuf *m = opaque;

	rte_mbuf_ext_refcnt_set(m->shinfo, 1);
	m->ol_flags = RTE_MBUF_F_EXTERNAL;
	m->next = NULL;
	m->nb_segs = 1;
	rte_mbuf_raw_free(m);
}

static void
init_mbuf(struct rte_mempool *mp, void *opaque, void *obj, unsigned int i)
{
	const struct rxlab_channel_pool *p = opaque;
	struct rte_mbuf *m = obj;

	memset(m, 0, sizeof(*m));
	m->buf_addr = p->lent.base + (size_t)i * p->lent.stride;
	rte_mbuf_iova_set(m, RTE_BAD_IOVA);
	m->buf_len = (uint16_t)p->lent.bytes;
	m->data_off = RTE_MIN(RTE_PKTMBUF_HEADROOM, m->buf_len);
	m->pool = mp;
	m->nb_segs = 1;
	m->port = RTE_MBUF_PORT_INVALID;
	m->ol_flags = RTE_MBUF_F_EXTERNAL;
	m->shinfo = RTE_PTR_ADD(m, sizeof(*m));
	m->shinfo->free_cb = no_clone;
	m->shinfo->fcb_opaque = m;
	rte_mbuf_refcnt_set(m, 1);
	rte_mbuf_ext_refcnt_set(m->shinfo, 1);
}

/* The number by which the odd part of the stride is divided: exact, since it is odd and the distance a multiple. */
static uint32_t
inverse(uint32_t odd)
{
	uint32_t x = odd;
	int i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

static struct rte_mempool *
pool_create(const char *name, struct rxlab_channel_pool *p, unsigned int cache, int socket)
{
	struct rte_pktmbuf_pool_private priv = {
		.mbuf_data_room_size = (uint16_t)p->lent.bytes,
		.flags = RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF,
	};
	unsigned int size = sizeof(struct rte_mbuf) + sizeof(struct rte_mbuf_ext_shared_info);
	struct rte_mempool *mp;
	int ret = register_ops();

	mp = ret != 0 ? NULL : rte_mempool_create_empty(name, p->lent.buffers, size, cache, sizeof(priv), socket, 0);
	if (mp == NULL) {
		rxlab_channel_take_back(p->channel);
		rte_free(p);
		return NULL;
	}
	ret = rte_mempool_set_ops_byname(mp, OPS_NAME, p);
	if (ret == 0) {
		rte_pktmbuf_pool_init(mp, &priv);
		ret = rte_mempool_populate_default(mp);
	}
	if (ret < 0) {
		/* The operations end the loan from when they have it. */
		if (mp->pool_data == NULL) {
			rxlab_channel_take_back(p->channel);
			rte_free(p);
		}
		rte_mempool_free(mp);
		rte_errno = -ret;
		return NULL;
	}
	rte_mempool_obj_iter(mp, init_mbuf, p);
	return mp;
}

struct rte_mempool *
rte_pmd_rxlab_channel_pool(uint16_t port_id, const char *name, unsigned int cache_size, unsigned int patience_ms)
{
	struct rte_eth_dev *dev;
	struct rxlab_channel_dev *d;
	struct rxlab_channel_pool *p;
	struct rte_mempool *mp;
	struct rxlab_lent lent;
	char err[RXLAB_ERR_LEN] = "";

	if (!rte_eth_dev_is_valid_port(port_id) || !rxlab_channel_is(&rte_eth_devices[port_id])) {
		PMD_LOG(ERR, "port %u: no channel of this process: allowed is a port with channel=PATH", port_id);
		rte_errno = EINVAL;
		return NULL;
	}
	dev = &rte_eth_devices[port_id];
	d = rxlab_channel_of(dev);
	if (rxlab_channel_lend(d->channel, patience_ms, &lent, err, sizeof(err)) != 0) {
		PMD_LOG(ERR, "%s: no mempool: %s", dev->data->name, err);
		rte_errno = EAGAIN;
		return NULL;
	}
	p = rte_zmalloc_socket("rxlab_channel_pool", sizeof(*p) + lent.buffers * sizeof(p->headers[0]),
			RTE_CACHE_LINE_SIZE, dev->data->numa_node);
	if (p == NULL) {
		rxlab_channel_take_back(d->channel);
		rte_errno = ENOMEM;
		return NULL;
	}
	p->port = d;
	p->channel = d->channel;
	p->lent = lent;
	p->shift = rte_bsf32(lent.stride);
	p->inverse = inverse(lent.stride >> p->shift);
	mp = pool_create(name, p, cache_size, dev->data->numa_node);
	if (mp != NULL) {
		p->mp = mp;
		d->pool = p;
	}
	return mp;
}
