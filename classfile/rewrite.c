/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/classfile.h"

#include "classfile/bytes.h"
#include "classfile/call.h"
#include "classfile/code.h"
#include "classfile/debug.h"
#include "classfile/frames.h"
#include "classfile/params.h"
#include "classfile/reader.h"
#include "classfile/stack.h"
#include "core/facts.h"

#include <stdlib.h>
#include <string.h>

/* `old_len` bytes at `at` of the old class become work.out[new_at .. new_at + new_len). */
struct edit {
    uint32_t at, old_len;
    size_t new_at, new_len;
};

/* The work on one class. Edits are in file order, so that the result is one run of copies. */
struct work {
    struct cf__class c;
    const struct bbf_cf_config *config;
    struct bbf_cf_stats *stats;
    struct cf__links links;
    struct cf__out out;          /* the replacements */
    struct cf__out edits;        /* of struct edit */
    struct cf__out entry, after; /* of the current method */
    struct cf__out marks, to;    /* likewise */
    struct bbf_cf_call *entry_calls;
    struct cf__params params;
    bool dangling; /* an index past the constant pool would be valid in a longer pool */
};

/* The work on one method. */
struct method {
    struct cf__member member;
    struct bbf_cf_code code;
    struct bbf_cf_method info;
    struct bbf_cf_plan plan;
    struct cf__inserts inserts;
    uint8_t areturn[BBF_CF_MAX_EXIT * CF__CALL_MAX], vreturn[BBF_CF_MAX_EXIT * CF__CALL_MAX];
    uint8_t athrow[CF__CALL_MAX], call[CF__CALL_MAX], handler[CF__CALL_MAX];
    uint8_t *marks;
    bool scanned;                     /* marks are valid */
    bool has_switch, has_sites;       /* at a site: not at the entry */
    bool left_out;                    /* a call loads a local that may be overwritten by then */
    uint32_t entry_stack, site_stack; /* slots that the calls push, at most */
};

static const char *const class_texts[] = {
#define XX(name, text) text,
    BBF_CF_CLASS_MAP(XX)
#undef XX
};

static const char *const method_texts[] = {
#define XX(name, text) text,
    BBF_CF_METHOD_MAP(XX)
#undef XX
};

const char *bbf_cf_class_text(enum bbf_cf_class_result result)
{
    return (unsigned)result < BBF_CF_CLASS_RESULTS ? class_texts[result] : "unknown result";
}

const char *bbf_cf_method_text(enum bbf_cf_method_result result)
{
    return (unsigned)result < BBF_CF_METHOD_RESULTS ? method_texts[result] : "unknown result";
}

bool bbf_cf_stores_to(const struct bbf_cf_method *method, uint16_t slot)
{
    const struct bbf_cf_code *code = method->code;
    struct cf__param param;

    if (!code->ok || cf__code_stores(code, slot))
        return true;
    if (!cf__param_find(code->descriptor, code->is_static, slot, &param))
        return true;
    return param.kind != 0 && !cf__frames_keep(code, slot, param.kind);
}

/* ---- the plan, checked and encoded ---- */

enum place { AT_ENTRY, AT_ARETURN, AT_RETURN, AT_ATHROW, AT_CALL, AT_HANDLER, AFTER_SITE };

/* Can this call be verified at this place? Does not check that a local still holds its
 * parameter. */
static bool call_fits(const struct work *w, const struct method *m, const struct bbf_cf_call *call,
                      enum place place)
{
    /* Is a reference or an exception on top of the stack? Before a call it may be half of a long.
     */
    bool dup_allowed = place != AT_ENTRY && place != AT_RETURN && place != AT_CALL;

    if (call->target >= w->config->n_targets || call->n_args > BBF_CF_MAX_ARGS)
        return false;
    for (unsigned i = 0; i < call->n_args; i++) {
        uint32_t slot = call->args[i].value;
        uint8_t push = call->args[i].push;
        struct cf__param param;

        if (push == BBF_CF_INT)
            dup_allowed = false;
        if (push == BBF_CF_DUP && !dup_allowed)
            return false;
        if (push == BBF_CF_INT || push == BBF_CF_DUP)
            continue;
        dup_allowed = false; /* the value is no longer on top */
        if (push > BBF_CF_ARRAYLENGTH || slot >= m->code.max_locals ||
            !cf__param_find(m->code.descriptor, m->code.is_static, slot, &param))
            return false;
        if (push == BBF_CF_ILOAD ? param.kind != 'I'
                                 : param.kind != '[' && (push != BBF_CF_ALOAD || param.kind != 'A'))
            return false;
        if (slot == 0 && m->code.is_init && place != AT_RETURN) /* may be uninitializedThis */
            return false;
    }
    return true;
}

