/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Frames longer than an mbuf, and what a card does to frames: checksums, tags of VLANs, the VLAN filter. Port 0 is a loop,
 * and receives what it sends.
 *
 *   offloads EAL-ARGUMENTS -- scatter|running|edits|vlans|sizes|wakes|control|refused
 */
#define ALLOW_EXPERIMENTAL_API
#include <sys/epoll.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "common.h"

#define MBUFS 8191
#define DESC 256
#define ROOM 1024
#define JUMBO 9000
#define SMALL 60
#define LEAST_ETHER 14

static struct rte_mempool *pool;

static void
must(int ret, const char *what)
{
	if (ret != 0)
		die("%s: %s\n", what, rte_strerror(ret < 0 ? -ret : ret));
}

static void
must_be(long have, long want, const char *what)
{
	if (have != want)
		die("%s: %ld, expected %ld\n", what, have, want);
}

static void
configure(uint16_t queues, uint64_t rx, uint64_t tx, uint16_t mtu)
{
	struct rte_eth_conf conf = { .rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS, .mtu = mtu, .offloads = rx } };
	uint16_t q;

	conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	conf.txmode.offloads = tx;
	must(rte_eth_dev_configure(0, queues, 1, &conf), "configure");
	for (q = 0; q < queues; q++)
		must(rte_eth_rx_queue_setup(0, q, DESC, SOCKET_ID_ANY, NULL, pool), "rx_queue_setup");
	must(rte_eth_tx_queue_setup(0, 0, DESC, SOCKET_ID_ANY, NULL), "tx_queue_setup");
	must(rte_eth_stats_reset(0), "stats_reset");
}

static uint64_t
xstat(const char *name)
{
	uint64_t id, value;

	must(rte_eth_xstats_get_id_by_name(0, name, &id), name);
	if (rte_eth_xstats_get_by_id(0, &id, &value, 1) != 1)
		die("no %s\n", name);
	return value;
}

/* The NIC core may share its CPU with this lcore: it takes a while until it has seen a frame. */
static void
until_counted(const char *name, uint64_t count)
{
	unsigned int i;

	for (i = 0; i < 20000 && xstat(name) < count; i++)
		usleep(100);
	must_be((long)xstat(name), (long)count, name);
}

/* --- frames: a number, and bytes that follow from it --- */

static uint8_t
byte_of(uint32_t number, uint32_t at)
{
	return (uint8_t)(number * 31 + at * 7 + (at >> 8));
}

/* A chain of mbufs with `piece` bytes each. */
static struct rte_mbuf *
chain_of(uint32_t number, uint32_t len, uint16_t piece)
{
	struct headers h = headers_of(number % 64);
	struct rte_mbuf *first = NULL, *m = NULL;
	uint8_t headers[ETHER_IP_UDP];
	uint32_t at;

	headers_write(headers, &h, (uint16_t)len);
	for (at = 0; at < len; at++) {
		uint8_t byte = at < ETHER_IP_UDP ? headers[at] : byte_of(number, at);

		if (at % piece == 0) {
			struct rte_mbuf *next = rte_pktmbuf_alloc(pool);

			if (next == NULL)
				die("no mbuf\n");
			if (first == NULL)
				first = next;
			else
				m->next = next;
			m = next;
			first->nb_segs += first != next;
		}
		*(uint8_t *)rte_pktmbuf_append(m, 1) = byte;
		first->pkt_len += first != m;
	}
	memcpy(rte_pktmbuf_mtod_offset(first, void *, 0), headers, RTE_MIN(piece, (uint16_t)ETHER_IP_UDP));
	return first;
}

