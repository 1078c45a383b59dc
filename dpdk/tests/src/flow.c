/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What rte_flow's calls do to a port whose frames come back: each item and action by a frame that it is meant for and one
 * that it is not, what is refused and which part is named, templates, threads that change rules while frames flow.
 *
 *   flow EAL-ARGUMENTS			port 0 is a loop with two lcores
 */
/* Templates are experimental calls. */
#define ALLOW_EXPERIMENTAL_API

#include <pthread.h>

#include <rte_flow.h>
#include <rte_gre.h>
#include <rte_vxlan.h>

#include "common.h"

#define MBUFS 4095
#define QUEUES 4
#define DESC 256
#define FRAME 160
#define TO 2	/* the queue of rules, to which RSS leads no frame */

static struct rte_mempool *pool;
static const struct rte_flow_attr ingress = { .ingress = 1 };
static const struct rte_flow_action_queue to = { .index = TO };
static const struct rte_flow_action_mark mark = { .id = 77 };

#define END_ITEM { .type = RTE_FLOW_ITEM_TYPE_END }
#define END_ACTION { .type = RTE_FLOW_ACTION_TYPE_END }
#define ITEM(which, ...) { .type = RTE_FLOW_ITEM_TYPE_ ## which, ## __VA_ARGS__ }
#define ACTION(which, ...) { .type = RTE_FLOW_ACTION_TYPE_ ## which, ## __VA_ARGS__ }
#define SPEC(of, ...) .spec = &(const struct of) { __VA_ARGS__ }
#define MASK(of, ...) .mask = &(const struct of) { __VA_ARGS__ }
#define LAST(of, ...) .last = &(const struct of) { __VA_ARGS__ }
#define CONF(of, ...) .conf = &(const struct of) { __VA_ARGS__ }

static const struct rte_flow_action mark_and_queue[] = {
	ACTION(MARK, .conf = &mark), ACTION(COUNT), ACTION(QUEUE, .conf = &to), END_ACTION,
};

/* --- frames --- */

/* A frame from its first byte on; zeros follow. */
struct frame {
	uint8_t bytes[FRAME];
	unsigned int len;
};

static void
append(struct frame *f, const void *bytes, unsigned int n)
{
	memcpy(&f->bytes[f->len], bytes, n);
	f->len += n;
}

static void
ether(struct frame *f, uint8_t source, uint16_t type)
{
	const uint8_t bytes[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, source, type >> 8, type };

	append(f, bytes, sizeof(bytes));
}

static void
tag(struct frame *f, uint16_t tci, uint16_t type)
{
	const uint8_t bytes[] = { tci >> 8, tci, type >> 8, type };

	append(f, bytes, sizeof(bytes));
}

static void
ipv4(struct frame *f, uint8_t proto, uint8_t source)
{
	const uint8_t bytes[] = { 0x45, 4, 0, FRAME - f->len, 0, 1, 0, 0, 64, proto, 0, 0, 10, 0, 0, source, 10, 0, 0, 99 };

	append(f, bytes, sizeof(bytes));
}

static void
ipv6(struct frame *f, uint8_t proto, uint8_t source)
{
	const uint8_t bytes[40] = { 0x60, 0, 0, 5, 0, FRAME - 40 - f->len, proto, 64, 0xfd, [23] = source, [24] = 0xfd, [39] = 9 };

	append(f, bytes, sizeof(bytes));
}

static void
udp(struct frame *f, uint16_t port)
{
	const uint8_t bytes[] = { 0x12, 0x34, port >> 8, port, 0, FRAME - f->len, 0, 0 };

	append(f, bytes, sizeof(bytes));
}

static void
tcp(struct frame *f, uint16_t port, uint8_t flags)
{
	const uint8_t bytes[20] = { 0x12, 0x34, port >> 8, port, [12] = 0x50, [13] = flags };

	append(f, bytes, sizeof(bytes));
}

static void
vxlan(struct frame *f, uint8_t vni)
{
	const uint8_t bytes[] = { 8, 0, 0, 0, 0, 0, vni, 0 };

	append(f, bytes, sizeof(bytes));
}

/* --- matches --- */

/* n is 1 in the frame that matches, and 2 in the one that does not. */
static void f_eth(struct frame *f, uint8_t n) { ether(f, n, 0x0800); ipv4(f, 17, 9); udp(f, 9); }
static void f_ipv4(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, 17, n); udp(f, 9); }
static void f_udp(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, 17, 9); udp(f, n); }
static void f_l4(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, n == 1 ? 6 : 17, 9); tcp(f, 9, 2); }
static void f_flags(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, 6, 9); tcp(f, 9, n == 1 ? 2 : 16); }
static void f_ipv6(struct frame *f, uint8_t n) { ether(f, 9, 0x86dd); ipv6(f, 6, n); tcp(f, 9, 2); }
static void f_vlan(struct frame *f, uint8_t n) { ether(f, 9, 0x8100); tag(f, 0xa000 | n, 0x0800); ipv4(f, 17, 9); udp(f, 9); }
static void f_tagged(struct frame *f, uint8_t n) { n == 1 ? f_vlan(f, 5) : f_udp(f, 5); }
static void f_untagged(struct frame *f, uint8_t n) { n == 2 ? f_vlan(f, 5) : f_udp(f, 5); }

