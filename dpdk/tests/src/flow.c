/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What rte_flow's calls do to a port whose frames come back: each item and action by a frame that it is meant for and one
 * that it is not, what is refused and which part is named, templates, threads that change rules while frames flow.
 *
 *   flow EAL-ARGUMENTS			port 0 is a loop with two lcores
 */
#include "flow/flow.h"

#define MBUFS 4095
#define DESC 256

struct rte_mempool *pool;

/* RSS leads no frame to the rules' queue. */
static void
leave_queue_out(void)
{
	struct rte_eth_rss_reta_entry64 reta[8];
	unsigned int i;

	for (i = 0; i < 512; i++)
		reta[i / 64].reta[i % 64] = i % TO;
	for (i = 0; i < 8; i++)
		reta[i].mask = UINT64_MAX;
	if (rte_eth_dev_rss_reta_update(0, reta, 512) != 0)
		die("no redirection table\n");
}

int
main(int argc, char **argv)
{
	if (rte_eal_init(argc, argv) < 0)
		die("EAL does not start\n");
	pool = rte_pktmbuf_pool_create("flow", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		die("no mempool\n");
	port_configure(0, QUEUES, 1, DESC, DESC, pool);
	configure_flows();
	port_start(0);
	leave_queue_out();
	match_all();
	tell_all();
	edit_all();
	drop_and_keep();
	refuse_all();
	fill_templates();
	change_under_traffic();
	insert_from_four();
	grow_old();
	share_actions();
	port_stop(0);
	if (rte_eth_dev_close(0) != 0)
		die("the port does not close\n");
	pool_must_be_full(pool, "end", 0);
	printf("ok\n");
	return rte_eal_cleanup();
}
