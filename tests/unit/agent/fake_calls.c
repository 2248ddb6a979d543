/* tests/unit/agent/fake_calls.c - the fake JVM's environments, references, complaints and faults.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/agent/fake_inner.h"

const char *const fake_names[FAKE_FUNCTIONS] = {
#define XX(name) #name,
    FAKE_JNI_FUNCTIONS(XX) FAKE_JVMTI_FUNCTIONS(XX)
#undef XX
};

enum { EXTRA_LOCALS = 32 /* what -Xcheck:jni lets pass */, NATIVE_LOCALS = 16 };

/* ---- complaints ---- */

static pthread_mutex_t complaint_lock = PTHREAD_MUTEX_INITIALIZER; /* only where a test fails */
static char first_complaint[300];
static _Atomic unsigned complaints;

void fake_complain(const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&complaint_lock);
    if (atomic_fetch_add(&complaints, 1) == 0)
        memcpy(first_complaint, text, sizeof text);
    pthread_mutex_unlock(&complaint_lock);
}

unsigned fake_complaints(void)
{
    return atomic_load(&complaints);
}

const char *fake_complaint(void)
{
    return first_complaint;
}

void fake_forgive(void)
{
    atomic_store(&complaints, 0);
    first_complaint[0] = '\0';
}

/* ---- environments ---- */

static const struct jvmtiInterface_1_ *jvmti_functions;
static jvmtiEnv the_jvmti;
static unsigned world_number; /* a thread's environment is of one world */
static _Thread_local struct fake_thread_env *this_env;
static _Thread_local unsigned this_world;

