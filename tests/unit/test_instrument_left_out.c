/* link: bbf_trie bbf_core */
/*
 * What of Netty's own classes is no step (docs/adr/0032, 0036, 0074), and that it is one where
 * include= names the class, and in an application. All else of a plan: test_instrument_plan.c.
 */
#include "tests/unit/plan_text.h"

static const char decode[] = "(Ljava/lang/String;" BUF LIST ")V";

static void assert_plans(const char *options, const char *looked_at, const char *judged,
                         const char *decoded)
{
    struct planned *p = planned_new(options);
    assert_plan(p, "io/netty/buffer/ByteBufUtil", STATIC, "indexOf", "(" BUF BUF ")I", looked_at);
    assert_plan(p, "io/netty/handler/codec/Main", PLAIN, "acceptInboundMessage",
                "(Ljava/lang/Object;)Z", judged);
    signature = "(Ljava/lang/String;" BUF "Ljava/util/List<" BUF ">;)V";
    assert_plan(p, "io/netty/handler/codec/Main", PLAIN, "decode", decode, decoded);
    signature = "";
    planned_free(p);
}

/* docs/adr/0032: no place where a buffer is lost. A class that is named itself has them all. */
static void what_netty_only_looks_at_is_no_step(void **state)
{
    (void)state;
    assert_plans("include=io.netty", "+C", "+C", "step(a2,#Main.decode) +C");
    assert_plans("include=io.netty.buffer.ByteBufUtil+io.netty.handler.codec.Main",
                 "step2(a0,a1,#ByteBufUtil.indexOf) +C",
                 "stepObject(a1,#Main.acceptInboundMessage) +C",
                 "step(a2,#Main.decode) stepObject(a3,#Main.decode) "
                 "V:stepObject(a3,#Main.decode) +C");
}

static void assert_left(const char *options, const char *class_name, uint16_t access,
                        const char *method, const char *descriptor, const char *expected)
{
    struct planned *p = planned_new(options);
    assert_plan(p, class_name, access, method, descriptor, expected);
    planned_free(p);
}

