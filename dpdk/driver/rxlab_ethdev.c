/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* The driver's face: probe and remove, configuration, the table of operations. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "channel/rxlab_channel.h"
#include "lower/rxlab_empties.h"

RTE_LOG_REGISTER(rxlab_logtype, pmd.net.rxlab, NOTICE);

struct rxlab_dev_list rxlab_devs = TAILQ_HEAD_INITIALIZER(rxlab_devs);

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void
rxlab_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
rxlab_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool
rxlab_trylock(void)
{
	return pthread_mutex_trylock(&lock) == 0;
}

int
rxlab_refuse(const struct rte_eth_dev *dev, const char *what)
{
	PMD_LOG(ERR, "%s: %s not supported", dev->data->name, what);
	return -ENOTSUP;
}

/* What no port of this driver does. */
int
rxlab_check_conf(const struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *conf = &dev->data->dev_conf;

	if (conf->rxmode.mq_mode != RTE_ETH_MQ_RX_NONE && conf->rxmode.mq_mode != RTE_ETH_MQ_RX_RSS)
		return rxlab_refuse(dev, "rxmode.mq_mode: DCB and VMDq are");
	if (conf->txmode.mq_mode != RTE_ETH_MQ_TX_NONE)
		return rxlab_refuse(dev, "txmode.mq_mode: DCB and VMDq are");
	return 0;
}

/* The link has one speed. A program may ask for that alone. */
static int
check_speed(const struct rxlab_dev *d, uint32_t speeds)
{
	uint32_t mine = rte_eth_speed_bitflag(d->speed, RTE_ETH_LINK_FULL_DUPLEX);

	if (!(speeds & RTE_ETH_LINK_SPEED_FIXED) || (speeds & ~RTE_ETH_LINK_SPEED_FIXED) == mine)
		return 0;
	PMD_LOG(ERR, "%s: link_speeds 0x%x: allowed as a fixed speed is that of the link, 0x%x, %u Mbps: link_speed sets it",
		rxlab_name(d), speeds, mine | RTE_ETH_LINK_SPEED_FIXED, d->speed);
	return -EINVAL;
}

static int
dev_configure(struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *conf = &dev->data->dev_conf;
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	int ret = rxlab_check_conf(dev);

	if (ret == 0)
		ret = check_speed(d, conf->link_speeds);
	if (ret != 0)
		return ret;
	if (conf->lpbk_mode > (d->source_kind == RXLAB_SOURCE_LOOP)) {
		PMD_LOG(ERR, "%s: lpbk_mode %u with source=%s: allowed is 0, or 1 with source=loop", rxlab_name(d),
			conf->lpbk_mode, d->source);
		return -ENOTSUP;
	}
	return rxlab_rss_configure(dev);
}

/*
 * ethdev has checked the limits. The rings of a started port need not change: what its bursts take is known, that is whether
 * a frame may lie in several mbufs, and of how many bytes each is.
 */
static int
mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	const struct rxlab_rx_queue *q;
	uint32_t room;
	int ret;

	if (!d->running || mtu == dev->data->mtu)
		return 0;
	/* The mempool of the port below has room for frames of the MTU at the start. */
	if (d->source_kind == RXLAB_SOURCE_PORT && mtu > d->start_mtu) {
		PMD_LOG(ERR, "%s: MTU %u: allowed while the port is started is up to %u, that of its start: stop the port first",
			rxlab_name(d), mtu, d->start_mtu);
		return -EBUSY;
	}
	q = dev->data->nb_rx_queues == 0 ? NULL : dev->data->rx_queues[0];
	if (q != NULL) {
		room = rte_pktmbuf_data_room_size(q->pool) - RTE_PKTMBUF_HEADROOM;
		room *= dev->data->scattered_rx ? RXLAB_MAX_SEGS : 1;
		if ((uint32_t)mtu + RXLAB_OVERHEAD > room) {
			PMD_LOG(ERR, "%s: MTU %u: allowed while the port is started %s is up to %u: stop the port first",
				rxlab_name(d), mtu, dev->data->scattered_rx ? "with scattered Rx" : "without scattered Rx",
				room - RXLAB_OVERHEAD);
			return -EBUSY;
		}
	}
	rxlab_lock();
	ret = rxlab_port_max_frame(d->port, mtu + RXLAB_OVERHEAD);
	rxlab_unlock();
	return ret;
}

