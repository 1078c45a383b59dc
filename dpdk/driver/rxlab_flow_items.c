/* SPDX-License-Identifier: Apache-2.0 OR MIT */

/* rte_flow's items: what a rule asks of a frame, as terms of the library's match. */

#include <errno.h>
#include <string.h>

#include "rxlab_flow.h"

/* Whether a frame has a header: no field of it. */
#define NO_HEADER	UINT8_MAX

/* A field of an item: bits of a big-endian number. */
struct part {
	uint8_t offset;		/* of the number in the item */
	uint8_t bytes;		/* of the number */
	uint8_t shift;
	uint8_t bits;
	uint8_t field;
	const char *name;
};

/* How far down the frame a header stands. */
enum rank { RANK_ANY, RANK_LINK, RANK_TAG, RANK_NETWORK, RANK_TRANSPORT, RANK_TUNNEL };

struct walk;

/* An item's spec, last or mask. */
union value {
	uint8_t bytes[64];
	struct rte_flow_item_eth eth;
	struct rte_flow_item_vlan vlan;
	struct rte_flow_item_ipv6 ipv6;
	struct rte_flow_item_meta meta;
	struct rte_flow_item_tag tag;
};

/* An item and its fields; bits of it that no part has are refused, unless special() takes them. */
struct kind {
	enum rte_flow_item_type type;
	const char *name;
	uint8_t size;
	uint8_t used;		/* bytes of fields: what follows is flags and padding */
	uint8_t header;
	uint8_t rank;
	bool tunnel;		/* what follows is in it */
	const void *mask;	/* the default one */
	int (*special)(struct walk *w);
	struct part parts[8];
};

/* A pattern on its way. spec, last and mask are copies of the item's, with what was understood cleared in mask. */
struct walk {
	struct rxlab_flow_parsed *p;
	struct rte_flow_error *error;
	const struct rte_flow_item *item;
	const struct kind *kind;
	uint8_t layer;
	uint8_t rank;
	uint8_t tags;		/* VLAN items of the layer */
	bool in_tunnel;		/* the last header begins a tunnel */
	bool any;		/* the last item was ANY */
	union value spec, last, mask;
};

