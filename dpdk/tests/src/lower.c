/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The port below (source=port:NAME) comes and goes while a worker sends and receives without a pause: it is plugged in
 * after the start, unplugged under traffic, announced as gone, changed while the port is stopped. Without it the link is
 * down, nothing arrives and the worker does not hang; with it frames come again, and each stop brings every mbuf back.
 *
 *   lower EAL-ARGUMENTS --vdev=net_rxlab0,source=port:NAME -- ROUNDS copy|once|emulated NAME DEVARGS [INTERFACE]
 *
 * once: as copy, over a port that cannot be started twice. INTERFACE is a TAP below: frames arrive when the kernel sends
 * some.
 */
#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/socket.h>

#include "common.h"

/* From ethdev's headers for drivers, which not every machine has. */
struct rte_eth_dev *rte_eth_dev_allocated(const char *name);
int rte_eth_dev_callback_process(struct rte_eth_dev *dev, enum rte_eth_event_type event, void *ret_param);

#define QUEUES 2
#define DESC 256
#define FRAME 64
#define SECONDS 10
#define ENOUGH 1000	/* frames that show that they come */

static struct rte_mempool *pool;
static const char *name, *devargs, *interface;
static bool emulated, once;
static uint16_t port;	/* the rxlab port */
static atomic_bool finish;
static _Atomic uint64_t turns, sent, received;
static _Atomic uint32_t ups, downs, last_ups, last_downs;

static int
work(void *arg __rte_unused)
{
	const struct headers headers = headers_of(1);
	struct rte_mbuf *mbufs[BURST];
	uint16_t q, i, n;

	while (!atomic_load_explicit(&finish, memory_order_relaxed)) {
		for (q = 0; q < QUEUES; q++) {
			if (gate_pass(&gates[0][TX][q]) && rte_pktmbuf_alloc_bulk(pool, mbufs, BURST) == 0) {
				for (i = 0; i < BURST; i++) {
					uint8_t *frame = (uint8_t *)rte_pktmbuf_append(mbufs[i], FRAME);

					headers_write(frame, &headers, FRAME);
					frame[35] = i;	/* source port: frames for every queue */
				}
				n = rte_eth_tx_burst(port, q, mbufs, BURST);
				rte_pktmbuf_free_bulk(mbufs + n, BURST - n);
				atomic_fetch_add(&sent, n);
			}
			if (gate_pass(&gates[0][RX][q])) {
				n = rte_eth_rx_burst(port, q, mbufs, BURST);
				rte_pktmbuf_free_bulk(mbufs, n);
				atomic_fetch_add(&received, n);
			}
		}
		atomic_fetch_add(&turns, 1);
		/*
		 * The NIC core may have the same CPU. Stopping a TAP waits for all CPUs in the kernel, which was seen to
		 * take more than 25 s on a loaded machine (Linux 6.18), perhaps as these threads only yield.
		 */
		if (interface != NULL)
			usleep(10);
		else
			sched_yield();
	}
	return 0;
}

static int
link_changed(uint16_t id, enum rte_eth_event_type event __rte_unused, void *arg __rte_unused, void *ret __rte_unused)
{
	struct rte_eth_link link;

	if (id == port && rte_eth_link_get_nowait(id, &link) == 0)
		atomic_fetch_add(link.link_status == RTE_ETH_LINK_UP ? &ups : &downs, 1);
	return 0;
}

static bool
link_up(void)
{
	struct rte_eth_link link;

	if (rte_eth_link_get_nowait(port, &link) != 0)
		die("no link state\n");
	return link.link_status == RTE_ETH_LINK_UP;
}

static uint64_t
deadline(void)
{
	return rte_get_timer_cycles() + SECONDS * rte_get_timer_hz();
}

/* Lets the kernel send through the TAP. */
static void
knock(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(interface) };
	const struct headers headers = headers_of(2);
	uint8_t frame[FRAME] = { 0 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), i;

	headers_write(frame, &headers, FRAME);
	/* It may be down, still or again. */
	for (i = 0; i < 100; i++)
		sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