/* ethdev has stopped the port, and the program configures it anew. What was set beside the configuration goes. */
static int
dev_reset(struct rte_eth_dev *dev)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	struct rxlab_flow_fault fault;
	int ret;

	rxlab_lock();
	ret = rxlab_flow_isolate(d->port, false, &fault);
	if (ret == 0)
		ret = rxlab_flow_flush(d->port, &fault);
	memset(d->vlans, 0, sizeof(d->vlans));
	d->admin_up = true;
	rxlab_unlock();
	if (ret == 0)
		ret = rxlab_set_mc_addr_list(dev, NULL, 0);
	if (ret == 0)
		ret = rxlab_stats_reset(dev);
	return ret;
}

static void
release_queues(struct rte_eth_dev *dev)
{
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++)
		rxlab_rx_queue_release(dev, i);
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		rxlab_tx_queue_release(dev, i);
}

/* Undoes what create() did, in whatever state it ended. Fails while the NIC core has the port in hand. */
static int
destroy(struct rxlab_dev *d)
{
	int ret;

	rxlab_pair_leave(d);
	rxlab_lower_free(d);
	rxlab_flow_ages_end(d);
	if (d->port != NULL) {
		ret = rxlab_port_free(d->port);
		if (ret != 0) {
			rxlab_flow_ages_begin(d);
			return ret;
		}
	}
	rxlab_flow_queues_free(d);
	rxlab_core_put(d->core);
	return 0;
}

static int
dev_close(struct rte_eth_dev *dev)
{
	struct rxlab_dev *d = rxlab_dev_of(dev);
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	rxlab_lock();
	TAILQ_REMOVE(&rxlab_devs, d, next);
	ret = rxlab_dev_stop(dev);
	if (ret == 0) {
		release_queues(dev);
		ret = destroy(d);
	}
	rxlab_unlock();
	/* Part of dev_private: ethdev must not free them. */
	dev->data->mac_addrs = NULL;
	if (ret != 0) {
		PMD_LOG(ERR, "%s: closed while its NIC core hangs: its memory is not freed", dev->data->name);
		dev->data->dev_private = NULL;
	}
	return ret;
}

static const struct eth_dev_ops ops = {
	.dev_configure = dev_configure,
	.dev_start = rxlab_dev_start,
	.dev_stop = rxlab_dev_stop,
	.dev_close = dev_close,
	.dev_reset = dev_reset,
	.dev_set_link_up = rxlab_set_link_up,
	.dev_set_link_down = rxlab_set_link_down,
	.link_update = rxlab_link_update,
	.promiscuous_enable = rxlab_promiscuous_enable,
	.promiscuous_disable = rxlab_promiscuous_disable,
	.allmulticast_enable = rxlab_allmulticast_enable,
	.allmulticast_disable = rxlab_allmulticast_disable,
	.mac_addr_set = rxlab_mac_addr_set,
	.mac_addr_add = rxlab_mac_addr_add,
	.mac_addr_remove = rxlab_mac_addr_remove,
	.set_mc_addr_list = rxlab_set_mc_addr_list,
	.mtu_set = mtu_set,
	.stats_get = rxlab_stats_get,
	.stats_reset = rxlab_stats_reset,
	.xstats_get = rxlab_xstats_get,
	.xstats_get_names = rxlab_xstats_get_names,
	.xstats_reset = rxlab_stats_reset,
	.dev_infos_get = rxlab_dev_infos_get,
	.dev_supported_ptypes_get = rxlab_supported_ptypes_get,
	.rxq_info_get = rxlab_rxq_info_get,
	.txq_info_get = rxlab_txq_info_get,
	.rx_burst_mode_get = rxlab_rx_burst_mode_get,
	.tx_burst_mode_get = rxlab_tx_burst_mode_get,
	.rx_queue_setup = rxlab_rx_queue_setup,
	.tx_queue_setup = rxlab_tx_queue_setup,
	.rx_queue_release = rxlab_rx_queue_release,
	.tx_queue_release = rxlab_tx_queue_release,
	.rx_queue_start = rxlab_rx_queue_start,
	.rx_queue_stop = rxlab_rx_queue_stop,
	.tx_queue_start = rxlab_tx_queue_start,
	.tx_queue_stop = rxlab_tx_queue_stop,
	.tx_done_cleanup = rxlab_tx_done_cleanup,
	.rss_hash_update = rxlab_rss_hash_update,
	.rss_hash_conf_get = rxlab_rss_hash_conf_get,
	.reta_update = rxlab_reta_update,
	.reta_query = rxlab_reta_query,
	.flow_ops_get = rxlab_flow_ops_get,
	.rx_queue_intr_enable = rxlab_rx_queue_intr_enable,
	.rx_queue_intr_disable = rxlab_rx_queue_intr_disable,
	.get_monitor_addr = rxlab_monitor_addr,
	.vlan_filter_set = rxlab_vlan_filter_set,
	.vlan_offload_set = rxlab_vlan_offload_set,
	.get_reg = rxlab_get_reg,
	.eth_dev_priv_dump = rxlab_priv_dump,
};

