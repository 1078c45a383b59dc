/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Statistics of a channel port: counted in EAL memory for ever; a reset moves the base. */

#include <stdio.h>

#include "rxlab_channel.h"

static uint64_t
since_reset(const struct rxlab_channel_dev *d, const uint64_t *word)
{
	return rxlab_count_since(word, RTE_PTR_ADD(&d->base, RTE_PTR_DIFF(word, &d->now)));
}

int
rxlab_channel_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	const struct rxlab_channel_dev *d = rxlab_channel_of(dev);

	stats->ipackets = stats->q_ipackets[0] = since_reset(d, &d->now.rx_packets);
	stats->ibytes = stats->q_ibytes[0] = since_reset(d, &d->now.rx_bytes);
	stats->ierrors = stats->q_errors[0] = since_reset(d, &d->now.rx_too_long);
	stats->rx_nombuf = since_reset(d, &d->now.rx_nombuf);
	stats->opackets = stats->q_opackets[0] = since_reset(d, &d->now.tx_packets);
	stats->obytes = stats->q_obytes[0] = since_reset(d, &d->now.tx_bytes);
	stats->oerrors = since_reset(d, &d->now.tx_refused);
	return 0;
}

int
rxlab_channel_stats_reset(struct rte_eth_dev *dev)
{
	struct rxlab_channel_dev *d = rxlab_channel_of(dev);

	rxlab_counts_reset((const uint64_t *)&d->now, (uint64_t *)&d->base, sizeof(d->now));
	return 0;
}

static const struct {
	const char *name;
	size_t offset;
} counters[] = {
	{ "rx_in_place", offsetof(struct rxlab_channel_stats, rx_in_place) },
	{ "tx_in_place", offsetof(struct rxlab_channel_stats, tx_in_place) },
	{ "rx_too_long", offsetof(struct rxlab_channel_stats, rx_too_long) },
	{ "tx_refused", offsetof(struct rxlab_channel_stats, tx_refused) },
	{ "links", offsetof(struct rxlab_channel_stats, links) },
};

int
rxlab_channel_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	const struct rxlab_channel_dev *d = rxlab_channel_of(dev);
	unsigned int i;

	for (i = 0; i < RTE_DIM(counters) && i < n; i++) {
		xstats[i].id = i;
		xstats[i].value = since_reset(d, RTE_PTR_ADD(&d->now, counters[i].offset));
	}
	return RTE_DIM(counters);
}

int
rxlab_channel_xstats_get_names(struct rte_eth_dev *dev __rte_unused, struct rte_eth_xstat_name *names, unsigned int n)
{
	unsigned int i;

	for (i = 0; names != NULL && i < RTE_DIM(counters) && i < n; i++)
		snprintf(names[i].name, sizeof(names[i].name), "%s", counters[i].name);
	return RTE_DIM(counters);
}
