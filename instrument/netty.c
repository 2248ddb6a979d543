/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/netty.h"

#include <string.h>

static bool ends_with(const char *s, size_t len, const char *tail)
{
    size_t k = strlen(tail);
    return len >= k && memcmp(s + len - k, tail, k) == 0;
}

static bool equals(struct bbf_cf_str s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.s, text, s.len) == 0;
}

/* These tables are searched for each type that a class names: its length decides first. */
struct text {
    const char *s;
    size_t len;
};
#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static bool is_text(struct bbf_cf_str s, const struct text *text)
{
    return s.len == text->len && memcmp(s.s, text->s, s.len) == 0;
}

static bool starts_with(const char *s, size_t len, const char *head)
{
    size_t k = strlen(head);
    return len >= k && memcmp(s, head, k) == 0;
}

/* ---- packages ---- */

size_t bbf_netty_prefix(const char *name, size_t len)
{
    static const char *const packages[] = {"buffer/",    "channel/",  "handler/", "util/",
                                           "bootstrap/", "resolver/", "example/"};
    for (size_t i = 0; i + 6 < len; i++) {
        if ((i > 0 && name[i - 1] != '/') || memcmp(name + i, "netty/", 6) != 0)
            continue;
        for (size_t p = 0; p < sizeof packages / sizeof *packages; p++)
            if (starts_with(name + i + 6, len - i - 6, packages[p]))
                return i + 6;
    }
    return 0;
}

size_t bbf_netty_buffer_prefix(const char *name, size_t len)
{
    size_t prefix = bbf_netty_prefix(name, len);
    if (prefix == 0 || !starts_with(name + prefix, len - prefix, "buffer/"))
        return 0;
    return memchr(name + prefix + 7, '/', len - prefix - 7) == NULL ? prefix : 0;
}

/* Is it a class of Netty whose name behind "netty/" begins with one of these? */
static bool starts_with_one(const char *name, size_t len, const char *const *heads, size_t n)
{
    size_t prefix = bbf_netty_prefix(name, len);
    for (size_t i = 0; prefix > 0 && i < n; i++)
        if (starts_with(name + prefix, len - prefix, heads[i]))
            return true;
    return false;
}

bool bbf_netty_internal(const char *name, size_t len)
{
    static const char *const internals[] = {
        "util/",
        "buffer/Pool",
        "buffer/Unpooled",
        "buffer/Abstract",
        "buffer/Wrapped",
        "buffer/Adaptive",
        "buffer/UnsafeByteBufUtil",
        "buffer/SimpleLeakAware", /* they forward each call to the buffer that they watch */
        "buffer/AdvancedLeakAware",
        "buffer/CompositeByteBuf$",
        /* They forward each message to the next handler, or to the two handlers of a codec (ADR 32,
         * 36) ... */
        "channel/AbstractChannel", /* also its $AbstractUnsafe, and AbstractChannelHandlerContext */
        "channel/ChannelDuplexHandler",
        "channel/ChannelInboundHandlerAdapter",
        "channel/ChannelOutboundHandlerAdapter",
        "channel/CombinedChannelDuplexHandler",
        "channel/DefaultChannelPipeline",
        "channel/PreferHeapByteBufAllocator", /* or each request for memory to the next allocator */
        "channel/embedded/EmbeddedChannel",
        "handler/codec/http/HttpServerCodec$", /* a decoder and an encoder that count requests */
        "handler/codec/http2/DecoratingHttp2",
        "handler/codec/http2/DefaultHttp2ConnectionDecoder$", /* they hand frames to a listener */
        "handler/codec/http2/Http2ConnectionHandler$",
        "handler/codec/http2/Http2EmptyDataFrame",
        "handler/codec/http2/Http2FrameListenerDecorator",
        "handler/codec/http2/Http2InboundFrameLogger",
        "handler/codec/http2/Http2OutboundFrameLogger",
        /* ... measure it, or keep it until it is sent and then release it once. */
        "channel/ChannelOutboundBuffer",
        "channel/DefaultMessageSizeEstimator",
        "channel/unix/IovArray",
        "channel/unix/UnixChannelUtil",
    };
    return starts_with_one(name, len, internals, sizeof internals / sizeof *internals);
}

static bool is_netty(const char *name, size_t len, const char *rest)
{
    size_t prefix = bbf_netty_prefix(name, len);
    return prefix > 0 && equals((struct bbf_cf_str){name + prefix, len - prefix}, rest);
}

