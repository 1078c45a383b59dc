/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* devargs: the library's own are handed on as they are, the rest is the driver's. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_kvargs.h>
#include <rte_lcore.h>

#include "rxlab.h"

#define RXLAB_MAX_CPU	1023

static const char *const library_keys[] = {
	"iface", "shared", "ring", "ax", "group", "batch", "timeout_ns", "threads", "refill", "reorder", "source",
	"emulate", "rx_rate", "tx_rate", "link_speed", "flow_rules", "channel",
	"channel_role", "channel_conf",
};

struct parse {
	const char *name;
	const struct rte_kvargs *kvlist;
	struct rxlab_conf *conf;
};

static int
refuse(const struct parse *p, const char *key, const char *value, const char *allowed)
{
	PMD_LOG(ERR, "%s: %s=%s: allowed is %s", p->name, key, value, allowed);
	return -EINVAL;
}

/* Decimal, nothing else. */
static int
parse_number(const char *value, unsigned long max, unsigned long *number)
{
	char *end;

	if (value[0] < '0' || value[0] > '9')
		return -EINVAL;
	errno = 0;
	*number = strtoul(value, &end, 10);
	return errno != 0 || *end != '\0' || *number > max ? -EINVAL : 0;
}

static int
set_nic_cpu(struct parse *p, const char *key, const char *value)
{
	unsigned long cpu;

	if (parse_number(value, RXLAB_MAX_CPU, &cpu) != 0)
		return refuse(p, key, value, "the number of a CPU, 0 to " RTE_STR(RXLAB_MAX_CPU));
	p->conf->nic_cpu = (int)cpu;
	return 0;
}

static int
set_nic_idle(struct parse *p, const char *key, const char *value)
{
	static const struct {
		const char *name;
		enum rxlab_idle idle;
	} modes[] = { { "spin", RXLAB_IDLE_SPIN }, { "yield", RXLAB_IDLE_YIELD }, { "sleep", RXLAB_IDLE_SLEEP } };
	unsigned int i;

	for (i = 0; i < RTE_DIM(modes); i++) {
		if (strcmp(value, modes[i].name) == 0) {
			p->conf->idle = modes[i].idle;
			p->conf->idle_given = true;
			return 0;
		}
	}
	return refuse(p, key, value, "spin, yield or sleep");
}

static int
set_nic_service(struct parse *p, const char *key, const char *value)
{
	unsigned long on;

	if (parse_number(value, 1, &on) != 0)
		return refuse(p, key, value, "0 or 1");
	p->conf->nic_service = on == 1;
	return 0;
}

static int
set_mac(struct parse *p, const char *key, const char *value)
{
	struct rte_ether_addr *mac = &p->conf->mac;

	if (rte_ether_unformat_addr(value, mac) != 0 || !rte_is_valid_assigned_ether_addr(mac))
		return refuse(p, key, value, "a unicast address such as 02:00:00:00:00:01");
	p->conf->mac_given = true;
	return 0;
}

static int
set_queues(struct parse *p, const char *key, const char *value)
{
	unsigned long queues;

	if (parse_number(value, RXLAB_QUEUES, &queues) != 0 || queues == 0)
		return refuse(p, key, value, "1 to " RTE_STR(RXLAB_QUEUES));
	p->conf->queues = (uint16_t)queues;
	return 0;
}

static const struct {
	const char *key;
	int (*set)(struct parse *p, const char *key, const char *value);
} driver_keys[] = {
	{ "nic_cpu", set_nic_cpu },
	{ "nic_idle", set_nic_idle },
	{ "nic_service", set_nic_service },
	{ "mac", set_mac },
	{ "queues", set_queues },
};

static int
refuse_key(const struct parse *p, const char *key)
{
	char allowed[RXLAB_ERR_LEN] = "";
	unsigned int i;

	for (i = 0; i < RTE_DIM(library_keys); i++) {
		strlcat(allowed, library_keys[i], sizeof(allowed));
		strlcat(allowed, ", ", sizeof(allowed));
	}
	for (i = 0; i < RTE_DIM(driver_keys); i++) {
		strlcat(allowed, driver_keys[i].key, sizeof(allowed));
		if (i + 1 < RTE_DIM(driver_keys))
			strlcat(allowed, ", ", sizeof(allowed));
	}
	PMD_LOG(ERR, "%s: no argument '%s': allowed are %s", p->name, key, allowed);
	return -EINVAL;
}

