/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/carrier_classes.h"

#include <string.h>

#include "agent/boot/shim.h"
#include "agent/jvm/class_parts.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "classfile/classfile.h"
#include "core/clock.h"
#include "core/log.h"
#include "instrument/carriers.h"
#include "instrument/libraries.h"
#include "instrument/netty.h"

enum {
    DEPTH = 64,      /* of super classes */
    ROUNDS = 4,      /* over the loaded classes at once: a carrier in a carrier takes one each */
    SHARE = 20,      /* looking takes at most this part of one core */
    SETTLE_MS = 100, /* after a carrier was learned, until it and its users are among the loaded */
    MOST_MS = 2000,  /* but it does not wait longer than this for the next time */
    ONCE_MORE_MS = 1000, /* and for those that took longer to load */
    BATCH = 64
};

#define MS UINT64_C(1000000)

static size_t charged; /* agent thread: bytes of the table that count in memory= */

static void charge(void)
{
    size_t bytes = bbf_carriers_bytes(bbf_agent.carriers);
    if (bytes > charged)
        bbf_tracker_take(bbf_agent.tracker, bytes - charged);
    charged = bytes;
}

void bbf_carrier_classes_begin(const struct bbf_options *options)
{
    if (!bbf_options_carriers(options))
        return;
    const char *given = bbf_options_carrier_list(options);
    if (bbf_agent.carriers == NULL)
        bbf_agent.carriers = bbf_carriers_new(given);
    else
        bbf_carriers_give(bbf_agent.carriers, given);
    if (bbf_agent.carriers == NULL)
        bbf_log(BBF_LOG_ERROR, "carriers: no memory for their names; none is looked into");
    else
        charge();
}

static _Atomic uint64_t learned_ns; /* the first since the last pass, CLOCK_MONOTONIC; 0: none */

void bbf_carrier_classes_met(const struct bbf_rules *rules, const char *name, const uint8_t *bytes,
                             size_t len)
{
    if (rules->carriers == NULL || !bbf_carriers_learn(rules->carriers, name, bytes, len))
        return;
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&learned_ns, &none, bbf_clock_ns(CLOCK_MONOTONIC)))
        bbf_thread_wake();
}

/* ---- fields ---- */

struct question {
    const struct bbf_carriers *carriers;
    const char *given; /* carriers=CLASS:FIELD, or NULL */
    char class_name[512];
    unsigned left; /* fields to pass over */
    char *out;     /* BBF_CARRIER_FIELD bytes */
};

static bool is_given(const struct question *q, const char *field)
{
    size_t len;
    const char *name;
    for (unsigned i = 0; (name = bbf_carriers_field(q->given, q->class_name, i, &len)) != NULL; i++)
        if (strlen(field) == len && memcmp(name, field, len) == 0)
            return true;
    return false;
}

static bool answer(void *ctx, const char *name, const char *descriptor, bool is_static)
{
    struct question *q = ctx;
    if (is_static)
        return false;
    const struct bbf_cf_str own = {q->class_name, strlen(q->class_name)};
    const struct bbf_cf_str type = {descriptor, strlen(descriptor)};
    bool leads = bbf_carriers_leads(q->carriers, own, type) ||
                 ((descriptor[0] == 'L' || strncmp(descriptor, "[L", 2) == 0) && is_given(q, name));
    if (!leads || strlen(name) >= BBF_CARRIER_FIELD || q->left-- > 0)
        return false;
    memcpy(q->out, name, strlen(name) + 1);
    return true;
}

static bool field_by(const struct bbf_rules *rules, jclass type, unsigned n,
                     char out[BBF_CARRIER_FIELD])
{
    struct question q = {.left = n, .out = out};
    if (rules == NULL || rules->carriers == NULL ||
        !bbf_names_copy(type, q.class_name, sizeof q.class_name) ||
        bbf_libraries_has(q.class_name, strlen(q.class_name)))
        return false;
    q.carriers = rules->carriers;
    q.given = bbf_options_carrier_list(&rules->options);
    return bbf_class_any_field(type, answer, &q, false);
}

bool bbf_carrier_classes_field(jclass type, unsigned n, char out[BBF_CARRIER_FIELD])
{
    const struct bbf_rules_hold hold = bbf_rules_hold();
    bool found = field_by(hold.rules, type, n, out);
    bbf_rules_let_go(&hold);
    return found;
}

/* ---- the loaded classes ---- */

/* One pass over them. */
struct pass {
    const struct bbf_rules *rules;
    uint64_t since;      /* names that were added after this version */
    jclass batch[BATCH]; /* global references */
    jint queued;
};

struct pool_question {
    const struct bbf_carriers *carriers;
    uint64_t since;
};

