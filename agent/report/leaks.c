/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/leaks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "render/text.h"

enum { TOP = 20, COLUMNS = 6, STEPS = 64 };

static const char *const verdicts[] = {"LEAK", "AGED"};

static void add_site(struct bbf_buf *out, const struct bbf_snapshot *s, uint32_t node)
{
    const struct bbf_snap_site *site = &s->sites[s->nodes[node].site];

    bool dot = site->class_name[0] != '\0' && site->method[0] != '\0';

    bbf_safe_printf(out, BBF_SAFE_VALUE, "%s%s%s", site->class_name, dot ? "." : "", site->method);
}

/* Root to losing step; the end of a very long one. */
static void add_path(struct bbf_buf *out, const struct bbf_snapshot *s, const uint32_t *parents,
                     uint32_t node)
{
    uint32_t steps[STEPS];
    size_t n = 0;

    for (; node != BBF_NO_PARENT && n < STEPS; node = parents[node])
        steps[n++] = node;
    if (node != BBF_NO_PARENT)
        bbf_buf_str(out, "… → ");
    while (n-- > 0) {
        add_site(out, s, steps[n]);
        bbf_buf_str(out, n > 0 ? " → " : "");
    }
}

int bbf_leaks_text(struct bbf_buf *out, const struct bbf_snapshot *s)
{
    uint32_t *parents = calloc(s->n_nodes + 1, sizeof *parents);
    int err = parents != NULL ? bbf_snapshot_parents(s, parents, NULL) : BBF_ENOMEM;

    for (size_t i = 0; err == BBF_OK && i < s->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        bbf_buf_printf(out, "%s %s: %" PRIu64 " %s, %" PRIu64 " bytes, oldest %" PRIu64 " s: ",
                       verdicts[leak->verdict], bbf_memory_name(leak->memory), leak->count,
                       leak->count == 1 ? "buffer" : "buffers", leak->bytes, leak->oldest_seconds);
        add_path(out, s, parents, leak->node);
        bbf_buf_char(out, '\n');
    }
    if (err == BBF_OK && s->n_leaks == 0)
        bbf_buf_str(out, "no leaks\n");
    free(parents);
    return err;
}

static struct bbf_value text_cell(const char *text)
{
    return (struct bbf_value){.kind = BBF_VALUE_STRING,
                              .text = {(char *)(uintptr_t)text, strlen(text)}};
}

static struct bbf_value long_cell(uint64_t n)
{
    return (struct bbf_value){.kind = BBF_VALUE_LONG, .u = {.l = (int64_t)n}};
}

int bbf_leaks_top(struct bbf_reply *reply, const struct bbf_snapshot *s)
{
    static const char *const head[COLUMNS] = {"verdict", "memory",   "buffers",
                                              "bytes",   "oldest_s", "last step"};
    struct bbf_value cells[TOP + 1][COLUMNS];
    struct bbf_row rows[TOP + 1];
    struct bbf_wire_str columns[COLUMNS];
    struct bbf_buf steps[TOP] = {BBF_BUF_INIT};
    size_t n = s->n_leaks < TOP ? s->n_leaks : TOP;
    int err = BBF_OK;

    for (size_t i = 0; i < COLUMNS; i++) {
        cells[0][i] = text_cell(head[i]);
        columns[i] = cells[0][i].text;
    }
    for (size_t i = 0; i < n; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        struct bbf_value *row = cells[i + 1];
        add_site(&steps[i], s, leak->node);
        row[0] = text_cell(verdicts[leak->verdict]);
        row[1] = text_cell(bbf_memory_name(leak->memory));
        row[2] = long_cell(leak->count);
        row[3] = long_cell(leak->bytes);
        row[4] = long_cell(leak->oldest_seconds);
        row[5] = text_cell(bbf_buf_cstr(&steps[i]));
        err = steps[i].failed ? BBF_ENOMEM : err;
    }
    for (size_t i = 0; i <= n; i++)
        rows[i] = (struct bbf_row){cells[i], COLUMNS};
    struct bbf_command grid = {.type = BBF_CMD_GRID_DATA,
                               .text = {{"leaks", 5}},
                               .list = columns,
                               .n_list = COLUMNS,
                               .rows = rows,
                               .n_rows = n + 1};
    if (err == BBF_OK)
        bbf_reply_command(reply, &grid);
    for (size_t i = 0; i < n; i++)
        bbf_buf_free(&steps[i]);
    return err;
}