/* A secondary process reads; the rings belong to the primary. */
static const struct eth_dev_ops secondary_ops = {
	.dev_close = dev_close,
	.link_update = rxlab_link_update,
	.stats_get = rxlab_stats_get,
	.stats_reset = rxlab_stats_reset,
	.xstats_get = rxlab_xstats_get,
	.xstats_get_names = rxlab_xstats_get_names,
	.xstats_reset = rxlab_stats_reset,
	.dev_infos_get = rxlab_dev_infos_get,
	.dev_supported_ptypes_get = rxlab_supported_ptypes_get,
	.rss_hash_conf_get = rxlab_rss_hash_conf_get,
	.reta_query = rxlab_reta_query,
};

bool
rxlab_is_rxlab(const struct rte_eth_dev *dev)
{
	return dev->dev_ops == &ops || dev->dev_ops == &secondary_ops;
}

/* The rings lie in EAL memory, but what leads to them is of the primary process, and so is the NIC core. Said once. */
static uint16_t
no_burst(void *queue __rte_unused, struct rte_mbuf **pkts __rte_unused, uint16_t n __rte_unused)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		PMD_LOG(ERR, "a secondary process polls a queue or sends: it receives and sends nothing, for the rings belong to the "
			"primary process: allowed here are statistics, link and information");
	return 0;
}

