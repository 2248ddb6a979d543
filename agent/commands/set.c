/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/commands/set.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cost/gate.h"
#include "agent/rules.h"
#include "agent/settings.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/log.h"
#include "core/safe.h"
#include "core/track.h"

enum { WAIT_MS = 30000 }; /* for the agent thread to begin */

/* A parameter's value as the text that the option table reads. */
static void value_text(const struct bbf_value *value, char *out, size_t size)
{
    switch (value->kind) {
    case BBF_VALUE_STRING:
        snprintf(out, size, "%s", value->text.s != NULL ? value->text.s : "");
        break;
    case BBF_VALUE_INT:
        snprintf(out, size, "%d", value->u.i);
        break;
    case BBF_VALUE_LONG:
        snprintf(out, size, "%lld", (long long)value->u.l);
        break;
    case BBF_VALUE_BOOLEAN:
        snprintf(out, size, "%s", value->u.b ? "true" : "false");
        break;
    default:
        out[0] = '\0';
    }
}

/* Try all on a copy: either all parameters change or none. */
static int try_all(struct bbf_options *copy, const struct bbf_entry *params, size_t n,
                   unsigned *effects, struct bbf_buf *answer)
{
    for (size_t i = 0; i < n; i++) {
        struct bbf_option_error error;
        char value[4096];
        unsigned effect = 0;
        bool changed = false;
        const char *name = params[i].key.s != NULL ? params[i].key.s : "";
        value_text(&params[i].value, value, sizeof value);
        int err = bbf_options_set(copy, name, value, &effect, &changed, &error);
        if (err != BBF_OK) {
            answer->len = 0;
            bbf_buf_str(answer, err == BBF_ENOMEM ? bbf_strerror(err) : error.at.text);
            return err;
        }
        *effects |= changed ? effect : 0;
        bbf_safe_printf(answer, BBF_SAFE_VALUE, "%s=%s%s\n", name, value,
                        changed ? "" : " (as before)");
    }
    const char *why;
    if (!bbf_gate_allows(copy, &why)) {
        answer->len = 0;
        bbf_buf_str(answer, why);
        return BBF_EREFUSED;
    }
    if (bbf_tracker_can_sample(bbf_agent.tracker, (uint32_t)copy->sample))
        return BBF_OK;
    answer->len = 0;
    bbf_buf_printf(answer,
                   "sample: %d other rates were set since the start, and each keeps its "
                   "place; choose one of them again, or 1",
                   BBF_L_RATES - 1);
    return BBF_ELIMIT;
}

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER; /* one change at a time */

/* A copy of the options to change; under `changing`. */
static int begin(struct bbf_options *fresh, struct bbf_buf *answer)
{
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_IN) {
        bbf_buf_str(answer, "bbflow is stopping");
        return BBF_EREFUSED;
    }
    if (!bbf_rules_room()) {
        bbf_buf_str(answer,
                    "set: older settings are still read, by classes that are being loaded or by "
                    "a report or collection that is under way; try again");
        return BBF_EREFUSED;
    }
    return bbf_options_copy(fresh, &bbf_agent.options);
}

/* Make them the current ones, or free them after `err`. */
static int finish(struct bbf_options *fresh, int err, unsigned effects, struct bbf_buf *answer)
{
    struct bbf_rules *rules = NULL;
    if (err == BBF_OK && (rules = bbf_rules_new(fresh)) == NULL)
        err = BBF_ENOMEM;
    if (err != BBF_OK) {
        bbf_options_free(fresh);
        return err;
    }
    bbf_settings_replace(fresh);
    /* Running hooks may still read the old rules, and so may the agent thread. */
    const struct bbf_rules *before = atomic_exchange(&bbf_agent.rules, rules);
    if (effects == 0) {
        bbf_rules_retire(before);
        return BBF_OK;
    }
    struct bbf_job job = {
        .kind = BBF_JOB_APPLY, .effects = effects, .before = before, .text = answer};
    err = bbf_thread_ask(&job, WAIT_MS, 0);
    bbf_rules_retire(before);
    if (err != BBF_OK) {
        answer->len = 0;
        bbf_buf_printf(answer, "set: %s", bbf_strerror(err));
    }
    return err;
}

int bbf_set(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer)
{
    unsigned effects = 0;
    struct bbf_options fresh;
    (void)ctx;
    pthread_mutex_lock(&changing);
    int err = begin(&fresh, answer);
    if (err == BBF_OK) {
        err = try_all(&fresh, params, n, &effects, answer);
        err = finish(&fresh, err, effects, answer);
    }
    pthread_mutex_unlock(&changing);
    return err;
}

static bool has_entry(const char *list, const char *entry)
{
    size_t len = strlen(entry);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, "+");
        if (n == len && strncmp(at, entry, n) == 0)
            return true;
        at += n + (at[n] == '+');
    }
    return false;
}

static int append(struct bbf_options *options, const char *entry, struct bbf_buf *answer)
{
    struct bbf_parse_error error = {0};
    char *list = NULL;
    int err = BBF_EINVAL;
    if (strpbrk(entry, "+,") != NULL) /* the list's separators */
        snprintf(error.text, sizeof error.text, "'%.60s' is not one class", entry);
    else
        err = bbf_track_parse(&list, options->track, entry, &error);
    if (err == BBF_OK) {
        free(options->track);
        options->track = list;
        bbf_safe_printf(answer, BBF_SAFE_VALUE, "track=%s\n", list);
    } else {
        bbf_safe_printf(answer, BBF_SAFE_VALUE, "track: %s", error.text);
    }
    return err;
}

int bbf_set_add_track(const char *entry, struct bbf_buf *answer)
{
    struct bbf_options fresh;
    pthread_mutex_lock(&changing);
    int err = begin(&fresh, answer);
    if (err == BBF_OK && has_entry(fresh.track, entry)) {
        bbf_options_free(&fresh);
    } else if (err == BBF_OK) {
        err = append(&fresh, entry, answer);
        err = finish(&fresh, err, BBF_EFFECT_TRACK | BBF_EFFECT_CLASSES, answer);
    }
    pthread_mutex_unlock(&changing);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "an object type was not registered: %s", bbf_buf_cstr(answer));
    return err;
}
