/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What a frame tells of its rules: marks, flags, metadata. */

#include "flow.h"

/* Marks of 0, a flag without a mark, metadata; registers from group to group. */
void
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
