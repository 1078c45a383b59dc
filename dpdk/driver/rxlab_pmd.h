/* Made from crates/pmd/src/ffi by the crate's test `header`: do not edit. */

#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * The buffer of a piece that lies in none of the link.
 */
#define RXLAB_ELSEWHERE UINT32_MAX

/**
 * Outcomes of a received frame.
 */
#define RXLAB_OUTCOMES 12

/**
 * Named counters of a host half.
 */
#define RXLAB_HOST_COUNTERS 8

/**
 * Named levels of a NIC half.
 */
#define RXLAB_LEVELS 4

/**
 * Words of a bit for each VLAN.
 */
#define RXLAB_VLAN_WORDS 64

/**
 * Room for the line.
 */
#define RXLAB_FLOW_TEXT 256

/**
 * The largest mark of a rule. A completion has 0 for none, and counts marks from 1.
 */
#define RXLAB_LAST_MARK (UINT32_MAX - 2)

/**
 * The mark of a completion whose frame has a flag alone.
 */
#define RXLAB_FLAG UINT32_MAX

/**
 * The most Rx and the most Tx queues of a port.
 */
#define RXLAB_QUEUES 64

/**
 * The most threads that may poll one queue.
 */
#define RXLAB_THREADS 128

/**
 * The most host halves of a port's Rx queues together: a half for each thread that may poll one.
 */
#define RXLAB_HALVES 4096

/**
 * Bytes of a tag: number and flow.
 */
#define RXLAB_TAG 16

/**
 * Entries of the largest indirection table.
 */
#define RXLAB_RETA 512

/**
 * Bytes of the longest RSS key.
 */
#define RXLAB_KEY 52

/**
 * Bytes of a slot: the buffer of §4.1. A longer frame takes several.
 */
#define SLOT 2048

/**
 * Addresses that a port listens to.
 */
#define RXLAB_MACS 16

/**
 * Multicast groups that a port listens to.
 */
#define RXLAB_GROUPS 64

/**
 * The IPv4 header's checksum is right.
 */
#define RXLAB_IP_GOOD (1 << 16)

/**
 * The IPv4 header's checksum is wrong.
 */
#define RXLAB_IP_BAD (1 << 17)

/**
 * The checksum of TCP or UDP is right, or the UDP sender made none.
 */
#define RXLAB_L4_GOOD (1 << 18)

/**
 * The checksum of TCP or UDP is wrong.
 */
#define RXLAB_L4_BAD (1 << 19)

/**
 * The frame has an RSS hash, or another number to steer by.
 */
#define RXLAB_HASHED (1 << 20)

/**
 * The mark is metadata of flow rules.
 */
#define RXLAB_META (1 << 21)

/**
 * No frame of its own, but a piece that follows what came before it: the frame lies in several buffers.
 */
#define RXLAB_FOLLOWS (1 << 22)

/**
 * A piece of the frame follows, in the next buffer.
 */
#define RXLAB_MORE (1 << 23)

/**
 * Where a port's frames come from.
 */
enum rxlab_source {
  /**
   * What is sent.
   */
  RXLAB_SOURCE_LOOP,
  /**
   * A generator.
   */
  RXLAB_SOURCE_GEN,
  /**
   * A capture.
   */
  RXLAB_SOURCE_PCAP,
  /**
   * Another DPDK port.
   */
  RXLAB_SOURCE_PORT,
  /**
   * Another port of this driver.
   */
  RXLAB_SOURCE_PAIR,
};

/**
 * The part of a call that is wrong.
 */
enum rxlab_flow_part {
  /**
   * None of those below.
   */
  RXLAB_FLOW_PART_WHOLE,
  /**
   * The group.
   */
  RXLAB_FLOW_PART_GROUP,
  /**
   * A term of the match, of the number that comes with it.
   */
  RXLAB_FLOW_PART_TERM,
  /**
   * The terms together.
   */
  RXLAB_FLOW_PART_TERMS,
  /**
   * An action, of the number that comes with it.
   */
  RXLAB_FLOW_PART_ACTION,
  /**
   * The actions together.
   */
  RXLAB_FLOW_PART_ACTIONS,
  /**
   * The rule's name.
   */
  RXLAB_FLOW_PART_HANDLE,
  /**
   * There is no room.
   */
  RXLAB_FLOW_PART_ROOM,
};

/**
 * What the NIC core does when no port has work.
 */
enum rxlab_idle {
  /**
   * Looks again at once: it has the CPU to itself.
   */
  RXLAB_IDLE_SPIN,
  /**
   * Lets others on its CPU run.
   */
  RXLAB_IDLE_YIELD,
  /**
   * Sleeps for 50 us.
   */
  RXLAB_IDLE_SLEEP,
};

/**
 * A header that is there or not.
 */
enum rxlab_header
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Ethernet.
   */
  RXLAB_HEADER_ETHERNET,
  /**
   * At least one VLAN tag.
   */
  RXLAB_HEADER_VLAN,
  /**
   * At least two VLAN tags.
   */
  RXLAB_HEADER_QINQ,
  /**
   * An MPLS label. What follows the labels is not looked at.
   */
  RXLAB_HEADER_MPLS,
  /**
   * IPv4.
   */
  RXLAB_HEADER_IPV4,
  /**
   * IPv6.
   */
  RXLAB_HEADER_IPV6,
  /**
   * A part of an IP packet. It has no transport header here, the first part neither: all parts match alike.
   */
  RXLAB_HEADER_FRAGMENT,
  /**
   * TCP.
   */
  RXLAB_HEADER_TCP,
  /**
   * UDP.
   */
  RXLAB_HEADER_UDP,
  /**
   * SCTP.
   */
  RXLAB_HEADER_SCTP,
  /**
   * ICMP for IPv4.
   */
  RXLAB_HEADER_ICMP,
  /**
   * ICMPv6.
   */
  RXLAB_HEADER_ICMP6,
  /**
   * GRE.
   */
  RXLAB_HEADER_GRE,
  /**
   * GRE with a key.
   */
  RXLAB_HEADER_GRE_KEY,
  /**
   * VXLAN: UDP to port 4789.
   */
  RXLAB_HEADER_VXLAN,
  /**
   * GENEVE: UDP to port 6081.
   */
  RXLAB_HEADER_GENEVE,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rxlab_header rxlab_header;
#else
typedef uint8_t rxlab_header;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What became of a frame at the card: delivered, or dropped and why. The same name is the CLI's column, the
 * report's row and the driver's xstat.
 */
