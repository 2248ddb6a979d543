/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/json_reader.h - what json_read.c (the document and its tables) and json_head.c (its other
 * members) share: the reader's position, its errors, and the conversion of values to C.
 *
 * Threads: one owner. Errors: BBF_EFORMAT with `why` filled, BBF_ENOMEM; the first ends the
 * reading.
 */
#ifndef BBF_RENDER_JSON_READER_H
#define BBF_RENDER_JSON_READER_H

#include "snapshot/snapshot.h"

#include <json-c/json.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_json_reader {
    const char *text;
    size_t len;
    size_t pos;    /* next byte to look at */
    size_t row_at; /* where the value being taken apart begins: what errors name */
    struct json_tokener *tokener;
    struct bbf_snapshot *snapshot;
    size_t sites_cap, nodes_cap, leaks_cap, threads_cap, misuses_cap, pins_cap, growth_cap,
        callers_cap, usage_cap, contexts_cap;
    unsigned seen; /* bit per entry of members[] */
    char *why;
    size_t why_size;
};

/* For what is wrong between rows: their numbers say where. */
#define BBF_JSON_NOWHERE SIZE_MAX

/* What a member of a row is called in an error: "nodes[17].parent"; row SIZE_MAX: "jvm.pid". */
struct bbf_json_place {
    const char *table;
    size_t row;
};

/* Say what is wrong at a byte of the document: BBF_EFORMAT. */
int bbf__json_fail(struct bbf_json_reader *r, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int bbf__json_fail_member(struct bbf_json_reader *r, const struct bbf_json_place *place,
                          const char *member, const char *problem);

void bbf__json_skip_space(struct bbf_json_reader *r);
/* The next byte that is no space, '\0' at the end (a NUL in the document is as wrong). */
char bbf__json_peek(struct bbf_json_reader *r);
/* Go beyond `c`, which has to come next; `where` ends the sentence otherwise. */
int bbf__json_expect(struct bbf_json_reader *r, char c, const char *where);
/* Parse one value of any kind. *value is the caller's (json_object_put), NULL for null. */
int bbf__json_value(struct bbf_json_reader *r, struct json_object **value, const char *where);

/* The member must be there; NULL if it is not, with the reason said, or if *err is set already. */
struct json_object *bbf__json_member_of(struct bbf_json_reader *r,
                                        const struct bbf_json_place *place, struct json_object *row,
                                        const char *member, int *err);

/* A value of the wrong kind or range is an error that names place and member. */
int bbf__json_take_string(struct bbf_json_reader *r, const struct bbf_json_place *place,
                          const char *member, struct json_object *value, char **to);
int bbf__json_take_strings(struct bbf_json_reader *r, const struct bbf_json_place *place,
                           const char *member, struct json_object *value, char ***to,
                           size_t *count);
int bbf__json_take_count(struct bbf_json_reader *r, const struct bbf_json_place *place,
                         const char *member, struct json_object *value, uint64_t *to);
int bbf__json_take_id(struct bbf_json_reader *r, const struct bbf_json_place *place,
                      const char *member, struct json_object *value, uint32_t *to);
/* One of `words`; *to is which. */
int bbf__json_take_word(struct bbf_json_reader *r, const struct bbf_json_place *place,
                        const char *member, struct json_object *value, const char *const *words,
                        size_t count, unsigned *to);

#define BBF_JSON_TAKE_WORD(r, place, member, value, words, to)                                     \
    bbf__json_take_word(r, place, member, value, words, sizeof(words) / sizeof((words)[0]), to)

/* json_facts.c: the members of a site's row that may be there; calls are ids, then indexes. */
int bbf__json_read_facts(struct bbf_json_reader *r, const struct bbf_json_place *place,
                         struct json_object *row, struct bbf_snap_site *site);
int bbf__json_resolve_calls(struct bbf_json_reader *r, const struct bbf_id_index *sites);

/* json_growth.c: the lengths of the histories; a row, whose node is an id until the whole document
 * is read; then whether the rows fit the lengths. */
int bbf__json_read_history(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_growth(struct bbf_json_reader *r, struct json_object *row);
int bbf__json_resolve_growth(struct bbf_json_reader *r, const struct bbf_id_index *nodes);

/* json_usage.c: the same for the sums over time. */
int bbf__json_read_usage_of(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_usage(struct bbf_json_reader *r, struct json_object *row);
int bbf__json_resolve_usage(struct bbf_json_reader *r, const struct bbf_id_index *nodes);

/* json_context.c: a row, whose node is an id until the whole document is read. */
int bbf__json_read_context(struct bbf_json_reader *r, struct json_object *row);
int bbf__json_resolve_contexts(struct bbf_json_reader *r, const struct bbf_id_index *nodes);

/* json_head.c: a time as RFC 3339 has it. */
int bbf__json_take_time(struct bbf_json_reader *r, const struct bbf_json_place *place,
                        const char *member, struct json_object *value, int64_t *ms);

/* json_reader.c: room for one row more; the new row is all zero. NULL: no memory. */
void *bbf__json_grow(void *table, size_t count, size_t *cap, size_t row_size);

/* json_head.c: the value of the member of that name into r->snapshot. */
int bbf__json_read_schema(struct bbf_json_reader *r, struct json_object *value); /* BBF_EVERSION */
int bbf__json_read_time(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_jvm(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_settings(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_limits(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_notes(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_totals(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_reconciled(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_cost(struct bbf_json_reader *r, struct json_object *value);
int bbf__json_read_windows(struct bbf_json_reader *r, struct json_object *value);

#endif
