/*
 * tests/unit/classfile_builder.h - tiny class files, a planner that follows orders, and a view of
 * what came out: shared by the test_classfile_*.c programs.
 *
 * The pool is always the same, so tests can write indices into code: see the P_ names. Constants
 * that a rewrite appends begin at out.first_new.
 */
#ifndef BBF_TESTS_UNIT_CLASSFILE_BUILDER_H
#define BBF_TESTS_UNIT_CLASSFILE_BUILDER_H

#include "classfile/bytes.h"
#include "classfile/classfile.h"
#include "classfile/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OBJECT "Ljava/lang/Object;"

/* Constant pool indices of every class made here. */
enum {
    P_THIS = 2,       /* Class test/Made */
    P_CODE = 5,       /* Utf8 Code */
    P_ARRAY = 9,      /* Class [I */
    P_TYPE = 12,      /* NameAndType get()Object */
    P_GET = 13,       /* Methodref a/Owner.get()Object */
    P_VOID = 16,      /* Methodref a/Owner.get()V */
    P_DYNAMIC = 17,   /* InvokeDynamic get()Object */
    P_INTERFACE = 18, /* InterfaceMethodref a/Owner.get()Object */
    P_OWN = 19,       /* Methodref test/Made.get()Object */
    P_TAKES = 22      /* Methodref a/Owner.get(Object)Object */
};

struct made_attribute {
    const char *name;
    const uint8_t *data;
    size_t len;
};

struct made_method {
    uint16_t access;
    const char *name, *descriptor;  /* default: static m(Object)Object */
    uint16_t max_stack, max_locals; /* 0: 4, 1 */
    const uint8_t *code;
    size_t code_len;
    const uint8_t *exceptions; /* entries of 8 bytes */
    unsigned n_exceptions;
    struct made_attribute attributes[4];
};

struct made_class {
    uint16_t major, minor;  /* 0: 52 */
    uint16_t class_access;  /* 0: public super */
    const char *super_name; /* NULL: java/lang/Object */
    unsigned pool_count;    /* filled with Integers up to this constant_pool_count */
    const char *fields[4];  /* private int NAME */
    struct made_method methods[3];
    struct made_attribute attributes[2];
};

static inline uint16_t made_utf8(struct cf__out *pool, uint16_t *count, const char *text)
{
    cf__out_u1(pool, CF__UTF8);
    cf__out_u2(pool, (uint32_t)strlen(text));
    cf__out_put(pool, text, strlen(text));
    return (*count)++;
}

static inline uint16_t made_pair(struct cf__out *pool, uint16_t *count, uint8_t tag, uint32_t a,
                                 uint32_t b)
{
    cf__out_u1(pool, tag);
    cf__out_u2(pool, a);
    if (tag != CF__CLASS)
        cf__out_u2(pool, b);
    return (*count)++;
}

/* The constants with P_ names. */
static inline uint16_t made_pool(struct cf__out *pool, const struct made_class *spec)
{
    uint16_t count = 1;

    made_utf8(pool, &count, "test/Made");                               /* 1 */
    assert_int_equal(made_pair(pool, &count, CF__CLASS, 1, 0), P_THIS); /* 2 */
    made_utf8(pool, &count, spec->super_name != NULL ? spec->super_name : "java/lang/Object");
    made_pair(pool, &count, CF__CLASS, 3, 0);                                        /* 4 */
    assert_int_equal(made_utf8(pool, &count, "Code"), P_CODE);                       /* 5 */
    made_utf8(pool, &count, "a/Owner");                                              /* 6 */
    made_pair(pool, &count, CF__CLASS, 6, 0);                                        /* 7 */
    made_utf8(pool, &count, "[I");                                                   /* 8 */
    assert_int_equal(made_pair(pool, &count, CF__CLASS, 8, 0), P_ARRAY);             /* 9 */
    made_utf8(pool, &count, "get");                                                  /* 10 */
    made_utf8(pool, &count, "()" OBJECT);                                            /* 11 */
    made_pair(pool, &count, CF__NAME_AND_TYPE, 10, 11);                              /* 12 */
    assert_int_equal(made_pair(pool, &count, CF__METHODREF, 7, 12), P_GET);          /* 13 */
    made_utf8(pool, &count, "()V");                                                  /* 14 */
    made_pair(pool, &count, CF__NAME_AND_TYPE, 10, 14);                              /* 15 */
    assert_int_equal(made_pair(pool, &count, CF__METHODREF, 7, 15), P_VOID);         /* 16 */
    assert_int_equal(made_pair(pool, &count, CF__INVOKE_DYNAMIC, 0, 12), P_DYNAMIC); /* 17 */
    assert_int_equal(made_pair(pool, &count, CF__INTERFACE_METHODREF, 7, 12), P_INTERFACE);
    assert_int_equal(made_pair(pool, &count, CF__METHODREF, P_THIS, 12), P_OWN);
    made_utf8(pool, &count, "(" OBJECT ")" OBJECT);                           /* 20 */
    made_pair(pool, &count, CF__NAME_AND_TYPE, 10, 20);                       /* 21 */
    assert_int_equal(made_pair(pool, &count, CF__METHODREF, 7, 21), P_TAKES); /* 22 */
    return count;
}