enum rxlab_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * In a buffer, and its completion published.
   */
  RXLAB_OUTCOME_DELIVERED,
  /**
   * The ring through which this queue learns of frames has no room: its core is behind.
   */
  RXLAB_OUTCOME_RING_FULL,
  /**
   * No empty buffer was posted where this queue may take one.
   */
  RXLAB_OUTCOME_NO_BUFFER,
  /**
   * The card's own buffer overflowed before the host took the frame.
   */
  RXLAB_OUTCOME_NIC_BUFFER_FULL,
  /**
   * The memory in which the card keeps frames for their cores is full.
   */
  RXLAB_OUTCOME_NIC_MEMORY_FULL,
  /**
   * A credit scheme had none left.
   */
  RXLAB_OUTCOME_NO_CREDIT,
  /**
   * It is no Ethernet frame, or longer than a buffer.
   */
  RXLAB_OUTCOME_BAD_FRAME,
  /**
   * Its queue is stopped.
   */
  RXLAB_OUTCOME_QUEUE_STOPPED,
  /**
   * The port's address filters do not let it in.
   */
  RXLAB_OUTCOME_FILTERED,
  /**
   * The port's link is down.
   */
  RXLAB_OUTCOME_LINK_DOWN,
  /**
   * A flow rule drops it.
   */
  RXLAB_OUTCOME_FLOW_DROP,
  /**
   * No flow rule decides about it: the port is isolated, or the rules led it through too many groups.
   */
  RXLAB_OUTCOME_FLOW_MISS,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rxlab_outcome rxlab_outcome;
#else
typedef uint8_t rxlab_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A field of a header, or a register.
 */
enum rxlab_field
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Destination address, 48 bits.
   */
  RXLAB_FIELD_ETH_DST,
  /**
   * Source address, 48 bits.
   */
  RXLAB_FIELD_ETH_SRC,
  /**
   * Type of what follows the tags.
   */
  RXLAB_FIELD_ETH_TYPE,
  /**
   * Tag control of the first tag: priority, DEI, and the identifier in the lower 12 bits.
   */
  RXLAB_FIELD_VLAN_TCI,
  /**
   * Tag control of the second tag.
   */
  RXLAB_FIELD_QINQ_TCI,
  /**
   * Label of the first entry of the stack, 20 bits.
   */
  RXLAB_FIELD_MPLS_LABEL,
  /**
   * Its traffic class, 3 bits.
   */
  RXLAB_FIELD_MPLS_CLASS,
  /**
   * Whether it is the bottom of the stack.
   */
  RXLAB_FIELD_MPLS_BOTTOM,
  /**
   * Its time to live.
   */
  RXLAB_FIELD_MPLS_TTL,
  /**
   * Source address.
   */
  RXLAB_FIELD_IPV4_SRC,
  /**
   * Destination address.
   */
  RXLAB_FIELD_IPV4_DST,
  /**
   * Protocol.
   */
  RXLAB_FIELD_IPV4_PROTO,
  /**
   * Type of service: DSCP and ECN.
   */
  RXLAB_FIELD_IPV4_TOS,
  /**
   * Time to live.
   */
  RXLAB_FIELD_IPV4_TTL,
  /**
   * Source address.
   */
  RXLAB_FIELD_IPV6_SRC,
  /**
   * Destination address.
   */
  RXLAB_FIELD_IPV6_DST,
  /**
   * Protocol after the extension headers.
   */
  RXLAB_FIELD_IPV6_PROTO,
  /**
   * Traffic class.
   */
  RXLAB_FIELD_IPV6_CLASS,
  /**
   * Hop limit.
   */
  RXLAB_FIELD_IPV6_HOPS,
  /**
   * Flow label, 20 bits.
   */
  RXLAB_FIELD_IPV6_LABEL,
  /**
   * Source port.
   */
  RXLAB_FIELD_TCP_SRC,
  /**
   * Destination port.
   */
  RXLAB_FIELD_TCP_DST,
  /**
   * Flags from CWR to FIN.
   */
  RXLAB_FIELD_TCP_FLAGS,
  /**
   * Source port.
   */
  RXLAB_FIELD_UDP_SRC,
  /**
   * Destination port.
   */
  RXLAB_FIELD_UDP_DST,
  /**
   * Source port.
   */
  RXLAB_FIELD_SCTP_SRC,
  /**
   * Destination port.
   */
  RXLAB_FIELD_SCTP_DST,
  /**
   * Verification tag.
   */
  RXLAB_FIELD_SCTP_TAG,
  /**
   * Type.
   */
  RXLAB_FIELD_ICMP_TYPE,
  /**
   * Code.
   */
  RXLAB_FIELD_ICMP_CODE,
  /**
   * Identifier.
   */
  RXLAB_FIELD_ICMP_IDENT,
  /**
   * Sequence number.
   */
  RXLAB_FIELD_ICMP_SEQ,
  /**
   * Type.
   */
  RXLAB_FIELD_ICMP6_TYPE,
  /**
   * Code.
   */
  RXLAB_FIELD_ICMP6_CODE,
  /**
   * Protocol type.
   */
  RXLAB_FIELD_GRE_PROTO,
  /**
   * Flags and version.
   */
  RXLAB_FIELD_GRE_FLAGS,
  /**
   * Key.
   */
  RXLAB_FIELD_GRE_KEY,
  /**
   * Network identifier, 24 bits.
   */
  RXLAB_FIELD_VXLAN_VNI,
  /**
   * Flags.
   */
  RXLAB_FIELD_VXLAN_FLAGS,
  /**
   * Network identifier, 24 bits.
   */
  RXLAB_FIELD_GENEVE_VNI,
  /**
   * Protocol type.
   */
  RXLAB_FIELD_GENEVE_PROTO,
  /**
   * Version and length of the options in words, 8 bits.
   */
  RXLAB_FIELD_GENEVE_OPTIONS,
  /**
   * Metadata.
   */
  RXLAB_FIELD_META,
  /**
   * The first tag.
   */
  RXLAB_FIELD_TAG0,
  /**
   * The second tag.
   */
  RXLAB_FIELD_TAG1,
  /**
   * The third tag.
   */
  RXLAB_FIELD_TAG2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rxlab_field rxlab_field;
#else
typedef uint8_t rxlab_field;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which headers of a frame.
 */
