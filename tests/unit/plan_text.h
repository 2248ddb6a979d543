/*
 * tests/unit/plan_text.h - instrument/plan.c and what it is made of, which knows no JVM, for
 * their tests: the plan of a method, as text. Each test program has its own copy of both.
 */
#ifndef BBF_TESTS_UNIT_PLAN_TEXT_H
#define BBF_TESTS_UNIT_PLAN_TEXT_H

#include "instrument/carriers.c"
#include "instrument/context.c"
#include "instrument/insert.c"
#include "instrument/libraries.c"
#include "instrument/netty.c"
#include "instrument/netty_hooks.c"
#include "instrument/plan.c"
#include "instrument/scopes.c"
#include "instrument/throws.c"
#include "instrument/uses.c"
#include "tests/unit/trie_sample.h"

#define LIST   "Ljava/util/List;"
#define BUF    "Lio/netty/buffer/ByteBuf;"
#define POOLED "Lio/netty/buffer/PooledByteBuf;"
#define HOLDER "Lio/netty/buffer/ByteBufHolder;"

/* Which locals the method under test overwrites; the classfile library would look at its code. */
static uint16_t overwritten = UINT16_MAX;

bool bbf_cf_stores_to(const struct bbf_cf_method *method, uint16_t slot)
{
    (void)method;
    return slot == overwritten;
}

/* The parameters that the method under test passes on to an overload; 0: it does more. */
static uint64_t passed_to_overload;

bool bbf_cf_only_calls_overload(const struct bbf_cf_method *method, uint64_t slots)
{
    (void)method;
    return passed_to_overload != 0 && (passed_to_overload & slots) == slots;
}

/* What the class file says of where the method under test was written. */
static uint32_t line_of_method;
static struct bbf_cf_str enclosing_class, enclosing_method;

uint32_t bbf_cf_line(const struct bbf_cf_method *method)
{
    (void)method;
    return line_of_method;
}

bool bbf_cf_enclosing(const struct bbf_cf_method *method, struct bbf_cf_str *class_name,
                      struct bbf_cf_str *name)
{
    (void)method;
    *class_name = enclosing_class;
    *name = enclosing_method;
    return enclosing_class.len > 0;
}

/* A class of one method, which bbf_plan_inspect() is shown. */
static struct bbf_cf_method only_method;

enum bbf_cf_class_result bbf_cf_rewrite(const uint8_t *in, size_t len,
                                        const struct bbf_cf_config *config, uint8_t **out,
                                        size_t *out_len, struct bbf_cf_stats *stats)
{
    struct bbf_cf_plan plan = {.n_entry = 0};
    (void)in, (void)len, (void)out_len, (void)stats;
    *out = NULL;
    if (config->interesting(config->ctx, only_method.name.s, only_method.name.len))
        config->plan(config->ctx, &only_method, &plan);
    return BBF_CF_NOTHING;
}

/* The head and the fields of a class, which bbf_carriers_learn() is shown. */
struct shown_class {
    const char *super, *interfaces[3], *fields[3]; /* fields: descriptors */
};
static struct shown_class shown = {.super = "java/lang/Object"};

int bbf_cf_outline(const uint8_t *in, size_t len, const struct bbf_cf_outline *outline)
{
    (void)in, (void)len;
    for (int i = 0; i < 3 && shown.fields[i] != NULL; i++)
        outline->field(outline->ctx, (struct bbf_cf_str){"f", 1},
                       (struct bbf_cf_str){shown.fields[i], strlen(shown.fields[i])});
    const char *super = shown.super != NULL ? shown.super : "java/lang/Object";
    outline->super(outline->ctx, (struct bbf_cf_str){super, strlen(super)}, false);
    for (int i = 0; i < 3 && shown.interfaces[i] != NULL; i++)
        outline->super(outline->ctx,
                       (struct bbf_cf_str){shown.interfaces[i], strlen(shown.interfaces[i])}, true);
    return 0;
}

/* ---- a class to plan, and what came out as text ---- */

/* Sites are numbered by a tracker, as in the agent. */
static uint32_t number(void *tracker, const struct bbf_plan_site *site)
{
    const struct bbf_site like = {.class_name = (char *)site->class_name,
                                  .method = (char *)site->method,
                                  .descriptor = (char *)site->descriptor,
                                  .kind = site->kind,
                                  .memory = site->memory,
                                  .harmless = site->harmless,
                                  .line = site->line,
                                  .enclosing = (char *)site->enclosing};
    return bbf_site_intern(tracker, &like);
}

struct planned {
    struct bbf_tracker *t;
    struct bbf_plan_sites sites;
    struct bbf_rules rules;
    struct bbf_plan_class c;
    struct bbf_cf_config config;
    struct bbf_cf_method
        method; /* the one that was planned last: its calls are asked about later */
    struct bbf_cf_plan plan;
    struct bbf_cf_call entry[BBF_CF_MAX_ENTRY];
    bool wanted;
    char text[8192];
};

