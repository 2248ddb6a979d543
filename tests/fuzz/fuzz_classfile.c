/* link: bbf_classfile bbf_core */
/*
 * Arbitrary bytes as a class file. The planner instruments all that it can, by what the method is
 * (no state, so that an input always does the same). Invariants:
 *   - the input stays as it is; a refusal has no output;
 *   - an output parses again, with the same members;
 *   - a method whose code could be walked before can be walked afterwards, jumps and exception
 *     handlers included, and its frames are at instructions;
 *   - max_stack is enough afterwards exactly if it was before;
 *   - what is not instrumented is the same, byte for byte;
 *   - the same input gives the same output again;
 *   - the output can be rewritten once more;
 *   - facts about parameters are whole records, whatever the code is;
 *   - a class that the cheap question leaves alone costs no allocation.
 */
#include "classfile/classfile.h"
#include "classfile/code.h"
#include "classfile/frames.h"
#include "classfile/reader.h"
#include "classfile/stack.h"
#include "core/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static const struct bbf_cf_target targets[] = {
    {"java/lang/Shim", "one", "(Ljava/lang/Object;I)V"},
    {"java/lang/Shim", "two", "(Ljava/lang/Object;Ljava/lang/Object;I)V"},
    {"java/lang/Shim", "number", "(II)V"},
    {"java/lang/Other", "one", "(Ljava/lang/Object;I)V"},
};

static struct bbf_cf_call call_of(uint16_t target, uint8_t push, uint32_t value, uint32_t id)
{
    struct bbf_cf_call call = {.target = target, .n_args = 2};

    call.args[0].push = push;
    call.args[0].value = value;
    call.args[1].push = BBF_CF_INT;
    call.args[1].value = id;
    return call;
}

static void plan_parameters(const struct bbf_cf_method *method, struct bbf_cf_plan *plan,
                            uint32_t id)
{
    bool is_static = (method->access & CF__ACC_STATIC) != 0;
    struct cf__param param;

    (void)bbf_cf_only_calls_overload(method, id);
    for (uint16_t slot = is_static ? 0 : 1; slot < 255; slot++) {
        if (!cf__param_find(method->descriptor, is_static, slot, &param) || slot >= param.slots)
            return;
        if (param.kind == 'I')
            plan->entry[plan->n_entry++] = call_of(2, BBF_CF_ILOAD, slot, id);
        else if (param.kind == '[')
            plan->entry[plan->n_entry++] = call_of(2, BBF_CF_ARRAYLENGTH, slot, id);
        else if (param.kind == 'A')
            plan->entry[plan->n_entry++] = call_of(0, BBF_CF_ALOAD, slot, id);
        if ((param.kind == 'A' || param.kind == '[') && plan->n_areturn == 0 &&
            !bbf_cf_stores_to(method, slot)) {
            struct bbf_cf_call *call = &plan->areturn[plan->n_areturn++];

            *call = call_of(1, BBF_CF_DUP, 0, id);
            call->n_args = 3;
            call->args[2] = call->args[1];
            call->args[1].push = BBF_CF_ALOAD;
            call->args[1].value = slot;
        }
    }
}

static void plan(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_plan *plan)
{
    uint32_t id = (uint32_t)method->name.len * 9973; /* some below, some above 32767 */

    (void)ctx;
    if (method->name.len % 7 == 6 && method->name.s[0] != '<')
        return;
    plan_parameters(method, plan, id);
    if (plan->n_areturn == 0)
        plan->areturn[plan->n_areturn++] = call_of(3, BBF_CF_DUP, 0, id);
    plan->areturn_unless_fluent = method->name.len % 2 == 0;
    if (!(method->access & CF__ACC_STATIC)) {
        plan->vreturn[plan->n_return++] = call_of(0, BBF_CF_ALOAD, 0, id);
    }
    plan->after_call = true;
    plan->before_athrow_set = true;
    plan->before_athrow = call_of(0, BBF_CF_DUP, 0, id);
    if (!(method->access & CF__ACC_STATIC) && method->name.s[0] != '<') {
        plan->before_name = "close";
        plan->before_descriptor = "()V";
        plan->before_call = call_of(0, BBF_CF_ALOAD, 0, id);
    }
}

