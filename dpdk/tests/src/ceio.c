/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The receive calls of CEIO over a port with iface=ceio, whose wire leads to port 0: numbered frames with checksums, of
 * several flows, come once, whole and in order through all of them.
 *
 *   ceio EAL-ARGUMENTS -- [--packets N] [--seed N] [--credits N]
 *
 * --credits: those of the port. --mark: that of frames whose flows bypass cores; flow 0 is given it.
 */
#include <dlfcn.h>

#include <rte_flow.h>

#include "payload.h"
#include "../../driver/rte_pmd_rxlab.h"

#define FLOWS 8
#define RING 64
#define MBUFS 4095
#define KEPT 1000	/* frames that the card keeps */
#define BEHIND 8192	/* frames that the receiver is behind: the card's memory has room for four times as many */
#define LONG_US 2000000
#define FROM 0		/* the port that sends */
#define TO 1		/* that of ceio */

static typeof(rte_pmd_rxlab_recv) *recv_wait;
static typeof(rte_pmd_rxlab_async_recv) *recv_async;
static typeof(rte_pmd_rxlab_post_recv) *post;

static struct headers headers[FLOWS];
static uint64_t sent[FLOWS], expected[FLOWS], all_sent, all_received;
static struct rte_mempool *pool, *own;
static uint32_t mark;	/* of flow 0; 0 for none */
static uint64_t state;
static uint64_t end;	/* of the time that a step has */

static void *
symbol(const char *name)
{
	void *found = dlsym(dlopen("librte_net_rxlab.so", RTLD_NOW | RTLD_NOLOAD), name);

	if (found == NULL)
		die("the driver has no %s: %s\n", name, dlerror());
	return found;
}

static void
begin(void)
{
	end = rte_get_timer_cycles() + 60 * rte_get_timer_hz();
}

static void
in_time(const char *what)
{
	if (rte_get_timer_cycles() > end)
		die("%s takes too long: %" PRIu64 " sent, %" PRIu64 " received\n", what, all_sent, all_received);
}

static void
send_frames(uint64_t n)
{
	for (begin(); n > 0; n--) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint64_t random = draw(&state);
		uint32_t flow = random >> 8 & (FLOWS - 1);

		if (m == NULL)
			die("no mbuf to send\n");
		payload_write(m, &headers[flow], flow, sent[flow]++, random);
		while (rte_eth_tx_burst(FROM, 0, &m, 1) == 0) {
			sched_yield();
			in_time("sending");
		}
		all_sent++;
	}
}

/* All that was sent has arrived at the card. */
static void
arrived(void)
{
	struct rte_eth_stats stats;

	for (begin();; sched_yield()) {
		rte_eth_stats_get(TO, &stats);
		if (stats.ipackets == all_sent)
			return;
		in_time("the way to the card");
	}
}

static void
judge(const struct rte_mbuf *m)
{
	const struct payload *p = payload_of(m);

	if (p == NULL || p->flow >= FLOWS)
		die("a damaged frame of %u B\n", m->pkt_len);
	if (p->seq != expected[p->flow])
		die("flow %u: frame %" PRIu64 ", expected %" PRIu64 "\n", p->flow, p->seq, expected[p->flow]);
	if ((mark != 0 && p->flow == 0) != ((m->ol_flags & RTE_MBUF_F_RX_FDIR_ID) && m->hash.fdir.hi == mark))
		die("flow %u has a wrong mark\n", p->flow);
	expected[p->flow]++;
	all_received++;
}

static unsigned int
take(struct rte_mbuf **pkts, int n, const char *call)
{
	int i;

	if (n < 0)
		die("%s: %s\n", call, rte_strerror(-n));
	for (i = 0; i < n; i++)
		judge(pkts[i]);
	return (unsigned int)n;
}

