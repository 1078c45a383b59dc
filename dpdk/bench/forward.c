/* SPDX-License-Identifier: Apache-2.0 OR MIT */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lpm.h>

#include "forward.h"
#include "rxbench.h"

#define PREFETCH_AHEAD 3

static struct rte_lpm *lpm;
static struct rte_ether_hdr ether[MAX_PORTS];

static int
add(const struct route *route)
{
	int ret = rte_lpm_add(lpm, route->address, route->depth, route->port);

	if (ret != 0)
		fprintf(stderr, "rxbench: --route to port %u: %s\n", route->port, rte_strerror(-ret));
	return ret;
}

/* A port's frames go to 02:00:00:00:00:PORT, as l3fwd's. */
static void
set_ether(uint16_t port)
{
	struct rte_ether_hdr *e = &ether[port];

	*e = (struct rte_ether_hdr) { .dst_addr.addr_bytes = { 2, 0, 0, 0, 0, (uint8_t)port } };
	e->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	if (rte_eth_macaddr_get(port, &e->src_addr) != 0)
		rte_eth_random_addr(e->src_addr.addr_bytes);
}

int
forward_init(const struct route *routes, unsigned int n, uint16_t otherwise)
{
	const struct route everywhere[] = { { 0, 1, otherwise }, { RTE_IPV4(128, 0, 0, 0), 1, otherwise } };
	const struct rte_lpm_config config = { .max_rules = 1024, .number_tbl8s = 256 };
	unsigned int i;
	int ret = 0;

	lpm = rte_lpm_create("rxbench", SOCKET_ID_ANY, &config);
	if (lpm == NULL) {
		fprintf(stderr, "rxbench: routes: %s\n", rte_strerror(rte_errno));
		return -rte_errno;
	}
	if (n == 0) {
		routes = everywhere;
		n = RTE_DIM(everywhere);
	}
	for (i = 0; i < n && ret == 0; i++)
		ret = add(&routes[i]);
	for (i = 0; i < MAX_PORTS; i++)
		if (rte_eth_dev_is_valid_port(i))
			set_ether(i);
	return ret;
}

void
forward_free(void)
{
	rte_lpm_free(lpm);
	lpm = NULL;
}

static inline uint16_t
forward_one(struct rte_mbuf *m)
{
	struct rte_ether_hdr *e = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(e + 1);
	uint32_t port;

	/* RFC 1812 §5.2.2, as far as l3fwd goes; the checksum is the card's to verify. */
	if (e->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || m->pkt_len < sizeof(*e) + sizeof(*ip) ||
	    ip->version_ihl >> 4 != 4 || (ip->version_ihl & 0xf) < 5 ||
	    rte_be_to_cpu_16(ip->total_length) < sizeof(*ip) || ip->time_to_live <= 1)
		return NO_ROUTE;
	if (rte_lpm_lookup(lpm, rte_be_to_cpu_32(ip->dst_addr), &port) != 0)
		return NO_ROUTE;
	ip->time_to_live--;
	/* RFC 1141: one less in the sum's high byte is one more in its complement's. */
	ip->hdr_checksum += ip->hdr_checksum >= RTE_BE16(0xffff - 0x100) ? RTE_BE16(0x100) + 1 : RTE_BE16(0x100);
	*e = ether[port];
	return (uint16_t)port;
}

void
forward(struct rte_mbuf *const *bufs, uint16_t n, uint16_t *ports)
{
	uint16_t i;

	for (i = 0; i < n && i < PREFETCH_AHEAD; i++)
		rte_prefetch0(rte_pktmbuf_mtod(bufs[i], void *));
	for (i = 0; i < n; i++) {
		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(bufs[i + PREFETCH_AHEAD], void *));
		ports[i] = forward_one(bufs[i]);
	}
}
