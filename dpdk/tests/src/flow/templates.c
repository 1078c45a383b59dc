/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Templates and asynchronous operations. */

#include "flow.h"

void
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

void
configure_flows(void)
{
	const struct rte_flow_port_attr port = { .nb_counters = 8 };
	const struct rte_flow_queue_attr two = { .size = 2 };
	const struct rte_flow_queue_attr *queues[] = { &two, &two };
	struct rte_flow_error error = { 0 };

	if (rte_flow_configure(0, &port, 2, queues, &error) != 0)
		die("configure: %s\n", error.message);
}
