/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pool. In a new one buffers lie one behind the other, and processors fetch the next frame before it is asked for;
 * after some 40 million frames of 64 B a frame's buffer lies beside that of the one before in 0.2% of all cases.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "../driver/rte_pmd_rxlab.h"
#include "rxbench.h"

static void
shuffle(void **all, unsigned int n)
{
	uint64_t x = 1;
	unsigned int i, j;

	for (i = n; i > 1; i--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		j = (x >> 32) % i;
		RTE_SWAP(all[i - 1], all[j]);
	}
}

/* As a program has it that has run for long: in no order. */
static int
mix(struct rte_mempool *pool, unsigned int n)
{
	void **all = calloc(n, sizeof(*all));
	int ret = all == NULL ? -ENOMEM : rte_mempool_generic_get(pool, all, n, NULL);

	if (ret == 0) {
		shuffle(all, n);
		/* Not by way of this lcore's cache, which would keep some. */
		rte_mempool_generic_put(pool, all, n, NULL);
	}
	free(all);
	return ret;
}

/* Port 0's own, which waits for the other side. */
static struct rte_mempool *
pool_in_place(const struct options *options)
{
	void *driver = dlopen("librte_net_rxlab.so", RTLD_NOW | RTLD_NOLOAD);
	typeof(rte_pmd_rxlab_channel_pool) *create = NULL;
	struct rte_mempool *pool = NULL;

	if (driver != NULL)
		create = dlsym(driver, "rte_pmd_rxlab_channel_pool");
	rte_errno = ENOTSUP;
	if (create != NULL)
		pool = create(0, "rxbench", options->cache, LINK_WAIT_MS);
	if (pool == NULL)
		fprintf(stderr, "rxbench: --in-place --cache %u: %s\n", options->cache, rte_strerror(rte_errno));
	return pool;
}

struct rte_mempool *
pool_create(const struct options *options)
{
	unsigned int room = FRAME_MAX + RTE_PKTMBUF_HEADROOM;
	struct rte_mempool *pool;
	int ret;

	if (options->in_place)
		return pool_in_place(options);
	pool = rte_pktmbuf_pool_create("rxbench", options->mbufs, options->cache, 0, room, SOCKET_ID_ANY);
	ret = pool == NULL ? -rte_errno : 0;
	if (ret == 0 && options->mixed)
		ret = mix(pool, options->mbufs);
	if (ret == 0)
		return pool;
	fprintf(stderr, "rxbench: --mbufs %u --cache %u: %s\n", options->mbufs, options->cache, rte_strerror(-ret));
	rte_mempool_free(pool);
	rte_errno = -ret;
	return NULL;
}
