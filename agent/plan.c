#include "agent/plan.h"

#include <string.h>

#include "agent/netty.h"
#include "core/err.h"
#include "core/track.h"

enum { ACC_STATIC = 0x0008, ACC_BRIDGE = 0x0040 }; /* JVMS table 4.6-A */

/* ---- targets in the shim ---- */

#define O "Ljava/lang/Object;"
#define TARGETS(XX)                                                                                \
    XX(STEP, "step", "(" O "I)V")                                                                  \
    XX(STEP2, "step2", "(" O O "I)V")                                                              \
    XX(STEP_OBJECT, "stepObject", "(" O "I)V")                                                     \
    XX(EXIT, "exit", "(" O O "I)V")                                                                \
    XX(EXIT2, "exit2", "(" O O O "I)V")                                                            \
    XX(EXIT_WALK, "exitWalk", "(" O "II)V")                                                        \
    XX(ROOT, "root", "(" O "II)V")                                                                 \
    XX(ROOT_KEEP, "rootKeep", "(" O "II)V")                                                        \
    XX(RELEASE, "release", "(" O "Z)V")                                                            \
    XX(RELEASES, "releases", "(" O "I)V")                                                          \
    XX(REFS, "refs", "(" O "I)V")                                                                  \
    XX(DERIVE, "derive", "(" O O "I)V")                                                            \
    XX(RESIZED, "resized", "(" O "I)V")                                                            \
    XX(ALIAS, "alias", "(" O O ")V")                                                               \
    XX(WRAP, "wrap", "(" O O ")V")                                                                 \
    XX(ALIAS_TEST, "aliasObject", "(" O O ")V")                                                    \
    XX(NEVER, "never", "(" O ")V")                                                                 \
    XX(CHUNK, "chunk", "(" O ")V")                                                                 \
    XX(UNRELEASABLE, "unreleasable", "(" O O ")V")                                                 \
    XX(MISUSE, "misuse", "(" O ")V")                                                               \
    XX(EXHAUSTED, "exhausted", "()V")                                                              \
    XX(ADOPT, "adopt", "(" O O ")V")                                                               \
    XX(ADOPT_ALL, "adoptAll", "(" O O ")V")                                                        \
    XX(ADOPT_LAST, "adoptLast", "(" O ")V")                                                        \
    XX(DISOWN, "disown", "(" O "II)V")                                                             \
    XX(MADE, "made", "(" O ")V")                                                                   \
    XX(CLOSED, "closed", "(" O "I)V")                                                              \
    XX(USING, "using", "(" O "I)V")                                                                \
    XX(REFUSED, "refused", "()V")                                                                  \
    XX(COUNTING, "counting", "(" O "I)V")

enum target {
#define XX(id, name, descriptor) TARGET_##id,
    TARGETS(XX)
#undef XX
        N_TARGETS
};

static const struct bbf_cf_target targets[N_TARGETS] = {
#define XX(id, name, descriptor) {"java/lang/BBFlowShim", name, descriptor},
    TARGETS(XX)
#undef XX
};

/* ---- small builders ---- */

static struct bbf_cf_call call_of(enum target target)
{
    struct bbf_cf_call call = {.target = (uint16_t)target};
    return call;
}

static void push(struct bbf_cf_call *call, enum bbf_cf_push kind, uint32_t value)
{
    call->args[call->n_args].push = (uint8_t)kind;
    call->args[call->n_args++].value = value;
}

static bool same(struct bbf_cf_str s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.s, text, s.len) == 0;
}

static bool head(struct bbf_cf_str s, const char *text)
{
    size_t k = strlen(text);
    return s.len >= k && memcmp(s.s, text, k) == 0;
}

static bool tail(struct bbf_cf_str s, const char *text)
{
    size_t k = strlen(text);
    return s.len >= k && memcmp(s.s + s.len - k, text, k) == 0;
}

