/*
 * agent/serve.h - what the server's commands mean here (design D9): EVENT names and SET_PARAMS.
 *
 * Called by: agent/lifecycle.c (start), wire/server.c (callbacks, in the server's thread).
 */
#ifndef BBF_AGENT_SERVE_H
#define BBF_AGENT_SERVE_H

/* Start the server. Failure is logged; the application goes on without one. */
void bbf_serve_start(void);
/* Stop it and remove the socket; waits at most `timeout_ms`. */
void bbf_serve_stop(unsigned timeout_ms);

#endif
