/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * rte_flow's asynchronous operations. Each is done when it is called; frames see it with the next commit of the port: a
 * push, or an operation of any thread that is not postponed. Its result can be pulled after that.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rxlab_flow.h"

#define MAX_QUEUE	65536	/* results that wait */

/* One thread's operations. The numbers run freely: results of [pulled, pushed) can be had, of [pushed, made) not yet. */
struct queue {
	uint32_t size;
	uint32_t made, pushed, pulled;
	struct rte_flow_op_result *results;
} __rte_cache_aligned;

struct rxlab_flow_queues {
	uint16_t n;
	struct queue queues[];
};

int
rxlab_flow_info_get(struct rte_eth_dev *dev, struct rte_flow_port_info *port, struct rte_flow_queue_info *queue,
		struct rte_flow_error *error __rte_unused)
{
	uint32_t rules = rxlab_dev_of(dev)->flow_rules;

	*port = (struct rte_flow_port_info) {
		.max_nb_queues = UINT16_MAX,
		.max_nb_counters = rules,
		.max_nb_aging_objects = rules,
	};
	if (queue != NULL)
		*queue = (struct rte_flow_queue_info) { .max_size = MAX_QUEUE };
	return 0;
}

void
rxlab_flow_queues_free(struct rxlab_dev *d)
{
	uint16_t i;

	if (d->flow_queues == NULL)
		return;
	for (i = 0; i < d->flow_queues->n; i++)
		free(d->flow_queues->queues[i].results);
	free(d->flow_queues);
	d->flow_queues = NULL;
}

static int
check(const struct rte_flow_port_attr *port, uint16_t n, const struct rte_flow_queue_attr *queues[],
		struct rte_flow_error *error)
{
	uint16_t i;

	if (port->nb_meters != 0 || port->nb_conn_tracks != 0)
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, port,
			"meters and connection tracking: allowed are none of them");
	if (port->flags != 0)
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, port, "flags: allowed is 0");
	for (i = 0; i < n; i++) {
		if (queues[i]->size == 0 || queues[i]->size > MAX_QUEUE)
			return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, queues[i],
				"queue %u: size %u: allowed are 1 to %u", i, queues[i]->size, MAX_QUEUE);
	}
	return 0;
}

int
rxlab_flow_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *port, uint16_t n,
		const struct rte_flow_queue_attr *queues[], struct rte_flow_error *error)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	size_t bytes = sizeof(*d->flow_queues) + n * sizeof(struct queue);
	uint16_t i;

	if (check(port, n, queues, error) != 0)
		return -rte_errno;
	rxlab_flow_queues_free(d);
	d->flow_queues = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(bytes, RTE_CACHE_LINE_SIZE));
	if (d->flow_queues == NULL)
		goto no_memory;
	memset(d->flow_queues, 0, bytes);
	for (i = 0; i < n; i++) {
		struct queue *q = &d->flow_queues->queues[d->flow_queues->n++];

		q->size = queues[i]->size;
		q->results = calloc(q->size, sizeof(*q->results));
		if (q->results == NULL)
			goto no_memory;
	}
	return 0;

no_memory:
	rxlab_flow_queues_free(d);
	return rxlab_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no memory");
}

static struct queue *
queue_of(const struct rxlab_dev *d, uint32_t queue, struct rte_flow_error *error)
{
	if (d->flow_queues != NULL && queue < d->flow_queues->n)
		return &d->flow_queues->queues[queue];
	rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "flow queue %u: allowed are those of %u", queue,
		d->flow_queues == NULL ? 0 : d->flow_queues->n);
	return NULL;
}

/* A queue with room for one more result. */
static struct queue *
queue_for(const struct rxlab_dev *d, uint32_t queue, struct rte_flow_error *error)
{
	struct queue *q = queue_of(d, queue, error);

	if (q == NULL || q->made - q->pulled < q->size)
		return q;
	rxlab_flow_refuse(error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "flow queue %u is full: pull its %u results",
		queue, q->size);
	return NULL;
}

static void
done(struct queue *q, bool postponed, void *user_data)
{
	q->results[q->made++ % q->size] = (struct rte_flow_op_result) {
		.status = RTE_FLOW_OP_SUCCESS,
		.user_data = user_data,
	};
	if (!postponed)
		q->pushed = q->made;
}