static bool after_call(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str owner,
                       struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode,
                       struct bbf_cf_call *call)
{
    (void)ctx;
    (void)method;
    (void)opcode;
    *call = call_of(0, BBF_CF_DUP, 0, (uint32_t)(owner.len + name.len));
    call->known = name.len % 8 == 3;
    return !call->known && cf__returns_reference(descriptor);
}

static bool after_cast(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str type,
                       bool given, struct bbf_cf_call *call)
{
    (void)ctx;
    (void)method;
    *call = call_of(0, BBF_CF_DUP, 0, (uint32_t)type.len);
    return type.len % 8 != 7 && !given;
}

/* ---- facts about parameters: any answer, by what the call is ---- */

static unsigned resource(void *ctx, struct bbf_cf_str type)
{
    static const unsigned kinds[] = {0, BBF_FACT_SEEN, BBF_FACT_WEAK, BBF_FACT_SEEN};

    (void)ctx;
    return kinds[type.len % 4];
}

static unsigned use_of(void *ctx, const struct bbf_cf_called *called, unsigned argument)
{
    static const unsigned uses[] = {BBF_CF_USE_LOOK,
                                    BBF_CF_USE_SAME,
                                    0,
                                    BBF_FACT_GIVES,
                                    BBF_FACT_KEEPS,
                                    BBF_CF_USE_LOOK,
                                    BBF_CF_USE_LOOK | BBF_FACT_KEEPS};

    (void)ctx;
    CHECK(argument < 255);
    return uses[(called->name.len + called->descriptor.len + argument) % 7];
}

static bool is_step(void *ctx, const struct bbf_cf_called *called)
{
    (void)ctx;
    return called->name.len % 2 == 0;
}

static bool makes(void *ctx, const struct bbf_cf_called *called)
{
    (void)ctx;
    return called->name.len % 3 != 0;
}

static unsigned may_throw(void *ctx, const struct bbf_cf_called *called)
{
    (void)ctx;
    return (unsigned)(called->name.len + called->owner.len) % 4;
}

/* The records are whole, and their numbers are within them. */
static void check_facts(void *ctx, struct bbf_cf_str class_name, struct bbf_cf_str super_name,
                        const struct bbf_fact_block *block)
{
    const struct bbf_fact_method *m = block->records;
    const char *end = (const char *)block->records + block->len;
    uint32_t n = 0;

    (void)ctx;
    CHECK(class_name.s != NULL && super_name.s != NULL && (uintptr_t)block->records % 8 == 0);
    for (; (const char *)m < end; m = bbf_fact_next(m)) {
        const struct bbf_fact_call *calls = bbf_fact_calls(m);

        CHECK(m->n_params <= m->n_origins && m->bytes_of_flags % 8 == 0);
        CHECK((const char *)bbf_fact_next(m) <= end);
        for (uint32_t i = 0; i < m->n_calls; i++) {
            CHECK(calls[i].origin == BBF_FACT_NO_ORIGIN || calls[i].origin < m->n_origins);
            CHECK(calls[i].result == BBF_FACT_NO_ORIGIN || calls[i].result < m->n_origins);
        }
        for (uint32_t i = 0; i < m->n_throws; i++) {
            const struct bbf_fact_throw *one = &bbf_fact_throws(m)[i];
            const char *name = block->names + one->name;

            CHECK(one->held != 0 && one->name < block->names_len);
            CHECK(m->n_origins >= 32 || one->held >> m->n_origins == 0);
            CHECK(name + strlen(name) + 1 < block->names + block->names_len);
        }
        n += (uint32_t)(m->n_params + m->n_calls + m->n_throws);
    }
    CHECK((const char *)m == end && n == block->n_facts);
}

static bool interesting(void *ctx, const char *utf8, size_t len)
{
    (void)ctx;
    return len == 4 && memcmp(utf8, "Code", 4) == 0;
}

