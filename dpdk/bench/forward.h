/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An L3 forwarder, after DPDK's l3fwd: longest-prefix match, TTL, MAC addresses. */
#ifndef FORWARD_H
#define FORWARD_H

#include <stdint.h>

#include <rte_mbuf.h>

#define MAX_ROUTES 64

struct route {
	uint32_t address; /* CPU's byte order */
	uint8_t depth;
	uint16_t port;
};

/* Where no route matches, or the frame is no IPv4 that may be forwarded. */
#define NO_ROUTE UINT16_MAX

/* Without routes all frames leave through port `otherwise`. Prints what fails and returns a negative errno. */
int forward_init(const struct route *routes, unsigned int n, uint16_t otherwise);
void forward_free(void);

/* Makes frames ready to be sent; the port of each. */
void forward(struct rte_mbuf *const *bufs, uint16_t n, uint16_t *ports);

#endif
