/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/stream.h - the server's live stream, for all parts of the agent that publish lines.
 *
 * Invariant: bbf_agent.server changes under this file's lock only, and no function here uses a
 * server after bbf_stream_close() has returned it. So the agent thread may publish while another
 * thread stops the server.
 *
 * Threads: any. Without a server the functions do nothing and return 0, or true.
 */
#ifndef BBF_AGENT_STREAM_H
#define BBF_AGENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_server;

/* `server` is the one to publish to from now on; the caller keeps it. */
void bbf_stream_open(struct bbf_server *server);
/* Publish to no server any more; returns the one that was open, or NULL. */
struct bbf_server *bbf_stream_close(void);

/* Send a line, which ends with '\n', to all clients that watch, now and later. The text is copied.
 * false: no memory, a server does not have it.
 */
bool bbf_stream_publish(const char *text, size_t len);
/* Forget all lines: a client that begins later does not get them. */
void bbf_stream_unpublish(void);
/* How many lines were published: the place of the next one. */
uint64_t bbf_stream_published(void);
/* Does a client watch? */
bool bbf_stream_is_watched(void);
/* Processor time of the server's thread, in nanoseconds. */
uint64_t bbf_stream_cpu_ns(void);

#endif
