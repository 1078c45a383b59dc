/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * rte_flow: rules are the library's, which any thread may change while frames flow. A handle is a rule's name, no
 * address: one that is not valid any more is refused. So nothing is allocated here, and nothing to be freed.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rxlab_flow.h"

/* An error's text stays until so many others were made, by whichever thread. */
#define TEXTS	256

int
rxlab_flow_refuse(struct rte_flow_error *error, int code, enum rte_flow_error_type type, const void *cause,
		const char *format, ...)
{
	static char texts[TEXTS][RXLAB_FLOW_TEXT];
	static uint32_t next;
	/* Relaxed: each thread writes into a text of its own. */
	char *text = texts[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % TEXTS];
	va_list args;

	va_start(args, format);
	vsnprintf(text, RXLAB_FLOW_TEXT, format, args);
	va_end(args);
	return rte_flow_error_set(error, code, type, cause, text);
}

/* What the library says, as rte_flow says it. */
int
rxlab_flow_fault(int ret, const struct rxlab_flow_fault *fault, const struct rxlab_flow_parsed *p, const void *handle,
		struct rte_flow_error *error)
{
	enum rte_flow_error_type type = RTE_FLOW_ERROR_TYPE_UNSPECIFIED;
	const void *cause = NULL;

	if (ret == 0)
		return 0;
	switch (fault->part) {
	case RXLAB_FLOW_PART_GROUP:
		type = RTE_FLOW_ERROR_TYPE_ATTR_GROUP;
		break;
	case RXLAB_FLOW_PART_TERM:
		type = RTE_FLOW_ERROR_TYPE_ITEM;
		cause = p == NULL || fault->index >= p->rule.nb_terms ? NULL : p->item_of[fault->index];
		break;
	case RXLAB_FLOW_PART_TERMS:
		type = RTE_FLOW_ERROR_TYPE_ITEM_NUM;
		break;
	case RXLAB_FLOW_PART_ACTION:
		type = RTE_FLOW_ERROR_TYPE_ACTION;
		cause = p == NULL || fault->index >= p->rule.nb_actions ? NULL : p->action_of[fault->index];
		break;
	case RXLAB_FLOW_PART_ACTIONS:
		type = RTE_FLOW_ERROR_TYPE_ACTION_NUM;
		break;
	case RXLAB_FLOW_PART_HANDLE:
		type = RTE_FLOW_ERROR_TYPE_HANDLE;
		cause = handle;
		break;
	default:
		break;
	}
	return rxlab_flow_refuse(error, -ret, type, cause, "%s", fault->text);
}

int
rxlab_flow_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (attr == NULL)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR, NULL, "no attributes");
	if (attr->egress)
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr, "egress: allowed is ingress");
	if (attr->transfer)
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, attr,
			"transfer: the port has no switch: allowed is ingress");
	if (!attr->ingress)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, attr, "allowed is ingress");
	return 0;
}

int
rxlab_flow_parse(const struct rxlab_dev *d, const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		const struct rte_flow_action actions[], struct rxlab_flow_parsed *p, struct rte_flow_error *error)
{
	p->rule = (struct rxlab_flow_rule) { .terms = p->terms, .actions = p->actions };
	if (rxlab_flow_attr(attr, error) != 0)
		return -rte_errno;
	p->rule.group = attr->group;
	p->rule.priority = attr->priority;
	if (rxlab_flow_items(pattern, p, error) != 0)
		return -rte_errno;
	return rxlab_flow_actions(d, actions, p, error);
}

static inline uint64_t
name_of(const struct rte_flow *flow)
{
	return (uintptr_t)flow;
}

struct rte_flow *
rxlab_flow_add(struct rxlab_dev *d, const struct rxlab_flow_parsed *p, bool commit, struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	uint64_t name = 0;
	int ret;

	ret = rxlab_flow_create(d->port, &p->rule, commit, &name, &fault);
	if (rxlab_flow_fault(ret, &fault, p, NULL, error) != 0)
		return NULL;
	rxlab_flow_ages_begin(d);
	return (struct rte_flow *)(uintptr_t)name;
}

static int
validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_flow_parsed p;
	struct rxlab_flow_fault fault;
	int ret;

	ret = rxlab_flow_parse(d, attr, pattern, actions, &p, error);
	if (ret != 0)
		return ret;
	ret = rxlab_flow_check(d->port, &p.rule, &fault);
	return rxlab_flow_fault(ret, &fault, &p, NULL, error);
}

static struct rte_flow *
create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_flow_parsed p;

	if (rxlab_flow_parse(d, attr, pattern, actions, &p, error) != 0)
		return NULL;
	return rxlab_flow_add(d, &p, true, error);
}

static int
destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	int ret = rxlab_flow_destroy(rxlab_dev_of(dev)->port, name_of(flow), true, &fault);

	return rxlab_flow_fault(ret, &fault, NULL, flow, error);
}

