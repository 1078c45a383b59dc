/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What ethdev's calls do to a port whose frames come back: states of descriptors, mbufs of every kind, flags of received
 * frames, RSS, filters, what is refused, link.
 *
 *   ethdev EAL-ARGUMENTS -- loop	port 0 is a loop
 *   ethdev EAL-ARGUMENTS -- pair	ports 0 and 1 are a pair
 */
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_thash.h>
#include <rte_udp.h>

#include "common.h"

#define MBUFS 4095
#define QUEUES 2
#define DESC 256
#define FRAME 128
#define KEY 40
#define RETA 512

static struct rte_mempool *pool;

#define must(ret, what)                                                        \
	do {                                                                   \
		int ret_ = (ret);                                              \
		if (ret_ != 0)                                                 \
			die("%s: %s\n", (what), rte_strerror(ret_ < 0 ? -ret_ : ret_)); \
	} while (0)

static void
must_be(int have, int want, const char *what)
{
	if (have != want)
		die("%s: %d, expected %d\n", what, have, want);
}

/* --- frames --- */

/* An IPv4/UDP frame with right checksums. */
static void
write_frame(uint8_t *frame, uint16_t len)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
	uint16_t i;

	for (i = 0; i < len; i++)
		frame[i] = (uint8_t)(i * 7 + 3);
	memset(ether, 2, sizeof(*ether));
	ether->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	memset(ip, 0, sizeof(*ip));
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(len - sizeof(*ether)));
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 2));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->src_port = rte_cpu_to_be_16(1111);
	udp->dst_port = rte_cpu_to_be_16(2222);
	udp->dgram_len = rte_cpu_to_be_16((uint16_t)(len - ETHER_IP_UDP + sizeof(*udp)));
	udp->dgram_cksum = 0;
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
}

static struct rte_mbuf *
make(uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		die("no mbuf\n");
	write_frame((uint8_t *)rte_pktmbuf_append(m, len), len);
	return m;
}

static void
send_one(uint16_t port, struct rte_mbuf *m)
{
	if (rte_eth_tx_burst(port, 0, &m, 1) != 1)
		die("port %u takes no frame\n", port);
}

/* The frame that comes to a queue of `port` within a second, and to which; NULL if none comes within `ms`. */
static struct rte_mbuf *
receive_within(uint16_t port, unsigned int ms, uint16_t *queue)
{
	struct rte_mbuf *m;
	uint16_t q;

	for (ms *= 10; ms > 0; ms--) {
		for (q = 0; q < QUEUES; q++)
			if (rte_eth_rx_burst(port, q, &m, 1) == 1) {
				*queue = q;
				return m;
			}
		rte_delay_us(100);
	}
	return NULL;
}

static struct rte_mbuf *
receive(uint16_t port, const char *what)
{
	uint16_t queue;
	struct rte_mbuf *m = receive_within(port, 1000, &queue);

	if (m == NULL)
		die("%s does not come\n", what);
	return m;
}

static struct rte_mbuf *
there_and_back(struct rte_mbuf *m, const char *what)
{
	send_one(0, m);
	return receive(0, what);
}

/* What was sent is freed, so that the pool can be counted. */
static void
clean(const char *when)
{
	int ret = rte_eth_tx_done_cleanup(0, 0, 0);

	if (ret < 0)
		die("tx_done_cleanup: %s\n", rte_strerror(-ret));
	if (pool_count(pool) > pool->size)
		die("%s: more mbufs than there are\n", when);
}

/* --- descriptors --- */

