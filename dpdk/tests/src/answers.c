/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * answers PATH...: the other side of links at these paths, by libccnic. It answers ARP and ICMP echo requests for any
 * address, until all links have ended; then it tells how many of each link. */
#include <errno.h>
#include <net/ethernet.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccnic.h"

enum { BURST = 32, LINKS = 16, LONGEST = 2048, PATIENCE_MS = 60000 };

static const unsigned char OWN[ETH_ALEN] = { 2, 0, 0, 0, 0, 3 };

struct link {
	struct ccnic_listener *listener;
	struct ccnic_channel *channel;
	unsigned long answered, ignored;
};

static void fail(const char *what)
{
	fprintf(stderr, "answers: %s: %s\n", what, ccnic_error());
	exit(1);
}

static void swap(void *a, void *b, size_t n)
{
	unsigned char held[16];

	memcpy(held, a, n);
	memcpy(a, b, n);
	memcpy(b, held, n);
}

/* Turns a request into its answer; 0 if it is none. */
static int answer(unsigned char *frame, size_t len)
{
	struct ether_header *ether = (void *)frame;
	struct ether_arp *arp = (void *)(frame + sizeof(*ether));
	struct iphdr *ip = (void *)(frame + sizeof(*ether));
	struct icmphdr *icmp;

	if (len >= sizeof(*ether) + sizeof(*arp) && ether->ether_type == htons(ETHERTYPE_ARP) &&
	    arp->arp_op == htons(ARPOP_REQUEST)) {
		arp->arp_op = htons(ARPOP_REPLY);
		swap(arp->arp_spa, arp->arp_tpa, 4);
		memcpy(arp->arp_tha, arp->arp_sha, ETH_ALEN);
		memcpy(arp->arp_sha, OWN, ETH_ALEN);
	} else if (len >= sizeof(*ether) + sizeof(*ip) + sizeof(*icmp) && ether->ether_type == htons(ETHERTYPE_IP) &&
		   ip->ihl == 5 && ip->protocol == IPPROTO_ICMP) {
		icmp = (void *)(ip + 1);
		if (icmp->type != ICMP_ECHO)
			return 0;
		icmp->type = ICMP_ECHOREPLY;
		/* One less in the first word (RFC 1624). The rest is what the sender's kernel summed up. */
		unsigned int sum = ntohs(icmp->checksum) + (ICMP_ECHO << 8);
		icmp->checksum = htons((uint16_t)(sum + (sum >> 16)));
		swap(&ip->saddr, &ip->daddr, 4);
	} else {
		return 0;
	}
	memcpy(ether->ether_dhost, ether->ether_shost, ETH_ALEN);
	memcpy(ether->ether_shost, OWN, ETH_ALEN);
	return 1;
}

/* Answers a burst in the buffers that it came in; how many segments came, negative at the link's end. */
static int serve(struct link *link)
{
	struct ccnic_segment segs[BURST];
	unsigned char bytes[LONGEST];
	int n = ccnic_rx_burst(link->channel, segs, BURST), i;

	for (i = 0; i < n; i++) {
		struct ccnic_segment *seg = &segs[i];

		/* A copy is judged. A frame of several segments is no request of this test. */
		if (seg->last && ccnic_read(link->channel, seg->buf, seg->off, bytes, seg->len) == 0 &&
		    answer(bytes, seg->len) && ccnic_write(link->channel, seg->buf, seg->off, bytes, seg->len) == 0 &&
		    ccnic_tx_burst(link->channel, seg, 1) == 1) {
			link->answered++;
		} else {
			ccnic_free(link->channel, &seg->buf, 1);
			link->ignored++;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	struct link links[LINKS] = { 0 };
	int count = argc - 1, left = count, i;

	if (count < 1 || count > LINKS)
		return 2;
	for (i = 0; i < count; i++)
		if (ccnic_listen(argv[1 + i], NULL, &links[i].listener) < 0)
			fail(argv[1 + i]);
	puts("answers: listens");
	fflush(stdout);
	for (i = 0; i < count; i++)
		if (ccnic_accept(links[i].listener, PATIENCE_MS, &links[i].channel) != 1)
			fail("nobody came");
	while (left > 0) {
		int moved = 0;

		for (i = 0; i < count; i++) {
			if (links[i].channel == NULL)
				continue;
			int n = serve(&links[i]);
			if (n == -EPIPE) {
				ccnic_close(links[i].channel);
				links[i].channel = NULL;
				left--;
			} else if (n < 0) {
				fail("receive");
			}
			moved |= n > 0;
		}
		if (!moved)
			sched_yield();
	}
	for (i = 0; i < count; i++) {
		printf("answers: link %d: %lu answered, %lu ignored\n", i, links[i].answered, links[i].ignored);
		ccnic_close_listener(links[i].listener);
	}
	return 0;
}
