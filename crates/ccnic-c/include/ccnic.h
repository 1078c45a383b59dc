/* Frames between two processes over shared memory: see README.md beside this directory. Link with -lccnic.
 *
 * A call that can fail returns a negative errno and leaves a line for ccnic_error():
 *
 *   EINVAL           an argument, a size or a call that is not allowed
 *   ERANGE           bytes outside a buffer, or a buffer that the link does not have
 *   EPIPE            the other side is gone
 *   EPROTONOSUPPORT  the other side is configured otherwise
 *   EPROTO           the other side is no channel
 *   EADDRNOTAVAIL    the path: nobody listens there, or it cannot be listened at
 *   EFAULT           a fault of this library
 *   others           of the system
 *
 * Made from crates/ccnic-c/src by the crate's test `header`: do not edit. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * One side of a link. For one thread at a time.
 */
struct ccnic_channel;

/**
 * Waits for others to connect. For one thread at a time.
 */
struct ccnic_listener;

/**
 * One piece of a frame in a buffer.
 */
struct ccnic_segment {
  /**
   * The buffer.
   */
  uint64_t buf;
  /**
   * Its first byte there.
   */
  uint16_t off;
  /**
   * Bytes.
   */
  uint16_t len;
  /**
   * 1 if the frame ends with it, else 0.
   */
  uint8_t last;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The line of the last call of this thread that failed: what was wrong, and what is allowed. Empty before any did. It
 * stays until the thread's next call that fails. Never NULL.
 */
const char *ccnic_error(void);

/**
 * Listens at `path`, for links of this configuration: `KEY=VALUE,...` of `layout`, `back`, `ring`, `buffers`, `bytes` and
 * `events`, or NULL for the default. Puts the listener into `*listener` and returns 0, or a negative errno.
 *
 * # Safety
 * `path` and `config` end with a zero byte; `listener` takes a pointer.
 */
int ccnic_listen(const char *path,
                 const char *config,
                 struct ccnic_listener **listener);

/**
 * Waits for the next link for `timeout_ms` milliseconds at most, for ever if that is negative. Puts it into `*channel`
 * and returns 1; returns 0 if nobody came, or a negative errno: somebody came who is configured otherwise, is no channel
 * or is gone. The next call waits for another one.
 *
 * # Safety
 * `listener` is NULL or came from [`ccnic_listen`] and is not closed; `channel` takes a pointer.
 */
int ccnic_accept(struct ccnic_listener *listener,
                 int timeout_ms,
                 struct ccnic_channel **channel);

/**
 * Ends a listener. Its links go on.
 *
 * # Safety
 * `listener` is NULL, or came from [`ccnic_listen`] and is used no more.
 */
void ccnic_close_listener(struct ccnic_listener *listener);

/**
 * Connects to the listener at `path`, with a configuration as [`ccnic_listen`] has it. Puts the link into `*channel` and
 * returns 0, or a negative errno.
 *
 * # Safety
 * As [`ccnic_listen`].
 */
int ccnic_connect(const char *path,
                  const char *config,
                  struct ccnic_channel **channel);

/**
 * Ends a link, and gives its memory back.
 *
 * # Safety
 * `channel` is NULL, or came from [`ccnic_accept`] or [`ccnic_connect`], and neither it nor what [`ccnic_buffer`] gave
 * is used any more.
 */
void ccnic_close(struct ccnic_channel *channel);

/**
 * Whether the other side is there, at the cost of a system call: 1 or 0.
 *
 * # Safety
 * `channel` is NULL or came from [`ccnic_accept`] or [`ccnic_connect`], and is not closed.
 */
int ccnic_alive(struct ccnic_channel *channel);

/**
 * Takes back what the other side had, once it is gone: how many buffers. Frames that were not received are lost.
 *
 * # Safety
 * As [`ccnic_alive`].
 */
int ccnic_reclaim(struct ccnic_channel *channel);

/**
 * Takes up to `n` buffers into `bufs`; how many there were, or a negative errno.
 *
 * # Safety
 * `channel` is NULL or came from [`ccnic_accept`] or [`ccnic_connect`], and is not closed; `bufs` has room for `n`.
 */
int ccnic_alloc(struct ccnic_channel *channel,
                uint64_t *bufs,
                uint32_t n);

/**
 * Gives `n` buffers back that this side holds; 0, or a negative errno. Those that it does not hold stay where they are.
 *
 * # Safety
 * As [`ccnic_alloc`]; `bufs` has `n` entries.
 */
int ccnic_free(struct ccnic_channel *channel,
               const uint64_t *bufs,
               uint32_t n);

/**
 * Sends as many whole frames of `n` segments as there is room for; the segments taken, or a negative errno. Their buffers
 * are the other side's from then on. A segment outside its buffer is an error, and nothing is sent. A frame with a buffer
 * that this side does not hold goes nowhere.
 *
 * # Safety
 * As [`ccnic_alloc`]; `segs` has `n` entries.
 */
int ccnic_tx_burst(struct ccnic_channel *channel,
                   const struct ccnic_segment *segs,
                   uint32_t n);

/**
 * Receives up to `n` segments into `segs`; how many, or a negative errno: `-EPIPE` once the other side is gone and all
 * that it sent is received. Their buffers are this side's from then on. A frame ends with a segment that says so, perhaps
 * in a later call.
 *
 * # Safety
 * As [`ccnic_alloc`]; `segs` has room for `n`.
 */
int ccnic_rx_burst(struct ccnic_channel *channel,
                   struct ccnic_segment *segs,
                   uint32_t n);

/**
 * As [`ccnic_rx_burst`] for up to 32 segments, but sleeps while there is nothing, for `timeout_ms` milliseconds at most,
 * for ever if that is negative. 0 if the time is up.
 *
 * # Safety
 * As [`ccnic_rx_burst`].
 */
int ccnic_wait(struct ccnic_channel *channel,
               struct ccnic_segment *segs,
               uint32_t n,
               int timeout_ms);

/**
 * Copies `len` bytes to `off` of a buffer, which this side should hold; 0, or a negative errno: the link has no such
 * buffer, or they do not fit.
 *
 * # Safety
 * `channel` is NULL or came from [`ccnic_accept`] or [`ccnic_connect`], and is not closed; `bytes` has `len` bytes.
 */
int ccnic_write(struct ccnic_channel *channel,
                uint64_t buf,
                uint32_t off,
                const void *bytes,
                uint32_t len);

/**
 * Copies `len` bytes from `off` of a buffer, which this side should hold; 0, or a negative errno as [`ccnic_write`] has.
 * Judge the copy: a hostile peer may change the buffer meanwhile.
 *
 * # Safety
 * As [`ccnic_write`]; `bytes` has room for `len`.
 */
int ccnic_read(struct ccnic_channel *channel,
               uint64_t buf,
               uint32_t off,
               void *bytes,
               uint32_t len);

/**
 * Where `len` bytes at `off` of a buffer lie, to write or read them in place as long as this side holds it; NULL if the
 * link has no such buffer, or not so many bytes in it. The other side can change them at any time: copy what you judge.
 *
 * # Safety
 * As [`ccnic_write`].
 */
void *ccnic_buffer(struct ccnic_channel *channel,
                   uint64_t buf,
                   uint32_t off,
                   uint32_t len);

/**
 * The buffers of this side, into `*free` those that it keeps and into `*held` those that the program holds; 0, or a negative
 * errno.
 *
 * # Safety
 * As [`ccnic_write`]; `free` and `held` take a number each.
 */
int ccnic_buffers(struct ccnic_channel *channel,
                  uint64_t *free,
                  uint64_t *held);

/**
 * Bytes of a buffer, or a negative errno.
 *
 * # Safety
 * As [`ccnic_write`].
 */
int ccnic_bytes(struct ccnic_channel *channel);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#if defined(__cplusplus)
#define CCNIC_ASSERT(what) static_assert(what, #what)
#else
#define CCNIC_ASSERT(what) _Static_assert(what, #what)
#endif
CCNIC_ASSERT(sizeof(struct ccnic_segment) == 16);
CCNIC_ASSERT(offsetof(struct ccnic_segment, buf) == 0);
CCNIC_ASSERT(offsetof(struct ccnic_segment, off) == 8);
CCNIC_ASSERT(offsetof(struct ccnic_segment, len) == 10);
CCNIC_ASSERT(offsetof(struct ccnic_segment, last) == 12);
#undef CCNIC_ASSERT