static void
descriptors(void)
{
	struct rte_eth_burst_mode mode;
	struct rte_mbuf *mbufs[4];
	unsigned int i;

	must(rte_eth_rx_burst_mode_get(0, 0, &mode), "rx_burst_mode_get");
	must(rte_eth_tx_burst_mode_get(0, 0, &mode), "tx_burst_mode_get");
	must_be(rte_eth_tx_descriptor_status(0, 0, DESC), -EINVAL, "status of a Tx descriptor beyond the ring");
	must_be(rte_eth_rx_descriptor_status(0, 0, 2 * DESC), -EINVAL, "status of an Rx descriptor beyond the ring");
	must_be(rte_eth_tx_descriptor_status(0, 0, DESC - 1), RTE_ETH_TX_DESC_DONE, "the last of an empty Tx ring");
	must_be(rte_eth_rx_descriptor_status(0, 0, 0), RTE_ETH_RX_DESC_AVAIL, "the first of an empty Rx ring");
	for (i = 0; i < RTE_DIM(mbufs); i++)
		mbufs[i] = make(FRAME);
	must_be(rte_eth_tx_burst(0, 0, mbufs, RTE_DIM(mbufs)), RTE_DIM(mbufs), "frames taken");
	/* Nobody sends or cleans up meanwhile. */
	for (i = 0; i < 1000 && rte_eth_tx_descriptor_status(0, 0, DESC - 1) != RTE_ETH_TX_DESC_DONE; i++)
		rte_delay_us(1000);
	must_be(rte_eth_tx_descriptor_status(0, 0, DESC - 1), RTE_ETH_TX_DESC_DONE, "a sent frame's descriptor");
	for (i = 0; i < 1000 && rte_eth_rx_queue_count(0, 0) + rte_eth_rx_queue_count(0, 1) < (int)RTE_DIM(mbufs); i++)
		rte_delay_us(1000);
	i = rte_eth_rx_queue_count(0, 0) != 0 ? 0 : 1; /* one flow: one queue */
	must_be(rte_eth_rx_queue_count(0, (uint16_t)i), RTE_DIM(mbufs), "frames that wait");
	must_be(rte_eth_rx_descriptor_status(0, (uint16_t)i, 3), RTE_ETH_RX_DESC_DONE, "the last frame's Rx descriptor");
	must_be(rte_eth_rx_descriptor_status(0, (uint16_t)i, 4), RTE_ETH_RX_DESC_AVAIL, "the Rx descriptor behind it");
	must_be(rte_eth_rx_burst(0, (uint16_t)i, mbufs, RTE_DIM(mbufs)), RTE_DIM(mbufs), "frames received");
	rte_pktmbuf_free_bulk(mbufs, RTE_DIM(mbufs));
	must_be(rte_eth_tx_done_cleanup(0, 0, 0), RTE_DIM(mbufs), "mbufs that tx_done_cleanup frees");
}

/* --- mbufs of every kind --- */

static void
must_carry(struct rte_mbuf *m, const uint8_t *frame, uint16_t len, const char *what)
{
	if (m->pkt_len != len || m->nb_segs != 1 || memcmp(rte_pktmbuf_mtod(m, void *), frame, len) != 0)
		die("%s came otherwise: %u bytes in %u segments\n", what, m->pkt_len, m->nb_segs);
	rte_pktmbuf_free(m);
}

static void
count_free(void *address __rte_unused, void *calls)
{
	++*(unsigned int *)calls;
}

static void
kinds_of_mbufs(void)
{
	static uint8_t outside[FRAME + 256];
	struct rte_mbuf_ext_shared_info *shared;
	struct rte_mbuf *m, *clone, *next;
	uint16_t room = sizeof(outside), i;
	uint8_t frame[FRAME];
	unsigned int calls = 0;

	write_frame(frame, FRAME);
	m = make(FRAME);
	clone = rte_pktmbuf_clone(m, pool);
	if (clone == NULL)
		die("no clone\n");
	must_carry(there_and_back(clone, "an indirect mbuf"), frame, FRAME, "an indirect mbuf");
	clean("after an indirect mbuf");
	must_be(rte_mbuf_refcnt_read(m), 1, "references to what an indirect mbuf sent");
	rte_pktmbuf_free(m);

	m = rte_pktmbuf_alloc(pool);
	shared = rte_pktmbuf_ext_shinfo_init_helper(outside, &room, count_free, &calls);
	if (m == NULL || shared == NULL)
		die("no external buffer\n");
	rte_pktmbuf_attach_extbuf(m, outside, RTE_BAD_IOVA, room, shared);
	memcpy(rte_pktmbuf_append(m, FRAME), frame, FRAME);
	must_carry(there_and_back(m, "an external buffer"), frame, FRAME, "an external buffer");
	clean("after an external buffer");
	must_be((int)calls, 1, "calls that free an external buffer");

	/* One byte, 60 bytes, nothing, and the rest. */
	static const uint16_t pieces[] = { 1, 60, 0, FRAME - 61 };
	uint16_t at = pieces[0];

	m = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(m, at), frame, at);
	for (i = 1; i < RTE_DIM(pieces); i++) {
		next = rte_pktmbuf_alloc(pool);
		memcpy(rte_pktmbuf_append(next, pieces[i]), frame + at, pieces[i]);
		must(rte_pktmbuf_chain(m, next), "chain");
		at += pieces[i];
	}
	must_carry(there_and_back(m, "a frame of segments"), frame, FRAME, "a frame of segments");
	clean("after a frame of segments");
}

