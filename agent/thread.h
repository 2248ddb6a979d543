/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/thread.h - the agent's own thread: its start and end, its wake-ups, and a queue of jobs
 * that other threads post. It knows no duty of the agent and nothing of the JVM: its work comes as
 * a struct bbf_thread_body (agent/duties.c). So every part of the agent may include this file.
 *
 * Invariants: jobs are done one at a time, in the order in which they were asked for. A job that
 * was not begun in time is taken out of the queue; one that was begun stays the thread's until it
 * is answered. When the thread ends, every job that waits is answered with BBF_ECLOSED, and so is
 * one that it died with; from then on no job is accepted, until the next post_attach().
 *
 * Threads: any, unless a function says otherwise. Only ask() and leave() block, both bounded by
 * their arguments; an application's thread calls neither, except the one that ends the JVM.
 */
#ifndef BBF_AGENT_THREAD_H
#define BBF_AGENT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct bbf_buf;
struct bbf_rules;
struct bbf_snapshot;

enum bbf_job_kind {
    BBF_JOB_SNAPSHOT, /* scan, then capture; `gc`: ask the JVM for a collection first */
    BBF_JOB_FILE,     /* the same, then write file=; `text`: why it could not be written */
    BBF_JOB_RESET,    /* both kinds of reset scan first */
    BBF_JOB_RESET_NODES,
    BBF_JOB_APPLY,    /* options have changed: retransform, limits, roots */
    BBF_JOB_GC,       /* gc=exit: slots to weak references, then a collection */
    BBF_JOB_WATCH,    /* a client of the live stream begins: scan, then what it has to know */
    BBF_JOB_RECORDED, /* the JVM ends: scan, then end the recording of jfr= */
    BBF_JOB_ATTACH,   /* attached: follow what the options name */
    BBF_JOB_DETACH    /* put everything back; the thread ends when no life is open */
};

/* A job that another thread posts to the agent thread. The caller owns the memory. */
struct bbf_job {
    enum bbf_job_kind kind;
    bool gc;
    unsigned effects;               /* APPLY: enum bbf_option_effect */
    const struct bbf_rules *before; /* APPLY: the rules that were in force */
    struct bbf_snapshot *snapshot;  /* SNAPSHOT, FILE: owned by the caller */
    struct bbf_buf *text;           /* APPLY, DETACH: what was done, for a person; may be NULL.
                                     * WATCH: the totals so far, a line each */
    uint64_t place;                 /* WATCH: the client's place in the live stream */
    uint64_t deadline_ns;           /* CLOCK_MONOTONIC; 0 = none; see bbf_thread_ask() */
    /* private */
    int result;
    bool done, taken;
    unsigned start; /* taken: the start of the thread that took it */
    struct bbf_job *next;
};

enum bbf_thread_end {
    BBF_THREAD_DRAINED, /* is_over(); another thread may have been started already */
    BBF_THREAD_LEFT,    /* bbf_thread_leave() */
    BBF_THREAD_DIED     /* something else: pthread_exit, pthread_cancel */
};

/* The thread's work. All functions are called in the thread itself. */
struct bbf_thread_body {
    /* First. Returns the `context` of the other calls (the thread's JNIEnv); NULL: it cannot work,
     * why is logged, and it ends. */
    void *(*begin)(void);
    /* How long may the thread sleep, in milliseconds? Asked before each sleep. */
    unsigned (*wait_ms)(void *context);
    /* After each sleep: look after everything; take and answer one job, if there is one. */
    void (*work)(void *context);
    /* Before each sleep: is nothing left to do? Then the thread ends, unless a job waits. */
    bool (*is_over)(void *context);
    /* Last. */
    void (*end)(void *context, enum bbf_thread_end how);
};

/* Once, before all the others; `body` is kept. */
void bbf_thread_init(const struct bbf_thread_body *body);
/* Start the thread. BBF_EIO. */
int bbf_thread_start(void);
/* Post a BBF_JOB_ATTACH, after starting the thread if there is none; does not wait. One caller at a
 * time. BBF_EIO. */
int bbf_thread_post_attach(void);
/* End the thread and wait for it, at most `timeout_ms`: HotSpot lets an exit wait 300 ms for every
 * attached thread that is in native code (VM_Exit::wait_for_threads_in_native_to_block). */
void bbf_thread_leave(unsigned timeout_ms);

/* Have the thread work now instead of at the end of its sleep. Wait-free, safe in a hook. */
void bbf_thread_wake(void);
/* A garbage collection finished: a scan is due. The thread wakes if none was due before, or if this
 * one is urgent. Safe in the collector's callback. */
void bbf_thread_gc_finished(bool urgent);
/* Has a garbage collection finished since the last clear_gc()? */
bool bbf_thread_has_gc(void);
void bbf_thread_clear_gc(void);

/* CLOCK_MONOTONIC that many seconds from now, for deadline_ns; 0 stays 0. */
uint64_t bbf_thread_deadline(uint64_t seconds);

/*
 * Hand a job to the thread and wait. BBF_ETIMEOUT after `timeout_ms` if it was not begun, and after
 * `finish_ms` (0: no limit) if it was: then the agent thread still uses it, and the job and all
 * that it points to must never be freed. BBF_ECLOSED when the thread is gone; otherwise the job's
 * own result. With a deadline_ns neither wait is longer than to there, and then 200 ms for a job
 * that is being done.
 */
int bbf_thread_ask(struct bbf_job *job, unsigned timeout_ms, unsigned finish_ms);

/* The body's work(): the job that has waited longest, or NULL; it must be answered. */
struct bbf_job *bbf_thread_take(void);
void bbf_thread_answer(struct bbf_job *job, int result);

#endif