enum rxlab_layer
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Those that come first.
   */
  RXLAB_LAYER_OUTER,
  /**
   * Those in a tunnel.
   */
  RXLAB_LAYER_INNER,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rxlab_layer rxlab_layer;
#else
typedef uint8_t rxlab_layer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What an action does.
 */
enum rxlab_flow_act
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * To queue `a`.
   */
  RXLAB_FLOW_ACT_QUEUE,
  /**
   * To a queue by the rule's RSS context.
   */
  RXLAB_FLOW_ACT_RSS,
  /**
   * Dropped.
   */
  RXLAB_FLOW_ACT_DROP,
  /**
   * To group `a`.
   */
  RXLAB_FLOW_ACT_JUMP,
  /**
   * Mark `a`.
   */
  RXLAB_FLOW_ACT_MARK,
  /**
   * The mark that is a flag alone.
   */
  RXLAB_FLOW_ACT_FLAG,
  /**
   * Metadata `a` under mask `b`.
   */
  RXLAB_FLOW_ACT_META,
  /**
   * Tag `c`: `a` under mask `b`.
   */
  RXLAB_FLOW_ACT_TAG,
  /**
   * Counts.
   */
  RXLAB_FLOW_ACT_COUNT,
  /**
   * Old after `a` seconds.
   */
  RXLAB_FLOW_ACT_AGE,
  /**
   * Sets field `a` of the outer headers to the value.
   */
  RXLAB_FLOW_ACT_SET,
  /**
   * Takes a tunnel of VXLAN off.
   */
  RXLAB_FLOW_ACT_VXLAN_DECAP,
  /**
   * Puts the rule's tunnel on.
   */
  RXLAB_FLOW_ACT_VXLAN_ENCAP,
  /**
   * Takes one from the time to live, or the hop limit.
   */
  RXLAB_FLOW_ACT_DEC_TTL,
  /**
   * The shared action of name `b << 32 | a`.
   */
  RXLAB_FLOW_ACT_SHARED,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rxlab_flow_act rxlab_flow_act;
#else
typedef uint8_t rxlab_flow_act;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a term asks for.
 */
enum rxlab_flow_term_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * A value of a field, under a mask.
   */
  RXLAB_FLOW_TERM_KIND_FIELD,
  /**
   * That a header is there.
   */
  RXLAB_FLOW_TERM_KIND_HAS,
  /**
   * That a header is not there.
   */
  RXLAB_FLOW_TERM_KIND_LACKS,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rxlab_flow_term_kind rxlab_flow_term_kind;
#else
typedef uint8_t rxlab_flow_term_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A port's arguments, each checked when it is set.
 */
struct rxlab_args;

/**
 * A port over a channel.
 */
struct rxlab_channel;

/**
 * A NIC core as the driver holds it.
 */
struct rxlab_nic_core;

/**
 * A port.
 */
struct rxlab_port;

/**
 * A host half of an Rx queue, on lines of its own: its neighbour may be another lcore's.
 */
struct rxlab_rxq;

/**
 * A Tx queue's host half.
 */
struct rxlab_txq;

/**
 * What the driver is told of a port's link, on the keeper's thread.
 */
struct rxlab_told {
  /**
   * Passed to the call.
   */
  void *ctx;
  /**
   * Whether there is a link, and why there is none: one line, valid during the call; null where nothing is wrong.
   */
  void (*call)(void *ctx, bool up, const char *why);
};

/**
 * Room for a piece of a frame to be received.
 */
struct rxlab_room {
  /**
   * Where its first byte goes.
   */
  uint8_t *data;
  /**
   * Bytes that came.
   */
  uint16_t len;
  /**
   * Whether the frame ends with it.
   */
  bool last;
};

/**
 * A piece of a frame to be sent.
 */
struct rxlab_piece {
  /**
   * Its first byte.
   */
  const uint8_t *data;
  /**
   * The buffer of the link that it lies in, or [`ELSEWHERE`].
   */
  uint32_t buf;
  /**
   * Where in that.
   */
  uint16_t off;
  /**
   * Bytes.
   */
  uint16_t len;
  /**
   * Whether the frame ends with it.
   */
  bool last;
};

/**
 * One segment of a frame to send. A frame is one or more segments, the last one marked. Its layout is
 * C's.
 */
struct rxlab_segment {
  /**
   * The buffer; the ring owns it until the NIC has read it.
   */
  uint64_t buf;
  /**
   * First byte.
   */
  uint16_t off;
  /**
   * Bytes.
   */
  uint16_t len;
  /**
   * Whether the frame ends here.
   */
  bool last;
};

/**
 * The memory of a link's buffers.
 */
struct rxlab_lent {
  /**
   * The first byte of the first buffer.
   */
  uint8_t *base;
  /**
   * Bytes from a buffer to the next one.
   */
  uint32_t stride;
  /**
   * Bytes of a buffer.
   */
  uint32_t bytes;
  /**
   * Buffers, of both sides.
   */
  uint32_t buffers;
};

/**
 * A part of a match.
 */
struct rxlab_flow_term {
  /**
   * A `FlowTermKind`.
   */
  uint8_t kind;
  /**
   * A layer.
   */
  uint8_t layer;
  /**
   * A field or a header.
   */
  uint8_t what;
  /**
   * The value, the highest byte first.
   */
  uint8_t value[16];
  /**
   * Which bits of it.
   */
  uint8_t mask[16];
};

/**
 * An action and its numbers.
 */
struct rxlab_flow_action {
  /**
   * A `FlowAct`.
   */
  uint8_t act;
  /**
   * As the act says.
   */
  uint32_t a;
  /**
   * As the act says.
   */
  uint32_t b;
  /**
   * As the act says.
   */
  uint32_t c;
  /**
   * A field's value, the highest byte first.
   */
  uint8_t value[16];
};

/**
 * Key, fields and indirection table.
 */
struct rxlab_rss {
  /**
   * The key.
   */
  uint8_t key[RXLAB_KEY];
  /**
   * Bytes of it in use, from 40.
   */
  uint32_t key_len;
  /**
   * What is hashed: 1 IPv4, 2 IPv4 with ports, 4 IPv6, 8 IPv6 with ports.
   */
  uint32_t hash;
  /**
   * Entries of `reta` in use, a power of two.
   */
  uint32_t reta_len;
  /**
   * Queues.
   */
  uint16_t reta[RXLAB_RETA];
};

/**
 * Headers that VXLAN puts before a frame. Numbers are in the machine's order of bytes.
 */
