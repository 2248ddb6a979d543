/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/reader.h - the structure of a class file: constant pool, fields, methods, and the
 * places of the Code attributes (JVMS 4.1-4.7). Every read is checked against the length; a class
 * that was opened without an error can be walked again without one.
 *
 * Threads: no shared state. The bytes are borrowed.
 */
#ifndef BBF_CLASSFILE_READER_H
#define BBF_CLASSFILE_READER_H

#include "classfile/bytes.h"
#include "classfile/classfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    CF__ACC_STATIC = 0x0008,
    CF__ACC_IDENTITY = 0x0020, /* ACC_SUPER; every class except value classes has it */
    CF__ACC_NATIVE = 0x0100,
    CF__ACC_INTERFACE = 0x0200,
    CF__ACC_ABSTRACT = 0x0400
};

/* Constant pool tags (JVMS table 4.4-A). */
enum {
    CF__UTF8 = 1,
    CF__INTEGER = 3,
    CF__LONG = 5,
    CF__DOUBLE = 6,
    CF__CLASS = 7,
    CF__FIELDREF = 9,
    CF__METHODREF = 10,
    CF__INTERFACE_METHODREF = 11,
    CF__NAME_AND_TYPE = 12,
    CF__INVOKE_DYNAMIC = 18
};

enum { CF__MAJOR_FIRST = 45, CF__MAJOR_LAST = 80, CF__MAJOR_FRAMES = 50 };
enum { CF__MINOR_PREVIEW = 65535 };

/* Offsets are from the first byte of the file. */
struct cf__class {
    const uint8_t *in;
    uint32_t len;
    uint16_t major;
    uint16_t pool_count;
    uint32_t *pool_at; /* index -> offset of its tag; 0 for index 0 and second halves */
    uint32_t pool_end;
    uint16_t access;
    struct bbf_cf_str name, super_name;
    uint32_t fields_at;     /* of fields_count */
    uint32_t methods_at;    /* of methods_count */
    uint32_t attributes_at; /* of attributes_count, the class's */
    uint16_t n_fields, n_methods;
};

/* One field or method. `code` is the offset of its Code attribute (of the name index) or 0. */
struct cf__member {
    uint32_t at, end, code;
    uint16_t access, name, descriptor;
    uint16_t signature; /* index of a method's generic signature (JVMS 4.7.9), 0: none */
};

/*
 * One step in a constant pool: the size of the constant at `at` and how many indices it takes.
 * 0: malformed, or a tag that is not known.
 */
uint32_t cf__constant_size(const uint8_t *in, uint32_t len, uint32_t at, unsigned *indices);

/* Magic, version and pool count. */
enum bbf_cf_class_result cf__header_check(const uint8_t *in, size_t len);

/*
 * Open the class and check its whole structure. `interesting` (may be NULL) is called first, before
 * anything is allocated; BBF_CF_NOTHING if it never returned true. BBF_CF_CHANGED means opened:
 * then, and only then, the caller must call cf__class_close().
 */
enum bbf_cf_class_result cf__class_open(struct cf__class *c, const uint8_t *in, size_t len,
                                        bool (*interesting)(void *, const char *, size_t),
                                        void *ctx);
void cf__class_close(struct cf__class *c);

/* Read the member at `at`; `with_code` looks for its Code attribute. */
enum bbf_cf_class_result cf__member_read(const struct cf__class *c, uint32_t at, bool with_code,
                                         struct cf__member *member);

/* The constant at `index` if it has `tag`, else NULL. */
static inline const uint8_t *cf__pool_constant(const struct cf__class *c, uint32_t index,
                                               uint8_t tag)
{
    if (index >= c->pool_count || c->pool_at[index] == 0 || c->in[c->pool_at[index]] != tag)
        return NULL;
    return c->in + c->pool_at[index];
}

/* Constants by index; false (nothing written) if the index or its tag is wrong. */
static inline bool cf__pool_utf8(const struct cf__class *c, uint32_t index, struct bbf_cf_str *str)
{
    const uint8_t *p = cf__pool_constant(c, index, CF__UTF8);

    if (p == NULL)
        return false;
    *str = (struct bbf_cf_str){(const char *)p + 3, cf__u2(p + 1)};
    return true;
}
bool cf__pool_class(const struct cf__class *c, uint32_t index, struct bbf_cf_str *name);
/* The method that an invoke instruction names; *owner is "" for invokedynamic. */
bool cf__pool_invoke(const struct cf__class *c, uint32_t index, struct bbf_cf_str *owner,
                     struct bbf_cf_str *name, struct bbf_cf_str *descriptor);

/* Inline, so that the length of a literal is a constant: it is called several times per
 * attribute. */
static inline bool cf__str_is(struct bbf_cf_str str, const char *text)
{
    size_t len = strlen(text);

    return str.len == len && memcmp(str.s, text, len) == 0;
}

static inline bool cf__str_ends(struct bbf_cf_str str, const char *text)
{
    size_t len = strlen(text);

    return str.len >= len && memcmp(str.s + str.len - len, text, len) == 0;
}

/* The position of a parameter. */
struct cf__param {
    char kind;               /* 'A' reference, '[' array, 'I' int and narrower, 0 any other */
    uint16_t entry;          /* index among `this` and the parameters */
    uint16_t entries, slots; /* of all of them, `this` included */
};
/*
 * Find local `slot` at method entry; param->kind is 0 if no parameter starts there. False: the
 * descriptor is malformed.
 */
bool cf__param_find(struct bbf_cf_str descriptor, bool is_static, uint32_t slot,
                    struct cf__param *param);

/* Does the method return a reference? */
bool cf__returns_reference(struct bbf_cf_str descriptor);

#endif