static void
must_be_frame(struct rte_mbuf *m, uint32_t number, uint32_t len)
{
	uint16_t room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	const struct rte_mbuf *s;
	uint32_t at = 0, segs = 0;

	rte_mbuf_sanity_check(m, 1);
	must_be(m->pkt_len, len, "bytes of a frame");
	for (s = m; s != NULL; s = s->next, segs++) {
		const uint8_t *bytes = rte_pktmbuf_mtod(s, const uint8_t *);
		uint32_t i;

		if (s->next != NULL)
			must_be(s->data_len, room, "bytes of a full mbuf");
		for (i = 0; i < s->data_len; i++, at++)
			if (at >= ETHER_IP_UDP && bytes[i] != byte_of(number, at))
				die("frame %u: byte %u is %u\n", number, at, bytes[i]);
	}
	must_be(at, len, "bytes in the segments");
	must_be(segs, m->nb_segs, "segments");
	must_be(segs, (len + room - 1) / room, "mbufs of a frame");
	rte_pktmbuf_free(m);
}

static void
send_one(struct rte_mbuf *m)
{
	uint64_t end = rte_get_timer_cycles() + 5 * rte_get_timer_hz();

	while (rte_eth_tx_burst(0, 0, &m, 1) != 1)
		if (rte_get_timer_cycles() > end)
			die("no frame is taken\n");
}

/* The next frame of any queue, NULL if none comes in time. */
static struct rte_mbuf *
next_within(uint16_t queues, unsigned int ms)
{
	struct rte_mbuf *m;
	uint16_t q;

	for (ms *= 20; ms > 0; ms--) {
		for (q = 0; q < queues; q++)
			if (rte_eth_rx_burst(0, q, &m, 1) == 1)
				return m;
		rte_delay_us(50);
	}
	return NULL;
}

static struct rte_mbuf *
there_and_back(struct rte_mbuf *m, uint16_t queues, const char *what)
{
	send_one(m);
	m = next_within(queues, 2000);
	if (m == NULL)
		die("%s does not come\n", what);
	return m;
}

static void
end(const char *when)
{
	port_stop(0);
	pool_must_be_full(pool, when, 0);
}

/* --- scattered Rx --- */

static void
scatter(void)
{
	static const uint16_t lens[] = { SMALL, ROOM - 1, ROOM, ROOM + 1, 2 * ROOM, 2 * ROOM + 1, 1514, 3000, JUMBO + LEAST_ETHER };
	static const uint16_t pieces[] = { 1500, 2000, 333 };
	struct rte_eth_rxq_info info;
	uint64_t sent = 0, bytes = 0, dropped;
	struct rte_mbuf *mbufs[BURST];
	struct rte_eth_stats stats;
	uint32_t number = 0, i, j;
	uint16_t n;

	configure(2, 0, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, JUMBO);
	port_start(0);
	must(rte_eth_rx_queue_info_get(0, 0, &info), "rx_queue_info_get");
	must_be(info.scattered_rx, 1, "whether Rx is scattered");
	for (i = 0; i < RTE_DIM(lens); i++)
		for (j = 0; j < RTE_DIM(pieces); j++, number++) {
			uint16_t piece = RTE_MIN(pieces[j], (uint16_t)(ROOM - 1));

			must_be_frame(there_and_back(chain_of(number, lens[i], piece), 2, "a long frame"), number, lens[i]);
			sent++;
			bytes += lens[i];
		}
	must(rte_eth_stats_get(0, &stats), "stats");
	must_be((long)stats.ipackets, (long)sent, "frames counted");
	must_be((long)stats.ibytes, (long)bytes, "bytes counted");
	send_one(chain_of(0, JUMBO + 19, ROOM - 1));
	until_counted("rx_bad_frame", 1);

	/* More than the ring holds: what comes is whole, the rest is counted. */
	must(rte_eth_stats_reset(0), "reset");
	for (i = 0; i < 200; i++)
		send_one(chain_of(i % 64 * 64, i % 3 == 0 ? SMALL : 3000, 700));
	usleep(200000);
	sent = 0;
	for (i = 0; i < 2; i++)
		while ((n = rte_eth_rx_burst(0, (uint16_t)i, mbufs, BURST)) > 0)
			for (j = 0; j < n; j++, sent++) {
				uint32_t len = mbufs[j]->pkt_len;

				if (len != SMALL && len != 3000)
					die("a frame of %u bytes\n", len);
				must_be((long)((len + ROOM - 1) / ROOM), mbufs[j]->nb_segs, "mbufs of a frame of a burst");
				rte_pktmbuf_free(mbufs[j]);
			}
	must(rte_eth_stats_get(0, &stats), "stats");
	dropped = stats.imissed;
	must_be((long)(sent + dropped), 200, "frames that came or were counted as dropped");
	must_be((long)stats.ipackets, (long)sent, "frames counted");
	if (dropped == 0)
		die("nothing was dropped\n");
	/* Frames come again, behind one that was cut short. */
	for (i = 0; i < 100; i++)
		must_be_frame(there_and_back(chain_of(i, i % 2 == 0 ? 3000 : SMALL, 900), 2, "a frame behind a drop"), i,
			      i % 2 == 0 ? 3000 : SMALL);
	must(rte_eth_dev_rx_queue_stop(0, 1), "stop of a queue");
	must(rte_eth_dev_rx_queue_start(0, 1), "start of a queue");
	for (i = 0; i < 64; i++)
		must_be_frame(there_and_back(chain_of(i, 5000, 900), 2, "a frame behind a start"), i, 5000);
	end("after long frames");
}