/* Do the locals that the call loads hold their parameters everywhere in the method? */
static bool call_keeps(const struct method *m, const struct bbf_cf_call *call)
{
    for (unsigned i = 0; i < call->n_args; i++) {
        uint8_t push = call->args[i].push;
        struct cf__param param;

        if (push == BBF_CF_INT || push == BBF_CF_DUP)
            continue;
        if (cf__code_stores(&m->code, call->args[i].value))
            return false;
        (void)cf__param_find(m->code.descriptor, m->code.is_static, call->args[i].value, &param);
        /* aload of an array needs any reference, arraylength needs the array */
        if (!cf__frames_keep(&m->code, call->args[i].value,
                             push == BBF_CF_ALOAD ? 'A' : param.kind))
            return false;
    }
    return true;
}

/* Encode `n` calls, one after the other, into `bytes`. */
static enum bbf_cf_method_result encode_sites(struct work *w, struct method *m,
                                              const struct bbf_cf_call *calls, unsigned n,
                                              enum place place, uint8_t *bytes,
                                              struct cf__piece *piece)
{
    *piece = (struct cf__piece){bytes, 0};
    for (unsigned i = 0; i < n; i++) {
        uint32_t len;

        if (!call_fits(w, m, &calls[i], place))
            return BBF_CF_METHOD_LEFT_PLAN;
        if (!call_keeps(m, &calls[i])) {
            m->left_out = true;
            continue;
        }
        if (!cf__call_encode(&w->links, &calls[i], bytes + piece->len, &len))
            return BBF_CF_METHOD_LEFT_POOL;
        piece->len += len;
        if (calls[i].n_args > m->site_stack)
            m->site_stack = calls[i].n_args;
    }
    return BBF_CF_METHOD_FULL;
}

static enum bbf_cf_method_result encode_entry(struct work *w, struct method *m)
{
    w->entry.len = 0;
    for (unsigned i = 0; i < m->plan.n_entry; i++) {
        const struct bbf_cf_call *call = &m->plan.entry[i];
        uint8_t *dst = cf__out_reserve(&w->entry, CF__CALL_MAX);
        uint32_t len;

        if (!call_fits(w, m, call, AT_ENTRY))
            return BBF_CF_METHOD_LEFT_PLAN;
        if (dst == NULL)
            return BBF_CF_METHOD_FULL; /* entry.failed tells */
        if (!cf__call_encode(&w->links, call, dst, &len))
            return BBF_CF_METHOD_LEFT_POOL;
        w->entry.len += len;
        if (call->n_args > m->entry_stack)
            m->entry_stack = call->n_args;
    }
    m->inserts.entry = (struct cf__piece){w->entry.data, (uint32_t)w->entry.len};
    return BBF_CF_METHOD_FULL;
}

static enum bbf_cf_method_result encode_plan(struct work *w, struct method *m)
{
    const struct bbf_cf_plan *plan = &m->plan;
    enum bbf_cf_method_result result;

    if (plan->n_entry > BBF_CF_MAX_ENTRY || plan->n_areturn > BBF_CF_MAX_EXIT ||
        plan->n_return > BBF_CF_MAX_EXIT)
        return BBF_CF_METHOD_LEFT_PLAN;
    if ((result = encode_entry(w, m)) == BBF_CF_METHOD_FULL &&
        (result = encode_sites(w, m, plan->areturn, plan->n_areturn, AT_ARETURN, m->areturn,
                               &m->inserts.areturn)) == BBF_CF_METHOD_FULL &&
        (result = encode_sites(w, m, plan->vreturn, plan->n_return, AT_RETURN, m->vreturn,
                               &m->inserts.vreturn)) == BBF_CF_METHOD_FULL)
        result = encode_sites(w, m, &plan->before_athrow, plan->before_athrow_set, AT_ATHROW,
                              m->athrow, &m->inserts.athrow);
    if (result == BBF_CF_METHOD_FULL)
        result = encode_sites(w, m, &plan->before_call, plan->before_name != NULL, AT_CALL, m->call,
                              &m->inserts.call);
    if (result == BBF_CF_METHOD_FULL)
        result = encode_sites(w, m, &plan->at_handler, plan->at_handler_set, AT_HANDLER, m->handler,
                              &m->inserts.handler);
    return result;
}

