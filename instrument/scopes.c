/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/scopes.h"

#include <stddef.h>

/* A method of Netty's, by the name of its class behind `netty/`, and what is passed: the parameter
 * or `this` in that slot. A name that ends with '*' has any end. */
static const struct scope_hook {
    const char *class_name, *method, *descriptor;
    enum target target;
    uint8_t slot;
} scope_hooks[] = {
    {"channel/DefaultChannelPipeline", "<init>", "(L", TARGET_MADE_CHANNEL, 1},
    {"channel/DefaultChannelPipeline", "fire*", "(", TARGET_FIRES, 0},
    {"channel/DefaultMaxMessagesRecvByteBufAllocator$MaxMessageHandle", "reset", "(L", TARGET_READS,
     1},
    {"channel/nio/AbstractNioChannel$AbstractNioUnsafe", "finishConnect", "()V", TARGET_READS, 0},
    {"channel/epoll/AbstractEpollChannel$AbstractEpollUnsafe", "finishConnect", "()V", TARGET_READS,
     0},
    {"util/concurrent/SingleThreadEventExecutor", "addTask", "(Ljava/lang/Runnable;)V",
     TARGET_QUEUES, 1},
    {"util/concurrent/AbstractScheduledEventExecutor", "scheduleFromEventLoop", "(L", TARGET_QUEUES,
     1},
    {"util/concurrent/AbstractEventExecutor", "safeExecute", "(Ljava/lang/Runnable;)V",
     TARGET_RUNS_SAFELY, 0},
    {"util/concurrent/AbstractEventExecutor", "runTask", "(Ljava/lang/Runnable;)V", TARGET_RUNS, 0},
};
enum { SCOPE_HOOKS = sizeof scope_hooks / sizeof scope_hooks[0] };

/* The class's name behind `netty/`. */
static struct bbf_cf_str behind_netty(const char *name, size_t len)
{
    size_t prefix = bbf_netty_prefix(name, len);

    return prefix > 0 ? (struct bbf_cf_str){name + prefix, len - prefix}
                      : (struct bbf_cf_str){"", 0};
}

bool bbf__plan_is_of_scopes(const char *name, size_t len)
{
    struct bbf_cf_str simple = behind_netty(name, len);

    for (size_t i = 0; i < SCOPE_HOOKS; i++)
        if (same(simple, scope_hooks[i].class_name))
            return true;
    return false;
}

void bbf__plan_scopes_class(struct bbf_plan_class *c, const char *name, size_t len)
{
    c->has_scopes = c->rules->options.scopes && bbf__plan_is_of_scopes(name, len);
}

static bool has_name(struct bbf_cf_str name, const char *wanted)
{
    size_t len = strlen(wanted);

    if (wanted[len - 1] == '*')
        return name.len >= len - 1 && memcmp(name.s, wanted, len - 1) == 0;
    return same(name, wanted);
}

void bbf__plan_scopes(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                      struct bbf_cf_plan *plan)
{
    if (!c->has_scopes || (m->access & ACC_BRIDGE) != 0) /* a bridge calls the method itself */
        return;
    struct bbf_cf_str simple = behind_netty(m->class_name.s, m->class_name.len);
    for (size_t i = 0; i < SCOPE_HOOKS; i++) {
        if (!same(simple, scope_hooks[i].class_name) || !has_name(m->name, scope_hooks[i].method) ||
            !head(m->descriptor, scope_hooks[i].descriptor))
            continue;
        struct bbf_cf_call call = call_of(scope_hooks[i].target);
        push(&call, BBF_CF_ALOAD, scope_hooks[i].slot);
        plan_entry(plan, call);
    }
}