/* The MTU changes while frames come. */
static void
running(void)
{
	uint32_t round;

	configure(1, RTE_ETH_RX_OFFLOAD_SCATTER, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, 500);
	port_start(0);
	for (round = 0; round < 200; round++) {
		send_one(chain_of(round, 3000, 900));
		until_counted("rx_bad_frame", round + 1);
		must(rte_eth_dev_set_mtu(0, JUMBO), "an MTU of 9000");
		must_be_frame(there_and_back(chain_of(round, 3000, 900), 1, "a long frame"), round, 3000);
		must(rte_eth_dev_set_mtu(0, 500), "an MTU of 500");
		must_be_frame(there_and_back(chain_of(round, 500, 900), 1, "a short frame"), round, 500);
	}
	must_be((long)xstat("rx_bad_frame"), 200, "frames beyond the MTU");
	end("after MTUs");
	/* A port that was started without scattered Rx has bursts that know of no chains. */
	configure(1, 0, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, 500);
	port_start(0);
	must(rte_eth_dev_set_mtu(0, 800), "an MTU that fits the mbufs");
	must_be_frame(there_and_back(chain_of(1, 814, 900), 1, "a frame of that MTU"), 1, 814);
	must_be(rte_eth_dev_set_mtu(0, JUMBO), -EBUSY, "an MTU that does not");
	end("after an MTU that is refused");
}

/* --- offloads --- */

