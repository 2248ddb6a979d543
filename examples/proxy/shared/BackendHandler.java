// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;

/** The proxy's end of the connection to the backend. */
final class BackendHandler extends ChannelInboundHandlerAdapter {
    private final Channel client;

    BackendHandler(Channel client) {
        this.client = client;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        client.config().setAutoRead(true);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        client.writeAndFlush(msg); // releases it, also if the client is gone
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        client.writeAndFlush(Unpooled.copiedBuffer("gone!", StandardCharsets.US_ASCII));
    }
}