/* Frees as well. */
static unsigned int
receive(bool wait, uint16_t most)
{
	struct rte_mbuf *pkts[RING];
	unsigned int n = wait ? take(pkts, recv_wait(TO, 0, pkts, most, LONG_US), "recv") :
				take(pkts, recv_async(TO, 0, pkts, most), "async_recv");

	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

/* The card has no credits: it keeps all frames. One call asks for them, the other has them as well. */
static void
slow_path(void)
{
	unsigned int n;

	send_frames(KEPT);
	arrived();
	if (receive(false, BURST) != 0)
		die("async_recv has frames that nobody asked for\n");
	n = receive(true, BURST);
	if (n != BURST)
		die("recv: %u frames of %u that the card keeps\n", n, BURST);
	for (begin(); all_received < all_sent; in_time("recv"))
		receive(true, BURST);
	if (receive(true, BURST) != 0)
		die("recv has a frame that nobody sent\n");
}

/* The three ways, in any order. */
static void
mixed(uint64_t packets)
{
	uint64_t until = all_sent + packets;
	struct rte_mbuf *pkts[RING];
	unsigned int n;

	for (begin(); all_received < until; in_time("receiving")) {
		uint64_t random = draw(&state);

		if (all_sent < until && all_sent - all_received < BEHIND && random & 1)
			send_frames(RTE_MIN(until - all_sent, (random >> 8) % 200 + 1));
		switch (random >> 1 & 3) {
		case 0:
			n = take(pkts, rte_eth_rx_burst(TO, 0, pkts, BURST), "rx_burst");
			rte_pktmbuf_free_bulk(pkts, n);
			break;
		case 1:
			receive(false, random >> 16 & (RING - 1));
			break;
		default:
			receive(true, random >> 16 & (RING - 1));
		}
		begin();
	}
}

/* Frames come into mbufs of the application's own. While it holds all of them the card keeps frames. */
static void
own_mbufs(void)
{
	struct rte_mbuf *mine[RING], *held[2 * RING];
	unsigned int n = 0, i, posted = 0;

	if (rte_pktmbuf_alloc_bulk(own, mine, RING) != 0)
		die("no mbufs of its own\n");
	if (post(TO, 0, mine, RING) != 0)
		die("a full ring took an mbuf\n");
	send_frames(2 * RING);
	arrived();
	for (begin(); n < RING; in_time("a ring"))
		n += take(held + n, recv_async(TO, 0, held + n, RING - n), "async_recv");
	for (i = 0; i < n; i++)
		if (held[i]->pool != pool)
			die("the ring had mbufs of the mempool\n");
	/* recv does not wait for what cannot come. */
	begin();
	if (receive(false, BURST) + receive(true, BURST) != 0)
		die("frames without an mbuf\n");
	if (rte_get_timer_cycles() > end - 59 * rte_get_timer_hz())
		die("recv waits without an mbuf\n");
	rte_pktmbuf_free_bulk(held, n);

	for (begin(), n = 0; n < RING; in_time("a ring of its own")) {
		unsigned int got;

		if (posted < RING)
			posted += (unsigned int)post(TO, 0, mine + posted, RTE_MIN(RING - posted, 10u));
		got = take(held + n, recv_wait(TO, 0, held + n, RING - n, LONG_US), "recv");
		for (i = n; i < n + got; i++)
			if (held[i]->pool != own)
				die("a frame is in an mbuf that was not posted\n");
		n += got;
	}
	rte_pktmbuf_free_bulk(held, n);
	if (rte_pktmbuf_alloc_bulk(own, mine, RING) != 0 || post(TO, 0, mine, RING) != RING)
		die("the ring has no room for its own mbufs\n");
}

/* Frames of the slow path that were received. The driver tells of them every 1024 polls. */
static uint64_t
slow(void)
{
	int i;

	for (i = 0; i < 1024; i++)
		receive(false, 1);
	return xstat(TO, "rx_host_slow");
}

/* The frames of a flow that bypasses cores are kept, all of them, and no others. */
static void
marked(void)
{
	const struct rte_flow_item_udp port = { .hdr.src_port = RTE_BE16(0x1000) };
	const struct rte_flow_item_udp whole = { .hdr.src_port = RTE_BE16(0xffff) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &port, .mask = &whole },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_mark id = { .id = mark };
	const struct rte_flow_action_queue queue = { .index = 0 };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &id },
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_error error;
	uint64_t before, of_flow = sent[0];
	int i;

	if (rte_flow_create(TO, &attr, pattern, actions, &error) == NULL)
		die("no rule: %s\n", error.message);
	before = slow();
	/* Each time less than the ring has mbufs for: what is kept is kept for its flow. */
	for (i = 0; i < 100; i++) {
		send_frames(RING / 4);
		arrived();
		for (begin(); all_received < all_sent; in_time("marked frames"))
			receive(false, BURST);
	}
	before = slow() - before;
	if (before != sent[0] - of_flow || before == 0)
		die("%" PRIu64 " frames were kept, %" PRIu64 " have the mark\n", before, sent[0] - of_flow);
	printf("%" PRIu64 " of %d frames have the mark, and as many were kept\n", before, 100 * RING / 4);
	if (rte_flow_flush(TO, &error) != 0)
		die("the rule stays: %s\n", error.message);
	mark = 0;
}