struct fake_thread_env *fake_this(void)
{
    if (this_env != NULL && this_world == world_number)
        return this_env;
    struct fake_thread_env *e = calloc(1, sizeof *e);
    if (e == NULL)
        abort();
    e->functions = fake_jni_table();
    e->frames[0].room = NATIVE_LOCALS;
    e->next = atomic_load_explicit(&fake.envs, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&fake.envs, &e->next, e, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    this_world = world_number;
    return this_env = e;
}

JNIEnv *fake_env(void)
{
    return (JNIEnv *)&fake_this()->functions;
}

jvmtiEnv *fake_jvmti(void)
{
    return &the_jvmti;
}

static bool may_be_pending(enum fake_function f)
{
    switch (f) {
    case J_ExceptionCheck:
    case J_ExceptionClear:
    case J_ExceptionOccurred:
    case J_ExceptionDescribe:
    case J_DeleteLocalRef:
    case J_DeleteGlobalRef:
    case J_DeleteWeakGlobalRef:
    case J_PushLocalFrame:
    case J_PopLocalFrame:
    case J_ReleaseStringUTFChars:
        return true;
    default:
        return false;
    }
}

static void count(enum fake_function f)
{
    atomic_fetch_add_explicit(&fake.calls[f], 1, memory_order_relaxed);
}

struct fake_thread_env *fake_enter_jni(JNIEnv *env, enum fake_function f)
{
    struct fake_thread_env *e = fake_this();
    count(f);
    if ((void *)env != (void *)&e->functions)
        fake_complain("%s: the JNIEnv is another thread's", fake_names[f]);
    if (e->in_gc)
        fake_complain("%s is called in the collector's callback", fake_names[f]);
    if (e->pending[0] != '\0' && !may_be_pending(f))
        fake_complain("%s is called while %s is pending", fake_names[f], e->pending);
    if (fake.phase != JVMTI_PHASE_START && fake.phase != JVMTI_PHASE_LIVE)
        fake_complain("%s is called in phase %d", fake_names[f], (int)fake.phase);
    return e;
}

static bool is_memory(enum fake_function f)
{
    return f == T_Allocate || f == T_Deallocate;
}

/* As the JVMTI specification has it for each function. */
static bool is_allowed(enum fake_function f)
{
    switch (f) {
    case T_Allocate:
    case T_Deallocate:
    case T_GetPhase:
        return true;
    case T_GetSystemProperty:
    case T_AddCapabilities:
    case T_SetEventCallbacks:
    case T_SetEventNotificationMode:
        return fake.phase == JVMTI_PHASE_ONLOAD || fake.phase == JVMTI_PHASE_LIVE;
    case T_GetClassSignature:
    case T_GetClassStatus:
    case T_GetClassFields:
    case T_GetClassMethods:
    case T_GetClassLoader:
    case T_GetConstantPool:
    case T_GetImplementedInterfaces:
    case T_GetFieldName:
    case T_GetFieldModifiers:
    case T_GetMethodName:
    case T_GetMethodModifiers:
    case T_GetMethodDeclaringClass:
    case T_GetBytecodes:
    case T_IsModifiableClass:
        return fake.phase == JVMTI_PHASE_START || fake.phase == JVMTI_PHASE_LIVE;
    default:
        return fake.phase == JVMTI_PHASE_LIVE;
    }
}

void fake_enter_jvmti(enum fake_function f)
{
    count(f);
    if (!is_allowed(f))
        fake_complain("%s is called in phase %d", fake_names[f], (int)fake.phase);
    if (fake_this()->in_gc && !is_memory(f))
        fake_complain("%s is called in the collector's callback", fake_names[f]);
}

unsigned fake_calls(const char *function)
{
    for (size_t i = 0; i < FAKE_FUNCTIONS; i++)
        if (strcmp(fake_names[i], function) == 0)
            return atomic_load_explicit(&fake.calls[i], memory_order_relaxed);
    fail_msg("JVMTI and JNI have no function %s", function);
    return 0;
}

void fake_phase(jvmtiPhase phase)
{
    fake.phase = phase;
}

void fake_enter_gc(void)
{
    fake_this()->in_gc = true;
}

void fake_leave_gc(void)
{
    fake_this()->in_gc = false;
}

void fake_throw(JNIEnv *env, const char *class_name)
{
    (void)env;
    snprintf(fake_this()->pending, sizeof fake_this()->pending, "%s", class_name);
}

const char *fake_pending(void)
{
    return fake_is_pending() ? fake_this()->pending : NULL;
}

bool fake_is_pending(void)
{
    return fake_this()->pending[0] != '\0';
}

void fake_stack(const jmethodID *methods, size_t n)
{
    fake_this()->stack = methods;
    fake_this()->n_stack = n;
}

/* ---- faults ---- */

static struct {
    enum fake_function f;
    jvmtiError error;
    bool always;
    _Atomic unsigned left; /* calls until it fails; 0: done */
} faults[FAKE_MOST];
static size_t n_faults;
static _Atomic unsigned fallible, fallible_target; /* fake_each_fault(); 0: off */

void fake_fail_with(const char *function, unsigned nth, jvmtiError error)
{
    assert_true(n_faults < FAKE_MOST);
    for (size_t i = 0; i < FAKE_FUNCTIONS; i++)
        if (strcmp(fake_names[i], function) == 0) {
            faults[n_faults].f = (enum fake_function)i;
            faults[n_faults].error = error;
            faults[n_faults].always = nth == 0;
            atomic_store(&faults[n_faults++].left, nth);
            return;
        }
    fail_msg("JVMTI and JNI have no function %s", function);
}

void fake_fail(const char *function, unsigned nth)
{
    fake_fail_with(function, nth, JVMTI_ERROR_OUT_OF_MEMORY);
}

/* With an index that is right, an array's elements are always there. */
static bool fails_by_order_only(enum fake_function f)
{
    return f == J_GetObjectArrayElement || f == J_SetObjectArrayElement;
}

jvmtiError fake_fails(enum fake_function f)
{
    if (!fails_by_order_only(f) &&
        atomic_fetch_add_explicit(&fallible, 1, memory_order_relaxed) + 1 ==
            atomic_load_explicit(&fallible_target, memory_order_relaxed))
        return JVMTI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < n_faults; i++) {
        if (faults[i].f != f)
            continue;
        if (faults[i].always ||
            (atomic_load_explicit(&faults[i].left, memory_order_relaxed) > 0 &&
             atomic_fetch_sub_explicit(&faults[i].left, 1, memory_order_relaxed) == 1))
            return faults[i].error;
    }
    return JVMTI_ERROR_NONE;
}

