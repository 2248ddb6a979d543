/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/fields.h - fields of Java objects by name, whatever class of the super chain declares
 * them and whichever of a few types they have. JVMTI finds them: no lookup throws, none
 * initialises.
 *
 * Threads: the agent thread, one bbf_fields at a time. Objects may be NULL: then nothing is found.
 * Results are local references.
 */
#ifndef BBF_AGENT_JVM_FIELDS_H
#define BBF_AGENT_JVM_FIELDS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BBF_FIELDS = 192 };

/* All look-ups so far, successful or not. */
struct bbf_fields {
    JNIEnv *env;
    size_t n;
    struct bbf_field {
        jclass class; /* global reference */
        const char *name;
        jfieldID id; /* NULL: there is none */
        char type;   /* of the descriptor: J I L; '[' only for arrays of objects */
    } known[BBF_FIELDS];
};

void bbf_fields_init(struct bbf_fields *fields, JNIEnv *env);
void bbf_fields_free(struct bbf_fields *fields);

/* The field of an object's class; id NULL: it has no such field. `class` is a reference of
 * `fields`, NULL if there was no room for it. `name` is constant text. */
struct bbf_field bbf_fields_find(struct bbf_fields *fields, jobject o, const char *name);
/* NULL: no such field, or no object in it. `name` is constant text. */
jobject bbf_fields_object(struct bbf_fields *fields, jobject o, const char *name);
/* The same where the field is an array of objects. */
jobjectArray bbf_fields_array(struct bbf_fields *fields, jobject o, const char *name);
/* A long or int. false: no such field. */
bool bbf_fields_number(struct bbf_fields *fields, jobject o, const char *name, int64_t *value);
/* A long or int, or the sum in a LongAdder, AtomicLong or AtomicInteger (java.util.concurrent's
 * Striped64: base and cells). false: no such field, or nothing in it. */
bool bbf_fields_counter(struct bbf_fields *fields, jobject o, const char *name, int64_t *value);
/* What a static field of a class refers to; the class is initialised. */
jobject bbf_fields_static(struct bbf_fields *fields, jclass class, const char *name);
/* The same for a long. false: no such field, or the class is not initialised. */
bool bbf_fields_static_number(struct bbf_fields *fields, jclass class, const char *name,
                              int64_t *value);

#endif