/* Helpers and the parts of a codec (docs/adr/0074): of Netty alone, and not if they are named. */
static void what_only_reads_or_writes_is_no_step(void **state)
{
    static const char hpack[] = "io/netty/handler/codec/http2/HpackEncoder";
    static const char parser[] = "io/netty/handler/codec/http/HttpObjectDecoder$HeaderParser";
    static const char data[] = "io/netty/handler/codec/http2/DefaultHttp2DataFrame";
    static const char codec[] = "io/netty/handler/codec/Main";
    static const char stream[] = "io/netty/handler/codec/http2/AbstractHttp2StreamChannel";
    static const char bytes[] = "io/netty/handler/codec/ByteToMessageDecoder";
    static const char multiplex[] = "io/netty/handler/codec/http2/Http2MultiplexHandler";
    static const char stream_unsafe[] =
        "io/netty/handler/codec/http2/AbstractHttp2StreamChannel$Http2ChannelUnsafe";
    static const char frames[] = "io/netty/handler/codec/http2/DefaultHttp2FrameReader";
    static const char queue[] = "io/netty/channel/CoalescingBufferQueue";
    static const char all_queues[] = "io/netty/channel/AbstractCoalescingBufferQueue";
    static const char merge[] = "io/netty/handler/codec/ByteToMessageDecoder$1";
    static const char compose[] = "io/netty/handler/codec/ByteToMessageDecoder$2";
    static const char listener[] =
        "io/netty/handler/codec/http2/DefaultHttp2ConnectionDecoder$FrameReadListener";
    static const char epoll[] = "io/netty/channel/epoll/Handle";
    (void)state;
    assert_left("include=io.netty", hpack, PLAIN, "encodeHeader", "(" BUF ")V", "+C");
    assert_left("include=io.netty.handler.codec.http2.HpackEncoder", hpack, PLAIN, "encodeHeader",
                "(" BUF ")V", "step(a1,#HpackEncoder.encodeHeader) +C");
    assert_left("include=io.netty", codec, PLAIN, "isLastContentMessage", "(" HOLDER ")Z", "+C");
    assert_left("include=io.netty", codec, PLAIN, "issue", "(" HOLDER ")Z",
                "stepObject(a1,#Main.issue) +C");
    assert_left("include=io.netty", codec, PLAIN, "readHeaders", "(" BUF ")V", "+C");
    assert_left("include=io.netty+com.app", "com/app/Main", PLAIN, "readHeaders", "(" BUF ")V",
                "step(a1,#Main.readHeaders) +C");
    /* Http2FrameCodec's retains what an event of an upgrade has. */
    assert_left("include=io.netty", codec, PLAIN, "userEventTriggered", "(Ljava/lang/Object;)V",
                "stepObject(a1,#Main.userEventTriggered) +C");
    assert_left("include=io.netty", stream, PLAIN, "writeAndFlush", "(Ljava/lang/Object;)V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "writeAndFlush", "(Ljava/lang/Object;)V",
                "stepObject(a1,#Main.writeAndFlush) +C");
    assert_left("include=io.netty", parser, PLAIN, "parse", "(" BUF ")" BUF, "+C");
    assert_left("include=io.netty,trackConstructors=io.netty", parser, PLAIN, "<init>",
                "(" BUF ")V",
                "step(a1,#HttpObjectDecoder$HeaderParser.<init>) "
                "V:step(a1,#HttpObjectDecoder$HeaderParser.<init>_return) +C");
    assert_left("include=io.netty", data, PLAIN, "content", "()" BUF, "+C");
    assert_left("include=io.netty", data, PLAIN, "copy", "()" BUF,
                "r:step(dup,#DefaultHttp2DataFrame.copy_return) +C");
    assert_left("include=io.netty", "io/netty/buffer/ByteBufUtil", STATIC, "writeShortBE",
                "(" BUF "I)" BUF, "+C");
    assert_left("include=io.netty", "io/netty/buffer/ByteBufUtil", STATIC, "readBytes",
                "(" BUF "I)" BUF, "r:exit(dup,a0,#ByteBufUtil.readBytes_return) +C");
    assert_left("include=io.netty", "io/netty/buffer/CompositeByteBuf", PLAIN, "addComponent",
                "(Z" BUF ")Lio/netty/buffer/CompositeByteBuf;",
                "step(a2,#CompositeByteBuf.addComponent) +C");
    assert_left("include=io.netty", "io/netty/buffer/CompositeByteBuf", PLAIN, "addComponent0",
                "(ZI" BUF ")I", "+C");
    assert_left("include=com.app", "com/app/Data", PLAIN, "content", "()" BUF,
                "r:step(dup,#Data.content_return) +C");
    assert_left("include=io.netty", bytes, PLAIN, "callDecode", "(" BUF ")V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "callDecode", "(" BUF ")V",
                "step(a1,#Main.callDecode) +C");
    assert_left("include=io.netty", multiplex, PLAIN, "userEventTriggered", "(Ljava/lang/Object;)V",
                "+C");
    assert_left("include=io.netty", stream_unsafe, PLAIN, "write", "(Ljava/lang/Object;)V", "+C");
    assert_left("include=io.netty", stream_unsafe, PLAIN, "doRead0", "(" HOLDER ")V", "+C");
    assert_left("include=io.netty", frames, PLAIN, "readFrame", "(" BUF ")V", "+C");
    assert_left("include=io.netty", frames, PLAIN, "readDataFrame", "(" BUF ")V",
                "step(a1,#DefaultHttp2FrameReader.readDataFrame) +C");
    assert_left("include=io.netty", codec, PLAIN, "processFragment", "(" BUF ")V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "appendPartialContent", "(" BUF ")V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "encodeByteBufHttpContent", "(" BUF ")V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "encodeContentNonChunk", "(" BUF ")V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "encodeFullHttpMessage", "(" BUF ")V", "+C");
    assert_left("include=io.netty", codec, PLAIN, "encodeChunkedHttpContent", "(" BUF ")V",
                "step(a1,#Main.encodeChunkedHttpContent) +C");
    assert_left("include=io.netty", codec, PLAIN, "beginAggregation", "(" BUF ")" HOLDER, "+C");
    assert_left("include=com.app", "com/app/Main", PLAIN, "beginAggregation", "(" BUF ")" HOLDER,
                "step(a1,#Main.beginAggregation) "
                "r:exit(dup,a1,#Main.beginAggregation_return) +C");
    assert_left("include=io.netty", queue, PLAIN, "remove", "(I)" BUF, "+C");
    assert_left("include=io.netty", queue, PLAIN, "copy", "(I)" BUF,
                "r:step(dup,#CoalescingBufferQueue.copy_return) +C");
    assert_left("include=io.netty", all_queues, PLAIN, "remove", "(I)" BUF, "+C");
    assert_left("include=io.netty", all_queues, PLAIN, "removeFirst", "(I)" BUF, "+C");
    assert_left("include=io.netty", all_queues, PLAIN, "compose", "(I)" BUF,
                "r:step(dup,#AbstractCoalescingBufferQueue.compose_return) +C");
    assert_left("include=io.netty", merge, PLAIN, "cumulate", "(" BUF BUF ")V", "+C");
    assert_left("include=io.netty", compose, PLAIN, "cumulate", "(" BUF BUF ")V", "+C");
    assert_left("include=io.netty", bytes, PLAIN, "expandCumulation", "(" BUF BUF ")V",
                "step2(a1,a2,#ByteToMessageDecoder.expandCumulation) +C");
    assert_left("include=io.netty", listener, PLAIN, "onDataRead", "(" BUF ")V", "");
    assert_left(
        "include=io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder$FrameReadListener",
        listener, PLAIN, "onDataRead", "(" BUF ")V",
        "step(a1,#DefaultHttp2ConnectionDecoder$FrameReadListener.onDataRead) +C");
    assert_left("include=io.netty", epoll, PLAIN, "allocate", "(I)" BUF, "+C");
    assert_left("include=io.netty", codec, PLAIN, "allocate", "(I)" BUF,
                "r:step(dup,#Main.allocate_return) +C");
    assert_left("include=io.netty.channel.epoll.Handle", epoll, PLAIN, "allocate", "(I)" BUF,
                "r:step(dup,#Handle.allocate_return) +C");
}