/* A frame whose checksums are all to be made: IPv4 or IPv6, UDP or TCP, in pieces of `piece` bytes. */
static struct rte_mbuf *
unsummed(bool v6, bool tcp, uint16_t payload, uint16_t piece, uint64_t flags)
{
	uint16_t l3 = v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	uint16_t l4 = tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
	uint16_t len = RTE_ETHER_HDR_LEN + l3 + l4 + payload, at;
	uint8_t frame[JUMBO] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	struct rte_ether_hdr *ether = (void *)frame;
	struct rte_mbuf *first = NULL, *m = NULL;
	uint8_t *ip = frame + RTE_ETHER_HDR_LEN, *l4_at = ip + l3;

	ether->ether_type = rte_cpu_to_be_16(v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	if (v6) {
		struct rte_ipv6_hdr *h = (void *)ip;

		h->vtc_flow = rte_cpu_to_be_32(6u << 28);
		h->payload_len = rte_cpu_to_be_16(l4 + payload);
		h->proto = tcp ? IPPROTO_TCP : IPPROTO_UDP;
		h->hop_limits = 64;
		memset(ip + 8, 0x2a, 16);
		memset(ip + 24, 0x2b, 16);
	} else {
		struct rte_ipv4_hdr *h = (void *)ip;

		h->version_ihl = RTE_IPV4_VHL_DEF;
		h->total_length = rte_cpu_to_be_16(l3 + l4 + payload);
		h->time_to_live = 64;
		h->next_proto_id = tcp ? IPPROTO_TCP : IPPROTO_UDP;
		h->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 1));
		h->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 2));
		h->hdr_checksum = 0x1234;
	}
	for (at = 0; at < payload; at++)
		l4_at[l4 + at] = byte_of(payload, at);
	l4_at[1] = 7;
	l4_at[3] = 9;
	if (tcp) {
		struct rte_tcp_hdr *h = (void *)l4_at;

		h->data_off = 5 << 4;
		h->cksum = 0xbeef;
	} else {
		struct rte_udp_hdr *h = (void *)l4_at;

		h->dgram_len = rte_cpu_to_be_16(l4 + payload);
		h->dgram_cksum = 0xbeef;
	}
	for (at = 0; at < len; at += piece) {
		struct rte_mbuf *next = rte_pktmbuf_alloc(pool);
		uint16_t n = RTE_MIN(piece, (uint16_t)(len - at));

		memcpy(rte_pktmbuf_append(next, n), frame + at, n);
		if (first == NULL)
			first = next;
		else
			m->next = next, first->nb_segs++, first->pkt_len += n;
		m = next;
	}
	first->l2_len = RTE_ETHER_HDR_LEN;
	first->l3_len = l3;
	first->l4_len = l4;
	first->ol_flags = flags | (v6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM) |
		(tcp ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM);
	return first;
}

static void
must_be_summed(struct rte_mbuf *m, bool v6, const char *what)
{
	uint64_t ip = v6 ? 0 : RTE_MBUF_F_RX_IP_CKSUM_MASK, all = ip | RTE_MBUF_F_RX_L4_CKSUM_MASK;
	uint64_t want = RTE_MBUF_F_RX_L4_CKSUM_GOOD | (v6 ? 0 : RTE_MBUF_F_RX_IP_CKSUM_GOOD);

	if ((m->ol_flags & all) != want)
		die("%s: ol_flags %" PRIx64 " of %" PRIx64 ", expected %" PRIx64 "\n", what, m->ol_flags & all, all, want);
}

static const uint64_t sums = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM;

