/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/facts.h - what a method does with the buffers that it gets as parameters, as one linear pass
 * over its code sees it (classfile/params_method.c): flags, and the calls that it hands them to.
 * The tracker keeps these records (trie/facts.h) and closes them over the called methods for a
 * report. Methods are named by hashes, so that a record has a size that one can bound.
 *
 * A class's records are one block: for each method a bbf_fact_method, n_params argument numbers,
 * n_origins flags, padding to a multiple of 8, n_calls calls, n_throws throws.
 *
 * Threads: any; constant.
 */
#ifndef BBF_CORE_FACTS_H
#define BBF_CORE_FACTS_H

#include <stddef.h>
#include <stdint.h>

enum bbf_fact {
    BBF_FACT_KEEPS = 1,    /* in a field, an array, a lambda, an object that it makes */
    BBF_FACT_RETURNS = 2,  /* as its result */
    BBF_FACT_RELEASES = 4, /* a reference */
    BBF_FACT_RETAINS = 8,
    BBF_FACT_GIVES = 16,   /* to the pipeline: fire…, write… */
    BBF_FACT_UNKNOWN = 32, /* the pass could not follow it */
    BBF_FACT_WEAK = 64,    /* a parameter whose type says nothing: Object */
    /* Any of these takes the buffer from the caller; a method without them only borrows it. */
    BBF_FACT_TAKES =
        BBF_FACT_KEEPS | BBF_FACT_RETURNS | BBF_FACT_RELEASES | BBF_FACT_GIVES | BBF_FACT_UNKNOWN,
    BBF_FACT_SEEN = 128 /* the rest is known: the method's code was read */
};

enum {
    BBF_FACT_NO_ORIGIN = 255, /* no parameter: a buffer of the method's own, or the result's */
    BBF_FACT_VIRTUAL = 128    /* with `outside`: the method that runs depends on the object */
};

/*
 * A call that hands on an origin: a parameter, or the result of an earlier call that had one. Where
 * no record of the called method is known, `outside` has its flags by its name.
 */
struct bbf_fact_call {
    uint64_t callee; /* bbf_fact_method_key() */
    uint32_t owner;  /* bbf_fact_class_key() of the class that the call names */
    uint8_t origin;  /* BBF_FACT_NO_ORIGIN: it is called, with no buffer that is followed here */
    uint8_t argument;
    uint8_t result; /* the origin that its result is, if it returns its argument */
    uint8_t outside;
};

/*
 * A call, or a throw, that may leave the method while it holds a buffer. Origins and calls are
 * bits: the first 32 origins, and the first 31 calls with an origin, numbered among themselves.
 * Whether such a call takes the buffer is known when its own facts are.
 */
struct bbf_fact_throw {
    uint32_t held; /* origins that nothing in the method itself, and no handler there, has taken */
    uint32_t passed; /* calls made before on every way, and this one */
    uint32_t caught; /* calls made by the handlers of exceptions there */
    uint16_t line;   /* 0: the class file has none */
    uint16_t name;   /* in the names: the class, then the method */
};

struct bbf_fact_method {
    uint64_t key;
    uint16_t n_calls;
    uint8_t n_throws, more_throws; /* more: left out, 255: or more */
    uint8_t n_params, n_origins;   /* parameters come first among the origins */
    uint16_t bytes_of_flags;       /* n_params + n_origins, padded */
};

/* A class's records, and the names that its throws have: internal, each ends with a 0. Aligned to
 * 8. */
struct bbf_fact_block {
    const void *records;
    size_t len;
    const char *names;
    size_t names_len;
    uint32_t n_facts; /* parameters, calls and throws */
};
/* The method of a throw that no called method makes: `throw`; its class is the exception's. */
#define BBF_FACT_THROW "throw"

static inline const uint8_t *bbf_fact_arguments(const struct bbf_fact_method *m)
{
    return (const uint8_t *)(m + 1);
}
static inline const uint8_t *bbf_fact_flags(const struct bbf_fact_method *m)
{
    return bbf_fact_arguments(m) + m->n_params;
}
static inline const struct bbf_fact_call *bbf_fact_calls(const struct bbf_fact_method *m)
{
    return (const struct bbf_fact_call *)(const void *)(bbf_fact_arguments(m) + m->bytes_of_flags);
}
static inline const struct bbf_fact_throw *bbf_fact_throws(const struct bbf_fact_method *m)
{
    return (const struct bbf_fact_throw *)(const void *)(bbf_fact_calls(m) + m->n_calls);
}
static inline const struct bbf_fact_method *bbf_fact_next(const struct bbf_fact_method *m)
{
    return (const struct bbf_fact_method *)(const void *)(bbf_fact_throws(m) + m->n_throws);
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv, 64 bits. '/' counts as '.'. */
static inline uint64_t bbf_fact_hash(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)(text[i] == '/' ? '.' : text[i])) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}
static inline uint64_t bbf_fact_method_key(const char *name, size_t len, const char *descriptor,
                                           size_t descriptor_len)
{
    uint64_t hash = bbf_fact_hash(UINT64_C(0xcbf29ce484222325), name, len);
    return bbf_fact_hash(hash, descriptor, descriptor_len);
}
static inline uint32_t bbf_fact_class_key(const char *name, size_t len)
{
    uint64_t hash = bbf_fact_hash(UINT64_C(0xcbf29ce484222325), name, len);
    return (uint32_t)(hash ^ hash >> 32);
}

#endif
