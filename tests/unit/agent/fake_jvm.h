/*
 * tests/unit/agent/fake_jvm.h - a JVM of a test's own: a jvmtiEnv, a JNIEnv for each thread, and
 * the few classes, objects and threads that the test makes. What the fake does not implement aborts
 * with its name.
 *
 * It complains, and fake_teardown() fails, about: a reference that is used after it was deleted, in
 * another thread, or with a function for another type; a local, global or weak reference that is
 * left; JVMTI memory that is not deallocated; a call while an exception is pending, in a phase of
 * the JVM that does not allow it, or in the collector's callback; more local references than there
 * was room for. It has no lock and orders nothing between threads, so that ThreadSanitizer sees the
 * agent's own order.
 *
 * Threads: the world is made by the test's thread before others begin; the tables serve any thread.
 */
#ifndef BBF_TESTS_UNIT_AGENT_FAKE_JVM_H
#define BBF_TESTS_UNIT_AGENT_FAKE_JVM_H

#include <jni.h>
#include <jvmti.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fake_class;
struct fake_object;
struct fake_field;
struct fake_method;

/* For cmocka: a new JVM in its live phase; and its end, which fails if there was a complaint. */
int fake_setup(void **state);
int fake_teardown(void **state);

/* The same without cmocka. fake_end() returns the number of complaints, leaks included. */
void fake_begin(void);
unsigned fake_end(void);

JNIEnv *fake_env(void); /* of the calling thread, attached as it asks */
jvmtiEnv *fake_jvmti(void);
JavaVM *fake_vm(void);

/* ---- the world: all of it lives until fake_end() ---- */

/* name: "com/app/Main" or "[Lcom/app/Main;"; super: NULL for java.lang.Object. The class is
 * initialised, modifiable and of the boot loader. */
struct fake_class *fake_class(const char *name, struct fake_class *super);
struct fake_class *fake_find_class(const char *name); /* NULL: no such class */
void fake_loaded_by(struct fake_class *class, struct fake_object *loader);
void fake_implements(struct fake_class *class, struct fake_class *interface);
/* JVMTI_CLASS_STATUS_…; one that is not prepared has no fields and methods to ask for. */
void fake_status(struct fake_class *class, jint status);
/* An unmodifiable class; one whose retransformation fails. */
void fake_unmodifiable(struct fake_class *class);
void fake_not_retransformable(struct fake_class *class);
void fake_constant_pool(struct fake_class *class, const void *bytes, size_t len);

struct fake_field *fake_field(struct fake_class *class, const char *name, const char *descriptor);
struct fake_field *fake_static(struct fake_class *class, const char *name, const char *descriptor);
struct fake_method *fake_method(struct fake_class *class, const char *name, const char *descriptor,
                                jint modifiers);
void fake_code(struct fake_method *method, const void *bytes, size_t len);
/* What a call does, which may throw (fake_throw); without it a call returns 0. */
typedef jvalue (*fake_body)(JNIEnv *env, jobject self, const jvalue *arguments);
void fake_does(struct fake_method *method, fake_body body);
jmethodID fake_method_id(struct fake_method *method);

/* Fields that the class, its super classes included, has by now are 0. */
struct fake_object *fake_object(struct fake_class *class);
struct fake_object *fake_array(const char *class_name, size_t n);
struct fake_object *fake_string(const char *text);
/* Of java.lang.Thread, with a field tid; name NULL: the JVM has none. It is among all threads. */
struct fake_object *fake_thread(const char *name, int64_t tid);
void fake_number(struct fake_object *o, const char *field, int64_t value);
void fake_refer(struct fake_object *o, const char *field, struct fake_object *to);
void fake_static_number(struct fake_class *class, const char *field, int64_t value);
void fake_static_refer(struct fake_class *class, const char *field, struct fake_object *to);
void fake_element(struct fake_object *array, size_t i, struct fake_object *to);
struct fake_object *fake_element_of(struct fake_object *array, size_t i);
/* The collector takes the object: weak references to it read as null. */
void fake_collect(struct fake_object *o);

/* References of the test's own: no leak, and good until fake_end() unless they are deleted. */
jobject fake_local(struct fake_object *o);
jclass fake_local_class(struct fake_class *class);
jobject fake_global(struct fake_object *o);
/* What a body returns: the caller's local reference. */
jobject fake_give(struct fake_object *o);
struct fake_object *fake_target(jobject reference); /* NULL for null and for what was deleted */
struct fake_object *fake_mirror(struct fake_class *class);

/* Every class, method and field that is asked for exists, but those that fake_lacks() names:
 * "java/lang/Thread", "getUnsafe" (of any class). */
void fake_has_everything(void);
void fake_lacks(const char *name);
/* Called for each class that DefineClass makes. */
void fake_on_define(void (*defined)(struct fake_class *class));

/* The calling thread's stack, innermost first; the array stays the caller's. */
void fake_stack(const jmethodID *methods, size_t n);
void fake_property(const char *name, const char *value);

/* ---- what goes wrong ---- */

/* The nth call from now on fails as HotSpot's does (out of memory, no such thing); 0: each one. */
void fake_fail(const char *function, unsigned nth);
void fake_fail_with(const char *function, unsigned nth, jvmtiError error);
/*
 * Run `work` with the first call that can fail failing, then the second, until all succeed; before
 * each run `prepare` makes the JVM anew, after each run `done` looks at it. How many failed.
 */
unsigned fake_each_fault(void (*prepare)(void), void (*work)(void), void (*done)(void));

/* An exception in the calling thread. */
void fake_throw(JNIEnv *env, const char *class_name);
bool fake_is_pending(void);
const char *fake_pending(void); /* the class's name; NULL: none */

void fake_phase(jvmtiPhase phase);
/* The calling thread is in the callback of a collection's end: nothing but memory may be asked. */
void fake_enter_gc(void);
void fake_leave_gc(void);
/* The calling thread is in a native method: its local references end with it. */
void fake_enter_native(void);
void fake_leave_native(void);

/* ---- what was seen ---- */

unsigned fake_calls(const char *function);
unsigned fake_complaints(void);
const char *fake_complaint(void); /* the first; "" */
void fake_forgive(void);          /* complaints so far, by a test of the fake */
/* References and memory that the agent has now. */
unsigned fake_locals(void); /* of the calling thread */
unsigned fake_globals(void);
unsigned fake_weaks(void);
int64_t fake_allocated(void);
/* The global and weak references of now are kept for good, on purpose. */
void fake_keep_globals(void);

#endif
