/* wrong PATH: each call with arguments that are not allowed. It is an error with a line of text, and the link goes on. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccnic.h"

#define CHECK(what)                                                                                        \
	do {                                                                                               \
		if (!(what)) {                                                                             \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, ccnic_error());      \
			exit(1);                                                                           \
		}                                                                                          \
	} while (0)

/* The call fails with this number and a line that has this text. */
#define FAILS(call, number, text) CHECK((call) == -(number) && strstr(ccnic_error(), text) != NULL)

static const char *path;
static const char *const CONFIG = "ring=64,buffers=96,bytes=256";

static void *connect_there(void *channel)
{
	CHECK(ccnic_connect(path, CONFIG, channel) == 0);
	return NULL;
}

static void *differ(void *unused)
{
	struct ccnic_channel *channel = (void *)1;
	FAILS(ccnic_connect(path, "ring=128,buffers=96,bytes=256", &channel), EPROTONOSUPPORT, "ring 128 here, 64 there");
	CHECK(channel == NULL);
	return unused;
}

static void ends(struct ccnic_listener **listener)
{
	struct ccnic_channel *channel;
	FAILS(ccnic_listen(NULL, NULL, listener), EINVAL, "path is NULL");
	FAILS(ccnic_listen(path, NULL, NULL), EINVAL, "listener is NULL");
	FAILS(ccnic_listen(path, "ring=63", listener), EINVAL, "a ring of 63; allowed");
	FAILS(ccnic_listen(path, "rings=64", listener), EINVAL, "no size `rings`; allowed");
	FAILS(ccnic_listen(path, "\xff", listener), EINVAL, "no UTF-8");
	FAILS(ccnic_listen("/no/such/place", NULL, listener), EADDRNOTAVAIL, "/no/such");
	FAILS(ccnic_listen(path, NULL, (void *)((char *)listener + 1)), EINVAL, "not aligned");
	CHECK(*listener == NULL);
	FAILS(ccnic_connect(path, NULL, &channel), EADDRNOTAVAIL, path);
	FAILS(ccnic_connect(NULL, NULL, &channel), EINVAL, "path is NULL");
	FAILS(ccnic_connect(path, NULL, NULL), EINVAL, "channel is NULL");
	FAILS(ccnic_accept(NULL, 0, &channel), EINVAL, "listener is NULL");
	CHECK(ccnic_listen(path, CONFIG, listener) == 0);
	FAILS(ccnic_accept(*listener, 0, NULL), EINVAL, "channel is NULL");
	channel = (void *)1;
	CHECK(ccnic_accept(*listener, 0, &channel) == 0 && channel == NULL);
	ccnic_close(NULL);
	ccnic_close_listener(NULL);
	pthread_t other;
	CHECK(pthread_create(&other, NULL, differ, NULL) == 0);
	FAILS(ccnic_accept(*listener, -1, &channel), EPROTONOSUPPORT, "ring 64 here, 128 there");
	CHECK(pthread_join(other, NULL) == 0);
}

