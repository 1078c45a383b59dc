/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What is refused, and which part is named. */

#include "flow.h"

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
	{ "twice", { .ingress = 1 }, { END_ITEM }, { ACTION(DEC_TTL), ACTION(DROP), ACTION(DEC_TTL), END_ACTION }, EINVAL,
		RTE_FLOW_ERROR_TYPE_ACTION, THE_ACTION, 2 },
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

void
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
