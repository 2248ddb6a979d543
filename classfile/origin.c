/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/origin.c - where a person finds the code of a method: the line of its first
 * instruction (JVMS 4.7.12) and the method around its class (JVMS 4.7.7). Debug data: malformed
 * ones mean "not known", because rewriting decides about them elsewhere.
 *
 * Threads: no shared state.
 */
#include "classfile/origin.h"

#include "classfile/classfile.h"
#include "classfile/code.h"
#include "classfile/reader.h"

enum { HEAD = 6, LINE = 4 }; /* bytes of an attribute's head, of a line's entry */

/* The line of the lowest offset in one table, if it is lower than *pc. */
static void lowest(const uint8_t *p, uint32_t len, uint32_t *pc, uint32_t *line)
{
    uint32_t n = len >= 2 ? cf__u2(p) : 0;

    if (len < 2 || (size_t)n * LINE != len - 2)
        return;
    for (p += 2; n > 0 && *pc > 0; n--, p += LINE)
        if (cf__u2(p) < *pc) {
            *pc = cf__u2(p);
            *line = cf__u2(p + 2);
        }
}

uint32_t bbf_cf_line(const struct bbf_cf_method *method)
{
    const struct bbf_cf_code *code = method->code;
    uint32_t pc = CF__CODE_MAX + 1, line = 0;
    struct bbf_cf_str name;

    if (code == NULL || !code->ok)
        return 0;
    const uint8_t *p = code->attributes;
    for (uint32_t i = 0; i < code->n_attributes; i++, p += HEAD + cf__u4(p + 2))
        if (cf__pool_utf8(code->owner, cf__u2(p), &name) && cf__str_is(name, "LineNumberTable"))
            lowest(p + HEAD, cf__u4(p + 2), &pc, &line);
    return line;
}

/* The line of the highest offset up to `pc` in one table, if it is not lower than *best. */
static void nearest(const uint8_t *p, uint32_t len, uint32_t pc, uint32_t *best, uint32_t *line)
{
    uint32_t n = len >= 2 ? cf__u2(p) : 0;

    if (len < 2 || (size_t)n * LINE != len - 2)
        return;
    for (p += 2; n > 0; n--, p += LINE)
        if (cf__u2(p) <= pc && (*line == 0 || cf__u2(p) >= *best)) {
            *best = cf__u2(p);
            *line = cf__u2(p + 2);
        }
}

uint32_t cf__line_at(const struct bbf_cf_code *code, uint32_t pc)
{
    uint32_t best = 0, line = 0;
    struct bbf_cf_str name;
    const uint8_t *p = code->attributes;

    for (uint32_t i = 0; i < code->n_attributes; i++, p += HEAD + cf__u4(p + 2))
        if (cf__pool_utf8(code->owner, cf__u2(p), &name) && cf__str_is(name, "LineNumberTable"))
            nearest(p + HEAD, cf__u4(p + 2), pc, &best, &line);
    return line;
}

bool bbf_cf_enclosing(const struct bbf_cf_method *method, struct bbf_cf_str *class_name,
                      struct bbf_cf_str *name)
{
    const struct cf__class *c = method->code != NULL ? method->code->owner : NULL;
    struct bbf_cf_str text;

    if (c == NULL || c->attributes_at == 0)
        return false;
    const uint8_t *p = c->in + c->attributes_at + 2; /* checked when the class was opened */
    for (uint32_t n = cf__u2(p - 2); n > 0; n--, p += HEAD + cf__u4(p + 2)) {
        if (!cf__pool_utf8(c, cf__u2(p), &text) || !cf__str_is(text, "EnclosingMethod"))
            continue;
        if (cf__u4(p + 2) != 4 || !cf__pool_class(c, cf__u2(p + HEAD), class_name))
            return false;
        const uint8_t *type = cf__pool_constant(c, cf__u2(p + HEAD + 2), CF__NAME_AND_TYPE);
        *name = (struct bbf_cf_str){"", 0}; /* the class is in an initialiser */
        if (type != NULL)
            (void)cf__pool_utf8(c, cf__u2(type + 1), name);
        return true;
    }
    return false;
}