struct rxlab_flow_vxlan {
  /**
   * Destination address of Ethernet.
   */
  uint8_t eth_dst[6];
  /**
   * Source address.
   */
  uint8_t eth_src[6];
  /**
   * Whether addresses are of IPv6, else the first 4 bytes of each count.
   */
  bool ipv6;
  /**
   * Type of service, or traffic class.
   */
  uint8_t tos;
  /**
   * Time to live, or hop limit; 0 for 64.
   */
  uint8_t ttl;
  /**
   * Source address.
   */
  uint8_t src[16];
  /**
   * Destination address.
   */
  uint8_t dst[16];
  /**
   * UDP source port; 0 lets the frame's hash choose.
   */
  uint16_t sport;
  /**
   * Network identifier.
   */
  uint32_t vni;
};

/**
 * A rule as the driver writes it down.
 */
struct rxlab_flow_rule {
  /**
   * Its group.
   */
  uint32_t group;
  /**
   * Its priority, the lowest number wins.
   */
  uint32_t priority;
  /**
   * Parts of its match.
   */
  const struct rxlab_flow_term *terms;
  /**
   * How many.
   */
  uint32_t nb_terms;
  /**
   * What it does.
   */
  const struct rxlab_flow_action *actions;
  /**
   * How many.
   */
  uint32_t nb_actions;
  /**
   * The context of its RSS action, or NULL.
   */
  const struct rxlab_rss *rss;
  /**
   * The tunnel that it puts on, or NULL.
   */
  const struct rxlab_flow_vxlan *vxlan;
  /**
   * What its age is told by; 0 for its handle.
   */
  uint64_t age_context;
};

/**
 * Where a call that failed says why.
 */
struct rxlab_flow_fault {
  /**
   * What is wrong.
   */
  enum rxlab_flow_part part;
  /**
   * Which term or action.
   */
  uint32_t index;
  /**
   * One line.
   */
  char text[RXLAB_FLOW_TEXT];
};

/**
 * What a rule has counted.
 */
struct rxlab_flow_count {
  /**
   * Whether the rule counts.
   */
  bool counts;
  /**
   * Frames.
   */
  uint64_t frames;
  /**
   * Bytes, without FCS.
   */
  uint64_t bytes;
};

/**
 * How old a rule is.
 */
struct rxlab_flow_age {
  /**
   * Whether it had no frame for as long as its action says.
   */
  bool old;
  /**
   * Seconds since its last frame.
   */
  uint32_t idle_s;
};

/**
 * Counters of an Rx queue, written by the NIC core.
 */
struct rxlab_rx_counters {
  /**
   * Frames by outcome.
   */
  uint64_t outcome[RXLAB_OUTCOMES];
  /**
   * Bytes of the delivered ones.
   */
  uint64_t bytes;
};

/**
 * Counters of a Tx queue, written by the NIC core.
 */
struct rxlab_tx_counters {
  /**
   * Frames sent.
   */
  uint64_t packets;
  /**
   * Their bytes.
   */
  uint64_t bytes;
  /**
   * Frames that could not be sent: none of those above.
   */
  uint64_t faults;
  /**
   * Frames that left after a later one of their flow, where that is judged.
   */
  uint64_t reordered;
};

/**
 * Counters of the host halves of an Rx queue; the lcores that poll it add to them.
 */
struct rxlab_host_counters {
  /**
   * By number; the names depend on the interface.
   */
  uint64_t value[RXLAB_HOST_COUNTERS];
};

/**
 * All counters of a port. They begin at zero. The NIC core alone writes those of `rx`, `tx` and `levels`.
 */
struct rxlab_counters {
  /**
   * Rx queues.
   */
  struct rxlab_rx_counters rx[RXLAB_QUEUES];
  /**
   * Tx queues.
   */
  struct rxlab_tx_counters tx[RXLAB_QUEUES];
  /**
   * Host halves.
   */
  struct rxlab_host_counters host[RXLAB_QUEUES];
  /**
   * How much of something the NIC half uses, by number; the names depend on the interface. No counts: they go up and
   * down, and begin anew with each start.
   */
  uint64_t levels[RXLAB_LEVELS];
};

/**
 * A frame of the port below, in one piece.
 */
struct rxlab_frame {
  /**
   * Its first byte.
   */
  const uint8_t *data;
  /**
   * Bytes.
   */
  uint32_t len;
  /**
   * The buffer that it lies in, for its address to be passed on; 0 if it has to be copied.
   */
  uint64_t buf;
};

/**
 * What the NIC core calls to reach the port below, on its own thread, one call at a time.
 */
struct rxlab_lower {
  /**
   * Passed to every call.
   */
  void *ctx;
  /**
   * Receives up to `n` frames (at most 64); they stay valid until `rx_done`.
   */
  uint16_t (*rx)(void *ctx, struct rxlab_frame *frames, uint16_t n);
  /**
   * The frames of the last `rx` are through. For each of them `bufs` has a buffer for the port below to fill: an
   * empty one if the frame was passed on, the frame's own if it was dropped, 0 if its `buf` was 0.
   */
  void (*rx_done)(void *ctx, const uint64_t *bufs);
  /**
   * Finds `n` buffers (at most 64) of at least `len[i]` bytes each; how many there were, from the first.
   */
  uint16_t (*tx_get)(void *ctx, const uint32_t *len, uint8_t **data, uint16_t n);
  /**
   * Sends the buffers of the last `tx_get`, filled, and frees what the port below refuses; how many were
   * sent.
   */
  uint16_t (*tx_send)(void *ctx, uint16_t n);
  /**
   * Sends up to `n` frames (at most 64) by the addresses of their buffers, instead of the two calls above; how
   * many of them are the port below's now. If the first cannot be sent, it alone is taken, and `*faults` grows by one.
   * Null if frames are copied.
   */
  uint16_t (*tx_pass)(void *ctx, const uint64_t *bufs, uint16_t n, uint16_t *faults);
};

/**
 * What a port takes from its wire.
 */
struct rxlab_filter {
  /**
   * Every frame.
   */
  bool promiscuous;
  /**
   * Every multicast frame.
   */
  bool all_multicast;
  /**
   * Whether the link is up: without it there is no frame to take or to send.
   */
  bool link_up;
  /**
   * Entries of `mac` in use.
   */
  uint32_t macs;
  /**
   * The port's own addresses.
   */
  uint8_t mac[RXLAB_MACS][6];
  /**
   * Entries of `group` in use.
   */
  uint32_t groups;
  /**
   * Multicast groups.
   */
  uint8_t group[RXLAB_GROUPS][6];
};

