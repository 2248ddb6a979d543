/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/kinds.h"

#include <stdio.h>
#include <string.h>

#include "agent/jvm/class_parts.h"
#include "agent/jvm/frames.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "agent/state.h"
#include "instrument/netty.h"

/* As bbf_names_copy(). */
static void name_of(jclass type, char *out, size_t size)
{
    if (!bbf_names_copy(type, out, size))
        bbf_tracker_fault(bbf_agent.tracker); /* the class may be taken for another for good */
}

static const char *simple_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

static bool is_nettys_holder(JNIEnv *env, void *ctx, jclass interface)
{
    char name[512];
    (void)env;
    (void)ctx;
    name_of(interface, name, sizeof name);
    size_t prefix = bbf_netty_prefix(name, strlen(name));
    return prefix > 0 && strcmp(name + prefix, "buffer/ByteBufHolder") == 0;
}

struct answer {
    uint64_t kind;
    int bytebuf_depth, field_depth, field;
    bool counted, holder, never, counter;
    enum bbf_lost lost; /* from the nearest class of the chain that decides it */
    enum bbf_memory memory;
    bool own_class; /* not Netty's: its count may come back without a root hook of Netty */
    int counted_depth;
    uint64_t count; /* KIND_COUNT_ of the counted class */
};

/* How AbstractReferenceCountedByteBuf keeps its count: an int of its own (4.1), which is doubled if
 * a ReferenceCountUpdater updates it, or a RefCnt (4.2). */
static bool counts(void *ctx, const char *name, const char *descriptor, bool is_static)
{
    uint64_t *count = ctx;
    size_t len = strlen(descriptor);
    bool is_updater =
        is_static && len > 23 && strcmp(descriptor + len - 23, "/ReferenceCountUpdater;") == 0;
    if (is_updater)
        *count |= BBF_L_KIND_DOUBLED;
    else if (strcmp(name, "refCnt") == 0 && strcmp(descriptor, "I") == 0)
        *count |= BBF_L_KIND_COUNT_INT;
    else if (strcmp(name, "refCnt") == 0 && len > 8 &&
             strcmp(descriptor + len - 8, "/RefCnt;") == 0)
        *count |= BBF_L_KIND_COUNT_REF;
    return false; /* all of its fields */
}

struct declared {
    const char *field;
    const char *begins; /* an instance field whose descriptor begins with it; NULL: any field */
};

static bool is_declared(void *ctx, const char *name, const char *descriptor, bool is_static)
{
    const struct declared *d = ctx;
    return strcmp(name, d->field) == 0 &&
           (d->begins == NULL ||
            (!is_static && strncmp(descriptor, d->begins, strlen(d->begins)) == 0));
}

/* Does the class itself declare that field? Returns `otherwise` if JVMTI cannot answer. */
static bool declares(jclass type, const char *field, const char *begins, bool otherwise)
{
    struct declared d = {field, begins};
    return bbf_class_any_field(type, is_declared, &d, otherwise);
}

bool bbf_kind_has_field(jclass type, const char *name, const char *descriptor)
{
    return declares(type, name, descriptor, false);
}

/* Does the class itself declare a method of that name? True if JVMTI cannot answer. */
static bool has_method(jclass type, const char *wanted)
{
    jmethodID *methods = NULL;
    jint n = 0;
    bool found = false;
    if (bbf_frames_of_class(type, &n, &methods) != 0)
        return true;
    for (jint i = 0; i < n && !found; i++) {
        char *name = NULL;
        if ((*bbf_agent.code)->GetMethodName(bbf_agent.code, methods[i], &name, NULL, NULL) == 0)
            found = strcmp(name, wanted) == 0;
        bbf_jvm_free(name);
    }
    bbf_jvm_free(methods);
    return found;
}

/*
 * Netty's counting class. A release is hooked in handleRelease(), or in a Netty before 4.1.35,
 * which has a refCntUpdater, at its calls of deallocate(). There the count is plain in some
 * versions and doubled in others, so it is not read. Of a class that is neither no release is seen:
 * its buffers are not followed to their end.
 */
