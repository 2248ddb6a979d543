/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/uses.h"

#include <string.h>

#include "core/facts.h"
#include "instrument/insert.h"
#include "instrument/netty.h"
#include "instrument/throws.h"

enum { INVOKESPECIAL = 183, INVOKESTATIC = 184, BORROWS = 0 };

struct name_use {
    const char *head; /* of the name; a '.' after it: the whole name */
    size_t len;       /* with the '.' */
    unsigned use;
};
#define NAME(text) (text), sizeof(text) - 1 /* these tables are searched for each call */

/* The first row that fits; its use or `otherwise`. */
static unsigned by_name(const struct name_use *rows, size_t n, struct bbf_cf_str name,
                        unsigned otherwise)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = rows[i].len;
        bool whole = rows[i].head[len - 1] == '.';

        len -= whole;
        if (name.len >= len && (!whole || name.len == len) &&
            memcmp(name.s, rows[i].head, len) == 0)
            return rows[i].use;
    }
    return otherwise;
}
#define BY_NAME(rows, name, otherwise) by_name(rows, sizeof(rows) / sizeof *(rows), name, otherwise)

/* Names that take what they are given, whatever their class is. */
static unsigned by_custom(struct bbf_cf_str name)
{
    static const struct name_use rows[] = {
        {NAME("setBytes."), BORROWS},
        {NAME("<init>."), BBF_FACT_KEEPS},
        {NAME("fire"), BBF_FACT_GIVES},
        {NAME("write"), BBF_FACT_GIVES},
        {NAME("channelRead."), BBF_FACT_GIVES}, /* of a superclass: it forwards */
        {NAME("userEventTriggered."), BBF_FACT_GIVES},
        {NAME("release"), BBF_FACT_RELEASES},
        {NAME("safeRelease"), BBF_FACT_RELEASES},
        {NAME("close"), BBF_FACT_RELEASES},
        {NAME("send"), BBF_FACT_KEEPS},
        {NAME("add"), BBF_FACT_KEEPS},
        {NAME("put"), BBF_FACT_KEEPS},
        {NAME("offer"), BBF_FACT_KEEPS},
        {NAME("push"), BBF_FACT_KEEPS},
        {NAME("enqueue"), BBF_FACT_KEEPS},
        {NAME("queue"), BBF_FACT_KEEPS},
        {NAME("submit"), BBF_FACT_KEEPS},
        {NAME("execute"), BBF_FACT_KEEPS},
        {NAME("set"), BBF_FACT_KEEPS},
        {NAME("try"), BBF_FACT_KEEPS}, /* trySuccess, tryEmitNext */
        {NAME("complete"), BBF_FACT_KEEPS},
        {NAME("onNext"), BBF_FACT_KEEPS},
        {NAME("emit"), BBF_FACT_KEEPS},
        {NAME("next."), BBF_FACT_KEEPS},
        {NAME("compareAndSet"), BBF_FACT_KEEPS},
        {NAME("getAndSet"), BBF_FACT_KEEPS},
    };
    return BY_NAME(rows, name, BORROWS);
}

/* ---- the buffer's own methods ---- */

/* ByteBuf and its subclasses in Netty's buffer package, as bbf_netty_type() has them. */
static bool is_buffer(const char *name, size_t len)
{
    return len > 7 && memcmp(name + len - 7, "ByteBuf", 7) == 0 &&
           bbf_netty_buffer_prefix(name, len) > 0;
}

/* Does the method return a buffer? */
static bool returns_buffer(struct bbf_cf_str d)
{
    const char *close = memchr(d.s, ')', d.len);
    size_t at = close != NULL ? (size_t)(close - d.s) + 1 : d.len;

    if (at + 2 >= d.len || d.s[at] != 'L')
        return false;
    return is_buffer(d.s + at + 1, d.len - at - 2);
}

/* A new reference, or a new buffer. */
static bool is_another(const struct bbf_cf_called *m)
{
    return same(m->name, "copy") || head(m->name, "retained") ||
           same(m->name, "readRetainedSlice") ||
           (same(m->name, "readBytes") && head(m->descriptor, "(I)"));
}

static unsigned of_receiver(const struct bbf_cf_called *m, bool buffer)
{
    static const struct name_use counted[] = {
        {NAME("retain."), BBF_FACT_RETAINS | BBF_CF_USE_SAME},
        {NAME("touch."), BBF_CF_USE_SAME},
        {NAME("content."), BBF_CF_USE_SAME}, /* of a holder */
        {NAME("getClass."), BORROWS},
        {NAME("hashCode."), BORROWS},
        {NAME("equals."), BORROWS},
        {NAME("toString."), BORROWS},
        {NAME("<init>."), BORROWS},
    };
    if (same(m->name, "release") && tail(m->descriptor, ")Z"))
        return BBF_FACT_RELEASES;
    unsigned use = BY_NAME(counted, m->name, BBF_CF_USE_LOOK);
    if (use != BBF_CF_USE_LOOK)
        return use;
    if (!buffer)
        return same(m->name, "copy") || tail(m->name, "uplicate") || same(m->name, "replace")
                   ? BORROWS
                   : BBF_CF_USE_LOOK;
    return returns_buffer(m->descriptor) && !is_another(m) ? BBF_CF_USE_SAME : BORROWS;
}

/* ---- classes that are known ---- */

static bool is_netty_class(struct bbf_cf_str owner, const char *rest)
{
    size_t prefix = bbf_netty_prefix(owner.s, owner.len);
    return prefix > 0 && same((struct bbf_cf_str){owner.s + prefix, owner.len - prefix}, rest);
}

