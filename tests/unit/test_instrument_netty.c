/* link: bbf_trie bbf_core */
/* Which of Netty's own methods get which hook, in which version, relocated or not. */
#include "tests/unit/plan_text.h"

static void classes_tell_whose_counters_a_buffer_is_part_of(void **state)
{
    static const struct {
        const char *name;
        int pool; /* -1: no pool */
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
struct hooked {
    const char *class_name; /* behind io/netty/buffer/ */
    uint16_t access;
    const char *method, *descriptor, *expected;
};

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
    {"AbstractReferenceCountedByteBuf", PLAIN, "retain", "()" BUF, "checkUse(a0,1) R:refs(a0,1)"},
    {"AbstractReferenceCountedByteBuf", PLAIN, "retain", "(I)" BUF, "checkUse(a0,1) R:refs(a0,i1)"},
    {"AbstractReferenceCountedByteBuf", PLAIN, "release", "()Z", "checkUse(a0,0)"},
    {"AbstractReferenceCountedByteBuf", PLAIN, "release", "(I)Z", "releaseN(a0,i1)"},
    {"AbstractReferenceCountedByteBuf", 2, "handleRelease", "(Z)Z", "release(a0,i1) +C"},
    {"AbstractReferenceCountedByteBuf", 20, "setRefCnt", "(I)V", "recount(a0,i1)"},
    {"AbstractReferenceCountedByteBuf", 20, "resetRefCnt", "()V", "recount(a0,1)"},
    {"AbstractPooledDerivedByteBuf", 16, "init",
     "(Lio/netty/buffer/AbstractByteBuf;" BUF "III)Lio/netty/buffer/AbstractPooledDerivedByteBuf;",
     "derive(a0,a2,#ByteBuf.retained)"},
    {"AbstractPooledDerivedByteBuf", 16, "init", "(Lio/netty/buffer/AbstractByteBuf;III)" BUF,
     "derive(a0,a1,#ByteBuf.retained)"}, /* 4.1.0 */
    {"AbstractByteBuf", 20, "ensureAccessible", "()V", "T:reportAccess(a0)"},
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
                "V:confirmMisuse()");
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

/* Only behind the call that gives the buffer back; nothing else of that method is asked about. */
static void what_a_pool_got_back_is_looked_at_behind_deallocate(void **state)
{
    const char *name = "io/netty/buffer/AbstractReferenceCountedByteBuf";
    struct planned *p = planned_new("include=com.app");
    struct bbf_cf_method m = {.name = {"handleRelease", 13}};
    struct bbf_cf_str owner = {name, strlen(name)}, none = {"()V", 3}, back = {"deallocate", 10},
                      other = {"close", 5};
    struct bbf_cf_call call;
    (void)state;
    assert_plan(p, name, 2, "handleRelease", "(Z)Z", "release(a0,i1) +C");
    assert_true(p->config.after_call(p->config.ctx, &m, owner, back, none, 182, &call));
    assert_string_equal(p->config.targets[call.target].method, "givenBack");
    assert_int_equal(call.n_args, 1);
    assert_false(p->config.after_call(p->config.ctx, &m, owner, other, none, 182, &call));
    m.name = (struct bbf_cf_str){"release", 7};
    assert_false(p->config.after_call(p->config.ctx, &m, owner, back, none, 182, &call));
    planned_free(p);
}

/* Plan a method of the class that was inspected last. */
static void replan(struct planned *p, struct bbf_cf_method *m)
{
    m->class_name = p->c.name;
    p->plan = (struct bbf_cf_plan){.entry = p->entry};
    p->config.plan(p->config.ctx, m, &p->plan);
    describe(p);
}

/* Before 4.1.35 there is no handleRelease(): the class file does not have the name. */
static void an_old_release_is_seen_before_deallocate(void **state)
{
    static const uint8_t old[] = "…release0…deallocate…", now[] = "…handleRelease…deallocate…";
    const char *name = "io/netty/buffer/AbstractReferenceCountedByteBuf";
    const struct bbf_cf_str owner = {name, strlen(name)}, none = {"()V", 3},
                            back = {"deallocate", 10}, i = {"(I)Z", 4};
    struct planned *p = planned_new("include=com.app");
    struct bbf_cf_method m = {.name = {"release0", 8}, .descriptor = i, .access = 2};
    struct bbf_cf_call call;
    (void)state;
    plan_of(p, name, 2, "release0", "(I)Z");
    assert_string_equal(p->text, "");
    assert_true(bbf_plan_inspect(&p->c, now, sizeof now));
    assert_false(p->c.releases_itself);
    assert_true(bbf_plan_inspect(&p->c, old, sizeof old));
    bbf_plan_config(&p->config, &p->c);
    replan(p, &m);
    assert_string_equal(p->text, "B:release(a0,1) +C");
    assert_string_equal(p->plan.before_name, "deallocate");
    assert_string_equal(p->plan.before_descriptor, "()V");
    assert_true(p->config.after_call(p->config.ctx, &m, owner, back, none, 182, &call));
    assert_string_equal(p->config.targets[call.target].method, "givenBack");
    m.name = (struct bbf_cf_str){"release", 7};
    replan(p, &m);
    assert_string_equal(p->text, "releaseN(a0,i1) release(a0,0) B:release(a0,1) +C");
    m = (struct bbf_cf_method){.name = {"toLiveRealCnt", 13}, .access = STATIC};
    replan(p, &m);
    assert_string_equal(p->text, "");
    planned_free(p);
}

static void each_retain_and_release_is_a_step_when_asked_for(void **state)
{
    struct planned *p = planned_new("include=com.app,refs=on");
    const char *name = "io/netty/buffer/AbstractReferenceCountedByteBuf";
    (void)state;
    assert_plan(p, name, PLAIN, "retain", "()" BUF, "counting(a0,1) checkUse(a0,1) R:refs(a0,1)");
    assert_plan(p, name, PLAIN, "release", "()Z", "counting(a0,0) checkUse(a0,0)");
    assert_plan(p, name, PLAIN, "release", "(I)Z", "counting(a0,0) releaseN(a0,i1)");
    assert_plan(p, name, 2, "handleRelease", "(Z)Z", "release(a0,i1) +C");
    assert_true(bbf_plan_is_refcount_class("a/netty/buffer/AbstractReferenceCountedByteBuf", 46));
    assert_false(bbf_plan_is_refcount_class("io/netty/buffer/AbstractByteBuf", 31));
    planned_free(p);
}

#define CTX     "Lio/netty/channel/ChannelHandlerContext;"
#define CHANNEL "Lio/netty/channel/socket/SocketChannel;"

static void with_context_steps_say_where_they_were_seen(void **state)
{
    struct planned *p = planned_new("include=com.app,context=on");
    const char *handler = "com/app/H";
    (void)state;
    assert_plan(p, handler, PLAIN, "channelRead", "(" CTX "Ljava/lang/Object;)V",
                "stepSeenIn(a2,a1,#H.channelRead) H:caught(dup,#H.channelRead) +C");
    assert_plan(p, handler, STATIC, "two", "(J" BUF BUF CHANNEL "[" CTX ")V",
                "stepSeenIn(a2,a4,#H.two|1) stepSeenIn(a3,a4,#H.two|1) H:caught(dup,#H.two) +C");
    assert_plan(p, handler, PLAIN, "plain", "(" BUF ")V",
                "stepSeen(a1,#H.plain|1) H:caught(dup,#H.plain) +C");
    assert_plan(p, handler, PLAIN, "active", "(" CTX ")V", "H:caught(dup,#H.active) +C");
    assert_plan(p, handler, PLAIN, "none", "(ILjava/lang/String;)V", "+C");
    overwritten = 1;
    assert_plan(p, handler, PLAIN, "stored", "(" CTX BUF ")V",
                "stepSeen(a2,#H.stored|1) H:caught(dup,#H.stored) +C");
    overwritten = UINT16_MAX;
    planned_free(p);
}

static void with_scopes_event_loops_say_what_they_have_in_hand(void **state)
{
    static const struct {
        const char *name, *method, *descriptor, *plan;
        uint16_t access;
    } rows[] = {
        {"channel/DefaultChannelPipeline", "<init>", "(Lio/netty/channel/Channel;)V",
         "madeChannel(a1)", PLAIN},
        {"channel/DefaultChannelPipeline", "fireChannelActive",
         "()Lio/netty/channel/ChannelPipeline;", "fires(a0)", PLAIN},
        {"channel/DefaultChannelPipeline", "fireChannelActive",
         "()Lio/netty/channel/ChannelInboundInvoker;", "", BRIDGE},
        {"channel/DefaultChannelPipeline", "addLast", "()V", "", PLAIN},
        {"channel/DefaultMaxMessagesRecvByteBufAllocator$MaxMessageHandle", "reset",
         "(Lio/netty/channel/ChannelConfig;)V", "reads(a1)", PLAIN},
        {"channel/nio/AbstractNioChannel$AbstractNioUnsafe", "finishConnect", "()V", "reads(a0)",
         PLAIN},
        {"channel/epoll/AbstractEpollChannel$AbstractEpollUnsafe", "finishConnect", "()V",
         "reads(a0)", PLAIN},
        {"util/concurrent/SingleThreadEventExecutor", "addTask", "(Ljava/lang/Runnable;)V",
         "queues(a1)", PLAIN},
        {"util/concurrent/AbstractScheduledEventExecutor", "scheduleFromEventLoop",
         "(Lio/netty/util/concurrent/ScheduledFutureTask;)V", "queues(a1)", PLAIN},
        {"util/concurrent/AbstractEventExecutor", "safeExecute", "(Ljava/lang/Runnable;)V",
         "runsSafely(a0)", STATIC},
        {"util/concurrent/AbstractEventExecutor", "runTask", "(Ljava/lang/Runnable;)V", "runs(a0)",
         STATIC},
    };
    struct planned *p = planned_new("include=com.app,scopes=on"),
                   *off = planned_new("include=com.app");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[100];
        snprintf(name, sizeof name, "x/io/netty/%s", rows[i].name);
        assert_plan(p, name, rows[i].access, rows[i].method, rows[i].descriptor, rows[i].plan);
        assert_true(bbf_plan_is_of_scopes(name, strlen(name)));
        plan_of(off, name, rows[i].access, rows[i].method, rows[i].descriptor);
        assert_false(off->wanted); /* without scopes= the class is not read at all */
    }
    assert_false(bbf_plan_is_of_scopes("io/netty/channel/AbstractChannel", 32));
    planned_free(off);
    planned_free(p);
}

