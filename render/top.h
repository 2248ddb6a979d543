/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/top.h - the places that lose buffers as a table of numbers, for `bbflow top`: what one
 * screen shows, the order that a person chooses, and what is new since the table before.
 *
 * Threads: one owner. Errors: BBF_ENOMEM; BBF_EFORMAT as render/view.h. Units: lives, bytes,
 * seconds. All texts are escaped (core/safe.h).
 */
#ifndef BBF_RENDER_TOP_H
#define BBF_RENDER_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "snapshot/snapshot.h"

/* One row for each order: id, key, its word for --sort. */
#define BBF_TOP_ORDERS(XX)                                                                         \
    XX(WORST, 'w', worst)                                                                          \
    XX(LOST, 'l', lost)                                                                            \
    XX(NEW, 'n', new)                                                                              \
    XX(RATE, 'r', rate)                                                                            \
    XX(BYTES, 'b', bytes)                                                                          \
    XX(SPEED, 's', speed)                                                                          \
    XX(OLDEST, 'o', oldest)                                                                        \
    XX(PLACE, 'p', place)

enum bbf_top_order {
#define XX(id, key, word) BBF_TOP_##id,
    BBF_TOP_ORDERS(XX)
#undef XX
        BBF_TOP_N_ORDERS
};

struct bbf_top_place {
    uint64_t id;     /* render/fingerprint.h */
    uint32_t number; /* in the order of `bbflow leaks`, from 0 */
    bool proven;     /* at least one is; else all are open for too long */
    uint64_t lost, passed, bytes;
    uint64_t fresh; /* lost since the table before */
    uint64_t oldest_seconds;
    double lives_speed, bytes_speed; /* a second; 0: none is known */
    char *place;                     /* the method to look at */
    char *look;                      /* the same, and what it lent them to */
    char *way;                       /* "A.a -> B.b -> [12 steps] -> C.c" */
    char *numbers;                   /* "12 of 40 (30.0%), 3.0 KiB direct, since 14:02Z" */
};

struct bbf_top {
    struct bbf_top_place *places;
    size_t n;
    bool compared;  /* there was a table before, of the same JVM: `fresh` is known */
    int64_t at_ms;  /* since 1970 */
    int64_t pid;    /* as the agent sees it */
    uint64_t lives; /* that were opened */
    char *title;    /* "com.app.Main (4711)  2 places lose buffers" */
    char *clock;    /* "14:02:03Z" */
    char *totals, *memory;
    char *notes; /* what was not seen, a line each */
    size_t n_notes;
};

/* Make the table; `before` is the last one, or NULL. After an error there is nothing to free. */
int bbf_top_make(struct bbf_top *top, const struct bbf_snapshot *snapshot,
                 const struct bbf_top *before);
void bbf_top_free(struct bbf_top *top);

/* Sort the places: the largest first, names from a to z; `inverted`: the other way round. Equal
 * ones keep the order of `bbflow leaks`. */
void bbf_top_sort(struct bbf_top *top, enum bbf_top_order order, bool inverted);

/* "bytes"; the order of a word or of a key, BBF_TOP_N_ORDERS: there is none. */
const char *bbf_top_order_name(enum bbf_top_order order);
enum bbf_top_order bbf_top_order_of(const char *word);
enum bbf_top_order bbf_top_order_of_key(int key);

/* The head of the columns, and a place's row, without a line end. In less than `width` columns
 * (0: any number) the less important are left out. */
void bbf_top_columns(struct bbf_buf *out, size_t width);
void bbf_top_row(struct bbf_buf *out, const struct bbf_top *top, size_t place, size_t width);

/* The whole table as text. */
void bbf_top_text(struct bbf_buf *out, const struct bbf_top *top);

#endif