#define PART(of, number, lowest, width, which) \
	{ .offset = offsetof(struct of, number), .bytes = sizeof(((struct of *)0)->number), .shift = lowest, .bits = width, \
	  .field = RXLAB_FIELD_ ## which, .name = #number }
#define WHOLE(of, number, which) \
	PART(of, number, 0, 8 * sizeof(((struct of *)0)->number), which)

static int eth_special(struct walk *w);
static int vlan_special(struct walk *w);
static int ipv4_special(struct walk *w);
static int ipv6_special(struct walk *w);
static int meta_special(struct walk *w);
static int tag_special(struct walk *w);

static const rte_be32_t gre_key_mask = RTE_BE32(UINT32_MAX);
struct gre_key {
	rte_be32_t key;
};

/* The fields are those of a struct that an item begins with. */
#define KIND(which, of, fields, has, level) \
	.type = RTE_FLOW_ITEM_TYPE_ ## which, .name = #which, .size = sizeof(struct of), .used = sizeof(struct fields), \
	.header = RXLAB_HEADER_ ## has, .rank = RANK_ ## level

static const struct kind kinds[] = {
	{ KIND(ETH, rte_flow_item_eth, rte_ether_hdr, ETHERNET, LINK), .mask = &rte_flow_item_eth_mask, .special = eth_special,
	  .parts = { WHOLE(rte_flow_item_eth, hdr.dst_addr, ETH_DST), WHOLE(rte_flow_item_eth, hdr.src_addr, ETH_SRC) } },
	{ KIND(VLAN, rte_flow_item_vlan, rte_vlan_hdr, VLAN, TAG),
	  .mask = &rte_flow_item_vlan_mask, .special = vlan_special },
	{ KIND(MPLS, rte_flow_item_mpls, rte_flow_item_mpls, MPLS, NETWORK), .mask = &rte_flow_item_mpls_mask,
	  .parts = { PART(rte_flow_item_mpls, label_tc_s, 4, 20, MPLS_LABEL),
		     PART(rte_flow_item_mpls, label_tc_s, 1, 3, MPLS_CLASS),
		     PART(rte_flow_item_mpls, label_tc_s, 0, 1, MPLS_BOTTOM), WHOLE(rte_flow_item_mpls, ttl, MPLS_TTL) } },
	{ KIND(IPV4, rte_flow_item_ipv4, rte_flow_item_ipv4, IPV4, NETWORK), .mask = &rte_flow_item_ipv4_mask, .special = ipv4_special,
	  .parts = { WHOLE(rte_flow_item_ipv4, hdr.type_of_service, IPV4_TOS),
		     WHOLE(rte_flow_item_ipv4, hdr.time_to_live, IPV4_TTL),
		     WHOLE(rte_flow_item_ipv4, hdr.next_proto_id, IPV4_PROTO),
		     WHOLE(rte_flow_item_ipv4, hdr.src_addr, IPV4_SRC), WHOLE(rte_flow_item_ipv4, hdr.dst_addr, IPV4_DST) } },
	{ KIND(IPV6, rte_flow_item_ipv6, rte_flow_item_ipv6, IPV6, NETWORK), .mask = &rte_flow_item_ipv6_mask, .special = ipv6_special,
	  .parts = { PART(rte_flow_item_ipv6, hdr.vtc_flow, 20, 8, IPV6_CLASS),
		     PART(rte_flow_item_ipv6, hdr.vtc_flow, 0, 20, IPV6_LABEL),
		     WHOLE(rte_flow_item_ipv6, hdr.proto, IPV6_PROTO), WHOLE(rte_flow_item_ipv6, hdr.hop_limits, IPV6_HOPS),
		     WHOLE(rte_flow_item_ipv6, hdr.src_addr, IPV6_SRC), WHOLE(rte_flow_item_ipv6, hdr.dst_addr, IPV6_DST) } },
	{ KIND(TCP, rte_flow_item_tcp, rte_flow_item_tcp, TCP, TRANSPORT), .mask = &rte_flow_item_tcp_mask,
	  .parts = { WHOLE(rte_flow_item_tcp, hdr.src_port, TCP_SRC), WHOLE(rte_flow_item_tcp, hdr.dst_port, TCP_DST),
		     WHOLE(rte_flow_item_tcp, hdr.tcp_flags, TCP_FLAGS) } },
	{ KIND(UDP, rte_flow_item_udp, rte_flow_item_udp, UDP, TRANSPORT), .mask = &rte_flow_item_udp_mask,
	  .parts = { WHOLE(rte_flow_item_udp, hdr.src_port, UDP_SRC), WHOLE(rte_flow_item_udp, hdr.dst_port, UDP_DST) } },
	{ KIND(SCTP, rte_flow_item_sctp, rte_flow_item_sctp, SCTP, TRANSPORT), .mask = &rte_flow_item_sctp_mask,
	  .parts = { WHOLE(rte_flow_item_sctp, hdr.src_port, SCTP_SRC), WHOLE(rte_flow_item_sctp, hdr.dst_port, SCTP_DST),
		     WHOLE(rte_flow_item_sctp, hdr.tag, SCTP_TAG) } },
	{ KIND(ICMP, rte_flow_item_icmp, rte_flow_item_icmp, ICMP, TRANSPORT), .mask = &rte_flow_item_icmp_mask,
	  .parts = { WHOLE(rte_flow_item_icmp, hdr.icmp_type, ICMP_TYPE), WHOLE(rte_flow_item_icmp, hdr.icmp_code, ICMP_CODE),
		     WHOLE(rte_flow_item_icmp, hdr.icmp_ident, ICMP_IDENT),
		     WHOLE(rte_flow_item_icmp, hdr.icmp_seq_nb, ICMP_SEQ) } },
	{ KIND(ICMP6, rte_flow_item_icmp6, rte_flow_item_icmp6, ICMP6, TRANSPORT), .mask = &rte_flow_item_icmp6_mask,
	  .parts = { WHOLE(rte_flow_item_icmp6, type, ICMP6_TYPE), WHOLE(rte_flow_item_icmp6, code, ICMP6_CODE) } },
	{ KIND(GRE, rte_flow_item_gre, rte_flow_item_gre, GRE, TRANSPORT), .tunnel = true, .mask = &rte_flow_item_gre_mask,
	  .parts = { WHOLE(rte_flow_item_gre, c_rsvd0_ver, GRE_FLAGS), WHOLE(rte_flow_item_gre, protocol, GRE_PROTO) } },
	{ KIND(GRE_KEY, gre_key, gre_key, GRE_KEY, TUNNEL), .tunnel = true, .mask = &gre_key_mask,
	  .parts = { WHOLE(gre_key, key, GRE_KEY) } },
	{ KIND(VXLAN, rte_flow_item_vxlan, rte_flow_item_vxlan, VXLAN, TUNNEL), .tunnel = true, .mask = &rte_flow_item_vxlan_mask,
	  .parts = { WHOLE(rte_flow_item_vxlan, flags, VXLAN_FLAGS), WHOLE(rte_flow_item_vxlan, vni, VXLAN_VNI) } },
	{ KIND(GENEVE, rte_flow_item_geneve, rte_flow_item_geneve, GENEVE, TUNNEL), .tunnel = true, .mask = &rte_flow_item_geneve_mask,
	  .parts = { PART(rte_flow_item_geneve, ver_opt_len_o_c_rsvd0, 8, 8, GENEVE_OPTIONS),
		     WHOLE(rte_flow_item_geneve, protocol, GENEVE_PROTO), WHOLE(rte_flow_item_geneve, vni, GENEVE_VNI) } },
	{ .type = RTE_FLOW_ITEM_TYPE_META, .name = "META", .size = sizeof(struct rte_flow_item_meta), .header = NO_HEADER,
	  .used = sizeof(uint32_t), .mask = &rte_flow_item_meta_mask, .special = meta_special },
	{ .type = RTE_FLOW_ITEM_TYPE_TAG, .name = "TAG", .size = sizeof(struct rte_flow_item_tag), .header = NO_HEADER,
	  .used = sizeof(uint32_t), .mask = &rte_flow_item_tag_mask, .special = tag_special },
};

#define ALLOWED "VOID, ANY, ETH, VLAN, MPLS, IPV4, IPV6, TCP, UDP, SCTP, ICMP, ICMP6, GRE, GRE_KEY, VXLAN, GENEVE, META, TAG"

static int
refuse_mask(const struct walk *w, const char *what)
{
	return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, w->item, "%s: %s", w->kind->name, what);
}

