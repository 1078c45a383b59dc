/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/*
 * NIC cores: one per CPU that some port names, serving all its ports in turn; or one DPDK service, which
 * stays for the life of the process. Where the thread runs and how it idles is decided here, what it does is the library's.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include "rxlab.h"

/* A NIC core and where it runs. */
struct rxlab_core {
	TAILQ_ENTRY(rxlab_core) next;
	struct rxlab_nic_core *nic;	/* the library's part: its ports, its turns */
	unsigned int refs;	/* ports; written under rxlab_lock */
	int cpu;		/* -1: a service */
	enum rxlab_idle idle;
	uint32_t service;
};

static TAILQ_HEAD(, rxlab_core) cores = TAILQ_HEAD_INITIALIZER(cores);

/* The CPUs that the process was started on: EAL narrows its threads' masks later. */
static cpu_set_t process_cpus;

RTE_INIT(rxlab_process_cpus)
{
	if (sched_getaffinity(0, sizeof(process_cpus), &process_cpus) != 0)
		CPU_ZERO(&process_cpus);
}

static bool
runs_lcore(unsigned int cpu)
{
	unsigned int lcore;

	for (lcore = 0; lcore < RTE_MAX_LCORE; lcore++) {
		rte_cpuset_t cpus;

		if (rte_eal_lcore_role(lcore) == ROLE_OFF)
			continue;
		cpus = rte_lcore_cpuset(lcore);
		if (CPU_ISSET(cpu, &cpus))
			return true;
	}
	return false;
}

static unsigned int
first_cpu(const rte_cpuset_t *cpus)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, cpus))
			return cpu;
	}
	return 0;
}

/* A CPU of the process without an lcore, else the main lcore's. */
static unsigned int
default_cpu(const char *name)
{
	rte_cpuset_t main_cpus = rte_lcore_cpuset(rte_get_main_lcore());
	unsigned int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &process_cpus) && !runs_lcore(cpu))
			return cpu;
	}
	cpu = first_cpu(&main_cpus);
	PMD_LOG(WARNING, "%s: no CPU without an lcore: the NIC core shares CPU %u with the main lcore", name, cpu);
	return cpu;
}

static struct rxlab_core *
find(int cpu)
{
	struct rxlab_core *core;

	TAILQ_FOREACH(core, &cores, next) {
		if (core->cpu == cpu)
			return core;
	}
	return NULL;
}

static bool
shares_cpu(unsigned int lcore)
{
	/* 0 unknown, 1 no, 2 yes: an lcore's CPUs do not change while the application runs. */
	static uint8_t known[RTE_MAX_LCORE];
	rte_cpuset_t mine, other;
	unsigned int i;

	if (lcore >= RTE_MAX_LCORE)
		return false;
	if (known[lcore] != 0)
		return known[lcore] == 2;
	mine = rte_lcore_cpuset(lcore);
	known[lcore] = 1;
	for (i = 0; i < RTE_MAX_LCORE; i++) {
		if (i == lcore || rte_eal_lcore_role(i) == ROLE_OFF)
			continue;
		other = rte_lcore_cpuset(i);
		CPU_AND(&other, &other, &mine);
		if (CPU_COUNT(&other) != 0)
			known[lcore] = 2;
	}
	return known[lcore] == 2;
}

/*
 * The last port has gone. EAL ends its services before it removes the devices, and no call tells whether it has: so the
 * service is stopped here, where it runs, and is never unregistered.
 */
static void
rest(const struct rxlab_core *core)
{
	if (!rxlab_trylock())
		return;
	if (core->refs == 0)
		rte_service_component_runstate_set(core->service, 0);
	rxlab_unlock();
}

static int32_t
service_turn(void *opaque)
{
	const struct rxlab_core *core = opaque;

	if (rxlab_nic_core_turn(core->nic))
		return 0;
	/* A hint, the lock orders. */
	if (unlikely(__atomic_load_n(&core->refs, __ATOMIC_RELAXED) == 0))
		rest(core);
	if (shares_cpu(rte_lcore_id()))
		sched_yield();
	return -EAGAIN;
}

