/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/boot/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/boot/pool.h"

/* JVMS 4.4: tags of the constant pool. */
enum { T_FIELD = 9, T_METHOD = 10, T_INTERFACE_METHOD = 11 };

static unsigned u2(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* Where each entry of the pool begins; malloc'd. NULL: no memory. */
static const uint8_t **index_pool(const uint8_t *bytes, unsigned *count)
{
    *count = u2(bytes + 8);
    const uint8_t **pool = calloc(*count, sizeof *pool), *p = bytes + 10;
    for (unsigned i = 1; pool != NULL && i < *count; i++) {
        pool[i] = p;
        i += p[0] == BBF_POOL_LONG || p[0] == BBF_POOL_DOUBLE;
        p += bbf_pool_size(p);
    }
    return pool;
}

/* A Utf8 as a string; names and descriptors of the JDK's are far shorter. */
static void utf8(const uint8_t *entry, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)u2(entry + 1), (const char *)entry + 3);
}

static bool got(JNIEnv *env, const void *id)
{
    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    return id != NULL;
}

struct reference {
    char owner[256], name[128], descriptor[512];
};

/* FNV-1a, each text with its end. */
static uint64_t hash_of(const struct reference *r)
{
    const char *const texts[] = {r->owner, r->name, r->descriptor};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *c = texts[i];
        do
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        while (*c++ != '\0');
    }
    return hash;
}

static bool is_known(const struct bbf_link_found *found, uint64_t hash)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->hashes[i] == hash)
            return true;
    return false;
}

static bool exists(JNIEnv *env, bool field, const struct reference *r)
{
    jclass owner = (*env)->FindClass(env, r->owner);
    if (!got(env, owner))
        return false;
    bool is = field ? got(env, (*env)->GetFieldID(env, owner, r->name, r->descriptor)) ||
                          got(env, (*env)->GetStaticFieldID(env, owner, r->name, r->descriptor))
                    : got(env, (*env)->GetMethodID(env, owner, r->name, r->descriptor)) ||
                          got(env, (*env)->GetStaticMethodID(env, owner, r->name, r->descriptor));
    (*env)->DeleteLocalRef(env, owner);
    return is;
}

static bool check(JNIEnv *env, bool field, const struct reference *r, struct bbf_link_found *found)
{
    uint64_t hash = hash_of(r);
    if (is_known(found, hash))
        return true;
    if (!exists(env, field, r))
        return false;
    if (found->n < sizeof found->hashes / sizeof *found->hashes)
        found->hashes[found->n++] = hash;
    return true;
}

bool bbf_link_check(JNIEnv *env, const uint8_t *bytes, struct bbf_link_found *found, char *missing,
                    size_t size)
{
    unsigned count;
    const uint8_t **pool = index_pool(bytes, &count);
    bool all = pool != NULL;
    if (!all)
        snprintf(missing, size, "memory for the check");
    for (unsigned i = 1; all && i < count; i++) {
        const uint8_t *entry = pool[i];
        struct reference r;
        if (entry == NULL || entry[0] < T_FIELD || entry[0] > T_INTERFACE_METHOD)
            continue;
        const uint8_t *name_and_type = pool[u2(entry + 3)];
        utf8(pool[u2(pool[u2(entry + 1)] + 1)], r.owner, sizeof r.owner);
        utf8(pool[u2(name_and_type + 1)], r.name, sizeof r.name);
        utf8(pool[u2(name_and_type + 3)], r.descriptor, sizeof r.descriptor);
        if (strncmp(r.owner, "java/lang/BBFlow", 16) == 0 ||
            check(env, entry[0] == T_FIELD, &r, found))
            continue;
        all = false;
        for (char *c = r.owner; *c != '\0'; c++)
            *c = *c == '/' ? '.' : *c;
        snprintf(missing, size, "%s.%s%s%s", r.owner, r.name, entry[0] == T_FIELD ? " " : "",
                 r.descriptor);
    }
    free(pool);
    return all;
}
