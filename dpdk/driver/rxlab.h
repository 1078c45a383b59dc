/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * What the files of the driver share. The NIC itself, its rings and its core, is the Rust library behind
 * rxlab_pmd.h; this side is ethdev: mbufs, mempools, configuration, statistics.
 */
#ifndef RXLAB_H
#define RXLAB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_version.h>

#include <ethdev_driver.h>
#include <ethdev_vdev.h>

#include "rxlab_pmd.h"

#define RXLAB_ERR_LEN		512	/* bytes of an error's one line */
#define RXLAB_BURST		64	/* most frames and segments of one call into the library */
#define RXLAB_MIN_DESC		64	/* a burst of segments fits an empty ring */
#define RXLAB_MAX_DESC		32768
#define RXLAB_MAX_SEGS		32	/* mbufs of one sent frame */
#define RXLAB_MAX_FRAME		9728	/* bytes */
#define RXLAB_OVERHEAD		(RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
#define RXLAB_KEY_DEFAULT_LEN	40	/* bytes of an RSS key */
#define RXLAB_HOST_NAME_LEN	32
#define RXLAB_THREAD_IDS	(2 * RTE_MAX_LCORE)	/* of lcores, and of as many threads that are none */
#define RXLAB_NO_HALF		UINT8_MAX

#define RXLAB_RX_OFFLOADS	(RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH | \
				 RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_VLAN_FILTER)
#define RXLAB_TX_PLAIN		(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE)
/* Those that change the frame: done on the lcore that sends, see rxlab_tx_offloads.c. */
#define RXLAB_TX_EDITS		(RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | \
				 RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

extern int rxlab_logtype;
#define PMD_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_ ## level, rxlab_logtype, "net_rxlab: " fmt "\n", ##__VA_ARGS__)

/* What one thread has of a receive queue. */
struct rxlab_rx_half {
	struct rxlab_rxq *ring;		/* NULL while the queue is stopped */
	uint16_t nb_spares;
	void *spares[2 * RXLAB_BURST];	/* mbufs taken in bulk for the ring's refill */
	struct rte_mbuf *chain, *chain_end;	/* the first pieces of a scattered frame; NULL between frames */
} __rte_cache_aligned;

/* Receive queue; what a burst reads comes first. */
struct rxlab_rx_queue {
	struct rte_mempool *pool;
	uint64_t rearm;			/* data_off, refcnt, nb_segs and port of each received mbuf */
	uint64_t ol_flags[32];		/* by the flags of a completion: kind >> 16 */
	uint64_t *nombuf;		/* bursts whose ring wanted mbufs that the pool did not have */
	uint16_t front;			/* bytes before a frame that completions count */
	uint8_t half_of[RXLAB_THREAD_IDS + 1];	/* a thread's: 0 none yet, RXLAB_NO_HALF none left, else number + 1 */

	uint16_t nb_halves;
	uint16_t nb_taken;		/* halves that threads have */
	struct rxlab_dev *dev;
	uint16_t id;
	uint16_t nb_desc;
	bool deferred;
	unsigned int socket;
	struct rte_eth_rxconf conf;
	struct rxlab_rx_half halves[];
} __rte_cache_aligned;

/* Transmit queue. */
struct rxlab_tx_queue {
	struct rxlab_txq *ring;		/* NULL while the queue is stopped */
	/*
	 * The segments that the NIC may still read, in order of posting. Twice the ring's size: new ones are
	 * stored before the call that tells which of the old ones are free.
	 */
	struct rte_mbuf **sw_ring;
	uint32_t mask;
	uint32_t head, tail;		/* free running; [tail, head) are held */
	uint32_t done;			/* oldest of them that the NIC has read */
	uint64_t tagged;		/* ol_flag of mbufs with a tag before the frame; 0 if there are no tags */
	bool fast_free;
	bool passes;			/* emulate=1: descriptors name mbufs, which the NIC core hands on */
	uint64_t *refused;		/* frames that the ring cannot take: too long, too many segments */
	uint64_t edits;			/* ol_flags of frames that are changed on their way */
	struct rxlab_tx_slot *slots;	/* headers of changed frames, one for each entry of sw_ring; NULL without edits */

