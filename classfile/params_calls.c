/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/params_walk.h"

#include "classfile/reader.h"
#include "classfile/stack.h"
#include "core/facts.h"

#include <string.h>

/* JVMS 6.5 */
enum { INVOKEVIRTUAL = 182, INVOKESTATIC = 184, INVOKEINTERFACE = 185, INVOKEDYNAMIC = 186 };
enum { NO_RESULT = BBF_FACT_NO_ORIGIN };

static void add_call(struct cf__walk *w, const struct bbf_fact_call *call)
{
    if (w->n_calls == CF__PARAMS_CALLS) {
        if (call->origin != BBF_FACT_NO_ORIGIN)
            cf__use(w, UINT64_C(1) << call->origin, BBF_FACT_UNKNOWN);
        return;
    }
    if (call->origin != BBF_FACT_NO_ORIGIN)
        cf__throws_handed(w, call->origin);
    cf__out_put(&w->to->calls, call, sizeof *call);
    w->n_calls++;
}

/* Is it there already, with an origin or without? */
static bool has_call(const struct cf__walk *w, uint64_t callee)
{
    const struct bbf_fact_call *calls =
        (const struct bbf_fact_call *)(const void *)w->to->calls.data;

    for (uint32_t i = 0; i < w->n_calls; i++)
        if (calls[i].callee == callee)
            return true;
    return false;
}

static struct bbf_fact_call call_of(const struct bbf_cf_called *called)
{
    bool is_virtual = called->opcode == INVOKEVIRTUAL || called->opcode == INVOKEINTERFACE;

    return (struct bbf_fact_call){
        .callee = bbf_fact_method_key(called->name.s, called->name.len, called->descriptor.s,
                                      called->descriptor.len),
        .owner = bbf_fact_class_key(called->owner.s, called->owner.len),
        .origin = BBF_FACT_NO_ORIGIN,
        .result = NO_RESULT,
        .outside = is_virtual && !cf__str_is(called->name, "<init>") ? BBF_FACT_VIRTUAL : 0};
}

/* What the type of a call's result says: 0, BBF_FACT_SEEN or BBF_FACT_WEAK. */
static unsigned result_kind(struct cf__walk *w, const struct bbf_cf_called *called)
{
    const char *end = called->descriptor.s + called->descriptor.len, *close;

    if (end[-1] != ';')
        return 0;
    close = memchr(called->descriptor.s, ')', called->descriptor.len);
    return close == NULL || close + 1 == end ? 0 : cf__resource(w, close + 1, end);
}

/* The call's result, if it may be an argument: a new origin. */
static uint8_t result_of(struct cf__walk *w, const struct bbf_cf_called *called, uint64_t origins)
{
    if (result_kind(w, called) == 0)
        return NO_RESULT;
    if (w->n_origins == CF__PARAMS_ORIGINS) {
        cf__use(w, origins, BBF_FACT_UNKNOWN);
        return NO_RESULT;
    }
    if ((origins & ~w->fresh) == 0)
        w->fresh |= UINT64_C(1) << w->n_origins;
    w->flags[w->n_origins] = 0;
    return w->n_origins++;
}

/* A buffer that is the method's from here on, the result of a call: `origin`, or without one an
 * origin for what exceptions leave behind. */
static uint8_t made_by(struct cf__walk *w, const struct bbf_cf_called *called, uint8_t origin)
{
    if ((origin == NO_RESULT && w->n_origins >= CF__PARAMS_HELD) ||
        result_kind(w, called) != BBF_FACT_SEEN || !w->config->makes(w->config->ctx, called))
        return origin;
    if (origin == NO_RESULT) {
        origin = w->n_origins++;
        w->flags[origin] = 0;
        w->fresh |= UINT64_C(1) << origin;
    }
    cf__throws_made(w, origin);
    return origin;
}

void cf__params_forget_fresh(struct cf__walk *w)
{
    struct bbf_fact_call *calls = (struct bbf_fact_call *)(void *)w->to->calls.data;
    uint32_t n = 0;

    if (w->fresh == 0)
        return;
    for (uint32_t i = 0, k; i < w->n_calls; i++) {
        struct bbf_fact_call call = calls[i];

        if (call.origin != BBF_FACT_NO_ORIGIN && (w->fresh >> call.origin & 1)) {
            call.origin = BBF_FACT_NO_ORIGIN;
            call.result = NO_RESULT;
            call.argument = 0;
            call.outside &= BBF_FACT_VIRTUAL;
            for (k = 0; k < n && calls[k].callee != call.callee; k++)
                continue;
            if (k < n)
                continue;
        }
        calls[n++] = call;
    }
    w->n_calls = n;
}

