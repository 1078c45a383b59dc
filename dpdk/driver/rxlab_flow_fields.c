/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* Fields of rte_flow's items: each becomes a term of the library's match. */

#include <errno.h>
#include <string.h>

#include "rxlab_flow_items.h"

int
rxlab_flow_refuse_mask(const struct rxlab_flow_walk *w, const char *what)
{
	return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, w->item, "%s: %s", w->kind->name, what);
}

/* A term more; NULL if there is no room, which is told. */
static struct rxlab_flow_term *
add(struct rxlab_flow_walk *w, uint8_t kind, uint8_t what)
{
	struct rxlab_flow_parsed *p = w->p;
	uint32_t n = p->rule.nb_terms;

	if (n == RTE_DIM(p->terms)) {
		rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_NUM, w->item,
			"the pattern asks for too much: allowed are %zu fields", RTE_DIM(p->terms));
		return NULL;
	}
	p->terms[n] = (struct rxlab_flow_term) { .kind = kind, .layer = w->layer, .what = what };
	p->item_of[n] = w->item;
	p->rule.nb_terms++;
	return &p->terms[n];
}

int
rxlab_flow_add_header(struct rxlab_flow_walk *w, bool there, uint8_t header)
{
	uint8_t kind = there ? RXLAB_FLOW_TERM_KIND_HAS : RXLAB_FLOW_TERM_KIND_LACKS;

	return add(w, kind, header) == NULL ? -rte_errno : 0;
}

/* A number of up to 8 bytes, as the last bytes of a term's value or mask. */
static void
put(uint8_t to[16], uint64_t number)
{
	rte_be64_t value = rte_cpu_to_be_64(number);

	memcpy(&to[8], &value, sizeof(value));
}

int
rxlab_flow_add_number(struct rxlab_flow_walk *w, uint8_t field, uint64_t value, uint64_t mask)
{
	struct rxlab_flow_term *term = add(w, RXLAB_FLOW_TERM_KIND_FIELD, field);

	if (term == NULL)
		return -rte_errno;
	put(term->value, value & mask);
	put(term->mask, mask);
	return 0;
}

uint64_t
rxlab_flow_part(const uint8_t *bytes, const struct rxlab_flow_field *part)
{
	uint64_t n = 0;
	uint8_t i;

	for (i = 0; i < part->bytes; i++)
		n = n << 8 | bytes[part->offset + i];
	return n >> part->shift & (UINT64_MAX >> (64 - part->bits));
}

/* Takes a field's bits out of the mask: they are understood. */
void
rxlab_flow_understood(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part)
{
	uint64_t bits = ~(UINT64_MAX >> (64 - part->bits) << part->shift);
	uint8_t i;

	for (i = 0; i < part->bytes; i++)
		w->mask.bytes[part->offset + i] &= (uint8_t)(bits >> 8 * (part->bytes - 1 - i));
}

int
rxlab_flow_refuse_range(const struct rxlab_flow_walk *w, const char *name)
{
	return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, w->item,
		"%s: %s: a range: allowed is one value under a mask", w->kind->name, name);
}

static int
take_address(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part)
{
	uint8_t *spec = &w->spec.bytes[part->offset], *last = &w->last.bytes[part->offset];
	uint8_t *mask = &w->mask.bytes[part->offset];
	static const uint8_t none[16];
	struct rxlab_flow_term *term;
	uint8_t i;

	if (memcmp(mask, none, sizeof(none)) == 0)
		return 0;
	for (i = 0; i < sizeof(none); i++) {
		spec[i] &= mask[i];
		last[i] &= mask[i];
	}
	if (memcmp(last, spec, sizeof(none)) > 0)
		return rxlab_flow_refuse_range(w, part->name);
	term = add(w, RXLAB_FLOW_TERM_KIND_FIELD, part->field);
	if (term == NULL)
		return -rte_errno;
	memcpy(term->value, spec, sizeof(none));
	memcpy(term->mask, mask, sizeof(none));
	memset(mask, 0, sizeof(none));
	return 0;
}

/* A last value that is lower than the first one is no range. */
int
rxlab_flow_take_part(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part)
{
	uint64_t mask, spec;

	if (part->bytes == 16)
		return take_address(w, part);
	mask = rxlab_flow_part(w->mask.bytes, part);
	spec = rxlab_flow_part(w->spec.bytes, part) & mask;
	if (mask == 0)
		return 0;
	if ((rxlab_flow_part(w->last.bytes, part) & mask) > spec)
		return rxlab_flow_refuse_range(w, part->name);
	rxlab_flow_understood(w, part);
	return rxlab_flow_add_number(w, part->field, spec, mask);
}

static bool
is_tpid(uint64_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ || type == RTE_ETHER_TYPE_QINQ1;
}

/* The type behind an Ethernet header or a tag: that of a further tag, which a frame has then, or of what follows the last. */
int
rxlab_flow_take_type(struct rxlab_flow_walk *w, const struct rxlab_flow_field *part, uint8_t tag)
{
	uint64_t mask = rxlab_flow_part(w->mask.bytes, part), spec = rxlab_flow_part(w->spec.bytes, part);

	if (mask == 0)
		return 0;
	if (mask != UINT16_MAX)
		return rxlab_flow_refuse_mask(w, "allowed are all bits of the type or none");
	if (rxlab_flow_part(w->last.bytes, part) > spec)
		return rxlab_flow_refuse_range(w, part->name);
	rxlab_flow_understood(w, part);
	if (tag == RXLAB_FLOW_NO_HEADER)
		return rxlab_flow_add_number(w, RXLAB_FIELD_ETH_TYPE, spec, mask);
	if (is_tpid(spec))
		return rxlab_flow_add_header(w, true, tag);
	if (rxlab_flow_add_header(w, false, tag) != 0)
		return -rte_errno;
	return rxlab_flow_add_number(w, RXLAB_FIELD_ETH_TYPE, spec, mask);
}
