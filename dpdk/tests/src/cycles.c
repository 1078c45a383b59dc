/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The life of a port, over and over, with traffic flowing: configure with other queues and sizes, start, stop and start
 * single queues, stop; then attach, use and detach. Every buffer is back in the pool each time, and a detached
 * device leaves no memory, thread or file behind.
 *
 *   cycles EAL-ARGUMENTS -- cycle ROUNDS SEED
 *   cycles EAL-ARGUMENTS -- attach ROUNDS SEED DEVICE DEVARGS [DEVICE DEVARGS]	(two devices: a pair)
 */
#include <dirent.h>

#include <rte_malloc.h>

#include "common.h"

#define MOST_QUEUES 8
#define FRAME 64

static struct rte_mempool *pool;
static uint16_t ports[MAX_PORTS], n_ports;
static atomic_bool finish;
static _Atomic uint64_t received;

/* Sends and receives on every queue, as far as the gates are open. */
static int
work(void *arg __rte_unused)
{
	const struct headers headers = headers_of(rte_lcore_id());
	unsigned int me = rte_lcore_index(-1) - 1, workers = rte_lcore_count() - 1;
	struct rte_mbuf *mbufs[BURST];
	uint16_t i, n;

	while (!atomic_load_explicit(&finish, memory_order_relaxed)) {
		unsigned int p, q;

		for (p = 0; p < MAX_PORTS; p++) {
			for (q = me; q < MAX_QUEUES; q += workers) {
				if (gate_pass(&gates[p][TX][q]) && rte_pktmbuf_alloc_bulk(pool, mbufs, BURST) == 0) {
					for (i = 0; i < BURST; i++) {
						uint8_t *frame = (uint8_t *)rte_pktmbuf_append(mbufs[i], FRAME);

						headers_write(frame, &headers, FRAME);
						frame[35] = i;	/* source port: frames for every queue */
					}
					n = rte_eth_tx_burst(ports[p], q, mbufs, BURST);
					rte_pktmbuf_free_bulk(mbufs + n, BURST - n);
				}
				if (gate_pass(&gates[p][RX][q])) {
					n = rte_eth_rx_burst(ports[p], q, mbufs, BURST);
					rte_pktmbuf_free_bulk(mbufs, n);
					atomic_fetch_add_explicit(&received, n, memory_order_relaxed);
				}
			}
		}
		/* Workers and the NIC core share CPUs. */
		sched_yield();
	}
	return 0;
}

static void
every_gate(uint16_t queues, void (*act)(struct gate *))
{
	uint16_t p, q;

	for (p = 0; p < n_ports; p++) {
		for (q = 0; q < queues; q++) {
			act(&gates[p][RX][q]);
			act(&gates[p][TX][q]);
		}
	}
}

/* One life between start and stop: traffic, and a few queues stopped and started under it. */
static void
live(uint16_t queues, uint64_t *random)
{
	uint64_t before = atomic_load(&received), end = rte_get_timer_cycles() + 5 * rte_get_timer_hz();
	int pauses = draw(random) % 4;
	uint16_t p;

	for (p = 0; p < n_ports; p++)
		port_start(ports[p]);
	every_gate(queues, gate_open);
	for (; pauses > 0; pauses--)
		queue_pause(ports[draw(random) % n_ports], draw(random) & 1, draw(random) % queues, draw(random) % 500);
	while (atomic_load(&received) == before) {
		if (rte_get_timer_cycles() > end)
			die("no frame comes with %u queues\n", queues);
		sched_yield();
	}
	usleep(draw(random) % 2000);
	every_gate(queues, gate_shut);
	for (p = 0; p < n_ports; p++)
		port_stop(ports[p]);
}

static void
reconfigure(uint16_t queues, uint64_t *random)
{
	static const uint16_t sizes[] = { 128, 256, 512, 1024 };
	uint16_t rx_desc = sizes[draw(random) % RTE_DIM(sizes)], tx_desc = sizes[draw(random) % RTE_DIM(sizes)], p;

	for (p = 0; p < n_ports; p++)
		port_configure(ports[p], queues, queues, rx_desc, tx_desc, pool);
}