/* ---- sites ---- */

/* Is the instruction at `p` the aload of a parameter's local? */
static bool loads_parameter(const struct method *m, const uint8_t *p, uint32_t *slot)
{
    struct cf__param param;

    return cf__is_aload(p, slot) &&
           cf__param_find(m->code.descriptor, m->code.is_static, *slot, &param) &&
           (param.kind == 'A' || param.kind == '[');
}

/*
 * Does the areturn at `pc`, with the instruction before it at `prev`, return a parameter or a field
 * as it is? No if a jump also leads to it, or if the parameter's local was stored to: then it may
 * return anything.
 */
static bool is_fluent(const struct method *m, uint32_t pc, uint32_t prev)
{
    const uint8_t *p = m->code.code + prev;
    uint32_t slot;

    if (pc == 0 || (m->marks[pc] & CF__TARGET))
        return false;
    return *p == CF__GETFIELD || (loads_parameter(m, p, &slot) && !cf__code_stores(&m->code, slot));
}

/* Is what the instruction at `prev`, directly before `pc`, leaves on the stack given to a call, the
 * parameter that it loads at the entry, or its result behind it; or is that known? */
static bool was_given(const struct method *m, uint32_t pc, uint32_t prev)
{
    const struct bbf_cf_plan *plan = &m->plan;
    uint32_t slot;

    if (pc == 0 || (m->marks[pc] & CF__TARGET))
        return false;
    if (m->marks[prev] & CF__GIVEN)
        return true;
    if (!loads_parameter(m, m->code.code + prev, &slot))
        return false;
    for (unsigned i = 0; i < plan->n_entry; i++)
        for (unsigned k = 0; k < plan->entry[i].n_args; k++)
            if (plan->entry[i].args[k].push == BBF_CF_ALOAD && plan->entry[i].args[k].value == slot)
                return true;
    return false;
}

/* Does the planner want a call after the invoke or cast at `pc`, which has `prev` before it? */
static bool after_wanted(const struct work *w, const struct method *m, uint32_t pc, uint32_t prev,
                         struct bbf_cf_call *call, bool *reference)
{
    const struct bbf_cf_config *config = w->config;
    const uint8_t *c = m->code.code;
    uint32_t index = cf__u2(c + pc + 1);
    struct bbf_cf_str owner, name, descriptor;

    *reference = true;
    if (c[pc] == CF__CHECKCAST)
        return config->after_cast != NULL && cf__pool_class(&w->c, index, &owner) &&
               config->after_cast(config->ctx, &m->info, owner, was_given(m, pc, prev), call);
    if (config->after_call == NULL || !cf__pool_invoke(&w->c, index, &owner, &name, &descriptor))
        return false;
    *reference = cf__returns_reference(descriptor);
    return config->after_call(config->ctx, &m->info, owner, name, descriptor, c[pc], call);
}

/* Is there no other hook for the result of the invoke or cast at `pc`, or does the planner want a
 * call anyway? */
static bool asked_for(const struct work *w, uint32_t pc, const uint8_t *c, uint8_t next)
{
    struct bbf_cf_str owner, name, descriptor;

    if (next != CF__ARETURN && next != CF__POP)
        return true;
    return w->config->always_after != NULL && c[pc] != CF__CHECKCAST &&
           cf__pool_invoke(&w->c, cf__u2(c + pc + 1), &owner, &name, &descriptor) &&
           w->config->always_after(name, descriptor, c[pc]);
}

/* Have the planner plan the call after the invoke or cast at `pc`, and append it to w->after. */
static enum bbf_cf_method_result ask_after(struct work *w, struct method *m, uint32_t pc,
                                           uint32_t prev, uint32_t next)
{
    const uint8_t *c = m->code.code;
    struct bbf_cf_call call = {0};
    struct cf__piece piece;
    bool reference, given;
    uint8_t bytes[CF__CALL_MAX];
    enum bbf_cf_method_result result;

    if (next >= m->code.len || !asked_for(w, pc, c, c[next]))
        return BBF_CF_METHOD_FULL;
    if (!after_wanted(w, m, pc, prev, &call, &reference)) {
        if (call.known)
            m->marks[pc] |= CF__GIVEN;
        return BBF_CF_METHOD_FULL;
    }
    given = call.n_args > 0 && call.args[0].push == BBF_CF_DUP;
    if (given && !reference)
        return BBF_CF_METHOD_LEFT_PLAN;
    result = encode_sites(w, m, &call, 1, AFTER_SITE, bytes, &piece);
    if (result == BBF_CF_METHOD_FULL && piece.len > 0) {
        cf__out_u1(&w->after, piece.len);
        cf__out_put(&w->after, bytes, piece.len);
        m->marks[pc] |= given ? CF__AFTER | CF__GIVEN : CF__AFTER;
        m->has_sites = true;
    }
    return result;
}

