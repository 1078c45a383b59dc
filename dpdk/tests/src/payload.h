/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Numbered frames with a checksum over all that follows their headers.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <rte_hash_crc.h>
#include <rte_ip.h>

#include "common.h"

#define MIN_FRAME 74
#define MAX_FRAME 1514

/* What a frame carries after its headers; filler follows up to its end. */
struct payload {
	uint64_t seq;
	uint32_t flow;
	uint32_t crc;	/* of flow, seq and the filler */
	uint16_t len;	/* of the frame */
} __rte_packed;

static inline uint32_t
payload_checksum(const struct payload *p, uint32_t filler)
{
	const uint8_t *bytes = (const uint8_t *)(p + 1);
	uint32_t crc = rte_hash_crc_8byte(p->seq, p->flow);

	return rte_hash_crc(bytes, filler, crc);
}

static inline void
payload_fill(uint8_t *bytes, uint32_t n, uint64_t value)
{
	for (; n >= 8; n -= 8, bytes += 8) {
		value = value * 6364136223846793005 + 1442695040888963407;
		memcpy(bytes, &value, 8);
	}
	memset(bytes, (int)value, n);
}

/* Most frames are short; the others have every length up to the longest. */
static inline uint16_t
frame_length(uint64_t random)
{
	return MIN_FRAME + (random & 7 ? random >> 32 & 63 : (random >> 32) % (MAX_FRAME - MIN_FRAME + 1));
}

/* Writes frame number seq of a flow into an empty mbuf. */
static inline void
payload_write(struct rte_mbuf *m, const struct headers *headers, uint32_t flow, uint64_t seq, uint64_t random)
{
	uint16_t len = frame_length(random);
	uint8_t *frame = (uint8_t *)rte_pktmbuf_append(m, len);
	struct payload *p = (struct payload *)(frame + ETHER_IP_UDP);
	uint32_t filler = len - ETHER_IP_UDP - sizeof(*p);

	headers_write(frame, headers, len);
	p->seq = seq;
	p->flow = flow;
	p->len = len;
	payload_fill((uint8_t *)(p + 1), filler, random);
	p->crc = payload_checksum(p, filler);
}

/* Moves the end of a frame to a second mbuf: the driver has to gather it, or the receiver to take two. */
static inline void
payload_split(struct rte_mbuf *m, struct rte_mempool *pool)
{
	struct rte_mbuf *tail = rte_pktmbuf_alloc(pool);
	uint16_t at = 50;

	if (tail == NULL)
		return;
	memcpy(rte_pktmbuf_append(tail, m->data_len - at), rte_pktmbuf_mtod_offset(m, void *, at), m->data_len - at);
	rte_pktmbuf_trim(m, m->data_len - at);
	rte_pktmbuf_chain(m, tail);
}

/* What a received frame carries; NULL if it is not as it was written. */
static inline const struct payload *
payload_of(const struct rte_mbuf *m)
{
	const struct payload *p = rte_pktmbuf_mtod_offset(m, const struct payload *, ETHER_IP_UDP);

	if (m->nb_segs != 1 || m->pkt_len != m->data_len || m->data_len < MIN_FRAME || p->len != m->data_len ||
	    payload_checksum(p, p->len - ETHER_IP_UDP - sizeof(*p)) != p->crc)
		return NULL;
	return p;
}

/* --- what the test programs ask of arguments and statistics --- */

/* The number after an option's name, of those after "--". */
static inline uint64_t
option(int argc, char **argv, const char *name, uint64_t otherwise)
{
	char *end;
	uint64_t value;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], name) != 0)
			continue;
		value = strtoull(argv[i + 1], &end, 0);
		if (*argv[i + 1] == '\0' || *end != '\0')
			die("%s %s: a number is allowed\n", name, argv[i + 1]);
		return value;
	}
	return otherwise;
}

/* An extended statistic of a port. */
static inline uint64_t
xstat(uint16_t port, const char *name)
{
	uint64_t id, value;

	if (rte_eth_xstats_get_id_by_name(port, name, &id) != 0 || rte_eth_xstats_get_by_id(port, &id, &value, 1) != 1)
		die("port %u has no statistic %s\n", port, name);
	return value;
}

/* Frames that a port did not deliver, for whatever reason. */
static inline uint64_t
drops(uint16_t port)
{
	static const char * const names[] = {
		"rx_ring_full", "rx_no_buffer", "rx_nic_buffer_full", "rx_no_credit", "rx_bad_frame", "rx_queue_stopped",
		"rx_filtered", "rx_link_down", "rx_nic_memory_full",
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++)
		sum += xstat(port, names[i]);
	return sum;
}

#endif
