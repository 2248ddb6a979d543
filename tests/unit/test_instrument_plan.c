/* link: bbf_trie bbf_core */
/*
 * Which classes are followed, and what is pushed for parameters and results of any kind and
 * position. Netty's own hooks: test_instrument_netty.c.
 */
#include "tests/unit/plan_text.h"

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
        {"include=io.netty.handler", "io/netty/channel/PendingWriteQueue", false},
        {"include=io.netty", "io/netty/buffer/PooledByteBufAllocator", false},
        {"include=io.netty", "io/netty/buffer/AbstractByteBuf", false},
        {"include=io.netty", "io/netty/util/ReferenceCountUtil", false},
        {"include=io.netty", "io/netty/buffer/ByteBufUtil", true},
        {"include=io.netty", "io/netty/channel/AbstractChannelHandlerContext", false},
        {"include=io.netty", "io/netty/channel/DefaultChannelPipeline$HeadContext", false},
        {"include=io.netty", "io/netty/channel/DefaultChannelPipeline$TailContext", false},
        {"include=io.netty", "io/netty/channel/ChannelOutboundBuffer", false},
        {"include=io.netty", "io/netty/channel/AbstractChannel$AbstractUnsafe", false},
        {"include=io.netty", "io/netty/channel/AbstractCoalescingBufferQueue", true},
        {"include=io.netty", "io/netty/channel/SimpleChannelInboundHandler", true},
        {"include=io.netty", "io/netty/channel/PreferHeapByteBufAllocator", false},
        {"include=io.netty", "io/netty/handler/codec/http/HttpServerCodec", true},
        {"include=io.netty", "io/netty/handler/codec/http/HttpServerCodec$HttpServerRequestDecoder",
         false},
        {"include=io.netty", "io/netty/handler/codec/http2/DecoratingHttp2FrameWriter", false},
        {"include=io.netty", "io/netty/handler/codec/http2/Http2FrameListenerDecorator", false},
        {"include=io.netty", "io/netty/handler/codec/http2/Http2InboundFrameLogger$1", false},
        {"include=io.netty", "io/netty/handler/codec/http2/Http2ConnectionHandler", true},
        {"include=io.netty", "io/netty/handler/codec/http2/Http2ConnectionHandler$FrameDecoder",
         false},
        {"include=io.netty.handler.codec.http2.DecoratingHttp2FrameWriter",
         "io/netty/handler/codec/http2/DecoratingHttp2FrameWriter", true},
        {"include=io.netty.channel.DefaultChannelPipeline$TailContext",
         "io/netty/channel/DefaultChannelPipeline$TailContext", true},
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
            bbf_plan_is_followed(table[i].class_name, strlen(table[i].class_name), &p->rules);
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
        assert_true(bbf_plan_class(&p->c, "com/app/Main", 12, &p->rules, &p->sites));
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
    assert_plan(p, "com/app/Main", PLAIN, "m", "()" HOLDER, "r:stepObject(dup,#Main.m_return) +C");
    assert_plan(p, "com/app/Main", PLAIN, "m", "()Lio/netty/handler/codec/http/HttpObject;", "+C");
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
    assert_plan(p, "com/app/Main", STATIC, "$anonfun$m$1$adapted", "(" BUF ")Ljava/lang/Object;",
                "");
    assert_plan(p, "com/app/Main", STATIC, "m$$anonfun$adapted$1", "(" BUF ")Ljava/lang/Object;",
                "");
    /* A lambda's body is also synthetic, but it is the user's code. */
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
        {"com/app/Other", "make", "()" HOLDER, "stepObject(dup,#Main.m)"},
        {"com/app/Other", "make", "()Lio/netty/handler/codec/http/HttpObject;", NULL},
        {"io/netty/buffer/ByteBufHolder", "retain", "()" HOLDER, NULL},
        {"io/netty/handler/codec/http/HttpMessage", "touch", "()" HOLDER, NULL},
        {"io/netty/buffer/ByteBufHolder", "copy", "()" HOLDER, "stepObject(dup,#Main.m)"},
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
        bool inserted = p->config.after_cast(p->config.ctx, &m, type, false, &call);
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
    assert_true(bbf_plan_class(&p->c, "com/y/Any", 9, &p->rules, &p->sites));
    assert_true(bbf_plan_inspect(&p->c, NULL, 0));
    assert_true(p->c.closes);
    only_method = (struct bbf_cf_method){.name = {"end", 3}, .access = STATIC};
    assert_true(bbf_plan_class(&p->c, "com/y/Any", 9, &p->rules, &p->sites));
    assert_false(bbf_plan_inspect(&p->c, NULL, 0));
    only_method = (struct bbf_cf_method){.name = {"ends", 4}, .access = PLAIN};
    assert_false(bbf_plan_inspect(&p->c, NULL, 0));
    assert_false(bbf_plan_class(&p->c, "java/lang/Thread", 16, &p->rules, &p->sites));
    planned_free(p);
}

