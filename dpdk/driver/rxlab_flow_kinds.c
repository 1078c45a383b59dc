/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The kinds of rte_flow's items: their fields, and what is special about some. */

#include <errno.h>

#include "rxlab_flow_items.h"

/* A flag that says whether there is a header; where it is not asked for, nothing. */
#define TAKE_FLAG(w, flag, header) \
	((w)->mask.flag == 0 ? 0 : ((w)->mask.flag = 0, rxlab_flow_add_header(w, (w)->spec.flag, header)))

static int
eth_special(struct rxlab_flow_walk *w)
{
	static const struct rxlab_flow_field type = WHOLE(rte_flow_item_eth, hdr.ether_type, ETH_TYPE);

	if (rxlab_flow_take_type(w, &type, RXLAB_HEADER_VLAN) != 0)
		return -rte_errno;
	return TAKE_FLAG(w, eth.has_vlan, RXLAB_HEADER_VLAN);
}

static int
vlan_special(struct rxlab_flow_walk *w)
{
	static const struct rxlab_flow_field type = WHOLE(rte_flow_item_vlan, hdr.eth_proto, ETH_TYPE);
	static const struct rxlab_flow_field tci[] = {
		WHOLE(rte_flow_item_vlan, hdr.vlan_tci, VLAN_TCI), WHOLE(rte_flow_item_vlan, hdr.vlan_tci, QINQ_TCI),
	};
	bool first = w->tags == 1;

	if (w->tags > RTE_DIM(tci))
		return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, w->item, "VLAN: allowed are two of them");
	if (!first && rxlab_flow_add_header(w, true, RXLAB_HEADER_QINQ) != 0)
		return -rte_errno;
	if (rxlab_flow_take_part(w, &tci[w->tags - 1]) != 0)
		return -rte_errno;
	if (rxlab_flow_take_type(w, &type, first ? RXLAB_HEADER_QINQ : RXLAB_FLOW_NO_HEADER) != 0)
		return -rte_errno;
	return first ? TAKE_FLAG(w, vlan.has_more_vlan, RXLAB_HEADER_QINQ) : 0;
}

/* Fragments are told apart from whole packets, not from each other. */
static int
ipv4_special(struct rxlab_flow_walk *w)
{
	static const struct rxlab_flow_field part = WHOLE(rte_flow_item_ipv4, hdr.fragment_offset, IPV4_PROTO);
	const uint64_t all = RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG;
	uint64_t mask = rxlab_flow_part(w->mask.bytes, &part);
	uint64_t spec = rxlab_flow_part(w->spec.bytes, &part) & mask, last = rxlab_flow_part(w->last.bytes, &part) & mask;

	if (mask == 0)
		return 0;
	if (mask == all && spec == 0 && last == 0) {
		rxlab_flow_understood(w, &part);
		return rxlab_flow_add_header(w, false, RXLAB_HEADER_FRAGMENT);
	}
	if (mask == all && spec == 1 && last == all) {
		rxlab_flow_understood(w, &part);
		return rxlab_flow_add_header(w, true, RXLAB_HEADER_FRAGMENT);
	}
	return rxlab_flow_refuse_mask(w, "fragment_offset: allowed are 0 and 1 to 0x3fff, under 0x3fff: no fragment, or a fragment");
}

static int
ipv6_special(struct rxlab_flow_walk *w)
{
	return TAKE_FLAG(w, ipv6.has_frag_ext, RXLAB_HEADER_FRAGMENT);
}

static int
take_register(struct rxlab_flow_walk *w, uint8_t field, uint32_t spec, uint32_t last, uint32_t mask)
{
	if ((last & mask) > (spec & mask))
		return rxlab_flow_refuse_range(w, "data");
	return rxlab_flow_add_number(w, field, spec, mask);
}

static int
meta_special(struct rxlab_flow_walk *w)
{
	uint32_t mask = w->mask.meta.data;

	w->mask.meta.data = 0;
	return take_register(w, RXLAB_FIELD_META, w->spec.meta.data, w->last.meta.data, mask);
}

