/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * Transmit offloads: checksums and the tags of VLANs. A card changes a frame on its way out, not in memory, where a clone may
 * share the bytes. So here the headers are copied to a slot, which lies beside the ring until the NIC core has read it, and
 * are changed there: a frame becomes the slot and what follows the headers in its mbufs.
 */

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "rxlab_tx.h"

#define ADDRESSES	(2 * RTE_ETHER_ADDR_LEN)	/* in front of a tag */

/* The ol_flags that a queue with these offloads acts on. */
uint64_t
rxlab_tx_edits(uint64_t offloads)
{
	uint64_t edits = 0;

	if (offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT)
		edits |= RTE_MBUF_F_TX_VLAN;
	if (offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM)
		edits |= RTE_MBUF_F_TX_IP_CKSUM;
	/* One field of two bits. */
	if (offloads & (RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM))
		edits |= RTE_MBUF_F_TX_L4_MASK;
	return edits;
}

/* Where the checksum of TCP or UDP lies behind the IP header; 0 if none is asked for. */
static uint16_t
l4_cksum_at(uint64_t flags)
{
	switch (flags & RTE_MBUF_F_TX_L4_MASK) {
	case RTE_MBUF_F_TX_TCP_CKSUM:
		return offsetof(struct rte_tcp_hdr, cksum);
	case RTE_MBUF_F_TX_UDP_CKSUM:
		return offsetof(struct rte_udp_hdr, dgram_cksum);
	default:
		return 0;
	}
}

/* Bytes of the frame that are changed, from its first on. */
static uint16_t
headers_of(const struct rte_mbuf *m, uint64_t flags)
{
	uint16_t at = l4_cksum_at(flags);

	if (at != 0)
		return m->l2_len + m->l3_len + at + sizeof(uint16_t);
	return flags & RTE_MBUF_F_TX_IP_CKSUM ? m->l2_len + m->l3_len : ADDRESSES;
}