	struct rxlab_dev *dev;
	uint16_t id;
	uint16_t nb_desc;
	bool deferred;
	unsigned int socket;
	struct rte_eth_txconf conf;
} __rte_cache_aligned;

/* What a changed frame begins with: its headers, and the tag that may lie before them. */
struct rxlab_tx_slot {
	uint8_t tag[RXLAB_TAG];
	uint8_t headers[192 - RXLAB_TAG];
} __rte_cache_aligned;

/* Everything counted; secondary processes read it. */
struct rxlab_stats {
	struct rxlab_counters nic;
	uint64_t rx_nombuf[RXLAB_QUEUES];
	uint64_t tx_refused[RXLAB_QUEUES];
};

/* devargs that are not the library's. */
struct rxlab_conf {
	struct rxlab_args *args;
	int nic_cpu;			/* -1: not given */
	bool nic_service;
	bool idle_given;
	enum rxlab_idle idle;
	bool mac_given;
	struct rte_ether_addr mac;
	uint16_t queues;		/* most Rx and Tx queues */
};

struct rxlab_core;
struct rxlab_lower_port;

/* What a port of this driver is: the first member of its private data. */
enum rxlab_kind {
	RXLAB_KIND_CARD,		/* struct rxlab_dev */
	RXLAB_KIND_CHANNEL,		/* struct rxlab_channel_dev */
};

/* A port, in EAL memory. Behind the pointers lies memory of the primary process. */
struct rxlab_dev {
	enum rxlab_kind kind;
	struct rxlab_stats now;
	struct rxlab_stats base;	/* of the last reset */
	char host_names[RXLAB_HOST_COUNTERS][RXLAB_HOST_NAME_LEN];
	uint32_t nb_host;
	char level_names[RXLAB_LEVELS][RXLAB_HOST_NAME_LEN];
	uint32_t nb_levels;
	char iface[16];
	char source[64];
	int nic_cpu;			/* -1: a service core */
	uint16_t max_queues;
	uint16_t nb_halves;		/* of each Rx queue: threads that may poll it */
	uint16_t front;			/* bytes of a tag before each frame; 0 without */
	uint64_t tagged;		/* ol_flag of mbufs with one */
	bool emulate;
	bool strips;			/* the tags of VLANs */
	eth_rx_burst_t rx_below;	/* the burst that the one that strips calls */
	const char *one_mbuf;		/* why no frame may lie in several mbufs; NULL if it may */
	uint32_t speed;			/* of the link, in Mbps */
	uint32_t flow_rules;		/* the most */
	uint64_t flow_bytes;		/* that so many take, at most */
	uint16_t port_id;
	struct rte_ether_addr macs[RXLAB_MACS];
	struct rte_ether_addr groups[RXLAB_GROUPS];	/* of multicast */
	uint32_t nb_groups;
	struct rxlab_rss rss;
	uint64_t vlans[RXLAB_VLAN_WORDS];	/* that pass the filter: a bit each */

	/* Primary process only. */
	TAILQ_ENTRY(rxlab_dev) next;
	struct rte_eth_dev *eth_dev;
	struct rxlab_port *port;
	struct rxlab_core *core;
	struct rxlab_flow_queues *flow_queues;	/* of rte_flow's asynchronous operations */
	bool looks_ahead;		/* whether EAL will look for old flow rules */
	enum rxlab_source source_kind;
	char source_name[64];
	struct rxlab_dev *peer;		/* source=pair */
	struct rxlab_lower_port *lower;	/* source=port */
	struct rxlab_event *events;	/* of Rx queues, while started with Rx interrupts */
	void *memory;			/* of the rings, while started */
	uint16_t start_mtu;		/* of the last start */
	bool running;
	bool admin_up;			/* set_link_up, set_link_down */
};

TAILQ_HEAD(rxlab_dev_list, rxlab_dev);
extern struct rxlab_dev_list rxlab_devs;	/* of this process; under rxlab_lock */

/*
 * Serialises what the application's control calls, other ports' events and telemetry do. Recursive: an event may be
 * raised by a call that already holds it.
 */
void rxlab_lock(void);
void rxlab_unlock(void);
bool rxlab_trylock(void);