/* --- flags --- */

static void
must_have(struct rte_mbuf *m, uint64_t mask, uint64_t want, const char *what)
{
	if ((m->ol_flags & mask) != want)
		die("%s: ol_flags %" PRIx64 ", expected %" PRIx64 " of %" PRIx64 "\n", what, m->ol_flags & mask, want, mask);
}

static uint32_t
hash_of(const uint8_t *key)
{
	uint32_t input[] = { RTE_IPV4(10, 0, 0, 1), RTE_IPV4(10, 0, 0, 2), 1111u << 16 | 2222 };

	return rte_softrss(input, RTE_DIM(input), key);
}

static void
flags(void)
{
	static const uint64_t ip = RTE_MBUF_F_RX_IP_CKSUM_MASK, l4 = RTE_MBUF_F_RX_L4_CKSUM_MASK;
	struct rte_eth_rss_conf conf = { 0 };
	uint8_t key[KEY];
	struct rte_mbuf *m;

	conf.rss_key = key;
	conf.rss_key_len = sizeof(key);
	must(rte_eth_dev_rss_hash_conf_get(0, &conf), "rss_hash_conf_get");
	m = there_and_back(make(FRAME), "a right frame");
	must_have(m, ip | l4 | RTE_MBUF_F_RX_RSS_HASH,
		  RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_RSS_HASH, "a right frame");
	must_be((int)m->hash.rss, (int)hash_of(key), "its hash");
	must_be((int)(m->packet_type & (RTE_PTYPE_L3_MASK | RTE_PTYPE_L4_MASK)), RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP,
		"its packet type");
	rte_pktmbuf_free(m);

	m = make(FRAME);
	rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN)->hdr_checksum ^= 1;
	m = there_and_back(m, "a wrong header checksum");
	must_have(m, ip, RTE_MBUF_F_RX_IP_CKSUM_BAD, "a wrong header checksum");
	rte_pktmbuf_free(m);

	m = make(FRAME);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, FRAME - 1) ^= 1;
	m = there_and_back(m, "a wrong UDP checksum");
	must_have(m, ip | l4, RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD, "a wrong UDP checksum");
	rte_pktmbuf_free(m);
	clean("after flags");
}

/* --- frames that cards deliver, whatever is wrong with their packets --- */

