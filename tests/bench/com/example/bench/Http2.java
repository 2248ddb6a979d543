package com.example.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;

/** A request with 128 bytes, each in a stream of its own, to a server that sends them back. */
final class Http2 extends Pairs {
    private static final AttributeKey<Integer> NUMBER = AttributeKey.valueOf("bench.number");

    @Override
    void server(Channel channel) {
        channel.pipeline().addLast(Http2FrameCodecBuilder.forServer().build(),
                new Http2MultiplexHandler(new Echo()));
    }

    @Override
    void client(Channel channel, int number) {
        channel.attr(NUMBER).set(number);
        channel.pipeline().addLast(Http2FrameCodecBuilder.forClient().build(),
                new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
    }

    @Override
    void begin(Channel client) {
        new Http2StreamChannelBootstrap(client).handler(new Answer(client)).open()
                .addListener((Future<Channel> opened) -> {
                    if (!opened.isSuccess()) {
                        failed(opened.cause());
                        return;
                    }
                    Http2Headers headers = new DefaultHttp2Headers().method("POST").path("/x")
                            .scheme("http").authority("localhost");
                    Channel stream = opened.getNow();
                    stream.write(new DefaultHttp2HeadersFrame(headers));
                    stream.writeAndFlush(new DefaultHttp2DataFrame(
                            stream.alloc().directBuffer(128).writeZero(128), true));
                });
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            if (frame instanceof Http2HeadersFrame) {
                ctx.write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200")));
            } else if (frame instanceof Http2DataFrame) {
                answer(ctx, (Http2DataFrame) frame);
            } else {
                ReferenceCountUtil.release(frame);
            }
        }

        private static void answer(ChannelHandlerContext ctx, Http2DataFrame frame) {
            ByteBuf content = frame.content();
            ctx.writeAndFlush(new DefaultHttp2DataFrame(content, frame.isEndStream()));
        }
    }

    private final class Answer extends ChannelInboundHandlerAdapter {
        private final Channel client;

        Answer(Channel client) {
            this.client = client;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            boolean last = frame instanceof Http2DataFrame
                    && ((Http2DataFrame) frame).isEndStream();
            ReferenceCountUtil.release(frame);
            if (last) {
                ended(client, client.attr(NUMBER).get());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(cause);
        }
    }
}
