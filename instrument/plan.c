/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/plan.h"

#include <string.h>

#include "instrument/carriers.h"
#include "instrument/context.h"
#include "instrument/scopes.h"
#include "instrument/insert.h"
#include "instrument/libraries.h"
#include "instrument/netty.h"
#include "instrument/netty_hooks.h"
#include "instrument/uses.h"
#include "core/err.h"
#include "core/layout.h"
#include "core/track.h"

/* ---- targets in the shim ---- */

static const struct bbf_cf_target targets[N_TARGETS] = {
#define XX(id, name, descriptor) {"java/lang/BBFlowShim", name, descriptor},
    TARGETS(XX)
#undef XX
#define XX(id, name, descriptor) {"java/lang/BBFlowShimContext", name, descriptor},
        CONTEXT_TARGETS(XX)
#undef XX
#define XX(id, name, descriptor) {"java/lang/BBFlowShimScopes", name, descriptor},
            SCOPE_TARGETS(XX)
#undef XX
};

/* ---- objects of track= ---- */

static void plan_tracked(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                         struct bbf_cf_plan *plan)
{
    unsigned closing = bbf_track_methods(c->tracks, m->name.s, m->name.len);
    struct bbf_cf_call call;
    if (same(m->name, "<init>") && (c->named || c->closes) && !bbf_cf_stores_to(m, 0)) {
        call = call_of(TARGET_MADE);
        push(&call, BBF_CF_ALOAD, 0);
        plan->vreturn[plan->n_return++] = call;
    } else if (closing != 0 && (m->access & ACC_STATIC) == 0) {
        call = call_of(TARGET_CLOSED);
        push(&call, BBF_CF_ALOAD, 0);
        push(&call, BBF_CF_INT, closing);
        plan_entry(plan, call);
    }
}

/* ---- copies (ADR 34) ---- */

/* super.clone() of any type but an array: that of a buffer ends in Object.clone(). */
static bool is_super_clone(struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode)
{
    return opcode == 0xb7 /* invokespecial */ && same(name, "clone") &&
           same(descriptor, "()Ljava/lang/Object;");
}

/* The copy and the original, after super.clone(). The original is also the first argument of
 * javac's access$ method, through which an inner class calls it. */
static bool copied(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                   struct bbf_cf_call *call)
{
    bool object =
        (m->access & ACC_STATIC) == 0 ? !same(m->name, "<init>") : head(m->descriptor, "(L");
    if (!c->copies || !object || bbf_cf_stores_to(m, 0))
        return false;
    *call = call_of(TARGET_COPIED);
    push(call, BBF_CF_DUP, 0);
    push(call, BBF_CF_ALOAD, 0);
    return true;
}

/* ---- what the bytes of the class say ---- */

static void note_declared(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    struct bbf_plan_class *c = ctx;
    (void)plan;
    c->copies = c->clones && m->super_name.len > 0 && !head(m->super_name, "java/");
    if (c->tracks != NULL && (m->access & ACC_STATIC) == 0)
        c->closes = c->closes || bbf_track_methods(c->tracks, m->name.s, m->name.len) != 0;
}

static bool names_declared(void *ctx, const char *utf8, size_t len)
{
    struct bbf_plan_class *c = ctx;
    c->may_carry = c->may_carry || bbf_carriers_may(c->rules->carriers, utf8, len, 0);
    /* Not called for the names after the first that it accepts; `clone` may be among them. */
    c->clones = same((struct bbf_cf_str){utf8, len}, "clone") ||
                (c->tracks != NULL && bbf_track_methods(c->tracks, utf8, len) != 0);
    c->may_carry = c->may_carry || (c->clones && c->rules->carriers != NULL);
    return c->clones;
}

bool bbf_plan_has_hooks(const struct bbf_plan_class *c)
{
    return c->named || c->closes || c->copies || c->buffer_prefix > 0 || c->reports_oom ||
           c->throws_refcount_error || c->steps || c->constructors || c->touches ||
           c->gets_exceptions || c->has_scopes;
}

