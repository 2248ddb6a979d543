/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/blackbox.h - the file of option blackbox=, as bytes (ADR 50):
 *
 *     0     head   what the file is, and whose
 *     1024  beat   when its process was last alive, and how it ended
 *     4096  slot 0: 64 bytes about the document, the document (bbflow-snapshot/1)
 *     4096 + slot_bytes  slot 1: the same
 *
 * A document is written to the slot that does not have the newest one. Each part has a hash, so
 * that a part that was cut short is recognised, wherever the writer was killed: what the other slot
 * has is then still whole. Numbers are little endian.
 *
 * Pure functions. Threads: any.
 */
#ifndef BBF_CORE_BLACKBOX_H
#define BBF_CORE_BLACKBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BBF_BOX_HEAD_BYTES = 1024,
    BBF_BOX_BEAT_BYTES = 64,
    BBF_BOX_SLOT_HEAD = 64, /* bytes before a slot's document */
    BBF_BOX_SLOTS_AT = 4096,
    BBF_BOX_SLOTS = 2,
    BBF_BOX_MAIN = 512,
    BBF_BOX_VERSION = 64
};
#define BBF_BOX_SLOT_MAX (UINT64_C(1) << 29) /* bytes of a slot; a reader refuses more */

/* Times are milliseconds since 1970. */
struct bbf_box_head {
    int64_t pid;        /* as its own namespace has it */
    int64_t started_ms; /* the JVM; 0: not known */
    int64_t begun_ms;   /* the file */
    uint64_t slot_bytes, interval_ms;
    uint64_t inode; /* of the file: a copy has another, and no lock says whether the JVM lives */
    char version[BBF_BOX_VERSION]; /* of the agent */
    char main[BBF_BOX_MAIN];       /* main class or jar, "" = not known */
};

enum bbf_box_state {
    BBF_BOX_RUNNING, /* or killed */
    BBF_BOX_ENDED,   /* the JVM's exit */
    BBF_BOX_STOPPED  /* bbflow was stopped, or blackbox= was changed */
};

struct bbf_box_beat {
    uint64_t number;
    int64_t alive_ms;
    enum bbf_box_state state;
    uint64_t memory_used, memory_limit; /* of the cgroup, bytes; limit 0: none is known */
};

struct bbf_box_slot {
    uint64_t number; /* of the document, from 1; the higher is the newer */
    int64_t captured_ms;
    uint64_t len;
};

/* What a reader finds. `document` is inside the bytes that were read. */
struct bbf_box {
    struct bbf_box_head head;
    bool has_beat;
    struct bbf_box_beat beat;
    struct bbf_box_slot slot;
    const char *document; /* NULL: no whole one is there */
    unsigned damaged;     /* slots that have something, but nothing whole */
};

void bbf_box_put_head(char out[BBF_BOX_HEAD_BYTES], const struct bbf_box_head *head);
void bbf_box_put_beat(char out[BBF_BOX_BEAT_BYTES], const struct bbf_box_beat *beat);
/* `document` has slot->len bytes. */
void bbf_box_put_slot(char out[BBF_BOX_SLOT_HEAD], const struct bbf_box_slot *slot,
                      const char *document);
/* Where slot number `i` begins. */
uint64_t bbf_box_slot_at(uint64_t slot_bytes, unsigned i);

/* Do the bytes begin like such a file, of whatever version? */
bool bbf_box_is(const char *data, size_t len);
/*
 * Read a file of any bytes. BBF_EFORMAT: it is no such file, or its head is damaged; BBF_EVERSION;
 * `why` for a person. BBF_OK without a document: there was none yet, or both are damaged.
 */
int bbf_box_read(struct bbf_box *box, const char *data, size_t len, char *why, size_t why_size);

#endif
