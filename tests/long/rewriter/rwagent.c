/*
 * tests/long/rewriter/rwagent.c - a test agent: rewrites classes as they are loaded, as greedily as
 * the rewriter can, with calls to bbflow.RewriteShim.
 *
 * -agentpath:librwagent.so=shim=FILE[,KEY[=VALUE]…]
 *   mode=all     (default) every reference parameter at entry, every areturn (with the first
 *                reference parameter that is never stored to), every constructor's return, every
 *                athrow, after every invoke that returns a reference, int parameters, array lengths
 *   mode=bump    nothing but bump50: what mode=all is compared with
 *   mode=none    no hook at all
 *   casts        and after every checkcast
 *   fluent       areturn_unless_fluent
 *   only=PREFIX  classes with this internal name only
 *   skipboot     not the boot loader's classes, nor LinkAll
 *   bump50       class version 50 becomes 51: a 50 that does not verify falls back, silently, to
 *                the old verifier, which would hide wrong frames
 *   retransform  also retransform every class that was loaded before VMInit (always verified)
 *   retransformboot  at exit also every class of the boot loader that is loaded by then
 *   offbyone     the negative control: the first frame of each table is wrong by one; max_stack is
 *                0 in classes of version 49 and older, which have no frames
 *   firstid=N    ids begin here
 *   dump=DIR     no id but firstid, no reloaded parameter; DIR/N.old and DIR/N.new of each change
 *
 * At exit on stderr: lines "[rw] N classes: RESULT", "[rw] N methods: RESULT", "[rw] N versions:
 * MAJOR", then "[rw] key=value …".
 */
#include "classfile/bytes.h"
#include "classfile/classfile.h"
#include "classfile/code.h"
#include "classfile/reader.h"

#include <jvmti.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHIM "bbflow/RewriteShim"

enum { T_ENTER, T_EXIT, T_EXIT_PARAMETER, T_CONSTRUCT, T_GOT, T_THROWN, T_WIDTH, T_COUNT };

static const struct bbf_cf_target targets[T_COUNT] = {
    [T_ENTER] = {SHIM, "enter", "(Ljava/lang/Object;I)V"},
    [T_EXIT] = {SHIM, "exit", "(Ljava/lang/Object;I)V"},
    [T_EXIT_PARAMETER] = {SHIM, "exit", "(Ljava/lang/Object;Ljava/lang/Object;I)V"},
    [T_CONSTRUCT] = {SHIM, "construct", "(Ljava/lang/Object;I)V"},
    [T_GOT] = {SHIM, "got", "(Ljava/lang/Object;I)V"},
    [T_THROWN] = {SHIM, "thrown", "(Ljava/lang/Object;I)V"},
    [T_WIDTH] = {SHIM, "width", "(II)V"},
};

static struct {
    jvmtiEnv *jvmti;
    char shim[512], only[256], dump[512];
    bool none, all, bump50, retransform, retransform_boot, skip_boot, offbyone, fluent, casts;
    uint32_t next_id; /* under lock */
    pthread_mutex_t lock;
    uint64_t classes, ns, bytes, results[BBF_CF_CLASS_RESULTS], methods[BBF_CF_METHOD_RESULTS];
    uint64_t versions[256];
    uint64_t retransformed, refused, broken_frames, dumped;
} agent = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = true};

static uint32_t take_id(void)
{
    return __atomic_fetch_add(&agent.next_id, agent.dump[0] == 0, __ATOMIC_RELAXED);
}

static struct bbf_cf_call call_of(uint16_t target, uint8_t push, uint32_t value, uint32_t id)
{
    struct bbf_cf_call call = {.target = target, .n_args = 2};

    call.args[0].push = push;
    call.args[0].value = value;
    call.args[1].push = BBF_CF_INT;
    call.args[1].value = id;
    return call;
}

/* Calls at entry for one parameter. */
static void plan_parameter(struct bbf_cf_plan *plan, char kind, uint16_t slot, uint32_t id)
{
    if (kind == 'A' || kind == '[')
        plan->entry[plan->n_entry++] = call_of(T_ENTER, BBF_CF_ALOAD, slot, id);
    else if (kind == 'I')
        plan->entry[plan->n_entry++] = call_of(T_WIDTH, BBF_CF_ILOAD, slot, id);
}