static inline void made_code(struct cf__out *body, struct cf__out *pool, uint16_t *count,
                             const struct made_method *m)
{
    size_t at = body->len + 2;
    uint32_t n = 0;

    cf__out_u2(body, P_CODE);
    cf__out_u4(body, 0);
    cf__out_u2(body, m->max_stack != 0 ? m->max_stack : 4u);
    cf__out_u2(body, m->max_locals != 0 ? m->max_locals : 1);
    cf__out_u4(body, (uint32_t)m->code_len);
    cf__out_put(body, m->code, m->code_len);
    cf__out_u2(body, m->n_exceptions);
    cf__out_put(body, m->exceptions, 8 * (size_t)m->n_exceptions);
    while (n < 4 && m->attributes[n].name != NULL)
        n++;
    cf__out_u2(body, n);
    for (uint32_t i = 0; i < n; i++) {
        cf__out_u2(body, made_utf8(pool, count, m->attributes[i].name));
        cf__out_u4(body, (uint32_t)m->attributes[i].len);
        cf__out_put(body, m->attributes[i].data, m->attributes[i].len);
    }
    cf__put4(body->data + at, (uint32_t)(body->len - at - 4));
}

static inline void made_body(struct cf__out *body, struct cf__out *pool, uint16_t *count,
                             const struct made_class *spec)
{
    uint32_t fields = 0, methods = 0;

    while (fields < 4 && spec->fields[fields] != NULL)
        fields++;
    while (methods < 3 && spec->methods[methods].code != NULL)
        methods++;
    cf__out_u2(body, spec->class_access != 0 ? spec->class_access : 0x21);
    cf__out_u2(body, P_THIS);
    cf__out_u2(body, 4);
    cf__out_u2(body, 0); /* interfaces */
    cf__out_u2(body, fields);
    for (uint32_t i = 0; i < fields; i++) {
        cf__out_u2(body, 2);
        cf__out_u2(body, made_utf8(pool, count, spec->fields[i]));
        cf__out_u2(body, made_utf8(pool, count, "I"));
        cf__out_u2(body, 0);
    }
    cf__out_u2(body, methods);
    for (uint32_t i = 0; i < methods; i++) {
        const struct made_method *m = &spec->methods[i];

        cf__out_u2(body, m->name == NULL ? 9u : m->access);
        cf__out_u2(body, made_utf8(pool, count, m->name != NULL ? m->name : "m"));
        cf__out_u2(body, made_utf8(pool, count,
                                   m->descriptor != NULL ? m->descriptor : "(" OBJECT ")" OBJECT));
        cf__out_u2(body, 1);
        made_code(body, pool, count, m);
    }
    uint32_t n = 0;
    while (n < 2 && spec->attributes[n].name != NULL)
        n++;
    cf__out_u2(body, n);
    for (uint32_t i = 0; i < n; i++) {
        cf__out_u2(body, made_utf8(pool, count, spec->attributes[i].name));
        cf__out_u4(body, (uint32_t)spec->attributes[i].len);
        cf__out_put(body, spec->attributes[i].data, spec->attributes[i].len);
    }
}

/* The class file of `spec`; free() it. */
static inline uint8_t *make_class(const struct made_class *spec, size_t *len)
{
    struct cf__out pool = {0}, body = {0}, file = {0};
    uint16_t count = made_pool(&pool, spec);

    made_body(&body, &pool, &count, spec);
    while (count < spec->pool_count)
        made_pair(&pool, &count, CF__INTEGER, 0, 7);
    cf__out_u4(&file, 0xCAFEBABE);
    cf__out_u2(&file, spec->minor);
    cf__out_u2(&file, spec->major != 0 ? spec->major : 52u);
    cf__out_u2(&file, count);
    cf__out_put(&file, pool.data, pool.len);
    cf__out_put(&file, body.data, body.len);
    assert_false(file.failed);
    cf__out_free(&pool);
    cf__out_free(&body);
    *len = file.len;
    return file.data;
}