static void
f_qinq(struct frame *f, uint8_t n)
{
	ether(f, 9, 0x88a8);
	tag(f, 5, 0x8100);
	tag(f, n, 0x0800);
	ipv4(f, 17, 9);
	udp(f, 9);
}

static void
f_fragment(struct frame *f, uint8_t n)
{
	f_udp(f, 9);
	f->bytes[20] = n == 1 ? 0x20 : 0;
}

static void
f_icmp(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { n == 1 ? 8 : 0, 0, 0, 0, 0, 7, 0, n };

	ether(f, 9, 0x0800);
	ipv4(f, 1, 9);
	append(f, bytes, sizeof(bytes));
}

static void
f_icmp6(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { n == 1 ? 135 : 136, 0, 0, 0 };

	ether(f, 9, 0x86dd);
	ipv6(f, 58, 9);
	append(f, bytes, sizeof(bytes));
}

static void
f_sctp(struct frame *f, uint8_t n)
{
	const uint8_t bytes[12] = { 0, 7, 0, 9, 0, 0, 0, n };

	ether(f, 9, 0x0800);
	ipv4(f, 132, 9);
	append(f, bytes, sizeof(bytes));
}

static void
f_mpls(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { 0, n, 0x11, 64 };

	ether(f, 9, 0x8847);
	append(f, bytes, sizeof(bytes));
}

static void
f_gre(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { 0x20, 0, 0x08, 0, 0, 0, 0, n };

	ether(f, 9, 0x0800);
	ipv4(f, 47, 9);
	append(f, bytes, sizeof(bytes));
	ipv4(f, 17, 5);
	udp(f, 9);
}

static void
f_vxlan(struct frame *f, uint8_t n)
{
	f_udp(f, 9);
	f->bytes[36] = 4789 >> 8;
	f->bytes[37] = 4789 & 255;
	vxlan(f, n);
	f_ipv4(f, 5);
}

static void
f_inner(struct frame *f, uint8_t n)
{
	f_vxlan(f, 5);
	f->bytes[f->len - 28 + 19] = n;
}

static void
f_geneve(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { 0, 0, 0x65, 0x58, 0, 0, n, 0 };

	f_udp(f, 9);
	f->bytes[36] = 6081 >> 8;
	f->bytes[37] = 6081 & 255;
	append(f, bytes, sizeof(bytes));
	f_ipv4(f, 5);
}

#define IP4(a) RTE_BE32(RTE_IPV4(10, 0, 0, a))
static const rte_be32_t key = RTE_BE32(1);