/**
 * An Rx queue's event.
 */
struct rxlab_event {
  /**
   * An eventfd.
   */
  int fd;
  /**
   * 1 while somebody waits for it: set by the core that polls the queue, cleared by whoever raises it.
   */
  uint32_t armed;
};

/**
 * What a port starts with.
 */
struct rxlab_start {
  /**
   * Rx queues, 0 to 64.
   */
  uint16_t rx_queues;
  /**
   * Tx queues, 0 to 64.
   */
  uint16_t tx_queues;
  /**
   * Descriptors of each Rx queue: the ring, the completion ring or Bx.
   */
  uint32_t rx_desc;
  /**
   * Descriptors of each Tx queue.
   */
  uint32_t tx_desc;
  /**
   * Bytes from an mbuf's address to the first byte of its frame.
   */
  uint32_t data_offset;
  /**
   * Bytes of frame that an mbuf holds.
   */
  uint32_t room;
  /**
   * The longest frame to receive, in bytes: at most `room`, unless a frame may lie in several mbufs.
   */
  uint32_t max_frame;
  /**
   * Whether a frame longer than `room` lies in several mbufs.
   */
  bool scatter;
  /**
   * Whether IP and transport checksums are verified.
   */
  bool checksums;
  /**
   * An event for each Rx queue, there until the port is reset; null where no core sleeps.
   */
  const struct rxlab_event *events;
  /**
   * Zeroed memory that starts a line and stays until the port is reset.
   */
  uint8_t *memory;
  /**
   * Its bytes: at least what the port asks for.
   */
  size_t bytes;
};

/**
 * A frame as the host receives it. Its layout is C's: a driver's receive call fills an array of them.
 */
struct rxlab_completion {
  /**
   * The buffer that holds it; the receiver owns it.
   */
  uint64_t buf;
  /**
   * Bytes, without FCS.
   */
  uint16_t len;
  /**
   * Of no meaning: with it length and mark make one word, which a ring copies from its own by one store.
   */
  uint16_t between;
  /**
   * The mark that the NIC gave the frame; 0 is none.
   */
  uint32_t mark;
  /**
   * RSS hash.
   */
  uint32_t rss;
  /**
   * Packet type, as the NIC's parser set it.
   */
  uint32_t kind;
};

/**
 * What a burst did with the spares that it was given.
 */
struct rxlab_refill {
  /**
   * So many are posted, from the end.
   */
  uint16_t used;
  /**
   * Whether the ring wanted more. It replaces buffers of frames received now or before; `corec` wants the
   * replacements before it receives.
   */
  bool lacks;
};

/**
 * Where the driver takes buffers back.
 */
typedef void (*rxlab_give)(void *ctx, const uint64_t *bufs, uint32_t n);

/**
 * All of them, in the order of their bits.
 */
#define rxlab_header_ALL { rxlab_header_Ethernet, rxlab_header_Vlan, rxlab_header_Qinq, rxlab_header_Mpls, rxlab_header_Ipv4, rxlab_header_Ipv6, rxlab_header_Fragment, rxlab_header_Tcp, rxlab_header_Udp, rxlab_header_Sctp, rxlab_header_Icmp, rxlab_header_Icmp6, rxlab_header_Gre, rxlab_header_GreKey, rxlab_header_Vxlan, rxlab_header_Geneve, }

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The default arguments.
 */
struct rxlab_args *rxlab_args_new(void);

/**
 * Frees them.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
void rxlab_args_free(struct rxlab_args *args);

/**
 * Sets one argument.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`]; `key` and `value` end with a zero byte; `err` has room for `err_len`.
 */
int rxlab_args_set(struct rxlab_args *args,
                   const char *key,
                   const char *value,
                   char *err,
                   size_t err_len);

/**
 * Checks what belongs together.
 *
 * # Safety
 * As [`rxlab_args_set`].
 */
int rxlab_args_check(const struct rxlab_args *args, char *err, size_t err_len);

/**
 * Where the frames come from.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
enum rxlab_source rxlab_args_source(const struct rxlab_args *args);

/**
 * Copies the NAME of `port:` or `pair:`, or the FILE of `pcap:`, with a zero byte. A name that does not fit is cut.
 * Returns its length without the zero byte, 0 where there is no name.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`]; `out` has room for `len` bytes.
 */
size_t rxlab_args_source_name(const struct rxlab_args *args,
                              char *out,
                              size_t len);

/**
 * Sets how many lcores the program has. As many may poll a queue of an interface that allows it, unless `threads` is
 * set.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
void rxlab_args_lcores(struct rxlab_args *args,
                       uint32_t lcores);

/**
 * Threads that may poll one Rx queue at a time, each its own half.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
uint16_t rxlab_args_threads(const struct rxlab_args *args);

/**
 * Bytes before each frame, which the NIC core writes as well and completions count: 0 or `TAG`.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
uint16_t rxlab_args_front(const struct rxlab_args *args);

/**
 * The speed that the link tells, in Mbps: one that ethdev has a number for.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
uint32_t rxlab_args_speed(const struct rxlab_args *args);

/**
 * Whether the port below receives into the posted buffers: descriptors to send are of buffers then, not of bytes.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
bool rxlab_args_emulate(const struct rxlab_args *args);

/**
 * Why no frame of the port may lie in several mbufs; NULL if it may.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
const char *rxlab_args_one_mbuf(const struct rxlab_args *args);

/**
 * The interface's name.
 *
 * # Safety
 * `args` is from [`rxlab_args_new`].
 */
const char *rxlab_args_iface(const struct rxlab_args *args);

/**
 * Whether the port's wire is a channel.
 *
 * # Safety
 * `args` is from `rxlab_args_new`.
 */
bool rxlab_args_is_channel(const struct rxlab_args *args);

/**
 * A stopped port over the channel of `args`, into `*out`.
 *
 * # Safety
 * `args` is from `rxlab_args_new`; what `told` has works until the port is freed; `out` takes a pointer; `err` has room
 * for `err_len` bytes.
 */
int rxlab_channel_new(const struct rxlab_args *args,
                      struct rxlab_told told,
                      struct rxlab_channel **out,
                      char *err,
                      size_t err_len);

/**
 * Frees a port.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`], and nobody uses it any more.
 */