unsigned fake_each_fault(void (*prepare)(void), void (*work)(void), void (*done)(void))
{
    for (unsigned target = 1;; target++) {
        prepare();
        atomic_store(&fallible, 0);
        atomic_store(&fallible_target, target);
        work();
        unsigned calls = atomic_load(&fallible);
        atomic_store(&fallible_target, 0);
        if (fake_is_pending())
            fail_msg("call %u failed, and %s is left pending", target, fake_pending());
        done();
        if (fake_end() > 0)
            fail_msg("call %u failed: %s", target, fake_complaint());
        if (calls < target)
            return target - 1;
    }
}

/* ---- references ---- */

jobject fake_new_ref(enum fake_kind kind, struct fake_object *target, bool by_test)
{
    if (target == NULL)
        return NULL;
    struct fake_thread_env *e = fake_this();
    struct fake_ref *r = calloc(1, sizeof *r);
    if (r == NULL)
        abort();
    *r = (struct fake_ref){.kind = kind, .by_test = by_test, .target = target};
    if (kind == FAKE_LOCAL) {
        r->owner = e;
        r->depth = by_test ? 0 : e->depth;
        r->next_local = e->locals;
        e->locals = r;
        if (!by_test && ++e->frames[e->depth].used > e->frames[e->depth].room + EXTRA_LOCALS)
            fake_complain("%d local references where there was room for %d",
                          e->frames[e->depth].used, e->frames[e->depth].room);
    }
    r->next = atomic_load_explicit(&fake.refs, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&fake.refs, &r->next, r, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    return (jobject)(void *)r;
}

static struct fake_ref *checked(jobject reference)
{
    struct fake_ref *r = (void *)reference;
    if (r == NULL)
        return NULL;
    if (atomic_load_explicit(&r->deleted, memory_order_relaxed)) {
        fake_complain("a reference is used after it was deleted");
        return NULL;
    }
    if (r->kind == FAKE_LOCAL && r->owner != fake_this()) {
        fake_complain("a local reference is used in another thread");
        return NULL;
    }
    return r;
}

struct fake_object *fake_peek(jobject reference)
{
    struct fake_ref *r = checked(reference);
    return r == NULL || (r->kind == FAKE_WEAK &&
                         atomic_load_explicit(&r->target->collected, memory_order_relaxed))
               ? NULL
               : r->target;
}

struct fake_object *fake_use(jobject reference, bool nullable)
{
    struct fake_ref *r = checked(reference);
    if (reference == NULL && !nullable)
        fake_complain("null where an object is needed");
    if (r != NULL && r->kind == FAKE_WEAK)
        fake_complain("a weak reference is used as if it were strong");
    return r == NULL ? NULL : r->target;
}

struct fake_class *fake_use_class(jclass reference)
{
    struct fake_object *o = fake_use(reference, false);
    if (o != NULL && o->is_class == NULL)
        fake_complain("an object where a class is needed");
    return o == NULL ? NULL : o->is_class;
}

void fake_delete_ref(jobject reference, enum fake_kind kind)
{
    struct fake_ref *r = checked(reference);
    if (r == NULL)
        return;
    if (r->kind != kind) {
        fake_complain("a reference is deleted as one of another kind");
        return;
    }
    atomic_store_explicit(&r->deleted, true, memory_order_relaxed);
    if (kind == FAKE_LOCAL && !r->by_test)
        r->owner->frames[r->depth].used--;
}

jobject fake_local(struct fake_object *o)
{
    return fake_new_ref(FAKE_LOCAL, o, true);
}

jclass fake_local_class(struct fake_class *class)
{
    return fake_local(class->mirror);
}

jobject fake_global(struct fake_object *o)
{
    return fake_new_ref(FAKE_GLOBAL, o, true);
}

jobject fake_give(struct fake_object *o)
{
    return fake_new_ref(FAKE_LOCAL, o, false);
}

struct fake_object *fake_target(jobject reference)
{
    const struct fake_ref *r = (const void *)reference;
    return r == NULL || atomic_load_explicit(&r->deleted, memory_order_relaxed) ? NULL : r->target;
}

static unsigned alive(enum fake_kind kind, const struct fake_thread_env *owner)
{
    unsigned n = 0;
    for (struct fake_ref *r = atomic_load_explicit(&fake.refs, memory_order_acquire); r != NULL;
         r = r->next)
        n += r->kind == kind && !r->by_test && (owner == NULL || r->owner == owner) &&
             !atomic_load_explicit(&r->deleted, memory_order_relaxed);
    return n;
}

unsigned fake_locals(void)
{
    return alive(FAKE_LOCAL, fake_this());
}

unsigned fake_globals(void)
{
    return alive(FAKE_GLOBAL, NULL);
}

unsigned fake_weaks(void)
{
    return alive(FAKE_WEAK, NULL);
}

void fake_keep_globals(void)
{
    for (struct fake_ref *r = atomic_load_explicit(&fake.refs, memory_order_acquire); r != NULL;
         r = r->next)
        r->by_test = r->by_test || r->kind != FAKE_LOCAL;
}

int64_t fake_allocated(void)
{
    return atomic_load_explicit(&fake.allocated, memory_order_relaxed);
}

void fake_enter_native(void)
{
    struct fake_thread_env *e = fake_this();
    assert_true(e->depth + 1 < FAKE_FRAMES);
    e->frames[++e->depth].room = NATIVE_LOCALS;
    e->frames[e->depth].used = 0;
}

void fake_leave_native(void)
{
    struct fake_thread_env *e = fake_this();
    for (struct fake_ref *r = e->locals; r != NULL; r = r->next_local)
        if (r->depth == e->depth && !r->by_test)
            atomic_store_explicit(&r->deleted, true, memory_order_relaxed);
    e->depth--;
}

/* ---- begin and end ---- */

void fake_free_world(void);

void fake_begin(void)
{
    memset(&fake, 0, sizeof fake);
    world_number++;
    fake.phase = JVMTI_PHASE_LIVE;
    jvmti_functions = fake_jvmti_table();
    the_jvmti = (jvmtiEnv)jvmti_functions;
    fake.group = fake_object(fake_class("java/lang/ThreadGroup", NULL));
    n_faults = 0;
    fake_forgive();
}

static void look_for_leaks(void)
{
    unsigned locals = alive(FAKE_LOCAL, NULL);
    if (locals > 0)
        fake_complain("%u local references are left", locals);
    if (fake_globals() > 0)
        fake_complain("%u global references are left", fake_globals());
    if (fake_weaks() > 0)
        fake_complain("%u weak references are left", fake_weaks());
    if (fake_allocated() != 0)
        fake_complain("%lld blocks of JVMTI memory are left", (long long)fake_allocated());
}

unsigned fake_end(void)
{
    look_for_leaks();
    for (struct fake_ref *next, *r = atomic_load_explicit(&fake.refs, memory_order_acquire);
         r != NULL; r = next) {
        next = r->next;
        free(r);
    }
    for (struct fake_thread_env *next, *e = atomic_load_explicit(&fake.envs, memory_order_acquire);
         e != NULL; e = next) {
        next = e->next;
        if (e->depth > 0)
            fake_complain("%u local frames are left", e->depth);
        free(e);
    }
    this_env = NULL;
    fake_free_world();
    memset(&fake, 0, sizeof fake);
    n_faults = 0;
    return fake_complaints();
}

int fake_setup(void **state)
{
    (void)state;
    fake_begin();
    return 0;
}

int fake_teardown(void **state)
{
    (void)state;
    if (fake_end() > 0)
        fail_msg("fake JVM: %s (%u complaints)", fake_complaint(), fake_complaints());
    return 0;
}