static const struct {
	const char *name;
	void (*frame)(struct frame *f, uint8_t n);
	struct rte_flow_item items[10];
} matches[] = {
	{ "eth", f_eth, { ITEM(ETH, SPEC(rte_flow_item_eth, .hdr.src_addr.addr_bytes = { 2, 0, 0, 0, 0, 1 }),
		MASK(rte_flow_item_eth, .hdr.src_addr.addr_bytes = { 255, 255, 255, 255, 255, 255 })), END_ITEM } },
	{ "eth has_vlan", f_tagged, { ITEM(ETH, SPEC(rte_flow_item_eth, .has_vlan = 1), MASK(rte_flow_item_eth, .has_vlan = 1)),
		END_ITEM } },
	{ "eth has no vlan", f_untagged, { ITEM(ETH, SPEC(rte_flow_item_eth, .has_vlan = 0),
		MASK(rte_flow_item_eth, .has_vlan = 1)), END_ITEM } },
	{ "eth type", f_untagged, { ITEM(ETH, SPEC(rte_flow_item_eth, .hdr.ether_type = RTE_BE16(0x0800)),
		MASK(rte_flow_item_eth, .hdr.ether_type = RTE_BE16(0xffff))), END_ITEM } },
	{ "eth type of a tag", f_tagged, { ITEM(ETH, SPEC(rte_flow_item_eth, .hdr.ether_type = RTE_BE16(0x8100)),
		MASK(rte_flow_item_eth, .hdr.ether_type = RTE_BE16(0xffff))), END_ITEM } },
	{ "vlan", f_vlan, { ITEM(ETH), ITEM(VOID), ITEM(VLAN, SPEC(rte_flow_item_vlan, .hdr.vlan_tci = RTE_BE16(1))), END_ITEM } },
	{ "vlan vlan", f_qinq, { ITEM(ETH), ITEM(VLAN), ITEM(VLAN, SPEC(rte_flow_item_vlan, .hdr.vlan_tci = RTE_BE16(1))),
		ITEM(IPV4), END_ITEM } },
	{ "ipv4", f_ipv4, { ITEM(ETH), ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.src_addr = IP4(1), .hdr.dst_addr = IP4(99))),
		END_ITEM } },
	{ "ipv4 last", f_ipv4, { ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.src_addr = IP4(1)),
		LAST(rte_flow_item_ipv4, .hdr.src_addr = IP4(1)), MASK(rte_flow_item_ipv4, .hdr.src_addr = UINT32_MAX)), END_ITEM } },
	{ "ipv4 fragment", f_fragment, { ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.fragment_offset = RTE_BE16(1)),
		LAST(rte_flow_item_ipv4, .hdr.fragment_offset = RTE_BE16(0x3fff)),
		MASK(rte_flow_item_ipv4, .hdr.fragment_offset = RTE_BE16(0x3fff))), END_ITEM } },
	{ "ipv6", f_ipv6, { ITEM(ETH), ITEM(IPV6, SPEC(rte_flow_item_ipv6, .hdr.src_addr = { 0xfd, [15] = 1 },
		.hdr.vtc_flow = RTE_BE32(5)), MASK(rte_flow_item_ipv6, .hdr.src_addr = { 255, [15] = 255 },
		.hdr.vtc_flow = RTE_BE32(0xfffff))), END_ITEM } },
	{ "udp", f_udp, { ITEM(ETH), ITEM(ANY), ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.dst_port = RTE_BE16(1)),
		MASK(rte_flow_item_udp, .hdr.dst_port = UINT16_MAX)), END_ITEM } },
	{ "tcp", f_l4, { ITEM(ETH), ITEM(IPV4), ITEM(TCP), END_ITEM } },
	{ "tcp flags", f_flags, { ITEM(TCP, SPEC(rte_flow_item_tcp, .hdr.tcp_flags = 2),
		MASK(rte_flow_item_tcp, .hdr.tcp_flags = 2)), END_ITEM } },
	{ "sctp", f_sctp, { ITEM(SCTP, SPEC(rte_flow_item_sctp, .hdr.tag = RTE_BE32(1)),
		MASK(rte_flow_item_sctp, .hdr.tag = UINT32_MAX)), END_ITEM } },
	{ "icmp", f_icmp, { ITEM(ETH), ITEM(IPV4), ITEM(ICMP, SPEC(rte_flow_item_icmp, .hdr.icmp_type = 8)), END_ITEM } },
	{ "icmp6", f_icmp6, { ITEM(ETH), ITEM(IPV6), ITEM(ICMP6, SPEC(rte_flow_item_icmp6, .type = 135)), END_ITEM } },
	{ "mpls", f_mpls, { ITEM(ETH), ITEM(MPLS, SPEC(rte_flow_item_mpls, .label_tc_s = { 0, 1, 0x10 })), END_ITEM } },
	{ "gre_key", f_gre, { ITEM(IPV4), ITEM(GRE), ITEM(GRE_KEY, .spec = &key), ITEM(IPV4, SPEC(rte_flow_item_ipv4,
		.hdr.src_addr = IP4(5)), MASK(rte_flow_item_ipv4, .hdr.src_addr = UINT32_MAX)), ITEM(UDP), END_ITEM } },
	{ "vxlan", f_vxlan, { ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN, SPEC(rte_flow_item_vxlan, .vni = { 0, 0, 1 })),
		END_ITEM } },
	{ "inner ipv4", f_inner, { ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), ITEM(ETH), ITEM(IPV4, SPEC(rte_flow_item_ipv4,
		.hdr.dst_addr = IP4(1)), MASK(rte_flow_item_ipv4, .hdr.dst_addr = RTE_BE32(255))), END_ITEM } },
	{ "geneve", f_geneve, { ITEM(UDP), ITEM(GENEVE, SPEC(rte_flow_item_geneve, .vni = { 0, 0, 1 })), ITEM(ETH), END_ITEM } },
};

/* The frame as it comes back, and its queue. */
static struct rte_mbuf *
there_and_back(const struct frame *f, uint16_t *queue, const char *what)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	unsigned int tries;

	if (m == NULL)
		die("%s: no mbuf\n", what);
	memcpy(rte_pktmbuf_append(m, FRAME), f->bytes, FRAME);
	if (rte_eth_tx_burst(0, 0, &m, 1) != 1)
		die("%s: the port takes no frame\n", what);
	for (tries = 0; tries < 10000; tries++) {
		for (*queue = 0; *queue < QUEUES; (*queue)++) {
			if (rte_eth_rx_burst(0, *queue, &m, 1) == 1)
				return m;
		}
		rte_delay_us(100);
	}
	die("%s: the frame does not come\n", what);
}

static void
must_come(const struct frame *f, uint16_t to_queue, int64_t with_mark, const char *what)
{
	uint16_t queue;
	struct rte_mbuf *m = there_and_back(f, &queue, what);
	bool marked = m->ol_flags & RTE_MBUF_F_RX_FDIR_ID;

	if ((queue == TO) != (to_queue == TO))
		die("%s: queue %u\n", what, queue);
	if (marked != (with_mark >= 0) || (marked && m->hash.fdir.hi != with_mark))
		die("%s: mark %s %u, expected %" PRId64 "\n", what, marked ? "" : "none", m->hash.fdir.hi, with_mark);
	rte_pktmbuf_free(m);
}

