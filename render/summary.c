/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary: a screen of numbers and the largest leaks, each with its totals and its path.
 */
#include "render/formats.h"

#include "core/err.h"
#include "render/balance.h"
#include "render/cost.h"
#include "render/diverge_text.h"
#include "render/fingerprint.h"
#include "render/head.h"
#include "render/leaks.h"
#include "render/misuse.h"
#include "render/pins.h"
#include "render/reconciled.h"
#include "render/text.h"
#include "render/usage.h"
#include "render/view.h"

#include <inttypes.h>
#include <stdlib.h>

/* Leaks listed, and steps of a path shown at each end: it has to stay one screen. */
enum { LEAKS_SHOWN = 20, PATH_HEAD = 4, PATH_TAIL = 8 };

struct summary {
    struct bbf_buf *out;
    const struct bbf_snapshot *snapshot;
    struct bbf_view *view;
    uint32_t *ranking; /* of the leaks */
};

/* Numbers that the totals do not have. */
struct counts {
    uint64_t critical, critical_bytes, moderate, moderate_bytes, aged_bytes;
};

static struct counts count(const struct bbf_snapshot *snapshot)
{
    struct counts c = {0};

    for (size_t i = 0; i < snapshot->n_leaks; i++) {
        const struct bbf_snap_leak *leak = &snapshot->leaks[i];
        if (leak->verdict == BBF_VERDICT_AGED) {
            c.aged_bytes += leak->bytes;
        } else if (leak->memory == BBF_MEM_DIRECT) {
            c.critical += leak->count;
            c.critical_bytes += leak->bytes;
        } else {
            c.moderate += leak->count;
            c.moderate_bytes += leak->bytes;
        }
    }
    return c;
}

static void add_line(struct bbf_buf *out, const char *word, uint64_t number)
{
    bbf_buf_printf(out, "%s: %" PRIu64 "\n", word, number);
}

static void add_sized(struct bbf_buf *out, const char *word, uint64_t number, const char *what,
                      uint64_t bytes)
{
    bbf_buf_printf(out, "%s: %" PRIu64 " (%s", word, number, what);
    bbf_text_bytes(out, bytes);
    bbf_buf_str(out, ")\n");
}

/* Verdicts and misuse are left out when they are 0. */
static void add_rest(struct bbf_buf *out, const struct bbf_snap_totals *t, const struct counts *c)
{
    const struct {
        const char *word;
        uint64_t number;
    } rest[] = {{"Static", t->static_},
                {"Held", t->held_},
                {"Harmless", t->harmless_},
                {"Unknown", t->unknown_},
                {"Undone", t->undone_},
                {"Used After Release", t->misuse_},
                {"Steps After Release", t->steps_after_release_}};

    if (t->aged_ != 0)
        add_sized(out, "Aged", t->aged_, "", c->aged_bytes);
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        if (rest[i].number != 0)
            add_line(out, rest[i].word, rest[i].number);
}

static void add_numbers(const struct summary *s)
{
    struct bbf_buf *out = s->out;
    const struct bbf_snap_totals *t = &s->snapshot->totals;
    const struct bbf_view_counts nodes = bbf_view_count(s->view);
    const struct counts c = count(s->snapshot);

    bbf_buf_str(out, "=== ByteBuf Flow Summary ===\n");
    add_line(out, "Total Root Methods", nodes.roots);
    add_line(out, "Total Traversals", t->lives_);
    add_line(out, "Total Paths", nodes.paths);
    add_line(out, "Released", t->released_);
    add_sized(out, "Live", t->live_, "", t->live_bytes_);
    add_rest(out, t, &c);
    add_sized(out, "Leaked", t->leaked_, "", t->leaked_bytes_);
    add_line(out, "Leak Paths", nodes.leak_paths);
    if (t->leaked_ != 0) {
        add_sized(out, "Critical Leaks", c.critical, "direct buffers, ", c.critical_bytes);
        add_sized(out, "Moderate Leaks", c.moderate, "heap buffers and others, ", c.moderate_bytes);
    }
    bbf_buf_str(out, "Leak Percentage: ");
    bbf_text_percent(out, t->leaked_, t->lives_);
    bbf_buf_char(out, '\n');
}

static void add_details(const struct summary *s, const struct bbf_snap_leak *leak)
{
    const char *lost = leak->verdict == BBF_VERDICT_LEAKED ? bbf_lost_text(leak->lost) : "";

    if (lost[0] == '\0' && leak->thread == 0)
        return;
    bbf_buf_printf(s->out, "  %s%s", lost, lost[0] != '\0' && leak->thread != 0 ? ", " : "");
    if (leak->thread != 0)
        bbf_buf_str(s->out, "opened by ");
    bbf_text_opener(s->out, s->snapshot, leak, '\0');
    bbf_buf_char(s->out, '\n');
}

/* The methods that retained and released them (refs=on), and the count that was left unless it is
 * the initial one. */
