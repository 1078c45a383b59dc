/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pool. In a new one buffers lie one behind the other, and processors fetch the next frame before it is asked for;
 * after some 40 million frames of 64 B a frame's buffer lies beside that of the one before in 0.2% of all cases.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

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

struct rte_mempool *
pool_create(const struct options *options)
{
	unsigned int room = FRAME_MAX + RTE_PKTMBUF_HEADROOM;
	struct rte_mempool *pool;
	int ret;

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