static void with_context_touches_and_a_pipeline_s_exceptions_are_noted(void **state)
{
    static const char *const touching[] = {
        "io/netty/buffer/AbstractReferenceCountedByteBuf", "io/netty/buffer/CompositeByteBuf",
        "x/io/netty/buffer/SimpleLeakAwareByteBuf", "io/netty/buffer/AdvancedLeakAwareByteBuf",
        "io/netty/buffer/AdvancedLeakAwareCompositeByteBuf"};
    const char *context = "io/netty/channel/AbstractChannelHandlerContext";
    struct planned *p = planned_new("include=com.app,context=on"),
                   *off = planned_new("include=com.app");
    (void)state;
    for (size_t i = 0; i < sizeof touching / sizeof *touching; i++) {
        assert_plan(p, touching[i], PLAIN, "touch", "(Ljava/lang/Object;)" BUF, "touched(a0,a1)");
        assert_plan(p, touching[i], BRIDGE, "touch", "(Ljava/lang/Object;)" BUF, "");
        assert_plan(p, touching[i], PLAIN, "touch", "()" BUF, "");
        assert_plan(off, touching[i], PLAIN, "touch", "(Ljava/lang/Object;)" BUF, "");
        assert_true(bbf_plan_is_of_context(touching[i], strlen(touching[i])));
    }
    assert_plan(p, context, 2, "invokeExceptionCaught", "(Ljava/lang/Throwable;)V",
                "pipelineCaught(a0,a1)");
    assert_plan(p, context, 8, "invokeExceptionCaught",
                "(Lio/netty/channel/AbstractChannelHandlerContext;Ljava/lang/Throwable;)V", "");
    plan_of(off, context, 2, "invokeExceptionCaught", "(Ljava/lang/Throwable;)V");
    assert_false(off->wanted);
    plan_of(off, "io/netty/buffer/SimpleLeakAwareByteBuf", PLAIN, "touch",
            "(Ljava/lang/Object;)" BUF);
    assert_false(off->wanted); /* without context= the class is not read at all */
    assert_true(bbf_plan_is_of_context(context, strlen(context)));
    assert_false(bbf_plan_is_of_context("io/netty/buffer/WrappedByteBuf", 30));
    planned_free(off);
    planned_free(p);
}