static struct rte_flow *
create(const struct rte_flow_attr *attr, const struct rte_flow_item *items, const struct rte_flow_action *actions,
       const char *what)
{
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow;

	if (rte_flow_validate(0, attr, items, actions, &error) != 0)
		die("%s is not valid: type %d: %s\n", what, error.type, error.message);
	flow = rte_flow_create(0, attr, items, actions, &error);
	if (flow == NULL)
		die("%s: type %d: %s\n", what, error.type, error.message);
	return flow;
}

static void
destroy(struct rte_flow *flow, const char *what)
{
	struct rte_flow_error error = { 0 };

	if (rte_flow_destroy(0, flow, &error) != 0)
		die("%s: destroy: %s\n", what, error.message);
}

static struct rte_flow_query_count
count_of(struct rte_flow *flow, bool reset, const char *what)
{
	const struct rte_flow_action action[] = { ACTION(COUNT), END_ACTION };
	struct rte_flow_query_count count = { .reset = reset };
	struct rte_flow_error error = { 0 };

	if (rte_flow_query(0, flow, action, &count, &error) != 0)
		die("%s: query: %s\n", what, error.message);
	return count;
}

static void
match_all(void)
{
	struct rte_flow_query_count count;
	struct rte_flow *flow;
	unsigned int i;

	for (i = 0; i < RTE_DIM(matches); i++) {
		struct frame meant = { 0 }, other = { 0 };

		matches[i].frame(&meant, 1);
		matches[i].frame(&other, 2);
		must_come(&meant, 0, -1, matches[i].name);
		flow = create(&ingress, matches[i].items, mark_and_queue, matches[i].name);
		must_come(&meant, TO, mark.id, matches[i].name);
		must_come(&other, 0, -1, matches[i].name);
		count = count_of(flow, true, matches[i].name);
		if (count.hits != 1 || count.bytes != FRAME || !count.hits_set || !count.bytes_set)
			die("%s: %" PRIu64 " hits, %" PRIu64 " B\n", matches[i].name, count.hits, count.bytes);
		if (count_of(flow, false, matches[i].name).hits != 0)
			die("%s: the count is not reset\n", matches[i].name);
		destroy(flow, matches[i].name);
		must_come(&meant, 0, -1, matches[i].name);
	}
}

/* --- actions --- */

static const struct rte_flow_item any_udp[] = { ITEM(ETH), ITEM(IPV4), ITEM(UDP), END_ITEM };

/* Marks of 0, a flag without a mark, metadata; registers from group to group. */
static void
tell_all(void)
{
	const struct rte_flow_action zero[] = {
		ACTION(MARK, CONF(rte_flow_action_mark, .id = 0)), ACTION(QUEUE, .conf = &to), END_ACTION,
	};
	const struct rte_flow_action flag[] = { ACTION(FLAG), ACTION(QUEUE, .conf = &to), END_ACTION };
	const struct rte_flow_action meta[] = {
		ACTION(SET_META, CONF(rte_flow_action_set_meta, .data = 5, .mask = UINT32_MAX)),
		ACTION(SET_TAG, CONF(rte_flow_action_set_tag, .data = 6, .mask = UINT32_MAX, .index = 2)),
		ACTION(JUMP, CONF(rte_flow_action_jump, .group = 3)), END_ACTION,
	};
	const struct rte_flow_item registers[] = {
		ITEM(META, SPEC(rte_flow_item_meta, .data = 5)), ITEM(TAG, SPEC(rte_flow_item_tag, .data = 6, .index = 2)), END_ITEM,
	};
	const struct rte_flow_attr third = { .ingress = 1, .group = 3 };
	struct frame f = { 0 };
	struct rte_flow *flow, *next;
	struct rte_mbuf *m;
	uint16_t queue;

	f_udp(&f, 9);
	flow = create(&ingress, any_udp, zero, "mark 0");
	must_come(&f, TO, 0, "mark 0");
	destroy(flow, "mark 0");

	flow = create(&ingress, any_udp, flag, "flag");
	m = there_and_back(&f, &queue, "flag");
	if ((m->ol_flags & (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)) != RTE_MBUF_F_RX_FDIR)
		die("a flag is no flag\n");
	rte_pktmbuf_free(m);
	destroy(flow, "flag");

	if (rte_flow_dynf_metadata_register() != 0)
		die("no field for metadata\n");
	next = create(&third, registers, (const struct rte_flow_action[]) { ACTION(QUEUE, .conf = &to), END_ACTION }, "group 3");
	flow = create(&ingress, any_udp, meta, "jump");
	m = there_and_back(&f, &queue, "metadata");
	if (queue != TO || !(m->ol_flags & RTE_MBUF_DYNFLAG_RX_METADATA) || *RTE_FLOW_DYNF_METADATA(m) != 5)
		die("queue %u, metadata %u\n", queue, *RTE_FLOW_DYNF_METADATA(m));
	rte_pktmbuf_free(m);
	destroy(flow, "jump");
	destroy(next, "group 3");
}

