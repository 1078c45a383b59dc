/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a port answers when something is missing: starts with too few mbufs, counters that are read while others reset
 * them, a redirection table that another process asks for.
 *
 *   starts EAL-ARGUMENTS -- short	a port, or a queue of it, starts with as many mbufs as a draw leaves
 *   starts EAL-ARGUMENTS -- dry	frames come when the mempool is empty
 *   starts EAL-ARGUMENTS -- reset	one reads, one resets, one receives
 *   starts EAL-ARGUMENTS -- reta	in a secondary process: tables of the right size and of others
 */
#include "common.h"

#define MOST 16384
#define QUEUES 3
#define DESC 256
#define ROUNDS 60
#define RESET_MS 1000

static struct rte_mempool *pool;
static struct rte_mbuf *kept[MOST];
static atomic_bool finish;

/* Takes mbufs away until so many are left in the pool. */
static unsigned int
leave(unsigned int left)
{
	unsigned int n = pool->size - left, i;

	for (i = 0; i < n; i++) {
		kept[i] = rte_pktmbuf_alloc(pool);
		if (kept[i] == NULL)
			die("%u of %u mbufs cannot be taken away\n", n - i, n);
	}
	return n;
}

static void
whole(unsigned int taken, const char *when, int ret)
{
	unsigned int n = pool_count(pool);

	if (n + taken != pool->size)
		die("%s (%d): %u mbufs of %u are away\n", when, ret, pool->size - taken - n, pool->size - taken);
}

/* A port starts or does not; either way it keeps nothing when it has stopped. */
static bool
start_with(unsigned int left)
{
	unsigned int taken = leave(left);
	int ret = rte_eth_dev_start(0);

	if (ret == 0)
		port_stop(0);
	else if (ret != -ENOMEM)
		die("a start with %u mbufs: %s, not %s\n", left, rte_strerror(-ret), rte_strerror(ENOMEM));
	whole(taken, "after a start", ret);
	rte_pktmbuf_free_bulk(kept, taken);
	return ret == 0;
}

/* The same of one queue while the others run: what it lacks, they keep. */
static void
queue_start_with_none(void)
{
	unsigned int taken, left, again;
	int ret;

	port_start(0);
	ret = rte_eth_dev_rx_queue_stop(0, QUEUES - 1);
	if (ret != 0)
		die("queue %u does not stop: %s\n", QUEUES - 1, rte_strerror(-ret));
	left = pool_count(pool);
	taken = pool->size - left;
	/* All of them: what a queue needs is not in its pool. */
	for (again = 0; again < left && (kept[again] = rte_pktmbuf_alloc(pool)) != NULL; again++)
		;
	ret = rte_eth_dev_rx_queue_start(0, QUEUES - 1);
	/* A queue of a shared ring may need none: the others filled it. */
	if (ret != 0 && ret != -ENOMEM)
		die("a queue's start without mbufs: %s\n", rte_strerror(-ret));
	if (ret != 0 && pool_count(pool) + again + taken != pool->size)
		die("a queue that did not start keeps %d mbufs\n", (int)(pool->size - taken - again - pool_count(pool)));
	rte_pktmbuf_free_bulk(kept, again);
	if (ret != 0 && (ret = rte_eth_dev_rx_queue_start(0, QUEUES - 1)) != 0)
		die("a queue does not start with mbufs: %s\n", rte_strerror(-ret));
	port_stop(0);
	pool_must_be_full(pool, "after the stop, queue", QUEUES - 1);
}

static uint64_t
failed_refills(void)
{
	struct rte_eth_stats stats;

	if (rte_eth_stats_get(0, &stats) != 0)
		die("no statistics\n");
	return stats.rx_nombuf;
}

/* Polls queue 0 until so many frames came or polls were made; frames. */
static unsigned int
poll(unsigned int most, unsigned int polls)
{
	struct rte_mbuf *mbufs[BURST];
	unsigned int got = 0, n;

	for (; polls > 0 && got < most; polls--) {
		n = rte_eth_rx_burst(0, 0, mbufs, BURST);
		rte_pktmbuf_free_bulk(mbufs, n);
		got += n;
		rte_delay_us(10);
	}
	return got;
}