static void
refused(int have, int want, const char *what)
{
	if (have != want)
		die("%s: %d, expected %d\n", what, have, want);
}

static void
errors(void)
{
	struct rte_mempool *small = rte_pktmbuf_pool_create("small", 63, 0, 0, RTE_PKTMBUF_HEADROOM + 64, SOCKET_ID_ANY);
	struct rte_mbuf *m = rte_pktmbuf_alloc(small), *chain[2];

	refused(recv_async(7, 0, &m, 1), -ENODEV, "no such port");
	refused(recv_async(FROM, 0, &m, 1), -ENOTSUP, "another interface");
	refused(recv_wait(FROM, 0, &m, 1, 0), -ENOTSUP, "another interface");
	refused(post(FROM, 0, &m, 1), -ENOTSUP, "another interface");
	refused(recv_wait(TO, 1, &m, 1, 0), -EINVAL, "no such queue");
	refused(post(TO, 0, &m, 1), -EINVAL, "an mbuf that is too small");
	if (rte_pktmbuf_alloc_bulk(own, chain, 2) != 0)
		die("no mbufs of its own\n");
	chain[0]->next = chain[1];
	refused(post(TO, 0, chain, 1), -EINVAL, "a chain");
	chain[0]->next = NULL;
	rte_mbuf_refcnt_set(chain[0], 2);
	refused(post(TO, 0, chain, 1), -EINVAL, "a shared mbuf");
	rte_mbuf_refcnt_set(chain[0], 1);
	rte_pktmbuf_free_bulk(chain, 2);
	rte_pktmbuf_free(m);
	rte_mempool_free(small);
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv), i;
	struct rte_mbuf *m;
	uint64_t packets;

	if (n < 0)
		return EXIT_FAILURE;
	argc -= n;
	argv += n;
	packets = option(argc, argv, "--packets", 20000);
	state = option(argc, argv, "--seed", 1);
	recv_wait = symbol("rte_pmd_rxlab_recv");
	recv_async = symbol("rte_pmd_rxlab_async_recv");
	post = symbol("rte_pmd_rxlab_post_recv");
	pool = rte_pktmbuf_pool_create("frames", MBUFS, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	own = rte_pktmbuf_pool_create("own", 4 * RING - 1, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL || own == NULL)
		die("no pool: %s\n", rte_strerror(rte_errno));
	for (i = 0; i < FLOWS; i++)
		headers[i] = headers_of((uint32_t)i);
	for (i = 0; i < 2; i++) {
		port_configure((uint16_t)i, 1, 1, RING, RING, pool);
		port_start((uint16_t)i);
	}

	errors();
	mark = (uint32_t)option(argc, argv, "--mark", 0);
	if (mark != 0)
		marked();
	if (option(argc, argv, "--credits", 0) == 0)
		slow_path();
	mixed(packets);
	own_mbufs();
	if (drops(TO) != 0)
		die("%" PRIu64 " frames dropped\n", drops(TO));
	for (begin(); xstat(TO, "rx_nic_memory_slots") != 0; in_time("the card's memory"))
		receive(false, BURST);
	printf("%" PRIu64 " frames, at most %" PRIu64 " kept\n", all_received, xstat(TO, "rx_nic_memory_most"));

	/* All mbufs are back, each in its own pool; another start takes those of the mempool. */
	for (i = 0; i < 2; i++)
		port_stop((uint16_t)i);
	refused(recv_async(TO, 0, &m, 1), -EINVAL, "a stopped port");
	pool_must_be_full(pool, "after the stop", 0);
	pool_must_be_full(own, "own, after the stop", 0);
	for (i = 0; i < 2; i++)
		port_start((uint16_t)i);
	mixed(packets / 10);
	for (i = 0; i < 2; i++) {
		port_stop((uint16_t)i);
		rte_eth_dev_close((uint16_t)i);
	}
	pool_must_be_full(pool, "after the close", 0);
	pool_must_be_full(own, "own, after the close", 0);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