/* The bytes of a frame that rules have changed. */
static void
must_become(const struct frame *f, const struct frame *changed, unsigned int len, const struct rte_flow_item *items,
	    const struct rte_flow_action *actions, const char *what)
{
	struct rte_flow *flow = create(&ingress, items, actions, what);
	uint16_t queue;
	struct rte_mbuf *m = there_and_back(f, &queue, what);
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned int i;

	if (queue != TO || rte_pktmbuf_pkt_len(m) != len)
		die("%s: queue %u, %u B\n", what, queue, rte_pktmbuf_pkt_len(m));
	for (i = 0; i < changed->len; i++) {
		if (bytes[i] != changed->bytes[i] && i != 24 && i != 25 && i != 40 && i != 41)
			die("%s: byte %u is 0x%02x, expected 0x%02x\n", what, i, bytes[i], changed->bytes[i]);
	}
	rte_pktmbuf_free(m);
	destroy(flow, what);
}

/* Fields are set, a tunnel is taken off and put on. Bytes of checksums are not compared: the library's tests do. */
static void
edit_all(void)
{
	const struct rte_flow_action set[] = {
		ACTION(SET_MAC_SRC, CONF(rte_flow_action_set_mac, .mac_addr = { 2, 0, 0, 0, 0, 8 })),
		ACTION(SET_IPV4_SRC, CONF(rte_flow_action_set_ipv4, .ipv4_addr = IP4(8))),
		ACTION(SET_TP_DST, CONF(rte_flow_action_set_tp, .port = RTE_BE16(8))),
		ACTION(SET_TTL, CONF(rte_flow_action_set_ttl, .ttl_value = 9)), ACTION(QUEUE, .conf = &to), END_ACTION,
	};
	const struct rte_flow_item tunnel[] = { ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), END_ITEM };
	const struct rte_flow_action off[] = { ACTION(VXLAN_DECAP), ACTION(QUEUE, .conf = &to), END_ACTION };
	struct rte_flow_item definition[] = {
		ITEM(ETH, SPEC(rte_flow_item_eth, .hdr.dst_addr.addr_bytes = { 2, 0, 0, 0, 0, 1 },
			.hdr.src_addr.addr_bytes = { 2, 0, 0, 0, 0, 7 })),
		ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.src_addr = IP4(7), .hdr.dst_addr = IP4(99))),
		ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.src_port = RTE_BE16(0x1234))),
		ITEM(VXLAN, SPEC(rte_flow_item_vxlan, .vni = { 0, 0, 5 })), END_ITEM,
	};
	const struct rte_flow_action on[] = { ACTION(VXLAN_ENCAP, CONF(rte_flow_action_vxlan_encap, .definition = definition)),
		ACTION(QUEUE, .conf = &to), END_ACTION };
	struct frame f = { 0 }, changed = { 0 }, in = { 0 };

	f_udp(&f, 9);
	ether(&changed, 8, 0x0800);
	ipv4(&changed, 17, 8);
	changed.bytes[22] = 9;
	udp(&changed, 8);
	must_become(&f, &changed, FRAME, any_udp, set, "set");

	f_vxlan(&in, 3);
	changed = (struct frame) { 0 };
	append(&changed, &in.bytes[50], in.len - 50);
	must_become(&in, &changed, FRAME - 50, tunnel, off, "decapsulation");

	changed = (struct frame) { 0 };
	append(&changed, (const uint8_t[]) { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 7, 8, 0, 0x45 }, 15);
	must_become(&f, &changed, FRAME + 50, any_udp, on, "encapsulation");
	definition[3].type = RTE_FLOW_ITEM_TYPE_END;
	if (rte_flow_validate(0, &ingress, any_udp, on, NULL) != -EINVAL)
		die("encapsulation without VXLAN is valid\n");
}

static uint64_t
xstat(const char *name)
{
	uint64_t id, value;

	if (rte_eth_xstats_get_id_by_name(0, name, &id) != 0 || rte_eth_xstats_get_by_id(0, &id, &value, 1) != 1)
		die("no xstat %s\n", name);
	return value;
}

/* Drops have names. A port stops and starts with its rules. */
static void
drop_and_keep(void)
{
	const struct rte_flow_action drop[] = { ACTION(DROP), END_ACTION };
	struct rte_flow *flow = create(&ingress, any_udp, drop, "drop");
	struct rte_flow_error error = { 0 };
	struct frame f = { 0 }, other = { 0 };
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(0, &info) != 0 || !(info.dev_capa & RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP))
		die("the port does not say that it keeps rules\n");
	port_stop(0);
	port_start(0);
	f_udp(&f, 9);
	f_l4(&other, 1);
	memcpy(rte_pktmbuf_append(m, FRAME), f.bytes, FRAME);
	if (rte_eth_tx_burst(0, 0, &m, 1) != 1)
		die("the port takes no frame\n");
	must_come(&other, 0, -1, "another frame than the dropped one");
	if (xstat("rx_flow_drop") != 1)
		die("%" PRIu64 " frames dropped by rules\n", xstat("rx_flow_drop"));
	destroy(flow, "drop");
	must_come(&f, 0, -1, "a frame that was dropped before");

	flow = create(&ingress, any_udp, mark_and_queue, "isolated");
	if (rte_flow_isolate(0, 1, &error) != 0)
		die("isolate: %s\n", error.message);
	m = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(m, FRAME), other.bytes, FRAME);
	if (rte_eth_tx_burst(0, 0, &m, 1) != 1)
		die("the port takes no frame\n");
	must_come(&f, TO, mark.id, "isolated");
	if (xstat("rx_flow_miss") != 1)
		die("%" PRIu64 " frames missed\n", xstat("rx_flow_miss"));
	if (rte_flow_isolate(0, 0, &error) != 0 || rte_flow_flush(0, &error) != 0)
		die("flush: %s\n", error.message);
	must_come(&other, 0, -1, "isolated no more");
	must_come(&f, 0, -1, "after a flush");
	if (rte_flow_destroy(0, flow, &error) != -ENOENT || error.type != RTE_FLOW_ERROR_TYPE_HANDLE || error.cause != flow)
		die("a rule that is gone is destroyed\n");
}

