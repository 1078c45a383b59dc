/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * An emulated NIC (emulate=1) over a net_ring whose end is its beginning: a frame that the application sends comes back in
 * the very mbuf. What others put into the ring arrives as a copy, and so does what flow rules change. Every mbuf of every mempool is back after each stop,
 * wherever it was.
 *
 *   emulated EAL-ARGUMENTS --vdev=net_rxlab0,source=port:net_ring0,emulate=1 --vdev=net_ring0 -- [--frames N]
 */
#include <rte_flow.h>
#include <rte_vxlan.h>

#include "payload.h"

#define QUEUES 2
#define DESC 256
#define FLOWS 64
#define LIVES 5

enum { FOREIGN, SHIFTED, CLONED, CHAINED, TOO_LONG, KINDS };

static struct rte_mempool *pools[QUEUES], *others;
static uint64_t random_state = 1;

static struct rte_mbuf *
frame(struct rte_mempool *pool, uint16_t shift)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint64_t random = draw(&random_state);
	struct headers headers = headers_of(random % FLOWS);

	if (m == NULL)
		die("mempool %s is empty\n", pool->name);
	m->data_off += shift;
	payload_write(m, &headers, 0, (uintptr_t)m, random);
	return m;
}

/* Polls all queues; every frame is whole and in an mbuf of ours, and in its own one if it is to be passed. */
static uint64_t
receive(bool passed)
{
	struct rte_mbuf *mbufs[BURST];
	uint64_t all = 0;
	uint16_t q, i, n;

	for (q = 0; q < QUEUES; q++) {
		n = rte_eth_rx_burst(0, q, mbufs, BURST);
		for (i = 0; i < n; i++) {
			const struct payload *p = payload_of(mbufs[i]);

			if (p == NULL)
				die("a frame is not as it was sent\n");
			if (passed != (p->seq == (uintptr_t)mbufs[i]))
				die("a frame was %s\n", passed ? "copied" : "not copied");
			if (mbufs[i]->pool != pools[0] && mbufs[i]->pool != pools[1])
				die("an mbuf of %s\n", mbufs[i]->pool->name);
			if (mbufs[i]->data_off != RTE_PKTMBUF_HEADROOM || rte_mbuf_refcnt_read(mbufs[i]) != 1)
				die("an mbuf is not as a driver leaves it\n");
		}
		rte_pktmbuf_free_bulk(mbufs, n);
		all += n;
	}
	return all;
}

static void
receive_all(uint64_t n, bool passed)
{
	uint64_t end = rte_get_timer_cycles() + 10 * rte_get_timer_hz();

	while (n > 0) {
		n -= receive(passed);
		if (rte_get_timer_cycles() > end)
			die("%" PRIu64 " frames do not come\n", n);
	}
}

/* Few enough at a time that nobody has to drop. */
static void
pass(uint64_t frames)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t i, sent;

	for (; frames > 0; frames -= BURST) {
		for (i = 0; i < BURST; i++)
			mbufs[i] = frame(pools[i % QUEUES], 0);
		sent = rte_eth_tx_burst(0, frames / BURST % QUEUES, mbufs, BURST);
		if (sent != BURST)
			die("%u of a burst sent\n", sent);
		receive_all(BURST, true);
	}
}

static struct rte_flow *
rule(const struct rte_flow_action *actions)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH }, { .type = RTE_FLOW_ITEM_TYPE_IPV4 }, { .type = RTE_FLOW_ITEM_TYPE_UDP },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow = rte_flow_create(0, &attr, items, actions, &error);

	if (flow == NULL)
		die("rule: %s\n", error.message);
	return flow;
}

/* The one frame that comes, which rules have changed: in an mbuf of ours, with headers before it of so many bytes. */
static void
comes_changed(uint16_t headers, uint32_t source)
{
	uint64_t end = rte_get_timer_cycles() + 10 * rte_get_timer_hz();
	const struct rte_ipv4_hdr *ip;
	struct rte_mbuf *m;

	while (rte_eth_rx_burst(0, 1, &m, 1) == 0) {
		if (rte_get_timer_cycles() > end)
			die("a frame that rules change does not come\n");
	}
	if ((m->pool != pools[0] && m->pool != pools[1]) || m->data_off != RTE_PKTMBUF_HEADROOM || rte_mbuf_refcnt_read(m) != 1 || m->nb_segs != 1)
		die("a changed frame is not in an mbuf as a driver leaves it\n");
	ip = rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, headers + RTE_ETHER_HDR_LEN);
	if (rte_be_to_cpu_32(ip->src_addr) != source)
		die("a changed frame comes from %08x\n", rte_be_to_cpu_32(ip->src_addr));
	if (rte_pktmbuf_data_len(m) != headers + RTE_ETHER_HDR_LEN + rte_be_to_cpu_16(ip->total_length))
		die("a changed frame has %u B\n", rte_pktmbuf_data_len(m));
	rte_pktmbuf_free(m);
}

/*
 * Rules that change bytes: the frame is copied into the empty mbuf that is posted for it, and its own one is free again. Rules
 * that only lead a frame pass it as it is.
 */
