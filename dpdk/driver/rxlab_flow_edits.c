/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* rte_flow's actions that change a frame's bytes: fields are set, VXLAN is taken off and put on. */

#include <errno.h>
#include <string.h>

#include "rxlab_flow.h"

/* Actions that set a field, and where it is. Of two fields only that one is set whose header a frame has. */
static const struct {
	enum rte_flow_action_type type;
	uint8_t bytes;
	uint8_t nb_fields;
	uint8_t fields[2];
} setters[] = {
	{ RTE_FLOW_ACTION_TYPE_SET_MAC_SRC, 6, 1, { RXLAB_FIELD_ETH_SRC } },
	{ RTE_FLOW_ACTION_TYPE_SET_MAC_DST, 6, 1, { RXLAB_FIELD_ETH_DST } },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC, 4, 1, { RXLAB_FIELD_IPV4_SRC } },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV4_DST, 4, 1, { RXLAB_FIELD_IPV4_DST } },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV6_SRC, 16, 1, { RXLAB_FIELD_IPV6_SRC } },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV6_DST, 16, 1, { RXLAB_FIELD_IPV6_DST } },
	{ RTE_FLOW_ACTION_TYPE_SET_TP_SRC, 2, 2, { RXLAB_FIELD_TCP_SRC, RXLAB_FIELD_UDP_SRC } },
	{ RTE_FLOW_ACTION_TYPE_SET_TP_DST, 2, 2, { RXLAB_FIELD_TCP_DST, RXLAB_FIELD_UDP_DST } },
	{ RTE_FLOW_ACTION_TYPE_SET_TTL, 1, 2, { RXLAB_FIELD_IPV4_TTL, RXLAB_FIELD_IPV6_HOPS } },
};

/* Bytes of the configuration of an action that changes bytes; 0 for others, and for one that has none. */
size_t
rxlab_flow_edit_size(enum rte_flow_action_type type)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(setters); i++) {
		if (setters[i].type == type)
			return setters[i].bytes;
	}
	return type == RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP ? sizeof(struct rte_flow_action_vxlan_encap) : 0;
}

static int
refuse_conf(const struct rte_flow_action *action, struct rte_flow_error *error, const char *what)
{
	return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, action, "action type %d: %s", action->type, what);
}

static int
take_set(const struct rte_flow_action *action, unsigned int i, struct rxlab_flow_parsed *p, struct rte_flow_error *error)
{
	unsigned int n;

	if (action->conf == NULL)
		return refuse_conf(action, error, "it needs a configuration");
	for (n = 0; n < setters[i].nb_fields; n++) {
		struct rxlab_flow_action set = { .act = RXLAB_FLOW_ACT_SET, .a = setters[i].fields[n] };

		memcpy(&set.value[sizeof(set.value) - setters[i].bytes], action->conf, setters[i].bytes);
		if (rxlab_flow_add_action(p, action, &set, error) != 0)
			return -rte_errno;
	}
	return 0;
}

/* One header of those that are put on. They come in this order: Ethernet, IP, UDP, VXLAN. */
static bool
take_header(const struct rte_flow_item *item, unsigned int place, struct rxlab_flow_vxlan *vxlan)
{
	const struct rte_flow_item_eth *eth = item->spec;
	const struct rte_flow_item_ipv4 *ipv4 = item->spec;
	const struct rte_flow_item_ipv6 *ipv6 = item->spec;
	const struct rte_flow_item_udp *udp = item->spec;
	const struct rte_flow_item_vxlan *header = item->spec;

	if (item->spec == NULL)
		return false;
	switch (item->type) {
	case RTE_FLOW_ITEM_TYPE_ETH:
		memcpy(vxlan->eth_dst, &eth->hdr.dst_addr, sizeof(vxlan->eth_dst));
		memcpy(vxlan->eth_src, &eth->hdr.src_addr, sizeof(vxlan->eth_src));
		return place == 0;
	case RTE_FLOW_ITEM_TYPE_IPV4:
		memcpy(vxlan->src, &ipv4->hdr.src_addr, sizeof(ipv4->hdr.src_addr));
		memcpy(vxlan->dst, &ipv4->hdr.dst_addr, sizeof(ipv4->hdr.dst_addr));
		vxlan->tos = ipv4->hdr.type_of_service;
		vxlan->ttl = ipv4->hdr.time_to_live;
		return place == 1;
	case RTE_FLOW_ITEM_TYPE_IPV6:
		memcpy(vxlan->src, ipv6->hdr.src_addr, sizeof(vxlan->src));
		memcpy(vxlan->dst, ipv6->hdr.dst_addr, sizeof(vxlan->dst));
		vxlan->ipv6 = true;
		vxlan->tos = (uint8_t)(rte_be_to_cpu_32(ipv6->hdr.vtc_flow) >> 20);
		vxlan->ttl = ipv6->hdr.hop_limits;
		return place == 1;
	case RTE_FLOW_ITEM_TYPE_UDP:
		vxlan->sport = rte_be_to_cpu_16(udp->hdr.src_port);
		return place == 2;
	case RTE_FLOW_ITEM_TYPE_VXLAN:
		vxlan->vni = (uint32_t)header->vni[0] << 16 | (uint32_t)header->vni[1] << 8 | header->vni[2];
		return place == 3;
	default:
		return false;
	}
}

static int
take_encap(const struct rte_flow_action *action, struct rxlab_flow_parsed *p, struct rte_flow_error *error)
{
	const struct rte_flow_action_vxlan_encap *conf = action->conf;
	struct rxlab_flow_action encap = { .act = RXLAB_FLOW_ACT_VXLAN_ENCAP };
	const struct rte_flow_item *item;
	unsigned int place = 0;

	if (conf == NULL || conf->definition == NULL)
		return refuse_conf(action, error, "it needs a definition");
	p->vxlan = (struct rxlab_flow_vxlan) { .ipv6 = false };
	for (item = conf->definition; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		if (item->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		if (!take_header(item, place++, &p->vxlan))
			return refuse_conf(action, error, "allowed are ETH, IPV4 or IPV6, UDP and VXLAN, each with spec");
	}
	if (place != 4)
		return refuse_conf(action, error, "allowed are ETH, IPV4 or IPV6, UDP and VXLAN, all of them");
	p->rule.vxlan = &p->vxlan;
	return rxlab_flow_add_action(p, action, &encap, error);
}

/* Whether the action changes bytes: then *ret says whether it is taken. */
bool
rxlab_flow_edit(const struct rte_flow_action *action, struct rxlab_flow_parsed *p, struct rte_flow_error *error, int *ret)
{
	const struct rxlab_flow_action decap = { .act = RXLAB_FLOW_ACT_VXLAN_DECAP };
	const struct rxlab_flow_action dec_ttl = { .act = RXLAB_FLOW_ACT_DEC_TTL };
	unsigned int i;

	for (i = 0; i < RTE_DIM(setters); i++) {
		if (setters[i].type == action->type) {
			*ret = take_set(action, i, p, error);
			return true;
		}
	}
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_DEC_TTL:
		*ret = rxlab_flow_add_action(p, action, &dec_ttl, error);
		return true;
	case RTE_FLOW_ACTION_TYPE_VXLAN_DECAP:
		*ret = rxlab_flow_add_action(p, action, &decap, error);
		return true;
	case RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP:
		*ret = take_encap(action, p, error);
		return true;
	default:
		return false;
	}
}
