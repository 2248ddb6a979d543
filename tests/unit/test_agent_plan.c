/* link: bbf_trie bbf_core */
/* agent/plan.c and agent/netty.c, which know no JVM: which classes are followed, which of Netty's
 * methods get which hook, and what is pushed for parameters and results of any kind and position.
 */
#include "agent/netty.c"
#include "agent/plan.c"
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

/* A class of one method, which bbf_plan_declares() is shown. */
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

/* ---- a class to plan, and what came out as text ---- */

struct planned {
    struct bbf_tracker *t;
    struct bbf_rules rules;
    struct bbf_plan_class c;
    struct bbf_cf_config config;
    struct bbf_cf_plan plan;
    struct bbf_cf_call entry[BBF_CF_MAX_ENTRY];
    bool wanted;
    char text[8192];
};

static void add(struct planned *p, const char *format, ...)
{
    size_t len = strlen(p->text);
    va_list args;
    va_start(args, format);
    vsnprintf(p->text + len, sizeof p->text - len, format, args);
    va_end(args);
}

/* One call, `step(a1,#C.m)`: aN a reference, iN an int, dup, #site, plain numbers as they are. */
static void add_call(struct planned *p, const char *where, const struct bbf_cf_call *call)
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

/* The whole plan: entry calls, `R:` before areturn, `V:` before return, `T:` before athrow, `+C` if
 * calls are asked for as well. */
static void describe(struct planned *p)
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
    if (p->plan.after_call)
        add(p, "+C ");
    size_t len = strlen(p->text);
    if (len > 0 && p->text[len - 1] == ' ')
        p->text[len - 1] = '\0';
}

static struct planned *planned_new(const char *options)
{
    struct planned *p = calloc(1, sizeof *p);
    struct bbf_option_error error;
    assert_non_null(p);
    p->t = sample_default();
    bbf_options_init(&p->rules.options);
    assert_int_equal(bbf_options_parse(&p->rules.options, options, &error), BBF_OK);
    return p;
}

static void planned_free(struct planned *p)
{
    bbf_options_free(&p->rules.options);
    sample_free(p->t);
    free(p);
}

static const char *signature = ""; /* of the methods planned next */

static void plan_of(struct planned *p, const char *class_name, uint16_t access, const char *method,
                    const char *descriptor)
{
    struct bbf_cf_method m = {.class_name = {class_name, strlen(class_name)},
                              .name = {method, strlen(method)},
                              .descriptor = {descriptor, strlen(descriptor)},
                              .signature = {signature, strlen(signature)},
                              .access = access};
    p->plan = (struct bbf_cf_plan){.entry = p->entry};
    p->wanted = bbf_plan_class(&p->c, class_name, strlen(class_name), &p->rules, p->t);
    bbf_plan_config(&p->config, &p->c);
    if (p->wanted)
        p->config.plan(p->config.ctx, &m, &p->plan);
    describe(p);
}

static void assert_plan(struct planned *p, const char *class_name, uint16_t access,
                        const char *method, const char *descriptor, const char *expected)
{
    plan_of(p, class_name, access, method, descriptor);
    if (strcmp(p->text, expected) != 0)
        print_error("%s.%s%s:\n", class_name, method, descriptor);
    assert_string_equal(p->text, expected);
}

enum { PLAIN = 0x0001, STATIC = 0x0009, BRIDGE = 0x1041, SYNTHETIC_STATIC = 0x1008 };

/* ---- which classes ---- */