static inline struct rxlab_dev *
rxlab_dev_of(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

static inline const char *
rxlab_name(const struct rxlab_dev *d)
{
	return d->eth_dev->data->name;
}

/* A port has so many places for threads, and each of its Rx queues has as many as may poll it. */
static inline uint16_t
rxlab_max_rx_queues(const struct rxlab_dev *d)
{
	return RTE_MIN(d->max_queues, RXLAB_HALVES / d->nb_halves);
}

/* Whether a frame may lie in several mbufs. */
static inline uint64_t
rxlab_rx_offload_capa(const struct rxlab_dev *d)
{
	return RXLAB_RX_OFFLOADS | (d->one_mbuf == NULL ? RTE_ETH_RX_OFFLOAD_SCATTER : 0);
}

/* emulate=1 hands the application's mbufs to the port below: what would change them has no place. */
static inline uint64_t
rxlab_tx_offload_capa(const struct rxlab_dev *d)
{
	return RXLAB_TX_PLAIN | (d->emulate ? 0 : RXLAB_TX_EDITS);
}

bool rxlab_is_rxlab(const struct rte_eth_dev *dev);
int rxlab_refuse(const struct rte_eth_dev *dev, const char *what);
int rxlab_check_conf(const struct rte_eth_dev *dev);

/* rxlab_args.c */
int rxlab_conf_parse(const char *name, const char *params, struct rxlab_conf *conf);
void rxlab_conf_free(struct rxlab_conf *conf);

/* rxlab_core.c */
struct rxlab_core *rxlab_core_get(const char *name, const struct rxlab_conf *conf);
void rxlab_core_put(struct rxlab_core *core);
struct rxlab_nic_core *rxlab_core_nic(struct rxlab_core *core);
int rxlab_core_cpu(const struct rxlab_core *core);
void rxlab_core_check_service(struct rxlab_core *core, const char *name);

/* rxlab_debug.c */
int rxlab_priv_dump(struct rte_eth_dev *dev, FILE *file);
int rxlab_get_reg(struct rte_eth_dev *dev, struct rte_dev_reg_info *info);

/* rxlab_info.c */
int rxlab_dev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
/* The number of types was added by DPDK 24.03. */
#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
const uint32_t *rxlab_supported_ptypes_get(struct rte_eth_dev *dev);
#else
const uint32_t *rxlab_supported_ptypes_get(struct rte_eth_dev *dev, size_t *count);
#endif
void rxlab_rxq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info);
void rxlab_txq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_txq_info *info);
int rxlab_rx_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode);
int rxlab_tx_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode);

/* rxlab_start.c */
void rxlab_choose_bursts(struct rte_eth_dev *dev);
int rxlab_dev_start(struct rte_eth_dev *dev);
int rxlab_dev_stop(struct rte_eth_dev *dev);

/* rxlab_queue.c */
uint64_t rxlab_rearm_data(uint16_t port);
int rxlab_rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int rxlab_tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_txconf *conf);
void rxlab_rx_queue_release(struct rte_eth_dev *dev, uint16_t queue);
void rxlab_tx_queue_release(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_rx_queue_open(struct rxlab_rx_queue *q);
void rxlab_rx_queue_close(struct rxlab_rx_queue *q);
void rxlab_tx_queue_open(struct rxlab_tx_queue *q);
void rxlab_tx_queue_close(struct rxlab_tx_queue *q);
int rxlab_tx_queue_size(struct rxlab_tx_queue *q, uint16_t nb_desc);

/* rxlab_rxtx.c */
uint16_t rxlab_rx_pkt_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n);
uint16_t rxlab_rx_pkt_burst_shared(void *rxq, struct rte_mbuf **pkts, uint16_t n);
uint16_t rxlab_tx_pkt_burst(void *txq, struct rte_mbuf **pkts, uint16_t n);
uint16_t rxlab_tx_pkt_prepare(void *txq, struct rte_mbuf **pkts, uint16_t n);
int rxlab_rx_pkt_wait(struct rxlab_rx_queue *q, struct rte_mbuf **pkts, uint16_t n, uint32_t wait_us);
uint32_t rxlab_rx_queue_count(void *rxq);
int rxlab_rx_descriptor_status(void *rxq, uint16_t offset);
int rxlab_tx_descriptor_status(void *txq, uint16_t offset);
int rxlab_tx_done_cleanup(void *txq, uint32_t free_cnt);
void rxlab_tx_free(struct rxlab_tx_queue *q, uint32_t n);
void rxlab_tx_read(struct rxlab_tx_queue *q, uint32_t n);
void rxlab_put_bulk(void *const *mbufs, uint32_t n);