/* --- refusals --- */

enum cause { NOTHING, THE_ATTR, THE_ITEM, THE_ACTION };

static const struct {
	const char *name;
	struct rte_flow_attr attr;
	struct rte_flow_item items[6];
	struct rte_flow_action actions[5];
	int code;
	enum rte_flow_error_type type;
	enum cause cause;
	unsigned int index;
} refusals[] = {
	{ "egress", { .egress = 1 }, { END_ITEM }, { ACTION(DROP), END_ACTION }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS,
		THE_ATTR, 0 },
	{ "transfer", { .transfer = 1 }, { END_ITEM }, { ACTION(DROP), END_ACTION }, ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, THE_ATTR, 0 },
	{ "no direction", { .group = 0 }, { END_ITEM }, { ACTION(DROP), END_ACTION }, EINVAL,
		RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, THE_ATTR, 0 },
	{ "group", { .ingress = 1, .group = 64 }, { END_ITEM }, { ACTION(DROP), END_ACTION }, EINVAL,
		RTE_FLOW_ERROR_TYPE_ATTR_GROUP, NOTHING, 0 },
	{ "item", { .ingress = 1 }, { ITEM(ETH), ITEM(VOID), ITEM(PPPOES), END_ITEM }, { ACTION(DROP), END_ACTION }, ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, THE_ITEM, 2 },
	{ "order", { .ingress = 1 }, { ITEM(UDP), ITEM(IPV4), END_ITEM }, { ACTION(DROP), END_ACTION }, EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, THE_ITEM, 1 },
	{ "three tags", { .ingress = 1 }, { ITEM(ETH), ITEM(VLAN), ITEM(VLAN), ITEM(VLAN), END_ITEM },
		{ ACTION(DROP), END_ACTION }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, THE_ITEM, 3 },
	{ "any at the end", { .ingress = 1 }, { ITEM(ETH), ITEM(ANY), END_ITEM }, { ACTION(DROP), END_ACTION }, ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, THE_ITEM, 1 },
	{ "a tag that is none", { .ingress = 1 }, { ITEM(ETH, SPEC(rte_flow_item_eth, .hdr.ether_type = RTE_BE16(0x0800)),
		MASK(rte_flow_item_eth, .hdr.ether_type = UINT16_MAX)), ITEM(VLAN), END_ITEM }, { ACTION(DROP), END_ACTION },
		EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, THE_ITEM, 1 },
	{ "range", { .ingress = 1 }, { ITEM(ETH), ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.dst_port = RTE_BE16(1)),
		LAST(rte_flow_item_udp, .hdr.dst_port = RTE_BE16(9)), MASK(rte_flow_item_udp, .hdr.dst_port = UINT16_MAX)),
		END_ITEM }, { ACTION(DROP), END_ACTION }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, THE_ITEM, 1 },
	{ "mask", { .ingress = 1 }, { ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.packet_id = 1),
		MASK(rte_flow_item_ipv4, .hdr.packet_id = UINT16_MAX)), END_ITEM }, { ACTION(DROP), END_ACTION }, ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, THE_ITEM, 0 },
	{ "mask without spec", { .ingress = 1 }, { ITEM(ETH), ITEM(TCP, .mask = &rte_flow_item_tcp_mask), END_ITEM },
		{ ACTION(DROP), END_ACTION }, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, THE_ITEM, 1 },
	{ "tag", { .ingress = 1 }, { ITEM(TAG, SPEC(rte_flow_item_tag, .index = 3)), END_ITEM }, { ACTION(DROP), END_ACTION },
		EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, THE_ITEM, 0 },
	{ "action", { .ingress = 1 }, { END_ITEM }, { ACTION(COUNT), ACTION(PORT_ID), END_ACTION }, ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ACTION, THE_ACTION, 1 },
	{ "no fate", { .ingress = 1 }, { END_ITEM }, { ACTION(COUNT), END_ACTION }, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM,
		NOTHING, 0 },
	{ "two fates", { .ingress = 1 }, { END_ITEM }, { ACTION(DROP), ACTION(VOID), ACTION(QUEUE, .conf = &to), END_ACTION },
		EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, THE_ACTION, 2 },
	{ "no configuration", { .ingress = 1 }, { END_ITEM }, { ACTION(QUEUE), END_ACTION }, EINVAL,
		RTE_FLOW_ERROR_TYPE_ACTION_CONF, THE_ACTION, 0 },
	{ "queue", { .ingress = 1 }, { END_ITEM }, { ACTION(COUNT), ACTION(QUEUE,
		CONF(rte_flow_action_queue, .index = QUEUES)), END_ACTION }, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
		THE_ACTION, 1 },
	{ "queue of RSS", { .ingress = 1 }, { END_ITEM }, { ACTION(RSS, CONF(rte_flow_action_rss, .queue_num = 2,
		.queue = (const uint16_t[]) { 0, QUEUES })), END_ACTION }, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, THE_ACTION, 0 },
	{ "inner RSS", { .ingress = 1 }, { END_ITEM }, { ACTION(RSS, CONF(rte_flow_action_rss, .level = 2, .queue_num = 1,
		.queue = (const uint16_t[]) { 0 })), END_ACTION }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, THE_ACTION, 0 },
	{ "jump", { .ingress = 1 }, { END_ITEM }, { ACTION(JUMP, CONF(rte_flow_action_jump, .group = 70000)), END_ACTION },
		EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, THE_ACTION, 0 },
	{ "age", { .ingress = 1 }, { END_ITEM }, { ACTION(DROP), ACTION(AGE, CONF(rte_flow_action_age, .timeout = 0)), END_ACTION },
		EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, THE_ACTION, 1 },
};

