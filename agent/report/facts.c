/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/facts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "agent/report/capture.h"
#include "agent/state.h"
#include "core/clock.h"
#include "core/err.h"
#include "render/head.h"

enum {
    SENTENCES = 256,   /* that are remembered; further ones are left out */
    SUMMARY_SHARE = 20 /* summaries take at most this part of one core */
};

/* Agent thread. */
static char **values;         /* by option, as posted last; NULL: no sink wanted settings */
static uint64_t due_ns;       /* CLOCK_MONOTONIC: the next summary; 0: now */
static uint64_t looked_s;     /* second of the last poll */
static char *said[SENTENCES]; /* what was posted as not followed */
static size_t n_said;

/* ---- settings ---- */

static void post_setting(const char *name, const char *value)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_SETTING);

    event.detail.setting.name = name;
    event.detail.setting.value = value;
    bbf_events_post(&event);
}

static void post_settings(const struct bbf_options *options)
{
    if (values == NULL)
        values = calloc(bbf_options_count(), sizeof *values);
    for (size_t i = 0; values != NULL && i < bbf_options_count(); i++) {
        struct bbf_buf text = BBF_BUF_INIT;
        bbf_option_show(options, i, &text);
        const char *value = bbf_buf_cstr(&text);
        if (values[i] == NULL || strcmp(values[i], value) != 0) {
            post_setting(bbf_option_name(i), value);
            free(values[i]);
            values[i] = strdup(value); /* NULL: posted again, which is no harm */
        }
        bbf_buf_free(&text);
    }
}

static void forget_said(void)
{
    for (size_t i = 0; i < n_said; i++)
        free(said[i]);
    n_said = 0;
}

static void forget_recorded(void)
{
    for (size_t i = 0; values != NULL && i < bbf_options_count(); i++)
        free(values[i]);
    free(values);
    values = NULL;
    forget_said();
}

/* ---- what is not followed ---- */

/* The next character, with a number (a word of digits) as one '0'. */
static char next_of(const char *text, const char **at)
{
    size_t digits = *at == text || (*at)[-1] == ' ' ? strspn(*at, "0123456789") : 0;

    if (digits > 0 && ((*at)[digits] == ' ' || (*at)[digits] == '\0')) {
        *at += digits;
        return '0';
    }
    return *(*at)++;
}

/* Equal but for numbers: a count that grows is no news. */
static bool is_same(const char *a, const char *b)
{
    const char *at = a, *bt = b;
    char c;

    do {
        c = next_of(a, &at);
        if (c != next_of(b, &bt))
            return false;
    } while (c != '\0');
    return true;
}

static void say(void *ctx, const char *sentence)
{
    (void)ctx;
    struct bbf_event event = bbf_event_new(BBF_EVENT_UNTRACKED);

    for (size_t i = 0; i < n_said; i++)
        if (is_same(said[i], sentence))
            return;
    if (n_said == SENTENCES || (said[n_said] = strdup(sentence)) == NULL)
        return;
    n_said++;
    event.detail.untracked = sentence;
    bbf_events_post(&event);
}

/* ---- totals ---- */

static void post_summary(JNIEnv *env)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    struct bbf_event event = bbf_event_new(BBF_EVENT_SUMMARY);

    if (s == NULL || bbf_capture_report(env, s) != BBF_OK) {
        bbf_events_unmade(BBF_EVENT_SUMMARY, 1);
        bbf_snapshot_free(s);
        return;
    }
    event.detail.snapshot = s;
    bbf_events_post(&event);
    if (bbf_events_wanted(BBF_EVENT_UNTRACKED) && bbf_head_each(s, say, NULL) != BBF_OK)
        bbf_events_unmade(BBF_EVENT_UNTRACKED, 1);
    bbf_snapshot_free(s);
}

/* A recording that begins has all settings, and a summary at once. */
static void poll_settings(const struct bbf_options *options)
{
    if (!bbf_events_wanted(BBF_EVENT_SETTING)) {
        if (values != NULL)
            forget_recorded();
        return;
    }
    if (options == NULL)
        return;
    if (values == NULL)
        due_ns = 0;
    post_settings(options);
}

void bbf_facts_poll(JNIEnv *env, const struct bbf_options *options)
{
    uint64_t now = bbf_clock_ns(CLOCK_MONOTONIC);

    if (now / BBF_CLOCK_SECOND == looked_s)
        return;
    looked_s = now / BBF_CLOCK_SECOND;
    poll_settings(options);
    if (!bbf_events_wanted(BBF_EVENT_SUMMARY))
        due_ns = 0;
    if (options == NULL || now < due_ns || !bbf_events_wanted(BBF_EVENT_SUMMARY))
        return;
    post_summary(env);
    uint64_t took = bbf_clock_ns(CLOCK_MONOTONIC) - now;
    uint64_t pause = options->jfr_summary * BBF_CLOCK_SECOND;
    due_ns = now + (SUMMARY_SHARE * took > pause ? SUMMARY_SHARE * took : pause);
}

/* Sentences are posted again, with the last numbers. */
void bbf_facts_end(JNIEnv *env)
{
    forget_said();
    if (bbf_events_wanted(BBF_EVENT_SUMMARY))
        post_summary(env);
}