/* Is it in Netty's package of channels, or below? */
static bool is_in_channel(const char *name, size_t len)
{
    static const char *const package[] = {"channel/"};
    return starts_with_one(name, len, package, 1);
}

/* A transport's methods that send a message, or hand on what a local one received. A buffer that
 * they allocate for this still gets a step. */
static bool sends(const char *name, size_t len, struct bbf_cf_str method)
{
    return is_in_channel(name, len) &&
           (starts_with(method.s, method.len, "doWrite") || equals(method, "writeBytes") ||
            equals(method, "filterOutboundMessage") || equals(method, "newDirectBuffer") ||
            equals(method, "processMessage") || equals(method, "isSingleDirectBuffer") ||
            equals(method, "readInbound"));
}

/* Helpers that read and write bytes, and have no reference to a buffer when they return. Their
 * constructors may keep one. */
static bool has_only_helpers(const char *name, size_t len)
{
    static const char *const helpers[] = {
        "buffer/ByteBufUtil",
        "handler/codec/http/HttpHeadersEncoder",
        "handler/codec/http/HttpObjectDecoder$HeaderParser",
        "handler/codec/http/HttpObjectDecoder$LineParser",
        "handler/codec/http/HttpResponseStatus",
        "handler/codec/http/HttpUtil",
        "handler/codec/http/HttpVersion",
        "handler/codec/http2/Hpack",
        "handler/codec/http2/Http2CodecUtil",
        "handler/codec/http2/Http2FrameLogger",
    };
    return starts_with_one(name, len, helpers, sizeof helpers / sizeof *helpers);
}

/* isLast(), isAggregated(), … : what a message is. */
static bool is_predicate(struct bbf_cf_str method)
{
    return (method.len > 2 && method.s[0] == 'i' && method.s[1] == 's' && method.s[2] >= 'A' &&
            method.s[2] <= 'Z') ||
           equals(method, "acceptInboundMessage") || equals(method, "acceptOutboundMessage");
}

/* Parts of a codec: they measure, read or write some of a buffer that its decode() or encode(), a
 * step, has. */
static bool is_part_of_codec(struct bbf_cf_str method)
{
    static const struct text names[] = {
        TEXT("aggregate"),
        TEXT("appendPartialContent"),
        TEXT("beginAggregation"),
        TEXT("calculateSize"),
        TEXT("decodeFrame"),
        TEXT("decodeHeaders"),
        TEXT("encodeByteBufHttpContent"),
        TEXT("encodeContentNonChunk"),
        TEXT("encodeFullHttpMessage"),
        TEXT("encodeHeaders"),
        TEXT("encodeInitialLine"),
        TEXT("finishAggregation"),
        TEXT("finishAggregation0"),
        TEXT("getUnadjustedFrameLength"),
        TEXT("preProcessFrame"),
        TEXT("processFragment"),
        TEXT("processPayloadState"),
        TEXT("readHeaders"),
        TEXT("readPadding"),
        TEXT("receiveFlowControlledFrame"),
        TEXT("size"),
        TEXT("splitInitialLine"),
        TEXT("writePaddingLength"),
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_text(method, &names[i]))
            return true;
    return false;
}

/* Methods of one class each. */
static bool is_one_that_looks(const char *name, size_t len, struct bbf_cf_str method)
{
    static const struct {
        const char *class_name, *method;
    } these[] = {
        /* what addComponent(), a step, calls with the new component */
        {"buffer/CompositeByteBuf", "addComponent0"},
        {"buffer/CompositeByteBuf", "addComponents0"},
        {"buffer/CompositeByteBuf", "ensureAccessible"},
        {"buffer/CompositeByteBuf", "newComponent"},
        /* what channelRead(), a step, calls before it has decode() called, another one; what they
         * allocate has a step */
        {"handler/codec/ByteToMessageDecoder$1", "cumulate"},
        {"handler/codec/ByteToMessageDecoder$2", "cumulate"},
        {"handler/codec/ByteToMessageDecoder", "callDecode"},
        {"handler/codec/ByteToMessageDecoder", "decodeRemovalReentryProtection"},
        /* a stream's channel: on to the next pipeline */
        {"handler/codec/http2/AbstractHttp2StreamChannel", "write"},
        {"handler/codec/http2/AbstractHttp2StreamChannel", "writeAndFlush"},
        {"handler/codec/http2/AbstractHttp2StreamChannel$Http2ChannelUnsafe", "doRead0"},
        {"handler/codec/http2/AbstractHttp2StreamChannel$Http2ChannelUnsafe", "write"},
        /* what decode() calls, which has each kind of frame read by a method that is a step */
        {"handler/codec/http2/DefaultHttp2FrameReader", "readFrame"},
        /* eight of a request: the states of its stream, and what is handed on */
        {"handler/codec/http2/Http2MultiplexHandler", "userEventTriggered"},
    };
    for (size_t i = 0; i < sizeof these / sizeof *these; i++)
        if (equals(method, these[i].method) && is_netty(name, len, these[i].class_name))
            return true;
    return false;
}