/* Behind super.clone(), of whatever class: the look into the class asks for it, no option does. */
static void copies_are_looked_at_behind_super_clone(void **state)
{
    struct planned *p = planned_new("include=com.app");
    const struct bbf_cf_str owner = {"com/y/Buf", 9}, clone = {"clone", 5},
                            object = {"()Ljava/lang/Object;", 20}, own = {"()Lcom/y/Buf;", 13};
    struct bbf_cf_method m = {.name = {"copy", 4}, .descriptor = {"()V", 3}, .access = PLAIN};
    struct bbf_cf_call call;
    (void)state;
    only_method = (struct bbf_cf_method){
        .name = clone, .descriptor = object, .access = PLAIN, .super_name = {"java/util/List", 14}};
    assert_false(bbf_plan_class(&p->c, "com/y/Any", 9, &p->rules, &p->sites));
    assert_false(bbf_plan_inspect(&p->c, NULL, 0)); /* its super class is no buffer */
    only_method.super_name = owner;
    assert_false(bbf_plan_class(&p->c, "com/y/Any", 9, &p->rules, &p->sites));
    assert_true(bbf_plan_inspect(&p->c, NULL, 0));
    bbf_plan_config(&p->config, &p->c);
    assert_true(p->config.interesting(&p->c, "clone", 5));
    assert_false(p->config.interesting(&p->c, "close", 5));
    p->plan = (struct bbf_cf_plan){.entry = p->entry};
    p->config.plan(&p->c, &only_method, &p->plan);
    describe(p);
    assert_string_equal(p->text, "+C");
    assert_true(p->config.always_after(clone, object, 183));
    assert_false(p->config.always_after(clone, object, 182)); /* an array's, another object's */
    assert_false(p->config.always_after(clone, own, 183));    /* ends in one that gives Object */
    assert_true(p->config.after_call(&p->c, &m, owner, clone, object, 183, &call));
    assert_string_equal(p->config.targets[call.target].method, "copied");
    assert_int_equal(call.n_args, 2);
    assert_int_equal(call.args[0].push, BBF_CF_DUP);
    assert_int_equal(call.args[1].push, BBF_CF_ALOAD);
    assert_int_equal(call.args[1].value, 0);
    assert_false(p->config.after_call(&p->c, &m, owner, clone, object, 182, &call));
    overwritten = 0;
    assert_false(p->config.after_call(&p->c, &m, owner, clone, object, 183, &call));
    overwritten = UINT16_MAX;
    m.access = STATIC; /* access$000(Buf) has the object first; ()V has none */
    assert_false(p->config.after_call(&p->c, &m, owner, clone, object, 183, &call));
    m.descriptor = (struct bbf_cf_str){"(Lcom/y/Buf;)Ljava/lang/Object;", 31};
    assert_true(p->config.after_call(&p->c, &m, owner, clone, object, 183, &call));
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
        cmocka_unit_test(parameters_are_found_at_any_place),
        cmocka_unit_test(objects_everywhere_when_asked_for),
        cmocka_unit_test(containers_are_looked_into_by_the_generic_signature),
        cmocka_unit_test(what_a_decoder_adds_is_a_step_at_its_end),
        cmocka_unit_test(a_method_of_255_parameters_steps_each),
        cmocka_unit_test(a_malformed_descriptor_is_read_to_its_end_only),
        cmocka_unit_test(a_returned_buffer_that_came_in_is_no_return),
        cmocka_unit_test(constructors_are_stepped_when_they_are_listed),
        cmocka_unit_test(methods_that_only_forward_are_left_out),
        cmocka_unit_test(a_buffer_that_a_call_returned_is_a_step),
        cmocka_unit_test(messages_are_looked_at_in_handlers),
        cmocka_unit_test(tracked_objects_are_followed_from_constructor_to_closing_method),
        cmocka_unit_test(copies_are_looked_at_behind_super_clone),
        cmocka_unit_test(the_cheap_question_lets_every_tracked_type_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
