/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/netty_hooks.h"

#include "core/layout.h"
#include "instrument/insert.h"

static void plan_root(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                      const struct bbf_netty_hook *hook, struct bbf_cf_plan *plan)
{
    struct bbf_cf_str name = {hook->site, strlen(hook->site)}, none = {"", 0};
    uint32_t site =
        bbf__plan_site(c, BBF_SITE_ROOT, c->name, name, "", none, hook->memory, hook->harmless);
    if (site == 0)
        return;
    uint32_t mem = (uint32_t)hook->memory | (hook->harmless ? BBF_L_MEM_HARMLESS : 0);
    struct bbf_cf_call call = call_of(hook->kind == BBF_HOOK_ROOT ? TARGET_ROOT : TARGET_ROOT_KEEP);
    push(&call, BBF_CF_DUP, 0);
    uint16_t slot = hook->size & 0x7f;
    if (hook->size == BBF_NO_SIZE || bbf_cf_stores_to(m, slot))
        push(&call, BBF_CF_INT, 0);
    else
        push(&call, (hook->size & BBF_ARRAY_SIZE) != 0 ? BBF_CF_ARRAYLENGTH : BBF_CF_ILOAD, slot);
    push(&call, BBF_CF_INT, site | mem << BBF_L_META_MEM_SHIFT);
    plan->areturn[plan->n_areturn++] = call;
}

/* `this` and the first parameter at the normal end of a constructor. */
static void plan_constructor(const struct bbf_cf_method *m, enum target target, bool parameter,
                             struct bbf_cf_plan *plan)
{
    if (parameter && bbf_cf_stores_to(m, 1))
        return; /* instead the object's field leads to it at the first step */
    struct bbf_cf_call call = call_of(target);
    push(&call, BBF_CF_ALOAD, 0);
    if (parameter)
        push(&call, BBF_CF_ALOAD, 1);
    plan->vreturn[plan->n_return++] = call;
}

static void plan_exit_count(const struct bbf_cf_method *m, enum target target,
                            struct bbf_cf_plan *plan)
{
    bool counted = m->descriptor.len > 1 && m->descriptor.s[1] == 'I';
    struct bbf_cf_call call = call_of(target);
    if (m->descriptor.s[m->descriptor.len - 1] != ';' || (counted && bbf_cf_stores_to(m, 1)))
        return;
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, counted ? BBF_CF_ILOAD : BBF_CF_INT, 1);
    plan->areturn[plan->n_areturn++] = call;
}

/* `this`, and what the hook does with it. */
static void plan_use(enum target target, uint32_t use, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(target);
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, BBF_CF_INT, use);
    plan_entry(plan, call);
}

/* `this` and the method's only parameter; 1 if it has no parameter. */
static void plan_count(const struct bbf_cf_method *m, enum target target, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(target);
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, m->descriptor.s[1] == ')' ? BBF_CF_INT : BBF_CF_ILOAD, 1);
    plan_entry(plan, call);
}

static void plan_derive(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                        const struct bbf_netty_hook *hook, struct bbf_cf_plan *plan)
{
    /* The site is named after the methods that make such views: retainedSlice, retainedDuplicate,
     * … */
    char owner[512];
    if (c->buffer_prefix + sizeof "buffer/ByteBuf" > sizeof owner)
        return;
    memcpy(owner, c->name.s, c->buffer_prefix);
    memcpy(owner + c->buffer_prefix, "buffer/ByteBuf", sizeof "buffer/ByteBuf");
    struct bbf_cf_str class_name = {owner, strlen(owner)}, none = {"", 0};
    struct bbf_cf_str name = {hook->site, strlen(hook->site)};
    uint32_t site =
        bbf__plan_site(c, BBF_SITE_DERIVE, class_name, name, "", none, BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return;
    struct bbf_cf_call call = call_of(TARGET_DERIVE);
    const char *second = memchr(m->descriptor.s, ';', m->descriptor.len);
    push(&call, BBF_CF_ALOAD, 0);
    /* The parent: in 4.1.0 the first parameter, later the second, behind the owner. */
    push(&call, BBF_CF_ALOAD, second != NULL && second[1] == 'L' ? 2 : 1);
    push(&call, BBF_CF_INT, site);
    plan_entry(plan, call);
}

/* newComponent(buffer, …); removeCompRange(from, to). */
static void plan_components(bool adopt, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(adopt ? TARGET_ADOPT : TARGET_DISOWN);
    push(&call, BBF_CF_ALOAD, 0);
    if (adopt) {
        push(&call, BBF_CF_ALOAD, 1);
    } else {
        push(&call, BBF_CF_ILOAD, 1);
        push(&call, BBF_CF_ILOAD, 2);
    }
    plan_entry(plan, call);
}

/* With refs= also where a reference is added or dropped, before all else. */
static void plan_counting(const struct bbf_plan_class *c, const struct bbf_netty_hook *hook,
                          struct bbf_cf_plan *plan)
{
    bool retains = hook->kind == BBF_HOOK_RETAIN;
    if (c->rules->options.refs &&
        (retains || hook->kind == BBF_HOOK_RELEASE_N || hook->kind == BBF_HOOK_RELEASE_ONE))
        plan_use(TARGET_COUNTING, retains ? BBF_L_USE_RETAIN : BBF_L_USE_RELEASE, plan);
}

/* `this` and the second parameter at the normal end of a constructor. */
static void plan_adopt_all(const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    if (bbf_cf_stores_to(m, 2))
        return;
    struct bbf_cf_call call = call_of(TARGET_ADOPT_ALL);
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, BBF_CF_ALOAD, 2);
    plan->vreturn[plan->n_return++] = call;
}