static bool named_stackmaptable(const struct cf__class *c, const uint8_t *attribute)
{
    struct bbf_cf_str name;

    return cf__pool_utf8(c, cf__u2(attribute), &name) && cf__str_is(name, "StackMapTable");
}

/* Can the method be walked: 0 no, 1 its code, 2 also its frames. Then *stack says what of its
 * stack.
 */
static int walk(const struct cf__class *c, const struct cf__member *member,
                enum cf__stack_result *stack)
{
    static uint8_t marks[CF__CODE_MAX + 1];
    static uint16_t depth[CF__CODE_MAX + 1];
    struct bbf_cf_code code;
    struct cf__map map = {.code = &code, .marks = marks};
    struct cf__out frames = {0};
    bool has_switch, ok = true;
    const uint8_t *p;

    cf__code_open(&code, c, member);
    if (!code.ok || !cf__code_scan(&code, marks, &has_switch))
        return 0;
    *stack = cf__stack_check(&code, depth);
    map.new_len = code.len;
    p = code.attributes;
    for (unsigned i = 0; i < code.n_attributes && ok; i++, p += 6 + cf__u4(p + 2))
        if (named_stackmaptable(c, p))
            ok = cf__frames_move(&map, p + 6, cf__u4(p + 2), &frames);
    cf__out_free(&frames);
    return ok ? 2 : 1;
}

/* Are the bytes of two files equal? */
static bool equal(const struct cf__class *a, uint32_t a_at, const struct cf__class *b,
                  uint32_t b_at, uint32_t len)
{
    return len <= a->len - a_at && len <= b->len - b_at &&
           memcmp(a->in + a_at, b->in + b_at, len) == 0;
}

/* What no plan is about: head, constants, interfaces, fields, attributes of the class. */
static void compare_rest(const struct cf__class *old, uint32_t old_end, const struct cf__class *new,
                         uint32_t new_end)
{
    CHECK(equal(old, 0, new, 0, 8) && equal(old, 10, new, 10, old->pool_end - 10));
    CHECK(equal(old, old->pool_end, new, new->pool_end, old->fields_at - old->pool_end));
    CHECK(equal(old, old->fields_at + 2, new, new->fields_at + 2,
                old->methods_at - old->fields_at - 2));
    CHECK(old->len - old_end == new->len - new_end);
    CHECK(equal(old, old_end, new, new_end, old->len - old_end));
}

/* A method but for its Code. */
static void compare_method(const struct cf__class *old, const struct cf__member *a,
                           const struct cf__class *new, const struct cf__member *b)
{
    uint32_t old_code, new_code, rest;
    enum cf__stack_result before = CF__STACK_FITS, after = CF__STACK_FITS;

    if (a->code == 0) {
        CHECK(a->end - a->at == b->end - b->at && equal(old, a->at, new, b->at, a->end - a->at));
        return;
    }
    CHECK(a->code - a->at == b->code - b->at && equal(old, a->at, new, b->at, a->code - a->at));
    old_code = a->code + 6 + cf__u4(old->in + a->code + 2);
    new_code = b->code + 6 + cf__u4(new->in + b->code + 2);
    rest = a->end - old_code;
    CHECK(b->end - new_code == rest && equal(old, old_code, new, new_code, rest));
    CHECK(walk(new, b, &after) >= walk(old, a, &before));
    /* An index past the pool is valid afterwards where max_stack did not grow. */
    CHECK(after == before || before == CF__STACK_DANGLING);
}