bool bbf_netty_only_looks(const char *name, size_t len, struct bbf_cf_str method)
{
    return is_predicate(method) || is_part_of_codec(method) || sends(name, len, method) ||
           is_one_that_looks(name, len, method) ||
           (!equals(method, "<init>") && has_only_helpers(name, len));
}

/* Its result is the helper's own buffer, which it fills anew each time. */
static bool parses(const char *name, size_t len, struct bbf_cf_str method)
{
    return equals(method, "parse") && has_only_helpers(name, len);
}

bool bbf_netty_returns_known(const char *name, size_t len, struct bbf_cf_str method)
{
    if (is_netty(name, len, "buffer/ByteBufUtil"))
        return starts_with(method.s, method.len, "write") ||
               starts_with(method.s, method.len, "set") || equals(method, "ensureAccessible");
    if (is_netty(name, len, "buffer/CompositeByteBuf"))
        return starts_with(method.s, method.len, "add");
    if (is_netty(name, len, "channel/CoalescingBufferQueue"))
        return equals(method, "remove"); /* its superclass's, which is a step */
    if (is_netty(name, len, "channel/AbstractCoalescingBufferQueue"))
        return equals(method, "remove") || equals(method, "removeFirst"); /* cast or called there */
    if (equals(method, "allocate")) /* for the transport's read, where the result has a step */
        return is_in_channel(name, len);
    return equals(method, "content") || equals(method, "beginAggregation") || /* decode() has it */
           parses(name, len, method);
}

/* Of a holder, which a caller has from a parameter, a result or a cast: that had its step. What a
 * form uploads may be read from a file, into a new buffer. */
static bool is_content_of_holder(const char *name, size_t len, struct bbf_cf_str method)
{
    static const char *const uploads[] = {"handler/codec/http/multipart/"};
    return equals(method, "content") && bbf_netty_prefix(name, len) > 0 &&
           !starts_with_one(name, len, uploads, 1);
}

bool bbf_netty_hands_back(const char *name, size_t len, struct bbf_cf_str method)
{
    return parses(name, len, method) || is_content_of_holder(name, len, method) ||
           equals(method, "beginAggregation") || /* the holder of the content that it was given */
           (equals(method, "cumulate") &&
            is_netty(name, len, "handler/codec/ByteToMessageDecoder$Cumulator"));
}

bool bbf_netty_exhausted(const char *name, size_t len)
{
    return is_netty(name, len, "util/internal/OutOfDirectMemoryError");
}

bool bbf_netty_refused(const char *name, size_t len)
{
    return is_netty(name, len, "util/IllegalReferenceCountException");
}

/* ---- types ---- */

