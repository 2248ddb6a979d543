/* SPDX-License-Identifier: Apache-2.0 */
#include "render/losses.h"

#include <stdlib.h>

#include "core/err.h"
#include "render/flow_lines.h"

struct row {
    uint64_t key, count, added;
    uint32_t node;
};

static uint64_t key_of(const struct bbf_snapshot *s, const struct bbf_snap_leak *leak)
{
    return (uint64_t)s->nodes[leak->node].id << 1 | (leak->memory != BBF_MEM_DIRECT);
}

static bool is_of(uint64_t key, unsigned kinds)
{
    return (kinds & ((key & 1) == 0 ? BBF_LOSS_DIRECT : BBF_LOSS_OTHER)) != 0;
}

static int by_key(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_added(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->added != y->added ? (x->added > y->added ? -1 : 1) : by_key(a, b);
}

/* The losses, one row a key, by key. NULL: no memory. */
static struct row *collect(const struct bbf_snapshot *s, size_t *n)
{
    struct row *rows = calloc(s->n_leaks + 1, sizeof *rows);
    size_t all = 0, kept = 0;

    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < s->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        if (leak->verdict == BBF_VERDICT_LEAKED)
            rows[all++] =
                (struct row){.key = key_of(s, leak), .count = leak->count, .node = leak->node};
    }
    qsort(rows, all, sizeof *rows, by_key);
    for (size_t i = 0; i < all; i++) {
        if (kept > 0 && rows[kept - 1].key == rows[i].key)
            rows[kept - 1].count += rows[i].count;
        else
            rows[kept++] = rows[i];
    }
    *n = kept;
    return rows;
}

/* The rows are the new base. Set what each of these kinds has more than in the old one. */
static void compare(struct bbf_losses *out, struct row *rows, size_t n_rows, unsigned kinds,
                    const struct bbf_loss *base, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n_rows; i++) {
        while (at < n && base[at].key < rows[i].key)
            at++;
        uint64_t before = at < n && base[at].key == rows[i].key ? base[at].count : 0;
        /* Less than before: an estimate that was corrected (sample=). */
        if (is_of(rows[i].key, kinds) && rows[i].count > before)
            rows[i].added = rows[i].count - before;
        out->added[rows[i].key & 1] += rows[i].added;
        out->base[out->n++] = (struct bbf_loss){.key = rows[i].key, .count = rows[i].count};
    }
}

static int write_flows(struct bbf_losses *out, const struct bbf_snapshot *s, struct row *rows,
                       size_t n, size_t most)
{
    size_t lines[BBF_LOSS_KINDS] = {0, 0};
    struct bbf_view view;
    struct bbf_flow_lines flow;
    int err = bbf_view_init(&view, s);

    if (err != BBF_OK)
        return err;
    err = bbf_flow_lines_init(&flow, &view);
    if (err != BBF_OK) {
        bbf_view_free(&view);
        return err;
    }
    qsort(rows, n, sizeof *rows, by_added);
    for (size_t i = 0; i < n && rows[i].added > 0; i++) {
        unsigned kind = rows[i].key & 1;
        if (lines[kind]++ < most)
            bbf_flow_line(&out->flows[kind], &flow, rows[i].node, rows[i].added);
    }
    err = flow.failed || out->flows[0].failed || out->flows[1].failed ? BBF_ENOMEM : BBF_OK;
    bbf_flow_lines_free(&flow);
    bbf_view_free(&view);
    return err;
}

int bbf_losses_since(struct bbf_losses *out, const struct bbf_snapshot *snapshot, unsigned kinds,
                     const struct bbf_loss *base, size_t n, size_t most)
{
    size_t n_rows = 0;
    struct row *rows = collect(snapshot, &n_rows);

    *out = (struct bbf_losses){.flows = {BBF_BUF_INIT, BBF_BUF_INIT}};
    out->base = rows != NULL ? calloc(n_rows + 1, sizeof *out->base) : NULL;
    int err = out->base == NULL ? BBF_ENOMEM : BBF_OK;
    if (err == BBF_OK) {
        compare(out, rows, n_rows, kinds, base, n);
        err = write_flows(out, snapshot, rows, n_rows, most);
    }
    free(rows);
    return err;
}

void bbf_losses_free(struct bbf_losses *losses)
{
    free(losses->base);
    for (unsigned i = 0; i < BBF_LOSS_KINDS; i++)
        bbf_buf_free(&losses->flows[i]);
    losses->base = NULL;
}