bool bbf_plan_inspect(struct bbf_plan_class *c, const uint8_t *bytes, size_t len)
{
    struct bbf_cf_config look = {.targets = targets,
                                 .n_targets = N_TARGETS,
                                 .ctx = c,
                                 .interesting = names_declared,
                                 .plan = note_declared};
    /* A name in its constants: it declares the method, or calls it. */
    c->releases_itself = c->is_refcount_class && len > 0 &&
                         memmem(bytes, len, BBF_HANDLE_RELEASE, strlen(BBF_HANDLE_RELEASE)) == NULL;
    struct bbf_cf_stats stats;
    uint8_t *out = NULL;
    size_t out_len;
    if (!c->is_jdk &&
        !bbf_plan_is_never_followed(c->name.s, c->name.len)) /* this makes no plan and no output */
        (void)bbf_cf_rewrite(bytes, len, &look, &out, &out_len, &stats);
    return bbf_plan_has_hooks(c);
}

/* ---- steps ---- */

/* Classify a type by its name: a type of Netty, an entry of track=, or a carrier. */
static enum bbf_type type_of(const struct bbf_plan_class *c, const char *name, size_t len)
{
    enum bbf_type type = bbf_netty_type(name, len);
    if (type == BBF_TYPE_BUFFER && bbf_netty_chunk(c->name.s, c->name.len, name, len))
        return BBF_TYPE_NONE;
    if (type != BBF_TYPE_NONE)
        return type;
    if (bbf_track_classes(c->tracks, name, len) != 0)
        return BBF_TYPE_TRACKED;
    return bbf_carriers_find(c->rules->carriers, name, len) != BBF_CARRIER_NONE ? BBF_TYPE_CARRIER
                                                                                : BBF_TYPE_NONE;
}

/* Does the method's generic signature name a tracked type? Then its containers of any element type
 * are searched. */
static bool names_tracked(const struct bbf_plan_class *c, struct bbf_cf_str signature)
{
    for (size_t i = 0, end; i < signature.len; i = end + 1) {
        for (end = i; end < signature.len && strchr("(<>;:", signature.s[end]) == NULL;)
            end++;
        while (i < end && strchr("+-[", signature.s[i]) != NULL) /* ? extends, ? super, arrays */
            i++;
        enum bbf_type type = i < end && signature.s[i] == 'L'
                                 ? type_of(c, signature.s + i + 1, end - i - 1)
                                 : BBF_TYPE_NONE;
        if (type != BBF_TYPE_NONE && type != BBF_TYPE_MESSAGE)
            return true;
    }
    return false;
}

static bool is_list(struct bbf_cf_str type)
{
    return same(type, "java/util/List") || same(type, "java/util/ArrayList");
}

/* Types that may be one of the containers of design.md: hot path. */
static bool is_container(struct bbf_cf_str type)
{
    return is_list(type) || same(type, "java/util/Collection") ||
           same(type, "java/lang/Iterable") || same(type, "java/util/Optional");
}

struct parameter {
    uint16_t slot;
    bool exact; /* the type is ByteBuf itself: no class test */
};
enum { MAX_PARAMETERS = 255, NO_LIST = BBF_PLAN_NO_SLOT };

/* Walk a descriptor: store the tracked parameters in `out`, the first character of the return type
 * in *result, and in *list the slot of the last parameter if it is a list. */
static size_t read_parameters(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                              struct parameter *out, size_t *result, uint16_t *list)
{
    struct bbf_cf_str d = m->descriptor;
    bool objects = c->rules->options.objects_everywhere || bbf_netty_handler_method(m->name);
    bool generic = c->rules->options.objects_everywhere || names_tracked(c, m->signature);
    uint16_t slot = (m->access & ACC_STATIC) != 0 ? 0 : 1;
    size_t n = 0, i = 1;
    *list = NO_LIST;
    while (i < d.len && d.s[i] != ')') {
        size_t start = i;
        while (i < d.len && d.s[i] == '[')
            i++;
        if (i < d.len && d.s[i] == 'L')
            while (i < d.len && d.s[i] != ';')
                i++;
        i++;
        if (i > d.len)
            break;
        bool array = d.s[start] == '[' && i - start > 2 && d.s[start + 1] == 'L';
        size_t name = start + (array ? 2 : 1);
        struct bbf_cf_str type = {d.s + name, i > name ? i - name - 1 : 0};
        if ((array || d.s[start] == 'L') && n < MAX_PARAMETERS) {
            enum bbf_type kind = type_of(c, type.s, type.len);
            if (kind == BBF_TYPE_NONE && same(type, "java/lang/Object"))
                kind = BBF_TYPE_MESSAGE;
            if (kind == BBF_TYPE_NONE ? generic && !array && is_container(type)
                                      : kind != BBF_TYPE_MESSAGE || objects || (array && generic))
                out[n++] = (struct parameter){slot, !array && kind == BBF_TYPE_BYTEBUF};
        }
        *list = d.s[start] == 'L' && is_list(type) ? slot : NO_LIST;
        slot = (uint16_t)(slot + (d.s[start] == 'J' || d.s[start] == 'D' ? 2 : 1));
    }
    *result = i + 1;
    return n;
}

