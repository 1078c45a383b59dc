/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Actions that rules share: a count, an age, an RSS. */

#include "flow.h"

#define PATIENCE_S 20

static const struct rte_flow_indir_action_conf direction = { .ingress = 1 };

static struct rte_flow_action_handle *
made(const struct rte_flow_action *action, const char *what)
{
	struct rte_flow_error error = { 0 };
	struct rte_flow_action_handle *handle = rte_flow_action_handle_create(0, &direction, action, &error);

	if (handle == NULL)
		die("%s: %s\n", what, error.message);
	return handle;
}

static void
gone(struct rte_flow_action_handle *handle, const char *what)
{
	struct rte_flow_error error = { 0 };

	if (rte_flow_action_handle_destroy(0, handle, &error) != 0)
		die("%s: destroy: %s\n", what, error.message);
	if (rte_flow_action_handle_destroy(0, handle, &error) != -ENOENT || error.type != RTE_FLOW_ERROR_TYPE_ACTION ||
			error.cause != handle)
		die("%s: destroyed twice: %s\n", what, error.message);
}

/* A rule for a port that has the action, and a fate if that is none. */
static struct rte_flow *
rule_with(struct rte_flow_action_handle *handle, uint16_t port, bool fate)
{
	const struct rte_flow_item items[] = { ITEM(ETH), ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.dst_port = rte_cpu_to_be_16(port)),
		MASK(rte_flow_item_udp, .hdr.dst_port = UINT16_MAX)), END_ITEM };
	const struct rte_flow_action actions[] = {
		ACTION(INDIRECT, .conf = handle),
		{ .type = fate ? RTE_FLOW_ACTION_TYPE_QUEUE : RTE_FLOW_ACTION_TYPE_VOID, .conf = &to }, END_ACTION,
	};

	return create(&ingress, items, actions, "a rule with an indirect action");
}

static void
send_one(uint16_t port, uint16_t queue)
{
	struct frame f = { 0 };

	f_udp(&f, (uint8_t)port);
	must_come(&f, queue, -1, "a frame of an indirect action");
}

static void
must_count(struct rte_flow_action_handle *handle, uint64_t hits, bool reset, const char *what)
{
	struct rte_flow_query_count count = { .reset = reset };
	struct rte_flow_error error = { 0 };

	if (rte_flow_action_handle_query(0, handle, &count, &error) != 0)
		die("%s: query: %s\n", what, error.message);
	if (count.hits != hits || count.bytes != hits * FRAME || !count.hits_set || !count.bytes_set)
		die("%s: %" PRIu64 " hits, %" PRIu64 " B, expected %" PRIu64 " hits\n", what, count.hits, count.bytes, hits);
}

static void
share_count(void)
{
	const struct rte_flow_action count = ACTION(COUNT);
	struct rte_flow_action_handle *handle = made(&count, "COUNT");
	struct rte_flow *flows[] = { rule_with(handle, 1, true), rule_with(handle, 2, true) };
	struct rte_flow_error error = { 0 };

	send_one(1, TO);
	send_one(2, TO);
	send_one(2, TO);
	must_count(handle, 3, false, "COUNT");
	if (count_of(flows[1], false, "its rule").hits != 2)
		die("a rule has not counted its own\n");
	destroy(flows[1], "a rule of COUNT");
	must_count(handle, 3, true, "COUNT after a rule");
	send_one(1, TO);
	must_count(handle, 1, false, "COUNT after a reset");
	if (rte_flow_action_handle_destroy(0, handle, &error) != -EBUSY || error.cause != handle)
		die("an action of a rule is destroyed\n");
	if (rte_flow_action_handle_update(0, handle, &count, &error) != -ENOTSUP)
		die("a count is updated\n");
	destroy(flows[0], "the last rule of COUNT");
	must_count(handle, 1, false, "COUNT after all rules");
	gone(handle, "COUNT");
}

static bool
is_old(struct rte_flow_action_handle *handle)
{
	struct rte_flow_query_age age = { 0 };
	struct rte_flow_error error = { 0 };

	if (rte_flow_action_handle_query(0, handle, &age, &error) != 0 || !age.sec_since_last_hit_valid)
		die("query of AGE: %s\n", error.message);
	return age.aged;
}

static void
update(struct rte_flow_action_handle *handle, const struct rte_flow_update_age *update)
{
	struct rte_flow_error error = { 0 };

	if (rte_flow_action_handle_update(0, handle, update, &error) != 0)
		die("update of AGE: %s\n", error.message);
}

