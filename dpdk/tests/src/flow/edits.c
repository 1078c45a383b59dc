/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What rules do to the bytes of frames. */

#include "flow.h"

/* One less, with its checksum; 0 stays 0, and is told apart by a rule of the next group. */
static void
dec_ttl(void)
{
	const struct rte_flow_action less[] = {
		ACTION(DEC_TTL), ACTION(JUMP, CONF(rte_flow_action_jump, .group = 1)), END_ACTION,
	};
	const struct rte_flow_item ended[] = {
		ITEM(IPV4, SPEC(rte_flow_item_ipv4, .hdr.time_to_live = 0), MASK(rte_flow_item_ipv4, .hdr.time_to_live = 255)), END_ITEM,
	};
	const struct rte_flow_attr next = { .ingress = 1, .group = 1 };
	struct rte_flow *flow = create(&ingress, any_udp, less, "DEC_TTL"), *at_0 = create(&next, ended, mark_and_queue, "TTL 0");
	unsigned int ttl;

	for (ttl = 0; ttl < 256; ttl++) {
		unsigned int left = ttl == 0 ? 0 : ttl - 1;
		struct rte_ipv4_hdr *ip;
		struct frame f = { 0 };
		struct rte_mbuf *m;
		uint16_t queue;

		f_udp(&f, 9);
		ip = (struct rte_ipv4_hdr *)&f.bytes[14];
		ip->time_to_live = ttl;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
		m = there_and_back(&f, &queue, "DEC_TTL");
		ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14);
		if (ip->time_to_live != left || (queue == TO) != (left == 0))
			die("TTL %u becomes %u, queue %u\n", ttl, ip->time_to_live, queue);
		if (__rte_raw_cksum_reduce(__rte_raw_cksum(ip, sizeof(*ip), 0)) != 0xffff)
			die("TTL %u: the checksum is 0x%04x\n", ttl, ip->hdr_checksum);
		rte_pktmbuf_free(m);
	}
	destroy(flow, "DEC_TTL");
	destroy(at_0, "TTL 0");
}

/* Fields are set, a tunnel is taken off and put on. Bytes of checksums are not compared: the library's tests do. */
void
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
	dec_ttl();
}