static const struct text holder_types[] = {
    TEXT("util/ReferenceCounted"),
    TEXT("buffer/ByteBufHolder"),
    TEXT("buffer/DefaultByteBufHolder"),
    TEXT("handler/codec/http/HttpContent"),
    TEXT("handler/codec/http/LastHttpContent"),
    TEXT("handler/codec/http/FullHttpMessage"),
    TEXT("handler/codec/http/FullHttpRequest"),
    TEXT("handler/codec/http/FullHttpResponse"),
    TEXT("handler/codec/http/multipart/HttpData"),
    TEXT("handler/codec/http/multipart/Attribute"),
    TEXT("handler/codec/http/multipart/FileUpload"),
    TEXT("handler/codec/http/multipart/InterfaceHttpData"),
    TEXT("handler/codec/http/websocketx/WebSocketFrame"),
    TEXT("handler/codec/http/websocketx/TextWebSocketFrame"),
    TEXT("handler/codec/http/websocketx/BinaryWebSocketFrame"),
    TEXT("handler/codec/http/websocketx/ContinuationWebSocketFrame"),
    TEXT("handler/codec/http/websocketx/PingWebSocketFrame"),
    TEXT("handler/codec/http/websocketx/PongWebSocketFrame"),
    TEXT("handler/codec/http/websocketx/CloseWebSocketFrame"),
    TEXT("handler/codec/http2/Http2DataFrame"),
    TEXT("handler/codec/http2/Http2GoAwayFrame"),
    TEXT("handler/codec/http2/Http2UnknownFrame"),
    TEXT("handler/codec/dns/DnsRawRecord"),
    TEXT("handler/codec/memcache/MemcacheContent"),
    TEXT("handler/codec/mqtt/MqttPublishMessage"),
    TEXT("handler/codec/redis/BulkStringRedisContent"),
    TEXT("handler/codec/smtp/SmtpContent"),
    TEXT("handler/codec/stomp/StompContentSubframe"),
    TEXT("handler/codec/stomp/StompFrame"),
    TEXT("channel/socket/DatagramPacket"),
    TEXT("channel/AddressedEnvelope"),
    TEXT("handler/codec/http/DefaultHttpContent"),
    TEXT("handler/codec/http/DefaultLastHttpContent"),
    TEXT("handler/codec/http/DefaultFullHttpRequest"),
    TEXT("handler/codec/http/DefaultFullHttpResponse"),
    TEXT("handler/codec/http2/DefaultHttp2DataFrame"),
    TEXT("handler/codec/spdy/SpdyDataFrame"),
    TEXT("handler/codec/memcache/LastMemcacheContent"),
    TEXT("handler/codec/memcache/binary/FullBinaryMemcacheRequest"),
    TEXT("handler/codec/memcache/binary/FullBinaryMemcacheResponse"),
    TEXT("handler/codec/redis/FullBulkStringRedisMessage"),
    TEXT("handler/codec/redis/LastBulkStringRedisContent"),
    TEXT("handler/codec/smtp/LastSmtpContent"),
    TEXT("handler/codec/stomp/LastStompContentSubframe"),
    TEXT("handler/codec/haproxy/HAProxyTLV"),
    TEXT("handler/codec/haproxy/HAProxyMessage"),
    TEXT("handler/codec/redis/ArrayRedisMessage"),
    TEXT("handler/ssl/PemEncoded"),
    TEXT("channel/sctp/SctpMessage"),
    TEXT("channel/unix/DomainDatagramPacket"),
};

/* The message types that handlers of a whole protocol declare; some of these messages hold a
 * buffer. */
static const struct text message_types[] = {
    TEXT("handler/codec/http/HttpObject"),
    TEXT("handler/codec/http/HttpMessage"),
    TEXT("handler/codec/http/HttpRequest"),
    TEXT("handler/codec/http/HttpResponse"),
    TEXT("handler/codec/http2/Http2Frame"),
    TEXT("handler/codec/http2/Http2StreamFrame"),
    TEXT("handler/codec/spdy/SpdyFrame"),
    TEXT("handler/codec/dns/DnsRecord"),
    TEXT("handler/codec/dns/DnsMessage"),
    TEXT("handler/codec/dns/DnsQuery"),
    TEXT("handler/codec/dns/DnsResponse"),
    TEXT("handler/codec/memcache/MemcacheMessage"),
    TEXT("handler/codec/memcache/MemcacheObject"),
    TEXT("handler/codec/memcache/binary/BinaryMemcacheRequest"),
    TEXT("handler/codec/memcache/binary/BinaryMemcacheResponse"),
    TEXT("handler/codec/mqtt/MqttMessage"),
    TEXT("handler/codec/redis/RedisMessage"),
    TEXT("handler/codec/stomp/StompSubframe"),
};

enum bbf_type bbf_netty_type(const char *name, size_t len)
{
    size_t prefix = bbf_netty_prefix(name, len);
    if (prefix == 0)
        return BBF_TYPE_NONE;
    struct bbf_cf_str rest = {name + prefix, len - prefix};
    if (equals(rest, "buffer/ByteBuf"))
        return BBF_TYPE_BYTEBUF;
    if (bbf_netty_buffer_prefix(name, len) != 0 && ends_with(name, len, "ByteBuf"))
        return BBF_TYPE_BUFFER;
    for (size_t i = 0; i < sizeof holder_types / sizeof *holder_types; i++)
        if (is_text(rest, &holder_types[i]))
            return BBF_TYPE_HOLDER;
    for (size_t i = 0; i < sizeof message_types / sizeof *message_types; i++)
        if (is_text(rest, &message_types[i]))
            return BBF_TYPE_MESSAGE;
    return BBF_TYPE_NONE;
}

