/* SPDX-License-Identifier: Apache-2.0 */
#include "render/misuse.h"

#include "render/json_names.h"
#include "render/text.h"

#include <inttypes.h>
#include <string.h>

/* A method that received a buffer after its release has not used it for that. */
static const struct {
    const char *what, *how;
} words[] = {{"USED", "released again"},
             {"USED", "retained"},
             {"USED", "read or written"},
             {"RECEIVED", ""}};

const char *bbf_misuse_user(const struct bbf_snap_misuse *row)
{
    for (size_t i = 0; i < row->n_used_by; i++)
        if (strncmp(row->used_by[i], "netty.", 6) != 0 &&
            strstr(row->used_by[i], ".netty.") == NULL)
            return row->used_by[i];
    return row->n_used_by > 0 ? row->used_by[0] : "";
}

static void add_thread(struct bbf_buf *out, const struct bbf_snapshot *snapshot, uint64_t id,
                       char also)
{
    const char *name = snapshot != NULL ? bbf_snapshot_thread(snapshot, id) : NULL;

    if (name != NULL)
        bbf_text_safe(out, name, also);
    else
        bbf_buf_printf(out, "thread %" PRIu64, id);
}

static void add_path(struct bbf_buf *out, const struct bbf_snap_misuse *row, char also)
{
    for (size_t i = 0; i < row->n_path; i++) {
        bbf_buf_str(out, i > 0 ? " -> " : "");
        bbf_text_safe(out, row->path[i], also);
    }
}

void bbf_misuse_line(struct bbf_buf *out, const struct bbf_snap_misuse *row,
                     const struct bbf_snapshot *snapshot)
{
    const char *how = words[row->use].how;
    bbf_buf_printf(out, "%s AFTER RELEASE %" PRIu64 " %s: %s", words[row->use].what, row->count,
                   row->count == 1 ? "time" : "times", how);
    if (row->n_used_by > 0) {
        bbf_buf_str(out, how[0] != '\0' ? " by " : "by ");
        bbf_text_safe(out, bbf_misuse_user(row), '\0');
    }
    bbf_buf_str(out, " in ");
    add_thread(out, snapshot, row->used_thread, '\0');
    bbf_buf_str(out, "; released before");
    if (row->released_thread != 0) {
        bbf_buf_str(out, " in ");
        add_thread(out, snapshot, row->released_thread, '\0');
    }
    if (row->n_path == 0) {
        bbf_buf_str(out, row->use == BBF_USE_STEP ? ", where is not known"
                                                  : ", too long ago to say where");
        return;
    }
    bbf_buf_str(out, " at ");
    add_path(out, row, '\0');
}

/* What no line counts. */
static void add_untold(struct bbf_buf *out, uint64_t total, uint64_t told, const char *what)
{
    if (total > told)
        bbf_buf_printf(out, "(%" PRIu64 " more %s)\n", total - told, what);
}

void bbf_misuse_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot, size_t most)
{
    uint64_t told[2] = {0}; /* by whether it is a step */

    if (snapshot->n_misuses == 0)
        return;
    for (size_t i = 0; i < snapshot->n_misuses; i++) {
        told[snapshot->misuses[i].use == BBF_USE_STEP] += snapshot->misuses[i].count;
        if (i >= most)
            continue;
        bbf_misuse_line(out, &snapshot->misuses[i], snapshot);
        bbf_buf_char(out, '\n');
    }
    if (snapshot->n_misuses > most)
        bbf_buf_printf(out, "(%zu more lines: llm and json show every one)\n",
                       snapshot->n_misuses - most);
    add_untold(out, snapshot->totals.misuse_, told[false],
               "uses after release than could be looked at");
    add_untold(out, snapshot->totals.steps_after_release_, told[true],
               "steps after release than lines have room for");
    bbf_buf_char(out, '\n');
}

void bbf_misuse_rows(struct bbf_buf *out, const struct bbf_snapshot *snapshot)
{
    if (snapshot->n_misuses == 0)
        return;
    bbf_buf_str(out, "\nMISUSE:\n");
    for (size_t i = 0; i < snapshot->n_misuses; i++) {
        const struct bbf_snap_misuse *row = &snapshot->misuses[i];
        bbf_buf_printf(out, "used_after_release|use=%s|count=%" PRIu64 "|used_in=",
                       bbf_json_uses[row->use], row->count);
        add_thread(out, snapshot, row->used_thread, '|');
        bbf_buf_str(out, "|used_by=");
        for (size_t k = 0; k < row->n_used_by; k++) {
            bbf_buf_str(out, k > 0 ? " < " : "");
            bbf_text_safe(out, row->used_by[k], '|');
        }
        if (row->released_thread != 0) {
            bbf_buf_str(out, "|released_in=");
            add_thread(out, snapshot, row->released_thread, '|');
        }
        bbf_buf_str(out, "|path=");
        add_path(out, row, '|');
        bbf_buf_char(out, '\n');
    }
}
