/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Frames between two ports over a channel, in one process and on one lcore: numbered, with a checksum, of one mbuf or two,
 * some of them shared with a clone, some held for a while by who receives them. None is lost, and no buffer. Then one
 * side starts anew, and all goes on over the next link.
 *
 *   channel EAL-ARGUMENTS -- [--own BITS] [--packets N] [--seed N]
 *
 * --own: the ports that receive into a mempool in place and send from it, a bit each.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "payload.h"
#include "../../driver/rte_pmd_rxlab.h"

#define HELD 64		/* frames and clones that a side keeps for a while */
#define MBUFS 8191
#define PATIENCE_MS 20000

struct side {
	uint16_t port;
	struct rte_mempool *own;	/* in place, or NULL */
	struct headers headers;
	uint64_t sent, expected;	/* the numbers of the next frames */
	struct rte_mbuf *held[HELD];
	unsigned int at;
};

static struct side sides[2];
static struct rte_mempool *pool;
static uint64_t state;
static bool in_place_only;
static typeof(rte_pmd_rxlab_channel_pool) *channel_pool;

/* What lies there is freed, and m lies there from now on. */
static void
hold(struct side *s, struct rte_mbuf *m)
{
	rte_pktmbuf_free(s->held[s->at]);
	s->held[s->at] = m;
	s->at = (s->at + 1) % HELD;
}

static struct rte_mempool *
pool_for(struct side *s, uint64_t random)
{
	return s->own != NULL && (in_place_only || random >> 40 & 7) ? s->own : pool;
}

static void
send_some(struct side *s, unsigned int want)
{
	struct rte_mbuf *mbufs[BURST];
	uint64_t random[BURST];
	uint16_t n = 0, taken, i;

	for (n = 0; n < want; n++) {
		random[n] = draw(&state);
		mbufs[n] = rte_pktmbuf_alloc(pool_for(s, random[n]));
		if (mbufs[n] == NULL)
			break;
		payload_write(mbufs[n], &s->headers, s->port, s->sent + n, random[n]);
		if ((random[n] >> 8 & 15) == 0)
			payload_split(mbufs[n], pool_for(s, random[n] >> 1));
		if ((random[n] >> 12 & 15) == 0)
			hold(s, rte_pktmbuf_clone(mbufs[n], pool));
	}
	taken = rte_eth_tx_burst(s->port, 0, mbufs, n);
	s->sent += taken;
	for (i = taken; i < n; i++)
		rte_pktmbuf_free(mbufs[i]);
}

static unsigned int
receive(struct side *s, const struct side *from)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = rte_eth_rx_burst(s->port, 0, mbufs, BURST), i;

	for (i = 0; i < n; i++) {
		const struct payload *p;

		/* In place, what was sent in two mbufs comes in two. */
		if (mbufs[i]->nb_segs > 1 && rte_pktmbuf_linearize(mbufs[i]) != 0)
			die("port %u: frame %" PRIu64 " cannot be made one\n", s->port, s->expected);
		p = payload_of(mbufs[i]);
		if (p == NULL || p->flow != from->port || p->seq != s->expected)
			die("port %u: frame %" PRId64 " of flow %u for %" PRIu64 "\n", s->port,
			    p == NULL ? -1 : (int64_t)p->seq, p == NULL ? 0 : p->flow, s->expected);
		s->expected++;
		if (draw(&state) & 7)
			rte_pktmbuf_free(mbufs[i]);
		else
			hold(s, mbufs[i]);
	}
	return n;
}

static void
exchange(uint64_t packets)
{
	uint64_t target[2] = { sides[0].sent + packets, sides[1].sent + packets };
	uint64_t end = rte_get_timer_cycles() + 60 * rte_get_timer_hz();
	unsigned int i;

	while (sides[0].expected < target[1] || sides[1].expected < target[0]) {
		for (i = 0; i < 2; i++) {
			uint64_t left = target[i] - sides[i].sent;

			send_some(&sides[i], RTE_MIN(left, draw(&state) % BURST + 1));
		}
		for (i = 0; i < 2; i++)
			receive(&sides[i], &sides[1 - i]);
		if (rte_get_timer_cycles() > end)
			die("sent %" PRIu64 " and %" PRIu64 ", received %" PRIu64 " and %" PRIu64 "\n", sides[0].sent,
			    sides[1].sent, sides[1].expected, sides[0].expected);
	}
}

static void
let_go(void)
{
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < HELD; k++)
			hold(&sides[i], NULL);
}