static const struct text handler_methods[] = {
    TEXT("channelRead"), TEXT("channelRead0"),         TEXT("messageReceived"),
    TEXT("write"),       TEXT("writeAndFlush"),        TEXT("encode"),
    TEXT("decode"),      TEXT("userEventTriggered"),   TEXT("decodeLast"),
    TEXT("callDecode"),  TEXT("acceptInboundMessage"), TEXT("acceptOutboundMessage"),
};

bool bbf_netty_handler_method(struct bbf_cf_str name)
{
    for (size_t i = 0; i < sizeof handler_methods / sizeof *handler_methods; i++)
        if (is_text(name, &handler_methods[i]))
            return true;
    return false;
}

bool bbf_netty_adds_to_list(struct bbf_cf_str method)
{
    return equals(method, "decode") || equals(method, "decodeLast") || equals(method, "encode");
}

bool bbf_netty_interesting(const char *utf8, size_t len)
{
    /* The name of each tracked type contains "netty/" and one of these, in a descriptor or as a
     * class. */
    if (len >= 11 && (memmem(utf8, len, "ByteBuf", 7) != NULL ||
                      (memmem(utf8, len, "netty/", 6) != NULL && bbf_netty_prefix(utf8, len) != 0)))
        return true;
    if (len > 12 && utf8[0] == '(' && memmem(utf8, len, "netty/", 6) != NULL)
        return true;
    return bbf_netty_handler_method((struct bbf_cf_str){utf8, len});
}

bool bbf_netty_chunk(const char *class_name, size_t class_len, const char *type, size_t type_len)
{
    size_t prefix = bbf_netty_buffer_prefix(class_name, class_len);
    return prefix > 0 && ends_with(type, type_len, "netty/buffer/AbstractByteBuf") &&
           starts_with(class_name + prefix, class_len - prefix, "buffer/Adaptive");
}

/* ---- hooks ---- */

#define ALLOCATOR(name)                                                                            \
    {name, "newHeapBuffer", "(II)", BBF_HOOK_ROOT, "heapBuffer", BBF_MEM_HEAP, false, 1},          \
    {                                                                                              \
        name, "newDirectBuffer", "(II)", BBF_HOOK_ROOT, "directBuffer", BBF_MEM_DIRECT, false, 1   \
    }
#define COMPOSITES(name)                                                                           \
    {name,                                                                                         \
     "compositeHeapBuffer",                                                                        \
     "(I)",                                                                                        \
     BBF_HOOK_ROOT,                                                                                \
     "compositeBuffer",                                                                            \
     BBF_MEM_COMPOSITE,                                                                            \
     false,                                                                                        \
     BBF_NO_SIZE},                                                                                 \
    {                                                                                              \
        name, "compositeDirectBuffer", "(I)", BBF_HOOK_ROOT, "compositeBuffer", BBF_MEM_COMPOSITE, \
            false, BBF_NO_SIZE                                                                     \
    }
#define WRAPS(descriptor, harmless, size)                                                          \
    {                                                                                              \
        "Unpooled", "wrappedBuffer", descriptor, BBF_HOOK_ROOT_KEEP, "wrappedBuffer",              \
            BBF_MEM_UNKNOWN, harmless, size                                                        \
    }
#define PLAIN(name, method, descriptor, kind)                                                      \
    {                                                                                              \
        name, method, descriptor, kind, NULL, BBF_MEM_UNKNOWN, false, BBF_NO_SIZE                  \
    }
#define RESIZED(name) PLAIN(name, "capacity", "(I)", BBF_HOOK_RESIZED)
#define ALIAS(name)   PLAIN(name, "<init>", "(L", BBF_HOOK_ALIAS)

