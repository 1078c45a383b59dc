/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What port 0 can do, by what it tells of itself and what its calls answer: a line for each feature of DPDK's table, with Y or N.
 *
 *   features EAL-ARGUMENTS
 */
#define ALLOW_EXPERIMENTAL_API
#include "common.h"

static struct rte_eth_dev_info info;

static void
tell(const char *feature, bool has)
{
	printf("feature %-28s = %c\n", feature, has ? 'Y' : 'N');
}

static bool
rx(uint64_t offloads)
{
	return (info.rx_offload_capa & offloads) == offloads;
}

static bool
tx(uint64_t offloads)
{
	return (info.tx_offload_capa & offloads) == offloads;
}

static bool
is(int ret)
{
	return ret >= 0;
}

static void
offloads(void)
{
	tell("Scattered Rx", rx(RTE_ETH_RX_OFFLOAD_SCATTER));
	tell("Buffer split on Rx", rx(RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT));
	tell("LRO", rx(RTE_ETH_RX_OFFLOAD_TCP_LRO));
	tell("TSO", tx(RTE_ETH_TX_OFFLOAD_TCP_TSO));
	tell("VLAN filter", rx(RTE_ETH_RX_OFFLOAD_VLAN_FILTER));
	tell("VLAN offload", rx(RTE_ETH_RX_OFFLOAD_VLAN_STRIP) && tx(RTE_ETH_TX_OFFLOAD_VLAN_INSERT));
	tell("QinQ offload", rx(RTE_ETH_RX_OFFLOAD_QINQ_STRIP) || tx(RTE_ETH_TX_OFFLOAD_QINQ_INSERT));
	tell("L3 checksum offload", rx(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) && tx(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM));
	tell("L4 checksum offload", rx(RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM) &&
	     tx(RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM));
	tell("Inner L3 checksum", rx(RTE_ETH_RX_OFFLOAD_OUTER_IPV4_CKSUM));
	tell("Inner L4 checksum", rx(RTE_ETH_RX_OFFLOAD_OUTER_UDP_CKSUM));
	tell("Timestamp offload", rx(RTE_ETH_RX_OFFLOAD_TIMESTAMP));
	tell("MACsec offload", rx(RTE_ETH_RX_OFFLOAD_MACSEC_STRIP));
	tell("Inline crypto", rx(RTE_ETH_RX_OFFLOAD_SECURITY));
	tell("CRC offload", rx(RTE_ETH_RX_OFFLOAD_KEEP_CRC));
	tell("Fast mbuf free", tx(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE));
	tell("Lock-free Tx queue", tx(RTE_ETH_TX_OFFLOAD_MT_LOCKFREE));
}

static void
described(void)
{
	tell("Speed capabilities", info.speed_capa != 0);
	tell("VMDq", info.max_vmdq_pools > 0);
	tell("RSS hash", info.flow_type_rss_offloads != 0);
	tell("RSS key update", info.hash_key_size > 0);
	tell("RSS reta update", info.reta_size > 0);
	tell("Runtime Rx queue setup", (info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP) != 0);
	tell("Runtime Tx queue setup", (info.dev_capa & RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP) != 0);
	tell("Shared Rx queue", (info.dev_capa & RTE_ETH_DEV_CAPA_RXQ_SHARE) != 0);
	tell("Packet type parsing", rte_eth_dev_get_supported_ptypes(0, RTE_PTYPE_ALL_MASK, NULL, 0) > 0);
	tell("Link status event", (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0);
}

/* Whether the port starts at its own speed, and at no other. */
static bool
fixes_speed(void)
{
	struct rte_eth_conf conf = { .link_speeds = info.speed_capa | RTE_ETH_LINK_SPEED_FIXED };

	return is(rte_eth_dev_configure(0, 1, 1, &conf));
}

static void
answers(struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { .intr_conf.rxq = 1 };
	struct rte_power_monitor_cond condition;
	struct rte_ether_addr group = { { 1, 0, 0x5e, 0, 0, 9 } }, other = { { 2, 0, 0, 0, 0, 8 } };
	struct rte_eth_fc_conf flow_control;
	struct rte_dev_reg_info regs = { 0 };
	struct rte_eth_burst_mode mode;
	struct rte_eth_stats stats;
	struct rte_eth_link link;
	uint32_t fec;
	char text[64];

	tell("Link speed configuration", fixes_speed());
	tell("Rx interrupt", is(rte_eth_dev_configure(0, 1, 1, &conf)));
	if (rte_eth_rx_queue_setup(0, 0, 256, SOCKET_ID_ANY, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(0, 0, 256, SOCKET_ID_ANY, NULL) != 0)
		die("no queues\n");
	port_start(0);
	tell("Link status", is(rte_eth_link_get_nowait(0, &link)) && link.link_status);
	tell("Power mgmt address monitor", is(rte_eth_get_monitor_addr(0, 0, &condition)));
	tell("Free Tx mbuf on demand", is(rte_eth_tx_done_cleanup(0, 0, 0)));
	tell("Rx descriptor status", is(rte_eth_rx_descriptor_status(0, 0, 0)));
	tell("Tx descriptor status", is(rte_eth_tx_descriptor_status(0, 0, 0)));
	tell("Burst mode info", is(rte_eth_rx_burst_mode_get(0, 0, &mode)));
	tell("Queue start/stop", is(rte_eth_dev_rx_queue_stop(0, 0)) && is(rte_eth_dev_rx_queue_start(0, 0)));
	tell("MTU update", is(rte_eth_dev_set_mtu(0, 1400)));
	tell("Promiscuous mode", is(rte_eth_promiscuous_disable(0)));
	tell("Allmulticast mode", is(rte_eth_allmulticast_enable(0)));
	tell("Unicast MAC filter", is(rte_eth_dev_mac_addr_add(0, &other, 0)));
	tell("Multicast MAC filter", is(rte_eth_dev_set_mc_addr_list(0, &group, 1)));
	tell("Basic stats", is(rte_eth_stats_get(0, &stats)));
	tell("Extended stats", rte_eth_xstats_get_names(0, NULL, 0) > 30);
	tell("Stats per queue", (*info.dev_flags & RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS) != 0);
	tell("Registers dump", is(rte_eth_dev_get_reg_info(0, &regs)));
	tell("EEPROM dump", is(rte_eth_dev_get_eeprom_length(0)));
	tell("FW version", is(rte_eth_dev_fw_version_get(0, text, sizeof(text))));
	tell("Timesync", is(rte_eth_timesync_enable(0)));
	tell("Flow control", is(rte_eth_dev_flow_ctrl_get(0, &flow_control)));
	tell("Rate limitation", is(rte_eth_set_queue_rate_limit(0, 0, 100)));
	tell("LED", is(rte_eth_led_on(0)));
	tell("FEC", is(rte_eth_fec_get(0, &fec)));
	port_stop(0);
}

int
main(int argc, char **argv)
{
	struct rte_mempool *pool;

	if (rte_eal_init(argc, argv) < 0)
		die("EAL: %s\n", rte_strerror(rte_errno));
	pool = rte_pktmbuf_pool_create("mbufs", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL || rte_eth_dev_info_get(0, &info) != 0)
		die("no pool or no port\n");
	offloads();
	described();
	answers(pool);
	rte_eth_dev_close(0);
	rte_eal_cleanup();
	return 0;
}