static int
tag_special(struct rxlab_flow_walk *w)
{
	uint32_t mask = w->mask.tag.data, index = w->spec.tag.index;

	w->mask.tag.data = 0;
	if (index >= RXLAB_FLOW_TAGS)
		return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, w->item,
			"TAG: index %u: allowed are 0 to %u", index, RXLAB_FLOW_TAGS - 1);
	return take_register(w, (uint8_t)(RXLAB_FIELD_TAG0 + index), w->spec.tag.data, w->last.tag.data, mask);
}

static const rte_be32_t gre_key_mask = RTE_BE32(UINT32_MAX);
struct gre_key {
	rte_be32_t key;
};

/* The fields are those of a struct that an item begins with. */
#define KIND(which, of, fields, has, level) \
	.type = RTE_FLOW_ITEM_TYPE_ ## which, .name = #which, .size = sizeof(struct of), .used = sizeof(struct fields), \
	.header = RXLAB_HEADER_ ## has, .rank = RANK_ ## level

static const struct rxlab_flow_kind kinds[] = {
	{ KIND(ETH, rte_flow_item_eth, rte_ether_hdr, ETHERNET, LINK), .mask = &rte_flow_item_eth_mask, .special = eth_special,
	  .parts = { WHOLE(rte_flow_item_eth, hdr.dst_addr, ETH_DST), WHOLE(rte_flow_item_eth, hdr.src_addr, ETH_SRC) } },
	{ KIND(VLAN, rte_flow_item_vlan, rte_vlan_hdr, VLAN, TAG),
	  .mask = &rte_flow_item_vlan_mask, .special = vlan_special },
	{ KIND(MPLS, rte_flow_item_mpls, rte_flow_item_mpls, MPLS, NETWORK), .mask = &rte_flow_item_mpls_mask,
	  .parts = { PART(rte_flow_item_mpls, label_tc_s, 4, 20, MPLS_LABEL),
		     PART(rte_flow_item_mpls, label_tc_s, 1, 3, MPLS_CLASS),
		     PART(rte_flow_item_mpls, label_tc_s, 0, 1, MPLS_BOTTOM), WHOLE(rte_flow_item_mpls, ttl, MPLS_TTL) } },
	{ KIND(IPV4, rte_flow_item_ipv4, rte_flow_item_ipv4, IPV4, NETWORK), .mask = &rte_flow_item_ipv4_mask, .special = ipv4_special,
	  .parts = { WHOLE(rte_flow_item_ipv4, hdr.type_of_service, IPV4_TOS),
		     WHOLE(rte_flow_item_ipv4, hdr.time_to_live, IPV4_TTL),
		     WHOLE(rte_flow_item_ipv4, hdr.next_proto_id, IPV4_PROTO),
		     WHOLE(rte_flow_item_ipv4, hdr.src_addr, IPV4_SRC), WHOLE(rte_flow_item_ipv4, hdr.dst_addr, IPV4_DST) } },
	{ KIND(IPV6, rte_flow_item_ipv6, rte_flow_item_ipv6, IPV6, NETWORK), .mask = &rte_flow_item_ipv6_mask, .special = ipv6_special,
	  .parts = { PART(rte_flow_item_ipv6, hdr.vtc_flow, 20, 8, IPV6_CLASS),
		     PART(rte_flow_item_ipv6, hdr.vtc_flow, 0, 20, IPV6_LABEL),
		     WHOLE(rte_flow_item_ipv6, hdr.proto, IPV6_PROTO), WHOLE(rte_flow_item_ipv6, hdr.hop_limits, IPV6_HOPS),
		     WHOLE(rte_flow_item_ipv6, hdr.src_addr, IPV6_SRC), WHOLE(rte_flow_item_ipv6, hdr.dst_addr, IPV6_DST) } },
	{ KIND(TCP, rte_flow_item_tcp, rte_flow_item_tcp, TCP, TRANSPORT), .mask = &rte_flow_item_tcp_mask,
	  .parts = { WHOLE(rte_flow_item_tcp, hdr.src_port, TCP_SRC), WHOLE(rte_flow_item_tcp, hdr.dst_port, TCP_DST),
		     WHOLE(rte_flow_item_tcp, hdr.tcp_flags, TCP_FLAGS) } },
	{ KIND(UDP, rte_flow_item_udp, rte_flow_item_udp, UDP, TRANSPORT), .mask = &rte_flow_item_udp_mask,
	  .parts = { WHOLE(rte_flow_item_udp, hdr.src_port, UDP_SRC), WHOLE(rte_flow_item_udp, hdr.dst_port, UDP_DST) } },
	{ KIND(SCTP, rte_flow_item_sctp, rte_flow_item_sctp, SCTP, TRANSPORT), .mask = &rte_flow_item_sctp_mask,
	  .parts = { WHOLE(rte_flow_item_sctp, hdr.src_port, SCTP_SRC), WHOLE(rte_flow_item_sctp, hdr.dst_port, SCTP_DST),
		     WHOLE(rte_flow_item_sctp, hdr.tag, SCTP_TAG) } },
	{ KIND(ICMP, rte_flow_item_icmp, rte_flow_item_icmp, ICMP, TRANSPORT), .mask = &rte_flow_item_icmp_mask,
	  .parts = { WHOLE(rte_flow_item_icmp, hdr.icmp_type, ICMP_TYPE), WHOLE(rte_flow_item_icmp, hdr.icmp_code, ICMP_CODE),
		     WHOLE(rte_flow_item_icmp, hdr.icmp_ident, ICMP_IDENT),
		     WHOLE(rte_flow_item_icmp, hdr.icmp_seq_nb, ICMP_SEQ) } },
	{ KIND(ICMP6, rte_flow_item_icmp6, rte_flow_item_icmp6, ICMP6, TRANSPORT), .mask = &rte_flow_item_icmp6_mask,
	  .parts = { WHOLE(rte_flow_item_icmp6, type, ICMP6_TYPE), WHOLE(rte_flow_item_icmp6, code, ICMP6_CODE) } },
	{ KIND(GRE, rte_flow_item_gre, rte_flow_item_gre, GRE, TRANSPORT), .tunnel = true, .mask = &rte_flow_item_gre_mask,
	  .parts = { WHOLE(rte_flow_item_gre, c_rsvd0_ver, GRE_FLAGS), WHOLE(rte_flow_item_gre, protocol, GRE_PROTO) } },
	{ KIND(GRE_KEY, gre_key, gre_key, GRE_KEY, TUNNEL), .tunnel = true, .mask = &gre_key_mask,
	  .parts = { WHOLE(gre_key, key, GRE_KEY) } },
	{ KIND(VXLAN, rte_flow_item_vxlan, rte_flow_item_vxlan, VXLAN, TUNNEL), .tunnel = true, .mask = &rte_flow_item_vxlan_mask,
	  .parts = { WHOLE(rte_flow_item_vxlan, flags, VXLAN_FLAGS), WHOLE(rte_flow_item_vxlan, vni, VXLAN_VNI) } },
	{ KIND(GENEVE, rte_flow_item_geneve, rte_flow_item_geneve, GENEVE, TUNNEL), .tunnel = true, .mask = &rte_flow_item_geneve_mask,
	  .parts = { PART(rte_flow_item_geneve, ver_opt_len_o_c_rsvd0, 8, 8, GENEVE_OPTIONS),
		     WHOLE(rte_flow_item_geneve, protocol, GENEVE_PROTO), WHOLE(rte_flow_item_geneve, vni, GENEVE_VNI) } },
	{ .type = RTE_FLOW_ITEM_TYPE_META, .name = "META", .size = sizeof(struct rte_flow_item_meta), .header = RXLAB_FLOW_NO_HEADER,
	  .used = sizeof(uint32_t), .mask = &rte_flow_item_meta_mask, .special = meta_special },
	{ .type = RTE_FLOW_ITEM_TYPE_TAG, .name = "TAG", .size = sizeof(struct rte_flow_item_tag), .header = RXLAB_FLOW_NO_HEADER,
	  .used = sizeof(uint32_t), .mask = &rte_flow_item_tag_mask, .special = tag_special },
};

const struct rxlab_flow_kind *
rxlab_flow_kind_of(enum rte_flow_item_type type)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(kinds); i++) {
		if (kinds[i].type == type)
			return &kinds[i];
	}
	return NULL;
}
