/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* RSS: key, hashed types and indirection table; the hash itself is the library's. */

#include <errno.h>
#include <string.h>

#include "rxlab.h"

#define RETA_SIZE	RXLAB_RETA

/* The key of the RSS specification, whose test vectors everybody knows. */
static const uint8_t default_key[RXLAB_KEY_DEFAULT_LEN] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
	0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
	0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/* Bits of struct rxlab_rss's hash. */
enum { HASH_IPV4 = 1, HASH_IPV4_PORTS = 2, HASH_IPV6 = 4, HASH_IPV6_PORTS = 8 };

/* The types of one row are hashed together: any of them switches on all. */
static const struct {
	uint32_t hash;
	uint64_t types;
} hash_types[] = {
	{ HASH_IPV4, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER },
	{ HASH_IPV4_PORTS, RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
		RTE_ETH_RSS_NONFRAG_IPV4_SCTP },
	{ HASH_IPV6, RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
		RTE_ETH_RSS_IPV6_EX },
	{ HASH_IPV6_PORTS, RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |
		RTE_ETH_RSS_NONFRAG_IPV6_SCTP | RTE_ETH_RSS_IPV6_TCP_EX | RTE_ETH_RSS_IPV6_UDP_EX },
};

uint64_t
rxlab_rss_types(void)
{
	uint64_t types = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++)
		types |= hash_types[i].types;
	return types;
}

uint32_t
rxlab_rss_hash_of(uint64_t types)
{
	uint32_t hash = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if (types & hash_types[i].types)
			hash |= hash_types[i].hash;
	}
	return hash;
}

static uint64_t
types_of(uint32_t hash)
{
	uint64_t types = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(hash_types); i++) {
		if (hash & hash_types[i].hash)
			types |= hash_types[i].types;
	}
	return types;
}

/* Makes rss the port's, or leaves the old one. */
static int
apply(struct rxlab_dev *d, const struct rxlab_rss *rss)
{
	char err[RXLAB_ERR_LEN] = "";
	int ret;

	rxlab_lock();
	ret = rxlab_port_rss(d->port, rss, err, sizeof(err));
	if (ret == 0)
		d->rss = *rss;
	else
		PMD_LOG(ERR, "%s: RSS: %s", rxlab_name(d), err);
	rxlab_unlock();
	return ret;
}

static int
set_conf(const struct rxlab_dev *d, const struct rte_eth_rss_conf *conf, struct rxlab_rss *rss)
{
	if (conf->rss_hf & ~rxlab_rss_types()) {
		PMD_LOG(ERR, "%s: RSS types 0x%" PRIx64 ": allowed are 0x%" PRIx64, rxlab_name(d), conf->rss_hf,
			rxlab_rss_types());
		return -EINVAL;
	}
	rss->hash = rxlab_rss_hash_of(conf->rss_hf);
	if (conf->rss_key == NULL)
		return 0;
	if (conf->rss_key_len < RXLAB_KEY_DEFAULT_LEN || conf->rss_key_len > sizeof(rss->key)) {
		PMD_LOG(ERR, "%s: an RSS key of %u bytes: allowed are %u to %zu", rxlab_name(d), conf->rss_key_len,
			RXLAB_KEY_DEFAULT_LEN, sizeof(rss->key));
		return -EINVAL;
	}
	memcpy(rss->key, conf->rss_key, conf->rss_key_len);
	rss->key_len = conf->rss_key_len;
	return 0;
}

/* At dev_configure: the application's key and types, queues in turn. Without RSS all goes to queue 0. */
int
rxlab_rss_configure(struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *conf = &dev->data->dev_conf;
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_rss rss = { .key_len = sizeof(default_key), .reta_len = RETA_SIZE };
	uint32_t i;

	memcpy(rss.key, default_key, sizeof(default_key));
	if (conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS) {
		if (set_conf(d, &conf->rx_adv_conf.rss_conf, &rss) != 0)
			return -EINVAL;
		for (i = 0; i < RETA_SIZE; i++)
			rss.reta[i] = (uint16_t)(i % RTE_MAX(dev->data->nb_rx_queues, 1));
	}
	return apply(d, &rss);
}

int
rxlab_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_rss rss = d->rss;

	if (set_conf(d, conf, &rss) != 0)
		return -EINVAL;
	return apply(d, &rss);
}

int
rxlab_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	const struct rxlab_rss *rss = &rxlab_dev_of(dev)->rss;

	conf->rss_hf = types_of(rss->hash);
	if (conf->rss_key != NULL)
		memcpy(conf->rss_key, rss->key, RTE_MIN(conf->rss_key_len, rss->key_len));
	conf->rss_key_len = (uint8_t)rss->key_len;
	return 0;
}

static int
check_reta_size(const struct rte_eth_dev *dev, uint16_t size)
{
	if (size == RETA_SIZE)
		return 0;
	PMD_LOG(ERR, "%s: a redirection table of %u entries: allowed are %u", dev->data->name, size, RETA_SIZE);
	return -EINVAL;
}

int
rxlab_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_rss rss = d->rss;
	uint32_t i;

	if (check_reta_size(dev, size) != 0)
		return -EINVAL;
	for (i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *group = &reta[i / RTE_ETH_RETA_GROUP_SIZE];

		if (!(group->mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1))
			continue;
		rss.reta[i] = group->reta[i % RTE_ETH_RETA_GROUP_SIZE];
		if (rss.reta[i] >= dev->data->nb_rx_queues) {
			PMD_LOG(ERR, "%s: redirection table: entry %u names queue %u: allowed is 0 to %u", rxlab_name(d), i,
				rss.reta[i], dev->data->nb_rx_queues - 1);
			return -EINVAL;
		}
	}
	return apply(d, &rss);
}

int
rxlab_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	uint32_t i;

	if (check_reta_size(dev, size) != 0)
		return -EINVAL;
	for (i = 0; i < size; i++) {
		struct rte_eth_rss_reta_entry64 *group = &reta[i / RTE_ETH_RETA_GROUP_SIZE];

		if (group->mask >> (i % RTE_ETH_RETA_GROUP_SIZE) & 1)
			group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = d->rss.reta[i];
	}
	return 0;
}