static void included_classes_are_followed_and_excluded_ones_are_not(void **state)
{
    const struct {
        const char *options, *class_name;
        bool followed;
    } table[] = {
        {"include=com.app", "com/app/Main", true},
        {"include=com.app", "com/app/deep/Main$Inner", true},
        {"include=com.app", "com/application/Main", false},
        {"include=com.app", "org/other/Main", false},
        {"include=com.app,exclude=com.app.deep", "com/app/deep/Main", false},
        {"include=com.app,exclude=com.app.deep", "com/app/Main", true},
        {"include=com.app.Main", "com/app/Main$Inner", true},
        /* Without include: what is the application's. */
        {"", "com/app/Main", true},
        {"", "Main", true},
        {"", "java/util/ArrayList", false},
        {"", "javax/net/ssl/SSLEngine", false},
        {"", "jdk/internal/misc/Unsafe", false},
        {"", "sun/nio/ch/Net", false},
        {"", "io/netty/channel/DefaultChannelPipeline", false},
        {"", "io/grpc/netty/shaded/io/netty/handler/codec/ByteToMessageDecoder", false},
        {"", "io/netty/incubator/codec/quic/Quic", true}, /* no package of Netty's own */
        {"", "net/bytebuddy/agent/Installer", false},
        {"exclude=com.app", "com/app/Main", false},
        /* The JVM's own heart, never. */
        {"include=java", "java/lang/String", false},
        {"include=java.lang", "java/lang/Thread", false},
        {"include=java", "java/util/ArrayList", true},
        {"include=jdk", "jdk/internal/misc/Unsafe", false},
        /* Netty when it is named, its internals when they are. */
        {"include=io.netty", "io/netty/handler/codec/ByteToMessageDecoder", true},
        {"include=io.netty.handler", "io/netty/handler/codec/ByteToMessageDecoder", true},
        {"include=io.netty.handler", "io/netty/channel/AbstractChannel", false},
        {"include=io.netty", "io/netty/buffer/PooledByteBufAllocator", false},
        {"include=io.netty", "io/netty/buffer/AbstractByteBuf", false},
        {"include=io.netty", "io/netty/util/ReferenceCountUtil", false},
        {"include=io.netty", "io/netty/buffer/ByteBufUtil", true},
        {"include=io.netty", "io/netty/channel/AbstractChannelHandlerContext", false},
        {"include=io.netty", "io/netty/channel/DefaultChannelPipeline$HeadContext", false},
        {"include=io.netty", "io/netty/channel/DefaultChannelPipeline$TailContext", true},
        {"include=io.netty.channel.AbstractChannelHandlerContext",
         "io/netty/channel/AbstractChannelHandlerContext", true},
        {"include=io.netty.buffer.PooledByteBufAllocator", "io/netty/buffer/PooledByteBufAllocator",
         true},
        {"include=io.netty.util", "io/netty/util/ReferenceCountUtil", true},
        /* A relocated Netty inside an included prefix. */
        {"include=io.grpc", "io/grpc/netty/shaded/io/netty/buffer/PooledByteBuf", false},
        {"include=io.grpc", "io/grpc/netty/shaded/io/netty/handler/ssl/SslHandler", false},
        {"include=io.grpc", "io/grpc/internal/ServerImpl", true},
        {"include=io.grpc.netty.shaded.io.netty.handler",
         "io/grpc/netty/shaded/io/netty/handler/ssl/SslHandler", true},
        {"include=io", "io/netty/handler/ssl/SslHandler", false},
        /* Constructors have a list of their own. */
        {"include=com.app,trackConstructors=org.other", "org/other/Main", true},
        {"include=com.app,trackConstructors=org.other,exclude=org.other", "org/other/Main", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct planned *p = planned_new(table[i].options);
        bool followed =
            bbf_plan_follows(table[i].class_name, strlen(table[i].class_name), &p->rules);
        if (followed != table[i].followed)
            print_error("%s: %s\n", table[i].options, table[i].class_name);
        assert_int_equal(followed, table[i].followed);
        planned_free(p);
    }
}

static void type_names_tell_buffers_and_holders(void **state)
{
    const struct {
        const char *name;
        enum bbf_type type;
    } table[] = {
        {"io/netty/buffer/ByteBuf", BBF_TYPE_BYTEBUF},
        {"io/netty/buffer/CompositeByteBuf", BBF_TYPE_BUFFER},
        {"io/netty/buffer/AdaptivePoolingAllocator$AdaptiveByteBuf", BBF_TYPE_BUFFER},
        {"shaded/io/netty/buffer/ByteBuf", BBF_TYPE_BYTEBUF},
        {"netty/buffer/ByteBuf", BBF_TYPE_BYTEBUF},
        {"io/netty/buffer/ByteBufAllocator", BBF_TYPE_NONE},
        {"io/netty/buffer/ByteBufHolder", BBF_TYPE_HOLDER},
        {"io/netty/util/ReferenceCounted", BBF_TYPE_HOLDER},
        {"io/netty/handler/codec/http/FullHttpRequest", BBF_TYPE_HOLDER},
        {"io/netty/handler/codec/http/HttpObject", BBF_TYPE_MESSAGE},
        {"io/netty/handler/codec/redis/RedisMessage", BBF_TYPE_MESSAGE},
        {"io/netty/handler/codec/http/HttpHeaders", BBF_TYPE_NONE},
        {"io/netty/channel/ChannelHandlerContext", BBF_TYPE_NONE},
        {"jetty/buffer/ByteBuf", BBF_TYPE_NONE},
        {"com/app/MyByteBuf", BBF_TYPE_NONE},
        {"java/lang/Object", BBF_TYPE_NONE},
        {"", BBF_TYPE_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        enum bbf_type type = bbf_netty_type(table[i].name, strlen(table[i].name));
        if (type != table[i].type)
            print_error("%s\n", table[i].name);
        assert_int_equal(type, table[i].type);
    }
}

/* ---- Netty's own methods ---- */

struct hooked {
    const char *class_name; /* behind io/netty/buffer/ */
    uint16_t access;
    const char *method, *descriptor, *expected;
};

static void classes_tell_whose_counters_a_buffer_is_part_of(void **state)
{
    static const struct {
        const char *name;
        int pool; /* -1: nobody's */
    } table[] = {
        {"io/netty/buffer/PooledUnsafeDirectByteBuf", BBF_POOL_POOLED},
        {"org/shaded/io/netty/buffer/PooledHeapByteBuf", BBF_POOL_POOLED},
        {"io/netty/buffer/UnpooledByteBufAllocator$InstrumentedUnpooledHeapByteBuf",
         BBF_POOL_UNPOOLED},
        {"io/netty/buffer/AdaptivePoolingAllocator$AdaptiveByteBuf", BBF_POOL_ADAPTIVE},
        {"io/netty/buffer/PooledSlicedByteBuf", -1},
        {"io/netty/buffer/UnpooledHeapByteBuf", -1},
        {"io/netty/buffer/CompositeByteBuf", -1},
        {"com/app/buffer/PooledHeapByteBuf", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        enum bbf_pool pool;
        bool some = bbf_netty_pool(table[i].name, &pool);
        if ((some ? (int)pool : -1) != table[i].pool)
            fail_msg("%s: %d", table[i].name, some ? (int)pool : -1);
    }
}

static void assert_hooks(const char *prefix, const struct hooked *table, size_t n)
{
    struct planned *p = planned_new("include=com.app");
    for (size_t i = 0; i < n; i++) {
        char name[256];
        snprintf(name, sizeof name, "%sio/netty/buffer/%s", prefix, table[i].class_name);
        assert_plan(p, name, table[i].access, table[i].method, table[i].descriptor,
                    table[i].expected);
    }
    planned_free(p);
}

/* The same in 4.1.48, 4.1.140 and 4.2.20 (javap -s of the three jars). */
static const struct hooked every_version[] = {
    {"PooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF,
     "R:root(dup,i1,#PooledByteBufAllocator.heapBuffer|1)"},
    {"PooledByteBufAllocator", 4, "newDirectBuffer", "(II)" BUF,
     "R:root(dup,i1,#PooledByteBufAllocator.directBuffer)"},
    {"UnpooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF,
     "R:root(dup,i1,#UnpooledByteBufAllocator.heapBuffer|1)"},
    {"UnpooledByteBufAllocator", 4, "newDirectBuffer", "(II)" BUF,
     "R:root(dup,i1,#UnpooledByteBufAllocator.directBuffer)"},
    {"UnpooledByteBufAllocator", PLAIN, "compositeHeapBuffer",
     "(I)Lio/netty/buffer/CompositeByteBuf;",
     "R:root(dup,0,#UnpooledByteBufAllocator.compositeBuffer|2)"},
    {"AbstractByteBufAllocator", PLAIN, "compositeDirectBuffer",
     "(I)Lio/netty/buffer/CompositeByteBuf;",
     "R:root(dup,0,#AbstractByteBufAllocator.compositeBuffer|2)"},
    {"AbstractByteBufAllocator", PLAIN, "compositeBuffer", "(I)Lio/netty/buffer/CompositeByteBuf;",
     ""},
    {"AbstractReferenceCountedByteBuf", PLAIN, "retain", "()" BUF, "using(a0,1) R:refs(a0,1)"},
    {"AbstractReferenceCountedByteBuf", PLAIN, "retain", "(I)" BUF, "using(a0,1) R:refs(a0,i1)"},
    {"AbstractReferenceCountedByteBuf", PLAIN, "release", "()Z", "using(a0,0)"},
    {"AbstractReferenceCountedByteBuf", PLAIN, "release", "(I)Z", "releases(a0,i1)"},
    {"AbstractReferenceCountedByteBuf", 2, "handleRelease", "(Z)Z", "release(a0,i1)"},
    {"AbstractPooledDerivedByteBuf", 16, "init",
     "(Lio/netty/buffer/AbstractByteBuf;" BUF "III)Lio/netty/buffer/AbstractPooledDerivedByteBuf;",
     "derive(a0,a2,#ByteBuf.retained)"},
    {"AbstractByteBuf", 20, "ensureAccessible", "()V", "T:misuse(a0)"},
    {"Unpooled", STATIC, "wrappedBuffer", "([B)" BUF,
     "R:rootKeep(dup,len0,#Unpooled.wrappedBuffer|7)"},
    {"Unpooled", STATIC, "wrappedBuffer", "([BII)" BUF, ""},
    {"Unpooled", STATIC, "wrappedBuffer", "(Ljava/nio/ByteBuffer;)" BUF,
     "R:rootKeep(dup,0,#Unpooled.wrappedBuffer|7)"},
    {"Unpooled", STATIC, "wrappedBuffer", "(JIZ)" BUF,
     "R:rootKeep(dup,0,#Unpooled.wrappedBuffer|3)"},
    {"Unpooled", STATIC, "wrappedBuffer", "(" BUF ")" BUF, ""},
    {"Unpooled", STATIC, "compositeBuffer", "(I)Lio/netty/buffer/CompositeByteBuf;",
     "R:rootKeep(dup,0,#Unpooled.compositeBuffer|2)"},
    {"ByteBufUtil", STATIC, "threadLocalDirectBuffer", "()" BUF,
     "R:root(dup,0,#ByteBufUtil.threadLocalDirectBuffer)"},
    {"EmptyByteBuf", PLAIN, "<init>", "(Lio/netty/buffer/ByteBufAllocator;)V", "V:never(a0)"},
    {"AdaptiveByteBufAllocator$DirectChunkAllocator", PLAIN, "allocate",
     "(II)Lio/netty/buffer/AbstractByteBuf;", "R:chunk(dup)"},
    {"CompositeByteBuf", 2, "newComponent",
     "(" BUF "I)Lio/netty/buffer/CompositeByteBuf$Component;", "adopt(a0,a1)"},
    {"CompositeByteBuf", 2, "addComp", "(ILio/netty/buffer/CompositeByteBuf$Component;)V", ""},
    {"CompositeByteBuf", PLAIN, "addFlattenedComponents",
     "(Z" BUF ")Lio/netty/buffer/CompositeByteBuf;", "R:adoptLast(a0)"},
    {"CompositeByteBuf", 2, "removeCompRange", "(II)V", "disown(a0,i1,i2)"},
    {"CompositeByteBuf", 2, "removeComp", "(I)V", ""},
    {"FixedCompositeByteBuf", 0, "<init>", "(Lio/netty/buffer/ByteBufAllocator;[" BUF ")V",
     "V:adoptAll(a0,a2)"},
    {"EmptyByteBuf", PLAIN, "retain", "()" BUF, ""},
    {"UnreleasableByteBuf", 0, "<init>", "(" BUF ")V", "V:unreleasable(a0,a1)"},
    {"WrappedByteBuf", 4, "<init>", "(" BUF ")V", "V:wrap(a0,a1)"},
    {"WrappedByteBuf", PLAIN, "capacity", "(I)" BUF, ""},
    {"SwappedByteBuf", PLAIN, "<init>", "(" BUF ")V", "V:alias(a0,a1)"},
    {"DuplicatedByteBuf", 0, "<init>", "(" BUF "II)V", "V:alias(a0,a1)"},
    {"PooledByteBuf", 17, "capacity", "(I)" BUF, "R:resized(a0,i1)"},
    {"PooledByteBuf", PLAIN, "capacity", "()I", ""},
    {"UnpooledHeapByteBuf", PLAIN, "capacity", "(I)" BUF, "R:resized(a0,i1)"},
};

static void each_hook_stands_where_netty_opens_ends_and_links_lives(void **state)
{
    (void)state;
    assert_hooks("", every_version, sizeof every_version / sizeof *every_version);
    assert_hooks("io/grpc/netty/shaded/", every_version,
                 sizeof every_version / sizeof *every_version);
}

static void some_hooks_are_one_version_s(void **state)
{
    const struct hooked table[] = {
        /* 4.1.48: the delegate is a ReferenceCounted; later a ByteBuf. */
        {"AbstractPooledDerivedByteBuf$PooledNonRetainedSlicedByteBuf", 0, "<init>",
         "(Lio/netty/util/ReferenceCounted;Lio/netty/buffer/AbstractByteBuf;II)V",
         "V:aliasObject(a0,a1)"},
        {"AbstractPooledDerivedByteBuf$PooledNonRetainedSlicedByteBuf", 0, "<init>",
         "(" BUF "Lio/netty/buffer/AbstractByteBuf;II)V", "V:aliasObject(a0,a1)"},
        /* 4.1.110 and later. */
        {"AdaptiveByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF,
         "R:root(dup,i1,#AdaptiveByteBufAllocator.heapBuffer|1)"},
        {"AdaptivePoolingAllocator$AdaptiveByteBuf", PLAIN, "capacity", "(I)" BUF,
         "R:resized(a0,i1)"},
        {"AdaptivePoolingAllocator$AdaptiveByteBuf", 0, "init",
         "(Lio/netty/buffer/AbstractByteBuf;Lio/netty/buffer/AdaptivePoolingAllocator$Chunk;"
         "IIIIII)V",
         ""},
        /* A check that throws for another buffer is no check of `this`. */
        {"ByteBufUtil", STATIC, "ensureAccessible", "(" BUF ")" BUF, ""},
    };
    (void)state;
    assert_hooks("", table, sizeof table / sizeof *table);
}

/* Called through ReferenceCounted, retain() runs twice: javac's bridge, and the method itself. */
static void a_bridge_of_a_hooked_method_counts_nothing(void **state)
{
    const struct hooked table[] = {
        {"AbstractReferenceCountedByteBuf", BRIDGE, "retain", "()Lio/netty/util/ReferenceCounted;",
         ""},
        {"AbstractReferenceCountedByteBuf", BRIDGE, "retain", "(I)Lio/netty/util/ReferenceCounted;",
         ""},
    };
    (void)state;
    assert_hooks("", table, sizeof table / sizeof *table);
}

static void a_hook_does_not_read_what_the_method_overwrote(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    overwritten = 1;
    assert_plan(p, "io/netty/buffer/PooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF,
                "R:root(dup,0,#PooledByteBufAllocator.heapBuffer|1)");
    assert_plan(p, "io/netty/buffer/PooledByteBuf", 17, "capacity", "(I)" BUF, "");
    assert_plan(p, "io/netty/buffer/WrappedByteBuf", 4, "<init>", "(" BUF ")V", "");
    overwritten = 0;
    assert_plan(p, "io/netty/buffer/Unpooled", STATIC, "wrappedBuffer", "([B)" BUF,
                "R:rootKeep(dup,0,#Unpooled.wrappedBuffer|7)");
    overwritten = UINT16_MAX;
    planned_free(p);
}

static void the_errors_that_say_that_memory_ran_out_are_hooked_where_they_are_made(void **state)
{
    struct planned *p = planned_new("include=com.app,file=x.json");
    struct bbf_cf_method m = {.class_name = {"java/nio/Bits", 13}};
    struct bbf_cf_str oome = {"java/lang/OutOfMemoryError", 26}, init = {"<init>", 6},
                      other = {"java/lang/Error", 15}, text = {"(Ljava/lang/String;)V", 21};
    struct bbf_cf_call call;
    (void)state;
    assert_plan(p, "io/netty/util/internal/OutOfDirectMemoryError", 0, "<init>",
                "(Ljava/lang/String;)V", "V:exhausted()");
    assert_plan(p, "a/b/netty/util/internal/OutOfDirectMemoryError", 0, "<init>",
                "(Ljava/lang/String;)V", "V:exhausted()");
    assert_plan(p, "io/netty/util/IllegalReferenceCountException", PLAIN, "<init>", "(II)V",
                "V:refused()");
    assert_plan(p, "java/nio/Bits", STATIC, "reserveMemory", "(JJ)V", "+C");
    assert_true(p->config.after_call(p->config.ctx, &m, oome, init, text, 183, &call));
    assert_string_equal(p->config.targets[call.target].method, "exhausted");
    assert_false(p->config.after_call(p->config.ctx, &m, other, init, text, 183, &call));
    assert_plan(p, "java/nio/Bits", STATIC, "unreserveMemory", "(JJ)V", "");
    plan_of(p, "java/nio/Buffer", PLAIN, "flip", "()V");
    assert_string_equal(p->text, "");
    planned_free(p);
    p = planned_new("include=com.app");
    plan_of(p, "java/nio/Bits", STATIC, "reserveMemory", "(JJ)V");
    assert_false(p->wanted); /* only with file= */
    planned_free(p);
}

static void each_retain_and_release_is_a_step_when_asked_for(void **state)
{
    struct planned *p = planned_new("include=com.app,refs=on");
    const char *name = "io/netty/buffer/AbstractReferenceCountedByteBuf";
    (void)state;
    assert_plan(p, name, PLAIN, "retain", "()" BUF, "counting(a0,1) using(a0,1) R:refs(a0,1)");
    assert_plan(p, name, PLAIN, "release", "()Z", "counting(a0,0) using(a0,0)");
    assert_plan(p, name, PLAIN, "release", "(I)Z", "counting(a0,0) releases(a0,i1)");
    assert_plan(p, name, 2, "handleRelease", "(Z)Z", "release(a0,i1)");
    assert_true(bbf_plan_counts("a/netty/buffer/AbstractReferenceCountedByteBuf", 46));
    assert_false(bbf_plan_counts("io/netty/buffer/AbstractByteBuf", 31));
    planned_free(p);
}

static void an_excluded_netty_keeps_its_hooks(void **state)
{
    struct planned *p = planned_new("include=com.app,exclude=io.netty");
    (void)state;
    assert_plan(p, "io/netty/buffer/AbstractReferenceCountedByteBuf", 2, "handleRelease", "(Z)Z",
                "release(a0,i1)");
    plan_of(p, "io/netty/buffer/ByteBufAllocator", PLAIN, "buffer", "()" BUF);
    assert_false(p->wanted);
    plan_of(p, "io/netty/buffer/sub/PooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF);
    assert_false(p->wanted); /* not Netty's package */
    plan_of(p, "com/app/PooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF);
    assert_string_equal(p->text, "r:step(dup,#PooledByteBufAllocator.newHeapBuffer_return) +C");
    planned_free(p);
}

/* ---- steps ---- */

static void parameters_are_found_at_any_place(void **state)
{
    const struct {
        uint16_t access;
        const char *method, *descriptor, *expected;
    } table[] = {
        {PLAIN, "m", "(" BUF ")V", "step(a1,#Main.m) +C"},
        {STATIC, "m", "(" BUF ")V", "step(a0,#Main.m) +C"},
        {STATIC, "m", "(J" BUF ")V", "step(a2,#Main.m) +C"},
        {PLAIN, "m", "(JDI" BUF ")V", "step(a6,#Main.m) +C"},
        {PLAIN, "m", "(" BUF "J" BUF ")V", "step2(a1,a4,#Main.m) +C"},
        {PLAIN, "m", "(" BUF BUF BUF ")V", "step2(a1,a2,#Main.m) step(a3,#Main.m) +C"},
        {PLAIN, "m", "(" POOLED ")V", "stepObject(a1,#Main.m) +C"},
        {PLAIN, "m", "(" POOLED BUF ")V", "stepObject(a1,#Main.m) step(a2,#Main.m) +C"},
        {PLAIN, "m", "(" HOLDER "I)V", "stepObject(a1,#Main.m) +C"},
        {PLAIN, "m", "([" BUF BUF ")V", "stepObject(a1,#Main.m) step(a2,#Main.m) +C"},
        {PLAIN, "m", "([[" BUF "[I[Ljava/lang/Object;)V", "+C"},
        {PLAIN, "m", "([[J" BUF ")V", "step(a2,#Main.m) +C"},
        {PLAIN, "m", "(Ljava/lang/String;" BUF ")V", "step(a2,#Main.m) +C"},
        /* Object only where a handler's message comes in. */
        {PLAIN, "m", "(Ljava/lang/Object;)V", "+C"},
        {PLAIN, "channelRead", "(Lio/netty/channel/ChannelHandlerContext;Ljava/lang/Object;)V",
         "stepObject(a2,#Main.channelRead) +C"},
        {PLAIN, "m", "()V", "+C"},
        {PLAIN, "m", "(I)Ljava/lang/String;", "+C"},
        {PLAIN, "<clinit>", "()V", "+C"},
        {PLAIN, "<init>", "(" BUF ")V", ""}, /* trackConstructors= */
    };
    struct planned *p = planned_new("include=com.app");
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_plan(p, "com/app/Main", table[i].access, table[i].method, table[i].descriptor,
                    table[i].expected);
    planned_free(p);
}

/* Lists and the like by what the generic signature says is in them. */
static void containers_are_looked_into_by_the_generic_signature(void **state)
{
    const struct {
        const char *descriptor, *signature, *expected;
    } table[] = {
        {"(" LIST ")V", "(Ljava/util/List<" BUF ">;)V", "stepObject(a1,#Main.m) +C"},
        {"(" LIST ")V", "(Ljava/util/List<+" BUF ">;)V", "stepObject(a1,#Main.m) +C"},
        {"(" LIST ")V", "(Ljava/util/List<[" BUF ">;)V", "stepObject(a1,#Main.m) +C"},
        {"(JLjava/util/Optional;)V",
         "(JLjava/util/Optional<Lio/netty/handler/codec/http/FullHttpRequest;>;)V",
         "stepObject(a3,#Main.m) +C"},
        {"(Ljava/util/Collection;)V", "<T:" BUF ">(Ljava/util/Collection<TT;>;)V",
         "stepObject(a1,#Main.m) +C"},
        {"(" LIST ")V", "(Ljava/util/List<Ljava/lang/String;>;)V", "+C"},
        {"(" LIST ")V", "(Ljava/util/List<Lio/netty/handler/codec/http/HttpObject;>;)V", "+C"},
        {"(Ljava/util/Map;)V", "(Ljava/util/Map<Ljava/lang/String;" BUF ">;)V", "+C"},
        {"(" LIST ")V", "", "+C"},
        {"(" LIST ")V", "(Ljava/util/List<Lio/netty/buffer/ByteB", "+C"},
        {"(" LIST ")V", "<<<;;:+-[L", "+C"},
    };
    struct planned *p = planned_new("include=com.app");
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        signature = table[i].signature;
        assert_plan(p, "com/app/Main", PLAIN, "m", table[i].descriptor, table[i].expected);
    }
    signature = "";
    planned_free(p);
}

/* What decode and encode leave in their list. */
static void what_a_decoder_adds_is_a_step_at_its_end(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    assert_plan(p, "com/app/Main", PLAIN, "decode", "(Ljava/lang/String;" BUF LIST ")V",
                "step(a2,#Main.decode) V:stepObject(a3,#Main.decode) +C");
    assert_plan(p, "com/app/Main", PLAIN, "encode", "(JLjava/lang/String;" LIST ")V",
                "V:stepObject(a4,#Main.encode) +C");
    assert_plan(p, "com/app/Main", PLAIN, "decode", "(" LIST "I)V", "+C");
    assert_plan(p, "com/app/Main", PLAIN, "decode", "(" LIST ")I", "+C");
    assert_plan(p, "com/app/Main", PLAIN, "collect", "(" LIST ")V", "+C");
    planned_free(p);
}

static const char decode[] = "(Ljava/lang/String;" BUF LIST ")V";

static void assert_plans(const char *options, const char *looked_at, const char *judged,
                         const char *decoded)
{
    struct planned *p = planned_new(options);
    assert_plan(p, "io/netty/buffer/ByteBufUtil", STATIC, "indexOf", "(" BUF BUF ")I", looked_at);
    assert_plan(p, "io/netty/handler/codec/Main", PLAIN, "acceptInboundMessage",
                "(Ljava/lang/Object;)Z", judged);
    signature =
        "(Ljava/lang/String;" BUF "Ljava/util/List<" BUF ">;)V"; /* the list may have some */
    assert_plan(p, "io/netty/handler/codec/Main", PLAIN, "decode", decode, decoded);
    signature = "";
    planned_free(p);
}

/* docs/adr/0032: no place where a buffer is lost. A class that is named itself has them all. */
static void what_netty_only_looks_at_is_no_step(void **state)
{
    (void)state;
    assert_plans("include=io.netty", "+C", "+C",
                 "step(a2,#Main.decode) V:stepObject(a3,#Main.decode) +C");
    assert_plans("include=io.netty.buffer.ByteBufUtil+io.netty.handler.codec.Main",
                 "step2(a0,a1,#ByteBufUtil.indexOf) +C",
                 "stepObject(a1,#Main.acceptInboundMessage) +C",
                 "step(a2,#Main.decode) stepObject(a3,#Main.decode) "
                 "V:stepObject(a3,#Main.decode) +C");
}

/* Its decode may be given a full list, and empty it. */
static void an_application_looks_at_nothing_without_a_step(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    assert_plan(p, "com/app/Main", PLAIN, "acceptInboundMessage", "(Ljava/lang/Object;)Z",
                "stepObject(a1,#Main.acceptInboundMessage) +C");
    signature = "(Ljava/lang/String;" BUF "Ljava/util/List<" BUF ">;)V";
    assert_plan(p, "com/app/Main", PLAIN, "decode", decode,
                "step(a2,#Main.decode) stepObject(a3,#Main.decode) "
                "V:stepObject(a3,#Main.decode) +C");
    signature = "";
    planned_free(p);
}

static void objects_everywhere_when_asked_for(void **state)
{
    struct planned *p = planned_new("include=com.app,objects=on");
    (void)state;
    assert_plan(p, "com/app/Main", PLAIN, "m", "(Ljava/lang/Object;)V",
                "stepObject(a1,#Main.m) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "([Ljava/lang/Object;J" LIST ")V",
                "stepObject(a1,#Main.m) stepObject(a4,#Main.m) +C");
    planned_free(p);
}

/* Every one of 255 slots may hold a buffer; two by two, none is forgotten. */
static void a_method_of_255_parameters_steps_each(void **state)
{
    struct planned *p = planned_new("include=com.app");
    char *descriptor = calloc(1, 255 * sizeof POOLED + 8);
    unsigned seen[256] = {0};
    (void)state;
    assert_non_null(descriptor);
    strcpy(descriptor, "(");
    for (int i = 0; i < 255; i++)
        strcat(descriptor, BUF);
    strcat(descriptor, ")V");
    plan_of(p, "com/app/Main", STATIC, "m", descriptor);
    for (unsigned i = 0; i < p->plan.n_entry; i++)
        for (unsigned k = 0; k < p->plan.entry[i].n_args; k++)
            if (p->plan.entry[i].args[k].push == BBF_CF_ALOAD)
                seen[p->plan.entry[i].args[k].value]++;
    for (unsigned i = 0; i < 255; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(p->plan.n_entry, 128);
    /* 255 that need a call each are as many as there may be. */
    strcpy(descriptor, "(");
    for (int i = 0; i < 255; i++)
        strcat(descriptor, POOLED);
    strcat(descriptor, ")V");
    plan_of(p, "com/app/Main", STATIC, "m", descriptor);
    assert_int_equal(p->plan.n_entry, 255);
    assert_int_equal(p->plan.entry[254].args[0].value, 254);
    free(descriptor);
    planned_free(p);
}

static void a_malformed_descriptor_is_read_to_its_end_only(void **state)
{
    const char *const table[] = {"",
                                 "(",
                                 ")",
                                 "(L",
                                 "([",
                                 "([[L",
                                 "(Lio/netty/buffer/ByteBuf",
                                 "(Lio/netty/buffer/ByteBuf;",
                                 "()",
                                 "()L",
                                 "()Lio/netty/buffer/ByteBuf",
                                 "(J",
                                 "V"};
    struct planned *p = planned_new("include=com.app");
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t len = strlen(table[i]);
        char *exact = malloc(len + 1); /* the sanitizer sees a byte too far */
        memcpy(exact, table[i], len);
        struct bbf_cf_method m = {.class_name = {"com/app/Main", 12},
                                  .name = {"m", 1},
                                  .descriptor = {exact, len},
                                  .access = PLAIN};
        p->plan = (struct bbf_cf_plan){.entry = p->entry};
        assert_true(bbf_plan_class(&p->c, "com/app/Main", 12, &p->rules, p->t));
        bbf_plan_config(&p->config, &p->c);
        p->config.plan(p->config.ctx, &m, &p->plan);
        assert_int_equal(p->plan.n_areturn, 0);
        free(exact);
    }
    planned_free(p);
}

static void a_returned_buffer_that_came_in_is_no_return(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    assert_plan(p, "com/app/Main", PLAIN, "m", "()" BUF, "r:step(dup,#Main.m_return) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "()" POOLED, "r:stepObject(dup,#Main.m_return) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "()" HOLDER, "+C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "()[" BUF, "+C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "(" BUF ")" BUF,
                "step(a1,#Main.m) r:exit(dup,a1,#Main.m_return) +C");
    assert_plan(p, "com/app/Main", STATIC, "m", "(J" BUF POOLED ")" BUF,
                "step(a2,#Main.m) stepObject(a3,#Main.m) r:exit2(dup,a2,a3,#Main.m_return) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "(" BUF BUF BUF ")" BUF,
                "step2(a1,a2,#Main.m) step(a3,#Main.m) r:exitWalk(dup,#Main.m_return,#Main.m) +C");
    overwritten = 1;
    assert_plan(p, "com/app/Main", PLAIN, "m", "(" BUF ")" BUF,
                "step(a1,#Main.m) r:exitWalk(dup,#Main.m_return,#Main.m) +C");
    overwritten = UINT16_MAX;
    planned_free(p);
}

static void constructors_are_stepped_when_they_are_listed(void **state)
{
    struct planned *p = planned_new("include=com.app,trackConstructors=org.held");
    (void)state;
    assert_plan(p, "org/held/Box", PLAIN, "<init>", "(" BUF ")V",
                "step(a1,#Box.<init>) V:step(a1,#Box.<init>_return) +C");
    assert_plan(p, "org/held/Box", PLAIN, "<init>", "(I" BUF BUF ")V",
                "step2(a2,a3,#Box.<init>) V:step(a2,#Box.<init>_return) "
                "V:step(a3,#Box.<init>_return) +C");
    assert_plan(p, "org/held/Box", PLAIN, "m", "(" BUF ")V", "");
    overwritten = 2;
    assert_plan(p, "org/held/Box", PLAIN, "<init>", "(" BUF BUF ")V",
                "step2(a1,a2,#Box.<init>) V:step(a1,#Box.<init>_return) +C");
    overwritten = UINT16_MAX;
    planned_free(p);
}

static void methods_that_only_forward_are_left_out(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    assert_plan(p, "com/app/Main", BRIDGE, "m", "(" BUF ")V", "");
    assert_plan(p, "com/app/Main", SYNTHETIC_STATIC, "access$000", "(Lcom/app/Main;" BUF ")V", "");
    assert_plan(p, "com/app/Main", STATIC, "m$default", "(Lcom/app/Main;" BUF "I)V", "");
    /* A lambda's body is synthetic too, and is the user's. */
    assert_plan(p, "com/app/Main", SYNTHETIC_STATIC, "lambda$main$0", "(" BUF ")V",
                "step(a0,#Main.lambda$main$0) +C");
    planned_free(p);
}

/* ---- after calls ---- */

static void a_buffer_that_a_call_returned_is_a_step(void **state)
{
    const struct {
        const char *owner, *name, *descriptor;
        const char *expected; /* NULL: nothing is inserted */
    } table[] = {
        {"com/app/Other", "make", "()" BUF, "step(dup,#Main.m)"},
        {"com/app/Other", "make", "()" POOLED, "stepObject(dup,#Main.m)"},
        {"com/app/Other", "make", "()" HOLDER, NULL},
        {"com/app/Other", "make", "()V", NULL},
        {"com/app/Other", "make", "(" BUF ")I", NULL},
        {"io/netty/buffer/ByteBufAllocator", "buffer", "(I)" BUF, "step(dup,#Main.m)"},
        {"io/netty/buffer/ByteBuf", "writeByte", "(I)" BUF, NULL},
        {"io/netty/buffer/ByteBuf", "slice", "()" BUF, NULL},
        {"io/netty/buffer/ByteBuf", "retain", "()" BUF, NULL},
        {"io/netty/buffer/ByteBuf", "copy", "()" BUF, "step(dup,#Main.m)"},
        {"io/netty/buffer/ByteBuf", "retainedSlice", "(II)" BUF, "step(dup,#Main.m)"},
        {"io/netty/buffer/ByteBuf", "readRetainedSlice", "(I)" BUF, "step(dup,#Main.m)"},
        {"io/netty/buffer/ByteBuf", "readBytes", "(I)" BUF, "step(dup,#Main.m)"},
        {"io/netty/buffer/ByteBuf", "readBytes", "(" BUF ")" BUF, NULL},
        {"io/netty/buffer/CompositeByteBuf", "addComponent",
         "(" BUF ")Lio/netty/buffer/CompositeByteBuf;", NULL},
    };
    struct planned *p = planned_new("include=com.app");
    (void)state;
    plan_of(p, "com/app/Main", PLAIN, "m", "()V");
    assert_non_null(p->config.after_call);
    struct bbf_cf_method m = {.class_name = {"com/app/Main", 12},
                              .name = {"m", 1},
                              .descriptor = {"()V", 3},
                              .access = PLAIN};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct bbf_cf_call call;
        struct bbf_cf_str owner = {table[i].owner, strlen(table[i].owner)};
        struct bbf_cf_str name = {table[i].name, strlen(table[i].name)};
        struct bbf_cf_str descriptor = {table[i].descriptor, strlen(table[i].descriptor)};
        bool inserted =
            p->config.after_call(p->config.ctx, &m, owner, name, descriptor, 0xb6, &call);
        if (inserted != (table[i].expected != NULL))
            print_error("%s.%s%s\n", table[i].owner, table[i].name, table[i].descriptor);
        assert_int_equal(inserted, table[i].expected != NULL);
        if (!inserted)
            continue;
        p->text[0] = '\0';
        add_call(p, "", &call);
        p->text[strlen(p->text) - 1] = '\0';
        assert_string_equal(p->text, table[i].expected);
    }
    static const struct {
        const char *type, *expected;
    } casts[] = {{"io/netty/buffer/ByteBuf", "step(dup,#Main.m)"},
                 {"io/netty/buffer/PooledByteBuf", "stepObject(dup,#Main.m)"},
                 {"shaded/io/netty/buffer/ByteBuf", "step(dup,#Main.m)"},
                 {"io/netty/handler/codec/http/HttpContent", "stepObject(dup,#Main.m)"},
                 {"[Lio/netty/buffer/ByteBuf;", NULL},
                 {"java/lang/Object", NULL}};
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) {
        struct bbf_cf_call call;
        struct bbf_cf_str type = {casts[i].type, strlen(casts[i].type)};
        bool inserted = p->config.after_cast(p->config.ctx, &m, type, &call);
        assert_int_equal(inserted, casts[i].expected != NULL);
        if (!inserted)
            continue;
        p->text[0] = '\0';
        add_call(p, "", &call);
        p->text[strlen(p->text) - 1] = '\0';
        assert_string_equal(p->text, casts[i].expected);
    }
    /* Netty's own classes that have hooks only are not asked about their calls. */
    plan_of(p, "io/netty/buffer/AbstractByteBuf", 20, "ensureAccessible", "()V");
    assert_null(p->config.after_call);
    assert_null(p->config.after_cast);
    planned_free(p);
}

/* A protocol's type is looked at where an Object is: in handlers' methods, or everywhere if asked.
 */
static void messages_are_looked_at_in_handlers(void **state)
{
    struct planned *p = planned_new("include=com.app");
    (void)state;
    assert_plan(
        p, "com/app/A", PLAIN, "channelRead0",
        "(Lio/netty/channel/ChannelHandlerContext;Lio/netty/handler/codec/http/HttpObject;)V",
        "stepObject(a2,#A.channelRead0) +C");
    assert_plan(p, "com/app/A", PLAIN, "f", "(Lio/netty/handler/codec/http/HttpObject;)V", "+C");
    assert_plan(p, "com/app/A", PLAIN, "f", "()Lio/netty/handler/codec/http/HttpObject;", "+C");
    planned_free(p);
}

/* track=: constructors and closing methods of classes that may be meant; types that are named. */
static void tracked_objects_are_followed_from_constructor_to_closing_method(void **state)
{
    struct planned *p =
        planned_new("include=com.app,track=com.x.Conn:close+com.x.Lease:end+com.x.Pool:close");
    (void)state;
    assert_plan(p, "com/x/Conn", PLAIN, "<init>", "(I)V", "V:made(a0)");
    assert_plan(p, "com/x/Conn", PLAIN, "close", "()V", "closed(a0,5)");
    assert_plan(p, "com/x/Conn", PLAIN, "close", "(I)Z", "closed(a0,5)");
    assert_plan(p, "com/x/Conn", STATIC, "close", "(Lcom/x/Conn;)V", "");
    assert_plan(p, "com/y/Any", PLAIN, "end", "()V", "closed(a0,2)");
    assert_plan(p, "com/y/Any", PLAIN, "<init>", "()V", ""); /* it declares none that we know of */
    assert_plan(p, "com/app/A", PLAIN, "f", "(Lcom/x/Conn;ILcom/x/Other;)Lcom/x/Lease;",
                "stepObject(a1,#A.f) r:exit(dup,a1,#A.f_return) +C");
    only_method = (struct bbf_cf_method){.name = {"end", 3}, .access = PLAIN};
    assert_true(bbf_plan_class(&p->c, "com/y/Any", 9, &p->rules, p->t));
    assert_true(bbf_plan_declares(&p->c, NULL, 0));
    assert_true(p->c.closes);
    only_method = (struct bbf_cf_method){.name = {"end", 3}, .access = STATIC};
    assert_true(bbf_plan_class(&p->c, "com/y/Any", 9, &p->rules, p->t));
    assert_false(bbf_plan_declares(&p->c, NULL, 0));
    only_method = (struct bbf_cf_method){.name = {"ends", 4}, .access = PLAIN};
    assert_false(bbf_plan_declares(&p->c, NULL, 0));
    assert_false(bbf_plan_class(&p->c, "java/lang/Thread", 16, &p->rules, p->t));
    planned_free(p);
}

/* Whatever a plan could act on, the cheap question must let through. */
static void the_cheap_question_lets_every_tracked_type_through(void **state)
{
    static const char *const asked[] = {BUF,
                                        "io/netty/buffer/ByteBuf",
                                        "(" BUF ")V",
                                        "(I)" POOLED,
                                        "(" HOLDER ")V",
                                        "io/netty/util/ReferenceCounted",
                                        "(Lio/netty/util/ReferenceCounted;)V",
                                        "channelRead",
                                        "shaded/io/netty/buffer/ByteBuf",
                                        "acceptOutboundMessage",
                                        "(Lio/netty/handler/codec/http/FullHttpRequest;)V"};
    static const char *const not_asked[] = {
        "", "a", "java/lang/String", "()V", "jetty/Server", "toString", "(Ljava/lang/Object;)V"};
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        assert_true(bbf_netty_interesting(asked[i], strlen(asked[i])));
    for (size_t i = 0; i < sizeof not_asked / sizeof *not_asked; i++)
        assert_false(bbf_netty_interesting(not_asked[i], strlen(not_asked[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(included_classes_are_followed_and_excluded_ones_are_not),
        cmocka_unit_test(type_names_tell_buffers_and_holders),
        cmocka_unit_test(classes_tell_whose_counters_a_buffer_is_part_of),
        cmocka_unit_test(each_hook_stands_where_netty_opens_ends_and_links_lives),
        cmocka_unit_test(some_hooks_are_one_version_s),
        cmocka_unit_test(a_bridge_of_a_hooked_method_counts_nothing),
        cmocka_unit_test(a_hook_does_not_read_what_the_method_overwrote),
        cmocka_unit_test(the_errors_that_say_that_memory_ran_out_are_hooked_where_they_are_made),
        cmocka_unit_test(each_retain_and_release_is_a_step_when_asked_for),
        cmocka_unit_test(an_excluded_netty_keeps_its_hooks),
        cmocka_unit_test(parameters_are_found_at_any_place),
        cmocka_unit_test(objects_everywhere_when_asked_for),
        cmocka_unit_test(containers_are_looked_into_by_the_generic_signature),
        cmocka_unit_test(what_a_decoder_adds_is_a_step_at_its_end),
        cmocka_unit_test(what_netty_only_looks_at_is_no_step),
        cmocka_unit_test(an_application_looks_at_nothing_without_a_step),
        cmocka_unit_test(a_method_of_255_parameters_steps_each),
        cmocka_unit_test(a_malformed_descriptor_is_read_to_its_end_only),
        cmocka_unit_test(a_returned_buffer_that_came_in_is_no_return),
        cmocka_unit_test(constructors_are_stepped_when_they_are_listed),
        cmocka_unit_test(methods_that_only_forward_are_left_out),
        cmocka_unit_test(a_buffer_that_a_call_returned_is_a_step),
        cmocka_unit_test(messages_are_looked_at_in_handlers),
        cmocka_unit_test(tracked_objects_are_followed_from_constructor_to_closing_method),
        cmocka_unit_test(the_cheap_question_lets_every_tracked_type_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