/* rxlab_rx_scatter.c */
uint16_t rxlab_rx_pkt_burst_scattered(void *rxq, struct rte_mbuf **pkts, uint16_t n);
uint16_t rxlab_rx_pkt_burst_strip(void *rxq, struct rte_mbuf **pkts, uint16_t n);

/* rxlab_tx_offloads.c */
uint64_t rxlab_tx_edits(uint64_t offloads);
bool rxlab_tx_can_edit(const struct rxlab_tx_queue *q, const struct rte_mbuf *m);
uint16_t rxlab_tx_pkt_burst_edit(void *txq, struct rte_mbuf **pkts, uint16_t n);

/* rxlab_interrupts.c */
int rxlab_interrupts_open(struct rxlab_dev *d);
void rxlab_interrupts_close(struct rxlab_dev *d);
int rxlab_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue);
int rxlab_monitor_addr(void *rxq, struct rte_power_monitor_cond *pmc);

/* rxlab_vlan.c */
int rxlab_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vlan, int on);
int rxlab_vlan_offload_set(struct rte_eth_dev *dev, int mask);
int rxlab_vlan_start(struct rxlab_dev *d);

/* rxlab_link.c */
int rxlab_link_update(struct rte_eth_dev *dev, int wait_to_complete);
void rxlab_link_set(struct rte_eth_dev *dev, bool up, uint32_t speed);
int rxlab_set_link_up(struct rte_eth_dev *dev);
int rxlab_set_link_down(struct rte_eth_dev *dev);
int rxlab_promiscuous_enable(struct rte_eth_dev *dev);
int rxlab_promiscuous_disable(struct rte_eth_dev *dev);
int rxlab_allmulticast_enable(struct rte_eth_dev *dev);
int rxlab_allmulticast_disable(struct rte_eth_dev *dev);
int rxlab_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr);
int rxlab_mac_addr_add(struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t index, uint32_t pool);
void rxlab_mac_addr_remove(struct rte_eth_dev *dev, uint32_t index);
int rxlab_set_mc_addr_list(struct rte_eth_dev *dev, struct rte_ether_addr *addrs, uint32_t n);
int rxlab_link_refresh(struct rxlab_dev *d);
int rxlab_pair_join(struct rxlab_dev *d);
void rxlab_pair_leave(struct rxlab_dev *d);

/* rxlab_rss.c */
int rxlab_rss_configure(struct rte_eth_dev *dev);
int rxlab_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int rxlab_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int rxlab_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size);
int rxlab_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size);
uint64_t rxlab_rss_types(void);
uint32_t rxlab_rss_hash_of(uint64_t types);

/* rxlab_flow.c */
struct rte_flow_ops;
int rxlab_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops);

/* rxlab_flow_ages.c */
void rxlab_flow_ages_begin(struct rxlab_dev *d);
void rxlab_flow_ages_end(struct rxlab_dev *d);

/* rxlab_flow_async.c */
void rxlab_flow_queues_free(struct rxlab_dev *d);

/* rxlab_stats.c */
uint64_t rxlab_count_since(const uint64_t *word, const uint64_t *base);
void rxlab_counts_reset(const uint64_t *now, uint64_t *base, size_t size);
/* A count since the last reset; word lies in d->now. */
uint64_t rxlab_since_reset(const struct rxlab_dev *d, const uint64_t *word);
uint64_t rxlab_rx_outcome(const struct rxlab_dev *d, uint16_t queue, uint32_t outcome);
int rxlab_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int rxlab_stats_reset(struct rte_eth_dev *dev);
int rxlab_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n);
int rxlab_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n);

/* rxlab_lower.c, source=port */
int rxlab_lower_new(struct rxlab_dev *d);
void rxlab_lower_free(struct rxlab_dev *d);
int rxlab_lower_start(struct rxlab_dev *d);
void rxlab_lower_stop(struct rxlab_dev *d);
bool rxlab_lower_started(const struct rxlab_dev *d);
bool rxlab_lower_link(const struct rxlab_dev *d);

#endif /* RXLAB_H */