struct rte_flow *
rxlab_flow_async_create(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow_template_table *table, const struct rte_flow_item pattern[], uint8_t pattern_index,
		const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
		struct rte_flow_error *error)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rte_flow_item items[RXLAB_FLOW_LIST];
	struct rte_flow_action list[RXLAB_FLOW_LIST];
	struct queue *q = queue_for(d, queue, error);
	struct rxlab_flow_parsed p;
	struct rte_flow *flow;

	if (q == NULL)
		return NULL;
	if (pattern_index >= table->nb_patterns || actions_index >= table->nb_actions) {
		rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table,
			"the table has %u pattern and %u actions templates", table->nb_patterns, table->nb_actions);
		return NULL;
	}
	if (rxlab_flow_fill_pattern(table->patterns[pattern_index], pattern, items, error) != 0 ||
			rxlab_flow_fill_actions(table->actions[actions_index], actions, list, error) != 0 ||
			rxlab_flow_parse(d, &table->attr, items, list, &p, error) != 0)
		return NULL;
	flow = rxlab_flow_add(d, &p, !attr->postpone, error);
	if (flow != NULL)
		done(q, attr->postpone, user_data);
	return flow;
}

int
rxlab_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow *flow, void *user_data, struct rte_flow_error *error)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	struct queue *q = queue_for(d, queue, error);
	struct rxlab_flow_fault fault;
	int ret;

	if (q == NULL)
		return -rte_errno;
	ret = rxlab_flow_destroy(d->port, (uintptr_t)flow, !attr->postpone, &fault);
	if (ret != 0)
		return rxlab_flow_fault(ret, &fault, NULL, flow, error);
	done(q, attr->postpone, user_data);
	return 0;
}

struct rte_flow_action_handle *
rxlab_flow_async_handle_create(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *action, void *user_data,
		struct rte_flow_error *error)
{
	struct queue *q = queue_for(rxlab_dev_of(dev), queue, error);
	struct rte_flow_action_handle *handle = q == NULL ? NULL : rxlab_flow_handle_create(dev, conf, action, error);

	if (handle != NULL)
		done(q, attr->postpone, user_data);
	return handle;
}

/* An operation on a handle, done if there is room for its result. */
#define ASYNC(operation) do { \
		struct queue *q = queue_for(rxlab_dev_of(dev), queue, error); \
		int ret = q == NULL ? -rte_errno : (operation); \
		if (ret == 0) \
			done(q, attr->postpone, user_data); \
		return ret; \
	} while (0)

int
rxlab_flow_async_handle_destroy(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow_action_handle *handle, void *user_data, struct rte_flow_error *error)
{
	ASYNC(rxlab_flow_handle_destroy(dev, handle, error));
}

int
rxlab_flow_async_handle_update(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		struct rte_flow_action_handle *handle, const void *update, void *user_data, struct rte_flow_error *error)
{
	ASYNC(rxlab_flow_handle_update(dev, handle, update, error));
}

int
rxlab_flow_async_handle_query(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
		const struct rte_flow_action_handle *handle, void *data, void *user_data, struct rte_flow_error *error)
{
	ASYNC(rxlab_flow_handle_query(dev, handle, data, error));
}

int
rxlab_flow_push(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_error *error)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	struct queue *q = queue_of(d, queue, error);
	struct rxlab_flow_fault fault;
	int ret;

	if (q == NULL)
		return -rte_errno;
	ret = rxlab_flow_commit(d->port, &fault);
	if (ret != 0)
		return rxlab_flow_fault(ret, &fault, NULL, NULL, error);
	q->pushed = q->made;
	return 0;
}

int
rxlab_flow_pull(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_op_result results[], uint16_t n,
		struct rte_flow_error *error)
{
	struct queue *q = queue_of(rxlab_dev_of(dev), queue, error);
	uint16_t i;

	if (q == NULL)
		return -rte_errno;
	for (i = 0; i < n && q->pulled != q->pushed; i++)
		results[i] = q->results[q->pulled++ % q->size];
	return i;
}