static void
malformed(void)
{
	static const struct {
		const char *what;
		uint16_t at;
		uint8_t byte;
		uint16_t len;
		uint32_t type;
	} frames[] = {
		{ "IP version 5", 14, 0x55, FRAME, RTE_PTYPE_L2_ETHER },
		{ "IP version 6 in an IPv4 frame", 14, 0x65, FRAME, RTE_PTYPE_L2_ETHER },
		{ "an IP header of 16 B", 14, 0x44, FRAME, RTE_PTYPE_L2_ETHER },
		{ "an IP header longer than the frame", 14, 0x4f, 60, RTE_PTYPE_L2_ETHER },
		{ "a packet shorter than its header", 17, 19, FRAME, RTE_PTYPE_L2_ETHER },
		{ "IPv4 in an IPv6 frame", 12, 0x86, FRAME, RTE_PTYPE_L2_ETHER },
		{ "no payload", 0, 2, 14, RTE_PTYPE_L2_ETHER },
		{ "an IPv4 header cut off", 0, 2, 33, RTE_PTYPE_L2_ETHER },
		{ "no UDP header", 0, 2, 34, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 },
		{ "UDP ports cut off", 0, 2, 37, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 },
		{ "a VLAN tag cut off", 12, 0x81, 16, RTE_PTYPE_L2_ETHER_VLAN },
	};
	uint8_t frame[FRAME];
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < RTE_DIM(frames); i++) {
		write_frame(frame, FRAME);
		frame[frames[i].at] = frames[i].byte;
		m = make(FRAME);
		memcpy(rte_pktmbuf_mtod(m, void *), frame, FRAME);
		must(rte_pktmbuf_trim(m, FRAME - frames[i].len), "trim");
		m = there_and_back(m, frames[i].what);
		must_be((int)m->packet_type, (int)frames[i].type, frames[i].what);
		if (frames[i].type == RTE_PTYPE_L2_ETHER)
			must_have(m, RTE_MBUF_F_RX_RSS_HASH, 0, frames[i].what);
		must_carry(m, frame, frames[i].len, frames[i].what);
	}
	clean("after malformed frames");
}

/* --- RSS --- */

static void
all_to(uint16_t queue)
{
	struct rte_eth_rss_reta_entry64 table[RETA / RTE_ETH_RETA_GROUP_SIZE];
	unsigned int i;

	for (i = 0; i < RETA; i++) {
		table[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = queue;
	}
	must(rte_eth_dev_rss_reta_update(0, table, RETA), "rss_reta_update");
}

static void
rss(void)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP };
	struct rte_eth_dev_info info;
	uint16_t queue, got;
	struct rte_mbuf *m;
	uint8_t key[KEY];
	unsigned int i;

	must(rte_eth_dev_info_get(0, &info), "info");
	must_be(info.reta_size, RETA, "size of the redirection table");
	for (queue = 0; queue < QUEUES; queue++) {
		all_to(queue);
		send_one(0, make(FRAME));
		m = receive_within(0, 1000, &got);
		if (m == NULL)
			die("no frame comes to queue %u\n", queue);
		must_be(got, queue, "the queue that a table of one names");
		rte_pktmbuf_free(m);
	}
	for (i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 37 + 11);
	conf.rss_key = key;
	conf.rss_key_len = sizeof(key);
	conf.rss_hf &= info.flow_type_rss_offloads;
	must(rte_eth_dev_rss_hash_update(0, &conf), "rss_hash_update");
	m = there_and_back(make(FRAME), "a frame under another key");
	must_be((int)m->hash.rss, (int)hash_of(key), "the hash under another key");
	rte_pktmbuf_free(m);
	conf.rss_hf = 0;
	must(rte_eth_dev_rss_hash_update(0, &conf), "no RSS");
	m = there_and_back(make(FRAME), "a frame without RSS");
	must_have(m, RTE_MBUF_F_RX_RSS_HASH, 0, "a frame without RSS");
	rte_pktmbuf_free(m);
	clean("after RSS");
}

/* --- filters --- */

static bool
comes(const struct rte_ether_addr *to)
{
	struct rte_mbuf *m = make(FRAME);
	uint16_t queue;

	rte_ether_addr_copy(to, &rte_pktmbuf_mtod(m, struct rte_ether_hdr *)->dst_addr);
	send_one(0, m);
	m = receive_within(0, 50, &queue);
	rte_pktmbuf_free(m);
	return m != NULL;
}

