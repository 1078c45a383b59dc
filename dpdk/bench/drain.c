/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * drain: the NIC fills a queue while nobody polls it, then stands still while all tasks of the queue empty it side by side.
 * So there is a CPU for each task even on a machine that has none left for the NIC, which must be a DPDK service.
 */

#include <stdatomic.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_service.h>

#include "rxbench.h"

#define SERVICE "net_rxlab_nic"
/* Turns of the NIC without a new frame after which the queue is full. */
#define IDLE_TURNS 8

static struct {
	atomic_uint arrived; /* tasks at the barrier, of all rounds */
	uint64_t filled;     /* frames of this round */
	uint64_t taken;      /* of all tasks before this round */
} round_now;

/* Until all n tasks have come; false if they were stopped. */
static bool
meet(unsigned int n)
{
	unsigned int mine = atomic_fetch_add_explicit(&round_now.arrived, 1, memory_order_acq_rel);
	unsigned int all = mine - mine % n + n;

	while ((int)(atomic_load_explicit(&round_now.arrived, memory_order_acquire) - all) < 0) {
		if (tasks_stopped())
			return false;
		rte_pause();
	}
	return true;
}

static uint64_t
taken(const struct task *first, unsigned int n)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		sum += *(const volatile uint64_t *)&first[i].now.rx_packets;
	return sum;
}

static void
fill(const struct task *task)
{
	int filled = 0, before, idle = 0;
	uint32_t service;

	if (rte_service_get_by_name(SERVICE, &service) != 0)
		return;
	rte_service_set_runstate_mapped_check(service, 0);
	while (idle < IDLE_TURNS && !tasks_stopped()) {
		before = filled;
		rte_service_run_iter_on_app_lcore(service, 0);
		filled = rte_eth_rx_queue_count(task->rx_port, task->rx_queue);
		idle = filled == before ? idle + 1 : 0;
	}
	round_now.filled = filled;
}

/*
 * One round of n tasks that lie one after the other from first. For the first of them the TSC cycles of DRAIN_FRAMES
 * frames, of the clock on the wall; 0 for the others, and where the tasks were stopped.
 */
uint32_t
drain_round(struct task *task, struct task *first, unsigned int n)
{
	uint64_t start;

	if (!meet(n))
		return 0;
	if (task == first) {
		round_now.taken = taken(first, n);
		fill(task);
	}
	if (!meet(n))
		return 0;
	start = rte_rdtsc();
	while (task_receive(task) != 0 || taken(first, n) - round_now.taken < round_now.filled)
		if (tasks_stopped())
			return 0;
	/* All frames are through, whoever had them. */
	if (task != first || round_now.filled == 0)
		return 0;
	return (uint32_t)((rte_rdtsc() - start) * DRAIN_FRAMES / round_now.filled);
}
