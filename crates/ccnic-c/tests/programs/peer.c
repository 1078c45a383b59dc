/* peer listen|connect PATH CONFIG FRAMES: sends so many frames and receives as many, which another process sends by the
 * same rules. Frame n has n % 3 + 1 pieces. Its bytes follow from n and the place; the first piece begins with n and a
 * checksum of all bytes behind those. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccnic.h"

enum { HEAD = 12, BURST = 8, PIECES = 3, PATIENCE_MS = 60000 };

#define CHECK(what)                                                                                        \
	do {                                                                                               \
		if (!(what)) {                                                                             \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, ccnic_error());      \
			exit(1);                                                                           \
		}                                                                                          \
	} while (0)

static uint32_t pieces_of(uint64_t n) { return (uint32_t)(n % 3) + 1; }
static uint16_t off_of(uint64_t n) { return (uint16_t)(n % 41); }
static uint16_t len_of(uint64_t n, uint32_t piece) { return (uint16_t)(HEAD + (n * 7 + piece) % 190); }
static uint8_t byte_of(uint64_t n, uint32_t piece, uint32_t i) { return (uint8_t)(n * 31 + piece * 64 + i); }

/* FNV-1a. */
static uint32_t sum(uint32_t sum, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

/* The bytes of a piece. */
static void fill(uint64_t n, uint32_t piece, uint8_t *bytes)
{
	for (uint32_t i = 0; i < len_of(n, piece); i++)
		bytes[i] = byte_of(n, piece, i);
}

struct side {
	struct ccnic_channel *channel;
	uint64_t sent, got;
	/* Of frame `got`: pieces that came, the checksum that it has and the one that it says. */
	uint32_t came, have, said;
};

/* Writes frame n into `bufs` and tells of it in `segs`. By a copy, or in place. */
static void make(struct side *side, uint64_t n, const uint64_t *bufs, struct ccnic_segment *segs)
{
	uint8_t bytes[PIECES][256];
	uint32_t check = 2166136261u;
	for (uint32_t p = 0; p < pieces_of(n); p++) {
		fill(n, p, bytes[p]);
		uint32_t head = p == 0 ? HEAD : 0;
		check = sum(check, bytes[p] + head, len_of(n, p) - head);
	}
	memcpy(bytes[0], &n, 8);
	memcpy(bytes[0] + 8, &check, 4);
	for (uint32_t p = 0; p < pieces_of(n); p++) {
		segs[p] = (struct ccnic_segment){ bufs[p], off_of(n), len_of(n, p), p + 1 == pieces_of(n) };
		if (n % 2 == 0) {
			CHECK(ccnic_write(side->channel, bufs[p], off_of(n), bytes[p], len_of(n, p)) == 0);
		} else {
			void *place = ccnic_buffer(side->channel, bufs[p], off_of(n), len_of(n, p));
			CHECK(place != NULL);
			memcpy(place, bytes[p], len_of(n, p));
		}
	}
}

/* Sends a burst of frames; how many. */
static uint64_t push(struct side *side, uint64_t until)
{
	struct ccnic_segment segs[BURST * PIECES];
	uint64_t bufs[BURST * PIECES], first = side->sent;
	uint32_t n = 0;
	for (uint64_t f = first; f < until && f < first + BURST; f++) {
		int got = ccnic_alloc(side->channel, bufs + n, pieces_of(f));
		CHECK(got >= 0);
		if ((uint32_t)got < pieces_of(f)) {
			CHECK(ccnic_free(side->channel, bufs + n, (uint32_t)got) == 0);
			break;
		}
		make(side, f, bufs + n, segs + n);
		n += pieces_of(f);
	}
	int taken = ccnic_tx_burst(side->channel, segs, n);
	CHECK(taken >= 0 && (uint32_t)taken <= n);
	CHECK(ccnic_free(side->channel, bufs + taken, n - (uint32_t)taken) == 0);
	for (int i = 0; i < taken; i++)
		side->sent += segs[i].last;
	return side->sent - first;
}

/* Holds a piece to what it should be. */
static void judge(struct side *side, const struct ccnic_segment *seg)
{
	uint64_t n = side->got;
	uint8_t bytes[256], wanted[256];
	CHECK(seg->off == off_of(n) && seg->len == len_of(n, side->came));
	CHECK(seg->last == (side->came + 1 == pieces_of(n)));
	if (n % 2 == 0) {
		CHECK(ccnic_read(side->channel, seg->buf, seg->off, bytes, seg->len) == 0);
	} else {
		const void *place = ccnic_buffer(side->channel, seg->buf, seg->off, seg->len);
		CHECK(place != NULL);
		memcpy(bytes, place, seg->len);
	}
	uint32_t head = side->came == 0 ? HEAD : 0;
	if (head) {
		uint64_t number;
		memcpy(&number, bytes, 8);
		memcpy(&side->said, bytes + 8, 4);
		CHECK(number == n);
		side->have = 2166136261u;
	}
	side->have = sum(side->have, bytes + head, seg->len - head);
	fill(n, side->came, wanted);
	CHECK(memcmp(bytes + head, wanted + head, seg->len - head) == 0);
	CHECK(ccnic_free(side->channel, &seg->buf, 1) == 0);
	side->came++;
	if (seg->last) {
		CHECK(side->have == side->said);
		side->got++;
		side->came = 0;
	}
}

static void run(struct side *side, uint64_t frames)
{
	struct ccnic_segment segs[BURST];
	while (side->sent < frames || side->got < frames) {
		uint64_t sent = side->sent < frames ? push(side, frames) : 0;
		/* The other side ends with the last one, at once perhaps. */
		if (side->sent == frames && side->got == frames)
			break;
		/* Asleep where there is nothing to send; for a moment only where there is no room. */
		int patience = side->sent < frames ? 1 : PATIENCE_MS;
		int n = sent ? ccnic_rx_burst(side->channel, segs, BURST)
			     : ccnic_wait(side->channel, segs, BURST, patience);
		CHECK(n >= 0 && (n > 0 || sent || side->sent < frames));
		for (int i = 0; i < n; i++)
			judge(side, &segs[i]);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 5);
	const char *role = argv[1], *path = argv[2], *config = argv[3];
	uint64_t frames = strtoull(argv[4], NULL, 10);
	struct side side = { 0 };
	struct ccnic_listener *listener = NULL;
	if (strcmp(role, "listen") == 0) {
		CHECK(ccnic_listen(path, config, &listener) == 0);
		puts("it listens");
		fflush(stdout);
		CHECK(ccnic_accept(listener, PATIENCE_MS, &side.channel) == 1);
	} else {
		CHECK(ccnic_connect(path, config, &side.channel) == 0);
	}
	CHECK(ccnic_alive(side.channel) == 1 && ccnic_bytes(side.channel) == 256);
	run(&side, frames);

	/* The other side ends first. All buffers are here then. */
	struct ccnic_segment none;
	int n;
	while ((n = ccnic_wait(side.channel, &none, 1, PATIENCE_MS)) == 0)
		;
	CHECK(n == -EPIPE && ccnic_alive(side.channel) == 0 && ccnic_reclaim(side.channel) >= 0);
	uint64_t free_ones, held;
	CHECK(ccnic_buffers(side.channel, &free_ones, &held) == 0 && free_ones == 96 && held == 0);
	ccnic_close(side.channel);
	ccnic_close_listener(listener);
	return 0;
}
