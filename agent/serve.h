/*
 * agent/serve.h - what the server's commands mean here (design D9): EVENT names and SET_PARAMS;
 * where it listens, the token, the properties by which it is found.
 *
 * Called by: agent/lifecycle.c (start, stop), agent/watch.c (stream), wire/server.c (callbacks, in
 * the server's thread).
 */
#ifndef BBF_AGENT_SERVE_H
#define BBF_AGENT_SERVE_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

/* Start the server. Failure is logged; the application goes on without one. `env`: the caller's. */
void bbf_serve_start(JNIEnv *env);
/* Stop it, remove socket, token file and, unless `env` is NULL, the properties; waits at most
 * `timeout_ms`. */
void bbf_serve_stop(JNIEnv *env, unsigned timeout_ms);
/* A line for the live stream, and the end of all that were; nothing without a server. Any thread.
 */
void bbf_serve_publish(const char *text, size_t len);
void bbf_serve_unpublish(void);
/* Processor time of the server's thread, in nanoseconds; 0 without one. Any thread. */
uint64_t bbf_serve_cpu_ns(void);

#endif
