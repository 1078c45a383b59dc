/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Frames of the tests of rte_flow. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>

#define FRAME 160

/* A frame from its first byte on; zeros follow. */
struct frame {
	uint8_t bytes[FRAME];
	unsigned int len;
};

void append(struct frame *f, const void *bytes, unsigned int n);
void ether(struct frame *f, uint8_t source, uint16_t type);
void tag(struct frame *f, uint16_t tci, uint16_t type);
void ipv4(struct frame *f, uint8_t proto, uint8_t source);
void ipv6(struct frame *f, uint8_t proto, uint8_t source);
void udp(struct frame *f, uint16_t port);
void tcp(struct frame *f, uint16_t port, uint8_t flags);
void vxlan(struct frame *f, uint8_t vni);

/* n is 1 in the frame that matches, and 2 in the one that does not. */
void f_eth(struct frame *f, uint8_t n);
void f_ipv4(struct frame *f, uint8_t n);
void f_udp(struct frame *f, uint8_t n);
void f_l4(struct frame *f, uint8_t n);
void f_flags(struct frame *f, uint8_t n);
void f_ipv6(struct frame *f, uint8_t n);
void f_vlan(struct frame *f, uint8_t n);
void f_tagged(struct frame *f, uint8_t n);
void f_untagged(struct frame *f, uint8_t n);
void f_qinq(struct frame *f, uint8_t n);
void f_fragment(struct frame *f, uint8_t n);
void f_icmp(struct frame *f, uint8_t n);
void f_icmp6(struct frame *f, uint8_t n);
void f_sctp(struct frame *f, uint8_t n);
void f_mpls(struct frame *f, uint8_t n);
void f_gre(struct frame *f, uint8_t n);
void f_vxlan(struct frame *f, uint8_t n);
void f_inner(struct frame *f, uint8_t n);
void f_geneve(struct frame *f, uint8_t n);

#endif
