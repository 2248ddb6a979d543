/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/context.h"

#include "core/layout.h"

static bool touches(const char *name, size_t len)
{
    size_t prefix = bbf_netty_buffer_prefix(name, len);
    return prefix > 0 &&
           bbf_netty_touches((struct bbf_cf_str){name + prefix + 7, len - prefix - 7});
}

bool bbf__plan_is_of_context(const char *name, size_t len)
{
    return touches(name, len) || bbf_netty_gets_exceptions(name, len);
}

void bbf__plan_context_class(struct bbf_plan_class *c, const char *name, size_t len)
{
    c->touches = c->rules->options.context && touches(name, len);
    c->gets_exceptions = c->rules->options.context && bbf_netty_gets_exceptions(name, len);
}

uint16_t bbf__plan_channel_slot(const struct bbf_cf_method *m)
{
    struct bbf_cf_str d = m->descriptor;
    uint16_t slot = (m->access & ACC_STATIC) != 0 ? 0 : 1;
    for (size_t i = 1, from; i < d.len && d.s[i] != ')'; i++) {
        from = i;
        while (i < d.len && d.s[i] == '[')
            i++;
        bool array = i > from;
        size_t name = i + 1;
        while (i < d.len && d.s[name - 1] == 'L' && d.s[i] != ';')
            i++;
        if (!array && d.s[from] == 'L' && bbf_netty_channel_type(d.s + name, i - name) &&
            !bbf_cf_stores_to(m, slot))
            return slot;
        slot = (uint16_t)(slot + (d.s[from] == 'J' || d.s[from] == 'D' ? 2 : 1));
    }
    return BBF_PLAN_NO_SLOT;
}

struct bbf_cf_call bbf__plan_sight(const struct bbf_plan_class *c, enum bbf_cf_push what,
                                   uint32_t value, bool exact, uint32_t site)
{
    bool in = c->channel_slot != BBF_PLAN_NO_SLOT;
    struct bbf_cf_call call = call_of(in ? TARGET_STEP_SEEN_IN : TARGET_STEP_SEEN);
    push(&call, what, value);
    if (in)
        push(&call, BBF_CF_ALOAD, c->channel_slot);
    push(&call, BBF_CF_INT, site | (exact ? (uint32_t)BBF_L_SIGHT_EXACT : 0));
    return call;
}

void bbf__plan_caught(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                      struct bbf_cf_plan *plan)
{
    uint32_t site = bbf__plan_site(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                                   BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return;
    plan->at_handler_set = true;
    plan->at_handler = call_of(TARGET_CAUGHT);
    push(&plan->at_handler, BBF_CF_DUP, 0);
    push(&plan->at_handler, BBF_CF_INT, site);
}

/* `this` and the first parameter. */
static void plan_two(enum target target, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(target);
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, BBF_CF_ALOAD, 1);
    plan_entry(plan, call);
}

void bbf__plan_context(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                       struct bbf_cf_plan *plan)
{
    if ((m->access & (ACC_STATIC | ACC_BRIDGE)) != 0) /* a bridge calls the method itself */
        return;
    if (c->touches && same(m->name, "touch") && head(m->descriptor, "(Ljava/lang/Object;)"))
        plan_two(TARGET_TOUCHED, plan);
    if (c->gets_exceptions && same(m->name, "invokeExceptionCaught") &&
        head(m->descriptor, "(Ljava/lang/Throwable;)"))
        plan_two(TARGET_PIPELINE_CAUGHT, plan);
}
