/* SPDX-License-Identifier: Apache-2.0 */
#include "render/stock.h"

#include "core/err.h"
#include "render/path.h"
#include "render/text.h"
#include "render/view.h"

#include <inttypes.h>

const char *const bbf_stock_columns[BBF_STOCK_COLUMNS] = {"verdict", "memory",   "buffers",
                                                          "bytes",   "oldest_s", "last step"};

static const char *const verdicts[] = {"LEAK", "AGED"};

static struct bbf_path_step step_of(const struct bbf_snap_site *site)
{
    return (struct bbf_path_step){site->class_name, site->method, site->enclosing, site->line};
}

/* Of a very long path its end. */
static void add_path(struct bbf_buf *out, struct bbf_view *view, uint32_t node)
{
    const struct bbf_snapshot *s = view->snapshot;
    const struct bbf_view_path steps = bbf_view_path(view, node);
    struct bbf_path path = BBF_PATH_INIT;
    bool room = true;

    for (size_t i = steps.n; i-- > 0 && room;) {
        const struct bbf_snap_site *site = &s->sites[s->nodes[steps.nodes[i]].site];
        const struct bbf_path_step step = step_of(site);
        room = bbf_path_climb_step(&path, &step);
    }
    bbf_path_text(out, &path, BBF_CLASS_FULL, 0);
}

/* The method to mend, where it is not the last one of the path. */
static void add_owner(struct bbf_buf *out, const struct bbf_view *view, uint32_t node)
{
    uint32_t owner = bbf_owner_of(view, node);
    const struct bbf_path_step step =
        step_of(&view->snapshot->sites[view->snapshot->nodes[owner].site]);

    if (owner == node)
        return;
    bbf_buf_str(out, ", lent by ");
    bbf_path_step(out, &step, BBF_CLASS_FULL);
}

int bbf_stock_leaks(struct bbf_buf *out, const struct bbf_snapshot *s)
{
    struct bbf_view view;
    int err = bbf_view_init(&view, s);

    if (err != BBF_OK)
        return err;
    err = bbf_view_add_owners(&view);
    for (size_t i = 0; i < s->n_leaks && err == BBF_OK; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        bbf_buf_printf(out, "%s %s: %" PRIu64 " %s, %" PRIu64 " bytes, oldest %" PRIu64 " s: ",
                       verdicts[leak->verdict], bbf_memory_name(leak->memory), leak->count,
                       leak->count == 1 ? "buffer" : "buffers", leak->bytes, leak->oldest_seconds);
        add_path(out, &view, leak->node);
        add_owner(out, &view, leak->node);
        bbf_buf_char(out, '\n');
    }
    if (s->n_leaks == 0)
        bbf_buf_str(out, "no leaks\n");
    bbf_view_free(&view);
    return err == BBF_OK && out->failed ? BBF_ENOMEM : err;
}

int bbf_stock_table_init(struct bbf_stock_table *table, const struct bbf_snapshot *s)
{
    int err = bbf_snapshot_check(s);

    *table = (struct bbf_stock_table){.n = 0};
    for (size_t i = 0; err == BBF_OK && i < s->n_leaks && i < BBF_STOCK_ROWS; i++) {
        const struct bbf_snap_leak *leak = &s->leaks[i];
        const struct bbf_snap_site *site = &s->sites[s->nodes[leak->node].site];
        struct bbf_buf *step = &table->steps[table->n];
        const struct bbf_path_step last = step_of(site);
        bbf_path_step(step, &last, BBF_CLASS_FULL);
        table->rows[table->n++] = (struct bbf_stock_row){.verdict = verdicts[leak->verdict],
                                                         .memory = bbf_memory_name(leak->memory),
                                                         .buffers = leak->count,
                                                         .bytes = leak->bytes,
                                                         .oldest_seconds = leak->oldest_seconds,
                                                         .last_step = bbf_buf_cstr(step)};
        err = step->failed ? BBF_ENOMEM : BBF_OK;
    }
    if (err != BBF_OK)
        bbf_stock_table_free(table);
    return err;
}

void bbf_stock_table_free(struct bbf_stock_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        bbf_buf_free(&table->steps[i]);
    table->n = 0;
}

struct bbf_stock_numbers bbf_stock_count(const struct bbf_snapshot *s)
{
    struct bbf_stock_numbers n = {0, 0};

    for (size_t i = 0; i < s->n_nodes; i++) {
        n.roots += s->nodes[i].parent < 0;
        n.leak_paths += s->nodes[i].leaked_ != 0;
    }
    return n;
}

int bbf_stock_nodes(struct bbf_buf *out, const struct bbf_snapshot *s)
{
    struct bbf_view view;
    int err = bbf_view_init(&view, s);

    if (err != BBF_OK)
        return err;
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct bbf_snap_node *node = &s->nodes[i];
        struct bbf_buf name = BBF_BUF_INIT;
        bbf_site_full_name(&name, &s->sites[node->site]);
        bbf_buf_printf(out, "%" PRId64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
                       view.parents[i] == BBF_NO_PARENT ? -1 : (int64_t)view.parents[i],
                       bbf_ref_name(node->ref), node->passed_, node->released_, node->leaked_);
        bbf_text_safe(out, bbf_buf_cstr(&name), '\0');
        bbf_buf_char(out, '\n');
        out->failed = out->failed || name.failed;
        bbf_buf_free(&name);
    }
    bbf_view_free(&view);
    return out->failed ? BBF_ENOMEM : BBF_OK;
}

void bbf_stock_tracking_status(struct bbf_buf *out, const struct bbf_snapshot *s, time_t now)
{
    char text[64] = "";
    struct tm tm;

    if (localtime_r(&now, &tm) != NULL)
        (void)strftime(text, sizeof text, "%a %b %d %H:%M:%S %Z %Y", &tm);
    bbf_buf_printf(out,
                   "=== ByteBuf Flow Tracking Status ===\nTime: %s\nActive Flows: %" PRIu64
                   "\nRoot Methods: %" PRIu64 "\n\n",
                   text, s->totals.live_, bbf_stock_count(s).roots);
}