static void
must_come(const char *when)
{
	uint64_t before = atomic_load(&received), end = deadline();

	while (!link_up() || atomic_load(&ups) == atomic_load(&last_ups)) {
		if (rte_get_timer_cycles() > end)
			die("%s: the link is %s, %u events of it\n", when, link_up() ? "up" : "down", ups - last_ups);
		usleep(100);
	}
	while (atomic_load(&received) < before + ENOUGH) {
		if (rte_get_timer_cycles() > end)
			die("%s: %" PRIu64 " frames come\n", when, atomic_load(&received) - before);
		if (interface != NULL)
			knock();
		usleep(1000);
	}
	last_downs = downs;
}

/*
 * The link is down at once, or soon if an event tells of it; what is in the rings may still arrive, then nothing. What
 * is sent drops, or, emulated, waits in the rings until they are full; the worker goes on either way.
 */
static void
must_be_away(const char *when, bool at_once)
{
	uint64_t end = deadline(), rx, tx, laps;

	while (link_up() || atomic_load(&downs) == atomic_load(&last_downs)) {
		if (at_once || rte_get_timer_cycles() > end)
			die("%s: the link is %s, %u events of it\n", when, link_up() ? "up" : "down", downs - last_downs);
		usleep(100);
	}
	do {
		rx = atomic_load(&received);
		laps = atomic_load(&turns);
		while (atomic_load(&turns) < laps + DESC) {
			if (rte_get_timer_cycles() > end)
				die("%s: a worker hangs\n", when);
			usleep(100);
		}
		if (rte_get_timer_cycles() > end)
			die("%s: frames come all the time\n", when);
	} while (atomic_load(&received) != rx);
	tx = atomic_load(&sent);
	laps = atomic_load(&turns);
	if (interface != NULL && if_nametoindex(interface) != 0)
		knock();
	while (atomic_load(&turns) < laps + DESC || (!emulated && atomic_load(&sent) < tx + 4 * QUEUES * DESC)) {
		if (rte_get_timer_cycles() > end)
			die("%s: %" PRIu64 " turns of a worker, %" PRIu64 " frames sent\n", when, atomic_load(&turns) - laps,
			    atomic_load(&sent) - tx);
		usleep(100);
	}
	if (emulated && atomic_load(&sent) > tx + QUEUES * DESC)
		die("%s: %" PRIu64 " frames sent to nowhere\n", when, atomic_load(&sent) - tx);
	if (atomic_load(&received) != rx || link_up())
		die("%s: %" PRIu64 " frames come, link %s\n", when, atomic_load(&received) - rx, link_up() ? "up" : "down");
	last_ups = ups;
}

static uint16_t
below(void)
{
	uint16_t id;

	if (rte_eth_dev_get_port_by_name(name, &id) != 0)
		die("%s is not there\n", name);
	return id;
}

static void
plug(void)
{
	struct rte_eth_dev_owner owner;
	int ret = rte_eal_hotplug_add("vdev", name, devargs);

	if (ret != 0)
		die("%s is not plugged in: %s\n", name, rte_strerror(-ret));
	if (rte_eth_dev_owner_get(below(), &owner) != 0 || strcmp(owner.name, "net_rxlab0") != 0)
		die("%s is owned by '%s'\n", name, owner.name);
}

static void
unplug(void)
{
	uint16_t id;
	int ret = rte_eal_hotplug_remove("vdev", name);

	if (ret != 0)
		die("%s is not unplugged: %s\n", name, rte_strerror(-ret));
	if (rte_eth_dev_get_port_by_name(name, &id) == 0)
		die("%s is still there\n", name);
}

static void
count_pool(struct rte_mempool *mp __rte_unused, void *count)
{
	++*(unsigned int *)count;
}

/* The port below has a mempool, which goes with it, once it has all its mbufs. */
static void
mempools_must_be_gone(const char *when)
{
	unsigned int n = 0;

	rte_mempool_walk(count_pool, &n);
	if (n != 1)
		die("%s: %u mempools beside the application's\n", when, n - 1);
}

static void
every_gate(void (*act)(struct gate *))
{
	uint16_t q;

	for (q = 0; q < QUEUES; q++) {
		act(&gates[0][RX][q]);
		act(&gates[0][TX][q]);
	}
}

static void
start(void)
{
	last_ups = ups;
	port_start(port);
	every_gate(gate_open);
}

static void
stop(const char *when, uint64_t round)
{
	every_gate(gate_shut);
	port_stop(port);
	pool_must_be_full(pool, when, round);
	last_downs = downs;
}

/* A port that starts without the one below: no event, for its link was down. */
static void
start_without(const char *when)
{
	start();
	last_downs = downs - 1;
	must_be_away(when, true);
}