/* A term more; NULL if there is no room, which is told. */
static struct rxlab_flow_term *
add(struct walk *w, uint8_t kind, uint8_t what)
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

static int
add_header(struct walk *w, bool there, uint8_t header)
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

static int
add_number(struct walk *w, uint8_t field, uint64_t value, uint64_t mask)
{
	struct rxlab_flow_term *term = add(w, RXLAB_FLOW_TERM_KIND_FIELD, field);

	if (term == NULL)
		return -rte_errno;
	put(term->value, value & mask);
	put(term->mask, mask);
	return 0;
}

static uint64_t
number(const uint8_t *bytes, const struct part *part)
{
	uint64_t n = 0;
	uint8_t i;

	for (i = 0; i < part->bytes; i++)
		n = n << 8 | bytes[part->offset + i];
	return n >> part->shift & (UINT64_MAX >> (64 - part->bits));
}

/* Takes a field's bits out of the mask: they are understood. */
static void
understood(struct walk *w, const struct part *part)
{
	uint64_t bits = ~(UINT64_MAX >> (64 - part->bits) << part->shift);
	uint8_t i;

	for (i = 0; i < part->bytes; i++)
		w->mask.bytes[part->offset + i] &= (uint8_t)(bits >> 8 * (part->bytes - 1 - i));
}