static int
set_pair(const char *key, const char *value, void *opaque)
{
	struct parse *p = opaque;
	char err[RXLAB_ERR_LEN];
	unsigned int i;

	if (value == NULL || *value == '\0') {
		PMD_LOG(ERR, "%s: argument '%s' has no value: write %s=VALUE", p->name, key, key);
		return -EINVAL;
	}
	if (rte_kvargs_count(p->kvlist, key) > 1) {
		PMD_LOG(ERR, "%s: argument '%s' is given more than once", p->name, key);
		return -EINVAL;
	}
	for (i = 0; i < RTE_DIM(driver_keys); i++) {
		if (strcmp(key, driver_keys[i].key) == 0)
			return driver_keys[i].set(p, key, value);
	}
	for (i = 0; i < RTE_DIM(library_keys); i++) {
		if (strcmp(key, library_keys[i]) != 0)
			continue;
		if (rxlab_args_set(p->conf->args, key, value, err, sizeof(err)) == 0)
			return 0;
		PMD_LOG(ERR, "%s: %s", p->name, err);
		return -EINVAL;
	}
	return refuse_key(p, key);
}

/* The library has bounded these by RXLAB_QUEUES: it does not know the port's. */
static int
check_queues(const struct parse *p)
{
	static const char *const keys[] = { "shared", "group" };
	char allowed[64];
	unsigned int i;

	for (i = 0; i < RTE_DIM(keys); i++) {
		const char *value = rte_kvargs_get(p->kvlist, keys[i]);

		if (value == NULL || strtoul(value, NULL, 10) <= p->conf->queues)
			continue;
		snprintf(allowed, sizeof(allowed), "at most queues=%u", p->conf->queues);
		return refuse(p, keys[i], value, allowed);
	}
	return 0;
}

static int
check(const struct parse *p)
{
	const struct rxlab_conf *conf = p->conf;
	char err[RXLAB_ERR_LEN];

	if (conf->nic_service && (conf->nic_cpu >= 0 || conf->idle_given)) {
		PMD_LOG(ERR, "%s: nic_service=1 takes neither nic_cpu nor nic_idle: the application maps the service to a core",
			p->name);
		return -EINVAL;
	}
	if (rxlab_args_is_channel(conf->args) && (conf->nic_service || conf->nic_cpu >= 0 || conf->idle_given)) {
		PMD_LOG(ERR, "%s: channel with nic_cpu, nic_idle or nic_service: it has no NIC core", p->name);
		return -EINVAL;
	}
	if (rxlab_args_check(conf->args, err, sizeof(err)) != 0) {
		PMD_LOG(ERR, "%s: %s", p->name, err);
		return -EINVAL;
	}
	return check_queues(p);
}

int
rxlab_conf_parse(const char *name, const char *params, struct rxlab_conf *conf)
{
	struct parse p = { .name = name, .conf = conf };
	struct rte_kvargs *kvlist;
	int ret;

	*conf = (struct rxlab_conf) { .nic_cpu = -1, .queues = RXLAB_QUEUES };
	kvlist = rte_kvargs_parse(params == NULL ? "" : params, NULL);
	if (kvlist == NULL) {
		PMD_LOG(ERR, "%s: '%s': write KEY=VALUE,..., at most " RTE_STR(RTE_KVARGS_MAX) " of them", name, params);
		return -EINVAL;
	}
	conf->args = rxlab_args_new();
	if (conf->args == NULL) {
		rte_kvargs_free(kvlist);
		return -ENOMEM;
	}
	rxlab_args_lcores(conf->args, rte_lcore_count());
	p.kvlist = kvlist;
	/* rte_kvargs_process returns -1 for every failure of a handler. */
	ret = rte_kvargs_process(kvlist, NULL, set_pair, &p) != 0 ? -EINVAL : check(&p);
	rte_kvargs_free(kvlist);
	if (ret != 0)
		rxlab_conf_free(conf);
	return ret;
}

void
rxlab_conf_free(struct rxlab_conf *conf)
{
	rxlab_args_free(conf->args);
	conf->args = NULL;
}