/* Is anything inserted before the areturn, return or athrow at `pc`? */
static bool exit_wanted(const struct method *m, uint32_t pc, uint32_t prev)
{
    uint8_t opcode = m->code.code[pc];

    if (cf__piece_before(&m->inserts, opcode, 0)->len == 0)
        return false;
    return opcode != CF__ARETURN || !m->plan.areturn_unless_fluent || !is_fluent(m, pc, prev);
}

/* Is the instruction at `pc` the call that the plan names? */
static bool is_named_call(const struct work *w, const struct method *m, uint32_t pc)
{
    const uint8_t *c = m->code.code + pc;
    struct bbf_cf_str owner, name, descriptor;

    return m->inserts.call.len > 0 && *c == CF__INVOKEVIRTUAL &&
           cf__pool_invoke(&w->c, cf__u2(c + 1), &owner, &name, &descriptor) &&
           cf__str_is(name, m->plan.before_name) &&
           cf__str_is(descriptor, m->plan.before_descriptor);
}

/*
 * Could an exception of the code that is inserted at `pc` lead back to it? The call may overflow
 * the stack, and a handler that protects itself, as javac makes them for synchronized blocks, would
 * then call it for ever. No cycle of handlers is without one that leads backwards or to itself.
 */
static bool may_return_to(const struct method *m, uint32_t pc)
{
    const uint8_t *p = m->code.exceptions;

    for (uint32_t i = 0; i < m->code.n_exceptions; i++, p += 8)
        if (cf__u2(p) <= pc && pc < cf__u2(p + 2) && cf__u2(p + 4) <= pc)
            return true;
    return false;
}

/* Where a handler of a class of exceptions begins; left out where that instruction has other code
 * before it. One of any exception is a `finally`, or ends a synchronized block: it catches none. */
static void mark_handlers(struct method *m)
{
    const uint8_t *p = m->code.exceptions;

    for (uint32_t i = 0; m->inserts.handler.len > 0 && i < m->code.n_exceptions; i++, p += 8) {
        uint32_t pc = cf__u2(p + 4); /* cf__code_scan() found an instruction there */

        if (cf__u2(p + 6) == 0 || (m->marks[pc] & CF__BEFORE) || may_return_to(m, pc))
            continue;
        m->marks[pc] |= CF__BEFORE | CF__HANDLER;
        m->has_sites = true;
    }
}

/* Mark the instructions that get code before or after them. */
static enum bbf_cf_method_result find_sites(struct work *w, struct method *m)
{
    const struct bbf_cf_code *code = &m->code;
    bool after =
        m->plan.after_call && (w->config->after_call != NULL || w->config->after_cast != NULL);

    w->after.len = 0;
    if (!after && m->inserts.areturn.len + m->inserts.vreturn.len + m->inserts.athrow.len +
                          m->inserts.call.len + m->inserts.handler.len ==
                      0)
        return BBF_CF_METHOD_FULL;
    for (uint32_t pc = 0, prev = 0, len; pc < code->len; prev = pc, pc += len) {
        uint8_t opcode = code->code[pc];

        len = cf__insn_length(code->code, code->len, pc);
        if (((cf__opcodes[opcode] & CF__EXITS) && exit_wanted(m, pc, prev)) ||
            is_named_call(w, m, pc)) {
            m->marks[pc] |= CF__BEFORE;
            m->has_sites = true;
        }
        if (after && ((cf__opcodes[opcode] & CF__INVOKES) || opcode == CF__CHECKCAST)) {
            enum bbf_cf_method_result result = ask_after(w, m, pc, prev, pc + len);

            if (result != BBF_CF_METHOD_FULL)
                return result;
        }
    }
    m->inserts.after = w->after.data;
    mark_handlers(m);
    return BBF_CF_METHOD_FULL;
}

/* ---- one Code attribute ---- */

