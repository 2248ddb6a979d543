// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;

/** Answers each frame by a byte; SimpleChannelInboundHandler releases it. */
final class FrameHandler extends SimpleChannelInboundHandler<ByteBuf> {
    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf payload) {
        answer(ctx, '+');
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        answer(ctx, '-');
    }

    private static void answer(ChannelHandlerContext ctx, char sign) {
        ctx.writeAndFlush(ctx.alloc().buffer(1).writeByte(sign));
    }
}