/* Intern a site; names that do not fit the scratch are longer than any JVM's tools print. */
static uint32_t site_of(const struct bbf_plan_class *c, enum bbf_site_kind kind,
                        struct bbf_cf_str class_name, struct bbf_cf_str method, const char *suffix,
                        struct bbf_cf_str descriptor, enum bbf_memory memory, bool harmless)
{
    char names[3][1024];
    size_t extra = strlen(suffix);
    if (class_name.len >= sizeof *names || method.len + extra >= sizeof *names)
        return 0;
    memcpy(names[0], class_name.s, class_name.len);
    names[0][class_name.len] = '\0';
    memcpy(names[1], method.s, method.len);
    memcpy(names[1] + method.len, suffix, extra + 1);
    size_t len = descriptor.len < sizeof *names ? descriptor.len : sizeof *names - 1;
    memcpy(names[2], descriptor.s, len);
    names[2][len] = '\0';
    struct bbf_site like = {.class_name = names[0],
                            .method = names[1],
                            .descriptor = names[2],
                            .kind = kind,
                            .memory = memory,
                            .harmless = harmless};
    return bbf_site_intern(c->tracker, &like);
}

/* ---- Netty's own hooks ---- */

static void plan_root(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                      const struct bbf_netty_hook *hook, struct bbf_cf_plan *plan)
{
    struct bbf_cf_str name = {hook->site, strlen(hook->site)}, none = {"", 0};
    uint32_t site =
        site_of(c, BBF_SITE_ROOT, c->name, name, "", none, hook->memory, hook->harmless);
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

static void plan_entry(struct bbf_cf_plan *plan, struct bbf_cf_call call)
{
    plan->entry[plan->n_entry++] = call;
}

/* `this` and the first parameter at the normal end of a constructor. */
static void plan_constructor(const struct bbf_cf_method *m, enum target target, bool parameter,
                             struct bbf_cf_plan *plan)
{
    if (parameter && bbf_cf_stores_to(m, 1))
        return; /* found through the object's field at its first step instead */
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

/* `this` and what is done with it. */
static void plan_use(enum target target, uint32_t use, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(target);
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, BBF_CF_INT, use);
    plan_entry(plan, call);
}

static void plan_derive(const struct bbf_plan_class *c, const struct bbf_netty_hook *hook,
                        struct bbf_cf_plan *plan)
{
    /* Named after the method family that makes them: retainedSlice, retainedDuplicate, … */
    char owner[512];
    if (c->buffer_prefix + sizeof "buffer/ByteBuf" > sizeof owner)
        return;
    memcpy(owner, c->name.s, c->buffer_prefix);
    memcpy(owner + c->buffer_prefix, "buffer/ByteBuf", sizeof "buffer/ByteBuf");
    struct bbf_cf_str class_name = {owner, strlen(owner)}, none = {"", 0};
    struct bbf_cf_str name = {hook->site, strlen(hook->site)};
    uint32_t site = site_of(c, BBF_SITE_DERIVE, class_name, name, "", none, BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return;
    struct bbf_cf_call call = call_of(TARGET_DERIVE);
    push(&call, BBF_CF_ALOAD, 0);
    push(&call, BBF_CF_ALOAD, 2);
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

static void plan_netty(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                       const struct bbf_netty_hook *hook, struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call;
    bool retains = hook->kind == BBF_HOOK_RETAIN;
    if (c->rules->options.refs &&
        (retains || hook->kind == BBF_HOOK_RELEASES || hook->kind == BBF_HOOK_RELEASE_ONE))
        plan_use(TARGET_COUNTING, retains ? BBF_L_USE_RETAIN : BBF_L_USE_RELEASE, plan);
    switch (hook->kind) {
    case BBF_HOOK_ROOT:
    case BBF_HOOK_ROOT_KEEP:
        plan_root(c, m, hook, plan);
        break;
    case BBF_HOOK_RELEASE:
    case BBF_HOOK_RELEASES:
        call = call_of(hook->kind == BBF_HOOK_RELEASE ? TARGET_RELEASE : TARGET_RELEASES);
        push(&call, BBF_CF_ALOAD, 0);
        push(&call, BBF_CF_ILOAD, 1);
        plan_entry(plan, call);
        break;
    case BBF_HOOK_RELEASE_ONE:
        plan_use(TARGET_USING, BBF_L_USE_RELEASE, plan);
        break;
    case BBF_HOOK_RETAIN:
        plan_use(TARGET_USING, BBF_L_USE_RETAIN, plan);
        plan_exit_count(m, TARGET_REFS, plan);
        break;
    case BBF_HOOK_RESIZED:
        plan_exit_count(m, TARGET_RESIZED, plan);
        break;
    case BBF_HOOK_DERIVE:
        plan_derive(c, hook, plan);
        break;
    case BBF_HOOK_ALIAS:
        plan_constructor(m, TARGET_ALIAS, true, plan);
        break;
    case BBF_HOOK_WRAP:
        plan_constructor(m, TARGET_WRAP, true, plan);
        break;
    case BBF_HOOK_ALIAS_TEST:
        plan_constructor(m, TARGET_ALIAS_TEST, true, plan);
        break;
    case BBF_HOOK_ADOPT:
    case BBF_HOOK_DISOWN:
        plan_components(hook->kind == BBF_HOOK_ADOPT, plan);
        break;
    case BBF_HOOK_ADOPT_LAST:
        call = call_of(TARGET_ADOPT_LAST);
        push(&call, BBF_CF_ALOAD, 0);
        plan->areturn[plan->n_areturn++] = call;
        break;
    case BBF_HOOK_ADOPT_ALL:
        call = call_of(TARGET_ADOPT_ALL);
        push(&call, BBF_CF_ALOAD, 0);
        push(&call, BBF_CF_ALOAD, 2);
        if (!bbf_cf_stores_to(m, 2))
            plan->vreturn[plan->n_return++] = call;
        break;
    case BBF_HOOK_NEVER:
        plan_constructor(m, TARGET_NEVER, false, plan);
        break;
    case BBF_HOOK_CHUNK:
        call = call_of(TARGET_CHUNK);
        push(&call, BBF_CF_DUP, 0);
        plan->areturn[plan->n_areturn++] = call;
        break;
    case BBF_HOOK_UNRELEASABLE:
        plan_constructor(m, TARGET_UNRELEASABLE, true, plan);
        break;
    case BBF_HOOK_MISUSE:
        plan->before_athrow_set = true;
        plan->before_athrow = call_of(TARGET_MISUSE);
        push(&plan->before_athrow, BBF_CF_ALOAD, 0);
        break;
    }
}

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

static void note_closing(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    struct bbf_plan_class *c = ctx;
    (void)plan;
    if ((m->access & ACC_STATIC) == 0)
        c->closes = c->closes || bbf_track_methods(c->tracks, m->name.s, m->name.len) != 0;
}

static bool names_closing(void *ctx, const char *utf8, size_t len)
{
    const struct bbf_plan_class *c = ctx;
    return bbf_track_methods(c->tracks, utf8, len) != 0;
}

bool bbf_plan_hooks(const struct bbf_plan_class *c)
{
    return c->named || c->closes || c->buffer_prefix > 0 || c->exhausted || c->refused ||
           c->steps || c->constructors;
}

bool bbf_plan_declares(struct bbf_plan_class *c, const uint8_t *bytes, size_t len)
{
    struct bbf_cf_config look = {.targets = targets,
                                 .n_targets = N_TARGETS,
                                 .ctx = c,
                                 .interesting = names_closing,
                                 .plan = note_closing};
    struct bbf_cf_stats stats;
    uint8_t *out = NULL;
    size_t out_len;
    if (c->tracks != NULL) /* nothing is planned, so nothing comes out */
        (void)bbf_cf_rewrite(bytes, len, &look, &out, &out_len, &stats);
    return bbf_plan_hooks(c);
}

/* ---- steps ---- */

/* What a type's name stands for: Netty's, or an entry of track=. */
static enum bbf_type type_of(const struct bbf_plan_class *c, const char *name, size_t len)
{
    enum bbf_type type = bbf_netty_type(name, len);
    if (type == BBF_TYPE_BUFFER && bbf_netty_chunk(c->name.s, c->name.len, name, len))
        return BBF_TYPE_NONE;
    return type == BBF_TYPE_NONE && bbf_track_classes(c->tracks, name, len) != 0 ? BBF_TYPE_TRACKED
                                                                                 : type;
}

/* Does the method's generic signature name a type that is tracked? Then its containers of anything
 * are looked into. */
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

/* Types behind which the containers of design D4 may stand. */
static bool is_container(struct bbf_cf_str type)
{
    return is_list(type) || same(type, "java/util/Collection") ||
           same(type, "java/lang/Iterable") || same(type, "java/util/Optional");
}

struct parameter {
    uint16_t slot;
    bool exact; /* typed ByteBuf itself: no class test */
};
enum { MAX_PARAMETERS = 255, NO_LIST = 0xffff };

/* Walk a descriptor: tracked parameters to `out`; *result is the return type's first character,
 * *list the slot of a last parameter that is a list. */
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

/* ByteBuf or one of its classes; not a holder: a holder that is returned is seen where it is taken.
 */
static enum bbf_type buffer_type(const struct bbf_plan_class *c, struct bbf_cf_str descriptor,
                                 size_t at)
{
    if (at + 2 >= descriptor.len || descriptor.s[at] != 'L')
        return BBF_TYPE_NONE;
    enum bbf_type type = type_of(c, descriptor.s + at + 1, descriptor.len - at - 2);
    return type == BBF_TYPE_HOLDER || type == BBF_TYPE_MESSAGE ? BBF_TYPE_NONE : type;
}

static void plan_parameters(const struct parameter *p, size_t n, uint32_t site,
                            struct bbf_cf_plan *plan)
{
    for (size_t i = 0; i < n && plan->n_entry < BBF_CF_MAX_ENTRY; i++) {
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

/* `<init>_return`: the parameters once more, where no instruction overwrote them. */
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

/* Methods that only forward: a bridge doubles its target, access$ and $default are javac's and
 * Kotlin's (facts/classfile.md 1.2). */
static bool forwards(const struct bbf_cf_method *m)
{
    return (m->access & ACC_BRIDGE) != 0 || head(m->name, "access$") || tail(m->name, "$default");
}

/* Is the list parameter looked at when the method ends? */
static bool adds_to(const struct bbf_cf_method *m, uint16_t list)
{
    return list != NO_LIST && bbf_netty_adds_to_list(m->name) && tail(m->descriptor, ")V") &&
           !bbf_cf_stores_to(m, list);
}

/* What is in the list parameter at the end of a decode or encode: the method's own site, as for a
 * buffer that a call returned to it. Most stand there already. */
static void plan_added(const struct bbf_plan_class *c, const struct bbf_cf_method *m, uint16_t list,
                       struct bbf_cf_plan *plan)
{
    struct bbf_cf_call call = call_of(TARGET_STEP_OBJECT);
    if (!adds_to(m, list))
        return;
    uint32_t site = site_of(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                            BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return;
    push(&call, BBF_CF_ALOAD, list);
    push(&call, BBF_CF_INT, site);
    plan->vreturn[plan->n_return++] = call;
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
    if (n > 0 && c->terse && p[n - 1].slot == list && adds_to(m, list))
        n--; /* empty when it comes, or seen at the end of the call before */
    if (n > 0) {
        uint32_t site = site_of(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                                BBF_MEM_UNKNOWN, false);
        if (site == 0)
            return;
        if (!c->terse || !bbf_netty_only_looks(c->name.s, c->name.len, m->name))
            plan_parameters(p, n, site, plan);
        if (returned != BBF_TYPE_NONE && plan->n_areturn == 0) {
            uint32_t exit = site_of(c, BBF_SITE_RETURN, m->class_name, m->name, "_return",
                                    m->descriptor, BBF_MEM_UNKNOWN, false);
            if (exit != 0)
                plan_returned(m, p, n, returned, exit, site, plan);
        }
        if (constructor) {
            uint32_t exit = site_of(c, BBF_SITE_RETURN, m->class_name, m->name, "_return",
                                    m->descriptor, BBF_MEM_UNKNOWN, false);
            if (exit != 0)
                plan_constructed(m, p, n, exit, plan);
        }
    } else if (returned != BBF_TYPE_NONE && plan->n_areturn == 0) {
        uint32_t exit = site_of(c, BBF_SITE_RETURN, m->class_name, m->name, "_return",
                                m->descriptor, BBF_MEM_UNKNOWN, false);
        if (exit != 0)
            plan_returned(m, p, 0, returned, exit, 0, plan);
    }
    plan_added(c, m, list, plan);
    plan->after_call = true;
}

/* ---- direct memory that ran out ---- */

/* Netty's error says it by being made; the JDK's is one of many OutOfMemoryErrors, so the method is
 * asked that makes it. */
static bool says_exhausted(const struct bbf_plan_class *c, const struct bbf_cf_method *m)
{
    return c->exhausted && same(m->name, c->jdk ? "reserveMemory" : "<init>");
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

/* ---- callbacks of agent/classfile ---- */

static void plan_method(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *plan)
{
    const struct bbf_plan_class *c = ctx;
    if (says_exhausted(c, m) && c->jdk)
        plan->after_call = true;
    else if (says_exhausted(c, m))
        plan->vreturn[plan->n_return++] = call_of(TARGET_EXHAUSTED);
    if (c->refused && same(m->name, "<init>"))
        plan->vreturn[plan->n_return++] = call_of(TARGET_REFUSED);
    if (c->buffer_prefix > 0) {
        struct bbf_cf_str simple = {m->class_name.s + c->buffer_prefix + 7,
                                    m->class_name.len - c->buffer_prefix - 7};
        const struct bbf_netty_hook *hook = bbf_netty_hook_of(simple, m->name, m->descriptor);
        if (hook != NULL && (m->access & ACC_BRIDGE) == 0) /* a bridge calls the method itself */
            plan_netty(c, m, hook, plan);
    }
    if (c->tracks != NULL)
        plan_tracked(c, m, plan);
    if (c->steps || c->constructors)
        plan_steps(c, m, plan);
}

/* Methods of ByteBuf that give another buffer or another count; the rest return `this` or views. */
static bool gives_buffer(struct bbf_cf_str name, struct bbf_cf_str descriptor)
{
    return same(name, "copy") || head(name, "retained") || head(name, "readRetained") ||
           (same(name, "readBytes") && head(descriptor, "(I)"));
}

/* What is on top of the stack is a step of the method's own site, once more. */
static bool step_again(const struct bbf_plan_class *c, const struct bbf_cf_method *m,
                       enum bbf_type type, struct bbf_cf_call *call)
{
    uint32_t site = site_of(c, BBF_SITE_ENTER, m->class_name, m->name, "", m->descriptor,
                            BBF_MEM_UNKNOWN, false);
    if (site == 0)
        return false;
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
    (void)opcode;
    const char *close = memchr(descriptor.s, ')', descriptor.len);
    if (close == NULL)
        return false;
    enum bbf_type type = buffer_type(c, descriptor, (size_t)(close - descriptor.s) + 1);
    enum bbf_type of = bbf_netty_type(owner.s, owner.len);
    if (type == BBF_TYPE_NONE ||
        ((of == BBF_TYPE_BYTEBUF || of == BBF_TYPE_BUFFER) && !gives_buffer(name, descriptor)))
        return false;
    return step_again(c, m, type, call);
}

/* A buffer that came as an Object, out of a queue, a list, a handler's message, a generic return
 * type, is known for what it is where it is cast: the same site as the method's entry. */
static bool after_cast(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_str type,
                       struct bbf_cf_call *call)
{
    const struct bbf_plan_class *c = ctx;
    enum bbf_type kind = type_of(c, type.s, type.len);
    return kind != BBF_TYPE_NONE && kind != BBF_TYPE_MESSAGE && step_again(c, m, kind, call);
}

static bool interesting(void *ctx, const char *utf8, size_t len)
{
    const struct bbf_plan_class *c = ctx;
    if (c->tracks != NULL && (c->named || c->closes || bbf_track_mentioned(c->tracks, utf8, len)))
        return true;
    return bbf_netty_interesting(utf8, len);
}

/* ---- classes ---- */

static bool starts(const char *name, size_t len, const char *prefix)
{
    return len >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* Without include: not the JDK's, not Netty's, not a known agent's (design 4). */
static bool application(const char *name, size_t len)
{
    static const char *const others[] = {
        "java/",
        "javax/",
        "jdk/",
        "sun/",
        "com/sun/",
        "org/graalvm/",
        "net/bytebuddy/",
        "org/mockito/",
        "org/jacoco/",
        "io/opentelemetry/javaagent/",
        "org/openjdk/btrace/",
        "io/btrace/",
        "one/profiler/",
        "org/aspectj/",
        "org/objectweb/asm/",
        "javassist/",
        "kotlin/",
        "scala/",
        "org/codehaus/groovy/",
        "groovy/",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (starts(name, len, others[i]))
            return false;
    return bbf_netty_prefix(name, len) == 0;
}

bool bbf_plan_never(const char *name, size_t len)
{
    return starts(name, len, "java/lang/") || starts(name, len, "jdk/internal/");
}

static bool included(const char *name, size_t len, const struct bbf_options *o)
{
    if (bbf_patterns_match(o->exclude, name, len) > 0 || bbf_plan_never(name, len))
        return false;
    if (o->include == NULL)
        return application(name, len);
    size_t matched = bbf_patterns_match(o->include, name, len);
    size_t prefix = bbf_netty_prefix(name, len);
    if (matched == 0 || prefix == 0)
        return matched > 0;
    /* A Netty inside a wider package (shaded, or include=io) is left out unless it is named;
     * its internals must be named themselves. */
    if (matched + 1 < prefix)
        return false;
    if (!bbf_netty_internal(name, len))
        return true;
    size_t util = prefix + 4; /* "…netty/util" */
    return starts(name + prefix, len - prefix, "util/") ? matched >= util : matched == len;
}

bool bbf_plan_follows(const char *name, size_t len, const struct bbf_rules *rules)
{
    const struct bbf_options *o = &rules->options;
    return included(name, len, o) || (bbf_patterns_match(o->constructors, name, len) > 0 &&
                                      bbf_patterns_match(o->exclude, name, len) == 0);
}

bool bbf_plan_near(const char *name, size_t len, const struct bbf_rules *rules)
{
    return bbf_patterns_near(rules->options.include, name, len) ||
           bbf_patterns_near(rules->options.constructors, name, len);
}

bool bbf_plan_counts(const char *name, size_t len)
{
    static const char counted[] = "buffer/AbstractReferenceCountedByteBuf";
    size_t prefix = bbf_netty_buffer_prefix(name, len);
    return prefix > 0 && len - prefix == sizeof counted - 1 &&
           starts(name + prefix, len - prefix, counted);
}

bool bbf_plan_class(struct bbf_plan_class *c, const char *name, size_t len,
                    const struct bbf_rules *rules, struct bbf_tracker *tracker)
{
    const struct bbf_options *o = &rules->options;
    *c = (struct bbf_plan_class){.tracker = tracker, .rules = rules, .name = {name, len}};
    size_t prefix = bbf_netty_buffer_prefix(name, len);
    c->jdk = same(c->name, BBF_PLAN_JDK_BITS);
    c->exhausted = c->jdk ? o->file != NULL : bbf_netty_exhausted(name, len);
    c->refused = bbf_netty_refused(name, len);
    if (c->jdk)
        return c->exhausted;
    if (prefix > 0 &&
        bbf_netty_hooked_class((struct bbf_cf_str){name + prefix + 7, len - prefix - 7}))
        c->buffer_prefix = prefix;
    c->steps = included(name, len, o);
    c->terse = c->steps && bbf_netty_prefix(name, len) > 0 &&
               bbf_patterns_match(o->include, name, len) != len;
    c->constructors = bbf_patterns_match(o->constructors, name, len) > 0 &&
                      bbf_patterns_match(o->exclude, name, len) == 0;
    c->tracks = bbf_plan_never(name, len) ? NULL : o->track;
    c->named = bbf_track_classes(c->tracks, name, len) != 0;
    return bbf_plan_hooks(c) || c->tracks != NULL;
}

void bbf_plan_config(struct bbf_cf_config *config, struct bbf_plan_class *plan)
{
    *config = (struct bbf_cf_config){
        .targets = targets,
        .n_targets = N_TARGETS,
        .ctx = plan,
        .interesting = plan->jdk ? NULL : interesting,
        .plan = plan_method,
        .after_call = plan->jdk     ? after_error
                      : plan->steps ? after_call
                                    : NULL,
        .after_cast = plan->steps ? after_cast : NULL,
    };
}