void rxlab_channel_free(struct rxlab_channel *port);

/**
 * Links are made from now on.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `err` has room for `err_len` bytes.
 */
int rxlab_channel_start(struct rxlab_channel *port, char *err, size_t err_len);

/**
 * Ends the link, and makes no other.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`].
 */
void rxlab_channel_stop(struct rxlab_channel *port);

/**
 * Bytes of the longest frame that goes through.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`].
 */
uint32_t rxlab_channel_longest(const struct rxlab_channel *port);

/**
 * Receives pieces of frames into the first of `n` rooms, each of `room` bytes; pieces received. One that is longer is
 * told with a length of 0. `*link` is the number of the link that they come of: a frame ends with its link.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `rooms` holds `n` entries, whose bytes may be written; `link` takes a number.
 */
uint16_t rxlab_channel_rx(struct rxlab_channel *port,
                          struct rxlab_room *rooms,
                          uint16_t n,
                          uint16_t room,
                          uint32_t *link);

/**
 * Sends whole frames of `n` pieces; frames that went. They are copied, but for those that lie in buffers of the link if
 * `*passed` says so: such a frame is the other side's.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `pieces` holds `n` entries, whose bytes may be read; `passed` takes an answer.
 */
uint16_t rxlab_channel_tx(struct rxlab_channel *port,
                          const struct rxlab_piece *pieces,
                          uint16_t n,
                          bool *passed);

/**
 * Receives up to `n` segments in place, into `segments`, of link `*link`; how many. Negative if no mempool has the link's
 * buffers.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `segments` holds `n` entries; `link` takes a number.
 */
int rxlab_channel_rx_in_place(struct rxlab_channel *port,
                              struct rxlab_segment *segments,
                              uint16_t n,
                              uint32_t *link);

/**
 * Lends the buffers of the link to a mempool, once there is a link, into `*lent`. Waits for `patience_ms` at most.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `lent` takes an answer; `err` has room for `err_len` bytes.
 */
int rxlab_channel_lend(struct rxlab_channel *port,
                       uint32_t patience_ms,
                       struct rxlab_lent *lent,
                       char *err,
                       size_t err_len);

/**
 * The mempool is gone: nobody reaches the buffers any more.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`].
 */
void rxlab_channel_take_back(struct rxlab_channel *port);

/**
 * Takes up to `n` buffers for the mempool, by their numbers; how many there were.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `bufs` holds `n` entries.
 */
uint32_t rxlab_channel_alloc(struct rxlab_channel *port, uint64_t *bufs, uint32_t n);

/**
 * Gives `n` buffers of the mempool back.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`]; `bufs` holds `n` entries.
 */
void rxlab_channel_give(struct rxlab_channel *port, const uint64_t *bufs, uint32_t n);

/**
 * Buffers that the mempool would find.
 *
 * # Safety
 * `port` is from [`rxlab_channel_new`].
 */
uint32_t rxlab_channel_available(const struct rxlab_channel *port);

/**
 * The most rules of a port.
 *
 * # Safety
 * `port` is from `rxlab_port_new`.
 */
uint32_t rxlab_flow_limit(const struct rxlab_port *port);

/**
 * The most memory that so many rules take, in bytes.
 *
 * # Safety
 * As [`rxlab_flow_limit`].
 */
uint64_t rxlab_flow_bytes(const struct rxlab_port *port);

/**
 * Rules of a port now.
 *
 * # Safety
 * As [`rxlab_flow_limit`].
 */
uint32_t rxlab_flow_rules(const struct rxlab_port *port);

/**
 * Looks at a rule without adding it.
 *
 * # Safety
 * `port` is from `rxlab_port_new`, `rule` and what it names are filled in, `fault` is there.
 */
int rxlab_flow_check(const struct rxlab_port *port,
                     const struct rxlab_flow_rule *rule,
                     struct rxlab_flow_fault *fault);

/**
 * Adds a rule, its name into `*name`; frames see it from now on, or with the next commit.
 *
 * # Safety
 * As [`rxlab_flow_check`]; `name` takes a number.
 */
int rxlab_flow_create(const struct rxlab_port *port,
                      const struct rxlab_flow_rule *rule,
                      bool commit,
                      uint64_t *name,
                      struct rxlab_flow_fault *fault);

/**
 * Removes a rule, at once or with the next commit.
 *
 * # Safety
 * `port` is from `rxlab_port_new`, `fault` is there.
 */
int rxlab_flow_destroy(const struct rxlab_port *port,
                       uint64_t name,
                       bool commit,
                       struct rxlab_flow_fault *fault);

/**
 * Shows frames what has been changed without a commit.
 *
 * # Safety
 * As [`rxlab_flow_destroy`].
 */
int rxlab_flow_commit(const struct rxlab_port *port, struct rxlab_flow_fault *fault);

/**
 * Removes all rules.
 *
 * # Safety
 * As [`rxlab_flow_destroy`].
 */
int rxlab_flow_flush(const struct rxlab_port *port, struct rxlab_flow_fault *fault);

/**
 * What a rule has counted since it was created or its count was reset.
 *
 * # Safety
 * As [`rxlab_flow_destroy`]; `count` is there.
 */
int rxlab_flow_count(const struct rxlab_port *port,
                     uint64_t name,
                     bool reset,
                     struct rxlab_flow_count *count,
                     struct rxlab_flow_fault *fault);

/**
 * How old a rule is that has an age.
 *
 * # Safety
 * As [`rxlab_flow_destroy`]; `age` is there.
 */
int rxlab_flow_age(const struct rxlab_port *port,
                   uint64_t name,
                   struct rxlab_flow_age *age,
                   struct rxlab_flow_fault *fault);

/**
 * Whether any rule grows old: then `rxlab_flow_look` is to be called once in an eighth of a second.
 *
 * # Safety
 * As [`rxlab_flow_limit`].
 */
bool rxlab_flow_ages(const struct rxlab_port *port);

/**
 * Looks at rules that may have grown old. Whether any has since it was last asked which are (`rxlab_flow_aged`): it is
 * told once.
 *
 * # Safety
 * As [`rxlab_flow_limit`].
 */
bool rxlab_flow_look(const struct rxlab_port *port);

/**
 * What old rules are told by, at most `n` of them; how many rules are old.
 *
 * # Safety
 * `port` is from `rxlab_port_new`; `out` has room for `n` numbers.
 */
