/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/worker.h - the agent thread: the only thread of ours that is attached to the JVM. It scans
 * after each GC, and does what the server and the exit ask of it, one request at a time.
 *
 * Threads: any may ask; a request blocks its caller, never an application's thread (but VMDeath's,
 * bounded).
 */
#ifndef BBF_AGENT_WORKER_H
#define BBF_AGENT_WORKER_H

#include <jni.h>
#include <stdbool.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* Start the thread; it attaches itself. BBF_EIO. */
int bbf_worker_start(void);
/* Attached: have the thread begin (BBF_REQUEST_BEGIN), started if it is not there; nobody waits.
 * One caller at a time. BBF_EIO. */
int bbf_worker_begin(void);
/* End the thread and wait for it, at most `timeout_ms`: HotSpot lets an exit wait 300 ms for every
 * attached thread that is in native code (VM_Exit::wait_for_threads_in_native_to_block). */
void bbf_worker_leave(unsigned timeout_ms);
/* A GC finished: only a wake-up, safe in the collector's callback. */
void bbf_worker_wake(void);

/* So many seconds from now, for deadline_ns; 0 stays 0. Any thread. */
uint64_t bbf_worker_deadline(uint64_t seconds);

/* The agent thread itself: scan, then capture, as a request for a snapshot has it. */
int bbf_worker_snapshot(JNIEnv *env, struct bbf_snapshot *snapshot);

enum bbf_request_kind {
    BBF_REQUEST_SNAPSHOT, /* scan, then capture; `gc`: ask the JVM for a GC first */
    BBF_REQUEST_FILE,     /* the same, and write file=; `text`: why it could not be */
    BBF_REQUEST_RESET,    /* both kinds scan first */
    BBF_REQUEST_RESET_NODES,
    BBF_REQUEST_APPLY, /* options changed: retransform, limits, roots */
    BBF_REQUEST_GC,    /* what gc=exit asks: slots to weak references, then a GC */
    BBF_REQUEST_WATCH, /* a client of the live stream begins: scan, then what it has to know */
    BBF_REQUEST_BEGIN, /* attached: follow what the options say */
    BBF_REQUEST_STOP   /* put everything back; the thread ends when no life is open */
};

struct bbf_request {
    enum bbf_request_kind kind;
    bool gc;
    unsigned effects;               /* APPLY: enum bbf_option_effect */
    const struct bbf_rules *before; /* APPLY: the rules that were in force */
    struct bbf_snapshot *snapshot;  /* SNAPSHOT, FILE: owned by the caller */
    struct bbf_buf *text;           /* APPLY, STOP: what was done, for a person; may be NULL.
                                     * WATCH: the totals so far, a line each */
    uint64_t place;                 /* WATCH: where it goes on in the live stream */
    uint64_t deadline_ns;           /* CLOCK_MONOTONIC; 0 = none; see bbf_worker_ask() */
    /* private */
    int result;
    bool done, taken;
    struct bbf_request *next;
};

/*
 * Hand a request to the agent thread and wait. BBF_ETIMEOUT after `timeout_ms` if it was not begun,
 * and after `finish_ms` (0: no limit) if it was: then the agent thread still has it, and the
 * request and all that it points to must stay for good. BBF_ECLOSED when the thread is gone;
 * otherwise the request's own result. With a deadline_ns neither wait is longer than to there, and
 * then 200 ms for a request that is being done.
 */
int bbf_worker_ask(struct bbf_request *request, unsigned timeout_ms, unsigned finish_ms);

#endif