static bool may_be(void *ctx, const char *utf8, size_t len)
{
    const struct pool_question *q = ctx;
    return bbf_carriers_may(q->carriers, utf8, len, q->since);
}

static bool mentions(void *ctx, const char *utf8, size_t len)
{
    const struct pool_question *q = ctx;
    return bbf_carriers_mentioned(q->carriers, utf8, len, q->since);
}

static bool in_pool(const struct pass *pass, jclass class,
                    bool (*interesting)(void *, const char *, size_t))
{
    struct pool_question q = {pass->rules->carriers, pass->since};
    unsigned char *pool = NULL;
    jint count = 0, len = 0;
    if ((*bbf_agent.code)->GetConstantPool(bbf_agent.code, class, &count, &len, &pool) != 0)
        return false;
    bool found = len > 0 && count > 0 &&
                 bbf_cf_pool_has(pool, (size_t)len, (unsigned)count, interesting, &q);
    bbf_jvm_free(pool);
    return found;
}

static void learn_type(struct bbf_carriers *carriers, jclass type)
{
    char name[1024];
    if (bbf_names_copy(type, name, sizeof name) && name[0] != '\0')
        (void)bbf_carriers_learn_type(carriers, name, strlen(name));
}

static bool learn_interface(JNIEnv *env, void *carriers, jclass interface)
{
    (void)env;
    learn_type(carriers, interface);
    return false;
}

/* All super classes and interfaces of a carrier. */
static void learn_ancestors(JNIEnv *env, struct bbf_carriers *carriers, jclass type)
{
    jclass at = type;
    for (int depth = 0; at != NULL && depth < DEPTH; depth++) {
        if (at != type)
            learn_type(carriers, at);
        (void)bbf_class_any_interface(env, at, learn_interface, carriers);
        jclass super = (*env)->GetSuperclass(env, at);
        if (at != type)
            (*env)->DeleteLocalRef(env, at);
        at = super;
    }
    if (at != NULL)
        (*env)->DeleteLocalRef(env, at);
}

static bool extends_carrier(JNIEnv *env, const struct bbf_carriers *carriers, jclass class)
{
    char name[1024];
    jclass super = (*env)->GetSuperclass(env, class);
    bool is = super != NULL && bbf_names_copy(super, name, sizeof name) &&
              bbf_carriers_inherits(carriers, name, strlen(name));
    if (super != NULL)
        (*env)->DeleteLocalRef(env, super);
    return is;
}

static void learn(JNIEnv *env, void *ctx, jclass class, const char *name)
{
    struct pass *pass = ctx;
    struct bbf_carriers *carriers = pass->rules->carriers;
    size_t len = strlen(name);
    char field[BBF_CARRIER_FIELD];
    bool nettys = bbf_netty_prefix(name, len) > 0;
    if (bbf_netty_type(name, len) != BBF_TYPE_NONE || (!nettys && bbf_libraries_has(name, len)))
        return;
    if (bbf_carriers_find(carriers, name, len) != BBF_CARRIER_CLASS &&
        (!in_pool(pass, class, may_be) ||
         (!extends_carrier(env, carriers, class) && !field_by(pass->rules, class, 0, field))))
        return;
    (void)bbf_carriers_learn_class(carriers, name, len);
    if (!nettys)
        learn_ancestors(env, carriers, class);
}

static _Atomic uint64_t retransformed, left_alone; /* since the attach */
static uint64_t done;                              /* version of what is dealt with */
static bool forget_again;
static uint64_t next_ns, once_more_ns; /* CLOCK_MONOTONIC; 0: at once; not once more */

/* Learn by names that were added after `since`: the version from which on is still to be done. */
static uint64_t learn_all(JNIEnv *env, struct pass *pass, uint64_t since)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t version = bbf_carriers_version(pass->rules->carriers);
        if (i > 0 && version == since)
            break;
        pass->since = since;
        bbf_names_each_class(env, pass, learn);
        since = version;
    }
    return since;
}

void bbf_carrier_classes_look(JNIEnv *env, const struct bbf_rules *rules)
{
    static bool had_carriers; /* at the last attach, whose answers the shim still has */
    struct pass pass = {.rules = rules};
    atomic_store(&retransformed, 0);
    atomic_store(&left_alone, 0);
    if (rules->carriers != NULL) {
        done = learn_all(env, &pass, 0);
        charge();
    }
    if (had_carriers || rules->carriers != NULL)
        (void)bbf_shim_forget_kinds(env);
    had_carriers = rules->carriers != NULL;
    forget_again = false;
    next_ns = once_more_ns = 0;
    atomic_store(&learned_ns, 0);
}