/* Append one attribute of Code, with new offsets, to w->out. */
static enum bbf_cf_method_result move_attribute(struct work *w, const struct cf__map *map,
                                                const uint8_t *p)
{
    uint32_t len = cf__u4(p + 2);
    size_t at = w->out.len;
    struct bbf_cf_str name = {"", 0};
    uint8_t *copy;
    bool ok = true;

    (void)cf__pool_utf8(&w->c, cf__u2(p), &name);
    if (cf__str_is(name, "StackMapTable")) {
        cf__out_put(&w->out, p, 6);
        if (!cf__frames_move(map, p + 6, len, &w->out))
            return BBF_CF_METHOD_LEFT_FRAMES;
        cf__put4(w->out.data + at + 2, (uint32_t)(w->out.len - at - 6));
        return BBF_CF_METHOD_FULL;
    }
    cf__out_put(&w->out, p, 6 + (size_t)len);
    if (w->out.failed)
        return BBF_CF_METHOD_FULL; /* the caller sees `failed` */
    copy = w->out.data + at + 6;
    /* HotSpot refuses a verified class if one of these is malformed: it must still refuse it. */
    if (cf__str_is(name, "LineNumberTable"))
        ok = cf__lines_move(map, copy, len);
    else if (cf__str_is(name, "LocalVariableTable") || cf__str_is(name, "LocalVariableTypeTable"))
        ok = cf__locals_move(map, copy, len);
    else if (cf__str_is(name, "StackMap") && !cf__cldc_move(map, copy, len))
        memcpy(copy, p + 6, len); /* malformed, but HotSpot never reads it */
    else if (cf__str_is(name, "RuntimeVisibleTypeAnnotations") ||
             cf__str_is(name, "RuntimeInvisibleTypeAnnotations"))
        cf__annotations_move(map, copy, len);
    return ok ? BBF_CF_METHOD_FULL : BBF_CF_METHOD_LEFT_TABLES;
}

/* The exception table and the attributes of Code. */
static enum bbf_cf_method_result move_tables(struct work *w, const struct cf__map *map)
{
    const struct bbf_cf_code *code = map->code;
    const uint8_t *p = code->exceptions;

    cf__out_u2(&w->out, code->n_exceptions);
    for (uint32_t i = 0; i < code->n_exceptions; i++, p += 8) {
        uint32_t start = cf__u2(p), end = cf__u2(p + 2), handler = cf__u2(p + 4);
        uint32_t new_start = cf__map_target(map, start), new_end = cf__map_target(map, end);

        if (start >= end || handler >= code->len || new_start == CF__NOWHERE ||
            new_end == CF__NOWHERE || cf__map_target(map, handler) == CF__NOWHERE ||
            (handler == 0 && w->c.major <= CF__MAJOR_FRAMES)) /* the old verifier refuses it */
            return BBF_CF_METHOD_LEFT_TABLES;
        cf__out_u2(&w->out, new_start);
        cf__out_u2(&w->out, new_end);
        cf__out_u2(&w->out, cf__map_target(map, handler));
        cf__out_put(&w->out, p + 6, 2);
    }
    cf__out_u2(&w->out, code->n_attributes);
    p = code->attributes;
    for (uint32_t i = 0; i < code->n_attributes && !w->out.failed; i++, p += 6 + cf__u4(p + 2)) {
        enum bbf_cf_method_result result = move_attribute(w, map, p);

        if (result != BBF_CF_METHOD_FULL)
            return result;
    }
    return BBF_CF_METHOD_FULL;
}

/* The whole attribute by `map`, appended to w->out. */
static enum bbf_cf_method_result build(struct work *w, const struct method *m,
                                       const struct cf__map *map)
{
    const struct bbf_cf_code *code = &m->code;
    uint32_t stack = code->max_stack;
    size_t at = w->out.len;
    enum bbf_cf_method_result result;
    uint8_t *p;

    if (map->to != NULL)
        stack +=
            m->site_stack; /* the depth at the site is unknown; it is at most the old maximum */
    if (stack < m->entry_stack)
        stack = m->entry_stack; /* the stack is empty at entry */
    if (stack > UINT16_MAX)
        return BBF_CF_METHOD_ENTRY_SIZE;
    p = cf__out_reserve(&w->out, 14 + (size_t)map->new_len);
    if (p == NULL)
        return BBF_CF_METHOD_FULL; /* the caller sees `failed` */
    memcpy(p, w->c.in + m->member.code, 2);
    cf__put2(p + 6, stack);
    cf__put2(p + 8, code->max_locals);
    cf__put4(p + 10, map->new_len);
    if (!cf__code_emit(map, p + 14))
        return BBF_CF_METHOD_ENTRY_JUMP;
    w->out.len += 14 + (size_t)map->new_len;
    if ((result = move_tables(w, map)) != BBF_CF_METHOD_FULL || w->out.failed)
        return result;
    cf__put4(w->out.data + at + 2, (uint32_t)(w->out.len - at - 6));
    return BBF_CF_METHOD_FULL;
}