static void
refuse_all(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(refusals); i++) {
		const void *const causes[] = {
			[NOTHING] = NULL,
			[THE_ATTR] = &refusals[i].attr,
			[THE_ITEM] = &refusals[i].items[refusals[i].index],
			[THE_ACTION] = &refusals[i].actions[refusals[i].index],
		};
		struct rte_flow_error error = { 0 };
		int ret = rte_flow_validate(0, &refusals[i].attr, refusals[i].items, refusals[i].actions, &error);

		if (ret != -refusals[i].code || error.type != refusals[i].type || error.cause != causes[refusals[i].cause])
			die("%s: %d, type %d, cause %p: %s; expected %d, type %d, cause %p\n", refusals[i].name, ret, error.type,
				error.cause, error.message, -refusals[i].code, refusals[i].type, causes[refusals[i].cause]);
		if (error.message == NULL || error.message[0] == '\0')
			die("%s: no message\n", refusals[i].name);
	}
}

/* --- templates --- */

static void
fill_templates(void)
{
	const struct rte_flow_item form[] = { ITEM(ETH), ITEM(IPV4, MASK(rte_flow_item_ipv4, .hdr.src_addr = UINT32_MAX)),
		END_ITEM };
	const struct rte_flow_action actions[] = { ACTION(MARK, .conf = &mark), ACTION(QUEUE), END_ACTION };
	const struct rte_flow_action masks[] = { ACTION(MARK, CONF(rte_flow_action_mark, .id = UINT32_MAX)), ACTION(QUEUE),
		END_ACTION };
	const struct rte_flow_action own[] = { ACTION(MARK), ACTION(QUEUE, .conf = &to), END_ACTION };
	const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1 };
	const struct rte_flow_actions_template_attr actions_attr = { .ingress = 1 };
	const struct rte_flow_template_table_attr table_attr = { .flow_attr = { .ingress = 1 }, .nb_flows = 8 };
	const struct rte_flow_op_attr postponed = { .postpone = 1 }, at_once = { .postpone = 0 };
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *list;
	struct rte_flow_template_table *table;
	struct rte_flow_op_result results[4];
	struct rte_flow_error error = { 0 };
	struct rte_flow *flows[3];
	struct frame f = { 0 };
	unsigned int i;

	pattern = rte_flow_pattern_template_create(0, &pattern_attr, form, &error);
	list = rte_flow_actions_template_create(0, &actions_attr, actions, masks, &error);
	if (pattern == NULL || list == NULL)
		die("template: %s\n", error.message);
	table = rte_flow_template_table_create(0, &table_attr, &pattern, 1, &list, 1, &error);
	if (table == NULL)
		die("table: %s\n", error.message);
	f_ipv4(&f, 1);
	for (i = 0; i < 3; i++) {
		const struct rte_flow_item items[] = { ITEM(ETH), ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.src_addr = IP4(i))), END_ITEM };

		flows[i] = rte_flow_async_create(0, 1, &postponed, table, items, 0, own, 0, &flows[i], &error);
		if (i < 2 && flows[i] == NULL)
			die("asynchronous: %s\n", error.message);
	}
	if (flows[2] != NULL || rte_errno != EAGAIN)
		die("a queue of 2 takes 3 operations\n");
	must_come(&f, 0, -1, "before the push");
	if (rte_flow_pull(0, 1, results, 4, &error) != 0)
		die("results before the push\n");
	if (rte_flow_push(0, 1, &error) != 0 || rte_flow_pull(0, 1, results, 4, &error) != 2 ||
			results[1].user_data != &flows[1] || results[1].status != RTE_FLOW_OP_SUCCESS)
		die("push and pull: %s\n", error.message);
	must_come(&f, TO, mark.id, "behind the push");
	if (rte_flow_async_destroy(0, 1, &at_once, flows[1], NULL, &error) != 0 || rte_flow_pull(0, 1, results, 4, &error) != 1)
		die("asynchronous destroy: %s\n", error.message);
	must_come(&f, 0, -1, "behind the destroy");
	if (rte_flow_pattern_template_destroy(0, pattern, &error) != -EBUSY)
		die("a template of a table is destroyed\n");
	if (rte_flow_template_table_destroy(0, table, &error) != 0 || rte_flow_pattern_template_destroy(0, pattern, &error) != 0 ||
			rte_flow_actions_template_destroy(0, list, &error) != 0 || rte_flow_flush(0, &error) != 0)
		die("templates: %s\n", error.message);
}