static void look_at_count(struct answer *a, jclass type, int depth)
{
    bool old = !has_method(type, BBF_HANDLE_RELEASE);
    if (old && !declares(type, "refCntUpdater", NULL, false))
        return;
    a->counted = true;
    a->counted_depth = depth;
    if (!old)
        (void)bbf_class_any_field(type, counts, &a->count, false);
}

/*
 * Does the class itself have a release() that only answers (`return false`, Vert.x's heap buffers)?
 * Its buffers are the collector's. JVMS 6.5: iconst_0 or iconst_1, ireturn.
 */
static bool releases_nothing(jclass type)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jmethodID *methods = NULL;
    jint n = 0;
    bool found = false;
    if (bbf_frames_of_class(type, &n, &methods) != 0)
        return false;
    for (jint i = 0; i < n && !found; i++) {
        char *name = NULL, *signature = NULL;
        unsigned char *code = NULL;
        jint len = 0;
        if ((*jvmti)->GetMethodName(jvmti, methods[i], &name, &signature, NULL) == 0 &&
            strcmp(name, "release") == 0 && strcmp(signature, "()Z") == 0 &&
            (*jvmti)->GetBytecodes(jvmti, methods[i], &len, &code) == 0)
            found = len == 2 && (code[0] == 0x03 || code[0] == 0x04) && code[1] == 0xac;
        bbf_jvm_free(name);
        bbf_jvm_free(signature);
        bbf_jvm_free(code);
    }
    bbf_jvm_free(methods);
    return found;
}

/* What one class of the super chain adds. */
static void look_at(JNIEnv *env, struct answer *a, jclass type, const char *name, int depth)
{
    size_t prefix = bbf_netty_prefix(name, strlen(name));
    const struct bbf_netty_field *fields;
    size_t n = bbf_netty_fields(&fields);
    for (size_t i = 0; prefix > 0 && a->field < 0 && i < n; i++)
        /* A field of the table may be another class's in another version (MixedAttribute.attribute
         * became AbstractMixedHttpData.wrapped). */
        if (strcmp(name + prefix, fields[i].class_name) == 0 &&
            (fields[i].field == NULL || declares(type, fields[i].field, NULL, false))) {
            a->field = (int)i;
            a->field_depth = depth;
        }
    if (prefix > 0 && strcmp(name + prefix, "buffer/AbstractReferenceCountedByteBuf") == 0)
        look_at_count(a, type, depth);
    if (prefix > 0 && (strcmp(name + prefix, "buffer/EmptyByteBuf") == 0 ||
                       strcmp(name + prefix, "buffer/UnreleasableByteBuf") == 0))
        a->never = true;
    if (prefix == 0 && !a->counted && !a->never && a->bytebuf_depth < 0)
        a->never = releases_nothing(type);
    if (prefix > 0 && strcmp(name + prefix, "util/internal/RefCnt") == 0)
        a->counter = true;
    if (prefix > 0 && strcmp(name + prefix, "buffer/ByteBuf") == 0 && a->bytebuf_depth < 0)
        a->bytebuf_depth = depth;
    if (a->lost == BBF_LOST_UNKNOWN)
        a->lost = bbf_netty_lost(name);
    /* Netty 4.2's direct memory may come from a cleaner that frees only on an explicit call (no
     * Unsafe, JDK 24+): such buffers have a field for it. */
    if (prefix > 0 && a->lost == BBF_LOST_COUNTER &&
        strcmp(name + prefix, "buffer/UnpooledDirectByteBuf") == 0 &&
        declares(type, "cleanable", NULL, true))
        a->lost = BBF_LOST_UNKNOWN;
    a->own_class = a->own_class || (depth == 0 && prefix == 0);
    if (a->memory == BBF_MEM_UNKNOWN && prefix > 0)
        a->memory = bbf_netty_memory(simple_of(name));
    a->holder = a->holder || bbf_class_any_interface(env, type, is_nettys_holder, NULL);
}

