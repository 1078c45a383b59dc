/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames that are written and read whole. Every word differs from frame to frame, and the words of a frame add up to
 * zero: the sum that a receiver takes, because it reads every byte, is its integrity check as well.
 */
#ifndef RXBENCH_FRAME_H
#define RXBENCH_FRAME_H

#include <stdint.h>
#include <string.h>

#define FRAME_MIN 64
#define FRAME_MAX 2048

/* Words of a frame: headers of Ethernet, IPv4 and UDP in the first 42 bytes, then these. */
#define FRAME_HEADER_WORDS 6
#define FRAME_SEQ 6     /* number of the frame */
#define FRAME_BALANCE 7 /* makes the sum zero */
#define FRAME_BODY 8

struct frame_header {
	uint64_t word[FRAME_HEADER_WORDS];
};

/* The headers of a frame of len bytes. */
void frame_header_init(struct frame_header *header, uint16_t len);

/* The bytes behind the last whole word, as a word. */
static inline uint64_t
frame_tail(const uint8_t *data, uint16_t len)
{
	uint64_t tail = 0;

	memcpy(&tail, data + (len & ~7u), len & 7);
	return tail;
}

/* Writes every byte of a frame of at least FRAME_MIN bytes; data is aligned to 8. */
static inline void
frame_write(uint8_t *data, uint16_t len, const struct frame_header *header, uint64_t seq)
{
	uint64_t *word = (uint64_t *)data;
	uint64_t first = seq * 0x9e3779b97f4a7c15u, sum = seq;
	unsigned int i, words = len / 8;

	for (i = 0; i < FRAME_HEADER_WORDS; i++) {
		word[i] = header->word[i];
		sum += header->word[i];
	}
	word[FRAME_SEQ] = seq;
	for (i = FRAME_BODY; i < words; i++) {
		word[i] = first + i;
		sum += first + i;
	}
	memcpy(data + words * 8, &first, len & 7);
	word[FRAME_BALANCE] = -(sum + frame_tail(data, len));
}

/* Reads every byte: the sum of all words. */
static inline uint64_t
frame_sum(const uint8_t *data, uint16_t len)
{
	const uint64_t *word = (const uint64_t *)data;
	unsigned int i, words = len / 8;
	uint64_t sum = frame_tail(data, len);

	for (i = 0; i < words; i++)
		sum += word[i];
	return sum;
}

#endif