/* The ladder: full, entry only, untouched. */
static enum bbf_cf_method_result build_ladder(struct work *w, struct method *m)
{
    enum bbf_cf_method_result full = BBF_CF_METHOD_FULL, result;
    struct cf__map map = {.code = &m->code, .marks = m->marks, .inserts = &m->inserts};
    size_t at = w->out.len;

    if (m->has_sites) {
        map.to = (uint16_t *)(void *)w->to.data;
        full = cf__map_full(&map) ? build(w, m, &map) : BBF_CF_METHOD_ENTRY_SIZE;
        if (full != BBF_CF_METHOD_ENTRY_SIZE && full != BBF_CF_METHOD_ENTRY_JUMP)
            return full;
        w->out.len = at;
    }
    if (m->inserts.entry.len == 0 || !cf__map_entry(&map, m->has_switch))
        return BBF_CF_METHOD_LEFT_SIZE;
    result = build(w, m, &map);
    return result == BBF_CF_METHOD_FULL ? full : result;
}

static enum bbf_cf_method_result method_build(struct work *w, struct method *m)
{
    enum bbf_cf_method_result result;
    enum cf__stack_result stack = CF__STACK_FITS;

    if (!m->code.ok)
        return BBF_CF_METHOD_LEFT_TABLES;
    if (cf__out_reserve(&w->marks, m->code.len + 1) == NULL ||
        cf__out_reserve(&w->to, 2 * ((size_t)m->code.len + 1)) == NULL)
        return BBF_CF_METHOD_FULL;
    m->marks = w->marks.data;
    m->scanned = cf__code_scan(&m->code, m->marks, &m->has_switch);
    if (!m->scanned)
        return BBF_CF_METHOD_LEFT_CODE;
    if ((result = encode_plan(w, m)) != BBF_CF_METHOD_FULL ||
        (result = find_sites(w, m)) != BBF_CF_METHOD_FULL)
        return result;
    if (!m->has_sites && m->inserts.entry.len == 0)
        return BBF_CF_METHOD_FULL;                               /* no site: nothing is appended */
    if (m->site_stack > 0 || m->entry_stack > m->code.max_stack) /* it would grow */
        stack = cf__stack_check(&m->code, (uint16_t *)(void *)w->to.data);
    w->dangling = stack == CF__STACK_DANGLING;
    return stack == CF__STACK_FITS ? build_ladder(w, m) : BBF_CF_METHOD_LEFT_CODE;
}

static bool any_failed(const struct work *w)
{
    return w->out.failed || w->edits.failed || w->entry.failed || w->after.failed ||
           w->marks.failed || w->to.failed || w->links.bytes.failed;
}

static void edit_add(struct work *w, uint32_t at, uint32_t old_len, size_t new_at)
{
    struct edit edit = {at, old_len, new_at, w->out.len - new_at};

    cf__out_put(&w->edits, &edit, sizeof edit);
}

/* ---- one method ---- */

static void method_rewrite(struct work *w, struct method *m)
{
    struct cf__links_mark mark = cf__links_mark(&w->links);
    size_t at = w->out.len;
    enum bbf_cf_method_result result = method_build(w, m);

    if (result > BBF_CF_METHOD_ENTRY_SIZE) { /* untouched */
        cf__links_rollback(&w->links, mark);
        w->out.len = at;
    } else if (result == BBF_CF_METHOD_FULL && m->left_out) {
        result = BBF_CF_METHOD_LEFT_THIS;
    }
    if (w->out.len > at)
        edit_add(w, m->member.code, 6 + cf__u4(w->c.in + m->member.code + 2), at);
    else if (result == BBF_CF_METHOD_FULL)
        return; /* nothing to insert after all */
    w->stats->methods[result]++;
}

/* Is the method looked at before its parameters are? */
static bool may_have_facts(const struct work *w, const struct method *m)
{
    return w->config->facts != NULL && m->code.ok && !any_failed(w) &&
           (m->has_sites || memchr(m->info.descriptor.s, 'L', m->info.descriptor.len) != NULL);
}

