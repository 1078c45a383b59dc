/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The empties of an emulated NIC and the mempool operations over them. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "rxlab_empties.h"

#define OPS	"rxlab_emulated"
#define SPARE	512	/* beside those in its ring: bursts under way, and what drivers keep */

static int
ops_alloc(struct rte_mempool *mp)
{
	mp->pool_data = mp->pool_config;
	return 0;
}

static int
ops_enqueue(struct rte_mempool *mp, void *const *mbufs, unsigned int n)
{
	rxlab_empties_put(mp->pool_data, mbufs, n);
	return 0;
}

static int
ops_dequeue(struct rte_mempool *mp, void **mbufs, unsigned int n)
{
	struct rxlab_empties *e = mp->pool_data;

	if (n > e->count) {
		e->shortages++;
		return -ENOBUFS;
	}
	e->count -= n;
	memcpy(mbufs, &e->mbufs[e->count], n * sizeof(*mbufs));
	return 0;
}

static unsigned int
ops_get_count(const struct rte_mempool *mp)
{
	return ((const struct rxlab_empties *)mp->pool_data)->count;
}

/*
 * At the first use, not when the driver is loaded. Secondary processes know operations by their numbers: if some
 * processes registered these and others did not, the numbers of other drivers' operations would differ.
 */
int
rxlab_empties_register(void)
{
	static const struct rte_mempool_ops ops = {
		.name = OPS,
		.alloc = ops_alloc,
		.enqueue = ops_enqueue,
		.dequeue = ops_dequeue,
		.get_count = ops_get_count,
	};
	static int number = -1;

	if (number < 0)
		number = rte_mempool_register_ops(&ops);
	return number < 0 ? number : 0;
}

/* A mempool of mbufs like the application's, without one. */
static struct rte_mempool *
new_mempool(struct rxlab_empties *e)
{
	static unsigned int serial;
	struct rte_pktmbuf_pool_private mbufs = {
		.mbuf_data_room_size = rte_pktmbuf_data_room_size(e->pools[0]),
		.mbuf_priv_size = rte_pktmbuf_priv_size(e->pools[0]),
	};
	unsigned int bytes = sizeof(struct rte_mbuf) + mbufs.mbuf_priv_size + mbufs.mbuf_data_room_size;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;
	int ret;

	snprintf(name, sizeof(name), "rxlab_emulated_%u", serial++);
	mp = rte_mempool_create_empty(name, e->size, bytes, 0, sizeof(mbufs), e->pools[0]->socket_id, 0);
	if (mp == NULL)
		return NULL;
	ret = rte_mempool_set_ops_byname(mp, OPS, e);
	if (ret != 0) {
		rte_mempool_free(mp);
		rte_errno = -ret;
		return NULL;
	}
	ops_alloc(mp);	/* as populating it would; it stays without memory of its own */
	rte_pktmbuf_pool_init(mp, &mbufs);
	return mp;
}

static void
add_pool(struct rxlab_empties *e, struct rte_mempool *pool)
{
	uint16_t i;

	for (i = 0; i < e->nb_pools; i++) {
		if (e->pools[i] == pool)
			return;
	}
	e->pools[e->nb_pools++] = pool;
}

/* Takes one queue's share of the missing ones from its mempool, so that each pays alike. */
static int
take(struct rxlab_empties *e, struct rte_mempool *pool, uint32_t n)
{
	while (n > 0) {
		uint32_t some = RTE_MIN(n, (uint32_t)RXLAB_BURST);

		if (rte_mempool_get_bulk(pool, &e->mbufs[e->count], some) != 0)
			return -ENOMEM;
		e->count += some;
		n -= some;
	}
	return 0;
}

static int
fill(struct rxlab_empties *e, const struct rte_eth_dev_data *data)
{
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		const struct rxlab_rx_queue *q = data->rx_queues[i];

		if (take(e, q->pool, (e->size - e->count) / (uint32_t)(data->nb_rx_queues - i)) != 0) {
			PMD_LOG(ERR, "%s: mempool %s is empty: an emulated NIC needs %u more mbufs",
				rxlab_name(q->dev), q->pool->name, e->size - e->count);
			return -ENOMEM;
		}
	}
	return 0;
}

struct rxlab_empties *
rxlab_empties_new(const struct rxlab_dev *d, uint32_t nb_desc)
{
	const struct rte_eth_dev_data *data = d->eth_dev->data;
	uint32_t size = nb_desc + RXLAB_BURST + SPARE;
	struct rxlab_empties *e;
	uint16_t i;

	if (rxlab_empties_register() != 0) {
		PMD_LOG(ERR, "%s: emulate=1: no room for mempool operations", rxlab_name(d));
		return NULL;
	}
	e = rte_zmalloc_socket("rxlab_empties", sizeof(*e) + size * sizeof(e->mbufs[0]), RTE_CACHE_LINE_SIZE,
			data->numa_node);
	if (e == NULL)
		return NULL;
	e->size = size;
	for (i = 0; i < data->nb_rx_queues; i++)
		add_pool(e, ((const struct rxlab_rx_queue *)data->rx_queues[i])->pool);
	e->mempool = new_mempool(e);
	if (e->mempool != NULL && fill(e, data) == 0)
		return e;
	rxlab_empties_free(e);
	return NULL;
}

void
rxlab_empties_free(struct rxlab_empties *e)
{
	if (e == NULL)
		return;
	rxlab_put_bulk(e->mbufs, e->count);
	rte_mempool_free(e->mempool);
	rte_free(e);
}

void
rxlab_empties_put(struct rxlab_empties *e, void *const *mbufs, uint32_t n)
{
	uint32_t kept = RTE_MIN(n, e->size - e->count);

	memcpy(&e->mbufs[e->count], mbufs, kept * sizeof(*mbufs));
	e->count += kept;
	/* More came than went: a port that hands over what others have sent, instead of filling ours. */
	rxlab_put_bulk(&mbufs[kept], n - kept);
}