/* Each buffer in the list of a codec of Netty's had its step before it was added. */
static void the_list_of_nettys_codecs_is_not_searched(void **state)
{
    static const char codec[] = "io/netty/handler/codec/Main";
    static const char descriptor[] = "(" BUF LIST ")V";
    (void)state;
    signature = "(" BUF "Ljava/util/List<Ljava/lang/Object;>;)V";
    assert_left("include=io.netty", codec, PLAIN, "decode", descriptor, "step(a1,#Main.decode) +C");
    assert_left("include=io.netty.handler.codec.Main", codec, PLAIN, "decode", descriptor,
                "step(a1,#Main.decode) stepObject(a2,#Main.decode) "
                "V:stepObject(a2,#Main.decode) +C");
    assert_left("include=com.app", "com/app/Main", PLAIN, "decode", descriptor,
                "step(a1,#Main.decode) stepObject(a2,#Main.decode) "
                "V:stepObject(a2,#Main.decode) +C");
    signature = "";
}

/* It has the name of what it calls. */
static void an_overload_that_only_calls_another_is_no_step(void **state)
{
    static const char queue[] = "io/netty/channel/Queue";
    (void)state;
    passed_to_overload = 1 << 1;
    assert_left("include=io.netty", queue, PLAIN, "add", "(" BUF ")V", "");
    assert_left("include=io.netty", queue, PLAIN, "add", "(" BUF ")" BUF, "");
    assert_left("include=io.netty", queue, PLAIN, "add", "(" BUF BUF ")V",
                "step2(a1,a2,#Queue.add) +C");
    assert_left("include=com.app", "com/app/Queue", PLAIN, "add", "(" BUF ")V",
                "step(a1,#Queue.add) +C");
    passed_to_overload = 0;
    assert_left("include=io.netty", queue, PLAIN, "add", "(" BUF ")V", "step(a1,#Queue.add) +C");
}