static void
live(uint64_t round)
{
	start_without("started alone");
	plug();
	must_come("plugged in");
	unplug();
	must_be_away("unplugged", true);
	mempools_must_be_gone("unplugged");
	plug();
	must_come("plugged in again");

	/* As a driver whose card is pulled does, before anybody removes the device. */
	rte_eth_dev_callback_process(rte_eth_dev_allocated(name), RTE_ETH_EVENT_INTR_RMV, NULL);
	must_be_away("announced as gone", false);
	stop("announced as gone and stopped", round);
	start_without("started over one that is gone");
	unplug();
	must_be_away("gone", true);
	mempools_must_be_gone("gone");
	plug();
	must_come("back");
	stop("stopped", round);

	unplug();
	mempools_must_be_gone("unplugged from a stopped port");
	start_without("unplugged from a stopped port");
	stop("stopped alone", round);
	plug();
	start();
	must_come("plugged in under a stopped port");
	if (!once) {
		stop("stopped with it", round);
		start();
		must_come("started again");
	}
	unplug();
	must_be_away("unplugged for good", true);
	stop("stopped for good", round);
	mempools_must_be_gone("stopped for good");
}

/* Closed, the port gives the one below back, for the application to use and to unplug. */
static void
leave(void)
{
	struct rte_eth_dev_owner owner;
	struct rte_mbuf *mbufs[BURST];

	start();
	plug();
	must_come("before the close");
	every_gate(gate_shut);
	if (rte_eal_hotplug_remove("vdev", "net_rxlab0") != 0)
		die("net_rxlab0 is not unplugged\n");
	pool_must_be_full(pool, "closed over a port", 0);
	if (rte_eth_dev_owner_get(below(), &owner) != 0 || owner.id != RTE_ETH_DEV_NO_OWNER)
		die("%s is still owned by '%s'\n", name, owner.name);
	if (!once) {
		port_configure(below(), 1, 1, DESC, DESC, pool);
		port_start(below());
		rte_pktmbuf_free_bulk(mbufs, rte_eth_rx_burst(below(), 0, mbufs, BURST));
		port_stop(below());
	}
	unplug();
	pool_must_be_full(pool, "used without it", 0);
	mempools_must_be_gone("used without it");
}

static void
configure(void)
{
	struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		.intr_conf.lsc = 1,
	};
	uint16_t q;
	int ret = rte_eth_dev_configure(port, QUEUES, QUEUES, &conf);

	for (q = 0; ret == 0 && q < QUEUES; q++) {
		ret = rte_eth_rx_queue_setup(port, q, DESC, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, DESC, SOCKET_ID_ANY, NULL);
	}
	if (ret == 0)
		ret = rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, link_changed, NULL);
	if (ret != 0)
		die("port %u is not configured: %s\n", port, rte_strerror(-ret));
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);
	uint64_t rounds, i;
	uint16_t q;

	if (n < 0)
		return EXIT_FAILURE;
	argc -= n;
	argv += n;
	if (argc < 5)
		die("arguments: ROUNDS copy|once|emulated NAME DEVARGS [INTERFACE]\n");
	rounds = strtoull(argv[1], NULL, 0);
	emulated = strcmp(argv[2], "emulated") == 0;
	once = strcmp(argv[2], "once") == 0;
	name = argv[3];
	devargs = argv[4];
	interface = argv[5];
	if (rte_eth_dev_get_port_by_name("net_rxlab0", &port) != 0)
		die("no net_rxlab0\n");
	pool = rte_pktmbuf_pool_create("frames", 16383, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no pool: %s\n", rte_strerror(rte_errno));
	configure();
	for (q = 0; q < QUEUES; q++) {
		atomic_store(&gates[0][RX][q].closed, true);
		atomic_store(&gates[0][TX][q].closed, true);
	}
	rte_eal_mp_remote_launch(work, NULL, SKIP_MAIN);
	for (i = 0; i < rounds; i++)
		live(i);
	leave();
	atomic_store(&finish, true);
	rte_eal_mp_wait_lcore();
	printf("%" PRIu64 " rounds with %s: %" PRIu64 " frames received, %" PRIu64 " sent, link up %u times, down %u times\n", rounds,
	       name, atomic_load(&received), atomic_load(&sent), ups, downs);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