/* One reference before each return of an object: the result (DUP) or `this` (ALOAD). */
static void plan_result(enum target target, enum bbf_cf_push what, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(target);
    push(&call, what, 0);
    plan->areturn[plan->n_areturn++] = call;
}

/*
 * Before 4.1.35 release(), release(int) and their helpers count and call deallocate() themselves.
 * The hook is before that call, where one thread has taken the last count and the object is not yet
 * reused. release() drops one count at its entry; below one the hint does not go.
 */
void bbf__plan_old_release(const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    if ((m->access & ACC_STATIC) != 0 || same(m->name, "<init>"))
        return;
    plan->after_call = true; /* of deallocate() */
    plan->before_name = BBF_DEALLOCATE;
    plan->before_descriptor = "()V";
    plan->before_call = call_of(TARGET_RELEASE);
    push(&plan->before_call, BBF_CF_ALOAD, 0);
    push(&plan->before_call, BBF_CF_INT, 1);
    if (!same(m->name, "release"))
        return;
    struct bbf_cf_call one = call_of(TARGET_RELEASE);
    push(&one, BBF_CF_ALOAD, 0);
    push(&one, BBF_CF_INT, 0);
    plan_entry(plan, one);
}

static void plan_misuse(struct bbf_cf_plan *plan)
{
    plan->before_athrow_set = true;
    plan->before_athrow = call_of(TARGET_REPORT_ACCESS);
    push(&plan->before_athrow, BBF_CF_ALOAD, 0);
}

static const enum target constructor_targets[] = {[BBF_HOOK_ALIAS] = TARGET_ALIAS,
                                                  [BBF_HOOK_WRAP] = TARGET_WRAP,
                                                  [BBF_HOOK_ALIAS_TEST] = TARGET_ALIAS_TEST,
                                                  [BBF_HOOK_UNRELEASABLE] = TARGET_UNRELEASABLE,
                                                  [BBF_HOOK_NEVER] = TARGET_NEVER};

void bbf__plan_netty(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                     const struct bbf_netty_hook *hook, struct bbf_cf_plan *plan)
{
    plan_counting(c, hook, plan);
    switch (hook->kind) {
    case BBF_HOOK_ROOT:
    case BBF_HOOK_ROOT_KEEP:
        plan_root(c, m, hook, plan);
        break;
    case BBF_HOOK_RECOUNT:
        plan_count(m, TARGET_RECOUNT, plan);
        break;
    case BBF_HOOK_RELEASE:
    case BBF_HOOK_RELEASE_N:
        plan->after_call = hook->kind == BBF_HOOK_RELEASE; /* of deallocate() */
        plan_count(m, plan->after_call ? TARGET_RELEASE : TARGET_RELEASE_N, plan);
        break;
    case BBF_HOOK_RELEASE_ONE:
        plan_use(TARGET_CHECK_USE, BBF_L_USE_RELEASE, plan);
        break;
    case BBF_HOOK_RETAIN:
        plan_use(TARGET_CHECK_USE, BBF_L_USE_RETAIN, plan);
        plan_exit_count(m, TARGET_REFS, plan);
        break;
    case BBF_HOOK_RESIZED:
        plan_exit_count(m, TARGET_RESIZED, plan);
        break;
    case BBF_HOOK_DERIVE:
        plan_derive(c, m, hook, plan);
        break;
    case BBF_HOOK_ALIAS:
    case BBF_HOOK_WRAP:
    case BBF_HOOK_ALIAS_TEST:
    case BBF_HOOK_UNRELEASABLE:
    case BBF_HOOK_NEVER:
        plan_constructor(m, constructor_targets[hook->kind], hook->kind != BBF_HOOK_NEVER, plan);
        break;
    case BBF_HOOK_ADOPT:
    case BBF_HOOK_DISOWN:
        plan_components(hook->kind == BBF_HOOK_ADOPT, plan);
        break;
    case BBF_HOOK_ADOPT_ALL:
        plan_adopt_all(m, plan);
        break;
    case BBF_HOOK_ADOPT_LAST:
        plan_result(TARGET_ADOPT_LAST, BBF_CF_ALOAD, plan);
        break;
    case BBF_HOOK_CHUNK:
        plan_result(TARGET_CHUNK, BBF_CF_DUP, plan);
        break;
    case BBF_HOOK_MISUSE:
        plan_misuse(plan);
        break;
    }
}