static int
probe_secondary(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(rte_vdev_device_name(vdev));

	if (dev == NULL) {
		PMD_LOG(ERR, "%s: the primary process has no such port", rte_vdev_device_name(vdev));
		return -ENODEV;
	}
	if (*(const enum rxlab_kind *)dev->data->dev_private == RXLAB_KIND_CHANNEL) {
		rxlab_channel_attach(dev);
	} else {
		if (rxlab_dev_of(dev)->emulate)
			rxlab_empties_register();	/* to be able to list the mempools */
		dev->dev_ops = &secondary_ops;
	}
	dev->device = &vdev->device;
	dev->rx_pkt_burst = no_burst;
	dev->tx_pkt_burst = no_burst;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static void
set_bursts(struct rte_eth_dev *dev)
{
	rxlab_choose_bursts(dev);
	dev->tx_pkt_prepare = rxlab_tx_pkt_prepare;
	dev->rx_queue_count = rxlab_rx_queue_count;
	dev->rx_descriptor_status = rxlab_rx_descriptor_status;
	dev->tx_descriptor_status = rxlab_tx_descriptor_status;
}

/* What telemetry and secondary processes read, copied out of the library. */
static void
describe(struct rxlab_dev *d, const struct rxlab_conf *conf)
{
	static const char *const kinds[] = {
		[RXLAB_SOURCE_LOOP] = "loop",
		[RXLAB_SOURCE_GEN] = "gen",
		[RXLAB_SOURCE_PCAP] = "pcap",
		[RXLAB_SOURCE_PORT] = "port",
		[RXLAB_SOURCE_PAIR] = "pair",
	};
	const char *host, *level;

	d->source_kind = rxlab_args_source(conf->args);
	rxlab_args_source_name(conf->args, d->source_name, sizeof(d->source_name));
	snprintf(d->source, sizeof(d->source), "%s%s%s", kinds[d->source_kind], d->source_name[0] == '\0' ? "" : ":",
		d->source_name);
	rte_strscpy(d->iface, rxlab_args_iface(conf->args), sizeof(d->iface));
	for (d->nb_host = 0; d->nb_host < RXLAB_HOST_COUNTERS; d->nb_host++) {
		host = rxlab_host_counter_name(conf->args, d->nb_host);
		if (host == NULL)
			break;
		rte_strscpy(d->host_names[d->nb_host], host, sizeof(d->host_names[0]));
	}
	for (d->nb_levels = 0; d->nb_levels < RXLAB_LEVELS; d->nb_levels++) {
		level = rxlab_level_name(conf->args, d->nb_levels);
		if (level == NULL)
			break;
		rte_strscpy(d->level_names[d->nb_levels], level, sizeof(d->level_names[0]));
	}
}

/* Each mbuf with a tag before its frame bears a flag, which goes when the mbuf is free. */
static int
set_tags(struct rxlab_dev *d, const struct rxlab_conf *conf)
{
	static const struct rte_mbuf_dynflag flag = { .name = "rxlab_dynflag_tag" };
	int bit;

	RTE_BUILD_BUG_ON(RXLAB_TAG > RTE_PKTMBUF_HEADROOM);
	d->front = rxlab_args_front(conf->args);
	if (d->front == 0)
		return 0;
	bit = rte_mbuf_dynflag_register(&flag);
	if (bit < 0) {
		PMD_LOG(ERR, "%s: reorder=1 takes a flag of mbufs: %s", rxlab_name(d), rte_strerror(rte_errno));
		return -rte_errno;
	}
	d->tagged = RTE_BIT64(bit);
	return 0;
}

static int
create(struct rxlab_dev *d, const struct rxlab_conf *conf)
{
	struct rte_eth_dev *dev = d->eth_dev;
	char err[RXLAB_ERR_LEN] = "";
	int ret;

	d->core = rxlab_core_get(rxlab_name(d), conf);
	if (d->core == NULL)
		return -EINVAL;
	ret = rxlab_port_new(rxlab_core_nic(d->core), conf->args, rxlab_name(d), &d->now.nic, &d->port, err, sizeof(err));
	if (ret != 0) {
		PMD_LOG(ERR, "%s: %s", rxlab_name(d), err);
		return ret;
	}
	d->nic_cpu = rxlab_core_cpu(d->core);
	d->max_queues = conf->queues;
	d->nb_halves = rxlab_args_threads(conf->args);
	d->one_mbuf = rxlab_args_one_mbuf(conf->args);
	if (rxlab_max_rx_queues(d) < d->max_queues)
		PMD_LOG(NOTICE, "%s: threads=%u for each of queues=%u: allowed are %u for all: at most %u Rx queues",
			rxlab_name(d), d->nb_halves, d->max_queues, RXLAB_HALVES, rxlab_max_rx_queues(d));
	d->speed = rxlab_args_speed(conf->args);
	d->emulate = rxlab_args_emulate(conf->args);
	d->flow_rules = rxlab_flow_limit(d->port);
	d->flow_bytes = rxlab_flow_bytes(d->port);
	ret = set_tags(d, conf);
	if (ret != 0)
		return ret;
	d->port_id = dev->data->port_id;
	d->admin_up = true;
	describe(d, conf);
	if (conf->mac_given)
		d->macs[0] = conf->mac;
	else
		rte_eth_random_addr(d->macs[0].addr_bytes);
	dev->data->mac_addrs = d->macs;
	if (d->source_kind != RXLAB_SOURCE_PCAP && strcmp(d->source_name, rxlab_name(d)) == 0) {
		PMD_LOG(ERR, "%s: source=%s: allowed is another port", rxlab_name(d), d->source);
		return -EINVAL;
	}
	if (d->source_kind == RXLAB_SOURCE_PAIR)
		return rxlab_pair_join(d);
	if (d->source_kind == RXLAB_SOURCE_PORT)
		return rxlab_lower_new(d);
	return 0;
}

static int
probe_primary(struct rte_vdev_device *vdev, const struct rxlab_conf *conf)
{
	struct rte_eth_dev *dev;
	struct rxlab_dev *d;
	int ret;

	if (vdev->device.numa_node == SOCKET_ID_ANY)
		vdev->device.numa_node = (int)rte_socket_id();
	dev = rte_eth_vdev_allocate(vdev, sizeof(*d));
	if (dev == NULL) {
		PMD_LOG(ERR, "%s: no EAL memory or no port left", rte_vdev_device_name(vdev));
		return -ENOMEM;
	}
	d = rxlab_dev_of(dev);
	d->eth_dev = dev;
	rxlab_lock();
	ret = create(d, conf);
	if (ret != 0) {
		if (destroy(d) != 0)
			dev->data->dev_private = NULL;
		rxlab_unlock();
		dev->data->mac_addrs = NULL;
		rte_eth_dev_release_port(dev);
		return ret;
	}
	TAILQ_INSERT_TAIL(&rxlab_devs, d, next);
	dev->dev_ops = &ops;
	dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS |
		RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE;
	set_bursts(dev);
	rxlab_unlock();
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int
probe(struct rte_vdev_device *vdev)
{
	struct rxlab_conf conf;
	int ret;

	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return probe_secondary(vdev);
	ret = rxlab_conf_parse(rte_vdev_device_name(vdev), rte_vdev_device_args(vdev), &conf);
	if (ret != 0)
		return ret;
	ret = rxlab_args_is_channel(conf.args) ? rxlab_channel_probe(vdev, &conf) : probe_primary(vdev, &conf);
	rxlab_conf_free(&conf);
	return ret;
}

static int
remove_dev(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));
	int ret;

	if (dev == NULL)
		return 0;	/* closed already */
	/* A secondary process that closed its port finds it still, without operations. */
	ret = dev->dev_ops == NULL ? 0 : dev->dev_ops->dev_close(dev);
	rte_eth_dev_release_port(dev);
	return ret;
}