static void
edit(void)
{
	const struct rte_flow_action_queue to = { .index = 1 };
	const struct rte_flow_action_set_ipv4 other = { .ipv4_addr = RTE_BE32(RTE_IPV4(10, 9, 8, 7)) };
	const struct rte_flow_item_eth eth = { .hdr.src_addr.addr_bytes = { 2 } };
	const struct rte_flow_item_ipv4 ipv4 = { .hdr.src_addr = RTE_BE32(1), .hdr.dst_addr = RTE_BE32(2) };
	const struct rte_flow_item_udp udp = { .hdr.src_port = RTE_BE16(7) };
	const struct rte_flow_item_vxlan vxlan = { .vni = { 0, 0, 9 } };
	struct rte_flow_item tunnel[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &eth }, { .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ipv4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp }, { .type = RTE_FLOW_ITEM_TYPE_VXLAN, .spec = &vxlan },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_vxlan_encap on = { .definition = tunnel };
	const struct rte_flow_action lead[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_action set[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC, .conf = &other }, { .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to },
		{ .type = RTE_FLOW_ACTION_TYPE_VOID }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow *flow = rule(lead);
	struct rte_mbuf *m;
	int i, wrapped;

	pass(BURST);
	rte_flow_destroy(0, flow, NULL);
	for (wrapped = 0; wrapped < 2; wrapped++) {
		if (wrapped)
			set[2] = (struct rte_flow_action) { .type = RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP, .conf = &on };
		flow = rule(set);
		/* More than the rings hold: an mbuf that was lost would be missed. */
		for (i = 0; i < 8 * DESC; i++) {
			while (m = frame(pools[0], 0), rte_pktmbuf_pkt_len(m) > RTE_ETHER_MTU - 50)
				rte_pktmbuf_free(m);
			if (rte_eth_tx_burst(0, 0, &m, 1) != 1)
				die("the port takes no frame\n");
			comes_changed(wrapped ? 50 : 0, RTE_IPV4(10, 9, 8, 7));
		}
		rte_flow_destroy(0, flow, NULL);
	}
}

static struct rte_mbuf *
odd(int kind)
{
	struct rte_mbuf *m = frame(kind == FOREIGN ? others : pools[0], kind == SHIFTED ? 6 : 0), *n;

	switch (kind) {
	case CLONED:
		n = rte_pktmbuf_clone(m, pools[1]);
		rte_pktmbuf_free(m);
		return n;
	case CHAINED:
		n = rte_pktmbuf_alloc(pools[1]);
		memcpy(rte_pktmbuf_append(n, m->data_len - 50), rte_pktmbuf_mtod_offset(m, void *, 50), m->data_len - 50);
		rte_pktmbuf_trim(m, m->data_len - 50);
		rte_pktmbuf_chain(m, n);
		return m;
	case TOO_LONG:
		n = rte_pktmbuf_alloc(pools[1]);
		rte_pktmbuf_append(n, 2000);
		rte_pktmbuf_append(m, rte_pktmbuf_tailroom(m));
		rte_pktmbuf_chain(m, n);
		return m;
	default:
		return m;
	}
}

/* What others send into the ring: in mbufs that cannot be passed on as they are. */
static void
copy(uint16_t ring, int kind)
{
	uint64_t bad = xstat(0, "rx_bad_frame"), end = rte_get_timer_cycles() + 10 * rte_get_timer_hz();
	struct rte_mbuf *mbufs[BURST];
	int i;

	for (i = 0; i < BURST; i++)
		mbufs[i] = odd(kind);
	if (rte_eth_tx_burst(ring, 0, mbufs, BURST) != BURST)
		die("the ring is full\n");
	if (kind != TOO_LONG) {
		/* A chain is gathered in its first mbuf, which is passed on. */
		receive_all(BURST, kind == CHAINED);
		return;
	}
	while (xstat(0, "rx_bad_frame") != bad + BURST) {
		if (rte_get_timer_cycles() > end)
			die("frames of more than an mbuf are not counted as bad\n");
	}
}

/* Receives nothing: at the stop there are frames in every ring, and some were dropped. */
static void
overrun(void)
{
	struct rte_mbuf *m;
	int i;

	for (i = 0; i < 8 * DESC; i++) {
		m = frame(pools[i % QUEUES], 0);
		if (rte_eth_tx_burst(0, i % QUEUES, &m, 1) == 0)
			rte_pktmbuf_free(m);
	}
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv), kind;
	uint64_t frames, life;
	uint16_t ring, q;

	if (n < 0)
		return EXIT_FAILURE;
	frames = option(argc - n, argv + n, "--frames", 20000) / BURST * BURST;
	if (rte_eth_dev_get_port_by_name("net_ring0", &ring) != 0 || ring == 0)
		die("port 0 is to be the emulated NIC, net_ring0 to come behind it\n");
	pools[0] = rte_pktmbuf_pool_create("ours0", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	pools[1] = rte_pktmbuf_pool_create("ours1", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	others = rte_pktmbuf_pool_create("others", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pools[0] == NULL || pools[1] == NULL || others == NULL)
		die("no pool: %s\n", rte_strerror(rte_errno));
	port_configure(0, QUEUES, QUEUES, DESC, DESC, pools[0]);
	if (rte_eth_rx_queue_setup(0, 1, DESC, SOCKET_ID_ANY, NULL, pools[1]) != 0)
		die("no second queue\n");
	for (life = 0; life < LIVES; life++) {
		port_start(0);
		pass(frames);
		for (kind = 0; kind < KINDS; kind++)
			copy(ring, kind);
		pass(frames);
		edit();
		overrun();
		port_stop(0);
		for (q = 0; q < QUEUES; q++)
			pool_must_be_full(pools[q], "after stop", life);
		pool_must_be_full(others, "after stop", life);
	}
	printf("%d times %" PRIu64 " frames passed, %" PRIu64 " dropped\n", LIVES, 2 * frames, drops(0));
	rte_eth_dev_close(0);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
