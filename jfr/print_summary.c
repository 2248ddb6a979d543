/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/format.h"
#include "jfr/print.h"

enum { NAME_BYTES = 256, COLUMN_MIN = 11, NUMBERS = 26 };

/* One event type; types of several chunks are one by their id. */
struct row {
    uint64_t id, count, bytes;
    bool is_event; /* declared as one: the table is as wide as these names */
    char name[NAME_BYTES];
};

struct table {
    struct row *rows;
    size_t n, room;
    bool no_memory;
};

static struct row *row_of(struct table *t, uint64_t id, const char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->rows[i].id == id)
            return &t->rows[i];
    }
    if (t->n == t->room) {
        size_t room = t->room > 0 ? 2 * t->room : 256;
        struct row *rows = realloc(t->rows, room * sizeof(*rows));
        if (rows == NULL) {
            t->no_memory = true;
            return NULL;
        }
        t->rows = rows;
        t->room = room;
    }
    struct row *row = &t->rows[t->n++];
    *row = (struct row){.id = id};
    (void)snprintf(row->name, sizeof(row->name), "%s", name);
    return row;
}

/* Rows of the chunk's types by their index, so that an event finds its own at once. */
static size_t *rows_of_types(struct table *t, const struct bbf_jfr_metadata *m)
{
    size_t *rows = calloc(m->n_types + 1, sizeof(*rows));

    for (size_t i = 0; rows != NULL && i < m->n_types; i++) {
        if (!m->types[i].is_event)
            continue;
        struct row *row = row_of(t, m->types[i].id, m->types[i].name);
        if (row == NULL)
            break;
        row->is_event = true;
        rows[i] = (size_t)(row - t->rows);
    }
    return rows;
}

static void count_unknown(struct table *t, const struct bbf_jfr_event *event)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%" PRIu64 " (missing event metadata)", event->type_id);
    struct row *row = row_of(t, event->type_id, name);
    if (row != NULL) {
        row->count++;
        row->bytes += event->size;
    }
}

static void count_chunk(struct table *t, struct bbf_jfr_recording *r)
{
    struct bbf_jfr_event event;
    uint64_t at = BBF_JFR_HEADER_BYTES;
    size_t *rows = rows_of_types(t, &r->chunk.metadata);

    t->no_memory |= rows == NULL;
    while (!t->no_memory && bbf_jfr_next_event(&r->chunk, &at, &event)) {
        if (event.type == NULL || !event.type->is_event) {
            count_unknown(t, &event);
            continue;
        }
        struct row *row = &t->rows[rows[event.type->index]];
        row->count++;
        row->bytes += event.size;
    }
    if (!t->no_memory && at < r->chunk.len && r->trouble.what == NULL) {
        r->trouble.what = "no event begins here; the rest of the chunk is left out";
        r->trouble.offset = r->at + at;
    }
    free(rows);
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void put_table(struct bbf_buf *out, struct table *t)
{
    int width = COLUMN_MIN;

    qsort(t->rows, t->n, sizeof(*t->rows), compare_rows);
    for (size_t i = 0; i < t->n; i++) {
        int len = (int)strlen(t->rows[i].name);
        width = t->rows[i].is_event && len > width ? len : width;
    }
    bbf_buf_printf(out, "\n %-*s      Count  Size (bytes) \n", width - 1, "Event Type");
    for (int i = 0; i < width + NUMBERS; i++)
        bbf_buf_char(out, '=');
    bbf_buf_char(out, '\n');
    for (size_t i = 0; i < t->n; i++) {
        const struct row *row = &t->rows[i];
        size_t start = out->len;
        bbf_safe_printf(out, BBF_SAFE_VALUE, " %s", row->name);
        int pad = width + 1 - (int)(out->len - start);
        bbf_buf_printf(out, "%*s%10" PRIu64 "  %12" PRIu64 "\n", pad > 0 ? pad : 0, "", row->count,
                       row->bytes);
    }
}

int bbf_jfr_print_summary(struct bbf_buf *out, struct bbf_jfr_recording *recording)
{
    struct table t = {0};
    struct bbf_jfr_header first = {0};
    uint64_t duration_ns = 0;
    int err;

    (void)row_of(&t, 0, "jdk.Metadata");
    (void)row_of(&t, 1, "jdk.Checkpoint");
    while (!t.no_memory && (err = bbf_jfr_next_chunk(recording)) == BBF_OK) {
        if (recording->n_chunks == 1)
            first = recording->chunk.header;
        duration_ns += recording->chunk.header.duration_ns;
        count_chunk(&t, recording);
    }
    if (t.no_memory)
        err = BBF_ENOMEM;
    if (recording->n_chunks > 0 && err != BBF_ENOMEM) {
        bbf_buf_printf(out, "\n Version: %u.%u\n Chunks: %zu\n Start: ", first.major, first.minor,
                       recording->n_chunks);
        bbf_jfr_add_date(out, (int64_t)first.start_ns);
        bbf_buf_printf(out, " (UTC)\n Duration: %" PRIu64 " s\n",
                       (duration_ns + 500000000) / 1000000000);
        put_table(out, &t);
    }
    free(t.rows);
    return err == BBF_ENOTFOUND ? (out->failed ? BBF_ENOMEM : BBF_OK) : err;
}