/* Is what is returned a buffer, or a holder or carrier of some? */
static enum bbf_type buffer_type(const struct bbf_plan_class *c, struct bbf_cf_str descriptor,
                                 size_t at)
{
    if (at + 2 >= descriptor.len || descriptor.s[at] != 'L')
        return BBF_TYPE_NONE;
    enum bbf_type type = type_of(c, descriptor.s + at + 1, descriptor.len - at - 2);
    return type == BBF_TYPE_MESSAGE ? BBF_TYPE_NONE : type;
}

static void plan_parameters(const struct bbf_plan_class *c, const struct parameter *p, size_t n,
                            uint32_t site, struct bbf_cf_plan *plan)
{
    for (size_t i = 0; i < n && plan->n_entry < BBF_CF_MAX_ENTRY; i++) {
        if (c->rules->options.context) {
            plan_entry(plan, bbf__plan_sight(c, BBF_CF_ALOAD, p[i].slot, p[i].exact, site));
            continue;
        }
        bool pair = i + 1 < n && p[i].exact && p[i + 1].exact;
        struct bbf_cf_call call = call_of(pair         ? TARGET_STEP2
                                          : p[i].exact ? TARGET_STEP
                                                       : TARGET_STEP_OBJECT);
        push(&call, BBF_CF_ALOAD, p[i].slot);
        if (pair)
            push(&call, BBF_CF_ALOAD, p[++i].slot);
        push(&call, BBF_CF_INT, site);
        plan_entry(plan, call);
    }
}

static void plan_returned(const struct bbf_cf_method *m, const struct parameter *p, size_t n,
                          enum bbf_type type, uint32_t site, uint32_t entry,
                          struct bbf_cf_plan *plan)
{
    bool stored = n > 2;
    for (size_t i = 0; i < n && !stored; i++)
        stored = bbf_cf_stores_to(m, p[i].slot);
    struct bbf_cf_call call;
    if (n == 0)
        call = call_of(type == BBF_TYPE_BYTEBUF ? TARGET_STEP : TARGET_STEP_OBJECT);
    else if (stored)
        call = call_of(TARGET_EXIT_WALK);
    else
        call = call_of(n == 1 ? TARGET_EXIT : TARGET_EXIT2);
    push(&call, BBF_CF_DUP, 0);
    for (size_t i = 0; i < n && !stored; i++)
        push(&call, BBF_CF_ALOAD, p[i].slot);
    push(&call, BBF_CF_INT, site);
    if (n > 0 && stored)
        push(&call, BBF_CF_INT, entry);
    plan->areturn[plan->n_areturn++] = call;
    plan->areturn_unless_fluent = true;
}

/* `<init>_return`: the parameters once more, unless an instruction overwrote them. */
static void plan_constructed(const struct bbf_cf_method *m, const struct parameter *p, size_t n,
                             uint32_t site, struct bbf_cf_plan *plan)
{
    for (size_t i = 0; i < n && plan->n_return < BBF_CF_MAX_EXIT; i++) {
        if (bbf_cf_stores_to(m, p[i].slot))
            continue;
        struct bbf_cf_call call = call_of(p[i].exact ? TARGET_STEP : TARGET_STEP_OBJECT);
        push(&call, BBF_CF_ALOAD, p[i].slot);
        push(&call, BBF_CF_INT, site);
        plan->vreturn[plan->n_return++] = call;
    }
}