/* Whether what a frame asks for can be done: its headers have the lengths that its mbuf says, and fit a slot. */
bool
rxlab_tx_can_edit(const struct rxlab_tx_queue *q, const struct rte_mbuf *m)
{
	uint64_t flags = m->ol_flags & q->edits;
	uint16_t headers = headers_of(m, flags);

	if (headers > m->pkt_len || headers > sizeof(q->slots->headers) - RTE_VLAN_HLEN)
		return false;
	if ((flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_SCTP_CKSUM)
		return false;
	if (flags & ~RTE_MBUF_F_TX_VLAN) {
		bool v4 = !(m->ol_flags & RTE_MBUF_F_TX_IPV6);

		return m->l2_len >= RTE_ETHER_HDR_LEN &&
			m->l3_len >= (v4 ? sizeof(struct rte_ipv4_hdr) : sizeof(struct rte_ipv6_hdr));
	}
	return true;
}

/* The sum over the pseudo header. A frame may be padded, so IP says how long the segment is: *len becomes that. */
static uint32_t
pseudo_sum(const struct rte_mbuf *m, const uint8_t *ip, uint32_t *len)
{
	uint8_t proto = (m->ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_TCP_CKSUM ? IPPROTO_TCP : IPPROTO_UDP;
	struct { uint32_t len; uint8_t zero[3]; uint8_t proto; } rest = { .proto = proto };
	uint32_t said, sum;

	if (m->ol_flags & RTE_MBUF_F_TX_IPV6) {
		const struct rte_ipv6_hdr *v6 = (const struct rte_ipv6_hdr *)ip;

		said = rte_be_to_cpu_16(v6->payload_len) + sizeof(*v6);
		sum = __rte_raw_cksum(&v6->src_addr, sizeof(v6->src_addr) + sizeof(v6->dst_addr), 0);
	} else {
		const struct rte_ipv4_hdr *v4 = (const struct rte_ipv4_hdr *)ip;

		said = rte_be_to_cpu_16(v4->total_length);
		sum = __rte_raw_cksum(&v4->src_addr, sizeof(v4->src_addr) + sizeof(v4->dst_addr), 0);
	}
	if (said >= m->l3_len)
		*len = RTE_MIN(*len, said - m->l3_len);
	rest.len = rte_cpu_to_be_32(*len);
	return __rte_raw_cksum(&rest, sizeof(rest), sum);
}

/* The sum over `len` bytes of a frame from `from` on. (rte_raw_cksum_mbuf of 22.11 loses a carry at odd borders of segments.) */
static uint32_t
sum_of(const struct rte_mbuf *m, uint32_t from, uint32_t len)
{
	uint32_t sum = 0, done = 0;

	for (; m != NULL && done < len; m = m->next) {
		uint32_t n = from < m->data_len ? RTE_MIN(m->data_len - from, len - done) : 0;
		uint16_t part = __rte_raw_cksum_reduce(__rte_raw_cksum(rte_pktmbuf_mtod_offset(m, void *, from), n, 0));

		sum += done & 1 ? rte_bswap16(part) : part;
		done += n;
		from -= RTE_MIN(from, (uint32_t)m->data_len);
	}
	return sum;
}

/* Sets the checksum behind the IP header that lies at `ip` in the slot. */
static void
set_l4_cksum(const struct rte_mbuf *m, uint8_t *ip, uint16_t at)
{
	uint32_t from = m->l2_len + m->l3_len, len = m->pkt_len - from, sum;
	uint16_t cksum, old;

	memcpy(&old, ip + m->l3_len + at, sizeof(old));
	sum = pseudo_sum(m, ip, &len);
	/* Less what the field has, which may be the sum over the pseudo header already. */
	sum += sum_of(m, from, len) + (uint16_t)~old;
	cksum = (uint16_t)~__rte_raw_cksum_reduce(sum);
	if (cksum == 0 && at == offsetof(struct rte_udp_hdr, dgram_cksum))
		cksum = UINT16_MAX;	/* 0 is: none was made */
	memcpy(ip + m->l3_len + at, &cksum, sizeof(cksum));
}

/* Copies the headers of a frame into a slot and changes them; bytes of the frame copied, *len with what was added. */
static uint16_t
edit(const struct rxlab_tx_queue *q, const struct rte_mbuf *m, struct rxlab_tx_slot *slot, uint16_t *len)
{
	uint64_t flags = m->ol_flags & q->edits;
	uint16_t headers = headers_of(m, flags), added = flags & RTE_MBUF_F_TX_VLAN ? RTE_VLAN_HLEN : 0;
	uint8_t *ip = slot->headers + added + m->l2_len;
	const uint8_t *bytes = rte_pktmbuf_read(m, 0, headers, slot->headers + added);

	if (bytes != slot->headers + added)
		memcpy(slot->headers + added, bytes, headers);
	if (added != 0) {
		uint16_t tag[2] = { rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN), rte_cpu_to_be_16(m->vlan_tci) };

		memmove(slot->headers, slot->headers + added, ADDRESSES);
		memcpy(slot->headers + ADDRESSES, tag, sizeof(tag));
	}
	if (flags & RTE_MBUF_F_TX_IP_CKSUM) {
		struct rte_ipv4_hdr *v4 = (struct rte_ipv4_hdr *)ip;

		v4->hdr_checksum = 0;
		v4->hdr_checksum = (uint16_t)~rte_raw_cksum(v4, m->l3_len);
	}
	if (l4_cksum_at(flags) != 0)
		set_l4_cksum(m, ip, l4_cksum_at(flags));
	*len = headers + added;
	return headers;
}

/* Descriptors of a frame that is changed: its slot, and each of its mbufs without what the slot has of it. */
static uint16_t
describe(struct rxlab_tx_queue *q, struct rte_mbuf *m, struct rxlab_segment *segs, uint16_t used)
{
	uint32_t index = (q->head + used) & q->mask;
	struct rxlab_tx_slot *slot = &q->slots[index];
	uint16_t tag = tx_tag(q, m), len, first = used;
	uint32_t skip = edit(q, m, slot, &len);

	if (tag != 0)
		memcpy(slot->tag, rte_pktmbuf_mtod(m, uint8_t *) - tag, sizeof(slot->tag));
	q->sw_ring[index] = NULL;
	segs[used++] = (struct rxlab_segment) {
		.buf = (uintptr_t)slot->headers - tag,
		.off = tag,
		.len = len,
	};
	do {
		uint16_t gone = (uint16_t)RTE_MIN(skip, (uint32_t)m->data_len);

		skip -= gone;
		q->sw_ring[(q->head + used) & q->mask] = m;
		segs[used++] = (struct rxlab_segment) {
			.buf = rte_pktmbuf_mtod_offset(m, uintptr_t, gone),
			.len = m->data_len - gone,
			.last = m->next == NULL,
		};
		m = m->next;
	} while (m != NULL);
	return used - first;
}

/* As tx_gather, for a queue with offloads: a frame that asks for one takes a descriptor more. */
static uint16_t
gather(struct rxlab_tx_queue *q, struct rte_mbuf **pkts, uint16_t n, struct rxlab_segment *segs, uint16_t *nb_segs)
{
	uint16_t used = 0, i;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		bool edited = (m->ol_flags & q->edits) != 0;
		uint16_t more = edited && (m->ol_flags & RTE_MBUF_F_TX_VLAN & q->edits) ? RTE_VLAN_HLEN : 0;

		if (unlikely(!tx_fits(q, m)) || m->nb_segs + edited > RXLAB_BURST - used)
			break;
		if (unlikely(edited && (m->pkt_len + more > RXLAB_MAX_FRAME || !rxlab_tx_can_edit(q, m))))
			break;
		used += edited ? describe(q, m, segs, used) : tx_describe(q, m, segs, used);
	}
	*nb_segs = used;
	return i;
}

/* A queue with offloads. */
uint16_t
rxlab_tx_pkt_burst_edit(void *txq, struct rte_mbuf **pkts, uint16_t n)
{
	return tx_burst(txq, pkts, n, gather);
}