static void
edits(void)
{
	static const uint16_t pieces[] = { ROOM - 1, 1, 20, 42, 50, 333 };
	static const uint16_t payloads[] = { 0, 1, 18, 19, 300, 1 + 400 };
	struct rte_mbuf *m, *clone, *before;
	struct rte_eth_stats stats;
	uint64_t sent = 0;
	unsigned int i, j, kind;

	configure(1, RTE_ETH_RX_OFFLOAD_CHECKSUM, sums | RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_MULTI_SEGS, 800);
	port_start(0);
	for (kind = 0; kind < 8; kind++)
		for (i = 0; i < RTE_DIM(pieces); i++)
			for (j = 0; j < RTE_DIM(payloads); j++) {
				bool v6 = kind & 1, tcp = kind & 2, vlan = kind & 4;
				uint16_t piece = RTE_MAX(pieces[i], (uint16_t)((payloads[j] + 80) / 31 + 1));
				char what[64];

				snprintf(what, sizeof(what), "IPv%u, %s%s, %u bytes in pieces of %u", v6 ? 6 : 4,
					 tcp ? "TCP" : "UDP", vlan ? ", VLAN" : "", payloads[j], piece);
				m = unsummed(v6, tcp, payloads[j], piece, vlan ? RTE_MBUF_F_TX_VLAN : 0);
				m->vlan_tci = 0x6123;
				must_be(rte_eth_tx_prepare(0, 0, &m, 1), 1, "tx_prepare");
				m = there_and_back(m, 1, what);
				must_be_summed(m, v6, what);
				if (vlan && memcmp(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), "\x81\x00\x61\x23", 4) != 0)
					die("%s: no tag\n", what);
				must_be(m->pkt_len, 14 + (v6 ? 40 : 20) + (tcp ? 20 : 8) + payloads[j] + 4 * vlan, what);
				rte_pktmbuf_free(m);
				sent++;
			}
	/* As on a card, nothing changes in memory, which others may share. */
	m = unsummed(false, false, 100, ROOM - 1, RTE_MBUF_F_TX_VLAN);
	before = rte_pktmbuf_copy(m, pool, 0, UINT32_MAX);
	clone = rte_pktmbuf_clone(m, pool);
	if (clone == NULL || before == NULL)
		die("no clone\n");
	clone->l2_len = m->l2_len, clone->l3_len = m->l3_len, clone->ol_flags |= m->ol_flags;
	clone = there_and_back(clone, 1, "a clone");
	must_be_summed(clone, false, "a clone");
	rte_pktmbuf_free(clone);
	sent++;
	must_be(memcmp(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_mtod(before, void *), m->data_len), 0, "bytes that changed in memory");
	must_be(rte_eth_tx_done_cleanup(0, 0, 0) >= 0, 1, "tx_done_cleanup");
	must_be(rte_mbuf_refcnt_read(m), 1, "references to what a clone sent");
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(before);
	/* Lengths that contradict the frame are refused, and a burst that was not prepared counts them. */
	m = unsummed(false, true, 0, ROOM - 1, 0);
	m->l2_len = 100;
	must_be(rte_eth_tx_prepare(0, 0, &m, 1), 0, "tx_prepare of headers beyond the frame");
	must_be(rte_errno, EINVAL, "its error");
	send_one(m);
	m = unsummed(false, true, 0, ROOM - 1, 0);
	m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG;
	must_be(rte_eth_tx_prepare(0, 0, &m, 1), 0, "tx_prepare of a frame to segment");
	must_be(rte_errno, ENOTSUP, "its error");
	rte_pktmbuf_free(m);
	must(rte_eth_stats_get(0, &stats), "stats");
	must_be((long)stats.opackets, (long)sent, "frames sent");
	must_be((long)stats.ipackets, (long)sent, "frames received");
	must_be((long)stats.oerrors, 1, "frames refused");
	end("after checksums");
}

static struct rte_mbuf *
tagged(uint16_t tci)
{
	struct rte_mbuf *m = unsummed(false, false, 60, ROOM - 1, RTE_MBUF_F_TX_VLAN);

	m->vlan_tci = tci;
	return m;
}

static void
must_be_stripped(struct rte_mbuf *m, bool stripped, uint16_t tci)
{
	static const uint64_t flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;

	must_be((long)(m->ol_flags & flags), (long)(stripped ? flags : 0), "flags of a tag");
	must_be(m->pkt_len, 102 + (stripped ? 0 : 4), "bytes of a tagged frame");
	must_be((long)(m->packet_type & RTE_PTYPE_L2_MASK), stripped ? RTE_PTYPE_L2_ETHER : RTE_PTYPE_L2_ETHER_VLAN, "its type");
	if (stripped)
		must_be(m->vlan_tci, tci, "the tag");
	must_be_summed(m, false, "a tagged frame");
	rte_pktmbuf_free(m);
}

