/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* rte_flow's items: what a rule asks of a frame, as terms of the library's match. */

#include <errno.h>
#include <string.h>

#include "rxlab_flow_items.h"

static int
take_fields(struct rxlab_flow_walk *w)
{
	const struct rte_flow_item *item = w->item;
	const struct rxlab_flow_kind *kind = w->kind;
	unsigned int i;

	memset(&w->spec, 0, sizeof(w->spec));
	memset(&w->last, 0, sizeof(w->last));
	memset(&w->mask, 0, sizeof(w->mask));
	if (item->spec != NULL) {
		memcpy(&w->spec, item->spec, kind->size);
		memcpy(&w->mask, item->mask == NULL ? kind->mask : item->mask, kind->size);
		if (item->last != NULL)
			memcpy(&w->last, item->last, kind->size);
	} else if (item->last != NULL || item->mask != NULL) {
		return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
			"%s: a mask or a last value without spec", kind->name);
	}
	for (i = 0; i < RTE_DIM(kind->parts) && kind->parts[i].bytes != 0; i++) {
		if (rxlab_flow_take_part(w, &kind->parts[i]) != 0)
			return -rte_errno;
	}
	/* Also without a spec: the number of items of a kind counts. */
	if (kind->special != NULL && (kind->header != RXLAB_FLOW_NO_HEADER || item->spec != NULL) && kind->special(w) != 0)
		return -rte_errno;
	for (i = 0; i < kind->used; i++) {
		if (w->mask.bytes[i] != 0)
			return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item,
				"%s: the mask has bits of a field that is not matched, at byte %u", kind->name, i);
	}
	return 0;
}

/* Headers come in their order; what follows a tunnel's header is in it. */
static int
descend(struct rxlab_flow_walk *w)
{
	const struct rxlab_flow_kind *kind = w->kind;

	if (kind->rank == RANK_ANY)
		return 0;
	if (w->in_tunnel && kind->rank < RANK_TRANSPORT) {
		if (w->layer == RXLAB_LAYER_INNER)
			return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, w->item,
				"%s: in a tunnel in a tunnel: allowed is one tunnel", kind->name);
		w->layer = RXLAB_LAYER_INNER;
		w->rank = RANK_ANY;
		w->tags = 0;
	}
	if (kind->rank < w->rank || (kind->rank == w->rank && kind->rank != RANK_TAG))
		return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, w->item,
			"%s: it cannot come behind the item before it", kind->name);
	w->rank = kind->rank;
	w->tags += kind->type == RTE_FLOW_ITEM_TYPE_VLAN;
	w->in_tunnel = kind->tunnel;
	return 0;
}

static int
take(struct rxlab_flow_walk *w)
{
	w->kind = rxlab_flow_kind_of(w->item->type);
	if (w->kind == NULL)
		return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, w->item,
			"item type %d: allowed are " RXLAB_FLOW_ITEMS, w->item->type);
	w->any = false;
	if (descend(w) != 0)
		return -rte_errno;
	if (w->kind->header != RXLAB_FLOW_NO_HEADER && rxlab_flow_add_header(w, true, w->kind->header) != 0)
		return -rte_errno;
	return take_fields(w);
}

int
rxlab_flow_items(const struct rte_flow_item pattern[], struct rxlab_flow_parsed *p, struct rte_flow_error *error)
{
	struct rxlab_flow_walk w = { .p = p, .error = error, .layer = RXLAB_LAYER_OUTER };

	if (pattern == NULL)
		return rxlab_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_NUM, NULL, "no pattern");
	for (w.item = pattern; w.item->type != RTE_FLOW_ITEM_TYPE_END; w.item++) {
		if (w.item->type == RTE_FLOW_ITEM_TYPE_VOID)
			continue;
		/* The header that follows says that there is one before it. */
		if (w.item->type == RTE_FLOW_ITEM_TYPE_ANY)
			w.any = true;
		else if (take(&w) != 0)
			return -rte_errno;
	}
	if (w.any)
		return rxlab_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, w.item - 1,
			"ANY: allowed is one before another header");
	return 0;
}
