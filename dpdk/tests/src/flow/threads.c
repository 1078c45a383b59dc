/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Threads that change rules while frames flow. */

#include <pthread.h>

#include "flow.h"

#define CHANGERS 3
#define RULES 64
static atomic_bool stopped;

/* Adds and destroys rules of its own group, which leads frames where group 0 leads them as well. */
static void *
change(void *arg)
{
	const struct rte_flow_attr attr = { .ingress = 1, .group = 1 + (uint32_t)(uintptr_t)arg };
	struct rte_flow *flows[RULES] = { NULL };
	uint64_t done = 0, chance = attr.group;

	while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
		unsigned int i = draw(&chance) % RULES;
		const struct rte_flow_item items[] = { ITEM(ETH), ITEM(UDP, SPEC(rte_flow_item_udp, .hdr.dst_port = rte_cpu_to_be_16(i)),
			MASK(rte_flow_item_udp, .hdr.dst_port = UINT16_MAX)), END_ITEM };

		if (flows[i] == NULL)
			flows[i] = create(&attr, items, mark_and_queue, "a thread's rule");
		else {
			destroy(flows[i], "a thread's rule");
			flows[i] = NULL;
		}
		done++;
	}
	return (void *)(uintptr_t)done;
}

/* Frames of group 0's rule jump to a group that changes: each comes to the rules' queue, marked, or by RSS. */
void
change_under_traffic(void)
{
	const struct rte_flow_action jump[] = { ACTION(JUMP, CONF(rte_flow_action_jump, .group = 1)), END_ACTION };
	struct rte_flow *flow = create(&ingress, any_udp, jump, "jump");
	uint64_t end = rte_get_timer_cycles() + 3 * rte_get_timer_hz(), marked = 0, all = 0;
	struct rte_flow_error error = { 0 };
	pthread_t threads[CHANGERS];
	void *done;
	uintptr_t i;

	for (i = 0; i < CHANGERS; i++) {
		if (pthread_create(&threads[i], NULL, change, (void *)i) != 0)
			die("no thread\n");
	}
	while (rte_get_timer_cycles() < end) {
		struct frame f = { 0 };
		struct rte_mbuf *m;
		uint16_t queue;
		bool found;

		f_udp(&f, all++ % RULES);
		m = there_and_back(&f, &queue, "a frame among changes");
		found = m->ol_flags & RTE_MBUF_F_RX_FDIR_ID;
		if (found != (queue == TO) || (found && m->hash.fdir.hi != mark.id))
			die("queue %u, mark %d %u\n", queue, found, m->hash.fdir.hi);
		marked += found;
		rte_pktmbuf_free(m);
	}
	atomic_store(&stopped, true);
	for (i = 0; i < CHANGERS; i++) {
		if (pthread_join(threads[i], &done) != 0 || done == NULL)
			die("a thread has changed nothing\n");
		printf("thread %zu: %zu changes\n", (size_t)i, (size_t)(uintptr_t)done);
	}
	printf("%" PRIu64 " of %" PRIu64 " frames met a rule\n", marked, all);
	if (marked == 0 || marked == all)
		die("frames always or never met a rule\n");
	destroy(flow, "jump");
	if (rte_flow_flush(0, &error) != 0)
		die("flush: %s\n", error.message);
}