/* A parser of Netty's fills the same buffer for each header; what cumulate() returns is decoded
 * next; a holder had its step, and so had its content. */
static void what_a_codec_is_handed_back_is_no_step(void **state)
{
    static const struct bbf_cf_str descriptor = {"(" BUF ")" BUF, sizeof "(" BUF ")" BUF - 1};
    static const char parser[] = "io/netty/handler/codec/http/HttpObjectDecoder$HeaderParser";
    static const char cumulator[] = "io/netty/handler/codec/ByteToMessageDecoder$Cumulator";
    static const char decoder[] = "io/netty/handler/codec/http/HttpObjectDecoder";
    static const struct {
        const char *caller, *owner, *method;
        bool step;
    } table[] = {
        {decoder, parser, "parse", false},
        {decoder, "io/netty/handler/codec/Parser", "parse", true},
        {"com/app/Main", parser, "parse", true},
        {decoder, cumulator, "cumulate", false},
        {decoder, cumulator, "expand", true},
        {decoder, "io/netty/handler/codec/Cumulator", "cumulate", true},
        {"com/app/Main", cumulator, "cumulate", true},
        {decoder, "io/netty/buffer/ByteBufHolder", "content", false},
        {decoder, "io/netty/handler/codec/http/FullHttpRequest", "content", false},
        {decoder, "io/netty/handler/codec/http/multipart/FileUpload", "content", true},
        {decoder, "com/app/Message", "content", true},
        {decoder, "io/netty/buffer/ByteBufHolder", "replace", true},
        {"com/app/Main", "io/netty/buffer/ByteBufHolder", "content", true},
        {decoder, "io/netty/handler/codec/MessageAggregator", "beginAggregation", false},
        {"com/app/Main", "io/netty/handler/codec/MessageAggregator", "beginAggregation", true}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct planned *p = planned_new("include=io.netty+com.app");
        struct bbf_cf_method m = {.class_name = {table[i].caller, strlen(table[i].caller)},
                                  .name = {"m", 1},
                                  .descriptor = {"()V", 3}};
        struct bbf_cf_call call = {.known = false};
        plan_of(p, table[i].caller, PLAIN, "m", "()V");
        if (p->config.after_call(p->config.ctx, &m,
                                 (struct bbf_cf_str){table[i].owner, strlen(table[i].owner)},
                                 (struct bbf_cf_str){table[i].method, strlen(table[i].method)},
                                 descriptor, 0xb6, &call) != table[i].step ||
            call.known == table[i].step)
            fail_msg("row %zu", i);
        planned_free(p);
    }
}

/* Of Netty's own classes: an application's may have stored another buffer to the variable. */
static void a_cast_of_what_had_a_step_is_no_step(void **state)
{
    static const struct bbf_cf_str buffer = {"io/netty/buffer/ByteBuf", 23};
    static const char codec[] = "io/netty/handler/codec/Main";
    static const struct {
        const char *options, *class_name;
        bool given, step;
    } table[] = {{"include=io.netty", codec, true, false},
                 {"include=io.netty", codec, false, true},
                 {"include=io.netty.handler.codec.Main", codec, true, true},
                 {"include=com.app", "com/app/Main", true, true}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct planned *p = planned_new(table[i].options);
        struct bbf_cf_method m = {.class_name = {table[i].class_name, strlen(table[i].class_name)},
                                  .name = {"channelRead", 11},
                                  .descriptor = {"(Ljava/lang/Object;)V", 21}};
        struct bbf_cf_call call;
        plan_of(p, table[i].class_name, PLAIN, "channelRead", "(Ljava/lang/Object;)V");
        if (p->config.after_cast(p->config.ctx, &m, buffer, table[i].given, &call) != table[i].step)
            fail_msg("row %zu", i);
        planned_free(p);
    }
}

