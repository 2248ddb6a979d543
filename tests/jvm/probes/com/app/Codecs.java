package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.memcache.binary.BinaryMemcacheRequestDecoder;
import io.netty.handler.codec.memcache.binary.BinaryMemcacheRequestEncoder;
import io.netty.handler.codec.memcache.binary.DefaultFullBinaryMemcacheRequest;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttFixedHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttPublishVariableHeader;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;
import io.netty.handler.codec.smtp.DefaultSmtpContent;
import io.netty.handler.codec.smtp.SmtpRequestEncoder;
import io.netty.util.ReferenceCountUtil;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * codecs KIND: a message of that protocol through Netty's encoder and decoder, ten times; what comes
 * out is released by the handler behind, and lost three times.
 */
final class Codecs {
    private static final Gc LOST = new Gc();
    private static final InetSocketAddress HERE = new InetSocketAddress("127.0.0.1", 1),
            THERE = new InetSocketAddress("127.0.0.1", 2);
    /** PROXY TCP4, version 2, with an SSL TLV that holds two others. */
    private static final byte[] PROXY = {13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 33, 17, 0, 35,
        127, 0, 0, 1, 127, 0, 0, 1, -55, -90, 7, 89, 32, 0, 20, 5, 0, 0, 0, 0, 33, 0, 5, 84, 76, 83,
        118, 49, 34, 0, 4, 76, 69, 65, 70};

    private Codecs() {
    }

    static final class Take extends ChannelInboundHandlerAdapter {
        private final boolean lose;

        Take(boolean lose) {
            this.lose = lose;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (lose) {
                LOST.watch(msg);
            } else {
                ReferenceCountUtil.release(msg);
            }
        }
    }

    private static ByteBuf text() {
        return PooledByteBufAllocator.DEFAULT.directBuffer(32).writeBytes("hello world".getBytes());
    }

    private static Object message(String kind) {
        switch (kind) {
        case "http":
            DefaultFullHttpRequest request =
                    new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/", text());
            request.headers().set("content-length", 11);
            return request;
        case "websocket":
            return new BinaryWebSocketFrame(text());
        case "mqtt":
            return new MqttPublishMessage(
                    new MqttFixedHeader(MqttMessageType.PUBLISH, false, MqttQoS.AT_MOST_ONCE, false, 0),
                    new MqttPublishVariableHeader("a/b", 0), text());
        case "redis":
            return new ArrayRedisMessage(new ArrayList<>(Arrays.asList(
                    new FullBulkStringRedisMessage(text()), new FullBulkStringRedisMessage(text()))));
        case "memcache":
            return new DefaultFullBinaryMemcacheRequest(
                    UnpooledByteBufAllocator.DEFAULT.heapBuffer(8).writeLong(1),
                    UnpooledByteBufAllocator.DEFAULT.heapBuffer(8).writeLong(2), text());
        case "dns":
            return new DatagramDnsResponse(HERE, THERE, 1).addRecord(DnsSection.ANSWER,
                    new DefaultDnsRawRecord("a.", DnsRecordType.TXT, 1, text()));
        case "smtp":
            return new DefaultSmtpContent(text());
        default:
            return PooledByteBufAllocator.DEFAULT.directBuffer(64).writeBytes(PROXY);
        }
    }

    private static ChannelHandler encoder(String kind) {
        switch (kind) {
        case "http":
            return new HttpRequestEncoder();
        case "websocket":
            return new WebSocket13FrameEncoder(false);
        case "mqtt":
            return MqttEncoder.INSTANCE;
        case "redis":
            return new RedisEncoder();
        case "memcache":
            return new BinaryMemcacheRequestEncoder();
        case "dns":
            return new DatagramDnsResponseEncoder();
        case "smtp":
            return new SmtpRequestEncoder();
        default:
            return new ChannelInboundHandlerAdapter();
        }
    }

    private static List<ChannelHandler> decoders(String kind) {
        switch (kind) {
        case "http":
            return Arrays.asList(new HttpRequestDecoder());
        case "websocket":
            return Arrays.asList(new WebSocket13FrameDecoder(false, false, 65536));
        case "mqtt":
            return Arrays.asList(new MqttDecoder());
        case "redis":
            return Arrays.asList(new RedisDecoder(), new RedisBulkStringAggregator(),
                    new RedisArrayAggregator());
        case "memcache":
            return Arrays.asList(new BinaryMemcacheRequestDecoder());
        case "dns":
            return Arrays.asList(new DatagramDnsResponseDecoder());
        case "smtp": // a server reads it as bytes
            return Arrays.asList();
        default:
            return Arrays.asList(new HAProxyMessageDecoder());
        }
    }

    static void run(String[] args) throws Exception {
        for (int i = 0; i < 10; i++) {
            EmbeddedChannel out = new EmbeddedChannel(encoder(args[0]));
            if (args[0].equals("smtp")) {
                out.writeOutbound(new io.netty.handler.codec.smtp.DefaultSmtpRequest("DATA"));
            }
            out.writeOutbound(message(args[0]));
            EmbeddedChannel in = new EmbeddedChannel();
            in.pipeline().addLast(decoders(args[0]).toArray(new ChannelHandler[0]));
            in.pipeline().addLast(new Take(i >= 7));
            for (Object o; (o = out.readOutbound()) != null;) {
                in.writeInbound(o);
            }
            out.finishAndReleaseAll();
            in.finishAndReleaseAll();
        }
        int watched = LOST.size();
        Oracle.say("messages", watched, "collected", LOST.settle(), "leaked", watched);
    }
}
