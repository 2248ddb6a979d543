/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/code_hook.h"

#include <string.h>

#include "agent/classes/carrier_classes.h"
#include "agent/classes/dump.h"
#include "agent/classes/nettys.h"
#include "agent/classes/rewritten_classes.h"
#include "agent/cost/meter.h"
#include "agent/handlers_find.h"
#include "agent/jvm/management.h"
#include "agent/jvm/memory.h"
#include "agent/rules.h"
#include "agent/sites.h"
#include "agent/state.h"
#include "core/clock.h"
#include "core/log.h"
#include "instrument/plan.h"

static void count(enum bbf_cf_class_result result, const struct bbf_cf_stats *stats)
{
    atomic_fetch_add_explicit(&bbf_agent.classes[result], 1, memory_order_relaxed);
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        if (stats->methods[i] != 0)
            atomic_fetch_add_explicit(&bbf_agent.methods[i], stats->methods[i],
                                      memory_order_relaxed);
}

/* The boot loader's classes are the JDK's, and ours: one of them is changed (agent/report/oom.h).
 */
bool bbf_code_hook_takes(jobject loader, const char *name)
{
    return loader != NULL || strcmp(name, BBF_PLAN_JDK_BITS) == 0;
}

static void instrument(const struct bbf_rules *rules, jclass redefined, jobject loader,
                       const char *name, jint len, const unsigned char *bytes, jint *new_len,
                       unsigned char **new_bytes)
{
    struct bbf_plan_class plan;
    if (name != NULL && rules != NULL && loader != NULL)
        bbf_nettys_wake_for(name, rules, true);
    if (name == NULL || rules == NULL || !bbf_code_hook_takes(loader, name))
        return;
    (void)bbf_plan_class(&plan, name, strlen(name), rules, &bbf_agent_sites);
    bool hooked = bbf_plan_inspect(&plan, bytes, (size_t)len);
    if (plan.may_carry) /* before its own methods are planned */
        bbf_carrier_classes_met(rules, name, bytes, (size_t)len);
    if (!hooked)
        return;
    uint64_t begin = bbf_clock_ns(CLOCK_MONOTONIC);
    struct bbf_cf_config config;
    struct bbf_cf_stats stats;
    uint8_t *out;
    size_t out_len;
    bbf_plan_config(&config, &plan);
    config.allocate = bbf_jvm_allocate;
    enum bbf_cf_class_result result =
        bbf_cf_rewrite(bytes, (size_t)len, &config, &out, &out_len, &stats);
    count(result, &stats);
    if (result == BBF_CF_CHANGED) {
        *new_bytes = out;
        *new_len = (jint)out_len;
        bbf_rewritten_classes_add(name, redefined == NULL ? bbf_clock_ns(CLOCK_MONOTONIC) : 0);
        if (plan.steps || plan.constructors)
            atomic_fetch_add_explicit(&bbf_agent.followed_classes, 1, memory_order_relaxed);
        bbf_dump(name, "before", bytes, (size_t)len);
        bbf_dump(name, "after", out, out_len);
    } else if (result != BBF_CF_NOTHING) {
        bbf_log(BBF_LOG_WARN, "%s is left as it is: %s", name, bbf_cf_class_text(result));
    }
    bbf_meter_rewritten(bbf_clock_ns(CLOCK_MONOTONIC) - begin);
}

void JNICALL bbf_code_hook(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes)
{
    (void)jvmti;
    (void)env;
    (void)domain;
    if (loader == NULL && name != NULL)
        bbf_management_loads(name);
    else if (name != NULL)
        bbf_handlers_loads(name);
    const struct bbf_rules_hold hold = bbf_rules_hold();
    instrument(hold.rules, redefined, loader, name, len, bytes, new_len, new_bytes);
    bbf_rules_let_go(&hold);
}
