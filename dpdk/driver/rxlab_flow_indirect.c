/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * rte_flow's indirect actions: COUNT, AGE and RSS that several rules have. A handle is a name of the library's, no
 * address, as that of a rule is: one that is not valid any more is refused.
 */

#include <errno.h>

#include "rxlab_flow.h"

static inline uint64_t
name_of(const struct rte_flow_action_handle *handle)
{
	return (uintptr_t)handle;
}

/* What the library says of a handle. */
static int
refuse_handle(int ret, const struct rxlab_flow_fault *fault, const void *handle, struct rte_flow_error *error)
{
	if (ret == 0)
		return 0;
	return rxlab_flow_refuse(error, -ret, RTE_FLOW_ERROR_TYPE_ACTION, handle, "%s", fault->text);
}

static int
check_direction(const struct rte_flow_indir_action_conf *conf, struct rte_flow_error *error)
{
	if (conf != NULL && conf->ingress && !conf->egress && !conf->transfer)
		return 0;
	return rxlab_flow_refuse(error, conf != NULL && (conf->egress || conf->transfer) ? ENOTSUP : EINVAL,
		RTE_FLOW_ERROR_TYPE_ATTR, conf, "direction of an indirect action: allowed is ingress");
}

/* One action alone, as the library has it. */
static int
parse(const struct rxlab_dev *d, const struct rte_flow_action *action, struct rxlab_flow_parsed *p,
		struct rte_flow_error *error)
{
	const struct rte_flow_action list[] = { *action, { .type = RTE_FLOW_ACTION_TYPE_END } };

	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_COUNT:
	case RTE_FLOW_ACTION_TYPE_AGE:
	case RTE_FLOW_ACTION_TYPE_RSS:
		break;
	default:
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"indirect action of type %d: allowed are COUNT, AGE and RSS", action->type);
	}
	p->rule = (struct rxlab_flow_rule) { .terms = p->terms, .actions = p->actions };
	if (rxlab_flow_actions(d, list, p, error) == 0)
		return 0;
	if (error != NULL && error->cause == &list[0])
		error->cause = action;
	return -rte_errno;
}

struct rte_flow_action_handle *
rxlab_flow_handle_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
		const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_flow_parsed p;
	struct rxlab_flow_fault fault;
	uint64_t name = 0;
	int ret;

	if (check_direction(conf, error) != 0 || parse(d, action, &p, error) != 0)
		return NULL;
	ret = rxlab_flow_share(d->port, &p.rule, &name, &fault);
	if (refuse_handle(ret, &fault, action, error) != 0)
		return NULL;
	return (struct rte_flow_action_handle *)(uintptr_t)name;
}

int
rxlab_flow_handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle, struct rte_flow_error *error)
{
	struct rxlab_flow_fault fault;
	int ret = rxlab_flow_unshare(rxlab_dev_of(dev)->port, name_of(handle), &fault);

	return refuse_handle(ret, &fault, handle, error);
}

/* The timeout may come alone, or that a frame is to be assumed. */
static int
update_age(struct rxlab_dev *d, struct rte_flow_action_handle *handle, const struct rte_flow_update_age *update,
		struct rte_flow_error *error)
{
	int32_t seconds = update->timeout_valid ? (int32_t)update->timeout : -1;
	struct rxlab_flow_fault fault;
	int ret = rxlab_flow_update_age(d->port, name_of(handle), seconds, update->touch, &fault);

	if (ret == 0)
		rxlab_flow_ages_begin(d);
	return refuse_handle(ret, &fault, handle, error);
}

static int
update_rss(const struct rxlab_dev *d, struct rte_flow_action_handle *handle, const struct rte_flow_action *action,
		struct rte_flow_error *error)
{
	struct rxlab_flow_parsed p;
	struct rxlab_flow_fault fault;
	int ret;

	if (action->type != RTE_FLOW_ACTION_TYPE_RSS)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"update of an indirect RSS by action type %d: allowed is RSS", action->type);
	if (parse(d, action, &p, error) != 0)
		return -rte_errno;
	ret = rxlab_flow_update_rss(d->port, name_of(handle), &p.rule, &fault);
	return refuse_handle(ret, &fault, handle, error);
}

/* What update points to goes by the kind of action: struct rte_flow_update_age, or an action as mlx5 takes it. */
int
rxlab_flow_handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle, const void *update,
		struct rte_flow_error *error)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_flow_fault fault;
	uint8_t act = 0;
	int ret = rxlab_flow_shared_act(d->port, name_of(handle), &act, &fault);

	if (ret != 0)
		return refuse_handle(ret, &fault, handle, error);
	if (update == NULL)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, handle, "no update");
	switch (act) {
	case RXLAB_FLOW_ACT_AGE:
		return update_age(d, handle, update, error);
	case RXLAB_FLOW_ACT_RSS:
		return update_rss(d, handle, update, error);
	default:
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, handle,
			"update of an indirect COUNT: allowed are AGE and RSS");
	}
}

int
rxlab_flow_handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle, void *data,
		struct rte_flow_error *error)
{
	const struct rxlab_port *port = rxlab_dev_of(dev)->port;
	struct rxlab_flow_fault fault;
	struct rxlab_flow_count count;
	struct rxlab_flow_age age;
	uint8_t act = 0;
	int ret = rxlab_flow_shared_act(port, name_of(handle), &act, &fault);

	if (ret == 0 && act == RXLAB_FLOW_ACT_COUNT) {
		struct rte_flow_query_count *query = data;

		ret = rxlab_flow_shared_count(port, name_of(handle), query->reset, &count, &fault);
		if (ret == 0)
			rxlab_flow_tell_count(&count, query);
	} else if (ret == 0 && act == RXLAB_FLOW_ACT_AGE) {
		ret = rxlab_flow_shared_age(port, name_of(handle), &age, &fault);
		if (ret == 0)
			rxlab_flow_tell_age(&age, data);
	} else if (ret == 0) {
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, handle,
			"query of an indirect RSS: allowed are COUNT and AGE");
	}
	return refuse_handle(ret, &fault, handle, error);
}