static void
configure_flows(void)
{
	const struct rte_flow_port_attr port = { .nb_counters = 8 };
	const struct rte_flow_queue_attr two = { .size = 2 };
	const struct rte_flow_queue_attr *queues[] = { &two, &two };
	struct rte_flow_error error = { 0 };

	if (rte_flow_configure(0, &port, 2, queues, &error) != 0)
		die("configure: %s\n", error.message);
}

/* --- threads --- */

#define CHANGERS 3
#define RULES 64
static atomic_bool stopped;

/* Adds and destroys rules of its own group, which leads frames where group 0 leads them as well. */
static void *
change(void *arg)
{
	const struct rte_flow_attr attr = { .ingress = 1, .group = 1 + (uint32_t)(uintptr_t)arg };
	struct rte_flow *flows[RULES] = { NULL };
	uint64_t done = 0, chance = attr.group;

	while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
		unsigned int i = draw(&chance) % RULES;
		const struct rte_flow_item items[] = { ITEM(ETH), ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.dst_port = rte_cpu_to_be_16(i)),
			MASK(rte_flow_item_udp, .hdr.dst_port = UINT16_MAX)), END_ITEM };

		if (flows[i] == NULL)
			flows[i] = create(&attr, items, mark_and_queue, "a thread's rule");
		else {
			destroy(flows[i], "a thread's rule");
			flows[i] = NULL;
		}
		done++;
	}
	return (void *)(uintptr_t)done;
}

/* Frames of group 0's rule jump to a group that changes: each comes to the rules' queue, marked, or by RSS. */
static void
change_under_traffic(void)
{
	const struct rte_flow_action jump[] = { ACTION(JUMP, CONF(rte_flow_action_jump, .group = 1)), END_ACTION };
	struct rte_flow *flow = create(&ingress, any_udp, jump, "jump");
	uint64_t end = rte_get_timer_cycles() + 3 * rte_get_timer_hz(), marked = 0, all = 0;
	struct rte_flow_error error = { 0 };
	pthread_t threads[CHANGERS];
	void *done;
	uintptr_t i;

	for (i = 0; i < CHANGERS; i++) {
		if (pthread_create(&threads[i], NULL, change, (void *)i) != 0)
			die("no thread\n");
	}
	while (rte_get_timer_cycles() < end) {
		struct frame f = { 0 };
		struct rte_mbuf *m;
		uint16_t queue;
		bool found;

		f_udp(&f, all++ % RULES);
		m = there_and_back(&f, &queue, "a frame among changes");
		found = m->ol_flags & RTE_MBUF_F_RX_FDIR_ID;
		if (found != (queue == TO) || (found && m->hash.fdir.hi != mark.id))
			die("queue %u, mark %d %u\n", queue, found, m->hash.fdir.hi);
		marked += found;
		rte_pktmbuf_free(m);
	}
	atomic_store(&stopped, true);
	for (i = 0; i < CHANGERS; i++) {
		if (pthread_join(threads[i], &done) != 0 || done == NULL)
			die("a thread has changed nothing\n");
		printf("thread %zu: %zu changes\n", (size_t)i, (size_t)(uintptr_t)done);
	}
	printf("%" PRIu64 " of %" PRIu64 " frames met a rule\n", marked, all);
	if (marked == 0 || marked == all)
		die("frames always or never met a rule\n");
	destroy(flow, "jump");
	if (rte_flow_flush(0, &error) != 0)
		die("flush: %s\n", error.message);
}

/* RSS leads no frame to the rules' queue. */
static void
leave_queue_out(void)
{
	struct rte_eth_rss_reta_entry64 reta[8];
	unsigned int i;

	for (i = 0; i < 512; i++)
		reta[i / 64].reta[i % 64] = i % TO;
	for (i = 0; i < 8; i++)
		reta[i].mask = UINT64_MAX;
	if (rte_eth_dev_rss_reta_update(0, reta, 512) != 0)
		die("no redirection table\n");
}

int
main(int argc, char **argv)
{
	if (rte_eal_init(argc, argv) < 0)
		die("EAL does not start\n");
	pool = rte_pktmbuf_pool_create("flow", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no mempool\n");
	port_configure(0, QUEUES, 1, DESC, DESC, pool);
	configure_flows();
	port_start(0);
	leave_queue_out();
	match_all();
	tell_all();
	edit_all();
	drop_and_keep();
	refuse_all();
	fill_templates();
	change_under_traffic();
	port_stop(0);
	if (rte_eth_dev_close(0) != 0)
		die("the port does not close\n");
	pool_must_be_full(pool, "end", 0);
	printf("ok\n");
	return rte_eal_cleanup();
}