/* Scala's: a lambda with boxed values, before the lambda, and what calls a method of a trait. */
static bool forwards_in_scala(const struct bbf_cf_method *m)
{
    return (head(m->name, "$anonfun$") && tail(m->name, "$adapted")) ||
           has(m->name, "$anonfun$adapted$") ||
           ((m->class_access & ACC_INTERFACE) != 0 && (m->access & ACC_STATIC) != 0 &&
            m->name.len > 1 && tail(m->name, "$"));
}

/* Methods that only forward: a bridge repeats its target's step, access$ and $default are made by
 * javac and Kotlin (JVMS 4). */
static bool forwards(const struct bbf_cf_method *m)
{
    return (m->access & ACC_BRIDGE) != 0 || head(m->name, "access$") || tail(m->name, "$default") ||
           forwards_in_scala(m);
}

/* Is it a decoder's or encoder's method that adds its results to `list`? */
static bool has_results(const struct bbf_cf_method *m, uint16_t list)
{
    return list != NO_LIST && bbf_netty_adds_to_list(m->name) && tail(m->descriptor, ")V");
}

/* Is the list parameter searched when the method ends? In Netty's own classes each buffer that is
 * added had its step before (ADR 74). */
static bool adds_to(const struct bbf_plan_class *c, const struct bbf_cf_method *m, uint16_t list)
{
    return has_results(m, list) && !c->skip_forwarders && !bbf_cf_stores_to(m, list);
}

/* At the end of a decode or encode, give the buffers in the list parameter a step of the method's
 * own site, as for a buffer that a call returned to it. Most of them are at that site already. */
static void plan_added(const struct bbf_plan_class *c, const struct bbf_cf_method *m, uint16_t list,
                       struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(TARGET_STEP_OBJECT);
    if (!adds_to(c, m, list))
        return;
    uint32_t site = bbf__plan_site(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                                   BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return;
    push(&call, BBF_CF_ALOAD, list);
    push(&call, BBF_CF_INT, site);
    plan->vreturn[plan->n_return++] = call;
}

/* An overload with fewer parameters, which has the same name as what it calls. Of Netty's: a
 * subclass of an application's class may declare that, and not be followed. */
static bool is_overload(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                        const struct parameter *p, size_t n)
{
    uint64_t slots = 0;
    if (!c->skip_forwarders)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (p[i].slot >= 64)
            return false;
        slots |= UINT64_C(1) << p[i].slot;
    }
    return bbf_cf_only_calls_overload(m, slots);
}

/* The list that the methods of Netty's own decoders and encoders are given for their results: empty
 * at the entry, or each buffer in it had its step before. */
static bool is_for_results(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                           uint16_t list)
{
    return list != NO_LIST && c->skip_forwarders &&
           (has_results(m, list) || has(m->signature, "Ljava/util/List<Ljava/lang/Object;>;)"));
}

static void plan_steps(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                       struct bbf_cf_plan *plan)
{
    struct parameter p[MAX_PARAMETERS];
    bool constructor = same(m->name, "<init>");
    if (forwards(m) || (constructor ? !c->constructors : !c->steps))
        return;
    uint16_t list;
    size_t result, n = read_parameters(c, m, p, &result, &list);
    enum bbf_type returned = constructor ? BBF_TYPE_NONE : buffer_type(c, m->descriptor, result);
    if ((n > 0 || returned != BBF_TYPE_NONE) && !constructor && is_overload(c, m, p, n))
        return;
    if (n > 0 && p[n - 1].slot == list && is_for_results(c, m, list))
        n--;
    if (c->skip_forwarders && bbf_netty_returns_known(c->name.s, c->name.len, m->name))
        returned = BBF_TYPE_NONE;
    if (n > 0) {
        uint32_t site = bbf__plan_site(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                                       BBF_MEM_UNKNOWN, false);
        if (site == 0)
            return;
        if (!c->skip_forwarders || !bbf_netty_only_looks(c->name.s, c->name.len, m->name))
            plan_parameters(c, p, n, site, plan);
        if (returned != BBF_TYPE_NONE && plan->n_areturn == 0) {
            uint32_t exit = bbf__plan_site(c, BBF_SITE_RETURN, m->class_name, m->name, "_return",
                                           m->descriptor, BBF_MEM_UNKNOWN, false);
            if (exit != 0)
                plan_returned(m, p, n, returned, exit, site, plan);
        }
        if (constructor) {
            uint32_t exit = bbf__plan_site(c, BBF_SITE_RETURN, m->class_name, m->name, "_return",
                                           m->descriptor, BBF_MEM_UNKNOWN, false);
            if (exit != 0)
                plan_constructed(m, p, n, exit, plan);
        }
    } else if (returned != BBF_TYPE_NONE && plan->n_areturn == 0) {
        uint32_t exit = bbf__plan_site(c, BBF_SITE_RETURN, m->class_name, m->name, "_return",
                                       m->descriptor, BBF_MEM_UNKNOWN, false);
        if (exit != 0)
            plan_returned(m, p, 0, returned, exit, 0, plan);
    }
    plan_added(c, m, list, plan);
    if (c->rules->options.context && (n > 0 || c->channel_slot != BBF_PLAN_NO_SLOT))
        bbf__plan_caught(c, m, plan);
    plan->after_call = true;
}

