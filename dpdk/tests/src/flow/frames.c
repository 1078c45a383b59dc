/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Frames, header by header. */

#include <string.h>

#include "frames.h"

void
append(struct frame *f, const void *bytes, unsigned int n)
{
	memcpy(&f->bytes[f->len], bytes, n);
	f->len += n;
}

void
ether(struct frame *f, uint8_t source, uint16_t type)
{
	const uint8_t bytes[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, source, type >> 8, type };

	append(f, bytes, sizeof(bytes));
}

void
tag(struct frame *f, uint16_t tci, uint16_t type)
{
	const uint8_t bytes[] = { tci >> 8, tci, type >> 8, type };

	append(f, bytes, sizeof(bytes));
}

void
ipv4(struct frame *f, uint8_t proto, uint8_t source)
{
	const uint8_t bytes[] = { 0x45, 4, 0, FRAME - f->len, 0, 1, 0, 0, 64, proto, 0, 0, 10, 0, 0, source, 10, 0, 0, 99 };

	append(f, bytes, sizeof(bytes));
}

void
ipv6(struct frame *f, uint8_t proto, uint8_t source)
{
	const uint8_t bytes[40] = { 0x60, 0, 0, 5, 0, FRAME - 40 - f->len, proto, 64, 0xfd, [23] = source, [24] = 0xfd, [39] = 9 };

	append(f, bytes, sizeof(bytes));
}

void
udp(struct frame *f, uint16_t port)
{
	const uint8_t bytes[] = { 0x12, 0x34, port >> 8, port, 0, FRAME - f->len, 0, 0 };

	append(f, bytes, sizeof(bytes));
}

void
tcp(struct frame *f, uint16_t port, uint8_t flags)
{
	const uint8_t bytes[20] = { 0x12, 0x34, port >> 8, port, [12] = 0x50, [13] = flags };

	append(f, bytes, sizeof(bytes));
}

void
vxlan(struct frame *f, uint8_t vni)
{
	const uint8_t bytes[] = { 8, 0, 0, 0, 0, 0, vni, 0 };

	append(f, bytes, sizeof(bytes));
}

void f_eth(struct frame *f, uint8_t n) { ether(f, n, 0x0800); ipv4(f, 17, 9); udp(f, 9); }
void f_ipv4(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, 17, n); udp(f, 9); }
void f_udp(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, 17, 9); udp(f, n); }
void f_l4(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, n == 1 ? 6 : 17, 9); tcp(f, 9, 2); }
void f_flags(struct frame *f, uint8_t n) { ether(f, 9, 0x0800); ipv4(f, 6, 9); tcp(f, 9, n == 1 ? 2 : 16); }
void f_ipv6(struct frame *f, uint8_t n) { ether(f, 9, 0x86dd); ipv6(f, 6, n); tcp(f, 9, 2); }
void f_vlan(struct frame *f, uint8_t n) { ether(f, 9, 0x8100); tag(f, 0xa000 | n, 0x0800); ipv4(f, 17, 9); udp(f, 9); }
void f_tagged(struct frame *f, uint8_t n) { n == 1 ? f_vlan(f, 5) : f_udp(f, 5); }
void f_untagged(struct frame *f, uint8_t n) { n == 2 ? f_vlan(f, 5) : f_udp(f, 5); }

void
f_qinq(struct frame *f, uint8_t n)
{
	ether(f, 9, 0x88a8);
	tag(f, 5, 0x8100);
	tag(f, n, 0x0800);
	ipv4(f, 17, 9);
	udp(f, 9);
}

void
f_fragment(struct frame *f, uint8_t n)
{
	f_udp(f, 9);
	f->bytes[20] = n == 1 ? 0x20 : 0;
}

void
f_icmp(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { n == 1 ? 8 : 0, 0, 0, 0, 0, 7, 0, n };

	ether(f, 9, 0x0800);
	ipv4(f, 1, 9);
	append(f, bytes, sizeof(bytes));
}

void
f_icmp6(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { n == 1 ? 135 : 136, 0, 0, 0 };

	ether(f, 9, 0x86dd);
	ipv6(f, 58, 9);
	append(f, bytes, sizeof(bytes));
}

void
f_sctp(struct frame *f, uint8_t n)
{
	const uint8_t bytes[12] = { 0, 7, 0, 9, 0, 0, 0, n };

	ether(f, 9, 0x0800);
	ipv4(f, 132, 9);
	append(f, bytes, sizeof(bytes));
}

void
f_mpls(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { 0, n, 0x11, 64 };

	ether(f, 9, 0x8847);
	append(f, bytes, sizeof(bytes));
}

void
f_gre(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { 0x20, 0, 0x08, 0, 0, 0, 0, n };

	ether(f, 9, 0x0800);
	ipv4(f, 47, 9);
	append(f, bytes, sizeof(bytes));
	ipv4(f, 17, 5);
	udp(f, 9);
}

void
f_vxlan(struct frame *f, uint8_t n)
{
	f_udp(f, 9);
	f->bytes[36] = 4789 >> 8;
	f->bytes[37] = 4789 & 255;
	vxlan(f, n);
	f_ipv4(f, 5);
}

void
f_inner(struct frame *f, uint8_t n)
{
	f_vxlan(f, 5);
	f->bytes[f->len - 28 + 19] = n;
}

void
f_geneve(struct frame *f, uint8_t n)
{
	const uint8_t bytes[] = { 0, 0, 0x65, 0x58, 0, 0, n, 0 };

	f_udp(f, 9);
	f->bytes[36] = 6081 >> 8;
	f->bytes[37] = 6081 & 255;
	append(f, bytes, sizeof(bytes));
	f_ipv4(f, 5);
}
