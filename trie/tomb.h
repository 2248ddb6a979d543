/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/tomb.h - the record of the lives that ended at one place by the agent's verdict (design.md:
 * verdicts): how many, their bytes, how long they had been open and which threads opened them. A
 * report makes the same record of open lives that it considers aged (trie/capture.c).
 *
 * Ages are whole seconds in log2 buckets: 0, 1, 2-3, 4-7, … Openers are counted by "Space Saving"
 * (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data
 * Streams, 2005): exact up to BBF_OPENERS threads; with more, a thread that opened more than
 * 1/BBF_OPENERS of the lives is always among them, and it opened at least lives - over.
 *
 * Threads: only the agent thread.
 */
#ifndef BBF_TRIE_TOMB_H
#define BBF_TRIE_TOMB_H

#include <stdint.h>

enum { BBF_AGES = 24, BBF_OPENERS = 6 };

enum bbf_end { BBF_END_LEAKED, BBF_END_HELD, BBF_END_HARMLESS, BBF_END_UNKNOWN };
enum { BBF_ENDS = BBF_END_UNKNOWN + 1 };

struct bbf_opener {
    uint32_t tid;         /* low half of Thread.tid; 0 = not known (map mode) */
    uint32_t lives, over; /* at most; up to `over` of them may be another thread's */
};

struct bbf_tomb {
    uint64_t count, bytes;
    uint64_t references;               /* sum of the references left */
    uint64_t reported, reported_bytes; /* of these, in events (agent/report/watch.c) */
    uint64_t kept;       /* while a report is made: bytes of open lives that these leaks retain */
    uint32_t node, next; /* the node's next tomb, 0 = none */
    uint32_t oldest;     /* longest time open, seconds */
    uint8_t end, memory; /* enum bbf_end, enum bbf_memory */
    uint8_t lost;        /* enum bbf_lost (snapshot/snapshot.h) */
    uint32_t ages[BBF_AGES];
    struct bbf_opener openers[BBF_OPENERS];
};

/* A life that ended, or that is aged. */
struct bbf_loss {
    uint32_t node;
    enum bbf_end end;
    uint8_t memory, lost;
    uint64_t bytes;
    uint32_t seconds, tid; /* how long it was open; the thread that opened it, 0 = not known */
    uint32_t references;   /* its count, as the hooks know it; 0 = not known */
    uint64_t handle;       /* of a life that a scan ended; else 0 */
};

/* Add the life. */
void bbf_tomb_add(struct bbf_tomb *tomb, const struct bbf_loss *loss);

/* The median age in seconds: interpolated within its bucket by the share of lives, never above the
 * oldest. */
uint32_t bbf_tomb_p50(const struct bbf_tomb *tomb);

/* The thread that opened most, 0 = not known; *lives: the least number that it opened. */
uint32_t bbf_tomb_opener(const struct bbf_tomb *tomb, uint64_t *lives);

#endif
