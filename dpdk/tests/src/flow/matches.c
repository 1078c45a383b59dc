/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Each item by a frame that it is meant for and one that it is not. */

#include <rte_gre.h>
#include <rte_vxlan.h>

#include "flow.h"

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

void
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