static void add_balance(const struct summary *s, const struct bbf_snap_leak *leak)
{
    struct bbf_buf *out = s->out;
    size_t start = out->len;

    bbf_buf_str(out, "  ");
    size_t n = bbf_balance_text(out, s->view, leak->node, BBF_SITE_RETAIN, "retained by ", ", ");
    n += bbf_balance_text(out, s->view, leak->node, BBF_SITE_DECREMENT,
                          n > 0 ? "; released by " : "released by ", ", ");
    if (leak->references == 0 || (n == 0 && leak->references == leak->count)) {
        out->len = n == 0 ? start : out->len;
        bbf_buf_str(out, n == 0 ? "" : "\n");
        return;
    }
    bbf_buf_str(out, n > 0 ? ": " : "");
    if (leak->references % leak->count == 0)
        bbf_buf_printf(out, "%" PRIu64 " %s left of each\n", leak->references / leak->count,
                       leak->references == leak->count ? "reference" : "references");
    else
        bbf_buf_printf(out, "%" PRIu64 " references left of %" PRIu64 " buffers\n",
                       leak->references, leak->count);
}

/* The method to mend, where it is not the last one of the path below. */
static void add_owner(const struct summary *s, const struct bbf_snap_leak *leak)
{
    if (bbf_owner_of(s->view, leak->node) == leak->node)
        return;
    bbf_buf_str(s->out, "  lost in ");
    bbf_owner_text(s->out, s->view, leak->node);
    bbf_buf_char(s->out, '\n');
}

static void add_leak(const struct summary *s, const struct bbf_snap_leak *leak)
{
    struct bbf_buf *out = s->out;
    const char *word = leak->memory == BBF_MEM_DIRECT ? "CRITICAL LEAK" : "MODERATE LEAK";
    bbf_buf_printf(out, "%s: %" PRIu64 " (", leak->verdict == BBF_VERDICT_AGED ? "AGED" : word,
                   leak->count);
    bbf_text_lost_bytes(out, leak->bytes, leak->memory);
    bbf_buf_printf(out, ", oldest %" PRIu64 " s, half within %" PRIu64 " s)", leak->oldest_seconds,
                   leak->p50_seconds);
    if (leak->verdict == BBF_VERDICT_LEAKED) {
        bbf_buf_str(out, ", ");
        bbf_text_percent(out, leak->count, s->snapshot->nodes[leak->node].passed_);
        bbf_buf_str(out, " of what came here");
    }
    bbf_buf_str(out, " (id ");
    bbf_fingerprint_text(out, bbf_fingerprint_leak(s->view, leak->node));
    bbf_buf_char(out, ')');
    bbf_buf_char(out, '\n');
    add_details(s, leak);
    add_balance(s, leak);
    add_owner(s, leak);
    const struct bbf_view_path path = bbf_view_path(s->view, leak->node);
    bbf_buf_str(out, "  ");
    bbf_view_join_ends(out, s->view, path.nodes, path.n, PATH_HEAD, PATH_TAIL);
    bbf_buf_char(out, '\n');
}

static void add_leaks(const struct summary *s)
{
    struct bbf_buf *out = s->out;
    size_t n = s->snapshot->n_leaks, shown = 0, more = 0;

    bbf_buf_str(out, "\n=== Leaks ===\n");
    if (s->snapshot->totals.leaked_ == 0)
        bbf_buf_str(out, s->snapshot->totals.lives_ != 0
                             ? "No leaks detected\n"
                             : "No leaks detected: no buffer was followed\n");
    for (size_t i = 0; i < n; i++) {
        if (!bbf_view_shows_leak(s->view, s->ranking[i]))
            continue;
        if (shown == LEAKS_SHOWN) {
            more++;
            continue;
        }
        shown++;
        add_leak(s, &s->snapshot->leaks[s->ranking[i]]);
    }
    if (more > 0)
        bbf_buf_printf(out, "(%zu more; tree, llm and json show every leak)\n", more);
}

int bbf_render_summary(struct bbf_buf *out, struct bbf_view *view,
                       const struct bbf_render_options *options)
{
    const struct bbf_snapshot *snapshot = view->snapshot;
    struct summary s = {.out = out, .snapshot = snapshot, .view = view};
    int err = bbf_view_add_names(view, '\0');

    (void)options;
    if (err == 0)
        err = bbf_view_add_divergences(view);
    if (err == 0)
        err = bbf_view_add_owners(view);
    s.ranking = bbf_leak_ranking(snapshot);
    if (err == 0 && s.ranking == NULL)
        err = BBF_ENOMEM;
    if (err == 0) {
        bbf_view_choice_note(out, view, "note: ");
        bbf_head_text(out, snapshot, "note: ");
        bbf_divergences_text(out, view, LEAKS_SHOWN);
        bbf_misuse_text(out, snapshot, LEAKS_SHOWN);
        add_numbers(&s);
        bbf_reconciled_section(out, &snapshot->reconciled);
        bbf_pins_section(out, view, LEAKS_SHOWN);
        err = bbf_usage_section(out, view, LEAKS_SHOWN);
        add_leaks(&s);
        bbf_cost_section(out, &snapshot->cost, "\n=== Cost of bbflow ===\n");
    }
    free(s.ranking);
    return err;
}