/* Every buffer of the link is with one of the two pools, but for those that a side keeps to copy into. */
static void
all_there(void)
{
	static struct rte_mbuf *all[2][MBUFS];
	unsigned int n[2] = { 0 }, i, size = sides[0].own->size, kept = 2 * 64;

	for (i = 0; i < 2; i++)
		while (n[i] < MBUFS && (all[i][n[i]] = rte_pktmbuf_alloc(sides[i].own)) != NULL)
			n[i]++;
	if (n[0] + n[1] > size || n[0] + n[1] + kept < size)
		die("%u and %u of %u buffers are there\n", n[0], n[1], size);
	printf("%u and %u of %u buffers\n", n[0], n[1], size);
	for (i = 0; i < 2; i++)
		rte_pktmbuf_free_bulk(all[i], n[i]);
}

/* Frames that a port did not copy, of those that it received and sent. */
static void
in_place(const struct side *s, uint64_t count[2])
{
	count[RX] = xstat(s->port, "rx_in_place");
	count[TX] = xstat(s->port, "tx_in_place");
}

/* In place is what it says, and only where it can be. */
static void
judge_in_place(const struct side *s, const struct side *from, uint64_t packets)
{
	uint64_t count[2];

	in_place(s, count);
	printf("port %u: %" PRIu64 " received and %" PRIu64 " sent in place\n", s->port, count[RX], count[TX]);
	if (count[RX] != (s->own == NULL ? 0 : from->sent))
		die("port %u: of %" PRIu64 " frames %" PRIu64 " came in place\n", s->port, from->sent, count[RX]);
	/* One in eight is of another mempool, one in sixteen has a clone. */
	if (s->own == NULL ? count[TX] != 0 : count[TX] < packets / 2)
		die("port %u: of %" PRIu64 " frames %" PRIu64 " went in place\n", s->port, packets, count[TX]);
}

static void *
make_pool(void *arg)
{
	struct side *s = arg;
	char name[16];

	snprintf(name, sizeof(name), "own%u", s->port);
	s->own = channel_pool(s->port, name, 128, PATIENCE_MS);
	if (s->own == NULL)
		die("port %u: no pool: %s\n", s->port, rte_strerror(rte_errno));
	return NULL;
}

static void
start(struct side *s)
{
	port_configure(s->port, 1, 1, 512, 512, s->own == NULL ? pool : s->own);
	port_start(s->port);
}

static void
wait_for_link(uint16_t port)
{
	struct rte_eth_link link = { 0 };
	int ms;

	for (ms = 0; ms < PATIENCE_MS && link.link_status != RTE_ETH_LINK_UP; ms++) {
		usleep(1000);
		rte_eth_link_get_nowait(port, &link);
	}
	if (link.link_status != RTE_ETH_LINK_UP)
		die("port %u: no link\n", port);
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv), i;
	uint64_t own, packets, before[2][2], after[2];
	pthread_t threads[2];

	if (n < 0)
		return EXIT_FAILURE;
	argc -= n;
	argv += n;
	own = option(argc, argv, "--own", 0);
	packets = option(argc, argv, "--packets", 200000);
	state = option(argc, argv, "--seed", 1);
	in_place_only = own == 3;
	channel_pool = dlsym(dlopen("librte_net_rxlab.so", RTLD_NOW | RTLD_NOLOAD), "rte_pmd_rxlab_channel_pool");
	if (channel_pool == NULL)
		die("the driver has no mempools in place: %s\n", dlerror());
	pool = rte_pktmbuf_pool_create("frames", MBUFS, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no pool: %s\n", rte_strerror(rte_errno));
	for (i = 0; i < 2; i++) {
		sides[i].port = i;
		sides[i].headers = headers_of(i);
		if (!(own >> i & 1))
			start(&sides[i]);
	}
	/* Both at a time: each waits for the other one's link. */
	for (i = 0; i < 2; i++)
		if ((own >> i & 1) && pthread_create(&threads[i], NULL, make_pool, &sides[i]) != 0)
			die("no thread\n");
	for (i = 0; i < 2; i++) {
		if (own >> i & 1) {
			pthread_join(threads[i], NULL);
			start(&sides[i]);
		}
	}
	wait_for_link(0);
	wait_for_link(1);
	exchange(packets);
	let_go();
	for (i = 0; i < 2; i++) {
		judge_in_place(&sides[i], &sides[1 - i], packets);
		in_place(&sides[i], before[i]);
	}
	if (own == 3)
		all_there();

	/* The next link has other memory: what is in the pools of the first one is copied from now on. */
	port_stop(1);
	start(&sides[1]);
	usleep(200000);
	wait_for_link(0);
	wait_for_link(1);
	exchange(packets / 4);
	let_go();
	for (i = 0; i < 2; i++) {
		in_place(&sides[i], after);
		if (memcmp(before[i], after, sizeof(after)) != 0)
			die("port %u: frames in the memory of a link that is over\n", i);
	}
	printf("%" PRIu64 " and %" PRIu64 " frames\n", sides[0].expected, sides[1].expected);
	for (i = 0; i < 2; i++) {
		port_stop(i);
		rte_mempool_free(sides[i].own);
		rte_eth_dev_close(i);
	}
	pool_must_be_full(pool, "after the close", 0);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
