// SPDX-License-Identifier: Apache-2.0
package com.shop;

import static io.netty.handler.codec.http.HttpResponseStatus.METHOD_NOT_ALLOWED;
import static io.netty.handler.codec.http.HttpResponseStatus.OK;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

final class OrderHandler extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        FullHttpRequest request = (FullHttpRequest) msg;
        if (!request.method().equals(HttpMethod.POST)) {
            answer(ctx, METHOD_NOT_ALLOWED, "only POST");
            return;
        }
        String order = request.content().toString(StandardCharsets.UTF_8);
        request.release();
        answer(ctx, OK, "accepted " + order);
    }

    private static void answer(ChannelHandlerContext ctx, HttpResponseStatus status, String text) {
        ByteBuf body = ByteBufUtil.writeUtf8(ctx.alloc(), text);
        DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        HttpUtil.setContentLength(response, body.readableBytes());
        ctx.writeAndFlush(response);
    }
}