static const struct bbf_netty_hook hooks[] = {
    ALLOCATOR("PooledByteBufAllocator"),
    ALLOCATOR("UnpooledByteBufAllocator"),
    ALLOCATOR("AdaptiveByteBufAllocator"),
    COMPOSITES("AbstractByteBufAllocator"),
    COMPOSITES("UnpooledByteBufAllocator"),
    {"ByteBufUtil", "threadLocalDirectBuffer", "()", BBF_HOOK_ROOT, "threadLocalDirectBuffer",
     BBF_MEM_DIRECT, false, BBF_NO_SIZE},
    WRAPS("([B)", true, BBF_ARRAY_SIZE | 0),
    WRAPS("(Ljava/nio/ByteBuffer;)", true, BBF_NO_SIZE),
    WRAPS("(JIZ)", false, BBF_NO_SIZE),
    WRAPS("(I[L", false, BBF_NO_SIZE),
    WRAPS("(IL", false, BBF_NO_SIZE),
    {"Unpooled", "wrappedUnmodifiableBuffer", "(Z[L", BBF_HOOK_ROOT_KEEP,
     "wrappedUnmodifiableBuffer", BBF_MEM_UNKNOWN, false, BBF_NO_SIZE},
    {"Unpooled", "compositeBuffer", "(I)", BBF_HOOK_ROOT_KEEP, "compositeBuffer", BBF_MEM_COMPOSITE,
     false, BBF_NO_SIZE},
    PLAIN("AbstractReferenceCountedByteBuf", BBF_HANDLE_RELEASE, "(Z)", BBF_HOOK_RELEASE),
    PLAIN("AbstractReferenceCountedByteBuf", "release", "(I)", BBF_HOOK_RELEASE_N),
    PLAIN("AbstractReferenceCountedByteBuf", "release", "()", BBF_HOOK_RELEASE_ONE),
    PLAIN("AbstractReferenceCountedByteBuf", "retain", "(", BBF_HOOK_RETAIN),
    PLAIN("AbstractReferenceCountedByteBuf", "setRefCnt", "(I)", BBF_HOOK_RECOUNT),
    PLAIN("AbstractReferenceCountedByteBuf", "resetRefCnt", "()", BBF_HOOK_RECOUNT),
    {"AbstractPooledDerivedByteBuf", "init", "(L", BBF_HOOK_DERIVE, "retained", BBF_MEM_UNKNOWN,
     false, BBF_NO_SIZE},
    PLAIN("AbstractByteBuf", "ensureAccessible", "()", BBF_HOOK_MISUSE),
    RESIZED("PooledByteBuf"),
    RESIZED("UnpooledHeapByteBuf"),
    RESIZED("UnpooledDirectByteBuf"),
    RESIZED("UnpooledUnsafeNoCleanerDirectByteBuf"),
    RESIZED("AdaptivePoolingAllocator$AdaptiveByteBuf"),
    PLAIN("WrappedByteBuf", "<init>", "(L", BBF_HOOK_WRAP),
    ALIAS("SwappedByteBuf"),
    ALIAS("WrappedCompositeByteBuf"),
    ALIAS("DuplicatedByteBuf"),
    ALIAS("ReadOnlyByteBuf"),
    ALIAS("AbstractUnpooledSlicedByteBuf"),
    PLAIN("AbstractPooledDerivedByteBuf$PooledNonRetainedSlicedByteBuf", "<init>", "(L",
          BBF_HOOK_ALIAS_TEST),
    PLAIN("AbstractPooledDerivedByteBuf$PooledNonRetainedDuplicateByteBuf", "<init>", "(L",
          BBF_HOOK_ALIAS_TEST),
    PLAIN("UnreleasableByteBuf", "<init>", "(L", BBF_HOOK_UNRELEASABLE),
    PLAIN("EmptyByteBuf", "<init>", "(", BBF_HOOK_NEVER),
    PLAIN("AdaptiveByteBufAllocator$HeapChunkAllocator", "allocate", "(II)", BBF_HOOK_CHUNK),
    PLAIN("AdaptiveByteBufAllocator$DirectChunkAllocator", "allocate", "(II)", BBF_HOOK_CHUNK),
    /* Every component enters and leaves a composite through these three (4.1.48, 4.1.140,
     * 4.2.20). */
    PLAIN("CompositeByteBuf", "newComponent", "(L", BBF_HOOK_ADOPT),
    PLAIN("CompositeByteBuf", "addFlattenedComponents", "(ZL", BBF_HOOK_ADOPT_LAST),
    PLAIN("CompositeByteBuf", "removeCompRange", "(II)", BBF_HOOK_DISOWN),
    PLAIN("FixedCompositeByteBuf", "<init>", "(L", BBF_HOOK_ADOPT_ALL),
};

const struct bbf_netty_hook *bbf_netty_hook_of(struct bbf_cf_str simple, struct bbf_cf_str method,
                                               struct bbf_cf_str descriptor)
{
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (equals(simple, hooks[i].class_name) && equals(method, hooks[i].method) &&
            starts_with(descriptor.s, descriptor.len, hooks[i].descriptor))
            return &hooks[i];
    return NULL;
}

