/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * One Rx queue that several threads poll. The client, the first worker lcore, sends numbered frames into port 0 and gets
 * them back from there. Port 1, joined to it, has one Rx queue: all other lcores receive from it at a time, and each
 * sends on by a Tx queue of its own. Meanwhile the main lcore makes forwarders pause and go on (COREC turned off and on),
 * and stops and starts the queue or the port.
 *
 * Every frame is accounted for: it comes back once and whole, or a driver has counted it as dropped, or it was in a queue
 * that was stopped. What the driver counts as reordered is what the client sees.
 *
 *   shared EAL-ARGUMENTS -- [--packets N] [--stops 0|1|2] [--plain 0|1] [--refused N] [--seed N]
 *
 * --stops 1 stops and starts the queue, 2 the port; --plain 1 adds a forwarder that is no lcore; --refused N
 * forwarders are more than may poll the queue, and must receive nothing.
 */
#include <pthread.h>

#include "payload.h"

#define FLOWS 64
#define MAX_FORWARDERS 8
#define WINDOW 512	/* frames under way, as long as the client does not overload the queue */
#define CLIENT 0	/* its port */
#define SERVER 1
#define RX_DESC 1024
#define TX_DESC 1024
#define CLIENT_DESC 8192	/* takes all that comes back while the client has no CPU */

struct forwarder {
	int id;
	atomic_bool paused;
	uint64_t forwarded;
} __rte_cache_aligned;

static struct forwarder forwarders[MAX_FORWARDERS];
static int n_forwarders;
static struct rte_mempool *pool;
static atomic_bool finish;

/* The client's. */
static struct headers headers[FLOWS];
static uint64_t packets, sent, received, doubled, corrupted, reordered;
static uint64_t expected[FLOWS];	/* RFC 4737: one more than the highest number that came back */
static uint64_t *seen;			/* a bit for each number */
static uint64_t random_state;

static void
forward(struct forwarder *f)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = rte_eth_rx_burst(SERVER, 0, mbufs, BURST), done = 0;

	f->forwarded += n;
	while (done < n) {
		done += rte_eth_tx_burst(SERVER, f->id, mbufs + done, n - done);
		if (done < n)
			sched_yield();
	}
	/* Forwarders, the client and the NIC core share CPUs. */
	if (n == 0)
		sched_yield();
}

static int
forwarder_main(void *arg)
{
	struct forwarder *f = arg;

	while (!atomic_load_explicit(&finish, memory_order_relaxed)) {
		if (!gate_pass(&gates[SERVER][RX][f->id]) || atomic_load_explicit(&f->paused, memory_order_relaxed))
			sched_yield();
		else
			forward(f);
	}
	return 0;
}

static void *
plain_main(void *arg)
{
	forwarder_main(arg);
	return NULL;
}

static void
client_send(void)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t i, taken;

	if (rte_pktmbuf_alloc_bulk(pool, mbufs, BURST) != 0)
		return;
	for (i = 0; i < BURST; i++) {
		uint64_t random = draw(&random_state);
		uint32_t flow = (random >> 16) % FLOWS;

		payload_write(mbufs[i], &headers[flow], flow, sent + i, random);
	}
	taken = rte_eth_tx_burst(CLIENT, 0, mbufs, BURST);
	/* The numbers of those that were not taken are used again. */
	rte_pktmbuf_free_bulk(mbufs + taken, BURST - taken);
	sent += taken;
}

static void
client_check(const struct rte_mbuf *m)
{
	const struct payload *p = payload_of(m);
	uint64_t bit;

	received++;
	if (p == NULL || p->flow >= FLOWS || p->seq >= sent) {
		corrupted++;
		return;
	}
	bit = UINT64_C(1) << (p->seq % 64);
	doubled += (seen[p->seq / 64] & bit) != 0;
	seen[p->seq / 64] |= bit;
	if (p->seq < expected[p->flow])
		reordered++;
	else
		expected[p->flow] = p->seq + 1;
}

