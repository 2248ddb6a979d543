package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.ReplayingDecoder;

import java.util.List;

/**
 * replaying: a ReplayingDecoder hands its decode a wrapper that is no class of Netty's buffer
 * package and is set to one buffer after the other. 20 messages, every second one in two parts; the
 * last buffer is lost behind the wrapper (a retain too many).
 */
final class Replaying {
    private static final int MESSAGES = 20;
    private static final Gc LOST = new Gc();

    private Replaying() {
    }

    static void run(String[] args) throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel(new Decoder());
        int buffers = 0;
        for (int i = 1; i <= MESSAGES; i++) {
            if (i % 2 == 0) {
                channel.writeInbound(part(8).writeInt(i).writeInt(-i));
                buffers++;
            } else {
                channel.writeInbound(part(8).writeInt(i)); // has room for the other half
                channel.writeInbound(part(4).writeInt(-i));
                buffers += 2;
            }
            if ((int) channel.readInbound() != i) {
                throw new IllegalStateException("message " + i);
            }
        }
        channel.finishAndReleaseAll();
        Oracle.say("lives", buffers, "released", buffers - 1, "leaked", 1, "collected",
                LOST.settle());
    }

    private static ByteBuf part(int size) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(size, 8);
    }

    private static final class Decoder extends ReplayingDecoder<Void> {
        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
            int number = in.readInt();
            if (in.readInt() != -number) {
                throw new IllegalStateException("message " + number);
            }
            if (number == MESSAGES) {
                LOST.watch(internalBuffer().retain());
            }
            out.add(number);
        }
    }
}