static inline void add(struct planned *p, const char *format, ...)
{
    size_t len = strlen(p->text);
    va_list args;
    va_start(args, format);
    vsnprintf(p->text + len, sizeof p->text - len, format, args);
    va_end(args);
}

/* One call, `step(a1,#C.m)`: aN a reference, iN an int, dup, #site, plain numbers as they are. */
static inline void add_call(struct planned *p, const char *where, const struct bbf_cf_call *call)
{
    add(p, "%s%s(", where, p->config.targets[call->target].method);
    for (unsigned i = 0; i < call->n_args; i++) {
        uint32_t value = call->args[i].value;
        const struct bbf_site *site = bbf_site_get(p->t, value & BBF_L_META_SITE);
        if (i > 0)
            add(p, ",");
        switch ((enum bbf_cf_push)call->args[i].push) {
        case BBF_CF_ALOAD:
            add(p, "a%u", value);
            break;
        case BBF_CF_ILOAD:
            add(p, "i%u", value);
            break;
        case BBF_CF_DUP:
            add(p, "dup");
            break;
        case BBF_CF_ARRAYLENGTH:
            add(p, "len%u", value);
            break;
        case BBF_CF_INT:
            if (site == NULL || value <= BBF_L_SITE_BEFORE_RESET) {
                add(p, "%u", value);
                break;
            }
            const char *dot = strrchr(site->class_name, '.');
            add(p, "#%s.%s", dot != NULL ? dot + 1 : site->class_name, site->method);
            if (value >> BBF_L_META_MEM_SHIFT != 0)
                add(p, "|%u", value >> BBF_L_META_MEM_SHIFT);
            break;
        }
    }
    add(p, ") ");
}

/* The whole plan: entry calls, `R:` before areturn, `V:` before return, `T:` before athrow, `B:`
 * before a named call, `H:` at handlers, `+C` if calls are asked for as well. */
static inline void describe(struct planned *p)
{
    p->text[0] = '\0';
    for (unsigned i = 0; i < p->plan.n_entry; i++)
        add_call(p, "", &p->plan.entry[i]);
    for (unsigned i = 0; i < p->plan.n_areturn; i++)
        add_call(p, p->plan.areturn_unless_fluent ? "r:" : "R:", &p->plan.areturn[i]);
    for (unsigned i = 0; i < p->plan.n_return; i++)
        add_call(p, "V:", &p->plan.vreturn[i]);
    if (p->plan.before_athrow_set)
        add_call(p, "T:", &p->plan.before_athrow);
    if (p->plan.before_name != NULL)
        add_call(p, "B:", &p->plan.before_call);
    if (p->plan.at_handler_set)
        add_call(p, "H:", &p->plan.at_handler);
    if (p->plan.after_call)
        add(p, "+C ");
    size_t len = strlen(p->text);
    if (len > 0 && p->text[len - 1] == ' ')
        p->text[len - 1] = '\0';
}

static inline struct planned *planned_new(const char *options)
{
    struct planned *p = calloc(1, sizeof *p);
    struct bbf_option_error error;
    assert_non_null(p);
    p->t = sample_default();
    p->sites = (struct bbf_plan_sites){.number = number, .ctx = p->t};
    bbf_options_init(&p->rules.options);
    assert_int_equal(bbf_options_parse(&p->rules.options, options, &error), BBF_OK);
    return p;
}

static inline void planned_free(struct planned *p)
{
    bbf_options_free(&p->rules.options);
    sample_free(p->t);
    free(p);
}

static const char *signature = ""; /* of the methods planned next */

static inline void plan_of(struct planned *p, const char *class_name, uint16_t access,
                           const char *method, const char *descriptor)
{
    p->method = (struct bbf_cf_method){.class_name = {class_name, strlen(class_name)},
                                       .name = {method, strlen(method)},
                                       .descriptor = {descriptor, strlen(descriptor)},
                                       .signature = {signature, strlen(signature)},
                                       .access = access};
    p->plan = (struct bbf_cf_plan){.entry = p->entry};
    p->wanted = bbf_plan_class(&p->c, class_name, strlen(class_name), &p->rules, &p->sites);
    bbf_plan_config(&p->config, &p->c);
    if (p->wanted)
        p->config.plan(p->config.ctx, &p->method, &p->plan);
    describe(p);
}

static inline void assert_plan(struct planned *p, const char *class_name, uint16_t access,
                               const char *method, const char *descriptor, const char *expected)
{
    plan_of(p, class_name, access, method, descriptor);
    if (strcmp(p->text, expected) != 0)
        print_error("%s.%s%s:\n", class_name, method, descriptor);
    assert_string_equal(p->text, expected);
}

enum { PLAIN = 0x0001, STATIC = 0x0009, BRIDGE = 0x1041, SYNTHETIC_STATIC = 0x1008 };

#endif
