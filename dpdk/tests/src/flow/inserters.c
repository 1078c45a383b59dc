/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * Four threads insert rules and one destroys some of them, while this core forwards what it receives. No frame is lost,
 * and in the end the rules are there that nobody destroyed, and no others.
 */

#include <pthread.h>

#include "flow.h"

#define INSERTERS 4
#define EACH 500	/* of which the first and every third after it are destroyed */
#define CIRCLING 64	/* frames under way */

static struct rte_flow *flows[INSERTERS][EACH];
static struct rte_ring *doomed;
static atomic_uint inserting;
static atomic_ulong forwarded;

static rte_be32_t
source_of(unsigned int thread, unsigned int n)
{
	return rte_cpu_to_be_32(RTE_IPV4(11, thread, n / 256, n % 256));
}

static void
frame_of(struct frame *f, unsigned int thread, unsigned int n)
{
	const rte_be32_t source = source_of(thread, n);

	f_udp(f, 9);
	memcpy(&f->bytes[26], &source, sizeof(source));
}

static void *
insert(void *arg)
{
	unsigned int thread = (unsigned int)(uintptr_t)arg, n;

	for (n = 0; n < EACH; n++) {
		const struct rte_flow_item items[] = { ITEM(ETH), ITEM(IPV4, SPEC(rte_flow_item_ipv4,
			.hdr.src_addr = source_of(thread, n)), MASK(rte_flow_item_ipv4, .hdr.src_addr = UINT32_MAX)), END_ITEM };

		/* However CPUs are shared, frames are forwarded between insertions. */
		while (atomic_load(&forwarded) < n)
			sched_yield();
		flows[thread][n] = create(&ingress, items, mark_and_queue, "a rule of four threads");
		while (n % 3 == 0 && rte_ring_enqueue(doomed, flows[thread][n]) != 0)
			sched_yield();
	}
	atomic_fetch_sub(&inserting, 1);
	return NULL;
}

static void *
destroy_some(void *arg __rte_unused)
{
	uintptr_t n = 0;
	void *flow;

	for (;;) {
		bool last = atomic_load(&inserting) == 0;

		if (rte_ring_dequeue(doomed, &flow) == 0) {
			destroy(flow, "one of four threads' rules");
			n++;
		} else if (last) {
			return (void *)n;
		} else {
			sched_yield();
		}
	}
}

/* Receives and sends once; how many frames came. Frames of a rule come to its queue, marked. */
static unsigned int
forward(bool back)
{
	struct rte_mbuf *mbufs[BURST];
	unsigned int all = 0;
	uint16_t queue, n, i;

	for (queue = 0; queue < QUEUES; queue++) {
		n = rte_eth_rx_burst(0, queue, mbufs, BURST);
		for (i = 0; i < n; i++) {
			bool marked = mbufs[i]->ol_flags & RTE_MBUF_F_RX_FDIR_ID;

			if (marked != (queue == TO) || (marked && mbufs[i]->hash.fdir.hi != mark.id))
				die("queue %u, mark %d\n", queue, marked);
		}
		all += n;
		for (i = 0; back && i < n; )
			i += rte_eth_tx_burst(0, 0, &mbufs[i], n - i);
		if (!back)
			rte_pktmbuf_free_bulk(mbufs, n);
	}
	return all;
}

static void
send_circling(void)
{
	unsigned int n;

	for (n = 0; n < CIRCLING; n++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		struct frame f = { 0 };

		frame_of(&f, n % INSERTERS, n * 7 % EACH);
		if (m == NULL)
			die("no mbuf\n");
		memcpy(rte_pktmbuf_append(m, FRAME), f.bytes, FRAME);
		while (rte_eth_tx_burst(0, 0, &m, 1) != 1)
			;
	}
}

/* All rules by their names, some by a frame: one at a time they take long. */
static void
check_rules(void)
{
	unsigned int thread, n;

	for (thread = 0; thread < INSERTERS; thread++) {
		for (n = 0; n < EACH; n++) {
			bool there = n % 3 != 0;
			struct frame f = { 0 };
			uint64_t before = there ? count_of(flows[thread][n], false, "a rule that was kept").hits : 0;

			if (n % 16 < 2) {
				frame_of(&f, thread, n);
				must_come(&f, there ? TO : 0, there ? (int64_t)mark.id : -1, "a rule of four threads");
				if (there && count_of(flows[thread][n], false, "a rule that was kept").hits != before + 1)
					die("rule %u of thread %u has not counted its frame\n", n, thread);
			}
			if (there)
				destroy(flows[thread][n], "a rule of four threads");
			else if (rte_flow_destroy(0, flows[thread][n], NULL) != -ENOENT)
				die("rule %u of thread %u is still there\n", n, thread);
		}
	}
}

void
insert_from_four(void)
{
	pthread_t threads[INSERTERS], destroyer;
	uint64_t end;
	unsigned int left = CIRCLING;
	void *destroyed;
	uintptr_t i;

	doomed = rte_ring_create("doomed", 1024, SOCKET_ID_ANY, RING_F_SC_DEQ);
	if (doomed == NULL)
		die("no ring\n");
	atomic_store(&inserting, INSERTERS);
	send_circling();
	for (i = 0; i < INSERTERS; i++) {
		if (pthread_create(&threads[i], NULL, insert, (void *)i) != 0)
			die("no thread\n");
	}
	if (pthread_create(&destroyer, NULL, destroy_some, NULL) != 0)
		die("no thread\n");
	while (atomic_load(&inserting) != 0)
		atomic_fetch_add(&forwarded, forward(true));
	for (i = 0; i < INSERTERS; i++)
		pthread_join(threads[i], NULL);
	if (pthread_join(destroyer, &destroyed) != 0 || (uintptr_t)destroyed != INSERTERS * ((EACH + 2) / 3))
		die("%zu rules were destroyed\n", (size_t)(uintptr_t)destroyed);
	end = rte_get_timer_cycles() + 10 * rte_get_timer_hz();
	while (left > 0) {
		left -= forward(false);
		if (rte_get_timer_cycles() > end)
			die("%u of %u frames are lost\n", left, CIRCLING);
	}
	printf("%lu frames were forwarded while %d threads inserted\n", atomic_load(&forwarded), INSERTERS);
	check_rules();
	rte_ring_free(doomed);
}
