/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/notes.h"

#include "agent/classes/dump.h"
#include "agent/classes/nettys.h"
#include "agent/classes/suggestions.h"
#include "agent/classes/unmet.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "core/err.h"

enum { SOURCES = 16 };

/* "COUNT ONE|MANY, the last of CLASS: MORE" for a counter of the shim; nothing where it is 0. */
static int note_class(struct bbf_snapshot *s, const struct bbf_last_of *last, const char *one,
                      const char *many, const char *more)
{
    if (last->count == 0)
        return BBF_OK;
    struct bbf_buf note = BBF_BUF_INIT;
    bbf_buf_printf(&note, "%llu %s, the last of %s: %s", (unsigned long long)last->count,
                   last->count == 1 ? one : many, last->class_name != NULL ? last->class_name : "?",
                   more);
    int err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
    bbf_buf_free(&note);
    return err;
}

/* What the shim could not know of some buffers, since the last reset. */
static int note_unknown(struct bbf_snapshot *s)
{
    struct bbf_unclear unclear;
    bbf_tracker_unclear(bbf_agent.tracker, &unclear);
    int err = note_class(s, &unclear.unsized, "buffer has an unknown size",
                         "buffers have an unknown size",
                         "they were first seen after their allocation, and count as 0 B");
    if (err == BBF_OK)
        err = note_class(s, &unclear.hidden, "life ended that did not begin",
                         "lives ended that did not begin",
                         "the class reuses its buffers by a count of its own, and those lives are "
                         "not counted");
    if (err == BBF_OK)
        err = note_class(
            s, &unclear.early, "count came back early", "counts came back early",
            "the pool sets the count before it gives the buffer back, so bbflow "
            "cannot know when it is taken: what is lost of its buffers is unknown, no leak");
    return err;
}

/* What context=on did not see, since the start. */
static int note_context(struct bbf_snapshot *s)
{
    struct bbf_context_counts counts;
    bbf_context_counts(bbf_agent.tracker, &counts);
    const struct bbf_last_of unread = {counts.unread, counts.unread_of};
    int err = note_class(s, &unread, "channel has an id of a class that bbflow does not know",
                         "channels have an id of a class that bbflow does not know",
                         "context= reports them as \"?\"");
    struct bbf_buf note = BBF_BUF_INIT;
    if (err != BBF_OK || counts.dropped == 0)
        return err;
    bbf_buf_printf(&note,
                   "context=: %llu of the channels, hints and exceptions that were seen are not "
                   "noted: another thread noted one of the same buffer at that moment, its life "
                   "was over, or memory= was reached",
                   (unsigned long long)counts.dropped);
    err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
    bbf_buf_free(&note);
    return err;
}

/* ---- one note each; nothing to note: `note` stays empty ---- */

static void note_off(struct bbf_buf *note)
{
    const char *off = atomic_load(&bbf_agent.off_why);
    if (off != NULL)
        bbf_buf_printf(note, "tracking is off: %s", off);
}

static void note_folded(const struct bbf_snapshot *s, struct bbf_buf *note)
{
    if (s->folded_rows > 0)
        bbf_buf_printf(note,
                       "memory= has no room for the rows of %llu nodes that few lives passed: "
                       "their lives are counted in the rows of their callers",
                       (unsigned long long)s->folded_rows);
}

static void note_no_include(const struct bbf_rules *rules, struct bbf_buf *note)
{
    if (rules->options.include == NULL)
        bbf_buf_str(note,
                    "no include= given: every class is followed that is not of the JDK, of Netty "
                    "or of a known agent; include=your.package follows yours alone, and costs "
                    "less");
}

static void note_older_heap(const struct bbf_rules *rules, struct bbf_buf *note)
{
    if (rules->options.direct_only && bbf_tracker_live_heap(bbf_agent.tracker) > 0)
        bbf_buf_printf(note,
                       "%llu open heap buffers are older than trackDirectOnly=on and are "
                       "still followed (before-setting)",
                       (unsigned long long)bbf_tracker_live_heap(bbf_agent.tracker));
}

/* Why a report may be empty, and what is near to what was asked for. */
static void note_nothing_followed(JNIEnv *env, const struct bbf_rules *rules, struct bbf_buf *note)
{
    bool loaded = atomic_load(&bbf_agent.netty_loaded), idle = bbf_nettys_are_idle();
    if (!loaded)
        bbf_buf_str(note, "Netty was never loaded: no class named *.netty.buffer.ByteBuf");
    else if (idle)
        bbf_buf_str(note, "include matches no class yet: no buffer is followed until one loads");
    else if (atomic_load(&bbf_agent.followed_classes) == 0)
        bbf_buf_str(note, rules->options.include != NULL ? "include matched no class with a buffer"
                                                         : "no application class with a buffer");
    if (note->len == 0)
        return;
    if (!loaded || idle || !bbf_unmet_include(env, rules, note))
        bbf_suggest_packages(env, rules->options.include, note);
}

/* ---- all of them ---- */

static void (*sources[SOURCES])(struct bbf_buf *note);
static size_t n_sources;

void bbf_notes_add_source(void (*source)(struct bbf_buf *note))
{
    if (n_sources < SOURCES)
        sources[n_sources++] = source;
}

/* Add `note` unless `err` or it is empty; it is empty afterwards. */
static int add(int err, struct bbf_snapshot *s, struct bbf_buf *note)
{
    if (err == BBF_OK && note->len > 0)
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(note));
    bbf_buf_free(note);
    return err;
}

static int fill_brief(struct bbf_snapshot *s)
{
    struct bbf_buf note = BBF_BUF_INIT;
    note_off(&note);
    int err = add(BBF_OK, s, &note);
    for (size_t i = 0; i < n_sources; i++) {
        sources[i](&note);
        err = add(err, s, &note);
    }
    bbf_dump_note(&note);
    return add(err, s, &note);
}

int bbf_notes_brief(struct bbf_snapshot *s)
{
    int err = fill_brief(s);
    return err == BBF_OK ? note_unknown(s) : err;
}

int bbf_notes_fill(JNIEnv *env, struct bbf_snapshot *s)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    struct bbf_buf note = BBF_BUF_INIT;
    int err = fill_brief(s);
    note_nothing_followed(env, rules, &note);
    err = add(err, s, &note);
    note_folded(s, &note);
    err = add(err, s, &note);
    if (err == BBF_OK)
        err = bbf_unmet_tracks(env, rules, s);
    note_no_include(rules, &note);
    err = add(err, s, &note);
    note_older_heap(rules, &note);
    err = add(err, s, &note);
    if (err == BBF_OK)
        err = note_unknown(s);
    return err == BBF_OK ? note_context(s) : err;
}