static void method_facts(struct work *w, struct method *m)
{
    const struct bbf_cf_plan *plan = &m->plan;
    bool followed = m->has_sites || plan->n_entry > 0 || plan->n_areturn > 0;

    if (!may_have_facts(w, m))
        return;
    if (!m->scanned) { /* there was nothing to insert */
        if (cf__out_reserve(&w->marks, m->code.len + 1) == NULL)
            return;
        m->marks = w->marks.data;
        m->scanned = cf__code_scan(&m->code, m->marks, &m->has_switch);
    }
    if (m->scanned)
        cf__params_method(&w->params, w->config, &m->info, followed, m->marks);
}

static void methods_rewrite(struct work *w)
{
    uint32_t at = w->c.methods_at + 2;
    struct method m;

    for (unsigned i = 0; i < w->c.n_methods && !any_failed(w) && !w->dangling;
         i++, at = m.member.end) {
        (void)cf__member_read(&w->c, at, true, &m.member); /* checked at open */
        if (m.member.code == 0 || (m.member.access & (CF__ACC_NATIVE | CF__ACC_ABSTRACT)))
            continue;
        cf__code_open(&m.code, &w->c, &m.member);
        m.info = (struct bbf_cf_method){.class_name = w->c.name,
                                        .super_name = w->c.super_name,
                                        .class_access = w->c.access,
                                        .access = m.member.access,
                                        .code = &m.code};
        (void)cf__pool_utf8(&w->c, m.member.name, &m.info.name);
        (void)cf__pool_utf8(&w->c, m.member.descriptor, &m.info.descriptor);
        (void)cf__pool_utf8(&w->c, m.member.signature, &m.info.signature);
        m.scanned = m.has_sites = false;
        memset(&m.plan, 0, sizeof m.plan);
        m.plan.entry = w->entry_calls;
        w->config->plan(w->config->ctx, &m.info, &m.plan);
        if (m.plan.n_entry > 0 || m.plan.n_areturn > 0 || m.plan.n_return > 0 ||
            m.plan.after_call || m.plan.before_athrow_set || m.plan.at_handler_set ||
            m.plan.before_name != NULL) {
            m.inserts = (struct cf__inserts){0};
            m.left_out = false;
            m.entry_stack = m.site_stack = 0;
            method_rewrite(w, &m);
        }
        method_facts(w, &m);
        memset(w->entry_calls, 0,
               (m.plan.n_entry < BBF_CF_MAX_ENTRY ? m.plan.n_entry : BBF_CF_MAX_ENTRY) *
                   sizeof *w->entry_calls);
    }
}

/* ---- the class ---- */

/* Append the field, unless the class has a field of that name. */
static enum bbf_cf_class_result field_add(struct work *w)
{
    const struct bbf_cf_config *config = w->config;
    uint32_t at = w->c.fields_at + 2;
    uint16_t name_index, descriptor_index;
    struct cf__member field;
    struct bbf_cf_str name;
    size_t new_at = w->out.len;

    if (config->field_name == NULL)
        return BBF_CF_NOTHING;
    for (unsigned i = 0; i < w->c.n_fields; i++, at = field.end) {
        (void)cf__member_read(&w->c, at, false, &field); /* checked at open */
        if (cf__pool_utf8(&w->c, field.name, &name) && cf__str_is(name, config->field_name))
            return BBF_CF_NOTHING;
    }
    if (w->c.n_fields == UINT16_MAX)
        return BBF_CF_STRUCTURE;
    if (!cf__links_utf8(&w->links, config->field_name, &name_index) ||
        !cf__links_utf8(&w->links, config->field_descriptor, &descriptor_index))
        return BBF_CF_POOL_FULL;
    cf__out_u2(&w->out, w->c.n_fields + 1u);
    edit_add(w, w->c.fields_at, 2, new_at);
    new_at = w->out.len;
    cf__out_u2(&w->out, config->field_access);
    cf__out_u2(&w->out, name_index);
    cf__out_u2(&w->out, descriptor_index);
    cf__out_u2(&w->out, 0);
    edit_add(w, w->c.methods_at, 0, new_at);
    return BBF_CF_CHANGED;
}

/* Make the new class of old bytes, appended constants and edits. */
static enum bbf_cf_class_result class_finish(const struct work *w, uint8_t **out, size_t *out_len)
{
    const struct edit *edits = (const struct edit *)(const void *)w->edits.data;
    size_t n = w->edits.len / sizeof *edits, size = w->c.len + w->links.bytes.len;
    uint32_t from = w->c.pool_end;
    uint8_t *p;