/* A decoder's list for its results, whatever the method's name is. One of buffers is an argument,
 * and an application's may be full. */
static void a_list_of_objects_is_for_results(void **state)
{
    static const char with_objects[] = "(" BUF "Ljava/util/List<Ljava/lang/Object;>;)V";
    static const char *const classes[] = {"io/netty/handler/codec/Main", "com/app/Main"};
    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        signature = with_objects;
        assert_left("include=io.netty+com.app", classes[i], PLAIN, "decodeChunk", "(" BUF LIST ")V",
                    i == 0 ? "step(a1,#Main.decodeChunk) +C"
                           : "step(a1,#Main.decodeChunk) stepObject(a2,#Main.decodeChunk) +C");
        signature = "(" BUF "Ljava/util/List<" BUF ">;)V";
        assert_left("include=io.netty+com.app", classes[i], PLAIN, "decodeChunk", "(" BUF LIST ")V",
                    "step(a1,#Main.decodeChunk) stepObject(a2,#Main.decodeChunk) +C");
    }
    signature = "";
}

/* A transport sends what it is given and releases it once: the step before says who lost it. */
static void what_netty_sends_is_no_step(void **state)
{
    static const char transport[] = "io/netty/channel/nio/AbstractNioChannel";
    static const struct bbf_cf_str buffer = {"io/netty/buffer/ByteBuf", 23};
    static const struct {
        const char *class_name, *method;
        bool cast;
    } table[] = {{transport, "doWriteInternal", false},
                 {transport, "filterOutboundMessage", false},
                 {transport, "doReadBytes", true},
                 {"io/netty/channel/local/LocalChannel", "readInbound", false},
                 {"io/netty/handler/traffic/AbstractTrafficShapingHandler", "calculateSize", false},
                 {"io/netty/handler/ssl/SslHandler", "doWriteInternal", true},
                 {"com/app/NioChannel", "filterOutboundMessage", true}};
    struct planned *p = planned_new("include=io.netty+com.app");
    (void)state;
    assert_plan(p, transport, PLAIN, "newDirectBuffer", "(" BUF ")" BUF,
                "r:exit(dup,a1,#AbstractNioChannel.newDirectBuffer_return) +C");
    assert_plan(p, transport, PLAIN, "doWriteBytes", "(" BUF ")I", "+C");
    assert_plan(p, transport, PLAIN, "doReadBytes", "(" BUF ")I",
                "step(a1,#AbstractNioChannel.doReadBytes) +C");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct bbf_cf_method m = {.class_name = {table[i].class_name, strlen(table[i].class_name)},
                                  .name = {table[i].method, strlen(table[i].method)},
                                  .descriptor = {"()V", 3}};
        struct bbf_cf_call call;
        plan_of(p, table[i].class_name, PLAIN, table[i].method, "()V");
        if (p->config.after_cast(p->config.ctx, &m, buffer, false, &call) != table[i].cast)
            fail_msg("%s.%s", table[i].class_name, table[i].method);
    }
    planned_free(p);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_netty_only_looks_at_is_no_step),
        cmocka_unit_test(what_only_reads_or_writes_is_no_step),
        cmocka_unit_test(the_list_of_nettys_codecs_is_not_searched),
        cmocka_unit_test(an_overload_that_only_calls_another_is_no_step),
        cmocka_unit_test(what_a_codec_is_handed_back_is_no_step),
        cmocka_unit_test(a_cast_of_what_had_a_step_is_no_step),
        cmocka_unit_test(a_list_of_objects_is_for_results),
        cmocka_unit_test(what_netty_sends_is_no_step),
        cmocka_unit_test(an_application_looks_at_nothing_without_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