static void
filters(void)
{
	struct rte_ether_addr mine = { { 2, 0, 0, 0, 0, 7 } }, other = { { 2, 0, 0, 0, 0, 8 } };
	struct rte_ether_addr group = { { 1, 0, 0x5e, 0, 0, 9 } };

	must_be(comes(&other), true, "another's frame, promiscuous");
	must(rte_eth_promiscuous_disable(0), "promiscuous_disable");
	must(rte_eth_dev_default_mac_addr_set(0, &mine), "default_mac_addr_set");
	must_be(comes(&mine), true, "a frame to the port's own address");
	must_be(comes(&other), false, "another's frame");
	must(rte_eth_dev_mac_addr_add(0, &other, 0), "mac_addr_add");
	must_be(comes(&other), true, "a frame to the second address");
	must(rte_eth_dev_mac_addr_remove(0, &other), "mac_addr_remove");
	must_be(comes(&other), false, "a frame to an address that was removed");
	must_be(comes(&group), false, "a group's frame");
	must(rte_eth_dev_set_mc_addr_list(0, &group, 1), "set_mc_addr_list");
	must_be(comes(&group), true, "a frame of the list");
	must(rte_eth_dev_set_mc_addr_list(0, NULL, 0), "no list");
	must_be(comes(&group), false, "a frame of a list that was taken away");
	must(rte_eth_allmulticast_enable(0), "allmulticast_enable");
	must_be(comes(&group), true, "a group's frame, allmulticast");
	must(rte_eth_allmulticast_disable(0), "allmulticast_disable");
	must(rte_eth_promiscuous_enable(0), "promiscuous_enable");
	clean("after filters");
}

/* --- what is refused --- */

static void
refusals(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_mempool *smaller = rte_pktmbuf_pool_create("smaller", 2047, 0, 0, 1024, SOCKET_ID_ANY);
	struct rte_eth_dev_info info;
	int ret;

	if (smaller == NULL)
		die("no second pool\n");
	conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO;
	ret = rte_eth_dev_configure(0, 1, 1, &conf);
	if (ret != -EINVAL && ret != -ENOTSUP)
		die("LRO: %d\n", ret);
	conf.rxmode.offloads = 0;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO;
	ret = rte_eth_dev_configure(0, 1, 1, &conf);
	if (ret != -EINVAL && ret != -ENOTSUP)
		die("TSO: %d\n", ret);

	port_configure(0, QUEUES, 1, DESC, DESC, pool);
	must(rte_eth_rx_queue_setup(0, 1, DESC, SOCKET_ID_ANY, NULL, smaller), "a queue of another pool");
	if (rte_eth_dev_start(0) == 0)
		die("queues with buffers of two sizes start\n");
	must(rte_eth_dev_info_get(0, &info), "info");
	port_configure(0, 1, 1, DESC, DESC, smaller);
	/* 1500 B do not fit into 1024: they take two mbufs, or are refused with the MTU or at the start. */
	ret = rte_eth_dev_set_mtu(0, 1500);
	if (ret == 0)
		ret = rte_eth_dev_start(0);
	if ((ret == 0) != ((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0))
		die("an MTU of 1500 over buffers of 1024: %d\n", ret);
	if (ret == 0)
		port_stop(0);
	must_be(rte_eth_dev_set_mtu(0, (uint16_t)(info.max_mtu + 1)), -EINVAL, "an MTU beyond the most");
	must(rte_eth_dev_set_mtu(0, 800), "an MTU of 800");
	port_start(0);
	rte_eth_dev_set_mtu(0, 700);
	port_stop(0);
	pool_must_be_full(smaller, "after refusals", 0);
	must(rte_eth_dev_set_mtu(0, 1500), "an MTU of 1500");
}

/* A queue whose start is deferred is there when it is started. */
static void
deferred(void)
{
	struct rte_eth_rxconf conf = { .rx_deferred_start = 1 };
	struct rte_eth_rxq_info info;

	port_configure(0, QUEUES, 1, DESC, DESC, pool);
	must(rte_eth_rx_queue_setup(0, 1, DESC, SOCKET_ID_ANY, &conf, pool), "a queue whose start is deferred");
	port_start(0);
	must(rte_eth_rx_queue_info_get(0, 1, &info), "rx_queue_info_get");
	must_be(info.queue_state, RTE_ETH_QUEUE_STATE_STOPPED, "its state");
	must(rte_eth_dev_rx_queue_start(0, 1), "its start");
	all_to(1);
	rte_pktmbuf_free(there_and_back(make(FRAME), "a frame to it"));
	port_stop(0);
	pool_must_be_full(pool, "after a deferred start", 0);
}

static void
configure(uint16_t port)
{
	struct rte_eth_conf conf = { .rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS }, .intr_conf = { .lsc = 1 } };
	struct rte_eth_dev_info info;
	uint16_t q;

	must(rte_eth_dev_info_get(port, &info), "info");
	conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH;
	conf.rx_adv_conf.rss_conf.rss_hf = (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) & info.flow_type_rss_offloads;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	must(rte_eth_dev_configure(port, QUEUES, 1, &conf), "configure");
	for (q = 0; q < QUEUES; q++)
		must(rte_eth_rx_queue_setup(port, q, DESC, SOCKET_ID_ANY, NULL, pool), "rx_queue_setup");
	must(rte_eth_tx_queue_setup(port, 0, DESC, SOCKET_ID_ANY, NULL), "tx_queue_setup");
}

