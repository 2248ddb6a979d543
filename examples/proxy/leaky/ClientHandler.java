// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** The proxy's end of the connection to the client. */
final class ClientHandler extends ChannelInboundHandlerAdapter {
    private final Channel backend;

    ClientHandler(Channel backend) {
        this.backend = backend;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (backend.isActive()) {
            backend.writeAndFlush(msg);
        }
    }
}
