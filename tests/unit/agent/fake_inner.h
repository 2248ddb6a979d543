/* tests/unit/agent/fake_inner.h - what the fake's own files share. */
#ifndef BBF_TESTS_UNIT_AGENT_FAKE_INNER_H
#define BBF_TESTS_UNIT_AGENT_FAKE_INNER_H

#include <stdatomic.h>

#include "tests/unit/agent/fake_jvm.h"

#include "fake_names.h"

enum fake_function {
#define XX(name) J_##name,
    FAKE_JNI_FUNCTIONS(XX)
#undef XX
#define XX(name) T_##name,
        FAKE_JVMTI_FUNCTIONS(XX)
#undef XX
            FAKE_FUNCTIONS
};

extern const char *const fake_names[FAKE_FUNCTIONS];

enum { ACC_STATIC = 8, FAKE_MOST = 64, FAKE_FRAMES = 64 };

struct fake_field {
    struct fake_class *owner;
    char *name, *descriptor;
    jint modifiers;
    size_t slot;            /* of an object's */
    _Atomic uint64_t value; /* a static's: a number or a struct fake_object * */
    struct fake_field *next;
};

struct fake_method {
    struct fake_class *owner;
    char *name, *descriptor;
    jint modifiers;
    const void *code;
    size_t len;
    fake_body body;
    struct fake_method *next;
};

struct fake_class {
    struct fake_object *mirror, *loader;
    char *name;
    struct fake_class *super, *interfaces[FAKE_MOST];
    size_t n_interfaces, n_slots;
    struct fake_field *fields;
    struct fake_method *methods;
    jint status;
    bool unmodifiable, not_retransformable;
    const void *pool;
    size_t pool_len;
    struct fake_class *next;
};

struct fake_object {
    struct fake_class *class, *is_class; /* is_class: what a mirror is of */
    bool is_array;
    char *text; /* a string's, a thread's name */
    _Atomic bool collected;
    size_t n;
    _Atomic uint64_t *slots; /* fields or elements */
    struct fake_object *next;
};

enum fake_kind { FAKE_LOCAL = 1, FAKE_GLOBAL, FAKE_WEAK };

struct fake_thread_env {
    const struct JNINativeInterface_ *functions;
    unsigned depth; /* frames pushed */
    struct {
        int room, used;
    } frames[FAKE_FRAMES];
    struct fake_ref *locals;
    char pending[100]; /* the class of the exception; "": none */
    bool in_gc;
    const jmethodID *stack;
    size_t n_stack;
    struct fake_thread_env *next;
};

/* Kept to the end, so that a use after the deletion is seen. */
struct fake_ref {
    enum fake_kind kind;
    _Atomic bool deleted;
    bool by_test;
    struct fake_object *target;
    struct fake_thread_env *owner; /* of a local */
    unsigned depth;
    struct fake_ref *next, *next_local;
};

struct fake_world {
    struct fake_class *classes;
    struct fake_object *objects;
    _Atomic(struct fake_ref *) refs;
    _Atomic(struct fake_thread_env *) envs;
    const char *lacks[FAKE_MOST];
    struct fake_object *threads[FAKE_MOST], *group;
    struct {
        const char *name, *value;
    } properties[FAKE_MOST];
    size_t n_lacks, n_threads, n_properties;
    bool everything;
    void (*defined)(struct fake_class *class);
    jvmtiPhase phase;
    _Atomic int64_t allocated;
    _Atomic unsigned calls[FAKE_FUNCTIONS];
};

extern struct fake_world fake;
extern const struct JNINativeInterface_ *fake_jni_table(void);
extern const struct jvmtiInterface_1_ *fake_jvmti_table(void);

void fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct fake_thread_env *fake_this(void);
/* Count the call and check that it is allowed now. */
struct fake_thread_env *fake_enter_jni(JNIEnv *env, enum fake_function f);
void fake_enter_jvmti(enum fake_function f);
/* Does this call fail? 0: no, else the JVMTI error. Only for functions that can. */
jvmtiError fake_fails(enum fake_function f);

jobject fake_new_ref(enum fake_kind kind, struct fake_object *target, bool by_test);
void fake_delete_ref(jobject reference, enum fake_kind kind);
/* The object; complains about null (unless nullable), weak ones and what cannot be used. */
struct fake_object *fake_use(jobject reference, bool nullable);
struct fake_object *fake_peek(jobject reference); /* also weak ones and null */
struct fake_class *fake_use_class(jclass reference);

bool fake_is_lacking(const char *name);
struct fake_field *fake_find_field(struct fake_class *class, const char *name,
                                   const char *descriptor, bool is_static, bool inherited);
struct fake_method *fake_find_method(struct fake_class *class, const char *name,
                                     const char *descriptor, bool is_static);
struct fake_object *fake_make(struct fake_class *class, size_t n);
bool fake_is_prepared(const struct fake_class *class);

/* Memory of the world; freed by fake_end(). */
void *fake_memory(size_t size);
char *fake_text(const char *text);

#endif
