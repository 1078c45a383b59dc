/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* rte_flow's templates: the forms of patterns and lists of actions, which rules of a table fill in. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rxlab_flow.h"

struct rte_flow_pattern_template {
	uint32_t tables;		/* that have it */
	struct rte_flow_item items[];	/* specs do not matter */
};

struct rte_flow_actions_template {
	uint32_t tables;
	uint64_t fixed;			/* bit i: all rules have the conf of action i */
	struct rte_flow_action actions[];
};

/* A copy of a list with all that it points to, behind head bytes of zeros. */
static void *
copy(enum rte_flow_conv_op op, size_t head, const void *list, struct rte_flow_error *error)
{
	int bytes = rte_flow_conv(op, NULL, 0, list, error);
	void *mem;

	if (bytes < 0)
		return NULL;
	mem = calloc(1, head + (size_t)bytes);
	if (mem == NULL) {
		rxlab_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no memory");
		return NULL;
	}
	if (rte_flow_conv(op, RTE_PTR_ADD(mem, head), (size_t)bytes, list, error) < 0) {
		free(mem);
		return NULL;
	}
	return mem;
}

static int
check_direction(bool ingress, bool egress, bool transfer, struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = { .ingress = ingress, .egress = egress, .transfer = transfer };

	return rxlab_flow_attr(&attr, error);
}

/* A list of a template is not longer than the lists that are made of it. */
#define CHECK_LENGTH(list, end, error) \
	do { \
		unsigned int n_; \
		for (n_ = 0; (list)[n_].type != (end); n_++) { \
			if (n_ + 1 == RXLAB_FLOW_LIST) \
				return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, &(list)[n_], \
					"a template of more than %d entries", RXLAB_FLOW_LIST - 1); \
		} \
	} while (0)

/* Whether items and masks are such as can be matched, with zeros for what rules fill in. */
static int
check_pattern(const struct rte_flow_item pattern[], struct rte_flow_error *error)
{
	static const uint8_t zeros[256];
	struct rte_flow_item items[RXLAB_FLOW_LIST];
	struct rxlab_flow_parsed p = { .rule = { 0 } };
	unsigned int i = 0;

	CHECK_LENGTH(pattern, RTE_FLOW_ITEM_TYPE_END, error);
	for (i = 0; pattern[i].type != RTE_FLOW_ITEM_TYPE_END; i++)
		items[i] = (struct rte_flow_item) { .type = pattern[i].type, .spec = zeros, .mask = pattern[i].mask };
	items[i] = pattern[i];
	if (rxlab_flow_items(items, &p, error) == 0)
		return 0;
	if (error != NULL && error->cause >= (const void *)items && error->cause < (const void *)&items[i])
		error->cause = &pattern[(const struct rte_flow_item *)error->cause - items];
	return -rte_errno;
}

struct rte_flow_pattern_template *
rxlab_flow_pattern_template_create(struct rte_eth_dev *dev __rte_unused,
		const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item pattern[],
		struct rte_flow_error *error)
{
	if (check_direction(attr->ingress, attr->egress, attr->transfer, error) != 0 || check_pattern(pattern, error) != 0)
		return NULL;
	return copy(RTE_FLOW_CONV_OP_PATTERN, sizeof(struct rte_flow_pattern_template), pattern, error);
}

static int
refuse_used(const void *template, uint32_t tables, struct rte_flow_error *error)
{
	return rxlab_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_STATE, template,
		"%u tables have this template: destroy them first", tables);
}

int
rxlab_flow_pattern_template_destroy(struct rte_eth_dev *dev __rte_unused, struct rte_flow_pattern_template *template,
		struct rte_flow_error *error)
{
	if (template->tables != 0)
		return refuse_used(template, template->tables, error);
	free(template);
	return 0;
}

/* Bytes of an action's configuration; 0 for actions that are not known, or have none. */
static size_t
conf_size(enum rte_flow_action_type type)
{
	switch (type) {
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return sizeof(struct rte_flow_action_queue);
	case RTE_FLOW_ACTION_TYPE_RSS:
		return sizeof(struct rte_flow_action_rss);
	case RTE_FLOW_ACTION_TYPE_JUMP:
		return sizeof(struct rte_flow_action_jump);
	case RTE_FLOW_ACTION_TYPE_MARK:
		return sizeof(struct rte_flow_action_mark);
	case RTE_FLOW_ACTION_TYPE_SET_META:
		return sizeof(struct rte_flow_action_set_meta);
	case RTE_FLOW_ACTION_TYPE_SET_TAG:
		return sizeof(struct rte_flow_action_set_tag);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return sizeof(struct rte_flow_action_age);
	default:
		return rxlab_flow_edit_size(type);
	}
}