/* What a call does with its arguments, and what its result may be. */
struct passed {
    uint64_t same, looked; /* origins that are its result; that its own facts decide about */
    uint8_t argument[CF__PARAMS_ORIGINS], outside[CF__PARAMS_ORIGINS]; /* of those */
};

static void pass_argument(struct cf__walk *w, const struct bbf_cf_called *called, unsigned argument,
                          uint64_t origins, struct passed *passed)
{
    unsigned how = w->config->use_of(w->config->ctx, called, argument);

    if (how & BBF_CF_USE_SAME)
        passed->same |= origins;
    if (!(how & BBF_CF_USE_LOOK)) {
        cf__use(w, origins, how & 0xff);
        return;
    }
    for (uint64_t left = origins; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);

        if (passed->looked >> i & 1) /* two arguments of one call */
            w->flags[i] |= BBF_FACT_UNKNOWN;
        passed->argument[i] = (uint8_t)argument;
        passed->outside[i] = (uint8_t)how;
    }
    passed->looked |= origins;
}

/* The receiver and the arguments that have origins. `at`: the first one's slot on the stack. */
static void pass_arguments(struct cf__walk *w, const struct bbf_cf_called *called,
                           const uint64_t *at, struct passed *passed)
{
    const char *p = called->descriptor.s + 1, *end = called->descriptor.s + called->descriptor.len;
    unsigned argument = 0;

    if (called->opcode != INVOKESTATIC) {
        if (*at != 0)
            pass_argument(w, called, 0, *at, passed);
        at++;
        argument = 1;
    }
    for (; p != NULL && p < end && *p != ')'; argument++) {
        unsigned slots = 0;

        if (*at != 0 && argument < 255)
            pass_argument(w, called, argument, *at, passed);
        p = cf__type_skip(p, end, &slots);
        at += slots;
    }
}

/* Report the call of a method that may be on a path. */
static void note_call(struct cf__walk *w, const struct bbf_cf_called *called,
                      const struct passed *passed, uint8_t result)
{
    struct bbf_fact_call call;

    if (passed->looked == 0 && !w->config->is_step(w->config->ctx, called))
        return;
    call = call_of(called);
    if (passed->looked == 0 && !has_call(w, call.callee))
        add_call(w, &call);
    for (uint64_t left = passed->looked; left != 0; left &= left - 1) {
        struct bbf_fact_call one = call;

        one.origin = (uint8_t)__builtin_ctzll(left);
        one.argument = passed->argument[one.origin];
        one.outside |= passed->outside[one.origin];
        one.result = result;
        add_call(w, &one);
    }
}

/* Before the call has a result: a call that throws has none. */
static void note_throw(struct cf__walk *w, const struct bbf_cf_called *called, uint16_t index)
{
    if (cf__str_is(called->name, "<init>") &&
        (cf__str_ends(called->owner, "Exception") || cf__str_ends(called->owner, "Error")))
        w->exception = index;
    else
        cf__throws_note(w, index, false);
}

/* A lambda or method reference captures; the concatenation of a string only reads. */
static void capture(struct cf__walk *w, const struct bbf_cf_called *called, const uint64_t *at,
                    unsigned slots)
{
    bool reads = called->name.len > 10 && memcmp(called->name.s, "makeConcat", 10) == 0;

    for (unsigned i = 0; i < slots && !reads; i++)
        cf__use(w, at[i], BBF_FACT_KEEPS);
}

uint64_t cf__params_invoke(struct cf__walk *w, const uint8_t *p, unsigned pops)
{
    struct bbf_cf_called called = {.opcode = *p};
    struct passed passed = {.same = 0};
    const uint64_t *at = cf__stack(w) + cf__frame(w, 0)[0] - pops;
    uint8_t result = NO_RESULT;
    uint64_t any = 0;

    for (unsigned i = 0; i < pops; i++)
        any |= at[i];
    w->exception = 0;
    if (!cf__pool_invoke(w->code->owner, cf__u2(p + 1), &called.owner, &called.name,
                         &called.descriptor))
        return 0; /* cf__stack_effect() read its descriptor */
    if (*p == INVOKEDYNAMIC) {
        capture(w, &called, at, pops);
        return 0;
    }
    if (any != 0)
        pass_arguments(w, &called, at, &passed);
    if (passed.looked != 0)
        result = result_of(w, &called, passed.looked);
    note_call(w, &called, &passed, result);
    note_throw(w, &called, cf__u2(p + 1));
    if (passed.same == 0)
        result = made_by(w, &called, result);
    return passed.same | (result != NO_RESULT ? UINT64_C(1) << result : 0);
}
