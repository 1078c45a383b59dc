/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Telemetry: /rxlab/list, /rxlab/info,PORT and /rxlab/queue,PORT,QUEUE. */

#include <errno.h>
#include <stdio.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#include "rxlab.h"

/* The name that DPDK 23.03 introduced. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

static int
list(const char *cmd __rte_unused, const char *params __rte_unused, struct rte_tel_data *data)
{
	uint16_t port;

	rte_tel_data_start_array(data, RTE_TEL_INT_VAL);
	for (port = 0; port < RTE_MAX_ETHPORTS; port++) {
		if (rte_eth_dev_is_valid_port(port) && rxlab_is_rxlab(&rte_eth_devices[port]))
			rte_tel_data_add_array_int(data, port);
	}
	return 0;
}

static const struct rte_eth_dev *
port_of(unsigned int port)
{
	if (port >= RTE_MAX_ETHPORTS || !rte_eth_dev_is_valid_port((uint16_t)port) ||
			!rxlab_is_rxlab(&rte_eth_devices[port]))
		return NULL;
	return &rte_eth_devices[port];
}

/* queue: -1 for all of them. */
static void
add_outcomes(const struct rxlab_dev *d, int queue, struct rte_tel_data *data)
{
	uint16_t first = queue < 0 ? 0 : (uint16_t)queue;
	uint16_t end = queue < 0 ? RXLAB_QUEUES : (uint16_t)(queue + 1);
	uint32_t outcome;
	uint16_t q;

	for (outcome = 0; outcome < RXLAB_OUTCOMES; outcome++) {
		uint64_t sum = 0;

		for (q = first; q < end; q++)
			sum += rxlab_rx_outcome(d, q, outcome);
		rte_tel_data_add_dict_uint(data, rxlab_outcome_name(outcome), sum);
	}
}

static void
add_port(const struct rte_eth_dev *dev, struct rte_tel_data *data)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	uint32_t i;

	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "name", dev->data->name);
	rte_tel_data_add_dict_string(data, "iface", d->iface);
	rte_tel_data_add_dict_string(data, "source", d->source);
	rte_tel_data_add_dict_int(data, "nic_cpu", d->nic_cpu);
	rte_tel_data_add_dict_int(data, "rx_queues", dev->data->nb_rx_queues);
	rte_tel_data_add_dict_int(data, "tx_queues", dev->data->nb_tx_queues);
	rte_tel_data_add_dict_uint(data, "flow_rules_max", d->flow_rules);
	rte_tel_data_add_dict_uint(data, "flow_bytes_max", d->flow_bytes);
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		rte_tel_data_add_dict_uint(data, "flow_rules", rxlab_flow_rules(d->port));
	rte_tel_data_add_dict_int(data, "started", dev->data->dev_started);
	rte_tel_data_add_dict_int(data, "link", dev->data->dev_link.link_status);
	for (i = 0; i < d->nb_levels; i++)
		rte_tel_data_add_dict_uint(data, d->level_names[i], __atomic_load_n(&d->now.nic.levels[i], __ATOMIC_RELAXED));
	add_outcomes(d, -1, data);
}

static void
add_queue(const struct rte_eth_dev *dev, uint16_t queue, struct rte_tel_data *data)
{
	const struct rxlab_dev *d = rxlab_dev_of(dev);
	uint32_t i;

	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_int(data, "started", dev->data->rx_queue_state[queue] == RTE_ETH_QUEUE_STATE_STARTED);
	add_outcomes(d, queue, data);
	for (i = 0; i < d->nb_host; i++)
		rte_tel_data_add_dict_uint(data, d->host_names[i], rxlab_since_reset(d, &d->now.nic.host[queue].value[i]));
}

static int
info(const char *cmd __rte_unused, const char *params, struct rte_tel_data *data)
{
	const struct rte_eth_dev *dev = NULL;
	unsigned int port;

	rxlab_lock();
	if (params != NULL && sscanf(params, "%u", &port) == 1)
		dev = port_of(port);
	if (dev != NULL)
		add_port(dev, data);
	rxlab_unlock();
	return dev == NULL ? -EINVAL : 0;
}

static int
queue(const char *cmd __rte_unused, const char *params, struct rte_tel_data *data)
{
	const struct rte_eth_dev *dev = NULL;
	unsigned int port, number;
	int ret = -EINVAL;

	rxlab_lock();
	if (params != NULL && sscanf(params, "%u,%u", &port, &number) == 2)
		dev = port_of(port);
	if (dev != NULL && number < dev->data->nb_rx_queues) {
		add_queue(dev, (uint16_t)number, data);
		ret = 0;
	}
	rxlab_unlock();
	return ret;
}

RTE_INIT(rxlab_telemetry)
{
	rte_telemetry_register_cmd("/rxlab/list", list, "Ports of net_rxlab. Takes no parameters");
	rte_telemetry_register_cmd("/rxlab/info", info, "A port and the fates of its frames. Parameters: port_id");
	rte_telemetry_register_cmd("/rxlab/queue", queue, "An Rx queue's counters. Parameters: port_id,queue_id");
}
