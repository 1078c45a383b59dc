/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The event that rules have grown old: once for all that do, until somebody asks which they are. */

#include "flow.h"

#define PATIENCE_S 20

static atomic_uint events;

static int
hear(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret __rte_unused)
{
	if (port == 0 && type == RTE_ETH_EVENT_FLOW_AGED && arg == &events)
		atomic_fetch_add(&events, 1);
	return 0;
}

static struct rte_flow *
age_of(uint32_t seconds, uint16_t port, void *context)
{
	const struct rte_flow_item items[] = { ITEM(ETH), ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.dst_port = rte_cpu_to_be_16(port)),
		MASK(rte_flow_item_udp, .hdr.dst_port = UINT16_MAX)), END_ITEM };
	const struct rte_flow_action actions[] = {
		ACTION(AGE, CONF(rte_flow_action_age, .timeout = seconds, .context = context)), ACTION(QUEUE, .conf = &to), END_ACTION,
	};

	return create(&ingress, items, actions, "AGE");
}

static bool
is_old(struct rte_flow *flow)
{
	const struct rte_flow_action action[] = { ACTION(AGE), END_ACTION };
	struct rte_flow_query_age age = { 0 };
	struct rte_flow_error error = { 0 };

	if (rte_flow_query(0, flow, action, &age, &error) != 0)
		die("query of an age: %s\n", error.message);
	return age.aged;
}

/* Frames for port 1 go on all the time, so its rule stays young. */
static void
wait_for(const char *what, unsigned int n, struct rte_flow *old)
{
	uint64_t end = rte_get_timer_cycles() + PATIENCE_S * rte_get_timer_hz();
	struct frame f = { 0 };

	f_udp(&f, 1);
	while (atomic_load(&events) < n || (old != NULL && !is_old(old))) {
		must_come(&f, TO, -1, what);
		if (rte_get_timer_cycles() > end)
			die("%s: %u events, expected %u\n", what, atomic_load(&events), n);
	}
	if (atomic_load(&events) != n)
		die("%s: %u events, expected %u\n", what, atomic_load(&events), n);
}

static void
must_be_old(void *const expected[], int n, const char *what)
{
	struct rte_flow_error error = { 0 };
	void *contexts[4] = { NULL };
	int found = 0, i, j;

	if (rte_flow_get_aged_flows(0, NULL, 0, &error) != n || rte_flow_get_q_aged_flows(0, 1, contexts, 4, &error) != n)
		die("%s: %d old rules, expected %d\n", what, rte_flow_get_aged_flows(0, NULL, 0, NULL), n);
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++)
			found += contexts[j] == expected[i];
	}
	if (found != n)
		die("%s: the old rules are others\n", what);
}

void
grow_old(void)
{
	static int young, third, fourth, fifth;
	struct rte_flow *flows[5];
	unsigned int i;

	if (rte_eth_dev_callback_register(0, RTE_ETH_EVENT_FLOW_AGED, hear, &events) != 0)
		die("no callback\n");
	flows[0] = age_of(1, 1, &young);
	flows[1] = age_of(1, 2, NULL);
	flows[2] = age_of(2, 3, &third);
	wait_for("the first", 1, flows[1]);
	must_be_old((void *const[]) { flows[1] }, 1, "the first");
	wait_for("one more", 2, flows[2]);
	must_be_old((void *const[]) { flows[1], &third }, 2, "one more");
	/* Two more, of which nobody asks: one event is for both. */
	flows[3] = age_of(1, 4, &fourth);
	flows[4] = age_of(2, 5, &fifth);
	wait_for("two more", 3, flows[4]);
	/* Looks go on for as long as this one takes to grow old, and tell nothing. */
	flows[1] = (destroy(flows[1], "an old rule"), age_of(1, 2, NULL));
	wait_for("nobody has asked", 3, flows[1]);
	must_be_old((void *const[]) { flows[1], &third, &fourth, &fifth }, 4, "two more");
	for (i = 0; i < RTE_DIM(flows); i++)
		destroy(flows[i], "AGE");
	must_be_old(NULL, 0, "none");
	if (rte_eth_dev_callback_unregister(0, RTE_ETH_EVENT_FLOW_AGED, hear, &events) != 0)
		die("no callback to take back\n");
}