static int
refuse_range(const struct walk *w, const char *name)
{
	return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, w->item,
		"%s: %s: a range: allowed is one value under a mask", w->kind->name, name);
}

static int
take_address(struct walk *w, const struct part *part)
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
		return refuse_range(w, part->name);
	term = add(w, RXLAB_FLOW_TERM_KIND_FIELD, part->field);
	if (term == NULL)
		return -rte_errno;
	memcpy(term->value, spec, sizeof(none));
	memcpy(term->mask, mask, sizeof(none));
	memset(mask, 0, sizeof(none));
	return 0;
}

/* A last value that is lower than the first one is no range. */
static int
take_part(struct walk *w, const struct part *part)
{
	uint64_t mask, spec;

	if (part->bytes == 16)
		return take_address(w, part);
	mask = number(w->mask.bytes, part);
	spec = number(w->spec.bytes, part) & mask;
	if (mask == 0)
		return 0;
	if ((number(w->last.bytes, part) & mask) > spec)
		return refuse_range(w, part->name);
	understood(w, part);
	return add_number(w, part->field, spec, mask);
}

static bool
is_tpid(uint64_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ || type == RTE_ETHER_TYPE_QINQ1;
}

/* The type behind an Ethernet header or a tag: that of a further tag, which a frame has then, or of what follows the last. */
static int
take_type(struct walk *w, const struct part *part, uint8_t tag)
{
	uint64_t mask = number(w->mask.bytes, part), spec = number(w->spec.bytes, part);

	if (mask == 0)
		return 0;
	if (mask != UINT16_MAX)
		return refuse_mask(w, "allowed are all bits of the type or none");
	if (number(w->last.bytes, part) > spec)
		return refuse_range(w, part->name);
	understood(w, part);
	if (tag == NO_HEADER)
		return add_number(w, RXLAB_FIELD_ETH_TYPE, spec, mask);
	if (is_tpid(spec))
		return add_header(w, true, tag);
	if (add_header(w, false, tag) != 0)
		return -rte_errno;
	return add_number(w, RXLAB_FIELD_ETH_TYPE, spec, mask);
}

/* A flag that says whether there is a header; where it is not asked for, nothing. */
#define TAKE_FLAG(w, flag, header) \
	((w)->mask.flag == 0 ? 0 : ((w)->mask.flag = 0, add_header(w, (w)->spec.flag, header)))

static int
eth_special(struct walk *w)
{
	static const struct part type = WHOLE(rte_flow_item_eth, hdr.ether_type, ETH_TYPE);

	if (take_type(w, &type, RXLAB_HEADER_VLAN) != 0)
		return -rte_errno;
	return TAKE_FLAG(w, eth.has_vlan, RXLAB_HEADER_VLAN);
}

static int
vlan_special(struct walk *w)
{
	static const struct part type = WHOLE(rte_flow_item_vlan, hdr.eth_proto, ETH_TYPE);
	static const struct part tci[] = {
		WHOLE(rte_flow_item_vlan, hdr.vlan_tci, VLAN_TCI), WHOLE(rte_flow_item_vlan, hdr.vlan_tci, QINQ_TCI),
	};
	bool first = w->tags == 1;

	if (w->tags > RTE_DIM(tci))
		return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, w->item, "VLAN: allowed are two of them");
	if (!first && add_header(w, true, RXLAB_HEADER_QINQ) != 0)
		return -rte_errno;
	if (take_part(w, &tci[w->tags - 1]) != 0)
		return -rte_errno;
	if (take_type(w, &type, first ? RXLAB_HEADER_QINQ : NO_HEADER) != 0)
		return -rte_errno;
	return first ? TAKE_FLAG(w, vlan.has_more_vlan, RXLAB_HEADER_QINQ) : 0;
}