static void plan_exit(const struct bbf_cf_method *method, struct bbf_cf_plan *plan, uint32_t id,
                      uint16_t reload)
{
    struct bbf_cf_call *call = &plan->areturn[0];

    plan->n_areturn = 1;
    *call = call_of(T_EXIT, BBF_CF_DUP, 0, id);
    if (reload == UINT16_MAX || agent.dump[0] != 0 || bbf_cf_stores_to(method, reload))
        return;
    call->target = T_EXIT_PARAMETER;
    call->n_args = 3;
    call->args[2] = call->args[1];
    call->args[1].push = BBF_CF_ALOAD;
    call->args[1].value = reload;
}

static void plan_all(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_plan *plan)
{
    uint32_t id = take_id();
    bool is_static = (method->access & CF__ACC_STATIC) != 0;
    bool init = cf__str_is(method->name, "<init>");
    uint16_t reload = UINT16_MAX;
    struct cf__param param;

    (void)ctx;
    for (uint16_t slot = is_static ? 0 : 1; slot < 255; slot++) {
        if (!cf__param_find(method->descriptor, is_static, slot, &param) || slot >= param.slots)
            break;
        plan_parameter(plan, param.kind, slot, id);
        if (reload == UINT16_MAX && (param.kind == 'A' || param.kind == '['))
            reload = slot;
    }
    if (cf__returns_reference(method->descriptor))
        plan_exit(method, plan, id, reload);
    if (init) {
        plan->n_return = 1;
        plan->vreturn[0] = call_of(T_CONSTRUCT, BBF_CF_ALOAD, 0, id);
    }
    plan->areturn_unless_fluent = agent.fluent;
    plan->after_call = true;
    plan->before_athrow_set = true;
    plan->before_athrow = call_of(T_THROWN, BBF_CF_DUP, 0, id);
}

static bool after_call(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str owner,
                       struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode,
                       struct bbf_cf_call *call)
{
    (void)ctx;
    (void)method;
    (void)owner;
    (void)name;
    (void)opcode;
    if (!cf__returns_reference(descriptor))
        return false;
    *call = call_of(T_GOT, BBF_CF_DUP, 0, 40000);
    return true;
}

static bool after_cast(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str type,
                       bool given, struct bbf_cf_call *call)
{
    (void)ctx;
    (void)method;
    (void)type;
    (void)given;
    *call = call_of(T_GOT, BBF_CF_DUP, 0, 40000);
    return agent.casts;
}

static uint8_t *allocate(void *ctx, size_t size)
{
    unsigned char *memory;

    (void)ctx;
    if ((*agent.jvmti)->Allocate(agent.jvmti, (jlong)size, &memory) != JVMTI_ERROR_NONE)
        return NULL;
    return memory;
}

static const struct bbf_cf_config config_all = {.targets = targets,
                                                .n_targets = T_COUNT,
                                                .plan = plan_all,
                                                .after_call = after_call,
                                                .after_cast = after_cast,
                                                .allocate = allocate};

static bool has_frames(const uint8_t *bytes)
{
    return cf__u2(bytes + 6) >= 50;
}

/* The negative control: the first frame of each StackMapTable is one too far. */
static void break_frames(uint8_t *bytes, size_t len)
{
    struct cf__class c;
    uint32_t at;

    if (cf__class_open(&c, bytes, len, NULL, NULL) != BBF_CF_CHANGED)
        return;
    at = c.methods_at + 2;
    for (unsigned i = 0; i < c.n_methods; i++) {
        struct cf__member member;
        struct bbf_cf_code code = {0};
        const uint8_t *p;

        cf__member_read(&c, at, true, &member);
        at = member.end;
        if (member.code != 0)
            cf__code_open(&code, &c, &member);
        if (code.ok && !has_frames(bytes)) {
            cf__put2(bytes + member.code + 6, 0);
            agent.broken_frames++;
            continue;
        }
        p = code.attributes;
        for (unsigned k = 0; code.ok && k < code.n_attributes; k++, p += 6 + cf__u4(p + 2)) {
            uint8_t *table = bytes + (p - bytes) + 6;
            struct bbf_cf_str name;

            if (!cf__pool_utf8(&c, cf__u2(p), &name) || !cf__str_is(name, "StackMapTable") ||
                cf__u2(table) == 0)
                continue;
            if (table[2] < 128 && (table[2] & 63) < 63)
                table[2]++;
            else
                cf__put2(table + 3, cf__u2(table + 3) + 1u);
            agent.broken_frames++;
        }
    }
    cf__class_close(&c);
}

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void note(enum bbf_cf_class_result result, const struct bbf_cf_stats *stats,
                 const unsigned char *bytes, size_t len, uint64_t ns, const char *name)
{
    pthread_mutex_lock(&agent.lock);
    agent.classes++;
    agent.bytes += len;
    agent.ns += ns;
    agent.results[result]++;
    if (len > 7)
        agent.versions[bytes[7]]++;
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        agent.methods[i] += stats->methods[i];
    pthread_mutex_unlock(&agent.lock);
    if (result > BBF_CF_NOTHING)
        fprintf(stderr, "[rw] refused %s: %s\n", name != NULL ? name : "?",
                bbf_cf_class_text(result));
}