static int
start_service(struct rxlab_core *core, const char *name)
{
	struct rte_service_spec spec = {
		.name = "net_rxlab_nic",
		.callback = service_turn,
		.callback_userdata = core,
		.socket_id = (int)rte_socket_id(),
	};
	int ret;

	ret = rte_service_component_register(&spec, &core->service);
	if (ret != 0) {
		PMD_LOG(ERR, "%s: cannot register the NIC core as a service: %s", name, rte_strerror(-ret));
		return ret;
	}
	rte_service_runstate_set(core->service, 1);
	return 0;
}

static int
start_thread(struct rxlab_core *core, const char *name, const struct rxlab_conf *conf)
{
	bool shared = runs_lcore((unsigned int)core->cpu);
	char err[RXLAB_ERR_LEN];
	int ret;

	core->idle = conf->idle_given ? conf->idle : shared ? RXLAB_IDLE_YIELD : RXLAB_IDLE_SPIN;
	if (shared && core->idle == RXLAB_IDLE_SPIN)
		PMD_LOG(WARNING, "%s: nic_idle=spin on CPU %d, which runs an lcore: each takes the CPU from the other",
			name, core->cpu);
	ret = rxlab_nic_core_start(core->nic, (uint32_t)core->cpu, core->idle, err, sizeof(err));
	if (ret != 0)
		PMD_LOG(ERR, "%s: %s: allowed is a CPU that this process may run on", name, err);
	return ret;
}

static struct rxlab_core *
new_core(const char *name, const struct rxlab_conf *conf, int cpu)
{
	struct rxlab_core *core = rte_zmalloc("rxlab_core", sizeof(*core), 0);

	if (core == NULL)
		return NULL;
	core->cpu = cpu;
	core->nic = rxlab_nic_core_new();
	if (core->nic == NULL) {
		rte_free(core);
		return NULL;
	}
	if ((cpu < 0 ? start_service(core, name) : start_thread(core, name, conf)) != 0) {
		rxlab_nic_core_free(core->nic);
		rte_free(core);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&cores, core, next);
	return core;
}

/* The NIC core that the arguments name; started if it is the first use. NULL after a message. */
struct rxlab_core *
rxlab_core_get(const char *name, const struct rxlab_conf *conf)
{
	int cpu = conf->nic_service ? -1 : conf->nic_cpu >= 0 ? conf->nic_cpu : (int)default_cpu(name);
	struct rxlab_core *core = find(cpu);

	if (core != NULL && conf->idle_given && conf->idle != core->idle) {
		PMD_LOG(ERR, "%s: nic_idle differs from that of the ports which already share the NIC core on CPU %d",
			name, cpu);
		return NULL;
	}
	if (core == NULL)
		core = new_core(name, conf, cpu);
	if (core == NULL)
		return NULL;
	if (__atomic_fetch_add(&core->refs, 1, __ATOMIC_RELAXED) == 0 && cpu < 0)
		rte_service_component_runstate_set(core->service, 1);
	return core;
}

void
rxlab_core_put(struct rxlab_core *core)
{
	if (core == NULL || __atomic_sub_fetch(&core->refs, 1, __ATOMIC_RELAXED) > 0)
		return;
	if (core->cpu < 0) {
		/* Until another port comes; the turn lets go of the last one. */
		rxlab_nic_core_turn(core->nic);
		return;
	}
	TAILQ_REMOVE(&cores, core, next);
	rxlab_nic_core_free(core->nic);
	rte_free(core);
}

struct rxlab_nic_core *
rxlab_core_nic(struct rxlab_core *core)
{
	return core->nic;
}

int
rxlab_core_cpu(const struct rxlab_core *core)
{
	return core->cpu;
}

/*
 * EAL maps services to its service cores once, at the end of its start. A port that was attached later needs its
 * mapping here; without a service core only an application that runs the service itself makes frames flow.
 */
void
rxlab_core_check_service(struct rxlab_core *core, const char *name)
{
	uint32_t lcores[RTE_MAX_LCORE];
	int32_t n, i;

	if (core->cpu >= 0)
		return;
	n = rte_service_lcore_list(lcores, RTE_DIM(lcores));
	for (i = 0; i < n; i++) {
		if (rte_service_map_lcore_get(core->service, lcores[i]) == 1)
			return;
	}
	if (n > 0 && rte_service_map_lcore_set(core->service, lcores[0], 1) == 0) {
		rte_service_lcore_start(lcores[0]);
		return;
	}
	PMD_LOG(WARNING, "%s: nic_service=1, but no service core runs: give EAL -s or -S, or run service net_rxlab_nic",
		name);
}