    for (size_t i = 0; i < n; i++)
        size += edits[i].new_len - edits[i].old_len; /* modulo 2^64 */
    if (size > INT32_MAX)
        return BBF_CF_NOMEM; /* the VM's lengths are jint */
    p = w->config->allocate != NULL ? w->config->allocate(w->config->ctx, size) : malloc(size);
    if (p == NULL)
        return BBF_CF_NOMEM;
    *out = p;
    *out_len = size;
    memcpy(p, w->c.in, w->c.pool_end);
    cf__put2(p + 8, w->links.count);
    p += w->c.pool_end;
    if (w->links.bytes.len > 0)
        memcpy(p, w->links.bytes.data, w->links.bytes.len);
    p += w->links.bytes.len;
    for (size_t i = 0; i < n; i++) {
        memcpy(p, w->c.in + from, edits[i].at - from);
        p += edits[i].at - from;
        memcpy(p, w->out.data + edits[i].new_at, edits[i].new_len);
        p += edits[i].new_len;
        from = edits[i].at + edits[i].old_len;
    }
    memcpy(p, w->c.in + from, w->c.len - from);
    return BBF_CF_CHANGED;
}

/* Without memory for the facts, the class has none. */
static void class_facts(const struct work *w)
{
    const struct cf__params *p = &w->params;

    const struct bbf_fact_block block = {.records = p->records.data,
                                         .len = p->records.len,
                                         .names = (const char *)p->names.data,
                                         .names_len = p->names.len,
                                         .n_facts = p->n_facts};

    if (p->records.len > 0 && !p->records.failed && !p->calls.failed && !p->names.failed)
        w->config->facts(w->config->ctx, w->c.name, w->c.super_name, &block);
}

static enum bbf_cf_class_result class_rewrite(struct work *w, uint8_t **out, size_t *out_len)
{
    enum bbf_cf_class_result field;

    w->links.targets = calloc(w->config->n_targets + 1, sizeof *w->links.targets);
    w->entry_calls = calloc(BBF_CF_MAX_ENTRY, sizeof *w->entry_calls);
    if (w->links.targets == NULL || w->entry_calls == NULL)
        return BBF_CF_NOMEM;
    field = field_add(w);
    if (field != BBF_CF_CHANGED && field != BBF_CF_NOTHING)
        return field;
    if (w->config->plan != NULL)
        methods_rewrite(w);
    if (any_failed(w))
        return BBF_CF_NOMEM;
    class_facts(w);
    if (w->dangling)
        return BBF_CF_POOL;
    if (w->edits.len == 0)
        return w->stats->methods[BBF_CF_METHOD_LEFT_POOL] > 0 ? BBF_CF_POOL_FULL : BBF_CF_NOTHING;
    return class_finish(w, out, out_len);
}

/*
 * A value class (JEP 401): the rules for its constructors before super() are a preview feature and
 * may change. Other class files of previews have the usual rules.
 */
static bool is_value_class(const struct cf__class *c)
{
    return cf__u2(c->in + 4) == CF__MINOR_PREVIEW &&
           (c->access & (CF__ACC_INTERFACE | CF__ACC_IDENTITY)) == 0;
}

enum bbf_cf_class_result bbf_cf_rewrite(const uint8_t *in, size_t len,
                                        const struct bbf_cf_config *config, uint8_t **out,
                                        size_t *out_len, struct bbf_cf_stats *stats)
{
    struct work w = {.config = config, .stats = stats, .links = {.config = config}};
    enum bbf_cf_class_result result;

    *out = NULL;
    *out_len = 0;
    *stats = (struct bbf_cf_stats){{0}};
    result = cf__class_open(&w.c, in, len, config->interesting, config->ctx);
    if (result != BBF_CF_CHANGED)
        return result;
    w.links.count = w.c.pool_count;
    result = is_value_class(&w.c) ? BBF_CF_VALUE : class_rewrite(&w, out, out_len);
    cf__class_close(&w.c);
    free(w.links.targets);
    free(w.entry_calls);
    cf__out_free(&w.links.bytes);
    cf__out_free(&w.out);
    cf__out_free(&w.edits);
    cf__out_free(&w.entry);
    cf__out_free(&w.after);
    cf__out_free(&w.marks);
    cf__out_free(&w.to);
    cf__params_free(&w.params);
    return result;
}