/* ---- the planner ---- */

enum { TARGET_ENTER, TARGET_EXIT, TARGETS };

static const struct bbf_cf_target made_targets[TARGETS] = {
    {"shim/S", "enter", "(" OBJECT "I)V"},
    {"shim/S", "exit", "(" OBJECT "I)V"},
};

/* Orders for every method with that name (NULL: all). */
struct orders {
    const char *only;
    struct bbf_cf_plan plan; /* plan.entry is not used */
    struct bbf_cf_call entry[4];
    struct bbf_cf_call second; /* if n_args > 0: the entry call of methods named n */
    struct bbf_cf_call after;  /* given for each question, if n_args > 0 */
    unsigned questions;        /* asked for invokes and casts */
    unsigned given;            /* of these, casts of what another call is given */
    bool no_interest;
    const char *field;
};

/* aload SLOT; sipush 1000; invokestatic enter: 7 bytes for slots below 4. */
static inline struct bbf_cf_call call_enter(uint32_t slot, uint32_t id)
{
    return (struct bbf_cf_call){
        .target = TARGET_ENTER, .n_args = 2, .args = {{BBF_CF_ALOAD, slot}, {BBF_CF_INT, id}}};
}

/* dup; sipush 1000; invokestatic exit: 7 bytes. */
static inline struct bbf_cf_call call_exit(uint32_t id)
{
    return (struct bbf_cf_call){
        .target = TARGET_EXIT, .n_args = 2, .args = {{BBF_CF_DUP, 0}, {BBF_CF_INT, id}}};
}

static inline void orders_plan(void *ctx, const struct bbf_cf_method *method,
                               struct bbf_cf_plan *plan)
{
    const struct orders *orders = ctx;
    struct bbf_cf_call *entry = plan->entry;

    assert_int_equal(plan->n_entry, 0); /* zeroed before */
    assert_int_equal(entry[0].n_args, 0);
    if (orders->only != NULL && !cf__str_is(method->name, orders->only))
        return;
    *plan = orders->plan;
    plan->entry = entry;
    for (unsigned i = 0; i < plan->n_entry && i < 4; i++)
        entry[i] = orders->entry[i];
    if (orders->second.n_args > 0 && cf__str_is(method->name, "n"))
        entry[0] = orders->second;
}

static inline bool orders_after(void *ctx, const struct bbf_cf_method *method,
                                struct bbf_cf_str owner, struct bbf_cf_str name,
                                struct bbf_cf_str descriptor, uint8_t opcode,
                                struct bbf_cf_call *call)
{
    struct orders *orders = ctx;

    (void)method;
    assert_true(cf__str_is(owner, opcode == 186 ? "" : "a/Owner"));
    assert_true(cf__str_is(name, "get"));
    assert_true(descriptor.len >= 3);
    orders->questions++;
    *call = orders->after;
    return orders->after.n_args > 0;
}

static inline bool orders_interesting(void *ctx, const char *utf8, size_t len)
{
    const struct orders *orders = ctx;

    (void)utf8;
    (void)len;
    return !orders->no_interest;
}

/* ---- the result ---- */

/* Method 0 (or `method`) of a rewritten class, taken apart. */
struct result {
    enum bbf_cf_class_result status;
    struct bbf_cf_stats stats;
    uint8_t *bytes; /* NULL: left alone */
    size_t len;
    uint16_t first_new; /* index of the first appended constant */
    struct cf__class c;
    uint16_t max_stack, max_locals;
    const uint8_t *code;
    uint32_t code_len;
    const uint8_t *exceptions; /* the entries, behind their count */
    uint32_t n_exceptions;
    const uint8_t *attributes;
    uint32_t n_attributes;
};

static inline void result_method(struct result *r, unsigned method)
{
    uint32_t at = r->c.methods_at + 2;
    struct cf__member member;
    const uint8_t *p;

    assert_true(method < r->c.n_methods);
    for (unsigned i = 0; i <= method; i++, at = member.end)
        assert_int_equal(cf__member_read(&r->c, at, true, &member), BBF_CF_CHANGED);
    p = r->bytes + member.code + 6;
    r->max_stack = cf__u2(p);
    r->max_locals = cf__u2(p + 2);
    r->code_len = cf__u4(p + 4);
    r->code = p + 8;
    p += 8 + r->code_len;
    r->n_exceptions = cf__u2(p);
    r->exceptions = p + 2;
    p += 2 + 8 * r->n_exceptions;
    r->n_attributes = cf__u2(p);
    r->attributes = p + 2;
}

