/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What the tests of rte_flow share: lists of items and actions, rules and their frames. Each file tests one thing of it. */
#ifndef FLOW_H
#define FLOW_H

/* Templates, among others, are experimental calls. */
#define ALLOW_EXPERIMENTAL_API

#include <rte_flow.h>

#include "../common.h"
#include "frames.h"

#define QUEUES 4
#define TO 2	/* the queue of rules, to which RSS leads no frame */

#define END_ITEM { .type = RTE_FLOW_ITEM_TYPE_END }
#define END_ACTION { .type = RTE_FLOW_ACTION_TYPE_END }
#define ITEM(which, ...) { .type = RTE_FLOW_ITEM_TYPE_ ## which, ## __VA_ARGS__ }
#define ACTION(which, ...) { .type = RTE_FLOW_ACTION_TYPE_ ## which, ## __VA_ARGS__ }
#define SPEC(of, ...) .spec = &(const struct of) { __VA_ARGS__ }
#define MASK(of, ...) .mask = &(const struct of) { __VA_ARGS__ }
#define LAST(of, ...) .last = &(const struct of) { __VA_ARGS__ }
#define CONF(of, ...) .conf = &(const struct of) { __VA_ARGS__ }

#define IP4(a) RTE_BE32(RTE_IPV4(10, 0, 0, a))

extern struct rte_mempool *pool;
static const struct rte_flow_attr ingress = { .ingress = 1 };
static const struct rte_flow_action_queue to = { .index = TO };
static const struct rte_flow_action_mark mark = { .id = 77 };

static const struct rte_flow_action mark_and_queue[] = {
	ACTION(MARK, .conf = &mark), ACTION(COUNT), ACTION(QUEUE, .conf = &to), END_ACTION,
};

static const struct rte_flow_item any_udp[] = { ITEM(ETH), ITEM(IPV4), ITEM(UDP), END_ITEM };

/* rules.c */
struct rte_mbuf *there_and_back(const struct frame *f, uint16_t *queue, const char *what);
void must_come(const struct frame *f, uint16_t to_queue, int64_t with_mark, const char *what);
struct rte_flow *create(const struct rte_flow_attr *attr, const struct rte_flow_item *items,
		const struct rte_flow_action *actions, const char *what);
void destroy(struct rte_flow *flow, const char *what);
struct rte_flow_query_count count_of(struct rte_flow *flow, bool reset, const char *what);
void must_become(const struct frame *f, const struct frame *changed, unsigned int len, const struct rte_flow_item *items,
		const struct rte_flow_action *actions, const char *what);
uint64_t xstat(const char *name);

/* The others. */
void match_all(void);
void tell_all(void);
void edit_all(void);
void drop_and_keep(void);
void refuse_all(void);
void fill_templates(void);
void configure_flows(void);
void change_under_traffic(void);
void insert_from_four(void);
void grow_old(void);
void share_actions(void);

#endif
