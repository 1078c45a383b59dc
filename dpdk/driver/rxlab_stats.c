/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Statistics: everything is counted in EAL memory for ever; a reset moves the base. Any process may read. */

#include <stdio.h>

#include "rxlab.h"

uint64_t
rxlab_count_since(const uint64_t *word, const uint64_t *base)
{
	/* The base is read first: the count never falls below it. Pairs with the store in rxlab_counts_reset. */
	uint64_t from = __atomic_load_n(base, __ATOMIC_ACQUIRE);

	return __atomic_load_n(word, __ATOMIC_RELAXED) - from;
}

void
rxlab_counts_reset(const uint64_t *now, uint64_t *base, size_t size)
{
	size_t i;

	/* Word by word: each is read whole while its writer goes on. */
	for (i = 0; i < size / sizeof(*now); i++)
		__atomic_store_n(&base[i], __atomic_load_n(&now[i], __ATOMIC_RELAXED), __ATOMIC_RELEASE);
}

uint64_t
rxlab_since_reset(const struct rxlab_dev *d, const uint64_t *word)
{
	return rxlab_count_since(word, RTE_PTR_ADD(&d->base, RTE_PTR_DIFF(word, &d->now)));
}

uint64_t
rxlab_rx_outcome(const struct rxlab_dev *d, uint16_t queue, uint32_t outcome)
{
	return rxlab_since_reset(d, &d->now.nic.rx[queue].outcome[outcome]);
}

static void
add_rx(const struct rxlab_dev *d, uint16_t q, struct rte_eth_stats *stats)
{
	uint64_t packets = rxlab_rx_outcome(d, q, RXLAB_OUTCOME_DELIVERED);
	uint64_t bytes = rxlab_since_reset(d, &d->now.nic.rx[q].bytes);
	uint64_t bad = rxlab_rx_outcome(d, q, RXLAB_OUTCOME_BAD_FRAME);
	uint64_t missed = rxlab_rx_outcome(d, q, RXLAB_OUTCOME_RING_FULL) +
		rxlab_rx_outcome(d, q, RXLAB_OUTCOME_NO_BUFFER) +
		rxlab_rx_outcome(d, q, RXLAB_OUTCOME_NIC_BUFFER_FULL) +
		rxlab_rx_outcome(d, q, RXLAB_OUTCOME_NIC_MEMORY_FULL) +
		rxlab_rx_outcome(d, q, RXLAB_OUTCOME_NO_CREDIT);

	stats->ipackets += packets;
	stats->ibytes += bytes;
	stats->imissed += missed;
	stats->ierrors += bad;
	stats->rx_nombuf += rxlab_since_reset(d, &d->now.rx_nombuf[q]);
	if (q < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		stats->q_ipackets[q] = packets;
		stats->q_ibytes[q] = bytes;
		stats->q_errors[q] = missed + bad;
	}
}

static void
add_tx(const struct rxlab_dev *d, uint16_t q, struct rte_eth_stats *stats)
{
	uint64_t packets = rxlab_since_reset(d, &d->now.nic.tx[q].packets);
	uint64_t bytes = rxlab_since_reset(d, &d->now.nic.tx[q].bytes);

	stats->opackets += packets;
	stats->obytes += bytes;
	stats->oerrors += rxlab_since_reset(d, &d->now.nic.tx[q].faults) + rxlab_since_reset(d, &d->now.tx_refused[q]);
	if (q < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		stats->q_opackets[q] = packets;
		stats->q_obytes[q] = bytes;
	}
}

int
rxlab_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	uint16_t q;

	stats->rx_nombuf = 0;
	for (q = 0; q < RXLAB_QUEUES; q++) {
		add_rx(d, q, stats);
		add_tx(d, q, stats);
	}
	return 0;
}

int
rxlab_stats_reset(struct rte_eth_dev *dev)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);

	rxlab_counts_reset((const uint64_t *)&d->now, (uint64_t *)&d->base, sizeof(d->now));
	return 0;
}

/* One extended statistic of a queue: its name after rx_qN_ or tx_qN_, and where queue 0 counts it. */
struct counter {
	const char *prefix;	/* of the name */
	const char *name;
	const uint64_t *word;
	size_t stride;		/* bytes to the next queue's */
};

static uint32_t
nb_rx_counters(const struct rxlab_dev *d)
{
	return RXLAB_OUTCOMES + 1 + d->nb_host;
}