static void
cycle(uint64_t cycles, uint64_t random)
{
	uint16_t queues = 1, p;
	uint64_t i;

	n_ports = rte_eth_dev_count_avail();
	if (n_ports < 1 || n_ports > MAX_PORTS)
		die("%u ports: 1 looped port or a pair is allowed\n", n_ports);
	for (p = 0; p < n_ports; p++)
		ports[p] = p;
	for (i = 0; i < cycles; i++) {
		/* Three in four with other queues, the fourth just starts again. */
		if (i == 0 || draw(&random) % 4 != 0) {
			queues = 1 + draw(&random) % MOST_QUEUES;
			reconfigure(queues, &random);
		}
		live(queues, &random);
		pool_must_be_full(pool, "after the stop of cycle", i);
	}
	for (p = 0; p < n_ports; p++)
		rte_eth_dev_close(ports[p]);
	pool_must_be_full(pool, "after the close, cycle", i);
}

/* What a process holds outside the pool: bytes of EAL's heaps, threads and open files. */
struct holdings {
	size_t heap;
	unsigned int threads, files;
};

static unsigned int
entries(const char *directory)
{
	DIR *dir = opendir(directory);
	unsigned int n = 0;

	if (dir == NULL)
		die("%s: %s\n", directory, strerror(errno));
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static struct holdings
holdings(void)
{
	struct rte_malloc_socket_stats stats;

	rte_malloc_get_socket_stats(rte_socket_id(), &stats);
	return (struct holdings){
		.heap = stats.heap_allocsz_bytes,
		.threads = entries("/proc/self/task"),
		.files = entries("/proc/self/fd"),
	};
}

static void
attach(uint64_t cycles, uint64_t random, char **device, uint16_t devices)
{
	struct holdings first = { 0 }, now;
	uint64_t i;
	uint16_t p;

	n_ports = devices;
	for (i = 0; i < cycles; i++) {
		for (p = 0; p < devices; p++) {
			if (rte_eal_hotplug_add("vdev", device[2 * p], device[2 * p + 1]) != 0 ||
			    rte_eth_dev_get_port_by_name(device[2 * p], &ports[p]) != 0)
				die("attachment %" PRIu64 " of %s\n", i, device[2 * p]);
		}
		reconfigure(2, &random);
		live(2, &random);
		for (p = 0; p < devices; p++) {
			/* An application may close the port first or leave that to the detachment. */
			if (draw(&random) & 1)
				rte_eth_dev_close(ports[p]);
			if (rte_eal_hotplug_remove("vdev", device[2 * p]) != 0)
				die("detachment %" PRIu64 " of %s\n", i, device[2 * p]);
		}
		pool_must_be_full(pool, "after detachment", i);
		now = holdings();
		/* What the first device brings for all that follow may stay. */
		if (i == 0)
			first = now;
		if (now.heap > first.heap || now.threads > first.threads || now.files > first.files)
			die("detachment %" PRIu64 ": %zu bytes, %u threads, %u files; after the first %zu, %u, %u\n", i,
			    now.heap, now.threads, now.files, first.heap, first.threads, first.files);
	}
}

int
main(int argc, char **argv)
{
	int n = rte_eal_init(argc, argv);
	uint64_t seed, rounds;
	uint16_t p, q;

	if (n < 0)
		return EXIT_FAILURE;
	argc -= n;
	argv += n;
	if (argc < 4)
		die("arguments: cycle|attach ROUNDS SEED [DEVICE DEVARGS]...\n");
	rounds = strtoull(argv[2], NULL, 0);
	seed = strtoull(argv[3], NULL, 0);
	/* Full rings of two ports, Rx and Tx, and the caches. */
	pool = rte_pktmbuf_pool_create("frames", 65535, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no pool: %s\n", rte_strerror(rte_errno));
	for (p = 0; p < MAX_PORTS; p++) {
		for (q = 0; q < MAX_QUEUES; q++) {
			atomic_store(&gates[p][RX][q].closed, true);
			atomic_store(&gates[p][TX][q].closed, true);
		}
	}
	rte_eal_mp_remote_launch(work, NULL, SKIP_MAIN);
	if (strcmp(argv[1], "cycle") == 0)
		cycle(rounds, seed);
	else
		attach(rounds, seed, argv + 4, (argc - 4) / 2);
	atomic_store(&finish, true);
	rte_eal_mp_wait_lcore();
	printf("%" PRIu64 " rounds, %" PRIu64 " frames received\n", rounds, atomic_load(&received));
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
