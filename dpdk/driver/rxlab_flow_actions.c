/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* rte_flow's actions: what a rule does, as the library has it. */

#include <errno.h>
#include <string.h>

#include "rxlab_flow.h"

#define ALLOWED "VOID, QUEUE, RSS, DROP, JUMP, MARK, FLAG, SET_META, SET_TAG, COUNT, AGE, INDIRECT, SET_MAC_*, " \
	"SET_IPV4_*, SET_IPV6_*, SET_TP_*, SET_TTL, DEC_TTL, VXLAN_ENCAP, VXLAN_DECAP"

/* A list on its way. */
struct walk {
	const struct rxlab_dev *d;
	struct rxlab_flow_parsed *p;
	struct rte_flow_error *error;
	const struct rte_flow_action *action;
};

int
rxlab_flow_add_action(struct rxlab_flow_parsed *p, const struct rte_flow_action *from,
		const struct rxlab_flow_action *action, struct rte_flow_error *error)
{
	uint32_t n = p->rule.nb_actions;

	if (n == RTE_DIM(p->actions))
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_NUM, from,
			"more than %zu actions", RTE_DIM(p->actions));
	p->actions[n] = *action;
	p->action_of[n] = from;
	p->rule.nb_actions++;
	return 0;
}

static int
add(struct walk *w, uint8_t act, uint32_t a, uint32_t b, uint32_t c)
{
	const struct rxlab_flow_action action = { .act = act, .a = a, .b = b, .c = c };

	return rxlab_flow_add_action(w->p, w->action, &action, w->error);
}

static int
take_queue(struct walk *w)
{
	const struct rte_flow_action_queue *conf = w->action->conf;
	uint16_t queues = w->d->eth_dev->data->nb_rx_queues;

	if (conf->index >= queues)
		return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, w->action,
			"QUEUE: index %u: the port has %u Rx queues, numbered from 0", conf->index, queues);
	return add(w, RXLAB_FLOW_ACT_QUEUE, conf->index, 0, 0);
}

static int
refuse_rss(const struct walk *w, int code, const char *what, uint64_t value, const char *allowed)
{
	return rxlab_flow_refuse(w->error, code, RTE_FLOW_ERROR_TYPE_ACTION_CONF, w->action,
		"RSS: %s 0x%" PRIx64 ": allowed is %s", what, value, allowed);
}

static int
check_rss(const struct walk *w, const struct rte_flow_action_rss *conf)
{
	uint16_t queues = w->d->eth_dev->data->nb_rx_queues;
	uint32_t i;

	if (conf->func != RTE_ETH_HASH_FUNCTION_DEFAULT && conf->func != RTE_ETH_HASH_FUNCTION_TOEPLITZ)
		return refuse_rss(w, ENOTSUP, "function", conf->func, "Toeplitz");
	if (conf->level > 1)
		return refuse_rss(w, ENOTSUP, "level", conf->level, "0 or 1, the outermost headers");
	if (conf->types & ~rxlab_rss_types())
		return refuse_rss(w, ENOTSUP, "types", conf->types & ~rxlab_rss_types(), "what flow_type_rss_offloads has");
	if (conf->key != NULL && conf->key_len != 0 &&
			(conf->key_len < RXLAB_KEY_DEFAULT_LEN || conf->key_len > RXLAB_KEY))
		return refuse_rss(w, EINVAL, "key length", conf->key_len, "40 to " RTE_STR(RXLAB_KEY) " bytes");
	if (conf->queue_num == 0 || conf->queue_num > RXLAB_RETA)
		return refuse_rss(w, EINVAL, "number of queues", conf->queue_num, "1 to " RTE_STR(RXLAB_RETA));
	for (i = 0; i < conf->queue_num; i++) {
		if (conf->queue[i] >= queues)
			return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, w->action,
				"RSS: queue %u: the port has %u Rx queues, numbered from 0", conf->queue[i], queues);
	}
	return 0;
}