static void dump(const char *kind, uint64_t number, const uint8_t *bytes, size_t len)
{
    char path[600];
    FILE *file;

    snprintf(path, sizeof path, "%s/%llu.%s", agent.dump, (unsigned long long)number, kind);
    if ((file = fopen(path, "wb")) == NULL)
        abort();
    fwrite(bytes, 1, len, file);
    fclose(file);
}

static void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined,
                                       jobject loader, const char *name, jobject domain, jint len,
                                       const unsigned char *bytes, jint *new_len,
                                       unsigned char **new_bytes)
{
    uint8_t *out = NULL;
    size_t out_len = 0;

    (void)jvmti;
    (void)jni;
    (void)redefined;
    (void)domain;
    if (name != NULL &&
        (strcmp(name, SHIM) == 0 || strncmp(name, agent.only, strlen(agent.only)) != 0))
        return;
    if (agent.skip_boot && (loader == NULL || (name != NULL && strcmp(name, "LinkAll") == 0)))
        return;
    if (agent.all) {
        struct bbf_cf_stats stats;
        uint64_t start = now_ns();
        enum bbf_cf_class_result result =
            bbf_cf_rewrite(bytes, (size_t)len, &config_all, &out, &out_len, &stats);

        note(result, &stats, bytes, (size_t)len, now_ns() - start, name);
    }
    if (out != NULL && agent.dump[0] != 0) {
        uint64_t number = __atomic_fetch_add(&agent.dumped, 1, __ATOMIC_RELAXED);

        dump("old", number, bytes, (size_t)len);
        dump("new", number, out, out_len);
    }
    if (out == NULL && agent.bump50 && len > 8 && bytes[7] == 50) {
        out = allocate(NULL, out_len = (size_t)len);
        memcpy(out, bytes, (size_t)len);
    }
    if (out == NULL)
        return;
    if (agent.bump50 && out[7] == 50)
        out[7] = 51;
    if (agent.offbyone)
        break_frames(out, out_len);
    *new_bytes = out;
    *new_len = (jint)out_len;
}

static void define_shim(JNIEnv *jni)
{
    static jbyte bytes[65536];
    FILE *file = fopen(agent.shim, "rb");
    size_t len = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    jclass shim = (*jni)->DefineClass(jni, SHIM, NULL, bytes, (jsize)len);

    if (shim == NULL || (*jni)->GetStaticFieldID(jni, shim, "entries", "J") == NULL) {
        fprintf(stderr, "[rw] no shim in %s\n", agent.shim);
        abort();
    }
    fclose(file);
}

/* The verifier stops a whole call at the first class that it refuses: then one by one. */
static void retransform_batch(jvmtiEnv *jvmti, jint count, jclass *classes)
{
    agent.retransformed += (uint64_t)count;
    if ((*jvmti)->RetransformClasses(jvmti, count, classes) == JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        jvmtiError error = (*jvmti)->RetransformClasses(jvmti, 1, &classes[i]);
        char *signature;

        if (error == JVMTI_ERROR_NONE)
            continue;
        agent.refused++;
        (*jvmti)->GetClassSignature(jvmti, classes[i], &signature, NULL);
        if (!agent.offbyone)
            fprintf(stderr, "[rw] retransformation of %s: error %d\n", signature, (int)error);
    }
}

static void retransform_boot(jvmtiEnv *jvmti)
{
    enum { BATCH = 256 };
    jclass batch[BATCH], *classes;
    jint count, n = 0;

    (*jvmti)->GetLoadedClasses(jvmti, &count, &classes);
    for (jint i = 0; i < count; i++) {
        jboolean modifiable;
        jobject loader;

        if ((*jvmti)->GetClassLoader(jvmti, classes[i], &loader) != JVMTI_ERROR_NONE ||
            loader != NULL ||
            (*jvmti)->IsModifiableClass(jvmti, classes[i], &modifiable) != JVMTI_ERROR_NONE ||
            !modifiable)
            continue;
        batch[n++] = classes[i];
        if (n == BATCH) {
            retransform_batch(jvmti, n, batch);
            n = 0;
        }
    }
    if (n > 0)
        retransform_batch(jvmti, n, batch);
}