/* A mask with any bit fixes the whole of the action. */
static bool
is_fixed(const struct rte_flow_action *mask)
{
	const uint8_t *bytes = mask->conf;
	size_t i;

	/* A handle is no address. */
	if (mask->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
		return mask->conf != NULL;
	for (i = 0; bytes != NULL && i < conf_size(mask->type); i++) {
		if (bytes[i] != 0)
			return true;
	}
	return false;
}

static int
check_actions(const struct rte_flow_action actions[], const struct rte_flow_action masks[], struct rte_flow_error *error)
{
	unsigned int i;

	CHECK_LENGTH(actions, RTE_FLOW_ACTION_TYPE_END, error);
	for (i = 0; actions[i].type != RTE_FLOW_ACTION_TYPE_END; i++) {
		if (masks[i].type != actions[i].type)
			return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, &masks[i],
				"mask %u is of another type than its action", i);
		if (is_fixed(&masks[i]) && actions[i].conf == NULL)
			return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, &actions[i],
				"a mask without a configuration");
	}
	return 0;
}

struct rte_flow_actions_template *
rxlab_flow_actions_template_create(struct rte_eth_dev *dev __rte_unused,
		const struct rte_flow_actions_template_attr *attr, const struct rte_flow_action actions[],
		const struct rte_flow_action masks[], struct rte_flow_error *error)
{
	struct rte_flow_actions_template *template;
	unsigned int i;

	if (check_direction(attr->ingress, attr->egress, attr->transfer, error) != 0 ||
			check_actions(actions, masks, error) != 0)
		return NULL;
	template = copy(RTE_FLOW_CONV_OP_ACTIONS, sizeof(*template), actions, error);
	for (i = 0; template != NULL && actions[i].type != RTE_FLOW_ACTION_TYPE_END; i++)
		template->fixed |= is_fixed(&masks[i]) ? RTE_BIT64(i) : 0;
	return template;
}

int
rxlab_flow_actions_template_destroy(struct rte_eth_dev *dev __rte_unused, struct rte_flow_actions_template *template,
		struct rte_flow_error *error)
{
	if (template->tables != 0)
		return refuse_used(template, template->tables, error);
	free(template);
	return 0;
}

struct rte_flow_template_table *
rxlab_flow_table_create(struct rte_eth_dev *dev __rte_unused, const struct rte_flow_template_table_attr *attr,
		struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
		struct rte_flow_actions_template *actions[], uint8_t nb_actions, struct rte_flow_error *error)
{
	struct rte_flow_template_table *table;
	uint8_t i;

	if (rxlab_flow_attr(&attr->flow_attr, error) != 0)
		return NULL;
	table = calloc(1, sizeof(*table) + (nb_patterns + nb_actions) * sizeof(void *));
	if (table == NULL) {
		rxlab_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no memory");
		return NULL;
	}
	table->attr = attr->flow_attr;
	table->patterns = RTE_PTR_ADD(table, sizeof(*table));
	table->actions = RTE_PTR_ADD(table->patterns, nb_patterns * sizeof(void *));
	for (; table->nb_patterns < nb_patterns; table->nb_patterns++) {
		table->patterns[table->nb_patterns] = patterns[table->nb_patterns];
		patterns[table->nb_patterns]->tables++;
	}
	for (i = 0; i < nb_actions; i++) {
		table->actions[i] = actions[i];
		actions[i]->tables++;
	}
	table->nb_actions = nb_actions;
	return table;
}

/* Its rules stay until they are destroyed. */
int
rxlab_flow_table_destroy(struct rte_eth_dev *dev __rte_unused, struct rte_flow_template_table *table,
		struct rte_flow_error *error __rte_unused)
{
	uint8_t i;

	for (i = 0; i < table->nb_patterns; i++)
		table->patterns[i]->tables--;
	for (i = 0; i < table->nb_actions; i++)
		table->actions[i]->tables--;
	free(table);
	return 0;
}

/* The template's items and masks, with a rule's specs. */
int
rxlab_flow_fill_pattern(const struct rte_flow_pattern_template *template, const struct rte_flow_item pattern[],
		struct rte_flow_item filled[RXLAB_FLOW_LIST], struct rte_flow_error *error)
{
	unsigned int i;

	for (i = 0; template->items[i].type != RTE_FLOW_ITEM_TYPE_END; i++) {
		if (pattern[i].type != template->items[i].type)
			return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, &pattern[i],
				"item %u is of another type than the template's", i);
		filled[i] = (struct rte_flow_item) { .type = pattern[i].type, .spec = pattern[i].spec };
		if (pattern[i].spec != NULL)
			filled[i].mask = template->items[i].mask;
	}
	filled[i] = template->items[i];
	return 0;
}

/* The template's actions, with a rule's configurations where they are not fixed. */
int
rxlab_flow_fill_actions(const struct rte_flow_actions_template *template, const struct rte_flow_action actions[],
		struct rte_flow_action filled[RXLAB_FLOW_LIST], struct rte_flow_error *error)
{
	unsigned int i;

	for (i = 0; template->actions[i].type != RTE_FLOW_ACTION_TYPE_END; i++) {
		if (actions[i].type != template->actions[i].type)
			return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, &actions[i],
				"action %u is of another type than the template's", i);
		filled[i] = template->fixed & RTE_BIT64(i) ? template->actions[i] : actions[i];
	}
	filled[i] = template->actions[i];
	return 0;
}