/* A ring's worth of frames once its pool is empty: a refill fails, and is counted. With mbufs none does. */
static void
run_dry(void)
{
	struct rte_mbuf *mbufs[DESC];
	unsigned int taken, sent = 0, got;

	port_configure(0, 1, 1, DESC, DESC, pool);
	port_start(0);
	if (poll(1, 1000) != 0 || failed_refills() != 0)
		die("%" PRIu64 " failed refills before any frame\n", failed_refills());
	if (rte_pktmbuf_alloc_bulk(pool, mbufs, DESC) != 0)
		die("no mbufs to send\n");
	for (taken = 0; (kept[taken] = rte_pktmbuf_alloc(pool)) != NULL; taken++)
		;
	for (got = 0; got < DESC; got++) {
		memset(rte_pktmbuf_append(mbufs[got], 64), 0xff, 64);
		mbufs[got]->ol_flags = 0;
	}
	while (sent < DESC)
		sent += rte_eth_tx_burst(0, 0, mbufs + sent, DESC - sent);
	/* None is freed meanwhile, or it would serve as the next one. */
	for (got = 0, sent = 0; got < 1000 && failed_refills() == 0; got++) {
		sent += rte_eth_rx_burst(0, 0, mbufs + sent, (uint16_t)RTE_MIN((unsigned int)BURST, DESC - sent));
		rte_delay_us(100);
	}
	printf("%u frames, %" PRIu64 " failed refills\n", sent, failed_refills());
	if (failed_refills() == 0)
		die("no failed refill, and no mbuf: %u frames came\n", sent);
	rte_pktmbuf_free_bulk(mbufs, sent);
	rte_pktmbuf_free_bulk(kept, taken);
	poll(DESC, 1000);
	if (rte_eth_stats_reset(0) != 0 || poll(1, 1000) != 0 || failed_refills() != 0)
		die("%" PRIu64 " failed refills with mbufs\n", failed_refills());
	port_stop(0);
	pool_must_be_full(pool, "after the stop of a queue that ran dry", 0);
}

static void
too_few(void)
{
	unsigned int started = 0, failed = 0, i;
	uint64_t random = 1;

	port_configure(0, QUEUES, 1, DESC, DESC, pool);
	for (i = 0; i < ROUNDS; i++) {
		/* Most draws fall where some queues are served and others not. */
		if (start_with(draw(&random) % (i % 2 == 0 ? 4 * DESC : MOST)))
			started++;
		else
			failed++;
	}
	if (started == 0 || failed == 0)
		die("%u starts, %u failures: no draw on either side\n", started, failed);
	queue_start_with_none();
	if (!start_with(MOST))
		die("no start with all mbufs\n");
	printf("%u starts, %u failures\n", started, failed);
}

static int
receive_or_reset(void *arg __rte_unused)
{
	struct rte_mbuf *mbufs[BURST];
	bool resets = rte_lcore_index(-1) == 2;

	while (!atomic_load_explicit(&finish, memory_order_relaxed)) {
		if (resets)
			rte_eth_stats_reset(0);
		else
			rte_pktmbuf_free_bulk(mbufs, rte_eth_rx_burst(0, 0, mbufs, BURST));
	}
	return 0;
}

/* Counts of frames and bytes: none of them comes near 2^63. */
static bool
sane(const struct rte_eth_stats *s)
{
	return (int64_t)s->ipackets >= 0 && (int64_t)s->ibytes >= 0 && (int64_t)s->imissed >= 0 &&
	       (int64_t)s->ierrors >= 0 && (int64_t)s->rx_nombuf >= 0;
}

static void
reset(void)
{
	uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() / 1000 * RESET_MS, reads = 0, seen = 0;
	struct rte_eth_stats stats;

	port_configure(0, 1, 1, DESC, DESC, pool);
	port_start(0);
	rte_eal_mp_remote_launch(receive_or_reset, NULL, SKIP_MAIN);
	for (; rte_get_timer_cycles() < end; reads++) {
		if (rte_eth_stats_get(0, &stats) != 0)
			die("no statistics\n");
		if (!sane(&stats))
			die("%" PRId64 " frames, %" PRId64 " bytes, %" PRId64 " missed after a reset\n", stats.ipackets,
			    stats.ibytes, stats.imissed);
		seen += stats.ipackets > 0;
	}
	atomic_store(&finish, true);
	rte_eal_mp_wait_lcore();
	port_stop(0);
	if (seen == 0)
		die("no frames in %" PRIu64 " reads\n", reads);
	printf("%" PRIu64 " reads, %" PRIu64 " saw frames\n", reads, seen);
}

/* Sizes of redirection tables that no port of ours has, and the one that it has. */
static void
reta(void)
{
	struct rte_eth_rss_reta_entry64 table[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;
	uint16_t size;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_SECONDARY || rte_eth_dev_info_get(0, &info) != 0)
		die("no port in a secondary process\n");
	memset(table, 0xff, sizeof(table));
	for (size = RTE_ETH_RETA_GROUP_SIZE; size <= RTE_ETH_RSS_RETA_SIZE_512; size *= 2) {
		ret = rte_eth_dev_rss_reta_query(0, table, size);
		if ((ret == 0) != (size == info.reta_size))
			die("a table of %u entries: %d; the port has %u\n", size, ret, info.reta_size);
	}
	printf("%u entries\n", info.reta_size);
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);
	const char *what;

	if (n < 0 || argc - n < 2)
		die("arguments: EAL's -- short|dry|reset|reta\n");
	what = argv[n + 1];
	if (strcmp(what, "reta") == 0) {
		reta();
	} else {
		pool = rte_pktmbuf_pool_create("frames", MOST, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
		if (pool == NULL)
			die("no pool: %s\n", rte_strerror(rte_errno));
		if (strcmp(what, "short") == 0)
			too_few();
		else if (strcmp(what, "dry") == 0)
			run_dry();
		else
			reset();
		rte_eth_dev_close(0);
		pool_must_be_full(pool, "after the close", 0);
	}
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
