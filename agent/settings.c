/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/settings.h"

#include <limits.h>

#include "agent/boot/shim.h"
#include "agent/classes/loaded.h"
#include "agent/cost/account.h"
#include "agent/cost/gate.h"
#include "agent/events.h"
#include "agent/lttng.h"
#include "agent/metrics.h"
#include "agent/metrics_server.h"
#include "agent/report/blackbox.h"
#include "agent/sinks/sinks.h"
#include "agent/state.h"
#include "core/err.h"
#include "trie/map.h"
#include "trie/scopes.h"

void bbf_settings_replace(const struct bbf_options *fresh)
{
    pthread_mutex_lock(&bbf_agent.lock);
    struct bbf_options old = bbf_agent.options;
    bbf_agent.options = *fresh;
    pthread_mutex_unlock(&bbf_agent.lock);
    bbf_options_free(&old);
}

/* Before the classes where it is on, and after them where it is off: the hooks find it as it was.
 */
static void apply_context(const struct bbf_rules *now, bool on, struct bbf_buf *text)
{
    if (now->options.context == on && !bbf_context_switch(bbf_agent.tracker, on) && text != NULL)
        bbf_buf_str(text, "context: the kernel refuses the address space; nothing is noted\n");
}

static void apply_scopes(const struct bbf_rules *now, bool on, struct bbf_buf *text)
{
    if (now->options.scopes == on && !bbf_scopes_switch(bbf_agent.tracker, on) && text != NULL)
        bbf_buf_str(text, "scopes: no memory; nothing is noted\n");
}

static void apply_to_classes(JNIEnv *env, const struct bbf_rules *before,
                             const struct bbf_rules *now, struct bbf_buf *text)
{
    struct bbf_retransformed r = bbf_loaded_apply(env, before, now);
    if (text == NULL)
        return;
    bbf_buf_printf(text, "%zu loaded classes newly followed, %zu put back", r.rewritten,
                   r.put_back);
    if (r.failed > 0)
        bbf_buf_printf(text, ", %zu could not be retransformed", r.failed);
    bbf_buf_char(text, '\n');
}

static void apply_to_recording(const struct bbf_rules *now, struct bbf_buf *text)
{
    char why[PATH_MAX + 300] = "";
    int err = bbf_sink_jfr_apply(&now->options, why, sizeof why);
    bbf_events_refresh();
    if (err != BBF_OK && text != NULL)
        bbf_buf_printf(text, "jfr: nothing is recorded: %s\n",
                       why[0] != '\0' ? why : bbf_strerror(err));
    /* No error of the set: it is tried again, and reports have the reason. */
}

static void apply_to_blackbox(const struct bbf_rules *now, struct bbf_buf *text)
{
    char why[PATH_MAX + 300] = "";
    int err = bbf_blackbox_apply(&now->options, why, sizeof why);
    if (err != BBF_OK && text != NULL)
        bbf_buf_printf(text, "blackbox: nothing is written: %s\n", why);
}

static void apply_to_metrics(const struct bbf_rules *now, struct bbf_buf *text)
{
    char why[400];
    struct bbf_metrics_state state;
    (void)bbf_metrics_apply(&now->options, why, sizeof why); /* a duty may have done it already */
    bbf_metrics_state(&state);
    if (text != NULL && state.why[0] != '\0')
        bbf_buf_printf(text, "metrics: nothing is served: %s\n", state.why);
    else if (text != NULL && state.url[0] != '\0')
        bbf_buf_printf(text, "metrics: %s\n", state.url);
}

int bbf_settings_apply(JNIEnv *env, unsigned effects, const struct bbf_rules *before,
                       struct bbf_buf *text)
{
    const struct bbf_rules *now = atomic_load(&bbf_agent.rules);
    if ((effects & BBF_EFFECT_LIMITS) != 0) {
        const struct bbf_limits limits = bbf_limits_of(&now->options);
        bbf_tracker_limit(bbf_agent.tracker, &limits);
    }
    if ((effects & BBF_EFFECT_ROOTS) != 0)
        bbf_tracker_direct_only(bbf_agent.tracker, now->options.direct_only);
    if ((effects & (BBF_EFFECT_ROOTS | BBF_EFFECT_BUDGET)) != 0 &&
        bbf_account_apply(&now->options) != BBF_OK)
        return BBF_ELIMIT;
    if ((effects & BBF_EFFECT_GATE) != 0)
        bbf_gate_apply(&now->options);
    if ((effects & BBF_EFFECT_LTTNG) != 0 && bbf_tracing_apply(&now->options) != BBF_OK)
        return BBF_EIO;
    if ((effects & BBF_EFFECT_RECORDING) != 0)
        apply_to_recording(now, text);
    if ((effects & BBF_EFFECT_RECORDING) != 0)
        apply_to_blackbox(now, text);
    if ((effects & BBF_EFFECT_METRICS) != 0)
        apply_to_metrics(now, text);
    /* After the rules are published: an answer that the shim kept by the old ones is forgotten. */
    if ((effects & BBF_EFFECT_TRACK) != 0 &&
        (!bbf_map_open(bbf_agent.tracker) || !bbf_shim_track(env, true)))
        return BBF_ENOMEM;
    if ((effects & BBF_EFFECT_CLASSES) != 0) {
        apply_context(now, true, text);
        apply_scopes(now, true, text);
        apply_to_classes(env, before, now, text);
        apply_context(now, false, text);
        apply_scopes(now, false, text);
    }
    if ((effects & (BBF_EFFECT_ROOTS | BBF_EFFECT_BUDGET | BBF_EFFECT_GATE | BBF_EFFECT_CLASSES)) !=
        0)
        bbf_account_changed();
    return BBF_OK;
}