/* Old only when none of its rules has frames. */
static void
share_age(void)
{
	static int context, other;
	const struct rte_flow_action age = ACTION(AGE, CONF(rte_flow_action_age, .timeout = 1, .context = &context));
	const struct rte_flow_action watch = ACTION(AGE, CONF(rte_flow_action_age, .timeout = 2, .context = &other));
	struct rte_flow_action_handle *handle = made(&age, "AGE"), *watched = made(&watch, "AGE beside it");
	struct rte_flow *flows[] = { rule_with(handle, 1, true), rule_with(handle, 2, true), rule_with(watched, 3, true) };
	uint64_t end = rte_get_timer_cycles() + PATIENCE_S * rte_get_timer_hz();
	void *contexts[4];
	unsigned int i;

	while (!is_old(watched)) {
		send_one(2, TO);
		if (rte_get_timer_cycles() > end)
			die("a rule without frames does not grow old\n");
	}
	if (is_old(handle) || rte_flow_get_aged_flows(0, contexts, 4, NULL) != 1 || contexts[0] != &other)
		die("an age with frames is old\n");
	while (!is_old(handle)) {
		if (rte_get_timer_cycles() > end)
			die("an age without frames is not old\n");
	}
	if (rte_flow_get_aged_flows(0, contexts, 4, NULL) != 2 || (contexts[0] != &context && contexts[1] != &context))
		die("an age of two rules is not told once\n");
	update(handle, &(const struct rte_flow_update_age) { .timeout_valid = 1, .timeout = 0 });
	update(watched, &(const struct rte_flow_update_age) { .touch = 1 });
	if (is_old(handle) || is_old(watched) || rte_flow_get_aged_flows(0, NULL, 0, NULL) != 0)
		die("an age that ended, or was touched, is old\n");
	for (i = 0; i < RTE_DIM(flows); i++)
		destroy(flows[i], "a rule of AGE");
	gone(handle, "AGE");
	gone(watched, "AGE beside it");
}

static void
share_rss(void)
{
	const uint16_t first = 0, second = TO;
	const struct rte_flow_action rss = ACTION(RSS, CONF(rte_flow_action_rss, .queue_num = 1, .queue = &first));
	const struct rte_flow_action moved = ACTION(RSS, CONF(rte_flow_action_rss, .queue_num = 1, .queue = &second));
	const struct rte_flow_action bad = ACTION(RSS, CONF(rte_flow_action_rss, .queue_num = 0));
	struct rte_flow_action_handle *handle = made(&rss, "RSS");
	struct rte_flow *flows[] = { rule_with(handle, 1, false), rule_with(handle, 2, false) };
	struct rte_flow_error error = { 0 };
	uint16_t port;

	for (port = 1; port <= 2; port++)
		send_one(port, first);
	if (rte_flow_action_handle_update(0, handle, &bad, &error) != -EINVAL || error.cause != &bad ||
			error.type != RTE_FLOW_ERROR_TYPE_ACTION_CONF)
		die("RSS to no queues: type %d: %s\n", error.type, error.message);
	if (rte_flow_action_handle_update(0, handle, &moved, &error) != 0)
		die("update of RSS: %s\n", error.message);
	for (port = 1; port <= 2; port++)
		send_one(port, second);
	if (rte_flow_action_handle_query(0, handle, &port, &error) != -ENOTSUP)
		die("RSS is asked\n");
	destroy(flows[0], "a rule of RSS");
	destroy(flows[1], "a rule of RSS");
	gone(handle, "RSS");
}

static void
refuse_some(void)
{
	const struct rte_flow_indir_action_conf out = { .egress = 1 }, none = { .ingress = 0 };
	const struct rte_flow_action queue = ACTION(QUEUE, .conf = &to), count = ACTION(COUNT);
	const struct rte_flow_action unknown[] = { ACTION(DROP), ACTION(INDIRECT, .conf = (void *)(uintptr_t)12345), END_ACTION };
	struct rte_flow_error error = { 0 };

	if (rte_flow_action_handle_create(0, &direction, &queue, &error) != NULL || rte_errno != ENOTSUP || error.cause != &queue)
		die("an indirect QUEUE\n");
	if (rte_flow_action_handle_create(0, &out, &count, &error) != NULL || rte_errno != ENOTSUP || error.cause != &out)
		die("an indirect action of egress\n");
	if (rte_flow_action_handle_create(0, &none, &count, &error) != NULL || rte_errno != EINVAL || error.cause != &none)
		die("an indirect action of no direction\n");
	if (rte_flow_validate(0, &ingress, any_udp, unknown, &error) != -ENOENT || error.type != RTE_FLOW_ERROR_TYPE_ACTION ||
			error.cause != &unknown[1])
		die("a handle that is none: type %d: %s\n", error.type, error.message);
}

/* The same by a queue of operations. */
static void
share_in_a_queue(void)
{
	const struct rte_flow_action count = ACTION(COUNT);
	const struct rte_flow_op_attr at_once = { .postpone = 0 };
	struct rte_flow_query_count told = { .reset = 0 };
	struct rte_flow_op_result results[4];
	struct rte_flow_error error = { 0 };
	struct rte_flow_action_handle *handle;

	handle = rte_flow_async_action_handle_create(0, 0, &at_once, &direction, &count, &told, &error);
	if (handle == NULL || rte_flow_async_action_handle_query(0, 0, &at_once, handle, &told, &error, &error) != 0)
		die("asynchronous: %s\n", error.message);
	if (rte_flow_pull(0, 0, results, 4, &error) != 2 || results[0].user_data != &told || results[1].user_data != &error)
		die("results of operations on an indirect action\n");
	if (rte_flow_async_action_handle_destroy(0, 0, &at_once, handle, NULL, &error) != 0 || !told.hits_set ||
			rte_flow_async_action_handle_update(0, 0, &at_once, handle, &count, NULL, &error) != -ENOENT ||
			rte_flow_pull(0, 0, results, 4, &error) != 1)
		die("asynchronous: %s\n", error.message);
}

void
share_actions(void)
{
	share_count();
	share_age();
	share_rss();
	share_in_a_queue();
	refuse_some();
}