static int
client_main(void *arg __rte_unused)
{
	uint64_t quiet = 0, patience = rte_get_timer_hz(), lost = 0;
	struct rte_mbuf *mbufs[BURST];
	uint16_t i, n;

	while (!atomic_load_explicit(&finish, memory_order_relaxed)) {
		/* One part in eight without a window: the driver has to drop. */
		bool overload = (sent >> 14 & 7) == 7;

		if (sent < packets && (overload || sent - received - lost < WINDOW))
			client_send();
		n = rte_eth_rx_burst(CLIENT, 0, mbufs, BURST);
		for (i = 0; i < n; i++)
			client_check(mbufs[i]);
		rte_pktmbuf_free_bulk(mbufs, n);
		if (n != 0) {
			quiet = 0;
			continue;
		}
		sched_yield();
		if (quiet == 0)
			quiet = rte_get_timer_cycles();
		if (rte_get_timer_cycles() - quiet < patience / 20)
			continue;
		/* Nothing for 50 ms: what is under way will not come. At the end, for a second. */
		lost = sent - received;
		if (sent >= packets && rte_get_timer_cycles() - quiet > patience)
			return 0;
	}
	return 0;
}

static void
all_gates(void (*act)(struct gate *))
{
	int i;

	for (i = 0; i < n_forwarders; i++)
		act(&gates[SERVER][RX][i]);
}

/* While no forwarder is in a burst. */
static void
stop_and_start(uint64_t how, uint64_t random)
{
	int ret;

	all_gates(gate_shut);
	ret = how == 1 ? rte_eth_dev_rx_queue_stop(SERVER, 0) : rte_eth_dev_stop(SERVER);
	if (ret == 0) {
		usleep(random % 2000);
		ret = how == 1 ? rte_eth_dev_rx_queue_start(SERVER, 0) : rte_eth_dev_start(SERVER);
	}
	if (ret != 0)
		die("port %u does not stop and start: %s\n", SERVER, rte_strerror(-ret));
	all_gates(gate_open);
}

/* Until the client has done its work; returns the stops. */
static uint64_t
supervise(unsigned int client, uint64_t how, uint64_t seed)
{
	uint64_t stops = 0, last = 0, since = rte_get_timer_cycles(), now;

	while (rte_eal_get_lcore_state(client) == RUNNING) {
		uint64_t random = draw(&seed);
		struct forwarder *f = &forwarders[random % n_forwarders];

		/* Forwarders come and go, now and then all of them. */
		atomic_store_explicit(&f->paused, (random >> 8 & 3) == 0, memory_order_relaxed);
		if (how != 0 && (random >> 16 & 15) == 0) {
			stop_and_start(how, random >> 24);
			stops++;
		}
		usleep(2000);
		now = *(volatile uint64_t *)&received;
		if (now != last)
			since = rte_get_timer_cycles();
		last = now;
		if (rte_get_timer_cycles() - since > 20 * rte_get_timer_hz())
			die("nothing has come back for 20 s, of %" PRIu64 " frames %" PRIu64 "\n", packets, last);
	}
	atomic_store(&finish, true);
	return stops;
}

/* Those of the interface, such as failed claims; there must be one that counts. */
static void
print_host_counters(void)
{
	struct rte_eth_xstat_name names[512];
	struct rte_eth_xstat values[512];
	int n = rte_eth_xstats_get_names(SERVER, names, RTE_DIM(names)), i;
	uint64_t sum = 0;

	if (n < 0 || rte_eth_xstats_get(SERVER, values, RTE_DIM(values)) != n)
		die("no extended statistics\n");
	for (i = 0; i < n; i++) {
		if (strncmp(names[i].name, "rx_host_", 8) != 0)
			continue;
		printf("%s %" PRIu64 "\n", names[i].name, values[i].value);
		sum += values[i].value;
	}
	if (sum == 0)
		die("no counter of the interface counts\n");
}