static void retransform(JNIEnv *env, struct pass *pass)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    bool all =
        pass->queued == 0 || (*jvmti)->RetransformClasses(jvmti, pass->queued, pass->batch) == 0;
    for (jint i = 0; i < pass->queued; i++) {
        /* One of them failed: retransform the others one by one. */
        if (!all && (*jvmti)->RetransformClasses(jvmti, 1, &pass->batch[i]) != 0)
            atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        if ((*env)->ExceptionCheck(env))
            (*env)->ExceptionClear(env);
        (*env)->DeleteGlobalRef(env, pass->batch[i]);
    }
    pass->queued = 0;
}

static void again(JNIEnv *env, void *ctx, jclass class, const char *name)
{
    struct pass *pass = ctx;
    jboolean modifiable = JNI_FALSE;
    if (bbf_libraries_jdk_has(name, strlen(name)) ||
        !bbf_plan_is_followed(name, strlen(name), pass->rules) || !in_pool(pass, class, mentions) ||
        (*bbf_agent.code)->IsModifiableClass(bbf_agent.code, class, &modifiable) != 0 ||
        !modifiable)
        return;
    if (atomic_load(&retransformed) >= pass->rules->options.max_carrier_classes) {
        atomic_fetch_add(&left_alone, 1);
        return;
    }
    jclass kept = (*env)->NewGlobalRef(env, class);
    if (kept == NULL) {
        atomic_fetch_add(&bbf_agent.retransform_failed, 1);
        return;
    }
    atomic_fetch_add(&retransformed, 1);
    pass->batch[pass->queued++] = kept;
    if (pass->queued == BATCH)
        retransform(env, pass);
}

static void catch_up(JNIEnv *env, const struct bbf_rules *rules)
{
    struct pass pass = {.rules = rules};
    uint64_t begin = bbf_clock_ns(CLOCK_MONOTONIC);
    atomic_store(&learned_ns, 0);
    uint64_t now = learn_all(env, &pass, done);
    bool new = bbf_carriers_version(rules->carriers) != done;
    if (new) {
        pass.since = done;
        if (bbf_options_carriers_again(&rules->options))
            bbf_names_each_class(env, &pass, again);
        retransform(env, &pass);
        (void)bbf_shim_forget_kinds(env);
        charge();
    }
    forget_again = new;
    done = now;
    uint64_t end = bbf_clock_ns(CLOCK_MONOTONIC);
    uint64_t pause = SHARE * (end - begin);
    next_ns = end + (pause < MOST_MS * MS ? pause : MOST_MS * MS);
    once_more_ns = new ? end + ONCE_MORE_MS *MS : 0;
}

/* When the next pass is due, CLOCK_MONOTONIC; UINT64_MAX: not. */
static uint64_t due_ns(const struct bbf_rules *rules)
{
    if (rules == NULL || rules->carriers == NULL)
        return UINT64_MAX;
    uint64_t learned = atomic_load(&learned_ns), due = UINT64_MAX;
    if (learned != 0)
        due = learned + SETTLE_MS * MS;
    else if (bbf_carriers_version(rules->carriers) != done)
        due = 0;
    if (once_more_ns != 0 && once_more_ns < due)
        due = once_more_ns;
    return due > next_ns ? due : next_ns;
}

void bbf_carrier_classes_poll(JNIEnv *env)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return;
    if (forget_again) /* what was being answered meanwhile */
        (void)bbf_shim_forget_kinds(env);
    forget_again = false;
    if (bbf_clock_ns(CLOCK_MONOTONIC) >= due_ns(rules))
        catch_up(env, rules);
}

unsigned bbf_carrier_classes_wait_ms(void)
{
    uint64_t due = due_ns(atomic_load(&bbf_agent.rules)), now = bbf_clock_ns(CLOCK_MONOTONIC);
    if (due == UINT64_MAX || atomic_load(&bbf_agent.phase) != BBF_PHASE_IN)
        return UINT32_MAX;
    return due > now ? (unsigned)((due - now) / MS + 1) : 0;
}

void bbf_carrier_classes_note(struct bbf_buf *note)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    size_t refused =
        rules != NULL && rules->carriers != NULL ? bbf_carriers_refused(rules->carriers) : 0;
    uint64_t left = atomic_load(&left_alone);
    if (left > 0)
        bbf_buf_printf(note,
                       "%llu loaded %s a carrier that was learned later, and %s not rewritten "
                       "again (maxCarrierClasses=%llu): steps may be missing there",
                       (unsigned long long)left, left == 1 ? "class names" : "classes name",
                       left == 1 ? "was" : "were",
                       (unsigned long long)rules->options.max_carrier_classes);
    if (refused > 0)
        bbf_buf_printf(note, "%s%zu more types are carriers than bbflow can remember (%d)",
                       left > 0 ? "; " : "", refused, BBF_MOST_CARRIERS);
}
