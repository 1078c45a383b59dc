/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* What the files of rte_flow's items share: kinds of items, and a pattern on its way. */
#ifndef RXLAB_FLOW_ITEMS_H
#define RXLAB_FLOW_ITEMS_H

#include "rxlab_flow.h"

/* Whether a frame has a header: no field of it. */
#define RXLAB_FLOW_NO_HEADER	UINT8_MAX

/* A field of an item: bits of a big-endian number. */
struct rxlab_flow_field {
	uint8_t offset;		/* of the number in the item */
	uint8_t bytes;		/* of the number */
	uint8_t shift;
	uint8_t bits;
	uint8_t field;
	const char *name;
};

/* How far down the frame a header stands. */
enum rank { RANK_ANY, RANK_LINK, RANK_TAG, RANK_NETWORK, RANK_TRANSPORT, RANK_TUNNEL };

struct rxlab_flow_walk;

/* An item's spec, last or mask. */
union rxlab_flow_value {
	uint8_t bytes[64];
	struct rte_flow_item_eth eth;
	struct rte_flow_item_vlan vlan;
	struct rte_flow_item_ipv6 ipv6;
	struct rte_flow_item_meta meta;
	struct rte_flow_item_tag tag;
};

/* An item and its fields; bits of it that no part has are refused, unless special() takes them. */
struct rxlab_flow_kind {
	enum rte_flow_item_type type;
	const char *name;
	uint8_t size;
	uint8_t used;		/* bytes of fields: what follows is flags and padding */
	uint8_t header;
	uint8_t rank;
	bool tunnel;		/* what follows is in it */
	const void *mask;	/* the default one */
	int (*special)(struct rxlab_flow_walk *w);
	struct rxlab_flow_field parts[8];
};

/* A pattern on its way. spec, last and mask are copies of the item's, with what was understood cleared in mask. */
struct rxlab_flow_walk {
	struct rxlab_flow_parsed *p;
	struct rte_flow_error *error;
	const struct rte_flow_item *item;
	const struct rxlab_flow_kind *kind;
	uint8_t layer;
	uint8_t rank;
	uint8_t tags;		/* VLAN items of the layer */
	bool in_tunnel;		/* the last header begins a tunnel */
	bool any;		/* the last item was ANY */
	union rxlab_flow_value spec, last, mask;
};

#define PART(of, number, lowest, width, which) \
	{ .offset = offsetof(struct of, number), .bytes = sizeof(((struct of *)0)->number), .shift = lowest, .bits = width, \
	  .field = RXLAB_FIELD_ ## which, .name = #number }
#define WHOLE(of, number, which) \
	PART(of, number, 0, 8 * sizeof(((struct of *)0)->number), which)

#define RXLAB_FLOW_ITEMS "VOID, ANY, ETH, VLAN, MPLS, IPV4, IPV6, TCP, UDP, SCTP, ICMP, ICMP6, GRE, GRE_KEY, VXLAN, GENEVE, META, TAG"

/* rxlab_flow_fields.c */
int rxlab_flow_refuse_mask(const struct rxlab_flow_walk *w, const char *what);
int rxlab_flow_refuse_range(const struct rxlab_flow_walk *w, const char *name);
int rxlab_flow_add_header(struct rxlab_flow_walk *w, bool there, uint8_t header);
int rxlab_flow_add_number(struct rxlab_flow_walk *w, uint8_t field, uint64_t value, uint64_t mask);
uint64_t rxlab_flow_part(const uint8_t *bytes, const struct rxlab_flow_field *part);
void rxlab_flow_understood(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part);
int rxlab_flow_take_part(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part);
int rxlab_flow_take_type(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part, uint8_t tag);

/* rxlab_flow_kinds.c */
const struct rxlab_flow_kind *rxlab_flow_kind_of(enum rte_flow_item_type type);

#endif /* RXLAB_FLOW_ITEMS_H */