static struct counter
rx_counter(const struct rxlab_dev *d, uint32_t i)
{
	const struct rxlab_stats *now = &d->now;

	if (i < RXLAB_OUTCOMES)
		return (struct counter) { "", rxlab_outcome_name(i), &now->nic.rx[0].outcome[i], sizeof(now->nic.rx[0]) };
	if (i == RXLAB_OUTCOMES)
		return (struct counter) { "", "failed_refills", &now->rx_nombuf[0], sizeof(now->rx_nombuf[0]) };
	i -= RXLAB_OUTCOMES + 1;
	return (struct counter) { "host_", d->host_names[i], &now->nic.host[0].value[i], sizeof(now->nic.host[0]) };
}

#define NB_TX_COUNTERS 3

static struct counter
tx_counter(const struct rxlab_dev *d, uint32_t i)
{
	const struct rxlab_stats *now = &d->now;

	if (i == 0)
		return (struct counter) { "", "faults", &now->nic.tx[0].faults, sizeof(now->nic.tx[0]) };
	if (i == 1)
		return (struct counter) { "", "refused", &now->tx_refused[0], sizeof(now->tx_refused[0]) };
	return (struct counter) { "", "reordered", &now->nic.tx[0].reordered, sizeof(now->nic.tx[0]) };
}

static uint64_t
counter_of(const struct rxlab_dev *d, const struct counter *c, uint16_t queue)
{
	return rxlab_since_reset(d, RTE_PTR_ADD(c->word, queue * c->stride));
}

static uint64_t
counter_sum(const struct rxlab_dev *d, const struct counter *c)
{
	uint64_t sum = 0;
	uint16_t q;

	for (q = 0; q < RXLAB_QUEUES; q++)
		sum += counter_of(d, c, q);
	return sum;
}

/* Where the extended statistics go: names, values, or neither to count them. */
struct sink {
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *xstats;
	unsigned int size;
	unsigned int n;
};

/* queue: -1 for the port's sum. */
static void
put(const struct rxlab_dev *d, struct sink *sink, const char *direction, int queue, const struct counter *c)
{
	unsigned int i = sink->n++;
	char where[16] = "";

	if (i >= sink->size)
		return;
	if (queue >= 0)
		snprintf(where, sizeof(where), "q%d_", queue);
	if (sink->names != NULL)
		snprintf(sink->names[i].name, sizeof(sink->names[i].name), "%s_%s%s%s", direction, where, c->prefix, c->name);
	if (sink->xstats != NULL) {
		sink->xstats[i].id = i;
		sink->xstats[i].value = queue < 0 ? counter_sum(d, c) : counter_of(d, c, (uint16_t)queue);
	}
}

/* What the card uses at the moment, and at the most since the start: no counts, so a reset changes nothing. */
static void
put_level(const struct rxlab_dev *d, struct sink *sink, uint32_t level)
{
	unsigned int i = sink->n++;

	if (i >= sink->size)
		return;
	if (sink->names != NULL)
		snprintf(sink->names[i].name, sizeof(sink->names[i].name), "rx_%s", d->level_names[level]);
	if (sink->xstats != NULL) {
		sink->xstats[i].id = i;
		sink->xstats[i].value = __atomic_load_n(&d->now.nic.levels[level], __ATOMIC_RELAXED);
	}
}

static int
walk(const struct rte_eth_dev *dev, struct sink *sink)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	uint32_t i;
	int q;

	for (q = -1; q < dev->data->nb_rx_queues; q++) {
		for (i = 0; i < nb_rx_counters(d); i++) {
			struct counter c = rx_counter(d, i);

			put(d, sink, "rx", q, &c);
		}
	}
	for (q = -1; q < dev->data->nb_tx_queues; q++) {
		for (i = 0; i < NB_TX_COUNTERS; i++) {
			struct counter c = tx_counter(d, i);

			put(d, sink, "tx", q, &c);
		}
	}
	for (i = 0; i < d->nb_levels; i++)
		put_level(d, sink, i);
	return (int)sink->n;
}

int
rxlab_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct sink sink = { .xstats = xstats, .size = n };

	return walk(dev, &sink);
}

int
rxlab_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	struct sink sink = { .names = names, .size = n };

	return walk(dev, &sink);
}