bool bbf_netty_gives_back(struct bbf_cf_str called, struct bbf_cf_str descriptor)
{
    return equals(called, BBF_DEALLOCATE) && equals(descriptor, "()V");
}

bool bbf_netty_touches(struct bbf_cf_str simple)
{
    /* Views and other wrappers call that of their owner. */
    static const char *const classes[] = {"AbstractReferenceCountedByteBuf", "CompositeByteBuf",
                                          "SimpleLeakAwareByteBuf", "AdvancedLeakAwareByteBuf",
                                          "AdvancedLeakAwareCompositeByteBuf"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (equals(simple, classes[i]))
            return true;
    return false;
}

bool bbf_netty_gets_exceptions(const char *name, size_t len)
{
    return ends_with(name, len, "netty/channel/AbstractChannelHandlerContext");
}

bool bbf_netty_channel_type(const char *name, size_t len)
{
    return is_in_channel(name, len) &&
           (ends_with(name, len, "/ChannelHandlerContext") || ends_with(name, len, "Channel"));
}

bool bbf_netty_hooked_class(struct bbf_cf_str simple)
{
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (equals(simple, hooks[i].class_name))
            return true;
    return false;
}

/* ---- fields ---- */

static const struct bbf_netty_field fields[] = {
    /* The owner is the object that has the reference count; so PooledNonRetained* come before the
     * views they extend. */
    {"buffer/AbstractPooledDerivedByteBuf$PooledNonRetainedSlicedByteBuf", "referenceCountDelegate",
     true},
    {"buffer/AbstractPooledDerivedByteBuf$PooledNonRetainedDuplicateByteBuf",
     "referenceCountDelegate", true},
    {"buffer/WrappedByteBuf", "buf", true},
    {"buffer/SwappedByteBuf", "buf", true},
    {"buffer/WrappedCompositeByteBuf", "wrapped", true},
    {"buffer/DuplicatedByteBuf", "buffer", true},
    {"buffer/ReadOnlyByteBuf", "buffer", true},
    {"buffer/AbstractUnpooledSlicedByteBuf", "buffer", true},
    {"handler/codec/ReplayingDecoderByteBuf", "buffer", true},
    {"buffer/CompositeByteBuf$Component", "srcBuf", false},
    {"buffer/DefaultByteBufHolder", "data", false},
    {"handler/codec/http/DefaultHttpContent", "content", false},
    {"handler/codec/http/DefaultFullHttpRequest", "content", false},
    {"handler/codec/http/DefaultFullHttpResponse", "content", false},
    {"handler/codec/http/HttpObjectAggregator$AggregatedFullHttpMessage", "content", false},
    {"handler/codec/http/multipart/AbstractMemoryHttpData", "byteBuf", false},
    {"handler/codec/http/multipart/AbstractMixedHttpData", "wrapped", false},
    {"handler/codec/http/multipart/MixedAttribute", "attribute", false},
    {"handler/codec/http/multipart/MixedFileUpload", "fileUpload", false},
    {"handler/codec/http2/DefaultHttp2DataFrame", "content", false},
    {"handler/codec/dns/DefaultDnsRawRecord", "content", false},
    {"handler/codec/stomp/DefaultStompFrame", "content", false},
    {"handler/codec/mqtt/MqttMessage", "payload", false},
    {"handler/codec/http/multipart/HttpPostRequestEncoder$WrappedFullHttpRequest", "content",
     false},
    {"handler/codec/http/HttpServerUpgradeHandler$UpgradeEvent", "upgradeRequest", false},
    {"handler/codec/spdy/DefaultSpdyDataFrame", "data", false},
    {"handler/codec/memcache/DefaultMemcacheContent", "content", false},
    {"handler/codec/memcache/binary/DefaultFullBinaryMemcacheRequest", "content", false},
    {"handler/codec/memcache/binary/DefaultFullBinaryMemcacheResponse", "content", false},
    {"handler/codec/memcache/binary/AbstractBinaryMemcacheMessage", "key", false},
    /* It has four lists, of one record or many; the data is in this one. */
    {"handler/codec/dns/AbstractDnsMessage", "answers", false},
    {"handler/codec/haproxy/HAProxyMessage", "tlvs", false},
    {"handler/codec/redis/ArrayRedisMessage", "children", false},
    {"handler/ssl/PemPrivateKey", "content", false},
    {"handler/ssl/PemX509Certificate", "content", false},
    {"handler/ssl/PemValue", "content", false},
    /* They hold no buffer, or a file. */
    {"handler/codec/http/LastHttpContent$1", NULL, false},
    {"handler/codec/http/ComposedLastHttpContent", NULL, false},
    {"handler/codec/http/multipart/AbstractDiskHttpData", NULL, false},
    {"handler/codec/memcache/LastMemcacheContent$1", NULL, false},
    {"handler/codec/redis/LastBulkStringRedisContent$1", NULL, false},
    {"handler/codec/smtp/LastSmtpContent$1", NULL, false},
    {"handler/codec/stomp/LastStompContentSubframe$1", NULL, false},
    {"channel/DefaultAddressedEnvelope", "message", false},
};

size_t bbf_netty_fields(const struct bbf_netty_field **out)
{
    *out = fields;
    return sizeof fields / sizeof *fields;
}

enum bbf_memory bbf_netty_memory(const char *simple_name)
{
    if (strstr(simple_name, "Composite") != NULL)
        return BBF_MEM_COMPOSITE;
    if (strstr(simple_name, "Direct") != NULL)
        return BBF_MEM_DIRECT;
    if (strstr(simple_name, "Heap") != NULL)
        return BBF_MEM_HEAP;
    return BBF_MEM_UNKNOWN;
}

enum bbf_lost bbf_netty_lost(const char *class_name)
{
    static const struct {
        const char *begins;
        enum bbf_lost lost;
    } classes[] = {
        {"buffer/PooledNonRetained", BBF_LOST_UNKNOWN},
        {"buffer/Pooled", BBF_LOST_FOR_GOOD}, /* also its slices and duplicates */
        {"buffer/AdaptivePoolingAllocator$AdaptiveByteBuf", BBF_LOST_FOR_GOOD},
        {"buffer/UnpooledByteBufAllocator$InstrumentedUnpooledUnsafeNoCleaner", BBF_LOST_FOR_GOOD},
        {"buffer/UnpooledUnsafeNoCleaner", BBF_LOST_FOR_GOOD},
        {"buffer/UnpooledByteBufAllocator$InstrumentedUnpooledDirect", BBF_LOST_COUNTER},
        {"buffer/UnpooledByteBufAllocator$InstrumentedUnpooledUnsafeDirect", BBF_LOST_COUNTER},
        {"buffer/UnpooledDirect", BBF_LOST_NOTHING},
        {"buffer/UnpooledUnsafeDirect", BBF_LOST_NOTHING},
        {"buffer/UnpooledByteBufAllocator$Instrumented", BBF_LOST_NOTHING}, /* heap */
        {"buffer/UnpooledHeap", BBF_LOST_NOTHING},
        {"buffer/UnpooledUnsafeHeap", BBF_LOST_NOTHING},
    };
    size_t len = strlen(class_name), prefix = bbf_netty_buffer_prefix(class_name, len);
    for (size_t i = 0; prefix > 0 && i < sizeof classes / sizeof *classes; i++)
        if (starts_with(class_name + prefix, len - prefix, classes[i].begins))
            return classes[i].lost;
    return BBF_LOST_UNKNOWN;
}

bool bbf_netty_pool(const char *class_name, enum bbf_pool *pool)
{
    static const struct {
        const char *begins;
        enum bbf_pool pool;
    } classes[] = {
        {"buffer/PooledDirectByteBuf", BBF_POOL_POOLED},
        {"buffer/PooledUnsafeDirectByteBuf", BBF_POOL_POOLED},
        {"buffer/PooledHeapByteBuf", BBF_POOL_POOLED},
        {"buffer/PooledUnsafeHeapByteBuf", BBF_POOL_POOLED},
        {"buffer/UnpooledByteBufAllocator$Instrumented", BBF_POOL_UNPOOLED},
        {"buffer/AdaptivePoolingAllocator$AdaptiveByteBuf", BBF_POOL_ADAPTIVE},
    };
    size_t len = strlen(class_name), prefix = bbf_netty_buffer_prefix(class_name, len);
    for (size_t i = 0; prefix > 0 && i < sizeof classes / sizeof *classes; i++)
        if (starts_with(class_name + prefix, len - prefix, classes[i].begins)) {
            *pool = classes[i].pool;
            return true;
        }
    return false;
}