static void
vlans(void)
{
	const uint64_t strip = RTE_ETH_RX_OFFLOAD_VLAN_STRIP, filter = RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	const struct rte_eth_conf empty = { 0 };
	unsigned int i;

	/* Before its queues are set up. */
	must(rte_eth_dev_configure(0, 1, 1, &empty), "configure");
	must(rte_eth_dev_set_vlan_offload(0, RTE_ETH_VLAN_STRIP_OFFLOAD), "VLAN strip of a port without queues");
	configure(1, strip | filter | RTE_ETH_RX_OFFLOAD_CHECKSUM, sums | RTE_ETH_TX_OFFLOAD_VLAN_INSERT, 800);
	must(rte_eth_dev_vlan_filter(0, 100, 1), "a VLAN that passes");
	port_start(0);
	for (i = 0; i < 20; i++) {
		must_be_stripped(there_and_back(tagged(0xa064), 1, "a frame of VLAN 100"), true, 0xa064);
		send_one(tagged(101));
		until_counted("rx_filtered", i + 1);
	}
	rte_pktmbuf_free(there_and_back(unsummed(false, false, 60, ROOM - 1, 0), 1, "a frame without a tag"));
	/* While frames come. */
	must(rte_eth_dev_vlan_filter(0, 101, 1), "another VLAN that passes");
	must_be_stripped(there_and_back(tagged(101), 1, "a frame of VLAN 101"), true, 101);
	must(rte_eth_dev_vlan_filter(0, 100, 0), "a VLAN that passes no more");
	send_one(tagged(100));
	until_counted("rx_filtered", 21);
	must(rte_eth_dev_set_vlan_offload(0, 0), "no VLAN offloads");
	must_be_stripped(there_and_back(tagged(100), 1, "a frame of VLAN 100"), false, 0);
	must(rte_eth_dev_set_vlan_offload(0, RTE_ETH_VLAN_STRIP_OFFLOAD), "VLAN strip");
	must_be_stripped(there_and_back(tagged(100), 1, "a frame of VLAN 100"), true, 100);
	must_be((long)xstat("rx_filtered"), 21, "frames of other VLANs");
	end("after VLANs");
}

/* --- rings of different sizes --- */

static void
sizes(void)
{
	struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;
	uint32_t number;
	uint16_t q;

	conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	must(rte_eth_dev_configure(0, 2, 2, &conf), "configure");
	must(rte_eth_dev_set_mtu(0, 800), "an MTU of 800");
	for (q = 0; q < 2; q++) {
		must(rte_eth_rx_queue_setup(0, q, 128 << q, SOCKET_ID_ANY, NULL, pool), "rx_queue_setup");
		must(rte_eth_tx_queue_setup(0, q, 512 >> q, SOCKET_ID_ANY, NULL), "tx_queue_setup");
	}
	port_start(0);
	for (q = 0; q < 2; q++) {
		must(rte_eth_rx_queue_info_get(0, q, &rx), "rx_queue_info_get");
		must(rte_eth_tx_queue_info_get(0, q, &tx), "tx_queue_info_get");
		must_be(rx.nb_desc, 256, "descriptors of an Rx queue");
		must_be(tx.nb_desc, 512, "descriptors of a Tx queue");
	}
	for (number = 0; number < 2000; number++) {
		struct rte_mbuf *m = chain_of(number, 200, 900);

		if (rte_eth_tx_burst(0, number % 2, &m, 1) != 1)
			die("frame %u is not taken\n", number);
		m = next_within(2, 2000);
		if (m == NULL)
			die("frame %u does not come\n", number);
		must_be_frame(m, number, 200);
	}
	end("after rings of different sizes");
}

/* --- waiting --- */

static int
wait_for(int ms)
{
	struct rte_epoll_event event;

	return rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, ms);
}