static void calls(struct ccnic_channel *here)
{
	uint64_t buf, one, two;
	struct ccnic_segment seg;
	char bytes[300] = { 0 };
	FAILS(ccnic_alloc(NULL, &buf, 1), EINVAL, "channel is NULL");
	FAILS(ccnic_alloc(here, NULL, 1), EINVAL, "bufs is NULL");
	FAILS(ccnic_alloc(here, (void *)1, 1), EINVAL, "not aligned");
	FAILS(ccnic_alloc(here, &buf, UINT32_MAX), EINVAL, "allowed: up to");
	FAILS(ccnic_free(NULL, &buf, 1), EINVAL, "channel is NULL");
	FAILS(ccnic_free(here, NULL, 1), EINVAL, "bufs is NULL");
	FAILS(ccnic_tx_burst(NULL, &seg, 1), EINVAL, "channel is NULL");
	FAILS(ccnic_tx_burst(here, NULL, 1), EINVAL, "segs is NULL");
	FAILS(ccnic_rx_burst(NULL, &seg, 1), EINVAL, "channel is NULL");
	FAILS(ccnic_rx_burst(here, NULL, 1), EINVAL, "segs is NULL");
	FAILS(ccnic_wait(NULL, &seg, 1, 0), EINVAL, "channel is NULL");
	FAILS(ccnic_wait(here, NULL, 1, 0), EINVAL, "segs is NULL");
	FAILS(ccnic_alive(NULL), EINVAL, "channel is NULL");
	FAILS(ccnic_reclaim(NULL), EINVAL, "channel is NULL");
	FAILS(ccnic_reclaim(here), EINVAL, "the other side is alive");
	FAILS(ccnic_bytes(NULL), EINVAL, "channel is NULL");
	FAILS(ccnic_buffers(NULL, &one, &two), EINVAL, "channel is NULL");
	FAILS(ccnic_buffers(here, NULL, &two), EINVAL, "free is NULL");
	FAILS(ccnic_buffers(here, &one, NULL), EINVAL, "held is NULL");
	CHECK(ccnic_alloc(here, NULL, 0) == 0 && ccnic_free(here, NULL, 0) == 0);
	CHECK(ccnic_tx_burst(here, NULL, 0) == 0 && ccnic_rx_burst(here, NULL, 0) == 0);
	CHECK(ccnic_wait(here, NULL, 0, -1) == 0);

	CHECK(ccnic_alloc(here, &buf, 1) == 1);
	FAILS(ccnic_write(NULL, buf, 0, bytes, 1), EINVAL, "channel is NULL");
	FAILS(ccnic_write(here, buf, 0, NULL, 1), EINVAL, "bytes is NULL");
	FAILS(ccnic_write(here, buf, 0, bytes, 257), ERANGE, "257 B at 0 of buffer");
	FAILS(ccnic_write(here, buf, UINT32_MAX, bytes, 2), ERANGE, "allowed: up to 256 B");
	FAILS(ccnic_write(here, UINT64_MAX, 0, bytes, 1), ERANGE, "allowed: up to 256 B");
	FAILS(ccnic_read(NULL, buf, 0, bytes, 1), EINVAL, "channel is NULL");
	FAILS(ccnic_read(here, buf, 0, NULL, 1), EINVAL, "bytes is NULL");
	FAILS(ccnic_read(here, buf, 250, bytes, 7), ERANGE, "7 B at 250");
	FAILS(ccnic_read(here, 96, 0, bytes, 1), ERANGE, "buffers below 96");
	CHECK(ccnic_write(here, buf, 256, NULL, 0) == 0 && ccnic_read(here, buf, 256, NULL, 0) == 0);

	CHECK(ccnic_buffer(NULL, buf, 0, 1) == NULL && strstr(ccnic_error(), "channel is NULL"));
	CHECK(ccnic_buffer(here, buf, 0, 257) == NULL && strstr(ccnic_error(), "257 B at 0"));
	CHECK(ccnic_buffer(here, buf, 257, 0) == NULL && ccnic_buffer(here, buf, 1, 256) == NULL);
	CHECK(ccnic_buffer(here, buf, 1, UINT32_MAX) == NULL && ccnic_buffer(here, 96, 0, 1) == NULL);
	CHECK(ccnic_buffer(here, UINT64_MAX, 0, 0) == NULL);
	char *place = ccnic_buffer(here, buf, 0, 256);
	CHECK(place != NULL && ccnic_buffer(here, buf, 255, 1) == place + 255);
	CHECK(ccnic_write(here, buf, 3, "abc", 3) == 0 && memcmp(place + 3, "abc", 3) == 0);

	seg = (struct ccnic_segment){ buf, 0, 8, 2 };
	FAILS(ccnic_tx_burst(here, &seg, 1), EINVAL, "segment 0: last is 2");
	seg = (struct ccnic_segment){ buf, 250, 8, 1 };
	FAILS(ccnic_tx_burst(here, &seg, 1), ERANGE, "8 B at 250");
	seg = (struct ccnic_segment){ 96, 0, 8, 1 };
	FAILS(ccnic_tx_burst(here, &seg, 1), ERANGE, "buffers below 96");
	CHECK(ccnic_free(here, (uint64_t[]){ 95, UINT64_MAX }, 2) == 0);
	CHECK(ccnic_buffers(here, &one, &two) == 0 && two == 1);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2 && strcmp(ccnic_error(), "") == 0);
	path = argv[1];
	struct ccnic_listener *listener;
	ends(&listener);
	struct ccnic_channel *here, *there;
	pthread_t other;
	CHECK(pthread_create(&other, NULL, connect_there, &there) == 0);
	CHECK(ccnic_accept(listener, -1, &here) == 1 && pthread_join(other, NULL) == 0);
	calls(here);

	/* All of that was nothing: a frame goes through. More room than it takes stays as it was said to be. */
	uint64_t buf;
	struct ccnic_segment got[100];
	CHECK(ccnic_alloc(here, &buf, 1) == 1 && ccnic_write(here, buf, 0, "frame", 5) == 0);
	CHECK(ccnic_tx_burst(here, &(struct ccnic_segment){ buf, 0, 5, 1 }, 1) == 1);
	CHECK(ccnic_rx_burst(there, got, 100) == 1 && got[0].len == 5 && got[0].last == 1);
	char bytes[5];
	CHECK(ccnic_read(there, got[0].buf, got[0].off, bytes, 5) == 0 && memcmp(bytes, "frame", 5) == 0);
	CHECK(ccnic_wait(there, got, 100, 10) == 0);
	ccnic_close(here);
	FAILS(ccnic_rx_burst(there, got, 100), EPIPE, "the other side is gone");
	FAILS(ccnic_tx_burst(there, NULL, 0), EPIPE, "the other side is gone");
	CHECK(ccnic_reclaim(there) > 0);
	ccnic_close(there);
	ccnic_close_listener(listener);
	return 0;
}