/* Without a key, or types, those of the port are taken as they are now. */
static int
take_rss(struct walk *w)
{
	const struct rte_flow_action_rss *conf = w->action->conf;
	const struct rxlab_rss *of_port = &w->d->rss;
	struct rxlab_rss *rss = &w->p->rss;
	uint32_t i;

	if (check_rss(w, conf) != 0)
		return -rte_errno;
	rss->hash = conf->types == 0 ? of_port->hash : rxlab_rss_hash_of(conf->types);
	if (rss->hash == 0)
		rss->hash = rxlab_rss_hash_of(rxlab_rss_types());
	if (conf->key != NULL && conf->key_len != 0) {
		memcpy(rss->key, conf->key, conf->key_len);
		rss->key_len = conf->key_len;
	} else {
		memcpy(rss->key, of_port->key, sizeof(rss->key));
		rss->key_len = of_port->key_len;
	}
	rss->reta_len = RXLAB_RETA;
	for (i = 0; i < RXLAB_RETA; i++)
		rss->reta[i] = conf->queue[i % conf->queue_num];
	w->p->rule.rss = rss;
	return add(w, RXLAB_FLOW_ACT_RSS, 0, 0, 0);
}

static int
take_age(struct walk *w)
{
	const struct rte_flow_action_age *conf = w->action->conf;

	w->p->rule.age_context = (uintptr_t)conf->context;
	return add(w, RXLAB_FLOW_ACT_AGE, conf->timeout, 0, 0);
}

/* Actions whose conf may not be missing. */
static bool
needs_conf(enum rte_flow_action_type type)
{
	switch (type) {
	case RTE_FLOW_ACTION_TYPE_QUEUE:
	case RTE_FLOW_ACTION_TYPE_RSS:
	case RTE_FLOW_ACTION_TYPE_JUMP:
	case RTE_FLOW_ACTION_TYPE_MARK:
	case RTE_FLOW_ACTION_TYPE_SET_META:
	case RTE_FLOW_ACTION_TYPE_SET_TAG:
	case RTE_FLOW_ACTION_TYPE_AGE:
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		return true;
	default:
		return false;
	}
}

static int
take(struct walk *w)
{
	const struct rte_flow_action_set_meta *meta = w->action->conf;
	const struct rte_flow_action_set_tag *tag = w->action->conf;
	const struct rte_flow_action_jump *jump = w->action->conf;
	const struct rte_flow_action_mark *mark = w->action->conf;
	uint64_t name;
	int ret;

	if (needs_conf(w->action->type) && w->action->conf == NULL)
		return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, w->action,
			"action type %d: it needs a configuration", w->action->type);
	switch (w->action->type) {
	case RTE_FLOW_ACTION_TYPE_VOID:
		return 0;
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return take_queue(w);
	case RTE_FLOW_ACTION_TYPE_RSS:
		return take_rss(w);
	case RTE_FLOW_ACTION_TYPE_DROP:
		return add(w, RXLAB_FLOW_ACT_DROP, 0, 0, 0);
	case RTE_FLOW_ACTION_TYPE_JUMP:
		return add(w, RXLAB_FLOW_ACT_JUMP, jump->group, 0, 0);
	case RTE_FLOW_ACTION_TYPE_MARK:
		return add(w, RXLAB_FLOW_ACT_MARK, mark->id, 0, 0);
	case RTE_FLOW_ACTION_TYPE_FLAG:
		return add(w, RXLAB_FLOW_ACT_FLAG, 0, 0, 0);
	case RTE_FLOW_ACTION_TYPE_SET_META:
		return add(w, RXLAB_FLOW_ACT_META, meta->data, meta->mask, 0);
	case RTE_FLOW_ACTION_TYPE_SET_TAG:
		return add(w, RXLAB_FLOW_ACT_TAG, tag->data, tag->mask, tag->index);
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return add(w, RXLAB_FLOW_ACT_COUNT, 0, 0, 0);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return take_age(w);
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		/* The handle itself, which is a name. */
		name = (uintptr_t)w->action->conf;
		return add(w, RXLAB_FLOW_ACT_SHARED, (uint32_t)name, (uint32_t)(name >> 32), 0);
	default:
		if (rxlab_flow_edit(w->action, w->p, w->error, &ret))
			return ret;
		return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, w->action,
			"action type %d: allowed are " ALLOWED, w->action->type);
	}
}

int
rxlab_flow_actions(const struct rxlab_dev *d, const struct rte_flow_action actions[], struct rxlab_flow_parsed *p,
		struct rte_flow_error *error)
{
	struct walk w = { .d = d, .p = p, .error = error };

	if (actions == NULL)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL, "no actions");
	for (w.action = actions; w.action->type != RTE_FLOW_ACTION_TYPE_END; w.action++) {
		if (take(&w) != 0)
			return -rte_errno;
	}
	return 0;
}