static void retransform_all(jvmtiEnv *jvmti)
{
    jint count;
    jclass *classes;

    (*jvmti)->GetLoadedClasses(jvmti, &count, &classes);
    for (jint i = 0; i < count; i++) {
        jboolean modifiable;

        if ((*jvmti)->IsModifiableClass(jvmti, classes[i], &modifiable) != JVMTI_ERROR_NONE ||
            !modifiable)
            continue;
        retransform_batch(jvmti, 1, &classes[i]);
    }
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)thread;
    define_shim(jni);
    if (agent.none)
        return;
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    if (agent.retransform)
        retransform_all(jvmti);
}

static void report_causes(void)
{
    for (int i = 0; i < BBF_CF_CLASS_RESULTS; i++)
        if (agent.results[i] != 0)
            fprintf(stderr, "[rw] %lu classes: %s\n", agent.results[i], bbf_cf_class_text(i));
    for (int i = 0; i < BBF_CF_METHOD_RESULTS; i++)
        if (agent.methods[i] != 0)
            fprintf(stderr, "[rw] %lu methods: %s\n", agent.methods[i], bbf_cf_method_text(i));
    for (int i = 0; i < 256; i++)
        if (agent.versions[i] != 0)
            fprintf(stderr, "[rw] %lu versions: %d\n", agent.versions[i], i);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jni;
    report_causes(); /* what retransformation adds does not belong there */
    if (agent.retransform_boot)
        retransform_boot(jvmti);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
                                       NULL);
    fprintf(stderr, "[rw] classes=%lu changed=%lu nothing=%lu", agent.classes,
            agent.results[BBF_CF_CHANGED], agent.results[BBF_CF_NOTHING]);
    fprintf(stderr, " errors=%lu us_per_class=%.2f retransformed=%lu refused=%lu broken=%lu",
            agent.classes - agent.results[BBF_CF_CHANGED] - agent.results[BBF_CF_NOTHING],
            agent.classes != 0 ? (double)agent.ns / 1e3 / (double)agent.classes : 0.0,
            agent.retransformed, agent.refused, agent.broken_frames);
    fprintf(stderr, "\n");
}

static void parse_options(char *options)
{
    char *rest = NULL;

    for (char *o = strtok_r(options, ",", &rest); o != NULL; o = strtok_r(NULL, ",", &rest)) {
        if (strncmp(o, "shim=", 5) == 0)
            snprintf(agent.shim, sizeof agent.shim, "%s", o + 5);
        else if (strncmp(o, "only=", 5) == 0)
            snprintf(agent.only, sizeof agent.only, "%s", o + 5);
        else if (strncmp(o, "dump=", 5) == 0)
            snprintf(agent.dump, sizeof agent.dump, "%s", o + 5);
        else if (strncmp(o, "firstid=", 8) == 0)
            agent.next_id = (uint32_t)strtoul(o + 8, NULL, 10);
        else if (strcmp(o, "mode=bump") == 0)
            agent.all = false;
        else if (strcmp(o, "mode=none") == 0)
            agent.none = true;
        else if (strcmp(o, "fluent") == 0)
            agent.fluent = true;
        else if (strcmp(o, "casts") == 0)
            agent.casts = true;
        else if (strcmp(o, "bump50") == 0)
            agent.bump50 = true;
        else if (strcmp(o, "skipboot") == 0)
            agent.skip_boot = true;
        else if (strcmp(o, "retransformboot") == 0)
            agent.retransform_boot = true;
        else if (strcmp(o, "retransform") == 0)
            agent.retransform = true;
        else if (strcmp(o, "offbyone") == 0)
            agent.offbyone = true;
        else if (strcmp(o, "mode=all") != 0)
            fprintf(stderr, "[rw] unknown option %s\n", o);
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiCapabilities capabilities = {0};
    jvmtiEventCallbacks callbacks = {
        .ClassFileLoadHook = on_class_file_load, .VMInit = on_vm_init, .VMDeath = on_vm_death};
    char copy[1024];

    (void)reserved;
    snprintf(copy, sizeof copy, "%s", options != NULL ? options : "");
    parse_options(copy);
    if ((*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    capabilities.can_generate_all_class_hook_events = 1;
    capabilities.can_retransform_classes = agent.retransform || agent.retransform_boot;
    (*agent.jvmti)->AddCapabilities(agent.jvmti, &capabilities);
    (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof callbacks);
    (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return JNI_OK;
}
