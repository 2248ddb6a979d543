/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/callers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/jvm/frames.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "instrument/netty.h"

/* FAR: for an allocation, whose caller may be behind several handlers of three frames each. */
enum { FRAMES = 16, FAR = 128, METHODS = 8192, NAME = 1024 };

/* Known facts about a method: flags, the number of the rules that they are by, its sites. */
#define KNOWN    (UINT64_C(1) << 63)
#define FORWARDS (UINT64_C(1) << 62) /* never named */
#define COUNTS   (UINT64_C(1) << 61) /* forwards by its name: named where nothing else is */
#define INCLUDED (UINT64_C(1) << 60) /* include= matches its class */
#define NAMED    (UINT64_C(1) << 59) /* its sites are in the low bits, 0: at the limit */
#define FOLLOWED                                                                                   \
    (UINT64_C(1) << 58)            /* its class is one that is followed, also without include=     \
                                    */
#define NETTYS (UINT64_C(1) << 57) /* its class is one of Netty's */

enum { RULES_SHIFT = 32 };
#define RULES (UINT64_C(0x1ffffff) << RULES_SHIFT)

/* Two readings of a stack are of one set of rules. */
static uint64_t rules_part(const struct bbf_rules *rules)
{
    return rules != NULL ? (uint64_t)rules->number << RULES_SHIFT & RULES : 0;
}

