/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Results as lines of JSON. */

#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "rxbench.h"

void
report_ready(void)
{
	printf("{\"event\":\"ready\",\"tsc_hz\":%" PRIu64 ",\"timer_cycles\":%.2f}\n", rte_get_tsc_hz(),
	       timer_cycles());
	fflush(stdout);
}

void
report_event(const char *event)
{
	printf("{\"event\":\"%s\"}\n", event);
	fflush(stdout);
}

/* Spans in the unit that their mode is quoted in. */
static void
report_times(enum mode mode, const struct sample *s)
{
	double unit = mode == MODE_RTT ? 1e9 / rte_get_tsc_hz() : 1;

	printf(",\"timed\":%" PRIu64 ",\"min\":%.1f,\"p10\":%.1f,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,"
	       "\"p999\":%.1f,\"max\":%.1f,\"mean\":%.2f", s->timed, s->min * unit, s->p10 * unit, s->median * unit,
	       s->p90 * unit, s->p99 * unit, s->p999 * unit, s->max * unit, s->mean * unit);
}

static void
report_sample(unsigned int i, const struct task *task, unsigned int number)
{
	const struct sample *s = &task->results[number];
	double seconds = (double)s->cycles / rte_get_tsc_hz();

	printf("{\"event\":\"sample\",\"task\":%u,\"mode\":\"%s\",\"sample\":%u,\"seconds\":%.6f", i,
	       mode_names[task->mode], number, seconds);
	printf(",\"rx_mpps\":%.4f,\"rx_gbps\":%.4f,\"tx_mpps\":%.4f", s->rx_packets / seconds / 1e6,
	       s->rx_bytes * 8 / seconds / 1e9, s->tx_packets / seconds / 1e6);
	printf(",\"polls\":%" PRIu64 ",\"empty\":%" PRIu64 ",\"retries\":%" PRIu64 ",\"no_buffer\":%" PRIu64,
	       s->polls, s->empty, s->retries, s->no_buffer);
	printf(",\"bad\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"reordered\":%" PRIu64, s->bad, s->lost, s->reordered);
	if (task->mode == MODE_RTT || task->mode == MODE_RXCYCLES || task->mode == MODE_FWDCYCLES ||
	    task->mode == MODE_DRAIN)
		report_times(task->mode, s);
	printf("}\n");
}

void
report_samples(const struct options *options)
{
	unsigned int i, n;

	for (i = 0; i < options->n_tasks; i++)
		for (n = 0; n < options->tasks[i].taken; n++)
			report_sample(i, &options->tasks[i], n);
	report_event("measured");
}

/* An extended statistic; 0 where the driver has none of that name. */
static uint64_t
xstat(uint16_t port, const char *name)
{
	uint64_t id, value = 0;

	if (rte_eth_xstats_get_id_by_name(port, name, &id) != 0 || rte_eth_xstats_get_by_id(port, &id, &value, 1) != 1)
		return 0;
	return value;
}

void
report_stopped(const struct options *options)
{
	uint16_t port = options->tasks[0].rx_port;

	printf("{\"event\":\"stopped\",\"claims\":%" PRIu64 ",\"failed_claims\":%" PRIu64 "}\n",
	       xstat(port, "rx_host_claims"), xstat(port, "rx_host_failed_claims"));
	fflush(stdout);
}

void
report_end(unsigned int buffers_left)
{
	printf("{\"event\":\"end\",\"buffers_left\":%u}\n", buffers_left);
	fflush(stdout);
}
