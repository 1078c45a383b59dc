/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What the port can do and what it prefers. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rxlab.h"

#define PREFERRED_BURST		32
#define PREFERRED_TX_RING	1024
#define MIN_PREFERRED_RING	128
#define MAX_PREFERRED_RING	1024
#define BUFFER			2048	/* bytes of the usual mbuf's data room */

/* Bytes of the last-level cache; 0 if unknown. C libraries know it for few machines, Linux for most. */
static size_t
llc_bytes(void)
{
	char path[64];
	unsigned int level;

	for (level = 4; level > 1; level--) {
		unsigned long kib;
		FILE *file;
		int fields;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", level);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		fields = fscanf(file, "%luK", &kib);
		fclose(file);
		if (fields == 1)
			return kib * 1024;
	}
	return (size_t)RTE_MAX(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L);
}

/* Entries whose buffers take at most half of the LLC: beyond, what the NIC writes is gone before a core reads it. */
static uint16_t
preferred_ring(uint16_t queues)
{
	size_t entries = llc_bytes() / 2 / BUFFER / RTE_MAX(queues, 1);

	if (entries == 0)
		return MAX_PREFERRED_RING;
	entries = RTE_MIN(RTE_MAX(entries, (size_t)MIN_PREFERRED_RING), (size_t)MAX_PREFERRED_RING);
	return (uint16_t)rte_align32prevpow2((uint32_t)entries);
}

int
rxlab_dev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	const struct rte_eth_desc_lim limits = {
		.nb_max = RXLAB_MAX_DESC,
		.nb_min = RXLAB_MIN_DESC,
		.nb_align = 1,	/* set-up rounds up */
		.nb_seg_max = RXLAB_MAX_SEGS,
		.nb_mtu_seg_max = RXLAB_MAX_SEGS,
	};

	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_mtu = RXLAB_MAX_FRAME - RXLAB_OVERHEAD;
	info->min_rx_bufsize = RTE_ETHER_MIN_LEN;
	info->max_rx_pktlen = RXLAB_MAX_FRAME;
	info->max_rx_queues = rxlab_max_rx_queues(d);
	info->max_tx_queues = d->max_queues;
	info->max_mac_addrs = RTE_DIM(d->macs);
	info->rx_offload_capa = rxlab_rx_offload_capa(d);
	info->tx_offload_capa = rxlab_tx_offload_capa(d);
	info->tx_queue_offload_capa = info->tx_offload_capa;
	info->speed_capa = rte_eth_speed_bitflag(d->speed, RTE_ETH_LINK_FULL_DUPLEX);
	info->reta_size = RXLAB_RETA;
	info->hash_key_size = RXLAB_KEY_DEFAULT_LEN;
	info->flow_type_rss_offloads = rxlab_rss_types();
	info->rx_desc_lim = limits;
	info->tx_desc_lim = limits;
	info->default_rxportconf = (struct rte_eth_dev_portconf) {
		.burst_size = PREFERRED_BURST,
		.ring_size = preferred_ring(dev->data->nb_rx_queues),
		.nb_queues = 1,
	};
	info->default_txportconf = (struct rte_eth_dev_portconf) {
		.burst_size = PREFERRED_BURST,
		.ring_size = PREFERRED_TX_RING,
		.nb_queues = 1,
	};
	info->dev_capa &= ~(RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP | RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP);
	info->dev_capa |= RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP | RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP;
	return 0;
}

#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
const uint32_t *
rxlab_supported_ptypes_get(struct rte_eth_dev *dev __rte_unused)
#else
const uint32_t *
rxlab_supported_ptypes_get(struct rte_eth_dev *dev __rte_unused, size_t *count)
#endif
{
	/* Before DPDK 24.03, RTE_PTYPE_UNKNOWN is the end. */
	static const uint32_t ptypes[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L2_ETHER_ARP,
		RTE_PTYPE_L2_ETHER_VLAN,
		RTE_PTYPE_L2_ETHER_QINQ,
		RTE_PTYPE_L2_ETHER_MPLS,
		RTE_PTYPE_L3_IPV4,
		RTE_PTYPE_L3_IPV4_EXT,
		RTE_PTYPE_L3_IPV6,
		RTE_PTYPE_L3_IPV6_EXT,
		RTE_PTYPE_L4_FRAG,
		RTE_PTYPE_L4_ICMP,
		RTE_PTYPE_L4_IGMP,
		RTE_PTYPE_L4_NONFRAG,
		RTE_PTYPE_L4_SCTP,
		RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L4_UDP,
		RTE_PTYPE_TUNNEL_IP,
		RTE_PTYPE_TUNNEL_GRE,
		RTE_PTYPE_TUNNEL_VXLAN,
		RTE_PTYPE_TUNNEL_NVGRE,
		RTE_PTYPE_TUNNEL_GENEVE,
		RTE_PTYPE_TUNNEL_GTPC,
		RTE_PTYPE_TUNNEL_GTPU,
		RTE_PTYPE_UNKNOWN,
	};

#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
	*count = RTE_DIM(ptypes) - 1;
#endif
	return ptypes;
}

void
rxlab_rxq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info)
{
	const struct rxlab_rx_queue *q = dev->data->rx_queues[queue];

	info->mp = q->pool;
	info->conf = q->conf;
	info->nb_desc = q->nb_desc;
	info->rx_buf_size = rte_pktmbuf_data_room_size(q->pool) - RTE_PKTMBUF_HEADROOM;
	info->scattered_rx = dev->data->scattered_rx;
}

void
rxlab_txq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_txq_info *info)
{
	const struct rxlab_tx_queue *q = dev->data->tx_queues[queue];

	info->conf = q->conf;
	info->nb_desc = q->nb_desc;
}

static int
burst_mode(struct rte_eth_dev *dev, struct rte_eth_burst_mode *mode, const char *what, const char *more)
{
	mode->flags = RTE_ETH_BURST_FLAG_PER_QUEUE;
	snprintf(mode->info, sizeof(mode->info), "Scalar%s%s, %s", what, more, rxlab_dev_of(dev)->iface);
	return 0;
}

int
rxlab_rx_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue __rte_unused, struct rte_eth_burst_mode *mode)
{
	return burst_mode(dev, mode, dev->data->scattered_rx ? " Scattered" : "", rxlab_dev_of(dev)->strips ? " Strip" : "");
}

int
rxlab_tx_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode)
{
	const struct rxlab_tx_queue *q = dev->data->tx_queues[queue];

	return burst_mode(dev, mode, q->slots != NULL ? " Offloads" : "", "");
}