static inline void result_free(struct result *r)
{
    if (r->bytes != NULL)
        cf__class_close(&r->c);
    free(r->bytes);
    r->bytes = NULL;
}

static inline bool orders_after_cast(void *ctx, const struct bbf_cf_method *method,
                                     struct bbf_cf_str type, bool given, struct bbf_cf_call *call)
{
    struct orders *orders = ctx;

    (void)method;
    assert_true(cf__str_is(type, "test/Made"));
    orders->questions++;
    orders->given += given;
    *call = orders->after;
    return orders->after.n_args > 0;
}

/* Rewrite bytes; method 0 is taken apart if there is an output. The input must stay as it is. */
static inline struct result rewrite_bytes(const uint8_t *in, size_t len, struct orders *orders)
{
    struct bbf_cf_config config = {.targets = made_targets,
                                   .n_targets = TARGETS,
                                   .field_name = orders->field,
                                   .field_descriptor = "J",
                                   .field_access = 0x1082,
                                   .ctx = orders,
                                   .interesting = orders_interesting,
                                   .plan = orders_plan,
                                   .after_call = orders_after,
                                   .after_cast = orders_after_cast};
    struct result r = {.first_new = len >= 10 ? cf__u2(in + 8) : 0};
    uint8_t *before = malloc(len + 1);

    assert_non_null(before);
    memcpy(before, in, len);
    r.status = bbf_cf_rewrite(in, len, &config, &r.bytes, &r.len, &r.stats);
    assert_memory_equal(in, before, len);
    free(before);
    assert_int_equal(r.status == BBF_CF_CHANGED, r.bytes != NULL);
    if (r.bytes != NULL) {
        assert_int_equal(cf__class_open(&r.c, r.bytes, r.len, NULL, NULL), BBF_CF_CHANGED);
        if (r.c.n_methods > 0)
            result_method(&r, 0);
    }
    return r;
}

static inline struct result rewrite_class(const struct made_class *spec, struct orders *orders)
{
    size_t len;
    uint8_t *in = make_class(spec, &len);
    struct result r = rewrite_bytes(in, len, orders);

    free(in);
    return r;
}

/* The contents of attribute `name` of the method; fails if it is not there. */
static inline const uint8_t *result_attribute(const struct result *r, const char *name,
                                              uint32_t *len)
{
    const uint8_t *p = r->attributes;
    struct bbf_cf_str text = {"", 0}; /* gcc does not know that assert_true() ends the test */

    *len = 0;
    for (uint32_t i = 0; i < r->n_attributes; i++, p += 6 + cf__u4(p + 2)) {
        assert_true(cf__pool_utf8(&r->c, cf__u2(p), &text));
        if (cf__str_is(text, name)) {
            *len = cf__u4(p + 2);
            return p + 6;
        }
    }
    fail_msg("no attribute %s", name);
    return NULL;
}

/* The appended constants of the first target used: owner +0 +1, descriptor +2, name, type, +5. */
static inline uint16_t first_method(const struct result *r)
{
    return (uint16_t)(r->first_new + 5);
}

/* The second target shares owner and descriptor: name +6, type +7, method +8. */
static inline uint16_t second_method(const struct result *r)
{
    return (uint16_t)(r->first_new + 8);
}

static inline void assert_bytes(const uint8_t *got, size_t got_len, const uint8_t *want,
                                size_t want_len)
{
    if (got_len == want_len && memcmp(got, want, want_len) == 0)
        return;
    for (size_t i = 0; i < got_len && i < 64; i++)
        fprintf(stderr, "%02x%s", got[i], i % 16 == 15 ? "\n" : " ");
    fprintf(stderr, "(got %zu, want %zu bytes)\n", got_len, want_len);
    assert_int_equal(got_len, want_len);
    assert_memory_equal(got, want, want_len);
}

/* The 7 bytes of call_enter(0..3, 1000) and call_exit(1000), calling `method`. */
#define ENTER_BYTES(slot, method)                                                                  \
    (uint8_t)(42 + (slot)), 17, 0x03, 0xE8, 184, (uint8_t)((method) >> 8), (uint8_t)(method)
#define EXIT_BYTES(method) 89, 17, 0x03, 0xE8, 184, (uint8_t)((method) >> 8), (uint8_t)(method)

#endif
