/* SPDX-License-Identifier: Apache-2.0 */
#include "render/step_words.h"

#include <inttypes.h>
#include <string.h>

static struct bbf_slice slice(const char *s, size_t len)
{
    return (struct bbf_slice){s, len};
}

static bool is(struct bbf_slice s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.s, text, s.len) == 0;
}

static bool begins(struct bbf_slice s, const char *text)
{
    size_t len = strlen(text);
    return s.len >= len && memcmp(s.s, text, len) == 0;
}

/* Where `text` first is in `s`; s.len: nowhere. */
static size_t find(struct bbf_slice s, const char *text)
{
    const char *at = s.len > 0 ? memmem(s.s, s.len, text, strlen(text)) : NULL;
    return at != NULL ? (size_t)(at - s.s) : s.len;
}

/* Where the last `c` is in `s`; s.len: nowhere. */
static size_t find_last(struct bbf_slice s, char c)
{
    const char *at = s.len > 0 ? memrchr(s.s, c, s.len) : NULL;
    return at != NULL ? (size_t)(at - s.s) : s.len;
}

static bool is_number(struct bbf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.s[i] < '0' || s.s[i] > '9')
            return false;
    return s.len > 0;
}

/* javac's number of a lambda that can be serialized has a hash before it. */
static bool is_hash(struct bbf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr("0123456789abcdef", s.s[i]) == NULL)
            return false;
    return s.len >= 6;
}

/* Take "$12" from the end. False: it has none. */
static bool drop_number(struct bbf_slice *s)
{
    size_t at = find_last(*s, '$');
    if (at == s->len || !is_number(slice(s->s + at + 1, s->len - at - 1)))
        return false;
    s->len = at;
    return true;
}

/* What bbflow has added to the method's name. */
static struct bbf_slice take_suffix(struct bbf_slice *method)
{
    static const char *const suffixes[] = {"_return", "_retain", "_release"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t len = strlen(suffixes[i]);
        if (method->len > len && memcmp(method->s + method->len - len, suffixes[i], len) == 0) {
            method->len -= len;
            return slice(method->s + method->len, len);
        }
    }
    return slice("", 0);
}

/* lambda$record$0, lambda$record$7f6d5f65$1, lambda$static$0, lambda$null$1 (JDK 8), lambda$0
 * (ecj) */
static bool java_lambda(struct bbf_slice *m)
{
    struct bbf_slice s = *m;
    if (!begins(s, "lambda$") || !drop_number(&s))
        return false;
    s = s.len > 7 ? slice(s.s + 7, s.len - 7) : slice("", 0);
    size_t at = find_last(s, '$');
    if (at < s.len && is_hash(slice(s.s + at + 1, s.len - at - 1)))
        s.len = at;
    if (is(s, "static"))
        s = slice("<clinit>", 8);
    else if (is(s, "new"))
        s = slice("<init>", 6);
    else if (is(s, "null"))
        s.len = 0;
    *m = s;
    return true;
}

/* record$lambda$0, record$lambda-0, record$lambda$1$lambda$0 */
static bool kotlin_lambda(struct bbf_slice *m)
{
    size_t at = find(*m, "$lambda$");
    if (at == m->len)
        at = find(*m, "$lambda-");
    if (at == m->len || at == 0)
        return false;
    m->len = at;
    return true;
}

/* Scala 3: record$$anonfun$1, of a method that another class calls
 * com$app$Audit$$_$record$$anonfun$1 */
static bool scala3_lambda(struct bbf_slice *m)
{
    static const char made[] = "$$anonfun$", expanded[] = "$$_$";
    struct bbf_slice s = *m, number = s;
    size_t at = find(s, made), owner = find(s, expanded);
    if (at == 0 || at == s.len || !drop_number(&number))
        return false;
    s.len = at;
    if (owner < s.len && s.len > owner + 4)
        s = slice(s.s + owner + 4, s.len - owner - 4);
    *m = s;
    return true;
}

/* $anonfun$record$1, $anonfun$record$1$adapted */
static bool scala_lambda(struct bbf_slice *m)
{
    struct bbf_slice s = *m;
    size_t adapted = find(s, "$adapted");
    if (!begins(s, "$anonfun$"))
        return false;
    if (adapted + 8 == s.len)
        s.len = adapted;
    if (!drop_number(&s))
        return false;
    *m = s.len > 9 ? slice(s.s + 9, s.len - 9) : slice("", 0);
    return true;
}

static bool lambda(struct bbf_slice *m)
{
    return java_lambda(m) || scala_lambda(m) || scala3_lambda(m) || kotlin_lambda(m);
}

