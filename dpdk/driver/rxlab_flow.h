/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What the files of rte_flow share: a rule on its way from DPDK's items and actions to the library's terms. */
#ifndef RXLAB_FLOW_H
#define RXLAB_FLOW_H

#include <rte_flow.h>
#include <rte_flow_driver.h>

#include "rxlab.h"

#define RXLAB_FLOW_TERMS	96
#define RXLAB_FLOW_ACTIONS	32	/* the most that the library takes */
#define RXLAB_FLOW_TAGS		3
#define RXLAB_FLOW_LIST		64	/* items or actions of a template, with the END */

/* A rule that is parsed. Each term and action knows which item or action of the caller it comes from. */
struct rxlab_flow_parsed {
	struct rxlab_flow_rule rule;	/* points into the rest */
	struct rxlab_flow_term terms[RXLAB_FLOW_TERMS];
	const struct rte_flow_item *item_of[RXLAB_FLOW_TERMS];
	struct rxlab_flow_action actions[RXLAB_FLOW_ACTIONS];
	const struct rte_flow_action *action_of[RXLAB_FLOW_ACTIONS];
	struct rxlab_rss rss;
	struct rxlab_flow_vxlan vxlan;
};

/* Sets the error with a text of its own, which stays for a while: returns -code. */
__rte_format_printf(5, 6)
int rxlab_flow_refuse(struct rte_flow_error *error, int code, enum rte_flow_error_type type, const void *cause,
		const char *format, ...);

/* rxlab_flow_items.c */
int rxlab_flow_items(const struct rte_flow_item pattern[], struct rxlab_flow_parsed *p, struct rte_flow_error *error);

/* rxlab_flow_actions.c */
int rxlab_flow_actions(const struct rxlab_dev *d, const struct rte_flow_action actions[], struct rxlab_flow_parsed *p,
		struct rte_flow_error *error);

int rxlab_flow_add_action(struct rxlab_flow_parsed *p, const struct rte_flow_action *from,
		const struct rxlab_flow_action *action, struct rte_flow_error *error);

/* rxlab_flow_edits.c */
bool rxlab_flow_edit(const struct rte_flow_action *action, struct rxlab_flow_parsed *p, struct rte_flow_error *error,
		int *ret);
size_t rxlab_flow_edit_size(enum rte_flow_action_type type);

/* rxlab_flow.c */
int rxlab_flow_parse(const struct rxlab_dev *d, const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		const struct rte_flow_action actions[], struct rxlab_flow_parsed *p, struct rte_flow_error *error);
int rxlab_flow_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error);
int rxlab_flow_fault(int ret, const struct rxlab_flow_fault *fault, const struct rxlab_flow_parsed *p,
		const void *handle, struct rte_flow_error *error);
struct rte_flow *rxlab_flow_add(struct rxlab_dev *d, const struct rxlab_flow_parsed *p, bool commit,
		struct rte_flow_error *error);

void rxlab_flow_tell_count(const struct rxlab_flow_count *count, struct rte_flow_query_count *query);
void rxlab_flow_tell_age(const struct rxlab_flow_age *age, struct rte_flow_query_age *query);

/* rxlab_flow_indirect.c */
struct rte_flow_action_handle *rxlab_flow_handle_create(struct rte_eth_dev *dev,
		const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *action,
		struct rte_flow_error *error);
int rxlab_flow_handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
		struct rte_flow_error *error);
int rxlab_flow_handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle, const void *update,
		struct rte_flow_error *error);
int rxlab_flow_handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle, void *data,
		struct rte_flow_error *error);

/* rxlab_flow_template.c */
struct rte_flow_template_table {
	struct rte_flow_attr attr;
	struct rte_flow_pattern_template **patterns;
	uint8_t nb_patterns;
	struct rte_flow_actions_template **actions;
	uint8_t nb_actions;
};

struct rte_flow_pattern_template *rxlab_flow_pattern_template_create(struct rte_eth_dev *dev,
		const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item pattern[],
		struct rte_flow_error *error);
int rxlab_flow_pattern_template_destroy(struct rte_eth_dev *dev, struct rte_flow_pattern_template *template,
		struct rte_flow_error *error);
struct rte_flow_actions_template *rxlab_flow_actions_template_create(struct rte_eth_dev *dev,
		const struct rte_flow_actions_template_attr *attr, const struct rte_flow_action actions[],
		const struct rte_flow_action masks[], struct rte_flow_error *error);
int rxlab_flow_actions_template_destroy(struct rte_eth_dev *dev, struct rte_flow_actions_template *template,
		struct rte_flow_error *error);
struct rte_flow_template_table *rxlab_flow_table_create(struct rte_eth_dev *dev,
		const struct rte_flow_template_table_attr *attr, struct rte_flow_pattern_template *patterns[],
		uint8_t nb_patterns, struct rte_flow_actions_template *actions[], uint8_t nb_actions,
		struct rte_flow_error *error);
int rxlab_flow_table_destroy(struct rte_eth_dev *dev, struct rte_flow_template_table *table,
		struct rte_flow_error *error);
int rxlab_flow_fill_pattern(const struct rte_flow_pattern_template *template, const struct rte_flow_item pattern[],
		struct rte_flow_item filled[RXLAB_FLOW_LIST], struct rte_flow_error *error);
int rxlab_flow_fill_actions(const struct rte_flow_actions_template *template, const struct rte_flow_action actions[],
		struct rte_flow_action filled[RXLAB_FLOW_LIST], struct rte_flow_error *error);

/* rxlab_flow_async.c */
int rxlab_flow_info_get(struct rte_eth_dev *dev, struct rte_flow_port_info *port, struct rte_flow_queue_info *queue,
		struct rte_flow_error *error);
int rxlab_flow_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *port, uint16_t nb_queues,
		const struct rte_flow_queue_attr *queues[], struct rte_flow_error *error);
struct rte_flow *rxlab_flow_async_create(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow_template_table *table, const struct rte_flow_item pattern[], uint8_t pattern_index,
		const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
		struct rte_flow_error *error);
int rxlab_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow *flow, void *user_data, struct rte_flow_error *error);
int rxlab_flow_push(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_error *error);
int rxlab_flow_pull(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_op_result results[], uint16_t n,
		struct rte_flow_error *error);

struct rte_flow_action_handle *rxlab_flow_async_handle_create(struct rte_eth_dev *dev, uint32_t queue,
		const struct rte_flow_op_attr *attr, const struct rte_flow_indir_action_conf *conf,
		const struct rte_flow_action *action, void *user_data, struct rte_flow_error *error);
int rxlab_flow_async_handle_destroy(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow_action_handle *handle, void *user_data, struct rte_flow_error *error);
int rxlab_flow_async_handle_update(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow_action_handle *handle, const void *update, void *user_data, struct rte_flow_error *error);
int rxlab_flow_async_handle_query(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		const struct rte_flow_action_handle *handle, void *data, void *user_data, struct rte_flow_error *error);

#endif /* RXLAB_FLOW_H */