/* ---- direct memory that ran out ---- */

/* For Netty, the constructor of its error gets the hook; for the JDK, the method that creates the
 * error. */
static bool is_oom_report(const struct bbf_plan_class *c, const struct bbf_cf_method *m)
{
    return c->reports_oom && same(m->name, c->is_jdk ? "reserveMemory" : "<init>");
}

static bool after_error(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_str owner,
                        struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode,
                        struct bbf_cf_call *call)
{
    (void)ctx;
    (void)m;
    (void)descriptor;
    (void)opcode;
    *call = call_of(TARGET_EXHAUSTED);
    return same(owner, "java/lang/OutOfMemoryError") && same(name, "<init>");
}

/* ---- callbacks of classfile ---- */

static void plan_method(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    struct bbf_plan_class *c = ctx;
    c->method = m;
    c->channel_slot = c->rules->options.context ? bbf__plan_channel_slot(m) : BBF_PLAN_NO_SLOT;
    bbf__plan_context(c, m, plan);
    bbf__plan_scopes(c, m, plan);
    if (is_oom_report(c, m) && c->is_jdk)
        plan->after_call = true;
    else if (is_oom_report(c, m))
        plan->vreturn[plan->n_return++] = call_of(TARGET_EXHAUSTED);
    if (c->throws_refcount_error && same(m->name, "<init>"))
        plan->vreturn[plan->n_return++] = call_of(TARGET_CONFIRM_MISUSE);
    if (c->buffer_prefix > 0) {
        struct bbf_cf_str simple = {m->class_name.s + c->buffer_prefix + 7,
                                    m->class_name.len - c->buffer_prefix - 7};
        const struct bbf_netty_hook *hook = bbf_netty_hook_of(simple, m->name, m->descriptor);
        if (hook != NULL && (m->access & ACC_BRIDGE) == 0) /* a bridge calls the method itself */
            bbf__plan_netty(c, m, hook, plan);
    }
    if (c->tracks != NULL)
        plan_tracked(c, m, plan);
    if (c->releases_itself)
        bbf__plan_old_release(m, plan);
    plan->after_call = plan->after_call || c->copies;
    if (c->steps || c->constructors)
        plan_steps(c, m, plan);
}

/* Methods of ByteBuf that return another buffer or change the count; the others return `this` or
 * views. */
static bool gives_buffer(struct bbf_cf_str name, struct bbf_cf_str descriptor)
{
    return same(name, "copy") || head(name, "retained") || head(name, "readRetained") ||
           (same(name, "readBytes") && head(descriptor, "(I)"));
}

/* The same of a holder's methods: the others return `this`, as retain() and touch() do. */
static bool gives_holder(struct bbf_cf_str name)
{
    return same(name, "copy") || same(name, "replace") || same(name, "retainedDuplicate") ||
           same(name, "duplicate");
}

