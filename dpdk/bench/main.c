/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * rxbench: one program that drives any ethdev, so that interfaces can be compared. What it sends it writes whole, what
 * it receives it reads whole. The main lcore only waits; give one worker lcore for each task.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "rxbench.h"

/* Reads stdin to the end of a line; false if there is none. */
static bool
read_line(void)
{
	char c;
	ssize_t n;

	while ((n = read(STDIN_FILENO, &c, 1)) == 1 || (n < 0 && errno == EINTR && !tasks_stopped()))
		if (n == 1 && c == '\n')
			return true;
	return false;
}

static void
on_signal(int signal __rte_unused)
{
	tasks_stop();
}

/* A signal ends the program in order; it must also end a read of stdin. */
static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int
launch(struct options *options)
{
	unsigned int i, lcore = -1;
	int ret = 0;

	for (i = 0; i < options->n_tasks && ret == 0; i++) {
		lcore = rte_get_next_lcore(lcore, 1, 0);
		ret = rte_eal_remote_launch(task_main, &options->tasks[i], lcore);
	}
	return ret;
}

/*
 * Runs the tasks until they have their samples. A driver begins with a line, stops the tasks with the next, and has the
 * ports closed by ending stdin: a port must not be closed while somebody at its other end still polls.
 */
static int
measure(struct options *options)
{
	bool more = true;
	int ret;

	report_ready();
	if (options->driven && !read_line())
		return 0; /* it changed its mind */
	ret = launch(options);
	if (ret == 0) {
		tasks_wait(options->n_tasks);
		/* Results are written once by each task before it posts, and not again. */
		report_samples(options);
		more = options->driven && read_line();
	}
	tasks_stop();
	rte_eal_mp_wait_lcore();
	if (ret == 0)
		report_stopped(options);
	while (more && ret == 0)
		more = options->driven && read_line();
	return ret;
}

static int
run(struct options *options)
{
	struct rte_mempool *pool;
	unsigned int i;
	int ret = 0;

	if (options->n_tasks >= rte_lcore_count()) {
		fprintf(stderr, "rxbench: %u lcores: allowed: %u or more, the main one and one for each task\n",
			rte_lcore_count(), options->n_tasks + 1);
		return -EINVAL;
	}
	pool = pool_create(options);
	if (pool == NULL)
		return -rte_errno;
	for (i = 0; i < options->n_tasks && ret == 0; i++)
		ret = task_init(&options->tasks[i], options, pool);
	if (ret == 0)
		ret = ports_start(options, pool);
	if (ret == 0)
		ret = forward_init(options->routes, options->n_routes, options->tasks[0].tx_port);
	if (ret == 0)
		ret = ports_wait_for_links(options);
	if (ret == 0)
		ret = measure(options);
	ports_stop(options);
	if (ret == 0)
		report_end(options->in_place ? 0 : rte_mempool_in_use_count(pool)); /* the other side has some in place */
	for (i = 0; i < options->n_tasks; i++)
		task_free(&options->tasks[i]);
	forward_free();
	rte_mempool_free(pool);
	return ret;
}

/* Arguments of EAL end at `--`; whoever only asks for help needs no EAL. */
static bool
asks_for_help(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "--help") == 0;
}

int
main(int argc, char **argv)
{
	struct options options;
	int used, ret;

	if (asks_for_help(argc, argv))
		return options_parse(&options, argc, argv) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
	used = rte_eal_init(argc, argv);
	if (used < 0) {
		fprintf(stderr, "rxbench: EAL: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	ret = options_parse(&options, argc - used, argv + used);
	if (ret == 0) {
		catch_signals();
		/* Nobody is left to end it once its driver is gone, not even if it is stopped just then. */
		if (options.driven)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		ret = run(&options);
	}
	rte_eal_cleanup();
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
