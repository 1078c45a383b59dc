/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Drops, and rules that stay. */

#include "flow.h"

/* Drops have names. A port stops and starts with its rules. */
void
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