/* By hash; a later method may take another's place. `about` is 0 while an entry is changed. */
static struct {
    _Atomic(jmethodID) method;
    _Atomic uint64_t about;
} known[METHODS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who write */

static size_t place_of(jmethodID method)
{
    return (size_t)((uint64_t)(uintptr_t)method * UINT64_C(0x9E3779B97F4A7C15) >> 51) % METHODS;
}

static uint64_t recall(jmethodID method)
{
    size_t i = place_of(method);
    if (atomic_load_explicit(&known[i].method, memory_order_acquire) != method)
        return 0;
    uint64_t about = atomic_load_explicit(&known[i].about, memory_order_acquire);
    /* Check again: `about` is of this method only if the entry has not changed. */
    return atomic_load_explicit(&known[i].method, memory_order_acquire) == method ? about : 0;
}

static void remember(jmethodID method, uint64_t about)
{
    size_t i = place_of(method);
    if (pthread_mutex_trylock(&lock) != 0)
        return; /* we are in a hook, which never waits: the next call looks it up again */
    atomic_store_explicit(&known[i].about, 0, memory_order_release);
    atomic_store_explicit(&known[i].method, method, memory_order_release);
    atomic_store_explicit(&known[i].about, about, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static bool starts(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Only hands a count on, in any class: NettyDataBuffer.retain, DataBufferUtils.release. */
static bool counts(const char *method)
{
    static const char *const counting[] = {"retain", "release",     "retain0", "release0",
                                           "touch",  "safeRelease", "close",   "deallocate"};
    for (size_t i = 0; i < sizeof counting / sizeof *counting; i++)
        if (strcmp(method, counting[i]) == 0)
            return true;
    return false;
}

/* By class (internal name) and method: the JDK, Netty's buffers and the count methods of Netty. */
static bool forwards(const char *name, const char *method)
{
    size_t prefix = bbf_netty_prefix(name, strlen(name));
    if (starts(name, "java/") || starts(name, "jdk/") || starts(name, "sun/"))
        return true;
    return prefix > 0 &&
           (starts(name + prefix, "buffer/") || starts(name + prefix, "util/") || counts(method));
}

/* A method on the stack. */
struct caller {
    char *name, *method, *descriptor; /* the class's name ends before what each run has anew */
    bool lambda;                      /* the class is a lambda's or method reference's own */
};

static void caller_free(struct caller *c)
{
    bbf_jvm_free(c->name);
    bbf_jvm_free(c->method);
    bbf_jvm_free(c->descriptor);
}

/* False: the JVM does not answer; there is nothing to free. */
static bool caller_read(JNIEnv *env, jmethodID id, struct caller *c)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass class = NULL;
    *c = (struct caller){.name = NULL};
    bool read = (*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == 0 &&
                (c->name = bbf_names_of(class)) != NULL &&
                (*jvmti)->GetMethodName(jvmti, id, &c->method, &c->descriptor, NULL) == 0;
    if (class != NULL)
        (*env)->DeleteLocalRef(env, class);
    if (read)
        c->lambda = bbf_names_make_stable(c->name);
    else
        caller_free(c);
    return read;
}

/* Is the class followed, or that in which the lambda was written? */
static bool is_followed(const struct caller *c, const struct bbf_rules *rules)
{
    const char *end = c->lambda ? strstr(c->name, BBF_NAMES_LAMBDA) : NULL;
    size_t len = end != NULL ? (size_t)(end - c->name) : strlen(c->name);
    return rules != NULL && bbf_plan_is_followed(c->name, len, rules);
}

static uint64_t find_out(JNIEnv *env, jmethodID id, const struct bbf_rules *rules)
{
    uint64_t about = KNOWN | rules_part(rules);
    struct caller c;
    if (!caller_read(env, id, &c))
        return about | FORWARDS;
    const bool followed = is_followed(&c, rules);
    about |= followed ? FOLLOWED : 0;
    about |= bbf_netty_prefix(c.name, strlen(c.name)) > 0 ? NETTYS : 0;
    if (followed && rules->options.include != NULL)
        about |= INCLUDED;
    else if (forwards(c.name, c.method))
        about |= FORWARDS;
    else if (counts(c.method))
        about |= COUNTS;
    caller_free(&c);
    return about;
}

static uint64_t about_of(JNIEnv *env, jmethodID id, const struct bbf_rules *rules)
{
    uint64_t about = recall(id);
    if (about == 0 || (about & RULES) != rules_part(rules)) {
        about = find_out(env, id, rules);
        remember(id, about);
    }
    return about;
}

/* ---- the site of the one that is named ---- */

static uint32_t site_of(const struct caller *c, const char *method, const char *suffix,
                        enum bbf_site_kind kind)
{
    char text[NAME];
    int n = snprintf(text, sizeof text, "%s%s", method, suffix);
    struct bbf_site like = {.class_name = c->name,
                            .method = (char *)(uintptr_t)method,
                            .descriptor = c->descriptor,
                            .kind = BBF_SITE_ENTER,
                            .memory = BBF_MEM_UNKNOWN};
    if (n < 0 || (size_t)n >= sizeof text)
        return 0;
    /* Where it was written is known from its class file, if it has a step. */
    const struct bbf_site *step = bbf_site_find(bbf_agent.tracker, &like);
    if (step != NULL) {
        like.line = step->line;
        like.enclosing = step->enclosing;
    }
    like.kind = kind;
    like.method = text;
    return bbf_site_intern(bbf_agent.tracker, &like);
}

/*
 * The method of the class in which a method reference was written, if it is on the stack above:
 * "close$accept" for `ByteBuf::release` in close(), which forEach() calls by accept(). A reference
 * has no name of its own, and the class file does not say which class the JVM makes of it.
 */
static void reference_name(JNIEnv *env, const struct caller *c, const jvmtiFrameInfo *above, jint n,
                           char *text, size_t size)
{
    const size_t host = (size_t)(strstr(c->name, BBF_NAMES_LAMBDA) - c->name);
    snprintf(text, size, "%s", c->method);
    for (jint i = 0; i < n; i++) {
        struct caller by;
        if (!caller_read(env, above[i].method, &by))
            continue;
        bool found = strlen(by.name) == host && memcmp(by.name, c->name, host) == 0;
        if (found)
            snprintf(text, size, "%s$%s", by.method, c->method);
        caller_free(&by);
        if (found)
            return;
    }
}

static uint64_t name_it(JNIEnv *env, const jvmtiFrameInfo *frames, jint n, uint64_t about)
{
    char reference[NAME];
    struct caller c;
    if (!caller_read(env, frames->method, &c))
        return about;
    const char *method = c.method;
    if (c.lambda) {
        reference_name(env, &c, frames + 1, n - 1, reference, sizeof reference);
        method = reference;
    }
    uint64_t retain = site_of(&c, method, "_retain", BBF_SITE_RETAIN);
    uint64_t release = site_of(&c, method, "_release", BBF_SITE_DECREMENT);
    caller_free(&c);
    return about | NAMED | retain << 16 | release;
}

/* The first that include= matches, or else the first that does more than forward, or else the first
 * that forwards by its name alone; -1: no frame does. */
static jint choose(JNIEnv *env, const jvmtiFrameInfo *frames, jint n, const struct bbf_rules *rules)
{
    const bool searches = rules != NULL && rules->options.include != NULL;
    jint more = -1, counting = -1;
    for (jint i = 0; i < n && (searches || more < 0); i++) {
        uint64_t about = about_of(env, frames[i].method, rules);
        if ((about & INCLUDED) != 0)
            return i;
        if ((about & FORWARDS) != 0)
            continue;
        if ((about & COUNTS) == 0)
            more = more < 0 ? i : more;
        else
            counting = counting < 0 ? i : counting;
    }
    return more >= 0 ? more : counting;
}

uint32_t bbf_caller_site(JNIEnv *env, uint32_t use)
{
    jvmtiFrameInfo frames[FRAMES];
    jint n = bbf_frames_here(frames, FRAMES);
    if (n < 0) {
        bbf_node_drop_step(bbf_agent.tracker);
        return 0;
    }
    const struct bbf_rules_hold hold = bbf_rules_hold();
    jint at = choose(env, frames, n, hold.rules);
    uint64_t about = at >= 0 ? about_of(env, frames[at].method, hold.rules) : NAMED;
    bbf_rules_let_go(&hold);
    if ((about & NAMED) == 0) {
        about = name_it(env, &frames[at], n - at, about);
        remember(frames[at].method, about);
    }
    return (uint32_t)(use == BBF_L_USE_RETAIN ? about >> 16 : about) & 0xffff;
}

/* ---- for an allocation ---- */

/* The first that is followed, or else the first that does more than forward, rather not Netty's;
 * -1: no frame does. */
static jint choose_far(JNIEnv *env, const jvmtiFrameInfo *frames, jint n,
                       const struct bbf_rules *rules, bool *followed)
{
    jint more = -1, nettys = -1;
    for (jint i = 0; i < n; i++) {
        uint64_t about = about_of(env, frames[i].method, rules);
        *followed = (about & FOLLOWED) != 0;
        if (*followed)
            return i;
        if ((about & (FORWARDS | COUNTS)) != 0)
            continue;
        if ((about & NETTYS) != 0)
            nettys = nettys < 0 ? i : nettys;
        else
            more = more < 0 ? i : more;
    }
    return more >= 0 ? more : nettys;
}

static uint32_t far_site(JNIEnv *env, const jvmtiFrameInfo *frames, jint n)
{
    char reference[NAME];
    struct caller c;
    if (!caller_read(env, frames->method, &c))
        return 0;
    const char *method = c.method;
    if (c.lambda) {
        reference_name(env, &c, frames + 1, n - 1, reference, sizeof reference);
        method = reference;
    }
    uint32_t site = site_of(&c, method, "", BBF_SITE_ENTER);
    caller_free(&c);
    return site;
}

bool bbf_caller_of_root(JNIEnv *env, uint32_t *site, bool *followed)
{
    jvmtiFrameInfo frames[FAR];
    jint n = bbf_frames_at_once(frames, FAR);
    if (n < 0)
        return false;
    const struct bbf_rules_hold hold = bbf_rules_hold();
    jint at = choose_far(env, frames, n, hold.rules, followed);
    bbf_rules_let_go(&hold);
    *site = at >= 0 ? far_site(env, &frames[at], n - at) : 0;
    return true;
}