/* Fragments are told apart from whole packets, not from each other. */
static int
ipv4_special(struct walk *w)
{
	static const struct part part = WHOLE(rte_flow_item_ipv4, hdr.fragment_offset, IPV4_PROTO);
	const uint64_t all = RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG;
	uint64_t mask = number(w->mask.bytes, &part), spec = number(w->spec.bytes, &part) & mask, last = number(w->last.bytes, &part) & mask;

	if (mask == 0)
		return 0;
	if (mask == all && spec == 0 && last == 0) {
		understood(w, &part);
		return add_header(w, false, RXLAB_HEADER_FRAGMENT);
	}
	if (mask == all && spec == 1 && last == all) {
		understood(w, &part);
		return add_header(w, true, RXLAB_HEADER_FRAGMENT);
	}
	return refuse_mask(w, "fragment_offset: allowed are 0 and 1 to 0x3fff, under 0x3fff: no fragment, or a fragment");
}

static int
ipv6_special(struct walk *w)
{
	return TAKE_FLAG(w, ipv6.has_frag_ext, RXLAB_HEADER_FRAGMENT);
}

static int
take_register(struct walk *w, uint8_t field, uint32_t spec, uint32_t last, uint32_t mask)
{
	if ((last & mask) > (spec & mask))
		return refuse_range(w, "data");
	return add_number(w, field, spec, mask);
}

static int
meta_special(struct walk *w)
{
	uint32_t mask = w->mask.meta.data;

	w->mask.meta.data = 0;
	return take_register(w, RXLAB_FIELD_META, w->spec.meta.data, w->last.meta.data, mask);
}

static int
tag_special(struct walk *w)
{
	uint32_t mask = w->mask.tag.data, index = w->spec.tag.index;

	w->mask.tag.data = 0;
	if (index >= RXLAB_FLOW_TAGS)
		return rxlab_flow_refuse(w->error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, w->item,
			"TAG: index %u: allowed are 0 to %u", index, RXLAB_FLOW_TAGS - 1);
	return take_register(w, (uint8_t)(RXLAB_FIELD_TAG0 + index), w->spec.tag.data, w->last.tag.data, mask);
}

static int
take_fields(struct walk *w)
{
	const struct rte_flow_item *item = w->item;
	const struct kind *kind = w->kind;
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
		if (take_part(w, &kind->parts[i]) != 0)
			return -rte_errno;
	}
	/* Also without a spec: the number of items of a kind counts. */
	if (kind->special != NULL && (kind->header != NO_HEADER || item->spec != NULL) && kind->special(w) != 0)
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
descend(struct walk *w)
{
	const struct kind *kind = w->kind;

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

static const struct kind *
kind_of(enum rte_flow_item_type type)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(kinds); i++) {
		if (kinds[i].type == type)
			return &kinds[i];
	}
	return NULL;
}

static int
take(struct walk *w)
{
	w->kind = kind_of(w->item->type);
	if (w->kind == NULL)
		return rxlab_flow_refuse(w->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, w->item,
			"item type %d: allowed are " ALLOWED, w->item->type);
	w->any = false;
	if (descend(w) != 0)
		return -rte_errno;
	if (w->kind->header != NO_HEADER && add_header(w, true, w->kind->header) != 0)
		return -rte_errno;
	return take_fields(w);
}

int
rxlab_flow_items(const struct rte_flow_item pattern[], struct rxlab_flow_parsed *p, struct rte_flow_error *error)
{
	struct walk w = { .p = p, .error = error, .layer = RXLAB_LAYER_OUTER };

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
