/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/duties.h - what the agent thread does: a table of duties that it polls whenever it is
 * awake, and the jobs that other threads hand to it (agent/thread.h). A new duty, as a sink of
 * events, is one row in duties.c.
 */
#ifndef BBF_AGENT_DUTIES_H
#define BBF_AGENT_DUTIES_H

/* Give the agent thread its duties; it is not started. Once, before any JVMTI event is enabled. */
void bbf_duties_init(void);

#endif