static struct rte_vdev_driver rxlab_driver = {
	.probe = probe,
	.remove = remove_dev,
};

RTE_PMD_REGISTER_VDEV(net_rxlab, rxlab_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_rxlab,
	"iface=<name>[:<parameter>:<value>[+<parameter>:<value>...]] "
	"queues=<1.." RTE_STR(RXLAB_QUEUES) "> "
	"ring=<int> "
	"ax=<int> "
	"shared=<1.." RTE_STR(RXLAB_QUEUES) "> "
	"group=<0.." RTE_STR(RXLAB_QUEUES) "> "
	"batch=<1.." RTE_STR(RXLAB_MAX_DESC) "> "
	"timeout_ns=<int> "
	"threads=<1.." RTE_STR(RXLAB_THREADS) "> "
	"refill=each|bulk "
	"reorder=0|1 "
	"source=loop|gen:<spec>|pcap:<file>|port:<name>|pair:<name> "
	"emulate=0|1 "
	"rx_rate=<rate> "
	"tx_rate=<rate> "
	"link_speed=<rate> "
	"flow_rules=<int> "
	"channel=<path> "
	"channel_role=either|listen|connect "
	"channel_conf=<size>:<value>[+<size>:<value>...] "
	"mac=<xx:xx:xx:xx:xx:xx> "
	"nic_cpu=<cpu> "
	"nic_idle=spin|yield|sleep "
	"nic_service=0|1");