uint32_t rxlab_flow_aged(const struct rxlab_port *port, uint64_t *out, uint32_t n);

/**
 * Whether frames that no rule matches are dropped, instead of spread over the queues.
 *
 * # Safety
 * As [`rxlab_flow_destroy`].
 */
int rxlab_flow_isolate(const struct rxlab_port *port, bool on, struct rxlab_flow_fault *fault);

/**
 * The name of an outcome; NULL beyond the last.
 */
const char *rxlab_outcome_name(uint32_t outcome);

/**
 * The name of a host half's counter `i`; NULL beyond the last.
 *
 * # Safety
 * `args` is from `rxlab_args_new`.
 */
const char *rxlab_host_counter_name(const struct rxlab_args *args, uint32_t i);

/**
 * The name of a NIC half's level `i`; NULL beyond the last.
 *
 * # Safety
 * `args` is from `rxlab_args_new`.
 */
const char *rxlab_level_name(const struct rxlab_args *args, uint32_t i);

/**
 * A NIC core without a thread.
 */
struct rxlab_nic_core *rxlab_nic_core_new(void);

/**
 * Starts a thread of the NIC core on `cpu`.
 *
 * # Safety
 * `nic_core` is from [`rxlab_nic_core_new`]; `err` has room for `err_len` bytes.
 */
int rxlab_nic_core_start(struct rxlab_nic_core *nic_core,
                         uint32_t cpu,
                         enum rxlab_idle idle,
                         char *err,
                         size_t err_len);

/**
 * One turn over all ports, for a NIC core without a thread; whether there was work.
 *
 * # Safety
 * `nic_core` is from [`rxlab_nic_core_new`].
 */
bool rxlab_nic_core_turn(struct rxlab_nic_core *nic_core);

/**
 * Ends the thread and frees the NIC core.
 *
 * # Safety
 * `nic_core` is from [`rxlab_nic_core_new`]; all its ports are freed; nobody uses it any more.
 */
void rxlab_nic_core_free(struct rxlab_nic_core *nic_core);

/**
 * A stopped port on `nic_core`, into `*out`.
 *
 * # Safety
 * `nic_core` and `args` are from their calls, `name` ends with a zero byte, `counters` is zeroed and stays until
 * the port is freed, `out` takes a pointer, `err` has room for `err_len` bytes.
 */
int rxlab_port_new(struct rxlab_nic_core *nic_core,
                   const struct rxlab_args *args,
                   const char *name,
                   const struct rxlab_counters *counters,
                   struct rxlab_port **out,
                   char *err,
                   size_t err_len);

/**
 * Frees a stopped and reset port; -ETIMEDOUT if the NIC core does not let go of it.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`], and nobody uses it any more.
 */
int rxlab_port_free(struct rxlab_port *port);

/**
 * Joins two ports with `source=pair` by a wire.
 *
 * # Safety
 * Both are from [`rxlab_port_new`]; `err` has room for `err_len` bytes.
 */
int rxlab_port_pair(struct rxlab_port *a, struct rxlab_port *b, char *err, size_t err_len);

/**
 * Takes the wire to the peer away, if there is one.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
int rxlab_port_unpair(struct rxlab_port *port);

/**
 * Sets the port below, or takes it away (`NULL`): no call of it is under way on return.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; `lower` is null or its calls work until it is taken away.
 */
int rxlab_port_lower(struct rxlab_port *port, const struct rxlab_lower *lower);

/**
 * Sets which frames the port takes, and its link.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; `filter` is filled in.
 */
int rxlab_port_filter(struct rxlab_port *port, const struct rxlab_filter *filter);

/**
 * Sets the longest frame that a started port receives, in bytes: no longer than its buffers take as it was started.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
int rxlab_port_max_frame(struct rxlab_port *port,
                         uint16_t bytes);

/**
 * Sets the VLANs whose frames pass, a bit for each in `VLAN_WORDS` words; `NULL` lets all pass.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; `bits` is null or has so many words.
 */
int rxlab_port_vlans(struct rxlab_port *port, const uint64_t *bits);

/**
 * Sets key, fields and indirection table.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; `rss` is filled in; `err` has room for `err_len` bytes.
 */
int rxlab_port_rss(struct rxlab_port *port, const struct rxlab_rss *rss, char *err, size_t err_len);

/**
 * Bytes of memory that the queues of `start` take, into `*bytes`.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; `start` is filled in but for its memory; `bytes` takes a number; `err`
 * has room for `err_len` bytes.
 */
int rxlab_port_memory(const struct rxlab_port *port,
                      const struct rxlab_start *start,
                      size_t *bytes,
                      char *err,
                      size_t err_len);

/**
 * Buffers that the rings of so many queues of so many descriptors hold posted.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
uint32_t rxlab_port_posted(const struct rxlab_port *port, uint32_t rx_desc, uint16_t queues);

/**
 * Makes the queues; nothing flows before [`rxlab_port_run`].
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; `start` is filled in, its memory zeroed, on a line of its own and there
 * until the port is reset; `err` has room for `err_len` bytes.
 */
int rxlab_port_start(struct rxlab_port *port,
                     const struct rxlab_start *start,
                     char *err,
                     size_t err_len);

/**
 * The NIC core serves the port from now on.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
int rxlab_port_run(struct rxlab_port *port);

/**
 * The NIC core touches nothing of the port on return: its queues can be drained.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
int rxlab_port_stop(struct rxlab_port *port);

/**
 * Drops the queues of a stopped and drained port: their pointers are void and its memory can be freed.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; nobody uses a queue of it.
 */
int rxlab_port_reset(struct rxlab_port *port);

/**
 * A half of an Rx queue of a started port; NULL beyond the last.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
struct rxlab_rxq *rxlab_port_rxq(struct rxlab_port *port, uint16_t queue, uint16_t half);

/**
 * A Tx queue of a started port; NULL beyond the last.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`].
 */
struct rxlab_txq *rxlab_port_txq(struct rxlab_port *port, uint16_t queue);

/**
 * Stops (then drain every half) or starts (then fill every half) one Rx queue.
 *
 * # Safety
 * `port` is from [`rxlab_port_new`]; nobody polls the queue.
 */
int rxlab_rxq_switch(struct rxlab_port *port, uint16_t queue, bool on);

/**
 * Stops (then drain) or starts one Tx queue.
 *
 * # Safety
 * As [`rxlab_rxq_switch`].
 */
int rxlab_txq_switch(struct rxlab_port *port, uint16_t queue, bool on);