/* Audit$record$1 and, of Scala, Audit$$anonfun$record$1: a class that a compiler named after a
 * method, whose names begin with a small letter. */
static bool by_name(struct bbf_step_words *w)
{
    struct bbf_slice c = w->class_name;
    size_t inlined = find(c, "$$inlined$"), scala = find(c, "$$anonfun$");
    if (!drop_number(&c))
        return false;
    c.len = inlined < c.len ? inlined : c.len; /* Audit$record$$inlined$map$1 */
    while (drop_number(&c)) {
    }
    size_t at = scala < c.len ? scala + 9 : find_last(c, '$');
    if (at + 1 >= c.len || at == 0 || c.s[at + 1] < 'a' || c.s[at + 1] > 'z')
        return false;
    w->method = slice(c.s + at + 1, c.len - at - 1);
    w->class_name = slice(c.s, scala < c.len ? scala : at);
    return true;
}

/* "com.app.Owner.method", where the class file says it. If a compiler made that class as well, a
 * coroutine in a coroutine, then what that was written in. */
static bool by_attribute(struct bbf_step_words *w, const char *enclosing)
{
    struct bbf_slice all = slice(enclosing, enclosing != NULL ? strlen(enclosing) : 0);
    size_t dot = find_last(all, '.');
    if (dot == all.len || dot == 0)
        return false;
    w->class_name = slice(all.s, dot);
    w->method = slice(all.s + dot + 1, all.len - dot - 1);
    (void)by_name(w);
    return true;
}

/* Audit$_record_closure1, of Groovy. */
static bool groovy_closure(struct bbf_step_words *w)
{
    struct bbf_slice c = w->class_name;
    size_t begin = find(c, "$_"), end = find(c, "_closure");
    if (begin == c.len || end == c.len || end <= begin + 2)
        return false;
    w->method = slice(c.s + begin + 2, end - begin - 2);
    w->class_name = slice(c.s, begin);
    return true;
}

/* Audit$$Lambda of a method reference, with the method that made it where that was on the stack:
 * close$accept (agent/classes/callers.c). */
static bool reference(struct bbf_step_words *w)
{
    const size_t len = sizeof "$$Lambda" - 1;
    struct bbf_slice c = w->class_name;
    if (c.len <= len || memcmp(c.s + c.len - len, "$$Lambda", len) != 0)
        return false;
    size_t at = find_last(w->method, '$');
    w->class_name.len -= len;
    w->method.len = at < w->method.len ? at : 0;
    (void)lambda(&w->method);
    return true;
}

/* What it is called in, where that is no method that a person named. */
static void enclosing_lambda(struct bbf_step_words *w)
{
    (void)lambda(&w->method);
}

void bbf_step_words(struct bbf_step_words *w, const char *class_name, const char *method,
                    const char *enclosing)
{
    *w = (struct bbf_step_words){.class_name = slice(class_name, strlen(class_name)),
                                 .method = slice(method, strlen(method)),
                                 .suffix = slice("", 0),
                                 .inner = slice("", 0)};
    if (method[0] == '?' || class_name[0] == '\0')
        return;
    struct bbf_slice own = w->method;
    w->suffix = take_suffix(&own);
    w->method = own;
    bool is_lambda = lambda(&own), scala = find(w->class_name, "$anonfun$") < w->class_name.len;
    if (is_lambda)
        w->what = "lambda";
    if (reference(w)) {
        w->what = "method reference";
    } else if (groovy_closure(w)) {
        w->what = "closure";
    } else if (by_attribute(w, enclosing) || by_name(w)) {
        enclosing_lambda(w);
        if (is(own, "invokeSuspend"))
            w->what = "coroutine";
        else if (scala)
            w->what = "lambda";
        else
            w->inner = own;
    } else {
        w->method = own;
    }
}

void bbf_step_remark(struct bbf_buf *out, const struct bbf_step_words *w, uint32_t line,
                     const char *raw)
{
    if (!bbf_step_is_made(w))
        return;
    bbf_buf_printf(out, " (%s", w->what != NULL ? w->what : "");
    if (w->what != NULL && w->inner.len > 0)
        bbf_buf_str(out, " in ");
    bbf_buf_add(out, w->inner.s, w->inner.len);
    if (line != 0)
        bbf_buf_printf(out, ", line %" PRIu32, line);
    if (raw != NULL)
        bbf_buf_printf(out, ": %s", raw);
    bbf_buf_char(out, ')');
}
