/*
 * agent/lifecycle.h - the agent's states and the JVMTI events that move it:
 *
 *   loaded (OnLoad: options, tracker, environments; no class hook yet, so CDS and AOT caches stay)
 *     └─ VMInit ──> tracking (shim, hooks, retransformation of loaded classes, worker, server)
 *          └─ VMDeath ──> ended (last scan, file=; hooks off; memory stays: daemon threads step on)
 *
 * Called by: agent/agent.c (install), the JVM (callbacks).
 */
#ifndef BBF_AGENT_LIFECYCLE_H
#define BBF_AGENT_LIFECYCLE_H

/* Make both environments, ask for their capabilities, set the callbacks. BBF_EREFUSED (logged). */
int bbf_lifecycle_install(void);

/* Ask for the collection of gc=exit and wait for it, bounded. In a thread of the JVM's shutdown. */
void bbf_lifecycle_exit_gc(void);

#endif