static int
flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	int ret = rxlab_flow_flush(rxlab_dev_of(dev)->port, &fault);

	return rxlab_flow_fault(ret, &fault, NULL, NULL, error);
}

void
rxlab_flow_tell_count(const struct rxlab_flow_count *count, struct rte_flow_query_count *query)
{
	query->hits_set = 1;
	query->bytes_set = 1;
	query->hits = count->frames;
	query->bytes = count->bytes;
}

void
rxlab_flow_tell_age(const struct rxlab_flow_age *age, struct rte_flow_query_age *query)
{
	query->aged = age->old;
	query->sec_since_last_hit_valid = 1;
	query->sec_since_last_hit = RTE_MIN(age->idle_s, RTE_BIT32(24) - 1);
}

static int
query_count(const struct rxlab_dev *d, struct rte_flow *flow, const struct rte_flow_action *action,
		struct rte_flow_query_count *query, struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	struct rxlab_flow_count count;
	int ret = rxlab_flow_count(d->port, name_of(flow), query->reset, &count, &fault);

	if (rxlab_flow_fault(ret, &fault, NULL, flow, error) != 0)
		return ret;
	if (!count.counts)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action, "the rule has no action COUNT");
	rxlab_flow_tell_count(&count, query);
	return 0;
}

static int
query_age(const struct rxlab_dev *d, struct rte_flow *flow, struct rte_flow_query_age *query,
		struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	struct rxlab_flow_age age;
	int ret = rxlab_flow_age(d->port, name_of(flow), &age, &fault);

	if (rxlab_flow_fault(ret, &fault, NULL, flow, error) != 0)
		return ret;
	rxlab_flow_tell_age(&age, query);
	return 0;
}

/* Of one action; rte_flow lets applications ask for several in a row, into one place. */
static int
query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action, void *data,
		struct rte_flow_error *error)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);

	while (action->type == RTE_FLOW_ACTION_TYPE_VOID)
		action++;
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return query_count(d, flow, action, data, error);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return query_age(d, flow, data, error);
	default:
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"action type %d: allowed are COUNT and AGE", action->type);
	}
}

static int
isolate(struct rte_eth_dev *dev, int on, struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	int ret = rxlab_flow_isolate(rxlab_dev_of(dev)->port, on != 0, &fault);

	return rxlab_flow_fault(ret, &fault, NULL, NULL, error);
}

static int
get_aged_flows(struct rte_eth_dev *dev, void **contexts, uint32_t nb_contexts, struct rte_flow_error *error)
{
	uint32_t old;

	if (nb_contexts != 0 && contexts == NULL)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no room for contexts");
	RTE_BUILD_BUG_ON(sizeof(*contexts) != sizeof(uint64_t));
	old = rxlab_flow_aged(rxlab_dev_of(dev)->port, (uint64_t *)contexts, nb_contexts);
	return (int)(nb_contexts == 0 ? old : RTE_MIN(old, nb_contexts));
}

/* There are no queues of old rules: flags of rte_flow_configure() are refused. */
static int
get_q_aged_flows(struct rte_eth_dev *dev, uint32_t queue __rte_unused, void **contexts, uint32_t nb_contexts,
		struct rte_flow_error *error)
{
	return get_aged_flows(dev, contexts, nb_contexts, error);
}

int
rxlab_flow_ops_get(struct rte_eth_dev *dev __rte_unused, const struct rte_flow_ops **ops)
{
	static const struct rte_flow_ops flow_ops = {
		.validate = validate,
		.create = create,
		.destroy = destroy,
		.flush = flush,
		.query = query,
		.isolate = isolate,
		.get_aged_flows = get_aged_flows,
		.get_q_aged_flows = get_q_aged_flows,
		.action_handle_create = rxlab_flow_handle_create,
		.action_handle_destroy = rxlab_flow_handle_destroy,
		.action_handle_update = rxlab_flow_handle_update,
		.action_handle_query = rxlab_flow_handle_query,
		.info_get = rxlab_flow_info_get,
		.configure = rxlab_flow_configure,
		.pattern_template_create = rxlab_flow_pattern_template_create,
		.pattern_template_destroy = rxlab_flow_pattern_template_destroy,
		.actions_template_create = rxlab_flow_actions_template_create,
		.actions_template_destroy = rxlab_flow_actions_template_destroy,
		.template_table_create = rxlab_flow_table_create,
		.template_table_destroy = rxlab_flow_table_destroy,
		.async_create = rxlab_flow_async_create,
		.async_destroy = rxlab_flow_async_destroy,
		.push = rxlab_flow_push,
		.pull = rxlab_flow_pull,
		.async_action_handle_create = rxlab_flow_async_handle_create,
		.async_action_handle_destroy = rxlab_flow_async_handle_destroy,
		.async_action_handle_update = rxlab_flow_async_handle_update,
		.async_action_handle_query = rxlab_flow_async_handle_query,
	};

	*ops = &flow_ops;
	return 0;
}
