package com.example.leaky;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.nio.charset.StandardCharsets;

/** Takes one frame an order, answers it, and owns the frame from then on. */
final class OrderHandler extends ChannelInboundHandlerAdapter {
    private final AuditLog audit;

    OrderHandler(AuditLog audit) {
        this.audit = audit;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf frame = (ByteBuf) msg;
        try {
            int amount = OrderParser.amount(frame);
            accept(ctx, frame, amount);
        } catch (IllegalArgumentException bad) {
            reject(ctx, frame, bad.getMessage());
        }
    }

    private void accept(ChannelHandlerContext ctx, ByteBuf frame, int amount) {
        audit.append(frame.toString(StandardCharsets.UTF_8));
        reply(ctx, "accepted " + amount);
        frame.release();
    }

    /** The leak: the author thought of the answer and not of the frame. */
    private void reject(ChannelHandlerContext ctx, ByteBuf frame, String reason) {
        reply(ctx, "rejected " + frame.readableBytes() + " bytes: " + reason);
    }

    private static void reply(ChannelHandlerContext ctx, String text) {
        ctx.writeAndFlush(ByteBufUtil.writeUtf8(ctx.alloc(), text));
    }
}
