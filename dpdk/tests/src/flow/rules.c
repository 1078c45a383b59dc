/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Rules, and frames that go through the port. */

#include "flow.h"

/* The frame as it comes back, and its queue. */
struct rte_mbuf *
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

void
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

struct rte_flow *
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

void
destroy(struct rte_flow *flow, const char *what)
{
	struct rte_flow_error error = { 0 };

	if (rte_flow_destroy(0, flow, &error) != 0)
		die("%s: destroy: %s\n", what, error.message);
}

struct rte_flow_query_count
count_of(struct rte_flow *flow, bool reset, const char *what)
{
	const struct rte_flow_action action[] = { ACTION(COUNT), END_ACTION };
	struct rte_flow_query_count count = { .reset = reset };
	struct rte_flow_error error = { 0 };

	if (rte_flow_query(0, flow, action, &count, &error) != 0)
		die("%s: query: %s\n", what, error.message);
	return count;
}

/* The bytes of a frame that rules have changed. */
void
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

uint64_t
xstat(const char *name)
{
	uint64_t id, value;

	if (rte_eth_xstats_get_id_by_name(0, name, &id) != 0 || rte_eth_xstats_get_by_id(0, &id, &value, 1) != 1)
		die("no xstat %s\n", name);
	return value;
}