/* Both files side by side. */
static void compare(const uint8_t *old_bytes, size_t old_len, const uint8_t *new_bytes,
                    size_t new_len)
{
    struct cf__class old_class, new_class;
    struct cf__member old_member, new_member;
    uint32_t old_at, new_at;

    CHECK(cf__class_open(&old_class, old_bytes, old_len, NULL, NULL) == BBF_CF_CHANGED);
    CHECK(cf__class_open(&new_class, new_bytes, new_len, NULL, NULL) == BBF_CF_CHANGED);
    CHECK(new_class.n_methods == old_class.n_methods);
    CHECK(new_class.n_fields - old_class.n_fields <= 1);
    CHECK(new_class.pool_count >= old_class.pool_count);
    old_at = old_class.methods_at + 2;
    new_at = new_class.methods_at + 2;
    for (unsigned i = 0; i < old_class.n_methods; i++) {
        CHECK(cf__member_read(&old_class, old_at, true, &old_member) == BBF_CF_CHANGED);
        CHECK(cf__member_read(&new_class, new_at, true, &new_member) == BBF_CF_CHANGED);
        CHECK((old_member.code == 0) == (new_member.code == 0));
        compare_method(&old_class, &old_member, &new_class, &new_member);
        old_at = old_member.end;
        new_at = new_member.end;
    }
    compare_rest(&old_class, old_at, &new_class, new_at);
    cf__class_close(&old_class);
    cf__class_close(&new_class);
}

/* ---- allocations, counted where a sanitizer lets us ---- */

static unsigned allocations;

extern int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *,
                                                                       size_t),
                                                     void (*on_free)(const volatile void *))
    __attribute__((weak));

static void on_malloc(const volatile void *p, size_t size)
{
    (void)p;
    (void)size;
    allocations++;
}

static void on_free(const volatile void *p)
{
    (void)p;
}

static bool never(void *ctx, const char *utf8, size_t len)
{
    (void)ctx;
    (void)utf8;
    (void)len;
    return false;
}

/* Nothing of interest in it: no memory is asked for. */
static void ask_cheaply(const uint8_t *data, size_t size)
{
    static const struct bbf_cf_config config = {.targets = targets,
                                                .n_targets = 4,
                                                .interesting = never,
                                                .plan = plan,
                                                .after_call = after_call,
                                                .after_cast = after_cast};
    static bool installed;
    struct bbf_cf_stats stats;
    uint8_t *out;
    size_t out_len;
    unsigned before;

    if (!installed && __sanitizer_install_malloc_and_free_hooks != NULL)
        (void)__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    installed = true;
    before = allocations;
    CHECK(bbf_cf_rewrite(data, size, &config, &out, &out_len, &stats) != BBF_CF_CHANGED);
    CHECK(out == NULL && allocations == before);
}

static void rewrite(const uint8_t *data, size_t size, int times)
{
    static const struct bbf_cf_config config = {.targets = targets,
                                                .n_targets = 4,
                                                .field_name = "$bbf",
                                                .field_descriptor = "J",
                                                .field_access = 0x1082,
                                                .interesting = interesting,
                                                .plan = plan,
                                                .after_call = after_call,
                                                .after_cast = after_cast,
                                                .resource = resource,
                                                .use_of = use_of,
                                                .is_step = is_step,
                                                .makes = makes,
                                                .may_throw = may_throw,
                                                .facts = check_facts};
    struct bbf_cf_stats stats;
    uint8_t *out;
    size_t out_len;
    enum bbf_cf_class_result result = bbf_cf_rewrite(data, size, &config, &out, &out_len, &stats);

    CHECK((result == BBF_CF_CHANGED) == (out != NULL));
    CHECK(result < BBF_CF_CLASS_RESULTS);
    if (out == NULL) {
        CHECK(out_len == 0);
        return;
    }
    compare(data, size, out, out_len);
    if (times > 1) {
        uint8_t *again;
        size_t again_len;

        CHECK(bbf_cf_rewrite(data, size, &config, &again, &again_len, &stats) == result);
        CHECK(again_len == out_len && memcmp(again, out, out_len) == 0);
        free(again);
        rewrite(out, out_len, times - 1);
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bbf_cf_rename rename = {"Code", "Coda-with-a-longer-name"};
    struct bbf_cf_shape shape;
    uint8_t *copy = malloc(size + 1), *out;
    size_t out_len;

    CHECK(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    ask_cheaply(data, size);
    rewrite(data, size, 2);
    (void)bbf_cf_shape_of(data, size, "$bbf", &shape);
    if (bbf_cf_rename_utf8(data, size, &rename, 1, &out, &out_len) == 0)
        free(out);
    CHECK(size == 0 || memcmp(copy, data, size) == 0);
    free(copy);
    return 0;
}