/* Of Netty's helpers, and loggers. False: it is another class. */
static bool of_helpers(const struct bbf_cf_called *m, unsigned *use)
{
    static const struct name_use reference_count_util[] = {
        {NAME("releaseLater."), BBF_FACT_RELEASES | BBF_CF_USE_SAME},
        {NAME("release"), BBF_FACT_RELEASES},
        {NAME("safeRelease"), BBF_FACT_RELEASES},
        {NAME("retain."), BBF_FACT_RETAINS | BBF_CF_USE_SAME},
        {NAME("touch."), BBF_CF_USE_SAME},
    };
    if (is_netty_class(m->owner, "util/ReferenceCountUtil"))
        *use = BY_NAME(reference_count_util, m->name, BORROWS);
    else if (is_netty_class(m->owner, "util/internal/ObjectUtil") ||
             (same(m->owner, "java/util/Objects") && head(m->name, "requireNonNull")))
        *use = BBF_CF_USE_SAME;
    else if (memmem(m->owner.s, m->owner.len, "/logging/", 9) != NULL || tail(m->owner, "Logger"))
        *use = BORROWS;
    else
        return false;
    return true;
}

/* Of the JDK. `argument` 0 of an instance method is no buffer of Netty's but it may be an Object.
 */
static unsigned of_jdk(const struct bbf_cf_called *m, bool receiver)
{
    if (same(m->name, "cast"))
        return receiver ? BORROWS : BBF_CF_USE_SAME;
    return receiver ? BORROWS : by_custom(m->name);
}

static unsigned use_of(void *ctx, const struct bbf_cf_called *m, unsigned argument)
{
    bool buffer = is_buffer(m->owner.s, m->owner.len);
    bool receiver = argument == 0 && m->opcode != INVOKESTATIC;
    unsigned use;

    (void)ctx;
    if (receiver) {
        if (head(m->owner, "java/") && !same(m->owner, "java/lang/Object"))
            return BORROWS;
        use = of_receiver(m, buffer);
        return use == BBF_CF_USE_LOOK ? use | (by_custom(m->name) & BBF_FACT_RELEASES) : use;
    }
    if (buffer && !same(m->name, "<init>"))
        return head(m->name, "addComponent") || head(m->name, "addFlattened") ? BBF_FACT_KEEPS
                                                                              : BORROWS;
    if (of_helpers(m, &use))
        return use;
    if (head(m->owner, "java/") || head(m->owner, "javax/") || head(m->owner, "["))
        return of_jdk(m, receiver);
    size_t netty = bbf_netty_prefix(m->owner.s, m->owner.len);
    if (netty > 0 &&
        head((struct bbf_cf_str){m->owner.s + netty, m->owner.len - netty}, "channel/") &&
        m->opcode != INVOKESPECIAL && (head(m->name, "fire") || head(m->name, "write")))
        return BBF_FACT_GIVES;
    return BBF_CF_USE_LOOK | by_custom(m->name);
}

/* ---- what may be on a path ---- */

static unsigned kind_of(const struct bbf_plan_class *c, struct bbf_cf_str name)
{
    if (c->type_of(c, name.s, name.len) != BBF_TYPE_NONE)
        return BBF_FACT_SEEN;
    return same(name, "java/lang/Object") ? BBF_FACT_WEAK : 0;
}

/* A class names the same few types again and again. */
static unsigned resource(void *ctx, struct bbf_cf_str name)
{
    struct bbf_plan_class *c = ctx;

    if (name.len < 4)
        return 0;
    struct bbf_plan_seen_type *seen = &c->seen_types[(name.len + (uint8_t)name.s[name.len - 1] +
                                                      3u * (uint8_t)name.s[name.len - 4]) %
                                                     BBF_PLAN_SEEN_TYPES];
    if (seen->name.len != name.len || memcmp(seen->name.s, name.s, name.len) != 0)
        *seen = (struct bbf_plan_seen_type){name, kind_of(c, name)};
    return seen->kind;
}

/* A call whose descriptor names a buffer or holder, or of a handler's method; of the buffer's own
 * methods and the JDK's there are no steps. */
static bool is_step(void *ctx, const struct bbf_cf_called *m)
{
    struct bbf_cf_str d = m->descriptor;
    unsigned all = 0;

    if (head(m->owner, "java/"))
        return false;
    for (size_t i = 0, end; i < d.len && !(all & BBF_FACT_SEEN); i = end + 1) {
        const char *semicolon = d.s[i] == 'L' ? memchr(d.s + i, ';', d.len - i) : NULL;

        end = semicolon != NULL ? (size_t)(semicolon - d.s) : i;
        if (end > i)
            all |= resource(ctx, (struct bbf_cf_str){d.s + i + 1, end - i - 1});
    }
    if (all & BBF_FACT_SEEN)
        return !is_buffer(m->owner.s, m->owner.len);
    return all != 0 && bbf_netty_handler_method(m->name);
}

static void keep(void *ctx, struct bbf_cf_str class_name, struct bbf_cf_str super_name,
                 const struct bbf_fact_block *block)
{
    const struct bbf_plan_class *c = ctx;
    const struct bbf_plan_facts facts = {class_name, super_name, block};

    c->sites->keep_facts(c->sites->ctx, &facts);
}

void bbf__plan_facts(struct bbf_cf_config *config, bbf_plan_type_of *classify)
{
    struct bbf_plan_class *c = config->ctx;

    if (!c->steps || c->sites->keep_facts == NULL || c->rules->options.max_facts == 0)
        return;
    c->type_of = classify;
    config->resource = resource;
    config->use_of = use_of;
    config->is_step = is_step;
    config->facts = keep;
    bbf__plan_throws(config);
}
