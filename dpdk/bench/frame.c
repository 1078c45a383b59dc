/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The headers of frames: a UDP datagram between addresses that are set aside for benchmarks. */

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "frame.h"

void
frame_header_init(struct frame_header *header, uint16_t len)
{
	struct {
		struct rte_ether_hdr ether;
		struct rte_ipv4_hdr ip;
		struct rte_udp_hdr udp;
	} __rte_packed __rte_aligned(2) frame = {
		.ether = {
			.dst_addr.addr_bytes = { 2, 0, 0, 0, 0, 1 },
			.src_addr.addr_bytes = { 2, 0, 0, 0, 0, 2 },
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		},
		.ip = {
			.version_ihl = RTE_IPV4_VHL_DEF,
			.total_length = rte_cpu_to_be_16(len - sizeof(struct rte_ether_hdr)),
			.time_to_live = 64,
			.next_proto_id = IPPROTO_UDP,
			.src_addr = RTE_BE32(RTE_IPV4(198, 18, 0, 1)),
			.dst_addr = RTE_BE32(RTE_IPV4(198, 19, 0, 1)),
		},
		.udp = {
			.src_port = RTE_BE16(1024),
			.dst_port = RTE_BE16(9),
			.dgram_len = rte_cpu_to_be_16(len - sizeof(struct rte_ether_hdr) -
						      sizeof(struct rte_ipv4_hdr)),
		},
	};

	frame.ip.hdr_checksum = rte_ipv4_cksum(&frame.ip);
	memset(header, 0, sizeof(*header));
	memcpy(header, &frame, sizeof(frame));
}