static void
wakes(void)
{
	struct rte_eth_conf conf = { .intr_conf.rxq = 1 };
	unsigned int i, vain = 0;
	struct rte_mbuf *m;

	must(rte_eth_dev_configure(0, 1, 1, &conf), "Rx interrupts");
	must(rte_eth_dev_set_mtu(0, 800), "an MTU of 800");
	must(rte_eth_rx_queue_setup(0, 0, DESC, SOCKET_ID_ANY, NULL, pool), "rx_queue_setup");
	must(rte_eth_tx_queue_setup(0, 0, DESC, SOCKET_ID_ANY, NULL), "tx_queue_setup");
	port_start(0);
	must(rte_eth_dev_rx_intr_ctl_q(0, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL), "rx_intr_ctl_q");
	must_be(wait_for(20), 0, "events of a queue that is not armed");
	for (i = 0; i < 60; i++) {
		/* What was polled before the arming may wake once in vain. */
		must(rte_eth_dev_rx_intr_enable(0, 0), "rx_intr_enable");
		if (wait_for(10) == 1) {
			vain++;
			must_be(rte_eth_rx_burst(0, 0, &m, 1), 0, "frames that nobody sent");
			must(rte_eth_dev_rx_intr_enable(0, 0), "rx_intr_enable");
		}
		if (i % 10 == 0)
			must_be(wait_for(10), 0, "events without frames");
		send_one(chain_of(i, 100, 900));
		must_be(wait_for(2000), 1, "events of a frame");
		must(rte_eth_dev_rx_intr_disable(0, 0), "rx_intr_disable");
		m = next_within(1, 2000);
		if (m == NULL)
			die("an event without a frame\n");
		must_be_frame(m, i, 100);
		/* A frame that comes while nobody waits is told of once somebody does. */
		send_one(chain_of(i, 100, 900));
		usleep(500);
		must_be(wait_for(0), 0, "events of a queue that is not armed");
		must(rte_eth_dev_rx_intr_enable(0, 0), "rx_intr_enable");
		must_be(wait_for(2000), 1, "events of a frame that is there");
		m = next_within(1, 2000);
		if (m == NULL)
			die("no frame\n");
		must_be_frame(m, i, 100);
	}
	must(rte_eth_dev_rx_intr_ctl_q(0, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, NULL), "rx_intr_ctl_q");
	printf("%u of %u waits woke in vain\n", vain, i);
	end("after interrupts");
}

/* --- reset, registers, dump, a line of memory to wait for, a fixed speed --- */

static void
control(void)
{
	struct rte_eth_conf conf = { .link_speeds = RTE_ETH_LINK_SPEED_100G | RTE_ETH_LINK_SPEED_FIXED, .rxmode.mtu = 800 };
	struct rte_power_monitor_cond condition;
	struct rte_dev_reg_info regs = { 0 };
	struct rte_eth_stats stats;
	struct rte_eth_link link;
	static char text[4096];
	struct rte_mbuf *m;
	FILE *file;

	configure(1, RTE_ETH_RX_OFFLOAD_VLAN_FILTER, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, 800);
	port_start(0);
	must(rte_eth_get_monitor_addr(0, 0, &condition), "get_monitor_addr");
	must_be(condition.fn(*(volatile uint64_t *)condition.addr, condition.opaque), 0, "whether a wait for nothing ends");
	send_one(chain_of(1, 100, 900));
	until_counted("rx_delivered", 1);
	must_be(condition.fn(*(volatile uint64_t *)condition.addr, condition.opaque), -1, "whether a frame ends a wait");
	must(rte_eth_get_monitor_addr(0, 0, &condition), "get_monitor_addr");
	must_be(condition.fn(*(volatile uint64_t *)condition.addr, condition.opaque), -1, "whether a frame that is there ends a wait");
	m = next_within(1, 2000);
	if (m == NULL)
		die("no frame\n");
	must_be_frame(m, 1, 100);

	must(rte_eth_dev_get_reg_info(0, &regs), "the number of registers");
	must_be(regs.width, 8, "their width");
	uint64_t words[regs.length];
	regs.data = words;
	must(rte_eth_dev_get_reg_info(0, &regs), "registers");
	if (words[0] < 1)
		die("the first register, frames delivered of queue 0 since the probe, is 0\n");
	regs.length = 3;
	must_be(rte_eth_dev_get_reg_info(0, &regs), -ENOTSUP, "three registers");
	file = fmemopen(text, sizeof(text), "w");
	must(rte_eth_dev_priv_dump(0, file), "dump");
	fclose(file);
	if (strstr(text, "Rx queue 0: 256 descriptors") == NULL)
		die("the dump says:\n%s\n", text);

	must(rte_eth_dev_reset(0), "reset");
	must(rte_eth_stats_get(0, &stats), "stats");
	must_be((long)stats.ipackets, 0, "frames after a reset");
	pool_must_be_full(pool, "after a reset", 0);

	must(rte_eth_dev_configure(0, 1, 1, &conf), "a fixed speed");
	must(rte_eth_rx_queue_setup(0, 0, DESC, SOCKET_ID_ANY, NULL, pool), "rx_queue_setup");
	must(rte_eth_tx_queue_setup(0, 0, DESC, SOCKET_ID_ANY, NULL), "tx_queue_setup");
	port_start(0);
	must(rte_eth_link_get_nowait(0, &link), "link_get");
	must_be(link.link_autoneg, RTE_ETH_LINK_FIXED, "whether the speed is negotiated");
	must_be(link.link_speed, 100000, "the speed");
	end("after a fixed speed");
	conf.link_speeds = RTE_ETH_LINK_SPEED_10G | RTE_ETH_LINK_SPEED_FIXED;
	must_be(rte_eth_dev_configure(0, 1, 1, &conf), -EINVAL, "another fixed speed");
}