static void
judge(uint64_t stops, uint64_t how, int refused)
{
	uint64_t forwarded = 0, dropped = drops(CLIENT) + drops(SERVER), judged = xstat(SERVER, "tx_reordered"), lost;
	uint64_t room = RX_DESC + (how == 2 ? (uint64_t)n_forwarders * TX_DESC + TX_DESC : 0), bits = 0, i;
	int w, idle = 0;

	for (w = 0; w < n_forwarders; w++) {
		forwarded += forwarders[w].forwarded;
		idle += forwarders[w].forwarded == 0;
		printf("forwarder %d: %" PRIu64 "\n", w, forwarders[w].forwarded);
	}
	if (idle != refused)
		die("%d forwarders have received nothing, %d expected\n", idle, refused);
	for (i = 0; i < packets / 64 + 1; i++)
		bits += __builtin_popcountll(seen[i]);
	dropped += xstat(CLIENT, "tx_faults") + xstat(SERVER, "tx_faults");
	lost = sent - received - dropped;
	printf("sent %" PRIu64 ", forwarded %" PRIu64 ", received %" PRIu64 ", dropped %" PRIu64 ", lost %" PRId64
	       " in %" PRIu64 " stops\n", sent, forwarded, received, dropped, (int64_t)lost, stops);
	printf("reordered %" PRIu64 ", by the driver %" PRIu64 "\n", reordered, judged);
	print_host_counters();
	if (doubled + corrupted != 0 || bits != received)
		die("%" PRIu64 " frames came twice, %" PRIu64 " are corrupted, %" PRIu64 " numbers of %" PRIu64 " frames\n", doubled,
		    corrupted, bits, received);
	/* What the port could not send back is late for nobody. */
	if (how != 2 && (judged < reordered || judged > reordered + drops(CLIENT)))
		die("the driver counts other frames as reordered than the client\n");
	if (lost > stops * room)
		die("frames are lost beyond those of stopped queues\n");
}

static void
start_ports(uint16_t tx_queues)
{
	port_configure(CLIENT, 1, 1, CLIENT_DESC, TX_DESC, pool);
	port_configure(SERVER, 1, tx_queues, RX_DESC, TX_DESC, pool);
	port_start(CLIENT);
	port_start(SERVER);
}

int
main(int argc, char **argv)
{
	unsigned int lcore, client = RTE_MAX_LCORE;
	uint64_t how, stops, i;
	int n = rte_eal_init(argc, argv), refused;
	pthread_t plain;
	bool has_plain;

	if (n < 0)
		return EXIT_FAILURE;
	argc -= n;
	argv += n;
	packets = option(argc, argv, "--packets", 1000000);
	how = option(argc, argv, "--stops", 0);
	refused = option(argc, argv, "--refused", 0);
	has_plain = option(argc, argv, "--plain", 0);
	random_state = option(argc, argv, "--seed", 1);
	n_forwarders = (int)rte_lcore_count() - 2 + has_plain;
	if (rte_eth_dev_count_avail() != 2 || n_forwarders < 1 || n_forwarders > MAX_FORWARDERS)
		die("%d forwarders; allowed: two ports, lcores for the client and 1 to %d forwarders\n", n_forwarders,
		    MAX_FORWARDERS);

	pool = rte_pktmbuf_pool_create("frames", 32767, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	seen = calloc(packets / 64 + 2, sizeof(*seen));
	if (pool == NULL || seen == NULL)
		die("no memory\n");
	for (i = 0; i < FLOWS; i++)
		headers[i] = headers_of(i);
	start_ports(n_forwarders);

	n = 0;
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (client == RTE_MAX_LCORE) {
			client = lcore;
			continue;
		}
		forwarders[n].id = n;
		rte_eal_remote_launch(forwarder_main, &forwarders[n++], lcore);
	}
	if (has_plain) {
		forwarders[n].id = n;
		if (pthread_create(&plain, NULL, plain_main, &forwarders[n]) != 0)
			die("no thread\n");
	}
	rte_eal_remote_launch(client_main, NULL, client);
	stops = supervise(client, how, random_state + 1);
	rte_eal_mp_wait_lcore();
	if (has_plain)
		pthread_join(plain, NULL);

	port_stop(SERVER);
	port_stop(CLIENT);
	judge(stops, how, refused);
	pool_must_be_full(pool, "after the stop", 0);
	rte_eth_dev_close(SERVER);
	rte_eth_dev_close(CLIENT);
	pool_must_be_full(pool, "after the close", 0);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