/* The value on top of the stack gets one more step of the method's own site. */
static bool step_again(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                       enum bbf_type type, struct bbf_cf_call *call)
{
    uint32_t site = bbf__plan_site(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                                   BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return false;
    if (c->rules->options.context) {
        *call = bbf__plan_sight(c, BBF_CF_DUP, 0, type == BBF_TYPE_BYTEBUF, site);
        return true;
    }
    *call = call_of(type == BBF_TYPE_BYTEBUF ? TARGET_STEP : TARGET_STEP_OBJECT);
    push(call, BBF_CF_DUP, 0);
    push(call, BBF_CF_INT, site);
    return true;
}

static bool after_call(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_str owner,
                       struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode,
                       struct bbf_cf_call *call)
{
    const struct bbf_plan_class *c = ctx;
    if (is_super_clone(name, descriptor, opcode))
        return copied(c, m, call);
    if (c->is_refcount_class && (c->releases_itself || same(m->name, BBF_HANDLE_RELEASE)) &&
        bbf_netty_gives_back(name, descriptor)) {
        *call = call_of(TARGET_GIVEN_BACK);
        push(call, BBF_CF_ALOAD, 0);
        return true;
    }
    if (!c->steps)
        return false;
    const char *close = memchr(descriptor.s, ')', descriptor.len);
    if (close == NULL)
        return false;
    enum bbf_type type = buffer_type(c, descriptor, (size_t)(close - descriptor.s) + 1);
    enum bbf_type of = bbf_netty_type(owner.s, owner.len);
    if (type == BBF_TYPE_NONE ||
        ((of == BBF_TYPE_BYTEBUF || of == BBF_TYPE_BUFFER) && !gives_buffer(name, descriptor)) ||
        ((of == BBF_TYPE_HOLDER || of == BBF_TYPE_MESSAGE) && type == BBF_TYPE_HOLDER &&
         !gives_holder(name)))
        return false;
    call->known = c->skip_forwarders && bbf_netty_hands_back(owner.s, owner.len, name);
    return !call->known && step_again(c, m, type, call);
}

/* A buffer that arrives as an Object (from a queue, a list, a handler's message, a generic return
 * type) is recognised where it is cast, with the same site as the method's entry. */
static bool after_cast(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_str type, bool given,
                       struct bbf_cf_call *call)
{
    const struct bbf_plan_class *c = ctx;
    enum bbf_type kind = type_of(c, type.s, type.len);
    if (c->skip_forwarders && (given || bbf_netty_only_looks(c->name.s, c->name.len, m->name)))
        return false; /* it had its step in this method, or has none as a parameter either */
    return kind != BBF_TYPE_NONE && kind != BBF_TYPE_MESSAGE && step_again(c, m, kind, call);
}

/* The descriptor of a method with a parameter that objects=on follows. */
static bool takes_object(const char *utf8, size_t len)
{
    const char *close = len > 18 && utf8[0] == '(' ? memchr(utf8, ')', len) : NULL;
    size_t n = close != NULL ? (size_t)(close - utf8) : 0;
    return memmem(utf8, n, "Ljava/lang/Object;", 18) != NULL ||
           memmem(utf8, n, "Ljava/util/", 11) != NULL ||
           memmem(utf8, n, "Ljava/lang/Iterable;", 20) != NULL;
}

static bool interesting(void *ctx, const char *utf8, size_t len)
{
    const struct bbf_plan_class *c = ctx;
    const struct bbf_rules *rules = c->rules;
    if ((rules->options.objects_everywhere && takes_object(utf8, len)) ||
        bbf_carriers_mentioned(rules->carriers, utf8, len, 0))
        return true;
    if (c->has_scopes) /* event loops name no type that is followed */
        return true;
    if (c->tracks != NULL && (c->named || c->closes || bbf_track_mentioned(c->tracks, utf8, len)))
        return true;
    return (c->copies && same((struct bbf_cf_str){utf8, len}, "clone")) ||
           bbf_netty_interesting(utf8, len);
}

/* ---- classes ---- */

bool bbf_plan_is_never_followed(const char *name, size_t len)
{
    return head((struct bbf_cf_str){name, len}, "java/lang/") ||
           head((struct bbf_cf_str){name, len}, "jdk/internal/");
}

static bool included(const char *name, size_t len, const struct bbf_options *o)
{
    if (bbf_patterns_match(o->exclude, name, len) > 0 || bbf_plan_is_never_followed(name, len))
        return false;
    if (o->include == NULL)
        return !bbf_libraries_has(name, len);
    size_t matched = bbf_patterns_match(o->include, name, len);
    size_t prefix = bbf_netty_prefix(name, len);
    if (matched == 0 || prefix == 0)
        return matched > 0;
    /* A Netty inside a wider package (shaded, or include=io) is left out unless a pattern names it;
     * its internals must be named separately. */
    if (matched + 1 < prefix)
        return false;
    if (!bbf_netty_internal(name, len))
        return true;
    size_t util = prefix + 4; /* "…netty/util" */
    return head((struct bbf_cf_str){name + prefix, len - prefix}, "util/") ? matched >= util
                                                                           : matched == len;
}

bool bbf_plan_is_followed(const char *name, size_t len, const struct bbf_rules *rules)
{
    const struct bbf_options *o = &rules->options;
    return included(name, len, o) || (bbf_patterns_match(o->constructors, name, len) > 0 &&
                                      bbf_patterns_match(o->exclude, name, len) == 0);
}

bool bbf_plan_is_near(const char *name, size_t len, const struct bbf_rules *rules)
{
    return bbf_patterns_near(rules->options.include, name, len) ||
           bbf_patterns_near(rules->options.constructors, name, len);
}

bool bbf_plan_is_refcount_class(const char *name, size_t len)
{
    static const char counted[] = "buffer/AbstractReferenceCountedByteBuf";
    size_t prefix = bbf_netty_buffer_prefix(name, len);
    return prefix > 0 && len - prefix == sizeof counted - 1 &&
           head((struct bbf_cf_str){name + prefix, len - prefix}, counted);
}

bool bbf_plan_is_of_context(const char *name, size_t len)
{
    return bbf__plan_is_of_context(name, len);
}

bool bbf_plan_is_of_scopes(const char *name, size_t len)
{
    return bbf__plan_is_of_scopes(name, len);
}

bool bbf_plan_class(struct bbf_plan_class *c, const char *name, size_t len,
                    const struct bbf_rules *rules, const struct bbf_plan_sites *sites)
{
    const struct bbf_options *o = &rules->options;
    *c = (struct bbf_plan_class){.sites = sites, .rules = rules, .name = {name, len}};
    size_t prefix = bbf_netty_buffer_prefix(name, len);
    c->is_jdk = same(c->name, BBF_PLAN_JDK_BITS);
    c->reports_oom = c->is_jdk ? o->file != NULL : bbf_netty_exhausted(name, len);
    c->throws_refcount_error = bbf_netty_refused(name, len);
    if (c->is_jdk)
        return c->reports_oom;
    if (prefix > 0 &&
        bbf_netty_hooked_class((struct bbf_cf_str){name + prefix + 7, len - prefix - 7}))
        c->buffer_prefix = prefix;
    c->is_refcount_class = c->buffer_prefix > 0 && bbf_plan_is_refcount_class(name, len);
    bbf__plan_context_class(c, name, len);
    bbf__plan_scopes_class(c, name, len);
    c->steps = included(name, len, o);
    c->skip_forwarders = c->steps && bbf_netty_prefix(name, len) > 0 &&
                         bbf_patterns_match(o->include, name, len) != len;
    c->constructors = bbf_patterns_match(o->constructors, name, len) > 0 &&
                      bbf_patterns_match(o->exclude, name, len) == 0;
    c->tracks = bbf_plan_is_never_followed(name, len) ? NULL : o->track;
    c->named = bbf_track_classes(c->tracks, name, len) != 0;
    return bbf_plan_has_hooks(c) || c->tracks != NULL;
}

void bbf_plan_config(struct bbf_cf_config *config, struct bbf_plan_class *plan)
{
    *config = (struct bbf_cf_config){
        .targets = targets,
        .n_targets = N_TARGETS,
        .ctx = plan,
        .interesting = plan->is_jdk ? NULL : interesting,
        .plan = plan_method,
        .after_call = plan->is_jdk                                             ? after_error
                      : plan->steps || plan->is_refcount_class || plan->copies ? after_call
                                                                               : NULL,
        .always_after = plan->copies ? is_super_clone : NULL,
        .after_cast = plan->steps ? after_cast : NULL,
    };
    bbf__plan_facts(config, type_of);
}
