/* Made from crates/kv/src/lib.rs by its test `header`: do not edit. */

#pragma once

#include <stdint.h>

/**
 * A partition of the store and what serves it.
 */
struct rxlab_kv;

/**
 * Partition `partition` of `partitions`, with room for `items` of 128 B keys and 1024 B values (1.2 KB each,
 * taken from the system as they arrive). NULL if there are fewer partitions, or no memory.
 */
struct rxlab_kv *rxlab_kv_new(uint32_t partition,
                              uint32_t partitions,
                              uint64_t items);

/**
 * Serves the request in the frame of `len` bytes at `frame`, and puts the reply in its place. Returns the
 * reply's length; 0 if the frame is no request, which gets no reply.
 *
 * # Safety
 * `kv` came from [`rxlab_kv_new`], is not freed, and no other thread uses it now. `frame` points to `room`
 * bytes, at least `len` and 64, valid for reads and writes by this call alone.
 */
uint16_t rxlab_kv_serve(struct rxlab_kv *kv,
                        uint8_t *frame,
                        uint16_t len,
                        uint16_t room);

/**
 * Ends a partition.
 *
 * # Safety
 * `kv` came from [`rxlab_kv_new`] and is used no more.
 */
void rxlab_kv_free(struct rxlab_kv *kv);

/**
 * The partition among `partitions` that a frame is for, as its UDP destination port says; `partitions`
 * if it says none.
 *
 * # Safety
 * `frame` points to `len` bytes, valid for reads during this call.
 */
uint32_t rxlab_kv_partition(const uint8_t *frame,
                            uint16_t len,
                            uint32_t partitions);