static void
loop(void)
{
	configure(0);
	port_start(0);
	descriptors();
	kinds_of_mbufs();
	flags();
	malformed();
	rss();
	filters();
	port_stop(0);
	pool_must_be_full(pool, "after the stop", 0);
	refusals();
	deferred();
}

/* --- link --- */

static int
link_of(uint16_t port)
{
	struct rte_eth_link link;

	must(rte_eth_link_get_nowait(port, &link), "link_get");
	return link.link_status;
}

static atomic_uint events;

static int
link_event(uint16_t port __rte_unused, enum rte_eth_event_type type __rte_unused, void *arg __rte_unused,
	   void *ret __rte_unused)
{
	atomic_fetch_add(&events, 1);
	return 0;
}

static void
link_becomes(uint16_t port, int want, const char *when)
{
	unsigned int i;

	for (i = 0; i < 1000 && link_of(port) != want; i++)
		rte_delay_us(1000);
	must_be(link_of(port), want, when);
}

/* A half is up while the other one is there, runs and is set up. */
static void
pair(void)
{
	struct rte_mbuf *m;
	uint16_t port;

	must(rte_eth_dev_callback_register(0, RTE_ETH_EVENT_INTR_LSC, link_event, NULL), "callback_register");
	for (port = 0; port < 2; port++)
		configure(port);
	port_start(0);
	link_becomes(0, RTE_ETH_LINK_DOWN, "link of a half whose other one has not started");
	port_start(1);
	link_becomes(0, RTE_ETH_LINK_UP, "link of two started halves");
	send_one(0, make(FRAME));
	m = receive(1, "a frame of the other half");
	rte_pktmbuf_free(m);
	must(rte_eth_dev_set_link_down(1), "set_link_down");
	link_becomes(0, RTE_ETH_LINK_DOWN, "link of a half whose other one is set down");
	must(rte_eth_dev_set_link_up(1), "set_link_up");
	link_becomes(0, RTE_ETH_LINK_UP, "link of a half whose other one is set up again");
	port_stop(1);
	link_becomes(0, RTE_ETH_LINK_DOWN, "link of a half whose other one has stopped");
	must_be(atomic_load(&events) >= 4, true, "link events");
	port_stop(0);
	pool_must_be_full(pool, "after both stops", 0);
}

int
main(int argc, char **argv)
{
	int parsed = rte_eal_init(argc, argv);
	uint16_t port;

	if (parsed < 0)
		die("EAL: %s\n", rte_strerror(rte_errno));
	pool = rte_pktmbuf_pool_create("mbufs", MBUFS, 64, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no mempool: %s\n", rte_strerror(rte_errno));
	argv += parsed;
	if (argc - parsed == 2 && strcmp(argv[1], "loop") == 0)
		loop();
	else if (argc - parsed == 2 && strcmp(argv[1], "pair") == 0)
		pair();
	else
		die("usage: ethdev EAL-ARGUMENTS -- loop|pair\n");
	RTE_ETH_FOREACH_DEV(port)
		must(rte_eth_dev_close(port), "close");
	rte_eal_cleanup();
	return 0;
}