uint64_t bbf_kind_classify(JNIEnv *env, jclass type)
{
    struct answer a = {.bytebuf_depth = -1, .field = -1, .memory = BBF_MEM_UNKNOWN};
    char first[512] = "", name[512];
    jclass at = type;
    for (int depth = 0; at != NULL && depth < BBF_L_KIND_NO_DEPTH; depth++) {
        name_of(at, name, sizeof name);
        if (depth == 0)
            memcpy(first, name, sizeof first);
        look_at(env, &a, at, name, depth);
        jclass super = (*env)->GetSuperclass(env, at);
        if (at != type)
            (*env)->DeleteLocalRef(env, at);
        at = super;
    }
    if (at != NULL)
        (*env)->DeleteLocalRef(env, at);
    if (a.memory == BBF_MEM_UNKNOWN) /* no class of Netty decides it */
        a.memory = bbf_netty_memory(simple_of(first));
    const struct bbf_netty_field *fields;
    (void)bbf_netty_fields(&fields);
    bool buffer = a.bytebuf_depth >= 0, view = buffer && a.field >= 0 && fields[a.field].view;
    bool empty = !buffer && a.field >= 0 && fields[a.field].field == NULL;
    bool holder = !buffer && !empty && a.field >= 0 && !fields[a.field].view;
    uint64_t kind = 0;
    if (buffer) {
        enum bbf_pool pool;
        kind = bbf_class_intern(bbf_agent.tracker, first) & BBF_L_KIND_CLASS;
        if (bbf_netty_pool(first, &pool))
            bbf_owned_class(bbf_agent.tracker, (uint32_t)kind, pool);
        bbf_class_lost(bbf_agent.tracker, (uint32_t)kind, a.lost);
        kind |= (uint64_t)a.memory << BBF_L_KIND_MEM_SHIFT;
        kind |= view ? BBF_L_KIND_VIEW : a.counted ? BBF_L_KIND_OWNER : BBF_L_KIND_FOREIGN;
    } else if (holder) {
        kind = BBF_L_KIND_HOLDER;
    } else if (a.counter) {
        kind = BBF_L_KIND_COUNTER;
    } else if (a.holder && !empty) {
        kind = BBF_L_KIND_UNKNOWN_HOLDER;
    }
    kind |= (uint64_t)(buffer ? a.bytebuf_depth : BBF_L_KIND_NO_DEPTH) << BBF_L_KIND_BYTEBUF_DEPTH;
    if (a.never)
        kind |= BBF_L_KIND_NEVER;
    if (buffer && !view && a.counted && a.own_class) {
        kind |= BBF_L_KIND_OWN;
        bbf_tracker_expect_own_counts(bbf_agent.tracker);
    }
    if (buffer && !view && a.counted)
        kind |= a.count | (uint64_t)a.counted_depth << BBF_L_KIND_FIELD_DEPTH;
    if (view || holder)
        kind |= (uint64_t)a.field_depth << BBF_L_KIND_FIELD_DEPTH | (uint64_t)a.field
                                                                        << BBF_L_KIND_FIELD_NAME;
    return kind;
}

const char *bbf_kind_field_name(uint32_t number)
{
    const struct bbf_netty_field *fields;
    return number < bbf_netty_fields(&fields) ? fields[number].field : NULL;
}

uint32_t bbf_kind_first_site(uint32_t number)
{
    struct bbf_tracker *t = bbf_agent.tracker;
    char method[600];
    uint32_t release = bbf_class_release_site(t, number);
    const struct bbf_site *site = bbf_site_get(t, release);
    const char *class_name = site != NULL ? site->class_name : "?";
    const char *dot = strrchr(class_name, '.');
    snprintf(method, sizeof method, "?first-seen %s", dot != NULL ? dot + 1 : class_name);
    struct bbf_site like = {.class_name = (char *)"",
                            .method = method,
                            .descriptor = (char *)(uintptr_t)class_name,
                            .kind = BBF_SITE_ROOT,
                            .memory = BBF_MEM_UNKNOWN};
    return bbf_site_intern(t, &like);
}