static void an_excluded_netty_keeps_its_hooks(void **state)
{
    struct planned *p = planned_new("include=com.app,exclude=io.netty");
    (void)state;
    assert_plan(p, "io/netty/buffer/AbstractReferenceCountedByteBuf", 2, "handleRelease", "(Z)Z",
                "release(a0,i1) +C");
    plan_of(p, "io/netty/buffer/ByteBufAllocator", PLAIN, "buffer", "()" BUF);
    assert_false(p->wanted);
    plan_of(p, "io/netty/buffer/sub/PooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF);
    assert_false(p->wanted); /* not Netty's package */
    plan_of(p, "com/app/PooledByteBufAllocator", 4, "newHeapBuffer", "(II)" BUF);
    assert_string_equal(p->text, "r:step(dup,#PooledByteBufAllocator.newHeapBuffer_return) +C");
    planned_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_tell_whose_counters_a_buffer_is_part_of),
        cmocka_unit_test(each_hook_stands_where_netty_opens_ends_and_links_lives),
        cmocka_unit_test(some_hooks_are_one_version_s),
        cmocka_unit_test(a_bridge_of_a_hooked_method_counts_nothing),
        cmocka_unit_test(a_hook_does_not_read_what_the_method_overwrote),
        cmocka_unit_test(the_errors_that_say_that_memory_ran_out_are_hooked_where_they_are_made),
        cmocka_unit_test(what_a_pool_got_back_is_looked_at_behind_deallocate),
        cmocka_unit_test(an_old_release_is_seen_before_deallocate),
        cmocka_unit_test(each_retain_and_release_is_a_step_when_asked_for),
        cmocka_unit_test(with_context_steps_say_where_they_were_seen),
        cmocka_unit_test(with_scopes_event_loops_say_what_they_have_in_hand),
        cmocka_unit_test(with_context_touches_and_a_pipeline_s_exceptions_are_noted),
        cmocka_unit_test(an_excluded_netty_keeps_its_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