/* --- what is refused --- */

static void
refused(void)
{
	struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_VMDQ_ONLY };
	struct rte_eth_rxmode none = { 0 };
	struct timespec time;

	must_be(rte_eth_dev_configure(0, 1, 1, &conf), -ENOTSUP, "VMDq");
	conf.rxmode.mq_mode = RTE_ETH_MQ_RX_DCB;
	must_be(rte_eth_dev_configure(0, 1, 1, &conf), -ENOTSUP, "DCB");
	conf.rxmode = none;
	conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO;
	must_be(rte_eth_dev_configure(0, 1, 1, &conf), -EINVAL, "LRO");
	conf.rxmode = none;
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO;
	must_be(rte_eth_dev_configure(0, 1, 1, &conf), -EINVAL, "TSO");
	conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_SCTP_CKSUM;
	must_be(rte_eth_dev_configure(0, 1, 1, &conf), -EINVAL, "SCTP checksums");
	configure(1, 0, 0, 800);
	port_start(0);
	must_be(rte_eth_timesync_enable(0), -ENOTSUP, "timesync_enable");
	must_be(rte_eth_timesync_read_time(0, &time), -ENOTSUP, "timesync_read_time");
	must_be(rte_eth_dev_rx_intr_enable(0, 0), -ENOTSUP, "Rx interrupts that were not asked for");
	end("after refusals");
}

/* A port whose frames lie in one mbuf each: the MTU is bounded by it. */
static void
single(void)
{
	struct rte_eth_dev_info info;

	must(rte_eth_dev_info_get(0, &info), "info");
	must_be((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0, 0, "whether it scatters");
	configure(1, 0, RTE_ETH_TX_OFFLOAD_MULTI_SEGS, JUMBO);
	must_be(rte_eth_dev_start(0), -EINVAL, "a start with an MTU that no mbuf has room for");
	pool_must_be_full(pool, "after a start that failed", 0);
	must(rte_eth_dev_set_mtu(0, 800), "an MTU that fits");
	port_start(0);
	must_be_frame(there_and_back(chain_of(1, 700, 300), 1, "a frame"), 1, 700);
	end("after a frame in one mbuf");
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "scatter", scatter }, { "running", running }, { "edits", edits }, { "vlans", vlans }, { "sizes", sizes },
	{ "wakes", wakes }, { "control", control }, { "refused", refused }, { "single", single },
};

int
main(int argc, char **argv)
{
	int parsed = rte_eal_init(argc, argv), i;
	unsigned int part;

	if (parsed < 0)
		die("EAL: %s\n", rte_strerror(rte_errno));
	pool = rte_pktmbuf_pool_create("mbufs", MBUFS, 64, 0, ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no mempool: %s\n", rte_strerror(rte_errno));
	for (i = parsed + 1; i < argc; i++) {
		for (part = 0; part < RTE_DIM(parts) && strcmp(argv[i], parts[part].name) != 0; part++)
			;
		if (part == RTE_DIM(parts))
			die("no part %s\n", argv[i]);
		parts[part].run();
		printf("%s: ok\n", argv[i]);
	}
	must(rte_eth_dev_close(0), "close");
	rte_eal_cleanup();
	return 0;
}
