/*
 * agent/watch.h - the live stream's source: one line for each place where a buffer leaked for the
 * first time since the start or the last reset, at most 50 lines a second; further places of that
 * second are counted in one line.
 *
 * Invariant: the tracker numbers what it finds (its tombs, trie/tracker.h) from 1, and a reset
 * begins anew; `seen` of them have been looked at.
 *
 * Called by: agent/worker.c. Threads: the agent thread.
 */
#ifndef BBF_AGENT_WATCH_H
#define BBF_AGENT_WATCH_H

/* After a scan, and once a second. */
void bbf_watch_look(void);
/* After a reset: forget what was published. */
void bbf_watch_reset(void);

#endif
