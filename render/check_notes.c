/* SPDX-License-Identifier: Apache-2.0 */
#include "render/check_notes.h"

#include "core/err.h"
#include "core/safe.h"
#include "render/head.h"

#include <inttypes.h>
#include <string.h>

struct notes {
    char ***list;
    size_t *count;
    int err;
};

/* Values are made safe: %s is a value, as in bbf_safe_printf(). */
__attribute__((format(printf, 2, 3))) static void note(struct notes *n, const char *format, ...)
{
    struct bbf_buf text = BBF_BUF_INIT;
    va_list args;

    va_start(args, format);
    bbf_safe_vprintf(&text, BBF_SAFE_VALUE, format, args);
    va_end(args);
    if (n->err == BBF_OK)
        n->err = text.failed ? BBF_ENOMEM
                             : bbf_snapshot_add_text(n->list, n->count, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
}

/* ---- The two programs ------------------------------------------------------------------------ */

static const char *main_of(const struct bbf_snapshot *s)
{
    return s->jvm.main != NULL ? s->jvm.main : "";
}

/* Test runners start another jar each time: surefirebooter20261124031500123_3.jar. Digits and the
 * folder are no part of a program's name. */
static bool is_same_program(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');

    a = slash_a != NULL ? slash_a + 1 : a;
    b = slash_b != NULL ? slash_b + 1 : b;
    for (;;) {
        a += strspn(a, "0123456789_-.");
        b += strspn(b, "0123456789_-.");
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

static const char *setting(const struct bbf_snapshot *s, const char *name)
{
    for (size_t i = 0; i < s->n_settings; i++)
        if (strcmp(s->settings[i].name, name) == 0)
            return s->settings[i].value;
    return "";
}

/* Settings that decide which steps a path has: with others a leak has another id. */
static void note_settings(struct notes *n, const struct bbf_snapshot *before,
                          const struct bbf_snapshot *now)
{
    static const char *const names[] = {
        "include",  "exclude", "trackConstructors", "objects",  "refs",
        "carriers", "track",   "maxDepth",          "maxNodes", "trackDirectOnly"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *a = setting(before, names[i]), *b = setting(now, names[i]);
        if (strcmp(a, b) != 0)
            note(n,
                 "%s= differs: '%.200s' in the baseline, '%.200s' now; a leak has another id if "
                 "other methods are followed, and is then one that is new and one that is gone",
                 names[i], a, b);
    }
}

/* Only --redact sets the order of names (client/redact.c). */
static bool is_redacted(const struct bbf_snapshot *s)
{
    for (size_t i = 0; i < s->n_sites; i++)
        if (s->sites[i].order != 0)
            return true;
    return false;
}

static void note_redacted(struct notes *n, const struct bbf_snapshot *before,
                          const struct bbf_snapshot *now)
{
    const bool a = is_redacted(before), b = is_redacted(now);

    if (a && b)
        note(n,
             "both snapshots are redacted: their ids are the same only if one file of names made "
             "both (--redact)");
    else if (a || b)
        note(n,
             "%s is redacted: its ids are not those of the snapshot with names, so every leak "
             "looks new or gone; compare the snapshots before --redact",
             a ? "the baseline" : "the snapshot");
}

static void note_losses(struct notes *n, const struct bbf_snapshot *before)
{
    const struct bbf_snap_totals *t = &before->totals;

    if (t->lives_ == 0)
        note(n, "the baseline followed no buffer: every leak is new");
    if (t->dropped_lives_ + t->dropped_steps_ > 0)
        note(n,
             "the baseline reached a limit: %" PRIu64 " buffers were not followed, %" PRIu64
             " steps not recorded; what it lacks looks new",
             t->dropped_lives_, t->dropped_steps_);
}

static void note_both(struct notes *n, const struct bbf_snapshot *before,
                      const struct bbf_snapshot *now)
{
    const char *a = main_of(before), *b = main_of(now);

    if (!is_same_program(a, b))
        note(n, "the baseline is of another program: main class %.300s, now %.300s",
             a[0] != '\0' ? a : "unknown", b[0] != '\0' ? b : "unknown");
    if (before->captured_at_ms > now->captured_at_ms)
        note(n, "the baseline is newer than the snapshot: are the two files in this order?");
    if (before->captured_at_ms == now->captured_at_ms && before->jvm.pid == now->jvm.pid &&
        memcmp(&before->totals, &now->totals, sizeof now->totals) == 0)
        note(n, "the baseline is the same snapshot: nothing can differ");
    note_settings(n, before, now);
    note_redacted(n, before, now);
    note_losses(n, before);
    if (before->totals.sampled_ != now->totals.sampled_)
        note(n,
             "sample= differs: one life in %" PRIu64 " in the baseline, one in %" PRIu64
             " now; rates are compared within their intervals, rare leaks may be in one only",
             before->totals.sampled_ > 0 ? before->totals.sampled_ : 1,
             now->totals.sampled_ > 0 ? now->totals.sampled_ : 1);
}

/* ---- The snapshot ---------------------------------------------------------------------------- */

static void note_proof(struct notes *n, const struct bbf_snapshot *now)
{
    const struct bbf_snap_totals *t = &now->totals;

    if (t->lives_ == 0)
        note(n, "no buffer was followed, so nothing is proven: was the agent loaded before Netty, "
                "and do its patterns match (include=)?");
    if (t->live_ > t->static_ && strcmp(setting(now, "gc"), "exit") != 0)
        note(n,
             "%" PRIu64 " buffers were still open; a leak is proven when the garbage collector "
             "takes it: the agent's option gc=exit, or --gc, requests a collection first",
             t->live_ - t->static_);
}

static void add_line(void *ctx, const char *text)
{
    struct notes *n = ctx;

    if (n->err == BBF_OK)
        n->err = bbf_snapshot_add_text(n->list, n->count, text);
}

int bbf_check_add_notes(char ***notes, size_t *n, const struct bbf_snapshot *before,
                        const struct bbf_snapshot *now, bool judged)
{
    struct notes all = {.list = notes, .count = n, .err = BBF_OK};

    if (before != NULL)
        note_both(&all, before, now);
    if (judged)
        note_proof(&all, now);
    int err = all.err == BBF_OK ? bbf_head_each(now, add_line, &all) : BBF_OK;
    return all.err != BBF_OK ? all.err : err;
}