/**
 * Receives up to `n` frames into `out`, and posts buffers from the end of `spares`; frames received.
 *
 * # Safety
 * `q` is from `rxlab_port_rxq` and polled by this thread alone; the arrays hold `n` and `n_spares` entries.
 */
uint16_t rxlab_rx_burst(struct rxlab_rxq *q,
                        struct rxlab_completion *out,
                        uint16_t n,
                        const uint64_t *spares,
                        uint16_t n_spares,
                        struct rxlab_refill *refill);

/**
 * As [`rxlab_rx_burst`], but waits for frames that the card keeps, `wait_us` at most; -ENOTSUP unless the interface is `ceio`.
 *
 * # Safety
 * As [`rxlab_rx_burst`].
 */
int rxlab_rx_wait(struct rxlab_rxq *q,
                  struct rxlab_completion *out,
                  uint16_t n,
                  const uint64_t *spares,
                  uint16_t n_spares,
                  struct rxlab_refill *refill,
                  uint32_t wait_us);

/**
 * Posts `n` buffers of the application's, from the first; how many, or -ENOTSUP unless the interface is `ceio`. No other
 * call posts any from then on, until the queue has stopped.
 *
 * # Safety
 * As [`rxlab_rx_burst`]; `bufs` holds `n` entries, each as large as the pool's and of nobody else.
 */
int rxlab_rx_post(struct rxlab_rxq *q,
                  const uint64_t *bufs,
                  uint16_t n);

/**
 * Posts buffers from the end of `spares`, `*used` of them; buffers that the rings still miss.
 *
 * # Safety
 * As [`rxlab_rx_burst`].
 */
uint32_t rxlab_rxq_fill(struct rxlab_rxq *q,
                        const uint64_t *spares,
                        uint16_t n_spares,
                        uint16_t *used);

/**
 * Hands every buffer of a stopped queue to `give`.
 *
 * # Safety
 * `q` is from `rxlab_port_rxq`; its port or it is stopped; nobody polls it.
 */
void rxlab_rxq_drain(struct rxlab_rxq *q, rxlab_give give, void *ctx);

/**
 * Frames that wait to be received.
 *
 * # Safety
 * `q` is from `rxlab_port_rxq` and polled by this thread alone.
 */
uint32_t rxlab_rxq_count(struct rxlab_rxq *q);

/**
 * State of the descriptor `offset` behind the next one to read: 0 empty, 1 received, -EINVAL beyond the ring.
 *
 * # Safety
 * As [`rxlab_rxq_count`].
 */
int rxlab_rxq_status(struct rxlab_rxq *q,
                     uint16_t offset);

/**
 * Posts whole frames; segments taken. The first segment of a frame with a tag before it begins with the tag, and
 * has an offset of `TAG`. `*freed`: so many of the oldest segments are read, and their mbufs, in
 * the order of posting, the caller's to free.
 *
 * # Safety
 * `q` is from `rxlab_port_txq` and used by this thread alone; `segments` holds `n` entries, whose bytes stay
 * until they are freed.
 */
uint16_t rxlab_tx_burst(struct rxlab_txq *q,
                        const struct rxlab_segment *segments,
                        uint16_t n,
                        uint32_t *freed);

/**
 * Segments read since the last call that told of them.
 *
 * # Safety
 * As [`rxlab_tx_burst`].
 */
uint32_t rxlab_txq_reclaim(struct rxlab_txq *q);

/**
 * All segments that are posted, after a stop.
 *
 * # Safety
 * As [`rxlab_tx_burst`]; the port or the queue is stopped.
 */
uint32_t rxlab_txq_drain(struct rxlab_txq *q);

/**
 * State of the descriptor `offset` behind the next one to write: 0 not read yet, 1 read or empty, -EINVAL beyond the ring.
 *
 * # Safety
 * As [`rxlab_tx_burst`].
 */
int rxlab_txq_status(struct rxlab_txq *q,
                     uint16_t offset);

/**
 * Makes an action that rules may share, COUNT, AGE or RSS: that of `rule`, which has no other. Its name into `*name`.
 *
 * # Safety
 * `port` is from `rxlab_port_new`, `rule` and what it names are filled in, `name` and `fault` are there.
 */
int rxlab_flow_share(const struct rxlab_port *port,
                     const struct rxlab_flow_rule *rule,
                     uint64_t *name,
                     struct rxlab_flow_fault *fault);

/**
 * Removes an action that no rule has any more.
 *
 * # Safety
 * `port` is from `rxlab_port_new`, `fault` is there.
 */
int rxlab_flow_unshare(const struct rxlab_port *port,
                       uint64_t name,
                       struct rxlab_flow_fault *fault);

/**
 * What an action is, a `FlowAct`, into `*act`.
 *
 * # Safety
 * As [`rxlab_flow_unshare`]; `act` is there.
 */
int rxlab_flow_shared_act(const struct rxlab_port *port,
                          uint64_t name,
                          uint8_t *act,
                          struct rxlab_flow_fault *fault);

/**
 * What all rules of a COUNT have counted since it was made or reset.
 *
 * # Safety
 * As [`rxlab_flow_unshare`]; `count` is there.
 */
int rxlab_flow_shared_count(const struct rxlab_port *port,
                            uint64_t name,
                            bool reset,
                            struct rxlab_flow_count *count,
                            struct rxlab_flow_fault *fault);

/**
 * How old an AGE is.
 *
 * # Safety
 * As [`rxlab_flow_unshare`]; `age` is there.
 */
int rxlab_flow_shared_age(const struct rxlab_port *port,
                          uint64_t name,
                          struct rxlab_flow_age *age,
                          struct rxlab_flow_fault *fault);

/**
 * Changes an AGE: it is old after `seconds` without a frame, 0 for never, -1 for as before. With `touch` they begin now.
 *
 * # Safety
 * As [`rxlab_flow_unshare`].
 */
int rxlab_flow_update_age(const struct rxlab_port *port,
                          uint64_t name,
                          int32_t seconds,
                          bool touch,
                          struct rxlab_flow_fault *fault);

/**
 * Changes an RSS to that of `rule`, for all rules that have it.
 *
 * # Safety
 * As [`rxlab_flow_share`].
 */
int rxlab_flow_update_rss(const struct rxlab_port *port,
                          uint64_t name,
                          const struct rxlab_flow_rule *rule,
                          struct rxlab_flow_fault *fault);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
